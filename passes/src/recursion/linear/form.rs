//! What a function looks like that is such a recursion (Note [Accumulated recursion]).

use std::collections::HashSet;

use weft_ir::nested::{Atom, Body, Function, FunctionId, Operation, Statement, Var};
use weft_ir::{Scalar, ScalarOp};

use crate::code::uses;
use crate::recursion::shape::{calls_of_operation, note};
use crate::share::without_steady_parts;

/// What a turn does.
pub(super) struct Form {
    /// First, and without a call.
    pub(super) before: Vec<Statement>,
    pub(super) body: Body,
    /// If the function is a loop of its calls in tail position, how many of the results of the body are the next
    /// arguments: the results of the function follow, and whether it goes on.
    pub(super) arguments: Option<usize>,
    /// And what the results of the turn before are called in it.
    pub(super) results: Vec<Var>,
}

/// What stands around the statement of a body that calls.
pub(super) struct Around<'b> {
    pub(super) before: &'b [Statement],
    pub(super) calling: &'b Statement,
    /// What stands behind it and does not need its results.
    pub(super) behind: Vec<&'b Statement>,
    /// What is done to each result of the function, one after the other.
    pub(super) operands: Vec<Vec<(ScalarOp, Atom)>>,
    /// Of a condition, what the sides yield in place of the body.
    pub(super) sides: Option<[Body; 2]>,
}

impl Form {
    /// That of a function that is a loop of its calls in tail position, and what that calls the parameters that differ.
    pub(super) fn of_loop(function: &Function) -> Option<(Form, Vec<(usize, Var)>)> {
        let mut all = function.body.clone();
        without_steady_parts(&mut all);
        let (last, before) = all.statements.split_last()?;
        let Operation::While { state, initial, condition, body } = &last.operation else {
            return None;
        };
        let count = state.len().checked_sub(function.results.len() + 1)?;
        let goes_on = Atom::Var(state.last()?.0);
        let results: Vec<Atom> =
            last.results[count..state.len() - 1].iter().map(|(var, _)| Atom::Var(*var)).collect();
        let fits = condition.statements.is_empty()
            && condition.results == [goes_on]
            && initial.last() == Some(&Atom::Scalar(Scalar::Bool(true)))
            && all.results == results
            && !before.iter().any(|statement| calls_of_operation(&statement.operation));
        let number =
            |atom: &Atom| function.params.iter().position(|(var, _)| Atom::Var(*var) == *atom);
        let names: Vec<(usize, Var)> = (initial[..count].iter().zip(state))
            .map(|(atom, (name, _))| Some((number(atom)?, *name)))
            .collect::<Option<_>>()?;
        // What the parameters were in the first turn would be something else in the next one.
        let mut of_first: HashSet<Var> =
            names.iter().map(|(number, _)| function.params[*number].0).collect();
        let differ = of_first.len() == names.len();
        of_first.extend(state.last().map(|(var, _)| *var));
        let unread = !before.iter().any(|statement| uses(statement, &of_first))
            && !body.statements.iter().any(|statement| uses(statement, &of_first))
            && !body
                .results
                .iter()
                .any(|atom| matches!(atom, Atom::Var(var) if of_first.contains(var)));
        let results: Vec<Var> = state[count..state.len() - 1].iter().map(|(var, _)| *var).collect();
        let passed_on = passes_on(body, &results.iter().copied().collect());
        let arguments = Some(count);
        let form = Form { before: before.to_vec(), body: body.clone(), arguments, results };
        (fits && differ && unread && passed_on).then_some((form, names))
    }

    /// Finds out what is done to the results of calls, and notes the arguments of the calls; nothing if the body is no
    /// such recursion.
    pub(super) fn of_body(
        &self,
        id: FunctionId,
        body: &Body,
        operators: &mut [Option<ScalarOp>],
        calls: &mut Vec<Vec<Atom>>,
    ) -> Option<()> {
        if !body.statements.iter().any(|statement| calls_of_operation(&statement.operation)) {
            return Some(());
        }
        let around = self.around(body)?;
        for (all, operands) in operators.iter_mut().zip(around.operands) {
            for (operator, _) in operands {
                let adds = if operator == ScalarOp::Sub { ScalarOp::Add } else { operator };
                if all.is_some_and(|all| all != adds) {
                    return None;
                }
                *all = Some(adds);
            }
        }
        match (&around.calling.operation, &around.sides) {
            (Operation::Call(other, arguments), _) => {
                calls.push(arguments.clone());
                (*other == id).then_some(())
            }
            (_, Some(sides)) => {
                sides.iter().try_for_each(|side| self.of_body(id, side, operators, calls))
            }
            _ => None,
        }
    }

    /// A body that calls, around the one statement that does; nothing if there is none, or if what the body yields is
    /// not what that yields but for operators on it.
    pub(super) fn around<'b>(&self, body: &'b Body) -> Option<Around<'b>> {
        let calls = |statement: &Statement| calls_of_operation(&statement.operation);
        let at = body.statements.iter().position(calls)?;
        let (before, calling, after) =
            (&body.statements[..at], &body.statements[at], &body.statements[at + 1..]);
        if after.iter().any(calls) {
            return None;
        }
        let yielded = match (self.arguments, &calling.operation) {
            (Some(count), Operation::Call(..)) => {
                let (last, results) = body.results[count..].split_last()?;
                (*last == Atom::Scalar(Scalar::Bool(false))).then_some(results)?
            }
            (Some(_), Operation::If { then, otherwise, .. }) => {
                let mut tainted: HashSet<Var> =
                    calling.results.iter().map(|(var, _)| *var).collect();
                if after.iter().any(|statement| note(statement, &mut tainted)) {
                    return None;
                }
                let sides = Some([then, otherwise].map(|side| yielding(body, calling, side)));
                let behind = after.iter().collect();
                return Some(Around { before, calling, behind, operands: Vec::new(), sides });
            }
            _ => &body.results[..],
        };
        if calling.results.len() != yielded.len() {
            return None;
        }
        let mut now: Vec<Var> = calling.results.iter().map(|(var, _)| *var).collect();
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
        let same = now.iter().zip(yielded).all(|(var, result)| Atom::Var(*var) == *result);
        let sides = match &calling.operation {
            Operation::If { then, otherwise, .. } => Some([then.clone(), otherwise.clone()]),
            _ => None,
        };
        same.then_some(Around { before, calling, behind, operands, sides })
    }
}

/// Whether the results of the turn before are nothing but passed on, and that only where another turn follows. A loop that
/// was written as one may read them.
fn passes_on(body: &Body, results: &HashSet<Var>) -> bool {
    let is_one = |atom: &Atom| matches!(atom, Atom::Var(var) if results.contains(var));
    let yields_state = |statement: &Statement| {
        let yielded = |(var, _): &(Var, _)| body.results.contains(&Atom::Var(*var));
        matches!(statement.operation, Operation::If { .. }) && statement.results.iter().any(yielded)
    };
    let (choices, others): (Vec<_>, Vec<_>) =
        body.statements.iter().partition(|it| yields_state(it));
    if others.iter().any(|statement| uses(statement, results)) {
        return false;
    }
    match choices[..] {
        [] => {
            let goes_on = body.results.last() == Some(&Atom::Scalar(Scalar::Bool(true)));
            let arguments = body.results.len() - 1 - results.len();
            let read = if goes_on { &body.results[..arguments] } else { &body.results[..] };
            !read.iter().any(is_one)
        }
        [choice] => {
            let Operation::If { condition, then, otherwise } = &choice.operation else {
                return false;
            };
            let sides = [then, otherwise].map(|side| yielding(body, choice, side));
            !is_one(condition) && sides.iter().all(|side| passes_on(side, results))
        }
        _ => false,
    }
}

/// A side of a condition in a body, which yields what the body does.
fn yielding(body: &Body, condition: &Statement, side: &Body) -> Body {
    let of = |atom: &Atom| {
        let at = condition.results.iter().position(|(var, _)| Atom::Var(*var) == *atom);
        at.map_or(*atom, |at| side.results[at])
    };
    Body { statements: side.statements.clone(), results: body.results.iter().map(of).collect() }
}
