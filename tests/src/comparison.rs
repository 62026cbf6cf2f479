//! What engines say of random programs, beside each other.

use std::time::{Duration, Instant};

use weft_ir::{Type, Value};
use weft_session::Statistics;

use crate::engine::{self, Answer, Engine, Evaluator};
use crate::generator::{Choices, PRELUDE, program, shrink};
use crate::{markdown, runner};

/// How long a cell may take: a hang is a failure, and a busy machine is none.
const LIMIT: Duration = Duration::from_secs(60);
/// How many smaller programs are tried of one that fails, and how long.
const ATTEMPTS: usize = 1500;
const PATIENCE: Duration = Duration::from_secs(40);

/// What an engine said of a program.
#[derive(Debug, Default)]
pub struct Said {
    /// An answer per cell, to the first that fails.
    pub answers: Vec<Answer>,
    /// Whether compiled code met a fault, and the answer is a value.
    pub needless: bool,
    /// How long it took.
    pub time: Duration,
}

/// A session in which programs run one after the other, behind the prelude of the generator.
pub struct Open<'e> {
    engine: &'e dyn Engine,
    evaluator: Option<Box<dyn Evaluator>>,
}
impl<'e> Open<'e> {
    /// A session of an engine.
    ///
    /// # Panics
    /// If the prelude fails.
    pub fn new(engine: &'e dyn Engine) -> Open<'e> {
        let mut open = Open { engine, evaluator: None };
        let answer = open.evaluate(PRELUDE);
        assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
        open
    }

    fn evaluate(&mut self, cell: &str) -> Answer {
        let evaluator = self.evaluator.take().unwrap_or_else(|| self.engine.open());
        match runner::answer(evaluator, cell, LIMIT) {
            Ok((evaluator, answer)) => {
                self.evaluator = Some(evaluator);
                answer
            }
            Err(message) => Answer::Bug(message),
        }
    }

    /// Where its programs ran so far.
    pub fn statistics(&self) -> Statistics {
        self.evaluator.as_ref().map(|it| it.statistics()).unwrap_or_default()
    }

    /// Runs the cells of a program.
    pub fn run(&mut self, cells: &[String]) -> Said {
        let (faults, started) = (self.statistics().faults, Instant::now());
        let mut answers = Vec::new();
        for cell in cells {
            answers.push(self.evaluate(cell));
            if !matches!(answers.last(), Some(Answer::Done { .. })) {
                break;
            }
        }
        if self.evaluator.is_none() {
            *self = Open::new(self.engine);
        }
        let done = matches!(answers.last(), Some(Answer::Done { .. }));
        let needless = done && self.statistics().faults > faults;
        Said { answers, needless, time: started.elapsed() }
    }
}

/// In which cell an engine says something else, and what.
pub fn difference(expected: &Said, found: &Said) -> Option<String> {
    for (at, expected) in expected.answers.iter().enumerate() {
        let found = &found.answers.get(at);
        let same = match (expected, found) {
            (Answer::Done { shown: left, .. }, Some(Answer::Done { shown: right, .. })) => {
                same(left.as_ref(), right.as_ref())
            }
            (
                Answer::Failed { code, report },
                Some(Answer::Failed { code: other, report: other_report }),
            ) => code == other && without_numbers(report) == without_numbers(other_report),
            _ => false,
        };
        if !same {
            return Some(format!("-- cell {}: {expected:?}\n-- and {found:?}", at + 1));
        }
    }
    None
}

/// A report without the numbers of cells: sessions that are opened anew count anew.
fn without_numbers(report: &str) -> String {
    let mut parts = report.split("In[");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(part.trim_start_matches(|at: char| at.is_ascii_digit()));
    }
    // The line below a number is as long as it.
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn same(left: Option<&(Value, Type)>, right: Option<&(Value, Type)>) -> bool {
    match (left, right) {
        (Some((left, _)), Some((right, _))) => left.same_elements(right),
        (None, None) => true,
        _ => false,
    }
}

/// Whether an engine took too long for a program, of which that may be expected: without sharing a
/// program may become exponentially larger, and the interpreters of the intermediate languages are for
/// tests of less work.
pub fn is_too_slow(engine: &dyn Engine, said: &Said) -> bool {
    let may_be_slow = [&engine::UNSHARED, &engine::NESTED, &engine::FLAT, &engine::PLAN];
    is_late(said) && may_be_slow.iter().any(|slow| slow.name() == engine.name())
}

/// Whether an engine took too long for a program. Of one for which the interpreter does, nobody knows what it means.
pub fn is_late(said: &Said) -> bool {
    match said.answers.last() {
        Some(Answer::Late(_)) => true,
        Some(Answer::Bug(why)) => why.starts_with("takes longer"),
        _ => false,
    }
}

/// A program on which an engine says something else than the interpreter.
#[derive(Clone, Debug)]
pub struct Smallest {
    /// Its cells.
    pub cells: Vec<String>,
    /// What the two say.
    pub difference: String,
}

/// The smallest such program that is found from one that is made of these bytes.
pub fn smallest(engine: &dyn Engine, bytes: &[u8]) -> Smallest {
    let cells = |bytes: &[u8]| program(&mut Choices::of_bytes(bytes.to_vec()));
    let mut sessions = (Open::new(&engine::INTERPRETER), Open::new(engine));
    let mut differs = |bytes: &[u8]| {
        let cells = cells(bytes);
        let expected = sessions.0.run(&cells);
        if is_late(&expected) {
            return None;
        }
        difference(&expected, &sessions.1.run(&cells))
    };
    let until = Instant::now() + PATIENCE;
    let small = shrink(bytes, ATTEMPTS, |bytes| Instant::now() < until && differs(bytes).is_some());
    let difference =
        differs(&small).unwrap_or_else(|| "only after the programs before it".to_owned());
    Smallest { cells: cells(&small), difference }
}

/// A program as a page that [`crate::runner`] runs, with what the interpreter says of it as
/// expectations.
pub fn page(heading: &str, cells: &[String]) -> String {
    let said = Open::new(&engine::INTERPRETER).run(cells);
    let mut text = format!("# {heading}\n\n```weft\n{PRELUDE}```\n");
    for (cell, answer) in cells.iter().zip(&said.answers) {
        text.push_str(&format!("\n```weft\n{cell}\n```\n"));
        match answer {
            // The text of the value is what a stale expectation is replaced by.
            Answer::Done { shown: Some(_), .. } => text.push_str("```value\n?\n```\n"),
            Answer::Failed { code, .. } => {
                let stage = if code.as_str() < "E06" { "error" } else { "trap" };
                text.push_str(&format!("```{stage}\n{code}\n```\n"));
            }
            Answer::Done { shown: None, .. }
            | Answer::Interrupted
            | Answer::Bug(_)
            | Answer::Late(_) => {}
        }
    }
    let pages = [markdown::parse("page", &text)];
    let config = runner::Config { limit: LIMIT, threads: 1 };
    let results = runner::run(&pages, &[&engine::INTERPRETER], &config);
    results.pages.into_iter().next().and_then(|page| page.updated).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::{Open, difference, page, without_numbers};
    use crate::engine::INTERPRETER;
    use crate::{markdown, runner};

    #[test]
    fn a_program_becomes_a_page_that_holds() {
        let cells = ["k = 3".to_owned(), "sum xs + k".to_owned(), "xs[9]".to_owned()];
        let text = page("seed 7", &cells);
        assert!(
            text.contains("```value\n18\n```") && text.contains("```trap\nE0601\n```"),
            "{text}"
        );
        let config = runner::Config { limit: super::LIMIT, threads: 1 };
        let results = runner::run(&[markdown::parse("page", &text)], &[&INTERPRETER], &config);
        assert!(results.pages[0].failures.is_empty(), "{:?}", results.pages[0].failures);
        let mut open = Open::new(&INTERPRETER);
        let (left, right) = (open.run(&cells[..2]), open.run(&["sum xs".to_owned()]));
        assert!(difference(&left, &left).is_none() && difference(&left, &right).is_some());
    }

    #[test]
    fn the_numbers_of_all_cells_are_left_out() {
        let report = |first: u32, second: u32| {
            format!("╭─[ In[{first}]:1:5 ]\n├─[ In[{second}]:2:1 ]\n│ 12 │ x // 0")
        };
        assert_eq!(without_numbers(&report(3, 12)), without_numbers(&report(40, 413)));
        assert!(without_numbers(&report(3, 12)).contains("12 │ x // 0"));
    }
}
