//! Maps that read arrays whose columns are their rows.
//!
//! Before: `r2 = read a2 r1 r0` over `(r0 r1)`: neighbours of a warp would read a column. After: a block of
//! threads has a tile of points; it reads along r0 into shared memory (`fetch`), and goes on along r1
//! (`point_of`).

use std::collections::BTreeSet;

use weft_ir::ScalarType;
use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::{Dimension, Var};
use weft_ir::plan::Kernel;

use super::uses;
use crate::fields::Field;
use crate::structure::{Place, Structure, operands};

/// The most bytes that are staged for a point.
const MOST_BYTES: usize = 16;

/// The arguments that say which point it is; `at` is the number of the point of the dimensions before.
const POINT: &str = "const Arguments& in, i64 at, i64 i, i64 j";

/// Adds the functions of a transposed map; whether there is anything to transpose.
pub(super) fn transposed(
    kernel: &Kernel,
    structure: &mut Structure<'_, '_>,
    stores: &[(Operand, Var)],
) -> bool {
    let Some((fetched, rest)) = cut(kernel) else { return false };
    let types: Vec<ScalarType> = fetched.yields.iter().map(|(_, ty)| *ty).collect();
    if types.iter().map(|ty| ty.bytes()).sum::<usize>() > MOST_BYTES {
        return false;
    }
    structure.tuple("Staged", "StagedArray", &types);
    let names = ["i", "j"];
    let mut used = BTreeSet::new();
    uses::code(&fetched.code, &mut used);
    let indices = structure.given(&kernel.space, &kernel.indices, &used, &names);
    let signature = format!("Staged fetch({POINT})");
    structure.function(&signature, Place::new("return Staged{};", &[]), |writer| {
        indices.write(writer);
        writer.code(&fetched.code);
        let yields: Vec<Operand> =
            fetched.yields.iter().map(|(register, _)| Operand::Register(*register)).collect();
        let yields = operands(writer, &yields).join(", ");
        writer.statement(&format!("return Staged{{{yields}}};"));
    });
    let mut used: BTreeSet<Register> = kernel.indices.iter().copied().collect();
    uses::code(&rest, &mut used);
    let indices = structure.given(&kernel.space, &kernel.indices, &used, &names);
    let extents = weft_ir::flat::storage(&kernel.space);
    let registers: Vec<String> = kernel.indices.iter().map(ToString::to_string).collect();
    let to = structure.storage_index(&registers, &extents);
    let outputs: Vec<String> =
        stores.iter().map(|(_, array)| structure.field(Field::Output(*array))).collect();
    let signature = format!("void point_of({POINT}, const Staged& staged)");
    structure.function(&signature, Place::new("return;", &[]), |writer| {
        indices.write(writer);
        for (at, (register, ty)) in fetched.yields.iter().enumerate() {
            writer.bind(*register, *ty, format!("staged.c{at}"));
        }
        writer.code(&rest);
        writer.statement(&format!("const i64 to = {to};"));
        for ((value, _), output) in stores.iter().zip(&outputs) {
            let value = writer.operand(value);
            writer.statement(&format!("{output}[to] = {value};"));
        }
    });
    true
}

/// What reads along the dimension before the last.
struct Fetched {
    code: Code,
    yields: Vec<(Register, ScalarType)>,
}

/// The body of a kernel in what fetches, and the rest. All that the fetched reads need is computed for
/// both, and so are all checks.
fn cut(kernel: &Kernel) -> Option<(Fetched, Code)> {
    let dense = |dimension: &Dimension| matches!(dimension, Dimension::Dense(_));
    let [.., along, last] = kernel.indices[..] else { return None };
    if !kernel.space.iter().all(dense) {
        return None;
    }
    let (along, last) = (Operand::Register(along), Operand::Register(last));
    let is_fetched = |operation: &Operation| match operation {
        Operation::Read(_, indices) => {
            indices.last() == Some(&along) && indices[..indices.len() - 1].contains(&last)
        }
        Operation::Scalar(_, _)
        | Operation::Random(_, _)
        | Operation::Check(_, _)
        | Operation::If { .. }
        | Operation::While { .. } => false,
    };
    let instructions = &kernel.body.instructions;
    let last_read =
        instructions.iter().rposition(|instruction| is_fetched(&instruction.operation))?;
    let yields: Vec<(Register, ScalarType)> = instructions
        .iter()
        .filter(|instruction| is_fetched(&instruction.operation))
        .flat_map(|instruction| instruction.results.iter().copied())
        .collect();
    let mut needed: BTreeSet<Register> = yields.iter().map(|(register, _)| *register).collect();
    let mut taken = Vec::new();
    for instruction in instructions[..=last_read].iter().rev() {
        let is_needed = matches!(instruction.operation, Operation::Check(_, _))
            || instruction.results.iter().any(|(register, _)| needed.contains(register));
        if is_needed {
            instruction.operation.for_each_used(&mut |operand| needed.extend(operand.register()));
            taken.push(instruction.clone());
        }
    }
    taken.reverse();
    let rest = instructions.iter().filter(|instruction| !is_fetched(&instruction.operation));
    let rest = Code { instructions: rest.cloned().collect(), results: Vec::new() };
    Some((Fetched { code: Code { instructions: taken, results: Vec::new() }, yields }, rest))
}
