//! Conversions of floats to integers of which only those matter that are near zero.
//!
//! Note [Near integers]. Machines convert floats to integers of 32 bits several times as fast as to 64,
//! and what saturates costs most of the time. A float that becomes an index is often checked against
//! constants right away. Where a lane fails that check nothing that the function has done is used. So such
//! a float may become any integer that fails too, if its own would: it is converted to 32 bits, and a number
//! beyond them becomes the least or the greatest one, which no such check lets pass. NaN is still 0.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Operand, Operation, Register};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::{Builder, Lanes, Value};
use crate::dialect::type_name;

/// The registers of some code that are floats as integers and are checked, in all lanes, against bounds
/// within the range of 32 bits.
pub(super) fn near(given: &Lanes<'_>) -> BTreeSet<Register> {
    let mut near = BTreeSet::new();
    // In a loop it could matter what the integer is before the check.
    if given.code.has_loops() {
        return near;
    }
    let mut made = BTreeMap::new();
    for instruction in &given.code.instructions {
        match &instruction.operation {
            Operation::Scalar(op, operands) => {
                made.insert(instruction.results[0].0, (*op, &operands[..]));
            }
            Operation::Check(condition, _) => checked(condition, &made, &mut near),
            Operation::Random(..)
            | Operation::Read(..)
            | Operation::If { .. }
            | Operation::While { .. } => {}
        }
    }
    near
}

/// Operators by the registers of their results.
type Made<'c> = BTreeMap<Register, (ScalarOp, &'c [Operand])>;

/// Adds the integers that a condition says to be within such bounds.
fn checked(condition: &Operand, made: &Made<'_>, near: &mut BTreeSet<Register>) {
    let of = |operand: &Operand| match operand {
        Operand::Register(register) => made.get(register).copied(),
        Operand::Scalar(_) => None,
    };
    let Some((ScalarOp::And | ScalarOp::BitAnd, [low, high])) = of(condition) else { return };
    if let (Some((ScalarOp::Ge, [index, least])), Some((ScalarOp::Lt, [same, bound]))) =
        (of(low), of(high))
        && let (Operand::Register(register), Some((ScalarOp::Cast(ScalarType::I64), _))) =
            (index, of(index))
        && index == same
        && is_within(least)
        && is_within(bound)
    {
        near.insert(*register);
    }
    checked(low, made, near);
    checked(high, made, near);
}

/// Whether a bound is a number between the least and the greatest of 32 bits.
fn is_within(bound: &Operand) -> bool {
    const RANGE: std::ops::Range<i64> = i32::MIN as i64 + 1..i32::MAX as i64;
    matches!(bound, Operand::Scalar(Scalar::I64(bound)) if RANGE.contains(bound))
}

impl Builder<'_> {
    /// A float as an integer, if that matters only near zero.
    pub(super) fn cast_near(
        &self,
        (result, _): (Register, ScalarType),
        operands: &[Operand],
    ) -> Option<(String, Value)> {
        let ([operand], true) = (operands, self.near.contains(&result)) else { return None };
        let value = self.value(operand);
        let text = format!("{}_to_near_i64({})", type_name(value.ty), value.text);
        value.ty.is_float().then_some((text, value))
    }
}
