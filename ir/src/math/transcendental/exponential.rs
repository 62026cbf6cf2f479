//! `exp`, `exp2`, `expm1`.
//!
//! Method: x = k·log 2 + r with |r| ≤ log 2 / 2 (Cody and Waite, "Software manual for the
//! elementary functions", 1980), a minimax polynomial in r, and 2^k by the exponent bits. The
//! nearest k comes from adding a number so great that its last place is 1.

use super::pair::{Pair, ln_2, log2_e};
use super::real::{Real, Word};

/// e^x.
#[inline(always)]
pub fn exp<R: Real>(x: R) -> R {
    let (significand, exponent) = exp_parts(Pair { high: x, low: R::constant(0.0) });
    significand.scale(exponent)
}

/// 2^x; exact where x is an integer.
#[inline(always)]
pub fn exp2<R: Real>(x: R) -> R {
    // Beyond these bounds the result is 0 or infinite.
    let x = x.clamp(R::both(-160.0, -1100.0), R::both(136.0, 1032.0));
    let (nearest, exponent) = nearest_integer(x, R::constant(1.0));
    let r = x - nearest;
    r.fma(r.polynomial(R::pick(&EXP2_SINGLE, &EXP2_DOUBLE)), R::constant(1.0)).scale(exponent)
}

/// e^x − 1, accurate near 0.
#[inline(always)]
pub fn expm1<R: Real>(x: R) -> R {
    // Below, the result is −1; above, infinite. 2^k must be normal.
    let clamped = x.clamp(R::constant(-50.0), R::both(88.8125, 709.875));
    let (nearest, exponent) = nearest_integer(clamped, log2_e().high);
    // e^x − 1 = 2^k (e^r − 1) + (2^k − 1) may cancel for k = −1, so that r keeps its low part.
    let partial = (-nearest).fma(ln_2().high, clamped);
    let r = (-nearest).fma(ln_2().low, partial);
    let r_low = (-nearest).fma(ln_2().low, partial - r);
    let rest = (r * r).fma(exp_polynomial(r), r.fma(r_low, r_low));

    // Half the result, since 2^k may be beyond the range where the result is not.
    let half_power = R::power_of_two(exponent - R::Word::constant(1));
    let half = Pair::sum(half_power - R::constant(0.5), half_power * r);
    let scaled = half.high + rest.fma(half_power, half.low);
    let result = R::select(exponent.equal(R::Word::constant(0)), r + rest, scaled + scaled);
    // e^x − 1 is x rounded, and keeps the sign of 0.
    let tiny = x.abs().less(R::power(-25, -54));
    R::select(tiny, x, result)
}

/// e^x as a significand near 1 and an exponent for [`Real::scale`], each within 2^-54 or 2^-25
/// relative before the significand's own rounding.
#[inline(always)]
pub(super) fn exp_parts<R: Real>(x: Pair<R>) -> (R, R::Word) {
    // Beyond these bounds the result is 0 or infinite, and so is half of it.
    let high = x.high.clamp(R::both(-105.0, -750.0), R::both(91.0, 712.0));
    let (nearest, exponent) = nearest_integer(high, log2_e().high);
    let r = (-nearest).fma(ln_2().high, high);
    let r = (-nearest).fma(ln_2().low, r) + x.low;
    (R::constant(1.0) + (r * r).fma(exp_polynomial(r), r), exponent)
}

/// (e^r − 1 − r) / r² for |r| ≤ 0.35.
#[inline(always)]
fn exp_polynomial<R: Real>(r: R) -> R {
    r.polynomial(R::pick(&EXP_SINGLE, &EXP_DOUBLE))
}

/// The integer nearest to `x · factor`, which is below 2^22, as a float and as a word.
#[inline(always)]
pub(super) fn nearest_integer<R: Real>(x: R, factor: R) -> (R, R::Word) {
    // 1.5 · 2^23 or 1.5 · 2^52: the integer appears in the low bits, for both signs.
    let magic: R = R::both(12_582_912.0, 6_755_399_441_055_744.0);
    let shifted = x.fma(factor, magic);
    (shifted - magic, shifted.bits() - magic.bits())
}

const EXP_SINGLE: [f64; 6] = [
    0.5,
    0.1666666716337204,
    0.04166647046804428,
    0.008333193138241768,
    0.0013934570597484708,
    0.00019957376935053617,
];
const EXP_DOUBLE: [f64; 11] = [
    0.5,
    0.16666666666666677,
    0.04166666666666668,
    0.00833333333332117,
    0.0013888888888877213,
    0.00019841269887766315,
    2.4801587341554324e-05,
    2.7557242173210113e-06,
    2.7557258019298186e-07,
    2.510986014858068e-08,
    2.091997852275876e-09,
];

/// (2^r − 1) / r for |r| ≤ 1/2.
const EXP2_SINGLE: [f64; 7] = [
    0.6931471824645996,
    0.24022650718688965,
    0.05550404638051987,
    0.009618083015084267,
    0.0013338548596948385,
    0.00015453876403626055,
    1.4137809557723813e-05,
];
const EXP2_DOUBLE: [f64; 12] = [
    std::f64::consts::LN_2,
    0.24022650695910072,
    0.05550410866482347,
    0.009618129107627948,
    0.0013333558145993411,
    0.00015403530394342198,
    1.5252734219274008e-05,
    1.3215486032104153e-06,
    1.0177905984791124e-07,
    7.055179525324102e-09,
    4.477798133335308e-10,
    2.5347448666527557e-11,
];
