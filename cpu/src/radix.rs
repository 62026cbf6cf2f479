//! Stable sorting by keys of bits, with several threads.
//!
//! Note [One pass over memory]. The highest digit in which keys differ tells the bucket of an item.
//! Every thread counts the digits of a part of the items; from all counts follows where each part's
//! items of each bucket go, and every thread moves its part there. That is the only time that items
//! go far: a bucket fits into a cache, where one thread sorts it ([`bucket`]). A bucket that holds a
//! large share of all items is sorted like the whole, by all threads, before the others.
#![allow(unsafe_code)]

mod bucket;

use std::ops::Range;
use std::sync::Mutex;

use weft_ir::Recycle as _;

use crate::execute::Halt;
use crate::lanes::Lane;
use crate::pages;
use crate::pool::Pool;
use crate::workers::{Workers, lock};
use bucket::sort_bucket;

/// The bits of the digit that tells the bucket.
const DIGIT: u32 = 11;

/// Below so many items one thread sorts alone.
const PARALLEL: usize = 1 << 16;

/// About how many items of adjacent buckets a thread sorts at a time.
const CLAIM: usize = 1 << 14;

/// What is sorted.
pub(crate) trait Item: Copy + Default + Send + Sync {
    /// Room for so many; they may be anything.
    fn room(length: usize, pool: &Pool) -> Vec<Self>;

    /// What is no longer needed.
    fn give_back(room: Vec<Self>, pool: &Pool);
}

macro_rules! lane_items {
    ($($rust:ty)*) => {$(
        impl Item for $rust {
            fn room(length: usize, pool: &Pool) -> Vec<$rust> {
                let mut room = pool.take(<$rust as Lane>::TYPE, length);
                std::mem::take(<$rust as Lane>::storage_mut(&mut room))
            }

            fn give_back(room: Vec<$rust>, pool: &Pool) {
                pool.recycle(room);
            }
        }
    )*};
}
lane_items!(u32 u64);

/// A key, and where it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Long(pub(crate) u64, pub(crate) u64);

impl Item for Long {
    fn room(length: usize, _pool: &Pool) -> Vec<Long> {
        let room = vec![Long::default(); length];
        pages::prefer_huge_slice(&room);
        room
    }

    fn give_back(_room: Vec<Long>, _pool: &Pool) {}
}

/// What is sorted, and what becomes of it.
#[derive(Clone, Copy)]
pub(crate) struct Sorting<Of, Key, Convert> {
    /// The item at a position.
    pub(crate) of: Of,
    /// The key of an item.
    pub(crate) key: Key,
    /// What an item is in the result.
    pub(crate) convert: Convert,
}

/// Sorts as many items as there are places, and puts what becomes of them there.
pub(crate) fn sort<E: Item, R: Send>(
    sorting: &Sorting<impl Fn(usize) -> E + Sync, impl Fn(E) -> u64 + Sync, impl Fn(E) -> R + Sync>,
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let source = Made(&sorting.of);
    sort_from(&source, &sorting.key, &sorting.convert, places, workers, poll)
}

/// Where items come from.
trait Source<E>: Sync {
    /// The item at a position.
    fn at(&self, position: usize) -> E;
}

/// Made when they are asked for.
struct Made<'a, Of>(&'a Of);

impl<E, Of: Fn(usize) -> E + Sync> Source<E> for Made<'_, Of> {
    fn at(&self, position: usize) -> E {
        (self.0)(position)
    }
}

/// Stored.
struct Stored<'a, E>(&'a [E]);

impl<E: Item> Source<E> for Stored<'_, E> {
    fn at(&self, position: usize) -> E {
        self.0[position]
    }
}

fn sort_from<E: Item, R: Send>(
    source: &impl Source<E>,
    key: &(impl Fn(E) -> u64 + Sync),
    convert: &(impl Fn(E) -> R + Sync),
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let length = places.len();
    if length == 0 {
        return Ok(());
    }
    let parts = if length < PARALLEL { 1 } else { workers.threads() };
    let part = length.div_ceil(parts);
    let ranges = || (0..length).step_by(part).map(|start| start..length.min(start + part));
    let parallel = parts > 1;
    let first = key(source.at(0));
    let differing = Mutex::new(0);
    workers.each(
        parallel,
        ranges(),
        || (),
        |(), range| {
            let bits = range.fold(0, |bits, at| bits | (key(source.at(at)) ^ first));
            *lock(&differing) |= bits;
            Ok(())
        },
    )?;
    let differing = *lock(&differing);
    if differing == 0 {
        places.iter_mut().enumerate().for_each(|(at, place)| *place = convert(source.at(at)));
        return Ok(());
    }
    poll()?;
    let shift = (u64::BITS - differing.leading_zeros()).saturating_sub(DIGIT);
    let digit = |item: E| (key(item) >> shift) as usize & ((1 << DIGIT) - 1);
    let mut items = E::room(length, workers.memory());
    let ends = distribute(&ranges().collect::<Vec<_>>(), source, &digit, &mut items, workers)?;
    poll()?;
    let mut large = Vec::new();
    let mut claims = Vec::new();
    {
        let most = (length / (2 * parts)).max(PARALLEL);
        let (mut items, mut places) = (&mut items[..], &mut places[..]);
        let mut start = 0;
        let mut take = |until: &mut usize, end: usize, alone: bool| {
            let count = end - *until;
            *until = end;
            let taken = items.split_off_mut(..count).zip(places.split_off_mut(..count));
            let to = if alone { &mut large } else { &mut claims };
            to.extend(taken.filter(|_| count > 0));
        };
        let mut before = 0;
        for &end in &ends {
            if end - before > most {
                take(&mut start, before, false);
                take(&mut start, end, true);
            } else if end - start >= CLAIM {
                take(&mut start, end, false);
            }
            before = end;
        }
        take(&mut start, length, false);
    }
    for (items, places) in large {
        sort_from(&Stored(&*items), key, convert, places, workers, poll)?;
    }
    let below = (1_u64 << shift) - 1;
    workers.each(parallel, claims.into_iter(), Vec::new, |scratch, (items, places)| {
        poll()?;
        let mut start = 0;
        for bucket in items.chunk_by_mut(|&a, &b| digit(a) == digit(b)) {
            sort_bucket(bucket, key, below, scratch);
            for (place, &item) in places[start..].iter_mut().zip(&*bucket) {
                *place = convert(item);
            }
            start += bucket.len();
        }
        Ok(())
    })?;
    E::give_back(items, workers.memory());
    Ok(())
}

/// Moves items to their buckets; where each bucket ends.
fn distribute<E: Item>(
    ranges: &[Range<usize>],
    source: &impl Source<E>,
    digit: &(impl Fn(E) -> usize + Sync),
    to: &mut [E],
    workers: &Workers,
) -> Result<Vec<usize>, Halt> {
    let parallel = ranges.len() > 1;
    let mut counts = vec![vec![0_usize; 1 << DIGIT]; ranges.len()];
    workers.each(
        parallel,
        ranges.iter().zip(&mut counts),
        || (),
        |(), (range, counts)| {
            range.clone().for_each(|at| counts[digit(source.at(at))] += 1);
            Ok(())
        },
    )?;
    let mut sum = 0;
    let mut ends = Vec::with_capacity(1 << DIGIT);
    for digit in 0..1 << DIGIT {
        for counts in &mut counts {
            sum += std::mem::replace(&mut counts[digit], sum);
        }
        ends.push(sum);
    }
    assert!(sum == to.len(), "a place for every item");
    let length = to.len();
    let places = Places(to.as_mut_ptr());
    let places = &places;
    workers.each(
        parallel,
        ranges.iter().zip(&mut counts),
        || (),
        |(), (range, starts)| {
            for at in range.clone() {
                let item = source.at(at);
                let place = &mut starts[digit(item)];
                assert!(*place < length, "a place for every item");
                // SAFETY: the place lies within `to`, which nobody else uses meanwhile. Each part has
                // from its start on as many places for a digit as it was counted to have items of it,
                // and `source` and `digit` are functions of arrays that do not change: so no two items get
                // the same place.
                unsafe { places.0.add(*place).write(item) };
                *place += 1;
            }
            Ok(())
        },
    )?;
    Ok(ends)
}

/// Where several threads write, each to places of its own.
struct Places<E>(*mut E);

// SAFETY: only `distribute` uses the pointer, which gives no place to two threads.
unsafe impl<E: Send> Sync for Places<E> {}

#[cfg(test)]
mod tests {
    use super::{Item, Long, Sorting, sort};
    use crate::workers::Workers;

    fn noise(at: usize) -> u64 {
        (at as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(23)
            .wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    fn check<E: Item + PartialEq + std::fmt::Debug>(
        of: impl Fn(usize) -> E + Sync,
        key: impl Fn(E) -> u64 + Sync,
    ) {
        for threads in [1, 3] {
            let workers = Workers::new(threads);
            for length in [0, 1, 2, 100, 1000, 5000, 70_000, 300_000] {
                let mut expected: Vec<E> = (0..length).map(&of).collect();
                expected.sort_by_key(|item| key(*item));
                let mut sorted = vec![E::default(); length];
                let sorting = Sorting { of: &of, key: &key, convert: |item: E| item };
                sort(&sorting, &mut sorted, &workers, &|| Ok(())).expect("nothing stops it");
                assert!(sorted == expected, "{length} items, {threads} threads");
            }
        }
    }

    #[test]
    fn keys_alone() {
        check(|at| noise(at) as u32, u64::from);
        check(noise, |item| item);
        check(|at| (at % 3) as u32, u64::from);
        check(|_| 7_u64, |item| item);
        check(|at| at as u64, |item| item);
        check(|at| u64::MAX - at as u64, |item| item);
    }

    #[test]
    fn keys_that_share_most_bits() {
        // One key far from all others, and keys that differ in few bits far apart.
        check(|at| if at == 500 { u64::MAX } else { noise(at) >> 40 }, |item| item);
        check(|at| noise(at) & 0x8000_0000_0000_0001, |item| item);
        check(|at| noise(at) & 0xff00_0000_00ff_0000, |item| item);
        // The exponents of floats between zero and one: half of all are the same.
        let float = |at: usize| ((noise(at) >> 11) as f64 / (1_u64 << 53) as f64).to_bits();
        check(float, |item| item);
    }

    #[test]
    fn equal_keys_stay_in_order() {
        check(|at| (noise(at) % 100) << 32 | at as u64, |item| item >> 32);
        check(|at| Long(noise(at) >> 60 << 60, at as u64), |item| item.0);
        check(|at| Long(noise(at) % 1000 * 0x0100_0000_0001, at as u64), |item| item.0);
    }
}
