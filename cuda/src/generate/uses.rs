//! The registers that code uses.

use std::collections::BTreeSet;

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Var;

/// Adds those of code and its results.
pub(super) fn code(code: &Code, used: &mut BTreeSet<Register>) {
    code.for_each_used(&mut |operand| used.extend(operand.register()));
}

/// As [`code`], but for the indices of some reads.
pub(super) fn but_reads(
    code: &Code,
    skipped: &dyn Fn(Var, &[Operand]) -> bool,
    used: &mut BTreeSet<Register>,
) {
    for instruction in code.walk() {
        let operation = &instruction.operation;
        let is_skipped = matches!(operation, Operation::Read(array, all) if skipped(*array, all));
        if !is_skipped {
            operation.for_each_operand(&mut |operand| used.extend(operand.register()));
        }
        operation.for_each_body(&mut |body| operands(&body.results, used));
    }
    operands(&code.results, used);
}

/// Adds those among operands.
pub(super) fn operands(operands: &[Operand], used: &mut BTreeSet<Register>) {
    used.extend(operands.iter().filter_map(|operand| operand.register()));
}
