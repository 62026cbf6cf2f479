//! Random programs of the language: every engine gives the interpreter's answers, values and errors
//! alike.
//!
//! `WEFT_PROGRAMS` says how many programs, `WEFT_SEED` where they begin. A failure is printed as a
//! file that shows it.

use std::collections::BTreeSet;
use std::env;
use std::io::Write as _;

use weft_lang::builtins;
use weft_session::Statistics;
use weft_tests::comparison::{self, Open, Said, Smallest, difference};
use weft_tests::engine::{self, Answer, Engine};
use weft_tests::generator::{Choices, program};

/// How many programs that fail are made smaller and shown.
const SHOWN: usize = 3;

/// Prints past the capture of the test runner: what did not run must be seen.
macro_rules! say {
    ($($argument:tt)*) => { writeln!(std::io::stdout(), $($argument)*).expect("an output") };
}

#[test]
fn every_engine_says_what_the_interpreter_says() {
    let number = |name, default| {
        env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(default)
    };
    let (count, seed) = (number("WEFT_PROGRAMS", 300), number("WEFT_SEED", 1));
    let mut choices: Vec<Choices> = (seed..seed + count).map(Choices::random).collect();
    let programs: Vec<Vec<String>> = choices.iter_mut().map(program).collect();
    let engines = engine::all_and_plans();
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
            if comparison::is_too_slow(*engine, said) {
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
        for answer in &said.answers {
            // All operators that the generator writes are associative.
            if let Answer::Done { remarks: (codes, report), .. } = answer {
                let is_wrong = codes.iter().any(|code| code == "E0318");
                assert!(!is_wrong, "a false alarm\n{}\n{report}", cells.join("\n"));
            }
        }
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

/// A program that fails, as small as it is found, as a file.
fn smallest(engine: &dyn Engine, bytes: &[u8], seed: u64) -> String {
    let Smallest { cells, difference } = comparison::smallest(engine, bytes);
    format!(
        "-- {}, seed {seed}; with the prelude of tests/src/generator.rs:\n{}\n{difference}\n",
        engine.name(),
        cells.join("\n")
    )
}
