//! What copying on the device reaches: what programs that are bound by memory are compared with.

use std::time::Duration;

use crate::driver::{Driver, Work};
use crate::streams::FIRST;
use crate::words::Failure;

/// Copies between the two marks.
const COPIES: u32 = 5;

/// The bytes that are read and written in a second when so many are copied from one buffer to another; nothing if the
/// device's clock saw no time pass.
pub(crate) fn rate(driver: &Driver, bytes: u64) -> Result<Option<f64>, Failure> {
    let from = driver.allocate(bytes, FIRST)?;
    let rate = driver.allocate(bytes, FIRST).and_then(|to| {
        let rate = between(driver, from, to, bytes);
        driver.free(to, FIRST).and(rate)
    });
    driver.free(from, FIRST).and(rate)
}

fn between(driver: &Driver, from: u64, to: u64, bytes: u64) -> Result<Option<f64>, Failure> {
    driver.queue(Work::Clear { address: from, bytes }, &[], FIRST)?;
    let copy = || driver.queue(Work::Copy { to, from, bytes }, &[], FIRST);
    // The first one is slower.
    copy()?;
    let begin = driver.mark()?;
    let end = (0..COPIES).try_for_each(|_| copy()).and_then(|()| driver.mark());
    let took = end.and_then(|end| {
        let took = driver.settle().and_then(|()| driver.between(&begin, &end));
        driver.forget(end);
        took
    });
    driver.forget(begin);
    let moved = 2.0 * f64::from(COPIES) * bytes as f64;
    Ok(Some(took?).filter(|took| *took > Duration::ZERO).map(|took| moved / took.as_secs_f64()))
}
