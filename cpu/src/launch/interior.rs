//! Where the code of a kernel's interior runs (note [Interior points]).

use std::ops::Range;

use weft_codegen::interior::{Interval, Limit, Number};
use weft_ir::Scalar;

use crate::compile::Compiled;
use crate::execute::Source;
use crate::hoist::Hoisted;
use crate::launch::Launch;
use crate::launch::mode::LONG_ROW;
use crate::prepare::PreparedInterior;
use crate::shape::{Axis, Shape};
use crate::traverse::Mode;

/// A box of points, and the code for it.
pub(super) struct Inside<'a> {
    pub(super) compiled: &'a Compiled,
    pub(super) ranges: Vec<Range<usize>>,
    /// Whether the code runs on from row to row (Note [On across rows]).
    pub(super) across: bool,
}

/// A box that has a smaller share of the points is not worth a function of its own.
const SHARE: usize = 16;

/// Fewer points than this are not worth more than one box.
const FEW: usize = 128;

impl Launch<'_> {
    /// The code for boxes of points, if these are most of the space (note [Interior points]).
    pub(super) fn interiors(&self, mode: Mode) -> Vec<Inside<'_>> {
        let kernel = &*self.bound.kernel;
        // Each row of a box is one call at least: short rows are rather gone through by the function that asks.
        let long = |axis: &Axis<'_>| matches!(axis, Axis::Dense(LONG_ROW..));
        if self.shape.axes.len() > 1
            && (mode != Mode::Row || !self.shape.axes.last().is_some_and(long))
        {
            return Vec::new();
        }
        let whole = self.shape.points();
        let share = if whole < FEW { 2 } else { SHARE };
        let mut inside = Vec::new();
        for interior in &kernel.interiors {
            let Some(ranges) = self.inside(interior, &self.shape) else { continue };
            if points(&ranges) > whole / share
                && interior.reads.iter().all(|read| self.is_there(read, &ranges))
            {
                inside.push((interior, ranges));
            }
        }
        if inside.iter().map(|(_, ranges)| points(ranges)).sum::<usize>() <= whole / 2 {
            return Vec::new();
        }
        // What is written over between the rows of a box must not be another one.
        let alone = inside.len() == 1;
        let mut all = Vec::with_capacity(inside.len());
        for (interior, ranges) in inside {
            let compiled = interior.thunk.variant(mode, &kernel.types);
            let across = alone && interior.crosses && self.reads_over_space();
            all.push(Inside { compiled, ranges, across });
        }
        all
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
        if points(&inside) <= outer.points() / 2 {
            return None;
        }
        Some((interior.thunk.variant(mode, &kernel.types), inside))
    }

    /// The box of an interior along some dimensions.
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
        Some(inside)
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

    /// Whether all arrays that are read have the extents of the space.
    fn reads_over_space(&self) -> bool {
        self.sources.iter().all(|source| match source {
            Source::Scalar(_) => true,
            Source::Array { over_space, .. } => *over_space,
        })
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

/// How many points a box has.
fn points(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(ExactSizeIterator::len).product()
}

/// Where the points of a space end that lie, like the one at a position, in one of some boxes or in none; which one that is.
pub(super) fn run_among<'r>(
    shape: &Shape<'_>,
    position: usize,
    boxes: impl Iterator<Item = &'r [Range<usize>]>,
) -> (usize, Option<usize>) {
    let mut outside = usize::MAX;
    for (number, ranges) in boxes.enumerate() {
        match run_from(shape, position, ranges) {
            (until, true) => return (until, Some(number)),
            (until, false) => outside = outside.min(until),
        }
    }
    (outside, None)
}

/// Where the points of a space end that lie, like the one at a position, inside the box or outside of it;
/// whether they are inside. Those inside do not go beyond a row; behind its last one come those in front of the first of the
/// next row, which are outside as well, and are gone through together with these.
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
        _ => (shape.points().min(end + last.start), false),
    }
}
