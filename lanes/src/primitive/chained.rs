//! Scans of long rows by one common operator: values are read once and written once.
//!
//! Each chunk is scanned in blocks of the tree, from wherever its values stand to a buffer that stays
//! in the cache. In the order of the chunks, what the blocks come to is scanned in turn
//! ([`Carries`]), and yields what comes before each block. Then the values go out, combined with that.
//!
//! Where any bracketing gives the same bits there are no blocks: a chunk's total goes to the next, and
//! the values are combined one after the other as they go out. A single thread does that at once: it need
//! not know the total before.

use crate::lanes::{Elements, Lane, Storage, StorageMut};
use crate::stream::{Stream, ask_for};

use super::kernels::{ABREAST, FromZeros, Kernels};
use super::{TREE, Typed, with_kernels};

/// The scans of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Chained {
    pub(super) kernels: Typed,
}

/// What has gone before in a row: of each level of the tree above the first, how many values the
/// current block has, what they have come to, and what comes before the block.
#[derive(Debug, Default)]
pub struct Carries {
    counts: Vec<usize>,
    running: Option<Storage>,
    carries: Option<Storage>,
    /// The scanned value of the last block.
    last: Option<Storage>,
}

/// What comes before the blocks of a chunk.
#[derive(Debug)]
pub struct Carried<'a> {
    /// One per block.
    pub before: &'a Storage,
    /// Whether there is something before the first block.
    pub all: bool,
    /// The start value, which comes before everything.
    pub start: Option<Elements<'a>>,
}

impl Chained {
    /// Scans blocks of values to a buffer of as many, or those that stand there already.
    pub fn blocks(&self, from: Option<Elements<'_>>, to: &mut Storage) {
        with_kernels!(self, T, kernels => {
            blocks::<T>(kernels, from.map(|from| T::elements(from)), T::storage_mut(to));
        });
    }

    /// Scans the ends of the blocks; yields what comes before each, and whether there is something
    /// before the first.
    pub fn carries(&self, state: &mut Carries, of: &Storage, before: &mut Storage) -> bool {
        with_kernels!(self, T, kernels => {
            carries::<T>(kernels, state, T::storage(of), T::storage_mut(before))
        })
    }

    /// Writes the values of a chunk.
    pub fn write(
        &self,
        values: &Storage,
        carried: &Carried<'_>,
        to: &mut StorageMut<'_>,
        stream: &Stream,
    ) {
        with_kernels!(self, T, kernels => {
            write::<T>(kernels, T::storage(values), carried, T::slice_mut(to), stream);
        });
    }

    /// What some values come to, at least one. Zero must change nothing, and any bracketing be allowed,
    /// here and in what follows.
    pub fn sum(&self, values: Elements<'_>) -> Storage {
        with_kernels!(self, T, kernels => {
            let sum = (from_zeros(kernels).total)(T::elements(values));
            T::into_storage(vec![sum.expect("there are values")])
        })
    }

    /// Adds the total of a chunk to what has gone before it in the row; that.
    pub fn total(&self, state: &mut Carries, total: &Storage) -> Option<Storage> {
        with_kernels!(self, T, kernels => {
            let total = T::storage(total)[0];
            let before = state.last.take();
            let all = match &before {
                Some(before) => (kernels.apply)(T::storage(before)[0], total),
                None => total,
            };
            state.last = Some(T::into_storage(vec![all]));
            before
        })
    }

    /// Writes the values of a chunk, each combined with all before it in the chunk and with what comes
    /// before that.
    pub fn run(
        &self,
        values: Elements<'_>,
        before: [Option<Elements<'_>>; 2],
        to: &mut StorageMut<'_>,
        stream: &Stream,
    ) {
        with_kernels!(self, T, kernels => {
            let before = before.into_iter().flatten().map(|before| T::elements(before)[0]);
            let first = before.fold(T::default(), kernels.apply);
            (from_zeros(kernels).run)(first, T::elements(values), T::slice_mut(to), stream);
        });
    }

    /// As [`Chained::total`] and [`Chained::run`], where all chunks before have been written. The start value
    /// is that of the row, and is part of what has gone before from then on.
    pub fn follow(
        &self,
        state: &mut Carries,
        values: Elements<'_>,
        start: Option<Elements<'_>>,
        to: &mut StorageMut<'_>,
        stream: &Stream,
    ) {
        with_kernels!(self, T, kernels => {
            let before = state.last.as_ref().map(|last| T::storage(last)[0]);
            let start = start.map(|start| T::elements(start)[0]);
            let first = before.or(start).unwrap_or_default();
            let run = from_zeros(kernels).run;
            let last = run(first, T::elements(values), T::slice_mut(to), stream);
            state.last = Some(T::into_storage(vec![last]));
        });
    }
}

fn from_zeros<T>(kernels: &Kernels<T>) -> &FromZeros<T> {
    kernels.from_zeros.as_ref().expect("zero changes nothing")
}

/// Scans blocks in place, whole ones that are neighbours side by side.
pub(super) fn scan_blocks<T: Lane>(
    kernels: &Kernels<T>,
    values: &mut [T],
    blocks: &[(usize, usize)],
) {
    let mut rest = blocks;
    while let Some((start, _)) = rest.first() {
        let whole = rest.iter().take(ABREAST).take_while(|block| block.1 == TREE);
        if whole.zip((*start..).step_by(TREE)).filter(|(block, at)| block.0 == *at).count()
            == ABREAST
        {
            let (run, _) = values[*start..][..ABREAST * TREE].as_chunks_mut::<TREE>();
            if let ([run], []) = run.as_chunks_mut::<ABREAST>() {
                (kernels.scan_abreast)(run);
            }
            rest = &rest[ABREAST..];
            continue;
        }
        let until = 1 + rest[1..].iter().take_while(|block| block.1 < TREE).count();
        (kernels.scan)(values, &rest[..until]);
        rest = &rest[until..];
    }
}

/// Scans blocks, of which several are scanned at once. They are copied first, in the order of memory:
/// blocks side by side would be read too slowly. While some are scanned, the memory brings those that follow.
fn blocks<T: Lane>(kernels: &Kernels<T>, from: Option<&[T]>, to: &mut [T]) {
    const RUN: usize = ABREAST * TREE;
    const AHEAD: usize = 2;
    for (number, to) in to.chunks_mut(RUN).enumerate() {
        if let Some(from) = from {
            let from = &from[number * RUN..];
            to.copy_from_slice(&from[..to.len()]);
            ask_for(from.chunks(RUN).nth(AHEAD).unwrap_or_default());
        }
        let (blocks, _) = to.as_chunks_mut::<TREE>();
        if let ([run], []) = blocks.as_chunks_mut::<ABREAST>() {
            (kernels.scan_abreast)(run);
            continue;
        }
        for block in to.chunks_mut(TREE) {
            (kernels.scan)(block, &[(0, block.len())]);
        }
    }
}

fn carries<T: Lane>(
    kernels: &Kernels<T>,
    state: &mut Carries,
    of: &[T],
    before: &mut Vec<T>,
) -> bool {
    let fresh = || T::into_storage(Vec::new());
    let Carries { counts, running, carries, last } = state;
    let running = T::storage_mut(running.get_or_insert_with(fresh));
    let carries = T::storage_mut(carries.get_or_insert_with(fresh));
    let last = T::storage_mut(last.get_or_insert_with(fresh));
    let all = !last.is_empty();
    before.clear();
    for block in of.chunks(TREE) {
        let end = block[block.len() - 1];
        before.push(last.first().copied().unwrap_or(end));
        last.clear();
        last.push(push(kernels.apply, counts, running, carries, 0, end));
    }
    all
}

/// The scanned value of one more value of a level. Of a level without complete blocks nothing comes
/// before the first.
fn push<T: Lane>(
    apply: fn(T, T) -> T,
    counts: &mut Vec<usize>,
    running: &mut Vec<T>,
    carries: &mut Vec<T>,
    level: usize,
    value: T,
) -> T {
    if counts.len() == level {
        counts.push(0);
        running.push(value);
        carries.push(value);
    }
    let place = counts[level] % TREE;
    running[level] = if place == 0 { value } else { apply(running[level], value) };
    let scanned = match counts[level] < TREE {
        true => running[level],
        false => apply(carries[level], running[level]),
    };
    counts[level] += 1;
    if place + 1 == TREE {
        let value = running[level];
        carries[level] = push(apply, counts, running, carries, level + 1, value);
    }
    scanned
}

fn write<T: Lane>(
    kernels: &Kernels<T>,
    values: &[T],
    carried: &Carried<'_>,
    to: &mut [T],
    stream: &Stream,
) {
    let before = T::storage(carried.before);
    let start = carried.start.map(|start| T::elements(start)[0]);
    let mut buffer = [T::default(); TREE];
    let blocks = values.chunks(TREE).zip(to.chunks_mut(TREE)).zip(before);
    for (number, ((values, to), &before)) in blocks.enumerate() {
        // What goes past the caches is not changed there.
        let past = stream.is_past();
        let changed = if past { &mut buffer[..values.len()] } else { &mut *to };
        changed.copy_from_slice(values);
        if number > 0 || carried.all {
            (kernels.shift)(before, changed);
        }
        if let Some(start) = start {
            (kernels.shift)(start, changed);
        }
        if past {
            stream.copy(&buffer[..values.len()], to);
        }
    }
}
