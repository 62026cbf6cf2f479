//! Extents of inputs that are worth knowing before a program is compiled.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::nested::{Atom, Body, Operation, Program, Type, Var};
use weft_ir::{Scalar, ScalarType};

use crate::unroll::MOST_ELEMENTS;

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

/// The program with few elements where a name of the session says so: `k = 8` is an input like any other, and how long
/// `iota k` is would be known when it runs. Inputs that are small numbers become constants if arrays in it are that long and
/// it does something with the elements of rows ([`maps_rows`]). `values` are the inputs that are numbers. Nothing if there
/// are no such inputs; what is compiled serves for these numbers alone.
pub fn with_few_elements(program: &Program, values: &[Option<i64>]) -> Option<Program> {
    let few = 1..=MOST_ELEMENTS as i64;
    let number = Type::scalar(ScalarType::I64);
    let inputs = program.params.iter().zip(values);
    let small: BTreeMap<Var, i64> = inputs
        .filter_map(|(&(var, ty), value)| Some((var, (*value).filter(|_| ty == number)?)))
        .filter(|(_, value)| few.contains(value))
        .collect();
    if small.is_empty() || !maps_rows(program) {
        return None;
    }
    let mut lengths = BTreeSet::new();
    let mut same = small.keys().map(|&var| (var, var)).collect();
    note_lengths(&program.body, &mut same, &mut lengths);
    let constants: BTreeMap<Var, i64> =
        small.into_iter().filter(|(var, _)| lengths.contains(var)).collect();
    if constants.is_empty() {
        return None;
    }
    let mut program = program.clone();
    put_constants(&mut program.body, &constants);
    Some(program)
}

/// Which inputs say how long arrays are. `same` are variables that are inputs, which one.
fn note_lengths(body: &Body, same: &mut BTreeMap<Var, Var>, lengths: &mut BTreeSet<Var>) {
    for statement in &body.statements {
        let mut note = |atom: &Atom| lengths.extend(atom.var().and_then(|var| same.get(&var)));
        match &statement.operation {
            Operation::Iota(length) | Operation::Replicate(length, _) => note(length),
            Operation::Reshape { extents, .. } => extents.iter().for_each(note),
            Operation::Assert { values, .. } => {
                for ((result, _), value) in statement.results.iter().zip(values) {
                    if let Some(&input) = value.var().and_then(|var| same.get(&var)) {
                        same.insert(*result, input);
                    }
                }
            }
            _ => {}
        }
        statement.operation.for_each_body(&mut |body| note_lengths(body, same, lengths));
    }
}

fn put_constants(body: &mut Body, constants: &BTreeMap<Var, i64>) {
    let put = |atom: &mut Atom| {
        if let Some(&value) = atom.var().and_then(|var| constants.get(&var)) {
            *atom = Atom::Scalar(Scalar::I64(value));
        }
    };
    for statement in &mut body.statements {
        statement.operation.for_each_atom_mut(&mut |atom| put(atom));
        statement.operation.for_each_body_mut(&mut |body| put_constants(body, constants));
    }
    body.results.iter_mut().for_each(put);
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
