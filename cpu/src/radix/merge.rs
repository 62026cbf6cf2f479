//! What is in order already, or two parts that are: those are merged.
//!
//! Note [Runs in order]. `merge xs ys` is a sort of both, and often an array is sorted that already was. To see that takes
//! one look at the elements, which ends within a few of them where they are in no order. The threads share the
//! places of the result: where a share begins in each of the parts is found by bisection.

use std::ops::Range;

use super::{CLAIM, Item};
use crate::execute::Halt;
use crate::workers::Workers;

/// How many neighbours are looked at before it is seen whether they are in order.
const LOOK: usize = 256;

/// Where the second of at most two ascending runs begins that the elements are; their number, if they are one.
pub(super) fn runs<A: Copy, E: Ord>(elements: &[A], item: impl Fn(A) -> E) -> Option<usize> {
    let mut middle = elements.len();
    for start in (0..elements.len()).step_by(LOOK) {
        let block = &elements[start..elements.len().min(start + LOOK + 1)];
        let falls = |pair: &[A]| item(pair[0]) > item(pair[1]);
        match block.windows(2).map(|pair| usize::from(falls(pair))).sum::<usize>() {
            0 => {}
            1 if middle == elements.len() => {
                middle = start + 1 + block.windows(2).position(falls)?;
            }
            _ => return None,
        }
    }
    Some(middle)
}

/// Merges two ascending runs; of equal items those of the first come first.
pub(super) fn merge<A: Copy + Sync, E: Item, R: Send>(
    runs: [&[A]; 2],
    item: &(impl Fn(A) -> E + Sync),
    convert: &(impl Fn(E) -> R + Sync),
    places: &mut [R],
    workers: &Workers,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<(), Halt> {
    let [left, right] = runs;
    let claims = places.chunks_mut(CLAIM).zip((0..).step_by(CLAIM));
    workers.each(
        true,
        claims,
        || (),
        |(), (places, start)| {
            poll()?;
            let end = start + places.len();
            let [first, last] = [start, end].map(|place| of_first(runs, item, place));
            let left = &left[first..last];
            let right = &right[start - first..end - last];
            merge_alone(left, right, item, convert, places);
            Ok(())
        },
    )
}

/// How many items of the first run are among so many of both.
fn of_first<A: Copy, E: Ord>(
    [left, right]: [&[A]; 2],
    item: &impl Fn(A) -> E,
    count: usize,
) -> usize {
    let Range { mut start, mut end } = count.saturating_sub(right.len())..left.len().min(count);
    while start < end {
        let middle = start + (end - start) / 2;
        // With one more of the first, the other part ends before the item with this number.
        if item(left[middle]) <= item(right[count - middle - 1]) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}

fn merge_alone<A: Copy, E: Item, R>(
    left: &[A],
    right: &[A],
    item: &impl Fn(A) -> E,
    convert: &impl Fn(E) -> R,
    places: &mut [R],
) {
    let (mut of_left, mut of_right, mut at) = (0, 0, 0);
    while of_left < left.len() && of_right < right.len() {
        let (a, b) = (item(left[of_left]), item(right[of_right]));
        let is_left = a <= b;
        places[at] = convert(if is_left { a } else { b });
        of_left += usize::from(is_left);
        of_right += usize::from(!is_left);
        at += 1;
    }
    let rest = left[of_left..].iter().chain(&right[of_right..]);
    places[at..].iter_mut().zip(rest).for_each(|(place, &of)| *place = convert(item(of)));
}
