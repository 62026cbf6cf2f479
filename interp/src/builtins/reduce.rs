//! Reductions.
//!
//! Note [The tree of a fold]. Every fold, of any operator and type, combines its elements in the
//! same tree: blocks of 64 consecutive elements from left to right, then blocks of 64 consecutive
//! block results, and so on until one value is left. The tree depends on the length alone. A start
//! value z is combined with that value once, on the left. For n elements an element takes part in at
//! most 63·⌈log64 n⌉ + 1 operations, which bounds the rounding error of a sum. `sum`, `product`,
//! `dot`, `mean`, `minimum`, `foldSeg`, `matmul`, `convolve`, `scatterWith` and `permute` are such
//! folds.
//!
//! An error among the elements is an operand like any other: the operator decides what becomes of
//! it.

use weft_ir::math;
use weft_ir::{Column, Scalar, ScalarOp, ScalarType, Span, Type};

use super::Call;
use crate::apply::{Callee, Source};
use crate::collect::Collector;
use crate::elements::Elements;
use crate::extents::Known;
use crate::machine::{CHUNK, Machine, Outcome, Stop, Unwind};
use crate::operator::{self, BinaryOperator, Operator, number};
use crate::value::Val;
use crate::words::word_at;

/// How many values are combined from left to right before their result is combined further.
pub(crate) const BLOCK: usize = 64;

/// A fold in progress (Note [The tree of a fold]).
#[derive(Debug, Default)]
pub(crate) struct Tree {
    /// For each level the combination of the current block, and how many values are in it.
    levels: Vec<Option<(Val, usize)>>,
}

impl Tree {
    /// Adds an element.
    pub(crate) fn push(
        &mut self,
        machine: &mut Machine<'_>,
        callee: &Callee,
        val: Val,
    ) -> Result<(), Unwind> {
        let mut val = val;
        for level in &mut self.levels {
            let (combined, count) = match level.take() {
                None => (val, 1),
                Some((block, count)) => (machine.apply(callee, [block, val])?, count + 1),
            };
            if count < BLOCK {
                *level = Some((combined, count));
                return Ok(());
            }
            val = combined;
        }
        self.levels.push(Some((val, 1)));
        Ok(())
    }

    /// The value of the whole; nothing if there are no elements.
    pub(crate) fn finish(
        self,
        machine: &mut Machine<'_>,
        callee: &Callee,
    ) -> Result<Option<Val>, Unwind> {
        let mut carry = None;
        for level in self.levels {
            carry = match (level, carry) {
                (Some((block, _)), Some(carry)) => Some(machine.apply(callee, [block, carry])?),
                (Some((block, _)), None) => Some(block),
                (None, carry) => carry,
            };
        }
        Ok(carry)
    }
}

impl Machine<'_> {
    /// `fold op z xs`.
    pub(super) fn fold(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (function, start) = (call.value(0), call.value(1));
        let elements = call.array(2)?;
        self.with_callee(&function, 2, call.span, |machine, callee| {
            let length = elements.len();
            Ok(machine.fold_range(callee, Some(start), &elements, 0..length)?.expect("a start"))
        })
    }

    /// `fold1 op xs`.
    pub(super) fn fold1(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let function = call.value(0);
        let elements = call.array(1)?;
        self.not_empty(&call, &elements)?;
        self.with_callee(&function, 2, call.span, |machine, callee| {
            let length = elements.len();
            Ok(machine.fold_range(callee, None, &elements, 0..length)?.expect("an element"))
        })
    }

    /// `foldSeg op z xs counts`: a fold of each segment.
    pub(super) fn fold_segments(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (function, start) = (call.value(0), call.value(1));
        let elements = call.array(2)?;
        let counts = call.array(3)?;
        let lengths = self.segment_lengths(&call, &counts, elements.len())?;
        self.with_callee(&function, 2, call.span, |machine, callee| {
            let mut collector = Collector::new(call.element(), call.span);
            let mut position = 0;
            for length in lengths {
                let range = position..position + length;
                let val = machine.fold_range(callee, Some(start.clone()), &elements, range)?;
                machine.collect(&mut collector, val.expect("a start"))?;
                position += length;
            }
            let result = machine.finish(collector);
            let result = machine.with_extents(result, call.element(), |machine| {
                let args = vec![Known::of(&start), Known::element_of(&elements)];
                machine.known_of_call(callee, args)
            })?;
            Ok(result.into_val())
        })
    }

    /// The fold of some of the elements; nothing if there are none and no start value.
    pub(super) fn fold_range(
        &mut self,
        callee: &Callee,
        start: Option<Val>,
        elements: &Elements,
        range: std::ops::Range<usize>,
    ) -> Result<Option<Val>, Unwind> {
        let folded = match (callee, elements) {
            (Callee::Operator(Operator::Binary(operator), _), Elements::Packed(column)) => {
                self.fold_scalars(*operator, column, range.clone())?
            }
            _ => None,
        };
        let folded = match folded {
            Some(folded) => Some(folded),
            None => {
                let mut tree = Tree::default();
                for index in range {
                    tree.push(self, callee, elements.get(index))?;
                }
                tree.finish(self, callee)?
            }
        };
        Ok(match (start, folded) {
            (Some(start), Some(folded)) => Some(self.apply(callee, [start, folded])?),
            (start, folded) => start.or(folded),
        })
    }

    /// The fold of scalars by an operator; nothing if there are none, or if it traps.
    fn fold_scalars(
        &mut self,
        operator: BinaryOperator,
        column: &Column,
        range: std::ops::Range<usize>,
    ) -> Result<Option<Val>, Unwind> {
        let mut level: Vec<Val> = Vec::new();
        for start in range.clone().step_by(BLOCK) {
            let block = start..range.end.min(start + BLOCK);
            let folded = match operator.words {
                Some((words, ty)) => {
                    let block = block.map(|index| word_at(column, index));
                    fold_block(words, block).map(|word| Val::of_word(word, ty))
                }
                None => {
                    let function = |a, b| (operator.function)(a, b).ok();
                    let block = block.map(|index| column.scalar(index).expect("a scalar column"));
                    fold_block(function, block).map(Val::of_scalar)
                }
            };
            match folded {
                Some(folded) => level.push(folded),
                None => return Ok(None),
            }
            if level.len().is_multiple_of(CHUNK / BLOCK) {
                self.poll()?;
            }
        }
        let function = |a: Val, b: Val| {
            let (a, b) = (a.scalar().expect("a scalar"), b.scalar().expect("a scalar"));
            (operator.function)(a, b).ok().map(Val::of_scalar)
        };
        while level.len() > 1 {
            let blocks = level.chunks(BLOCK);
            let folded: Option<Vec<Val>> =
                blocks.map(|block| fold_block(function, block.iter().cloned())).collect();
            match folded {
                Some(folded) => level = folded,
                None => return Ok(None),
            }
        }
        Ok(level.pop())
    }

    /// `sum xs`: `fold (+) 0 xs`.
    pub(super) fn sum(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.fold_operator(ScalarOp::Add, 0, &elements, call.result(), call.span)
    }

    /// `product xs`: `fold (*) 1 xs`.
    pub(super) fn product(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.fold_operator(ScalarOp::Mul, 1, &elements, call.result(), call.span)
    }

    /// The fold of numbers of type `ty` by an operator, from a small number on.
    pub(super) fn fold_operator(
        &mut self,
        op: ScalarOp,
        start: u8,
        elements: &Elements,
        ty: &Type,
        span: Span,
    ) -> Outcome<Val> {
        let callee = Callee::Operator(Operator::binary(op, ty), span);
        let start = Some(Val::of_scalar(number(start, scalar_type(ty))));
        Ok(self.fold_range(&callee, start, elements, 0..elements.len())?.expect("a start"))
    }

    /// `minimum xs`, `maximum xs`: the fold by `min` or `max`.
    pub(super) fn extreme(&mut self, mut call: Call<'_>, op: ScalarOp) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.not_empty(&call, &elements)?;
        let callee = Callee::Operator(Operator::binary(op, call.result()), call.span);
        Ok(self.fold_range(&callee, None, &elements, 0..elements.len())?.expect("an element"))
    }

    /// `mean xs`: the sum divided by the number of elements.
    pub(super) fn mean(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.not_empty(&call, &elements)?;
        let ty = call.result();
        let sum = self.fold_operator(ScalarOp::Add, 0, &elements, ty, call.span)?;
        let count = Scalar::I64(elements.len() as i64);
        let count = math::eval(ScalarOp::Cast(scalar_type(ty)), &[count]);
        let count = Val::of_scalar(count.expect("a cast does not trap"));
        Ok(Operator::binary(ScalarOp::Div, ty).apply(self, &[sum, count], call.span))
    }

    /// `all xs`: the fold by `&&`, so what follows a false element does not matter.
    pub(super) fn all(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.decide(&elements, false)
    }

    /// `any xs`: the fold by `||`.
    pub(super) fn any(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.decide(&elements, true)
    }

    /// The first element that is `decisive` or an error; else the opposite.
    fn decide(&mut self, elements: &Elements, decisive: bool) -> Outcome<Val> {
        for val in elements.iter() {
            match val {
                Val::Bool(value) if (value != 0) != decisive => {}
                decided => return Ok(decided),
            }
            self.step()?;
        }
        Ok(Val::bool(!decisive))
    }

    /// `count xs`.
    pub(super) fn count(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let mut count = 0;
        for val in call.array(0)?.iter() {
            match val {
                Val::Bool(value) => count += value as i64,
                Val::Error(error) => return Err(Stop::Error(error)),
                other => panic!("{other:?} is no bool"),
            }
            self.step()?;
        }
        Ok(Val::I64(count))
    }

    /// `argmin xs`, `argmax xs`: the first position of what `minimum` or `maximum` yields, bit for
    /// bit: -0.0 is below 0.0, and the first NaN wins.
    pub(super) fn arg_extreme(&mut self, mut call: Call<'_>, op: ScalarOp) -> Outcome<Val> {
        let elements = call.array(0)?;
        self.not_empty(&call, &elements)?;
        let (mut best, mut position) = (elements.get(0), 0);
        if let Some(error) = best.first_error() {
            return Err(Stop::Error(error));
        }
        for index in 1..elements.len() {
            let val = elements.get(index);
            match operator::prefers_second(op, &best, &val) {
                Ok(Some(true)) => (best, position) = (val, index),
                Ok(Some(false) | None) => {}
                Err(error) => return Err(Stop::Error(error)),
            }
            self.step()?;
        }
        Ok(Val::I64(position as i64))
    }

    /// `dot xs ys`: the sum of the products.
    pub(super) fn dot(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (left, right) = (call.array(0)?, call.array(1)?);
        self.lockstep(&call, &left, &right)?;
        let ty = call.result();
        let times = Callee::Operator(Operator::binary(ScalarOp::Mul, ty), call.span);
        let length = left.len();
        let sources = [Source::Each(left), Source::Each(right)];
        let products = self.apply_to_each(&times, &sources, length, ty, call.span)?;
        self.fold_operator(ScalarOp::Add, 0, &products, ty, call.span)
    }
}

/// A block, at least one element, combined from left to right; nothing if the operator traps.
fn fold_block<T>(
    function: impl Fn(T, T) -> Option<T>,
    mut block: impl Iterator<Item = T>,
) -> Option<T> {
    let first = block.next()?;
    block.try_fold(first, function)
}

/// The scalar type that a type is.
pub(super) fn scalar_type(ty: &Type) -> ScalarType {
    match ty {
        Type::Scalar(ty) => *ty,
        other => panic!("{other} is no scalar type"),
    }
}
