//! Stable sorting by keys, row by row.
//!
//! Keys become unsigned integers in the order of numerics.md. A long row is sorted with all threads
//! (`radix`), several keys from the last to the first; of many rows each thread sorts some. A single
//! key of 32 bits at most and the position share one item, so that items are sorted whole; other short
//! rows are sorted by comparison.

use std::ops::Range;
use std::sync::Mutex;

use weft_ir::{Exhausted, Stop};

use crate::execute::Halt;
use crate::lanes::{Elements, Lane, LaneType, Storage};
use crate::launch::chunk::{CHUNK, Cut, chunks};
use crate::launch::{Launch, PARALLEL};
use crate::radix::{self, First, Long, Sorting, Upper};
use crate::shape::Axis;
use crate::workers::{Workers, lock};

/// Rows below this length are sorted by comparison.
const SHORT: usize = 256;

/// A single row from this length on is sorted by all threads.
const LONG: usize = 4096;

pub(super) const SIGN: u64 = 1 << 63;
pub(super) const SIGN_32: u32 = 1 << 31;

/// Evaluates an expression with the function from positions to [`ordered_bits`], if these are 32 at
/// most.
macro_rules! with_short_bits {
    ($keys:expr, $descending:expr, $bits:ident => $body:expr) => {{
        let flip = if $descending { u32::MAX } else { 0 };
        macro_rules! with {
            ($vec:expr, $key:ident => $ordered:expr) => {{
                let $bits = |at: usize| {
                    let $key = $vec[at];
                    $ordered ^ flip
                };
                Some($body)
            }};
        }
        match $keys {
            Elements::I8(keys) => with!(keys, key => i32::from(key) as u32 ^ SIGN_32),
            Elements::I16(keys) => with!(keys, key => i32::from(key) as u32 ^ SIGN_32),
            Elements::I32(keys) => with!(keys, key => key as u32 ^ SIGN_32),
            Elements::U8(keys) => with!(keys, key => u32::from(key)),
            Elements::U16(keys) => with!(keys, key => u32::from(key)),
            Elements::U32(keys) => with!(keys, key => key),
            Elements::F32(keys) => with!(keys, key => float_bits_f32(key)),
            Elements::Bool(keys) => with!(keys, key => u32::from(key)),
            Elements::I64(_) | Elements::U64(_) | Elements::F64(_) => None,
        }
    }};
}

impl Launch<'_> {
    /// The order of the points of each row, by the keys.
    pub(super) fn sort(
        &self,
        keys: &[&Storage],
        descending: bool,
        taken: &mut u64,
    ) -> Result<Storage, Stop> {
        let points = self.shape.points();
        let bytes = points.saturating_mul(8 * (keys.len() + 4)) as u64;
        *taken = taken.saturating_add(bytes);
        if *taken > self.free_bytes {
            let span = self.kernel.span;
            return Err(Exhausted::Memory { wanted: bytes, limit: self.limit, span }.into());
        }
        if self.shape.rows() == 1 && points >= LONG {
            return self.sort_long(keys, descending).map_err(|halt| self.stop(halt));
        }
        // A key of 32 bits at most, above room for the place in the row.
        let packed: Option<Vec<u64>> = match keys {
            [key] if u32::try_from(points).is_ok() => {
                with_short_bits!(key.elements(), descending, bits => {
                    (0..points).map(|at| u64::from(bits(at)) << 32).collect()
                })
            }
            _ => None,
        };
        let keys: Vec<Vec<u64>> = match packed {
            Some(_) => Vec::new(),
            None => keys.iter().map(|key| ordered_bits(key.elements(), descending)).collect(),
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
            return Ok(Storage::I64(parts.remove(0).1));
        }
        Ok(Storage::I64(parts.into_iter().flat_map(|(_, part)| part).collect()))
    }
}

impl Launch<'_> {
    /// The order of one long row.
    fn sort_long(&self, keys: &[&Storage], descending: bool) -> Result<Storage, Halt> {
        let poll = || self.context().poll();
        let (workers, length) = (self.workers, self.shape.points());
        let mut storage = workers.memory().take(LaneType::I64, length);
        let order = i64::storage_mut(&mut storage);
        let short: Option<Result<(), Halt>> = match keys {
            [key] if u32::try_from(length).is_ok() => {
                with_short_bits!(key.elements(), descending, bits => {
                    let sorting = Sorting {
                        of: |at: usize| u64::from(bits(at)) << 32 | at as u64,
                        convert: |pair: u64| i64::from(pair as u32),
                    };
                    radix::sort::<Upper, _>(&sorting, order, workers, &poll)
                })
            }
            _ => None,
        };
        if let Some(done) = short {
            done?;
            return Ok(storage);
        }
        for (number, key) in keys.iter().rev().enumerate() {
            let bits = ordered_bits(key.elements(), descending);
            let before = if number == 0 { Vec::new() } else { order.clone() };
            let of = |at: usize| match before.get(at) {
                Some(&from) => Long(bits[from as usize], from as u64),
                None => Long(bits[at], at as u64),
            };
            let convert = |pair: Long| pair.1 as i64;
            let sorting = Sorting { of, convert };
            radix::sort::<First, _>(&sorting, order, workers, &poll)?;
        }
        if keys.is_empty() {
            order.iter_mut().zip(0..).for_each(|(place, at)| *place = at);
        }
        Ok(storage)
    }

    /// The positions of these targets, by target.
    pub(super) fn ordered(&self, targets: &[i64]) -> Result<Vec<usize>, Halt> {
        let sorting = Sorting {
            of: |at: usize| Long(targets[at] as u64, at as u64),
            convert: |pair: Long| pair.1 as usize,
        };
        let mut positions = vec![0; targets.len()];
        radix::sort::<First, _>(&sorting, &mut positions, self.workers, &|| self.context().poll())?;
        Ok(positions)
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

/// Unsigned integers in the order of the keys: `-inf … -0 < +0 … inf`, then NaN.
fn ordered_bits(keys: Elements<'_>, descending: bool) -> Vec<u64> {
    let flip = if descending { u64::MAX } else { 0 };
    let length = keys.len();
    let short: Option<Vec<u64>> = with_short_bits!(keys, descending, bits => {
        (0..length).map(|at| u64::from(bits(at))).collect()
    });
    if let Some(short) = short {
        return short;
    }
    match keys {
        Elements::I64(keys) => keys.iter().map(|&key| key as u64 ^ SIGN ^ flip).collect(),
        Elements::U64(keys) => keys.iter().map(|&key| key ^ flip).collect(),
        Elements::F64(keys) => keys.iter().map(|&key| float_bits_f64(key) ^ flip).collect(),
        other => unreachable!("{:?} has 32 bits at most", other.ty()),
    }
}

pub(super) fn float_bits_f32(key: f32) -> u32 {
    let bits = key.to_bits();
    match key.is_nan() {
        true => u32::MAX,
        false if bits & SIGN_32 != 0 => !bits,
        false => bits | SIGN_32,
    }
}

pub(super) fn float_bits_f64(key: f64) -> u64 {
    let bits = key.to_bits();
    match key.is_nan() {
        true => u64::MAX,
        false if bits & SIGN != 0 => !bits,
        false => bits | SIGN,
    }
}
