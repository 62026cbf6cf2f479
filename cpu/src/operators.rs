//! Scalar operators as loops over lanes. What each yields is defined in [`weft_ir::math`]; here
//! stands only which loop it is.

mod cast;
mod float;
mod integer;
mod order;
mod random;

use std::marker::PhantomData;

use weft_ir::{FaultKind, ScalarOp, ScalarType, TrapKind};

use crate::fold::Primitive;
use crate::isa::{Apply, Arguments, Loop};
use crate::lanes::{Frame, Lane, LaneType};

pub(crate) use random::random;

/// The loop of an operator on operands of these types.
///
/// # Panics
/// If the operator does not admit them.
pub(crate) fn operator(op: ScalarOp, operands: &[ScalarType]) -> Apply {
    let last = operands.last().expect("an operator has operands");
    let ty = LaneType::of(*last);
    let found = match op {
        ScalarOp::Cast(target) => Some(cast::cast(ty, LaneType::of(target))),
        ScalarOp::Bitcast(target) => cast::bitcast(ty, LaneType::of(target)),
        _ => match ty {
            LaneType::I8 => integer::loop_of::<i8>(op),
            LaneType::I16 => integer::loop_of::<i16>(op),
            LaneType::I32 => integer::loop_of::<i32>(op),
            LaneType::I64 => integer::loop_of::<i64>(op),
            LaneType::U8 => integer::loop_of::<u8>(op),
            LaneType::U16 => integer::loop_of::<u16>(op),
            LaneType::U32 => integer::loop_of::<u32>(op),
            LaneType::U64 => integer::loop_of::<u64>(op),
            LaneType::F32 => float::loop_of::<f32>(op),
            LaneType::F64 => float::loop_of::<f64>(op),
            LaneType::Bool => order::bool_loop(op),
        },
    };
    found.unwrap_or_else(|| panic!("{op:?} does not admit operands of types {operands:?}"))
}

/// The folds by an operator, if it is a common one: all of these are commutative.
pub(crate) fn primitive(op: ScalarOp, ty: LaneType) -> Option<Primitive> {
    match ty {
        LaneType::I8 => integer::primitive::<i8>(op),
        LaneType::I16 => integer::primitive::<i16>(op),
        LaneType::I32 => integer::primitive::<i32>(op),
        LaneType::I64 => integer::primitive::<i64>(op),
        LaneType::U8 => integer::primitive::<u8>(op),
        LaneType::U16 => integer::primitive::<u16>(op),
        LaneType::U32 => integer::primitive::<u32>(op),
        LaneType::U64 => integer::primitive::<u64>(op),
        LaneType::F32 => float::primitive::<f32>(op),
        LaneType::F64 => float::primitive::<f64>(op),
        LaneType::Bool => order::bool_primitive(op),
    }
}

/// Whether an operator can fail on operands of a type.
pub(crate) fn may_fail(op: ScalarOp, ty: ScalarType) -> bool {
    ty.is_int()
        && matches!(
            op,
            ScalarOp::FloorDiv | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem | ScalarOp::Pow
        )
}

/// Whether an operator is long: a transcendental function, or a loop.
pub(crate) fn is_long(op: ScalarOp) -> bool {
    use ScalarOp as S;
    match op {
        S::Rsqrt | S::Cbrt | S::Exp | S::Exp2 | S::Expm1 | S::Log | S::Log2 | S::Log10 => true,
        S::Log1p | S::Sin | S::Cos | S::Tan | S::Asin | S::Acos | S::Atan | S::Sinh => true,
        S::Cosh | S::Tanh | S::Asinh | S::Acosh | S::Atanh | S::Erf | S::Pow | S::Atan2 => true,
        S::Hypot | S::Gcd | S::FloorDiv | S::Mod | S::Quot | S::Rem => true,
        S::Neg | S::Not | S::Complement | S::Abs | S::Signum | S::Sqrt | S::Floor | S::Ceil => {
            false
        }
        S::Round | S::Trunc | S::IsNan | S::IsInf | S::Popcount | S::Clz | S::Ctz => false,
        S::Cast(_) | S::Bitcast(_) | S::Add | S::Sub | S::Mul | S::Div | S::Min | S::Max => false,
        S::BitAnd | S::BitOr | S::BitXor | S::Shl | S::Shr | S::Eq | S::Ne | S::Lt => false,
        S::Le | S::Gt | S::Ge | S::And | S::Or | S::Fma | S::Clip | S::Select => false,
    }
}

/// An operator of one operand.
pub(crate) trait Unary {
    /// The operand.
    type A: Lane;
    /// The result.
    type R: Lane;
    /// On one lane.
    fn apply(a: Self::A) -> Self::R;
}

/// An operator of two operands.
pub(crate) trait Binary {
    /// The operands.
    type A: Lane;
    /// The result.
    type R: Lane;
    /// On one lane.
    fn apply(a: Self::A, b: Self::A) -> Self::R;
}

/// An operator of three operands.
pub(crate) trait Ternary {
    /// The first operand.
    type A: Lane;
    /// The others, and the result.
    type R: Lane;
    /// On one lane.
    fn apply(a: Self::A, b: Self::R, c: Self::R) -> Self::R;
}

/// An operator of two operands that may fail.
pub(crate) trait Fallible {
    /// The operands and the result.
    type A: Lane;
    /// On one lane.
    fn apply(a: Self::A, b: Self::A) -> Result<Self::A, TrapKind>;
}

/// The loop of a [`Unary`].
pub(crate) struct One<O>(PhantomData<O>);

impl<O: Unary> Loop for One<O> {
    #[inline(always)]
    fn run(frame: &mut Frame, arguments: &Arguments, lanes: usize) -> Result<(), FaultKind> {
        let [a, ..] = arguments.operands;
        let mut out = std::mem::take(&mut O::R::file_mut(frame)[arguments.out.index as usize]);
        let operand = &O::A::file(frame)[a.index as usize];
        for (at, out) in out[..arguments.groups(lanes)].iter_mut().enumerate() {
            let operand = &operand[at * a.step()].0;
            for (out, &lane) in out.0.iter_mut().zip(operand) {
                *out = O::apply(lane);
            }
        }
        O::R::file_mut(frame)[arguments.out.index as usize] = out;
        Ok(())
    }
}

/// The loop of a [`Binary`].
pub(crate) struct Two<O>(PhantomData<O>);

impl<O: Binary> Loop for Two<O> {
    #[inline(always)]
    fn run(frame: &mut Frame, arguments: &Arguments, lanes: usize) -> Result<(), FaultKind> {
        let [a, b, ..] = arguments.operands;
        let mut out = std::mem::take(&mut O::R::file_mut(frame)[arguments.out.index as usize]);
        let left = &O::A::file(frame)[a.index as usize];
        let right = &O::A::file(frame)[b.index as usize];
        for (at, out) in out[..arguments.groups(lanes)].iter_mut().enumerate() {
            let left = &left[at * a.step()].0;
            let right = &right[at * b.step()].0;
            for ((out, &left), &right) in out.0.iter_mut().zip(left).zip(right) {
                *out = O::apply(left, right);
            }
        }
        O::R::file_mut(frame)[arguments.out.index as usize] = out;
        Ok(())
    }
}

/// The loop of a [`Ternary`].
pub(crate) struct Three<O>(PhantomData<O>);

impl<O: Ternary> Loop for Three<O> {
    #[inline(always)]
    fn run(frame: &mut Frame, arguments: &Arguments, lanes: usize) -> Result<(), FaultKind> {
        let [a, b, c, _] = arguments.operands;
        let mut out = std::mem::take(&mut O::R::file_mut(frame)[arguments.out.index as usize]);
        let first = &O::A::file(frame)[a.index as usize];
        let second = &O::R::file(frame)[b.index as usize];
        let third = &O::R::file(frame)[c.index as usize];
        for (at, out) in out[..arguments.groups(lanes)].iter_mut().enumerate() {
            let first = &first[at * a.step()].0;
            let second = &second[at * b.step()].0;
            let third = &third[at * c.step()].0;
            let operands = first.iter().zip(second).zip(third);
            for (out, ((&first, &second), &third)) in out.0.iter_mut().zip(operands) {
                *out = O::apply(first, second, third);
            }
        }
        O::R::file_mut(frame)[arguments.out.index as usize] = out;
        Ok(())
    }
}

/// The loop of a [`Fallible`]: over the lanes of the block only.
pub(crate) struct Checked<O>(PhantomData<O>);

impl<O: Fallible> Loop for Checked<O> {
    #[inline(always)]
    fn run(frame: &mut Frame, arguments: &Arguments, lanes: usize) -> Result<(), FaultKind> {
        let [a, b, ..] = arguments.operands;
        let lanes = if arguments.out.uniform { 1 } else { lanes };
        let mut out = std::mem::take(&mut O::A::file_mut(frame)[arguments.out.index as usize]);
        let left = &O::A::file(frame)[a.index as usize];
        let right = &O::A::file(frame)[b.index as usize];
        let mut failed = None;
        for (at, out) in out[..arguments.groups(lanes)].iter_mut().enumerate() {
            let left = &left[at * a.step()].0;
            let right = &right[at * b.step()].0;
            let rest = lanes.saturating_sub(at * crate::lanes::GROUP);
            for ((out, &left), &right) in out.0.iter_mut().zip(left).zip(right).take(rest) {
                match O::apply(left, right) {
                    Ok(value) => *out = value,
                    Err(trap) => failed = Some(FaultKind::of_trap(&trap)),
                }
            }
            if arguments.out.uniform {
                out.0 = [out.0[0]; crate::lanes::GROUP];
            }
        }
        O::A::file_mut(frame)[arguments.out.index as usize] = out;
        failed.map_or(Ok(()), Err)
    }
}

/// The loop of an operator of one operand.
pub(crate) fn one<O: Unary>() -> Option<Apply> {
    Some(Apply::of::<One<O>>())
}

/// The loop of an operator of two operands.
pub(crate) fn two<O: Binary>() -> Option<Apply> {
    Some(Apply::of::<Two<O>>())
}

/// The loop of an operator of three operands.
pub(crate) fn three<O: Ternary>() -> Option<Apply> {
    Some(Apply::of::<Three<O>>())
}

/// The loop of an operator that may fail.
pub(crate) fn checked<O: Fallible>() -> Option<Apply> {
    Some(Apply::of::<Checked<O>>())
}

/// Declares operators on a generic type `T`, each by an expression.
macro_rules! operators {
    ($bound:path; $(unary $name1:ident($a1:ident) -> $r1:ty = $body1:expr;)*
        $(binary $name2:ident($a2:ident, $b2:ident) -> $r2:ty = $body2:expr;)*
        $(fallible $name3:ident($a3:ident, $b3:ident) = $body3:expr;)*) => {
        $(struct $name1<T>(std::marker::PhantomData<T>);
        impl<T: $bound + $crate::lanes::Lane> $crate::operators::Unary for $name1<T> {
            type A = T;
            type R = $r1;
            #[inline(always)]
            fn apply($a1: T) -> $r1 {
                $body1
            }
        })*
        $(struct $name2<T>(std::marker::PhantomData<T>);
        impl<T: $bound + $crate::lanes::Lane> $crate::operators::Binary for $name2<T> {
            type A = T;
            type R = $r2;
            #[inline(always)]
            fn apply($a2: T, $b2: T) -> $r2 {
                $body2
            }
        })*
        $(struct $name3<T>(std::marker::PhantomData<T>);
        impl<T: $bound + $crate::lanes::Lane> $crate::operators::Fallible for $name3<T> {
            type A = T;
            #[inline(always)]
            fn apply($a3: T, $b3: T) -> Result<T, weft_ir::TrapKind> {
                $body3
            }
        })*
    };
}
pub(crate) use operators;
