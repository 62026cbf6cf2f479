//! The registers that code uses.

use std::collections::BTreeSet;

use weft_ir::code::{Code, Operand, Operation, Register};

/// Adds those of code and its results.
pub(super) fn code(code_: &Code, used: &mut BTreeSet<Register>) {
    for instruction in &code_.instructions {
        match &instruction.operation {
            Operation::Scalar(_, all) | Operation::Random(_, all) | Operation::Read(_, all) => {
                operands(all, used);
            }
            Operation::Check(operand, _) => operands(&[*operand], used),
            Operation::If { condition, then: first, otherwise: second } => {
                operands(&[*condition], used);
                code(first, used);
                code(second, used);
            }
            Operation::While { initial, condition, body, .. } => {
                operands(initial, used);
                code(condition, used);
                code(body, used);
            }
        }
    }
    operands(&code_.results, used);
}

/// Adds those among operands.
pub(super) fn operands(operands: &[Operand], used: &mut BTreeSet<Register>) {
    for operand in operands {
        match operand {
            Operand::Register(register) => {
                used.insert(*register);
            }
            Operand::Scalar(_) => {}
        }
    }
}
