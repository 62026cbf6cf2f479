//! The bytes that a kernel reads, for `:time` and the footer of a cell.

use weft_ir::code::{Code, Operation};
use weft_ir::flat::Type;
use weft_ir::plan::Kernel;

/// The bytes that a kernel reads at so many points: an element for each read of its body that every
/// point does once. What only some points read, or read again and again, is not counted.
pub(crate) fn bytes_read(kernel: &Kernel, types: &[Type], points: u64) -> u64 {
    of(&kernel.body, types).saturating_mul(points)
}

/// The bytes that one point reads.
fn of(code: &Code, types: &[Type]) -> u64 {
    let reads = code.instructions.iter().filter_map(|instruction| match &instruction.operation {
        Operation::Read(array, index) if !index.is_empty() => types.get(array.0 as usize),
        Operation::Read(..)
        | Operation::Scalar(..)
        | Operation::Random(..)
        | Operation::Check(..)
        | Operation::If { .. }
        | Operation::While { .. } => None,
    });
    reads.map(|ty| ty.element.bytes() as u64).sum()
}
