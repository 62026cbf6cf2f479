//! Index spaces with their extents known: the numbering of points in storage order.
//!
//! The points of the first k dimensions are numbered by `parent · extent + index` along a dense
//! dimension, and by the position itself along a ragged one. The numbers of all dimensions together
//! are the positions of the storage.

mod dense;

use std::ops::Range;

use crate::fold::Rows;
use crate::isa::Slot;
use crate::lanes::{Frame, Lane, flat_mut};

/// One dimension.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis<'a> {
    /// Indices below the extent.
    Dense(usize),
    /// Rows with these offsets.
    Ragged(&'a [i64]),
}

/// A space.
#[derive(Clone, Debug)]
pub(crate) struct Shape<'a> {
    /// Outermost first.
    pub(crate) axes: Vec<Axis<'a>>,
    /// How many points the first k dimensions have, for each k.
    counts: Vec<usize>,
}

impl<'a> Shape<'a> {
    /// Nothing if the number of points is beyond the range.
    pub(crate) fn new(axes: Vec<Axis<'a>>) -> Option<Shape<'a>> {
        let mut counts = vec![1_usize];
        for axis in &axes {
            let before = counts[counts.len() - 1];
            counts.push(match axis {
                Axis::Dense(extent) => before.checked_mul(*extent)?,
                Axis::Ragged(offsets) => usize::try_from(*offsets.last()?).ok()?,
            });
        }
        Some(Shape { axes, counts })
    }

    /// The extents, if all dimensions are dense.
    pub(crate) fn dense_extents(&self) -> Option<Vec<i64>> {
        let extent = |axis: &Axis<'_>| match axis {
            Axis::Dense(extent) => Some(*extent as i64),
            Axis::Ragged(_) => None,
        };
        self.axes.iter().map(extent).collect()
    }

    /// The number of points.
    pub(crate) fn points(&self) -> usize {
        self.counts[self.axes.len()]
    }

    /// The number of rows of the last dimension; without dimensions one.
    pub(crate) fn rows(&self) -> usize {
        self.counts[self.axes.len().saturating_sub(1)]
    }

    /// The space without its last dimension.
    pub(crate) fn outer(&self) -> Shape<'a> {
        let length = self.axes.len().saturating_sub(1);
        let counts = self.counts[..=length].to_vec();
        Shape { axes: self.axes[..length].to_vec(), counts }
    }

    /// The positions of a row of the last dimension.
    pub(crate) fn row(&self, row: usize) -> Range<usize> {
        match self.axes.last() {
            None => 0..1,
            Some(Axis::Dense(extent)) => row * extent..(row + 1) * extent,
            Some(Axis::Ragged(offsets)) => offsets[row] as usize..offsets[row + 1] as usize,
        }
    }

    /// Whether some row of the last dimension has no points.
    pub(crate) fn has_empty_rows(&self) -> bool {
        match self.axes.last() {
            None => false,
            Some(Axis::Dense(extent)) => *extent == 0,
            Some(Axis::Ragged(offsets)) => offsets.windows(2).any(|pair| pair[0] == pair[1]),
        }
    }

    /// The rows of the last dimension that have no points.
    pub(crate) fn empty_rows(&self) -> Vec<usize> {
        match self.axes.last() {
            None | Some(Axis::Dense(1..)) => Vec::new(),
            Some(Axis::Dense(0)) => (0..self.rows()).collect(),
            Some(Axis::Ragged(offsets)) => {
                let pairs = offsets.windows(2).enumerate();
                pairs.filter(|(_, pair)| pair[0] == pair[1]).map(|(row, _)| row).collect()
            }
        }
    }

    /// The lengths of some rows of the last dimension.
    pub(crate) fn lengths(&self, rows: Range<usize>) -> Rows<'a> {
        match self.axes.last() {
            None => Rows::Even { count: rows.len(), length: 1 },
            Some(Axis::Dense(extent)) => Rows::Even { count: rows.len(), length: *extent },
            Some(Axis::Ragged(offsets)) => Rows::Ragged(&offsets[rows.start..=rows.end]),
        }
    }

    /// The row of the last dimension that a position lies in.
    pub(crate) fn row_of(&self, position: usize) -> usize {
        match self.axes.last() {
            None => 0,
            Some(axis) => parent(*axis, position),
        }
    }

    /// The extents of the storage.
    pub(crate) fn storage(&self) -> Vec<usize> {
        let mut extents = Vec::new();
        for axis in &self.axes {
            match axis {
                Axis::Dense(extent) => extents.push(*extent),
                Axis::Ragged(offsets) => extents = vec![offsets[offsets.len() - 1] as usize],
            }
        }
        extents
    }

    /// Writes the indices of the point with that number.
    pub(crate) fn indices_to(&self, number: usize, indices: &mut [i64]) {
        assert_eq!(indices.len(), self.axes.len(), "an index per dimension");
        let mut number = number;
        for (index, axis) in indices.iter_mut().zip(&self.axes).rev() {
            *index = index_of(*axis, number) as i64;
            number = parent(*axis, number);
        }
    }

    /// Fills varying registers with the indices of consecutive points from a position on; `None`
    /// for an index that nobody needs.
    pub(crate) fn fill(
        &self,
        frame: &mut Frame,
        slots: &[Option<Slot>],
        position: usize,
        lanes: usize,
    ) {
        let Some(outermost) = slots.iter().position(Option::is_some) else { return };
        if self.axes[outermost..].iter().all(|axis| matches!(axis, Axis::Dense(_))) {
            return self.fill_dense(frame, slots, position, lanes);
        }
        let mut axes = self.axes.iter().zip(slots).skip(outermost).rev();
        let Some((last, slot)) = axes.next() else { return };
        if let Some(slot) = slot {
            last_indices(*last, position, register(frame, *slot, lanes));
        }
        if axes.len() == 0 {
            return;
        }
        let mut runs = rows_of(*last, position, lanes);
        for (axis, slot) in axes {
            match slot {
                Some(slot) => {
                    let register = register(frame, *slot, lanes);
                    let mut lane = 0;
                    up(*axis, &mut runs, |index, count| {
                        register[lane..lane + count].fill(index as i64);
                        lane += count;
                    });
                }
                None => up(*axis, &mut runs, |_, _| {}),
            }
        }
    }

    /// As [`Shape::fill`], where all dimensions from the first one on whose index is needed are dense.
    fn fill_dense(&self, frame: &mut Frame, slots: &[Option<Slot>], position: usize, lanes: usize) {
        let mut inner = 1;
        for (axis, slot) in self.axes.iter().zip(slots).rev() {
            let Axis::Dense(extent) = *axis else { return };
            if let Some(slot) = slot {
                dense::fill(register(frame, *slot, lanes), position, inner, extent);
            }
            inner *= extent;
        }
    }
}

/// Some lanes of a register of indices.
fn register(frame: &mut Frame, slot: Slot, lanes: usize) -> &mut [i64] {
    &mut flat_mut(&mut i64::file_mut(frame)[slot.index as usize])[..lanes]
}

/// Some consecutive points with the same number along the axes before.
#[derive(Clone, Copy)]
struct Run {
    number: usize,
    points: usize,
}

/// The indices along the last axis of consecutive points.
fn last_indices(axis: Axis<'_>, position: usize, indices: &mut [i64]) {
    let from = |indices: &mut [i64], first: usize| {
        indices.iter_mut().zip(first as i64..).for_each(|(index, number)| *index = number);
    };
    match axis {
        Axis::Ragged(_) => from(indices, position),
        Axis::Dense(extent) => {
            let (first, rest) =
                indices.split_at_mut((extent - position % extent).min(indices.len()));
            from(first, position % extent);
            rest.chunks_mut(extent).for_each(|row| from(row, 0));
        }
    }
}

/// The rows of the last axis that consecutive points lie in.
fn rows_of(axis: Axis<'_>, position: usize, lanes: usize) -> Vec<Run> {
    let mut number = parent(axis, position);
    let mut runs = Vec::new();
    let mut at = position;
    while at < position + lanes {
        let end = match axis {
            Axis::Dense(extent) => (number + 1) * extent,
            Axis::Ragged(offsets) => offsets[number + 1] as usize,
        };
        let end = end.min(position + lanes);
        // Rows without points are passed over.
        if end > at {
            runs.push(Run { number, points: end - at });
            at = end;
        }
        number += 1;
    }
    runs
}

/// From the numbers of points along the axes up to this one to those along the axes before; `each` is given
/// the index along this axis, and how many points have it.
fn up(axis: Axis<'_>, runs: &mut Vec<Run>, mut each: impl FnMut(usize, usize)) {
    let Some(first) = runs.first() else { return };
    let (mut last, mut above) = (first.number, parent(axis, first.number));
    let mut index = index_of(axis, last);
    let mut kept = 0;
    for at in 0..runs.len() {
        let Run { number, points } = runs[at];
        if number != last {
            match axis {
                Axis::Dense(extent) if number == last + 1 => {
                    index += 1;
                    if index == extent {
                        (above, index) = (above + 1, 0);
                    }
                }
                Axis::Dense(_) => (above, index) = (parent(axis, number), index_of(axis, number)),
                Axis::Ragged(offsets) => {
                    index = number;
                    while offsets[above + 1] as usize <= number {
                        above += 1;
                    }
                }
            }
            last = number;
        }
        each(index, points);
        match runs[..kept].last_mut() {
            Some(run) if run.number == above => run.points += points,
            _ => {
                runs[kept] = Run { number: above, points };
                kept += 1;
            }
        }
    }
    runs.truncate(kept);
}

/// The index along an axis of the point with that number.
fn index_of(axis: Axis<'_>, number: usize) -> usize {
    match axis {
        Axis::Dense(extent) => number % extent,
        Axis::Ragged(_) => number,
    }
}

/// The number of the point of the axes before.
fn parent(axis: Axis<'_>, number: usize) -> usize {
    match axis {
        Axis::Dense(extent) => number / extent,
        Axis::Ragged(offsets) => offsets.partition_point(|&offset| offset as usize <= number) - 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{Axis, Shape};
    use crate::isa::Slot;
    use crate::lanes::{Frame, Lane, LaneType, flat, reserve};

    /// The indices of some points, found one by one and a block at a time.
    fn check(axes: Vec<Axis<'_>>) {
        let shape = Shape::new(axes).expect("few points");
        let depth = shape.axes.len();
        let all: Vec<Vec<i64>> = (0..shape.points())
            .map(|point| {
                let mut indices = vec![0; depth];
                shape.indices_to(point, &mut indices);
                indices
            })
            .collect();
        for wanted in 1..1_u32 << depth {
            let slots: Vec<Option<Slot>> = (0..depth as u32)
                .map(|at| {
                    (wanted >> at & 1 == 1).then_some(Slot {
                        ty: LaneType::I64,
                        index: at,
                        uniform: false,
                    })
                })
                .collect();
            for (position, lanes) in [(0, 256), (1, 200), (63, 65), (100, 1), (190, 70), (299, 1)] {
                let lanes = lanes.min(shape.points().saturating_sub(position));
                if lanes == 0 {
                    continue;
                }
                let mut frame = Frame::default();
                i64::file_mut(&mut frame).resize_with(depth, Vec::new);
                for at in 0..depth as u32 {
                    reserve::<i64>(&mut frame, at, lanes);
                }
                shape.fill(&mut frame, &slots, position, lanes);
                for slot in slots.iter().flatten() {
                    let found = &flat(&i64::file(&frame)[slot.index as usize])[..lanes];
                    let at = slot.index as usize;
                    let expected: Vec<i64> =
                        all[position..position + lanes].iter().map(|point| point[at]).collect();
                    assert_eq!(found, expected, "{axes:?}, {slots:?}", axes = shape.axes);
                }
            }
        }
    }

    #[test]
    fn blocks_have_the_indices_of_their_points() {
        check(vec![Axis::Dense(300)]);
        check(vec![Axis::Dense(300), Axis::Dense(1)]);
        check(vec![
            Axis::Dense(1),
            Axis::Dense(2),
            Axis::Dense(3),
            Axis::Dense(5),
            Axis::Dense(10),
        ]);
        check(vec![Axis::Dense(2), Axis::Dense(170)]);
        let rows = [0, 0, 1, 1, 3, 3, 3, 70, 200, 201, 201, 300];
        let rows_of_rows = [0, 0, 4, 4, 10, 11, 11];
        check(vec![Axis::Dense(11), Axis::Ragged(&rows)]);
        check(vec![Axis::Dense(6), Axis::Ragged(&rows_of_rows), Axis::Ragged(&rows)]);
        check(vec![Axis::Dense(11), Axis::Ragged(&rows), Axis::Dense(2), Axis::Dense(3)]);
    }
}
