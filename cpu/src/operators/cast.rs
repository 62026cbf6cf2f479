//! Conversions and reinterpreted bits; the rules stand in [`weft_ir::math::cast`].

use std::marker::PhantomData;

use weft_ir::math::cast::{canonical_bits_f32, canonical_bits_f64};

use super::{Unary, one};
use crate::isa::Apply;
use crate::lanes::{Lane, LaneType, with_lane_type};

/// The conversion of one type of lanes to another.
pub(super) fn cast(from: LaneType, to: LaneType) -> Apply {
    with_lane_type!(from, From => with_lane_type!(to, To => one::<Cast<From, To>>()))
        .expect("every type converts to every type")
}

/// Reinterpreted bits, where the widths agree; a NaN is canonical.
pub(super) fn bitcast(from: LaneType, to: LaneType) -> Option<Apply> {
    use LaneType as L;
    match (from, to) {
        (L::F32, L::I32) => one::<Bits<f32, i32>>(),
        (L::F32, L::U32) => one::<Bits<f32, u32>>(),
        (L::F32, L::F32) => one::<Bits<f32, f32>>(),
        (L::I32, L::F32) => one::<Bits<i32, f32>>(),
        (L::U32, L::F32) => one::<Bits<u32, f32>>(),
        (L::F64, L::I64) => one::<Bits<f64, i64>>(),
        (L::F64, L::U64) => one::<Bits<f64, u64>>(),
        (L::F64, L::F64) => one::<Bits<f64, f64>>(),
        (L::I64, L::F64) => one::<Bits<i64, f64>>(),
        (L::U64, L::F64) => one::<Bits<u64, f64>>(),
        (L::I32 | L::U32, L::I32 | L::U32) | (L::I64 | L::U64, L::I64 | L::U64) => {
            Some(cast(from, to))
        }
        _ => None,
    }
}

struct Cast<A, R>(PhantomData<(A, R)>);
struct Bits<A, R>(PhantomData<(A, R)>);

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

macro_rules! bits {
    ($($source:ty => $target:ty: $this:ident => $body:expr;)*) => {$(
        impl Unary for Bits<$source, $target> {
            type A = $source;
            type R = $target;
            #[inline(always)]
            fn apply($this: $source) -> $target {
                $body
            }
        }
    )*};
}
bits! {
    f32 => i32: a => canonical_bits_f32(a) as i32;
    f32 => u32: a => canonical_bits_f32(a);
    f32 => f32: a => f32::from_bits(canonical_bits_f32(a));
    i32 => f32: a => f32::from_bits(a as u32);
    u32 => f32: a => f32::from_bits(a);
    f64 => i64: a => canonical_bits_f64(a) as i64;
    f64 => u64: a => canonical_bits_f64(a);
    f64 => f64: a => f64::from_bits(canonical_bits_f64(a));
    i64 => f64: a => f64::from_bits(a as u64);
    u64 => f64: a => f64::from_bits(a);
}
