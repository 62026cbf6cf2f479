//! Times programs on the block interpreter and as native functions, and prints nanoseconds per
//! element: `cargo run --release -p weft-cpu --example tiers [name [text]]`.
#![allow(clippy::print_stdout, reason = "it prints what it measures")]

mod programs;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use programs::{BLACK_SCHOLES, BODIES, DOT, MANDELBROT, SAXPY};
use weft_cpu::{
    Config, KernelCache, Native, NativeConfig, Prepared, Tier, Workers, native_source, prepare, run,
};
use weft_ir::{Array, Column, Value, plan};

fn main() {
    let chosen = std::env::args().nth(1).unwrap_or_default();
    let length = 10_000_000;
    let floats: Vec<f32> = (0..length).map(|at| (at % 1000) as f32 / 1000.0 + 0.5).collect();
    let xs = array(Column::F32(floats.into()));
    let bodies: Vec<f32> = (0..8192).map(|at| (at * 7919 % 10_007) as f32 / 1000.0).collect();
    let bodies = array(Column::F32(bodies.into()));
    println!(
        "{:20} {:>8} {:>12} {:>12} {:>8} {:>12}",
        "", "threads", "tier 0 (ns)", "tier 1 (ns)", "ratio", "cold (ms)"
    );
    for (name, text, inputs, elements) in [
        ("dot", DOT, vec![xs.clone(), xs.clone()], length),
        ("saxpy", SAXPY, vec![xs.clone(), xs.clone()], length),
        ("Black-Scholes", BLACK_SCHOLES, vec![xs.clone()], length),
        ("Mandelbrot", MANDELBROT, vec![], 1_000_000),
        ("bodies", BODIES, vec![bodies; 3], 8192 * 8192),
    ] {
        if !name.contains(&chosen) {
            continue;
        }
        let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
        if std::env::args().nth(2).is_some_and(|wish| wish == "text") {
            println!("{}", native_source(&prepare(&program, &mut KernelCache::new())).whole());
            continue;
        }
        for threads in [1, 2] {
            let workers = Workers::new(threads);
            let mut both = Vec::new();
            let mut cold = 0.0;
            for tier in [Tier::Interpreted, Tier::Native] {
                let config = NativeConfig { cache: None, ..NativeConfig::of_environment() };
                let native = Native::new(config);
                let mut kernels = KernelCache::with_native(native.clone(), tier);
                let prepared = prepare(&program, &mut kernels);
                cold = time(&program, &prepared, &inputs, &workers) * 1e3;
                let mut times: Vec<f64> =
                    (0..5).map(|_| time(&program, &prepared, &inputs, &workers)).collect();
                times.sort_by(f64::total_cmp);
                both.push(times[2] * 1e9 / elements as f64);
                if let Some(notice) = native.take_notice() {
                    println!("{notice}");
                }
            }
            println!(
                "{name:20} {threads:8} {:12.3} {:12.3} {:8.2} {cold:12.1}",
                both[0],
                both[1],
                both[0] / both[1]
            );
        }
    }
}

/// The seconds that a run takes: with one thread those on the processor, where the system tells them,
/// so that other programs do not blur the comparison.
fn time(program: &plan::Program, prepared: &Prepared, inputs: &[Value], workers: &Workers) -> f64 {
    let config = Config { workers, memory_limit: 1 << 34 };
    let cancel = AtomicBool::new(false);
    let (begin, on_processor) = (Instant::now(), on_processor());
    run(program, prepared, inputs, &config, &cancel, &mut |_| {}).expect("a value");
    match (on_processor, self::on_processor()) {
        (Some(before), Some(after)) if workers.threads() == 1 => (after - before) as f64 / 1e9,
        (_, _) => begin.elapsed().as_secs_f64(),
    }
}

/// The nanoseconds that this thread has been on a processor.
fn on_processor() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

fn array(column: Column) -> Value {
    Value::Array(Arc::new(Array::new(column)))
}
