//! Runs pages on engines: sections in parallel, the cases of a section one after the other, each
//! with a time limit.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use weft_session::{Cancel, Statistics};

use crate::engine::{Answer, Engine, Evaluator};
use crate::expectation::{self, Edit, Mismatch};
use crate::markdown::{Case, Page, Section};

/// How to run.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// How long a case may take.
    pub limit: Duration,
    /// How many sections run at once.
    pub threads: usize,
}

/// What came of a page.
#[derive(Debug, Default)]
pub struct PageResult {
    /// How many cases hold.
    pub passed: usize,
    /// The cases that do not, in the order of the page.
    pub failures: Vec<Failure>,
    /// The text of the page with every stale expectation replaced, if there is one.
    pub updated: Option<String>,
}

/// A case that does not hold.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The line to look at, counted from 1.
    pub line: usize,
    /// The heading of its section.
    pub heading: String,
    /// What is wrong.
    pub message: String,
    /// Whether only the expectation is stale, so that an update would repair it.
    pub stale: bool,
}

/// What came of all pages.
#[derive(Debug, Default)]
pub struct Results {
    /// A result per page.
    pub pages: Vec<PageResult>,
    /// Where the programs of each engine ran.
    pub engines: BTreeMap<&'static str, Statistics>,
}

/// Runs every case of the pages on every engine.
pub fn run(pages: &[Page], engines: &[&dyn Engine], config: &Config) -> Results {
    let jobs: Vec<(usize, &Section)> = pages
        .iter()
        .enumerate()
        .flat_map(|(page, pages)| pages.sections.iter().map(move |section| (page, section)))
        .collect();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let statistics = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for _ in 0..config.threads.max(1) {
            scope.spawn(|| {
                while let Some((page, section)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result =
                        run_section(section, pages[*page].code(), engines, config, &statistics);
                    found
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .push((*page, *section, result));
                }
            });
        }
    });
    let mut results: Vec<PageResult> = pages.iter().map(of_problems).collect();
    let mut edits: Vec<Vec<Edit>> = vec![Vec::new(); pages.len()];
    for (page, section, found) in found.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let failed: BTreeSet<usize> = found.iter().map(|(case, _)| *case).collect();
        results[page].passed += section.cases.len() - failed.len();
        for (_, Mismatch { line, message, update }) in found {
            let (heading, stale) = (section.heading.clone(), update.is_some());
            results[page].failures.push(Failure { line, heading, message, stale });
            edits[page].extend(update);
        }
    }
    for ((page, result), edits) in pages.iter().zip(&mut results).zip(edits) {
        result.failures.sort_by_key(|failure| failure.line);
        result.updated = (!edits.is_empty()).then(|| apply(&page.text, edits));
    }
    let engines = statistics.into_inner().unwrap_or_else(PoisonError::into_inner);
    Results { pages: results, engines }
}

fn of_problems(page: &Page) -> PageResult {
    let failures = page.problems.iter().map(|problem| Failure {
        line: problem.line,
        heading: String::new(),
        message: problem.message.clone(),
        stale: false,
    });
    PageResult { failures: failures.collect(), ..PageResult::default() }
}

/// The mismatches of a section, each with the line of its case.
fn run_section(
    section: &Section,
    code: Option<&str>,
    engines: &[&dyn Engine],
    config: &Config,
    statistics: &Mutex<BTreeMap<&'static str, Statistics>>,
) -> Vec<(usize, Mismatch)> {
    let mut mismatches: Vec<(usize, Mismatch)> = Vec::new();
    for (number, engine) in engines.iter().enumerate() {
        let mut evaluator = Some(engine.open());
        for case in &section.cases {
            let found = match evaluator.take() {
                Some(open) => run_case(case, code, open, &mut evaluator, config.limit, number == 0),
                None => vec![lost(case, "not run: the session did not survive an earlier case")],
            };
            for mut mismatch in found {
                // What every engine does is told once.
                if mismatches.iter().all(|(_, before)| *before != mismatch) {
                    if engines.len() > 1 {
                        mismatch.message = format!("[{}] {}", engine.name(), mismatch.message);
                    }
                    mismatches.push((case.line, mismatch));
                }
            }
        }
        if let Some(open) = evaluator {
            let mut statistics = statistics.lock().unwrap_or_else(PoisonError::into_inner);
            add(statistics.entry(engine.name()).or_default(), open.statistics());
        }
    }
    mismatches
}

fn add(sum: &mut Statistics, more: Statistics) {
    sum.compiled += more.compiled;
    sum.elsewhere += more.elsewhere;
    sum.unsupported += more.unsupported;
    sum.faults += more.faults;
    sum.bugs += more.bugs;
    sum.interpreted += more.interpreted;
}

/// Runs a case, and hands the session back unless it is lost.
fn run_case(
    case: &Case,
    code: Option<&str>,
    open: Box<dyn Evaluator>,
    evaluator: &mut Option<Box<dyn Evaluator>>,
    limit: Duration,
    is_first: bool,
) -> Vec<Mismatch> {
    let (open, answer) = match answer(open, &case.source, limit) {
        Ok(answered) => answered,
        Err(message) => return vec![lost(case, &message)],
    };
    let mut mismatches = expectation::compare(case, code, &answer, is_first);
    let failed = !matches!(answer, Answer::Done { .. });
    let mut open = open;
    for question in expectation::questions(case) {
        if question.is_about_fusion() && !is_first {
            continue;
        }
        if failed {
            if mismatches.is_empty() {
                mismatches.extend(question.compare(&answer));
            }
            continue;
        }
        match self::answer(open, &question.command(), limit) {
            Ok((again, answer)) => {
                mismatches.extend(question.compare(&answer));
                open = again;
            }
            Err(message) => {
                mismatches.push(lost(case, &message));
                return mismatches;
            }
        }
    }
    *evaluator = Some(open);
    mismatches
}

fn lost(case: &Case, message: &str) -> Mismatch {
    Mismatch { line: case.line, message: message.to_owned(), update: None }
}

/// The session's answer, and the session.
///
/// # Errors
/// How the session was lost.
pub fn answer(
    mut evaluator: Box<dyn Evaluator>,
    source: &str,
    limit: Duration,
) -> Result<(Box<dyn Evaluator>, Answer), String> {
    /// How long a session has to stop when it is asked to.
    const GRACE: Duration = Duration::from_secs(20);
    let (sender, receiver) = mpsc::channel();
    let cancel = Cancel::new();
    let (source, flag) = (source.to_owned(), cancel.clone());
    thread::spawn(move || {
        let answer = evaluator.evaluate(&source, &flag);
        // Nobody listens any more if the case took too long.
        let _ = sender.send((evaluator, answer));
    });
    match receiver.recv_timeout(limit) {
        Ok(answered) => Ok(answered),
        Err(RecvTimeoutError::Disconnected) => Err("a bug: the engine panicked".to_owned()),
        Err(RecvTimeoutError::Timeout) => {
            cancel.cancel();
            match receiver.recv_timeout(GRACE) {
                Ok((evaluator, _)) => Ok((evaluator, Answer::Late(limit.as_secs()))),
                Err(_) => Err(format!(
                    "takes longer than {} s, and does not stop when it is asked to",
                    limit.as_secs()
                )),
            }
        }
    }
}

fn apply(text: &str, mut edits: Vec<Edit>) -> String {
    edits.sort_by_key(|edit| edit.place.start);
    edits.dedup_by(|later, earlier| later.place == earlier.place);
    let mut result = String::new();
    let mut position = 0;
    for edit in edits {
        // Two engines may have asked for the same change.
        if edit.place.start < position {
            continue;
        }
        result += &text[position..edit.place.start];
        result += &edit.text;
        position = edit.place.end;
    }
    result + &text[position..]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::parse;

    /// Shows nothing; `bug`, `hang` and `die` misbehave.
    struct Fake;

    impl Engine for Fake {
        fn name(&self) -> &'static str {
            "fake"
        }

        fn open(&self) -> Box<dyn Evaluator> {
            Box::new(Fake)
        }
    }

    impl Evaluator for Fake {
        fn evaluate(&mut self, source: &str, cancel: &Cancel) -> Answer {
            match source {
                "hang" => {
                    while !cancel.is_cancelled() {
                        thread::sleep(Duration::from_millis(1));
                    }
                    Answer::Interrupted
                }
                // A panic whose message nobody prints, as that may take longer than the limit.
                "die" => std::panic::resume_unwind(Box::new("as a test asked for")),
                _ => {
                    let texts = vec![source.to_owned()];
                    Answer::Done { shown: None, texts, remarks: Default::default() }
                }
            }
        }

        fn statistics(&self) -> Statistics {
            Statistics::default()
        }
    }

    fn run_fake(text: &str) -> PageResult {
        let config = Config { limit: Duration::from_millis(200), threads: 2 };
        run(&[parse("page.md", text)], &[&Fake], &config).pages.remove(0)
    }

    #[test]
    fn cases_are_counted_and_failures_are_placed() {
        let result = run_fake(
            "# A\n```weft\n1\n```\n```weft\nhang\n```\n# B\n```weft\ndie\n```\n```weft\n2\n```\n",
        );
        assert_eq!(result.passed, 1);
        let summary: Vec<(usize, &str, &str)> = result
            .failures
            .iter()
            .map(|f| (f.line, f.heading.as_str(), f.message.as_str()))
            .collect();
        assert_eq!(
            summary,
            [
                (5, "A", "takes longer than 0 s"),
                (9, "B", "a bug: the engine panicked"),
                (12, "B", "not run: the session did not survive an earlier case"),
            ]
        );
        assert_eq!(result.updated, None);
    }

    #[test]
    fn stale_expectations_are_rewritten() {
        let result = run_fake(
            "```weft\n:a\n```\n```output\nold\n```\nx\n```weft\n:b\n```\n```output\n```\n",
        );
        assert_eq!((result.passed, result.failures.len()), (0, 2));
        assert!(result.failures.iter().all(|failure| failure.stale));
        let updated = result.updated.expect("an update");
        assert_eq!(
            updated,
            "```weft\n:a\n```\n```output\n:a\n```\nx\n```weft\n:b\n```\n```output\n:b\n```\n"
        );
        assert_eq!(run_fake(&updated).passed, 2);
    }
}
