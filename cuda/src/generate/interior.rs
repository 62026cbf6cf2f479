//! Bodies as they are away from the edges of a space: what only decides about edges is decided.
//!
//! Before: `r2 = add r0 -1; r3 = max r2 0; check (r3 < a0); r4 = read a1 r3`. After, for points of which
//! `r0 - 1 >= 0` and `r0 - 1 < a0`: `r2 = add r0 -1; r4 = read a1 r2`. The conditions are all linear in
//! one index, so they hold for all points of a range if they do for the first and the last.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::plan::Kernel;
use weft_ir::{Scalar, ScalarOp};

/// Offsets of neighbours are less: with an index, none of them wraps.
const MOST_OFFSET: u64 = 1 << 31;

/// A body away from the edges.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Interior {
    /// The body; its results are what is stored.
    pub(super) code: Code,
    /// What has to hold of the indices.
    pub(super) bounds: Bounds,
}

/// Bounds of indices.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Bounds {
    /// The least value of the index of a dimension.
    pub(super) least: BTreeMap<usize, i64>,
    /// By dimension and a value that is the same at all points: what may be added to the index so that it
    /// is still at most that value.
    pub(super) most: BTreeMap<(usize, Limit), i64>,
}

/// A value that is the same at all points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Limit {
    /// A register.
    Register(Register),
    /// A number.
    Number(i64),
}

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// The index of a dimension, and what is added to it.
    Index(usize, i64),
    /// The same at all points.
    Uniform,
}

/// The body of a kernel and the operands that are stored, away from the edges; nothing, if no neighbour of
/// a point is read.
pub(super) fn interior(kernel: &Kernel, stored: &[Operand]) -> Option<Interior> {
    let mut inside = Inside::default();
    for (at, register) in kernel.indices.iter().enumerate() {
        inside.known.insert(*register, Known::Index(at, 0));
    }
    inside.code(&kernel.body);
    let results = stored.iter().map(|operand| inside.replaced(operand)).collect();
    let Inside { bounds, instructions, of_neighbours, .. } = inside;
    let code = Code { instructions, results };
    of_neighbours.then_some(Interior { code, bounds })
}

#[derive(Default)]
struct Inside {
    known: BTreeMap<Register, Known>,
    /// What stands for a register now.
    instead: BTreeMap<Register, Operand>,
    bounds: Bounds,
    /// Whether a bound is of more than an index alone.
    of_neighbours: bool,
    instructions: Vec<Instruction>,
}

impl Inside {
    fn code(&mut self, code: &Code) {
        code.instructions.iter().for_each(|instruction| self.instruction(instruction));
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match &instruction.operation {
            Operation::Scalar(op, operands) => {
                let operands: Vec<Operand> = operands.iter().map(|at| self.replaced(at)).collect();
                let (register, _) = instruction.results[0];
                if let Some(value) = self.decided(*op, &operands) {
                    self.instead.insert(register, value);
                    return;
                }
                if let Some(known) = self.of_scalar(*op, &operands) {
                    self.known.insert(register, known);
                }
            }
            Operation::Read(_, indices) if indices.is_empty() => {
                self.known.insert(instruction.results[0].0, Known::Uniform);
            }
            Operation::Check(condition, _)
                if self.replaced(condition) == Operand::Scalar(Scalar::Bool(true)) =>
            {
                return;
            }
            Operation::If { condition, then, otherwise } => {
                let side = match self.replaced(condition) {
                    Operand::Scalar(Scalar::Bool(true)) => Some(then),
                    Operand::Scalar(Scalar::Bool(false)) => Some(otherwise),
                    Operand::Scalar(_) | Operand::Register(_) => None,
                };
                if let Some(side) = side {
                    self.code(side);
                    for ((register, _), value) in instruction.results.iter().zip(&side.results) {
                        let value = self.replaced(value);
                        self.instead.insert(*register, value);
                    }
                    return;
                }
            }
            Operation::Random(_, _)
            | Operation::Read(_, _)
            | Operation::Check(_, _)
            | Operation::While { .. } => {}
        }
        let mut instruction = instruction.clone();
        let replace = &mut |operand: &mut Operand| *operand = self.replaced(operand);
        instruction.operation.for_each_used_mut(replace);
        self.instructions.push(instruction);
    }

    fn replaced(&self, operand: &Operand) -> Operand {
        let instead = operand.register().and_then(|register| self.instead.get(&register));
        *instead.unwrap_or(operand)
    }

    fn of(&self, operand: &Operand) -> Option<Known> {
        match operand {
            Operand::Register(register) => self.known.get(register).copied(),
            Operand::Scalar(_) => Some(Known::Uniform),
        }
    }

    /// What is known of the result of an operator.
    fn of_scalar(&self, op: ScalarOp, operands: &[Operand]) -> Option<Known> {
        let all: Option<Vec<Known>> = operands.iter().map(|operand| self.of(operand)).collect();
        match (op, &all?[..], operands) {
            (_, known, _) if known.iter().all(|known| *known == Known::Uniform) => {
                Some(Known::Uniform)
            }
            (
                ScalarOp::Add,
                [Known::Index(at, add), _],
                [_, Operand::Scalar(Scalar::I64(more))],
            )
            | (
                ScalarOp::Add,
                [_, Known::Index(at, add)],
                [Operand::Scalar(Scalar::I64(more)), _],
            ) => neighbour(*at, add.checked_add(*more)?),
            (
                ScalarOp::Sub,
                [Known::Index(at, add), _],
                [_, Operand::Scalar(Scalar::I64(less))],
            ) => neighbour(*at, add.checked_sub(*less)?),
            _ => None,
        }
    }

    /// The value of an operator, if it is decided away from the edges.
    fn decided(&mut self, op: ScalarOp, operands: &[Operand]) -> Option<Operand> {
        let truth = |value| Some(Operand::Scalar(Scalar::Bool(value)));
        match (op, operands) {
            (ScalarOp::Not, [Operand::Scalar(Scalar::Bool(value))]) => truth(!value),
            (ScalarOp::And, [Operand::Scalar(Scalar::Bool(value)), other])
            | (ScalarOp::And, [other, Operand::Scalar(Scalar::Bool(value))]) => {
                if *value {
                    Some(*other)
                } else {
                    truth(false)
                }
            }
            (ScalarOp::Or, [Operand::Scalar(Scalar::Bool(value)), other])
            | (ScalarOp::Or, [other, Operand::Scalar(Scalar::Bool(value))]) => {
                if *value {
                    truth(true)
                } else {
                    Some(*other)
                }
            }
            (ScalarOp::Select, [Operand::Scalar(Scalar::Bool(condition)), then, otherwise]) => {
                Some(if *condition { *then } else { *otherwise })
            }
            (ScalarOp::Max, [index, limit]) | (ScalarOp::Max, [limit, index])
                if self.at_least(index, limit, 0) =>
            {
                Some(*index)
            }
            (ScalarOp::Min, [index, limit]) | (ScalarOp::Min, [limit, index])
                if self.at_most(index, limit, 0) =>
            {
                Some(*index)
            }
            (ScalarOp::Mod, [index, limit]) if self.at_most(index, limit, 1) => {
                let zero = Operand::Scalar(Scalar::I64(0));
                self.at_least(index, &zero, 0).then_some(*index)
            }
            (ScalarOp::Ge, [one, other]) | (ScalarOp::Le, [other, one])
                if self.at_least(one, other, 0) || self.at_most(other, one, 0) =>
            {
                truth(true)
            }
            (ScalarOp::Gt, [one, other]) | (ScalarOp::Lt, [other, one])
                if self.at_least(one, other, 1) || self.at_most(other, one, 1) =>
            {
                truth(true)
            }
            _ => None,
        }
    }

    /// Whether an operand is an index of which one may ask that it is at least a number and some more;
    /// then it is asked.
    fn at_least(&mut self, index: &Operand, least: &Operand, more: i64) -> bool {
        let (Some(Known::Index(at, add)), Operand::Scalar(Scalar::I64(least))) =
            (self.of(index), least)
        else {
            return false;
        };
        let Some(least) = least.checked_add(more).and_then(|least| least.checked_sub(add)) else {
            return false;
        };
        let known = self.bounds.least.entry(at).or_insert(0);
        *known = least.max(*known);
        self.of_neighbours |= add != 0;
        true
    }

    /// Whether an operand is an index of which one may ask that with some more it is at most a value that
    /// is the same at all points; then it is asked.
    fn at_most(&mut self, index: &Operand, most: &Operand, more: i64) -> bool {
        let Some(Known::Index(at, add)) = self.of(index) else { return false };
        let limit = match (self.of(most), most) {
            (Some(Known::Uniform), Operand::Register(register)) => Limit::Register(*register),
            (_, Operand::Scalar(Scalar::I64(number))) => Limit::Number(*number),
            _ => return false,
        };
        let Some(more) = add.checked_add(more) else { return false };
        let known = self.bounds.most.entry((at, limit)).or_insert(more);
        *known = more.max(*known);
        self.of_neighbours |= add != 0;
        true
    }
}

/// An index and what is added to it.
fn neighbour(dimension: usize, offset: i64) -> Option<Known> {
    (offset.unsigned_abs() < MOST_OFFSET).then_some(Known::Index(dimension, offset))
}

/// The registers that stand in bounds.
pub(super) fn limits(bounds: &Bounds) -> BTreeSet<Register> {
    let register = |(_, limit): &(usize, Limit)| match limit {
        Limit::Register(register) => Some(*register),
        Limit::Number(_) => None,
    };
    bounds.most.keys().filter_map(register).collect()
}

/// The instructions of code that some registers need, which are the same at all points.
pub(super) fn needed_by(code: &Code, mut wanted: BTreeSet<Register>) -> Code {
    let mut taken = Vec::new();
    for instruction in code.instructions.iter().rev() {
        if instruction.results.iter().any(|(register, _)| wanted.contains(register)) {
            instruction.operation.for_each_used(&mut |operand| wanted.extend(operand.register()));
            taken.push(instruction.clone());
        }
    }
    taken.reverse();
    Code { instructions: taken, results: Vec::new() }
}
