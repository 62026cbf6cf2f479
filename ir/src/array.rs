//! Host arrays: a tree of columns, structure-of-arrays at the leaves.
//!
//! An array of arrays is *dense* where all its elements have one length (a regular axis) and
//! *ragged* where they differ (an axis with row offsets). The type says how deep the nesting is;
//! the layout of each axis is discovered from the data. Slices share their storage.

mod buffer;
mod identity;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub use buffer::{Buf, Fetch, Looks, Mapped, Recycle, Summary};
pub use identity::Identity;

use crate::{ColumnBuilder, Scalar, ScalarType, Type, Value};

/// A run of elements of one type, in structure-of-arrays form.
#[derive(Clone, Debug)]
pub enum Column {
    /// `i8` elements.
    I8(Buf<i8>),
    /// `i16` elements.
    I16(Buf<i16>),
    /// `i32` elements.
    I32(Buf<i32>),
    /// `i64` elements.
    I64(Buf<i64>),
    /// `u8` elements.
    U8(Buf<u8>),
    /// `u16` elements.
    U16(Buf<u16>),
    /// `u32` elements.
    U32(Buf<u32>),
    /// `u64` elements.
    U64(Buf<u64>),
    /// `f32` elements.
    F32(Buf<f32>),
    /// `f64` elements.
    F64(Buf<f64>),
    /// `bool` elements.
    Bool(Buf<bool>),
    /// `char` elements: bytes of text.
    Char(Buf<u8>),
    /// Tuples or records, one column per component, all of length `len`.
    Tuple {
        /// The number of tuples (kept apart for the tuple of no components).
        len: usize,
        /// The columns of the components, in order.
        parts: Vec<Column>,
    },
    /// Arrays that all have the same extent: `len` arrays of `extent` elements each.
    Dense {
        /// The number of arrays.
        len: usize,
        /// The length of every one.
        extent: usize,
        /// Their elements, one array after the other: `len * extent`.
        inner: Box<Column>,
    },
    /// Arrays whose extents differ. Array `i` is `inner[offsets[i]..offsets[i + 1]]`.
    Ragged {
        /// Ascending positions in `inner`, one more than there are arrays. A slice of a ragged
        /// column keeps the whole `inner`, so the first offset need not be 0.
        offsets: Buf<usize>,
        /// The elements.
        inner: Box<Column>,
    },
}

/// Equal if they are the same result ([`Column::same_bits`]).
impl PartialEq for Column {
    fn eq(&self, other: &Column) -> bool {
        self.same_bits(other)
    }
}

/// Applies a body to the buffer of a scalar column, or another one to the three other layouts.
macro_rules! scalar_columns {
    ($column:expr, $buf:ident => $body:expr, $($rest:tt)*) => {
        match $column {
            Column::I8($buf) => $body,
            Column::I16($buf) => $body,
            Column::I32($buf) => $body,
            Column::I64($buf) => $body,
            Column::U8($buf) => $body,
            Column::U16($buf) => $body,
            Column::U32($buf) => $body,
            Column::U64($buf) => $body,
            Column::F32($buf) => $body,
            Column::F64($buf) => $body,
            Column::Bool($buf) => $body,
            Column::Char($buf) => $body,
            $($rest)*
        }
    };
}

/// As [`scalar_columns`], wrapping the resulting buffer in the same variant again.
macro_rules! map_scalar_columns {
    ($column:expr, $buf:ident => $body:expr, $($rest:tt)*) => {
        match $column {
            Column::I8($buf) => Column::I8($body),
            Column::I16($buf) => Column::I16($body),
            Column::I32($buf) => Column::I32($body),
            Column::I64($buf) => Column::I64($body),
            Column::U8($buf) => Column::U8($body),
            Column::U16($buf) => Column::U16($body),
            Column::U32($buf) => Column::U32($body),
            Column::U64($buf) => Column::U64($body),
            Column::F32($buf) => Column::F32($body),
            Column::F64($buf) => Column::F64($body),
            Column::Bool($buf) => Column::Bool($body),
            Column::Char($buf) => Column::Char($body),
            $($rest)*
        }
    };
}

impl Column {
    /// No elements of type `ty`; array elements have extent 0.
    pub fn empty(ty: &Type) -> Column {
        ColumnBuilder::new(ty).finish()
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        scalar_columns!(self, buf => buf.len(),
            Column::Tuple { len, .. } | Column::Dense { len, .. } => *len,
            Column::Ragged { offsets, .. } => offsets.len() - 1,
        )
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which elements these are, if they are scalars.
    pub fn identity(&self) -> Option<Identity> {
        scalar_columns!(self, buf => Some(buf.identity()),
            Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => None)
    }

    /// Whether the elements can be looked at without being fetched, wherever they are.
    pub fn is_here(&self) -> bool {
        scalar_columns!(self, buf => buf.is_here(),
            Column::Tuple { parts, .. } => parts.iter().all(Column::is_here),
            Column::Dense { inner, .. } | Column::Ragged { inner, .. } => inner.is_here())
    }

    /// Whether nobody else holds the elements, so that they can be written to without a copy.
    pub fn is_alone(&self) -> bool {
        scalar_columns!(self, buf => buf.is_alone(),
            Column::Tuple { parts, .. } => parts.iter().all(Column::is_alone),
            Column::Dense { inner, .. } | Column::Ragged { inner, .. } => inner.is_alone())
    }

    /// The scalar type of the elements, if they are scalars.
    pub fn scalar_type(&self) -> Option<ScalarType> {
        Some(match self {
            Column::I8(_) => ScalarType::I8,
            Column::I16(_) => ScalarType::I16,
            Column::I32(_) => ScalarType::I32,
            Column::I64(_) => ScalarType::I64,
            Column::U8(_) => ScalarType::U8,
            Column::U16(_) => ScalarType::U16,
            Column::U32(_) => ScalarType::U32,
            Column::U64(_) => ScalarType::U64,
            Column::F32(_) => ScalarType::F32,
            Column::F64(_) => ScalarType::F64,
            Column::Bool(_) => ScalarType::Bool,
            Column::Char(_) => ScalarType::Char,
            Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => return None,
        })
    }

    /// Element `index` of a scalar column, without building a [`Value`].
    pub fn scalar(&self, index: usize) -> Option<Scalar> {
        Some(match self {
            Column::I8(buf) => Scalar::I8(buf.at(index)),
            Column::I16(buf) => Scalar::I16(buf.at(index)),
            Column::I32(buf) => Scalar::I32(buf.at(index)),
            Column::I64(buf) => Scalar::I64(buf.at(index)),
            Column::U8(buf) => Scalar::U8(buf.at(index)),
            Column::U16(buf) => Scalar::U16(buf.at(index)),
            Column::U32(buf) => Scalar::U32(buf.at(index)),
            Column::U64(buf) => Scalar::U64(buf.at(index)),
            Column::F32(buf) => Scalar::F32(buf.at(index)),
            Column::F64(buf) => Scalar::F64(buf.at(index)),
            Column::Bool(buf) => Scalar::Bool(buf.at(index)),
            Column::Char(buf) => Scalar::Char(buf.at(index)),
            Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => return None,
        })
    }

    /// Makes sure that looking at the elements does not take long, wherever they are; false if `cancel` was set
    /// meanwhile.
    pub fn bring(&self, looks: Looks, cancel: &AtomicBool) -> bool {
        scalar_columns!(self, buf => buf.bring(looks, cancel),
            Column::Tuple { parts, .. } => parts.iter().all(|part| part.bring(looks, cancel)),
            Column::Dense { inner, .. } | Column::Ragged { inner, .. } => inner.bring(looks, cancel))
    }

    /// What all elements come to, if they are numbers that are elsewhere, and it can be found out there.
    pub fn summary(&self) -> Option<Summary> {
        scalar_columns!(self, buf => buf.summary(),
            Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => None)
    }

    /// Element `index`; arrays share their storage with the column.
    ///
    /// # Panics
    /// If there is no such element.
    pub fn get(&self, index: usize) -> Value {
        if let Some(scalar) = self.scalar(index) {
            return Value::Scalar(scalar);
        }
        match self {
            Column::Tuple { parts, .. } => {
                Value::Tuple(parts.iter().map(|part| part.get(index)).collect())
            }
            Column::Dense { .. } | Column::Ragged { .. } => {
                Value::Array(Arc::new(Array::new(self.row(index).expect("elements are arrays"))))
            }
            _ => unreachable!("scalar columns were handled above"),
        }
    }

    /// The elements of the array at `index`, if the elements of this column are arrays.
    pub fn row(&self, index: usize) -> Option<Column> {
        match self {
            Column::Dense { extent, inner, .. } => Some(inner.slice(index * extent, *extent)),
            Column::Ragged { offsets, inner } => {
                let offsets = offsets.as_slice();
                Some(inner.slice(offsets[index], offsets[index + 1] - offsets[index]))
            }
            _ => None,
        }
    }

    /// The length of the array at `index`, if the elements of this column are arrays.
    pub fn row_len(&self, index: usize) -> Option<usize> {
        match self {
            Column::Dense { extent, .. } => Some(*extent),
            Column::Ragged { offsets, .. } => {
                let offsets = offsets.as_slice();
                Some(offsets[index + 1] - offsets[index])
            }
            _ => None,
        }
    }

    /// The `len` elements from `start` on, sharing storage.
    ///
    /// # Panics
    /// If they reach past the end.
    pub fn slice(&self, start: usize, len: usize) -> Column {
        map_scalar_columns!(self, buf => buf.slice(start, len),
            Column::Tuple { len: whole, parts } => {
                assert!(start + len <= *whole, "slice {start}+{len} of {whole} tuples");
                Column::Tuple { len, parts: parts.iter().map(|part| part.slice(start, len)).collect() }
            }
            Column::Dense { extent, inner, .. } => Column::Dense {
                len,
                extent: *extent,
                inner: Box::new(inner.slice(start * extent, len * extent)),
            },
            Column::Ragged { offsets, inner } => Column::Ragged {
                offsets: offsets.slice(start, len + 1),
                inner: inner.clone(),
            },
        )
    }

    /// The elements at the given positions, copied, in that order.
    ///
    /// # Panics
    /// If a position is past the end.
    pub fn gather(&self, indices: &[usize]) -> Column {
        map_scalar_columns!(self, buf => {
                let all = buf.as_slice();
                indices.iter().map(|&index| all[index]).collect::<Vec<_>>().into()
            },
            Column::Tuple { parts, .. } => Column::Tuple {
                len: indices.len(),
                parts: parts.iter().map(|part| part.gather(indices)).collect(),
            },
            Column::Dense { extent, inner, .. } => {
                let mut positions = Vec::with_capacity(indices.len() * extent);
                for &index in indices {
                    positions.extend(index * extent..(index + 1) * extent);
                }
                Column::Dense {
                    len: indices.len(),
                    extent: *extent,
                    inner: Box::new(inner.gather(&positions)),
                }
            }
            Column::Ragged { offsets, inner } => {
                let offsets = offsets.as_slice();
                let mut positions = Vec::new();
                let mut lengths = Vec::with_capacity(indices.len());
                for &index in indices {
                    positions.extend(offsets[index]..offsets[index + 1]);
                    lengths.push(offsets[index + 1] - offsets[index]);
                }
                Column::from_lengths(&lengths, inner.gather(&positions))
            }
        )
    }

    /// Arrays of the given lengths out of consecutive elements of `inner`: dense if the lengths
    /// agree, else ragged. The lengths must sum to the length of `inner`.
    ///
    /// No arrays at all are dense with extent 0; to keep another extent build `Dense` directly.
    pub fn from_lengths(lengths: &[usize], inner: Column) -> Column {
        let first = lengths.first().copied().unwrap_or(0);
        if lengths.iter().all(|&length| length == first) {
            return Column::Dense { len: lengths.len(), extent: first, inner: Box::new(inner) };
        }
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        let mut position = 0;
        offsets.push(0);
        for length in lengths {
            position += length;
            offsets.push(position);
        }
        debug_assert_eq!(position, inner.len(), "lengths must cover the elements");
        Column::Ragged { offsets: offsets.into(), inner: Box::new(inner) }
    }

    /// The common length of the arrays in this column. `None` if they differ; the error names the
    /// first array that does: `(its position, the length of array 0, its length)`.
    pub fn extent(&self) -> Result<usize, (usize, usize, usize)> {
        match self {
            Column::Dense { extent, .. } => Ok(*extent),
            Column::Ragged { offsets, .. } => {
                let offsets = offsets.as_slice();
                let lengths = offsets.windows(2).map(|pair| pair[1] - pair[0]);
                let first = lengths.clone().next().unwrap_or(0);
                match lengths.enumerate().find(|(_, length)| *length != first) {
                    None => Ok(first),
                    Some((row, length)) => Err((row, first, length)),
                }
            }
            _ => panic!("the elements of this column are no arrays"),
        }
    }

    /// All elements of the arrays in this column, one array after the other.
    pub fn flatten(&self) -> Column {
        match self {
            Column::Dense { inner, .. } => (**inner).clone(),
            Column::Ragged { offsets, inner } => {
                let offsets = offsets.as_slice();
                let (first, last) = (offsets[0], offsets[offsets.len() - 1]);
                inner.slice(first, last - first)
            }
            _ => panic!("the elements of this column are no arrays"),
        }
    }

    /// What has happened to where elements lie, if some may no longer be what they were: a sentence for people.
    /// Nobody should look at them then.
    pub fn changed(&self) -> Option<String> {
        scalar_columns!(self, buf => buf.changed(),
            Column::Tuple { parts, .. } => parts.iter().find_map(Column::changed),
            Column::Dense { inner, .. } | Column::Ragged { inner, .. } => inner.changed())
    }

    /// The bytes that the elements take (storage shared with other columns included), in memory or mapped.
    pub fn bytes(&self) -> usize {
        match self {
            Column::Tuple { parts, .. } => parts.iter().map(Column::bytes).sum(),
            Column::Dense { inner, .. } => inner.bytes(),
            Column::Ragged { offsets, .. } => {
                offsets.len() * size_of::<usize>() + self.flatten().bytes()
            }
            _ => self.len() * self.scalar_type().map_or(0, ScalarType::bytes),
        }
    }

    /// As [`Column::bytes`], of the elements that lie somewhere else than in memory of their own.
    pub fn mapped_bytes(&self) -> usize {
        scalar_columns!(self, buf => if buf.is_mapped() { self.bytes() } else { 0 },
            Column::Tuple { parts, .. } => parts.iter().map(Column::mapped_bytes).sum(),
            Column::Dense { inner, .. } => inner.mapped_bytes(),
            Column::Ragged { .. } => self.flatten().mapped_bytes(),
        )
    }

    /// The same result in the sense of numerics.md: equal shapes and bits, all NaNs being equal.
    /// Layout does not count: a ragged column of equal lengths equals a dense one.
    pub fn same_bits(&self, other: &Column) -> bool {
        if self.len() != other.len() {
            return false;
        }
        match (self, other) {
            (Column::Tuple { parts: a, .. }, Column::Tuple { parts: b, .. }) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_bits(b))
            }
            (
                Column::Dense { .. } | Column::Ragged { .. },
                Column::Dense { .. } | Column::Ragged { .. },
            ) => {
                if self.is_empty() {
                    // The extent is part of an empty array's shape.
                    return self.extent() == other.extent();
                }
                (0..self.len()).all(|row| self.row_len(row) == other.row_len(row))
                    && self.flatten().same_bits(&other.flatten())
            }
            _ => {
                self.scalar_type().is_some()
                    && self.scalar_type() == other.scalar_type()
                    && (self.address() == other.address()
                        || (0..self.len()).all(|index| {
                            match (self.scalar(index), other.scalar(index)) {
                                (Some(a), Some(b)) => a.same_bits(b),
                                _ => false,
                            }
                        }))
            }
        }
    }

    /// Where the elements stand, if they are scalars: columns of one type and length that stand at
    /// the same place are the same.
    fn address(&self) -> Option<usize> {
        scalar_columns!(self, buf => Some(buf.as_slice().as_ptr().addr()),
            Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => None
        )
    }
}

impl Column {
    /// As [`Column::same_bits`], but what the extents under an axis without elements are does not
    /// count: engines that know the shape of what a map would have yielded keep it, others cannot.
    pub fn same_elements(&self, other: &Column) -> bool {
        if self.len() != other.len() {
            return false;
        }
        match (self, other) {
            (Column::Tuple { parts: a, .. }, Column::Tuple { parts: b, .. }) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same_elements(b))
            }
            (
                Column::Dense { .. } | Column::Ragged { .. },
                Column::Dense { .. } | Column::Ragged { .. },
            ) => {
                (0..self.len()).all(|row| self.row_len(row) == other.row_len(row))
                    && self.flatten().same_elements(&other.flatten())
            }
            _ => self.same_bits(other),
        }
    }
}

/// An array: its elements.
#[derive(Clone, Debug)]
pub struct Array {
    /// The elements along the outermost axis.
    pub elements: Column,
}

impl Array {
    /// An array of these elements.
    pub fn new(elements: Column) -> Array {
        Array { elements }
    }

    /// The extent of the outermost axis.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether the outermost axis is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The extents, outermost first: `None` for an axis whose rows differ in length. It ends where
    /// the elements are no arrays.
    pub fn extents(&self) -> Vec<Option<usize>> {
        let mut extents = vec![Some(self.len())];
        let mut column = self.elements.clone();
        loop {
            let extent = match &column {
                Column::Dense { .. } | Column::Ragged { .. } => column.extent().ok(),
                _ => return extents,
            };
            extents.push(extent);
            column = column.flatten();
        }
    }
}
