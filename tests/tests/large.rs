//! Programs over so many points that the work is cut: on one to three threads, on the block interpreter and
//! as machine code, compiled programs give the bits of the interpreter.
//!
//! `WEFT_LARGE` says how many random programs, `WEFT_SEED` where they begin.

use std::env;
use std::process::Command;

use weft_ir::{Type, Value};
use weft_session::{Cancel, Cell, Collected, Config, Event, Session};
use weft_tests::generator::Choices;

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
const SCATTERS: [&str; 7] = [
    "scatterWith (+) (replicate 1000 0.25) (randomInt 2 0 1000 100000) (random 1 100000 : []f64)",
    "scatterWith max (replicate 10 0.0) { i % 10 : i in iota 100000 } (random 1 100000 : []f64)",
    "scatterWith min (replicate 7 0.5f32) { i * i % 7 : i in iota 40000 } { f32 (i % 1013) / 977.0 - 0.25 : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (p + r, q + s)) (replicate 10 (0, 0.0)) { i % 10 : i in iota 40000 } { (i, f64 i / 7.0) : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (p * r, q * s)) (replicate 10 (1, 1.0)) { i % 10 : i in iota 40000 } { (i * 2 + 1, 1.0 + 1.0 / f64 (i + 1)) : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (min p r, max q s)) (replicate 10 (5, 1.0f32)) { i % 10 : i in iota 40000 } { (i * 7919 % 1009, f32 i) : i in iota 40000 }",
    "scatterWith (\\(p, q) (r, s) -> (p .&. r, q + s)) (replicate 3 (7, 0.5)) { i * i % 3 : i in iota 40000 } { (i, 1.0 / f64 (i + 1)) : i in iota 40000 }",
];

/// Sorts whose orders only serve to bring the keys into them, and sorts whose orders do not.
const SORTS: [&str; 12] = [
    "(sort (random 1 70000 : []f64))[35000]",
    "sum (sort (random 1 70000 : []f64))",
    "median (random 1 70001 : []f32)",
    "quantile 0.3 { x % 1000 : x in randomInt 1 0 1000000 5000 }",
    "sortDesc { x * 2.0 - 1.0 : x in random 1 70000 : []f64 }",
    "sort (chunks 100 (random 1 40003 : []f64))",
    "{ median r : r in chunks 100 (random 1 40003 : []f64) }",
    "{ (sort { x - mean r : x in r })[3] : r in reshape (400, 100) (random 1 40000 : []f64) }",
    "{ sort { k * 7919 % 1009 : k in iota (j * 37 % 700) } : j in iota 300 }",
    "{ sortDesc { u8 (k * j) : k in iota 3000 } : j in iota 20 }",
    "let xs = random 1 70000 : []f64 in (sort xs, argsort xs)",
    "let (xs, ys) = (random 1 70000 : []f64, random 2 70000 : []f64) in ys[argsort xs]",
];

#[test]
fn sorts_of_values() {
    agree("sorts_of_values", &SORTS);
}

#[test]
fn scatters_to_few_places() {
    agree("scatters_to_few_places", &SCATTERS);
}

#[test]
fn reductions_along_columns() {
    agree("reductions_along_columns", &COLUMNS);
}

#[test]
fn random_programs() {
    let number = |name, default| {
        env::var(name).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or(default)
    };
    let (count, seed) = (number("WEFT_LARGE", 8), number("WEFT_SEED", 1));
    let programs: Vec<String> =
        (seed..seed + count).map(|seed| program(&mut Choices::random(seed))).collect();
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    agree("random_programs", &programs);
}

/// An expression over about a hundred thousand points.
fn program(choices: &mut Choices) -> String {
    let is_float = choices.below(3) > 0;
    match choices.below(9) {
        0 => format!("{} {}", fold(choices, is_float), array(choices, is_float)),
        1 => {
            let scan = choices.of(&["scan", "scanl", "prescanl", "scanr", "postscanr"]);
            format!("{scan} {} {}", operator(choices, is_float), array(choices, is_float))
        }
        2 => {
            let (kept, fold) = (array(choices, is_float), fold(choices, is_float));
            let least = if is_float { "0.25" } else { "40" };
            format!("(let xs = {{ x in {kept} | x > {least} }} in ({fold} xs, xs))")
        }
        3 => scatter(choices, is_float),
        4 => {
            let sort = choices.of(&["sort", "argsort", "sortDesc", "unique"]);
            format!("{sort} {}", array(choices, is_float))
        }
        5 => {
            let (left, right) =
                (element(choices, "i + j", is_float), element(choices, "i - j", is_float));
            let (down, between, across) =
                *at(choices, &[(40, 60, 50), (3, 9000, 5), (130, 70, 20), (64, 65, 66)]);
            format!(
                "matmul {{ {{ {left} : j in iota {between} }} : i in iota {down} }} {{ {{ {right} : j in \
                 iota {across} }} : i in iota {between} }}"
            )
        }
        6 => {
            let (rows, longest) = *at(choices, &[(4000, 61), (700, 400), (90_000, 3), (7, 40_000)]);
            let (fold, element) = (fold(choices, is_float), element(choices, "k + j", is_float));
            format!(
                "{{ {fold} {{ {element} : k in iota (j * 37 % {longest}) }} : j in iota {rows} }}"
            )
        }
        7 => {
            let (i, j, k) = *at(
                choices,
                &[
                    (2, 64, 1000),
                    (3, 100, 400),
                    (100, 3, 400),
                    (7, 70, 300),
                    (1, 300, 400),
                    (2, 30_000, 2),
                ],
            );
            let (fold, element) =
                (fold(choices, is_float), element(choices, "k * j + i", is_float));
            format!(
                "{{ {{ {fold} {{ {element} : k in iota {k} }} : j in iota {j} }} : i in iota {i} }}"
            )
        }
        _ => {
            let (i, j, k) =
                *at(choices, &[(2, 900, 70), (3, 400, 100), (20, 50, 100), (1, 900, 90)]);
            let fold = fold(choices, is_float);
            let element = element(choices, "i", is_float);
            let points = i * j * k;
            format!(
                "{{ {fold} (transpose p) : p in reshape ({i}, {j}, {k}) {{ {element} : i in iota \
                 {points} }} }}"
            )
        }
    }
}

fn at<'a, T>(choices: &mut Choices, all: &'a [T]) -> &'a T {
    &all[choices.below(all.len())]
}

/// A scatter whose values meet at few places or at many.
fn scatter(choices: &mut Choices, is_float: bool) -> String {
    let places = choices.of(&["1", "10", "700", "1024", "3000", "40000"]);
    let points = choices.of(POINTS);
    let target =
        format!("{{ ({}) % {places} : i in iota {points} }}", element(choices, "i", false));
    let value = element(choices, "i", is_float);
    if choices.below(2) == 0 {
        let operator = operator(choices, is_float);
        return format!(
            "scatterWith {} (replicate {places} {}) {target} {{ {value} : i in iota {points} }}",
            operator.rsplit_once(' ').map_or("(+)", |(operator, _)| operator),
            if is_float { "0.5" } else { "3" },
        );
    }
    let (of_int, of_float) = *at(
        choices,
        &[("p + r", "q + s"), ("min p r", "q + s"), ("p * r", "max q s"), ("max p r", "min q s")],
    );
    format!(
        "scatterWith (\\(p, q) (r, s) -> ({of_int}, {of_float})) (replicate {places} (1, 0.5)) {target} \
         {{ ({}, {}) : i in iota {points} }}",
        element(choices, "i", false),
        element(choices, "i", true),
    )
}

/// Lengths around those at which work is cut.
const POINTS: &[&str] = &["32769", "65536", "100000", "131071", "40001"];

/// An array of numbers.
fn array(choices: &mut Choices, is_float: bool) -> String {
    let points = choices.of(POINTS);
    format!("{{ {} : i in iota {points} }}", element(choices, "i", is_float))
}

/// A number that depends on an index.
fn element(choices: &mut Choices, index: &str, is_float: bool) -> String {
    let number =
        choices.of(&["I * 7919 % 1009", "(I) * (I) % 97 - 40", "I", "((I) * 31 .^. 5) % 256"]);
    let number = number.replace('I', &format!("({index})"));
    if !is_float {
        return number;
    }
    let float = choices.of(&["f64 (N) / 7.0", "1.0 / f64 (N + 2000)", "sqrt (abs (f64 (N)))"]);
    float.replace('N', &number)
}

/// What combines an array to a number.
fn fold(choices: &mut Choices, is_float: bool) -> String {
    match choices.below(4) {
        0 => "sum".to_owned(),
        1 => "fold max 0".to_owned() + if is_float { ".0" } else { "" },
        _ => format!("fold {}", operator(choices, is_float)),
    }
}

/// An operator and a start value. The last but one is not a common one.
fn operator(choices: &mut Choices, is_float: bool) -> String {
    let operators = match is_float {
        true => &["(+) 0.0", "max 0.5", "min 9.0", "(\\a b -> a + (b + 0.25)) 1.0", "(*) 1.0"],
        false => &["(+) 0", "max 3", "min 9", "(\\a b -> a + (b + 3)) 1", "(*) 1"],
    };
    choices.of(operators).to_owned()
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
    let (mut values, mut wrong) = (0, Vec::new());
    for program in programs {
        let expected = shown(&mut reference, program);
        values += usize::from(expected.is_ok());
        for (name, session) in &mut sessions {
            match (&expected, shown(session, program)) {
                (Ok((expected, _)), Ok((found, _))) if expected.same_elements(&found) => {}
                (Err(expected), Err(found)) if *expected == found => {}
                (_, Ok(_)) => wrong.push(format!("{name}: other bits: {program}")),
                (_, Err(why)) => wrong.push(format!("{name}: {why}: {program}")),
            }
        }
    }
    assert!(values * 2 > programs.len(), "{values} values");
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
