//! Measures the transcendental functions against the true values and fails beyond the budgets.
//!
//! ```text
//! cargo run --release -p weft-ir --example accuracy -- [--quick] [--stride N] [--single | --double] [NAME…]
//! ```
//!
//! In single precision a function of one operand is tried on all 2^32 floats, or on every N-th
//! (`--quick`: every 4099th); one of two operands on random pairs. The measure is the standard
//! library's function in double precision. In double precision all functions are tried on random
//! operands, against 256-bit arithmetic.
#![allow(clippy::print_stdout, reason = "it is a command")]

mod functions;
mod measure;
mod yardstick;

use std::env;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use functions::{BINARY, UNARY};
use measure::Worst;

fn main() -> ExitCode {
    let (mut stride, mut samples, mut names) = (1, 200_000, Vec::new());
    let (mut single, mut double) = (true, true);
    let mut arguments = env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--quick" => (stride, samples) = (4099, 5_000),
            "--stride" => {
                let number = arguments.next().and_then(|number| number.parse().ok());
                stride = number.filter(|&number| number > 0).expect("--stride takes a number");
            }
            "--single" => double = false,
            "--double" => single = false,
            name => names.push(name.to_owned()),
        }
    }
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let chosen = |name: &str| names.is_empty() || names.iter().any(|wanted| wanted == name);

    let mut good = true;
    let mut report = |name: &str, budget: f64, measure: &dyn Fn() -> Worst| {
        if !(if name.ends_with("f32") { single } else { double }) {
            return;
        }
        let start = Instant::now();
        let worst = measure();
        let verdict = if worst.error <= budget { "" } else { "  BEYOND THE BUDGET" };
        good &= worst.error <= budget;
        println!(
            "{name:10} {:8.4} ulp of {budget} in {:>10} at {:?} ({:.1?}){verdict}",
            worst.error,
            worst.tried,
            worst.operands,
            start.elapsed()
        );
    };
    for function in UNARY.iter().filter(|function| chosen(function.name)) {
        let (name, budget) = (function.name, function.budget);
        report(&format!("{name} f64"), budget, &|| {
            measure::sample_double(function, samples, threads)
        });
        report(&format!("{name} f32"), budget, &|| {
            measure::sweep_single(function, stride, threads)
        });
    }
    for function in BINARY.iter().filter(|function| chosen(function.name)) {
        let (name, budget) = (function.name, function.budget);
        report(&format!("{name} f64"), budget, &|| {
            measure::sample_double_binary(function, samples, threads)
        });
        report(&format!("{name} f32"), budget, &|| {
            measure::sample_single(function, samples * 1000, threads)
        });
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
