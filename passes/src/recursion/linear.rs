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
//! calls within each other, of which there may be so many. Calls in tail position are none of them: a function that
//! makes both kinds is a loop already (Note [Tail calls] in `weft_lang`), which ends with the other calls. A turn of that
//! loop is then a turn of this one.
//!
//! Source: Wadler, "Listlessness is better than laziness" (1984) and Liu and Stoller, "From recursion to iteration: what
//! are the optimizations?" (PEPM 2000), on accumulators.

mod form;
mod turn;

use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Function, FunctionId, Operation, Program, Type, Var};
use weft_ir::{Scalar, ScalarOp, ScalarType, math};

use crate::code::{BOOL, Code, I64, atoms, integer};
use form::Form;
use turn::Turn;

/// Puts loops in the place of calls of such functions, but of those that other recursive functions make: these are calls
/// within calls, which are counted together.
pub(super) fn accumulate(program: &mut Program, linear: &Recursions, deepest: u64) {
    if linear.0.is_empty() {
        return;
    }
    let mut expander = Expander { linear, variables: &mut program.variables, deepest };
    expander.body(&mut program.body);
}

/// The functions of a program that are such recursions. What shares equal terms may hide it.
pub(crate) struct Recursions(HashMap<FunctionId, Linear>);

impl Recursions {
    pub(crate) fn of(functions: &[Function]) -> Recursions {
        let numbered = (0..).map(FunctionId).zip(functions);
        let linear = numbered.filter_map(|(id, function)| Some((id, Linear::of(id, function)?)));
        Recursions(linear.collect())
    }
}

struct Expander<'l> {
    linear: &'l Recursions,
    variables: &'l mut u32,
    deepest: u64,
}

impl Expander<'_> {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            if let Operation::Call(id, arguments) = &statement.operation
                && let Some(linear) = self.linear.0.get(id)
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
    /// Its parameters.
    params: Vec<Var>,
    /// Those that differ from call to call: their numbers, what the turn calls them, and their types.
    kept: Vec<(usize, Var, Type)>,
    results: Vec<Type>,
    /// What is done to each result; nothing if it is passed on as it is.
    operators: Vec<Option<ScalarOp>>,
    turn: Form,
}

impl Linear {
    fn of(id: FunctionId, function: &Function) -> Option<Linear> {
        let params: Vec<Var> = function.params.iter().map(|(var, _)| *var).collect();
        let looped = Form::of_loop(function);
        let (turn, names) = match looped {
            Some((form, names)) => (form, Some(names)),
            None => {
                let body = function.body.clone();
                (Form { before: Vec::new(), body, arguments: None, results: Vec::new() }, None)
            }
        };
        let mut calls = Vec::new();
        let mut operators = vec![None; function.results.len()];
        turn.of_body(id, &turn.body, &mut operators, &mut calls)?;
        let same = |number: usize| {
            calls.iter().all(|args: &Vec<Atom>| args[number] == Atom::Var(params[number]))
        };
        let mut kept = names.unwrap_or_default();
        for (number, param) in params.iter().enumerate() {
            if !same(number) && !kept.iter().any(|(at, _)| *at == number) {
                kept.push((number, *param));
            }
        }
        let ty = |(number, var): (usize, Var)| (number, var, function.params[number].1);
        let kept: Vec<(usize, Var, Type)> = kept.into_iter().map(ty).collect();
        let is_scalar = |ty: &Type| ty.rank == 0;
        let scalars =
            kept.iter().all(|(_, _, ty)| is_scalar(ty)) && function.results.iter().all(is_scalar);
        let exact = (operators.iter().zip(&function.results))
            .all(|(operator, ty)| operator.is_none_or(|op| identity(op, ty.element).is_some()));
        // That all calls are in tail position, or that none makes another one, is no case of this.
        let accumulates = !calls.is_empty() && operators.iter().any(Option::is_some);
        let results = function.results.clone();
        (accumulates && !kept.is_empty() && scalars && exact).then_some(Linear {
            params,
            kept,
            results,
            operators,
            turn,
        })
    }

    /// The types of the state: the arguments that differ, what has been accumulated, results, depth, whether it goes on.
    fn state_types(&self) -> Vec<Type> {
        let kept = self.kept.iter().map(|(_, _, ty)| *ty);
        let results = &self.results;
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
        let mut initial: Vec<Atom> =
            self.kept.iter().map(|(number, ..)| arguments[*number]).collect();
        for (operator, ty) in self.operators.iter().zip(&self.results) {
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
            let params = self.params.iter().copied();
            let mut names: HashMap<Var, Atom> = params.zip(arguments.iter().copied()).collect();
            names.extend(self.kept.iter().map(|(_, name, _)| *name).zip(values.iter().copied()));
            names.extend(self.turn.results.iter().copied().zip(values[first..].iter().copied()));
            self.turn.before.iter().for_each(|statement| code.copy(statement, &mut names));
            let turn = Turn { linear: self, state: &values, types: &types, deepest };
            turn.next(code, &self.turn.body, &mut names, &values[self.kept.len()..first])
        });
        let mut last = code.fresh(&types);
        last[first..first + results.len()].copy_from_slice(results);
        code.push(last, Operation::While { state, initial, condition, body });
    }
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
