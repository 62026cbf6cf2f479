//! Kernels that put more behind an array.
//!
//! Note [Arrays that grow]. A loop that collects, `out ++ more`, computes in every turn an array that begins as
//! the one before: to copy it takes over all turns the square of what is collected. The kernel of such a
//! `++` stores at a point the array's element, below its length, and something else from there on. So from it
//! another one is made, over the points behind only. Where nobody needs the array afterwards
//! (Note [In place]) the other one runs, and what it yields goes to the end of the array's own buffer,
//! which doubles when it is full.

use std::collections::BTreeSet;

use weft_ir::code::{Instruction, Operand, Operation, Register};
use weft_ir::flat::{Dimension, Size, Var};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Scalar, ScalarOp, ScalarType, math};

/// What a kernel appends, and to what.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Appended {
    /// The kernel over the points behind; its sinks are those of the whole.
    pub(crate) kernel: Kernel,
    /// The length of the arrays, along the first dimension.
    pub(crate) length: Size,
    /// The array that each sink's result begins with.
    pub(crate) arrays: Vec<Var>,
}

/// What a kernel appends, if it only does that, and all the arrays are among `freed`.
pub(crate) fn appended(kernel: &Kernel, freed: &[Var]) -> Option<Appended> {
    let first = *kernel.indices.first()?;
    let dense = kernel.space.iter().all(|dimension| matches!(dimension, Dimension::Dense(_)));
    if !dense || kernel.epilogue.is_some() {
        return None;
    }
    let begun: Vec<Begun> =
        kernel.sinks.iter().map(|sink| begun(kernel, sink)).collect::<Option<_>>()?;
    let Begun { length, operand, .. } = *begun.first()?;
    let arrays: Vec<Var> = begun.iter().map(|begun| begun.array).collect();
    let all: BTreeSet<Var> = arrays.iter().copied().collect();
    let stored: BTreeSet<Register> = begun.iter().map(|begun| begun.stored).collect();
    let same = begun.iter().all(|other| other.length == length);
    let alone = all.len() == arrays.len() && all.iter().all(|array| freed.contains(array));
    // At the points before nothing else is to be noticed.
    let quiet = kernel.body.instructions.iter().all(|instruction| match &instruction.operation {
        Operation::If { then, .. }
            if instruction.results.iter().any(|(register, _)| stored.contains(register)) =>
        {
            then.instructions.iter().all(is_quiet)
        }
        _ => is_quiet(instruction),
    });
    if !(same && alone && quiet) {
        return None;
    }
    Some(Appended { kernel: behind(kernel, first, length, operand), length, arrays })
}

/// How the result of a sink begins.
#[derive(Clone, Copy)]
struct Begun {
    array: Var,
    length: Size,
    /// The length where the code has it.
    operand: Operand,
    /// What is stored.
    stored: Register,
}

/// How the result of a sink begins, if that is with an array as it is.
fn begun(kernel: &Kernel, sink: &Sink) -> Option<Begun> {
    let Sink::Store { value: Operand::Register(stored), .. } = sink else { return None };
    let (instruction, position) = kernel.body.definition(*stored)?;
    let Operation::If { condition: Operand::Register(condition), then, .. } =
        &instruction.operation
    else {
        return None;
    };
    let Operation::Scalar(ScalarOp::Lt, operands) =
        &kernel.body.definition(*condition)?.0.operation
    else {
        return None;
    };
    let [Operand::Register(index), operand] = operands[..] else { return None };
    let length = match operand {
        Operand::Scalar(Scalar::I64(length)) => Size::Constant(length),
        Operand::Scalar(_) => return None,
        Operand::Register(register) => match &kernel.body.definition(register)?.0.operation {
            Operation::Read(var, indices) if indices.is_empty() => Size::Var(*var),
            _ => return None,
        },
    };
    let Operand::Register(read) = then.results[position] else { return None };
    let Operation::Read(array, indices) = &then.definition(read)?.0.operation else {
        return None;
    };
    let here = kernel.indices.iter().map(|index| Operand::Register(*index));
    let begins = index == kernel.indices[0] && here.eq(indices.iter().copied());
    begins.then_some(Begun { array: *array, length, operand, stored: *stored })
}

/// The kernel over the points behind `length`.
///
/// Its index counts from there. If the code has that number already, to read what comes behind, this
/// is the register: reads along the index are quicker than others.
fn behind(kernel: &Kernel, first: Register, length: Size, operand: Operand) -> Kernel {
    let mut kernel = kernel.clone();
    let indices = kernel.indices.iter().map(|index| index.0 + 1);
    let next = indices.fold(kernel.body.next_register().0, u32::max);
    let counted = |instruction: &Instruction| match &instruction.operation {
        Operation::Scalar(ScalarOp::Sub, operands) => {
            operands[..] == [Operand::Register(first), operand]
        }
        _ => false,
    };
    let instructions = &mut kernel.body.instructions;
    let index = match instructions.iter().position(counted) {
        Some(at) => instructions.remove(at).results[0].0,
        None => Register(next),
    };
    let instruction = |result: Register, operation: Operation| Instruction {
        results: vec![(result, ScalarType::I64)],
        operation,
        span: kernel.span,
    };
    let mut shifted = Vec::new();
    let begin = match length {
        Size::Constant(length) => Operand::Scalar(Scalar::I64(length)),
        Size::Var(var) => {
            let begin = Register(next + 1);
            shifted.push(instruction(begin, Operation::Read(var, Vec::new())));
            Operand::Register(begin)
        }
    };
    let operands = vec![Operand::Register(index), begin];
    shifted.push(instruction(first, Operation::Scalar(ScalarOp::Add, operands)));
    instructions.splice(..0, shifted);
    kernel.indices[0] = index;
    kernel
}

/// Whether an instruction ends, and without a fault.
fn is_quiet(instruction: &Instruction) -> bool {
    instruction.walk().all(|instruction| match &instruction.operation {
        Operation::Scalar(op, _) => !math::can_fail(*op, instruction.results[0].1),
        Operation::Random(..) | Operation::Read(..) | Operation::If { .. } => true,
        Operation::Check(..) | Operation::While { .. } => false,
    })
}
