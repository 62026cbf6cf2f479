//! Whether the code of an interior may run on from row to row.
//!
//! Note [On across rows]. Code that uses its indices only to read neighbours reads at a constant distance
//! from the point's own place in storage. Then it may run from the first point of the box to the last
//! in one go, over the borders between, if nothing in it fails: all these places lie between those of
//! the first point and of the last, so they exist. What it yields at the borders is written over.

use std::collections::BTreeMap;

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::{ScalarType, math};

use super::Place;

/// Whether code over so many dimensions may; `affine` are the registers that are an index plus a constant.
pub(super) fn crosses(
    code: &Code,
    results: &[Operand],
    affine: &BTreeMap<Register, Place>,
    dimensions: usize,
) -> bool {
    let dimension = |operand: &Operand| match operand {
        Operand::Register(register) => affine.get(register).map(|(dimension, _)| *dimension),
        Operand::Scalar(_) => None,
    };
    let plain = |operands: &[Operand]| operands.iter().all(|operand| dimension(operand).is_none());
    let is_affine = |(register, _): &(Register, ScalarType)| affine.contains_key(register);
    let may = code.instructions.iter().all(|instruction| match &instruction.operation {
        Operation::Scalar(op, operands) => {
            let fails = math::can_fail(*op, instruction.results[0].1);
            !fails && (instruction.results.iter().all(is_affine) || plain(operands))
        }
        Operation::Random(_, operands) => plain(operands),
        Operation::Read(_, indices) => {
            indices.is_empty()
                || indices.len() == dimensions
                    && indices.iter().enumerate().all(|(at, index)| dimension(index) == Some(at))
        }
        Operation::Check(..) | Operation::While { .. } => false,
        Operation::If { condition, then, otherwise } => {
            let sides = [then, otherwise];
            plain(&[*condition])
                && sides.iter().all(|side| crosses(side, &side.results, affine, dimensions))
        }
    });
    may && plain(results)
}
