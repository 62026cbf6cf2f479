//! What a nested program says about its variables before it is flattened.

use std::collections::{BTreeSet, HashMap};

use weft_ir::nested::{Atom, Body, Lambda, Type, Var};

/// Counts the uses of variables and notes their types.
pub(super) fn survey(body: &Body, uses: &mut [u32], types: &mut HashMap<Var, Type>) {
    let mut count = |atom: &Atom| {
        if let Atom::Var(var) = atom {
            uses[var.0 as usize] += 1;
        }
    };
    body.results.iter().for_each(&mut count);
    for statement in &body.statements {
        types.extend(statement.results.iter().copied());
        statement.operation.for_each_atom(&mut count);
        statement.operation.for_each_bound(&mut |var, ty| {
            types.insert(*var, ty);
        });
    }
    for statement in &body.statements {
        statement.operation.for_each_body(&mut |body| survey(body, uses, types));
    }
}

/// The variables from outside that a lambda uses, in ascending order.
pub(super) fn free_variables(lambda: &Lambda) -> Vec<Var> {
    let mut used = BTreeSet::new();
    let mut bound: BTreeSet<Var> = lambda.params.iter().map(|(var, _)| *var).collect();
    collect(&lambda.body, &mut used, &mut bound);
    used.difference(&bound).copied().collect()
}

/// The variables from outside that some bodies use.
pub(super) fn free_in(bodies: &[&Body]) -> Vec<Var> {
    let mut used = BTreeSet::new();
    let mut bound = BTreeSet::new();
    for body in bodies {
        collect(body, &mut used, &mut bound);
    }
    used.difference(&bound).copied().collect()
}

fn collect(body: &Body, used: &mut BTreeSet<Var>, bound: &mut BTreeSet<Var>) {
    let mut note = |atom: &Atom| {
        if let Atom::Var(var) = atom {
            used.insert(*var);
        }
    };
    body.results.iter().for_each(&mut note);
    for statement in &body.statements {
        bound.extend(statement.results.iter().map(|(var, _)| *var));
        statement.operation.for_each_atom(&mut note);
        statement.operation.for_each_bound(&mut |var, _| {
            bound.insert(*var);
        });
    }
    for statement in &body.statements {
        statement.operation.for_each_body(&mut |body| collect(body, used, bound));
    }
}
