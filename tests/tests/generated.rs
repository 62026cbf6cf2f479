//! Random programs of the language: every engine gives the interpreter's answers, values and errors
//! alike.
//!
//! `WEFT_PROGRAMS` says how many programs, `WEFT_SEED` where they begin. A failure is printed as a
//! file that shows it.

use std::collections::BTreeSet;
use std::env;
use std::io::Write as _;
use std::time::{Duration, Instant};

use weft_ir::{Type, Value};
use weft_lang::builtins;
use weft_session::Statistics;
use weft_tests::engine::{self, Answer, Engine, Evaluator};
use weft_tests::generator::{Choices, PRELUDE, program, shrink};
use weft_tests::runner;

/// How long a cell may take: a hang is a failure.
const LIMIT: Duration = Duration::from_secs(10);
/// How many smaller programs are tried of one that fails, and how long.
const ATTEMPTS: usize = 1500;
const PATIENCE: Duration = Duration::from_secs(40);
/// How many programs that fail are made smaller and shown.
const SHOWN: usize = 3;

/// Prints past the capture of the test runner: what did not run must be seen.
macro_rules! say {
    ($($argument:tt)*) => { writeln!(std::io::stdout(), $($argument)*).expect("an output") };
}

/// What an engine said of a program: an answer per cell, to the first that fails.
#[derive(Debug, Default)]
struct Said {
    answers: Vec<Answer>,
    /// Whether compiled code met a fault, and the answer is a value.
    needless: bool,
    time: Duration,
}

/// A session in which programs run one after the other.
struct Open<'e> {
    engine: &'e dyn Engine,
    evaluator: Option<Box<dyn Evaluator>>,
}

impl<'e> Open<'e> {
    fn new(engine: &'e dyn Engine) -> Open<'e> {
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

    fn statistics(&self) -> Statistics {
        self.evaluator.as_ref().map(|it| it.statistics()).unwrap_or_default()
    }

    fn run(&mut self, cells: &[String]) -> Said {
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

#[test]
fn every_engine_says_what_the_interpreter_says() {
    let number = |name, default| {
        env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(default)
    };
    let (count, seed) = (number("WEFT_PROGRAMS", 300), number("WEFT_SEED", 1));
    let mut choices: Vec<Choices> = (seed..seed + count).map(Choices::random).collect();
    let programs: Vec<Vec<String>> = choices.iter_mut().map(program).collect();
    let engines = engine::all();
    let ran: Vec<(Vec<Said>, Statistics)> = std::thread::scope(|scope| {
        let run = |engine| {
            let programs = &programs;
            scope.spawn(move || {
                let mut open = Open::new(engine);
                let said = programs.iter().map(|cells| open.run(cells)).collect();
                (said, open.statistics())
            })
        };
        let threads: Vec<_> = engines.iter().map(|engine| run(*engine)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let (reference, _) = &ran[0];
    report(&programs, reference);
    for (engine, (said, statistics)) in engines.iter().zip(&ran).skip(1) {
        let (slowest, number_of_slowest) =
            said.iter().zip(0..).max_by_key(|(said, _)| said.time).expect("programs");
        say!(
            "{}: {} programs ran compiled; {} on the interpreter; {} there as they are not compiled, \
             {} after a fault, {} of these with a value; the slowest took {:.1} s (seed {})",
            engine.name(),
            statistics.compiled,
            statistics.interpreted,
            statistics.unsupported,
            statistics.faults,
            said.iter().filter(|said| said.needless).count(),
            slowest.time.as_secs_f64(),
            seed + number_of_slowest,
        );
    }
    let mut failures = Vec::new();
    for (engine, (said, _)) in engines.iter().zip(&ran).skip(1) {
        for (at, said) in said.iter().enumerate() {
            // Without sharing a program may become exponentially larger, and the interpreters of the
            // intermediate languages are for tests of less work.
            let may_be_slow = [&engine::UNSHARED, &engine::NESTED, &engine::FLAT];
            let is_slow = may_be_slow.iter().any(|slow| slow.name() == engine.name())
                && matches!(said.answers.last(), Some(Answer::Bug(why)) if why.starts_with("takes longer"));
            if is_slow {
                say!("{}: seed {} takes too long", engine.name(), seed + at as u64);
            } else if failures.iter().all(|(_, other)| *other != at)
                && difference(&reference[at], said).is_some()
            {
                say!("{}: seed {} differs", engine.name(), seed + at as u64);
                failures.push((*engine, at));
            }
        }
    }
    let shown: Vec<String> = failures
        .iter()
        .take(SHOWN)
        .map(|(engine, at)| smallest(*engine, choices[*at].used(), seed + *at as u64))
        .collect();
    assert!(failures.is_empty(), "{} failures\n{}", failures.len(), shown.join("\n"));
}

/// Prints what the programs did, and holds it against what they should.
fn report(programs: &[Vec<String>], reference: &[Said]) {
    let (mut values, mut traps, mut rejected) = (0, 0, Vec::new());
    for (cells, said) in programs.iter().zip(reference) {
        match said.answers.last() {
            Some(Answer::Failed { code, report }) if code.as_str() < "E06" => {
                rejected.push(format!("{}\n{report}", cells.join("\n")));
            }
            Some(Answer::Failed { .. }) => traps += 1,
            Some(Answer::Done { .. }) => values += 1,
            other => panic!("{other:?}\n{}", cells.join("\n")),
        }
    }
    let text = programs.concat().join("\n");
    let words: BTreeSet<&str> =
        text.split(|letter: char| !letter.is_alphanumeric() && letter != '\'').collect();
    let all: Vec<&str> = builtins::all().map(|entry| entry.name).collect();
    let met = all.iter().filter(|name| words.contains(**name)).count();
    say!(
        "{} programs: {values} with a value, {traps} with an error, {} ill typed; {met} of {} builtins",
        programs.len(),
        rejected.len(),
        all.len()
    );
    if let Some(rejected) = rejected.first() {
        say!("ill typed, for instance:\n{rejected}");
    }
    if programs.len() < 100 {
        return;
    }
    assert!(rejected.len() * 20 <= programs.len(), "{} ill typed", rejected.len());
    assert!(values * 2 > programs.len(), "{values} values");
}

/// In which cell an engine says something else, and what.
fn difference(expected: &Said, found: &Said) -> Option<String> {
    for (at, expected) in expected.answers.iter().enumerate() {
        let found = &found.answers.get(at);
        let same = match (expected, found) {
            (Answer::Done { shown: left, .. }, Some(Answer::Done { shown: right, .. })) => {
                same(left.as_ref(), right.as_ref())
            }
            (
                Answer::Failed { code, report },
                Some(Answer::Failed { code: other, report: other_report }),
            ) => code == other && without_number(report) == without_number(other_report),
            _ => false,
        };
        if !same {
            return Some(format!("-- cell {}: {expected:?}\n-- and {found:?}", at + 1));
        }
    }
    None
}

/// A report without the number of the cell: sessions that are opened anew count anew.
fn without_number(report: &str) -> String {
    let mut parts = report.splitn(2, "In[");
    let before = parts.next().unwrap_or_default();
    let after =
        parts.next().map_or("", |rest| rest.trim_start_matches(|at: char| at.is_ascii_digit()));
    // The line below the number is as long as it.
    format!("{before}{after}").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn same(left: Option<&(Value, Type)>, right: Option<&(Value, Type)>) -> bool {
    match (left, right) {
        (Some((left, _)), Some((right, _))) => left.same_elements(right),
        (None, None) => true,
        _ => false,
    }
}

/// A program that fails, as small as it is found, as a file.
fn smallest(engine: &dyn Engine, bytes: &[u8], seed: u64) -> String {
    let cells = |bytes: &[u8]| program(&mut Choices::of_bytes(bytes.to_vec()));
    let mut sessions = (Open::new(&engine::INTERPRETER), Open::new(engine));
    let mut differs = |bytes: &[u8]| {
        let cells = cells(bytes);
        difference(&sessions.0.run(&cells), &sessions.1.run(&cells))
    };
    let until = Instant::now() + PATIENCE;
    let small = shrink(bytes, ATTEMPTS, |bytes| Instant::now() < until && differs(bytes).is_some());
    let what = differs(&small).unwrap_or_else(|| "only after the programs before it".to_owned());
    format!(
        "-- {}, seed {seed}; with the prelude of tests/src/generator.rs:\n{}\n{what}\n",
        engine.name(),
        cells(&small).join("\n")
    )
}
