//! `erf`: a polynomial below 1 and 1 − e^(−p(x)) above, where p is a polynomial fitted to
//! −log (erfc x). The second form is due to N. Juffa.

use super::exponential::exp_parts;
use super::pair::Pair;
use super::real::Real;

/// The error function.
#[inline(always)]
pub fn erf<R: Real>(x: R) -> R {
    let a = x.abs();
    let one = R::constant(1.0);
    let near_zero = a.fma((a * a).polynomial(R::pick(&ERF_SINGLE, &ERF_DOUBLE)), a);
    // Beyond the bound the result is ±1.
    let t = a.clamp(R::constant(0.0), R::both(4.0, 6.0)) - R::both(2.5, 3.5);
    let exponent = -t.polynomial(R::pick(&TAIL_SINGLE, &TAIL_DOUBLE));
    let (significand, exponent) = exp_parts(Pair { high: exponent, low: R::constant(0.0) });
    let far = one - significand.scale(exponent);
    R::select(a.less(one), near_zero, far).with_sign_of(x)
}

/// erf x / x − 1 in x², for |x| ≤ 1.
const ERF_SINGLE: [f64; 7] = [
    0.12837916612625122,
    -0.3761262893676758,
    0.11283618211746216,
    -0.026855124160647392,
    0.005190725903958082,
    -0.000803065428044647,
    7.919901690911502e-05,
];
const ERF_DOUBLE: [f64; 13] = [
    0.1283791670955126,
    -0.37612638903183876,
    0.11283791670958783,
    -0.026866170645631897,
    0.00522397762924565,
    -0.0008548327199358272,
    0.00012055338161400656,
    -1.4925748180206354e-05,
    1.6463247307130268e-06,
    -1.6372371891698225e-07,
    1.4798357234369911e-08,
    -1.1876555591839105e-09,
    6.762801638832501e-11,
];

/// −log (erfc x) in x − 2.5 for x in [1, 4], and in x − 3.5 for x in [1, 6].
const TAIL_SINGLE: [f64; 7] = [
    7.806818008422852,
    5.352694034576416,
    0.9438820481300354,
    0.010708608664572239,
    -0.0024678504560142756,
    0.00015093809633981436,
    -0.00018654073937796056,
];
const TAIL_DOUBLE: [f64; 19] = [
    14.112437402147226,
    7.266099588370167,
    0.96675305484695,
    0.005225658592681656,
    -0.0008736872101045879,
    0.00014729575280694843,
    -2.4391295954008175e-05,
    3.885725666852693e-06,
    -5.826563750542569e-07,
    8.992464790852911e-08,
    -1.0417543323928622e-09,
    3.3757924917896298e-09,
    -2.0471537230106995e-09,
    -2.9394963387211414e-09,
    -1.7068646439329064e-09,
    -6.123995642567406e-10,
    -1.3557059530794783e-10,
    -1.7764710870300633e-11,
    -1.0305220588235052e-12,
];
