//! What kernels have done, as counts: tests of interrupts ask how much was done after them, not how long
//! that took.

use std::sync::atomic::{AtomicU64, Ordering};

static ASKED_FOR: AtomicU64 = AtomicU64::new(0);
static BEGUN: AtomicU64 = AtomicU64::new(0);
static BEGUN_IN_GRAPHS: AtomicU64 = AtomicU64::new(0);
static LATE: AtomicU64 = AtomicU64::new(0);

/// Somebody launches a kernel.
pub(crate) fn asked_for() {
    ASKED_FOR.fetch_add(1, Ordering::SeqCst);
}

/// A kernel begins.
pub(crate) fn begins() {
    BEGUN.fetch_add(1, Ordering::SeqCst);
}

/// A kernel of a graph begins.
pub(crate) fn begins_in_graph() {
    BEGUN_IN_GRAPHS.fetch_add(1, Ordering::SeqCst);
}

/// A kernel has ended, after so many accesses to memory: if memory was changed while it ran, since then.
pub(crate) fn ended(accesses: u64) {
    LATE.fetch_add(accesses, Ordering::SeqCst);
}

/// Memory is changed, whatever is queued or runs.
pub(crate) fn poked() {
    LATE.store(0, Ordering::SeqCst);
}

/// How many launches there were, done or not.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_launches() -> u64 {
    ASKED_FOR.load(Ordering::SeqCst)
}

/// How many kernels have begun.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_begun() -> u64 {
    BEGUN.load(Ordering::SeqCst)
}

/// How many kernels of graphs have begun.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_begun_in_graphs() -> u64 {
    BEGUN_IN_GRAPHS.load(Ordering::SeqCst)
}

/// How often kernels that have ended accessed memory since it was last changed from another stream.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_late_accesses() -> u64 {
    LATE.load(Ordering::SeqCst)
}
