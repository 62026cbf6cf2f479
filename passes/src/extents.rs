//! Extents of inputs that are worth knowing before a program is compiled.

use std::collections::BTreeSet;

use weft_ir::Scalar;
use weft_ir::nested::{Atom, Body, Operation, Program};

/// The extents that a program names, such as 3 in `if x > 0.0 then r else fill 3 0.0`, if it chooses between
/// arrays at each element: then it matters which extents of its inputs are equal, and which are equal to
/// these. Nothing if it does not, for what is compiled for certain extents serves for these alone. What asks
/// whether there is an element names 0, which is therefore left out.
pub fn named_extents(program: &Program) -> Option<BTreeSet<i64>> {
    let bodies = || program.functions.iter().map(|function| &function.body).chain([&program.body]);
    if !bodies().any(|body| chooses_arrays(body, false)) {
        return None;
    }
    let mut named = BTreeSet::new();
    bodies().for_each(|body| collect(body, &mut named));
    named.remove(&0);
    Some(named)
}

/// Whether a program folds or maps arrays in maps, or reads certain elements of them, where it matters which rows have
/// few elements ([`crate::unroll`]).
pub fn maps_rows(program: &Program) -> bool {
    fn in_body(body: &Body, inside: bool) -> bool {
        body.statements.iter().any(|statement| {
            let is_map = matches!(statement.operation, Operation::Map(..));
            let reads = match &statement.operation {
                Operation::Index(_, indices) => {
                    indices.iter().any(|index| matches!(index, Atom::Scalar(_)))
                }
                operation => is_map || matches!(operation, Operation::Fold { .. }),
            };
            let mut found = inside && reads;
            let mut inner = |body: &Body| found |= in_body(body, inside || is_map);
            statement.operation.for_each_body(&mut inner);
            found
        })
    }
    let mut bodies = program.functions.iter().map(|it| &it.body).chain([&program.body]);
    bodies.any(|body| in_body(body, false))
}

/// Whether a body chooses between arrays where it is done for each element of one.
fn chooses_arrays(body: &Body, inside: bool) -> bool {
    body.statements.iter().any(|statement| {
        let is_array = || statement.results.iter().any(|(_, ty)| ty.rank > 0);
        let chooses = matches!(statement.operation, Operation::If { .. });
        let inside = inside || matches!(statement.operation, Operation::Map(..));
        let mut found = inside && chooses && is_array();
        statement.operation.for_each_body(&mut |body| found |= chooses_arrays(body, inside));
        found
    })
}

fn collect(body: &Body, named: &mut BTreeSet<i64>) {
    for statement in &body.statements {
        statement.operation.for_each_atom(&mut |atom| {
            if let Atom::Scalar(Scalar::I64(value)) = atom {
                named.insert(*value);
            }
        });
        match &statement.operation {
            Operation::Literal(elements) => named.extend([elements.len() as i64]),
            Operation::Constant(column) => named.extend([column.len() as i64]),
            _ => {}
        }
        statement.operation.for_each_body(&mut |body| collect(body, named));
    }
}
