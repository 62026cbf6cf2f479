//! Reads elements of an array before they are replaced.
//!
//! A scalar stands in *flat* where it is first needed. If that is behind an update of the array that it is an element of, the
//! update cannot take place where the array is, for what was there before is read afterwards: it is of a copy, in each turn
//! of a loop. So such an element is read before the update, if then nobody looks at the old array any more. What holds of an update
//! holds of a loop and of a side of a condition that replaces elements, and elements are read in them, too.
//!
//! ```
//! use weft_ir::flat::parse;
//! use weft_passes::early::read_early;
//!
//! let program = parse("\
//! input a1: [a0]f64
//! input a2: i64
//! a3: [a0]f64 = scatter into a1 [1] (r0)
//!   yield 0i64 1.0f64
//! a4: f64 = map ()
//!   r0: i64 = read a2
//!   r1: f64 = read a1 r0
//!   r2: f64 = read a3 r0
//!   r3: f64 = sub r2 r1
//!   yield r3
//! output a4: f64
//! ").unwrap();
//! assert_eq!(read_early(program).to_string(), "\
//! input a1: [a0]f64
//! input a2: i64
//! a5: f64 = map ()
//!   r0: i64 = read a2
//!   r4: bool = ge r0 0i64
//!   r5: i64 = read a0
//!   r6: bool = lt r0 r5
//!   r7: bool = and r4 r6
//!   r8: f64 = if r7
//!     r9: f64 = read a1 r0
//!     yield r9
//!   else
//!     yield 0.0f64
//!   yield r8
//! a3: [a0]f64 = scatter into a1 [1] (r0)
//!   yield 0i64 1.0f64
//! a4: f64 = map ()
//!   r0: i64 = read a2
//!   r1: f64 = read a5
//!   r2: f64 = read a3 r0
//!   r3: f64 = sub r2 r1
//!   yield r3
//! output a4: f64
//! ");
//! ```
//!
//! Note [Read before replaced]. Only elements at places that the host can compute before the update are read early, without
//! anything that may fail. Whether there is such an element is asked again: the check that says so may stand in a branch that
//! is not taken, and a fault that nobody would have met must not be met. Where there is none, nobody looks at what is
//! yielded in its place.

use std::collections::{BTreeSet, HashMap, HashSet};

use weft_ir::code::{Code, Instruction, Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{Block, Dimension, Operation, Program, Size, Space, Statement, Type, Var};
use weft_ir::math::can_fail;
use weft_ir::{Scalar, ScalarOp, ScalarType, Span};

use crate::fuse::uses::{blocks, other_uses, statement_uses};

/// How many instructions an index may take.
const MOST_INSTRUCTIONS: usize = 16;

/// The program with elements read before their arrays are updated.
pub fn read_early(mut program: Program) -> Program {
    of_program(&mut program);
    program
}

fn of_program(program: &mut Program) {
    let kept = program.outputs.iter().map(|leaf| leaf.data).collect();
    block(&mut program.body, &mut program.types, &kept);
}

/// `kept` are what is needed behind the block.
fn block(body: &mut Block, types: &mut Vec<Type>, kept: &BTreeSet<Var>) {
    for statement in &mut body.statements {
        match &mut statement.operation {
            Operation::If { then, otherwise, .. } => {
                block(then, types, &BTreeSet::new());
                block(otherwise, types, &BTreeSet::new());
            }
            Operation::While { body, rows, .. } => {
                block(body, types, &BTreeSet::new());
                if let Some(rows) = rows {
                    of_program(&mut rows.program);
                }
            }
            _ => {}
        }
    }
    let mut place = 0;
    while place < body.statements.len() {
        for array in updated(&body.statements[place]) {
            if kept.contains(&array) || body.results.contains(&array) {
                continue;
            }
            let reads = moved(&mut body.statements[place..], array, types);
            let count = reads.len();
            body.statements.splice(place..place, reads);
            place += count;
        }
        place += 1;
    }
}

/// The arrays of which a statement replaces elements, or yields a part or what begins with them, which can stay where it
/// is: itself, or in a loop or a side of a condition.
fn updated(statement: &Statement) -> Vec<Var> {
    match &statement.operation {
        Operation::Scatter { space, destinations, operator: None, .. } if is_point(space) => {
            destinations.clone()
        }
        Operation::Map { space, thunk } if !is_point(space) => moves(thunk).into_iter().collect(),
        Operation::If { then, otherwise, .. } => {
            [then, otherwise].into_iter().flat_map(updated_in).collect()
        }
        Operation::While { state, initial, body, .. } => {
            let inside: BTreeSet<Var> = updated_in(body).collect();
            let parts = state.iter().zip(initial);
            parts.filter(|(var, _)| inside.contains(var)).map(|(_, first)| *first).collect()
        }
        _ => Vec::new(),
    }
}

/// The array of which a map takes the elements as they are, from some place on or up to one, and what else is little: as a
/// stack that loses its last element, or a list that gets one more.
fn moves(thunk: &Thunk) -> Option<Var> {
    let [Operand::Register(result)] = thunk.code.results[..] else { return None };
    let arrays: BTreeSet<Var> = (thunk.code.walk())
        .filter_map(|instruction| match &instruction.operation {
            CodeOperation::Read(array, indices) if !indices.is_empty() => Some(*array),
            _ => None,
        })
        .collect();
    let (array, is_alone) = (*arrays.first()?, arrays.len() == 1);
    if !is_alone || thunk.code.walk().count() > MOST_INSTRUCTIONS {
        return None;
    }
    let makes_result =
        |it: &&Instruction| it.results.iter().any(|(register, _)| *register == result);
    let yielded = match thunk.code.walk().find(makes_result).map(|it| &it.operation) {
        Some(CodeOperation::If { then, otherwise, .. }) => {
            [&then.results[..], &otherwise.results[..]].concat()
        }
        _ => vec![Operand::Register(result)],
    };
    let is_yielded = |(read, _, _): &(Register, _, _)| yielded.contains(&Operand::Register(*read));
    reads_of(&thunk.code, array).iter().any(is_yielded).then_some(array)
}

fn updated_in(block: &Block) -> impl Iterator<Item = Var> {
    block.statements.iter().flat_map(updated)
}

/// Statements that read the elements of an array that are read behind its update, which is the first of these; none if
/// the array is used there in another way too, or not at all. What read them before then reads what those yield.
fn moved(statements: &mut [Statement], array: Var, types: &mut Vec<Type>) -> Vec<Statement> {
    let mut found = Found { array, types, later: HashSet::new(), thunks: 0, reads: Vec::new() };
    // A loop that replaces elements reads the array as it was before all turns; what else replaces some reads it just then.
    let is_loop = matches!(statements[0].operation, Operation::While { .. });
    let behind = if is_loop { 0 } else { 1 };
    for (number, statement) in statements.iter().enumerate() {
        found.bind(statement);
        if number >= behind && found.statement(statement, number == 0).is_none() {
            return Vec::new();
        }
    }
    let reads = found.reads;
    let mut moved: Vec<(Early, Var)> = Vec::new();
    let mut places: HashMap<(usize, Register), Var> = HashMap::new();
    for (place, early) in reads {
        let var = match moved.iter().find(|(other, _)| early.is_same(other)) {
            Some((_, var)) => *var,
            None => {
                let var = Var(types.len() as u32);
                types.push(Type { element: early.ty, extents: Vec::new() });
                moved.push((early, var));
                var
            }
        };
        places.insert(place, var);
    }
    let mut number = 0;
    for statement in &mut statements[behind..] {
        read_scalars(statement, &mut number, &places);
    }
    let statement = |(early, var): (Early, Var)| early.statement(array, var, types);
    moved.into_iter().map(statement).collect()
}

/// Elements of an array that are read behind an update.
struct Found<'a> {
    array: Var,
    types: &'a [Type],
    /// What there is only from the update on.
    later: HashSet<Var>,
    /// How many thunks of single points there have been.
    thunks: usize,
    /// Where they are read: the number of the thunk and the register.
    reads: Vec<((usize, Register), Early)>,
}

impl Found<'_> {
    /// A statement with all inside of it binds what there was not before.
    fn bind(&mut self, statement: &Statement) {
        self.later.extend(&statement.results);
        if let Operation::While { state, .. } = &statement.operation {
            self.later.extend(state);
        }
        for block in blocks(&statement.operation) {
            block.statements.iter().for_each(|inner| self.bind(inner));
        }
    }

    /// Nothing if a statement uses the array otherwise than by reading elements that can be read early. That it begins with the
    /// array is no matter where it `is_update`.
    fn statement(&mut self, statement: &Statement, is_update: bool) -> Option<()> {
        match &statement.operation {
            Operation::If { then, otherwise, .. } => {
                self.block(then)?;
                return self.block(otherwise);
            }
            Operation::While { initial, condition, body, rows, .. } => {
                let mut used = !is_update && initial.contains(&self.array);
                if let Some(rows) = rows {
                    rows.uses(&mut |var| used |= var == self.array);
                }
                if used {
                    return None;
                }
                self.block(condition)?;
                return self.block(body);
            }
            _ => {}
        }
        let (mut uses, mut reads) = (false, false);
        other_uses(statement, self.types, &mut |var| uses |= var == self.array);
        statement_uses(statement, self.types, &mut |var| reads |= var == self.array);
        let thunk = thunk_of_host(&statement.operation);
        if uses || reads && thunk.is_none() {
            return None;
        }
        let Some(thunk) = thunk else { return Some(()) };
        for (register, indices, ty) in reads_of(&thunk.code, self.array) {
            let early = early(thunk, &indices, ty, statement.span, &self.later)?;
            self.reads.push(((self.thunks, register), early));
        }
        self.thunks += 1;
        Some(())
    }

    fn block(&mut self, block: &Block) -> Option<()> {
        if block.results.contains(&self.array) {
            return None;
        }
        block.statements.iter().try_for_each(|statement| self.statement(statement, false))
    }
}

/// Reads scalars in the place of elements, where that is said of a thunk with its number and of a register. `number` counts
/// thunks as [`Found`] does.
fn read_scalars(
    statement: &mut Statement,
    number: &mut usize,
    places: &HashMap<(usize, Register), Var>,
) {
    let inner = match &mut statement.operation {
        Operation::If { then, otherwise, .. } => [then, otherwise],
        Operation::While { condition, body, .. } => [condition, body],
        operation => {
            let Some(thunk) = thunk_of_host_mut(operation) else { return };
            thunk.code.walk_mut(&mut |instruction| {
                let result = instruction.results.first().map(|(register, _)| *register);
                if let Some(var) = result.and_then(|register| places.get(&(*number, register))) {
                    instruction.operation = CodeOperation::Read(*var, Vec::new());
                }
            });
            *number += 1;
            return;
        }
    };
    for block in inner {
        block.statements.iter_mut().for_each(|inner| read_scalars(inner, number, places));
    }
}

/// The code of what is computed for a single point.
fn thunk_of_host(operation: &Operation) -> Option<&Thunk> {
    match operation {
        Operation::Map { space, thunk } | Operation::Scatter { space, thunk, .. } => {
            is_point(space).then_some(thunk)
        }
        _ => None,
    }
}

fn thunk_of_host_mut(operation: &mut Operation) -> Option<&mut Thunk> {
    match operation {
        Operation::Map { space, thunk } | Operation::Scatter { space, thunk, .. } => {
            is_point(space).then_some(thunk)
        }
        _ => None,
    }
}

fn is_point(space: &Space) -> bool {
    space.iter().all(|it| *it == Dimension::Dense(Size::Constant(1)))
}

/// Where elements of an array are read: the register of each, its indices and its type.
fn reads_of(code: &Code, array: Var) -> Vec<(Register, Vec<Operand>, ScalarType)> {
    let read = |instruction: &Instruction| match &instruction.operation {
        CodeOperation::Read(var, indices) if *var == array => {
            let (register, ty) = instruction.results[0];
            Some((register, indices.clone(), ty))
        }
        _ => None,
    };
    code.walk().filter_map(read).collect()
}

/// An element that can be read early.
struct Early {
    /// What its indices are computed by, in order.
    instructions: Vec<Instruction>,
    indices: Vec<Operand>,
    ty: ScalarType,
    span: Span,
    /// A register that is not used, nor those after it.
    free: Register,
}

/// The element with these indices, if the host can compute them without what there is only `later`.
fn early(
    thunk: &Thunk,
    indices: &[Operand],
    ty: ScalarType,
    span: Span,
    later: &HashSet<Var>,
) -> Option<Early> {
    let made: HashMap<Register, &Instruction> = (thunk.code.walk())
        .flat_map(|instruction| instruction.results.iter().map(move |(it, _)| (*it, instruction)))
        .collect();
    let mut instructions: Vec<Instruction> = Vec::new();
    // Each register twice: to see what it is made of, and behind that itself.
    let mut open: Vec<(Register, bool)> = Vec::new();
    let registers = |operands: &[Operand]| -> Vec<(Register, bool)> {
        let register = |operand: &Operand| match operand {
            Operand::Register(register) => Some((*register, false)),
            Operand::Scalar(_) => None,
        };
        operands.iter().filter_map(register).collect()
    };
    open.extend(registers(indices));
    while let Some((register, is_made)) = open.pop() {
        if instructions.iter().any(|it| it.results[0].0 == register) {
            continue;
        }
        let instruction = *made.get(&register)?;
        if is_made {
            instructions.push(instruction.clone());
            continue;
        }
        if instructions.len() + open.len() > MOST_INSTRUCTIONS {
            return None;
        }
        open.push((register, true));
        match &instruction.operation {
            CodeOperation::Scalar(op, operands) if !can_fail(*op, instruction.results[0].1) => {
                open.extend(registers(operands));
            }
            CodeOperation::Read(var, indices) if indices.is_empty() && !later.contains(var) => {}
            _ => return None,
        }
    }
    let given = thunk.indices.iter().map(|Register(number)| Register(number + 1)).max();
    let free = given.unwrap_or(Register(0)).max(thunk.code.next_register());
    Some(Early { instructions, indices: indices.to_vec(), ty, span, free })
}

impl Early {
    /// Whether it is the same element of one array, written in the same way.
    fn is_same(&self, other: &Early) -> bool {
        let parts = |early: &Early| -> Vec<_> {
            let of = |it: &Instruction| (it.results.clone(), it.operation.clone());
            early.instructions.iter().map(of).collect()
        };
        self.indices == other.indices && parts(self) == parts(other)
    }

    /// The element if there is one, and zero if not (Note [Read before replaced]).
    fn statement(self, array: Var, result: Var, types: &[Type]) -> Statement {
        let Early { mut instructions, indices, ty, span, free: Register(mut next) } = self;
        let mut fresh = |operation: CodeOperation, ty: ScalarType, to: &mut Vec<Instruction>| {
            let register = Register(next);
            next += 1;
            to.push(Instruction { results: vec![(register, ty)], operation, span });
            Operand::Register(register)
        };
        let scalar = CodeOperation::Scalar;
        let mut there: Option<Operand> = None;
        for (&index, extent) in indices.iter().zip(&types[array.0 as usize].extents) {
            let zero = Operand::Scalar(Scalar::I64(0));
            let low =
                fresh(scalar(ScalarOp::Ge, vec![index, zero]), ScalarType::Bool, &mut instructions);
            let extent = match extent {
                Size::Constant(extent) => Operand::Scalar(Scalar::I64(*extent)),
                Size::Var(var) => {
                    fresh(CodeOperation::Read(*var, Vec::new()), ScalarType::I64, &mut instructions)
                }
            };
            let high = fresh(
                scalar(ScalarOp::Lt, vec![index, extent]),
                ScalarType::Bool,
                &mut instructions,
            );
            for one in [low, high] {
                there = Some(match there {
                    None => one,
                    Some(all) => fresh(
                        scalar(ScalarOp::And, vec![all, one]),
                        ScalarType::Bool,
                        &mut instructions,
                    ),
                });
            }
        }
        let condition = there.unwrap_or(Operand::Scalar(Scalar::Bool(true)));
        let chosen = Register(next);
        next += 1;
        let read = Instruction {
            results: vec![(Register(next), ty)],
            operation: CodeOperation::Read(array, indices),
            span,
        };
        let then =
            Code { instructions: vec![read], results: vec![Operand::Register(Register(next))] };
        let otherwise =
            Code { instructions: Vec::new(), results: vec![Operand::Scalar(Scalar::zero(ty))] };
        let operation = CodeOperation::If { condition, then, otherwise };
        instructions.push(Instruction { results: vec![(chosen, ty)], operation, span });
        let code = Code { instructions, results: vec![Operand::Register(chosen)] };
        let thunk = Thunk { indices: Vec::new(), code };
        Statement {
            results: vec![result],
            operation: Operation::Map { space: Vec::new(), thunk },
            span,
        }
    }
}
