//! Kernels that put more behind an array, or yield a part of one.
//!
//! Note [Arrays that grow]. A loop that collects, `out ++ more`, computes in every turn an array that begins as
//! the one before: to copy it takes over all turns the square of what is collected. The kernel of such a
//! `++` stores at a point the array's element, below its length, and something else from there on. So from it
//! another one is made, over the points behind only. Where nobody needs the array afterwards it is enough to run the
//! other one, and what it yields goes to the end of the array's own buffer: step by step (Note [In place]), and within
//! functions (Note [Arrays that move] in `sequential/small/updates`). There what it begins with may be a part of the
//! array only, as a stack that loses its last element, or a queue that loses its first one.

use std::collections::BTreeSet;

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Scalar, ScalarOp, ScalarType, math};

/// What a kernel appends, and to what.
#[derive(Clone, Debug, PartialEq)]
pub struct Appended {
    /// The kernel over the points behind; its sinks are those of the whole.
    pub kernel: Kernel,
    /// How much of the arrays there is in front of them, along the first dimension.
    pub length: Size,
    /// What each sink's result begins with.
    pub parts: Vec<ArrayPart>,
}

/// Elements of an array that follow each other along the first dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrayPart {
    /// The array.
    pub array: Var,
    /// The index of the first one.
    pub first: Size,
}

/// What a kernel appends, if it only does that, each sink to another array.
pub fn appended(kernel: &Kernel, types: &[Type]) -> Option<Appended> {
    let first = *kernel.indices.first()?;
    if !is_dense(kernel) || kernel.epilogue.is_some() {
        return None;
    }
    let begun: Vec<Begun> =
        kernel.sinks.iter().map(|sink| begun(kernel, sink, types)).collect::<Option<_>>()?;
    let Begun { length, operand, .. } = *begun.first()?;
    let parts: Vec<ArrayPart> = begun.iter().map(|begun| begun.part).collect();
    let all: BTreeSet<Var> = parts.iter().map(|part| part.array).collect();
    let stored: BTreeSet<Register> = begun.iter().map(|begun| begun.stored).collect();
    let same = begun.iter().all(|other| other.length == length);
    // At the points before nothing else is to be noticed.
    let quiet = kernel.body.instructions.iter().all(|instruction| {
        match &instruction.operation {
            // What is chosen there was looked at.
            Operation::If { .. }
                if instruction.results.iter().any(|(result, _)| stored.contains(result)) =>
            {
                true
            }
            _ => instruction.walk().all(is_quiet),
        }
    });
    if !(same && all.len() == parts.len() && quiet) {
        return None;
    }
    Some(Appended { kernel: behind(kernel, first, length, operand), length, parts })
}

/// The part of an array that a sink yields, if it yields a part of one as it is.
pub fn part_of_array(kernel: &Kernel, sink: &Sink, types: &[Type]) -> Option<ArrayPart> {
    let Sink::Store { value: Operand::Register(stored), .. } = sink else { return None };
    if !is_dense(kernel) {
        return None;
    }
    let scope = Scope { kernel, inner: &kernel.body, types };
    let (part, indices) = scope.part(*stored)?;
    // No point has anything else to say.
    kernel
        .body
        .instructions
        .iter()
        .all(|instruction| scope.is_quiet(instruction, part.array, indices))
        .then_some(part)
}

fn is_dense(kernel: &Kernel) -> bool {
    kernel.space.iter().all(|dimension| matches!(dimension, Dimension::Dense(_)))
}

/// How the result of a sink begins.
#[derive(Clone, Copy)]
struct Begun {
    part: ArrayPart,
    length: Size,
    /// The length where the code has it.
    operand: Operand,
    /// What is stored.
    stored: Register,
}

/// How the result of a sink begins, if that is with a part of an array as it is.
fn begun(kernel: &Kernel, sink: &Sink, types: &[Type]) -> Option<Begun> {
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
    let scope = Scope { kernel, inner: then, types };
    let length = scope.size(operand)?;
    let Operand::Register(read) = then.results[position] else { return None };
    let (part, indices) = scope.part(read)?;
    let quiet = then
        .instructions
        .iter()
        .all(|instruction| scope.is_quiet(instruction, part.array, indices));
    (index == kernel.indices[0] && quiet).then_some(Begun {
        part,
        length,
        operand,
        stored: *stored,
    })
}

/// Code of a kernel that reads a part of an array.
struct Scope<'a> {
    kernel: &'a Kernel,
    /// The code, which may be within that of the kernel.
    inner: &'a Code,
    types: &'a [Type],
}

impl<'a> Scope<'a> {
    fn operation(&self, operand: Operand) -> Option<&'a Operation> {
        let register = operand.register()?;
        let inner = self.inner.definition(register);
        Some(&inner.or_else(|| self.kernel.body.definition(register))?.0.operation)
    }

    /// What an operand is, if it is the same at all points and known before.
    fn size(&self, operand: Operand) -> Option<Size> {
        match operand {
            Operand::Scalar(Scalar::I64(size)) => Some(Size::Constant(size)),
            Operand::Scalar(_) => None,
            Operand::Register(_) => match self.operation(operand)? {
                Operation::Read(var, indices) if indices.is_empty() => Some(Size::Var(*var)),
                _ => None,
            },
        }
    }

    /// The part of an array of which a register is the element at the point; with the indices that are read.
    fn part(&self, register: Register) -> Option<(ArrayPart, &'a [Operand])> {
        let Operation::Read(array, indices) = self.operation(Operand::Register(register))? else {
            return None;
        };
        let (index, others) = indices.split_first()?;
        let (here, after) = self.kernel.indices.split_first()?;
        let here = Operand::Register(*here);
        let same = after.iter().map(|index| Operand::Register(*index));
        if !same.eq(others.iter().copied()) {
            return None;
        }
        let first = if *index == here {
            Size::Constant(0)
        } else {
            match self.operation(*index)? {
                Operation::Scalar(ScalarOp::Add, operands) => match operands[..] {
                    [first, at] | [at, first] if at == here => self.size(first)?,
                    _ => return None,
                },
                _ => return None,
            }
        };
        Some((ArrayPart { array: *array, first }, indices))
    }

    /// Whether an instruction ends, and without a fault wherever these indices are inside of the array.
    fn is_quiet(&self, instruction: &Instruction, array: Var, indices: &[Operand]) -> bool {
        match &instruction.operation {
            Operation::Check(condition, ..) => self.holds_inside(*condition, array, indices),
            _ => instruction.walk().all(is_quiet),
        }
    }

    /// Whether a condition says no more than that the indices are inside of the array.
    fn holds_inside(&self, condition: Operand, array: Var, indices: &[Operand]) -> bool {
        let Some(Operation::Scalar(op, operands)) = self.operation(condition) else { return false };
        let place = |of: Operand| indices.iter().position(|index| *index == of);
        match (op, &operands[..]) {
            (ScalarOp::And, &[left, right]) => {
                [left, right].into_iter().all(|side| self.holds_inside(side, array, indices))
            }
            (ScalarOp::Ge, &[index, bound]) => {
                place(index).is_some() && bound == Operand::Scalar(Scalar::I64(0))
            }
            (ScalarOp::Lt, &[index, bound]) => place(index).is_some_and(|place| {
                self.size(bound) == Some(self.types[array.0 as usize].extents[place])
            }),
            _ => false,
        }
    }
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

/// Whether an instruction ends, and without a fault; those within it aside.
fn is_quiet(instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::Scalar(op, _) => !math::can_fail(*op, instruction.results[0].1),
        Operation::Random(..) | Operation::Read(..) | Operation::If { .. } => true,
        Operation::Check(..) | Operation::While { .. } => false,
    }
}
