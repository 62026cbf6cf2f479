//! `:bench`: how long an expression takes, again and again, and how well it uses the memory.

use std::time::{Duration, Instant};

use weft_ir::{Exhausted, Failure};
use weft_lang::render;

use super::Context;
use super::bandwidth::copying;
use super::fuse::counted;
use crate::engine::{Compiled, Job};
use crate::footer::time_text;
use crate::modes::size_text;
use crate::prelude;
use crate::run::Stop;

/// How long it goes on, but for three runs at least.
const LONGEST: Duration = Duration::from_secs(2);
/// The most runs.
const MOST: usize = 1000;
/// Below so many bytes a run says nothing about the memory.
const ENOUGH: u64 = 1 << 20;

/// The median and the spread of many runs.
pub(super) fn text(context: &Context<'_>, job: &Job<'_>) -> Result<String, Stop> {
    let begun = Instant::now();
    let mut times = Vec::new();
    let (mut launches, mut moved) = (0, 0);
    let mut on_device = Vec::new();
    let mut backend = job.modes.backend;
    let mut compiled = Compiled::default();
    while times.len() < 3 || (begun.elapsed() < LONGEST && times.len() < MOST) {
        let started = Instant::now();
        let (result, ran) = context.engine.run_again(job, &mut compiled);
        times.push(started.elapsed());
        launches = ran.counters.launches;
        moved = ran.counters.bytes_read + ran.counters.bytes_written;
        backend = ran.backend;
        on_device.push(ran.counters.on_device);
        match result {
            Ok(_) => {}
            Err(Failure::Exhausted(Exhausted::Interrupted)) => {
                return Err(Stop::Interrupted);
            }
            Err(Failure::Exhausted(exhausted)) => {
                return Err(Stop::Failed(Box::new(render::exhausted_diagnostic(&exhausted))));
            }
            Err(Failure::Trap(trap)) => {
                let trap = prelude::outside(*trap);
                return Err(Stop::Failed(Box::new(render::trap_diagnostic(&trap))));
            }
        }
    }
    // The first run compiles.
    let first = times.remove(0);
    times.sort_unstable();
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let mut text = format!(
        "{} (median of {} runs; {} to {} for nine of ten; the first took {})\non {}, {} a run, {}",
        time_text(at(0.5)),
        times.len(),
        time_text(at(0.05)),
        time_text(at(0.95)),
        time_text(first),
        backend.name(),
        counted(launches as usize, "kernel launch"),
        counted(job.modes.threads, "thread"),
    );
    on_device.sort_unstable();
    let median = on_device[on_device.len() / 2];
    if median > Duration::ZERO {
        text += &format!("\n{} of it on the device, by its own clock", time_text(median));
    }
    let seconds = at(0.5).as_secs_f64();
    if moved >= ENOUGH
        && seconds > 0.0
        && let Some(reached) = copying(job.modes.threads, job.modes.memory)
    {
        let rate = moved as f64 / seconds;
        text += &format!(
            "\n{} a run at {:.1} GB/s, {:.0} % of the {:.1} GB/s that copying reaches here",
            size_text(moved),
            rate / 1e9,
            100.0 * rate / reached,
            reached / 1e9,
        );
        if rate > reached {
            text += " (of every load, those from a cache too)";
        }
    }
    Ok(text)
}
