//! What loops carry along and never change.
//!
//! A call in tail position has become a loop whose state are all parameters, also those that every call passes on as
//! they are; and a record is a state with all its fields. Such a part of the state is what it began as: calls in the
//! loop pass the parameter on, and in a map not each element has a copy of it.

use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Operation, Var};

use crate::code::replace;

type Names = HashMap<Var, Atom>;

/// Whether what a loop yields of what no turn changes is what that began as.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Results {
    /// It is the loop's result: where a turn fails, so does whoever wants to know it. Only arrays are looked at: a scalar in
    /// the state costs next to nothing, and what depends on it alone would leave the loop, also one without turns.
    OfLoop,
    /// It is what it began as, and no part of the state.
    Initial,
}

/// What reads a part of the state that no turn changes, reads what it began as. Where nobody wants to know it behind the
/// loop, it is no part of the state any more once dead code has gone ([`super::sink`]).
pub(super) fn without_steady_state(body: &mut Body) {
    rename(body, Results::OfLoop);
}

/// Leaves out the parts of the states of loops that no turn changes.
pub(crate) fn without_steady_parts(body: &mut Body) {
    rename(body, Results::Initial);
}

fn rename(body: &mut Body, results: Results) {
    let mut found = Found::default();
    find(body, results, &mut found);
    let names = found.names;
    if !names.is_empty() {
        replace(body, &|atom| resolved(atom, &[&names]));
    }
}

/// What variables are, if that is something else.
#[derive(Default)]
struct Found {
    /// What is read in their place.
    names: Names,
    /// What both branches of an `if` yield. It stays what is read: if the condition is an error, so is the result.
    same: Names,
}

impl Found {
    fn resolved(&self, atom: Atom) -> Atom {
        resolved(atom, &[&self.names, &self.same])
    }
}

/// Notes what they are, from the loops inside to those around them.
fn find(body: &mut Body, results: Results, found: &mut Found) {
    for statement in &mut body.statements {
        statement.operation.for_each_body_mut(&mut |inner| find(inner, results, found));
        if let Operation::If { then, otherwise, .. } = &statement.operation {
            // What both branches yield is from in front of them.
            for (at, (result, _)) in statement.results.iter().enumerate() {
                let [one, other] = [then, otherwise].map(|side| found.resolved(side.results[at]));
                if one == other {
                    found.same.insert(*result, one);
                }
            }
        }
        let (Operation::While { state, initial, body: inner, .. }
        | Operation::For { state, initial, body: inner, .. }) = &mut statement.operation
        else {
            continue;
        };
        let is_steady = |at: usize| {
            (results == Results::Initial || state[at].1.rank > 0)
                && found.resolved(inner.results[at]) == Atom::Var(state[at].0)
        };
        let steady: Vec<bool> = (0..state.len()).map(is_steady).collect();
        let all = steady.iter().all(|steady| *steady);
        for at in (0..steady.len()).filter(|at| steady[*at] && !all) {
            found.names.insert(state[at].0, initial[at]);
            if results == Results::Initial {
                found.names.insert(statement.results[at].0, initial[at]);
            }
        }
        if results == Results::Initial && !all {
            retain(state, &steady);
            retain(initial, &steady);
            retain(&mut inner.results, &steady);
            retain(&mut statement.results, &steady);
        }
    }
}

/// Keeps what is not steady.
fn retain<T>(parts: &mut Vec<T>, steady: &[bool]) {
    let mut numbers = steady.iter();
    parts.retain(|_| !numbers.next().expect("as many parts"));
}

/// What an atom is, if that is something else, which may be something else again.
fn resolved(atom: Atom, names: &[&Names]) -> Atom {
    let Atom::Var(var) = atom else { return atom };
    let next = names.iter().find_map(|names| names.get(&var));
    next.map_or(atom, |next| resolved(*next, names))
}
