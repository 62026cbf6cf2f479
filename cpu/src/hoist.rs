//! Reads of neighbours that stand in conditionals come out of them.
//!
//! Note [Reads before conditionals]. A side of a conditional reads only for the lanes that take it: such reads
//! have masks, and compilers make no vector instructions of what follows from many masks. Within the box of a
//! kernel's interior, indices are often the point's own plus constants. What such a read reads is there at
//! every point of the box, or it is not: that is asked once for each launch, and then it comes before
//! the conditional and reads for all lanes, one element behind the other.

use std::collections::BTreeMap;

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::{Scalar, ScalarOp};

/// A read that was in a conditional: the number of the array, and of each index the dimension of the point
/// and what is added to that.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Hoisted {
    pub(crate) array: usize,
    pub(crate) indices: Vec<(usize, i64)>,
}

/// Moves such reads out of the conditionals of some code.
pub(crate) fn hoist(indices: &[Register], code: &mut Code) -> Vec<Hoisted> {
    let own = indices.iter().enumerate();
    let affine = own.map(|(dimension, &index)| (index, (dimension, 0))).collect();
    let mut hoist = Hoist { affine, reads: Vec::new() };
    let mut all = Vec::with_capacity(code.instructions.len());
    for mut instruction in std::mem::take(&mut code.instructions) {
        hoist.is_affine(&instruction);
        hoist.leave_sides(&mut instruction, &mut all);
        all.push(instruction);
    }
    code.instructions = all;
    hoist.reads
}

struct Hoist {
    /// Registers that are an index plus a constant, outside of conditionals.
    affine: BTreeMap<Register, (usize, i64)>,
    reads: Vec<Hoisted>,
}

impl Hoist {
    /// Whether an instruction computes an index plus a constant, which is noted.
    fn is_affine(&mut self, instruction: &Instruction) -> bool {
        let Operation::Scalar(op, operands) = &instruction.operation else { return false };
        let sum = match (op, &operands[..]) {
            (ScalarOp::Add, [Operand::Register(index), Operand::Scalar(Scalar::I64(more))])
            | (ScalarOp::Add, [Operand::Scalar(Scalar::I64(more)), Operand::Register(index)]) => {
                self.affine.get(index).map(|&(at, offset)| (at, offset.checked_add(*more)))
            }
            (ScalarOp::Sub, [Operand::Register(index), Operand::Scalar(Scalar::I64(less))]) => {
                self.affine.get(index).map(|&(at, offset)| (at, offset.checked_sub(*less)))
            }
            (_, _) => None,
        };
        let Some((dimension, Some(offset))) = sum else { return false };
        self.affine.insert(instruction.results[0].0, (dimension, offset));
        true
    }

    /// Moves what can be moved from the sides of a conditional, and of those in it.
    fn leave_sides(&mut self, instruction: &mut Instruction, to: &mut Vec<Instruction>) {
        let Operation::If { then, otherwise, .. } = &mut instruction.operation else { return };
        for side in [then, otherwise] {
            let mut stay = Vec::with_capacity(side.instructions.len());
            for mut inner in std::mem::take(&mut side.instructions) {
                if self.is_affine(&inner) || self.reads_neighbour(&inner) {
                    to.push(inner);
                    continue;
                }
                self.leave_sides(&mut inner, to);
                stay.push(inner);
            }
            side.instructions = stay;
        }
    }

    /// Whether an instruction reads at indices plus constants, which is noted.
    fn reads_neighbour(&mut self, instruction: &Instruction) -> bool {
        let Operation::Read(array, indices) = &instruction.operation else { return false };
        let affine = |index: &Operand| match index {
            Operand::Register(index) => self.affine.get(index).copied(),
            Operand::Scalar(_) => None,
        };
        let Some(indices) = indices.iter().map(affine).collect::<Option<Vec<_>>>() else {
            return false;
        };
        if indices.is_empty() {
            return false;
        }
        self.reads.push(Hoisted { array: array.0 as usize, indices });
        true
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::code::{Register, parse_code};
    use weft_ir::text::Reader;

    use super::{Hoisted, hoist};

    #[test]
    fn neighbours_are_read_before_conditionals_and_nothing_else_is() {
        let text = "r2: i64 = add r1 1i64
r3: i32 = read a0 r0 r1
r4: bool = lt r3 0i32
r5: i32 = if r4
  r6: i64 = add r2 -3i64
  r7: i32 = read a0 r0 r6
  r8: bool = lt r7 0i32
  r9: i32 = if r8
    r10: i32 = read a1 r2 r1
    yield r10
  else
    yield r7
  yield r9
else
  r11: i64 = cast_i64 r3
  r12: i32 = read a0 r0 r11
  yield r12
yield r5
";
        let moved = "r2: i64 = add r1 1i64
r3: i32 = read a0 r0 r1
r4: bool = lt r3 0i32
r6: i64 = add r2 -3i64
r7: i32 = read a0 r0 r6
r10: i32 = read a1 r2 r1
r5: i32 = if r4
  r8: bool = lt r7 0i32
  r9: i32 = if r8
    yield r10
  else
    yield r7
  yield r9
else
  r11: i64 = cast_i64 r3
  r12: i32 = read a0 r0 r11
  yield r12
yield r5
";
        let parsed = |text: &str| {
            let mut reader = Reader::new(text).expect("a code");
            parse_code(&mut reader).expect("a code")
        };
        let mut code = parsed(text);
        let reads = hoist(&[Register(0), Register(1)], &mut code);
        assert_eq!(code, parsed(moved));
        let first = Hoisted { array: 0, indices: vec![(0, 0), (1, -2)] };
        let second = Hoisted { array: 1, indices: vec![(1, 1), (1, 0)] };
        assert_eq!(reads, [first, second]);
    }
}
