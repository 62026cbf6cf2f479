//! The factors of a sum of products, where they are computed.
//!
//! Note [Computed factors]. `matmul a (b * 2.0)` is one kernel: what is cheaper than a load is computed where
//! it is read. But a sum over k of products of what depends on (i, k) and what depends on (j, k) computes each
//! of them for all points of the third dimension, and is no product of matrices in memory, for which there is
//! a way of its own (`launch/product.rs`). So each side is computed once, into a matrix, if nothing in the code
//! branches or checks what depends on both outer indices. What one side can check it checks. Checks and operators
//! may fail: then which of several errors is met first differs, and the interpreter says what the error is.

use std::collections::BTreeSet;

use weft_ir::ScalarOp;
use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::flat::Dimension;
use weft_ir::plan::{Kernel, Sink};

use crate::product::Rounding;
use crate::traverse::Thunk;

/// The two sides of a sum of products.
#[derive(Debug)]
pub(crate) struct ComputedFactors {
    /// Over the first and the last dimension, and over the second and the last.
    pub(crate) sides: [Thunk; 2],
    /// How products are added.
    pub(crate) rounding: Rounding,
}

/// The factors that a kernel computes, if it is a sum of products over three dense dimensions.
pub(crate) fn computed_factors(kernel: &Kernel) -> Option<ComputedFactors> {
    let [Sink::Reduce { values, operator, .. }] = &kernel.sinks[..] else { return None };
    let [i, j, k]: [Register; 3] = kernel.indices[..].try_into().ok()?;
    if kernel.space.iter().any(|dimension| matches!(dimension, Dimension::Ragged { .. })) {
        return None;
    }
    let instructions = &kernel.body.instructions;
    if !instructions.iter().all(is_straight) {
        return None;
    }
    let (first, second, rounding) = match values[..] {
        [Operand::Register(product)] if operator.is_sum() => {
            let is_product = |at: &&Instruction| at.results.iter().any(|to| to.0 == product);
            let product = instructions.iter().find(is_product)?;
            let Operation::Scalar(ScalarOp::Mul, factors) = &product.operation else { return None };
            let [first, second] = factors[..] else { return None };
            (first, second, Rounding::Twice)
        }
        [first, second] if operator.is_sum_of_products() => (first, second, Rounding::Once),
        _ => return None,
    };
    let checks: Vec<BTreeSet<Register>> = (instructions.iter())
        .filter_map(|at| match &at.operation {
            Operation::Check(condition, _) => Some(needed(instructions, condition)),
            _ => None,
        })
        .collect();
    if checks.iter().any(|check| check.contains(&i) && check.contains(&j)) {
        return None;
    }
    let side = |value: Operand, outer: Register, other: Register| {
        let code = slice(instructions, value, other)?;
        let ragged = vec![false, false];
        Some(Thunk::new(vec![outer, k], code, vec![value], Vec::new(), ragged))
    };
    let both = |left, right| Some([side(left, i, j)?, side(right, j, i)?]);
    let sides = both(first, second).or_else(|| both(second, first))?;
    Some(ComputedFactors { sides, rounding })
}

fn is_straight(instruction: &Instruction) -> bool {
    match &instruction.operation {
        Operation::Scalar(..)
        | Operation::Random(..)
        | Operation::Read(..)
        | Operation::Check(..) => true,
        Operation::If { .. } | Operation::While { .. } => false,
    }
}

/// The instructions that a value needs, and the checks that do not depend on an index; nothing if the value does.
fn slice(instructions: &[Instruction], value: Operand, index: Register) -> Option<Code> {
    let mut wanted = needed(instructions, &value);
    if wanted.contains(&index) {
        return None;
    }
    let of_check = |at: &Instruction| match &at.operation {
        Operation::Check(condition, _) => {
            Some(needed(instructions, condition)).filter(|needed| !needed.contains(&index))
        }
        _ => None,
    };
    instructions.iter().filter_map(of_check).for_each(|needed| wanted.extend(needed));
    let is_wanted = |at: &&Instruction| {
        at.results.iter().any(|(register, _)| wanted.contains(register)) || of_check(at).is_some()
    };
    let instructions = instructions.iter().filter(is_wanted).cloned().collect();
    Some(Code { instructions, results: vec![value] })
}

/// The registers that an operand depends on, indices too.
fn needed(instructions: &[Instruction], operand: &Operand) -> BTreeSet<Register> {
    let mut needed = BTreeSet::new();
    let need = |needed: &mut BTreeSet<Register>, operand: &Operand| {
        if let Operand::Register(register) = operand {
            needed.insert(*register);
        }
    };
    need(&mut needed, operand);
    for instruction in instructions.iter().rev() {
        if !instruction.results.iter().any(|(register, _)| needed.contains(register)) {
            continue;
        }
        match &instruction.operation {
            Operation::Scalar(_, operands)
            | Operation::Random(_, operands)
            | Operation::Read(_, operands) => {
                operands.iter().for_each(|operand| need(&mut needed, operand));
            }
            Operation::Check(..) | Operation::If { .. } | Operation::While { .. } => {
                unreachable!("the code is straight, and checks have no results")
            }
        }
    }
    needed
}
