//! What scalar operators cost: the one table that says whether a value is computed again or stored, in
//! flattening and in fusion.

use weft_ir::ScalarOp;

/// What an operator costs beside a load, which costs 1.
pub(crate) fn operator_cost(op: ScalarOp) -> u32 {
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
        | ScalarOp::Select => 1,
        ScalarOp::Sqrt
        | ScalarOp::Div
        | ScalarOp::Rsqrt
        | ScalarOp::FloorDiv
        | ScalarOp::Mod
        | ScalarOp::Quot
        | ScalarOp::Rem => 8,
        ScalarOp::Gcd
        | ScalarOp::Pow
        | ScalarOp::Cbrt
        | ScalarOp::Exp
        | ScalarOp::Exp2
        | ScalarOp::Expm1
        | ScalarOp::Log
        | ScalarOp::Log2
        | ScalarOp::Log10
        | ScalarOp::Log1p
        | ScalarOp::Sin
        | ScalarOp::Cos
        | ScalarOp::Tan
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
        | ScalarOp::Hypot => 20,
    }
}

/// Whether an operator takes much longer than a load.
pub(crate) fn is_slow(op: ScalarOp) -> bool {
    operator_cost(op) > 1
}
