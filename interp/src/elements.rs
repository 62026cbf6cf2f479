//! The elements of an array, with or without errors among them, behind one interface.

use std::rc::Rc;

use weft_ir::{Column, Scalar, Type};

use crate::collect::Collector;
use crate::value::Val;
use crate::words::word_at;

/// The elements of an array along its outermost axis.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    /// No error anywhere inside.
    Packed(Rc<Column>),
    /// At least one error inside.
    Boxed(Rc<Vec<Val>>),
}

impl Elements {
    pub(crate) fn packed(column: Column) -> Elements {
        Elements::Packed(Rc::new(column))
    }

    pub(crate) fn into_val(self) -> Val {
        match self {
            Elements::Packed(column) => Val::Array(column),
            Elements::Boxed(elements) => Val::Boxed(elements),
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Elements::Packed(column) => column.len(),
            Elements::Boxed(elements) => elements.len(),
        }
    }

    /// Whether the elements are scalars, as far as the first of them tells.
    pub(crate) fn are_scalars(&self) -> bool {
        match self {
            Elements::Packed(column) => column.scalar_type().is_some(),
            Elements::Boxed(elements) => elements.first().is_some_and(|val| val.word().is_some()),
        }
    }

    /// Element `index`, which must exist.
    pub(crate) fn get(&self, index: usize) -> Val {
        match self {
            Elements::Packed(column) => element(column, index),
            Elements::Boxed(elements) => elements[index].clone(),
        }
    }

    /// The `len` elements from `start` on; `ty` is the type of one.
    pub(crate) fn slice(&self, start: usize, len: usize, ty: &Type) -> Elements {
        match self {
            Elements::Packed(column) => Elements::packed(column.slice(start, len)),
            Elements::Boxed(elements) => {
                Collector::from_iter(ty, elements[start..start + len].iter().cloned())
            }
        }
    }

    /// The elements one by one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Val> + '_ {
        (0..self.len()).map(|index| self.get(index))
    }

    /// The integers of a `[]i64` that has no errors.
    pub(crate) fn i64s(&self) -> Option<&[i64]> {
        match self {
            Elements::Packed(column) => match &**column {
                Column::I64(buf) => Some(buf.as_slice()),
                _ => None,
            },
            Elements::Boxed(_) => None,
        }
    }
}

/// Element `index` of a column.
pub(crate) fn element(column: &Column, index: usize) -> Val {
    if let Some(ty) = column.scalar_type() {
        return Val::of_word(word_at(column, index), ty);
    }
    match column {
        Column::Tuple { parts, .. } => {
            Val::tuple(parts.iter().map(|part| element(part, index)).collect())
        }
        _ => Val::array(column.row(index).expect("the elements are arrays")),
    }
}

/// Replaces element `index` of a column, in place where the column is not shared. The new element
/// has no error in it; if it is an array of another length than the others, the answer is `false`
/// and the column is as it was.
pub(crate) fn replace(column: &mut Column, index: usize, val: &Val) -> bool {
    if !fits(column, index, val) {
        return false;
    }
    match (column, val) {
        (Column::Tuple { parts, .. }, Val::Tuple(vals)) => {
            for (part, val) in parts.iter_mut().zip(vals.iter()) {
                replace(part, index, val);
            }
        }
        (Column::Dense { extent, inner, .. }, Val::Array(elements)) => {
            for position in 0..*extent {
                replace(inner, index * *extent + position, &element(elements, position));
            }
        }
        (Column::Ragged { offsets, inner }, Val::Array(elements)) => {
            let start = offsets.as_slice()[index];
            for position in 0..elements.len() {
                replace(inner, start + position, &element(elements, position));
            }
        }
        (column, val) => match val.scalar() {
            Some(scalar) => replace_scalar(column, index, scalar),
            None => panic!("{val:?} is no element of {column:?}"),
        },
    }
    true
}

/// Whether a value can stand in the place of element `index` without moving others.
fn fits(column: &Column, index: usize, val: &Val) -> bool {
    match (column, val) {
        (Column::Tuple { parts, .. }, Val::Tuple(vals)) => {
            parts.iter().zip(vals.iter()).all(|(part, val)| fits(part, index, val))
        }
        (Column::Dense { extent, inner, .. }, Val::Array(elements)) => {
            elements.len() == *extent
                && (0..*extent).all(|at| fits(inner, index * *extent + at, &element(elements, at)))
        }
        (Column::Ragged { offsets, inner }, Val::Array(elements)) => {
            let offsets = offsets.as_slice();
            elements.len() == offsets[index + 1] - offsets[index]
                && (0..elements.len())
                    .all(|at| fits(inner, offsets[index] + at, &element(elements, at)))
        }
        _ => true,
    }
}

fn replace_scalar(column: &mut Column, index: usize, scalar: Scalar) {
    match (column, scalar) {
        (Column::I8(buf), Scalar::I8(value)) => buf.make_mut()[index] = value,
        (Column::I16(buf), Scalar::I16(value)) => buf.make_mut()[index] = value,
        (Column::I32(buf), Scalar::I32(value)) => buf.make_mut()[index] = value,
        (Column::I64(buf), Scalar::I64(value)) => buf.make_mut()[index] = value,
        (Column::U8(buf), Scalar::U8(value)) => buf.make_mut()[index] = value,
        (Column::U16(buf), Scalar::U16(value)) => buf.make_mut()[index] = value,
        (Column::U32(buf), Scalar::U32(value)) => buf.make_mut()[index] = value,
        (Column::U64(buf), Scalar::U64(value)) => buf.make_mut()[index] = value,
        (Column::F32(buf), Scalar::F32(value)) => buf.make_mut()[index] = value,
        (Column::F64(buf), Scalar::F64(value)) => buf.make_mut()[index] = value,
        (Column::Bool(buf), Scalar::Bool(value)) => buf.make_mut()[index] = value,
        (Column::Char(buf), Scalar::Char(value)) => buf.make_mut()[index] = value,
        (column, scalar) => panic!("{scalar:?} is no element of {column:?}"),
    }
}
