//! Stable sorting by keys of bits, with several threads.
//!
//! Note [One pass over memory]. The highest digit in which keys differ tells the bucket of an item.
//! Every thread counts the digits of a part of the items; from all counts follows where each part's
//! items of each bucket go, and every thread moves its part there. That is the only time that items
//! go far: a bucket fits into a cache, where one thread sorts it ([`bucket`]). A bucket that holds
//! a large share of all items is sorted like the whole, by all threads, before the others.
//!
//! Where items are their own keys, or hold their position behind the key, and the machine has AVX-512, they are
//! compared instead ([`quick`]). Where they are in order already, or two parts of them are, they are merged ([`merge`]).
#![allow(unsafe_code)]

mod bucket;
pub(crate) mod counting;
mod merge;
#[cfg(target_arch = "x86_64")]
mod network;
mod quick;
#[cfg(target_arch = "x86_64")]
mod vector;

use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Mutex;

use weft_ir::Recycle as _;

use crate::execute::Halt;
use crate::lanes::Lane;
use crate::pages;
use crate::pool::Pool;
use crate::shape::Shape;
use crate::workers::{Workers, lock};
use bucket::sort_bucket;
pub(crate) use quick::Vectors;

/// The bits of the digit that tells the bucket.
const DIGIT: u32 = 11;

/// Below so many items one thread sorts alone.
pub(crate) const PARALLEL: usize = 1 << 16;

/// About how many items of adjacent buckets a thread sorts at a time.
const CLAIM: usize = 1 << 14;

/// Rows below this length are sorted by comparison where there are no vectors.
const SHORT_ROW: usize = 256;

/// One of several rows is sorted by all threads from this length on.
const LONG_ROW: usize = 1 << 18;

/// What is sorted.
pub(crate) trait Item: Copy + Default + Ord + Send + Sync {
    /// Room for so many; they may be anything.
    fn room(length: usize, pool: &Pool) -> Vec<Self>;

    /// What is no longer needed.
    fn give_back(room: Vec<Self>, pool: &Pool);

    /// What sorts them in vectors, if the machine has any.
    fn vectors() -> Option<Vectors<Self>>;
}

macro_rules! lane_items {
    ($($rust:ident $vectors:ident)*) => {$(
        impl Item for $rust {
            fn room(length: usize, pool: &Pool) -> Vec<$rust> {
                let mut room = pool.take(<$rust as Lane>::TYPE, length);
                std::mem::take(<$rust as Lane>::storage_mut(&mut room))
            }

            fn give_back(room: Vec<$rust>, pool: &Pool) {
                pool.recycle(room);
            }

            fn vectors() -> Option<Vectors<$rust>> {
                Vectors::$vectors()
            }
        }
    )*};
}
lane_items!(u32 words u64 doubles);

/// A key, and where it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Long(pub(crate) u64, pub(crate) u64);

impl Item for Long {
    fn room(length: usize, _pool: &Pool) -> Vec<Long> {
        let room = vec![Long::default(); length];
        pages::prefer_huge_slice(&room);
        room
    }

    fn give_back(_room: Vec<Long>, _pool: &Pool) {}

    fn vectors() -> Option<Vectors<Long>> {
        None
    }
}

/// How an item is looked at: by a key of bits.
///
/// The kinds are few, so that the sort is compiled for few; what makes items and what is made of
/// them comes in blocks.
pub(crate) trait Key {
    /// What is sorted.
    type Item: Item;

    /// The key of an item.
    fn of(item: Self::Item) -> u64;
}

/// The item is its key.
pub(crate) struct Whole<E>(PhantomData<E>);

impl<E: Item + Into<u64>> Key for Whole<E> {
    type Item = E;

    fn of(item: E) -> u64 {
        item.into()
    }
}

/// The upper half is the key; the lower one rises with the position, so that the order of items is
/// that of their keys, and among equal ones that of positions.
pub(crate) struct Upper;

impl Key for Upper {
    type Item = u64;

    fn of(item: u64) -> u64 {
        item >> 32
    }
}

/// The first of a pair is the key.
pub(crate) struct First;

impl Key for First {
    type Item = Long;

    fn of(item: Long) -> u64 {
        item.0
    }
}

/// What is sorted, and what becomes of it.
#[derive(Clone, Copy)]
pub(crate) struct Sorting<Of, Convert> {
    /// The item at a position.
    pub(crate) of: Of,
    /// What an item is in the result.
    pub(crate) convert: Convert,
}

/// Sorts as many items as there are places, and puts what becomes of them there.
pub(crate) fn sort<K: Key, R: Send>(
    sorting: &Sorting<impl Fn(usize) -> K::Item + Sync, impl Fn(K::Item) -> R + Sync>,
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    sort_with::<K, R>(K::Item::vectors(), sorting, places, workers, poll)
}

/// As [`sort`], with these vectors, or by digits.
fn sort_with<K: Key, R: Send>(
    vectors: Option<Vectors<K::Item>>,
    sorting: &Sorting<impl Fn(usize) -> K::Item + Sync, impl Fn(K::Item) -> R + Sync>,
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let made = |start: usize, items: &mut [K::Item]| {
        items.iter_mut().zip(start..).for_each(|(item, at)| *item = (sorting.of)(at));
    };
    let convert = |items: &[K::Item], places: &mut [R]| {
        places.iter_mut().zip(items).for_each(|(place, &item)| *place = (sorting.convert)(item));
    };
    sort_blocks::<K, R>(vectors, &made, &convert, places, workers, poll)
}

/// Sorts what is made of each element of an array, as many as there are places.
pub(crate) fn sort_elements<K: Key, A: Copy + Sync, R: Send>(
    elements: &[A],
    item: impl Fn(A) -> K::Item + Sync,
    convert: impl Fn(K::Item) -> R + Sync,
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    if let Some(middle) = merge::runs(elements, &item) {
        let (left, right) = elements.split_at(middle);
        return merge::merge([left, right], &item, &convert, places, workers, poll);
    }
    let made = |start: usize, items: &mut [K::Item]| {
        items.iter_mut().zip(&elements[start..]).for_each(|(place, &of)| *place = item(of));
    };
    let convert = |items: &[K::Item], places: &mut [R]| {
        places.iter_mut().zip(items).for_each(|(place, &item)| *place = convert(item));
    };
    sort_blocks::<K, R>(K::Item::vectors(), &made, &convert, places, workers, poll)
}

fn sort_blocks<K: Key, R: Send>(
    vectors: Option<Vectors<K::Item>>,
    source: Source<'_, K::Item>,
    convert: Convert<'_, K::Item, R>,
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    match vectors {
        Some(vectors) => quick::sort(vectors, source, convert, places, workers, poll),
        None => sort_from::<K, R>(source, convert, places, workers, poll),
    }
}

/// As [`sort_elements`], row by row, for keys that are whole items.
pub(crate) fn sort_rows<K: Key, A: Copy + Sync, R: Send>(
    elements: &[A],
    item: impl Fn(A) -> K::Item + Sync,
    convert: impl Fn(K::Item) -> R + Sync,
    places: &mut [R],
    shape: &Shape<'_>,
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let parallel = places.len() >= PARALLEL;
    let mut claims = Vec::new();
    let mut rest = places;
    // The rows of the next claim, and where they begin.
    let (mut first, mut start) = (0, 0);
    for row in 0..shape.rows() {
        let positions = shape.row(row);
        if positions.len() >= LONG_ROW || shape.rows() == 1 && parallel {
            claims.push((first..row, start, rest.split_off_mut(..positions.start - start)));
            let places = rest.split_off_mut(..positions.len()).unwrap_or_default();
            (first, start) = (row + 1, positions.end);
            sort_elements::<K, A, R>(&elements[positions], &item, &convert, places, workers, poll)?;
        } else if positions.end - start >= CLAIM || row + 1 == shape.rows() {
            claims.push((first..row + 1, start, rest.split_off_mut(..positions.end - start)));
            (first, start) = (row + 1, positions.end);
        }
    }
    let vectors = K::Item::vectors();
    workers.each(
        parallel,
        claims.into_iter(),
        || (Vec::new(), Vec::new()),
        |(items, room), (rows, start, places)| {
            poll()?;
            let places = places.unwrap_or_default();
            items.clear();
            items.extend(elements[start..][..places.len()].iter().map(|&of| item(of)));
            for row in rows {
                let positions = shape.row(row);
                let row = &mut items[positions.start - start..positions.end - start];
                sort_whole::<K>(vectors, row, room, poll)?;
            }
            places.iter_mut().zip(&*items).for_each(|(place, &item)| *place = convert(item));
            Ok(())
        },
    )
}

/// Sorts items that are their own keys on this thread; `room` may hold anything.
fn sort_whole<K: Key>(
    vectors: Option<Vectors<K::Item>>,
    items: &mut [K::Item],
    room: &mut Vec<K::Item>,
    poll: &dyn Fn() -> Result<(), Halt>,
) -> Result<(), Halt> {
    if items.len() < 2 {
        return Ok(());
    }
    if room.len() < items.len() {
        room.resize(items.len(), K::Item::default());
    }
    match vectors {
        Some(vectors) => vectors.sort(items, &mut room[..items.len()], poll)?,
        None if items.len() < SHORT_ROW => items.sort_unstable(),
        None => sort_bucket::<K>(items, u64::MAX, room),
    }
    Ok(())
}

/// Sorts items whose upper halves are keys (see [`Upper`]) on this thread; `room` may hold
/// anything.
pub(crate) fn sort_alone(
    items: &mut [u64],
    room: &mut Vec<u64>,
    poll: &dyn Fn() -> Result<(), Halt>,
) -> Result<(), Halt> {
    if room.len() < items.len() {
        room.resize(items.len(), 0);
    }
    match u64::vectors() {
        Some(vectors) => vectors.sort(items, &mut room[..items.len()], poll),
        None => {
            sort_bucket::<Upper>(items, u64::MAX, room);
            Ok(())
        }
    }
}

/// The items from a position on.
type Source<'a, E> = &'a (dyn Fn(usize, &mut [E]) + Sync);

/// Puts what becomes of items to their places.
type Convert<'a, E, R> = &'a (dyn Fn(&[E], &mut [R]) + Sync);

/// How many items come from a source at a time.
const BLOCK: usize = 256;

/// Shows all items at some positions.
#[inline]
fn for_each<E: Item>(source: Source<'_, E>, range: Range<usize>, mut see: impl FnMut(E)) {
    let mut items = [E::default(); BLOCK];
    for start in range.clone().step_by(BLOCK) {
        let items = &mut items[..BLOCK.min(range.end - start)];
        source(start, items);
        items.iter().for_each(|&item| see(item));
    }
}

fn sort_from<K: Key, R: Send>(
    source: Source<'_, K::Item>,
    convert: Convert<'_, K::Item, R>,
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
    let mut first = [K::Item::default()];
    source(0, &mut first);
    let first = K::of(first[0]);
    let differing = Mutex::new(0);
    workers.each(
        parallel,
        ranges(),
        || (),
        |(), range| {
            let mut bits = 0;
            for_each(source, range, |item| bits |= K::of(item) ^ first);
            *lock(&differing) |= bits;
            Ok(())
        },
    )?;
    let differing = *lock(&differing);
    if differing == 0 {
        let mut items = [K::Item::default(); BLOCK];
        for (places, start) in places.chunks_mut(BLOCK).zip((0..).step_by(BLOCK)) {
            let items = &mut items[..places.len()];
            source(start, items);
            convert(items, places);
        }
        return Ok(());
    }
    poll()?;
    let shift = (u64::BITS - differing.leading_zeros()).saturating_sub(DIGIT);
    let mut items = K::Item::room(length, workers.memory());
    let ends = distribute::<K>(&ranges().collect::<Vec<_>>(), source, shift, &mut items, workers)?;
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
        let stored = |start: usize, to: &mut [K::Item]| {
            to.copy_from_slice(&items[start..][..to.len()]);
        };
        sort_from::<K, R>(&stored, convert, places, workers, poll)?;
    }
    let below = (1_u64 << shift) - 1;
    workers.each(parallel, claims.into_iter(), Vec::new, |scratch, (items, places)| {
        poll()?;
        let mut start = 0;
        for bucket in items.chunk_by_mut(|&a, &b| digit::<K>(a, shift) == digit::<K>(b, shift)) {
            sort_bucket::<K>(bucket, below, scratch);
            convert(bucket, &mut places[start..][..bucket.len()]);
            start += bucket.len();
        }
        Ok(())
    })?;
    K::Item::give_back(items, workers.memory());
    Ok(())
}

/// The bits of a key that tell the bucket.
#[inline]
fn digit<K: Key>(item: K::Item, shift: u32) -> usize {
    (K::of(item) >> shift) as usize & ((1 << DIGIT) - 1)
}

/// Moves items to their buckets; where each bucket ends.
fn distribute<K: Key>(
    ranges: &[Range<usize>],
    source: Source<'_, K::Item>,
    shift: u32,
    to: &mut [K::Item],
    workers: &Workers,
) -> Result<Vec<usize>, Halt> {
    let parallel = ranges.len() > 1;
    let mut counts = vec![vec![0_usize; 1 << DIGIT]; ranges.len()];
    workers.each(
        parallel,
        ranges.iter().zip(&mut counts),
        || (),
        |(), (range, counts)| {
            for_each(source, range.clone(), |item| counts[digit::<K>(item, shift)] += 1);
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
            for_each(source, range.clone(), |item| {
                let place = &mut starts[digit::<K>(item, shift)];
                assert!(*place < length, "a place for every item");
                // SAFETY: the place lies within `to`, which nobody else uses meanwhile. Each part
                // has from its start on as many places for a digit as it was counted to have items
                // of it, and `source` and `digit` are functions of arrays that do not change: so no
                // two items get the same place.
                unsafe { places.0.add(*place).write(item) };
                *place += 1;
            });
            Ok(())
        },
    )?;
    Ok(ends)
}

/// Where several threads write, each to places of its own.
struct Places<E>(*mut E);

// SAFETY: only `distribute` and `counting::sort` use the pointer, which give no place to two threads.
unsafe impl<E: Send> Sync for Places<E> {}

#[cfg(test)]
mod tests;
