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

/// What stands for an operation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Simpler {
    /// An operand that has the value of the operation in every case.
    pub value: Operand,
    /// What cancels out, without which there is no value all the same.
    pub cancelled: Option<Operand>,
}

/// What stands for an operation, if there is something. Only `i64` arithmetic, which wraps, and conditions
/// on constants are looked at.
pub(super) fn simplify(
    op: ScalarOp,
    operands: &[Operand],
    definitions: &Definitions,
) -> Option<Simpler> {
    let alone = |value| Simpler { value, cancelled: None };
    match (op, operands) {
        (ScalarOp::Select, &[Operand::Scalar(Scalar::Bool(condition)), yes, no]) => {
            Some(alone(if condition { yes } else { no }))
        }
        (
            ScalarOp::And,
            &[Operand::Scalar(Scalar::Bool(true)), other]
            | &[other, Operand::Scalar(Scalar::Bool(true))],
        ) => Some(alone(other)),
        (_, &[left, right]) => integer(op, left, right)
            .map(alone)
            .or_else(|| cancellation(op, left, right, definitions)),
        _ => None,
    }
}

fn integer(op: ScalarOp, left: Operand, right: Operand) -> Option<Operand> {
    let constants = (constant(left), constant(right));
    Some(match (op, constants) {
        (ScalarOp::Add, (Some(a), Some(b))) => number(a.wrapping_add(b)),
        (ScalarOp::Sub, (Some(a), Some(b))) => number(a.wrapping_sub(b)),
        (ScalarOp::Mul, (Some(a), Some(b))) => number(a.wrapping_mul(b)),
        (ScalarOp::Lt, (Some(a), Some(b))) => truth(a < b),
        (ScalarOp::Le, (Some(a), Some(b))) => truth(a <= b),
        (ScalarOp::Gt, (Some(a), Some(b))) => truth(a > b),
        (ScalarOp::Ge, (Some(a), Some(b))) => truth(a >= b),
        (ScalarOp::Eq, (Some(a), Some(b))) => truth(a == b),
        (ScalarOp::Ne, (Some(a), Some(b))) => truth(a != b),
        (ScalarOp::Add | ScalarOp::Sub, (_, Some(0))) | (ScalarOp::Mul, (_, Some(1))) => left,
        (ScalarOp::Add, (Some(0), _)) | (ScalarOp::Mul, (Some(1), _)) => right,
        _ => return None,
    })
}

fn cancellation(
    op: ScalarOp,
    left: Operand,
    right: Operand,
    definitions: &Definitions,
) -> Option<Simpler> {
    let (left_parts, right_parts) = (parts(left, definitions), parts(right, definitions));
    let simpler = |value, cancelled| Some(Simpler { value, cancelled: Some(cancelled) });
    match op {
        // a - (a - x), (x + b) - b and (a + x) - a are x.
        ScalarOp::Sub => match (left_parts, right_parts) {
            (_, Some((ScalarOp::Sub, [a, x]))) if same(*a, left) => simpler(*x, left),
            (Some((ScalarOp::Add, [x, b])), _) if same(*b, right) => simpler(*x, right),
            (Some((ScalarOp::Add, [a, x])), _) if same(*a, right) => simpler(*x, right),
            _ => None,
        },
        // (x - b) + b is x.
        ScalarOp::Add => match (left_parts, right_parts) {
            (Some((ScalarOp::Sub, [x, b])), _) if same(*b, right) => simpler(*x, right),
            (_, Some((ScalarOp::Sub, [x, b]))) if same(*b, left) => simpler(*x, left),
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
