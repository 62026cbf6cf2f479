//! Leaves as run-time values of flat variables.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::flat::{Dimension, Leaf, Size, Type, Var};
use crate::{Array, Column, ColumnBuilder, Scalar, Value};

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
        let mut builder = ColumnBuilder::new(&crate::Type::Scalar(scalar.ty()));
        builder.push_scalar(scalar);
        Stored { extents: Vec::new(), elements: builder.finish() }
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

/// What the variables of a program's inputs are when it is given these leaves; each variable once,
/// in the order of [`crate::leaves::input_leaf`]. `types` are the program's.
///
/// # Panics
/// If a leaf has not the layout of its input, or if inputs that share a size differ in it: the
/// program was compiled for other values.
pub fn bind_inputs(inputs: &[Leaf], types: &[Type], leaves: &[Value]) -> Vec<(Var, Stored)> {
    assert_eq!(inputs.len(), leaves.len(), "as many values as inputs");
    let mut bound = BTreeMap::new();
    let mut bindings: Vec<(Var, Stored)> = Vec::new();
    for (input, leaf) in inputs.iter().zip(leaves) {
        for (var, stored) in leaf_to_stored(input, types, leaf) {
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
        }
    }
    bindings
}

/// The variables of one leaf: per axis the extent, or the number of offsets, the offsets (which
/// begin with 0) and the total; then the data. Sizes that are constants have no variable.
///
/// # Panics
/// If the value has not the layout of the leaf, or not its constant sizes.
pub fn leaf_to_stored(leaf: &Leaf, types: &[Type], value: &Value) -> Vec<(Var, Stored)> {
    let mut bindings = Vec::new();
    let mut extents = Vec::new();
    let mut rest = match value {
        Value::Scalar(scalar) => {
            assert!(leaf.axes.is_empty(), "{value:?} has not the axes {:?}", leaf.axes);
            return vec![(leaf.data, Stored::scalar(*scalar))];
        }
        Value::Array(array) => Rows::Outermost(array.elements.clone()),
        Value::Tuple(_) => panic!("{value:?} is no leaf"),
    };
    for axis in &leaf.axes {
        rest = Rows::Inner(match (rest, *axis) {
            (Rows::Outermost(column), Dimension::Dense(size)) => {
                bind_size(size, column.len(), &mut bindings);
                extents.push(column.len());
                column
            }
            (Rows::Inner(Column::Dense { extent, inner, .. }), Dimension::Dense(size)) => {
                bind_size(size, extent, &mut bindings);
                extents.push(extent);
                *inner
            }
            (Rows::Inner(column), Dimension::Ragged { offsets: var, total }) => {
                let inner = column.flatten();
                let Column::Ragged { offsets, .. } = column else {
                    panic!("{value:?} is dense where the input is ragged");
                };
                bind_size(types[var.0 as usize].extents[0], offsets.len(), &mut bindings);
                let offsets = Stored::vector(Column::I64(offsets.distances()));
                bindings.push((var, offsets));
                bind_size(total, inner.len(), &mut bindings);
                extents = vec![inner.len()];
                inner
            }
            (_, axis) => panic!("{value:?} has no axis {axis:?}"),
        });
    }
    let (Rows::Outermost(elements) | Rows::Inner(elements)) = rest;
    assert!(elements.scalar_type().is_some(), "{value:?} has more axes than {:?}", leaf.axes);
    bindings.push((leaf.data, Stored { extents, elements }));
    bindings
}

/// What is left of a leaf while its axes are taken away.
enum Rows {
    /// The whole array: its own length is the first axis.
    Outermost(Column),
    /// The elements under the axes so far.
    Inner(Column),
}

fn bind_size(size: Size, found: usize, bindings: &mut Vec<(Var, Stored)>) {
    match size {
        Size::Constant(expected) => {
            assert_eq!(expected, found as i64, "an extent that the program takes for granted");
        }
        Size::Var(var) => bindings.push((var, Stored::scalar(Scalar::I64(found as i64)))),
    }
}

/// The leaf that these variables hold: the inverse of [`leaf_to_stored`]. An axis is ragged where
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
