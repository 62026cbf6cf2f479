//! Whether a kernel stays inside its buffers whatever is in them.
//!
//! Note [What relies on checks]. If a check fails, nobody sees what the run has computed. So what a kernel that has
//! nothing to do with the check computes meanwhile does not matter, but it may do no harm: it has to stay inside its
//! buffers. All that is stored is stored at points of the kernel's own space, and the targets of scatters are checked
//! by the kernel itself. What it reads stays inside if that follows from the kernel alone: the index is one of the
//! space's along an extent of the array, or the kernel has checked it before. Then the kernel need not wait for checks
//! of others of which it reads nothing. (What it reads something of, it comes behind, and does nothing if that has
//! failed.) Of any other kernel it is believed that it *relies* on all checks before it.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Code, Operand, Operation, Operator, Register, Thunk};
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Scalar, ScalarOp};

/// Numbers that are *small* are at most this.
const SMALL: i64 = 1 << 62;

/// What is added to them is less: so often as a text may have it, this does not wrap.
const MOST_OFFSET: u64 = 1 << 31;

/// Whether a kernel stays inside its buffers, whatever is in them; `given` are the variables that the program takes,
/// whose elements are in order.
pub(crate) fn stays_inside(kernel: &Kernel, types: &[Type], given: &BTreeSet<Var>) -> bool {
    let is_sound = |dimension: &Dimension| match dimension {
        Dimension::Dense(_) => true,
        Dimension::Ragged { offsets, .. } => given.contains(offsets),
    };
    if !kernel.space.iter().all(is_sound) {
        return false;
    }
    let (bounds, conditions) = (BTreeMap::new(), BTreeMap::new());
    let extents = kernel.space.iter().filter_map(extent_of).collect();
    let mut inside = Inside { types, extents, bounds, conditions };
    inside.indices(&kernel.indices, &kernel.space);
    if !inside.code(&kernel.body) {
        return false;
    }
    // What comes of a row is computed also where the row has no point.
    let rows = &kernel.space[..kernel.space.len().saturating_sub(1)];
    inside.extents = rows.iter().filter_map(extent_of).collect();
    kernel.sinks.iter().all(|sink| inside.sink(sink, &kernel.space))
        && kernel.epilogue.as_ref().is_none_or(|epilogue| {
            let filters = kernel.sinks.iter().any(|sink| matches!(sink, Sink::Filter { .. }));
            // The points that a filter keeps are in no space that there was before.
            if !filters {
                inside.indices(&epilogue.indices, &kernel.space);
            }
            inside.code(&epilogue.code)
        })
}

/// The number of indices along a dimension.
fn extent_of(dimension: &Dimension) -> Option<Var> {
    let (Dimension::Dense(size) | Dimension::Ragged { total: size, .. }) = dimension;
    match size {
        Size::Constant(_) => None,
        Size::Var(var) => Some(*var),
    }
}

/// What a number is at least and at most, as far as is known, also beside scalars.
#[derive(Clone, Debug, Default, PartialEq)]
struct Bounds {
    least: Option<i64>,
    most: Option<i64>,
    /// Whether it is at most [`SMALL`], as the index of any point is to which a kernel ever comes.
    is_small: bool,
    /// The number is at most each of these and what stands with it.
    beside: BTreeMap<Var, i64>,
}

impl Bounds {
    /// What holds of both of two numbers that are the same.
    fn and(&self, other: &Bounds) -> Bounds {
        let mut both = self.clone();
        both.least = both.least.max(other.least);
        both.most = [both.most, other.most].into_iter().flatten().min();
        both.is_small |= other.is_small;
        for (var, more) in &other.beside {
            let known = both.beside.entry(*var).or_insert(*more);
            *known = (*known).min(*more);
        }
        both
    }

    /// What holds of a number that is one of two.
    fn or(&self, other: &Bounds) -> Bounds {
        let beside = self.beside.iter().filter_map(|(var, more)| {
            other.beside.get(var).map(|others| (*var, *more.max(others)))
        });
        Bounds {
            least: self.least.zip(other.least).map(|(one, other)| one.min(other)),
            most: self.most.zip(other.most).map(|(one, other)| one.max(other)),
            is_small: self.is_small && other.is_small,
            beside: beside.collect(),
        }
    }

    /// What holds of the lesser of two numbers.
    fn min(&self, other: &Bounds) -> Bounds {
        let (least, both) = (self.or(other).least, self.and(other));
        Bounds { least, ..both }
    }

    /// What holds of the greater of two numbers.
    fn max(&self, other: &Bounds) -> Bounds {
        Bounds { least: self.and(other).least, ..self.or(other) }
    }

    /// What holds of the number and some more; nothing, if that may wrap.
    fn plus(&self, more: i64) -> Bounds {
        let least = self.least.and_then(|least| least.checked_add(more));
        let may_wrap = least.is_none() || (more > 0 && !self.is_small);
        if may_wrap || more.unsigned_abs() >= MOST_OFFSET {
            return Bounds::default();
        }
        let sum = |(var, known): (&Var, &i64)| Some((*var, known.checked_add(more)?));
        Bounds {
            least,
            most: self.most.and_then(|most| most.checked_add(more)),
            is_small: self.is_small,
            beside: self.beside.iter().filter_map(sum).collect(),
        }
    }
}

struct Inside<'a> {
    types: &'a [Type],
    /// The extents of the space: where there is a point, they are 1 or more.
    extents: Vec<Var>,
    bounds: BTreeMap<Register, Bounds>,
    /// The operators and operands of conditions.
    conditions: BTreeMap<Register, (ScalarOp, Vec<Operand>)>,
}

impl Inside<'_> {
    /// Binds the indices of a point.
    fn indices(&mut self, registers: &[Register], space: &[Dimension]) {
        for (register, dimension) in registers.iter().zip(space) {
            let (Dimension::Dense(size) | Dimension::Ragged { total: size, .. }) = *dimension;
            let (most, beside) = match size {
                Size::Constant(extent) => (extent.checked_sub(1), BTreeMap::new()),
                Size::Var(var) => (None, [(var, -1)].into()),
            };
            let bounds = Bounds { least: Some(0), most, is_small: true, beside };
            self.bounds.insert(*register, bounds);
        }
    }

    fn sink(&mut self, sink: &Sink, space: &[Dimension]) -> bool {
        sink.operator().is_none_or(|operator| self.operator(operator))
            && sink.start().is_none_or(|start| self.start(start, space))
    }

    fn operator(&mut self, operator: &Operator) -> bool {
        self.apart(|inside| inside.code(&operator.code))
    }

    /// Looks at code that has registers of its own, which may have the numbers of others.
    fn apart(&mut self, look: impl FnOnce(&mut Self) -> bool) -> bool {
        let bounds = std::mem::take(&mut self.bounds);
        let conditions = std::mem::take(&mut self.conditions);
        let are_inside = look(self);
        (self.bounds, self.conditions) = (bounds, conditions);
        are_inside
    }

    fn start(&mut self, start: &Thunk, space: &[Dimension]) -> bool {
        self.apart(|inside| {
            inside.indices(&start.indices, space);
            inside.code(&start.code)
        })
    }

    /// Whether all that code reads is inside of arrays; what holds behind it.
    fn code(&mut self, code: &Code) -> bool {
        code.instructions.iter().all(|instruction| {
            let results: Vec<Register> = instruction.results.iter().map(|(own, _)| *own).collect();
            match &instruction.operation {
                Operation::Scalar(op, operands) => {
                    let bounds = self.of_scalar(*op, operands);
                    self.bounds.insert(results[0], bounds);
                    self.conditions.insert(results[0], (*op, operands.clone()));
                    true
                }
                Operation::Random(..) => true,
                Operation::Read(array, indices) if indices.is_empty() => {
                    let least = self.extents.contains(array).then_some(1);
                    let beside = [(*array, 0)].into();
                    let bounds = Bounds { least, beside, ..Bounds::default() };
                    self.bounds.insert(results[0], bounds);
                    true
                }
                Operation::Read(array, indices) => {
                    let extents = &self.types[array.0 as usize].extents;
                    indices.iter().zip(extents).all(|(index, size)| self.is_inside(index, *size))
                }
                Operation::Check(condition, _) => {
                    self.holds(condition);
                    true
                }
                Operation::If { condition, then, otherwise } => {
                    let before = self.bounds.clone();
                    self.holds(condition);
                    let are_inside = self.code(then);
                    let of_then: Vec<Bounds> = then.results.iter().map(|at| self.of(at)).collect();
                    self.bounds.clone_from(&before);
                    let are_inside = are_inside && self.code(otherwise);
                    let of_other: Vec<Bounds> =
                        otherwise.results.iter().map(|at| self.of(at)).collect();
                    self.bounds = before;
                    for ((register, one), other) in results.iter().zip(of_then).zip(of_other) {
                        self.bounds.insert(*register, one.or(&other));
                    }
                    are_inside
                }
                Operation::While { condition, body, .. } => {
                    // Of the state nothing is known.
                    let before = self.bounds.clone();
                    let are_inside = self.code(condition) && {
                        condition.results.iter().for_each(|holds| self.holds(holds));
                        self.code(body)
                    };
                    self.bounds = before;
                    are_inside
                }
            }
        })
    }

    fn is_inside(&self, index: &Operand, extent: Size) -> bool {
        let bounds = self.of(index);
        let is_less = match extent {
            Size::Constant(extent) => bounds.most.is_some_and(|most| most < extent),
            Size::Var(var) => bounds.beside.get(&var).is_some_and(|more| *more < 0),
        };
        is_less && bounds.least.is_some_and(|least| least >= 0)
    }

    fn of(&self, operand: &Operand) -> Bounds {
        match operand {
            Operand::Register(register) => self.bounds.get(register).cloned().unwrap_or_default(),
            Operand::Scalar(Scalar::I64(number)) => {
                let less = number.checked_sub(1);
                let of = |extent: &Var| less.map(|less| (*extent, less));
                let beside = self.extents.iter().filter_map(of).collect();
                let (least, most, is_small) = (Some(*number), Some(*number), *number <= SMALL);
                Bounds { least, most, is_small, beside }
            }
            Operand::Scalar(_) => Bounds::default(),
        }
    }

    fn of_scalar(&self, op: ScalarOp, operands: &[Operand]) -> Bounds {
        match (op, operands) {
            (ScalarOp::Add, [number, Operand::Scalar(Scalar::I64(more))])
            | (ScalarOp::Add, [Operand::Scalar(Scalar::I64(more)), number]) => {
                self.of(number).plus(*more)
            }
            (ScalarOp::Sub, [number, Operand::Scalar(Scalar::I64(less))]) => {
                less.checked_neg().map_or_else(Bounds::default, |more| self.of(number).plus(more))
            }
            (ScalarOp::Min, [one, other]) => self.of(one).min(&self.of(other)),
            (ScalarOp::Max, [one, other]) => self.of(one).max(&self.of(other)),
            (ScalarOp::Select, [_, one, other]) => self.of(one).or(&self.of(other)),
            _ => Bounds::default(),
        }
    }

    /// A condition holds from now on.
    fn holds(&mut self, condition: &Operand) {
        let Operand::Register(register) = condition else { return };
        let Some((op, operands)) = self.conditions.get(register).cloned() else { return };
        match (op, &operands[..]) {
            (ScalarOp::And, [one, other]) => {
                self.holds(one);
                self.holds(other);
            }
            (ScalarOp::Lt, [less, more]) | (ScalarOp::Gt, [more, less]) => {
                self.is_less(less, more, 1);
            }
            (ScalarOp::Le, [less, more]) | (ScalarOp::Ge, [more, less]) => {
                self.is_less(less, more, 0);
            }
            _ => {}
        }
    }

    /// A number is less than another one, by so much at least.
    fn is_less(&mut self, less: &Operand, more: &Operand, by: i64) {
        let (of_less, of_more) = (self.of(less), self.of(more));
        if let Operand::Register(register) = less {
            let sum = |(var, known): (&Var, &i64)| Some((*var, known.checked_sub(by)?));
            let above = Bounds {
                least: None,
                most: of_more.most.and_then(|most| most.checked_sub(by)),
                is_small: of_more.is_small,
                beside: of_more.beside.iter().filter_map(sum).collect(),
            };
            self.bounds.insert(*register, of_less.and(&above));
        }
        if let Operand::Register(register) = more {
            let least = of_less.least.and_then(|least| least.checked_add(by));
            let below = Bounds { least, ..Bounds::default() };
            self.bounds.insert(*register, of_more.and(&below));
        }
    }
}

#[cfg(test)]
mod tests;
