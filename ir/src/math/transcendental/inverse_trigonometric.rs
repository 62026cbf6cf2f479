//! `asin`, `acos`, `atan`, `atan2`: the argument reductions of fdlibm (`e_asin.c`, `e_acos.c`,
//! `s_atan.c`), with polynomials in place of its rational functions.

use super::pair::{Pair, atan_half, atan_three_halves, half_pi, pi, quarter_pi};
use super::real::Real;

/// The arc sine, in ±π/2; NaN outside ±1.
#[inline(always)]
pub fn asin<R: Real>(x: R) -> R {
    let parts = ArcSine::new(x.abs());
    // π/2 − 2·asin √((1 − |x|)/2).
    let main = Pair::sum_ordered(half_pi().high, -parts.root - parts.root);
    let near_one = main.high + (main.low + (half_pi::<R>().low - (parts.rest + parts.rest)));
    let result = R::select(parts.near_zero, parts.root + parts.rest, near_one);
    result.with_sign_of(x)
}

/// The arc cosine, in 0 … π; NaN outside ±1.
#[inline(always)]
pub fn acos<R: Real>(x: R) -> R {
    let ArcSine { near_zero, root, rest } = ArcSine::new(x.abs());
    let negative = x.less(R::constant(0.0));
    // π/2 − asin x near 0, and π − 2·asin √((1 − |x|)/2) near −1.
    let base = Pair {
        high: R::select(near_zero, half_pi().high, pi().high),
        low: R::select(near_zero, half_pi().low, pi().low),
    };
    let double = R::select(near_zero, R::constant(1.0), R::constant(2.0));
    let reversed = near_zero & !negative;
    let sign = R::select(reversed, -double, R::select(near_zero, double, -double));
    let main = Pair::sum_ordered(base.high, sign * root);
    let general = main.high + (main.low + rest.fma(sign, base.low));
    // 2·asin √((1 − x)/2) near 1.
    let near_one = R::constant(2.0) * (root + rest);
    R::select(near_zero | negative, general, near_one)
}

/// The arc tangent, in ±π/2.
#[inline(always)]
pub fn atan<R: Real>(x: R) -> R {
    let a = x.abs();
    let one = R::constant(1.0);
    // atan a = atan c + atan ((a − c) / (1 + c·a)) with c one of 0, 1/2, 1, 3/2, infinity.
    let (beyond_0, beyond_half) = (!a.less(R::constant(0.4375)), !a.less(R::constant(0.6875)));
    let (beyond_1, beyond_3_halves) = (!a.less(R::constant(1.1875)), !a.less(R::constant(2.4375)));
    let choose = |zero: R, half: R, whole: R, three_halves: R, infinite: R| {
        let value = R::select(beyond_0, half, zero);
        let value = R::select(beyond_half, whole, value);
        let value = R::select(beyond_1, three_halves, value);
        R::select(beyond_3_halves, infinite, value)
    };
    let numerator = choose(a, a.fma(R::constant(2.0), -one), a - one, a - R::constant(1.5), -one);
    let denominator = choose(one, R::constant(2.0) + a, a + one, a.fma(R::constant(1.5), one), a);
    let zero = R::constant(0.0);
    let high =
        choose(zero, atan_half().high, quarter_pi().high, atan_three_halves().high, half_pi().high);
    let low =
        choose(zero, atan_half().low, quarter_pi().low, atan_three_halves().low, half_pi().low);
    let t = numerator / denominator;
    let z = t * t;
    let rest = (t * z).fma(z.polynomial(R::pick(&ATAN_SINGLE, &ATAN_DOUBLE)), low);
    (high + (t + rest)).with_sign_of(x)
}

/// The angle of the point (x, y), in ±π; C's `atan2 (y, x)`.
#[inline(always)]
pub fn atan2<R: Real>(y: R, x: R) -> R {
    let (ay, ax) = (y.abs(), x.abs());
    let (zero, one) = (R::constant(0.0), R::constant(1.0));
    let steep = ax.less(ay);
    let least = R::select(steep, ax, ay);
    let most = R::select(steep, ay, ax);
    let ratio = R::select(least.equal(zero), zero, least / most);
    // Two infinities are at 45°.
    let angle = atan(R::select(least.equal(R::infinity()), one, ratio));

    // The angle from the nearest axis, and then that axis: 0, π/2 or π. Zeros have signs too.
    let left = one.with_sign_of(x).less(zero);
    let base = Pair {
        high: R::select(steep, half_pi().high, R::select(left, pi().high, zero)),
        low: R::select(steep, half_pi().low, R::select(left, pi().low, zero)),
    };
    let direction = R::select(steep, R::select(left, one, -one), R::select(left, -one, one));
    let result = base.high + direction.fma(angle, base.low);
    R::select(x.is_nan() | y.is_nan(), R::nan(), result.with_sign_of(y))
}

/// What the arc sine and the arc cosine of a magnitude share: root + rest = asin root, where root
/// is `a` itself near 0 and √((1 − a)/2) otherwise.
struct ArcSine<R: Real> {
    near_zero: R::Mask,
    root: R,
    rest: R,
}

impl<R: Real> ArcSine<R> {
    #[inline(always)]
    fn new(a: R) -> ArcSine<R> {
        let (zero, half) = (R::constant(0.0), R::constant(0.5));
        let near_zero = a.less(half);
        let z = R::select(near_zero, a * a, half - half * a);
        let square_root = z.sqrt();
        let root = R::select(near_zero, a, square_root);
        // What rounding the square root lost.
        let lost = (-square_root).fma(square_root, z) / (square_root + square_root);
        let lost = R::select(near_zero | z.equal(zero), zero, lost);
        let series = z.polynomial(R::pick(&ASIN_SINGLE, &ASIN_DOUBLE));
        ArcSine { near_zero, root, rest: (root * z).fma(series, lost) }
    }
}

/// (asin t / t − 1) / t² in t², for |t| ≤ 1/2.
const ASIN_SINGLE: [f64; 6] = [
    0.16666659712791443,
    0.07500515133142471,
    0.04451543092727661,
    0.03181745857000351,
    0.01440940611064434,
    0.03754977136850357,
];
const ASIN_DOUBLE: [f64; 13] = [
    0.1666666666666676,
    0.07499999999971095,
    0.044642857174224136,
    0.03038194272950777,
    0.022372214318213676,
    0.017351624732641444,
    0.013980662389073067,
    0.011400238094136402,
    0.01077270078341017,
    0.0037352343200085705,
    0.021636856974466507,
    -0.020898809490814328,
    0.03256583927490458,
];

/// (atan t / t − 1) / t² in t², for |t| ≤ 7/16.
const ATAN_SINGLE: [f64; 5] = [
    -0.33333301544189453,
    0.19997656345367432,
    -0.14228415489196777,
    0.10484009981155396,
    -0.05805163085460663,
];
const ATAN_DOUBLE: [f64; 11] = [
    -0.333333333333329,
    0.19999999999869028,
    -0.14285714271894215,
    0.11111110380143073,
    -0.09090886519531546,
    0.07691866910216413,
    -0.06660982605435699,
    0.05833002847602386,
    -0.04974668043622634,
    0.036482872595443396,
    -0.016239439304272133,
];
