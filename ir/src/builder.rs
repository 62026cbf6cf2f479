//! Building a column element by element.

use crate::{Array, Column, Scalar, ScalarType, Type, Value};

/// Collects elements of one type into a [`Column`].
#[derive(Debug)]
pub struct ColumnBuilder(State);

#[derive(Debug)]
enum State {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
    Char(Vec<u8>),
    Tuple {
        len: usize,
        parts: Vec<ColumnBuilder>,
    },
    /// `empty_extent` is the extent that the arrays have if there are none: that of all dense columns
    /// without arrays that were appended, or 0 if they differ.
    Arrays {
        lengths: Vec<usize>,
        empty_extent: Option<usize>,
        inner: Box<ColumnBuilder>,
    },
}

impl ColumnBuilder {
    /// A builder for elements of type `ty`.
    pub fn new(ty: &Type) -> ColumnBuilder {
        ColumnBuilder::with_capacity(ty, 0)
    }

    /// As [`ColumnBuilder::new`], with room for `capacity` scalar elements.
    pub fn with_capacity(ty: &Type, capacity: usize) -> ColumnBuilder {
        ColumnBuilder(match ty {
            Type::Scalar(ScalarType::I8) => State::I8(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::I16) => State::I16(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::I32) => State::I32(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::I64) => State::I64(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::U8) => State::U8(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::U16) => State::U16(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::U32) => State::U32(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::U64) => State::U64(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::F32) => State::F32(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::F64) => State::F64(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::Bool) => State::Bool(Vec::with_capacity(capacity)),
            Type::Scalar(ScalarType::Char) => State::Char(Vec::with_capacity(capacity)),
            Type::Tuple(parts) => State::Tuple {
                len: 0,
                parts: parts.iter().map(|ty| ColumnBuilder::with_capacity(ty, capacity)).collect(),
            },
            Type::Record(fields) => State::Tuple {
                len: 0,
                parts: fields
                    .iter()
                    .map(|(_, ty)| ColumnBuilder::with_capacity(ty, capacity))
                    .collect(),
            },
            Type::Array(element) => State::Arrays {
                lengths: Vec::with_capacity(capacity),
                empty_extent: None,
                inner: Box::new(ColumnBuilder::new(element)),
            },
        })
    }

    /// Appends a scalar.
    ///
    /// # Panics
    /// If the elements are not of its type.
    pub fn push_scalar(&mut self, scalar: Scalar) {
        match (&mut self.0, scalar) {
            (State::I8(data), Scalar::I8(value)) => data.push(value),
            (State::I16(data), Scalar::I16(value)) => data.push(value),
            (State::I32(data), Scalar::I32(value)) => data.push(value),
            (State::I64(data), Scalar::I64(value)) => data.push(value),
            (State::U8(data), Scalar::U8(value)) => data.push(value),
            (State::U16(data), Scalar::U16(value)) => data.push(value),
            (State::U32(data), Scalar::U32(value)) => data.push(value),
            (State::U64(data), Scalar::U64(value)) => data.push(value),
            (State::F32(data), Scalar::F32(value)) => data.push(value),
            (State::F64(data), Scalar::F64(value)) => data.push(value),
            (State::Bool(data), Scalar::Bool(value)) => data.push(value),
            (State::Char(data), Scalar::Char(value)) => data.push(value),
            (state, scalar) => panic!("{scalar:?} pushed to a column of another type: {state:?}"),
        }
    }

    /// Appends a value.
    ///
    /// # Panics
    /// If the elements are not of its type.
    pub fn push(&mut self, value: &Value) {
        match (&mut self.0, value) {
            (_, Value::Scalar(scalar)) => self.push_scalar(*scalar),
            (State::Tuple { len, parts }, Value::Tuple(values)) => {
                assert_eq!(parts.len(), values.len(), "a tuple of another width");
                *len += 1;
                for (part, value) in parts.iter_mut().zip(values.iter()) {
                    part.push(value);
                }
            }
            (State::Arrays { .. }, Value::Array(array)) => self.push_array(&array.elements),
            (state, value) => panic!("{value:?} pushed to a column of another type: {state:?}"),
        }
    }

    /// Appends an array with these elements.
    ///
    /// # Panics
    /// If the elements of the column are not such arrays.
    pub fn push_array(&mut self, elements: &Column) {
        match &mut self.0 {
            State::Arrays { lengths, inner, .. } => {
                lengths.push(elements.len());
                inner.extend(elements);
            }
            state => panic!("an array pushed to a column of another type: {state:?}"),
        }
    }

    /// Appends a tuple whose components are still to come: one element must be appended to each of
    /// the builders returned.
    ///
    /// # Panics
    /// If the elements are no tuples.
    pub fn push_tuple(&mut self) -> &mut [ColumnBuilder] {
        match &mut self.0 {
            State::Tuple { len, parts } => {
                *len += 1;
                parts
            }
            state => panic!("a tuple pushed to a column of another type: {state:?}"),
        }
    }

    /// Appends all elements of a column.
    ///
    /// # Panics
    /// If the elements are not of its type.
    pub fn extend(&mut self, column: &Column) {
        match (&mut self.0, column) {
            (State::I8(data), Column::I8(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::I16(data), Column::I16(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::I32(data), Column::I32(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::I64(data), Column::I64(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::U8(data), Column::U8(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::U16(data), Column::U16(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::U32(data), Column::U32(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::U64(data), Column::U64(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::F32(data), Column::F32(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::F64(data), Column::F64(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::Bool(data), Column::Bool(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::Char(data), Column::Char(buf)) => data.extend_from_slice(buf.as_slice()),
            (State::Tuple { len, parts }, Column::Tuple { len: more, parts: columns }) => {
                *len += more;
                for (part, column) in parts.iter_mut().zip(columns) {
                    part.extend(column);
                }
            }
            (
                State::Arrays { lengths, empty_extent, inner },
                column @ (Column::Dense { .. } | Column::Ragged { .. }),
            ) => {
                if let Column::Dense { len: 0, extent, .. } = column {
                    *empty_extent = match *empty_extent {
                        Some(other) if other != *extent => Some(0),
                        _ => Some(*extent),
                    };
                }
                lengths.extend((0..column.len()).filter_map(|row| column.row_len(row)));
                inner.extend(&column.flatten());
            }
            (state, column) => panic!("{column:?} appended to another type: {state:?}"),
        }
    }

    /// The number of elements so far.
    pub fn len(&self) -> usize {
        match &self.0 {
            State::I8(data) => data.len(),
            State::I16(data) => data.len(),
            State::I32(data) => data.len(),
            State::I64(data) => data.len(),
            State::U8(data) | State::Char(data) => data.len(),
            State::U16(data) => data.len(),
            State::U32(data) => data.len(),
            State::U64(data) => data.len(),
            State::F32(data) => data.len(),
            State::F64(data) => data.len(),
            State::Bool(data) => data.len(),
            State::Tuple { len, .. } => *len,
            State::Arrays { lengths, .. } => lengths.len(),
        }
    }

    /// Whether there are none yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The column; an axis is dense where all lengths agree.
    pub fn finish(self) -> Column {
        match self.0 {
            State::I8(data) => Column::I8(data.into()),
            State::I16(data) => Column::I16(data.into()),
            State::I32(data) => Column::I32(data.into()),
            State::I64(data) => Column::I64(data.into()),
            State::U8(data) => Column::U8(data.into()),
            State::U16(data) => Column::U16(data.into()),
            State::U32(data) => Column::U32(data.into()),
            State::U64(data) => Column::U64(data.into()),
            State::F32(data) => Column::F32(data.into()),
            State::F64(data) => Column::F64(data.into()),
            State::Bool(data) => Column::Bool(data.into()),
            State::Char(data) => Column::Char(data.into()),
            State::Tuple { len, parts } => {
                Column::Tuple { len, parts: parts.into_iter().map(ColumnBuilder::finish).collect() }
            }
            State::Arrays { lengths, empty_extent, inner } if lengths.is_empty() => Column::Dense {
                len: 0,
                extent: empty_extent.unwrap_or(0),
                inner: Box::new(inner.finish()),
            },
            State::Arrays { lengths, inner, .. } => Column::from_lengths(&lengths, inner.finish()),
        }
    }

    /// The array of the elements.
    pub fn finish_array(self) -> Array {
        Array::new(self.finish())
    }
}
