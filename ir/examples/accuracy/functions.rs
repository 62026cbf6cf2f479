//! The functions under test, with their budgets and with where to look for their errors.

use weft_ir::math::transcendental as functions;

/// A function of one operand.
pub(crate) struct Unary {
    /// The name in the language.
    pub(crate) name: &'static str,
    /// The greatest error allowed, in units in the last place.
    pub(crate) budget: f64,
    /// The function in single precision.
    pub(crate) single: fn(f32) -> f32,
    /// The function in double precision.
    pub(crate) double: fn(f64) -> f64,
    /// What the function in single precision is judged by.
    pub(crate) reference: fn(f64) -> f64,
    /// Where the function is neither constant nor undefined, in double precision.
    pub(crate) domain: (f64, f64),
}

/// A function of two operands.
pub(crate) struct Binary {
    /// The name in the language.
    pub(crate) name: &'static str,
    /// The greatest error allowed, in units in the last place.
    pub(crate) budget: f64,
    /// The function in single precision.
    pub(crate) single: fn(f32, f32) -> f32,
    /// The function in double precision.
    pub(crate) double: fn(f64, f64) -> f64,
    /// What the function in single precision is judged by.
    pub(crate) reference: fn(f64, f64) -> f64,
}

macro_rules! unary {
    ($($name:ident $budget:literal $single:ident $double:ident $domain:expr, $reference:expr;)*) => {
        /// Every function of one operand.
        pub(crate) const UNARY: &[Unary] = &[$(Unary {
            name: stringify!($name),
            budget: $budget,
            single: functions::$single,
            double: functions::$double,
            reference: $reference,
            domain: $domain,
        }),*];
    };
}

const ALL: (f64, f64) = (-1e300, 1e300);
const POSITIVE: (f64, f64) = (0.0, 1e300);

unary! {
    exp 2.0 exp_f32 exp_f64 (-746.0, 710.0), f64::exp;
    exp2 2.0 exp2_f32 exp2_f64 (-1076.0, 1025.0), f64::exp2;
    expm1 2.0 expm1_f32 expm1_f64 (-40.0, 710.0), f64::exp_m1;
    log 2.0 log_f32 log_f64 POSITIVE, f64::ln;
    log2 2.0 log2_f32 log2_f64 POSITIVE, f64::log2;
    log10 4.0 log10_f32 log10_f64 POSITIVE, f64::log10;
    log1p 2.0 log1p_f32 log1p_f64 (-1.0, 1e300), f64::ln_1p;
    sin 2.0 sin_f32 sin_f64 ALL, f64::sin;
    cos 2.0 cos_f32 cos_f64 ALL, f64::cos;
    tan 4.0 tan_f32 tan_f64 ALL, f64::tan;
    asin 4.0 asin_f32 asin_f64 (-1.0, 1.0), f64::asin;
    acos 4.0 acos_f32 acos_f64 (-1.0, 1.0), f64::acos;
    atan 4.0 atan_f32 atan_f64 ALL, f64::atan;
    sinh 4.0 sinh_f32 sinh_f64 (-711.0, 711.0), f64::sinh;
    cosh 4.0 cosh_f32 cosh_f64 (-711.0, 711.0), f64::cosh;
    tanh 4.0 tanh_f32 tanh_f64 (-25.0, 25.0), f64::tanh;
    asinh 4.0 asinh_f32 asinh_f64 ALL, f64::asinh;
    acosh 4.0 acosh_f32 acosh_f64 (1.0, 1e300), f64::acosh;
    atanh 4.0 atanh_f32 atanh_f64 (-1.0, 1.0), f64::atanh;
    // The standard library has none; this one is itself judged by the high-precision yardstick.
    erf 4.0 erf_f32 erf_f64 (-6.5, 6.5), functions::erf_f64;
    cbrt 4.0 cbrt_f32 cbrt_f64 ALL, f64::cbrt;
    rsqrt 2.0 rsqrt_f32 rsqrt_f64 POSITIVE, |x| 1.0 / x.sqrt();
}

/// Every function of two operands.
pub(crate) const BINARY: &[Binary] = &[
    Binary {
        name: "pow",
        budget: 4.0,
        single: functions::pow_f32,
        double: functions::pow_f64,
        reference: f64::powf,
    },
    Binary {
        name: "atan2",
        budget: 4.0,
        single: functions::atan2_f32,
        double: functions::atan2_f64,
        reference: f64::atan2,
    },
    Binary {
        name: "hypot",
        budget: 4.0,
        single: functions::hypot_f32,
        double: functions::hypot_f64,
        reference: f64::hypot,
    },
];
