//! Sorts the items of a bucket on one thread, within the caches.
//!
//! The digits below the highest one in which keys differ are worked through from the least significant
//! one, up to as many as tell most items apart. What these leave out of order is little, and is put
//! right by insertion; where it is not little, by comparison.

use super::{DIGIT, Item, Key};

/// Up to so many items are sorted by comparison.
const FEW: usize = 160;

/// From so many on the items are distributed once more first.
const MANY: usize = 1 << 17;

/// Sorts items by their keys, of which only the bits of the mask can differ. `scratch` is room for
/// items.
pub(super) fn sort_bucket<K: Key>(items: &mut [K::Item], mask: u64, scratch: &mut Vec<K::Item>) {
    let length = items.len();
    if length < 2 || mask == 0 {
        return;
    }
    if length <= FEW {
        items.sort_by_key(|&item| K::of(item));
        return;
    }
    let first = K::of(items[0]);
    let differing = mask & items.iter().fold(0, |bits, &item| bits | (K::of(item) ^ first));
    if differing == 0 {
        return;
    }
    let top = u64::BITS - differing.leading_zeros();
    if scratch.len() < length {
        scratch.resize(length, K::Item::default());
    }
    if length >= MANY {
        let shift = top.saturating_sub(DIGIT);
        let to = &mut scratch[..length];
        let digit = |item: K::Item| (K::of(item) >> shift) as usize & ((1 << DIGIT) - 1);
        pass(items, to, digit, 1 << DIGIT);
        items.copy_from_slice(to);
        let below = differing & ((1 << shift) - 1);
        for bucket in items.chunk_by_mut(|&a, &b| K::of(a) >> shift == K::of(b) >> shift) {
            sort_bucket::<K>(bucket, below, scratch);
        }
        return;
    }
    // Enough bits for the square of the number of items, in as few digits as can be.
    let wanted = 2 * (usize::BITS - length.leading_zeros());
    let lowest = match top - differing.trailing_zeros() {
        all if all <= wanted + DIGIT / 2 => differing.trailing_zeros(),
        _ => top - wanted,
    };
    let most = if length < 1 << 10 { 8 } else { DIGIT };
    let width = (top - lowest).div_ceil((top - lowest).div_ceil(most));
    let scratch = &mut scratch[..length];
    let (mut in_scratch, mut shift) = (false, lowest);
    while shift < top {
        let bits = width.min(top - shift);
        if differing >> shift & ((1 << bits) - 1) != 0 {
            let digit = |item: K::Item| (K::of(item) >> shift) as usize & ((1 << bits) - 1);
            match in_scratch {
                false => pass(items, scratch, digit, 1 << bits),
                true => pass(scratch, items, digit, 1 << bits),
            }
            in_scratch = !in_scratch;
        }
        shift += bits;
    }
    if in_scratch {
        items.copy_from_slice(scratch);
    }
    if differing & ((1_u64 << lowest) - 1) != 0 && !insert::<K>(items) {
        items.sort_by_key(|&item| K::of(item));
    }
}

/// Moves items to where their digits belong.
fn pass<E: Item>(from: &[E], to: &mut [E], digit: impl Fn(E) -> usize, digits: usize) {
    let mut starts = [0_u32; 1 << DIGIT];
    let starts = &mut starts[..digits];
    for &item in from {
        starts[digit(item)] += 1;
    }
    let mut sum = 0;
    for start in starts.iter_mut() {
        sum += std::mem::replace(start, sum);
    }
    for &item in from {
        let start = &mut starts[digit(item)];
        to[*start as usize] = item;
        *start += 1;
    }
}

/// Sorts items that are nearly in order; gives up, and says so, where they are not.
fn insert<K: Key>(items: &mut [K::Item]) -> bool {
    let mut moves = 8 * items.len();
    for at in 1..items.len() {
        let item = items[at];
        let wanted = K::of(item);
        let mut to = at;
        while to > 0 && K::of(items[to - 1]) > wanted {
            items[to] = items[to - 1];
            to -= 1;
        }
        items[to] = item;
        if at - to > moves {
            return false;
        }
        moves -= at - to;
    }
    true
}
