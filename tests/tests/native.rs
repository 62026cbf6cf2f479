//! Pages on the compiled path where every kernel is a native function from its first run on.
//!
//! A C compiler takes a tenth of a second for a program, so this is a part of the pages only: what
//! operations, numbers and fused kernels do. Functions are kept in the target folder, so that they are
//! compiled once. `cargo test -p weft-tests --test native -- scan` runs the pages among them whose
//! path contains `scan`. Where there is no C compiler, everything is skipped, and counted.
#![allow(clippy::print_stdout, reason = "it is the main program of a test")]

use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};
use std::{env, thread};

use weft_tests::runner::Config;
use weft_tests::{engine, pages, repository, runner};

/// How long a case may take.
const LIMIT: Duration = Duration::from_secs(120);

/// The pages that take part: what their paths begin with.
const PART: [&str; 4] = ["suite/operations", "suite/numerics", "suite/fusion", "suite/compiled"];

/// Where functions are kept. Sessions look for the folder in the environment.
const CACHE: &str = "XDG_CACHE_HOME";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        // A test runner asks what there is; nothing is ignored.
        if !arguments.iter().any(|argument| argument == "--ignored") {
            println!("native: test");
        }
        return ExitCode::SUCCESS;
    }
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/native");
    if env::var_os(CACHE).is_none_or(|folder| folder != cache) {
        let program = env::current_exe().expect("this program");
        let status = Command::new(program).args(&arguments).env(CACHE, cache).status();
        let passed = status.expect("this program runs").success();
        return if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    if !has_compiler() {
        println!("\ntest result: ok. 0 cases passed; no C compiler answers: all pages skipped\n");
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|text| !text.starts_with("--")).collect();
    // The paths of loads start at the root.
    env::set_current_dir(repository()).expect("the repository");
    let mut pages = pages::all(&repository()).expect("pages that can be read");
    let all = pages.len();
    pages.retain(|page| PART.iter().any(|part| page.name.starts_with(part)));
    // `native` is how a test runner calls all of it.
    pages.retain(|page| {
        filters.is_empty()
            || filters.iter().any(|filter| *filter == "native" || page.name.contains(*filter))
    });
    let started = Instant::now();
    let threads = thread::available_parallelism().map_or(2, usize::from);
    // What commands print is that of the first engine.
    let engines: [&dyn engine::Engine; 2] = [&engine::INTERPRETER, &engine::NATIVE];
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
    let ran = results.engines.get("cpu-native").copied().unwrap_or_default();
    println!(
        "\ncpu-native: {} programs ran compiled; {} were not, {} met a fault: these ran on the \
         interpreter",
        ran.compiled, ran.unsupported, ran.faults
    );
    let outcome = if failed == 0 && passed > 0 && ran.compiled > 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {outcome}. {passed} cases passed; {failed} failed; {} of {all} pages in \
         {:.1} s\n",
        pages.len(),
        started.elapsed().as_secs_f64()
    );
    if outcome == "ok" { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Whether one of the usual compilers answers.
fn has_compiler() -> bool {
    let answers = |command: &str| {
        Command::new(command).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    ["cc", "gcc", "clang"].into_iter().any(answers)
}
