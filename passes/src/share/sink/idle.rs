//! Loops that are needed in a map or loop alone, before which they stand: if that has nothing to do they are not to take
//! long.

use std::collections::HashSet;

use weft_ir::nested::{Atom, Body, Operation, Program, Statement, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, Span};

use crate::MOST_IDLE_TURNS;

/// What says whether a body runs at all.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    /// An array has elements.
    Elements(Atom),
    /// There are turns.
    Turns(Atom),
}

impl Work {
    /// That of the bodies of an operation, if it is known before it begins, and not for sure.
    pub(super) fn of(operation: &Operation) -> Option<Work> {
        match operation {
            Operation::Map(_, arrays)
            | Operation::Fold { arrays, .. }
            | Operation::Scan { arrays, .. } => arrays.first().copied().map(Work::Elements),
            Operation::For { count: count @ Atom::Var(_), .. } => Some(Work::Turns(*count)),
            _ => None,
        }
    }

    /// The array or the number.
    pub(super) fn atom(self) -> Atom {
        match self {
            Work::Elements(atom) | Work::Turns(atom) => atom,
        }
    }
}

/// The variables that an assertion yields: the number of turns of a loop that has left a map may be one.
pub(super) fn asserted(program: &Program) -> HashSet<Var> {
    let mut found = HashSet::new();
    for function in &program.functions {
        collect(&function.body, &mut found);
    }
    collect(&program.body, &mut found);
    found
}

fn collect(body: &Body, found: &mut HashSet<Var>) {
    for statement in &body.statements {
        if matches!(statement.operation, Operation::Assert { .. }) {
            found.extend(statement.results.iter().map(|(var, _)| *var));
        }
        statement.operation.for_each_body(&mut |body| collect(body, found));
    }
}

/// Whether a loop of that many turns is not to be begun for nothing.
pub(super) fn may_take_long(count: Atom, asserted: &HashSet<Var>) -> bool {
    match count {
        Atom::Scalar(Scalar::I64(count)) => count > MOST_IDLE_TURNS,
        Atom::Scalar(_) => false,
        Atom::Var(var) => !asserted.contains(&var),
    }
}

/// The statements that make of the number of turns `count` one that is a fault if there are many and nothing to do for
/// what needs them; and the variable that it is then.
pub(super) fn checked_count(
    count: Atom,
    work: Work,
    span: Span,
    variables: &mut u32,
) -> (Vec<Statement>, Var) {
    let mut statements = Vec::new();
    let mut scalar = |operation: Operation, element: ScalarType| {
        let var = Var(*variables);
        *variables += 1;
        statements.push(Statement { results: vec![(var, Type::scalar(element))], operation, span });
        var
    };
    let integer = |value: i64| Atom::Scalar(Scalar::I64(value));
    let op = |op: ScalarOp, a: Atom, b: Atom| Operation::Scalar(op, vec![a, b]);
    let number = match work {
        Work::Elements(array) => Atom::Var(scalar(Operation::Length(array), ScalarType::I64)),
        Work::Turns(number) => number,
    };
    let some = scalar(op(ScalarOp::Gt, number, integer(0)), ScalarType::Bool);
    let few = scalar(op(ScalarOp::Le, count, integer(MOST_IDLE_TURNS)), ScalarType::Bool);
    let either = op(ScalarOp::Or, Atom::Var(some), Atom::Var(few));
    let condition = Atom::Var(scalar(either, ScalarType::Bool));
    let kind = FaultKind::AssertionFailed;
    let checked =
        scalar(Operation::Assert { condition, kind, values: vec![count] }, ScalarType::I64);
    (statements, checked)
}
