//! Sorts by counting, where there are few different keys.
//!
//! The keys, here *codes* from zero on, say where each element belongs once it is known how many there are of each: so
//! elements are looked at twice, and only their positions are written. A thread counts and places a part
//! of its own, so that equal codes keep their order.

use std::ops::Range;

use super::{CLAIM, PARALLEL, Places};
use crate::execute::Halt;
use crate::workers::Workers;

/// The most codes. With more, the places of the codes no longer lie in the caches.
pub(crate) const MOST_CODES: u64 = 1 << 14;

/// Puts the positions of elements into the order of their codes, which are below `codes`; where those of each
/// code end. There is a place for each element.
pub(crate) fn sort<A: Copy + Sync>(
    elements: &[A],
    code: impl Fn(A) -> u32 + Sync,
    codes: usize,
    places: &mut [i64],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<Vec<usize>, Halt> {
    let length = elements.len();
    assert!(places.len() == length, "a place for every element");
    let parts = if length < PARALLEL { 1 } else { workers.threads() };
    let part = length.div_ceil(parts).max(1);
    let parallel = parts > 1;
    let mut counts = vec![vec![0_usize; codes]; parts];
    workers.each(
        parallel,
        elements.chunks(part).zip(&mut counts),
        || (),
        |(), (elements, counts)| {
            elements.iter().for_each(|&element| counts[code(element) as usize] += 1);
            Ok(())
        },
    )?;
    poll()?;
    let mut sum = 0;
    let mut ends = Vec::with_capacity(codes);
    for code in 0..codes {
        for counts in &mut counts {
            sum += std::mem::replace(&mut counts[code], sum);
        }
        ends.push(sum);
    }
    assert!(sum == length, "a place for every element");
    let to = Places(places.as_mut_ptr());
    let to = &to;
    let claims = elements.chunks(part).zip((0..).step_by(part)).zip(&mut counts);
    workers.each(
        parallel,
        claims,
        || (),
        |(), ((elements, first), starts)| {
            for (&element, position) in elements.iter().zip(first..) {
                let place = &mut starts[code(element) as usize];
                assert!(*place < length, "a place for every element");
                // SAFETY: the place lies within `places`, which nobody else uses meanwhile. Each part has from its
                // start on as many places for a code as it was counted to have elements of it, and `code` is a
                // function of elements that do not change: so no two positions get the same place.
                unsafe { to.0.add(*place).write(position) };
                *place += 1;
            }
            Ok(())
        },
    )?;
    Ok(ends)
}

/// Fills the places of each code, which end where is said, with what belongs to the first of them.
pub(crate) fn fill<R: Copy + Send>(
    ends: &[usize],
    of: impl Fn(usize) -> R + Sync,
    places: &mut [R],
    workers: &Workers,
) -> Result<(), Halt> {
    let parallel = places.len() >= PARALLEL;
    let mut claims: Vec<(Range<usize>, usize, &mut [R])> = Vec::new();
    let (mut first, mut start, mut rest) = (0, 0, places);
    for (code, &end) in ends.iter().enumerate() {
        if end - start >= CLAIM || code + 1 == ends.len() {
            let (places, others) = rest.split_at_mut(end - start);
            claims.push((first..code + 1, start, places));
            (first, start, rest) = (code + 1, end, others);
        }
    }
    workers.each(
        parallel,
        claims.into_iter(),
        || (),
        |(), (codes, first, places)| {
            let mut start = first;
            for &end in &ends[codes] {
                if start < end {
                    places[start - first..end - first].fill(of(start));
                }
                start = end;
            }
            Ok(())
        },
    )
}
