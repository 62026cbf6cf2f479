//! Elements that are sent to places, where they are combined with what is there.

use crate::lanes::{Elements, Lane, Storage};
use crate::operators::Binary;

use super::kernels::Kernels;
use super::{Primitive, TREE, with_kernels};

/// How many copies of an array elements are sent to in turn, so that one does not wait for the one
/// before where both go to the same place.
pub const SPREAD: usize = 4;

/// Combines elements with those that are sent to them. Whether all targets exist or are -1.
pub(super) type Send<T> = fn(&mut [T], &[i64], &[T]) -> bool;

/// As [`Send`], to folds in progress.
pub(super) type Streaming<T> = fn(&mut Streams, &[i64], &[T]) -> bool;

/// Folds in progress, one per element of an array: level by level of the tree what the current block
/// has come to. Where any bracketing gives the same bits, there is one level.
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

    /// Of a level, for each element what its block has come to.
    fn level<T: Lane>(&mut self, level: usize) -> &mut [T] {
        while self.levels.len() <= level {
            self.levels.push(T::into_storage(vec![T::default(); self.counts.len()]));
        }
        T::storage_mut(&mut self.levels[level])
    }

    /// Adds what so many values have come to: one of them, or such that begin a block.
    pub(super) fn push<T: Lane>(
        &mut self,
        kernels: &Kernels<T>,
        at: usize,
        values: usize,
        value: T,
    ) {
        let (mut before, mut value) = (self.counts[at], value);
        self.counts[at] += values as u64;
        let mut complete = before % TREE as u64 + values as u64 == TREE as u64;
        for level in 0.. {
            let fresh = match kernels.exact {
                true => before == 0,
                false => before.is_multiple_of(TREE as u64),
            };
            let element = &mut self.level::<T>(level)[at];
            *element = if fresh { value } else { (kernels.apply)(*element, value) };
            if !complete || kernels.exact {
                break;
            }
            value = *element;
            before /= TREE as u64;
            complete = before % TREE as u64 + 1 == TREE as u64;
        }
    }

    /// As [`Streams::push`] of each of some values, none of which goes past the block that the first belongs to;
    /// where the bracketing matters.
    pub(super) fn push_each<T: Lane>(&mut self, kernels: &Kernels<T>, at: usize, values: &[T]) {
        let [first, rest @ .., last] = values else {
            values.iter().for_each(|&value| self.push(kernels, at, 1, value));
            return;
        };
        let fresh = self.counts[at].is_multiple_of(TREE as u64);
        let element = &mut self.level::<T>(0)[at];
        let begun = if fresh { *first } else { (kernels.apply)(*element, *first) };
        *element = rest.iter().fold(begun, |running, &value| (kernels.apply)(running, value));
        self.counts[at] += values.len() as u64 - 1;
        // The last may complete the block.
        self.push(kernels, at, 1, *last);
    }
}

impl Primitive {
    /// Combines elements with those that are sent to them, in order; one that is sent to -1 is
    /// dropped. Whether all other targets exist.
    pub fn send(&self, to: &mut Storage, targets: &[i64], from: Elements<'_>) -> bool {
        with_kernels!(self, T, kernels => {
            (kernels.send)(T::storage_mut(to), targets, T::elements(from))
        })
    }

    /// As [`Primitive::send`], to [`SPREAD`] copies of the array in turn; one element alone is sent to
    /// all targets. There must be [`Primitive::copies`].
    pub fn send_spread(&self, to: &mut Storage, targets: &[i64], from: Elements<'_>) -> bool {
        with_kernels!(self, T, kernels => {
            let (_, send_spread) = kernels.copies.expect("there may be copies");
            send_spread(T::storage_mut(to), targets, T::elements(from))
        })
    }

    /// Combines elements with those of all copies.
    pub fn gather_spread(&self, to: &mut Storage, copies: &Storage) {
        with_kernels!(self, T, kernels => {
            let to = T::storage_mut(to);
            for copy in T::storage(copies).chunks_exact(to.len().max(1)) {
                (kernels.combine)(copy, to);
            }
        });
    }

    /// As [`Primitive::send`], in the tree of a fold.
    pub fn stream(&self, to: &mut Streams, targets: &[i64], from: Elements<'_>) -> bool {
        with_kernels!(self, T, kernels => (kernels.stream)(to, targets, T::elements(from)))
    }

    /// Combines elements, from the first one on, with what the folds have come to.
    pub fn finish(&self, streams: Streams, to: &mut Storage, first: usize) {
        with_kernels!(self, T, kernels => {
            finish::<T>(kernels, streams, &mut T::storage_mut(to)[first..]);
        });
    }
}

fn finish<T: Lane>(kernels: &Kernels<T>, streams: Streams, to: &mut [T]) {
    let Streams { counts, levels } = streams;
    for (at, (to, count)) in to.iter_mut().zip(counts).enumerate() {
        let mut rest = count;
        let mut carry = None;
        for level in &levels {
            let element = T::storage(level)[at];
            if rest % TREE as u64 > 0 || kernels.exact && rest > 0 {
                carry = Some(carry.map_or(element, |carry| (kernels.apply)(element, carry)));
            }
            rest /= TREE as u64;
        }
        if let Some(carry) = carry {
            *to = (kernels.apply)(*to, carry);
        }
    }
}

/// See [`Primitive::send`].
pub(super) fn send<O: Binary<R = <O as Binary>::A>>(
    to: &mut [O::A],
    targets: &[i64],
    from: &[O::A],
) -> bool {
    let mut inside = true;
    for (&target, &value) in targets.iter().zip(from) {
        match to.get_mut(target as usize) {
            Some(to) => *to = O::apply(*to, value),
            None => inside &= target == -1,
        }
    }
    inside
}

/// See [`Primitive::send_spread`].
pub(super) fn send_spread<O: Binary<R = <O as Binary>::A>>(
    to: &mut [O::A],
    targets: &[i64],
    from: &[O::A],
) -> bool {
    match from {
        &[same] => send_each::<O>(to, targets, |_| same),
        from => {
            let from = &from[..targets.len()];
            send_each::<O>(to, targets, |at| from[at])
        }
    }
}

/// As [`send_spread`], of the value for each target.
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

/// See [`Primitive::stream`].
pub(super) fn stream<O: Binary<R = <O as Binary>::A>>(
    to: &mut Streams,
    targets: &[i64],
    from: &[O::A],
) -> bool {
    to.level::<O::A>(0);
    let Streams { counts, levels } = to;
    let mut inside = true;
    let first = &mut <O::A as Lane>::storage_mut(&mut levels[0])[..counts.len()];
    let mut complete = Vec::new();
    for (&target, &value) in targets.iter().zip(from) {
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
            let element = &mut to.level::<O::A>(level)[at];
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

/// As [`stream`], where any bracketing gives the same bits.
pub(super) fn stream_exact<O: Binary<R = <O as Binary>::A>>(
    to: &mut Streams,
    targets: &[i64],
    from: &[O::A],
) -> bool {
    to.level::<O::A>(0);
    let Streams { counts, levels } = to;
    let mut inside = true;
    let level = &mut <O::A as Lane>::storage_mut(&mut levels[0])[..counts.len()];
    for (&target, &value) in targets.iter().zip(from) {
        let at = target as usize;
        let Some(count) = counts.get_mut(at) else {
            inside &= target == -1;
            continue;
        };
        let element = &mut level[at];
        *element = if *count == 0 { value } else { O::apply(*element, value) };
        *count += 1;
    }
    inside
}
