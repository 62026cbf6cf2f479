//! Index spaces with their extents known: the numbering of points in storage order.
//!
//! The points of the first k dimensions are numbered by `parent · extent + index` along a dense
//! dimension, and by the position itself along a ragged one. The numbers of all dimensions together
//! are the positions of the storage.

use std::ops::Range;

use crate::fold::Rows;
use crate::isa::Slot;
use crate::lanes::{Frame, GROUP, Lane};

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
        let mut numbers: Vec<usize> = (position..position + lanes).collect();
        for (axis, slot) in self.axes.iter().zip(slots).skip(outermost).rev() {
            // The number before, its parent, and its index.
            let mut last = numbers[0];
            let (mut above, mut index) = (parent(*axis, last), index_of(*axis, last));
            let mut register = slot.map(|slot| &mut i64::file_mut(frame)[slot.index as usize]);
            for (lane, number) in numbers.iter_mut().enumerate() {
                if *number != last {
                    match axis {
                        Axis::Dense(extent) if *number == last + 1 => {
                            index += 1;
                            if index == *extent {
                                (above, index) = (above + 1, 0);
                            }
                        }
                        Axis::Dense(_) => {
                            (above, index) = (parent(*axis, *number), index_of(*axis, *number));
                        }
                        Axis::Ragged(offsets) => {
                            index = *number;
                            while offsets[above + 1] as usize <= *number {
                                above += 1;
                            }
                        }
                    }
                    last = *number;
                }
                if let Some(register) = &mut register {
                    register[lane / GROUP].0[lane % GROUP] = index as i64;
                }
                *number = above;
            }
        }
    }
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
