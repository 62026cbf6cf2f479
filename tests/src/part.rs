//! Main programs of tests that run pages on one more engine.
#![allow(clippy::print_stdout, reason = "it is the main program of a test")]

use std::process::ExitCode;
use std::time::{Duration, Instant};
use std::{env, thread};

use weft_ir::SourceId;
use weft_lang::ast::ItemKind;
use weft_lang::syntax;

use crate::engine::{Engine, INTERPRETER};
use crate::markdown::{Case, Page, Stage};
use crate::runner::{self, Config};
use crate::{pages, repository};

/// How long a case may take.
const LIMIT: Duration = Duration::from_secs(120);

/// A test: pages on an engine.
pub struct Part {
    /// What the test is called.
    pub name: &'static str,
    /// What runs the pages.
    pub engine: &'static dyn Engine,
    /// Which pages take part, by their names.
    pub takes: fn(&str) -> bool,
    /// The commands of which one must answer, or nothing can run.
    pub needs: &'static [&'static str],
}

impl Part {
    /// Whether the test runner only asks what there is; then it has been told.
    pub fn is_listed(&self) -> bool {
        let has = |wanted: &str| env::args().any(|argument| argument == wanted);
        if has("--list") && !has("--ignored") {
            println!("{}: test", self.name);
        }
        has("--list")
    }

    /// Runs the pages whose names contain one of the arguments, and prints what came of it. It fails if
    /// a case does, or if nothing ran compiled. Without what it needs it skips all of it and says so.
    pub fn run(&self) -> ExitCode {
        let name = self.engine.name();
        let answers = |command: &str| {
            let output = std::process::Command::new(command).arg("--version").output();
            output.is_ok_and(|output| output.status.success())
        };
        // The paths of loads start at the root.
        env::set_current_dir(repository()).expect("the repository");
        let mut pages = pages::all(&repository()).expect("pages that can be read");
        let all = pages.len();
        if !self.needs.iter().any(|command| answers(command)) {
            let needs = self.needs.join(", ");
            println!("\n{name}: none of {needs} answers: {all} pages skipped");
            println!("\ntest result: ok. 0 cases passed; 0 failed; {all} pages skipped\n");
            return ExitCode::SUCCESS;
        }
        let filters: Vec<String> =
            env::args().skip(1).filter(|text| !text.starts_with("--")).collect();
        pages.retain(|page| {
            // The name of the test is how a test runner calls all of it.
            let chosen = |filter: &String| filter == self.name || page.name.contains(filter);
            (self.takes)(&page.name) && (filters.is_empty() || filters.iter().any(chosen))
        });
        let front_end_only = leave_out_what_never_runs(&mut pages);
        let started = Instant::now();
        let threads = thread::available_parallelism().map_or(2, usize::from);
        // What commands print is that of the first engine.
        let engines: [&dyn Engine; 2] = [&INTERPRETER, self.engine];
        let results = runner::run(&pages, &engines, &Config { limit: LIMIT, threads });
        let (mut passed, mut failed) = (0, 0);
        for (page, result) in pages.iter().zip(&results.pages) {
            passed += result.passed;
            failed += result.failures.len();
            let state = if result.failures.is_empty() { "ok" } else { "FAILED" };
            println!("test {} ... {state} ({} cases)", page.name, page.cases());
            for failure in &result.failures {
                let message = failure.message.replace('\n', "\n  ");
                let message = message.trim_end();
                println!("{}:{}: {}: {message}", page.name, failure.line, failure.heading);
            }
        }
        let ran = results.engines.get(name).copied().unwrap_or_default();
        println!(
            "\n{name}: {} programs ran compiled; {} were not compiled, {} met a fault: these ran on the \
             interpreter",
            ran.compiled, ran.unsupported, ran.faults
        );
        let outcome = if failed == 0 && passed > 0 && ran.compiled > 0 { "ok" } else { "FAILED" };
        println!(
            "\ntest result: {outcome}. {passed} cases passed; {failed} failed; {front_end_only} skipped that \
             come to no engine; {} of {all} pages in {:.1} s\n",
            pages.len(),
            started.elapsed().as_secs_f64()
        );
        if outcome == "ok" { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Removes the sections none of whose cells comes to an engine, which the test of the suite runs; how many cases
/// these are.
fn leave_out_what_never_runs(pages: &mut Vec<Page>) -> usize {
    let cases = |pages: &[Page]| pages.iter().map(Page::cases).sum::<usize>();
    let before = cases(pages);
    for page in &mut *pages {
        page.sections.retain(|section| section.cases.iter().any(comes_to_an_engine));
    }
    pages.retain(|page| !page.sections.is_empty() || !page.problems.is_empty());
    before - cases(pages)
}

/// Whether a cell may run: not if an error must be found before, nor if it only defines functions and types.
fn comes_to_an_engine(case: &Case) -> bool {
    let fails = case.fails == Some(Stage::Error)
        || case.expectations.iter().any(|expectation| expectation.stage == Stage::Error);
    let parsed = syntax::parse(SourceId(0), &case.source);
    let defines = parsed.diagnostics.is_empty()
        && parsed
            .items
            .iter()
            .all(|item| matches!(item.kind, ItemKind::Def(_) | ItemKind::TypeAlias { .. }));
    !fails && !defines
}

#[cfg(test)]
mod tests {
    use super::leave_out_what_never_runs;
    use crate::markdown::parse;

    #[test]
    fn cells_that_never_run_are_left_out_by_sections() {
        let text = "# A\n```weft\ndef f x = x\n```\n```weft\n1 + \"a\"\n```\n```error\nE0301\n```\n\
                    # B\n```weft\ndef f x = x\n```\n```weft\nf 1\n```\n";
        let mut pages = vec![parse("page.md", text)];
        assert_eq!(leave_out_what_never_runs(&mut pages), 2);
        let left: Vec<&str> = pages[0].sections.iter().map(|part| part.heading.as_str()).collect();
        assert_eq!(left, ["B"]);
    }
}
