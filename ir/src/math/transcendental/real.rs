//! The exact operations of which every transcendental function is made.
//!
//! The functions are written once, generically over [`Real`]. With `f32` and `f64` for it they
//! compute; an implementation that records the operations instead of doing them turns the same
//! text into a code generator's input. So a definition may use nothing but these methods, and the
//! operators `+ - * /` and negation, which round to nearest even as ever.

use std::num::Wrapping;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// A float format, with the exact operations on it.
pub trait Real:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The integer of the same width, for work on the bits.
    type Word: Word<Mask = Self::Mask>;
    /// What a comparison yields.
    type Mask: Copy
        + BitAnd<Output = Self::Mask>
        + BitOr<Output = Self::Mask>
        + Not<Output = Self::Mask>;

    /// Bits of the significand, the hidden one included: 24 or 53.
    const PRECISION: u32;
    /// What is added to an exponent to store it.
    const BIAS: i64;

    /// The first in single precision, the second in double: how a definition differs in its
    /// constants, its polynomials and, rarely, in a step.
    fn pick<T>(single: T, double: T) -> T;
    /// A constant, which must be exact in this format.
    fn constant(value: f64) -> Self;
    /// `self · factor + addend`, rounded once.
    fn fma(self, factor: Self, addend: Self) -> Self;
    /// The square root.
    fn sqrt(self) -> Self;
    /// Rounded towards zero to an integer.
    fn trunc(self) -> Self;
    /// Whether `self < other`; never for NaN.
    fn less(self, other: Self) -> Self::Mask;
    /// Whether `self == other`; never for NaN.
    fn equal(self, other: Self) -> Self::Mask;
    /// `then` where the mask holds, else `otherwise`; both are computed.
    fn select(mask: Self::Mask, then: Self, otherwise: Self) -> Self;
    /// As [`Real::select`], but only one side is computed: for a slow path that is rarely taken.
    fn branch(
        mask: Self::Mask,
        then: impl FnOnce() -> (Self, Self, Self::Word),
        otherwise: impl FnOnce() -> (Self, Self, Self::Word),
    ) -> (Self, Self, Self::Word);
    /// The bits. Those of a NaN are unspecified, so that a result must not depend on them.
    fn bits(self) -> Self::Word;
    /// The float of these bits.
    fn from_bits(bits: Self::Word) -> Self;
    /// A signed integer as a float; the definitions use it only where that is exact.
    fn from_word(word: Self::Word) -> Self;

    /// The constant of this format among the two.
    fn both(single: f64, double: f64) -> Self {
        Self::constant(Self::pick(single, double))
    }

    /// The power of two with the exponent for this format, a normal number in both.
    fn power(single: i64, double: i64) -> Self {
        Self::constant(f64::from_bits(((1023 + Self::pick(single, double)) as u64) << 52))
    }

    /// The magnitude.
    fn abs(self) -> Self {
        Self::from_bits(self.bits() & !Self::sign_bit())
    }

    /// `self`, which must not be negative, with the sign of `other`.
    fn with_sign_of(self, other: Self) -> Self {
        Self::from_bits(self.bits() | (other.bits() & Self::sign_bit()))
    }

    /// `self` with its sign changed where the word's bit 1 is set.
    fn negate_if_bit_1(self, word: Self::Word) -> Self {
        let sign = (word & Self::Word::constant(2)).shift_left(Self::Word::BITS - 2);
        Self::from_bits(self.bits() ^ sign)
    }

    /// The mask of the sign bit.
    fn sign_bit() -> Self::Word {
        Self::Word::constant(1).shift_left(Self::Word::BITS - 1)
    }

    /// `2^exponent`, which must be a normal number.
    fn power_of_two(exponent: Self::Word) -> Self {
        let biased = exponent + Self::Word::constant(Self::BIAS);
        Self::from_bits(biased.shift_left(Self::PRECISION - 1))
    }

    /// `self · 2^exponent`, rounded once if it is subnormal. The halves of the exponent must be
    /// those of normal numbers, and `self` near 1.
    fn scale(self, exponent: Self::Word) -> Self {
        let half = exponent.shift_right(1);
        self * Self::power_of_two(half) * Self::power_of_two(exponent - half)
    }

    /// The polynomial with these coefficients, the constant first, by Horner's rule.
    fn polynomial(self, coefficients: &[f64]) -> Self {
        let (&last, rest) = coefficients.split_last().expect("a polynomial has coefficients");
        rest.iter().rev().fold(Self::constant(last), |sum, &coefficient| {
            sum.fma(self, Self::constant(coefficient))
        })
    }

    /// `self` kept within the bounds; NaN stays.
    fn clamp(self, low: Self, high: Self) -> Self {
        let above = Self::select(self.less(low), low, self);
        Self::select(high.less(above), high, above)
    }

    /// Infinity.
    fn infinity() -> Self {
        Self::constant(f64::INFINITY)
    }

    /// NaN.
    fn nan() -> Self {
        Self::constant(f64::NAN)
    }

    /// Whether it is neither NaN nor infinite.
    fn is_finite(self) -> Self::Mask {
        self.abs().less(Self::infinity())
    }

    /// Whether it is NaN.
    fn is_nan(self) -> Self::Mask {
        !self.equal(self)
    }
}

/// The integer as wide as a [`Real`]; arithmetic wraps.
pub trait Word:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
{
    /// What a comparison yields.
    type Mask;

    /// The width.
    const BITS: u32;

    /// A constant.
    fn constant(value: i64) -> Self;
    /// Shifted left by a constant below the width.
    fn shift_left(self, count: u32) -> Self;
    /// Shifted right by a constant below the width, keeping the sign.
    fn shift_right(self, count: u32) -> Self;
    /// Shifted right by a constant below the width, filling with 0.
    fn shift_right_unsigned(self, count: u32) -> Self;
    /// Shifted left by a count in `0..BITS`.
    fn shift_left_by(self, count: Self) -> Self;
    /// Shifted right by a count in `0..BITS`, filling with 0.
    fn shift_right_unsigned_by(self, count: Self) -> Self;
    /// The high half of the product of two unsigned words.
    fn multiply_high(self, other: Self) -> Self;
    /// Whether `self < other` as unsigned words.
    fn less_unsigned(self, other: Self) -> Self::Mask;
    /// Whether they are equal.
    fn equal(self, other: Self) -> Self::Mask;
    /// `then` where the mask holds, else `otherwise`.
    fn select(mask: Self::Mask, then: Self, otherwise: Self) -> Self;
    /// The entry of a constant table, of which a 32-bit word takes the low half.
    fn look_up(table: &'static [u64], index: Self) -> Self;
}

macro_rules! real {
    ($float:ident, $signed:ident, $unsigned:ident, $wide:ident, $pick:ident) => {
        impl Real for $float {
            type Word = Wrapping<$signed>;
            type Mask = bool;

            const PRECISION: u32 = $float::MANTISSA_DIGITS;
            const BIAS: i64 = $float::MAX_EXP as i64 - 1;

            #[inline(always)]
            fn pick<T>(single: T, double: T) -> T {
                $pick(single, double)
            }

            #[inline(always)]
            fn constant(value: f64) -> $float {
                debug_assert!(value.is_nan() || f64::from(value as $float) == value);
                value as $float
            }

            #[inline(always)]
            fn fma(self, factor: $float, addend: $float) -> $float {
                self.mul_add(factor, addend)
            }

            #[inline(always)]
            fn sqrt(self) -> $float {
                $float::sqrt(self)
            }

            #[inline(always)]
            fn trunc(self) -> $float {
                $float::trunc(self)
            }

            #[inline(always)]
            fn less(self, other: $float) -> bool {
                self < other
            }

            #[inline(always)]
            fn equal(self, other: $float) -> bool {
                self == other
            }

            #[inline(always)]
            fn select(mask: bool, then: $float, otherwise: $float) -> $float {
                if mask { then } else { otherwise }
            }

            #[inline(always)]
            fn branch(
                mask: bool,
                then: impl FnOnce() -> ($float, $float, Wrapping<$signed>),
                otherwise: impl FnOnce() -> ($float, $float, Wrapping<$signed>),
            ) -> ($float, $float, Wrapping<$signed>) {
                if mask { then() } else { otherwise() }
            }

            #[inline(always)]
            fn bits(self) -> Wrapping<$signed> {
                Wrapping(self.to_bits() as $signed)
            }

            #[inline(always)]
            fn from_bits(bits: Wrapping<$signed>) -> $float {
                $float::from_bits(bits.0 as $unsigned)
            }

            #[inline(always)]
            fn from_word(word: Wrapping<$signed>) -> $float {
                word.0 as $float
            }
        }

        impl Word for Wrapping<$signed> {
            type Mask = bool;

            const BITS: u32 = $signed::BITS;

            #[inline(always)]
            fn constant(value: i64) -> Self {
                Wrapping(value as $signed)
            }

            #[inline(always)]
            fn shift_left(self, count: u32) -> Self {
                Wrapping(self.0 << count)
            }

            #[inline(always)]
            fn shift_right(self, count: u32) -> Self {
                Wrapping(self.0 >> count)
            }

            #[inline(always)]
            fn shift_right_unsigned(self, count: u32) -> Self {
                Wrapping((self.0 as $unsigned >> count) as $signed)
            }

            #[inline(always)]
            fn shift_left_by(self, count: Self) -> Self {
                Wrapping(self.0 << count.0)
            }

            #[inline(always)]
            fn shift_right_unsigned_by(self, count: Self) -> Self {
                Wrapping((self.0 as $unsigned >> count.0) as $signed)
            }

            #[inline(always)]
            fn multiply_high(self, other: Self) -> Self {
                let product = $wide::from(self.0 as $unsigned) * $wide::from(other.0 as $unsigned);
                Wrapping((product >> $signed::BITS) as $signed)
            }

            #[inline(always)]
            fn less_unsigned(self, other: Self) -> bool {
                (self.0 as $unsigned) < other.0 as $unsigned
            }

            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self == other
            }

            #[inline(always)]
            fn select(mask: bool, then: Self, otherwise: Self) -> Self {
                if mask { then } else { otherwise }
            }

            #[inline(always)]
            fn look_up(table: &'static [u64], index: Self) -> Self {
                Wrapping(table[index.0 as usize] as $signed)
            }
        }
    };
}

real!(f32, i32, u32, u64, pick_single);
real!(f64, i64, u64, u128, pick_double);

#[inline(always)]
fn pick_single<T>(single: T, _double: T) -> T {
    single
}

#[inline(always)]
fn pick_double<T>(_single: T, double: T) -> T {
    double
}
