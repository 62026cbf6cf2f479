//! Scatters that send the same points to the same places become one: targets are computed and places
//! found once, for all values.
//!
//! ```text
//! a5: [16]f64 = scatter [a1] (r0) into a3        a5: [16]f64, a6: [16]f64 = scatter [a1] (r0) into a3 a4
//!   r1: i64 = read a0 r0                            r1: i64 = read a0 r0
//!   r2: f64 = read a1 r0                       →    r2: f64 = read a1 r0
//!   yield r1 r2                                     r3: f64 = read a2 r0
//! a6: [16]f64 = scatter [a1] (r0) into a4           yield r1 r2 r3
//!   …
//! ```
//!
//! Each component keeps its operator and so its order of combination: the bits stay the same. The joined
//! statement stands where the last of them stood; what reads the others moves behind it.
//! Counts alone are not joined: each is done by atomic operations or private copies, which suit one
//! component best.

use std::collections::BTreeSet;

use weft_ir::code::{Code, Instruction, Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{Block, Operation, Operator, Program, Size, Space, Statement, Type, Var};
use weft_ir::{ScalarOp, ScalarType, Span};

use super::compose::{Composer, Delayed, Lookup, Renaming};
use super::inline::Absorbed;
use super::uses::statement_uses;

/// How many statements behind a scatter are searched for others that go with it.
const FARTHEST: usize = 256;
/// The most scatters that become one.
const MOST: usize = 8;

/// Joins scatters; what was inlined into them is known by the first result of all.
pub(super) fn join_scatters(program: &mut Program, absorbed: &mut Absorbed) {
    Joiner { types: &program.types, absorbed }.block(&mut program.body);
}

struct Joiner<'a> {
    types: &'a [Type],
    absorbed: &'a mut Absorbed,
}

/// A scatter that can be joined with others.
struct Candidate<'p> {
    space: &'p Space,
    thunk: &'p Thunk,
    results: &'p [Var],
    extents: &'p [Size],
    /// By component; none where the last value stays.
    operators: Option<Vec<Simple>>,
}

/// An operator of one component that is one operation.
struct Simple {
    op: ScalarOp,
    ty: ScalarType,
    /// Whether the right operand comes first.
    exchanged: bool,
    span: Span,
}

/// No array is delayed here.
struct Stored;

impl<'p> Lookup<'p> for Stored {
    fn delayed(&self, _: Var) -> Option<Delayed<'p>> {
        None
    }
}

impl Joiner<'_> {
    fn block(&mut self, block: &mut Block) {
        for statement in &mut block.statements {
            match &mut statement.operation {
                Operation::If { then, otherwise, .. } => {
                    self.block(then);
                    self.block(otherwise);
                }
                Operation::While { condition, body, .. } => {
                    self.block(condition);
                    self.block(body);
                }
                _ => {}
            }
        }
        let mut at = 0;
        while at < block.statements.len() {
            if matches!(block.statements[at].operation, Operation::Scatter { .. })
                && let Some((members, moved)) = self.group(&block.statements, at)
            {
                self.join(&mut block.statements, &members, &moved);
            } else {
                at += 1;
            }
        }
    }

    /// The scatters that go with one, itself first, and what stands between them and reads them.
    fn group(&self, statements: &[Statement], first: usize) -> Option<(Vec<usize>, Vec<usize>)> {
        let leader = candidate(&statements[first], self.types)?;
        let (mut members, mut moved) = (vec![first], Vec::new());
        let mut behind: BTreeSet<Var> = leader.results.iter().copied().collect();
        let mut inexact = leader.is_inexact();
        for (at, statement) in statements.iter().enumerate().skip(first + 1).take(FARTHEST) {
            let mut depends = false;
            statement_uses(statement, self.types, &mut |var| depends |= behind.contains(&var));
            if depends {
                // What stands after a check relies on it, so it cannot move.
                if is_barrier(statement) {
                    break;
                }
                moved.push(at);
                behind.extend(&statement.results);
            } else if let Some(other) = candidate(statement, self.types)
                && leader.goes_with(&other)
            {
                members.push(at);
                inexact |= other.is_inexact();
                behind.extend(&statement.results);
                if members.len() == MOST {
                    break;
                }
            }
        }
        let last = *members.last()?;
        moved.retain(|at| *at < last);
        (members.len() > 1 && inexact).then_some((members, moved))
    }

    /// Puts the scatters together where the last one stands, and what reads the others behind it.
    fn join(&mut self, statements: &mut Vec<Statement>, members: &[usize], moved: &[usize]) {
        let (first, last) = (members[0], members[members.len() - 1]);
        let joined = joined(members.iter().map(|at| &statements[*at]), self.types);
        let names = members.iter().filter_map(|at| statements[*at].results.first());
        let inside: BTreeSet<Var> =
            names.flat_map(|name| self.absorbed.remove(name).unwrap_or_default()).collect();
        if let (Some(name), false) = (joined.results.first(), inside.is_empty()) {
            self.absorbed.insert(*name, inside);
        }
        let (mut staying, mut behind) = (Vec::new(), vec![joined]);
        for (at, statement) in (first..).zip(statements.drain(first..=last)) {
            if moved.contains(&at) {
                behind.push(statement);
            } else if !members.contains(&at) {
                staying.push(statement);
            }
        }
        staying.append(&mut behind);
        statements.splice(first..first, staying);
    }
}

/// A statement, if it is a scatter whose components are combined one by one, each by one operation.
fn candidate<'p>(statement: &'p Statement, types: &'p [Type]) -> Option<Candidate<'p>> {
    let Operation::Scatter { space, thunk, destinations, operator } = &statement.operation else {
        return None;
    };
    let operators = match operator {
        None => None,
        Some(operator) => Some(simple(operator)?),
    };
    let results = &statement.results[..];
    let extents = |var: &Var| &types[var.0 as usize].extents[..];
    let (first, rest) = destinations.split_first()?;
    let alike = rest.iter().chain(results).all(|var| extents(var) == extents(first));
    alike.then(|| Candidate { space, thunk, results, extents: extents(first), operators })
}

impl Candidate<'_> {
    /// Whether the order in which values are combined can be seen in the bits.
    fn is_inexact(&self) -> bool {
        let is_float = |simple: &Simple| matches!(simple.ty, ScalarType::F32 | ScalarType::F64);
        self.operators.as_ref().is_none_or(|operators| operators.iter().any(is_float))
    }

    /// Whether the same points go to the same places, and both combine or both replace.
    fn goes_with(&self, other: &Candidate<'_>) -> bool {
        self.space == other.space
            && self.extents == other.extents
            && self.operators.is_some() == other.operators.is_some()
            && {
                let mut composer = Composer::new(&Stored);
                let indices = composer.enter_point(self.space.len());
                let mut targets = |of: &Candidate<'_>| {
                    let mut results =
                        composer.write(&of.thunk.code, &mut point(of.thunk, &indices));
                    results.truncate(of.extents.len());
                    results
                };
                targets(self) == targets(other)
            }
    }
}

/// What the registers of a point become.
fn point(thunk: &Thunk, indices: &[Register]) -> Renaming {
    let each = thunk.indices.iter().zip(indices);
    each.map(|(old, new)| (*old, Operand::Register(*new))).collect()
}

/// The operations of the components, if each is one.
fn simple(operator: &Operator) -> Option<Vec<Simple>> {
    let Operator { left, right, code } = operator;
    if code.instructions.len() != code.results.len() {
        return None;
    }
    let of = |(at, result): (usize, &Operand)| {
        let Operand::Register(result) = result else { return None };
        let ((left, ty), (right, _)) = (left[at], right[at]);
        let mut instructions = code.instructions.iter();
        let instruction =
            instructions.find(|at| at.results.first().is_some_and(|(at, _)| at == result))?;
        let CodeOperation::Scalar(op, operands) = &instruction.operation else { return None };
        let own = [Operand::Register(left), Operand::Register(right)];
        let exchanged = *operands == [own[1], own[0]];
        let known = exchanged || *operands == own;
        known.then_some(Simple { op: *op, ty, exchanged, span: instruction.span })
    };
    code.results.iter().enumerate().map(of).collect()
}

/// One scatter for several that go together.
fn joined<'p>(statements: impl Iterator<Item = &'p Statement>, types: &'p [Type]) -> Statement {
    let mut composer = Composer::new(&Stored);
    let mut indices = Vec::new();
    let (mut targets, mut values) = (Vec::new(), Vec::new());
    let (mut results, mut all, mut operators) = (Vec::new(), Vec::new(), Vec::new());
    let (mut over, mut span, mut combines) = (Space::new(), None, false);
    for statement in statements {
        let Operation::Scatter { space, thunk, destinations, .. } = &statement.operation else {
            continue;
        };
        if span.is_none() {
            indices = composer.enter_point(space.len());
            over.clone_from(space);
        }
        span = span.or(Some(statement.span));
        let mut yielded = composer.write(&thunk.code, &mut point(thunk, &indices));
        values.extend(yielded.split_off(yielded.len() - destinations.len()));
        targets = yielded;
        results.extend(&statement.results);
        all.extend(destinations);
        if let Some(own) = candidate(statement, types).and_then(|candidate| candidate.operators) {
            combines = true;
            operators.extend(own);
        }
    }
    targets.append(&mut values);
    let code = Code { instructions: composer.take(), results: targets };
    let operation = Operation::Scatter {
        space: over,
        thunk: Thunk { indices, code },
        destinations: all,
        operator: combines.then(|| operator(&operators)),
    };
    Statement { results, operation, span: span.unwrap_or_default() }
}

/// The operator that combines components one by one.
fn operator(components: &[Simple]) -> Operator {
    let count = components.len() as u32;
    let side = |first: u32| {
        let registers = (first..).map(Register);
        registers.zip(components).map(|(register, simple)| (register, simple.ty)).collect()
    };
    let instruction = |(at, simple): (u32, &Simple)| {
        let (left, right) = (Register(at), Register(count + at));
        let (first, second) = if simple.exchanged { (right, left) } else { (left, right) };
        let operands = vec![Operand::Register(first), Operand::Register(second)];
        Instruction {
            results: vec![(Register(2 * count + at), simple.ty)],
            operation: CodeOperation::Scalar(simple.op, operands),
            span: simple.span,
        }
    };
    let code = Code {
        instructions: (0..).zip(components).map(instruction).collect(),
        results: (2 * count..3 * count).map(|at| Operand::Register(Register(at))).collect(),
    };
    Operator { left: side(0), right: side(count), code }
}

/// Whether statements behind may rely on its checks.
fn is_barrier(statement: &Statement) -> bool {
    match &statement.operation {
        Operation::Check(..) | Operation::If { .. } | Operation::While { .. } => true,
        Operation::Map { space, thunk } => {
            statement.results.is_empty() || (space.is_empty() && thunk.code.has_checks())
        }
        Operation::Reduce { .. }
        | Operation::Scan { .. }
        | Operation::Filter { .. }
        | Operation::Scatter { .. }
        | Operation::Sort { .. }
        | Operation::Reshape(_)
        | Operation::Constant(_) => false,
    }
}
