//! Maps whose last indices only choose among what each row has: literal rows.
//!
//! ```text
//! a2: [a0]f64 = map [a0] (r0) …                   launch "map" [a0] (r0)
//! a3: [a0][2]f64 = map [a0][2] (r0 r1)              r1: f64 = …
//!   r2: bool = lt r1 1                         →     r2: f64 = …
//!   r3: f64 = if r2 … read a2 r0 … else …            interleave r1 r2 to a3: [a0][2]f64
//!   yield r3                                       end
//! ```
//!
//! Note [Rows of literals]. `{ [sin x, cos x] : x in xs }` is flattened to a map over the elements of all rows, which asks
//! at each which element it is. Where nothing in the region reads its elements, it becomes a node over the rows instead: its
//! code is written once for each element, with the last indices as constants, so that what asks for them is
//! known, and what elements have in common is computed once. So it shares a kernel with whatever runs over the rows, and what is
//! read there is read at its own point. Where something reads the elements, the map stays, as it can become a part of that.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::Scalar;
use weft_ir::code::{Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{Block, Dimension, Operation, Size, Space, Statement, Type, Var};
use weft_ir::plan::row_elements;

use super::uses::parts;

/// Rows of more elements are not written out, as literals seldom are that long.
const MOST_ELEMENTS: usize = 16;

/// The code of all elements may have so many instructions before what is known of them is used.
const MOST_INSTRUCTIONS: usize = 1024;

/// The spaces of the rows, by the first result of the map.
pub(super) type Interleaved = BTreeMap<Var, Space>;

/// The maps of a block that become nodes over their rows.
pub(super) fn interleaved(block: &Block, types: &[Type]) -> Interleaved {
    let candidates: Vec<(&Statement, Space)> = (block.statements.iter())
        .filter_map(|statement| Some((statement, rows(statement, types)?)))
        .collect();
    if candidates.is_empty() {
        return Interleaved::new();
    }
    let read = elements_read(block);
    let unread = candidates
        .into_iter()
        .filter(|(statement, _)| !statement.results.iter().any(|result| read.contains(result)));
    unread.map(|(statement, space)| (statement.results[0], space)).collect()
}

/// The constants for which the code of an element is written: the last indices of each element of a row.
pub(super) fn elements_of(row: &[Dimension]) -> Vec<Vec<Operand>> {
    let longer = |all: Vec<Vec<Operand>>, dimension: &Dimension| -> Vec<Vec<Operand>> {
        let Dimension::Dense(Size::Constant(extent)) = *dimension else {
            unreachable!("a row has a number of elements that is known")
        };
        let inner = |outer: &Vec<Operand>, index| {
            let index = Operand::Scalar(Scalar::I64(index));
            outer.iter().copied().chain([index]).collect()
        };
        all.iter().flat_map(|outer| (0..extent).map(move |index| inner(outer, index))).collect()
    };
    row.iter().fold(vec![Vec::new()], longer)
}

/// The space of the rows of a map whose last indices choose among what each row has.
fn rows(statement: &Statement, types: &[Type]) -> Option<Space> {
    let Operation::Map { space, thunk } = &statement.operation else { return None };
    statement.results.first()?;
    let few = space.len() - few_elements(space);
    let at = choices(thunk).into_iter().filter(|at| *at >= few.max(1)).min()?;
    let (outer, row) = space.split_at(at);
    let row = constants(row)?;
    let elements = row_elements(&row)?;
    let instructions = thunk.code.walk().count().saturating_mul(elements);
    // The types say the same, whatever has been found to equal their sizes.
    let stored = statement.results.iter().all(|result| {
        let extents = types.get(result.0 as usize).map(|ty| &ty.extents[..]).unwrap_or_default();
        extents.ends_with(&row)
    });
    let fits = elements > 1 && instructions <= MOST_INSTRUCTIONS;
    (fits && stored).then(|| outer.to_vec())
}

/// How many of the last dimensions have few elements, all together.
fn few_elements(space: &[Dimension]) -> usize {
    let few = |at: &usize| {
        let row = constants(&space[space.len() - at..]);
        row.and_then(|row| row_elements(&row)).is_some_and(|elements| elements <= MOST_ELEMENTS)
    };
    (1..=space.len()).take_while(few).count()
}

/// The extents of dimensions, if they are constants.
fn constants(dimensions: &[Dimension]) -> Option<Vec<Size>> {
    let constant = |dimension: &Dimension| match dimension {
        Dimension::Dense(size @ Size::Constant(_)) => Some(*size),
        Dimension::Dense(_) | Dimension::Ragged { .. } => None,
    };
    dimensions.iter().map(constant).collect()
}

/// For each condition that depends on indices alone the first of the dimensions that it depends on.
fn choices(thunk: &Thunk) -> BTreeSet<usize> {
    let mut first: BTreeMap<Register, usize> = thunk.indices.iter().copied().zip(0..).collect();
    let mut choices = BTreeSet::new();
    for instruction in thunk.code.walk() {
        match &instruction.operation {
            CodeOperation::Scalar(_, operands) => {
                let of = |operand: &Operand| match operand {
                    Operand::Scalar(_) => Some(usize::MAX),
                    Operand::Register(register) => first.get(register).copied(),
                };
                let least = operands.iter().map(of).try_fold(usize::MAX, |a, b| Some(a.min(b?)));
                if let (Some(least), Some((result, _))) = (least, instruction.results.first()) {
                    first.insert(*result, least);
                }
            }
            CodeOperation::If { condition: Operand::Register(condition), .. } => {
                choices.extend(first.get(condition).filter(|at| **at < thunk.indices.len()));
            }
            _ => {}
        }
    }
    choices
}

/// The arrays of which thunks of the block read elements, also where they are looked at with other extents.
fn elements_read(block: &Block) -> BTreeSet<Var> {
    let mut read = BTreeSet::new();
    for statement in block.statements.iter().rev() {
        if let Some((_, thunk, start)) = parts(&statement.operation) {
            read.extend(thunk.code.reads());
            read.extend(start.iter().flat_map(|start| start.code.reads()));
        }
        if let Operation::Reshape(array) = &statement.operation
            && statement.results.iter().any(|result| read.contains(result))
        {
            read.insert(*array);
        }
    }
    read
}
