//! Which components of a loop's state are needed: those whose last value is, those that the condition
//! looks at, and those that go into needed ones.

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Body, Operation, Type, Var};

/// For each component whether it is needed, given which results are used.
pub(super) fn needed(
    state: &[(Var, Type)],
    condition: Option<&Body>,
    body: &Body,
    used: Vec<bool>,
) -> Vec<bool> {
    let mut sources = HashMap::new();
    if let Some(condition) = condition {
        collect(condition, &mut sources);
    }
    collect(body, &mut sources);
    let component: HashMap<Var, usize> =
        state.iter().enumerate().map(|(index, (var, _))| (*var, index)).collect();
    let mut flags = used;
    let mut waiting: Vec<Var> = Vec::new();
    if let Some(condition) = condition {
        waiting.extend(condition.results.iter().filter_map(|atom| atom.var()));
    }
    for (index, flag) in flags.iter().enumerate() {
        waiting.extend(body.results[index].var().filter(|_| *flag));
    }
    let mut seen = HashSet::new();
    while let Some(var) = waiting.pop() {
        if !seen.insert(var) {
            continue;
        }
        if let Some(&index) = component.get(&var) {
            flags[index] = true;
            waiting.extend(body.results[index].var());
        }
        if let Some(sources) = sources.get(&var) {
            waiting.extend(sources);
        }
    }
    flags
}

/// For each variable that a body binds, also deeper inside, those that its statement uses.
fn collect(body: &Body, sources: &mut HashMap<Var, Vec<Var>>) {
    for statement in &body.statements {
        let mut vars = Vec::new();
        uses(&statement.operation, &mut vars);
        for (var, _) in &statement.results {
            sources.insert(*var, vars.clone());
        }
    }
}

/// The variables that an operation uses, in its bodies too.
fn uses(operation: &Operation, vars: &mut Vec<Var>) {
    operation.for_each_atom(&mut |atom| vars.extend(atom.var()));
    operation.for_each_body(&mut |body| {
        for statement in &body.statements {
            uses(&statement.operation, vars);
        }
        vars.extend(body.results.iter().filter_map(|atom| atom.var()));
    });
}
