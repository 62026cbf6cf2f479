//! What code costs that is written out, beside loads, which cost 1.

use weft_ir::nested::{Body, Operation};

use super::extents::Known;
use crate::operator_cost::operator_cost;

/// What a body costs, once folds and maps of few elements in it are written out; nothing if it is more than scalar
/// code then.
pub(super) fn cost(body: &Body, known: &Known) -> Option<u32> {
    let mut sum = 0_u32;
    for statement in &body.statements {
        sum = sum.saturating_add(of_operation(&statement.operation, known)?);
    }
    Some(sum)
}

fn of_operation(operation: &Operation, known: &Known) -> Option<u32> {
    let times = |length: usize, body: &Body| Some(cost(body, known)?.saturating_mul(length as u32));
    match operation {
        Operation::Scalar(op, _) => Some(operator_cost(*op)),
        Operation::Random(..) => Some(20),
        Operation::Index(..) | Operation::Length(_) | Operation::Extent(..) => Some(2),
        Operation::Assert { .. } => Some(1),
        Operation::If { then, otherwise, .. } => {
            Some(cost(then, known)?.saturating_add(cost(otherwise, known)?).saturating_add(1))
        }
        Operation::Literal(_) | Operation::Constant(_) => Some(0),
        Operation::Iota(_) | Operation::Replicate(..) => Some(0),
        Operation::Map(lambda, arrays) => times(known.lockstep(arrays)?, &lambda.body),
        Operation::Fold { operator, arrays, .. } => times(known.lockstep(arrays)?, &operator.body),
        _ => None,
    }
}
