//! Scalar operators as loops over lanes. What each yields is defined in [`weft_ir::math`]; here
//! stands only which loop it is.
#![allow(unsafe_code)]

mod cast;
mod float;
mod integer;
mod order;
mod random;

use std::marker::PhantomData;

use weft_ir::{FaultKind, ScalarOp, ScalarType, TrapKind};

use crate::isa::{Apply, Loop, Operand, groups_mut};
use crate::lanes::{GROUP, Lane, LaneType};
use crate::primitive::Primitive;

pub use random::random;

/// The loop of an operator on operands of these types.
///
/// # Panics
/// If the operator does not admit them.
pub fn operator(op: ScalarOp, operands: &[ScalarType]) -> Apply {
    let last = operands.last().expect("an operator has operands");
    let ty = LaneType::of(*last);
    let found = match op {
        ScalarOp::Cast(target) => Some(cast::cast(ty, LaneType::of(target))),
        ScalarOp::Bitcast(target) => cast::bitcast(ty, LaneType::of(target)),
        ScalarOp::Select => order::select(ty),
        // What is greater is exchanged with what is less.
        ScalarOp::Gt => number(ScalarOp::Lt, ty).map(Apply::exchanged),
        ScalarOp::Ge => number(ScalarOp::Le, ty).map(Apply::exchanged),
        _ => number(op, ty),
    };
    found.unwrap_or_else(|| panic!("{op:?} does not admit operands of types {operands:?}"))
}

/// The loop of an operator whose operands are all of one type.
fn number(op: ScalarOp, ty: LaneType) -> Option<Apply> {
    match ty {
        LaneType::I8 => integer::signed::<i8>(op).or_else(|| number(op, LaneType::U8)),
        LaneType::I16 => integer::signed::<i16>(op).or_else(|| number(op, LaneType::U16)),
        LaneType::I32 => integer::signed::<i32>(op).or_else(|| number(op, LaneType::U32)),
        LaneType::I64 => integer::signed::<i64>(op).or_else(|| number(op, LaneType::U64)),
        LaneType::U8 => integer::unsigned::<u8>(op),
        LaneType::U16 => integer::unsigned::<u16>(op),
        LaneType::U32 => integer::unsigned::<u32>(op),
        LaneType::U64 => integer::unsigned::<u64>(op),
        LaneType::F32 => float::loop_of::<f32>(op),
        LaneType::F64 => float::loop_of::<f64>(op),
        LaneType::Bool => order::truth(op),
    }
}

/// The folds by an operator, if it is a common one: all of these are commutative.
pub fn primitive(op: ScalarOp, ty: LaneType) -> Option<Primitive> {
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
    const RESULT: usize = size_of::<O::R>();
    const OPERANDS: [usize; 4] = [size_of::<O::A>(), 0, 0, 0];

    #[inline(always)]
    unsafe fn run(out: &mut [u8], [a, ..]: [&[u8]; 4], _: usize) -> Result<(), FaultKind> {
        // SAFETY: what the caller promises.
        let (out, a) = unsafe { (groups_mut::<O::R>(out), Operand::<O::A>::new(a)) };
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: operands have as many groups as the result, or one.
            let a = unsafe { a.lanes(at) };
            for (out, &a) in out.0.iter_mut().zip(a) {
                *out = O::apply(a);
            }
        }
        Ok(())
    }
}

/// The loop of a [`Binary`].
pub(crate) struct Two<O>(PhantomData<O>);

impl<O: Binary> Loop for Two<O> {
    const RESULT: usize = size_of::<O::R>();
    const OPERANDS: [usize; 4] = [size_of::<O::A>(), size_of::<O::A>(), 0, 0];

    #[inline(always)]
    unsafe fn run(out: &mut [u8], [a, b, ..]: [&[u8]; 4], _: usize) -> Result<(), FaultKind> {
        // SAFETY: what the caller promises.
        let (a, b) = unsafe { (Operand::<O::A>::new(a), Operand::<O::A>::new(b)) };
        // SAFETY: as above.
        let out = unsafe { groups_mut::<O::R>(out) };
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: operands have as many groups as the result, or one.
            let (a, b) = unsafe { (a.lanes(at), b.lanes(at)) };
            for ((out, &a), &b) in out.0.iter_mut().zip(a).zip(b) {
                *out = O::apply(a, b);
            }
        }
        Ok(())
    }
}

/// The loop of a [`Ternary`].
pub(crate) struct Three<O>(PhantomData<O>);

impl<O: Ternary> Loop for Three<O> {
    const RESULT: usize = size_of::<O::R>();
    const OPERANDS: [usize; 4] = [size_of::<O::A>(), size_of::<O::R>(), size_of::<O::R>(), 0];

    #[inline(always)]
    unsafe fn run(out: &mut [u8], [a, b, c, _]: [&[u8]; 4], _: usize) -> Result<(), FaultKind> {
        // SAFETY: what the caller promises.
        let (a, out) = unsafe { (Operand::<O::A>::new(a), groups_mut::<O::R>(out)) };
        // SAFETY: as above.
        let (b, c) = unsafe { (Operand::<O::R>::new(b), Operand::<O::R>::new(c)) };
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: operands have as many groups as the result, or one.
            let (a, b, c) = unsafe { (a.lanes(at), b.lanes(at), c.lanes(at)) };
            let operands = a.iter().zip(b).zip(c);
            for (out, ((&a, &b), &c)) in out.0.iter_mut().zip(operands) {
                *out = O::apply(a, b, c);
            }
        }
        Ok(())
    }
}

/// The loop of a [`Fallible`]: over the lanes of the block only.
pub(crate) struct Checked<O>(PhantomData<O>);

impl<O: Fallible> Loop for Checked<O> {
    const RESULT: usize = size_of::<O::A>();
    const OPERANDS: [usize; 4] = [size_of::<O::A>(), size_of::<O::A>(), 0, 0];

    #[inline(always)]
    unsafe fn run(out: &mut [u8], [a, b, ..]: [&[u8]; 4], lanes: usize) -> Result<(), FaultKind> {
        // SAFETY: what the caller promises.
        let (a, b) = unsafe { (Operand::<O::A>::new(a), Operand::<O::A>::new(b)) };
        // SAFETY: as above.
        let out = unsafe { groups_mut::<O::A>(out) };
        let mut failed = None;
        for (at, out) in out.iter_mut().enumerate() {
            // SAFETY: operands have as many groups as the result, or one.
            let (a, b) = unsafe { (a.lanes(at), b.lanes(at)) };
            let rest = lanes.saturating_sub(at * GROUP);
            for ((out, &a), &b) in out.0.iter_mut().zip(a).zip(b).take(rest) {
                match O::apply(a, b) {
                    Ok(value) => *out = value,
                    Err(trap) => failed = Some(FaultKind::of_trap(&trap)),
                }
            }
            if lanes == 1 {
                out.0 = [out.0[0]; GROUP];
            }
        }
        failed.map_or(Ok(()), Err)
    }
}

/// A long operator that is called for each lane instead of being inlined into the loop: in the baseline, where
/// `fma` is a call and nothing could be gained.
pub(crate) struct Called<O>(PhantomData<O>);

impl<O: Unary> Unary for Called<O> {
    type A = O::A;
    type R = O::R;
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn apply(a: O::A) -> O::R {
        O::apply(a)
    }
}

impl<O: Binary> Binary for Called<O> {
    type A = O::A;
    type R = O::R;
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn apply(a: O::A, b: O::A) -> O::R {
        O::apply(a, b)
    }
}

impl<O: Ternary> Ternary for Called<O> {
    type A = O::A;
    type R = O::R;
    #[cfg_attr(target_arch = "x86_64", inline(never))]
    fn apply(a: O::A, b: O::R, c: O::R) -> O::R {
        O::apply(a, b, c)
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

/// The loop of a long operator of one operand.
pub(crate) fn long_one<O: Unary>() -> Option<Apply> {
    Some(Apply::in_versions::<One<O>, One<Called<O>>>())
}

/// The loop of a long operator of two operands.
pub(crate) fn long_two<O: Binary>() -> Option<Apply> {
    Some(Apply::in_versions::<Two<O>, Two<Called<O>>>())
}

/// The loop of a long operator of three operands.
pub(crate) fn long_three<O: Ternary>() -> Option<Apply> {
    Some(Apply::in_versions::<Three<O>, Three<Called<O>>>())
}

/// The loop of an operator of two operands that is no vector instructions.
pub(crate) fn plain<O: Binary>() -> Option<Apply> {
    Some(Apply::plain::<Two<O>>())
}

/// The loop of an operator that may fail: divisions and powers, which are no vector instructions.
pub(crate) fn checked<O: Fallible>() -> Option<Apply> {
    Some(Apply::plain::<Checked<O>>())
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
