//! The operators on integers.

use weft_ir::ScalarOp;
use weft_ir::math::integer::Integer;

use super::{checked, one, operators, order, plain, two};
use crate::isa::Apply;
use crate::lanes::Lane;
use crate::primitive::{Folded, Primitive};

operators! { Integer;
    unary Neg(a) -> T = a.neg();
    unary Abs(a) -> T = a.abs();
    unary Signum(a) -> T = a.signum();
    unary Complement(a) -> T = a.complement();
    unary Popcount(a) -> i64 = a.popcount();
    unary Clz(a) -> i64 = a.clz();
    unary Ctz(a) -> i64 = a.ctz();
    binary Add(a, b) -> T = a.add(b);
    binary Sub(a, b) -> T = a.sub(b);
    binary Mul(a, b) -> T = a.mul(b);
    binary Gcd(a, b) -> T = a.gcd(b);
    binary BitAnd(a, b) -> T = a.bit_and(b);
    binary BitOr(a, b) -> T = a.bit_or(b);
    binary BitXor(a, b) -> T = a.bit_xor(b);
    binary Shl(a, b) -> T = a.shl(b);
    binary Shr(a, b) -> T = a.shr(b);
    fallible FloorDiv(a, b) = a.floor_div(b);
    fallible Mod(a, b) = a.modulo(b);
    fallible Quot(a, b) = a.quot(b);
    fallible Rem(a, b) = a.rem(b);
    fallible Pow(a, b) = a.pow(b);
}

/// The loop of an operator on integers that heeds their sign, or none: the others are those of the
/// unsigned integers of the same width.
pub(super) fn signed<T: Lane + Integer>(op: ScalarOp) -> Option<Apply> {
    match op {
        ScalarOp::Abs => one::<Abs<T>>(),
        ScalarOp::Signum => one::<Signum<T>>(),
        ScalarOp::Gcd => plain::<Gcd<T>>(),
        ScalarOp::Shr => two::<Shr<T>>(),
        ScalarOp::FloorDiv => checked::<FloorDiv<T>>(),
        ScalarOp::Mod => checked::<Mod<T>>(),
        ScalarOp::Quot => checked::<Quot<T>>(),
        ScalarOp::Rem => checked::<Rem<T>>(),
        ScalarOp::Pow => checked::<Pow<T>>(),
        _ => order::ordered::<T>(op),
    }
}

/// The loop of an operator on unsigned integers.
pub(super) fn unsigned<T: Lane + Integer>(op: ScalarOp) -> Option<Apply> {
    match op {
        ScalarOp::Neg => one::<Neg<T>>(),
        ScalarOp::Complement => one::<Complement<T>>(),
        ScalarOp::Popcount => one::<Popcount<T>>(),
        ScalarOp::Clz => one::<Clz<T>>(),
        ScalarOp::Ctz => one::<Ctz<T>>(),
        ScalarOp::Add => two::<Add<T>>(),
        ScalarOp::Sub => two::<Sub<T>>(),
        ScalarOp::Mul => two::<Mul<T>>(),
        ScalarOp::BitAnd => two::<BitAnd<T>>(),
        ScalarOp::BitOr => two::<BitOr<T>>(),
        ScalarOp::BitXor => two::<BitXor<T>>(),
        ScalarOp::Shl => two::<Shl<T>>(),
        ScalarOp::Eq => order::equal::<T>(),
        ScalarOp::Ne => order::unequal::<T>(),
        // Towards zero is down.
        ScalarOp::Quot => signed::<T>(ScalarOp::FloorDiv),
        ScalarOp::Rem => signed::<T>(ScalarOp::Mod),
        _ => signed::<T>(op),
    }
}

/// The folds by an operator on these numbers, if it is a common one.
pub(super) fn primitive<T: Folded + Integer>(op: ScalarOp) -> Option<Primitive> {
    match op {
        ScalarOp::Add => Some(Primitive::from_zeros::<Add<T>>()),
        ScalarOp::Mul => Some(Primitive::exact::<Mul<T>>()),
        ScalarOp::BitAnd => Some(Primitive::idempotent::<BitAnd<T>>()),
        ScalarOp::BitOr => Some(Primitive::from_zeros::<BitOr<T>>()),
        ScalarOp::BitXor => Some(Primitive::from_zeros::<BitXor<T>>()),
        _ => order::ordered_primitive::<T>(op),
    }
}
