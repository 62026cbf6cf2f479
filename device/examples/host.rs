//! What the host does for runs, on the stand-in for the driver: `cargo run -p weft-device --example host`.
//!
//! It says nothing of a device: kernels are emulated. Of a warm run it prints the calls of the driver, and the time
//! outside of them; of interrupts, the time from the flag to the end of the run.
#![allow(clippy::print_stdout, reason = "it prints")]

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use weft_device::stand_in::StandIn;
use weft_device::{Config, Device, Kernels};
use weft_ir::{Array, Column, Value, plan};

/// A kernel that adds a number to each element.
fn map(from: u32, to: u32, number: u32) -> String {
    let at = 1000 + 10 * number;
    let (read, sum) = (at + 1, at + 2);
    format!(
        "launch \"map\" [a0] (r{at})\n  r{read}: f32 = read a{from} r{at}\n  r{sum}: f32 = add r{read} {number}.0f32\n  \
         yield r{sum}\n  store r{sum} to a{to}: [a0]f32\nend\n"
    )
}

fn f32s(count: usize) -> Value {
    Value::Array(Arc::new(Array::new(Column::F32(vec![1.0; count].into()))))
}

fn kernels(device: &Device, text: &str) -> Kernels {
    let program = plan::parse(text).expect("a plan");
    plan::check(&program).expect("a plan");
    device.kernels(program)
}

fn main() -> ExitCode {
    if let Some(status) = weft_stand_in::start_again(1) {
        return status;
    }
    let found = weft_device::find().expect("the stand-in");
    let stand_in = StandIn::find().expect("the stand-in");
    let config = Config { cache: None, ..Config::of_environment() };
    let mut device = Device::open(found[0].clone(), &config).expect("a context");
    warm(&mut device, &stand_in);
    interrupts(&mut device, &stand_in);
    ExitCode::SUCCESS
}

/// Warm runs of one small kernel, and of ten.
fn warm(device: &mut Device, stand_in: &StandIn) {
    const RUNS: u32 = 300;
    for count in [1, 10] {
        let maps: String = (1..=count).map(|number| map(number, number + 1, number)).collect();
        let text = format!("input a1: [a0]f32\n{maps}output a{}: [a0]f32\n", count + 1);
        let (kernels, input, never) = (kernels(device, &text), [f32s(16)], AtomicBool::new(false));
        let mut once = || {
            let begun = Instant::now();
            let ran = device.run(&kernels, &input, 1 << 30, &never, &mut |_| {});
            ran.results.expect("results");
            begun.elapsed()
        };
        once();
        stand_in.profile();
        let mut own = Vec::new();
        let mut calls = Vec::new();
        for _ in 0..RUNS {
            let all = once();
            calls = stand_in.profile();
            let inside: Duration = calls.iter().map(|(_, _, time)| *time).sum();
            own.push(all.saturating_sub(inside));
        }
        own.sort_unstable();
        let (median, least) = (own[own.len() / 2], own[0]);
        println!(
            "a warm run of {count} small kernels: {median:.1?} outside of the driver, {least:.1?} at least; calls of the last:"
        );
        let all: u64 = calls.iter().map(|(_, count, _)| count).sum();
        let names = calls.iter().map(|(name, count, _)| format!("{name} {count}"));
        println!("  {all}: {}", names.collect::<Vec<_>>().join(", "));
    }
}

/// From the flag to the end of a run.
fn interrupts(device: &mut Device, stand_in: &StandIn) {
    let endless = "  r2: f32 = while (r3: f32 = r1)\n    r4: bool = ge r3 0.0f32\n    yield r4\n  do\n    r5: f32 = add r3 \
                   1.0f32\n    yield r5\n";
    let kernel = format!(
        "input a1: [a0]f32\nlaunch \"map\" [a0] (r0)\n  r1: f32 = read a1 r0\n{endless}  yield r2\n  store r2 to a2: \
         [a0]f32\nend\noutput a2: [a0]f32\n"
    );
    let turns = format!(
        "input a1: [a0]f32\na3: [a0]f32 = while (a2: [a0]f32 = a1)\n  a4: bool = host\n    yield true\n  yield a4\ndo\n{}  \
         yield a5\noutput a3: [a0]f32\n",
        map(2, 5, 1).lines().map(|line| format!("  {line}\n")).collect::<String>()
    );
    let many: String = (1..=400).map(|number| map(number, number + 1, number)).collect();
    let long = format!("input a1: [a0]f32\n{many}output a401: [a0]f32\n");
    let small = format!("input a1: [a0]f32\n{}output a2: [a0]f32\n", map(1, 2, 7));
    for (name, text, elements, when, compiling) in [
        ("a kernel that never ends", &kernel, 2, 1, 0),
        ("a loop that never ends", &turns, 2, 100, 0),
        ("a plan of 400 kernels of 4000 elements", &long, 4000, 1, 0),
        ("while the compiler works", &small, 2, 0, 2000),
    ] {
        let mut times = Vec::new();
        for _ in 0..5 {
            if compiling > 0 {
                device.clear();
            }
            stand_in.set_compiling(compiling);
            let fresh = compiling > 0;
            let kernels = match fresh {
                true => {
                    kernels(device, &text.replace("7.0f32", &format!("{}.0f32", 100 + times.len())))
                }
                false => kernels(device, text),
            };
            times.push(interrupted(device, stand_in, &kernels, &[f32s(elements)], when));
            stand_in.set_compiling(0);
        }
        times.sort_unstable();
        println!("interrupted, {name}: {:.1?}, at most {:.1?}", times[2], times[4]);
    }
}

/// Sets the flag when so many kernels have begun, or after a while.
fn interrupted(
    device: &mut Device,
    stand_in: &StandIn,
    kernels: &Kernels,
    input: &[Value],
    when: u64,
) -> Duration {
    let cancel = AtomicBool::new(false);
    let before = stand_in.begun();
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let ran = device.run(kernels, input, 1 << 30, &cancel, &mut |_| {});
            assert!(ran.results.is_err(), "it was interrupted");
            Instant::now()
        });
        if when == 0 {
            thread::sleep(Duration::from_millis(50));
        }
        while stand_in.begun() < before + when && !running.is_finished() {
            thread::sleep(Duration::from_millis(1));
        }
        let begun = Instant::now();
        cancel.store(true, Ordering::SeqCst);
        running.join().expect("a run").saturating_duration_since(begun)
    })
}
