//! `weft test …`: runs the programs of Markdown pages, and compares what they say with what stands there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, thread};

use lexopt::{Arg, Parser};
use weft_files::{Access, Host, replace};
use weft_tests::engine::{self, Engine};
use weft_tests::markdown::{self, Page};
use weft_tests::runner::{self, Failure, PageResult};

use crate::output::Output;
use crate::{Exit, quiet_panics};

const HELP: &str = "\
weft test: runs the programs of Markdown pages

usage:
  weft test [--update] [--every-engine] PAGE…

A fence `weft` is a cell; the cells under one heading share a session. A fence behind a cell says what
is expected of it: `value` what it shows, `output` what its commands print, `type` and `fuse` what these
commands say, `error` and `trap` the code of the error, `warning` that of a remark. Other fences are prose. Of a folder, all pages
in it are run. Every cell runs on the interpreter and compiled.

options:
  --update        writes what is found in the place of expectations that are stale
  --every-engine  also without fusion, without sharing, on several threads, and on the interpreters
                  of the intermediate languages";

/// How long a cell may take.
const LIMIT: Duration = Duration::from_secs(60);

/// What to do.
#[derive(Debug, Default, PartialEq)]
struct Request {
    help: bool,
    update: bool,
    every_engine: bool,
    paths: Vec<PathBuf>,
}

/// Does what the arguments after `weft test` say.
pub(crate) fn run(output: &mut Output) -> Exit {
    quiet_panics();
    let request = match parse(Parser::from_args(std::env::args_os().skip(2))) {
        Ok(request) if request.help => {
            output.line(HELP);
            return Exit::Success;
        }
        Ok(request) => request,
        Err(problem) => return wrong_use(output, &problem.to_string()),
    };
    if request.paths.is_empty() {
        return wrong_use(output, "`weft test` needs the names of pages or folders");
    }
    let pages = match read(&request.paths) {
        Ok(pages) => pages,
        Err(problem) => {
            output.error_line(&format!("weft: {problem}"));
            return Exit::Usage;
        }
    };
    let engines: Vec<&dyn Engine> = match request.every_engine {
        true => engine::all(),
        false => vec![&engine::INTERPRETER, &engine::CPU],
    };
    let threads = thread::available_parallelism().map_or(2, usize::from);
    let results = runner::run(&pages, &engines, &runner::Config { limit: LIMIT, threads });
    let mut totals = Totals::default();
    for (page, result) in pages.iter().zip(&results.pages) {
        if let Err(problem) = report(page, result, request.update, &mut totals, output) {
            output.error_line(&format!("weft: {problem}"));
            return Exit::ProgramError;
        }
    }
    let Totals { passed, failed, updated } = totals;
    if passed + failed + updated == 0 {
        output.error_line(
            "weft: there are no cells: a cell stands between a line ```weft and a line ```",
        );
        return Exit::ProgramError;
    }
    output.line(&format!("{passed} cells passed, {failed} failed, {updated} updated"));
    if failed == 0 && passed + updated > 0 { Exit::Success } else { Exit::ProgramError }
}

fn wrong_use(output: &mut Output, problem: &str) -> Exit {
    output.error_line(&format!("weft: {problem}"));
    output.error_line("`weft test --help` shows how to use it");
    Exit::Usage
}

fn parse(mut parser: Parser) -> Result<Request, lexopt::Error> {
    let mut request = Request::default();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => request.help = true,
            Arg::Long("update") => request.update = true,
            Arg::Long("every-engine") => request.every_engine = true,
            Arg::Value(path) => request.paths.push(path.into()),
            Arg::Short(_) | Arg::Long(_) => return Err(argument.unexpected()),
        }
    }
    Ok(request)
}

/// The pages, those of folders in alphabetical order.
fn read(paths: &[PathBuf]) -> Result<Vec<Page>, String> {
    let mut pages = Vec::new();
    for path in paths {
        let cannot = |path: &Path, error| format!("cannot read {}: {error}", path.display());
        let files = match path.is_dir() {
            true => weft_tests::pages::files(path, "md").map_err(|error| cannot(path, error))?,
            false => vec![path.clone()],
        };
        for file in files {
            let text = fs::read_to_string(&file).map_err(|error| cannot(&file, error))?;
            let mut page = markdown::parse(&file.display().to_string(), &text);
            // Pages of other people show other languages too.
            page.problems.retain(|problem| !problem.message.starts_with("unknown fence"));
            pages.push(page);
        }
    }
    Ok(pages)
}

#[derive(Default)]
struct Totals {
    passed: usize,
    failed: usize,
    updated: usize,
}

/// Says what came of a page, and rewrites it if that is asked for.
fn report(
    page: &Page,
    result: &PageResult,
    update: bool,
    totals: &mut Totals,
    output: &mut Output,
) -> Result<(), String> {
    let name = &page.name;
    if let (true, Some(text)) = (update, &result.updated) {
        replace(&Host, Path::new(name), Access::Usual, "part", |file| {
            file.write_all(text.as_bytes())?;
            file.permit_as(Path::new(name))
        })
        .map_err(|error| format!("cannot write {name}: {error}"))?;
    }
    let (updated, failures): (Vec<_>, Vec<_>) =
        result.failures.iter().partition(|failure| update && failure.stale);
    // Several engines may say the same of a cell.
    let cells = |failures: &[&Failure]| {
        failures.iter().map(|failure| failure.line).collect::<BTreeSet<usize>>().len()
    };
    totals.passed += result.passed;
    totals.updated += cells(&updated);
    totals.failed += cells(&failures);
    let verdict = if failures.is_empty() { "ok    " } else { "FAILED" };
    output.line(&format!("{verdict} {name} ({} cells)", page.cases()));
    for failure in failures {
        let message = failure.message.trim_end().replace('\n', "\n  ");
        let heading = match &*failure.heading {
            "" => String::new(),
            heading => format!("{heading}: "),
        };
        output.line(&format!("{name}:{}: {heading}{message}", failure.line));
    }
    output.flush();
    Ok(())
}

#[cfg(test)]
mod tests {
    use lexopt::Parser;

    use super::{Request, parse};

    #[test]
    fn the_command_line() {
        let parsed = |arguments: &[&str]| {
            parse(Parser::from_args(arguments)).map_err(|problem| problem.to_string())
        };
        let paths = vec!["a.md".into(), "b".into()];
        let update = Request { update: true, paths, ..Request::default() };
        assert_eq!(parsed(&["a.md", "--update", "b"]), Ok(update));
        assert!(parsed(&["--every-engine"]).is_ok_and(|request| request.every_engine));
        assert!(parsed(&["--help"]).is_ok_and(|request| request.help));
        assert_eq!(parsed(&["--nonsense"]).unwrap_err(), "invalid option '--nonsense'");
    }
}
