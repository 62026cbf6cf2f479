//! The registers that code uses.

use std::collections::BTreeSet;

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Var;

/// Adds those of code and its results.
pub(super) fn code(code: &Code, used: &mut BTreeSet<Register>) {
    but_reads(code, &|_, _| false, used);
}

/// As [`code`], but for the indices of some reads.
pub(super) fn but_reads(
    code: &Code,
    skipped: &dyn Fn(Var, &[Operand]) -> bool,
    used: &mut BTreeSet<Register>,
) {
    for instruction in &code.instructions {
        match &instruction.operation {
            Operation::Read(array, indices) if skipped(*array, indices) => {}
            Operation::Scalar(_, all) | Operation::Random(_, all) | Operation::Read(_, all) => {
                operands(all, used);
            }
            Operation::Check(operand, _) => operands(&[*operand], used),
            Operation::If { condition, then: first, otherwise: second } => {
                operands(&[*condition], used);
                but_reads(first, skipped, used);
                but_reads(second, skipped, used);
            }
            Operation::While { initial, condition, body, .. } => {
                operands(initial, used);
                but_reads(condition, skipped, used);
                but_reads(body, skipped, used);
            }
        }
    }
    operands(&code.results, used);
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
