//! The operators on floats.

use std::marker::PhantomData;

use weft_ir::ScalarOp;
use weft_ir::math::float::Float;
use weft_ir::math::transcendental as functions;
use weft_ir::math::transcendental::real::Real;

use super::{Ternary, one, operators, order, three, two};
use crate::fold::{Primitive, Summed};
use crate::isa::Apply;
use crate::lanes::Lane;

operators! { Float;
    unary Neg(a) -> T = Float::neg(a);
    unary Abs(a) -> T = Float::abs(a);
    unary Signum(a) -> T = a.signum();
    unary Sqrt(a) -> T = Float::sqrt(a);
    unary Floor(a) -> T = a.floor();
    unary Ceil(a) -> T = a.ceil();
    unary Round(a) -> T = a.round();
    unary Trunc(a) -> T = Float::trunc(a);
    unary IsNan(a) -> bool = Float::is_nan(a);
    unary IsInf(a) -> bool = a.is_inf();
    binary Add(a, b) -> T = Float::add(a, b);
    binary Sub(a, b) -> T = Float::sub(a, b);
    binary Mul(a, b) -> T = Float::mul(a, b);
    binary Div(a, b) -> T = Float::div(a, b);
    binary FloorDiv(a, b) -> T = a.floor_div(b);
    binary Mod(a, b) -> T = a.modulo(b);
    binary Quot(a, b) -> T = a.quot(b);
    binary Rem(a, b) -> T = a.rem(b);
    binary Min(a, b) -> T = Float::min(a, b);
    binary Max(a, b) -> T = Float::max(a, b);
}

operators! { Real;
    unary Rsqrt(a) -> T = functions::rsqrt(a);
    unary Cbrt(a) -> T = functions::cbrt(a);
    unary Exp(a) -> T = functions::exp(a);
    unary Exp2(a) -> T = functions::exp2(a);
    unary Expm1(a) -> T = functions::expm1(a);
    unary Log(a) -> T = functions::log(a);
    unary Log2(a) -> T = functions::log2(a);
    unary Log10(a) -> T = functions::log10(a);
    unary Log1p(a) -> T = functions::log1p(a);
    unary Sin(a) -> T = functions::sin(a);
    unary Cos(a) -> T = functions::cos(a);
    unary Tan(a) -> T = functions::tan(a);
    unary Asin(a) -> T = functions::asin(a);
    unary Acos(a) -> T = functions::acos(a);
    unary Atan(a) -> T = functions::atan(a);
    unary Sinh(a) -> T = functions::sinh(a);
    unary Cosh(a) -> T = functions::cosh(a);
    unary Tanh(a) -> T = functions::tanh(a);
    unary Asinh(a) -> T = functions::asinh(a);
    unary Acosh(a) -> T = functions::acosh(a);
    unary Atanh(a) -> T = functions::atanh(a);
    unary Erf(a) -> T = functions::erf(a);
    binary Pow(a, b) -> T = functions::pow(a, b);
    binary Atan2(a, b) -> T = functions::atan2(a, b);
    binary Hypot(a, b) -> T = functions::hypot(a, b);
}

struct Fma<T>(PhantomData<T>);

impl<T: Lane + Float> Ternary for Fma<T> {
    type A = T;
    type R = T;
    #[inline(always)]
    fn apply(a: T, b: T, c: T) -> T {
        Float::fma(a, b, c)
    }
}

/// `clip low high a`.
struct Clip<T>(PhantomData<T>);

impl<T: Lane + Float> Ternary for Clip<T> {
    type A = T;
    type R = T;
    #[inline(always)]
    fn apply(low: T, high: T, a: T) -> T {
        Float::min(Float::max(a, low), high)
    }
}

/// The loop of an operator on floats.
pub(super) fn loop_of<T: Lane + Float + Real>(op: ScalarOp) -> Option<Apply> {
    match op {
        ScalarOp::Neg => one::<Neg<T>>(),
        ScalarOp::Abs => one::<Abs<T>>(),
        ScalarOp::Signum => one::<Signum<T>>(),
        ScalarOp::Sqrt => one::<Sqrt<T>>(),
        ScalarOp::Floor => one::<Floor<T>>(),
        ScalarOp::Ceil => one::<Ceil<T>>(),
        ScalarOp::Round => one::<Round<T>>(),
        ScalarOp::Trunc => one::<Trunc<T>>(),
        ScalarOp::IsNan => one::<IsNan<T>>(),
        ScalarOp::IsInf => one::<IsInf<T>>(),
        ScalarOp::Rsqrt => one::<Rsqrt<T>>(),
        ScalarOp::Cbrt => one::<Cbrt<T>>(),
        ScalarOp::Exp => one::<Exp<T>>(),
        ScalarOp::Exp2 => one::<Exp2<T>>(),
        ScalarOp::Expm1 => one::<Expm1<T>>(),
        ScalarOp::Log => one::<Log<T>>(),
        ScalarOp::Log2 => one::<Log2<T>>(),
        ScalarOp::Log10 => one::<Log10<T>>(),
        ScalarOp::Log1p => one::<Log1p<T>>(),
        ScalarOp::Sin => one::<Sin<T>>(),
        ScalarOp::Cos => one::<Cos<T>>(),
        ScalarOp::Tan => one::<Tan<T>>(),
        ScalarOp::Asin => one::<Asin<T>>(),
        ScalarOp::Acos => one::<Acos<T>>(),
        ScalarOp::Atan => one::<Atan<T>>(),
        ScalarOp::Sinh => one::<Sinh<T>>(),
        ScalarOp::Cosh => one::<Cosh<T>>(),
        ScalarOp::Tanh => one::<Tanh<T>>(),
        ScalarOp::Asinh => one::<Asinh<T>>(),
        ScalarOp::Acosh => one::<Acosh<T>>(),
        ScalarOp::Atanh => one::<Atanh<T>>(),
        ScalarOp::Erf => one::<Erf<T>>(),
        ScalarOp::Add => two::<Add<T>>(),
        ScalarOp::Sub => two::<Sub<T>>(),
        ScalarOp::Mul => two::<Mul<T>>(),
        ScalarOp::Div => two::<Div<T>>(),
        ScalarOp::FloorDiv => two::<FloorDiv<T>>(),
        ScalarOp::Mod => two::<Mod<T>>(),
        ScalarOp::Quot => two::<Quot<T>>(),
        ScalarOp::Rem => two::<Rem<T>>(),
        ScalarOp::Min => two::<Min<T>>(),
        ScalarOp::Max => two::<Max<T>>(),
        ScalarOp::Pow => two::<Pow<T>>(),
        ScalarOp::Atan2 => two::<Atan2<T>>(),
        ScalarOp::Hypot => two::<Hypot<T>>(),
        ScalarOp::Fma => three::<Fma<T>>(),
        ScalarOp::Clip => three::<Clip<T>>(),
        _ => order::loop_of::<T>(op),
    }
}

/// The folds by an operator on these numbers, if it is a common one.
pub(super) fn primitive<T: Lane + Float + Real + Summed>(op: ScalarOp) -> Option<Primitive> {
    match op {
        ScalarOp::Add => Some(Primitive::sum::<Add<T>, T>()),
        ScalarOp::Mul => Some(Primitive::of::<Mul<T>>()),
        ScalarOp::Min => Some(Primitive::exact::<Min<T>>()),
        ScalarOp::Max => Some(Primitive::exact::<Max<T>>()),
        _ => None,
    }
}
