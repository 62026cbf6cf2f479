//! Registers of the block interpreter: runs of lanes of one type, in groups of 64.
//!
//! Note [Groups of lanes]. Every loop of the interpreter runs over whole groups of [`GROUP`] lanes, so that
//! it has a constant length and no rest. A *varying* register has as many groups as a block has, a
//! *uniform* one a single group of equal lanes; an operand's step of 1 or 0 groups makes one loop
//! serve both. The lanes past the end of a block hold anything: they are computed, but never looked
//! at, and operators that may fail skip them.
#![allow(unsafe_code)]

use weft_ir::{Column, Scalar, ScalarType};

use crate::isa::Slot;

/// The lanes of a group. Also the block of the tree of a fold, which makes a group a block of it.
pub const GROUP: usize = 64;

/// The lanes of a block at most.
pub const BLOCK: usize = 1024;

/// Lanes that are computed together.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Group<T>(pub [T; GROUP]);

/// Calls a macro with the variant, the field and the Rust type of every type of lanes.
#[macro_export]
macro_rules! for_lane_types {
    ($callback:ident) => {
        $callback! {
            (I8, i8, i8) (I16, i16, i16) (I32, i32, i32) (I64, i64, i64)
            (U8, u8, u8) (U16, u16, u16) (U32, u32, u32) (U64, u64, u64)
            (F32, f32, f32) (F64, f64, f64) (Bool, bools, bool)
        }
    };
}

pub use crate::for_lane_types;

/// Evaluates an expression with a type name standing for the Rust type of a [`LaneType`].
#[macro_export]
macro_rules! with_lane_type {
    ($ty:expr, $name:ident => $body:expr) => {
        match $ty {
            $crate::lanes::LaneType::I8 => {
                type $name = i8;
                $body
            }
            $crate::lanes::LaneType::I16 => {
                type $name = i16;
                $body
            }
            $crate::lanes::LaneType::I32 => {
                type $name = i32;
                $body
            }
            $crate::lanes::LaneType::I64 => {
                type $name = i64;
                $body
            }
            $crate::lanes::LaneType::U8 => {
                type $name = u8;
                $body
            }
            $crate::lanes::LaneType::U16 => {
                type $name = u16;
                $body
            }
            $crate::lanes::LaneType::U32 => {
                type $name = u32;
                $body
            }
            $crate::lanes::LaneType::U64 => {
                type $name = u64;
                $body
            }
            $crate::lanes::LaneType::F32 => {
                type $name = f32;
                $body
            }
            $crate::lanes::LaneType::F64 => {
                type $name = f64;
                $body
            }
            $crate::lanes::LaneType::Bool => {
                type $name = bool;
                $body
            }
        }
    };
}
pub use crate::with_lane_type;

macro_rules! define_lanes {
    ($(($variant:ident, $field:ident, $rust:ty))*) => {
        /// The type of lanes: the scalar types, but that a `char` is a `u8`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "named as the scalar types")]
        pub enum LaneType { $($variant),* }

        /// Registers by type, and the frames of the subroutines.
        #[derive(Debug, Default)]
        #[allow(missing_docs, reason = "named as the types")]
        pub struct Frame {
            $(pub $field: Vec<Vec<Group<$rust>>>,)*
            /// The frames of the subroutines.
            pub children: Vec<Frame>,
        }

        impl Frame {
            /// The first groups of a register.
            #[inline]
            pub(crate) fn bytes(&self, slot: Slot, groups: usize) -> &[u8] {
                match slot.ty {
                    $(LaneType::$variant => {
                        let groups = &self.$field[slot.index as usize][..groups];
                        // SAFETY: lanes are initialised, and there is nothing between them.
                        unsafe {
                            std::slice::from_raw_parts(groups.as_ptr().cast(), size_of_val(groups))
                        }
                    })*
                }
            }

            /// As [`Frame::bytes`]; only lanes of the register's type may be written.
            #[inline]
            pub(crate) fn bytes_mut(&mut self, slot: Slot, groups: usize) -> &mut [u8] {
                match slot.ty {
                    $(LaneType::$variant => {
                        let groups = &mut self.$field[slot.index as usize][..groups];
                        let bytes = size_of_val(groups);
                        // SAFETY: lanes are initialised, and there is nothing between them.
                        unsafe {
                            std::slice::from_raw_parts_mut(groups.as_mut_ptr().cast(), bytes)
                        }
                    })*
                }
            }
        }

        /// Elements that a kernel writes.
        #[derive(Clone, Debug, PartialEq)]
        #[allow(missing_docs, reason = "named as the scalar types")]
        pub enum Storage { $($variant(Vec<$rust>)),* }

        /// A part of such elements.
        #[derive(Debug)]
        #[allow(missing_docs, reason = "named as the scalar types")]
        pub enum StorageMut<'a> { $($variant(&'a mut [$rust])),* }

        /// Elements that a kernel reads.
        #[derive(Clone, Copy, Debug)]
        #[allow(missing_docs, reason = "named as the scalar types")]
        pub enum Elements<'a> { $($variant(&'a [$rust])),* }

        impl Storage {
            /// No elements.
            pub fn new(ty: LaneType) -> Storage {
                match ty { $(LaneType::$variant => Storage::$variant(Vec::new())),* }
            }

            /// That many zeros.
            pub fn zeros(ty: LaneType, length: usize) -> Storage {
                match ty {
                    $(LaneType::$variant => Storage::$variant(vec![<$rust>::default(); length])),*
                }
            }

            /// The type of the elements.
            pub fn ty(&self) -> LaneType {
                match self { $(Storage::$variant(_) => LaneType::$variant),* }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self { $(Storage::$variant(vec) => vec.len()),* }
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// The number of elements for which there is memory.
            pub fn capacity(&self) -> usize {
                match self { $(Storage::$variant(vec) => vec.capacity()),* }
            }

            /// With zeros at the end, or without what is past that length.
            pub fn resize(&mut self, length: usize) {
                match self { $(Storage::$variant(vec) => vec.resize(length, <$rust>::default())),* }
            }

            /// Without so many elements at the beginning.
            pub fn drop_first(&mut self, count: usize) {
                match self { $(Storage::$variant(vec) => drop(vec.drain(..count))),* }
            }

            /// For reading.
            pub fn elements(&self) -> Elements<'_> {
                match self { $(Storage::$variant(vec) => Elements::$variant(vec)),* }
            }

            /// For writing.
            pub fn as_mut(&mut self) -> StorageMut<'_> {
                match self { $(Storage::$variant(vec) => StorageMut::$variant(vec)),* }
            }

            /// What another of the same type holds at the end.
            ///
            /// # Panics
            /// If the types differ.
            pub fn append(&mut self, other: Elements<'_>) {
                match (self, other) {
                    $((Storage::$variant(a), Elements::$variant(b)) => a.extend_from_slice(b),)*
                    (a, b) => panic!("{:?} beside {:?}", a.ty(), b.ty()),
                }
            }

            /// The elements at these positions.
            pub fn gather(&self, positions: &[usize]) -> Storage {
                match self {
                    $(Storage::$variant(vec) => {
                        Storage::$variant(positions.iter().map(|&position| vec[position]).collect())
                    })*
                }
            }

            /// The elements from `start` to `end` in reverse order.
            pub fn reverse(&mut self, start: usize, end: usize) {
                match self { $(Storage::$variant(vec) => vec[start..end].reverse()),* }
            }
        }

        impl<'a> Elements<'a> {
            /// The type of the elements.
            pub fn ty(&self) -> LaneType {
                match self { $(Elements::$variant(_) => LaneType::$variant),* }
            }

            /// The number of elements.
            pub fn len(&self) -> usize {
                match self { $(Elements::$variant(slice) => slice.len()),* }
            }

            /// Whether there are none.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// Some of them.
            pub fn slice(&self, start: usize, end: usize) -> Elements<'a> {
                match self { $(Elements::$variant(slice) => Elements::$variant(&slice[start..end])),* }
            }
        }

        impl<'a> StorageMut<'a> {
            /// All elements, for a while.
            pub fn reborrow(&mut self) -> StorageMut<'_> {
                match self { $(StorageMut::$variant(slice) => StorageMut::$variant(slice)),* }
            }

            /// The elements from `start` to `end`.
            pub fn part(&mut self, start: usize, end: usize) -> StorageMut<'_> {
                match self {
                    $(StorageMut::$variant(slice) => StorageMut::$variant(&mut slice[start..end])),*
                }
            }

            /// The first `length` elements, which are taken away.
            pub fn take_front(&mut self, length: usize) -> StorageMut<'a> {
                match self {
                    $(StorageMut::$variant(slice) => {
                        let (front, rest) = std::mem::take(slice).split_at_mut(length);
                        *slice = rest;
                        StorageMut::$variant(front)
                    })*
                }
            }

            /// The last `length` elements, which are taken away.
            pub fn take_back(&mut self, length: usize) -> StorageMut<'a> {
                match self {
                    $(StorageMut::$variant(slice) => {
                        let whole = std::mem::take(slice);
                        let (rest, back) = whole.split_at_mut(whole.len() - length);
                        *slice = rest;
                        StorageMut::$variant(back)
                    })*
                }
            }
        }

        $(impl Lane for $rust {
            const TYPE: LaneType = LaneType::$variant;

            fn file(frame: &Frame) -> &Vec<Vec<Group<$rust>>> {
                &frame.$field
            }

            fn file_mut(frame: &mut Frame) -> &mut Vec<Vec<Group<$rust>>> {
                &mut frame.$field
            }

            fn elements<'a>(elements: Elements<'a>) -> &'a [$rust] {
                match elements {
                    Elements::$variant(slice) => slice,
                    other => wrong_type(LaneType::$variant, other.ty()),
                }
            }

            fn storage(storage: &Storage) -> &Vec<$rust> {
                match storage {
                    Storage::$variant(vec) => vec,
                    other => wrong_type(LaneType::$variant, other.ty()),
                }
            }

            fn storage_mut(storage: &mut Storage) -> &mut Vec<$rust> {
                match storage {
                    Storage::$variant(vec) => vec,
                    other => wrong_type(LaneType::$variant, other.ty()),
                }
            }

            fn slice_mut<'a, 'b>(storage: &'b mut StorageMut<'a>) -> &'b mut [$rust] {
                match storage {
                    StorageMut::$variant(slice) => slice,
                    _ => panic!("no {:?} here", LaneType::$variant),
                }
            }

            fn into_storage(vec: Vec<$rust>) -> Storage {
                Storage::$variant(vec)
            }
        })*
    };
}
for_lane_types!(define_lanes);

#[cold]
fn wrong_type(wanted: LaneType, found: LaneType) -> ! {
    panic!("{found:?} where {wanted:?} belong")
}

/// Makes room for so many lanes in a register.
pub fn reserve<T: Lane>(frame: &mut Frame, register: u32, lanes: usize) -> &mut [Group<T>] {
    let groups = &mut T::file_mut(frame)[register as usize];
    if groups.len() * GROUP < lanes {
        groups.resize(lanes.div_ceil(GROUP), Group([T::default(); GROUP]));
    }
    groups
}

/// The first lanes of a register, copied to a slice.
pub fn copy_lanes<T: Lane>(frame: &Frame, slot: Slot, to: &mut [T]) {
    let groups = &T::file(frame)[slot.index as usize];
    if slot.uniform {
        to.fill(groups[0].0[0]);
        return;
    }
    let (whole, rest) = to.as_chunks_mut::<GROUP>();
    for (to, Group(lanes)) in whole.iter_mut().zip(groups) {
        *to = *lanes;
    }
    if !rest.is_empty() {
        rest.copy_from_slice(&groups[whole.len()].0[..rest.len()]);
    }
}

/// The first lanes of a varying register, copied from a slice.
pub fn load_lanes<T: Lane>(frame: &mut Frame, slot: Slot, from: &[T]) {
    let groups = &mut T::file_mut(frame)[slot.index as usize];
    let (whole, rest) = from.as_chunks::<GROUP>();
    for (Group(lanes), from) in groups.iter_mut().zip(whole) {
        *lanes = *from;
    }
    if !rest.is_empty() {
        groups[whole.len()].0[..rest.len()].copy_from_slice(rest);
    }
}

/// The lanes of groups, one after the other.
pub fn flat<T>(groups: &[Group<T>]) -> &[T] {
    // SAFETY: a group is its lanes, and their size is a multiple of its alignment.
    unsafe { std::slice::from_raw_parts(groups.as_ptr().cast(), groups.len() * GROUP) }
}

/// As [`flat`].
pub fn flat_mut<T>(groups: &mut [Group<T>]) -> &mut [T] {
    let lanes = groups.len() * GROUP;
    // SAFETY: as in [`flat`].
    unsafe { std::slice::from_raw_parts_mut(groups.as_mut_ptr().cast(), lanes) }
}

/// A type of lanes.
pub trait Lane:
    Copy + Default + PartialOrd + PartialEq + Send + Sync + std::fmt::Debug + FromScalar + 'static
{
    /// Which.
    const TYPE: LaneType;
    /// The registers of this type.
    fn file(frame: &Frame) -> &Vec<Vec<Group<Self>>>;
    /// As [`Lane::file`].
    fn file_mut(frame: &mut Frame) -> &mut Vec<Vec<Group<Self>>>;
    /// Elements of this type.
    fn elements<'a>(elements: Elements<'a>) -> &'a [Self];
    /// Elements of this type.
    fn storage(storage: &Storage) -> &Vec<Self>;
    /// As [`Lane::storage`].
    fn storage_mut(storage: &mut Storage) -> &mut Vec<Self>;
    /// As [`Lane::storage`].
    fn slice_mut<'a, 'b>(storage: &'b mut StorageMut<'a>) -> &'b mut [Self];
    /// As elements.
    fn into_storage(vec: Vec<Self>) -> Storage;
}

/// Lanes from scalars and back.
pub trait FromScalar: Sized {
    /// The value inside a scalar of the lane's type; a `char` is its byte.
    ///
    /// # Panics
    /// On another type.
    fn from_scalar(scalar: Scalar) -> Self;
}

macro_rules! from_scalar {
    ($($rust:ty: $($variant:ident)|+;)*) => {$(
        impl FromScalar for $rust {
            fn from_scalar(scalar: Scalar) -> $rust {
                match scalar {
                    $(Scalar::$variant(value) => value,)+
                    other => panic!("{other:?} among lanes of {:?}", <$rust as Lane>::TYPE),
                }
            }
        }
    )*};
}
from_scalar! {
    i8: I8; i16: I16; i32: I32; i64: I64; u8: U8 | Char; u16: U16; u32: U32; u64: U64;
    f32: F32; f64: F64; bool: Bool;
}

impl LaneType {
    /// The lanes of a scalar type.
    pub fn of(ty: ScalarType) -> LaneType {
        match ty {
            ScalarType::I8 => LaneType::I8,
            ScalarType::I16 => LaneType::I16,
            ScalarType::I32 => LaneType::I32,
            ScalarType::I64 => LaneType::I64,
            ScalarType::U8 | ScalarType::Char => LaneType::U8,
            ScalarType::U16 => LaneType::U16,
            ScalarType::U32 => LaneType::U32,
            ScalarType::U64 => LaneType::U64,
            ScalarType::F32 => LaneType::F32,
            ScalarType::F64 => LaneType::F64,
            ScalarType::Bool => LaneType::Bool,
        }
    }
}

impl LaneType {
    /// The scalar type with these lanes that has all their operators.
    pub fn scalar_type(self) -> ScalarType {
        match self {
            LaneType::I8 => ScalarType::I8,
            LaneType::I16 => ScalarType::I16,
            LaneType::I32 => ScalarType::I32,
            LaneType::I64 => ScalarType::I64,
            LaneType::U8 => ScalarType::U8,
            LaneType::U16 => ScalarType::U16,
            LaneType::U32 => ScalarType::U32,
            LaneType::U64 => ScalarType::U64,
            LaneType::F32 => ScalarType::F32,
            LaneType::F64 => ScalarType::F64,
            LaneType::Bool => ScalarType::Bool,
        }
    }
}

impl Storage {
    /// The elements of a column of scalars, without a copy if nobody else holds them.
    ///
    /// # Panics
    /// On other columns.
    pub fn from_column(column: Column) -> Storage {
        match column {
            Column::I8(buf) => Storage::I8(buf.into_vec()),
            Column::I16(buf) => Storage::I16(buf.into_vec()),
            Column::I32(buf) => Storage::I32(buf.into_vec()),
            Column::I64(buf) => Storage::I64(buf.into_vec()),
            Column::U8(buf) | Column::Char(buf) => Storage::U8(buf.into_vec()),
            Column::U16(buf) => Storage::U16(buf.into_vec()),
            Column::U32(buf) => Storage::U32(buf.into_vec()),
            Column::U64(buf) => Storage::U64(buf.into_vec()),
            Column::F32(buf) => Storage::F32(buf.into_vec()),
            Column::F64(buf) => Storage::F64(buf.into_vec()),
            Column::Bool(buf) => Storage::Bool(buf.into_vec()),
            Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => {
                panic!("a column of scalars was wanted, not {column:?}")
            }
        }
    }
}

impl<'a> Elements<'a> {
    /// Of a column of scalars.
    ///
    /// # Panics
    /// On other columns.
    pub fn of_column(column: &'a Column) -> Elements<'a> {
        match column {
            Column::I8(buf) => Elements::I8(buf.as_slice()),
            Column::I16(buf) => Elements::I16(buf.as_slice()),
            Column::I32(buf) => Elements::I32(buf.as_slice()),
            Column::I64(buf) => Elements::I64(buf.as_slice()),
            Column::U8(buf) | Column::Char(buf) => Elements::U8(buf.as_slice()),
            Column::U16(buf) => Elements::U16(buf.as_slice()),
            Column::U32(buf) => Elements::U32(buf.as_slice()),
            Column::U64(buf) => Elements::U64(buf.as_slice()),
            Column::F32(buf) => Elements::F32(buf.as_slice()),
            Column::F64(buf) => Elements::F64(buf.as_slice()),
            Column::Bool(buf) => Elements::Bool(buf.as_slice()),
            Column::Tuple { .. } | Column::Dense { .. } | Column::Ragged { .. } => {
                panic!("a column of scalars was wanted, not {column:?}")
            }
        }
    }
}
