//! Comparisons, selection, and the operators on `bool`.

use std::marker::PhantomData;

use weft_ir::ScalarOp;

use super::integer::unsigned;
use super::{Ternary, operators, three, two};
use crate::isa::Apply;
use crate::lanes::{Lane, LaneType};
use crate::primitive::{Folded, Primitive};

operators! { PartialOrd;
    binary Equal(a, b) -> bool = a == b;
    binary Unequal(a, b) -> bool = a != b;
    binary Less(a, b) -> bool = a < b;
    binary LessEqual(a, b) -> bool = a <= b;
}

struct Select<T>(PhantomData<T>);

impl<T: Lane> Ternary for Select<T> {
    type A = bool;
    type R = T;
    #[inline(always)]
    fn apply(condition: bool, a: T, b: T) -> T {
        if condition { a } else { b }
    }
}

/// The selection between lanes of a type: of any with that width.
pub(super) fn select(ty: LaneType) -> Option<Apply> {
    match ty {
        LaneType::I8 | LaneType::U8 | LaneType::Bool => three::<Select<u8>>(),
        LaneType::I16 | LaneType::U16 => three::<Select<u16>>(),
        LaneType::I32 | LaneType::U32 | LaneType::F32 => three::<Select<u32>>(),
        LaneType::I64 | LaneType::U64 | LaneType::F64 => three::<Select<u64>>(),
    }
}

/// Whether lanes are the same.
pub(super) fn equal<T: Lane>() -> Option<Apply> {
    two::<Equal<T>>()
}

/// Whether lanes are not the same.
pub(super) fn unequal<T: Lane>() -> Option<Apply> {
    two::<Unequal<T>>()
}

/// The comparisons that tell a type's order.
pub(super) fn compared<T: Lane>(op: ScalarOp) -> Option<Apply> {
    match op {
        ScalarOp::Lt => two::<Less<T>>(),
        ScalarOp::Le => two::<LessEqual<T>>(),
        _ => None,
    }
}

operators! { Ord;
    binary Min(a, b) -> T = if b < a { b } else { a };
    binary Max(a, b) -> T = if b > a { b } else { a };
}

/// `clip low high a`: with the bounds in the wrong order the upper one wins.
struct Clip<T>(PhantomData<T>);

impl<T: Lane + Ord> Ternary for Clip<T> {
    type A = T;
    type R = T;
    #[inline(always)]
    fn apply(low: T, high: T, a: T) -> T {
        a.max(low).min(high)
    }
}

/// The operators that every type with a total order has.
pub(super) fn ordered<T: Lane + Ord>(op: ScalarOp) -> Option<Apply> {
    match op {
        ScalarOp::Min => two::<Min<T>>(),
        ScalarOp::Max => two::<Max<T>>(),
        ScalarOp::Clip => three::<Clip<T>>(),
        _ => compared::<T>(op),
    }
}

/// Generic for the macro's sake; the type is always `bool`.
trait Truth: Into<bool> + From<bool> {}

impl Truth for bool {}

operators! { Truth;
    unary Not(a) -> T = T::from(!a.into());
    binary And(a, b) -> T = T::from(a.into() & b.into());
    binary Or(a, b) -> T = T::from(a.into() | b.into());
    binary Xor(a, b) -> T = T::from(a.into() ^ b.into());
}

/// The operators on `bool`: but for one, those on bytes that are 0 or 1.
pub(super) fn truth(op: ScalarOp) -> Option<Apply> {
    match op {
        ScalarOp::Not => super::one::<Not<bool>>(),
        ScalarOp::And | ScalarOp::BitAnd => unsigned::<u8>(ScalarOp::BitAnd),
        ScalarOp::Or | ScalarOp::BitOr => unsigned::<u8>(ScalarOp::BitOr),
        ScalarOp::BitXor | ScalarOp::Eq | ScalarOp::Ne => unsigned::<u8>(op),
        _ => ordered::<u8>(op),
    }
}

/// The folds by the extremes of a type with a total order.
pub(super) fn ordered_primitive<T: Folded + Ord>(op: ScalarOp) -> Option<Primitive> {
    match op {
        ScalarOp::Min => Some(Primitive::idempotent::<Min<T>>()),
        ScalarOp::Max => Some(Primitive::idempotent::<Max<T>>()),
        _ => None,
    }
}

/// The folds by the operators on `bool`.
pub(super) fn bool_primitive(op: ScalarOp) -> Option<Primitive> {
    match op {
        ScalarOp::And | ScalarOp::BitAnd => Some(Primitive::idempotent::<And<bool>>()),
        ScalarOp::Or | ScalarOp::BitOr => Some(Primitive::idempotent::<Or<bool>>()),
        ScalarOp::BitXor => Some(Primitive::from_zeros::<Xor<bool>>()),
        _ => ordered_primitive::<bool>(op),
    }
}
