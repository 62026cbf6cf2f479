//! Conversions and reinterpreted bits; the rules stand in [`weft_ir::math::cast`].

use std::marker::PhantomData;

use weft_ir::math::cast::{canonical_bits_f32, canonical_bits_f64};

use super::{Unary, one};
use crate::isa::Apply;
use crate::lanes::{Lane, LaneType};

/// Evaluates an expression with a type name standing for the Rust type of one of some [`LaneType`]s.
macro_rules! with_one_of {
    ($ty:expr, [$($variant:ident $rust:ty),*], $name:ident => $body:expr) => {
        match $ty {
            $(LaneType::$variant => {
                type $name = $rust;
                $body
            })*
            other => unreachable!("{other:?} is not among these types"),
        }
    };
}

/// As [`with_one_of`], of the integers.
macro_rules! with_integer {
    ($ty:expr, $name:ident => $body:expr) => {
        with_one_of!(
            $ty,
            [I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64],
            $name => $body
        )
    };
}

/// As [`with_one_of`], of the integers without a sign.
macro_rules! with_unsigned {
    ($ty:expr, $name:ident => $body:expr) => {
        with_one_of!($ty, [U8 u8, U16 u16, U32 u32, U64 u64], $name => $body)
    };
}

/// The conversion of one type of lanes to another. The target's sign makes no difference to bits, and the
/// source's only where they become more.
pub(super) fn cast(from: LaneType, to: LaneType) -> Apply {
    use LaneType as L;
    let cast = match (unsigned(from), unsigned(to)) {
        (from, _) if to == L::Bool => {
            with_one_of!(from, [U8 u8, U16 u16, U32 u32, U64 u64, F32 f32, F64 f64], From => {
                one::<Cast<From, bool>>()
            })
        }
        (L::F32, L::F32) => one::<Cast<u32, u32>>(),
        (L::F64, L::F64) => one::<Cast<u64, u64>>(),
        (L::F32, L::F64) => one::<Cast<f32, f64>>(),
        (L::F64, L::F32) => one::<Cast<f64, f32>>(),
        (source, L::F32) => with_integer!(if from == L::Bool { source } else { from }, From => {
            one::<Cast<From, f32>>()
        }),
        (source, L::F64) => with_integer!(if from == L::Bool { source } else { from }, From => {
            one::<Cast<From, f64>>()
        }),
        // Which saturate.
        (L::F32, _) => with_integer!(to, To => one::<Cast<f32, To>>()),
        (L::F64, _) => with_integer!(to, To => one::<Cast<f64, To>>()),
        (_, to) if from == L::I8 && to != L::U8 => {
            with_one_of!(to, [U16 u16, U32 u32, U64 u64], To => one::<Cast<i8, To>>())
        }
        (_, to) if from == L::I16 && matches!(to, L::U32 | L::U64) => {
            with_one_of!(to, [U32 u32, U64 u64], To => one::<Cast<i16, To>>())
        }
        (_, L::U64) if from == L::I32 => one::<Cast<i32, u64>>(),
        (from, to) => with_unsigned!(from, From => with_unsigned!(to, To => {
            one::<Cast<From, To>>()
        })),
    };
    cast.expect("every type converts to every type")
}

/// The type with the same bits that has no sign; floats are themselves.
fn unsigned(ty: LaneType) -> LaneType {
    match ty {
        LaneType::I8 | LaneType::U8 | LaneType::Bool => LaneType::U8,
        LaneType::I16 | LaneType::U16 => LaneType::U16,
        LaneType::I32 | LaneType::U32 => LaneType::U32,
        LaneType::I64 | LaneType::U64 => LaneType::U64,
        LaneType::F32 | LaneType::F64 => ty,
    }
}

/// Reinterpreted bits, where the widths agree; a NaN is canonical.
pub(super) fn bitcast(from: LaneType, to: LaneType) -> Option<Apply> {
    use LaneType as L;
    match (from, to) {
        (L::F32, L::I32 | L::U32 | L::F32) => one::<Canonical<f32>>(),
        (L::F64, L::I64 | L::U64 | L::F64) => one::<Canonical<f64>>(),
        (L::I32 | L::U32, L::I32 | L::U32 | L::F32) => Some(cast(L::U32, L::U32)),
        (L::I64 | L::U64, L::I64 | L::U64 | L::F64) => Some(cast(L::U64, L::U64)),
        _ => None,
    }
}

struct Cast<A, R>(PhantomData<(A, R)>);

/// The bits of a float.
struct Canonical<A>(PhantomData<A>);

/// A conversion of lanes; Rust's `as` is the rule.
trait To<R> {
    fn to(self) -> R;
}

impl<A: Lane + To<R>, R: Lane> Unary for Cast<A, R> {
    type A = A;
    type R = R;
    #[inline(always)]
    fn apply(a: A) -> R {
        a.to()
    }
}

macro_rules! to_numbers {
    ($source:ty, $this:ident => $number:expr; $($target:ty)*) => {$(
        impl To<$target> for $source {
            #[inline(always)]
            fn to(self) -> $target {
                let $this = self;
                $number as $target
            }
        }
    )*};
}

macro_rules! to_all {
    ($($source:ty, $zero:expr;)*) => {$(
        to_numbers!($source, this => this; i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

        impl To<bool> for $source {
            #[inline(always)]
            fn to(self) -> bool {
                self != $zero
            }
        }
    )*};
}
to_all! { i8, 0; i16, 0; i32, 0; i64, 0; u8, 0; u16, 0; u32, 0; u64, 0; f32, 0.0; f64, 0.0; }
to_numbers!(bool, this => u8::from(this); i8 i16 i32 i64 u8 u16 u32 u64 f32 f64);

impl To<bool> for bool {
    #[inline(always)]
    fn to(self) -> bool {
        self
    }
}

impl Unary for Canonical<f32> {
    type A = f32;
    type R = u32;
    #[inline(always)]
    fn apply(a: f32) -> u32 {
        canonical_bits_f32(a)
    }
}

impl Unary for Canonical<f64> {
    type A = f64;
    type R = u64;
    #[inline(always)]
    fn apply(a: f64) -> u64 {
        canonical_bits_f64(a)
    }
}
