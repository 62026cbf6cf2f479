//! The meaning of the operators on the eight integer types. All of them wrap modulo 2^n.

use crate::TrapKind;
use crate::math::element::Element;

/// An integer type, with one method per operator.
pub trait Integer: Element + Ord {
    /// The number of bits.
    const BITS: u32;

    /// `a + b`.
    fn add(self, other: Self) -> Self;
    /// `a - b`.
    fn sub(self, other: Self) -> Self;
    /// `a * b`.
    fn mul(self, other: Self) -> Self;
    /// `-a`; unsigned types wrap too.
    fn neg(self) -> Self;
    /// The magnitude; that of the least signed number is itself.
    fn abs(self) -> Self;
    /// -1, 0 or 1.
    fn signum(self) -> Self;
    /// The quotient rounded towards minus infinity; `MIN // -1` is `MIN`. Traps on 0.
    fn floor_div(self, divisor: Self) -> Result<Self, TrapKind>;
    /// The remainder of [`Integer::floor_div`]: 0 or of the divisor's sign. Traps on 0.
    fn modulo(self, divisor: Self) -> Result<Self, TrapKind>;
    /// The quotient rounded towards zero; `MIN quot -1` is `MIN`. Traps on 0.
    fn quot(self, divisor: Self) -> Result<Self, TrapKind>;
    /// The remainder of [`Integer::quot`]: 0 or of the dividend's sign. Traps on 0.
    fn rem(self, divisor: Self) -> Result<Self, TrapKind>;
    /// `self` multiplied `exponent` times; anything to the power 0 is 1. Traps when it is negative.
    fn pow(self, exponent: Self) -> Result<Self, TrapKind>;
    /// The greatest common divisor, not negative, save that 2^(n-1) wraps to `MIN` in a signed
    /// type; `gcd 0 0` is 0.
    fn gcd(self, other: Self) -> Self;
    /// Every bit inverted.
    fn complement(self) -> Self;
    /// The bits set in both.
    fn bit_and(self, other: Self) -> Self;
    /// The bits set in either.
    fn bit_or(self, other: Self) -> Self;
    /// The bits set in one only.
    fn bit_xor(self, other: Self) -> Self;
    /// Shifts left. The count is read as unsigned, and one of at least the width gives 0.
    fn shl(self, count: Self) -> Self;
    /// Shifts right, filling with the sign of a signed type and with 0 otherwise. The count is read
    /// as unsigned, and one of at least the width leaves the fill alone.
    fn shr(self, count: Self) -> Self;
    /// How many bits are set.
    fn popcount(self) -> i64;
    /// How many bits above the highest set one; the width, if none is.
    fn clz(self) -> i64;
    /// How many bits below the lowest set one; the width, if none is.
    fn ctz(self) -> i64;
}

macro_rules! integer {
    ($($int:ident $unsigned:ident, abs $abs:expr, signum $signum:expr, fill $fill:expr;)*) => {$(
        impl Integer for $int {
            const BITS: u32 = $int::BITS;

            #[inline]
            fn add(self, other: $int) -> $int {
                self.wrapping_add(other)
            }

            #[inline]
            fn sub(self, other: $int) -> $int {
                self.wrapping_sub(other)
            }

            #[inline]
            fn mul(self, other: $int) -> $int {
                self.wrapping_mul(other)
            }

            #[inline]
            fn neg(self) -> $int {
                self.wrapping_neg()
            }

            #[inline]
            fn abs(self) -> $int {
                $abs(self)
            }

            #[inline]
            fn signum(self) -> $int {
                $signum(self)
            }

            #[inline]
            fn floor_div(self, divisor: $int) -> Result<$int, TrapKind> {
                let remainder = self.rem(divisor)?;
                let quotient = self.wrapping_div(divisor);
                Ok(quotient.wrapping_sub(opposed(remainder, divisor) as $int))
            }

            #[inline]
            fn modulo(self, divisor: $int) -> Result<$int, TrapKind> {
                let remainder = self.rem(divisor)?;
                Ok(if opposed(remainder, divisor) { remainder.wrapping_add(divisor) } else { remainder })
            }

            #[inline]
            fn quot(self, divisor: $int) -> Result<$int, TrapKind> {
                if divisor == 0 { Err(TrapKind::DivisionByZero) } else { Ok(self.wrapping_div(divisor)) }
            }

            #[inline]
            fn rem(self, divisor: $int) -> Result<$int, TrapKind> {
                if divisor == 0 { Err(TrapKind::DivisionByZero) } else { Ok(self.wrapping_rem(divisor)) }
            }

            #[inline]
            fn pow(self, exponent: $int) -> Result<$int, TrapKind> {
                if is_negative(exponent) {
                    return Err(TrapKind::NegativeExponent { exponent: exponent as i64 });
                }
                let (mut result, mut square, mut bits): ($int, $int, $int) = (1, self, exponent);
                while bits != 0 {
                    if bits & 1 == 1 {
                        result = result.wrapping_mul(square);
                    }
                    square = square.wrapping_mul(square);
                    bits >>= 1;
                }
                Ok(result)
            }

            #[inline]
            fn gcd(self, other: $int) -> $int {
                let (mut a, mut b) = (Integer::abs(self) as $unsigned, Integer::abs(other) as $unsigned);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a as $int
            }

            #[inline]
            fn complement(self) -> $int {
                !self
            }

            #[inline]
            fn bit_and(self, other: $int) -> $int {
                self & other
            }

            #[inline]
            fn bit_or(self, other: $int) -> $int {
                self | other
            }

            #[inline]
            fn bit_xor(self, other: $int) -> $int {
                self ^ other
            }

            #[inline]
            fn shl(self, count: $int) -> $int {
                if (count as $unsigned) < $int::BITS as $unsigned { self << count } else { 0 }
            }

            #[inline]
            fn shr(self, count: $int) -> $int {
                if (count as $unsigned) < $int::BITS as $unsigned { self >> count } else { $fill(self) }
            }

            #[inline]
            fn popcount(self) -> i64 {
                i64::from(self.count_ones())
            }

            #[inline]
            fn clz(self) -> i64 {
                i64::from(self.leading_zeros())
            }

            #[inline]
            fn ctz(self) -> i64 {
                i64::from(self.trailing_zeros())
            }
        }
    )*};
}

integer! {
    i8 u8, abs i8::wrapping_abs, signum i8::signum, fill |value: i8| value >> 7;
    i16 u16, abs i16::wrapping_abs, signum i16::signum, fill |value: i16| value >> 15;
    i32 u32, abs i32::wrapping_abs, signum i32::signum, fill |value: i32| value >> 31;
    i64 u64, abs i64::wrapping_abs, signum i64::signum, fill |value: i64| value >> 63;
    u8 u8, abs |value| value, signum |value: u8| value.min(1), fill |_| 0;
    u16 u16, abs |value| value, signum |value: u16| value.min(1), fill |_| 0;
    u32 u32, abs |value| value, signum |value: u32| value.min(1), fill |_| 0;
    u64 u64, abs |value| value, signum |value: u64| value.min(1), fill |_| 0;
}

/// Whether a remainder is not 0 and its sign is not the divisor's, so that flooring and truncating
/// division differ.
#[inline]
fn opposed<T: Integer + Default>(remainder: T, divisor: T) -> bool {
    remainder != T::default() && is_negative(remainder) != is_negative(divisor)
}

#[inline]
fn is_negative<T: Integer + Default>(value: T) -> bool {
    value < T::default()
}
