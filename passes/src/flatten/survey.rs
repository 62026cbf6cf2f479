//! What a nested program says about its variables before it is flattened.

use std::collections::{BTreeSet, HashMap};

use weft_ir::ScalarOp;
use weft_ir::nested::{Atom, Body, Lambda, Operation, Type, Var};

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

/// Which parameters of a lambda it looks at whatever happens, so that an error in one of them is found when
/// its results are computed. What is used in a branch or in a loop only may never be looked at.
pub(super) fn surely_read(lambda: &Lambda) -> Vec<bool> {
    let mut needed = BTreeSet::new();
    let need = |needed: &mut BTreeSet<Var>, atom: &Atom| {
        if let Atom::Var(var) = atom {
            needed.insert(*var);
        }
    };
    lambda.body.results.iter().for_each(|atom| need(&mut needed, atom));
    for statement in lambda.body.statements.iter().rev() {
        if !statement.results.iter().any(|(var, _)| needed.contains(var)) {
            continue;
        }
        let yields_scalars = statement.results.iter().all(|(_, ty)| ty.rank == 0);
        match &statement.operation {
            // What stands on their right may not be looked at.
            Operation::Scalar(ScalarOp::And | ScalarOp::Or | ScalarOp::Select, atoms) => {
                atoms.iter().take(1).for_each(|atom| need(&mut needed, atom));
            }
            Operation::Scalar(_, atoms) | Operation::Random(_, atoms) => {
                atoms.iter().for_each(|atom| need(&mut needed, atom));
            }
            Operation::Assert { condition, values, .. } => {
                need(&mut needed, condition);
                for (value, (var, _)) in values.iter().zip(&statement.results) {
                    if needed.contains(var) {
                        need(&mut needed, value);
                    }
                }
            }
            Operation::If { condition, .. } => need(&mut needed, condition),
            Operation::Index(array, indices) if yields_scalars => {
                indices.iter().chain([array]).for_each(|atom| need(&mut needed, atom));
            }
            // Each asks this again for its own lambda, and looks at arrays without elements.
            Operation::Map(lambda, arrays) => {
                let read = surely_read(lambda);
                let arrays = arrays.iter().zip(read).filter(|(_, read)| *read);
                arrays.for_each(|(array, _)| need(&mut needed, array));
            }
            Operation::Fold { arrays, .. } | Operation::Scan { arrays, .. } => {
                arrays.iter().for_each(|array| need(&mut needed, array));
            }
            _ => {}
        }
    }
    lambda.params.iter().map(|(var, _)| needed.contains(var)).collect()
}
