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
use crate::operators::Binary;
use crate::stream::{Stream, ask_for};

use super::TREE;
use super::versions::Summed;

/// The loops of an operator.
#[derive(Clone, Copy, Debug)]
pub struct Chained {
    blocks: fn(Option<Elements<'_>>, &mut Storage),
    carries: fn(&mut Carries, &Storage, &mut Storage) -> bool,
    write: fn(&Storage, &Carried<'_>, &mut StorageMut<'_>, &Stream),
    total: fn(&mut Carries, Elements<'_>) -> Option<Storage>,
    run: fn(Elements<'_>, [Option<Elements<'_>>; 2], &mut StorageMut<'_>, &Stream),
    follow: fn(&mut Carries, Elements<'_>, Option<Elements<'_>>, &mut StorageMut<'_>, &Stream),
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

/// How many values are combined before they go past the caches.
const BUFFER: usize = 256;

/// How many blocks run side by side.
pub(super) const ABREAST: usize = 8;

impl Chained {
    /// Of an operator.
    pub(super) fn of<O: Binary<R = <O as Binary>::A>>() -> Chained {
        Chained {
            blocks: blocks::<O>,
            carries: carries::<O>,
            write: write::<O>,
            total: total::<O>,
            run: run::<O>,
            follow: follow::<O>,
        }
    }

    /// Of the addition of floats.
    pub(super) fn sums<O: Binary<A = T, R = T>, T: Summed>() -> Chained {
        #[cfg(target_arch = "x86_64")]
        if crate::isa::has_avx2() {
            return Chained { blocks: summed_blocks::<O, T>, ..Chained::of::<O>() };
        }
        Chained::of::<O>()
    }

    /// Scans blocks of values to a buffer of as many, or those that stand there already.
    pub fn blocks(&self, from: Option<Elements<'_>>, to: &mut Storage) {
        (self.blocks)(from, to);
    }

    /// Scans the ends of the blocks; yields what comes before each, and whether there is something
    /// before the first.
    pub fn carries(&self, state: &mut Carries, of: &Storage, before: &mut Storage) -> bool {
        (self.carries)(state, of, before)
    }

    /// Writes the values of a chunk.
    pub fn write(
        &self,
        values: &Storage,
        carried: &Carried<'_>,
        to: &mut StorageMut<'_>,
        stream: &Stream,
    ) {
        (self.write)(values, carried, to, stream);
    }

    /// What some values come to, at least one; any bracketing may be used.
    pub fn sum(&self, values: Elements<'_>) -> Storage {
        let mut state = Carries::default();
        (self.total)(&mut state, values);
        state.last.expect("there are values")
    }

    /// Adds the total of a chunk to what has gone before it in the row; that.
    pub fn total(&self, state: &mut Carries, total: &Storage) -> Option<Storage> {
        (self.total)(state, total.elements())
    }

    /// Writes the values of a chunk, each combined with all before it in the chunk and with what comes
    /// before that. Zero must change nothing, and any bracketing be allowed.
    pub fn run(
        &self,
        values: Elements<'_>,
        before: [Option<Elements<'_>>; 2],
        to: &mut StorageMut<'_>,
        stream: &Stream,
    ) {
        (self.run)(values, before, to, stream);
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
        (self.follow)(state, values, start, to, stream);
    }
}

/// Combines values with the last of the state, which is yielded as it was.
fn total<O: Binary<R = <O as Binary>::A>>(
    state: &mut Carries,
    values: Elements<'_>,
) -> Option<Storage> {
    let values = <O::A as Lane>::elements(values);
    let (first, rest) = values.split_first()?;
    let sum = rest.iter().fold(*first, |sum, &value| O::apply(sum, value));
    let before = state.last.take();
    let all = match &before {
        Some(before) => O::apply(<O::A as Lane>::storage(before)[0], sum),
        None => sum,
    };
    state.last = Some(<O::A as Lane>::into_storage(vec![all]));
    before
}

fn run<O: Binary<R = <O as Binary>::A>>(
    values: Elements<'_>,
    before: [Option<Elements<'_>>; 2],
    to: &mut StorageMut<'_>,
    stream: &Stream,
) {
    let before = before.into_iter().flatten().map(|before| <O::A as Lane>::elements(before)[0]);
    let first = before.fold(<O::A>::default(), O::apply);
    let to = <O::A as Lane>::slice_mut(to);
    run_from::<O>(first, <O::A as Lane>::elements(values), to, stream);
}

fn follow<O: Binary<R = <O as Binary>::A>>(
    state: &mut Carries,
    values: Elements<'_>,
    start: Option<Elements<'_>>,
    to: &mut StorageMut<'_>,
    stream: &Stream,
) {
    let before = state.last.as_ref().map(|last| <O::A as Lane>::storage(last)[0]);
    let start = start.map(|start| <O::A as Lane>::elements(start)[0]);
    let first = before.or(start).unwrap_or_default();
    let to = <O::A as Lane>::slice_mut(to);
    let last = run_from::<O>(first, <O::A as Lane>::elements(values), to, stream);
    state.last = Some(<O::A as Lane>::into_storage(vec![last]));
}

/// Writes values, each combined with all before it; what they all come to.
fn run_from<O: Binary<R = <O as Binary>::A>>(
    first: O::A,
    values: &[O::A],
    to: &mut [O::A],
    stream: &Stream,
) -> O::A {
    let mut running = first;
    let mut next = |value: O::A| {
        running = O::apply(running, value);
        running
    };
    if !stream.is_past() {
        to.iter_mut().zip(values).for_each(|(to, &value)| *to = next(value));
        return running;
    }
    let mut buffer = [<O::A>::default(); BUFFER];
    for (to, values) in to.chunks_mut(BUFFER).zip(values.chunks(BUFFER)) {
        let buffer = &mut buffer[..values.len()];
        buffer.iter_mut().zip(values).for_each(|(to, &value)| *to = next(value));
        stream.copy(buffer, to);
    }
    running
}

fn blocks<O: Binary<R = <O as Binary>::A>>(from: Option<Elements<'_>>, to: &mut Storage) {
    scan_runs::<O>(from, to, |run| {
        let mut running: [O::A; ABREAST] = std::array::from_fn(|at| run[at][0]);
        for step in 1..TREE {
            for (running, block) in running.iter_mut().zip(run.iter_mut()) {
                *running = O::apply(*running, block[step]);
                block[step] = *running;
            }
        }
    });
}

#[cfg(target_arch = "x86_64")]
fn summed_blocks<O: Binary<A = T, R = T>, T: Summed>(from: Option<Elements<'_>>, to: &mut Storage) {
    scan_runs::<O>(from, to, T::scan);
}

/// Scans blocks, of which `scan` does several at once. They are copied first, in the order of memory:
/// blocks side by side would be read too slowly. While some are scanned, the memory brings those that follow.
#[inline(always)]
fn scan_runs<O: Binary<R = <O as Binary>::A>>(
    from: Option<Elements<'_>>,
    to: &mut Storage,
    scan: impl Fn(&mut [[O::A; TREE]; ABREAST]),
) {
    const RUN: usize = ABREAST * TREE;
    const AHEAD: usize = 2;
    let from = from.map(|from| <O::A as Lane>::elements(from));
    let to = &mut <O::A as Lane>::storage_mut(to)[..];
    for (number, to) in to.chunks_mut(RUN).enumerate() {
        if let Some(from) = from {
            let from = &from[number * RUN..];
            to.copy_from_slice(&from[..to.len()]);
            ask_for(from.chunks(RUN).nth(AHEAD).unwrap_or_default());
        }
        let (blocks, _) = to.as_chunks_mut::<TREE>();
        if let ([run], []) = blocks.as_chunks_mut::<ABREAST>() {
            scan(run);
            continue;
        }
        for block in to.chunks_mut(TREE) {
            let mut running = block[0];
            for value in &mut block[1..] {
                running = O::apply(running, *value);
                *value = running;
            }
        }
    }
}

fn carries<O: Binary<R = <O as Binary>::A>>(
    state: &mut Carries,
    of: &Storage,
    before: &mut Storage,
) -> bool {
    let fresh = || <O::A as Lane>::into_storage(Vec::new());
    let Carries { counts, running, carries, last } = state;
    let running = <O::A as Lane>::storage_mut(running.get_or_insert_with(fresh));
    let carries = <O::A as Lane>::storage_mut(carries.get_or_insert_with(fresh));
    let last = <O::A as Lane>::storage_mut(last.get_or_insert_with(fresh));
    let all = !last.is_empty();
    let of = <O::A as Lane>::storage(of);
    let before = <O::A as Lane>::storage_mut(before);
    before.clear();
    for block in of.chunks(TREE) {
        let end = block[block.len() - 1];
        before.push(last.first().copied().unwrap_or(end));
        last.clear();
        last.push(push::<O>(counts, running, carries, 0, end));
    }
    all
}

/// The scanned value of one more value of a level. Of a level without complete blocks nothing comes
/// before the first.
fn push<O: Binary<R = <O as Binary>::A>>(
    counts: &mut Vec<usize>,
    running: &mut Vec<O::A>,
    carries: &mut Vec<O::A>,
    level: usize,
    value: O::A,
) -> O::A {
    if counts.len() == level {
        counts.push(0);
        running.push(value);
        carries.push(value);
    }
    let place = counts[level] % TREE;
    running[level] = if place == 0 { value } else { O::apply(running[level], value) };
    let scanned = match counts[level] < TREE {
        true => running[level],
        false => O::apply(carries[level], running[level]),
    };
    counts[level] += 1;
    if place + 1 == TREE {
        let value = running[level];
        carries[level] = push::<O>(counts, running, carries, level + 1, value);
    }
    scanned
}

fn write<O: Binary<R = <O as Binary>::A>>(
    values: &Storage,
    carried: &Carried<'_>,
    to: &mut StorageMut<'_>,
    stream: &Stream,
) {
    let values = <O::A as Lane>::storage(values);
    let before = <O::A as Lane>::storage(carried.before);
    let start = carried.start.map(|start| <O::A as Lane>::elements(start)[0]);
    let to = <O::A as Lane>::slice_mut(to);
    let mut buffer = [<O::A>::default(); TREE];
    let blocks = values.chunks(TREE).zip(to.chunks_mut(TREE)).zip(before);
    for (number, ((values, to), &before)) in blocks.enumerate() {
        let buffer = &mut buffer[..values.len()];
        if number > 0 || carried.all {
            for (to, &value) in buffer.iter_mut().zip(values) {
                *to = O::apply(before, value);
            }
        } else {
            buffer.copy_from_slice(values);
        }
        if let Some(start) = start {
            buffer.iter_mut().for_each(|value| *value = O::apply(start, *value));
        }
        stream.copy(buffer, to);
    }
}
