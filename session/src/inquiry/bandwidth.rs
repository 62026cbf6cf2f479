//! How fast the memory of this machine is: what kernels that only move data could reach.

use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The bytes that are copied at a time, all threads together: more than caches hold.
const BYTES: usize = 64 << 20;
/// How often; the best counts.
const PASSES: usize = 6;

/// The bytes a second that so many threads read and write when they copy; nothing if there is no
/// memory to spare. It takes about a tenth of a second.
pub(super) fn copying(threads: usize, memory: u64) -> Option<f64> {
    if memory < 4 * BYTES as u64 {
        return None;
    }
    let threads = threads.max(1);
    let barrier = Barrier::new(threads);
    let each = BYTES / threads;
    let passes: Vec<Vec<Duration>> = thread::scope(|scope| {
        let copier = || {
            let (from, mut to) = (vec![1_u8; each], vec![0_u8; each]);
            let pass = |_| {
                barrier.wait();
                let started = Instant::now();
                to.copy_from_slice(std::hint::black_box(&from));
                std::hint::black_box(&to);
                barrier.wait();
                started.elapsed()
            };
            (0..PASSES).map(pass).collect()
        };
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(copier)).collect();
        handles.into_iter().filter_map(|handle| handle.join().ok()).collect()
    });
    let fastest = passes.iter().flatten().min()?.as_secs_f64();
    (fastest > 0.0).then(|| 2.0 * (each * threads) as f64 / fastest)
}

#[cfg(test)]
mod tests {
    use super::copying;

    #[test]
    fn memory_is_neither_still_nor_endlessly_fast() {
        let rate = copying(2, 1 << 30).unwrap();
        assert!((1e7..1e13).contains(&rate), "{rate} bytes a second");
        assert_eq!(copying(2, 1 << 20), None);
    }
}
