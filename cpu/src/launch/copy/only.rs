//! Which kernels may be copies, as far as their code tells (Note \[Copies\]).

use std::collections::BTreeSet;

use weft_ir::ScalarOp;
use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Dimension;
use weft_ir::plan::{Kernel, Sink};

use crate::launch::affine::DIMENSIONS;

/// Whether a kernel stores elements as they are, from places that depend on indices and scalars alone.
pub(crate) fn only_copies(kernel: &Kernel) -> bool {
    let dense = (kernel.space.iter()).all(|dimension| matches!(dimension, Dimension::Dense(_)));
    let stored = kernel.sinks.iter().all(|sink| matches!(sink, Sink::Store { .. }));
    if kernel.space.is_empty()
        || kernel.space.len() > DIMENSIONS
        || !dense
        || !stored
        || kernel.sinks.is_empty()
        || kernel.epilogue.is_some()
    {
        return false;
    }
    let mut registers =
        Registers { numbers: kernel.indices.iter().copied().collect(), moved: BTreeSet::new() };
    let mut results = kernel.sinks.iter().flat_map(Sink::operands);
    registers.code(&kernel.body) && results.all(|result| registers.is_moved(result))
}

#[derive(Default)]
struct Registers {
    /// Computed from indices and scalars.
    numbers: BTreeSet<Register>,
    /// Elements as they are.
    moved: BTreeSet<Register>,
}

impl Registers {
    fn is_number(&self, operand: &Operand) -> bool {
        operand.register().is_none_or(|register| self.numbers.contains(&register))
    }

    fn is_moved(&self, operand: &Operand) -> bool {
        operand.register().is_none_or(|register| self.moved.contains(&register))
    }

    /// Whether code does nothing but that.
    fn code(&mut self, code: &Code) -> bool {
        code.instructions.iter().all(|instruction| {
            let results = instruction.results.iter().map(|(register, _)| *register);
            match &instruction.operation {
                Operation::Scalar(ScalarOp::Select, operands) => {
                    let sides = &operands[1..];
                    if sides.iter().all(|side| self.is_number(side)) {
                        self.numbers.extend(results.clone());
                    }
                    if sides.iter().all(|side| self.is_moved(side)) {
                        self.moved.extend(results);
                    }
                    self.is_number(&operands[0])
                }
                Operation::Scalar(_, operands) => {
                    let numbers = operands.iter().all(|operand| self.is_number(operand));
                    self.numbers.extend(results.filter(|_| numbers));
                    numbers
                }
                Operation::Read(_, indices) => {
                    if indices.is_empty() {
                        self.numbers.extend(results.clone());
                    }
                    self.moved.extend(results);
                    indices.iter().all(|index| self.is_number(index))
                }
                Operation::Check(condition, _) => self.is_number(condition),
                Operation::If { condition, then, otherwise } => {
                    let copies =
                        self.is_number(condition) && self.code(then) && self.code(otherwise);
                    for (at, result) in results.enumerate() {
                        let sides = [&then.results[at], &otherwise.results[at]];
                        if sides.iter().all(|side| self.is_number(side)) {
                            self.numbers.insert(result);
                        }
                        if sides.iter().all(|side| self.is_moved(side)) {
                            self.moved.insert(result);
                        }
                    }
                    copies
                }
                Operation::Random(..) | Operation::While { .. } => false,
            }
        })
    }
}
