//! Runs every page: the manual, the error pages, the suite, the examples of the builtins.
//!
//! `cargo test -p weft-tests --test suite -- scan` runs the pages whose path contains `scan`.
//! `UPDATE_EXPECT=1` rewrites stale expectations in place.
#![allow(clippy::print_stdout, reason = "it is the main program of a test")]

use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use weft_tests::markdown::Page;
use weft_tests::runner::{Config, PageResult};
use weft_tests::{engine, pages, repository, runner};

/// How long a case may take: a hang is a failure.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        // A test runner asks what there is; nothing is ignored.
        if !arguments.iter().any(|argument| argument == "--ignored") {
            println!("suite: test");
        }
        return ExitCode::SUCCESS;
    }
    let filters: Vec<&String> = arguments.iter().filter(|text| !text.starts_with("--")).collect();
    let update = env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1");
    // The paths of loads start at the root.
    env::set_current_dir(repository()).expect("the repository");
    let mut pages = pages::all(&repository()).expect("pages that can be read");
    // `suite` is how a test runner calls all of it.
    pages.retain(|page| {
        filters.is_empty()
            || filters.iter().any(|filter| *filter == "suite" || page.name.contains(*filter))
    });
    let started = Instant::now();
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let results = runner::run(&pages, &engine::all(), &Config { limit: LIMIT, threads });
    let mut totals = Totals::default();
    for (page, result) in pages.iter().zip(&results.pages) {
        report(page, result, update, &mut totals);
    }
    println!();
    for (engine, ran) in &results.engines {
        println!(
            "{engine}: {} programs ran compiled; {} on the interpreter; {} there as they are not \
             compiled, {} after a fault",
            ran.compiled, ran.interpreted, ran.unsupported, ran.faults
        );
    }
    let Totals { passed, failed, updated, prose } = totals;
    let outcome = if failed == 0 && passed + updated > 0 { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {outcome}. {passed} cases passed; {failed} failed; {updated} updated; 0 \
         skipped; {prose} fences are prose; {} pages in {:.1} s\n",
        pages.len(),
        started.elapsed().as_secs_f64()
    );
    if outcome == "ok" { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

#[derive(Default)]
struct Totals {
    passed: usize,
    failed: usize,
    updated: usize,
    prose: usize,
}

/// Prints what came of a page, and rewrites it if that is asked for.
fn report(page: &Page, result: &PageResult, update: bool, totals: &mut Totals) {
    totals.passed += result.passed;
    totals.prose += page.prose;
    let update = update && page.name != pages::BUILTINS;
    if let (true, Some(text)) = (update, &result.updated) {
        fs::write(&page.name, text).expect("a page that can be written");
    }
    let (updated, failures): (Vec<_>, Vec<_>) =
        result.failures.iter().partition(|failure| update && failure.stale);
    totals.updated += updated.len();
    totals.failed += failures.len();
    let state = if failures.is_empty() { "ok" } else { "FAILED" };
    println!("test {} ... {state} ({} cases)", page.name, page.cases());
    for failure in failures {
        let message = failure.message.replace('\n', "\n  ");
        println!("{}:{}: {}: {}", page.name, failure.line, failure.heading, message.trim_end());
    }
}
