//! `pow`, `cbrt`, `rsqrt`, `hypot`.

use super::exponential::exp_parts;
use super::logarithm::decompose;
use super::pair::{Pair, ln_2, third};
use super::real::{Real, Word};

/// `x` to the power `y`, with C's special values: anything to the power 0, and 1 to any power,
/// is 1, even for NaN; a negative base asks for an integer exponent, else the result is NaN. The power 2
/// is x·x, rounded once.
#[inline(always)]
pub fn pow<R: Real>(x: R, y: R) -> R {
    let (zero, one) = (R::constant(0.0), R::constant(1.0));
    let a = x.abs();
    // e^(y · log a), with the logarithm and the product to about 1.2 times the precision. A
    // greater exponent would overflow the product, and yields 0, 1 or infinity all the same.
    let bounded = y.clamp(-R::power(32, 64), R::power(32, 64));
    let product = log_pair(a).times(bounded);
    let in_range = product.high.abs().less(R::constant(2048.0));
    let low = R::select(in_range, product.low, zero);
    let (significand, exponent) = exp_parts(Pair { high: product.high, low });
    let power = significand.scale(exponent);

    let inverse = y.less(zero);
    let power = R::select(a.equal(zero), R::select(inverse, R::infinity(), zero), power);
    let power = R::select(a.equal(R::infinity()), R::select(inverse, zero, R::infinity()), power);

    let half = R::constant(0.5) * y;
    let integer = y.equal(y.trunc());
    let odd = integer & !half.equal(half.trunc());
    let negative = one.with_sign_of(x).less(zero);
    let power = R::select(negative & odd, -power, power);
    let undefined = x.less(zero) & x.is_finite() & !integer;
    let power = R::select(undefined | x.is_nan() | y.is_nan(), R::nan(), power);
    // What compilers make of `x ** 2.0`.
    let power = R::select(y.equal(R::constant(2.0)), x * x, power);
    R::select(x.equal(one) | y.equal(zero), one, power)
}

/// The cube root, also of negative numbers.
///
/// Method: x = 8^q·a with a in [1, 8), a polynomial seed, and two steps of Newton's method, the
/// last with the residual a − y³ by fma.
#[inline(always)]
pub fn cbrt<R: Real>(x: R) -> R {
    let magnitude = x.abs();
    let subnormal = magnitude.less(R::power(-126, -1022));
    let scaled = R::select(subnormal, magnitude * R::power(24, 54), magnitude);
    let constant = R::Word::constant;
    let shift = R::Word::select(subnormal, constant(R::pick(8, 18)), constant(0));

    // The exponent is 3q + j: a division by 3 of a number in 0..2400, by multiplication.
    let biased = scaled.bits().shift_right(R::PRECISION - 1);
    let exponent = biased - constant(R::BIAS) + constant(1200);
    let quotient = (exponent * constant(21_846)).shift_right(16);
    let j = exponent - quotient * constant(3);
    let mantissa_mask = constant(1).shift_left(R::PRECISION - 1) - constant(1);
    let one_bits = R::constant(1.0).bits();
    let m = R::from_bits((scaled.bits() & mantissa_mask) | one_bits);
    let a = m * R::power_of_two(j);

    let root_2 = R::both(1.2599210739135742, 1.2599210498948732);
    let root_4 = R::both(1.587401032447815, 1.5874010519681996);
    let root_j = R::select(j.equal(constant(1)), root_2, R::constant(1.0));
    let root_j = R::select(j.equal(constant(2)), root_4, root_j);
    let y = m.polynomial(R::pick(&CBRT_SINGLE, &CBRT_DOUBLE)) * root_j;
    let three = R::constant(3.0);
    let y = y + (-(y * y)).fma(y, a) / (three * y * y);
    let square = Pair::product(y, y);
    let residual = (-y).fma(square.low, (-y).fma(square.high, a));
    let y = y + residual / (three * square.high);

    let result = y * R::power_of_two(quotient - constant(400) - shift);
    let ordinary = R::constant(0.0).less(magnitude) & x.is_finite();
    R::select(ordinary, result.with_sign_of(x), x)
}

/// 1 / √x.
#[inline(always)]
pub fn rsqrt<R: Real>(x: R) -> R {
    R::constant(1.0) / x.sqrt()
}

/// √(x² + y²) without undue overflow; an infinite operand makes it infinite, even beside NaN.
#[inline(always)]
pub fn hypot<R: Real>(x: R, y: R) -> R {
    let (ax, ay) = (x.abs(), y.abs());
    let steep = ax.less(ay);
    let (most, least) = (R::select(steep, ay, ax), R::select(steep, ax, ay));
    let great = R::power(60, 500).less(most);
    let small = most.less(R::power(-50, -400));
    let one = R::constant(1.0);
    let choose = |down: R, up: R| R::select(great, down, R::select(small, up, one));
    let scale = choose(R::power(-70, -600), R::power(100, 700));
    let back = choose(R::power(70, 600), R::power(-100, -700));
    let (most, least) = (most * scale, least * scale);
    let result = most.fma(most, least * least).sqrt() * back;
    let infinite = ax.equal(R::infinity()) | ay.equal(R::infinity());
    R::select(infinite, R::infinity(), result)
}

/// The natural logarithm of a positive finite number as a pair, within about 2^-63 or 2^-34
/// relative: 2·atanh s with s = f / (2 + f), where s, its square and the first term of the series
/// are pairs.
#[inline(always)]
fn log_pair<R: Real>(x: R) -> Pair<R> {
    let one = R::constant(1.0);
    let (exponent, m) = decompose(x);
    let f = m - one;
    let divisor = Pair::sum(m, one);
    let s_high = f / divisor.high;
    let remainder = (-s_high).fma(divisor.low, (-s_high).fma(divisor.high, f));
    let s = Pair { high: s_high, low: remainder / divisor.high };

    let z = s.times_pair(s);
    let first = z.times_pair(third());
    let series = z.high.polynomial(R::pick(&ATANH_SINGLE, &ATANH_DOUBLE));
    let sum = Pair::sum_ordered(first.high, z.high * z.high * series);
    let tail = s.times_pair(Pair { high: sum.high, low: sum.low + first.low });
    let half = Pair::sum_ordered(s.high, tail.high);
    let half_low = half.low + (s.low + tail.low);

    let power = ln_2().times(exponent);
    let total = Pair::sum_ordered(power.high, half.high + half.high);
    Pair::sum_ordered(total.high, total.low + (power.low + (half_low + half_low)))
}

/// (atanh s / s − 1 − s²/3) / s⁴ in s², for |s| ≤ 0.1716.
const ATANH_SINGLE: [f64; 4] =
    [0.19999998807907104, 0.1428597867488861, 0.11090531200170517, 0.09763888269662857];
const ATANH_DOUBLE: [f64; 9] = [
    0.2,
    0.14285714285713544,
    0.11111111111310351,
    0.09090909062182101,
    0.07692310171437512,
    0.06666532905579366,
    0.058868797183158114,
    0.051706715851271394,
    0.057837336809450426,
];

/// ∛m for m in [1, 2), to 2^-16 or 2^-22.
const CBRT_SINGLE: [f64; 5] = [
    0.5084521174430847,
    0.7139800786972046,
    -0.29626521468162537,
    0.0841192677617073,
    -0.01027458906173706,
];
const CBRT_DOUBLE: [f64; 7] = [
    0.4481051671562728,
    0.9460042942663879,
    -0.6590164394264347,
    0.3787646630360113,
    -0.14109082112749533,
    0.029991436283105626,
    -0.002758081860461768,
];
