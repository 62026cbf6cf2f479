//! Special values, as C's Annex F has them, and single results of note. How close the functions
//! are to the true values is the business of the accuracy test.

use super::*;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Checks results of a function in both formats; operands and results are exact in both.
#[track_caller]
fn check(single: fn(f32) -> f32, double: fn(f64) -> f64, rows: &[(f64, f64)]) {
    for &(x, expect) in rows {
        same(double(x), expect, &[x]);
        same(f64::from(single(x as f32)), expect, &[x]);
    }
}

#[track_caller]
fn check2(single: fn(f32, f32) -> f32, double: fn(f64, f64) -> f64, rows: &[(f64, f64, f64)]) {
    for &(x, y, expect) in rows {
        same(double(x, y), expect, &[x, y]);
        same(f64::from(single(x as f32, y as f32)), expect, &[x, y]);
    }
}

#[track_caller]
fn same(found: f64, expect: f64, operands: &[f64]) {
    let same = found.to_bits() == expect.to_bits() || (found.is_nan() && expect.is_nan());
    assert!(same, "{operands:?} gives {found}, not {expect}");
}

/// The least subnormal number of each format is its own image.
#[track_caller]
fn keeps_the_least(single: fn(f32) -> f32, double: fn(f64) -> f64) {
    assert_eq!(single(f32::from_bits(1)).to_bits(), 1);
    assert_eq!(double(-f64::from_bits(1)).to_bits(), 1 | 1 << 63);
}

#[test]
fn exponentials() {
    let rows = [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1e30, INF)];
    check(exp_f32, exp_f64, &rows);
    check(exp2_f32, exp2_f64, &rows);
    check(exp_f32, exp_f64, &[(-1e30, 0.0), (1e-30, 1.0)]);
    check(exp2_f32, exp2_f64, &[(10.0, 1024.0), (-3.0, 0.125), (-126.0, 2f64.powi(-126))]);
    check(
        expm1_f32,
        expm1_f64,
        &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN), (-1e30, -1.0)],
    );
    keeps_the_least(expm1_f32, expm1_f64);
    // Subnormal results, and the ends of the range.
    assert_eq!(exp2_f32(-149.0).to_bits(), 1);
    assert_eq!(exp2_f64(-1074.0).to_bits(), 1);
    assert_eq!(exp2_f64(1023.0), 2f64.powi(1023));
    assert!(exp_f32(88.722_83).is_finite() && exp_f32(88.722_85).is_infinite());
    assert!(exp_f64(709.782_712_893_384).is_finite() && exp_f64(709.782_712_893_385).is_infinite());
    assert!(expm1_f64(709.782_712_893_384).is_finite());
}

#[test]
fn logarithms() {
    let rows =
        [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)];
    check(log_f32, log_f64, &rows);
    check(log2_f32, log2_f64, &rows);
    check(log10_f32, log10_f64, &rows);
    check(log2_f32, log2_f64, &[(8.0, 3.0), (0.125, -3.0), (2f64.powi(-149), -149.0)]);
    check(log10_f32, log10_f64, &[(10.0, 1.0), (1000.0, 3.0), (1e10, 10.0)]);
    assert_eq!(log2_f64(f64::from_bits(1)), -1074.0);
    assert_eq!(log10_f64(1e-300), -300.0);
    check(
        log1p_f32,
        log1p_f64,
        &[(0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-2.0, NAN), (-INF, NAN), (NAN, NAN)],
    );
    keeps_the_least(log1p_f32, log1p_f64);
}

#[test]
fn trigonometric_functions() {
    let undefined = [(INF, NAN), (-INF, NAN), (NAN, NAN)];
    for (single, double) in
        [(sin_f32 as fn(f32) -> f32, sin_f64 as fn(f64) -> f64), (tan_f32, tan_f64)]
    {
        check(single, double, &undefined);
        check(single, double, &[(0.0, 0.0), (-0.0, -0.0)]);
        keeps_the_least(single, double);
    }
    check(cos_f32, cos_f64, &undefined);
    check(cos_f32, cos_f64, &[(0.0, 1.0), (-0.0, 1.0), (2f64.powi(-100), 1.0)]);
}

#[test]
fn great_angles() {
    for (x, sine, cosine) in [
        (1e22, -0.8522008497671888, 0.523214785395139),
        (1e300, -0.8178819121159085, -0.5753861119575491),
        (2f64.powi(1023), 0.563127779850884, -0.826369834614148),
        // No double is nearer to a multiple of π/2, relative to the result.
        (6_381_956_970_095_103.0 * 2f64.powi(797), 1.0, -4.687165924254628e-19),
    ] {
        assert!((sin_f64(x) - sine).abs() <= f64::EPSILON * sine.abs(), "sin {x}");
        assert!((cos_f64(x) - cosine).abs() <= f64::EPSILON * cosine.abs(), "cos {x}");
        assert_eq!(sin_f64(-x), -sin_f64(x));
        assert_eq!(cos_f64(-x), cos_f64(x));
    }
    assert!((sin_f32(f32::MAX) + 0.521_876_5).abs() <= f32::EPSILON);
    assert!((cos_f32(-f32::MAX) - 0.853_021).abs() <= f32::EPSILON);
}

#[test]
fn inverse_trigonometric_functions() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    let outside = [(1.5, NAN), (-1.5, NAN), (INF, NAN), (-INF, NAN), (NAN, NAN)];
    check(asin_f32, asin_f64, &outside);
    check(asin_f32, asin_f64, &[(0.0, 0.0), (-0.0, -0.0)]);
    check(acos_f32, acos_f64, &outside);
    check(acos_f32, acos_f64, &[(1.0, 0.0)]);
    check(atan_f32, atan_f64, &[(0.0, 0.0), (-0.0, -0.0), (NAN, NAN)]);
    keeps_the_least(asin_f32, asin_f64);
    keeps_the_least(atan_f32, atan_f64);
    for (found, expect) in [
        (asin_f64(1.0), FRAC_PI_2),
        (asin_f64(-1.0), -FRAC_PI_2),
        (acos_f64(-1.0), PI),
        (acos_f64(0.0), FRAC_PI_2),
        (atan_f64(1.0), FRAC_PI_4),
        (atan_f64(INF), FRAC_PI_2),
        (atan_f64(-INF), -FRAC_PI_2),
    ] {
        assert_eq!(found, expect);
    }
    assert_eq!(asin_f32(1.0), std::f32::consts::FRAC_PI_2);
    assert_eq!(acos_f32(-1.0), std::f32::consts::PI);
    assert_eq!(atan_f32(-INF as f32), -std::f32::consts::FRAC_PI_2);
}

#[test]
fn angles_of_points() {
    use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};
    check2(
        atan2_f32,
        atan2_f64,
        &[
            (0.0, 0.0, 0.0),
            (-0.0, 0.0, -0.0),
            (0.0, 1.0, 0.0),
            (-0.0, 1.0, -0.0),
            (1.0, INF, 0.0),
            (-1.0, INF, -0.0),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
            (INF, NAN, NAN),
        ],
    );
    for (y, x, expect) in [
        (0.0, -0.0, PI),
        (0.0, -1.0, PI),
        (1.0, -INF, PI),
        (1.0, 0.0, FRAC_PI_2),
        (1.0, -0.0, FRAC_PI_2),
        (INF, 1.0, FRAC_PI_2),
        (INF, -1.0, FRAC_PI_2),
        (INF, INF, FRAC_PI_4),
        (INF, -INF, 3.0 * FRAC_PI_4),
    ] {
        assert_eq!(atan2_f64(y, x), expect, "{y}, {x}");
        assert_eq!(atan2_f64(-y, x), -expect, "-{y}, {x}");
        assert_eq!(atan2_f32(y as f32, x as f32), expect as f32, "{y}, {x}");
    }
}

#[test]
fn hyperbolic_functions() {
    for (single, double) in
        [(sinh_f32 as fn(f32) -> f32, sinh_f64 as fn(f64) -> f64), (asinh_f32, asinh_f64)]
    {
        check(single, double, &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN)]);
        keeps_the_least(single, double);
    }
    check(cosh_f32, cosh_f64, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN)]);
    check(
        tanh_f32,
        tanh_f64,
        &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (1e30, 1.0), (NAN, NAN)],
    );
    check(
        acosh_f32,
        acosh_f64,
        &[(1.0, 0.0), (INF, INF), (0.5, NAN), (-2.0, NAN), (-INF, NAN), (NAN, NAN)],
    );
    check(
        atanh_f32,
        atanh_f64,
        &[(0.0, 0.0), (-0.0, -0.0), (1.0, INF), (-1.0, -INF), (2.0, NAN), (-INF, NAN), (NAN, NAN)],
    );
    keeps_the_least(tanh_f32, tanh_f64);
    keeps_the_least(atanh_f32, atanh_f64);
    // e^x overflows here, and the result does not.
    assert!(sinh_f32(89.0).is_finite() && cosh_f32(-89.0).is_finite());
    assert!(sinh_f64(710.0).is_finite() && cosh_f64(-710.0).is_finite());
    assert!(sinh_f64(711.0).is_infinite() && cosh_f64(711.0).is_infinite());
}

#[test]
fn roots_and_lengths() {
    check(
        cbrt_f32,
        cbrt_f64,
        &[
            (0.0, 0.0),
            (-0.0, -0.0),
            (27.0, 3.0),
            (-8.0, -2.0),
            (2f64.powi(-147), 2f64.powi(-49)),
            (INF, INF),
            (-INF, -INF),
            (NAN, NAN),
        ],
    );
    check(
        rsqrt_f32,
        rsqrt_f64,
        &[(4.0, 0.5), (0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (NAN, NAN)],
    );
    check2(
        hypot_f32,
        hypot_f64,
        &[
            (3.0, -4.0, 5.0),
            (0.0, -0.0, 0.0),
            (-2.0, 0.0, 2.0),
            (INF, NAN, INF),
            (NAN, -INF, INF),
            (NAN, 1.0, NAN),
            (1.0, NAN, NAN),
        ],
    );
    assert_eq!(hypot_f64(3e300, 4e300), 5e300);
    assert_eq!(hypot_f64(f64::MAX, f64::MAX), INF);
    assert_eq!(hypot_f64(f64::from_bits(3), f64::from_bits(4)), f64::from_bits(5));
    assert_eq!(hypot_f32(f32::from_bits(3), f32::from_bits(4)), f32::from_bits(5));
}

#[test]
fn powers() {
    let big = 2f64.powi(100);
    check2(
        pow_f32,
        pow_f64,
        &[
            (2.0, 10.0, 1024.0),
            (2.0, -1.0, 0.5),
            (-2.0, 3.0, -8.0),
            (-2.0, 2.0, 4.0),
            (9.0, 0.5, 3.0),
            (-8.0, 0.5, NAN),
            // Anything to the power 0, and 1 to any.
            (NAN, 0.0, 1.0),
            (INF, -0.0, 1.0),
            (0.0, 0.0, 1.0),
            (1.0, NAN, 1.0),
            (1.0, -INF, 1.0),
            (-1.0, INF, 1.0),
            (-1.0, -INF, 1.0),
            // Zeros.
            (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0),
            (-0.0, 2.0, 0.0),
            (-0.0, 0.5, 0.0),
            (0.0, -3.0, INF),
            (-0.0, -3.0, -INF),
            (-0.0, -2.0, INF),
            (-0.0, -0.5, INF),
            (0.0, INF, 0.0),
            (-0.0, -INF, INF),
            // Infinities.
            (0.5, INF, 0.0),
            (0.5, -INF, INF),
            (-2.0, INF, INF),
            (2.0, -INF, 0.0),
            (INF, 0.5, INF),
            (INF, -2.0, 0.0),
            (-INF, 3.0, -INF),
            (-INF, 2.0, INF),
            (-INF, 0.5, INF),
            (-INF, -3.0, -0.0),
            (-INF, -2.0, 0.0),
            (-INF, -0.5, 0.0),
            (INF, INF, INF),
            (NAN, 1.0, NAN),
            (2.0, NAN, NAN),
            // Great exponents are even.
            (-1.0, big, 1.0),
            (-2.0, big, INF),
            (-0.5, big, 0.0),
            (-2.0, -big, 0.0),
        ],
    );
    assert_eq!(pow_f64(-1.0, 2f64.powi(53) - 1.0), -1.0);
    assert_eq!(pow_f32(-1.0, 16_777_215.0), -1.0);
    assert_eq!(pow_f64(2.0, -1074.0).to_bits(), 1);
    assert_eq!(pow_f64(10.0, 22.0), 1e22);
    assert_eq!(pow_f64(f64::from_bits(1), 0.5), 2f64.powi(-537));
    for x in [0.1, -0.3, 1.0 / 3.0, 1e-170, 1e200, -0.0, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(pow_f64(x, 2.0).to_bits(), (x * x).to_bits(), "{x}");
        let x = x as f32;
        assert_eq!(pow_f32(x, 2.0).to_bits(), (x * x).to_bits(), "{x}");
    }
    assert!(pow_f64(f64::NAN, 2.0).is_nan());
}

#[test]
fn error_function() {
    check(
        erf_f32,
        erf_f64,
        &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (7.0, 1.0), (NAN, NAN)],
    );
    keeps_the_least(erf_f32, erf_f64);
}
