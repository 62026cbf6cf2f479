//! Conversions between the scalar types, and the same bits read as another type.
//!
//! | from | to | result |
//! | --- | --- | --- |
//! | integer | integer | the low bits, or sign or zero extension by the source's sign |
//! | float | integer | towards zero, saturating, NaN is 0 |
//! | integer, `f64` | float | the nearest, of two the even one; an infinity beyond the range |
//! | any number | `bool` | whether it is not 0; NaN is `true` |
//! | `bool` | any | 0 or 1 |
//! | any | `char` | as to `u8` |
//! | `char` | any | as from `u8` |

use crate::math::element::{Character, Element};
use crate::math::table::Unary;
use crate::{Scalar, ScalarType};

/// The conversion from one type to another.
pub fn cast(from: ScalarType, to: ScalarType) -> Unary {
    match from {
        ScalarType::I8 => from_type::<i8>(to),
        ScalarType::I16 => from_type::<i16>(to),
        ScalarType::I32 => from_type::<i32>(to),
        ScalarType::I64 => from_type::<i64>(to),
        ScalarType::U8 => from_type::<u8>(to),
        ScalarType::U16 => from_type::<u16>(to),
        ScalarType::U32 => from_type::<u32>(to),
        ScalarType::U64 => from_type::<u64>(to),
        ScalarType::F32 => from_type::<f32>(to),
        ScalarType::F64 => from_type::<f64>(to),
        ScalarType::Bool => from_type::<bool>(to),
        ScalarType::Char => from_type::<Character>(to),
    }
}

/// The reinterpretation of the bits of one type as another, where the widths agree and both are
/// 32- or 64-bit numbers. A NaN is canonical (quiet, positive, no payload) when its bits are seen.
pub fn bitcast(from: ScalarType, to: ScalarType) -> Option<Unary> {
    let (from_bits, to_bits) = (bits_of(from)?, bits_of(to)?);
    if from_bits != to_bits {
        return None;
    }
    Some(match to {
        ScalarType::F32 => |value| Ok(Scalar::F32(f32::from_bits(observed_bits(value) as u32))),
        ScalarType::I32 => |value| Ok(Scalar::I32(observed_bits(value) as i32)),
        ScalarType::U32 => |value| Ok(Scalar::U32(observed_bits(value) as u32)),
        ScalarType::F64 => |value| Ok(Scalar::F64(f64::from_bits(observed_bits(value)))),
        ScalarType::I64 => |value| Ok(Scalar::I64(observed_bits(value) as i64)),
        ScalarType::U64 => |value| Ok(Scalar::U64(observed_bits(value))),
        _ => return None,
    })
}

/// The width of the types whose bits may be reinterpreted.
fn bits_of(ty: ScalarType) -> Option<u32> {
    match ty {
        ScalarType::F32 | ScalarType::I32 | ScalarType::U32 => Some(32),
        ScalarType::F64 | ScalarType::I64 | ScalarType::U64 => Some(64),
        ScalarType::I8
        | ScalarType::I16
        | ScalarType::U8
        | ScalarType::U16
        | ScalarType::Bool
        | ScalarType::Char => None,
    }
}

/// The bits of a 32- or 64-bit number, zero-extended, NaN being canonical.
fn observed_bits(value: Scalar) -> u64 {
    match value {
        Scalar::F32(value) => u64::from(canonical_bits_f32(value)),
        Scalar::I32(value) => u64::from(value as u32),
        Scalar::U32(value) => u64::from(value),
        Scalar::F64(value) => canonical_bits_f64(value),
        Scalar::I64(value) => value as u64,
        Scalar::U64(value) => value,
        other => panic!("the bits of {other:?} are not observable"),
    }
}

/// The bits of a float; every NaN is `0x7fc00000`.
#[inline]
pub fn canonical_bits_f32(value: f32) -> u32 {
    if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }
}

/// The bits of a float; every NaN is `0x7ff8000000000000`.
#[inline]
pub fn canonical_bits_f64(value: f64) -> u64 {
    if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }
}

/// A type with a conversion to each of the twelve.
trait Convert: Element {
    fn to_i8(self) -> i8;
    fn to_i16(self) -> i16;
    fn to_i32(self) -> i32;
    fn to_i64(self) -> i64;
    fn to_u8(self) -> u8;
    fn to_u16(self) -> u16;
    fn to_u32(self) -> u32;
    fn to_u64(self) -> u64;
    fn to_f32(self) -> f32;
    fn to_f64(self) -> f64;
    fn to_bool(self) -> bool;
}

fn from_type<T: Convert>(to: ScalarType) -> Unary {
    match to {
        ScalarType::I8 => |value| Ok(Scalar::I8(T::from_scalar(value).to_i8())),
        ScalarType::I16 => |value| Ok(Scalar::I16(T::from_scalar(value).to_i16())),
        ScalarType::I32 => |value| Ok(Scalar::I32(T::from_scalar(value).to_i32())),
        ScalarType::I64 => |value| Ok(Scalar::I64(T::from_scalar(value).to_i64())),
        ScalarType::U8 => |value| Ok(Scalar::U8(T::from_scalar(value).to_u8())),
        ScalarType::U16 => |value| Ok(Scalar::U16(T::from_scalar(value).to_u16())),
        ScalarType::U32 => |value| Ok(Scalar::U32(T::from_scalar(value).to_u32())),
        ScalarType::U64 => |value| Ok(Scalar::U64(T::from_scalar(value).to_u64())),
        ScalarType::F32 => |value| Ok(Scalar::F32(T::from_scalar(value).to_f32())),
        ScalarType::F64 => |value| Ok(Scalar::F64(T::from_scalar(value).to_f64())),
        ScalarType::Bool => |value| Ok(Scalar::Bool(T::from_scalar(value).to_bool())),
        ScalarType::Char => |value| Ok(Scalar::Char(T::from_scalar(value).to_u8())),
    }
}

/// Rust's `as` is the conversion that the table above asks for, from the number `$number` that
/// stands for the value.
macro_rules! convert {
    ($($source:ty, $this:ident => $number:expr, bool $bool:expr;)*) => {$(
        impl Convert for $source {
            convert!(@methods $this => $number; to_i8 i8, to_i16 i16, to_i32 i32, to_i64 i64,
                to_u8 u8, to_u16 u16, to_u32 u32, to_u64 u64, to_f32 f32, to_f64 f64);

            #[inline]
            fn to_bool(self) -> bool {
                let $this = self;
                $bool
            }
        }
    )*};
    (@methods $this:ident => $number:expr; $($method:ident $target:ty),*) => {$(
        #[inline]
        fn $method(self) -> $target {
            let $this = self;
            $number as $target
        }
    )*};
}

convert! {
    i8, this => this, bool this != 0;
    i16, this => this, bool this != 0;
    i32, this => this, bool this != 0;
    i64, this => this, bool this != 0;
    u8, this => this, bool this != 0;
    u16, this => this, bool this != 0;
    u32, this => this, bool this != 0;
    u64, this => this, bool this != 0;
    f32, this => this, bool this != 0.0;
    f64, this => this, bool this != 0.0;
    bool, this => u8::from(this), bool this;
    Character, this => this.0, bool this.0 != 0;
}
