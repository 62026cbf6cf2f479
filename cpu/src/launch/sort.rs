//! Stable sorting by keys, row by row.
//!
//! Keys become unsigned integers in the order of numerics.md (`bits`). A long row is sorted with all
//! threads (`order`); of many rows each thread sorts some. There a single key of 32 bits at most and the
//! position share one item, so that items are sorted whole; other short rows are sorted by comparison.

use std::ops::Range;
use std::sync::Mutex;

use weft_ir::{Exhausted, Stop};

use super::bits::{Bits, flip};
use super::order::{Order, order_of};
use crate::execute::Halt;
use crate::lanes::{Elements, Lane, Storage, with_lane_type};
use crate::launch::chunk::{CHUNK, Cut, chunks};
use crate::launch::{Launch, PARALLEL};
use crate::radix::{self, First, Long, Sorting};
use crate::shape::Axis;
use crate::workers::{Workers, lock};

/// Rows below this length are sorted by comparison.
const SHORT: usize = 256;

/// A single row from this length on is sorted by all threads.
pub(crate) const LONG: usize = 4096;

impl Launch<'_> {
    /// The order of the points of each row, by the keys.
    pub(super) fn sort(
        &self,
        keys: &[&Storage],
        descending: bool,
        taken: &mut u64,
    ) -> Result<Order, Stop> {
        let points = self.shape.points();
        let bytes = points.saturating_mul(8 * (keys.len() + 4)) as u64;
        *taken = taken.saturating_add(bytes);
        if *taken > self.free_bytes {
            let span = self.kernel.span;
            return Err(Exhausted::Memory { wanted: bytes, limit: self.limit, span }.into());
        }
        if self.shape.rows() == 1 && points >= LONG {
            let keys: Vec<Elements<'_>> = keys.iter().map(|key| key.elements()).collect();
            let poll = || self.context().poll();
            return order_of(&keys, points, descending, self.workers, &poll)
                .map_err(|halt| self.stop(halt));
        }
        // A key of 32 bits at most, above room for the place in the row.
        let packed: Option<Vec<u64>> = match keys {
            [key] if u32::try_from(points).is_ok() => upper_bits(key, descending),
            _ => None,
        };
        let keys: Vec<Vec<u64>> = match packed {
            Some(_) => Vec::new(),
            None => keys.iter().map(|key| ordered_bits(key, descending)).collect(),
        };
        let ragged = matches!(self.shape.axes.last(), Some(Axis::Ragged(_)));
        let parts = Mutex::new(Vec::new());
        let chunks = chunks(&self.shape, Cut::Rows, CHUNK, self.context());
        let claims = chunks.map_err(|halt| self.stop(halt))?.into_iter().enumerate();
        self.workers
            .each(
                points >= PARALLEL,
                claims,
                || (Vec::new(), Vec::new()),
                |(items, room), (at, chunk)| {
                    let mut orders = Vec::with_capacity(chunk.positions.len());
                    for row in chunk.rows {
                        let poll = || self.context().poll();
                        poll()?;
                        let positions = self.shape.row(row);
                        let base = if ragged { 0 } else { positions.start };
                        let Some(packed) = &packed else {
                            let order = sorted(&keys, positions, &poll)?;
                            orders.extend(order.iter().map(|position| (position - base) as i64));
                            continue;
                        };
                        let first = (positions.start - base) as i64;
                        items.clear();
                        items.extend(
                            packed[positions].iter().zip(0_u64..).map(|(key, at)| key | at),
                        );
                        radix::sort_alone(items, room, &poll)?;
                        orders.extend(items.iter().map(|&item| first + i64::from(item as u32)));
                    }
                    lock(&parts).push((at, orders));
                    Ok(())
                },
            )
            .map_err(|halt| self.stop(halt))?;
        let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        parts.sort_by_key(|(at, _)| *at);
        if parts.len() == 1 {
            return Ok(Order::new(Storage::I64(parts.remove(0).1)));
        }
        Ok(Order::new(Storage::I64(parts.into_iter().flat_map(|(_, part)| part).collect())))
    }
}

impl Launch<'_> {
    /// The keys of a single row in their order.
    pub(super) fn keys_in_order(
        &self,
        order: &Order,
        keys: &Storage,
        taken: &mut u64,
    ) -> Result<Storage, Stop> {
        let sorted = self.allocate(keys.ty(), keys.len(), taken)?;
        order.of_key(keys.elements(), sorted, self.workers).map_err(|halt| self.stop(halt))
    }

    /// The positions of these targets, by target.
    pub(super) fn ordered(&self, targets: &[i64]) -> Result<Storage, Halt> {
        let poll = || self.context().poll();
        let targets = [Elements::I64(targets)];
        Ok(order_of(&targets, targets[0].len(), false, self.workers, &poll)?.positions)
    }
}

/// The positions of a row, sorted by the keys.
fn sorted(
    keys: &[Vec<u64>],
    positions: Range<usize>,
    poll: &(dyn Fn() -> Result<(), Halt> + Sync),
) -> Result<Vec<usize>, Halt> {
    let mut order: Vec<usize> = positions.clone().collect();
    if positions.len() < SHORT {
        match keys {
            [key] => order.sort_by_key(|&position| key[position]),
            _ => order.sort_by(|&a, &b| {
                keys.iter()
                    .map(|key| key[a].cmp(&key[b]))
                    .find(|order| order.is_ne())
                    .unwrap_or(std::cmp::Ordering::Equal)
            }),
        }
        return Ok(order);
    }
    let alone = Workers::new(1);
    for key in keys.iter().rev() {
        let before = order.clone();
        let sorting = Sorting {
            of: |at: usize| Long(key[before[at]], before[at] as u64),
            convert: |pair: Long| pair.1 as usize,
        };
        radix::sort::<First, _>(&sorting, &mut order, &alone, poll)?;
    }
    Ok(order)
}

/// Keys as bits.
fn ordered_bits(keys: &Storage, descending: bool) -> Vec<u64> {
    with_lane_type!(keys.ty(), T => {
        let flip = flip::<T>(descending);
        T::storage(keys).iter().map(|key| key.bits() ^ flip).collect()
    })
}

/// As [`ordered_bits`] in the upper halves, if they have room there.
fn upper_bits(keys: &Storage, descending: bool) -> Option<Vec<u64>> {
    with_lane_type!(keys.ty(), T => {
        let flip = flip::<T>(descending);
        let upper = |key: &T| (key.bits() ^ flip) << u32::BITS;
        (T::WIDTH <= u32::BITS).then(|| T::storage(keys).iter().map(upper).collect())
    })
}
