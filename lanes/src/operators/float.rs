//! The operators on floats.

use std::marker::PhantomData;

use weft_ir::ScalarOp;
use weft_ir::math::float::Float;
use weft_ir::math::transcendental as functions;
use weft_ir::math::transcendental::real::Real;

use super::{Ternary, long_one, long_three, long_two, one, operators, order, plain, three, two};
use crate::isa::Apply;
use crate::lanes::Lane;
use crate::primitive::{Folded, Primitive, Summed};

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
        ScalarOp::Rsqrt => long_one::<Rsqrt<T>>(),
        ScalarOp::Cbrt => long_one::<Cbrt<T>>(),
        ScalarOp::Exp => long_one::<Exp<T>>(),
        ScalarOp::Exp2 => long_one::<Exp2<T>>(),
        ScalarOp::Expm1 => long_one::<Expm1<T>>(),
        ScalarOp::Log => long_one::<Log<T>>(),
        ScalarOp::Log2 => long_one::<Log2<T>>(),
        ScalarOp::Log10 => long_one::<Log10<T>>(),
        ScalarOp::Log1p => long_one::<Log1p<T>>(),
        ScalarOp::Sin => long_one::<Sin<T>>(),
        ScalarOp::Cos => long_one::<Cos<T>>(),
        ScalarOp::Tan => long_one::<Tan<T>>(),
        ScalarOp::Asin => long_one::<Asin<T>>(),
        ScalarOp::Acos => long_one::<Acos<T>>(),
        ScalarOp::Atan => long_one::<Atan<T>>(),
        ScalarOp::Sinh => long_one::<Sinh<T>>(),
        ScalarOp::Cosh => long_one::<Cosh<T>>(),
        ScalarOp::Tanh => long_one::<Tanh<T>>(),
        ScalarOp::Asinh => long_one::<Asinh<T>>(),
        ScalarOp::Acosh => long_one::<Acosh<T>>(),
        ScalarOp::Atanh => long_one::<Atanh<T>>(),
        ScalarOp::Erf => long_one::<Erf<T>>(),
        ScalarOp::Add => two::<Add<T>>(),
        ScalarOp::Sub => two::<Sub<T>>(),
        ScalarOp::Mul => two::<Mul<T>>(),
        ScalarOp::Div => two::<Div<T>>(),
        ScalarOp::FloorDiv => two::<FloorDiv<T>>(),
        ScalarOp::Mod => plain::<Mod<T>>(),
        ScalarOp::Quot => two::<Quot<T>>(),
        ScalarOp::Rem => plain::<Rem<T>>(),
        ScalarOp::Min => two::<Min<T>>(),
        ScalarOp::Max => two::<Max<T>>(),
        ScalarOp::Pow => long_two::<Pow<T>>(),
        ScalarOp::Atan2 => long_two::<Atan2<T>>(),
        ScalarOp::Hypot => long_two::<Hypot<T>>(),
        ScalarOp::Fma => long_three::<Fma<T>>(),
        ScalarOp::Clip => three::<Clip<T>>(),
        ScalarOp::Eq => order::equal::<T>(),
        ScalarOp::Ne => order::unequal::<T>(),
        _ => order::compared::<T>(op),
    }
}

/// The folds by an operator on these numbers, if it is a common one.
pub(super) fn primitive<T: Folded + Float + Real + Summed>(op: ScalarOp) -> Option<Primitive> {
    match op {
        ScalarOp::Add => Some(Primitive::sum::<Add<T>, T>()),
        ScalarOp::Mul => Some(Primitive::of::<Mul<T>>()),
        ScalarOp::Min => Some(Primitive::idempotent::<Min<T>>()),
        ScalarOp::Max => Some(Primitive::idempotent::<Max<T>>()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::math::float::Float;
    use weft_ir::math::transcendental::real::Real;

    use super::{Atan2, Exp, Fma, Sin};
    use crate::isa::{Apply, Arguments, Slot};
    use crate::lanes::{Frame, GROUP, Group, Lane, LaneType};
    use crate::operators::{Called, One, Three, Two, long_one, long_three, long_two};

    fn check<T: Lane + Float + Real>(ty: LaneType, of: impl Fn(usize) -> T) {
        let versions = [
            (long_one::<Exp<T>>(), Apply::plain::<One<Called<Exp<T>>>>()),
            (long_one::<Sin<T>>(), Apply::plain::<One<Called<Sin<T>>>>()),
            (long_two::<Atan2<T>>(), Apply::plain::<Two<Called<Atan2<T>>>>()),
            (long_three::<Fma<T>>(), Apply::plain::<Three<Called<Fma<T>>>>()),
        ];
        let slot = |index| Slot { ty, uniform: false, index };
        for (version, baseline) in versions {
            let lanes = |start: usize| Group(std::array::from_fn(|lane| of(start + lane)));
            let mut frame = Frame::default();
            *T::file_mut(&mut frame) = (0..5).map(|at| vec![lanes(at * GROUP)]).collect();
            let operands = [slot(0), slot(1), slot(2), slot(2)];
            for (apply, out) in [(version.expect("a loop"), 3), (baseline, 4)] {
                let arguments = Arguments { out: slot(out), operands };
                apply.run(&mut frame, &arguments, GROUP).expect("nothing fails");
            }
            let file = T::file(&frame);
            assert_eq!(file[3][0].0, file[4][0].0);
        }
    }

    #[test]
    fn the_baseline_yields_the_same() {
        check(LaneType::F32, |at| at as f32 * 0.37 - 20.0);
        check(LaneType::F64, |at| at as f64 * 0.37 - 20.0);
    }
}
