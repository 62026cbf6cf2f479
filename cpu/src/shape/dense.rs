//! The indices of consecutive points along a dense dimension.
//!
//! Where rows are short there are many in a block: to go from row to row takes longer than what is computed for
//! their elements. So a division tells each lane its row, by a product and a shift (Granlund and Montgomery,
//! “Division by invariant integers using multiplication”, 1994), which vectors do.

/// Rows of so many points are gone through one by one: then that is the faster way.
const LONG: usize = 16;

/// So many lanes at once: divisions are exact for them.
const LANES: usize = 4096;

/// Fills lanes with the indices along a dimension of this extent, of the points from a position on; `inner` is how many
/// points one after the other have the same index: those of the dimensions behind it.
pub(super) fn fill(lanes: &mut [i64], position: usize, inner: usize, extent: usize) {
    let index = position / inner % extent;
    match (inner, extent) {
        (_, 1) => lanes.fill(0),
        (1, LONG..) => count(lanes, index, extent),
        (1..LONG, _) => {
            for (number, lanes) in lanes.chunks_mut(LANES).enumerate() {
                fill_short(lanes, position + number * LANES, inner, extent);
            }
        }
        (_, _) => repeat(lanes, index, inner - position % inner, inner, extent),
    }
}

/// Counts from an index on, in rows of their own.
fn count(lanes: &mut [i64], index: usize, extent: usize) {
    let from = |lanes: &mut [i64], first: usize| {
        lanes.iter_mut().zip(first as i64..).for_each(|(lane, number)| *lane = number);
    };
    let (first, rest) = lanes.split_at_mut((extent - index).min(lanes.len()));
    from(first, index);
    rest.chunks_mut(extent).for_each(|row| from(row, 0));
}

/// Repeats an index so many times, and those that follow `inner` times.
fn repeat(lanes: &mut [i64], index: usize, times: usize, inner: usize, extent: usize) {
    let (mut rest, mut index, mut times) = (lanes, index, times);
    while !rest.is_empty() {
        let (same, behind) = rest.split_at_mut(times.min(rest.len()));
        same.fill(index as i64);
        (rest, times) = (behind, inner);
        index = if index + 1 == extent { 0 } else { index + 1 };
    }
}

/// Where either the extent or `inner` is small, and there are few lanes.
fn fill_short(lanes: &mut [i64], position: usize, inner: usize, extent: usize) {
    let index = position / inner % extent;
    if inner == 1 {
        let by = Divisor::new(extent as u32);
        for (lane, number) in lanes.iter_mut().zip(index as u32..) {
            *lane = i64::from(number - by.quotient(number) * by.divisor);
        }
        return;
    }
    let skipped = position % inner;
    if index + (skipped + lanes.len()) / inner < extent {
        let by = Divisor::new(inner as u32);
        for (lane, number) in lanes.iter_mut().zip(skipped as u32..) {
            *lane = index as i64 + i64::from(by.quotient(number));
        }
        return;
    }
    let (mut index, mut done) = (index, skipped);
    for lane in lanes {
        *lane = index as i64;
        done += 1;
        if done == inner {
            index = if index + 1 == extent { 0 } else { index + 1 };
            done = 0;
        }
    }
}

/// A divisor of 2 to 15, of numbers below `LANES + LONG`.
struct Divisor {
    divisor: u32,
    factor: u32,
}

impl Divisor {
    const SHIFT: u32 = 20;

    fn new(divisor: u32) -> Divisor {
        Divisor { divisor, factor: (1 << Divisor::SHIFT) / divisor + 1 }
    }

    /// The quotient: the factor is too large by less than a part in 2^20 of the divisor's, so that it is exact while
    /// number and divisor have a product below 2^20; no product is beyond 32 bits.
    fn quotient(&self, number: u32) -> u32 {
        (number * self.factor) >> Divisor::SHIFT
    }
}

#[cfg(test)]
mod tests {
    use super::{Divisor, LANES, LONG, fill};

    #[test]
    fn quotients_are_exact() {
        for divisor in 2..LONG as u32 {
            let by = Divisor::new(divisor);
            for number in 0..(LANES + LONG) as u32 {
                assert_eq!(by.quotient(number), number / divisor, "{number} / {divisor}");
            }
        }
    }

    #[test]
    fn lanes_have_the_indices_of_their_points() {
        let extents = [1, 2, 3, 4, 7, 15, 16, 17, 65, 100, 1000, 5000];
        for inner in [1, 2, 3, 5, 12, 15, 16, 17, 65, 130] {
            for extent in extents {
                for position in [0, 1, 2, 62, 63, 64, 1023, 4095, 12345] {
                    for count in [1, 3, 64, 1024, 2 * LANES + 5] {
                        let mut lanes = vec![-1; count];
                        fill(&mut lanes, position, inner, extent);
                        let expected = (position..position + count).map(|at| at / inner % extent);
                        let expected: Vec<i64> = expected.map(|index| index as i64).collect();
                        assert!(lanes == expected, "{count} from {position}: {inner}, {extent}");
                    }
                }
            }
        }
    }
}
