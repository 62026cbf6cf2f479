//! How long the compiler of the device takes, and what the host adds to a run.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use std::{env, fs, process};

use weft_device::{Beside, Config, Description, Device, Kernels};
use weft_ir::{Array, Column, Value, plan};

use super::super::watch::Watch;
use super::super::{Options, PATIENCE};
use super::{MEMORY, median, milliseconds};

/// Prints a line about programs of one and of ten kernels, and one about what a warm run takes.
pub(super) fn time(
    description: &Description,
    options: &Options,
    out: &mut dyn Write,
) -> io::Result<()> {
    let folder = env::temp_dir().join(format!("weft-device-{}", process::id()));
    let mut text = String::new();
    let watch = Watch::new(PATIENCE);
    for kernels in [1, 10] {
        watch.on(format!("compiling programs of {kernels} kernels"), None);
        let cold = first(description, kernels, &folder)?;
        let cached = first(description, kernels, &folder)?;
        let words = if kernels == 1 { "1 kernel".to_owned() } else { format!("{kernels} kernels") };
        write!(
            text,
            "{words}: {:.1} ms, {:.2} ms from the disk; ",
            milliseconds(cold),
            milliseconds(cached)
        )
        .expect("a string takes all");
    }
    // Nobody else knows the folder.
    drop(fs::remove_dir_all(&folder));
    writeln!(out, "- Compiling and loading a program of {}.", text.trim_end_matches("; "))?;
    watch.on("a warm program of one small kernel".to_owned(), None);
    let warm = warm(description, if options.is_small { 3 } else { 300 })?;
    let microseconds = warm.as_secs_f64() * 1e6;
    // A kernel of a thousand elements is some 2 to 3 µs of this.
    writeln!(
        out,
        "- A warm program of one small kernel takes {microseconds:.1} µs, its kernel and its result of 4000 bytes included."
    )
}

/// A program with so many kernels, each of which adds a number of its own to all elements.
pub(in crate::device_check) fn program(kernels: usize) -> plan::Program {
    let mut text = "input a1: [a0]f32\n".to_owned();
    for number in 1..=kernels {
        let (register, next) = (2 * number, 2 * number + 1);
        let (from, to, index) = (number, number + 1, 1000 + number);
        write!(
            text,
            "launch \"map\" [a0] (r{index})\n\
             \x20 r{register}: f32 = read a{from} r{index}\n\
             \x20 r{next}: f32 = add r{register} {number}.0f32\n\
             \x20 yield r{next}\n\
             \x20 store r{next} to a{to}: [a0]f32\n\
             end\n"
        )
        .expect("a string takes all");
    }
    writeln!(text, "output a{}: [a0]f32", kernels + 1).expect("a string takes all");
    let program = plan::parse(&text).expect("a plan");
    plan::check(&program).expect("a plan");
    program
}

fn opened(
    description: &Description,
    kernels: usize,
    cache: Option<&Path>,
) -> io::Result<(Device, Kernels)> {
    let config = Config {
        cache: cache.map(Path::to_owned),
        cache_bytes: 1 << 30,
        graphs: true,
        streams: Beside::Long,
        ..Config::of_environment()
    };
    let device = Device::open(description.clone(), &config).map_err(io::Error::other)?;
    let kernels = device.kernels(program(kernels));
    Ok((device, kernels))
}

fn input() -> [Value; 1] {
    [Value::Array(Arc::new(Array::new(Column::F32(vec![1.0; 1000].into()))))]
}

/// How long a new context waits for the kernels of a program.
fn first(description: &Description, kernels: usize, cache: &Path) -> io::Result<Duration> {
    let (mut device, kernels) = opened(description, kernels, Some(cache))?;
    let ran = device.run(&kernels, &input(), MEMORY, &AtomicBool::new(false), &mut |_| {});
    ran.results.map_err(|halt| io::Error::other(format!("{halt:?}")))?;
    Ok(ran.traffic.compile)
}

/// The median of what a run takes, by the clock of the host.
fn warm(description: &Description, runs: usize) -> io::Result<Duration> {
    let (mut device, kernels) = opened(description, 1, None)?;
    let (input, never) = (input(), AtomicBool::new(false));
    let mut times = Vec::new();
    for run in 0..=runs {
        let begun = Instant::now();
        let ran = device.run(&kernels, &input, MEMORY, &never, &mut |_| {});
        let all = begun.elapsed();
        ran.results.map_err(|halt| io::Error::other(format!("{halt:?}")))?;
        if run > 0 {
            times.push(all);
        }
    }
    Ok(median(&mut times))
}
