//! Bodies cut by the indices that their parts need.
//!
//! Before: `r3 = read a2 r0 r2; r4 = read a2 r1 r2; r5 = mul r3 r4` over `(r0 r1 r2)`. After, without r1:
//! `r3 = read a2 r0 r2`, which yields r3; without r0: `r4 = read a2 r1 r2`, which yields r4; the rest:
//! `r5 = mul r3 r4`. What a part yields serves all points that differ in the other indices only, so a
//! block of threads computes it once and keeps it in shared memory.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::ScalarType;
use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::plan::Kernel;

use super::uses;

/// A part of a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Part {
    /// Its instructions; the results are what the rest needs of it.
    pub(super) code: Code,
    /// The registers of the results.
    pub(super) yields: Vec<(Register, ScalarType)>,
}

/// A body in three parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Split {
    /// What needs the left dimensions only.
    pub(super) left: Part,
    /// What needs the right dimensions only.
    pub(super) right: Part,
    /// The rest. It reads no array.
    pub(super) rest: Code,
}

/// The body of a kernel in what needs only some dimensions, given as a set of bits, what needs only
/// others, and a rest that yields `values`. Nothing, if one of the parts reads nothing, if the rest reads
/// an array, or if a part would read before a check that guards the read.
pub(super) fn split(kernel: &Kernel, left: u32, right: u32, values: &[Operand]) -> Option<Split> {
    let instructions = &kernel.body.instructions;
    let dimensions = dimensions(kernel);
    let within = |at: usize, some: u32| dimensions[at] & !some == 0;
    let is_rest = |at: usize| !within(at, left) && !within(at, right);
    // What is the same at all points is computed again: it is no more than a few scalars.
    let is_uniform = |at: usize| dimensions[at] == 0 && !reads_array(&instructions[at]);
    let in_rest = |at: usize| is_rest(at) || is_uniform(at);
    let mut wanted = BTreeSet::new();
    uses::operands(values, &mut wanted);
    for (_, instruction) in instructions.iter().enumerate().filter(|(at, _)| in_rest(*at)) {
        if reads_array(instruction) {
            return None;
        }
        used(instruction, &mut wanted);
    }
    let part = |some: u32, but: u32| -> Option<Part> {
        let owns = |at: usize| within(at, some) && !within(at, but) && !is_uniform(at);
        let yields: Vec<(Register, ScalarType)> = instructions
            .iter()
            .enumerate()
            .filter(|(at, _)| owns(*at))
            .flat_map(|(_, instruction)| instruction.results.iter().copied())
            .filter(|(register, _)| wanted.contains(register))
            .collect();
        let mut needed: BTreeSet<Register> = yields.iter().map(|(register, _)| *register).collect();
        let mut taken = Vec::new();
        for (at, instruction) in instructions.iter().enumerate().rev() {
            let results = instruction.results.iter();
            let is_needed = matches!(instruction.operation, Operation::Check(_, _))
                || results.clone().any(|(register, _)| needed.contains(register));
            if within(at, some) && is_needed {
                used(instruction, &mut needed);
                taken.push(at);
            }
        }
        taken.reverse();
        let foreign_check = instructions.iter().enumerate().position(|(at, instruction)| {
            matches!(instruction.operation, Operation::Check(_, _)) && !within(at, some)
        });
        let last_read = taken.iter().rev().find(|at| reads_array(&instructions[**at])).copied()?;
        if foreign_check.is_some_and(|check| check < last_read) || yields.is_empty() {
            return None;
        }
        let instructions = taken.iter().map(|at| instructions[*at].clone()).collect();
        let results = yields.iter().map(|(register, _)| Operand::Register(*register)).collect();
        Some(Part { code: Code { instructions, results }, yields })
    };
    let (left, right) = (part(left, 0)?, part(right, left)?);
    let instructions = instructions.iter().enumerate().filter(|(at, _)| in_rest(*at));
    let instructions = instructions.map(|(_, instruction)| instruction.clone()).collect();
    Some(Split { left, right, rest: Code { instructions, results: values.to_vec() } })
}

/// For each instruction of the body the dimensions that it depends on, as bits.
fn dimensions(kernel: &Kernel) -> Vec<u32> {
    let mut known: BTreeMap<Register, u32> =
        kernel.indices.iter().enumerate().map(|(at, register)| (*register, 1 << at)).collect();
    let of = |instruction: &Instruction| {
        let mut registers = BTreeSet::new();
        used(instruction, &mut registers);
        let all = registers.iter().filter_map(|register| known.get(register));
        let all = all.fold(0, |all, some| all | some);
        known.extend(instruction.results.iter().map(|(register, _)| (*register, all)));
        all
    };
    kernel.body.instructions.iter().map(of).collect()
}

/// Adds the registers that an instruction uses.
fn used(instruction: &Instruction, registers: &mut BTreeSet<Register>) {
    instruction.operation.for_each_used(&mut |operand| registers.extend(operand.register()));
}

/// Whether an element of an array is read, not only a scalar.
fn reads_array(instruction: &Instruction) -> bool {
    let reads = |operation: &Operation| matches!(operation, Operation::Read(_, indices) if !indices.is_empty());
    instruction.walk().any(|instruction| reads(&instruction.operation))
}
