//! Arrays of a program under flattening.
//!
//! A view is an array value in a context: something that knows its length and can be indexed by a
//! delayed scalar. Most are rows of stored arrays; re-indexing operations, `iota`, concatenation and
//! the like are views too, so they cost nothing until somebody stores them
//! ([`super::materialise`]), and what is indexed once is never stored at all.

use std::collections::HashSet;
use std::rc::Rc;

use weft_ir::flat::{Dimension, Size, Var};
use weft_ir::{FaultKind, ScalarOp, ScalarType, Span, nested};

use super::scalar::{Definition, Region, ScalarId};
use super::{Flattener, Outcome, TOO_LONG, Unsupported, unsupported};

/// How many operations to look through.
pub(super) const MOST_STEPS: u32 = 8;

/// How many scalars a question is asked of.
const MOST_SEEN: usize = 1000;

/// A value in a context.
#[derive(Clone, Debug)]
pub(super) enum Value<'p> {
    Scalar(ScalarId),
    Array(Rc<View<'p>>),
}

/// An array with rank and element type.
#[derive(Debug)]
pub(super) struct View<'p> {
    pub(super) ty: nested::Type,
    pub(super) source: Source<'p>,
}

/// Where an array's elements come from.
#[derive(Debug)]
pub(super) enum Source<'p> {
    /// Part of a stored array: what is left after indexing with the prefix. Each index comes with
    /// the extent of its dimension.
    Stored { var: Var, prefix: Vec<(ScalarId, Size)>, axes: Vec<Dimension> },
    /// 0, 1, ….
    Iota(Length),
    /// The same value again and again.
    Replicate(Length, Value<'p>),
    /// One after the other.
    Concat(Rc<View<'p>>, Rc<View<'p>>),
    /// The first two axes exchanged. If the rows differ from point to point, their length.
    Transposed(Rc<View<'p>>, Option<Length>),
    /// A row of that: the column of the view at an index.
    Column(Rc<View<'p>>, ScalarId),
    /// Elements of the second at the indices that the first has, which are in range.
    Gathered(Rc<View<'p>>, Rc<View<'p>>),
    /// A literal.
    Literal(Vec<Value<'p>>),
    /// One of two arrays, each with the region that it comes from, and their length if both are known to have the
    /// same.
    Choice(ScalarId, (Region, Rc<View<'p>>), (Region, Rc<View<'p>>), Option<Size>),
    /// The array, if the condition holds; else a fault.
    Checked(Rc<View<'p>>, ScalarId, FaultKind),
    /// A map that is evaluated element by element, inside a condition or loop.
    Delayed(Rc<Delayed<'p>>, usize),
}

/// A map that nobody stores.
#[derive(Debug)]
pub(super) struct Delayed<'p> {
    pub(super) lambda: &'p nested::Lambda,
    pub(super) arrays: Vec<Rc<View<'p>>>,
    /// The variables that the lambda sees around it.
    pub(super) captured: Vec<(nested::Var, Value<'p>)>,
}

/// The length of an array in a context.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Length {
    /// The same everywhere.
    Uniform(Size),
    /// A scalar that differs from point to point.
    Varying(ScalarId),
}

impl<'p> Value<'p> {
    pub(super) fn ty(&self, flattener: &Flattener<'p>) -> nested::Type {
        match self {
            Value::Scalar(id) => nested::Type::scalar(flattener.scalars.ty(*id)),
            Value::Array(view) => view.ty,
        }
    }
}

impl<'p> Flattener<'p> {
    pub(super) fn view(&self, ty: nested::Type, source: Source<'p>) -> Rc<View<'p>> {
        Rc::new(View { ty, source })
    }

    /// The number of elements of the outermost axis.
    pub(super) fn length(&mut self, view: &View<'p>) -> Length {
        match &view.source {
            Source::Stored { prefix, axes, .. } => match axes[0] {
                Dimension::Dense(size) => Length::Uniform(self.same_size(size)),
                Dimension::Ragged { offsets, .. } => {
                    let (start, end) = self.row_bounds(offsets, prefix);
                    let length = self.op(ScalarOp::Sub, &[end, start]);
                    if self.region.is_none() && self.is_identity(prefix) {
                        // What else has as many elements has the same descriptor.
                        let key = (length, self.context.space.clone());
                        let known = self.descriptors.last_mut().expect("a block is open");
                        known.insert(key, axes[0]);
                    }
                    // A single row is no row among others.
                    self.scalar_length(length)
                }
            },
            Source::Iota(length) | Source::Replicate(length, _) => *length,
            Source::Concat(first, second) => {
                let (first, second) = (self.length(first), self.length(second));
                let (first, second) = (self.length_scalar(first), self.length_scalar(second));
                let both = self.op(ScalarOp::Add, &[first, second]);
                self.scalar_length(both)
            }
            Source::Transposed(_, Some(length)) => *length,
            Source::Transposed(inner, None) => {
                let level = self.scalars.integer(0);
                // The length of any row: the axis is regular.
                match self.element_unchecked(inner, level) {
                    Value::Array(row) => self.length(&row),
                    Value::Scalar(_) => panic!("flatten: transpose of a vector"),
                }
            }
            Source::Column(inner, _) | Source::Gathered(inner, _) => self.length(inner),
            Source::Literal(elements) => Length::Uniform(Size::Constant(elements.len() as i64)),
            // That the condition may be an error is no reason to make rows ragged.
            Source::Choice(.., Some(size)) => Length::Uniform(self.same_size(*size)),
            Source::Choice(condition, then, otherwise, None) => {
                let chosen = self.branch(
                    *condition,
                    Some((then.0, otherwise.0)),
                    |flattener| flattener.length_value(&then.1),
                    |flattener| flattener.length_value(&otherwise.1),
                );
                match chosen {
                    Value::Scalar(chosen) => self.scalar_length(chosen),
                    Value::Array(_) => panic!("flatten: a length is a scalar"),
                }
            }
            Source::Checked(inner, condition, kind) => {
                let of_inner = self.length(inner);
                let length = self.length_scalar(of_inner);
                if self.scalars.depth(*condition) > self.scalars.depth(length) {
                    // All that are values are equally long: no reason to make rows ragged, or their extents those of
                    // the rows that there are. Whether they are values is asked where nothing of them is read
                    // (Note [Rows that are not read]).
                    return of_inner;
                }
                let (home, span) = (self.region, self.span);
                let length = self.scalars.checked(length, *condition, *kind, home, span);
                self.scalar_length(length)
            }
            Source::Delayed(delayed, _) => {
                let first = Rc::clone(&delayed.arrays[0]);
                self.length(&first)
            }
        }
    }

    fn length_value(&mut self, view: &View<'p>) -> Value<'p> {
        let length = self.length(view);
        Value::Scalar(self.length_scalar(length))
    }

    pub(super) fn length_scalar(&mut self, length: Length) -> ScalarId {
        match length {
            Length::Uniform(size) => self.scalars.size(size),
            Length::Varying(id) => id,
        }
    }

    /// A scalar as a length: uniform if the host can know it.
    pub(super) fn scalar_length(&mut self, id: ScalarId) -> Length {
        let node = self.scalars.node(id);
        if node.depth == 0 && node.home.is_none() {
            Length::Uniform(self.host_size(id))
        } else {
            Length::Varying(id)
        }
    }

    /// Both ends of a row of a segment descriptor.
    pub(super) fn row_bounds(
        &mut self,
        offsets: Var,
        prefix: &[(ScalarId, Size)],
    ) -> (ScalarId, ScalarId) {
        let row = self.linear(prefix);
        let one = self.scalars.integer(1);
        let next = self.op(ScalarOp::Add, &[row, one]);
        let home = self.region;
        let span = self.span;
        let start = self.scalars.read(offsets, ScalarType::I64, &[row], home, span);
        let end = self.scalars.read(offsets, ScalarType::I64, &[next], home, span);
        (start, end)
    }

    /// The number of a point in storage order.
    pub(super) fn linear(&mut self, prefix: &[(ScalarId, Size)]) -> ScalarId {
        let Some((&(first, _), rest)) = prefix.split_first() else {
            return self.scalars.integer(0);
        };
        rest.iter().fold(first, |row, &(index, extent)| {
            let extent = self.scalars.size(extent);
            let first = self.op(ScalarOp::Mul, &[row, extent]);
            self.op(ScalarOp::Add, &[first, index])
        })
    }

    /// The element at an index, which is checked.
    pub(super) fn element(
        &mut self,
        view: &View<'p>,
        index: ScalarId,
        span: Span,
    ) -> Outcome<Value<'p>> {
        let length = self.length(view);
        let of_own_row = match &view.source {
            Source::Stored { prefix, axes, .. } => match axes[0] {
                Dimension::Ragged { offsets, .. } => {
                    self.canonical_position(offsets, prefix, index).is_some()
                }
                Dimension::Dense(_) => false,
            },
            _ => false,
        };
        // An index that may fail is looked at (Note [Indices that nothing reads]).
        let known = of_own_row || self.is_index_below(index, length);
        if known && !(may_ignore_index(view) && self.may_be_error(index, MOST_STEPS)) {
            return Ok(self.element_unchecked(view, index));
        }
        let (zero, extent) = (self.scalars.integer(0), self.length_scalar(length));
        let home = self.region;
        let low = self.scalars.op(ScalarOp::Ge, &[index, zero], home, span);
        let high = self.scalars.op(ScalarOp::Lt, &[index, extent], home, span);
        let both = self.scalars.op(ScalarOp::And, &[low, high], home, span);
        let kind = FaultKind::IndexOutOfRange;
        let index = self.scalars.checked(index, both, kind, home, span);
        let value = self.element_unchecked(view, index);
        Ok(if may_ignore_index(view) { self.guarded(value, both, kind, span) } else { value })
    }

    /// Whether computing a scalar may meet a fault, or storing what it reads.
    pub(super) fn may_be_error(&self, id: ScalarId, steps: u32) -> bool {
        let node = self.scalars.node(id);
        let Some(steps) = steps.checked_sub(1) else { return true };
        let any = |ids: &[ScalarId]| ids.iter().any(|&id| self.may_be_error(id, steps));
        node.may_fail
            || match &node.definition {
                Definition::Constant(..) | Definition::Index(_) | Definition::Param(_) => false,
                Definition::Host(var) => self.failing.contains(var),
                Definition::Op(_, args) | Definition::Random(_, args) => any(args),
                Definition::Read(var, args) => self.failing.contains(var) || any(args),
                Definition::Checked(..) | Definition::Result(..) => true,
            }
    }

    /// Whether computing a scalar may meet a fault, or storing what its operators read: unlike
    /// [`Self::may_be_error`] it does not say so of checks, conditionals and loops, whose faults are their own.
    /// In doubt, which is where very much is computed, it may.
    pub(super) fn reads_fallible(&self, id: ScalarId) -> bool {
        let (mut seen, mut next) = (HashSet::from([id]), vec![id]);
        while let Some(id) = next.pop() {
            let node = self.scalars.node(id);
            let (fails, operands) = match &node.definition {
                Definition::Host(var) => (self.failing.contains(var), &[][..]),
                Definition::Op(_, args) | Definition::Random(_, args) => (false, &args[..]),
                Definition::Read(var, args) => (self.failing.contains(var), &args[..]),
                Definition::Constant(..)
                | Definition::Index(_)
                | Definition::Param(_)
                | Definition::Checked(..)
                | Definition::Result(..) => (false, &[][..]),
            };
            if fails || node.may_fail || seen.len() > MOST_SEEN {
                return true;
            }
            next.extend(operands.iter().copied().filter(|operand| seen.insert(*operand)));
        }
        false
    }

    /// The value, if the condition holds.
    fn guarded(
        &mut self,
        value: Value<'p>,
        condition: ScalarId,
        kind: FaultKind,
        span: Span,
    ) -> Value<'p> {
        match value {
            Value::Scalar(id) => {
                let home = self.region;
                Value::Scalar(self.scalars.checked(id, condition, kind, home, span))
            }
            Value::Array(view) => {
                Value::Array(self.view(view.ty, Source::Checked(view, condition, kind)))
            }
        }
    }

    /// The element at an index that is in range.
    pub(super) fn element_unchecked(&mut self, view: &View<'p>, index: ScalarId) -> Value<'p> {
        let home = self.region;
        let span = self.span;
        match &view.source {
            Source::Stored { var, prefix, axes } => {
                let mut prefix = prefix.clone();
                match axes[0] {
                    Dimension::Dense(extent) => prefix.push((index, extent)),
                    Dimension::Ragged { offsets, total } => {
                        let position = self.position(offsets, &prefix, index);
                        prefix = vec![(position, total)];
                    }
                }
                self.stored_part(*var, view.ty.element(), prefix, axes[1..].to_vec())
            }
            Source::Iota(_) => Value::Scalar(index),
            Source::Replicate(_, value) => value.clone(),
            // Towers of concatenations have exponentially many parts.
            Source::Concat(first, _) if self.is_too_long() => {
                self.deferred.get_or_insert(Unsupported { reason: TOO_LONG.to_owned(), span });
                self.element_unchecked(first, index)
            }
            Source::Concat(first, second) => {
                let length = self.length(first);
                let length = self.length_scalar(length);
                let before = self.scalars.op(ScalarOp::Lt, &[index, length], home, span);
                let shifted = self.scalars.op(ScalarOp::Sub, &[index, length], home, span);
                // Whoever reads an element needs both arrays (Note [Rows that are not read]).
                let (first_is, second_is) = (self.existence(first), self.existence(second));
                self.branch(
                    before,
                    None,
                    |flattener| flattener.element_beside(first, index, second_is),
                    |flattener| flattener.element_beside(second, shifted, first_is),
                )
            }
            Source::Transposed(inner, _) => {
                let source = Source::Column(Rc::clone(inner), index);
                Value::Array(self.view(view.ty.element(), source))
            }
            Source::Column(inner, column) => {
                let column = *column;
                match self.element_unchecked(inner, index) {
                    Value::Array(row) => self.element_unchecked(&row, column),
                    Value::Scalar(_) => panic!("flatten: transpose of a vector"),
                }
            }
            Source::Gathered(indices, array) => match self.element_unchecked(indices, index) {
                Value::Scalar(index) => self.element_unchecked(array, index),
                Value::Array(_) => panic!("flatten: an index is a scalar"),
            },
            Source::Literal(elements) => self.literal_element(elements, 0, index),
            Source::Choice(condition, then, otherwise, _) => self.branch(
                *condition,
                Some((then.0, otherwise.0)),
                |flattener| flattener.element_unchecked(&then.1, index),
                |flattener| flattener.element_unchecked(&otherwise.1, index),
            ),
            Source::Checked(inner, condition, kind) => {
                self.element_under(inner, index, *condition, *kind)
            }
            Source::Delayed(delayed, result) => self.delayed_element(delayed, *result, index),
        }
    }

    /// The element at an index that is in range, if the condition holds.
    fn element_under(
        &mut self,
        view: &View<'p>,
        index: ScalarId,
        condition: ScalarId,
        kind: FaultKind,
    ) -> Value<'p> {
        let (home, span) = (self.region, self.span);
        let index = self.scalars.checked(index, condition, kind, home, span);
        let value = self.element_unchecked(view, index);
        if may_ignore_index(view) { self.guarded(value, condition, kind, span) } else { value }
    }

    /// The element at an index of one part of a concatenation, if the other part is a value.
    fn element_beside(
        &mut self,
        part: &View<'p>,
        index: ScalarId,
        other_is: Option<ScalarId>,
    ) -> Value<'p> {
        match other_is {
            None => self.element_unchecked(part, index),
            Some(condition) => {
                self.element_under(part, index, condition, FaultKind::IndexOutOfRange)
            }
        }
    }

    /// Where element `index` of a ragged row is stored.
    fn position(&mut self, offsets: Var, prefix: &[(ScalarId, Size)], index: ScalarId) -> ScalarId {
        // The local index within a row of the same descriptor was computed from the position.
        if let Some(position) = self.canonical_position(offsets, prefix, index) {
            return position;
        }
        let (start, _) = self.row_bounds(offsets, prefix);
        self.op(ScalarOp::Add, &[start, index])
    }

    /// What is left of a stored array after indexing.
    pub(super) fn stored_part(
        &mut self,
        var: Var,
        ty: nested::Type,
        prefix: Vec<(ScalarId, Size)>,
        axes: Vec<Dimension>,
    ) -> Value<'p> {
        if axes.is_empty() {
            let index: Vec<ScalarId> = prefix.into_iter().map(|(index, _)| index).collect();
            let (home, span) = (self.region, self.span);
            Value::Scalar(self.scalars.element(var, ty.element, &index, home, span))
        } else {
            Value::Array(self.view(ty, Source::Stored { var, prefix, axes }))
        }
    }

    /// An element of a literal: a tree of conditionals over the index.
    fn literal_element(
        &mut self,
        elements: &[Value<'p>],
        first: i64,
        index: ScalarId,
    ) -> Value<'p> {
        if let [element] = elements {
            return element.clone();
        }
        if let Some(known) = self.scalars.known_integer(index) {
            return elements[(known - first) as usize].clone();
        }
        let middle = elements.len() / 2;
        let pivot = self.scalars.integer(first + middle as i64);
        let below = self.op(ScalarOp::Lt, &[index, pivot]);
        self.branch(
            below,
            None,
            |flattener| flattener.literal_element(&elements[..middle], first, index),
            |flattener| {
                flattener.literal_element(&elements[middle..], first + middle as i64, index)
            },
        )
    }

    fn delayed_element(
        &mut self,
        delayed: &Delayed<'p>,
        result: usize,
        index: ScalarId,
    ) -> Value<'p> {
        for (var, value) in &delayed.captured {
            self.bind(*var, value.clone());
        }
        for (&(var, _), array) in delayed.lambda.params.iter().zip(&delayed.arrays) {
            let element = self.element_unchecked(array, index);
            self.bind(var, element);
        }
        // A body that cannot be evaluated element by element was found when the map was met.
        let outer = std::mem::replace(&mut self.delaying, true);
        let results = self.body(&delayed.lambda.body);
        self.delaying = outer;
        match results {
            Ok(results) => results[result].clone(),
            Err(error) => {
                self.deferred.get_or_insert(error);
                self.placeholder(delayed.lambda, result)
            }
        }
    }

    /// Something of the right type, after an error that is reported at the end.
    fn placeholder(&mut self, lambda: &nested::Lambda, result: usize) -> Value<'p> {
        let ty = self.atom_type(&lambda.body.results[result]);
        let zero = self.scalars.constant(weft_ir::Scalar::zero(ty.element));
        let length = Length::Uniform(Size::Constant(0));
        (0..ty.rank).fold(Value::Scalar(zero), |value, rank| {
            let ty = nested::Type { rank: rank + 1, element: ty.element };
            Value::Array(self.view(ty, Source::Replicate(length, value)))
        })
    }

    /// The array of a value that must be one.
    pub(super) fn array(&self, value: Value<'p>) -> Outcome<Rc<View<'p>>> {
        match value {
            Value::Array(view) => Ok(view),
            Value::Scalar(_) => unsupported("a scalar where an array is needed", self.span),
        }
    }
}

/// Whether an element may be had without a look at its index, so that a check of the index would be
/// lost with it.
fn may_ignore_index(view: &View<'_>) -> bool {
    match &view.source {
        Source::Stored { .. } | Source::Iota(_) => false,
        Source::Replicate(..) | Source::Literal(_) | Source::Delayed(..) => true,
        Source::Concat(first, second) => may_ignore_index(first) || may_ignore_index(second),
        // Elements of elements: a row of copies ignores it too.
        Source::Transposed(inner, _) | Source::Column(inner, _) => {
            !matches!(inner.source, Source::Stored { .. })
        }
        Source::Choice(_, then, otherwise, _) => {
            may_ignore_index(&then.1) || may_ignore_index(&otherwise.1)
        }
        Source::Gathered(_, inner) | Source::Checked(inner, ..) => may_ignore_index(inner),
    }
}
