//! What variables of the flat language an input needs.

use crate::flat::{Dimension, Leaf, Size, Type, Var, storage};
use crate::{Column, ScalarType, Value};

/// How an axis of a leaf is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Axis {
    /// All its rows have one length; the outermost axis always.
    Dense,
    /// Rows with offsets. They may have one length by chance.
    Ragged,
    /// That of the leaf before: both are components of one array of tuples. Only outermost axes are.
    Shared,
    /// Dense, of the extent that an earlier axis has, which is dense too.
    Like {
        /// The number of the leaf that has it: an earlier one or this one.
        leaf: usize,
        /// The number of its axis, outermost first.
        axis: usize,
    },
    /// Dense, of an extent that is known.
    Known(i64),
}

/// The layout of the axes of a leaf, outermost first; none for a scalar. An axis is ragged if its
/// column is.
///
/// # Panics
/// On tuples.
pub fn leaf_layout(leaf: &Value) -> Vec<Axis> {
    let mut column = match leaf {
        Value::Scalar(_) => return Vec::new(),
        Value::Array(array) => &array.elements,
        Value::Tuple(_) => panic!("{leaf:?} is no leaf"),
    };
    let mut axes = vec![Axis::Dense];
    loop {
        column = match column {
            Column::Dense { inner, .. } => {
                axes.push(Axis::Dense);
                inner
            }
            Column::Ragged { inner, .. } => {
                axes.push(Axis::Ragged);
                inner
            }
            Column::Tuple { .. } => panic!("{leaf:?} is no leaf"),
            _ => return axes,
        };
    }
}

/// The extents of the axes of a leaf, outermost first; none for one that is ragged.
///
/// # Panics
/// On tuples.
pub fn leaf_extents(leaf: &Value) -> Vec<Option<i64>> {
    let mut column = match leaf {
        Value::Scalar(_) => return Vec::new(),
        Value::Array(array) => &array.elements,
        Value::Tuple(_) => panic!("{leaf:?} is no leaf"),
    };
    let mut extents = vec![Some(column.len() as i64)];
    loop {
        column = match column {
            Column::Dense { inner, extent, .. } => {
                extents.push(Some(*extent as i64));
                inner
            }
            Column::Ragged { inner, .. } => {
                extents.push(None);
                inner
            }
            Column::Tuple { .. } => panic!("{leaf:?} is no leaf"),
            _ => return extents,
        };
    }
}

/// A leaf of that layout in new variables, which are appended to `types` in this order: for each
/// axis, outermost first, of a dense axis its extent (a scalar); of a ragged one the number of
/// offsets (a scalar), the offsets, and the total (a scalar); at last the data. `before` are the leaves
/// before, which some axes are like.
///
/// # Panics
/// If an axis is like one that no leaf before has.
pub fn input_leaf(
    layout: &[Axis],
    before: &[Leaf],
    element: ScalarType,
    types: &mut Vec<Type>,
) -> Leaf {
    let mut axes = Vec::with_capacity(layout.len());
    for (position, axis) in layout.iter().enumerate() {
        axes.push(match axis {
            Axis::Shared => before.last().expect("a leaf before").axes[position],
            Axis::Like { leaf, axis } => match before.get(*leaf) {
                Some(earlier) => earlier.axes[*axis],
                None => axes[*axis],
            },
            Axis::Known(extent) => Dimension::Dense(Size::Constant(*extent)),
            Axis::Dense => Dimension::Dense(Size::Var(scalar(types))),
            Axis::Ragged => {
                let count = scalar(types);
                let offsets = Type { element: ScalarType::I64, extents: vec![Size::Var(count)] };
                let offsets = fresh(types, offsets);
                Dimension::Ragged { offsets, total: Size::Var(scalar(types)) }
            }
        });
    }
    let data = fresh(types, Type { element, extents: storage(&axes) });
    Leaf { axes, data }
}

fn scalar(types: &mut Vec<Type>) -> Var {
    fresh(types, Type { element: ScalarType::I64, extents: Vec::new() })
}

fn fresh(types: &mut Vec<Type>, ty: Type) -> Var {
    let var = Var(u32::try_from(types.len()).expect("fewer than 2^32 variables"));
    types.push(ty);
    var
}
