//! Keys as unsigned integers in the order of numerics.md.

use crate::lanes::Lane;

pub(super) const SIGN: u64 = 1 << 63;
pub(super) const SIGN_32: u32 = 1 << 31;

/// A key as bits that are in its order: `-inf … -0 < +0 … inf`, then NaN; false before true.
pub(super) trait Bits: Lane {
    /// How many there are.
    const WIDTH: u32;
    /// Whether bits differ by as much as the keys, so that many keys may lie between a few bounds.
    const DENSE: bool;

    /// The bits.
    fn bits(self) -> u64;
}

macro_rules! define_bits {
    ($($rust:ty, $width:literal, $dense:literal, $key:ident => $bits:expr;)*) => {$(
        impl Bits for $rust {
            const WIDTH: u32 = $width;
            const DENSE: bool = $dense;

            #[inline]
            fn bits(self) -> u64 {
                let $key = self;
                u64::from($bits)
            }
        }
    )*};
}
define_bits! {
    i8, 8, true, key => key as u8 ^ 1 << 7;
    i16, 16, true, key => key as u16 ^ 1 << 15;
    i32, 32, true, key => key as u32 ^ SIGN_32;
    i64, 64, true, key => key as u64 ^ SIGN;
    u8, 8, true, key => key;
    u16, 16, true, key => key;
    u32, 32, true, key => key;
    u64, 64, true, key => key;
    f32, 32, false, key => float_bits_f32(key);
    f64, 64, false, key => float_bits_f64(key);
    bool, 1, true, key => key;
}

/// What turns the order of the bits of a type round, by exclusive or, if the greatest key is to come first.
pub(super) fn flip<T: Bits>(descending: bool) -> u64 {
    if descending { u64::MAX >> (u64::BITS - T::WIDTH) } else { 0 }
}

pub(super) fn float_bits_f32(key: f32) -> u32 {
    let bits = key.to_bits();
    match key.is_nan() {
        true => u32::MAX,
        false if bits & SIGN_32 != 0 => !bits,
        false => bits | SIGN_32,
    }
}

pub(super) fn float_bits_f64(key: f64) -> u64 {
    let bits = key.to_bits();
    match key.is_nan() {
        true => u64::MAX,
        false if bits & SIGN != 0 => !bits,
        false => bits | SIGN,
    }
}
