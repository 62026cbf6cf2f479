//! Stable sorting by keys, row by row.
//!
//! Keys become unsigned integers in the order of numerics.md, and are sorted by digits from the last
//! key to the first (least significant digit first, which is stable). Short rows are sorted by
//! comparison.

use std::ops::Range;
use std::sync::Mutex;

use weft_ir::{Exhausted, Stop};

use crate::execute::Halt;
use crate::lanes::Storage;
use crate::launch::chunk::{Cut, chunks};
use crate::launch::{Launch, PARALLEL};
use crate::shape::Axis;
use crate::workers::lock;

/// Rows below this length are sorted by comparison.
const SHORT: usize = 256;

/// The bits of a digit.
const DIGIT: u32 = 11;

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
        let keys: Vec<Vec<u64>> = keys.iter().map(|key| ordered_bits(key, descending)).collect();
        let ragged = matches!(self.shape.axes.last(), Some(Axis::Ragged(_)));
        let parts = Mutex::new(Vec::new());
        let claims = chunks(&self.shape, Cut::Rows).into_iter().enumerate();
        self.workers
            .each(
                points >= PARALLEL,
                claims,
                || (),
                |(), (at, chunk)| {
                    let mut orders = Vec::with_capacity(chunk.positions.len());
                    for row in chunk.rows {
                        self.context().poll()?;
                        let positions = self.shape.row(row);
                        let base = if ragged { 0 } else { positions.start };
                        let order = sorted(&keys, positions, &|| self.context().poll())?;
                        orders.extend(order.into_iter().map(|position| (position - base) as i64));
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

/// The positions of a row, sorted by the keys.
fn sorted(
    keys: &[Vec<u64>],
    positions: Range<usize>,
    poll: &dyn Fn() -> Result<(), Halt>,
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
    for key in keys.iter().rev() {
        poll()?;
        let mut pairs: Vec<(u64, usize)> = order.iter().map(|&at| (key[at], at)).collect();
        radix_sort(&mut pairs, poll)?;
        order.clear();
        order.extend(pairs.into_iter().map(|(_, at)| at));
    }
    Ok(order)
}

/// Sorts by the first component, stably. Digits that all pairs have in common are skipped.
pub(super) fn radix_sort(
    pairs: &mut Vec<(u64, usize)>,
    poll: &dyn Fn() -> Result<(), Halt>,
) -> Result<(), Halt> {
    let Some(&(first, _)) = pairs.first() else { return Ok(()) };
    let differing = pairs.iter().fold(0, |bits, (key, _)| bits | (key ^ first));
    let mut other = vec![(0, 0); pairs.len()];
    for shift in (0..u64::BITS).step_by(DIGIT as usize) {
        let mask = (1_u64 << DIGIT) - 1;
        if (differing >> shift) & mask == 0 {
            continue;
        }
        poll()?;
        let mut starts = vec![0_usize; 1 << DIGIT];
        for (key, _) in pairs.iter() {
            starts[((key >> shift) & mask) as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut starts {
            sum += std::mem::replace(start, sum);
        }
        for &pair in pairs.iter() {
            let start = &mut starts[((pair.0 >> shift) & mask) as usize];
            other[*start] = pair;
            *start += 1;
        }
        std::mem::swap(pairs, &mut other);
    }
    Ok(())
}

/// Unsigned integers in the order of the keys: `-inf … -0 < +0 … inf`, then NaN.
fn ordered_bits(keys: &Storage, descending: bool) -> Vec<u64> {
    let flip = if descending { u64::MAX } else { 0 };
    macro_rules! bits {
        ($vec:expr, $key:ident => $bits:expr) => {
            $vec.iter().map(|&$key| $bits ^ flip).collect()
        };
    }
    const SIGN: u64 = 1 << 63;
    match keys {
        Storage::I8(vec) => bits!(vec, key => i64::from(key) as u64 ^ SIGN),
        Storage::I16(vec) => bits!(vec, key => i64::from(key) as u64 ^ SIGN),
        Storage::I32(vec) => bits!(vec, key => i64::from(key) as u64 ^ SIGN),
        Storage::I64(vec) => bits!(vec, key => key as u64 ^ SIGN),
        Storage::U8(vec) => bits!(vec, key => u64::from(key)),
        Storage::U16(vec) => bits!(vec, key => u64::from(key)),
        Storage::U32(vec) => bits!(vec, key => u64::from(key)),
        Storage::U64(vec) => bits!(vec, key => key),
        Storage::F32(vec) => bits!(vec, key => u64::from(float_bits_f32(key))),
        Storage::F64(vec) => bits!(vec, key => float_bits_f64(key)),
        Storage::Bool(vec) => bits!(vec, key => u64::from(key)),
    }
}

fn float_bits_f32(key: f32) -> u32 {
    let bits = key.to_bits();
    match key.is_nan() {
        true => u32::MAX,
        false if bits >> 31 == 1 => !bits,
        false => bits | 1 << 31,
    }
}

fn float_bits_f64(key: f64) -> u64 {
    let bits = key.to_bits();
    match key.is_nan() {
        true => u64::MAX,
        false if bits >> 63 == 1 => !bits,
        false => bits | 1 << 63,
    }
}
