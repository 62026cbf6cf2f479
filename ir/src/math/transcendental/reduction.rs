//! Reduction of an angle modulo π/2, for `sin`, `cos` and `tan`.
//!
//! Small angles: Cody and Waite's subtraction of k·π/2, with π/2 in three parts and fma. Large
//! angles: Payne and Hanek, "Radian reduction for trigonometric functions", SIGNUM 18 (1983), in
//! integer arithmetic.

use super::pair::{Pair, half_pi};
use super::real::{Real, Word};

/// An angle as quarter turns and a remainder.
pub(super) struct Reduced<R: Real> {
    /// Within about ±π/4.
    pub(super) remainder: Pair<R>,
    /// The number of quarter turns, modulo 4 in its low two bits.
    pub(super) quarters: R::Word,
}

/// `x = quarters · π/2 + remainder`, modulo 2π. For an infinity or NaN the remainder is NaN.
#[inline(always)]
pub(super) fn reduce<R: Real>(x: R) -> Reduced<R> {
    // The quarter turns of a small angle are below 2^16 or 2^24: what the three parts of π/2 omit,
    // times that, is far below the least remainder.
    let large = R::power(16, 24).less(x.abs()) & x.is_finite();
    let (high, low, quarters) = R::branch(large, || reduce_large(x), || reduce_small(x));
    Reduced { remainder: Pair { high, low }, quarters }
}

#[inline(always)]
fn reduce_small<R: Real>(x: R) -> (R, R, R::Word) {
    let magic: R = R::both(12_582_912.0, 6_755_399_441_055_744.0);
    let shifted = x.fma(R::both(0.6366197466850281, std::f64::consts::FRAC_2_PI), magic);
    let quarters = shifted - magic;
    // This first difference is exact: both operands are multiples of the last place of π/2.
    let partial = (-quarters).fma(half_pi().high, x);
    let middle = Pair::product(quarters, half_pi().low);
    let sum = Pair::sum(partial, -middle.high);
    let third: R = R::both(-1.7151245100058819e-15, -1.4973849048591698e-33);
    let low = (-quarters).fma(third, sum.low - middle.low);
    (sum.high, low, shifted.bits() - magic.bits())
}

/// For finite x of at least 2^16 or 2^24.
fn reduce_large<R: Real>(x: R) -> (R, R, R::Word) {
    let bits = R::Word::BITS;
    let constant = R::Word::constant;
    // |x| = mantissa · 2^e.
    let magnitude = x.abs().bits();
    let hidden = constant(1).shift_left(R::PRECISION - 1);
    let mantissa = (magnitude & (hidden - constant(1))) | hidden;
    let e =
        magnitude.shift_right(R::PRECISION - 1) - constant(R::BIAS + i64::from(R::PRECISION) - 1);

    // Three words of 2/π, from the bit of weight 2^(1-e) down: higher bits contribute multiples of
    // four quarter turns, lower ones less than 2^-70 or 2^-137 of one.
    let position = e - constant(2) + constant(i64::from(bits));
    let log2_bits = R::pick(5, 6);
    let index = position.shift_right(log2_bits);
    let shift = position & constant(i64::from(bits) - 1);
    let complement = constant(i64::from(bits) - 1) - shift;
    let word = |offset: i64| {
        let entry =
            |i| R::Word::look_up(R::pick(&TWO_OVER_PI_32, &TWO_OVER_PI_64), index + constant(i));
        let low = entry(offset + 1).shift_right_unsigned(1).shift_right_unsigned_by(complement);
        entry(offset).shift_left_by(shift) | low
    };

    // The two high words of the product modulo 2^(3·bits); the top two bits are quarter turns.
    let middle = mantissa * word(1);
    let fraction_low = middle + mantissa.multiply_high(word(2));
    let carry = R::Word::select(fraction_low.less_unsigned(middle), constant(1), constant(0));
    let fraction_high = mantissa * word(0) + mantissa.multiply_high(word(1)) + carry;
    let half = constant(1).shift_left(bits - 3);
    let quarters = (fraction_high + half).shift_right_unsigned(bits - 2);
    let signed = fraction_high - quarters.shift_left(bits - 2);

    // The signed fraction in three pieces, each exact as a float.
    let quarter = bits / 4;
    let low_mask = |count: u32| constant(1).shift_left(count) - constant(1);
    let first = R::from_word(signed.shift_right(quarter));
    let second = (signed & low_mask(quarter)).shift_left(bits / 2)
        | fraction_low.shift_right_unsigned(bits / 2);
    let third = R::from_word(fraction_low & low_mask(bits / 2));
    let main = Pair::sum_ordered(
        first * R::power(8 + 2 - 32, 16 + 2 - 64),
        R::from_word(second) * R::power(2 - 32 - 16, 2 - 64 - 32),
    );
    let fraction = Pair::sum_ordered(main.high, main.low + third * R::power(2 - 64, 2 - 128));
    let remainder = fraction.times_pair(half_pi());

    let negative = x.less(R::constant(0.0));
    (
        R::select(negative, -remainder.high, remainder.high),
        R::select(negative, -remainder.low, remainder.low),
        R::Word::select(negative, constant(0) - quarters, quarters),
    )
}

/// A word of zeros, then the bits of 2/π after the point.
const TWO_OVER_PI_32: [u64; 8] =
    [0, 0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab];
const TWO_OVER_PI_64: [u64; 20] = [
    0,
    0xa2f9836e4e441529,
    0xfc2757d1f534ddc0,
    0xdb6295993c439041,
    0xfe5163abdebbc561,
    0xb7246e3a424dd2e0,
    0x06492eea09d1921c,
    0xfe1deb1cb129a73e,
    0xe88235f52ebb4484,
    0xe99c7026b45f7e41,
    0x3991d639835339f4,
    0x9c845f8bbdf9283b,
    0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f,
    0x6d367ecf27cb09b7,
    0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b,
    0x3d0739f78a5292ea,
    0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
];
