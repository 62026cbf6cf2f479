//! `sin`, `cos`, `tan`: minimax polynomials on ±π/4 after [`reduce`], with the low part of the
//! remainder as a first-order correction (fdlibm's `k_sin.c` and `k_cos.c`).

use super::pair::Pair;
use super::real::{Real, Word};
use super::reduction::reduce;

/// The sine.
#[inline(always)]
pub fn sin<R: Real>(x: R) -> R {
    let reduced = reduce(x);
    let (sine, cosine) = sin_cos(reduced.remainder);
    let value = R::select(is_odd::<R>(reduced.quarters), cosine, sine);
    or_itself(x, value.negate_if_bit_1(reduced.quarters))
}

/// The cosine.
#[inline(always)]
pub fn cos<R: Real>(x: R) -> R {
    let reduced = reduce(x);
    let (sine, cosine) = sin_cos(reduced.remainder);
    let value = R::select(is_odd::<R>(reduced.quarters), sine, cosine);
    value.negate_if_bit_1(reduced.quarters + R::Word::constant(1))
}

/// The tangent.
#[inline(always)]
pub fn tan<R: Real>(x: R) -> R {
    let reduced = reduce(x);
    let (sine, cosine) = sin_cos(reduced.remainder);
    let odd = is_odd::<R>(reduced.quarters);
    or_itself(x, R::select(odd, -cosine, sine) / R::select(odd, sine, cosine))
}

/// The sine and the cosine of an angle within about ±π/4.
#[inline(always)]
fn sin_cos<R: Real>(angle: Pair<R>) -> (R, R) {
    let Pair { high: r, low } = angle;
    let z = r * r;
    let half = R::constant(0.5) * z;
    let one = R::constant(1.0);

    let series = z.polynomial(R::pick(&SIN_SINGLE, &SIN_DOUBLE));
    let sine = r + (r * z).fma(series, low * (one - half));

    let series = z.polynomial(R::pick(&COS_SINGLE, &COS_DOUBLE));
    let main = one - half;
    let cosine = main + (((one - main) - half) + (z * z).fma(series, -(r * low)));
    (sine, cosine)
}

#[inline(always)]
fn is_odd<R: Real>(quarters: R::Word) -> R::Mask {
    (quarters & R::Word::constant(1)).equal(R::Word::constant(1))
}

/// x where it is so small that its sine and its tangent are x rounded (which keeps the sign of 0),
/// else `value`.
#[inline(always)]
fn or_itself<R: Real>(x: R, value: R) -> R {
    R::select(x.abs().less(R::power(-13, -27)), x, value)
}

/// (sin r / r − 1) / r² in r², for |r| ≤ 0.8.
const SIN_SINGLE: [f64; 4] =
    [-0.1666666716337204, 0.00833337102085352, -0.00019849395903293043, 2.7941327971348073e-06];
const SIN_DOUBLE: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333106,
    -0.00019841269841066646,
    2.755731913551567e-06,
    -2.5052087844669612e-08,
    1.6056511930458274e-10,
    -7.498870533221564e-13,
];

/// (cos r − 1 + r²/2) / r⁴ in r², for |r| ≤ 0.8.
const COS_SINGLE: [f64; 3] = [0.04166664555668831, -0.0013887290842831135, 2.4428645701846108e-05];
const COS_DOUBLE: [f64; 6] = [
    0.04166666666666658,
    -0.001388888888887089,
    2.4801587287431196e-05,
    -2.7557313751512856e-07,
    2.087564059332233e-09,
    -1.13553210527174e-11,
];
