//! Leaves as run-time values of flat variables.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::flat::{Dimension, Leaf, Size, Type, Var};
use crate::{Array, Column, Scalar, Value};

/// The run-time value of a flat variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Stored {
    /// The storage dimensions, outermost first; none for a scalar.
    pub extents: Vec<usize>,
    /// The elements in row-major order, as many as the product of the extents: one for a scalar.
    pub elements: Column,
}

impl Stored {
    /// A scalar.
    pub fn scalar(scalar: Scalar) -> Stored {
        let elements = match scalar {
            Scalar::I8(value) => Column::I8(vec![value].into()),
            Scalar::I16(value) => Column::I16(vec![value].into()),
            Scalar::I32(value) => Column::I32(vec![value].into()),
            Scalar::I64(value) => Column::I64(vec![value].into()),
            Scalar::U8(value) => Column::U8(vec![value].into()),
            Scalar::U16(value) => Column::U16(vec![value].into()),
            Scalar::U32(value) => Column::U32(vec![value].into()),
            Scalar::U64(value) => Column::U64(vec![value].into()),
            Scalar::F32(value) => Column::F32(vec![value].into()),
            Scalar::F64(value) => Column::F64(vec![value].into()),
            Scalar::Bool(value) => Column::Bool(vec![value].into()),
            Scalar::Char(value) => Column::Char(vec![value].into()),
        };
        Stored { extents: Vec::new(), elements }
    }

    /// An array of one dimension.
    ///
    /// # Panics
    /// If the elements are not scalars.
    pub fn vector(elements: Column) -> Stored {
        assert!(elements.scalar_type().is_some(), "{elements:?} has elements that are no scalars");
        Stored { extents: vec![elements.len()], elements }
    }

    /// The scalar, if it is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        if self.extents.is_empty() { self.elements.scalar(0) } else { None }
    }

    /// The number, if it is a scalar of type `i64`.
    pub fn as_i64(&self) -> Option<i64> {
        match self.as_scalar() {
            Some(Scalar::I64(value)) => Some(value),
            _ => None,
        }
    }
}

/// What a variable of an input is given.
#[derive(Clone, Debug, PartialEq)]
pub enum Given {
    /// A scalar: the input itself, or a size.
    Scalar(Scalar),
    /// An array: data or offsets.
    Array(Stored),
}

impl Given {
    /// As a value of its own.
    pub fn stored(self) -> Stored {
        match self {
            Given::Scalar(scalar) => Stored::scalar(scalar),
            Given::Array(stored) => stored,
        }
    }
}

/// What the variables of a program's inputs are when it is given these leaves; each variable once,
/// in the order of [`crate::leaves::input_leaf`]. `types` are the program's.
///
/// # Panics
/// If a leaf has not the layout of its input, or if inputs that share a size differ in it: the
/// program was compiled for other values.
pub fn bind_inputs(inputs: &[Leaf], types: &[Type], leaves: &[Value]) -> Vec<(Var, Stored)> {
    let mut bound = BTreeMap::new();
    let mut bindings: Vec<(Var, Stored)> = Vec::new();
    give_inputs(inputs, types, leaves, |var, given| {
        let stored = given.stored();
        match bound.get(&var) {
            None => {
                bound.insert(var, bindings.len());
                bindings.push((var, stored));
            }
            Some(&index) => {
                let (_, before) = &bindings[index];
                assert_eq!(before, &stored, "two values for a{}", var.0);
            }
        }
    });
    bindings
}

/// As [`bind_inputs`], variable by variable; one that leaves share is given by each of them, and should be
/// the same then.
///
/// # Panics
/// If a leaf has not the layout of its input.
pub fn give_inputs(
    inputs: &[Leaf],
    types: &[Type],
    leaves: &[Value],
    mut give: impl FnMut(Var, Given),
) {
    assert_eq!(inputs.len(), leaves.len(), "as many values as inputs");
    for (input, leaf) in inputs.iter().zip(leaves) {
        give_leaf(input, types, leaf, &mut give);
    }
}

/// The variables of one leaf: per axis the extent, or the number of offsets, the offsets (which
/// begin with 0) and the total; then the data. Sizes that are constants have no variable.
///
/// # Panics
/// If the value has not the layout of the leaf, or not its constant sizes.
fn give_leaf(leaf: &Leaf, types: &[Type], value: &Value, give: &mut impl FnMut(Var, Given)) {
    let array = match value {
        Value::Scalar(scalar) => {
            assert!(leaf.axes.is_empty(), "{value:?} has not the axes {:?}", leaf.axes);
            return give(leaf.data, Given::Scalar(*scalar));
        }
        Value::Array(array) => array,
        Value::Tuple(_) => panic!("{value:?} is no leaf"),
    };
    let mut extents = Vec::with_capacity(leaf.axes.len());
    let mut rest = Rows::Outermost(&array.elements);
    for axis in &leaf.axes {
        rest = Rows::Inner(match (rest, *axis) {
            (Rows::Outermost(column), Dimension::Dense(size)) => {
                give_size(size, column.len(), give);
                extents.push(column.len());
                Cow::Borrowed(column)
            }
            (Rows::Inner(column), axis) => match (&*column, axis) {
                (Column::Dense { extent, .. }, Dimension::Dense(size)) => {
                    give_size(size, *extent, give);
                    extents.push(*extent);
                    inner_of(column)
                }
                (Column::Ragged { offsets, .. }, Dimension::Ragged { offsets: var, total }) => {
                    let inner = column.flatten();
                    give_size(types[var.0 as usize].extents[0], offsets.len(), give);
                    let offsets = Stored::vector(Column::I64(offsets.distances()));
                    give(var, Given::Array(offsets));
                    give_size(total, inner.len(), give);
                    extents.clear();
                    extents.push(inner.len());
                    Cow::Owned(inner)
                }
                (_, axis) => panic!("{value:?} has not the axis {axis:?}"),
            },
            (Rows::Outermost(_), axis) => panic!("{value:?} has no axis {axis:?}"),
        });
    }
    let elements = match rest {
        Rows::Outermost(elements) => elements.clone(),
        Rows::Inner(elements) => elements.into_owned(),
    };
    assert!(elements.scalar_type().is_some(), "{value:?} has more axes than {:?}", leaf.axes);
    give(leaf.data, Given::Array(Stored { extents, elements }));
}

/// What is left of a leaf while its axes are taken away.
enum Rows<'c> {
    /// The whole array: its own length is the first axis.
    Outermost(&'c Column),
    /// The elements under the axes so far.
    Inner(Cow<'c, Column>),
}

/// The elements of dense rows.
fn inner_of(rows: Cow<'_, Column>) -> Cow<'_, Column> {
    match rows {
        Cow::Borrowed(Column::Dense { inner, .. }) => Cow::Borrowed(inner),
        Cow::Owned(Column::Dense { inner, .. }) => Cow::Owned(*inner),
        rows => panic!("{rows:?} are no dense rows"),
    }
}

fn give_size(size: Size, found: usize, give: &mut impl FnMut(Var, Given)) {
    match size {
        Size::Constant(expected) => {
            assert_eq!(expected, found as i64, "an extent that the program takes for granted");
        }
        Size::Var(var) => give(var, Given::Scalar(Scalar::I64(found as i64))),
    }
}

/// The leaf that these variables hold: the inverse of [`bind_inputs`]. An axis is ragged where
/// the leaf says so; [`crate::leaves::leaves_to_value`] finds out whether its rows have one length.
///
/// # Panics
/// If the variables are not what the leaf says.
pub fn stored_to_leaf(leaf: &Leaf, variable: impl Fn(Var) -> Stored) -> Value {
    let data = variable(leaf.data);
    let Some((outermost, inner)) = leaf.axes.split_first() else {
        return Value::Scalar(data.as_scalar().expect("a leaf without axes is a scalar"));
    };
    let size = |size| {
        let size = match size {
            Size::Constant(size) => size,
            Size::Var(var) => variable(var).as_i64().expect("a size is an i64"),
        };
        usize::try_from(size).expect("no size is negative")
    };
    let Dimension::Dense(length) = *outermost else { panic!("the first axis is dense") };
    // The number of points of each axis, which is the number of rows of the next.
    let mut points = vec![size(length)];
    for (axis, rows) in inner.iter().zip(0..) {
        points.push(match axis {
            Dimension::Dense(extent) => points[rows] * size(*extent),
            Dimension::Ragged { total, .. } => size(*total),
        });
    }
    let mut elements = data.elements;
    assert_eq!(points.last(), Some(&elements.len()), "elements of {leaf:?}");
    for (axis, len) in inner.iter().zip(points).rev() {
        let inner = Box::new(elements);
        elements = match axis {
            Dimension::Dense(extent) => Column::Dense { len, extent: size(*extent), inner },
            Dimension::Ragged { offsets, .. } => {
                let offsets = positions(&variable(*offsets));
                assert_eq!(offsets.len(), len + 1, "offsets of {leaf:?}");
                assert_eq!(offsets.last(), Some(&inner.len()), "offsets of {leaf:?}");
                Column::Ragged { offsets: offsets.into(), inner }
            }
        };
    }
    Value::Array(Arc::new(Array::new(elements)))
}

/// Row offsets as positions.
fn positions(offsets: &Stored) -> Vec<usize> {
    match &offsets.elements {
        Column::I64(buf) => {
            let position = |offset: &i64| usize::try_from(*offset).expect("no offset is negative");
            buf.as_slice().iter().map(position).collect()
        }
        other => panic!("{other:?} are no offsets"),
    }
}
