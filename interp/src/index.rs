//! Indexing, replacing one element, and slices.
//!
//! An index counts from 0; one outside `0..extent`, a negative one too, is an error. `a[i, j]` reads
//! row by row, so it works on ragged arrays; `m[:, j]` needs a regular one.
//!
//! A slice `a[start:stop:step]` has the elements `start`, `start + step`, … before `stop`. Left out,
//! the step is 1, and start and stop take in the whole axis, from its end on for a negative step.
//! Bounds are in `0..=length`, else it is an error, and with a negative step the start must name an
//! element unless the slice is empty. A start beyond the stop gives no elements. The axes after a
//! slice are checked against the rows that there are: with no rows nothing is out of range, nor is an index there an error.

use std::rc::Rc;

use weft_ir::{Column, Span, Trap, TrapKind, Type};

use crate::code::{Axis, Node, Slice, Update};
use crate::collect::Collector;
use crate::elements::{self, Elements, element};
use crate::evaluate::settle;
use crate::machine::{Machine, Outcome, Stop, Unwind};
use crate::value::{Val, element_type};

impl Machine<'_> {
    /// `array[indices]`.
    #[inline(never)]
    pub(crate) fn index(
        &mut self,
        array: &Node,
        indices: &[Node],
        span: Span,
    ) -> Result<Val, Unwind> {
        let mut few = [0; 4];
        let mut many;
        let positions = if indices.len() <= few.len() {
            &mut few[..indices.len()]
        } else {
            many = vec![0; indices.len()];
            &mut many[..]
        };
        let mut error = None;
        for (position, index) in positions.iter_mut().zip(indices) {
            match self.evaluate(index)? {
                Val::I64(index) => *position = index,
                other => error = error.or(Some(other)),
            }
        }
        self.look(array, |machine, array| {
            Ok(match (array, error) {
                (Val::Error(_), _) => array.clone(),
                (_, Some(error)) => error,
                (array, None) => machine.element_at(array, positions, span),
            })
        })
    }

    /// The element at these positions, one per axis.
    pub(crate) fn element_at(&self, array: &Val, positions: &[i64], span: Span) -> Val {
        match (array, positions) {
            (array, []) => array.clone(),
            (Val::Array(column), positions) => match element_of_column(column, positions) {
                Ok(val) => val,
                Err(kind) => self.trap(kind, span),
            },
            (Val::Boxed(elements), [first, rest @ ..]) => match position(*first, elements.len()) {
                Ok(first) => self.element_at(&elements[first], rest, span),
                Err(kind) => self.trap(kind, span),
            },
            (error, _) => error.clone(),
        }
    }

    /// `(array with [indices] = value)`.
    #[inline(never)]
    pub(crate) fn evaluate_update(&mut self, update: &Update) -> Result<Val, Unwind> {
        let mut positions = Vec::with_capacity(update.indices.len());
        let mut error = None;
        for index in &update.indices {
            match self.evaluate(index)? {
                Val::I64(index) => positions.push(index),
                other => error = error.or(Some(other)),
            }
        }
        let value = self.evaluate(&update.value)?;
        let array = self.evaluate(&update.array)?;
        self.admit_copy(&array, update.span)?;
        Ok(match (array, error) {
            (error @ Val::Error(_), _) | (_, Some(error)) => error,
            (array, None) => self.replace_at(array, &positions, value, &update.ty, update.span),
        })
    }

    /// Asks for the memory of a copy of what lies in a file, which is made before it is written to.
    pub(crate) fn admit_copy(&mut self, array: &Val, span: Span) -> Result<(), Unwind> {
        match array {
            Val::Array(column) => match column.mapped_bytes() {
                0 => Ok(()),
                bytes => self.admit(bytes as u128, span),
            },
            _ => Ok(()),
        }
    }

    /// The array with the element at these positions replaced: in place if nobody else has the
    /// array. `ty` is the array's type.
    pub(crate) fn replace_at(
        &self,
        array: Val,
        positions: &[i64],
        value: Val,
        ty: &Type,
        span: Span,
    ) -> Val {
        let array = match array {
            Val::Array(mut column) if value.first_error().is_none() => {
                let replaced = replace_in_column(Rc::make_mut(&mut column), positions, &value);
                match replaced {
                    Ok(true) => return Val::Array(column),
                    Ok(false) => Val::Array(column),
                    Err(kind) => return self.trap(kind, span),
                }
            }
            array => array,
        };
        let elements = match array {
            Val::Array(column) => Elements::Packed(column),
            Val::Boxed(elements) => Elements::Boxed(elements),
            error => return error,
        };
        let [first, rest @ ..] = positions else { return value };
        let first = match position(*first, elements.len()) {
            Ok(first) => first,
            Err(kind) => return self.trap(kind, span),
        };
        let ty = element_type(ty);
        let replacement = match rest {
            [] => value,
            rest => match self.replace_at(elements.get(first), rest, value, ty, span) {
                // An index out of range is an error of the whole.
                error @ Val::Error(_) => return error,
                row => row,
            },
        };
        let elements = match elements {
            // There is an error in it still, so that it stays boxed.
            Elements::Boxed(mut vals)
                if replacement.first_error().is_some() || vals[first].first_error().is_none() =>
            {
                Rc::make_mut(&mut vals)[first] = replacement;
                return Val::Boxed(vals);
            }
            elements => elements,
        };
        let vals = elements.iter().enumerate();
        let vals = vals.map(|(at, val)| if at == first { replacement.clone() } else { val });
        Collector::from_iter(ty, vals).into_val()
    }

    /// A slice expression.
    #[inline(never)]
    pub(crate) fn evaluate_slice(&mut self, slice: &Slice) -> Result<Val, Unwind> {
        let array = self.evaluate(&slice.array)?;
        let mut axes = Vec::with_capacity(slice.axes.len());
        let bound = |machine: &mut Self, node: &Option<Node>| -> Result<_, Unwind> {
            Ok(match node {
                None => Ok(None),
                Some(node) => match machine.evaluate(node)? {
                    Val::I64(bound) => Ok(Some(bound)),
                    error => Err(error),
                },
            })
        };
        for axis in &slice.axes {
            axes.push(match axis {
                Axis::Index(index) => match self.evaluate(index)? {
                    Val::I64(index) => Choice::Index(index),
                    Val::Error(error) => Choice::Failed(error),
                    other => panic!("{other:?} is an index"),
                },
                Axis::Gather(indices) => match self.evaluate(indices)? {
                    Val::Array(column) => Choice::Gather(Elements::Packed(column)),
                    Val::Boxed(elements) => Choice::Gather(Elements::Boxed(elements)),
                    error => return Ok(error),
                },
                Axis::Range { start, stop, step, span } => {
                    let bounds = [bound(self, start)?, bound(self, stop)?, bound(self, step)?];
                    match bounds {
                        [Ok(start), Ok(stop), Ok(step)] => {
                            Choice::Range { start, stop, step: step.unwrap_or(1), span: *span }
                        }
                        [Err(error), _, _] | [_, Err(error), _] | [_, _, Err(error)] => {
                            return Ok(error);
                        }
                    }
                }
            });
        }
        settle(self.choose(array, &axes, &slice.ty, slice.span))
    }

    /// The elements that a slice expression chooses of an array of type `ty`.
    fn choose(&mut self, array: Val, axes: &[Choice], ty: &Type, span: Span) -> Outcome<Val> {
        let Some((axis, rest)) = axes.split_first() else { return Ok(array) };
        let elements = match array {
            Val::Array(column) => Elements::Packed(column),
            Val::Boxed(elements) => Elements::Boxed(elements),
            Val::Error(error) => return Err(Stop::Error(error)),
            other => panic!("{other:?} is sliced"),
        };
        if let Choice::Failed(error) = axis {
            return Err(Stop::Error(Rc::clone(error)));
        }
        if let Choice::Index(index) = axis {
            return match position(*index, elements.len()) {
                Ok(index) => self.choose(elements.get(index), rest, element_type(ty), span),
                Err(kind) => Err(self.fail(kind, span)),
            };
        }
        let positions = self.positions(axis, elements.len(), span)?;
        if !rest.is_empty() {
            self.regular("slice", &elements, span)?;
        }
        if let Elements::Packed(column) = &elements
            && let Some(positions) = positions.iter().map(|at| at.as_ref().ok().copied()).collect()
            && let Some(chosen) = self.choose_dense(column, positions, rest, span)?
        {
            return Ok(Val::array(chosen));
        }
        let row = element_type(ty);
        let mut collector = Collector::new(&chosen_type(row, rest), span);
        for at in positions {
            let val = match at {
                Ok(at) => settle(self.choose(elements.get(at), rest, row, span))?,
                Err(error) => error,
            };
            self.collect(&mut collector, val)?;
        }
        Ok(self.finish(collector).into_val())
    }

    /// The positions that one axis of a slice expression chooses of `length` elements; an index of a
    /// gather that is out of range is an error in its place.
    fn positions(
        &self,
        axis: &Choice,
        length: usize,
        span: Span,
    ) -> Outcome<Vec<Result<usize, Val>>> {
        Ok(match axis {
            Choice::Index(index) => match position(*index, length) {
                Ok(index) => vec![Ok(index)],
                Err(kind) => return Err(self.fail(kind, span)),
            },
            Choice::Failed(error) => return Err(Stop::Error(Rc::clone(error))),
            Choice::Gather(indices) => indices
                .iter()
                .map(|index| match index {
                    Val::I64(index) => {
                        position(index, length).map_err(|kind| self.trap(kind, span))
                    }
                    error => Err(error),
                })
                .collect(),
            Choice::Range { start, stop, step, span } => {
                match range(*start, *stop, *step, length) {
                    Ok(positions) => positions.map(Ok).collect(),
                    Err(kind) => return Err(self.fail(kind, *span)),
                }
            }
        })
    }

    /// What is chosen of rows that are dense all the way; nothing if they are not, or if something
    /// is out of range. `positions` are those chosen along the first axis.
    fn choose_dense(
        &mut self,
        column: &Column,
        positions: Vec<usize>,
        axes: &[Choice],
        span: Span,
    ) -> Outcome<Option<Column>> {
        let mut column = column;
        let mut chosen = positions;
        let mut extents = vec![chosen.len()];
        for axis in axes {
            let Column::Dense { extent, inner, .. } = column else { return Ok(None) };
            let along: Vec<usize> = match self.positions(axis, *extent, span) {
                Ok(along) => match along.into_iter().collect() {
                    Ok(along) => along,
                    Err(_) => return Ok(None),
                },
                // With no rows there is nothing to be out of range.
                Err(Stop::Error(_)) => return Ok(None),
                Err(unwind) => return Err(unwind),
            };
            self.admit(chosen.len() as u128 * along.len() as u128 * 8, span)?;
            chosen = chosen
                .iter()
                .flat_map(|row| along.iter().map(move |at| row * extent + at))
                .collect();
            if !matches!(axis, Choice::Index(_)) {
                extents.push(along.len());
            }
            column = inner;
        }
        let mut result = self.gather_column(column, &chosen)?;
        // From the innermost axis outwards; the outermost is the array's own.
        for (depth, extent) in extents.iter().enumerate().skip(1).rev() {
            let len = extents[..depth].iter().product();
            result = Column::Dense { len, extent: *extent, inner: Box::new(result) };
        }
        Ok(Some(result))
    }
}

/// An axis of a slice expression, evaluated.
enum Choice {
    Index(i64),
    /// An index that is an error, which only a row observes.
    Failed(Rc<Trap>),
    Gather(Elements),
    Range {
        start: Option<i64>,
        stop: Option<i64>,
        step: i64,
        span: Span,
    },
}

/// The type of what is chosen of an array of type `ty`.
fn chosen_type(ty: &Type, axes: &[Choice]) -> Type {
    match axes.split_first() {
        None => ty.clone(),
        Some((Choice::Index(_) | Choice::Failed(_), rest)) => chosen_type(element_type(ty), rest),
        Some((_, rest)) => Type::array(chosen_type(element_type(ty), rest)),
    }
}

/// An index as a position on an axis of `extent` elements.
pub(crate) fn position(index: i64, extent: usize) -> Result<usize, TrapKind> {
    match usize::try_from(index) {
        Ok(position) if position < extent => Ok(position),
        _ => Err(TrapKind::IndexOutOfRange { index, extent: extent as i64 }),
    }
}

/// The positions of a slice `start:stop:step` of `length` elements.
fn range(
    start: Option<i64>,
    stop: Option<i64>,
    step: i64,
    length: usize,
) -> Result<Box<dyn Iterator<Item = usize>>, TrapKind> {
    let extent = length as i64;
    for bound in [start, stop].into_iter().flatten() {
        if !(0..=extent).contains(&bound) {
            return Err(TrapKind::IndexOutOfRange { index: bound, extent });
        }
    }
    let stride = usize::try_from(step.unsigned_abs()).unwrap_or(usize::MAX);
    match step {
        0 => Err(TrapKind::BadArgument {
            operation: "slice".to_owned(),
            problem: "the step is 0".to_owned(),
        }),
        1.. => {
            let (start, stop) = (start.unwrap_or(0), stop.unwrap_or(extent));
            Ok(Box::new((start as usize..stop as usize).step_by(stride)))
        }
        _ => {
            // Positions from `start` down to, but not including, `stop`.
            let (start, stop) = (start.unwrap_or(extent - 1), stop.unwrap_or(-1));
            if start > stop && start == extent {
                return Err(TrapKind::IndexOutOfRange { index: start, extent });
            }
            Ok(Box::new(((stop + 1) as usize..(start + 1) as usize).rev().step_by(stride)))
        }
    }
}

/// How many positions a slice `start:stop:step` of `length` elements has; nothing, if it is none.
pub(crate) fn range_length(
    start: Option<i64>,
    stop: Option<i64>,
    step: Option<i64>,
    length: usize,
) -> Option<usize> {
    range(start, stop, step.unwrap_or(1), length).ok().map(|positions| positions.size_hint().0)
}

/// The element of a packed array at these positions, without building the rows on the way.
fn element_of_column(column: &Column, positions: &[i64]) -> Result<Val, TrapKind> {
    let (mut column, mut start, mut len) = (column, 0, column.len());
    let (last, axes) = positions.split_last().expect("at least one index");
    for index in axes {
        let at = start + position(*index, len)?;
        (column, start, len) = row_at(column, at);
    }
    Ok(element(column, start + position(*last, len)?))
}

/// Where the elements of the array at `at` are.
fn row_at(column: &Column, at: usize) -> (&Column, usize, usize) {
    match column {
        Column::Dense { extent, inner, .. } => (inner, at * extent, *extent),
        Column::Ragged { offsets, inner } => {
            let offsets = offsets.as_slice();
            (inner, offsets[at], offsets[at + 1] - offsets[at])
        }
        other => panic!("{other:?} has no rows"),
    }
}

/// Replaces the element at these positions; `false` if it is an array of another length.
fn replace_in_column(
    column: &mut Column,
    positions: &[i64],
    value: &Val,
) -> Result<bool, TrapKind> {
    let (mut start, mut len) = (0, column.len());
    let mut column = column;
    let (last, axes) = positions.split_last().expect("at least one index");
    for index in axes {
        let at = start + position(*index, len)?;
        (column, start, len) = match column {
            Column::Dense { extent, inner, .. } => (&mut **inner, at * *extent, *extent),
            Column::Ragged { offsets, inner } => {
                let offsets = offsets.as_slice();
                (&mut **inner, offsets[at], offsets[at + 1] - offsets[at])
            }
            other => panic!("{other:?} has no rows"),
        };
    }
    let at = start + position(*last, len)?;
    Ok(elements::replace(column, at, value))
}
