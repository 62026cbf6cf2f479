//! Where the code of a kernel's interior runs (note [Interior points]).

use std::ops::Range;

use weft_ir::Scalar;

use crate::compile::Compiled;
use crate::execute::Source;
use crate::hoist::Hoisted;
use crate::interior::{Interval, Limit, Number};
use crate::launch::Launch;
use crate::prepare::PreparedInterior;
use crate::shape::{Axis, Shape};
use crate::traverse::Mode;

impl Launch<'_> {
    /// The code for a box of points, and the box, if that is most of the space (note [Interior points]).
    pub(super) fn interior(&self, mode: Mode) -> Option<(Mode, &Compiled, Vec<Range<usize>>)> {
        let kernel = &*self.bound.kernel;
        let interior = kernel.interior.as_ref()?;
        let inside = self.inside(interior, &self.shape)?;
        let fits = mode == Mode::Row || inside.len() < 2;
        (fits && interior.reads.iter().all(|read| self.is_there(read, &inside)))
            .then(|| (mode, interior.thunk.variant(mode, &kernel.types), inside))
    }

    /// The same for rows whose elements are stepped through; the box is one of rows.
    pub(super) fn interior_of_columns(&self, mode: Mode) -> Option<(&Compiled, Vec<Range<usize>>)> {
        let kernel = &*self.bound.kernel;
        let interior = kernel.interior_of_columns.as_ref()?;
        let outer = self.shape.outer();
        if mode != Mode::Column && outer.axes.len() > 1 {
            return None;
        }
        let inside = self.inside(interior, &outer)?;
        Some((interior.thunk.variant(mode, &kernel.types), inside))
    }

    /// The box of an interior along some dimensions, if that is most of their points.
    fn inside(&self, interior: &PreparedInterior, shape: &Shape<'_>) -> Option<Vec<Range<usize>>> {
        let PreparedInterior { bounds, steady, .. } = interior;
        let mut inside = Vec::with_capacity(shape.axes.len());
        for axis in &shape.axes {
            let Axis::Dense(extent) = axis else { return None };
            inside.push(0..*extent);
        }
        let scalar = |array: u32| match self.sources[array as usize] {
            Source::Scalar(Scalar::I64(value)) => Some(value),
            Source::Scalar(_) | Source::Array { .. } => None,
        };
        let number = |number: Number| match number {
            Number::Constant(value) => Some(value),
            Number::Read(array) => scalar(array),
            Number::Half(array) => scalar(array).map(|value| value.div_euclid(2)),
        };
        let known = steady.intervals(self.shape.points() / self.shape.rows().max(1), scalar);
        for bound in bounds {
            let inside = &mut inside[bound.dimension];
            let Interval { least, greatest } = bound.offset.interval(&known)?;
            // Below zero counts as zero.
            let from =
                |value: i64, offset| usize::try_from(value.saturating_sub(offset)).unwrap_or(0);
            match bound.limit {
                Limit::AtLeast(limit) => {
                    inside.start = inside.start.max(from(number(limit)?, least));
                }
                Limit::Below(limit) => {
                    inside.end = inside.end.min(from(number(limit)?, greatest));
                }
                Limit::AtMost(limit) => {
                    let limit = number(limit)?.saturating_add(1);
                    inside.end = inside.end.min(from(limit, greatest));
                }
            }
        }
        let points = inside.iter().map(ExactSizeIterator::len).product::<usize>();
        (points > shape.points() / 2).then_some(inside)
    }

    /// Whether there is what a read reads, at all points of a box.
    fn is_there(&self, read: &Hoisted, inside: &[Range<usize>]) -> bool {
        let Source::Array { elements, strides, .. } = &self.sources[read.array] else {
            return false;
        };
        // A stride is what the one before spans.
        let mut whole = elements.len() as i64;
        strides.len() == read.indices.len()
            && strides.iter().zip(&read.indices).all(|(&stride, &(dimension, offset))| {
                let extent = whole.checked_div(stride).unwrap_or(0);
                whole = stride;
                let Range { start, end } = inside[dimension];
                (start as i64).saturating_add(offset) >= 0
                    && (end as i64 - 1).saturating_add(offset) < extent
            })
    }

    /// Whether the code of a box may run on from row to row (Note [On across rows]).
    pub(super) fn crosses(&self) -> bool {
        let over_space = |source: &Source<'_>| match source {
            Source::Scalar(_) => true,
            Source::Array { over_space, .. } => *over_space,
        };
        self.bound.kernel.crosses && self.sources.iter().all(over_space)
    }

    /// The positions from the first point of a box, which is not empty, to its last.
    pub(super) fn span(&self, inside: &[Range<usize>]) -> Range<usize> {
        let place = |of: fn(&Range<usize>) -> usize| {
            self.shape.axes.iter().zip(inside).fold(0, |place, (axis, inside)| match axis {
                Axis::Dense(extent) => place * extent + of(inside),
                Axis::Ragged(_) => unreachable!("dense spaces have an interior"),
            })
        };
        place(|inside| inside.start)..place(|inside| inside.end - 1) + 1
    }
}

/// Where the points of a space end that lie, like the one at a position, inside the box or outside of it;
/// whether they are inside. They do not go beyond a row.
pub(super) fn run_from(
    shape: &Shape<'_>,
    position: usize,
    inside: &[Range<usize>],
) -> (usize, bool) {
    let row = shape.row_of(position);
    let Range { start, end } = shape.row(row);
    let (last, outer) = inside.split_last().expect("a dimension");
    let mut number = row;
    for (axis, inside) in shape.axes.iter().zip(outer).rev() {
        let Axis::Dense(extent) = axis else { unreachable!("dense spaces have an interior") };
        if !inside.contains(&(number % extent)) {
            return (end, false);
        }
        number /= extent;
    }
    match position - start {
        index if index < last.start => (end.min(start + last.start), false),
        index if index < last.end => (start + last.end, true),
        _ => (end, false),
    }
}
