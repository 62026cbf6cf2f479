//! Loops of known turns in the body of a kernel, written out.
//!
//! As for C (`Note [Known turns]` in `weft-codegen`). A round of MD5, of which there are 64 in a loop, takes
//! some 90 instructions on sm_90 as it is, with conditions on its number and indices made of it, and 20
//! written out, in 40 registers. NVRTC took 0.4 s for all rounds, and 0.1 s for the loop.

use std::collections::{BTreeMap, BTreeSet};

use weft_codegen::unroll;
use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::uses;

/// The most that a body may weigh whose loops are written out; an addition weighs 1. MD5 weighs 2100.
const MOST: usize = 2500;

/// The kernel with the loops of its body written out whose turns are known; nothing if there are none.
pub(super) fn written_out(kernel: &Kernel) -> Option<Kernel> {
    // An epilogue may use registers of the body, which keep their names here if they are not of a loop.
    let mut of_epilogue = BTreeSet::new();
    if let Some(epilogue) = &kernel.epilogue {
        uses::code(&epilogue.code, &mut of_epilogue);
        let stored: Vec<Operand> = epilogue.stores.iter().map(|(value, _)| *value).collect();
        uses::operands(&stored, &mut of_epilogue);
    }
    let kept: Vec<Operand> = of_epilogue.into_iter().map(Operand::Register).collect();
    let mut written = kernel.clone();
    let own: Vec<Operand> = kernel.sinks.iter().flat_map(Sink::operands).copied().collect();
    let wanted: Vec<Operand> = kept.iter().chain(&own).copied().collect();
    let free = kernel.next_register();
    let (mut body, now) = unroll(&kernel.body, &wanted, free, MOST, MOST)?;
    let (kept_now, own_now) = now.split_at(kept.len());
    if kept_now != kept {
        return None;
    }
    check_the_greatest(&mut body, free);
    written.body = body;
    for (operand, now) in written.sinks.iter_mut().flat_map(Sink::operands_mut).zip(own_now) {
        *operand = *now;
    }
    Some(written)
}

/// Where a register is checked to be greater than several constants, as the extent of an array than the
/// index of each turn, only the greatest is checked, and first. That another check may have failed before it
/// does not matter: what the error is, the interpreter says.
fn check_the_greatest(body: &mut Code, free: Register) {
    let mut less: BTreeMap<Register, (i64, Register)> = BTreeMap::new();
    for instruction in &body.instructions {
        if let Operation::Scalar(ScalarOp::Lt, operands) = &instruction.operation
            && let [Operand::Scalar(Scalar::I64(index)), Operand::Register(extent)] = operands[..]
        {
            less.insert(instruction.results[0].0, (index, extent));
        }
    }
    let checked = |instruction: &Instruction| match &instruction.operation {
        Operation::Check(Operand::Register(condition), _) => less.get(condition).copied(),
        Operation::Check(Operand::Scalar(_), _)
        | Operation::Scalar(..)
        | Operation::Random(..)
        | Operation::Read(..)
        | Operation::If { .. }
        | Operation::While { .. } => None,
    };
    let mut greatest: BTreeMap<Register, i64> = BTreeMap::new();
    for (index, extent) in body.instructions.iter().filter_map(checked) {
        greatest.entry(extent).and_modify(|known| *known = index.max(*known)).or_insert(index);
    }
    if greatest.is_empty() {
        return;
    }
    let Register(mut next) = body.next_register().max(free);
    let mut kept = Vec::with_capacity(body.instructions.len());
    for mut instruction in std::mem::take(&mut body.instructions) {
        if let Some((_, extent)) = checked(&instruction) {
            let Some(index) = greatest.remove(&extent) else { continue };
            let (condition, span) = (Register(next), instruction.span);
            next += 1;
            let operands = vec![Operand::Scalar(Scalar::I64(index)), Operand::Register(extent)];
            kept.push(Instruction {
                results: vec![(condition, ScalarType::Bool)],
                operation: Operation::Scalar(ScalarOp::Lt, operands),
                span,
            });
            if let Operation::Check(of, _) = &mut instruction.operation {
                *of = Operand::Register(condition);
            }
        }
        kept.push(instruction);
    }
    body.instructions = kept;
}

#[cfg(test)]
mod tests {
    use weft_ir::plan;

    use crate::{Policy, generate};

    /// A kernel that adds up a polynomial, with coefficients from a table, in so many turns.
    fn polynomial(turns: u32) -> String {
        let text = format!(
            "input a1: [a0]f32
input a3: [a2]f32
launch \"sum\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: i64 = read a2
  r3: i64, r4: f32 = while (r5: i64 = 0i64, r6: f32 = r1)
    r7: bool = lt r5 {turns}i64
    yield r7
  do
    r8: bool = lt r5 r2
    check r8 index
    r9: f32 = read a3 r5
    r10: f32 = mul r6 r1
    r11: f32 = add r10 r9
    r12: i64 = add r5 1i64
    yield r12 r11
  yield r4
  reduce r4 as (r13: f32) to a4: f32
  by (r14: f32) (r15: f32)
    r16: f32 = add r14 r15
    yield r16
  from ()
    yield 0.0f32
end
output a4: f32
"
        );
        let program = plan::parse(&text).expect("a plan");
        plan::check(&program).expect("a plan");
        generate(&program, &Policy::SM_90).body
    }

    #[test]
    fn turns_are_written_out_and_share_a_check() {
        let text = polynomial(5);
        assert!(!text.contains("for (;;)"), "{text}");
        assert_eq!(text.matches("fail(in.failure").count(), 1, "{text}");
        assert!(text.contains(" = 4LL < "), "{text}");
        assert!(text.contains("[4LL]") && !text.contains("[5LL]"), "{text}");
    }

    #[test]
    fn the_rounds_of_md5_are_written_out() {
        let program = plan::parse(include_str!("../../gate/plans/md5.plan")).expect("a plan");
        let text = generate(&program, &Policy::SM_90).body;
        assert!(!text.contains("for (;;)"), "{text}");
        // Of both tables only the end is checked; the words are in an array of any length.
        assert_eq!(text.matches("fail(in.failure").count(), 2 + 64);
    }

    #[test]
    fn too_many_turns_stay() {
        let text = polynomial(5000);
        assert!(text.contains("for (;;)"), "{text}");
    }
}
