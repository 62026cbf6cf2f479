//! Leaves: how a value of the language becomes the values of the intermediate languages, and back.
//!
//! A value is the list of its scalar leaves in the order of its type ([`crate::nested`]): tuples are
//! pulled apart, an array of tuples becomes one array per leaf, all with the axes of the array they
//! came from. `()` is one leaf `false`, so that arrays of `()` keep their length.
//!
//! [`value_to_leaves`] and [`leaves_to_value`] share the elements with what they are given; only
//! the row offsets of a sliced ragged axis and the `false`s of `()` are made anew. What a leaf is
//! as variables of the flat language says [`Stored`].

mod binding;
mod stored;

use std::sync::Arc;

use crate::{Array, Buf, Column, Scalar, ScalarType, Type, Value, nested};

pub use binding::{Axis, input_leaf, leaf_extents, leaf_layout};
pub use stored::{Given, Stored, bind_inputs, give_inputs, stored_to_leaf};

/// The types of the leaves of a type, in order.
pub fn leaf_types(ty: &Type) -> Vec<nested::Type> {
    let mut leaves = Vec::new();
    collect_leaf_types(ty, 0, &mut leaves);
    leaves
}

fn collect_leaf_types(ty: &Type, rank: usize, leaves: &mut Vec<nested::Type>) {
    match ty {
        Type::Scalar(element) => leaves.push(nested::Type { rank, element: *element }),
        Type::Array(element) => collect_leaf_types(element, rank + 1, leaves),
        Type::Tuple(_) | Type::Record(_) => {
            let components = components(ty);
            if components.is_empty() {
                leaves.push(nested::Type { rank, element: ScalarType::Bool });
            }
            for component in components {
                collect_leaf_types(component, rank, leaves);
            }
        }
    }
}

/// The leaves of a value of type `ty`: each a scalar, or an array whose columns have no tuples.
///
/// # Panics
/// If the value is not of that type.
pub fn value_to_leaves(value: &Value, ty: &Type) -> Vec<Value> {
    let mut leaves = Vec::new();
    collect_leaves(value, ty, &mut leaves);
    leaves
}

fn collect_leaves(value: &Value, ty: &Type, leaves: &mut Vec<Value>) {
    match (value, ty) {
        (Value::Scalar(_), Type::Scalar(_)) => leaves.push(value.clone()),
        (Value::Tuple(parts), Type::Tuple(_) | Type::Record(_)) => {
            let components = components(ty);
            assert_eq!(parts.len(), components.len(), "{value:?} is not of type {ty}");
            if parts.is_empty() {
                leaves.push(Value::Scalar(Scalar::Bool(false)));
            }
            for (part, component) in parts.iter().zip(components) {
                collect_leaves(part, component, leaves);
            }
        }
        (Value::Array(array), Type::Array(element)) => {
            leaves.extend(split(&array.elements, element).into_iter().map(array_of));
        }
        (value, ty) => panic!("{value:?} is not of type {ty}"),
    }
}

/// The columns of the leaves of a column whose elements are of type `ty`.
fn split(column: &Column, ty: &Type) -> Vec<Column> {
    match (column, ty) {
        (Column::Tuple { len, parts }, Type::Tuple(_) | Type::Record(_)) => {
            if parts.is_empty() {
                return vec![Column::Bool(vec![false; *len].into())];
            }
            let parts = parts.iter().zip(components(ty));
            parts.flat_map(|(part, component)| split(part, component)).collect()
        }
        (Column::Dense { len, extent, inner }, Type::Array(element)) => {
            let wrap = |inner| Column::Dense { len: *len, extent: *extent, inner: Box::new(inner) };
            split(inner, element).into_iter().map(wrap).collect()
        }
        (Column::Ragged { offsets, inner }, Type::Array(element)) => {
            let wrap = |inner| Column::Ragged { offsets: offsets.clone(), inner: Box::new(inner) };
            split(inner, element).into_iter().map(wrap).collect()
        }
        (column, Type::Scalar(element)) if column.scalar_type() == Some(*element) => {
            vec![column.clone()]
        }
        (column, ty) => panic!("{column:?} is no column of {ty}"),
    }
}

/// How many of its outermost axes each leaf of a type has in common with the leaf before it: those
/// of the arrays of tuples that both are components of.
pub fn shared_axes(ty: &Type) -> Vec<usize> {
    fn collect(ty: &Type, depth: usize, shared: &mut Vec<usize>) {
        match ty {
            Type::Scalar(_) => shared.push(0),
            Type::Array(element) => collect(element, depth + 1, shared),
            Type::Tuple(_) | Type::Record(_) => {
                let components = components(ty);
                if components.is_empty() {
                    shared.push(0);
                }
                for (number, component) in components.iter().enumerate() {
                    let first = shared.len();
                    collect(component, depth, shared);
                    if number > 0 {
                        shared[first] = depth;
                    }
                }
            }
        }
    }
    let mut shared = Vec::new();
    collect(ty, 0, &mut shared);
    shared
}

/// The value of type `ty` with these leaves: the inverse of [`value_to_leaves`]. An axis is dense
/// where all its rows have one length, whatever its layout in the leaves.
///
/// # Panics
/// If these are no leaves of such a value.
pub fn leaves_to_value(leaves: &[Value], ty: &Type) -> Value {
    let mut rest = leaves;
    let value = join_value(&mut rest, ty);
    assert!(rest.is_empty(), "{} leaves too many for a value of type {ty}", rest.len());
    value
}

/// The value of the first of the leaves, which are taken away.
fn join_value(leaves: &mut &[Value], ty: &Type) -> Value {
    match ty {
        Type::Scalar(_) => match take(leaves, 1) {
            [leaf @ Value::Scalar(_)] => leaf.clone(),
            other => panic!("{other:?} is no leaf of type {ty}"),
        },
        Type::Tuple(_) | Type::Record(_) => {
            let components = components(ty);
            if components.is_empty() {
                take(leaves, 1);
            }
            Value::Tuple(components.into_iter().map(|ty| join_value(leaves, ty)).collect())
        }
        Type::Array(element) => {
            let columns = take(leaves, leaf_types(ty).len()).iter().map(|leaf| match leaf {
                Value::Array(array) => array.elements.clone(),
                other => panic!("{other:?} is no leaf of type {ty}"),
            });
            array_of(join(columns.collect(), element))
        }
    }
}

fn take<'a>(leaves: &mut &'a [Value], count: usize) -> &'a [Value] {
    assert!(count <= leaves.len(), "there are {} leaves, not {count}", leaves.len());
    let (taken, rest) = leaves.split_at(count);
    *leaves = rest;
    taken
}

/// The column whose elements of type `ty` have leaves in these columns, which are as long as it.
fn join(columns: Vec<Column>, ty: &Type) -> Column {
    match ty {
        Type::Scalar(_) => {
            let mut columns = columns;
            columns.pop().expect("a scalar is a leaf")
        }
        Type::Tuple(_) | Type::Record(_) => {
            let len = columns[0].len();
            let mut columns = columns.into_iter();
            let parts = components(ty).into_iter().map(|component| {
                let count = leaf_types(component).len();
                join(columns.by_ref().take(count).collect(), component)
            });
            Column::Tuple { len, parts: parts.collect() }
        }
        Type::Array(element) => {
            let rows = rows(&columns);
            let inner = Box::new(join(columns.iter().map(Column::flatten).collect(), element));
            match rows {
                Rows::Dense { len, extent } => Column::Dense { len, extent, inner },
                Rows::Ragged(offsets) => Column::Ragged { offsets, inner },
            }
        }
    }
}

/// The layout of an axis.
enum Rows {
    Dense { len: usize, extent: usize },
    Ragged(Buf<usize>),
}

/// The layout of the outermost axis that columns of rows have in common.
fn rows(columns: &[Column]) -> Rows {
    debug_assert!(
        columns.iter().all(|column| {
            let lengths = |column: &Column| -> Vec<Option<usize>> {
                (0..column.len()).map(|row| column.row_len(row)).collect()
            };
            lengths(column) == lengths(&columns[0])
        }),
        "sibling leaves with different axes: {columns:?}"
    );
    let len = columns[0].len();
    // No rows at all may be dense with an extent in one leaf and ragged in its sibling.
    let dense = columns.iter().find(|column| matches!(column, Column::Dense { .. }));
    if let Ok(extent) = dense.unwrap_or(&columns[0]).extent() {
        return Rows::Dense { len, extent };
    }
    match &columns[0] {
        Column::Ragged { offsets, .. } => Rows::Ragged(rebased(offsets)),
        column => panic!("{column:?} has no rows of different lengths"),
    }
}

/// Row offsets that begin with 0.
fn rebased(offsets: &Buf<usize>) -> Buf<usize> {
    match offsets.as_slice() {
        [0, ..] => offsets.clone(),
        all => all.iter().map(|offset| offset - all[0]).collect::<Vec<_>>().into(),
    }
}

/// The types of the components of a tuple or record type.
fn components(ty: &Type) -> Vec<&Type> {
    match ty {
        Type::Tuple(parts) => parts.iter().collect(),
        Type::Record(fields) => fields.iter().map(|(_, field)| field).collect(),
        Type::Scalar(_) | Type::Array(_) => panic!("{ty} has no components"),
    }
}

fn array_of(elements: Column) -> Value {
    Value::Array(Arc::new(Array::new(elements)))
}
