//! Which variables an operation of *flat* mentions: by reading elements, and in any other way.

use std::collections::BTreeSet;

use weft_ir::flat::{Block, Operation, Space, Statement, Thunk, Type, Var};

/// The variables in a space.
pub(super) fn space_uses(space: &Space, visit: &mut impl FnMut(Var)) {
    for dimension in space {
        dimension.uses(visit);
    }
}

/// The variables in a type.
pub(super) fn type_uses(ty: &Type, visit: &mut impl FnMut(Var)) {
    for extent in &ty.extents {
        extent.uses(visit);
    }
}

/// The space, the thunk of the elements and the thunk of the start of a data-parallel operation.
pub(super) fn parts(operation: &Operation) -> Option<(&Space, &Thunk, Option<&Thunk>)> {
    match operation {
        Operation::Map { space, thunk }
        | Operation::Filter { space, thunk }
        | Operation::Scatter { space, thunk, .. }
        | Operation::Sort { space, thunk, .. } => Some((space, thunk, None)),
        Operation::Reduce { space, thunk, start, .. }
        | Operation::Scan { space, thunk, start, .. } => Some((space, thunk, start.values())),
        Operation::Reshape(_)
        | Operation::Constant(_)
        | Operation::Check(..)
        | Operation::If { .. }
        | Operation::While { .. } => None,
    }
}

/// The extents of the types of variables.
fn declared(vars: &[Var], types: &[Type], visit: &mut impl FnMut(Var)) {
    for var in vars {
        if let Some(ty) = types.get(var.0 as usize) {
            type_uses(ty, visit);
        }
    }
}

/// What a statement uses other than by reading elements in the thunks of [`parts`]: sizes,
/// destinations, extents of its results, what operators read, and everything that blocks inside it take from around them.
pub(crate) fn other_uses(statement: &Statement, types: &[Type], visit: &mut impl FnMut(Var)) {
    declared(&statement.results, types, visit);
    match &statement.operation {
        Operation::Map { space, .. }
        | Operation::Filter { space, .. }
        | Operation::Sort { space, .. } => space_uses(space, visit),
        Operation::Reduce { space, operator, .. } => {
            space_uses(space, visit);
            operator.code.reads().for_each(&mut *visit);
        }
        Operation::Scan { space, operator, full, .. } => {
            space_uses(space, visit);
            operator.code.reads().for_each(&mut *visit);
            if let Some(dimension) = full {
                dimension.uses(visit);
            }
        }
        Operation::Scatter { space, destinations, operator, .. } => {
            space_uses(space, visit);
            destinations.iter().for_each(|array| visit(*array));
            if let Some(operator) = operator {
                operator.code.reads().for_each(&mut *visit);
            }
        }
        Operation::Reshape(array) => visit(*array),
        Operation::Constant(_) => {}
        Operation::Check(condition, _) => visit(*condition),
        Operation::If { condition, then, otherwise } => {
            visit(*condition);
            for used in block_uses(then, types).union(&block_uses(otherwise, types)) {
                visit(*used);
            }
        }
        Operation::While { state, initial, condition, body, rows } => {
            initial.iter().for_each(|var| visit(*var));
            let mut used = block_uses(condition, types);
            used.extend(block_uses(body, types));
            if let Some(rows) = rows {
                rows.uses(&mut |var| {
                    used.insert(var);
                });
            }
            declared(state, types, &mut |var| {
                used.insert(var);
            });
            used.iter().filter(|var| !state.contains(var)).for_each(|var| visit(*var));
        }
    }
}

/// Every variable that a statement uses.
pub(crate) fn statement_uses(statement: &Statement, types: &[Type], visit: &mut impl FnMut(Var)) {
    other_uses(statement, types, visit);
    if let Some((_, thunk, start)) = parts(&statement.operation) {
        thunk.code.reads().for_each(&mut *visit);
        if let Some(start) = start {
            start.code.reads().for_each(&mut *visit);
        }
    }
}

/// What a block takes from around it.
pub(super) fn block_uses(block: &Block, types: &[Type]) -> BTreeSet<Var> {
    let mut used: BTreeSet<Var> = BTreeSet::new();
    for statement in &block.statements {
        statement_uses(statement, types, &mut |var| {
            used.insert(var);
        });
    }
    used.extend(&block.results);
    for statement in &block.statements {
        for result in &statement.results {
            used.remove(result);
        }
    }
    used
}

/// The blocks inside an operation.
pub(crate) fn blocks(operation: &Operation) -> Vec<&Block> {
    match operation {
        Operation::If { then, otherwise, .. } => vec![then, otherwise],
        Operation::While { condition, body, .. } => vec![condition, body],
        Operation::Map { .. }
        | Operation::Reduce { .. }
        | Operation::Scan { .. }
        | Operation::Filter { .. }
        | Operation::Scatter { .. }
        | Operation::Sort { .. }
        | Operation::Reshape(_)
        | Operation::Constant(_)
        | Operation::Check(..) => Vec::new(),
    }
}
