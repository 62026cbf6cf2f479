//! Tests of the exact operators: the table of numerics.md row by row, and the lookups.

use std::cmp::Ordering;

use crate::math::{arity, binary, can_fail, eval, result_type, ternary, total_cmp, unary};
use crate::{Scalar, ScalarOp, ScalarType, TrapKind};

/// A value as the tests write it.
trait Literal {
    fn scalar(self) -> Scalar;
}

macro_rules! literal {
    ($($rust:ty => $variant:ident),*) => {$(
        impl Literal for $rust {
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }
        }
    )*};
}

literal!(i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16, u32 => U32,
    u64 => U64, f32 => F32, f64 => F64, bool => Bool);

impl Literal for char {
    fn scalar(self) -> Scalar {
        Scalar::Char(u8::try_from(self).expect("a character of one byte"))
    }
}

#[track_caller]
fn check1<R: Literal>(op: ScalarOp, a: impl Literal, expect: R) {
    check(op, &[a.scalar()], expect);
}

#[track_caller]
fn check2<T: Literal, R: Literal>(op: ScalarOp, a: T, b: T, expect: R) {
    check(op, &[a.scalar(), b.scalar()], expect);
}

#[track_caller]
fn check<R: Literal>(op: ScalarOp, args: &[Scalar], expect: R) {
    let (found, expect) = (eval(op, args).expect("no trap"), expect.scalar());
    assert!(found.same_bits(expect), "{op:?} {args:?} = {found:?}, not {expect:?}");
}

#[track_caller]
fn traps<T: Literal>(op: ScalarOp, a: T, b: T, expect: TrapKind) {
    assert_eq!(eval(op, &[a.scalar(), b.scalar()]), Err(expect));
}

/// Runs the body once per integer type, with `T` standing for it.
macro_rules! each_int {
    ($alias:ident in $($ty:ident)* => $body:block) => {$({ type $alias = $ty; $body })*};
}

#[test]
fn the_lookups_follow_the_typing_rules() {
    for op in ScalarOp::all() {
        for ty in ScalarType::ALL {
            let value = Scalar::zero(ty);
            let (found, operands) = match arity(op) {
                1 => (unary(op, ty).map(|function| function(value)), vec![ty]),
                2 => (binary(op, ty).map(|function| function(value, value)), vec![ty; 2]),
                _ => {
                    let first = if op == ScalarOp::Select { ScalarType::Bool } else { ty };
                    let applied = ternary(op, ty).map(|f| f(Scalar::zero(first), value, value));
                    (applied, vec![first, ty, ty])
                }
            };
            let rule = result_type(op, &operands);
            assert_eq!(found.is_some(), rule.is_some(), "{op:?} on {ty}");
            if let Some(Ok(result)) = found {
                assert_eq!(Some(result.ty()), rule, "{op:?} on {ty}");
            }
        }
    }
}

#[test]
fn integer_arithmetic_wraps() {
    each_int!(T in i8 i16 i32 i64 => {
        check2(ScalarOp::Add, T::MAX, 1, T::MIN);
        check2(ScalarOp::Sub, T::MIN, 1, T::MAX);
        check2(ScalarOp::Mul, T::MIN, -1, T::MIN);
        check1(ScalarOp::Neg, T::MIN, T::MIN);
        check1(ScalarOp::Abs, T::MIN, T::MIN);
        check1(ScalarOp::Abs, -5 as T, 5 as T);
        check1(ScalarOp::Signum, T::MIN, -1 as T);
    });
    each_int!(T in u8 u16 u32 u64 => {
        check2(ScalarOp::Add, T::MAX, 1, T::MIN);
        check2::<T, T>(ScalarOp::Sub, 0, 1, T::MAX);
        check2(ScalarOp::Mul, T::MAX, T::MAX, 1 as T);
        check1(ScalarOp::Neg, 1 as T, T::MAX);
        check1(ScalarOp::Abs, T::MAX, T::MAX);
        check1(ScalarOp::Signum, T::MAX, 1 as T);
        check1(ScalarOp::Signum, 0 as T, 0 as T);
    });
}

#[test]
fn integer_division_floors_or_truncates_and_traps_on_zero() {
    each_int!(T in i8 i16 i32 i64 => {
        for (a, b, floor, modulo, quot, rem) in
            [(7, 2, 3, 1, 3, 1), (-7, 2, -4, 1, -3, -1), (7, -2, -4, -1, -3, 1), (-7, -2, 3, -1, 3, -1), (6, -2, -3, 0, -3, 0)]
        {
            check2::<T, T>(ScalarOp::FloorDiv, a, b, floor);
            check2::<T, T>(ScalarOp::Mod, a, b, modulo);
            check2::<T, T>(ScalarOp::Quot, a, b, quot);
            check2::<T, T>(ScalarOp::Rem, a, b, rem);
        }
        for (op, expect) in [(ScalarOp::FloorDiv, T::MIN), (ScalarOp::Mod, 0), (ScalarOp::Quot, T::MIN), (ScalarOp::Rem, 0)] {
            check2(op, T::MIN, -1, expect);
            traps::<T>(op, 1, 0, TrapKind::DivisionByZero);
        }
    });
    each_int!(T in u8 u16 u32 u64 => {
        for op in [ScalarOp::FloorDiv, ScalarOp::Quot] {
            check2(op, T::MAX, 2, T::MAX / 2);
            traps::<T>(op, 1, 0, TrapKind::DivisionByZero);
        }
        for op in [ScalarOp::Mod, ScalarOp::Rem] {
            check2(op, T::MAX, T::MAX - 1, 1 as T);
            traps::<T>(op, 1, 0, TrapKind::DivisionByZero);
        }
    });
}

#[test]
fn integer_power() {
    each_int!(T in i8 i16 i32 i64 u8 u16 u32 u64 => {
        check2::<T, T>(ScalarOp::Pow, 0, 0, 1);
        check2::<T, T>(ScalarOp::Pow, 3, 4, 81);
        check2::<T, T>(ScalarOp::Pow, 2, T::BITS as T, 0);
        check2::<T, T>(ScalarOp::Pow, 1, T::MAX, 1);
        check2::<T, T>(ScalarOp::Pow, T::MAX, 2, (T::MAX).wrapping_mul(T::MAX));
    });
    each_int!(T in i8 i16 i32 i64 => {
        check2::<T, T>(ScalarOp::Pow, -2, 3, -8);
        traps::<T>(ScalarOp::Pow, 1, -1, TrapKind::NegativeExponent { exponent: -1 });
        traps::<T>(ScalarOp::Pow, 2, -7, TrapKind::NegativeExponent { exponent: -7 });
    });
}

#[test]
fn greatest_common_divisor() {
    each_int!(T in i8 i16 i32 i64 u8 u16 u32 u64 => {
        check2::<T, T>(ScalarOp::Gcd, 12, 18, 6);
        check2::<T, T>(ScalarOp::Gcd, 0, 5, 5);
        check2::<T, T>(ScalarOp::Gcd, 0, 0, 0);
    });
    each_int!(T in i8 i16 i32 i64 => {
        check2::<T, T>(ScalarOp::Gcd, -12, 18, 6);
        check2::<T, T>(ScalarOp::Gcd, T::MIN, 0, T::MIN);
        check2::<T, T>(ScalarOp::Gcd, T::MIN, 12, 4);
    });
}

#[test]
fn shifts_read_the_count_as_unsigned() {
    each_int!(T in i8 i16 i32 i64 u8 u16 u32 u64 => {
        check2::<T, T>(ScalarOp::Shl, 3, 2, 12);
        check2::<T, T>(ScalarOp::Shl, 1, T::BITS as T, 0);
        check2::<T, T>(ScalarOp::Shr, 12, 2, 3);
        check2::<T, T>(ScalarOp::Shr, T::MAX, T::BITS as T, 0);
        check2::<T, T>(ScalarOp::Shr, T::MAX, T::BITS as T - 2, if T::MIN == 0 { 3 } else { 1 });
    });
    each_int!(T in i8 i16 i32 i64 => {
        check2::<T, T>(ScalarOp::Shl, 1, -1, 0);
        check2::<T, T>(ScalarOp::Shl, 1, T::BITS as T - 1, T::MIN);
        check2::<T, T>(ScalarOp::Shr, -8, 1, -4);
        check2::<T, T>(ScalarOp::Shr, -8, T::BITS as T, -1);
        check2::<T, T>(ScalarOp::Shr, -8, -1, -1);
        check2::<T, T>(ScalarOp::Shr, 8, -1, 0);
    });
}

#[test]
fn bit_operations() {
    each_int!(T in i8 i16 i32 i64 u8 u16 u32 u64 => {
        check2::<T, T>(ScalarOp::BitAnd, 12, 10, 8);
        check2::<T, T>(ScalarOp::BitOr, 12, 10, 14);
        check2::<T, T>(ScalarOp::BitXor, 12, 10, 6);
        check1(ScalarOp::Complement, 0 as T, !(0 as T));
        for op in [ScalarOp::Clz, ScalarOp::Ctz] {
            check1(op, 0 as T, T::BITS as i64);
        }
        check1(ScalarOp::Clz, 1 as T, T::BITS as i64 - 1);
        check1(ScalarOp::Ctz, 8 as T, 3i64);
        check1(ScalarOp::Popcount, !(0 as T), T::BITS as i64);
    });
    check2(ScalarOp::BitAnd, true, false, false);
    check2(ScalarOp::BitOr, true, false, true);
    check2(ScalarOp::BitXor, true, true, false);
}

#[test]
fn integer_to_integer() {
    check1(ScalarOp::Cast(ScalarType::I8), 0x1ffi64, -1i8);
    check1(ScalarOp::Cast(ScalarType::U8), -1i64, 255u8);
    check1(ScalarOp::Cast(ScalarType::I64), -1i8, -1i64);
    check1(ScalarOp::Cast(ScalarType::U64), -1i8, u64::MAX);
    check1(ScalarOp::Cast(ScalarType::I64), 255u8, 255i64);
    check1(ScalarOp::Cast(ScalarType::I64), u64::MAX, -1i64);
    check1(ScalarOp::Cast(ScalarType::Char), 0x141i32, 'A');
    check1(ScalarOp::Cast(ScalarType::I8), '\u{ff}', -1i8);
    check1(ScalarOp::Cast(ScalarType::I16), '\u{ff}', 255i16);
}

#[test]
fn float_to_integer() {
    check1(ScalarOp::Cast(ScalarType::I32), -2.9f64, -2i32);
    check1(ScalarOp::Cast(ScalarType::U8), 2.9f32, 2u8);
    check1(ScalarOp::Cast(ScalarType::U8), -0.9f32, 0u8);
    check1(ScalarOp::Cast(ScalarType::I8), 1e9f32, i8::MAX);
    check1(ScalarOp::Cast(ScalarType::I64), f64::NEG_INFINITY, i64::MIN);
    check1(ScalarOp::Cast(ScalarType::U64), f64::INFINITY, u64::MAX);
    check1(ScalarOp::Cast(ScalarType::U32), -1.0f64, 0u32);
    check1(ScalarOp::Cast(ScalarType::Char), 300.0f64, '\u{ff}');
    for ty in ScalarType::ALL.into_iter().filter(|ty| ty.is_int()) {
        for nan in [Scalar::F32(f32::NAN), Scalar::F64(-f64::NAN)] {
            assert_eq!(eval(ScalarOp::Cast(ty), &[nan]), Ok(Scalar::zero(ty)));
        }
    }
}

#[test]
fn to_float_rounds_to_nearest_even() {
    check1(ScalarOp::Cast(ScalarType::F32), 16_777_217i32, 16_777_216f32);
    check1(ScalarOp::Cast(ScalarType::F32), 16_777_219i64, 16_777_220f32);
    check1(ScalarOp::Cast(ScalarType::F64), u64::MAX, 18_446_744_073_709_551_616f64);
    check1(ScalarOp::Cast(ScalarType::F32), 1e39f64, f32::INFINITY);
    check1(ScalarOp::Cast(ScalarType::F32), -1e39f64, f32::NEG_INFINITY);
    check1(ScalarOp::Cast(ScalarType::F32), 1e-45f64, f32::from_bits(1));
    check1(ScalarOp::Cast(ScalarType::F32), f64::NAN, f32::NAN);
    check1(ScalarOp::Cast(ScalarType::F64), f32::from_bits(1), f64::from(f32::from_bits(1)));
    check1(ScalarOp::Cast(ScalarType::F64), 'A', 65f64);
}

#[test]
fn casts_of_and_to_bool() {
    check1(ScalarOp::Cast(ScalarType::I8), true, 1i8);
    check1(ScalarOp::Cast(ScalarType::F64), true, 1f64);
    check1(ScalarOp::Cast(ScalarType::F32), false, 0f32);
    check1(ScalarOp::Cast(ScalarType::Char), true, '\u{1}');
    check1(ScalarOp::Cast(ScalarType::Bool), 0x100i64, true);
    check1(ScalarOp::Cast(ScalarType::Bool), 0u8, false);
    check1(ScalarOp::Cast(ScalarType::Bool), -0.0f64, false);
    check1(ScalarOp::Cast(ScalarType::Bool), 0.5f32, true);
    check1(ScalarOp::Cast(ScalarType::Bool), f64::NAN, true);
    check1(ScalarOp::Cast(ScalarType::Bool), 'a', true);
}

#[test]
fn bitcasts_keep_bits_and_canonicalise_nan() {
    check1(ScalarOp::Bitcast(ScalarType::I32), -0.0f32, i32::MIN);
    check1(ScalarOp::Bitcast(ScalarType::U32), 1.0f32, 0x3f80_0000u32);
    check1(ScalarOp::Bitcast(ScalarType::F32), 0x3f80_0000i32, 1.0f32);
    check1(ScalarOp::Bitcast(ScalarType::U32), -1i32, u32::MAX);
    check1(ScalarOp::Bitcast(ScalarType::U64), 1.0f64, 0x3ff0_0000_0000_0000u64);
    check1(ScalarOp::Bitcast(ScalarType::F64), u64::MAX, f64::NAN);
    check1(ScalarOp::Bitcast(ScalarType::U32), f32::from_bits(0xffc0_1234), 0x7fc0_0000u32);
    check1(ScalarOp::Bitcast(ScalarType::I64), -f64::NAN, 0x7ff8_0000_0000_0000i64);
}

#[test]
fn float_division_and_remainders() {
    check2(ScalarOp::Div, 1.0, 0.0, f64::INFINITY);
    check2(ScalarOp::Div, 1.0, -0.0, f64::NEG_INFINITY);
    check2(ScalarOp::Div, 0.0, 0.0, f64::NAN);
    for (a, b, floor, modulo, quot, rem) in [
        (5.5, 2.0, 2.0, 1.5, 2.0, 1.5),
        (-5.5, 2.0, -3.0, 0.5, -2.0, -1.5),
        (5.5, -2.0, -3.0, -0.5, -2.0, 1.5),
        (-5.5, -2.0, 2.0, -1.5, 2.0, -1.5),
        (-4.0, 2.0, -2.0, 0.0, -2.0, -0.0),
        (4.0, -2.0, -2.0, -0.0, -2.0, 0.0),
        (3.0, f64::INFINITY, 0.0, 3.0, 0.0, 3.0),
        (-3.0, f64::INFINITY, -0.0, f64::INFINITY, -0.0, -3.0),
        (1.0, 0.0, f64::INFINITY, f64::NAN, f64::INFINITY, f64::NAN),
        (f64::INFINITY, 1.0, f64::INFINITY, f64::NAN, f64::INFINITY, f64::NAN),
        (f64::NAN, 1.0, f64::NAN, f64::NAN, f64::NAN, f64::NAN),
        (1.0, f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN),
    ] {
        check2(ScalarOp::FloorDiv, a, b, floor);
        check2(ScalarOp::Mod, a, b, modulo);
        check2(ScalarOp::Quot, a, b, quot);
        check2(ScalarOp::Rem, a, b, rem);
        check2(ScalarOp::FloorDiv, a as f32, b as f32, floor as f32);
        check2(ScalarOp::Mod, a as f32, b as f32, modulo as f32);
        check2(ScalarOp::Quot, a as f32, b as f32, quot as f32);
        check2(ScalarOp::Rem, a as f32, b as f32, rem as f32);
    }
    // Exact, although the quotient is near 2^994.
    check2(ScalarOp::Rem, 1e300, 7.0, 1.0);
    check2(ScalarOp::Rem, f64::from_bits(7), f64::from_bits(4), f64::from_bits(3));
}

#[test]
fn float_arithmetic_is_rounded_once_and_keeps_denormals() {
    check2(ScalarOp::Add, 0.1, 0.2, 0.300_000_000_000_000_04);
    check2(ScalarOp::Mul, f32::MIN_POSITIVE, 0.5, f32::from_bits(0x0040_0000));
    check2(ScalarOp::Sub, f64::from_bits(3), f64::from_bits(2), f64::from_bits(1));
    let tiny = f64::EPSILON / 2.0;
    let args = [1.0 + f64::EPSILON, 1.0 - tiny, -1.0].map(Scalar::F64);
    check(ScalarOp::Fma, &args, tiny - tiny * 2.0 * tiny);
    check1(ScalarOp::Sqrt, -0.0, -0.0);
    check1(ScalarOp::Sqrt, -1.0f32, f32::NAN);
    check1(ScalarOp::Sqrt, 2.0f32, std::f32::consts::SQRT_2);
    check1(ScalarOp::Neg, 0.0, -0.0);
    check1(ScalarOp::Abs, -0.0, 0.0);
    check1(ScalarOp::Signum, -0.0, -0.0);
    check1(ScalarOp::Signum, f64::NEG_INFINITY, -1.0);
    check1(ScalarOp::Signum, f32::NAN, f32::NAN);
}

#[test]
fn rounding_to_integers() {
    for (a, floor, ceil, round, trunc) in [
        (2.5, 2.0, 3.0, 2.0, 2.0),
        (3.5, 3.0, 4.0, 4.0, 3.0),
        (-2.5, -3.0, -2.0, -2.0, -2.0),
        (-0.5, -1.0, -0.0, -0.0, -0.0),
        (0.49999999999999994, 0.0, 1.0, 0.0, 0.0),
        (1e300, 1e300, 1e300, 1e300, 1e300),
        (f64::NAN, f64::NAN, f64::NAN, f64::NAN, f64::NAN),
    ] {
        check1(ScalarOp::Floor, a, floor);
        check1(ScalarOp::Ceil, a, ceil);
        check1(ScalarOp::Round, a, round);
        check1(ScalarOp::Trunc, a, trunc);
    }
}

#[test]
fn comparisons_follow_ieee() {
    let all = [ScalarOp::Eq, ScalarOp::Ne, ScalarOp::Lt, ScalarOp::Le, ScalarOp::Gt, ScalarOp::Ge];
    for (op, expect) in all.into_iter().zip([false, true, false, false, false, false]) {
        check2(op, f64::NAN, f64::NAN, expect);
        check2(op, 1.0f32, f32::NAN, expect);
    }
    for (op, expect) in all.into_iter().zip([true, false, false, true, false, true]) {
        check2(op, -0.0, 0.0, expect);
        check2(op, 'a', 'a', expect);
    }
    for (op, expect) in all.into_iter().zip([false, true, true, true, false, false]) {
        check2(op, false, true, expect);
        check2(op, 'a', '\u{e9}', expect);
        check2(op, -1i8, 1, expect);
        check2(op, 1u64, u64::MAX, expect);
        check2(op, f32::NEG_INFINITY, f32::MIN, expect);
    }
}

#[test]
fn the_total_order() {
    let ascending = [f64::NEG_INFINITY, -1.0, -0.0, 0.0, f64::from_bits(1), 1.0, f64::INFINITY];
    for (i, a) in ascending.into_iter().enumerate() {
        for (j, b) in ascending.into_iter().enumerate() {
            assert_eq!(total_cmp(a.scalar(), b.scalar()), i.cmp(&j), "{a} and {b}");
            let (a, b) = (a as f32, b as f32);
            let expect = if a == b && a.is_sign_negative() == b.is_sign_negative() {
                Ordering::Equal
            } else {
                i.cmp(&j)
            };
            assert_eq!(total_cmp(a.scalar(), b.scalar()), expect, "{a} and {b}");
        }
        for nan in [f64::NAN, -f64::NAN] {
            assert_eq!(total_cmp(a.scalar(), nan.scalar()), Ordering::Less);
            assert_eq!(total_cmp(nan.scalar(), a.scalar()), Ordering::Greater);
        }
    }
    assert_eq!(total_cmp(f32::NAN.scalar(), (-f32::NAN).scalar()), Ordering::Equal);
    assert_eq!(total_cmp(false.scalar(), true.scalar()), Ordering::Less);
    assert_eq!(total_cmp(u64::MAX.scalar(), 1u64.scalar()), Ordering::Greater);
    assert_eq!(total_cmp((-1i8).scalar(), 1i8.scalar()), Ordering::Less);
    assert_eq!(total_cmp('z'.scalar(), '\u{e9}'.scalar()), Ordering::Less);
}

#[test]
fn min_and_max_propagate_nan_and_order_zeros() {
    check2(ScalarOp::Min, 0.0, -0.0, -0.0);
    check2(ScalarOp::Min, -0.0, 0.0, -0.0);
    check2(ScalarOp::Max, 0.0f32, -0.0, 0.0f32);
    check2(ScalarOp::Max, -0.0, 0.0, 0.0);
    check2(ScalarOp::Max, -0.0, -0.0, -0.0);
    for op in [ScalarOp::Min, ScalarOp::Max] {
        check2(op, f64::NAN, 1.0, f64::NAN);
        check2(op, 1.0f32, f32::NAN, f32::NAN);
    }
    check2(ScalarOp::Min, true, false, false);
    check2(ScalarOp::Max, 'a', 'b', 'b');
    check2(ScalarOp::Min, -1i64, 1, -1i64);
    check2(ScalarOp::Max, u8::MAX, 1, u8::MAX);
}

#[test]
fn clip_is_max_then_min() {
    let clip = |low: f64, high: f64, a: f64, expect: f64| {
        check(ScalarOp::Clip, &[low, high, a].map(Scalar::F64), expect);
    };
    clip(0.0, 1.0, 2.0, 1.0);
    clip(0.0, 1.0, -2.0, 0.0);
    clip(0.0, 1.0, 0.5, 0.5);
    clip(1.0, 0.0, 0.5, 0.0);
    clip(0.0, 1.0, f64::NAN, f64::NAN);
    clip(f64::NAN, 1.0, 0.0, f64::NAN);
    check(ScalarOp::Clip, &[5, 3, 4].map(Scalar::I64), 3i64);
    check(ScalarOp::Clip, &[3, 5, 9].map(Scalar::U8), 5u8);
}

#[test]
fn logic_and_select() {
    check2(ScalarOp::And, true, false, false);
    check2(ScalarOp::And, true, true, true);
    check2(ScalarOp::Or, true, false, true);
    check2(ScalarOp::Or, false, false, false);
    check1(ScalarOp::Not, true, false);
    for ty in ScalarType::ALL {
        let one = eval(ScalarOp::Cast(ty), &[Scalar::I64(1)]).expect("a cast never traps");
        for (condition, expect) in [(true, one), (false, Scalar::zero(ty))] {
            let args = [Scalar::Bool(condition), one, Scalar::zero(ty)];
            assert_eq!(eval(ScalarOp::Select, &args), Ok(expect));
        }
    }
}

#[test]
fn classification() {
    check1(ScalarOp::IsNan, -f64::NAN, true);
    check1(ScalarOp::IsNan, f32::INFINITY, false);
    check1(ScalarOp::IsInf, f32::NEG_INFINITY, true);
    check1(ScalarOp::IsInf, f64::MAX, false);
    check1(ScalarOp::IsInf, f64::NAN, false);
}

#[test]
fn what_can_fail_does_so_for_some_operands() {
    for op in ScalarOp::all() {
        for ty in ScalarType::ALL {
            let of = |number: i64| eval(ScalarOp::Cast(ty), &[Scalar::I64(number)]);
            let some = [-3, -1, 0, 1, 2, 100].map(|number| of(number).expect("casts do not fail"));
            let conditions = [false, true].map(Scalar::Bool);
            let firsts = if op == ScalarOp::Select { &conditions[..] } else { &some[..] };
            let mut fails = false;
            for &first in firsts {
                for &second in &some {
                    let operands = &[first, second, some[2]][..arity(op)];
                    let types: Vec<ScalarType> = operands.iter().map(|at| at.ty()).collect();
                    if result_type(op, &types).is_some() {
                        fails |= eval(op, operands).is_err();
                    }
                }
            }
            assert_eq!(fails, can_fail(op, ty), "{op:?} of {ty}");
        }
    }
}
