//! The greatest error of a function over many operands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use weft_ir::math::random;

use crate::functions::{Binary, Unary};
use crate::yardstick::Yardstick;

/// The greatest error found, in units in the last place, and for which operands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worst {
    /// The error; infinite where a NaN, an infinity or the sign of a zero is wrong.
    pub(crate) error: f64,
    /// The operands.
    pub(crate) operands: Vec<f64>,
    /// How many were tried.
    pub(crate) tried: u64,
}

impl Worst {
    fn record(&mut self, error: f64, operands: &[f64]) {
        self.tried += 1;
        if error.abs() > self.error {
            self.error = error.abs();
            self.operands = operands.to_vec();
        }
    }

    fn merge(self, other: Worst) -> Worst {
        let tried = self.tried + other.tried;
        let worst = if other.error > self.error { other } else { self };
        Worst { tried, ..worst }
    }
}

/// Tries every `stride`th of the 2^32 floats in single precision.
pub(crate) fn sweep_single(function: &Unary, stride: u64, threads: usize) -> Worst {
    let count = (1u64 << 32).div_ceil(stride);
    in_blocks(count, threads, |worst, index| {
        let x = f32::from_bits((index * stride) as u32);
        let truth = (function.reference)(f64::from(x));
        worst.record(ulps_single((function.single)(x), truth), &[f64::from(x)]);
    })
}

/// Tries `count` random pairs in single precision.
pub(crate) fn sample_single(function: &Binary, count: u64, threads: usize) -> Worst {
    in_blocks(count, threads, |worst, index| {
        let (x, y) = binary_operands(function.name, index, 24, 126.0);
        let (x, y) = (x as f32, y as f32);
        let truth = (function.reference)(f64::from(x), f64::from(y));
        let error = ulps_single((function.single)(x, y), truth);
        worst.record(error, &[f64::from(x), f64::from(y)]);
    })
}

/// Tries `count` random operands in double precision.
pub(crate) fn sample_double(function: &Unary, count: u64, threads: usize) -> Worst {
    in_chunks(count, threads, |worst, yardstick, index| {
        let x = unary_operand(function, index);
        let truth = yardstick.unary(function.name, x);
        worst.record(Yardstick::ulps((function.double)(x), &truth), &[x]);
    })
}

/// Tries `count` random pairs in double precision.
pub(crate) fn sample_double_binary(function: &Binary, count: u64, threads: usize) -> Worst {
    in_chunks(count, threads, |worst, yardstick, index| {
        let (x, y) = binary_operands(function.name, index, 53, 1022.0);
        let truth = yardstick.binary(function.name, x, y);
        worst.record(Yardstick::ulps((function.double)(x, y), &truth), &[x, y]);
    })
}

/// One third uniform in the domain, one third uniform in the logarithm, one third of moderate
/// magnitude: where most branches are.
fn unary_operand(function: &Unary, index: u64) -> f64 {
    let (low, high) = function.domain;
    let (at, other) = (random::uniform_f64(1, index), random::uniform_f64(2, index));
    match index % 3 {
        0 => low.max(-40.0) + (high.min(40.0) - low.max(-40.0)) * at,
        1 => {
            let x = 2f64.powf(-300.0 + (high.log2() + 300.0) * at);
            if low < 0.0 && other < 0.5 { x.min(-low).copysign(-1.0) } else { x.max(low) }
        }
        _ => low.max(-4.0) + (high.min(4.0) - low.max(-4.0)) * at,
    }
}

/// Operands whose result is neither too great nor too small too often.
fn binary_operands(name: &str, index: u64, digits: u32, range: f64) -> (f64, f64) {
    let (at, other) = (random::uniform_f64(3, index), random::uniform_f64(4, index));
    let (sign, wide) = (random::uniform_f64(5, index), random::uniform_f64(6, index));
    let signed = |value: f64, negative: bool| if negative { -value } else { value };
    if name == "pow" {
        // The base near 1 or anywhere; the exponent such that the result spans the range.
        let spread =
            if index.is_multiple_of(2) { 2f64.powf(-f64::from(digits) * wide) } else { range };
        let base = if index.is_multiple_of(2) {
            1.0 + spread * (at - 0.5)
        } else {
            ((at - 0.5) * spread).exp2()
        };
        // As the test will round it.
        let base = if digits == 24 { f64::from(base as f32) } else { base };
        let exponent = (other * 2.0 - 1.0) * range / base.log2();
        let exponent = if exponent.is_finite() { exponent } else { 1.0 };
        return (base, exponent.clamp(-1e30, 1e30));
    }
    let magnitude = ((wide - 0.5) * range).exp2();
    // The ratio is near 1, or anywhere.
    let ratio =
        if index.is_multiple_of(2) { 0.25 + 4.0 * other } else { ((other - 0.5) * 60.0).exp2() };
    let quarter = (sign * 4.0) as u64;
    (signed(magnitude * (1.0 + at), quarter % 2 == 1), signed(magnitude * ratio, quarter >= 2))
}

/// How far `found` is from the true value, in units of its last place in single precision.
fn ulps_single(found: f32, truth: f64) -> f64 {
    if truth.is_nan() || found.is_nan() {
        return if truth.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
    }
    if found.is_sign_negative() != truth.is_sign_negative() {
        return f64::INFINITY;
    }
    // Beyond the range, 2^128 stands for infinity on both sides.
    let limit = 2f64.powi(128);
    let truth = truth.clamp(-limit, limit);
    let found = f64::from(found).clamp(-limit, limit);
    let exponent = (truth.abs().to_bits() >> 52) as i32 - 1023;
    let unit = f64::from_bits(((exponent.clamp(-126, 127) - 23 + 1023) as u64) << 52);
    (found - truth) / unit
}

/// Calls `body` for each index below `count`, in blocks that the threads share.
fn in_blocks(count: u64, threads: usize, body: impl Fn(&mut Worst, u64) + Sync) -> Worst {
    const BLOCK: u64 = 1 << 16;
    let next = AtomicU64::new(0);
    let work = || {
        let mut worst = Worst::default();
        loop {
            let start = next.fetch_add(BLOCK, Ordering::Relaxed);
            if start >= count {
                return worst;
            }
            for index in start..(start + BLOCK).min(count) {
                body(&mut worst, index);
            }
        }
    };
    run(threads, work)
}

/// As [`in_blocks`], with a yardstick for each thread.
fn in_chunks(
    count: u64,
    threads: usize,
    body: impl Fn(&mut Worst, &mut Yardstick, u64) + Sync,
) -> Worst {
    let next = AtomicU64::new(0);
    let work = || {
        let (mut worst, mut yardstick) = (Worst::default(), Yardstick::new());
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return worst;
            }
            body(&mut worst, &mut yardstick, index);
        }
    };
    run(threads, work)
}

fn run(threads: usize, work: impl Fn() -> Worst + Sync) -> Worst {
    thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(&work)).collect();
        let results = handles.into_iter().map(|handle| handle.join().expect("no test panics"));
        results.fold(Worst::default(), Worst::merge)
    })
}
