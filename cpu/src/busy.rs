//! How long a thread has computed.

use std::time::Instant;

/// Measures what the thread that made it computes: the time of the processor, where the system tells it, which leaves
/// out what other programs have taken; else all time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Busy {
    began: Instant,
    processor: Option<u64>,
}

impl Busy {
    /// From now on.
    pub(crate) fn start() -> Busy {
        Busy { began: Instant::now(), processor: processor() }
    }

    /// In nanoseconds.
    pub(crate) fn nanoseconds(&self) -> u64 {
        match (self.processor, processor()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            _ => u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

/// What this thread has taken of the processor's time, in nanoseconds.
#[cfg(unix)]
fn processor() -> Option<u64> {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).ok()?;
    seconds.checked_mul(1_000_000_000)?.checked_add(u64::try_from(time.tv_nsec).ok()?)
}

#[cfg(not(unix))]
fn processor() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn sleep_is_no_work() {
        let busy = Busy::start();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let slept = busy.nanoseconds();
        let mut sum = 0_u64;
        while busy.nanoseconds() < slept + 1_000_000 {
            sum = std::hint::black_box(sum + 1);
        }
        assert!(slept < 50_000_000, "{slept} ns");
    }
}
