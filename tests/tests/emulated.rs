//! Every page and every example on the emulated device: the CUDA text of the kernels runs on the host,
//! at small block sizes and in orders that chance decides, with every access checked.
//!
//! `cargo test -p weft-tests --test emulated -- scan` runs the pages whose path contains `scan`.
//! Where there is no `g++`, everything is skipped, and counted.
#![allow(clippy::print_stdout, reason = "it is the main program of a test")]

use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, thread};

use weft_tests::runner::Config;
use weft_tests::{engine, pages, repository, runner};

/// How long a case may take.
const LIMIT: Duration = Duration::from_secs(120);

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        // A test runner asks what there is; nothing is ignored.
        if !arguments.iter().any(|argument| argument == "--ignored") {
            println!("emulated: test");
        }
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|text| !text.starts_with("--")).collect();
    // The paths of loads start at the root.
    env::set_current_dir(repository()).expect("the repository");
    let mut pages = pages::all(&repository()).expect("pages that can be read");
    // `emulated` is how a test runner calls all of it.
    pages.retain(|page| {
        filters.is_empty()
            || filters.iter().any(|filter| *filter == "emulated" || page.name.contains(*filter))
    });
    let started = Instant::now();
    let threads = thread::available_parallelism().map_or(2, usize::from);
    // What commands print is that of the first engine.
    let engines: [&dyn engine::Engine; 2] = [&engine::INTERPRETER, &engine::EMULATED];
    let results = runner::run(&pages, &engines, &Config { limit: LIMIT, threads });
    let (mut passed, mut failed) = (0, 0);
    for (page, result) in pages.iter().zip(&results.pages) {
        passed += result.passed;
        failed += result.failures.len();
        let state = if result.failures.is_empty() { "ok" } else { "FAILED" };
        println!("test {} ... {state} ({} cases)", page.name, page.cases());
        for failure in &result.failures {
            let message = failure.message.replace('\n', "\n  ");
            println!("{}:{}: {}: {}", page.name, failure.line, failure.heading, message.trim_end());
        }
    }
    let ran = results.engines.get("gpu-emulated").copied().unwrap_or_default();
    let skipped = if ran.compiled == 0 { ran.unsupported } else { 0 };
    println!(
        "\ngpu-emulated: {} programs ran as kernels; {} were not compiled, {} met a fault: these \
         ran on the interpreter",
        ran.compiled, ran.unsupported, ran.faults
    );
    let outcome = if failed == 0 && passed > 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {outcome}. {passed} cases passed; {failed} failed; {skipped} skipped; {} \
         pages in {:.1} s\n",
        pages.len(),
        started.elapsed().as_secs_f64()
    );
    if outcome == "ok" { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
