//! `sinh`, `cosh`, `tanh`, `asinh`, `acosh`, `atanh`, from the exponential and the logarithm (as
//! in fdlibm's `e_sinh.c` and its siblings), with a polynomial for `sinh` near 0.

use super::exponential::{exp_parts, expm1};
use super::logarithm::log1p;
use super::pair::{Pair, ln_2};
use super::real::{Real, Word};

/// The hyperbolic sine.
#[inline(always)]
pub fn sinh<R: Real>(x: R) -> R {
    let a = x.abs();
    let z = a * a;
    let near_zero = (a * z).fma(z.polynomial(R::pick(&SINH_SINGLE, &SINH_DOUBLE)), a);
    let half = half_exp(a);
    let far = half - R::constant(0.25) / half;
    R::select(a.less(R::constant(1.0)), near_zero, far).with_sign_of(x)
}

/// The hyperbolic cosine.
#[inline(always)]
pub fn cosh<R: Real>(x: R) -> R {
    let half = half_exp(x.abs());
    half + R::constant(0.25) / half
}

/// The hyperbolic tangent.
#[inline(always)]
pub fn tanh<R: Real>(x: R) -> R {
    // Beyond the bound the result is ±1.
    let a = x.abs().clamp(R::constant(0.0), R::both(10.0, 22.0));
    let t = expm1(a + a);
    let result = (t / (t + R::constant(2.0))).with_sign_of(x);
    R::select(a.less(R::power(-13, -28)), x, result)
}

/// The inverse hyperbolic sine.
#[inline(always)]
pub fn asinh<R: Real>(x: R) -> R {
    let a = x.abs();
    let one = R::constant(1.0);
    let large = R::power(14, 28).less(a);
    let square = a * a;
    let moderate = a + square / (one + a.fma(a, one).sqrt());
    log1p_doubled(large, a, moderate).with_sign_of(x)
}

/// The inverse hyperbolic cosine; NaN below 1.
#[inline(always)]
pub fn acosh<R: Real>(x: R) -> R {
    let large = R::power(14, 28).less(x);
    let t = x - R::constant(1.0);
    let moderate = t + t.fma(t, t + t).sqrt();
    let result = log1p_doubled(large, x, moderate);
    R::select(x.less(R::constant(1.0)), R::nan(), result)
}

/// The inverse hyperbolic tangent; ±infinity at ±1 and NaN beyond.
#[inline(always)]
pub fn atanh<R: Real>(x: R) -> R {
    let a = x.abs();
    let quotient = (a + a) / (R::constant(1.0) - a);
    (R::constant(0.5) * log1p(quotient)).with_sign_of(x)
}

/// e^a / 2, which overflows later than e^a.
#[inline(always)]
fn half_exp<R: Real>(a: R) -> R {
    let (significand, exponent) = exp_parts(Pair { high: a, low: R::constant(0.0) });
    significand.scale(exponent - R::Word::constant(1))
}

/// log a + log 2 where a is large, else log (1 + moderate).
#[inline(always)]
fn log1p_doubled<R: Real>(large: R::Mask, a: R, moderate: R) -> R {
    let result = log1p(R::select(large, a - R::constant(1.0), moderate));
    R::select(large, result + ln_2().high, result)
}

/// (sinh x / x − 1) / x² in x², for |x| ≤ 1.
const SINH_SINGLE: [f64; 4] =
    [0.1666666716337204, 0.008333316072821617, 0.00019841419998556376, 2.7915382361243246e-06];
const SINH_DOUBLE: [f64; 8] = [
    0.16666666666666666,
    0.008333333333333519,
    0.0001984126984113355,
    2.7557319273633615e-06,
    2.5052098436572166e-08,
    1.6060161067945112e-10,
    7.581135625977607e-13,
    4.420998513320708e-15,
];
