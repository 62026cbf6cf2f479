//! What operators ask of a machine: whether they can fail, and how much work they are.

use crate::{ScalarOp, ScalarType};

/// Whether an operator has no result for some operands of a type: integers are not divided by zero, nor raised
/// to negative powers. Floats always yield something.
pub fn can_fail(op: ScalarOp, ty: ScalarType) -> bool {
    match op {
        ScalarOp::FloorDiv | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem => ty.is_int(),
        ScalarOp::Pow => ty.is_signed_int(),
        _ => false,
    }
}

/// How much work an operator is, from little to much. What that comes to in a unit is for those to say who
/// compare it with something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Work {
    /// An instruction or a few.
    Simple,
    /// Slow instructions: the quotient of floats, roots.
    Quotient,
    /// A division with checks and corrections.
    Division,
    /// A polynomial, with what stands around it.
    Function,
    /// A polynomial and, for large operands, another way.
    Periodic,
    /// Several of these, or a loop.
    Several,
}

/// How much work an operator is.
pub fn work(op: ScalarOp) -> Work {
    match op {
        ScalarOp::Neg
        | ScalarOp::Not
        | ScalarOp::Complement
        | ScalarOp::Abs
        | ScalarOp::Signum
        | ScalarOp::IsNan
        | ScalarOp::IsInf
        | ScalarOp::Popcount
        | ScalarOp::Clz
        | ScalarOp::Ctz
        | ScalarOp::Cast(_)
        | ScalarOp::Bitcast(_)
        | ScalarOp::Add
        | ScalarOp::Sub
        | ScalarOp::Mul
        | ScalarOp::Min
        | ScalarOp::Max
        | ScalarOp::BitAnd
        | ScalarOp::BitOr
        | ScalarOp::BitXor
        | ScalarOp::Shl
        | ScalarOp::Shr
        | ScalarOp::Eq
        | ScalarOp::Ne
        | ScalarOp::Lt
        | ScalarOp::Le
        | ScalarOp::Gt
        | ScalarOp::Ge
        | ScalarOp::And
        | ScalarOp::Or
        | ScalarOp::Floor
        | ScalarOp::Ceil
        | ScalarOp::Round
        | ScalarOp::Trunc
        | ScalarOp::Fma
        | ScalarOp::Clip
        | ScalarOp::Select => Work::Simple,
        ScalarOp::Div | ScalarOp::Sqrt | ScalarOp::Rsqrt => Work::Quotient,
        ScalarOp::FloorDiv | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem => Work::Division,
        ScalarOp::Cbrt
        | ScalarOp::Exp
        | ScalarOp::Exp2
        | ScalarOp::Expm1
        | ScalarOp::Log
        | ScalarOp::Log2
        | ScalarOp::Log10
        | ScalarOp::Log1p
        | ScalarOp::Asin
        | ScalarOp::Acos
        | ScalarOp::Atan
        | ScalarOp::Sinh
        | ScalarOp::Cosh
        | ScalarOp::Tanh
        | ScalarOp::Asinh
        | ScalarOp::Acosh
        | ScalarOp::Atanh
        | ScalarOp::Erf
        | ScalarOp::Atan2
        | ScalarOp::Hypot => Work::Function,
        ScalarOp::Sin | ScalarOp::Cos | ScalarOp::Tan => Work::Periodic,
        ScalarOp::Pow | ScalarOp::Gcd => Work::Several,
    }
}
