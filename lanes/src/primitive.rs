//! Folds and scans by one common operator on one component, without the block interpreter.

mod chained;
#[cfg(target_arch = "x86_64")]
mod exchange;
mod grouped;
mod rows;
mod versions;

use crate::isa::Slot;
use crate::lanes::{Elements, Frame, GROUP, Lane, Storage, StorageMut};
use crate::operators::Binary;

use chained::Chained;
use grouped::Grouped;
use versions::OverRows;

pub use chained::{Carried, Carries};
pub use grouped::Grouping;
pub use rows::Rows;
pub(crate) use versions::Summed;

/// How many elements are combined from left to right before their result is combined further.
pub const TREE: usize = GROUP;

/// The loops of a commutative operator. Blocks are given by start and length.
#[derive(Clone, Copy, Debug)]
pub struct Primitive {
    fold: fn(Elements<'_>, &[(usize, usize)], &mut Storage),
    scan: fn(&mut Storage, &[(usize, usize)]),
    shift: fn(&mut Storage, &[(usize, usize)], Elements<'_>),
    accumulate: fn(&mut Frame, Slot, &Frame, Slot, usize),
    combine: fn(Elements<'_>, StorageMut<'_>),
    send: fn(&mut Storage, &[i64], Elements<'_>) -> bool,
    send_spread: fn(&mut Storage, &[i64], Elements<'_>) -> bool,
    gather_spread: fn(&mut Storage, &Storage),
    stream: fn(&mut Streams, &[i64], Elements<'_>) -> bool,
    finish: fn(Streams, &mut Storage),
    grouped: Grouped,
    /// The loops of scans of long rows.
    pub chained: Chained,
    /// The loops over rows.
    pub over_rows: OverRows,
    /// Whether any bracketing gives the same bits.
    exact: bool,
    /// Whether zero changes nothing besides.
    pub from_zeros: bool,
}

/// How many copies of an array elements are sent to in turn, so that one does not wait for the one
/// before where both go to the same place.
pub const SPREAD: usize = 4;

/// Folds in progress, one per element of an array: level by level of the tree what the current block
/// has come to.
#[derive(Debug)]
pub struct Streams {
    counts: Vec<u64>,
    levels: Vec<Storage>,
}

impl Streams {
    /// Nothing has come to any of so many elements.
    pub fn new(elements: usize) -> Streams {
        Streams { counts: vec![0; elements], levels: Vec::new() }
    }
}

impl Streams {
    /// Adds what so many values have come to: one of them, or such that begin a block.
    pub(super) fn push<O: Binary<R = <O as Binary>::A>>(
        &mut self,
        at: usize,
        values: usize,
        value: O::A,
    ) {
        let (mut before, mut value) = (self.counts[at], value);
        self.counts[at] += values as u64;
        let mut complete = before % TREE as u64 + values as u64 == TREE as u64;
        for level in 0.. {
            if level == self.levels.len() {
                let zeros = vec![<O::A>::default(); self.counts.len()];
                self.levels.push(<O::A as Lane>::into_storage(zeros));
            }
            let element = &mut <O::A as Lane>::storage_mut(&mut self.levels[level])[at];
            let fresh = before.is_multiple_of(TREE as u64);
            *element = if fresh { value } else { O::apply(*element, value) };
            if !complete {
                break;
            }
            value = *element;
            before /= TREE as u64;
            complete = before % TREE as u64 + 1 == TREE as u64;
        }
    }
}

/// How many whole blocks run side by side, so that one does not wait for its own last result.
const ABREAST: usize = 8;

impl Primitive {
    /// Of an operator.
    pub(crate) fn of<O: Binary<R = <O as Binary>::A>>() -> Primitive {
        Primitive {
            fold: fold::<O>,
            scan: scan::<O>,
            shift: shift::<O>,
            accumulate: accumulate::<O>,
            combine: combine::<O>,
            send: send::<O>,
            send_spread: send_spread::<O>,
            gather_spread: gather_spread::<O>,
            stream: stream::<O>,
            finish: finish::<O>,
            grouped: Grouped::of::<O>(),
            chained: Chained::of::<O>(),
            over_rows: OverRows::in_turn::<O>(),
            exact: false,
            from_zeros: false,
        }
    }

    /// Of an operator to which the bracketing makes no difference.
    pub(crate) fn exact<O: Binary<R = <O as Binary>::A>>() -> Primitive {
        Primitive { over_rows: OverRows::exact::<O>(), exact: true, ..Primitive::of::<O>() }
    }

    /// Of the addition of floats.
    pub(crate) fn sum<O: Binary<A = T, R = T>, T: Summed>() -> Primitive {
        let (over_rows, chained) = (OverRows::sums::<O, T>(), Chained::sums::<O, T>());
        Primitive { over_rows, chained, ..Primitive::of::<O>() }
    }

    /// Of an operator on integers or truth values to which zero is neutral.
    pub(crate) fn from_zeros<O: Binary<R = <O as Binary>::A>>() -> Primitive {
        Primitive { from_zeros: true, ..Primitive::exact::<O>() }
    }

    /// Folds each block.
    pub fn fold(&self, values: Elements<'_>, blocks: &[(usize, usize)], results: &mut Storage) {
        (self.fold)(values, blocks, results);
    }

    /// Scans each block in place.
    pub fn scan(&self, values: &mut Storage, blocks: &[(usize, usize)]) {
        (self.scan)(values, blocks);
    }

    /// Combines each element of block i with carry i, which comes first.
    pub fn shift(&self, values: &mut Storage, blocks: &[(usize, usize)], carries: Elements<'_>) {
        (self.shift)(values, blocks, carries);
    }

    /// Combines the lanes of a register with those of another frame's.
    pub fn accumulate(
        &self,
        accumulator: &mut Frame,
        slot: Slot,
        from: &Frame,
        value: Slot,
        count: usize,
    ) {
        (self.accumulate)(accumulator, slot, from, value, count);
    }

    /// Combines elements pairwise, in place of the later ones; or one with each of them.
    pub fn combine(&self, earlier: Elements<'_>, later: StorageMut<'_>) {
        (self.combine)(earlier, later);
    }

    /// Combines elements with those that are sent to them, in order; one that is sent to -1 is
    /// dropped. Whether all other targets exist.
    pub fn send(&self, to: &mut Storage, targets: &[i64], from: Elements<'_>) -> bool {
        (self.send)(to, targets, from)
    }

    /// As [`Primitive::send`], to [`SPREAD`] copies of the array in turn; one element alone is sent to
    /// all targets.
    pub fn send_spread(&self, to: &mut Storage, targets: &[i64], from: Elements<'_>) -> bool {
        (self.send_spread)(to, targets, from)
    }

    /// Combines elements with those of all copies.
    pub fn gather_spread(&self, to: &mut Storage, copies: &Storage) {
        (self.gather_spread)(to, copies);
    }

    /// As [`Primitive::send`], in the tree of a fold.
    pub fn stream(&self, to: &mut Streams, targets: &[i64], from: Elements<'_>) -> bool {
        (self.stream)(to, targets, from)
    }

    /// Combines elements with what the folds have come to.
    pub fn finish(&self, streams: Streams, to: &mut Storage) {
        (self.finish)(streams, to);
    }
}

/// Splits blocks into runs of [`ABREAST`] whole ones and single ones.
fn runs(blocks: &[(usize, usize)]) -> impl Iterator<Item = &[(usize, usize)]> {
    let mut rest = blocks;
    std::iter::from_fn(move || {
        let whole = rest.iter().take(ABREAST).take_while(|block| block.1 == TREE).count();
        let length = if whole == ABREAST { ABREAST } else { rest.len().min(1) };
        let (run, after) = rest.split_at(length);
        rest = after;
        (!run.is_empty()).then_some(run)
    })
}

fn fold<O: Binary<R = <O as Binary>::A>>(
    values: Elements<'_>,
    blocks: &[(usize, usize)],
    results: &mut Storage,
) {
    let values = <O::A as Lane>::elements(values);
    let results = <O::A as Lane>::storage_mut(results);
    let whole = |block: usize| -> &[O::A; TREE] {
        values[blocks[block].0..].first_chunk().expect("a whole block")
    };
    // Whole blocks side by side, wherever they lie; then the others.
    let mut waiting = [0; ABREAST];
    let (mut count, mut others) = (0, Vec::new());
    for (at, block) in blocks.iter().enumerate() {
        if block.1 < TREE {
            others.push(at);
            continue;
        }
        waiting[count] = at;
        count += 1;
        if count == ABREAST {
            count = 0;
            let folded = abreast::<O>(waiting.map(whole));
            for (at, folded) in waiting.into_iter().zip(folded) {
                results[at] = folded;
            }
        }
    }
    others.extend(&waiting[..count]);
    for others in others.chunks(ABREAST) {
        let of = |at: &usize| &values[blocks[*at].0..][..blocks[*at].1];
        let shortest = others.iter().map(|at| blocks[*at].1).min().unwrap_or(0);
        let mut folded: [O::A; ABREAST] = std::array::from_fn(|lane| match others.get(lane) {
            Some(at) => of(at)[0],
            None => <O::A>::default(),
        });
        for step in 1..shortest {
            for (folded, at) in folded.iter_mut().zip(others) {
                *folded = O::apply(*folded, of(at)[step]);
            }
        }
        for (folded, at) in folded.into_iter().zip(others) {
            let rest = of(at)[shortest.max(1)..].iter();
            results[*at] = rest.fold(folded, |a, &b| O::apply(a, b));
        }
    }
}

/// Folds some blocks, so that none waits for its own last result.
#[inline(always)]
pub(super) fn abreast<O: Binary<R = <O as Binary>::A>>(
    blocks: [&[O::A; TREE]; ABREAST],
) -> [O::A; ABREAST] {
    let mut folded: [O::A; ABREAST] = std::array::from_fn(|at| blocks[at][0]);
    for step in 1..TREE {
        for (folded, block) in folded.iter_mut().zip(blocks) {
            *folded = O::apply(*folded, block[step]);
        }
    }
    folded
}

fn scan<O: Binary<R = <O as Binary>::A>>(values: &mut Storage, blocks: &[(usize, usize)]) {
    let values = <O::A as Lane>::storage_mut(values);
    for run in runs(blocks) {
        let adjacent = run.windows(2).all(|pair| pair[0].0 + TREE == pair[1].0);
        if run.len() == ABREAST && adjacent {
            let start = run[0].0;
            let (lanes, _) = values[start..start + ABREAST * TREE].as_chunks_mut::<TREE>();
            let mut running: [O::A; ABREAST] = std::array::from_fn(|at| lanes[at][0]);
            for step in 1..TREE {
                for (running, lane) in running.iter_mut().zip(lanes.iter_mut()) {
                    *running = O::apply(*running, lane[step]);
                    lane[step] = *running;
                }
            }
        } else {
            for &(start, length) in run {
                let block = &mut values[start..start + length];
                let mut running = block[0];
                for value in &mut block[1..] {
                    running = O::apply(running, *value);
                    *value = running;
                }
            }
        }
    }
}

fn shift<O: Binary<R = <O as Binary>::A>>(
    values: &mut Storage,
    blocks: &[(usize, usize)],
    carries: Elements<'_>,
) {
    let values = <O::A as Lane>::storage_mut(values);
    for (&(start, length), &carry) in blocks.iter().zip(<O::A as Lane>::elements(carries)) {
        for value in &mut values[start..start + length] {
            *value = O::apply(carry, *value);
        }
    }
}

fn accumulate<O: Binary<R = <O as Binary>::A>>(
    accumulator: &mut Frame,
    slot: Slot,
    from: &Frame,
    value: Slot,
    count: usize,
) {
    let values = &<O::A as Lane>::file(from)[value.index as usize];
    let register = &mut <O::A as Lane>::file_mut(accumulator)[slot.index as usize];
    for (at, group) in register[..count.div_ceil(GROUP)].iter_mut().enumerate() {
        let values = &values[at * value.step()].0;
        for (lane, &value) in group.0.iter_mut().zip(values) {
            *lane = O::apply(*lane, value);
        }
    }
}

fn combine<O: Binary<R = <O as Binary>::A>>(earlier: Elements<'_>, mut later: StorageMut<'_>) {
    let earlier = <O::A as Lane>::elements(earlier);
    let later = <O::A as Lane>::slice_mut(&mut later);
    if let &[same] = earlier {
        for later in later {
            *later = O::apply(same, *later);
        }
        return;
    }
    for (later, &earlier) in later.iter_mut().zip(earlier) {
        *later = O::apply(earlier, *later);
    }
}

fn send<O: Binary<R = <O as Binary>::A>>(
    to: &mut Storage,
    targets: &[i64],
    from: Elements<'_>,
) -> bool {
    let to = &mut <O::A as Lane>::storage_mut(to)[..];
    let mut inside = true;
    for (&target, &value) in targets.iter().zip(<O::A as Lane>::elements(from)) {
        match to.get_mut(target as usize) {
            Some(to) => *to = O::apply(*to, value),
            None => inside &= target == -1,
        }
    }
    inside
}

fn send_spread<O: Binary<R = <O as Binary>::A>>(
    to: &mut Storage,
    targets: &[i64],
    from: Elements<'_>,
) -> bool {
    let to = &mut <O::A as Lane>::storage_mut(to)[..];
    match <O::A as Lane>::elements(from) {
        &[same] => send_each::<O>(to, targets, |_| same),
        from => {
            let from = &from[..targets.len()];
            send_each::<O>(to, targets, |at| from[at])
        }
    }
}

/// As [`Primitive::send_spread`], of the value for each target.
#[inline(always)]
fn send_each<O: Binary<R = <O as Binary>::A>>(
    to: &mut [O::A],
    targets: &[i64],
    value: impl Fn(usize) -> O::A,
) -> bool {
    let mut rest = to;
    let elements = rest.len() / SPREAD;
    let mut copies: [&mut [O::A]; SPREAD] =
        std::array::from_fn(|_| rest.split_off_mut(..elements).unwrap_or_default());
    let mut inside = true;
    let mut send = |copy: &mut [O::A], target: i64, at: usize| match copy.get_mut(target as usize) {
        Some(to) => *to = O::apply(*to, value(at)),
        None => inside &= target == -1,
    };
    let (whole, last) = targets.as_chunks::<SPREAD>();
    for (number, targets) in whole.iter().enumerate() {
        for (lane, copy) in copies.iter_mut().enumerate() {
            send(copy, targets[lane], number * SPREAD + lane);
        }
    }
    for (copy, (&target, at)) in copies.iter_mut().zip(last.iter().zip(whole.len() * SPREAD..)) {
        send(copy, target, at);
    }
    inside
}

fn gather_spread<O: Binary<R = <O as Binary>::A>>(to: &mut Storage, copies: &Storage) {
    let to = <O::A as Lane>::storage_mut(to);
    for copy in <O::A as Lane>::storage(copies).chunks_exact(to.len().max(1)) {
        for (to, &value) in to.iter_mut().zip(copy) {
            *to = O::apply(*to, value);
        }
    }
}

fn stream<O: Binary<R = <O as Binary>::A>>(
    to: &mut Streams,
    targets: &[i64],
    from: Elements<'_>,
) -> bool {
    let Streams { counts, levels } = to;
    if levels.is_empty() {
        levels.push(<O::A as Lane>::into_storage(vec![<O::A>::default(); counts.len()]));
    }
    let mut inside = true;
    let first = &mut <O::A as Lane>::storage_mut(&mut levels[0])[..counts.len()];
    let mut complete = Vec::new();
    for (&target, &value) in targets.iter().zip(<O::A as Lane>::elements(from)) {
        let at = target as usize;
        let Some(count) = counts.get_mut(at) else {
            inside &= target == -1;
            continue;
        };
        let place = *count % TREE as u64;
        *count += 1;
        let element = &mut first[at];
        *element = if place == 0 { value } else { O::apply(*element, value) };
        if place + 1 == TREE as u64 {
            complete.push((at, *count / TREE as u64, *element));
        }
    }
    // What whole blocks have come to goes up.
    for (at, number, value) in complete {
        let (mut before, mut value) = (number - 1, value);
        for level in 1.. {
            if level == levels.len() {
                levels.push(<O::A as Lane>::into_storage(vec![<O::A>::default(); counts.len()]));
            }
            let element = &mut <O::A as Lane>::storage_mut(&mut levels[level])[at];
            let place = before % TREE as u64;
            *element = if place == 0 { value } else { O::apply(*element, value) };
            if place + 1 < TREE as u64 {
                break;
            }
            value = *element;
            before /= TREE as u64;
        }
    }
    inside
}

fn finish<O: Binary<R = <O as Binary>::A>>(streams: Streams, to: &mut Storage) {
    let Streams { counts, levels } = streams;
    let to = <O::A as Lane>::storage_mut(to);
    for (at, (to, count)) in to.iter_mut().zip(counts).enumerate() {
        let mut rest = count;
        let mut carry = None;
        for level in &levels {
            let element = <O::A as Lane>::storage(level)[at];
            if rest % TREE as u64 > 0 {
                carry = Some(carry.map_or(element, |carry| O::apply(element, carry)));
            }
            rest /= TREE as u64;
        }
        if let Some(carry) = carry {
            *to = O::apply(*to, carry);
        }
    }
}
