//! Exact algebra on index arithmetic: what composing index functions leaves behind, such as the
//! reverse of a reverse.

use std::collections::HashMap;

use weft_ir::code::{Operand, Register};
use weft_ir::{Scalar, ScalarOp, ScalarType};

/// How scalar registers are defined.
pub(super) type Definitions = HashMap<Register, Definition>;

/// The operation that a register is the result of.
#[derive(Clone, Debug)]
pub(super) struct Definition {
    /// The operator.
    pub op: ScalarOp,
    /// What it is applied to.
    pub operands: Vec<Operand>,
    /// The type of the result.
    pub ty: ScalarType,
}

/// An operand that has the value of the operation in every case, if there is one. Only `i64`
/// arithmetic, which wraps, and conditions on constants are looked at.
pub(super) fn simplify(
    op: ScalarOp,
    operands: &[Operand],
    definitions: &Definitions,
) -> Option<Operand> {
    match (op, operands) {
        (ScalarOp::Select, &[Operand::Scalar(Scalar::Bool(condition)), yes, no]) => {
            Some(if condition { yes } else { no })
        }
        (
            ScalarOp::And,
            &[Operand::Scalar(Scalar::Bool(true)), other]
            | &[other, Operand::Scalar(Scalar::Bool(true))],
        ) => Some(other),
        (_, &[left, right]) => integer(op, left, right, definitions),
        _ => None,
    }
}

fn integer(
    op: ScalarOp,
    left: Operand,
    right: Operand,
    definitions: &Definitions,
) -> Option<Operand> {
    let constants = (constant(left), constant(right));
    match (op, constants) {
        (ScalarOp::Add, (Some(a), Some(b))) => return Some(number(a.wrapping_add(b))),
        (ScalarOp::Sub, (Some(a), Some(b))) => return Some(number(a.wrapping_sub(b))),
        (ScalarOp::Mul, (Some(a), Some(b))) => return Some(number(a.wrapping_mul(b))),
        (ScalarOp::Lt, (Some(a), Some(b))) => return Some(truth(a < b)),
        (ScalarOp::Le, (Some(a), Some(b))) => return Some(truth(a <= b)),
        (ScalarOp::Gt, (Some(a), Some(b))) => return Some(truth(a > b)),
        (ScalarOp::Ge, (Some(a), Some(b))) => return Some(truth(a >= b)),
        (ScalarOp::Eq, (Some(a), Some(b))) => return Some(truth(a == b)),
        (ScalarOp::Ne, (Some(a), Some(b))) => return Some(truth(a != b)),
        (ScalarOp::Add | ScalarOp::Sub, (_, Some(0))) | (ScalarOp::Mul, (_, Some(1))) => {
            return Some(left);
        }
        (ScalarOp::Add, (Some(0), _)) | (ScalarOp::Mul, (Some(1), _)) => return Some(right),
        _ => {}
    }
    let (left_parts, right_parts) = (parts(left, definitions), parts(right, definitions));
    match op {
        // a - (a - x), (x + b) - b and (a + x) - a are x.
        ScalarOp::Sub => match (left_parts, right_parts) {
            (_, Some((ScalarOp::Sub, [a, x]))) if same(*a, left) => Some(*x),
            (Some((ScalarOp::Add, [x, b])), _) if same(*b, right) => Some(*x),
            (Some((ScalarOp::Add, [a, x])), _) if same(*a, right) => Some(*x),
            _ => None,
        },
        // (x - b) + b is x.
        ScalarOp::Add => match (left_parts, right_parts) {
            (Some((ScalarOp::Sub, [x, b])), _) if same(*b, right) => Some(*x),
            (_, Some((ScalarOp::Sub, [x, b]))) if same(*b, left) => Some(*x),
            _ => None,
        },
        _ => None,
    }
}

/// The operator and operands of an operation on `i64`s.
fn parts(operand: Operand, definitions: &Definitions) -> Option<(ScalarOp, &[Operand])> {
    let Operand::Register(register) = operand else { return None };
    let definition = definitions.get(&register)?;
    (definition.ty == ScalarType::I64).then_some((definition.op, definition.operands.as_slice()))
}

fn same(left: Operand, right: Operand) -> bool {
    match (left, right) {
        (Operand::Register(a), Operand::Register(b)) => a == b,
        (Operand::Scalar(Scalar::I64(a)), Operand::Scalar(Scalar::I64(b))) => a == b,
        (Operand::Register(_) | Operand::Scalar(_), _) => false,
    }
}

fn constant(operand: Operand) -> Option<i64> {
    match operand {
        Operand::Scalar(Scalar::I64(value)) => Some(value),
        Operand::Register(_) | Operand::Scalar(_) => None,
    }
}

fn number(value: i64) -> Operand {
    Operand::Scalar(Scalar::I64(value))
}

fn truth(value: bool) -> Operand {
    Operand::Scalar(Scalar::Bool(value))
}
