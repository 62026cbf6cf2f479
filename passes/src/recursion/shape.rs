//! Which calls there are, and whether they can be evaluated side by side.

use std::collections::HashSet;

use weft_ir::Span;
use weft_ir::nested::{Atom, Body, Function, FunctionId, Operation, Statement, Var};

use super::level::Level;
use super::unsupported;
use crate::Unsupported;
use crate::code::uses;
use crate::operator_cost::operator_cost;

/// The cost of a call that the interpreter makes as fast as memory takes its arguments.
const MOST_SMALL_COST: u32 = 24;

/// Whether a body calls a recursive function.
pub(super) fn body_calls(body: &Body) -> bool {
    body.statements.iter().any(|statement| calls_of_operation(&statement.operation))
}

/// Whether an operation calls one.
pub(super) fn calls_of_operation(operation: &Operation) -> bool {
    let mut calls = matches!(operation, Operation::Call(..));
    operation.for_each_body(&mut |body| calls |= body_calls(body));
    calls
}

/// A function that calls itself, as a statement calls it.
pub(super) struct Recursion<'f> {
    pub(super) function: &'f Function,
    /// The numbers of the parameters that differ from call to call.
    pub(super) kept: Vec<usize>,
    /// The others, and what they are.
    pub(super) fixed: Vec<(Var, Atom)>,
}

/// The recursion that a statement starts.
pub(super) fn recursion_of<'f>(
    functions: &'f [Function],
    statement: &Statement,
) -> Result<Recursion<'f>, Unsupported> {
    let mut starts = Vec::new();
    let statements = std::slice::from_ref(statement);
    each_call(statements, &mut |id, args| starts.push((id, args.to_vec())));
    let id = starts[0].0;
    let function = &functions[id.0 as usize];
    let refuse = |because: &str| Err(unsupported(&function.name, because, statement.span));
    let mut inner = Vec::new();
    each_call(&function.body.statements, &mut |id, args| inner.push((id, args.to_vec())));
    if inner.iter().any(|&(other, _)| other != id) {
        return refuse("through another function");
    }
    if let Some((other, _)) = starts.iter().find(|(other, _)| *other != id) {
        let other = &functions[other.0 as usize].name;
        let because = format!("beside `{other}`, which does so too");
        return Err(unsupported(&function.name, because, statement.span));
    }
    let mut bound = HashSet::new();
    bound_in(statements, &mut bound);
    let (mut kept, mut fixed) = (Vec::new(), Vec::new());
    for (number, (var, _)) in function.params.iter().enumerate() {
        let outside = starts[0].1[number];
        let same = inner.iter().all(|(_, args)| args[number] == Atom::Var(*var))
            && starts.iter().all(|(_, args)| args[number] == outside)
            && !matches!(outside, Atom::Var(var) if bound.contains(&var));
        match same {
            true => fixed.push((*var, outside)),
            false => kept.push(number),
        }
    }
    if inner.is_empty() {
        return refuse("for what nobody uses");
    }
    if kept.is_empty() {
        return refuse("with the same arguments");
    }
    Ok(Recursion { function, kept, fixed })
}

/// The recursion that a statement starts, if all calls of a call can be made side by side.
pub(super) fn level_of<'f>(
    recursion: Recursion<'f>,
    statement: &Statement,
) -> Result<Level<'f>, Unsupported> {
    let Recursion { function, kept, fixed } = recursion;
    let refuse = |because: &str| Err(unsupported(&function.name, because, statement.span));
    let mut tainted = HashSet::new();
    if let Err(because) = are_side_by_side(std::slice::from_ref(statement), &mut tainted) {
        return refuse(&format!("and is called {because}"));
    }
    if let Err(because) = are_side_by_side(&function.body.statements, &mut tainted) {
        return refuse(because);
    }
    // What yields arrays does something with them.
    let types = kept.iter().map(|&number| &function.params[number].1).chain(&function.results);
    let scalars = types.into_iter().all(|ty| ty.rank == 0);
    let alone = matches!(statement.operation, Operation::Call(..));
    if scalars && alone && most_calls(&function.body) < 2 {
        return refuse("with arguments that are scalars, one call after the other");
    }
    let is_small = alone && is_small(function);
    Ok(Level { function, kept, fixed, is_small, span: statement.span })
}

/// Whether a call is a few scalar operations.
pub(super) fn is_small(function: &Function) -> bool {
    scalar_cost(&function.body).is_some_and(|cost| cost <= MOST_SMALL_COST)
}

/// Why a call inside another operation is left to the interpreter.
pub(super) fn inside(functions: &[Function], statement: &Statement) -> Unsupported {
    let mut name = String::new();
    each_call(std::slice::from_ref(statement), &mut |id, _| {
        name = functions[id.0 as usize].name.to_string();
    });
    unsupported(&name, place(&statement.operation), statement.span)
}

/// Where calls are that are made one after the other.
fn place(operation: &Operation) -> &'static str {
    match operation {
        Operation::While { .. } | Operation::For { .. } => {
            "in a loop, or for an argument of a call in tail position, or before one as in `f a || f b`: that is a \
             loop"
        }
        _ => "inside the operator of a fold, scan or scatter",
    }
}

fn each_call(statements: &[Statement], visit: &mut dyn FnMut(FunctionId, &[Atom])) {
    for statement in statements {
        if let Operation::Call(id, args) = &statement.operation {
            visit(*id, args);
        }
        statement.operation.for_each_body(&mut |body| each_call(&body.statements, visit));
    }
}

/// Whether the calls need no results of calls. `tainted` are the variables that do.
fn are_side_by_side(
    statements: &[Statement],
    tainted: &mut HashSet<Var>,
) -> Result<(), &'static str> {
    for statement in statements {
        let operation = &statement.operation;
        if !calls_of_operation(operation) {
            note(statement, tainted);
            continue;
        }
        let mut needs = false;
        operation.for_each_atom(&mut |atom| {
            needs |= matches!(atom, Atom::Var(var) if tainted.contains(var));
        });
        if needs {
            return Err("with what it has yielded");
        }
        if !matches!(operation, Operation::Call(..) | Operation::If { .. } | Operation::Map(..)) {
            return Err(place(operation));
        }
        let mut inside = Ok(());
        operation.for_each_body(&mut |body| {
            if inside.is_ok() {
                inside = are_side_by_side(&body.statements, tainted);
            }
        });
        inside?;
        tainted.extend(statement.results.iter().map(|(var, _)| *var));
    }
    Ok(())
}

/// Notes the results of a statement that uses results of calls.
pub(super) fn note(statement: &Statement, tainted: &mut HashSet<Var>) -> bool {
    let uses = uses(statement, tainted);
    if uses {
        tainted.extend(statement.results.iter().map(|(var, _)| *var));
    }
    uses
}

/// What statements bind, those of their bodies included.
fn bound_in(statements: &[Statement], bound: &mut HashSet<Var>) {
    for statement in statements {
        bound.extend(statement.results.iter().map(|(var, _)| *var));
        statement.operation.for_each_bound(&mut |var, _| {
            bound.insert(*var);
        });
        statement.operation.for_each_body(&mut |body| bound_in(&body.statements, bound));
    }
}

/// What the scalar code of a body costs, beside its calls; none if there is other code.
fn scalar_cost(body: &Body) -> Option<u32> {
    let mut cost = 0;
    for statement in &body.statements {
        cost += match &statement.operation {
            Operation::Scalar(op, _) => operator_cost(*op),
            Operation::If { then, otherwise, .. } => {
                scalar_cost(then)?.max(scalar_cost(otherwise)?)
            }
            Operation::Call(..) | Operation::Assert { .. } => 0,
            Operation::Index(..) | Operation::Length(_) => 1,
            _ => return None,
        };
        if statement.results.iter().any(|(_, ty)| ty.rank > 0) {
            return None;
        }
    }
    Some(cost)
}

/// How many calls a call makes; 2 stands for any greater number.
fn most_calls(body: &Body) -> usize {
    let of = |statement: &Statement| match &statement.operation {
        Operation::Call(..) => 1,
        Operation::If { then, otherwise, .. } => most_calls(then).max(most_calls(otherwise)),
        operation => 2 * usize::from(calls_of_operation(operation)),
    };
    body.statements.iter().map(of).sum()
}

/// Where a body makes a call that no condition spares.
pub(super) fn call_in_any_case(body: &Body) -> Option<Span> {
    body.statements.iter().find_map(|statement| match &statement.operation {
        Operation::Call(..) => Some(statement.span),
        Operation::If { then, otherwise, .. } => {
            call_in_any_case(then).and(call_in_any_case(otherwise))
        }
        _ => None,
    })
}

/// Whether a body makes one call, whatever happens.
pub(super) fn makes_one_call(body: &Body) -> bool {
    let mut calls = body.statements.iter().filter(|it| calls_of_operation(&it.operation));
    matches!(calls.next().map(|it| &it.operation), Some(Operation::Call(..)))
        && calls.next().is_none()
}
