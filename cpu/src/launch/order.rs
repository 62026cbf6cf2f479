//! The order of a long row of keys, with all threads.
//!
//! Note [Codes of keys]. Integers seldom use all of their bits: what is grouped by is often a number of a
//! few thousand things. So the least and the greatest of the keys are looked for first. A *code* of a key is
//! how far it is from the least one; the codes of several keys are put together into one, the first key in
//! front. If the codes are few, a sort by counting yields the order without moving a key
//! (`radix::counting`), if they have 32 bits, a code and the position of the key are one item to sort, else
//! the keys are sorted from the last to the first, each with 64 bits of key and 64 of position.

use std::sync::Mutex;

use super::bits::{Bits, flip};
use crate::execute::Halt;
use crate::lanes::{Elements, Lane, LaneType, Storage, with_lane_type};
use crate::radix::counting::{self, MOST_CODES};
use crate::radix::{self, First, Long, PARALLEL, Sorting, Upper};
use crate::workers::{Workers, lock};

/// An order of keys.
#[derive(Debug)]
pub(crate) struct Order {
    /// The positions of the keys.
    pub(crate) positions: Storage,
    /// Where the keys of each code end, if they were counted.
    ends: Option<Vec<usize>>,
}

/// The order of keys of a length: by the first, equal ones by the second, and so on, then by position.
pub(crate) fn order_of(
    keys: &[Elements<'_>],
    length: usize,
    descending: bool,
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<Order, Halt> {
    let mut positions = workers.memory().take(LaneType::I64, length);
    let order = i64::storage_mut(&mut positions);
    let mut spans = Vec::new();
    for key in keys {
        spans.push(with_lane_type!(key.ty(), T => {
            span(T::elements(*key), flip::<T>(descending), workers)?
        }));
        poll()?;
    }
    let width: u32 = spans.iter().map(|span| span.width()).sum();
    let ends = match (keys, &spans[..]) {
        _ if width > u32::BITS || u32::try_from(length).is_err() => {
            for (number, key) in keys.iter().rev().enumerate() {
                with_lane_type!(key.ty(), T => {
                    let flip = flip::<T>(descending);
                    sort_long(T::elements(*key), flip, number == 0, order, workers, poll)?;
                });
            }
            None
        }
        ([key], [span]) => with_lane_type!(key.ty(), T => {
            let (flip, least) = (flip::<T>(descending), span.least);
            let code = |key: T| (key.bits() ^ flip).wrapping_sub(least) as u32;
            by_codes(T::elements(*key), code, span.codes(), order, workers, poll)?
        }),
        (_, _) => {
            let mut codes = workers.memory().take(LaneType::U32, length);
            let all = u32::storage_mut(&mut codes);
            all.fill(0);
            for (key, span) in keys.iter().zip(&spans) {
                with_lane_type!(key.ty(), T => {
                    join(all, T::elements(*key), flip::<T>(descending), span, workers)?;
                });
                poll()?;
            }
            let ends = by_codes(all, |code| code, 1 << width, order, workers, poll)?;
            workers.memory().keep(codes);
            ends
        }
    };
    Ok(Order { positions, ends })
}

impl Order {
    /// Of keys that were not counted.
    pub(super) fn new(positions: Storage) -> Order {
        Order { positions, ends: None }
    }

    /// The only key that this was made of, in this order; `sorted` has a place for each.
    pub(crate) fn of_key(
        &self,
        key: Elements<'_>,
        mut sorted: Storage,
        workers: &Workers,
    ) -> Result<Storage, Halt> {
        let positions = i64::storage(&self.positions);
        with_lane_type!(key.ty(), T => {
            let (key, places) = (T::elements(key), &mut T::storage_mut(&mut sorted)[..]);
            match &self.ends {
                Some(ends) => {
                    let of = |start: usize| key[positions[start] as usize];
                    counting::fill(ends, of, places, workers)?;
                }
                None => {
                    let part = part_of(places.len(), workers);
                    let parts = places.chunks_mut(part).zip(positions.chunks(part));
                    workers.each(part < positions.len(), parts, || (), |(), (places, positions)| {
                        let each = places.iter_mut().zip(positions);
                        each.for_each(|(place, &position)| *place = key[position as usize]);
                        Ok(())
                    })?;
                }
            }
        });
        Ok(sorted)
    }
}

/// Between which bits keys lie.
#[derive(Clone, Copy, Debug)]
struct Span {
    least: u64,
    most: u64,
}

impl Span {
    /// The bits of a code (Note [Codes of keys]).
    fn width(self) -> u32 {
        u64::BITS - (self.most - self.least).leading_zeros()
    }

    /// How many codes there are, which fit 32 bits.
    fn codes(self) -> u64 {
        self.most - self.least + 1
    }
}

/// Between which bits keys lie; of floats, which share most bits with few others, those of all.
fn span<T: Bits>(keys: &[T], flip: u64, workers: &Workers) -> Result<Span, Halt> {
    if !T::DENSE {
        return Ok(Span { least: 0, most: u64::MAX >> (u64::BITS - T::WIDTH) });
    }
    let all = Mutex::new(Span { least: u64::MAX, most: 0 });
    let part = part_of(keys.len(), workers);
    let parts = keys.chunks(part);
    workers.each(
        part < keys.len(),
        parts,
        || (),
        |(), keys| {
            let (mut least, mut most) = (u64::MAX, 0);
            for key in keys {
                let bits = key.bits() ^ flip;
                least = least.min(bits);
                most = most.max(bits);
            }
            let mut all = lock(&all);
            *all = Span { least: all.least.min(least), most: all.most.max(most) };
            Ok(())
        },
    )?;
    let all = all.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    Ok(if keys.is_empty() { Span { least: 0, most: 0 } } else { all })
}

/// Puts the codes of a key behind those of the keys before it.
fn join<T: Bits>(
    codes: &mut [u32],
    keys: &[T],
    flip: u64,
    span: &Span,
    workers: &Workers,
) -> Result<(), Halt> {
    let (least, width) = (span.least, span.width());
    let part = part_of(keys.len(), workers);
    let parts = codes.chunks_mut(part).zip(keys.chunks(part));
    workers.each(
        part < keys.len(),
        parts,
        || (),
        |(), (codes, keys)| {
            for (code, key) in codes.iter_mut().zip(keys) {
                let own = (key.bits() ^ flip).wrapping_sub(least);
                *code = (u64::from(*code) << width | own) as u32;
            }
            Ok(())
        },
    )
}

/// The order of what has these codes, of so many; where those of each end, if they were counted.
fn by_codes<A: Copy + Sync>(
    elements: &[A],
    code: impl Fn(A) -> u32 + Sync,
    codes: u64,
    order: &mut [i64],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<Option<Vec<usize>>, Halt> {
    if codes <= MOST_CODES.min(elements.len() as u64) {
        let ends = counting::sort(elements, code, codes as usize, order, workers, poll)?;
        return Ok(Some(ends));
    }
    let sorting = Sorting {
        of: |at: usize| u64::from(code(elements[at])) << 32 | at as u64,
        convert: |item: u64| i64::from(item as u32),
    };
    radix::sort::<Upper, _>(&sorting, order, workers, poll)?;
    Ok(None)
}

/// Brings an order into that of a key; the first one is that of the positions.
fn sort_long<T: Bits>(
    keys: &[T],
    flip: u64,
    first: bool,
    order: &mut [i64],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let before = if first { Vec::new() } else { order.to_vec() };
    let of = |at: usize| match before.get(at) {
        Some(&from) => Long(keys[from as usize].bits() ^ flip, from as u64),
        None => Long(keys[at].bits() ^ flip, at as u64),
    };
    let convert = |item: Long| item.1 as i64;
    radix::sort::<First, _>(&Sorting { of, convert }, order, workers, poll)
}

/// How many elements each thread takes of so many.
fn part_of(length: usize, workers: &Workers) -> usize {
    let parts = if length < PARALLEL { 1 } else { workers.threads() };
    length.div_ceil(parts).max(1)
}

#[cfg(test)]
mod tests;
