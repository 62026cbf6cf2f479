//! What loops carry along and never change.
//!
//! A call in tail position has become a loop whose state are all parameters, also those that every call passes on as
//! they are; and a record is a state with all its fields. Such a part of the state is what it began as: calls in the
//! loop pass the parameter on, and in a map not each element has a copy of it.

use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Operation, Var};

use crate::code::{renamed, replace};

type Names = HashMap<Var, Atom>;

/// Leaves out the parts of the states of loops that no turn changes.
pub(crate) fn without_steady_state(body: &mut Body) {
    let mut names = Names::new();
    find(body, &mut names);
    if !names.is_empty() {
        replace(body, &|atom| resolved(atom, &names));
    }
}

/// Notes what they are, from the loops inside to those around them.
fn find(body: &mut Body, names: &mut Names) {
    for statement in &mut body.statements {
        statement.operation.for_each_body_mut(&mut |inner| find(inner, names));
        if let Operation::If { then, otherwise, .. } = &statement.operation {
            // What both branches yield is from in front of them.
            for (at, (result, _)) in statement.results.iter().enumerate() {
                let [one, other] = [then, otherwise].map(|side| resolved(side.results[at], names));
                if one == other {
                    names.insert(*result, one);
                }
            }
        }
        let (Operation::While { state, initial, body: inner, .. }
        | Operation::For { state, initial, body: inner, .. }) = &mut statement.operation
        else {
            continue;
        };
        let is_steady = |at: usize| resolved(inner.results[at], names) == Atom::Var(state[at].0);
        let steady: Vec<bool> = (0..state.len()).map(is_steady).collect();
        if steady.iter().all(|steady| *steady) {
            continue;
        }
        for at in (0..steady.len()).filter(|at| steady[*at]) {
            names.insert(state[at].0, initial[at]);
            names.insert(statement.results[at].0, initial[at]);
        }
        retain(state, &steady);
        retain(initial, &steady);
        retain(&mut inner.results, &steady);
        retain(&mut statement.results, &steady);
    }
}

/// Keeps what is not steady.
fn retain<T>(parts: &mut Vec<T>, steady: &[bool]) {
    let mut numbers = steady.iter();
    parts.retain(|_| !numbers.next().expect("as many parts"));
}

/// What an atom is, if that is something else, which may be something else again.
fn resolved(atom: Atom, names: &Names) -> Atom {
    let next = renamed(atom, names);
    if next == atom { atom } else { resolved(next, names) }
}
