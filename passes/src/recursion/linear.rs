//! Recursion with one call, to whose result something is added, as a loop.
//!
//! Note [Accumulated recursion]. A call that makes at most one call, and adds something to what that yields, needs no
//! memory for what is to be added: integers may be added in any order, so the loop adds on its way down.
//!
//! ```text
//! f n = if n == 0 then 0 else g n + f (n - 1)
//!
//! loop (n, all, last, goes on) = (n, 0, _, true) while goes on do
//!   if n == 0 then (n, all, all + 0, false) else (n - 1, all + g n, _, true)
//! ```
//!
//! So it is with every operator that is associative and commutative to the bit: of integers `+`, `*`, `min`, `max` and
//! those on their bits, not of floats. Each of several results has an operator of its own, or none. The loop stands
//! where the call stood, and is one of the elements where that is in an apply-to-each. It counts its turns: they are
//! calls within each other, of which there may be so many (Note [Tail calls] in `weft_lang` tells of those that are not).
//!
//! Source: Wadler, "Listlessness is better than laziness" (1984) and Liu and Stoller, "From recursion to iteration: what
//! are the optimizations?" (PEPM 2000), on accumulators.

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Function, FunctionId, Operation, Statement, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, math};

use super::shape::{calls_of_operation, note};
use crate::code::{BOOL, Code, I64, atoms, integer, renamed};

/// Puts loops in the place of calls of such functions, in a body and in all functions.
pub(super) fn accumulate(
    body: &mut Body,
    functions: &mut [Function],
    variables: &mut u32,
    deepest: u64,
) {
    let linear: HashMap<FunctionId, Linear> = (0..)
        .map(FunctionId)
        .zip(functions.iter())
        .filter_map(|(id, function)| Some((id, Linear::of(id, function)?)))
        .collect();
    if linear.is_empty() {
        return;
    }
    let mut expander = Expander { linear: &linear, variables, deepest };
    expander.body(body);
    for (id, function) in (0..).map(FunctionId).zip(functions) {
        if !linear.contains_key(&id) {
            expander.body(&mut function.body);
        }
    }
}

struct Expander<'l> {
    linear: &'l HashMap<FunctionId, Linear>,
    variables: &'l mut u32,
    deepest: u64,
}

impl Expander<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            if let Operation::Call(id, arguments) = &statement.operation
                && let Some(linear) = self.linear.get(id)
            {
                let mut code = Code::new(self.variables, statement.span);
                linear.expand(&mut code, arguments, &statement.results, self.deepest);
                statements.append(&mut code.statements);
                continue;
            }
            statement.operation.for_each_body_mut(&mut |inner| self.body(inner));
            statements.push(statement);
        }
        body.statements = statements;
    }
}

/// A function that is such a recursion.
struct Linear {
    function: Function,
    /// The numbers of the parameters that differ from call to call.
    kept: Vec<usize>,
    /// What is done to each result; nothing if it is passed on as it is.
    operators: Vec<Option<ScalarOp>>,
}

/// What stands around the statement of a body that calls.
struct Around<'b> {
    before: &'b [Statement],
    calling: &'b Statement,
    /// What stands behind it and does not need its results.
    behind: Vec<&'b Statement>,
    /// What is done to each result, one after the other.
    operands: Vec<Vec<(ScalarOp, Atom)>>,
}

impl Linear {
    fn of(id: FunctionId, function: &Function) -> Option<Linear> {
        let mut calls = Vec::new();
        let mut operators = vec![None; function.results.len()];
        of_body(id, &function.body, &mut operators, &mut calls)?;
        let kept: Vec<usize> = (function.params.iter().enumerate())
            .filter(|(number, (var, _))| {
                calls.iter().any(|args: &Vec<Atom>| args[*number] != Atom::Var(*var))
            })
            .map(|(number, _)| number)
            .collect();
        let is_scalar = |ty: &Type| ty.rank == 0;
        let scalars = kept.iter().all(|&number| is_scalar(&function.params[number].1))
            && function.results.iter().all(is_scalar);
        let exact = (operators.iter().zip(&function.results))
            .all(|(operator, ty)| operator.is_none_or(|op| identity(op, ty.element).is_some()));
        // That all calls are in tail position, or that none makes another one, is no case of this.
        let accumulates = operators.iter().any(Option::is_some);
        (!calls.is_empty() && !kept.is_empty() && scalars && exact && accumulates)
            .then(|| Linear { function: function.clone(), kept, operators })
    }

    /// The types of the state: the arguments that differ, what has been accumulated, results, depth, whether it goes on.
    fn state_types(&self) -> Vec<Type> {
        let kept = self.kept.iter().map(|&number| self.function.params[number].1);
        let results = &self.function.results;
        let accumulated = results.iter().zip(&self.operators).filter(|(_, op)| op.is_some());
        let accumulated = accumulated.map(|(ty, _)| *ty);
        kept.chain(accumulated).chain(results.iter().copied()).chain([I64, BOOL]).collect()
    }

    /// The loop in the place of a call, which binds these results.
    fn expand(
        &self,
        code: &mut Code<'_>,
        arguments: &[Atom],
        results: &[(Var, Type)],
        deepest: u64,
    ) {
        let types = self.state_types();
        let mut initial: Vec<Atom> = self.kept.iter().map(|&number| arguments[number]).collect();
        for (operator, ty) in self.operators.iter().zip(&self.function.results) {
            let start = operator.and_then(|operator| identity(operator, ty.element));
            initial.extend(start.map(Atom::Scalar));
        }
        let first = initial.len();
        initial.extend(results.iter().map(|(_, ty)| Atom::Scalar(Scalar::zero(ty.element))));
        initial.extend([integer(1), Atom::Scalar(Scalar::Bool(true))]);
        let state = code.fresh(&types);
        let values = atoms(&state);
        let condition = code.inner(|_| vec![values[values.len() - 1]]);
        let deepest = i64::try_from(deepest).unwrap_or(i64::MAX);
        let body = code.inner(|code| {
            let params = self.function.params.iter().map(|(var, _)| *var);
            let mut names: HashMap<Var, Atom> = params.zip(arguments.iter().copied()).collect();
            for (&number, &value) in self.kept.iter().zip(&values) {
                names.insert(self.function.params[number].0, value);
            }
            let turn = Turn { linear: self, state: &values, types: &types, deepest };
            turn.next(code, &self.function.body, &mut names, &values[self.kept.len()..first])
        });
        let mut last = code.fresh(&types);
        last[first..first + results.len()].copy_from_slice(results);
        code.push(last, Operation::While { state, initial, condition, body });
    }
}

/// A turn of the loop.
struct Turn<'t> {
    linear: &'t Linear,
    state: &'t [Atom],
    types: &'t [Type],
    deepest: i64,
}

impl Turn<'_> {
    /// The next state, by a body whose results are combined with what has been accumulated.
    fn next(
        &self,
        code: &mut Code<'_>,
        body: &Body,
        names: &mut HashMap<Var, Atom>,
        accumulated: &[Atom],
    ) -> Vec<Atom> {
        let kept = self.linear.kept.len();
        let Some(around) = around(body) else {
            body.statements.iter().for_each(|statement| code.copy(statement, names));
            let results = body.results.iter().map(|atom| renamed(*atom, names));
            let mut next = [&self.state[..kept], accumulated].concat();
            let mut accumulated = accumulated.iter();
            for ((result, operator), ty) in
                results.zip(&self.linear.operators).zip(&self.linear.function.results)
            {
                let all = operator.and_then(|operator| Some((operator, *accumulated.next()?)));
                next.push(match all {
                    Some((operator, all)) => code.scalar(operator, &[all, result], *ty),
                    None => result,
                });
            }
            next.push(self.state[self.state.len() - 2]);
            next.push(Atom::Scalar(Scalar::Bool(false)));
            return next;
        };
        for statement in around.before.iter().chain(around.behind) {
            code.span = statement.span;
            code.copy(statement, names);
        }
        let mut all = accumulated.to_vec();
        let results = &self.linear.function.results;
        let accumulating = around.operands.iter().zip(&self.linear.operators).zip(results);
        let accumulating = accumulating.filter(|((_, operator), _)| operator.is_some());
        for (all, ((operands, _), ty)) in all.iter_mut().zip(accumulating) {
            for (operator, operand) in operands {
                *all = code.scalar(*operator, &[*all, renamed(*operand, names)], *ty);
            }
        }
        code.span = around.calling.span;
        match &around.calling.operation {
            Operation::Call(_, arguments) => self.call(code, arguments, names, all),
            Operation::If { condition, then, otherwise } => {
                let condition = renamed(*condition, names);
                let [then, otherwise] = [then, otherwise]
                    .map(|side| code.inner(|code| self.next(code, side, names, &all)));
                code.many(Operation::If { condition, then, otherwise }, self.types)
            }
            operation => panic!("recursion: {operation:?} calls"),
        }
    }

    /// The state of a call, which is one deeper.
    fn call(
        &self,
        code: &mut Code<'_>,
        arguments: &[Atom],
        names: &HashMap<Var, Atom>,
        all: Vec<Atom>,
    ) -> Vec<Atom> {
        let kept = self.linear.kept.iter();
        let mut next: Vec<Atom> = kept.map(|&number| renamed(arguments[number], names)).collect();
        next.extend(all);
        let end = self.state.len() - 2;
        next.extend(&self.state[next.len()..end]);
        let depth = code.scalar(ScalarOp::Add, &[self.state[end], integer(1)], I64);
        let condition = code.scalar(ScalarOp::Le, &[depth, integer(self.deepest)], BOOL);
        let (kind, values) = (FaultKind::AssertionFailed, vec![Atom::Scalar(Scalar::Bool(true))]);
        let goes_on = code.one(Operation::Assert { condition, kind, values }, BOOL);
        next.extend([depth, goes_on]);
        next
    }
}

/// Finds out what is done to the results of calls, and notes the arguments of the calls; nothing if the body is no
/// such recursion.
fn of_body(
    id: FunctionId,
    body: &Body,
    operators: &mut [Option<ScalarOp>],
    calls: &mut Vec<Vec<Atom>>,
) -> Option<()> {
    if !body.statements.iter().any(|statement| calls_of_operation(&statement.operation)) {
        return Some(());
    }
    let around = around(body)?;
    for (all, operands) in operators.iter_mut().zip(around.operands) {
        for (operator, _) in operands {
            let accumulates = if operator == ScalarOp::Sub { ScalarOp::Add } else { operator };
            if all.is_some_and(|all| all != accumulates) {
                return None;
            }
            *all = Some(accumulates);
        }
    }
    match &around.calling.operation {
        Operation::Call(other, arguments) => {
            calls.push(arguments.clone());
            (*other == id).then_some(())
        }
        Operation::If { then, otherwise, .. } => {
            of_body(id, then, operators, calls)?;
            of_body(id, otherwise, operators, calls)
        }
        _ => None,
    }
}

/// A body that calls, around the one statement that does; nothing if there is none, or if what the body yields is not
/// what that yields but for operators on it.
fn around(body: &Body) -> Option<Around<'_>> {
    let calling = |statement: &Statement| calls_of_operation(&statement.operation);
    let at = body.statements.iter().position(calling)?;
    let (before, calling_one, after) =
        (&body.statements[..at], &body.statements[at], &body.statements[at + 1..]);
    if after.iter().any(calling) || calling_one.results.len() != body.results.len() {
        return None;
    }
    let mut now: Vec<Var> = calling_one.results.iter().map(|(var, _)| *var).collect();
    let mut tainted: HashSet<Var> = now.iter().copied().collect();
    let mut operands = vec![Vec::new(); now.len()];
    let mut behind = Vec::new();
    for statement in after {
        if !note(statement, &mut tainted) {
            behind.push(statement);
            continue;
        }
        let Operation::Scalar(operator, sides) = &statement.operation else { return None };
        let [left, right] = sides[..] else { return None };
        let of = |atom: Atom| now.iter().position(|var| Atom::Var(*var) == atom);
        let (leaf, operand) = match (of(left), of(right)) {
            (Some(leaf), None) => (leaf, right),
            (None, Some(leaf)) if *operator != ScalarOp::Sub => (leaf, left),
            _ => return None,
        };
        // It may need another result of the call, or this one as it was before.
        if matches!(operand, Atom::Var(var) if tainted.contains(&var)) {
            return None;
        }
        operands[leaf].push((*operator, operand));
        now[leaf] = statement.results[0].0;
    }
    let yielded = now.iter().zip(&body.results).all(|(var, result)| Atom::Var(*var) == *result);
    yielded.then_some(Around { before, calling: calling_one, behind, operands })
}

/// What an operator leaves everything as it is with, if it may combine integers in any order.
fn identity(operator: ScalarOp, ty: ScalarType) -> Option<Scalar> {
    if ty.is_float() || matches!(ty, ScalarType::Bool | ScalarType::Char) {
        return None;
    }
    let (bits, signed) = (8 * ty.bytes() as u32, ty.is_signed_int());
    let least = if signed { -1 << (bits - 1) } else { 0 };
    let greatest = if signed { !(-1 << (bits - 1)) } else { -1 };
    let value: i64 = match operator {
        ScalarOp::Add | ScalarOp::BitOr | ScalarOp::BitXor => 0,
        ScalarOp::Mul => 1,
        ScalarOp::BitAnd => -1,
        ScalarOp::Min => greatest,
        ScalarOp::Max => least,
        _ => return None,
    };
    math::eval(ScalarOp::Cast(ty), &[Scalar::I64(value)]).ok()
}
