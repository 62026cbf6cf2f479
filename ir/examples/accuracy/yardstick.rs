//! The true values: 256-bit arithmetic, from which the functions in double precision are judged.

use astro_float_num::{BigFloat, Consts, RoundingMode, Sign};

/// Arithmetic with [`Yardstick::PRECISION`] bits.
pub(crate) struct Yardstick {
    constants: Consts,
}

impl Yardstick {
    const PRECISION: usize = 256;
    const ROUNDING: RoundingMode = RoundingMode::ToEven;

    /// An empty cache of constants.
    pub(crate) fn new() -> Yardstick {
        Yardstick { constants: Consts::new().expect("memory for the constants") }
    }

    /// The true value of the unary function of that name.
    pub(crate) fn unary(&mut self, name: &str, x: f64) -> BigFloat {
        let (p, rounding) = (Self::PRECISION, Self::ROUNDING);
        let value = number(x);
        let constants = &mut self.constants;
        // Closer to 0 than this, the precision does not hold 1 + x, and two terms are plenty.
        let tiny = x.abs() < 2f64.powi(-120);
        match name {
            "exp" => value.exp(p, rounding, constants),
            "exp2" => number(2.0).pow(&value, p, rounding, constants),
            "expm1" if tiny => self.plus_half_square(x, 0.5),
            "expm1" => value.exp(p, rounding, constants).sub(&number(1.0), p, rounding),
            "log" => value.ln(p, rounding, constants),
            "log2" => value.log2(p, rounding, constants),
            "log10" => value.log10(p, rounding, constants),
            "log1p" if tiny => self.plus_half_square(x, -0.5),
            "log1p" => value.add(&number(1.0), p, rounding).ln(p, rounding, constants),
            "sin" => value.sin(p, rounding, constants),
            "cos" => value.cos(p, rounding, constants),
            "tan" => value.tan(p, rounding, constants),
            "asin" => value.asin(p, rounding, constants),
            "acos" => value.acos(p, rounding, constants),
            "atan" => value.atan(p, rounding, constants),
            "sinh" => value.sinh(p, rounding, constants),
            "cosh" => value.cosh(p, rounding, constants),
            "tanh" => value.tanh(p, rounding, constants),
            "asinh" => value.asinh(p, rounding, constants),
            "acosh" => value.acosh(p, rounding, constants),
            "atanh" => value.atanh(p, rounding, constants),
            "erf" => self.erf(x),
            "cbrt" => value.cbrt(p, rounding),
            "rsqrt" => value.sqrt(p, rounding).reciprocal(p, rounding),
            other => panic!("no yardstick for {other}"),
        }
    }

    /// The true value of the binary function of that name.
    pub(crate) fn binary(&mut self, name: &str, x: f64, y: f64) -> BigFloat {
        let (p, rounding) = (Self::PRECISION, Self::ROUNDING);
        let (a, b) = (number(x), number(y));
        match name {
            "pow" => {
                let logarithm = a.ln(p, rounding, &mut self.constants);
                logarithm.mul(&b, p, rounding).exp(p, rounding, &mut self.constants)
            }
            "hypot" => {
                let sum = a.mul(&a, p, rounding).add(&b.mul(&b, p, rounding), p, rounding);
                sum.sqrt(p, rounding)
            }
            "atan2" => {
                // `x` is the first operand: the ordinate.
                let angle = a.div(&b, p, rounding).atan(p, rounding, &mut self.constants);
                let pi = self.constants.pi(p, rounding);
                match (y < 0.0, x < 0.0) {
                    (false, _) => angle,
                    (true, false) => angle.add(&pi, p, rounding),
                    (true, true) => angle.sub(&pi, p, rounding),
                }
            }
            other => panic!("no yardstick for {other}"),
        }
    }

    /// x + factor·x².
    fn plus_half_square(&self, x: f64, factor: f64) -> BigFloat {
        let (p, rounding) = (Self::PRECISION, Self::ROUNDING);
        let value = number(x);
        let square = value.mul(&value, p, rounding).mul(&number(factor), p, rounding);
        value.add(&square, p, rounding)
    }

    /// The Maclaurin series, whose terms stay below 2^52 where it is used.
    fn erf(&mut self, x: f64) -> BigFloat {
        if x.is_nan() || x.abs() > 6.5 {
            return number(x.signum());
        }
        let (p, rounding) = (Self::PRECISION, Self::ROUNDING);
        let value = number(x);
        let square = value.mul(&value, p, rounding).neg();
        let (mut term, mut sum) = (value.clone(), value);
        for n in 1..400 {
            term = term.mul(&square, p, rounding).div(&number(f64::from(n)), p, rounding);
            sum = sum.add(&term.div(&number(f64::from(2 * n + 1)), p, rounding), p, rounding);
            if term.is_zero() || term.exponent() < sum.exponent().map(|exponent| exponent - 200) {
                break;
            }
        }
        let root = self.constants.pi(p, rounding).sqrt(p, rounding);
        sum.mul(&number(2.0), p, rounding).div(&root, p, rounding)
    }

    /// How far `found` is from the true value, in units of its last place.
    pub(crate) fn ulps(found: f64, truth: &BigFloat) -> f64 {
        if truth.is_nan() || found.is_nan() {
            return if truth.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
        }
        // Beyond the range, 2^1024 stands for infinity on both sides.
        let beyond = |value: &BigFloat| value.is_inf() || value.exponent() > Some(1024);
        let limit = |negative: bool| {
            let mut limit = BigFloat::from_f64(1.0, Self::PRECISION);
            limit.set_exponent(1025);
            if negative { limit.neg() } else { limit }
        };
        let truth = if beyond(truth) { limit(truth.is_negative()) } else { truth.clone() };
        let found = if found.is_infinite() { limit(found < 0.0) } else { number(found) };
        let difference = found.sub(&truth, Self::PRECISION, Self::ROUNDING);
        if difference.is_zero() {
            return 0.0;
        }
        // The exponents are those of a significand in [1/2, 1).
        let exponent = truth.exponent().unwrap_or(0).clamp(-1021, 1024);
        let (words, _, sign, shift, _) = difference.as_raw_parts().expect("it is finite");
        let significand = *words.last().expect("it has digits") as f64 / 2f64.powi(64);
        let magnitude = significand * 2f64.powi((shift - (exponent - 53)).clamp(-1000, 1000));
        if sign == Sign::Neg { -magnitude } else { magnitude }
    }
}

/// The same number in high precision. The library misreads subnormal numbers, so that those are
/// scaled on the way.
fn number(value: f64) -> BigFloat {
    let subnormal = value.abs() < f64::MIN_POSITIVE && value != 0.0;
    let scaled = if subnormal { value * 2f64.powi(64) } else { value };
    let mut number = BigFloat::from_f64(scaled, Yardstick::PRECISION);
    if let (true, Some(exponent)) = (subnormal, number.exponent()) {
        number.set_exponent(exponent - 64);
    }
    number
}
