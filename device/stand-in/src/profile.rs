//! Which functions were called how often, and how long they took: what is left of a time is the host's own.

use std::any::type_name;
use std::collections::BTreeMap;
use std::ffi::{CString, c_char};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// By the name of a function.
static CALLS: Mutex<BTreeMap<&'static str, (u64, Duration)>> = Mutex::new(BTreeMap::new());

/// Does something for the function in which the closure `F` is written.
pub(crate) fn timed<F, T>(action: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let answer = action();
    let time = begun.elapsed();
    let mut names = type_name::<F>().split("::").filter(|part| part.starts_with("cu"));
    let name = names.next().unwrap_or("others");
    let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let (count, all) = calls.entry(name).or_default();
    *count += 1;
    *all += time;
    answer
}

/// Lines of names, counts and nanoseconds since this was asked for last.
#[unsafe(no_mangle)]
extern "C" fn weft_stand_in_profile() -> *mut c_char {
    let calls = std::mem::take(&mut *CALLS.lock().unwrap_or_else(PoisonError::into_inner));
    let line = |(name, (count, time)): (&str, (u64, Duration))| {
        format!("{name} {count} {}\n", time.as_nanos())
    };
    let text: String = calls.into_iter().map(line).collect();
    CString::new(text).unwrap_or_default().into_raw()
}
