//! Maps of which a condition chooses elements.
//!
//! Note [Chosen elements]. `select (xs == 0) 0 (6 // xs)` divides by no zero, for only what is chosen is
//! needed. But the division is a map of its own: stored, it would be an error. So a map that may fail
//! is not stored if nothing uses it but one map beside it, which chooses, or which is again part of
//! what a map beside it chooses from. It becomes a view, evaluated where an element is needed
//! ([`Source::Delayed`](super::view::Source)). Nothing is computed twice: each element is needed at
//! one point of the other map.

use std::collections::HashMap;

use weft_ir::ScalarOp;
use weft_ir::nested::{Atom, Body, Lambda, Operation, Statement, Type, Var};

use super::local::is_scalar_code;
use super::view::{Length, Value};
use super::{Flattener, Outcome};
use crate::partial::may_fail;

impl<'p> Flattener<'p> {
    /// For each statement of a body, whether it is a map that is evaluated where a condition chooses
    /// its elements (Note [Chosen elements]).
    pub(super) fn chosen_maps(&self, body: &Body) -> Vec<bool> {
        let mut readers = HashMap::new();
        for (number, statement) in body.statements.iter().enumerate() {
            if let Operation::Map(_, arrays) = &statement.operation {
                readers
                    .extend(arrays.iter().filter_map(|atom| atom.var()).map(|var| (var, number)));
            }
        }
        let mut chosen = vec![false; body.statements.len()];
        for (number, statement) in body.statements.iter().enumerate().rev() {
            let reader = self.only_reader(statement, &readers);
            chosen[number] =
                reader.is_some_and(|reader| match &body.statements[reader].operation {
                    Operation::Map(lambda, arrays) => {
                        (chosen[reader] || chooses(&lambda.body))
                            && self.reads_once(lambda, arrays, &statement.results)
                    }
                    _ => false,
                });
        }
        let mut producers = HashMap::new();
        for (number, statement) in body.statements.iter().enumerate() {
            if let Operation::Map(lambda, arrays) = &statement.operation {
                let of_chosen =
                    |var| producers.get(&var).is_some_and(|&number: &usize| chosen[number]);
                let may_fail = || self.may_fail(&lambda.body);
                let arrays = || arrays.iter().filter_map(|atom| atom.var());
                let needed = chosen[number] && (may_fail() || arrays().any(of_chosen));
                chosen[number] = needed;
                producers.extend(statement.results.iter().map(|(var, _)| (*var, number)));
            }
        }
        chosen
    }

    /// The map that alone reads what an element-wise map yields, each element at one point.
    fn only_reader(&self, statement: &Statement, readers: &HashMap<Var, usize>) -> Option<usize> {
        let lambda = lambda_of(statement).filter(|lambda| is_elementwise(&lambda.body))?;
        let used = |var: &Var| self.uses_of(*var) > 0;
        let mut results = statement.results.iter().map(|&(var, _)| var).filter(used);
        let reader = *readers.get(&results.next()?)?;
        let alone = |var: &Var| self.uses_of(*var) == 1 && readers.get(var) == Some(&reader);
        let alone = statement.results.iter().all(|(var, _)| !used(var) || alone(var));
        (alone && !lambda.params.is_empty()).then_some(reader)
    }

    /// Whether each element of the arrays that some variables are is needed at one point of a map at
    /// most.
    fn reads_once(&self, lambda: &Lambda, arrays: &[Atom], vars: &[(Var, Type)]) -> bool {
        let is_one = |atom: &Atom| vars.iter().any(|&(var, _)| *atom == Atom::Var(var));
        let read = lambda.params.iter().zip(arrays).filter(|(_, array)| is_one(array));
        read.map(|(param, _)| param).all(|&(row, ty)| {
            ty.rank == 0
                || self.uses_of(row) == 0
                || self.uses_of(row) == 1
                    && lambda.body.statements.iter().any(|inner| match &inner.operation {
                        Operation::Map(lambda, arrays) => {
                            arrays.contains(&Atom::Var(row))
                                && self.reads_once(lambda, arrays, &[(row, ty)])
                        }
                        _ => false,
                    })
        })
    }

    fn uses_of(&self, var: Var) -> u32 {
        self.uses[var.0 as usize]
    }

    fn may_fail(&self, body: &Body) -> bool {
        body.statements.iter().any(|statement| match &statement.operation {
            Operation::Scalar(op, args) => may_fail(*op, args, statement.results[0].1.element),
            Operation::Index(..) | Operation::Assert { .. } => true,
            Operation::If { then, otherwise, .. } => {
                self.may_fail(then) || self.may_fail(otherwise)
            }
            Operation::While { condition, body, .. } => {
                self.may_fail(condition) || self.may_fail(body)
            }
            Operation::For { body, .. } => self.may_fail(body),
            Operation::Map(lambda, _) => self.may_fail(&lambda.body),
            _ => false,
        })
    }

    /// A map that is evaluated where its elements are needed; it is stored all the same if it
    /// would have to be checked at every point that its arrays have one length.
    pub(super) fn chosen_map(
        &mut self,
        lambda: &'p Lambda,
        arrays: &[Atom],
    ) -> Outcome<Vec<Value<'p>>> {
        let arrays: Vec<_> = arrays.iter().map(|array| self.array_atom(array)).collect();
        let lengths: Vec<Length> = arrays.iter().map(|array| self.length(array)).collect();
        let known = lengths.iter().all(|length| matches!(length, Length::Uniform(_)));
        if !known && lengths.iter().any(|&length| length != lengths[0]) {
            return self.map(lambda, arrays);
        }
        for &length in &lengths[1..] {
            self.check_equal(lengths[0], length);
        }
        self.local_map(lambda, arrays)
    }
}

fn lambda_of(statement: &Statement) -> Option<&Lambda> {
    match &statement.operation {
        Operation::Map(lambda, _) => Some(lambda),
        _ => None,
    }
}

/// Whether the elements of a map may need only some of its parameters.
fn chooses(body: &Body) -> bool {
    body.statements.iter().any(|statement| match &statement.operation {
        Operation::If { .. } => true,
        Operation::Scalar(op, _) => matches!(op, ScalarOp::Select | ScalarOp::And | ScalarOp::Or),
        Operation::Map(lambda, _) => chooses(&lambda.body),
        _ => false,
    })
}

/// Whether a body has nothing but scalar code and maps of such.
fn is_elementwise(body: &Body) -> bool {
    is_scalar_code(body)
        || body.statements.iter().all(|statement| match &statement.operation {
            Operation::Map(lambda, _) => is_elementwise(&lambda.body),
            Operation::Scalar(..) | Operation::Random(..) => true,
            _ => false,
        })
}
