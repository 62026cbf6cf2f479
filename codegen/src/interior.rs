//! The code of points away from the borders.
//!
//! Note [Interior points]. What reads its neighbours clamps their indices and checks them, at every point,
//! though only those at the borders need it. An index that is clamped or checked is often the point's
//! own plus a constant; then there is a box of points where that changes nothing. In it the code runs
//! without: its reads are contiguous. A constant that stands around an array is left out likewise, and what is
//! appended to one; so are remainders, where neighbours are beyond the other border, and mirrors. Where the box
//! lies depends on sizes, so each launch asks. Arrays behind one another have a box each (`sides.rs`); conditions such
//! as `i == 0 || i == n - 1` are known in a box away from the border (`borders.rs`).
//!
//! ```text
//! r2 = add r1 -1        r2 = add r1 -1
//! r3 = max r2 0    →                       where r1 + -1 >= 0
//! r4 = lt r3 a6                            where r1 + -1 < a6
//! check r4
//! r5 = read a2 r0 r3    r5 = read a2 r0 r2
//! ```
//!
//! Where lanes are rows and the last index steps through their elements, an index may also be the point's own
//! plus what differs from step to step, as the places of a kernel do whose extents are known only when it runs.
//! Then the box is that of the least and the greatest of all steps (`steady.rs`). Where a function goes from row to row, it is
//! the point's own plus what is the same along a row, and each row has its box.

mod across;
mod borders;
mod sides;
mod steady;

use std::collections::{BTreeMap, BTreeSet};

use across::crosses;
use borders::Border;
pub use sides::interiors;
pub(crate) use sides::interiors_of_rows;
use sides::yields_registers;
pub use steady::{Interval, Offset, Steady};
use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::{Scalar, ScalarOp, ScalarType};

/// Code for a box of points, with the conditions that make the box.
#[derive(Clone, Debug, PartialEq)]
pub struct Interior {
    /// What runs there.
    pub code: Code,
    /// Its results.
    pub results: Vec<Operand>,
    /// The box.
    pub bounds: Vec<Bound>,
    /// Whether it may run on from row to row (Note [On across rows]).
    pub crosses: bool,
    /// What offsets are made of that differ from step to step.
    pub steady: Steady,
}

/// A condition on the index along one dimension, plus an offset.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// Which index.
    pub dimension: usize,
    /// What is added to it.
    pub offset: Offset,
    /// What the sum has to be.
    pub limit: Limit,
}

/// An index plus an offset.
type Place = (usize, Offset);

/// What the sum is compared with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// This number or a greater one.
    AtLeast(Number),
    /// This number or a smaller one.
    AtMost(Number),
    /// A smaller one.
    Below(Number),
}

/// A number that is the same at all points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// One that stands in the code.
    Constant(i64),
    /// A scalar, by the number of its array.
    Read(u32),
    /// Half of it, rounded down.
    Half(u32),
}

const LEAST: Limit = Limit::AtLeast(Number::Constant(0));

/// The interior of a canonical kernel's body where the last index steps through the elements of all rows
/// together, if it has one.
pub fn interior_of_columns(
    indices: &[Register],
    body: &Code,
    results: &[Operand],
) -> Option<Interior> {
    let (&step, outer) = indices.split_last()?;
    let finder = Finder { steady: Some(Steady::new(&[step])), ..Finder::default() };
    found(finder, outer, indices, body, results).map(|(interior, _)| interior)
}

/// The interior of a box along some of the indices, and the sides of conditionals that it takes ([`Finder::sides`]).
fn found(
    mut finder: Finder,
    along: &[Register],
    indices: &[Register],
    body: &Code,
    results: &[Operand],
) -> Option<(Interior, Vec<bool>)> {
    for (dimension, &index) in along.iter().enumerate() {
        finder.affine.insert(index, (dimension, Offset::default()));
    }
    let mut instructions = Vec::with_capacity(body.instructions.len());
    finder.simplify(&body.instructions, &mut instructions);
    if finder.bounds.is_empty() {
        return None;
    }
    let mut results = results.to_vec();
    results.iter_mut().for_each(|operand| rename_operand(operand, &finder.same));
    let mut code = Code { instructions, results: body.results.clone() };
    code.results.iter_mut().for_each(|operand| rename_operand(operand, &finder.same));
    remove_dead(&mut code, &results);
    let crosses = crosses(&code, &results, &finder.affine, indices.len());
    let steady = finder.steady.unwrap_or_default();
    Some((Interior { code, results, bounds: finder.bounds, crosses, steady }, finder.sides))
}

/// What is known of the registers so far.
#[derive(Debug, Default)]
struct Finder {
    /// Registers that are an index plus an offset.
    affine: BTreeMap<Register, Place>,
    numbers: BTreeMap<Register, Number>,
    /// What all lanes share, where the last index steps.
    steady: Option<Steady>,
    /// Registers that are a scalar less an index plus an offset.
    mirrored: BTreeMap<Register, (u32, Place)>,
    /// Truth values that hold in a box.
    holding: BTreeMap<Register, Vec<Bound>>,
    /// Truth values that tell the border (`borders.rs`).
    borders: BTreeMap<Register, Border>,
    /// Registers that are others in the box.
    same: BTreeMap<Register, Register>,
    bounds: Vec<Bound>,
    /// The sides to take of the first conditionals that have a box for either: whether it is the other one.
    wanted: Vec<bool>,
    /// Those of all.
    sides: Vec<bool>,
}

impl Finder {
    /// Appends what is needed in the box.
    fn simplify(&mut self, body: &[Instruction], to: &mut Vec<Instruction>) {
        for instruction in body {
            let mut instruction = instruction.clone();
            rename(&mut instruction.operation, &self.same);
            if self.inlines(&instruction, to) {
                continue;
            }
            if let Operation::If { then, otherwise, .. } = &mut instruction.operation {
                for side in [then, otherwise] {
                    let all = std::mem::take(&mut side.instructions);
                    self.simplify(&all, &mut side.instructions);
                    let results = side.results.iter_mut();
                    results.for_each(|operand| rename_operand(operand, &self.same));
                }
            }
            if !self.drops(&instruction) {
                to.push(instruction);
            }
        }
    }

    /// Puts the side of a conditional in its place that is taken in the box: the other is what stands
    /// around an array, or the array that comes after it.
    fn inlines(&mut self, instruction: &Instruction, to: &mut Vec<Instruction>) -> bool {
        let Operation::If { condition, then, otherwise } = &instruction.operation else {
            return false;
        };
        let holding = condition.register().and_then(|condition| self.holding.get(&condition));
        let taken = match (holding.cloned(), self.border(condition)) {
            (Some(bounds), _) => self.side(bounds, then, otherwise),
            (None, Some((value, bounds))) => {
                let side = if value { then } else { otherwise };
                yields_registers(side).then_some((side, bounds))
            }
            (None, None) => None,
        };
        let Some((side, bounds)) = taken else { return false };
        self.bounds.extend(bounds);
        self.simplify(&side.instructions, to);
        for (&(result, _), mut value) in instruction.results.iter().zip(side.results.clone()) {
            rename_operand(&mut value, &self.same);
            if let Operand::Register(value) = value {
                self.same.insert(result, value);
                if let Some(affine) = self.affine.get(&value).cloned() {
                    self.affine.insert(result, affine);
                }
            }
        }
        true
    }

    /// Whether the instruction is not needed in the box.
    fn drops(&mut self, instruction: &Instruction) -> bool {
        if let Some(steady) = &mut self.steady {
            steady.see(instruction);
        }
        match &instruction.operation {
            Operation::Read(array, indices) if indices.is_empty() => {
                if let [(register, ScalarType::I64)] = instruction.results[..] {
                    self.numbers.insert(register, Number::Read(array.0));
                }
                false
            }
            Operation::Scalar(op, operands) => self.scalar(*op, operands, instruction.results[0].0),
            Operation::Check(Operand::Register(condition), _) => {
                let Some(bounds) = self.holding.get(condition) else { return false };
                self.bounds.extend(bounds.iter().cloned());
                true
            }
            Operation::Read(..)
            | Operation::Check(..)
            | Operation::Random(..)
            | Operation::If { .. }
            | Operation::While { .. } => false,
        }
    }

    fn scalar(&mut self, op: ScalarOp, operands: &[Operand], result: Register) -> bool {
        if let (ScalarOp::Not, [operand]) = (op, operands) {
            self.borders.extend(self.border_of_not(*operand).map(|border| (result, border)));
            return false;
        }
        let [first, second] = *operands else { return false };
        self.borders.extend(self.border_of(op, first, second).map(|border| (result, border)));
        match op {
            ScalarOp::Add | ScalarOp::Sub => {
                if let Some(sum) = self.sum(op, first, second) {
                    self.affine.insert(result, sum);
                }
                if let (ScalarOp::Sub, Some(Number::Read(scalar)), Some(index)) =
                    (op, self.number(first), self.index(second))
                {
                    self.mirrored.insert(result, (scalar, index));
                }
                false
            }
            // By a constant it is most often a pattern, not a border.
            ScalarOp::Mod | ScalarOp::Rem => {
                let Some(Number::Read(_)) = self.number(second) else { return false };
                let below = self.bound(first, second, Limit::Below);
                let (Operand::Register(index), Some(below)) = (first, below) else { return false };
                self.affine.insert(result, (below.dimension, below.offset.clone()));
                self.same.insert(result, index);
                self.bounds.extend([Bound { limit: LEAST, ..below.clone() }, below]);
                true
            }
            ScalarOp::Min if self.mirror(first, second).is_some() => {
                let (Operand::Register(index), Some(bound)) = (first, self.mirror(first, second))
                else {
                    return false;
                };
                self.affine.insert(result, (bound.dimension, bound.offset.clone()));
                self.same.insert(result, index);
                self.bounds.extend([Bound { limit: LEAST, ..bound.clone() }, bound]);
                true
            }
            ScalarOp::Max | ScalarOp::Min => {
                let limit = if op == ScalarOp::Max { Limit::AtLeast } else { Limit::AtMost };
                let pair = [(first, second), (second, first)]
                    .into_iter()
                    .find_map(|(index, number)| Some((index, self.bound(index, number, limit)?)));
                let Some((Operand::Register(index), bound)) = pair else { return false };
                self.affine.insert(result, (bound.dimension, bound.offset.clone()));
                self.same.insert(result, index);
                self.bounds.push(bound);
                true
            }
            ScalarOp::Ge | ScalarOp::Gt | ScalarOp::Le | ScalarOp::Lt => {
                self.holds(result, self.compared_bound(op, first, second))
            }
            ScalarOp::And => {
                let of = |operand: Operand| match operand {
                    Operand::Register(register) => self.holding.get(&register).cloned(),
                    Operand::Scalar(_) => None,
                };
                if let (Some(mut all), Some(more)) = (of(first), of(second)) {
                    all.extend(more);
                    self.holding.insert(result, all);
                }
                false
            }
            _ => false,
        }
    }

    fn holds(&mut self, result: Register, bound: Option<Bound>) -> bool {
        if let Some(bound) = bound {
            self.holding.insert(result, vec![bound]);
        }
        false
    }

    fn index(&self, operand: Operand) -> Option<Place> {
        self.affine.get(&operand.register()?).cloned()
    }

    /// A sum or a difference, if that is an index plus an offset.
    fn sum(&self, op: ScalarOp, first: Operand, second: Operand) -> Option<Place> {
        let ((dimension, offset), other) = match (self.index(first), self.index(second)) {
            (Some(index), None) => (index, second),
            (None, Some(index)) if op == ScalarOp::Add => (index, first),
            (_, _) => return None,
        };
        let negated = op == ScalarOp::Sub;
        let offset = match other {
            Operand::Scalar(Scalar::I64(more)) => offset.plus(more, negated)?,
            Operand::Register(other) if self.steady.as_ref()?.has(other) => {
                offset.plus_steady(other, negated)
            }
            Operand::Register(_) | Operand::Scalar(_) => return None,
        };
        Some((dimension, offset))
    }

    fn bound(&self, index: Operand, number: Operand, limit: fn(Number) -> Limit) -> Option<Bound> {
        let (dimension, offset) = self.index(index)?;
        Some(Bound { dimension, offset, limit: limit(self.number(number)?) })
    }

    fn number(&self, operand: Operand) -> Option<Number> {
        match operand {
            Operand::Scalar(Scalar::I64(value)) => Some(Number::Constant(value)),
            Operand::Register(register) => self.numbers.get(&register).copied(),
            Operand::Scalar(_) => None,
        }
    }

    /// Where an index is not more than a number less the same index: up to half of it.
    fn mirror(&self, index: Operand, other: Operand) -> Option<Bound> {
        let (dimension, offset) = self.index(index)?;
        let (scalar, of) = self.mirrored.get(&other.register()?)?;
        let limit = Limit::AtMost(Number::Half(*scalar));
        (*of == (dimension, offset.clone())).then_some(Bound { dimension, offset, limit })
    }
}

fn rename(operation: &mut Operation, same: &BTreeMap<Register, Register>) {
    operation.for_each_used_mut(&mut |operand| rename_operand(operand, same));
}

fn rename_operand(operand: &mut Operand, same: &BTreeMap<Register, Register>) {
    if let Operand::Register(register) = operand
        && let Some(other) = same.get(register)
    {
        *register = *other;
    }
}

/// Removes comparisons that nobody looks at any more.
fn remove_dead(code: &mut Code, results: &[Operand]) {
    let mut used = results.iter().filter_map(|operand| operand.register()).collect();
    remove_dead_within(code, &mut used);
}

fn remove_dead_within(code: &mut Code, used: &mut BTreeSet<Register>) {
    used.extend(code.results.iter().filter_map(|operand| operand.register()));
    let mut kept = Vec::with_capacity(code.instructions.len());
    while let Some(mut instruction) = code.instructions.pop() {
        let is_comparison = matches!(
            instruction.operation,
            Operation::Scalar(
                ScalarOp::And
                    | ScalarOp::Or
                    | ScalarOp::Not
                    | ScalarOp::Ge
                    | ScalarOp::Gt
                    | ScalarOp::Le
                    | ScalarOp::Lt
                    | ScalarOp::Eq
                    | ScalarOp::Ne,
                _
            )
        );
        let is_used = |(register, _): &(Register, ScalarType)| used.contains(register);
        if is_comparison && !instruction.results.iter().any(is_used) {
            continue;
        }
        if let Operation::If { then, otherwise, .. } = &mut instruction.operation {
            remove_dead_within(then, used);
            remove_dead_within(otherwise, used);
        }
        instruction.operation.for_each_used(&mut |operand| used.extend(operand.register()));
        kept.push(instruction);
    }
    kept.reverse();
    code.instructions = kept;
}

#[cfg(test)]
mod tests {
    use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
    use weft_ir::flat::Var;
    use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, Span};

    use super::{Bound, Interior, Interval, Limit, Number, Offset, interior_of_columns, interiors};

    fn interior(indices: &[Register], body: &Code, results: &[Operand]) -> Option<Interior> {
        interiors(indices, body, results).into_iter().next()
    }

    fn by(constant: i64) -> Offset {
        Offset::default().plus(constant, false).expect("a small one")
    }

    fn register(number: u32) -> Operand {
        Operand::Register(Register(number))
    }

    fn number(value: i64) -> Operand {
        Operand::Scalar(Scalar::I64(value))
    }

    fn instruction(result: u32, ty: ScalarType, operation: Operation) -> Instruction {
        let results = match operation {
            Operation::Check(..) => Vec::new(),
            _ => vec![(Register(result), ty)],
        };
        Instruction { results, operation, span: Span::default() }
    }

    fn scalar(result: u32, op: ScalarOp, left: Operand, right: Operand) -> Instruction {
        let ty = match op {
            ScalarOp::Lt | ScalarOp::Ge | ScalarOp::And => ScalarType::Bool,
            _ => ScalarType::I64,
        };
        instruction(result, ty, Operation::Scalar(op, vec![left, right]))
    }

    #[test]
    fn clamps_and_checks_are_left_out() {
        let check = Operation::Check(register(7), FaultKind::IndexOutOfRange);
        let read = Operation::Read(Var(1), vec![register(3)]);
        let instructions = vec![
            scalar(2, ScalarOp::Add, register(0), number(-1)),
            scalar(3, ScalarOp::Max, register(2), number(0)),
            instruction(4, ScalarType::I64, Operation::Read(Var(0), Vec::new())),
            scalar(5, ScalarOp::Lt, register(3), register(4)),
            scalar(6, ScalarOp::Ge, register(3), number(0)),
            scalar(7, ScalarOp::And, register(5), register(6)),
            instruction(8, ScalarType::Bool, check),
            instruction(9, ScalarType::F32, read),
        ];
        let body = Code { instructions: instructions.clone(), results: vec![register(9)] };
        let found = interior(&[Register(0)], &body, &[register(9)]).expect("an interior");
        let mut last = instructions[7].clone();
        last.operation = Operation::Read(Var(1), vec![register(2)]);
        let kept = [instructions[0].clone(), instructions[2].clone(), last];
        assert_eq!(found.code.instructions, kept);
        let bound = |limit: Limit| Bound { dimension: 0, offset: by(-1), limit };
        let bounds = [
            bound(Limit::AtLeast(Number::Constant(0))),
            bound(Limit::Below(Number::Read(0))),
            bound(Limit::AtLeast(Number::Constant(0))),
        ];
        assert_eq!(found.bounds, bounds);
    }

    #[test]
    fn a_constant_around_an_array_is_left_out() {
        let check = Operation::Check(register(3), FaultKind::IndexOutOfRange);
        let read = Operation::Read(Var(1), vec![register(2)]);
        let inner = vec![
            instruction(0, ScalarType::Bool, check),
            instruction(4, ScalarType::F32, read.clone()),
        ];
        let zero = Operand::Scalar(Scalar::F32(0.0));
        let then = Code { instructions: inner, results: vec![register(4)] };
        let otherwise = Code { instructions: Vec::new(), results: vec![zero] };
        let guarded = Operation::If { condition: register(3), then, otherwise };
        let instructions = vec![
            scalar(2, ScalarOp::Add, register(0), number(-1)),
            scalar(3, ScalarOp::Ge, register(2), number(0)),
            instruction(5, ScalarType::F32, guarded),
        ];
        let body = Code { instructions: instructions.clone(), results: vec![register(5)] };
        let found = interior(&[Register(0)], &body, &[register(5)]).expect("an interior");
        let kept = [instructions[0].clone(), instruction(4, ScalarType::F32, read)];
        assert_eq!(found.code.instructions, kept);
        assert_eq!(found.results, [register(4)]);
        let limit = Limit::AtLeast(Number::Constant(0));
        assert_eq!(found.bounds[0], Bound { dimension: 0, offset: by(-1), limit });
    }

    #[test]
    fn remainders_and_mirrors_are_left_out() {
        // What mirrors at both borders: the remainder by a3, and of that and a4 less that the lesser.
        let instructions = vec![
            scalar(2, ScalarOp::Add, register(0), number(-1)),
            instruction(3, ScalarType::I64, Operation::Read(Var(3), Vec::new())),
            instruction(4, ScalarType::I64, Operation::Read(Var(4), Vec::new())),
            scalar(5, ScalarOp::Mod, register(2), register(3)),
            scalar(6, ScalarOp::Sub, register(4), register(5)),
            scalar(7, ScalarOp::Min, register(5), register(6)),
            instruction(8, ScalarType::F32, Operation::Read(Var(1), vec![register(7)])),
        ];
        let body = Code { instructions, results: vec![register(8)] };
        let found = interior(&[Register(0)], &body, &[register(8)]).expect("an interior");
        let last = found.code.instructions.last().expect("a read");
        assert_eq!(last.operation, Operation::Read(Var(1), vec![register(2)]));
        let bound = |limit| Bound { dimension: 0, offset: by(-1), limit };
        let least = bound(Limit::AtLeast(Number::Constant(0)));
        let below = bound(Limit::Below(Number::Read(3)));
        let half = bound(Limit::AtMost(Number::Half(4)));
        assert_eq!(found.bounds, [least.clone(), below, least, half]);
    }

    #[test]
    fn patterns_and_mirrors_of_others_stay() {
        // A remainder by a constant, and the lesser of an index and a number less another one.
        let instructions = vec![
            scalar(2, ScalarOp::Mod, register(0), number(2)),
            instruction(3, ScalarType::I64, Operation::Read(Var(3), Vec::new())),
            scalar(4, ScalarOp::Sub, register(3), register(1)),
            scalar(5, ScalarOp::Min, register(0), register(4)),
        ];
        let body = Code { instructions, results: vec![register(2), register(5)] };
        let results = [register(2), register(5)];
        assert_eq!(interior(&[Register(0), Register(1)], &body, &results), None);
    }

    #[test]
    fn what_is_no_index_stays() {
        let check = Operation::Check(register(3), FaultKind::IndexOutOfRange);
        let instructions = vec![
            instruction(1, ScalarType::I64, Operation::Read(Var(1), vec![register(0)])),
            scalar(2, ScalarOp::Max, register(1), number(0)),
            scalar(3, ScalarOp::Lt, register(2), number(9)),
            instruction(4, ScalarType::Bool, check),
        ];
        let body = Code { instructions, results: vec![register(2)] };
        assert_eq!(interior(&[Register(0)], &body, &[register(2)]), None);
    }

    #[test]
    fn offsets_may_differ_from_step_to_step() {
        // A kernel of rows of a1, as flat as r2 goes, whose middle is a2: clamped along the first dimension.
        let instructions = vec![
            instruction(3, ScalarType::I64, Operation::Read(Var(1), Vec::new())),
            instruction(4, ScalarType::I64, Operation::Read(Var(2), Vec::new())),
            instruction(5, ScalarType::I64, Operation::Read(Var(3), Vec::new())),
            scalar(6, ScalarOp::FloorDiv, register(2), register(3)),
            scalar(7, ScalarOp::Sub, register(6), register(4)),
            scalar(8, ScalarOp::Add, register(0), register(7)),
            scalar(9, ScalarOp::Max, register(8), number(0)),
            scalar(10, ScalarOp::Min, register(9), register(5)),
            scalar(11, ScalarOp::Mod, register(2), register(3)),
            instruction(
                12,
                ScalarType::F32,
                Operation::Read(Var(0), vec![register(10), register(11)]),
            ),
        ];
        let body = Code { instructions, results: vec![register(12)] };
        let indices = [Register(0), Register(1), Register(2)];
        let found = interior_of_columns(&indices, &body, &[register(12)]).expect("an interior");
        let last = found.code.instructions.last().expect("a read");
        assert_eq!(last.operation, Operation::Read(Var(0), vec![register(8), register(11)]));
        let limits: Vec<Limit> = found.bounds.iter().map(|bound| bound.limit).collect();
        let expected = [Limit::AtLeast(Number::Constant(0)), Limit::AtMost(Number::Read(3))];
        assert_eq!(limits, expected);
        // 3 rows of 5, and the middle is the second.
        let known = found
            .steady
            .intervals(15, |array| Some(i64::from(array == 2) + 5 * i64::from(array == 1)));
        let offset = &found.bounds[0].offset;
        assert_eq!(offset.interval(&known), Some(Interval { least: -1, greatest: 1 }));
    }

    #[test]
    fn offsets_that_may_wrap_have_no_interval() {
        let instructions = vec![
            scalar(2, ScalarOp::Mul, register(1), number(i64::MAX)),
            scalar(3, ScalarOp::Add, register(0), register(2)),
            scalar(4, ScalarOp::Max, register(3), number(0)),
        ];
        let body = Code { instructions, results: vec![register(4)] };
        let found = interior_of_columns(&[Register(0), Register(1)], &body, &[register(4)]);
        let found = found.expect("an interior");
        assert_eq!(found.bounds[0].offset.interval(&found.steady.intervals(3, |_| None)), None);
        assert_ne!(found.bounds[0].offset.interval(&found.steady.intervals(2, |_| None)), None);
    }
}
