//! Sorts items that are their own keys, with vectors and with several threads.
//!
//! Note [Blocks and buckets]. A quicksort goes through all items as often as they can be halved
//! until few are left, and through memory each time while its parts are larger than the caches. So
//! the first divisions happen block by block, each a part of the items that lies in a cache: all
//! blocks are divided by the same splitters, quantiles of a sample (Frazer and McKellar,
//! Samplesort, 1970), into buckets. Then each bucket is brought together out of all blocks and
//! sorted in the cache, and what becomes of it goes to its places. So items go to memory twice, and
//! threads share blocks, then buckets. A value that is more than one quantile has a bucket of its
//! own, in which nothing is left to do.
#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "vectors are made nowhere else")
)]

use std::ops::Range;

use super::{Convert, Item, PARALLEL, Source};
use crate::execute::Halt;
use crate::pool::Pool;
use crate::workers::Workers;

/// The bytes of a block.
const BLOCK_BYTES: usize = 1 << 18;

/// About the bytes of a bucket, unless there were more than [`MOST_BUCKETS`] then.
const BUCKET_BYTES: usize = 1 << 17;

const MOST_BUCKETS: usize = 1 << 9;

/// How many buckets there are for each thread, at least.
const SHARES: usize = 4;

/// How many items of the sample there are for each bucket.
const SAMPLE: usize = 16;

/// Divides items (see `vector::words::divide`).
type Divide<E> = unsafe fn(&mut [E], &mut [E], E, bool) -> usize;

/// Sorts items (see `vector::words::sort`).
type Sort<E> =
    unsafe fn(&mut [E], &mut [E], bool, u32, &dyn Fn() -> Result<(), Halt>) -> Result<(), Halt>;

/// What sorts items in vectors, on a machine that can.
#[derive(Clone, Copy)]
pub(crate) struct Vectors<E> {
    divide: Divide<E>,
    sort: Sort<E>,
    /// The greatest item below one that is not the least, which is the default.
    before: fn(E) -> E,
}

#[cfg(target_arch = "x86_64")]
macro_rules! define_vectors {
    ($($element:ident $module:ident)*) => {$(
        impl Vectors<$element> {
            /// If the machine has the instructions.
            pub(super) fn $module() -> Option<Vectors<$element>> {
                use super::vector::{self, $module};
                let before = |item| item - 1;
                vector::available().then_some(Vectors {
                    divide: $module::divide,
                    sort: $module::sort,
                    before,
                })
            }
        }
    )*};
}

#[cfg(not(target_arch = "x86_64"))]
macro_rules! define_vectors {
    ($($element:ident $module:ident)*) => {$(
        impl Vectors<$element> {
            /// No other machine has what is written here.
            pub(super) fn $module() -> Option<Vectors<$element>> {
                None
            }
        }
    )*};
}
define_vectors!(u32 words u64 doubles);

impl<E: Item> Vectors<E> {
    /// See `vector::words::divide`.
    fn divide(self, data: &mut [E], other: &mut [E], most: E, lower_goes: bool) -> usize {
        // SAFETY: only a machine that has the instructions has made this.
        unsafe { (self.divide)(data, other, most, lower_goes) }
    }

    /// Sorts items; `other` is room for as many.
    pub(crate) fn sort(
        self,
        data: &mut [E],
        other: &mut [E],
        poll: &dyn Fn() -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let divisions = 2 * (usize::BITS - data.len().leading_zeros());
        self.sort_to(data, other, false, divisions, poll)
    }

    /// As [`Vectors::sort`]; the items end up where is said, and after so many divisions digits
    /// decide.
    pub(super) fn sort_to(
        self,
        data: &mut [E],
        other: &mut [E],
        to_other: bool,
        divisions: u32,
        poll: &dyn Fn() -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        // SAFETY: as above.
        unsafe { (self.sort)(data, other, to_other, divisions, poll) }
    }
}

/// Room that comes from the pool and goes back.
struct Room<'a, E: Item> {
    items: Vec<E>,
    memory: &'a Pool,
}

impl<E: Item> Room<'_, E> {
    fn new(length: usize, memory: &Pool) -> Room<'_, E> {
        Room { items: E::room(length, memory), memory }
    }

    /// So many of its items; they may be anything.
    fn first(&mut self, length: usize) -> &mut [E] {
        if self.items.len() < length {
            let items = E::room(length, self.memory);
            E::give_back(std::mem::replace(&mut self.items, items), self.memory);
        }
        &mut self.items[..length]
    }
}

impl<E: Item> Drop for Room<'_, E> {
    fn drop(&mut self) {
        E::give_back(std::mem::take(&mut self.items), self.memory);
    }
}

/// Sorts the items of a source (Note [Blocks and buckets]).
pub(super) fn sort<E: Item, R: Send>(
    vectors: Vectors<E>,
    source: Source<'_, E>,
    convert: Convert<'_, E, R>,
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let (length, memory) = (places.len(), workers.memory());
    let parallel = length >= PARALLEL && workers.threads() > 1;
    let bytes = length.saturating_mul(size_of::<E>());
    let mut items = Room::new(length, memory);
    if !parallel && bytes <= BLOCK_BYTES {
        source(0, &mut items.items);
        vectors.sort(&mut items.items, Room::new(length, memory).first(length), poll)?;
        convert(&items.items, places);
        return Ok(());
    }
    let threads = if parallel { workers.threads() } else { 1 };
    let buckets =
        (bytes / BUCKET_BYTES).clamp(SHARES * threads, MOST_BUCKETS.max(SHARES * threads));
    let splitters = splitters(vectors, source, length, buckets, memory, poll)?;
    let buckets = splitters.len() + 1;
    let block = (BLOCK_BYTES / size_of::<E>()).min(length.div_ceil(2 * threads));
    let mut ends = vec![0; length.div_ceil(block) * buckets];
    let blocks = items.items.chunks_mut(block).zip(ends.chunks_mut(buckets)).enumerate();
    workers.each(
        parallel,
        blocks,
        || Room::new(block, memory),
        |other, (number, (data, ends))| {
            poll()?;
            source(number * block, data);
            let other = other.first(data.len());
            divide(vectors, data, other, false, &splitters, ends);
            let mut end = 0;
            for count in ends {
                end += *count;
                *count = end;
            }
            Ok(())
        },
    )?;
    let items = &items.items[..];
    let parts = |bucket: usize, blocks: Range<usize>| {
        let all = items.chunks(block).zip(ends.chunks(buckets));
        all.skip(blocks.start).take(blocks.len()).map(move |(data, ends)| {
            let start = bucket.checked_sub(1).map_or(0, |before| ends[before]);
            &data[start as usize..ends[bucket] as usize]
        })
    };
    let blocks = length.div_ceil(block);
    let mut claims = Vec::new();
    let mut rest = places;
    for bucket in 0..buckets {
        let before = bucket.checked_sub(1).map(|before| splitters[before]);
        let equal = splitters.get(bucket).is_some_and(|&last| match before {
            Some(before) => (vectors.before)(last) == before,
            None => last == E::default(),
        });
        // Where nothing is left to do the parts go to their places one by one.
        let step = if equal { 1 } else { blocks };
        for start in (0..blocks).step_by(step) {
            let of = start..start + step;
            let count = parts(bucket, of.clone()).map(<[E]>::len).sum();
            let (places, others) = rest.split_at_mut(count);
            rest = others;
            if count > 0 {
                claims.push((bucket, of, places, equal));
            }
        }
    }
    workers.each(
        parallel,
        claims.into_iter(),
        || (Room::new(0, memory), Room::new(0, memory)),
        |(data, other), (bucket, of, places, equal)| {
            poll()?;
            if equal {
                parts(bucket, of).for_each(|part| convert(part, places));
                return Ok(());
            }
            let data = data.first(places.len());
            let mut at = 0;
            for part in parts(bucket, of) {
                data[at..][..part.len()].copy_from_slice(part);
                at += part.len();
            }
            vectors.sort(data, other.first(places.len()), poll)?;
            convert(data, places);
            Ok(())
        },
    )
}

/// What divides the items of a source into so many buckets or a few more: each holds what is
/// greater than the splitter before it and not than its own.
fn splitters<E: Item>(
    vectors: Vectors<E>,
    source: Source<'_, E>,
    length: usize,
    buckets: usize,
    memory: &Pool,
    poll: &dyn Fn() -> Result<(), Halt>,
) -> Result<Vec<E>, Halt> {
    let count = SAMPLE * buckets;
    let mut sample = Room::new(count, memory);
    // Anywhere, so that no pattern of the items is met: the high half of a product of a Weyl
    // sequence.
    let mut state = 0_u64;
    for place in &mut sample.items {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let at = (u128::from(mixed) * length as u128) >> 64;
        source(at as usize, std::slice::from_mut(place));
    }
    vectors.sort(&mut sample.items, Room::new(count, memory).first(count), poll)?;
    let quantiles = sample.items.iter().skip(SAMPLE).step_by(SAMPLE);
    let mut splitters: Vec<E> = Vec::with_capacity(buckets + buckets / 2);
    for &quantile in quantiles {
        if splitters.last() != Some(&quantile) {
            splitters.push(quantile);
            continue;
        }
        // Often the same value: what is below it stays out of its bucket.
        let below = (splitters.len() > 1).then(|| splitters[splitters.len() - 2]);
        if quantile > E::default() && below != Some((vectors.before)(quantile)) {
            splitters.insert(splitters.len() - 1, (vectors.before)(quantile));
        }
    }
    Ok(splitters)
}

/// Divides items by splitters, as [`Vectors::divide`] does by one, and counts what goes to which
/// bucket. They end up in `data` or in `other`.
fn divide<E: Item>(
    vectors: Vectors<E>,
    data: &mut [E],
    other: &mut [E],
    to_other: bool,
    splitters: &[E],
    counts: &mut [u32],
) {
    if splitters.is_empty() {
        if to_other {
            other.copy_from_slice(data);
        }
        counts[0] = data.len() as u32;
        return;
    }
    let middle = splitters.len() / 2;
    let lower = vectors.divide(data, other, splitters[middle], to_other);
    let upper = data.len() - lower;
    let (stayed, gone) = if to_other { (upper, lower) } else { (lower, upper) };
    let (stay, free) = data.split_at_mut(stayed);
    let (gone, rest) = other.split_at_mut(gone);
    let (below, above) = (&splitters[..middle], &splitters[middle + 1..]);
    let (below, above) = if to_other { (above, below) } else { (below, above) };
    let (lower, upper) = counts.split_at_mut(middle + 1);
    let (lower, upper) = if to_other { (upper, lower) } else { (lower, upper) };
    divide(vectors, stay, rest, to_other, below, lower);
    divide(vectors, gone, free, !to_other, above, upper);
}
