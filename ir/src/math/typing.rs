//! The typing rules of the scalar operators.

use crate::{ScalarOp, ScalarType};

/// How many operands an operator takes: 1, 2 or 3.
pub fn arity(op: ScalarOp) -> usize {
    rule(op).0
}

/// The result's type for operands of these types, or nothing if the operator does not admit them.
pub fn result_type(op: ScalarOp, operands: &[ScalarType]) -> Option<ScalarType> {
    let (arity, admits, result) = rule(op);
    let (&last, rest) = operands.split_last()?;
    let same = match (op, rest) {
        (ScalarOp::Select, [condition, other]) => *condition == ScalarType::Bool && *other == last,
        _ => rest.iter().all(|&ty| ty == last),
    };
    if operands.len() != arity || !same {
        return None;
    }
    let admitted = match admits {
        Admits::All => true,
        Admits::Numbers => last.is_int() || last.is_float(),
        Admits::Floats => last.is_float(),
        Admits::Integers => last.is_int(),
        Admits::Bits => last.is_int() || last == ScalarType::Bool,
        Admits::Bool => last == ScalarType::Bool,
        Admits::SameWidth(target) => {
            let wide = |ty: ScalarType| ty.bytes() >= 4;
            wide(last) && last.bytes() == target.bytes()
        }
    };
    admitted.then(|| result.unwrap_or(last))
}

/// The operand types that an operator admits; all operands have the same, but for the condition of
/// `Select`.
#[derive(Clone, Copy)]
enum Admits {
    All,
    Numbers,
    Floats,
    Integers,
    Bits,
    Bool,
    /// Numbers of four or eight bytes, as wide as the given type.
    SameWidth(ScalarType),
}

/// Arity, admitted operand types, and the result's type where it is not the operands'.
fn rule(op: ScalarOp) -> (usize, Admits, Option<ScalarType>) {
    match op {
        ScalarOp::Neg | ScalarOp::Abs | ScalarOp::Signum => (1, Admits::Numbers, None),
        ScalarOp::Not => (1, Admits::Bool, None),
        ScalarOp::Complement => (1, Admits::Integers, None),
        ScalarOp::Sqrt
        | ScalarOp::Rsqrt
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
        | ScalarOp::Floor
        | ScalarOp::Ceil
        | ScalarOp::Round
        | ScalarOp::Trunc => (1, Admits::Floats, None),
        ScalarOp::IsNan | ScalarOp::IsInf => (1, Admits::Floats, Some(ScalarType::Bool)),
        ScalarOp::Popcount | ScalarOp::Clz | ScalarOp::Ctz => {
            (1, Admits::Integers, Some(ScalarType::I64))
        }
        ScalarOp::Cast(target) => (1, Admits::All, Some(target)),
        ScalarOp::Bitcast(target) => (1, Admits::SameWidth(target), Some(target)),
        ScalarOp::Add
        | ScalarOp::Sub
        | ScalarOp::Mul
        | ScalarOp::FloorDiv
        | ScalarOp::Mod
        | ScalarOp::Quot
        | ScalarOp::Rem
        | ScalarOp::Pow => (2, Admits::Numbers, None),
        ScalarOp::Div | ScalarOp::Atan2 | ScalarOp::Hypot => (2, Admits::Floats, None),
        ScalarOp::Min | ScalarOp::Max => (2, Admits::All, None),
        ScalarOp::Gcd | ScalarOp::Shl | ScalarOp::Shr => (2, Admits::Integers, None),
        ScalarOp::BitAnd | ScalarOp::BitOr | ScalarOp::BitXor => (2, Admits::Bits, None),
        ScalarOp::Eq | ScalarOp::Ne | ScalarOp::Lt | ScalarOp::Le | ScalarOp::Gt | ScalarOp::Ge => {
            (2, Admits::All, Some(ScalarType::Bool))
        }
        ScalarOp::And | ScalarOp::Or => (2, Admits::Bool, None),
        ScalarOp::Fma => (3, Admits::Floats, None),
        ScalarOp::Clip | ScalarOp::Select => (3, Admits::All, None),
    }
}
