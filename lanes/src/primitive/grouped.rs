//! Sends to few places, combined in the tree of a fold, chunk by chunk and at the same time.
//!
//! Note [Grouped sends]. The tree of what is sent to a place counts all that was sent there before: where
//! a chunk's values fall into blocks depends on the chunks before it, but only by their numbers. So
//! chunks first count, and tell each other in order. Then each sorts its values by place, and folds
//! the blocks that lie within it. What belongs to a block that an earlier chunk has begun stays as it
//! is, at most 63 values a place; it and the blocks are put together at the end, in order, some places by each
//! thread.

use std::ops::Range;

use crate::lanes::{Elements, Lane, Storage};

use super::kernels::Kernels;
use super::rows::Rows;
use super::{Primitive, Streams, TREE, with_kernels};

/// How many values of a chunk belong to each place, and how many the block has that they continue.
#[derive(Clone, Debug)]
pub struct Grouping {
    counts: Vec<u32>,
    phases: Vec<u8>,
    /// By value: where it goes among those that are not dropped, sorted by place.
    positions: Vec<u32>,
}

/// The position of a value that is dropped.
const DROPPED: u32 = u32::MAX;

/// The parts of the values of a place.
struct Group {
    place: usize,
    start: usize,
    /// How many continue a block.
    head: usize,
    /// How many follow.
    rest: usize,
}

impl Grouping {
    /// Counts the targets below a number of places; nothing if one is neither such nor -1, which drops a
    /// value.
    pub fn counted(targets: &[i64], places: usize) -> Option<Grouping> {
        const SPREAD: usize = 4;
        // Several counters, so that equal targets do not wait for each other; a place more for all
        // that is no place.
        let width = places + 1;
        let mut counts = vec![0_u32; SPREAD * width];
        let (fours, rest) = targets.as_chunks::<SPREAD>();
        let mut count = |lane: usize, target: i64| {
            counts[lane * width + (target as usize).min(places)] += 1;
        };
        for four in fours {
            four.iter().enumerate().for_each(|(lane, &target)| count(lane, target));
        }
        rest.iter().for_each(|&target| count(0, target));
        let of = |place: usize| (0..SPREAD).map(|lane| counts[lane * width + place]).sum::<u32>();
        let is_place = |target: &i64| usize::try_from(*target).is_ok_and(|place| place < places);
        let inside = of(places) == 0 || targets.iter().all(|at| *at == -1 || is_place(at));
        inside.then(|| Grouping {
            counts: (0..places).map(of).collect(),
            phases: Vec::new(),
            positions: Vec::new(),
        })
    }

    /// Finds where each value goes.
    pub fn sort(&mut self, targets: &[i64]) {
        let mut next: Vec<u32> = Vec::with_capacity(self.counts.len());
        let mut total = 0;
        for &count in &self.counts {
            next.push(total);
            total += count;
        }
        let position = |&target: &i64| match next.get_mut(target as usize) {
            Some(next) => {
                *next += 1;
                *next - 1
            }
            None => DROPPED,
        };
        self.positions = targets.iter().map(position).collect();
    }

    /// Without what [`Grouping::sort`] has found, which the values of this chunk alone need.
    pub fn sorted(self) -> Grouping {
        Grouping { positions: Vec::new(), ..self }
    }

    /// How many values are not dropped.
    fn total(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }

    /// Notes what was sent before, and adds to it.
    pub fn follow(&mut self, before: &mut [u64]) {
        self.phases = before.iter().map(|before| (before % TREE as u64) as u8).collect();
        for (before, &count) in before.iter_mut().zip(&self.counts) {
            *before += u64::from(count);
        }
    }

    /// The places that values were sent to, in order.
    fn groups(&self) -> impl Iterator<Item = Group> + '_ {
        let mut next = 0;
        let all = self.counts.iter().zip(&self.phases).enumerate();
        all.filter(|(_, (count, _))| **count > 0).map(move |(place, (&count, &phase))| {
            let (start, count, phase) = (next, count as usize, usize::from(phase));
            next += count;
            let head = if phase == 0 { 0 } else { count.min(TREE - phase) };
            Group { place, start, head, rest: count - head }
        })
    }
}

impl Primitive {
    /// What the values of a chunk come to, whose grouping has sorted their targets: place by place those
    /// that continue a block, then the blocks. The buffer may hold anything.
    pub fn fold_groups(
        &self,
        values: Elements<'_>,
        grouping: &Grouping,
        buffer: &mut Storage,
    ) -> Storage {
        buffer.resize(grouping.total());
        with_kernels!(self, T, kernels => {
            let buffer = T::storage_mut(buffer);
            T::into_storage(fold_groups::<T>(kernels, T::elements(values), grouping, buffer))
        })
    }

    /// Puts what a chunk has come to at some places, to which the folds in progress belong, together with the
    /// chunks before it.
    pub fn merge_groups(
        &self,
        to: &mut Streams,
        places: &Range<usize>,
        grouping: &Grouping,
        folded: &Storage,
    ) {
        with_kernels!(self, T, kernels => {
            merge::<T>(kernels, to, places, grouping, T::storage(folded));
        });
    }
}

fn fold_groups<T: Lane>(
    kernels: &Kernels<T>,
    values: &[T],
    grouping: &Grouping,
    buffer: &mut [T],
) -> Vec<T> {
    for (&position, &value) in grouping.positions.iter().zip(values) {
        if let Some(to) = buffer.get_mut(position as usize) {
            *to = value;
        }
    }
    let mut folded = Vec::new();
    for Group { start, head, rest, .. } in grouping.groups() {
        let (middle, end) = (start + head, start + head + rest);
        if kernels.exact {
            kernels.fold_rows(&buffer[start..end], Rows::One, usize::MAX, &mut folded);
            continue;
        }
        folded.extend_from_slice(&buffer[start..middle]);
        if rest > 0 {
            kernels.fold_rows(&buffer[middle..end], Rows::One, 1, &mut folded);
        }
    }
    folded
}

fn merge<T: Lane>(
    kernels: &Kernels<T>,
    to: &mut Streams,
    places: &Range<usize>,
    grouping: &Grouping,
    folded: &[T],
) {
    let mut folded = folded;
    for Group { place, head, rest, .. } in grouping.groups() {
        // Where any bracketing will do a chunk comes to one value for each place.
        let count = if kernels.exact { 1 } else { head + rest.div_ceil(TREE) };
        let (values, others) = folded.split_at(count);
        folded = others;
        if place < places.start {
            continue;
        }
        if place >= places.end {
            break;
        }
        let at = place - places.start;
        if kernels.exact {
            to.push(kernels, at, 1, values[0]);
            continue;
        }
        let (head, blocks) = values.split_at(head);
        to.push_each(kernels, at, head);
        for (number, &block) in blocks.iter().enumerate() {
            to.push(kernels, at, TREE.min(rest - number * TREE), block);
        }
    }
}
