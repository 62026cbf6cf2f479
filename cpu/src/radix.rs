//! Stable sorting by digits, the least significant first, with several threads.
//!
//! In each pass every thread counts the digits of a part of the items; from all counts follows where
//! each part's items of each digit go, and every thread moves its part there.
#![allow(unsafe_code)]

use crate::execute::Halt;
use crate::pages;
use crate::workers::{Workers, lock};

use std::sync::Mutex;

/// The bits of a digit.
const DIGIT: u32 = 11;

/// Below so many items one thread sorts alone.
const PARALLEL: usize = 1 << 16;

/// What is sorted.
pub(crate) trait Item: Copy + Default + Send + Sync {
    /// By which key.
    fn key(self) -> u64;
}

/// A key alone.
impl Item for u32 {
    fn key(self) -> u64 {
        u64::from(self)
    }
}

/// A key alone.
impl Item for u64 {
    fn key(self) -> u64 {
        self
    }
}

/// A key of 32 bits in the upper half, where it came from in the lower.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Short(pub(crate) u64);

impl Item for Short {
    fn key(self) -> u64 {
        self.0 >> 32
    }
}

/// A key, and where it came from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Long(pub(crate) u64, pub(crate) u64);

impl Item for Long {
    fn key(self) -> u64 {
        self.0
    }
}

/// Items that threads make together, each from its position.
pub(crate) fn items<E: Item>(
    length: usize,
    workers: &Workers,
    of: impl Fn(usize) -> E + Sync,
) -> Result<Vec<E>, Halt> {
    let mut items = vec![E::default(); length];
    pages::prefer_huge_slice(&items);
    let part = part_length(length, workers);
    let parts = items.chunks_mut(part).enumerate();
    workers.each(
        length > part,
        parts,
        || (),
        |(), (number, items)| {
            for (item, at) in items.iter_mut().zip(number * part..) {
                *item = of(at);
            }
            Ok(())
        },
    )?;
    Ok(items)
}

fn part_length(length: usize, workers: &Workers) -> usize {
    let parts = if length < PARALLEL { 1 } else { workers.threads() };
    length.div_ceil(parts).max(1)
}

/// Sorts items by their keys. Digits that all have in common are skipped.
pub(crate) fn sort<E: Item>(
    items: &mut Vec<E>,
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let Some(&first) = items.first() else { return Ok(()) };
    let part = part_length(items.len(), workers);
    let parallel = items.len() > part;
    let differing = Mutex::new(0);
    workers.each(
        parallel,
        items.chunks(part),
        || (),
        |(), items| {
            let bits = items.iter().fold(0, |bits, item| bits | (item.key() ^ first.key()));
            *lock(&differing) |= bits;
            Ok(())
        },
    )?;
    let differing = *lock(&differing);
    let mut other = Vec::new();
    for shift in (0..u64::BITS).step_by(DIGIT as usize) {
        let mask = (1_u64 << DIGIT) - 1;
        if (differing >> shift) & mask == 0 {
            continue;
        }
        poll()?;
        if other.is_empty() {
            other = vec![E::default(); items.len()];
            pages::prefer_huge_slice(&other);
        }
        let digit = |item: E| ((item.key() >> shift) & mask) as usize;
        pass(items, &mut other, part, digit, workers)?;
        std::mem::swap(items, &mut other);
    }
    Ok(())
}

/// Moves items to where their digits belong.
fn pass<E: Item>(
    from: &[E],
    to: &mut [E],
    part: usize,
    digit: impl Fn(E) -> usize + Sync,
    workers: &Workers,
) -> Result<(), Halt> {
    let parallel = from.len() > part;
    let mut counts = vec![vec![0_usize; 1 << DIGIT]; from.len().div_ceil(part)];
    let claims = from.chunks(part).zip(&mut counts);
    workers.each(
        parallel,
        claims,
        || (),
        |(), (items, counts)| {
            items.iter().for_each(|&item| counts[digit(item)] += 1);
            Ok(())
        },
    )?;
    let mut sum = 0;
    for digit in 0..1 << DIGIT {
        for counts in &mut counts {
            sum += std::mem::replace(&mut counts[digit], sum);
        }
    }
    assert!(sum == from.len() && sum == to.len(), "a place for every item");
    let places = Places(to.as_mut_ptr());
    let places = &places;
    let claims = from.chunks(part).zip(&mut counts);
    workers.each(
        parallel,
        claims,
        || (),
        |(), (items, starts)| {
            for &item in items {
                let place = &mut starts[digit(item)];
                // SAFETY: each part has from its start on as many places for a digit as it was counted to
                // have items of it, and `digit` and `from` are as they were then. So no two items get the
                // same place, and all places lie within `to`, which nobody else uses meanwhile.
                unsafe { places.0.add(*place).write(item) };
                *place += 1;
            }
            Ok(())
        },
    )
}

/// Where several threads write, each to places of its own.
struct Places<E>(*mut E);

// SAFETY: only `pass` uses the pointer, which gives no place to two threads.
unsafe impl<E: Send> Sync for Places<E> {}

#[cfg(test)]
mod tests {
    use super::{Item, Long, Short, items, sort};
    use crate::workers::Workers;

    fn noise(at: usize) -> u64 {
        (at as u64)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(23)
            .wrapping_mul(0xd6e8_feb8_6659_fd93)
    }

    fn check<E: Item + PartialEq + std::fmt::Debug>(of: impl Fn(usize) -> E + Sync) {
        for threads in [1, 3] {
            let workers = Workers::new(threads);
            for length in [0, 1, 2, 1000, 70_000] {
                let mut sorted = items(length, &workers, &of).expect("nothing stops it");
                let mut expected: Vec<E> = (0..length).map(&of).collect();
                assert_eq!(sorted, expected);
                expected.sort_by_key(|item| item.key());
                sort(&mut sorted, &workers, &|| Ok(())).expect("nothing stops it");
                assert_eq!(sorted, expected);
            }
        }
    }

    #[test]
    fn keys_alone() {
        check(|at| noise(at) as u32);
        check(noise);
        check(|at| (at % 3) as u32);
        check(|_| 7_u64);
    }

    #[test]
    fn equal_keys_stay_in_order() {
        check(|at| Short((noise(at) % 100) << 32 | at as u64));
        check(|at| Long(noise(at) >> 60 << 60, at as u64));
    }
}
