//! Offsets that all lanes share and that differ from step to step, and what lies between their least and
//! their greatest.

use std::collections::BTreeMap;

use weft_ir::code::{Instruction, Operand, Operation, Register};
use weft_ir::{Scalar, ScalarOp, ScalarType};

/// What is added to an index: a constant, and registers, each with whether it is subtracted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Offset {
    constant: i64,
    steady: Vec<(Register, bool)>,
}

impl Offset {
    /// With a constant added, or subtracted.
    pub(super) fn plus(mut self, more: i64, negated: bool) -> Option<Offset> {
        let more = if negated { more.checked_neg()? } else { more };
        self.constant = self.constant.checked_add(more)?;
        Some(self)
    }

    /// With a register added, or subtracted.
    pub(super) fn plus_steady(mut self, register: Register, negated: bool) -> Offset {
        self.steady.push((register, negated));
        self
    }

    /// The constant.
    pub(crate) fn constant(&self) -> i64 {
        self.constant
    }

    /// The registers that are added, each with whether it is subtracted.
    pub(crate) fn registers(&self) -> &[(Register, bool)] {
        &self.steady
    }

    /// The least and the greatest, given those of the registers.
    pub fn interval(&self, known: &BTreeMap<Register, Interval>) -> Option<Interval> {
        let constant = Interval::of(self.constant);
        self.steady.iter().try_fold(constant, |sum, (register, negated)| {
            let op = if *negated { ScalarOp::Sub } else { ScalarOp::Add };
            Interval::apply(op, sum, *known.get(register)?)
        })
    }
}

/// Numbers from the least to the greatest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// The least.
    pub least: i64,
    /// The greatest.
    pub greatest: i64,
}

impl Interval {
    /// Of one number.
    pub fn of(number: i64) -> Interval {
        Interval { least: number, greatest: number }
    }

    /// That holds what an operator makes of numbers of two others; nothing if it may wrap or fail, or is
    /// another operator than those that compute places.
    fn apply(op: ScalarOp, first: Interval, second: Interval) -> Option<Interval> {
        let ends = |of: fn(i64, i64) -> Option<i64>| {
            let (a, b) = (first, second);
            let all = [
                of(a.least, b.least)?,
                of(a.least, b.greatest)?,
                of(a.greatest, b.least)?,
                of(a.greatest, b.greatest)?,
            ];
            let [least, greatest] = [all.iter().min()?, all.iter().max()?];
            Some(Interval { least: *least, greatest: *greatest })
        };
        match op {
            ScalarOp::Add => ends(i64::checked_add),
            ScalarOp::Sub => ends(i64::checked_sub),
            ScalarOp::Mul => ends(i64::checked_mul),
            ScalarOp::Min => ends(|a, b| Some(a.min(b))),
            ScalarOp::Max => ends(|a, b| Some(a.max(b))),
            // By positive numbers these are what Euclid has.
            ScalarOp::FloorDiv if second.least > 0 => ends(i64::checked_div_euclid),
            ScalarOp::Mod if second.least > 0 => {
                let within = first.least >= 0 && first.greatest < second.least;
                let any = Interval { least: 0, greatest: second.greatest - 1 };
                Some(if within { first } else { any })
            }
            _ => None,
        }
    }
}

/// What all lanes share at a step, as far as offsets are made of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Steady {
    /// The index of the step, or those of the row.
    given: Vec<Register>,
    /// What computes the others, in order.
    code: Vec<(Register, From)>,
}

/// What a register comes from.
#[derive(Clone, Debug, PartialEq)]
enum From {
    /// A scalar, by the number of its array.
    Read(u32),
    Operator(ScalarOp, [Operand; 2]),
}

impl Steady {
    /// Nothing is known yet but the index of the step, or those of the row.
    pub(super) fn new(given: &[Register]) -> Steady {
        Steady { given: given.to_vec(), code: Vec::new() }
    }

    /// Whether all lanes share a register.
    pub(super) fn has(&self, register: Register) -> bool {
        self.given.contains(&register) || self.code.iter().any(|(known, _)| *known == register)
    }

    /// Looks at an instruction, after all those that its operands come from.
    pub(super) fn see(&mut self, instruction: &Instruction) {
        let [(result, ScalarType::I64)] = instruction.results[..] else { return };
        let is_known = |operand: &Operand| match operand {
            Operand::Scalar(scalar) => matches!(scalar, Scalar::I64(_)),
            Operand::Register(register) => self.has(*register),
        };
        let from = match &instruction.operation {
            Operation::Read(array, indices) if indices.is_empty() => From::Read(array.0),
            Operation::Scalar(op, operands) => match operands[..] {
                [first, second] if is_known(&first) && is_known(&second) => {
                    From::Operator(*op, [first, second])
                }
                _ => return,
            },
            _ => return,
        };
        self.code.push((result, from));
    }

    /// The least and the greatest of the registers over so many steps, where they can be told.
    pub fn intervals(
        &self,
        steps: usize,
        scalar: impl Fn(u32) -> Option<i64>,
    ) -> BTreeMap<Register, Interval> {
        let mut known = BTreeMap::new();
        if let [step] = self.given[..] {
            let greatest = i64::try_from(steps).unwrap_or(i64::MAX).saturating_sub(1).max(0);
            known.insert(step, Interval { least: 0, greatest });
        }
        for (register, from) in &self.code {
            let of = |operand: &Operand| match operand {
                Operand::Scalar(Scalar::I64(number)) => Some(Interval::of(*number)),
                Operand::Scalar(_) => None,
                Operand::Register(register) => known.get(register).copied(),
            };
            let interval = match from {
                From::Read(array) => scalar(*array).map(Interval::of),
                From::Operator(op, [first, second]) => match (of(first), of(second)) {
                    (Some(first), Some(second)) => Interval::apply(*op, first, second),
                    (_, _) => None,
                },
            };
            if let Some(interval) = interval {
                known.insert(*register, interval);
            }
        }
        known
    }
}
