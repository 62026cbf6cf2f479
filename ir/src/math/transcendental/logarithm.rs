//! `log`, `log2`, `log10`, `log1p`.
//!
//! Method: x = 2^k·m with m in [√½, √2), f = m − 1, s = f / (2 + f); then
//! log m = f − f²/2 + s·(f²/2 + R(s²)), where R is what 2·atanh s has beyond 2s (the scheme of
//! fdlibm's `e_log.c` and `s_log1p.c`, Sun Microsystems, 1993).

use super::pair::{Pair, ln_2, log2_e, log10_2, log10_e};
use super::real::{Real, Word};

/// The natural logarithm.
#[inline(always)]
pub fn log<R: Real>(x: R) -> R {
    let (exponent, m) = decompose(x);
    let result = Logarithm::new(m - R::constant(1.0)).plus(exponent, R::constant(0.0));
    at_edges(x, result)
}

/// The logarithm to base 2; exact for powers of two.
#[inline(always)]
pub fn log2<R: Real>(x: R) -> R {
    let (exponent, m) = decompose(x);
    let part = Logarithm::new(m - R::constant(1.0)).times(log2_e());
    let sum = Pair::sum_ordered(exponent, part.high);
    at_edges(x, sum.high + (sum.low + part.low))
}

/// The logarithm to base 10.
#[inline(always)]
pub fn log10<R: Real>(x: R) -> R {
    let (exponent, m) = decompose(x);
    let part = Logarithm::new(m - R::constant(1.0)).times(log10_e());
    let power = log10_2().times(exponent);
    let sum = Pair::sum_ordered(power.high, part.high);
    at_edges(x, sum.high + (sum.low + (power.low + part.low)))
}

/// log (1 + x), accurate near 0.
#[inline(always)]
pub fn log1p<R: Real>(x: R) -> R {
    let one = R::constant(1.0);
    let u = Pair::sum(one, x);
    let (exponent, m) = decompose(u.high);
    // 1 + x is 2^k·m plus what its rounding lost; that counts as a quotient by u. Where k = 0,
    // x itself is f, and nothing was lost.
    let direct = exponent.equal(R::constant(0.0));
    let f = R::select(direct, x, m - one);
    let lost = R::select(direct, R::constant(0.0), u.low / u.high);
    let result = at_edges(u.high, Logarithm::new(f).plus(exponent, lost));
    // log (1 + x) is x rounded, and keeps the sign of 0.
    R::select(x.abs().less(R::power(-25, -54)), x, result)
}

/// 2^exponent · m = x with m in [√½, √2), for positive finite x, subnormal ones too.
#[inline(always)]
pub(super) fn decompose<R: Real>(x: R) -> (R, R) {
    let subnormal = x.less(R::power(-126, -1022));
    let x = R::select(subnormal, x * R::power(24, 54), x);
    let shift = R::select(subnormal, R::both(24.0, 54.0), R::constant(0.0));
    let root = R::both(0.7071067690849304, 0.7071067811865475).bits();
    let one = R::constant(1.0).bits();
    // The bits of x, so moved that the exponent field steps at √½ and not at 1.
    let bits = x.bits() + (one - root);
    let exponent = bits.shift_right(R::PRECISION - 1) - R::Word::constant(R::BIAS);
    let mantissa =
        bits & (R::Word::constant(1).shift_left(R::PRECISION - 1) - R::Word::constant(1));
    (R::from_word(exponent) - shift, R::from_bits(mantissa + root))
}

/// log x where x is not a positive finite number, else `result`.
#[inline(always)]
fn at_edges<R: Real>(x: R, result: R) -> R {
    let zero = R::constant(0.0);
    let result = R::select(x.less(R::infinity()), result, x);
    let result = R::select(x.less(zero), R::nan(), result);
    R::select(x.equal(zero), -R::infinity(), result)
}

/// log (1 + f), in parts.
struct Logarithm<R> {
    f: R,
    /// f²/2.
    half_square: R,
    /// log (1 + f) − f + f²/2.
    rest: R,
}

impl<R: Real> Logarithm<R> {
    #[inline(always)]
    fn new(f: R) -> Logarithm<R> {
        let s = f / (R::constant(2.0) + f);
        let z = s * s;
        let half_square = R::constant(0.5) * f * f;
        let series = z.polynomial(R::pick(&LOG_SINGLE, &LOG_DOUBLE));
        Logarithm { f, half_square, rest: s * z.fma(series, half_square) }
    }

    /// log (1 + f) + exponent · log 2 + extra, where `extra` is small.
    #[inline(always)]
    fn plus(self, exponent: R, extra: R) -> R {
        let rest = self.rest + exponent.fma(ln_2().low, extra);
        exponent.fma(ln_2().high, self.f - (self.half_square - rest))
    }

    /// log (1 + f) · factor as a pair.
    #[inline(always)]
    fn times(self, factor: Pair<R>) -> Pair<R> {
        let main = Pair::sum_ordered(self.f, -self.half_square);
        Pair { high: main.high, low: main.low + self.rest }.times_pair(factor)
    }
}

/// (2·atanh s − 2s) / s³ in s², for |s| ≤ 0.1716.
const LOG_SINGLE: [f64; 4] =
    [0.6666666269302368, 0.40000849962234497, 0.28510144352912903, 0.24029092490673065];
const LOG_DOUBLE: [f64; 7] = [
    0.6666666666666736,
    0.39999999999405034,
    0.2857142874423165,
    0.22222198403083,
    0.18183572504150583,
    0.1531385313789698,
    0.14797840067142343,
];
