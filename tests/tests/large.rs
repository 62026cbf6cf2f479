//! Programs over so many points that the work is cut: on one to three threads, on the block interpreter and
//! as machine code, compiled programs give the bits of the interpreter.

use std::env;
use std::process::Command;

use weft_ir::{Type, Value};
use weft_session::{Cancel, Cell, Collected, Config, Event, Session};

/// Where machine code is kept. Sessions look for the folder in the environment.
const CACHE: &str = "XDG_CACHE_HOME";

/// Bytes that arrays may take.
const MEMORY: u64 = 2 << 30;

/// Reductions of several rows of lanes, whose steps are shared among the threads.
const COLUMNS: [&str; 4] = [
    "{ { sum { (k * j + i) % 7 : k in iota 1024 } : j in iota 64 } : i in iota 2 }",
    "{ { sum { f64 (k * j + i) / 3.0 : k in iota 1000 } : j in iota 64 } : i in iota 3 }",
    "{ sum (transpose p) : p in reshape (4, 2000, 100) (iota 800000) }",
    "{ { (minimum r, sum r) : r in { { (k * j + i) % 7 : k in iota 800 } : j in iota 64 } } : i in iota 3 }",
];

/// Scatters to few places, whose chunks are sorted by place, where any bracketing gives the same bits of
/// all components, or of some.
const SCATTERS: [&str; 6] = [
    "scatterWith max (replicate 10 0.0) { i % 10 : i in iota 100000 } (random 1 100000 : []f64)",
    "scatterWith min (replicate 7 0.5f32) { i * i % 7 : i in iota 40000 } { f32 (i % 1013) / 977.0 - 0.25 : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (p + r, q + s)) (replicate 10 (0, 0.0)) { i % 10 : i in iota 40000 } { (i, f64 i / 7.0) : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (p * r, q * s)) (replicate 10 (1, 1.0)) { i % 10 : i in iota 40000 } { (i * 2 + 1, 1.0 + 1.0 / f64 (i + 1)) : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (min p r, max q s)) (replicate 10 (5, 1.0f32)) { i % 10 : i in iota 40000 } { (i * 7919 % 1009, f32 i) : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (p .&. r, q + s)) (replicate 3 (7, 0.5)) { i * i % 3 : i in iota 40000 } { (i, 1.0 / f64 (i + 1)) : i in iota 40000 }",
];

#[test]
fn scatters_to_few_places() {
    agree("scatters_to_few_places", &SCATTERS);
}

#[test]
fn reductions_along_columns() {
    agree("reductions_along_columns", &COLUMNS);
}

/// Runs programs in a copy of this test that keeps machine code in the target folder; there it asserts
/// that all sessions show the same.
fn agree(test: &str, programs: &[&str]) {
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/native");
    if env::var_os(CACHE).is_none_or(|folder| folder != cache) {
        let program = env::current_exe().expect("this program");
        let mut command = Command::new(program);
        command.args(["--exact", test, "--nocapture"]).env(CACHE, cache);
        let output = command.output().expect("this program runs");
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    let mut reference = session(&[("backend", "interp")]);
    let mut sessions = Vec::new();
    for threads in ["1", "2", "3"] {
        for tier in ["0", "1"] {
            let modes = [("backend", "cpu"), ("threads", threads), ("tier", tier)];
            sessions.push((format!("{threads} threads, tier {tier}"), session(&modes)));
        }
    }
    let mut wrong = Vec::new();
    for program in programs {
        let expected = shown(&mut reference, program);
        for (name, session) in &mut sessions {
            match (&expected, shown(session, program)) {
                (Ok((expected, _)), Ok((found, _))) if expected.same_elements(&found) => {}
                (Err(expected), Err(found)) if *expected == found => {}
                (_, Ok(_)) => wrong.push(format!("{name}: other bits: {program}")),
                (_, Err(why)) => wrong.push(format!("{name}: {why}: {program}")),
            }
        }
    }
    for (name, session) in &sessions {
        let statistics = session.statistics();
        assert!(statistics.compiled > 0, "{name}: {statistics:?}");
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn session(modes: &[(&str, &str)]) -> Session {
    let mut session = Session::new(&Config { memory: MEMORY, io: false });
    for (mode, value) in modes {
        session.set_mode(mode, value).expect("a mode of the session");
    }
    session
}

/// The value of an expression, or the code of its error; a bug is one too, wherever it is met.
fn shown(session: &mut Session, expression: &str) -> Result<(Value, Type), String> {
    let mut sink = Collected::default();
    let bugs = session.statistics().bugs;
    let outcome = session.eval(Cell::typed(expression), &mut sink, &Cancel::new());
    if session.statistics().bugs > bugs {
        return Err("a bug".to_owned());
    }
    let value = sink.events.into_iter().find_map(|event| match event {
        Event::Shown(shown) => Some((shown.value, shown.ty)),
        _ => None,
    });
    value.ok_or_else(|| format!("{outcome:?}"))
}
