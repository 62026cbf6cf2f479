//! Unevaluated sums of two floats, and the constants that are kept as such.
//!
//! The sums and products are those of Dekker ("A floating-point technique for extending the
//! available precision", 1971) and Knuth, with the product's error by fma; see Joldes, Muller and
//! Popescu, "Tight and rigorous error bounds for basic building blocks of double-word
//! arithmetic", 2017.

use super::real::Real;

/// The exact sum `high + low`, where `low` is at most half a unit in the last place of `high`,
/// or a little more.
#[derive(Clone, Copy)]
pub(super) struct Pair<R> {
    pub(super) high: R,
    pub(super) low: R,
}

impl<R: Real> Pair<R> {
    /// `a + b`, exactly.
    #[inline(always)]
    pub(super) fn sum(a: R, b: R) -> Pair<R> {
        let high = a + b;
        let part = high - a;
        Pair { high, low: (a - (high - part)) + (b - part) }
    }

    /// `a + b`, exactly, where `a` is 0 or the greater in magnitude.
    #[inline(always)]
    pub(super) fn sum_ordered(a: R, b: R) -> Pair<R> {
        let high = a + b;
        Pair { high, low: b - (high - a) }
    }

    /// `a · b`, exactly, unless the error underflows.
    #[inline(always)]
    pub(super) fn product(a: R, b: R) -> Pair<R> {
        let high = a * b;
        Pair { high, low: a.fma(b, -high) }
    }

    /// The product by one float, to about twice the precision.
    #[inline(always)]
    pub(super) fn times(self, factor: R) -> Pair<R> {
        let product = Pair::product(self.high, factor);
        Pair { high: product.high, low: self.low.fma(factor, product.low) }
    }

    /// The product of two pairs, to about twice the precision.
    #[inline(always)]
    pub(super) fn times_pair(self, other: Pair<R>) -> Pair<R> {
        let product = self.times(other.high);
        Pair { high: product.high, low: self.high.fma(other.low, product.low) }
    }
}

/// A constant as the sum of two floats of either format.
struct Parts {
    single: [f64; 2],
    double: [f64; 2],
}

impl Parts {
    #[inline(always)]
    fn pair<R: Real>(&self) -> Pair<R> {
        Pair {
            high: R::both(self.single[0], self.double[0]),
            low: R::both(self.single[1], self.double[1]),
        }
    }
}

macro_rules! constants {
    ($($(#[$doc:meta])* $name:ident: $single:expr, $double:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        #[allow(clippy::approx_constant, reason = "both parts of the constant stand together")]
        pub(super) fn $name<R: Real>() -> Pair<R> {
            const PARTS: Parts = Parts { single: $single, double: $double };
            PARTS.pair()
        }
    )*};
}

constants! {
    /// log 2.
    ln_2: [0.6931471824645996, -1.9046542121259336e-9],
        [0.6931471805599453, 2.3190468138462996e-17];
    /// 1 / log 2.
    log2_e: [1.4426950216293335, 1.925963033500011e-8],
        [1.4426950408889634, 2.0355273740931033e-17];
    /// 1 / log 10.
    log10_e: [0.4342944920063019, -1.0103049952192578e-8],
        [0.4342944819032518, 1.098319650216765e-17];
    /// log 2 / log 10.
    log10_2: [0.3010300099849701, -1.432098883924482e-8],
        [0.3010299956639812, -2.8037281277851704e-18];
    /// 1 / 3.
    third: [0.3333333432674408, -9.934107758624577e-9],
        [0.3333333333333333, 1.850371707708594e-17];
    /// π.
    pi: [3.1415927410125732, -8.742277657347586e-8],
        [3.141592653589793, 1.2246467991473532e-16];
    /// π / 2.
    half_pi: [1.5707963705062866, -4.371138828673793e-8],
        [1.5707963267948966, 6.123233995736766e-17];
    /// π / 4, the arc tangent of 1.
    quarter_pi: [0.7853981852531433, -2.1855694143368964e-8],
        [0.7853981633974483, 3.061616997868383e-17];
    /// The arc tangent of 1/2.
    atan_half: [0.46364760398864746, 5.01215868808913e-9],
        [0.4636476090008061, 2.2698777452961687e-17];
    /// The arc tangent of 3/2.
    atan_three_halves: [0.9827937483787537, -2.5131424052915463e-8],
        [0.982793723247329, 1.3903311031230998e-17];
}
