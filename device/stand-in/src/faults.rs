//! Which call fails, how much memory there is, and what is not supported.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

static CALLS: AtomicU64 = AtomicU64::new(0);
/// The number of the call that fails; 0 for none.
static FAILING: AtomicU64 = AtomicU64::new(0);
static STICKY: AtomicBool = AtomicBool::new(false);
/// Whether all calls fail until a context is destroyed.
static STUCK: AtomicBool = AtomicBool::new(false);
static MEMORY: AtomicU64 = AtomicU64::new(64 << 20);
static GRAPHS: AtomicBool = AtomicBool::new(true);
/// Whether the last stream comes first.
static LAST_FIRST: AtomicBool = AtomicBool::new(false);
/// Milliseconds that a kernel of a graph takes more.
static DELAY: AtomicU64 = AtomicU64::new(0);
/// Milliseconds that the compiler takes more.
static COMPILING: AtomicU64 = AtomicU64::new(0);
/// The release of CUDA that the driver is for: 1000 times the first number and 10 times the second.
static RELEASE: AtomicI32 = AtomicI32::new(13000);
static DEVICES: AtomicI32 = AtomicI32::new(1);
/// The first number of their architecture.
static ARCHITECTURE: AtomicI32 = AtomicI32::new(9);
static BEGUN: OnceLock<()> = OnceLock::new();

/// Counts a call; whether it is to fail.
pub(crate) fn fails() -> bool {
    BEGUN.get_or_init(|| {
        let number = |name| std::env::var(name).ok().and_then(|text: String| text.parse().ok());
        if let Some(call) = number("WEFT_STAND_IN_FAIL") {
            FAILING.store(call, Ordering::SeqCst);
        }
        if let Some(bytes) = number("WEFT_STAND_IN_MEMORY") {
            MEMORY.store(bytes, Ordering::SeqCst);
        }
    });
    let call = CALLS.fetch_add(1, Ordering::SeqCst) + 1;
    if call == FAILING.load(Ordering::SeqCst) {
        STUCK.store(STICKY.load(Ordering::SeqCst), Ordering::SeqCst);
        return true;
    }
    STUCK.load(Ordering::SeqCst)
}

/// Bytes that are lost, as a context had them when it was thrown away.
static LOST: AtomicU64 = AtomicU64::new(0);

pub(crate) fn lost() -> u64 {
    LOST.load(Ordering::SeqCst)
}

pub(crate) fn lose(bytes: u64) {
    LOST.fetch_add(bytes, Ordering::SeqCst);
}

/// How many bytes are lost.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_lost() -> u64 {
    lost()
}

/// The release of the compiler: 1000 times the first number and 10 times the second. Not one that there ever was, as
/// its code must not be taken for that of a compiler.
static COMPILER: AtomicI32 = AtomicI32::new(12990);

pub(crate) fn compiler() -> (i32, i32) {
    let release = COMPILER.load(Ordering::SeqCst);
    (release / 1000, release % 1000 / 10)
}

/// Says of which release the compiler is.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_compiler(release: i32) {
    COMPILER.store(release, Ordering::SeqCst);
}

/// Whether no context can be made.
static REFUSES: AtomicBool = AtomicBool::new(false);

pub(crate) fn refuses() -> bool {
    REFUSES.load(Ordering::SeqCst)
}

/// Says whether no context can be made.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_refuse(is_so: i32) {
    REFUSES.store(is_so != 0, Ordering::SeqCst);
}

/// A new context does not know what happened to the last.
pub(crate) fn reset() {
    STUCK.store(false, Ordering::SeqCst);
}

/// The bytes that the device has.
pub(crate) fn memory() -> u64 {
    MEMORY.load(Ordering::SeqCst)
}

/// Whether the driver knows graphs.
pub(crate) fn has_graphs() -> bool {
    GRAPHS.load(Ordering::SeqCst)
}

/// Says whether the driver knows graphs.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_graphs(known: i32) {
    GRAPHS.store(known != 0, Ordering::SeqCst);
}

/// Whether the last stream comes first (Note [The worst order]).
pub(crate) fn is_last_first() -> bool {
    LAST_FIRST.load(Ordering::SeqCst)
}

/// Says whether the last stream comes first.
pub(crate) fn set_last_first(is_so: bool) {
    LAST_FIRST.store(is_so, Ordering::SeqCst);
}

/// Says whether the last stream comes first.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_order(last_first: i32) {
    set_last_first(last_first != 0);
}

/// Milliseconds that a kernel of a graph takes more than it would.
pub(crate) fn delay() -> u64 {
    DELAY.load(Ordering::SeqCst)
}

/// Says how many milliseconds a kernel of a graph takes more.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_delay(milliseconds: u64) {
    DELAY.store(milliseconds, Ordering::SeqCst);
}

/// Milliseconds that the compiler takes more than it would.
pub(crate) fn compiling() -> u64 {
    COMPILING.load(Ordering::SeqCst)
}

/// Says how many milliseconds the compiler takes more.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_compiling(milliseconds: u64) {
    COMPILING.store(milliseconds, Ordering::SeqCst);
}

/// The release of CUDA that the driver is for.
pub(crate) fn release() -> i32 {
    RELEASE.load(Ordering::SeqCst)
}

/// Says which release of CUDA the driver is for.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_release(release: i32) {
    RELEASE.store(release, Ordering::SeqCst);
}

/// How many devices there are: one or none.
pub(crate) fn devices() -> i32 {
    DEVICES.load(Ordering::SeqCst)
}

/// Says how many devices there are.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_devices(count: i32) {
    DEVICES.store(count, Ordering::SeqCst);
}

/// The first number of the architecture of the device.
pub(crate) fn architecture() -> i32 {
    ARCHITECTURE.load(Ordering::SeqCst)
}

/// Says what the first number of the architecture of the device is.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_architecture(major: i32) {
    ARCHITECTURE.store(major, Ordering::SeqCst);
}

/// How many calls there were.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_calls() -> u64 {
    CALLS.load(Ordering::SeqCst)
}

/// Has a call fail, counted from now: 1 is the next, 0 none. If `sticky`, all later ones fail too.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_fail(number: u64, sticky: i32) {
    STICKY.store(sticky != 0, Ordering::SeqCst);
    let call = if number == 0 { 0 } else { CALLS.load(Ordering::SeqCst) + number };
    FAILING.store(call, Ordering::SeqCst);
    reset();
}

/// Says how many bytes the device has.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_memory(bytes: u64) {
    // Before what the environment says is read for the first time.
    BEGUN.get_or_init(|| ());
    MEMORY.store(bytes, Ordering::SeqCst);
    // As if nothing had happened before.
    LOST.store(0, Ordering::SeqCst);
}
