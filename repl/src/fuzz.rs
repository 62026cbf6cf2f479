//! `weft fuzz …`: random programs, on the interpreter and compiled.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use lexopt::{Arg, Parser, ValueExt as _};
use weft_files::{Access, Host, replace};
use weft_session::Progress;
use weft_tests::comparison::{self, Open, Smallest, difference, is_late, is_too_slow};
use weft_tests::engine::{self, Engine};
use weft_tests::generator::{Choices, program};

use crate::output::Output;
use crate::{Exit, quiet_panics};

const HELP: &str = "\
weft fuzz: runs random programs on the interpreter and compiled, and compares what they say

usage:
  weft fuzz [--programs N] [--seed N] [--every-engine]

The first program on which two engines differ is made smaller, and written to the page weft-fuzz-SEED.md
in this folder, with what the interpreter says; `weft test --every-engine` runs it again.

options:
  --programs N    how many programs (1000)
  --seed N        the number of the first (1); the same number is the same program
  --every-engine  also without fusion, without sharing, on several threads, and on the interpreters
                  of the intermediate languages";

/// What to do.
#[derive(Debug, PartialEq)]
struct Request {
    help: bool,
    programs: u64,
    seed: u64,
    every_engine: bool,
}

/// Does what the arguments after `weft fuzz` say.
pub(crate) fn run(output: &mut Output) -> Exit {
    quiet_panics();
    let request = match parse(Parser::from_args(std::env::args_os().skip(2))) {
        Ok(request) if request.help => {
            output.line(HELP);
            return Exit::Success;
        }
        Ok(request) => request,
        Err(problem) => {
            output.error_line(&format!("weft: {problem}"));
            output.error_line("`weft fuzz --help` shows how to use it");
            return Exit::Usage;
        }
    };
    let mut engines = match request.every_engine {
        true => engine::all_and_plans(),
        false => vec![&engine::INTERPRETER as &dyn Engine, &engine::CPU, &engine::PLAN],
    };
    // The others are held against it.
    engines.retain(|engine| engine.name() != engine::INTERPRETER.name());
    let mut reference = Open::new(&engine::INTERPRETER);
    let mut open: Vec<(&dyn Engine, Open<'_>)> =
        engines.iter().map(|engine| (*engine, Open::new(*engine))).collect();
    let started = Instant::now();
    let mut slow = BTreeMap::new();
    for done in 0..request.programs {
        let seed = request.seed.wrapping_add(done);
        let mut choices = Choices::random(seed);
        let cells = program(&mut choices);
        let expected = reference.run(&cells);
        if is_late(&expected) {
            *slow.entry(engine::INTERPRETER.name()).or_default() += 1;
            continue;
        }
        for (engine, session) in &mut open {
            let found = session.run(&cells);
            if is_too_slow(*engine, &found) {
                *slow.entry(engine.name()).or_default() += 1;
            } else if difference(&expected, &found).is_some() {
                output.clear_status();
                return differs(*engine, choices.used(), seed, output);
            }
        }
        let activity = format!("programs, seed {seed}");
        output.progress(&Progress { activity, done: done + 1, total: request.programs });
        if output.is_closed() {
            return Exit::Success;
        }
    }
    output.clear_status();
    let seconds = started.elapsed().as_secs_f64();
    output.line(&summary(request.programs, &slow, seconds));
    Exit::Success
}

/// What is said in the end; `slow` has by engine how many programs took too long there to be compared.
fn summary(programs: u64, slow: &BTreeMap<&str, u64>, seconds: f64) -> String {
    let mut text = format!("{programs} programs, no difference ({seconds:.1} s)");
    for (engine, count) in slow {
        let programs = if *count == 1 { "program was" } else { "programs were" };
        text += &format!("\n{count} {programs} too slow on {engine}, and not compared there");
    }
    text
}

/// Says what differs, and keeps it.
fn differs(engine: &dyn Engine, bytes: &[u8], seed: u64, output: &mut Output) -> Exit {
    let name = engine.name();
    output.line(&format!("{name} and the interpreter differ on the program of seed {seed}"));
    output.flush();
    let Smallest { cells, difference } = comparison::smallest(engine, bytes);
    output.line(&cells.join("\n"));
    output.line(&difference);
    let page = comparison::page(&format!("{name}, seed {seed}"), &cells);
    let path = format!("weft-fuzz-{seed}.md");
    let written = replace(&Host, Path::new(&path), Access::Usual, "part", |file| {
        file.write_all(page.as_bytes())
    });
    match written {
        Ok(()) => output.line(&format!("written to {path}")),
        Err(error) => output.error_line(&format!("weft: cannot write {path}: {error}")),
    }
    Exit::ProgramError
}

fn parse(mut parser: Parser) -> Result<Request, lexopt::Error> {
    let mut request = Request { help: false, programs: 1000, seed: 1, every_engine: false };
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => request.help = true,
            Arg::Long("programs") => request.programs = parser.value()?.parse()?,
            Arg::Long("seed") => request.seed = parser.value()?.parse()?,
            Arg::Long("every-engine") => request.every_engine = true,
            Arg::Value(_) | Arg::Short(_) | Arg::Long(_) => return Err(argument.unexpected()),
        }
    }
    Ok(request)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use lexopt::Parser;

    use super::{Request, parse, summary};

    #[test]
    fn what_was_not_compared_is_told() {
        assert_eq!(summary(9, &BTreeMap::new(), 1.0), "9 programs, no difference (1.0 s)");
        let slow = BTreeMap::from([("flat", 1), ("unshared", 2)]);
        let lines = "\n1 program was too slow on flat, and not compared there\n2 programs were too slow on unshared, and not compared there";
        assert_eq!(summary(9, &slow, 1.0), format!("9 programs, no difference (1.0 s){lines}"));
    }

    #[test]
    fn the_command_line() {
        let parsed = |arguments: &[&str]| {
            parse(Parser::from_args(arguments)).map_err(|problem| problem.to_string())
        };
        let request = Request { help: false, programs: 5, seed: 7, every_engine: true };
        assert_eq!(parsed(&["--programs", "5", "--seed=7", "--every-engine"]), Ok(request));
        assert!(parsed(&["--programs", "x"]).is_err() && parsed(&["x"]).is_err());
    }
}
