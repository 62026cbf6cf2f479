//! Every program in `examples/`, made small, on the emulated device: all that it binds, shows and
//! asserts has the bits that the interpreter gives it.
//!
//! An example asserts numbers that belong to its whole input, so here `assert (c) e` only shows `c` and
//! `e`. Where there is no `g++`, all examples are skipped, and counted.

use std::io::Write as _;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use weft_ir::Value;
use weft_session::Cancel;
use weft_tests::engine::{Answer, EMULATED, Engine, INTERPRETER};
use weft_tests::{pages, repository};

/// What makes an example small: in which of them, what stands there, and what stands there instead.
const SMALLER: &[(&str, &str, &str)] = &[
    ("audio", "f64 sound.samples", "(f64 sound.samples)[20000:24000]"),
    ("canny", "camera = i64 (loadImage \"examples/data/camera.pgm\")", CAMERA_AS_I64),
    ("fluid", "n = 64", "n = 16"),
    ("fluid", "camera[::8, ::8]", "camera[::32, ::32]"),
    ("fluid", "iterate 20", "iterate 4"),
    ("fluid", "iterate 8", "iterate 2"),
    ("fluid", "stirred[32, 32]", "stirred[8, 8]"),
    ("histogram", "camera = loadImage \"examples/data/camera.pgm\"", CAMERA),
    ("mandelbrot", "f64 (iota 208) / 64.0", "f64 (iota 40) / 13.0"),
    ("mandelbrot", "f64 (iota 160) / 64.0", "f64 (iota 30) / 12.0"),
    (
        "md5",
        "words = loadLines \"examples/data/words.txt\"",
        "words = (loadLines \"examples/data/words.txt\")[2180:2230]",
    ),
    ("nbody", "iterate 1000", "iterate 3"),
    ("pagerank", "votes = loadCsv \"examples/data/wiki-Vote.txt.gz\"", VOTES),
    ("pagerank", "iterate 50", "iterate 3"),
    ("quicksort", "weather.temp_max", "(take 200 weather.temp_max)"),
    ("radixsort", "votes = loadCsv \"examples/data/wiki-Vote.txt.gz\"", VOTES),
    ("spmv", "bips98_606", "mbeacxc"),
    ("spmv", "bcsstk16", "mbeacxc"),
    (
        "tour",
        "photo = f64 (loadImage \"examples/data/camera.pgm\")",
        "photo = f64 (loadImage \"examples/data/camera.pgm\")[100:140, 200:270]",
    ),
];

const CAMERA: &str = "camera = (loadImage \"examples/data/camera.pgm\")[100:148, 200:270]";
const CAMERA_AS_I64: &str =
    "camera = (i64 (loadImage \"examples/data/camera.pgm\"))[100:148, 200:270]";
const VOTES: &str = "wiki = loadCsv \"examples/data/wiki-Vote.txt.gz\"\n\
                     votes = {c0 = take 900 wiki.c0, c1 = take 900 wiki.c1}";

#[test]
fn every_example_gives_the_interpreters_answers() {
    // The paths of loads start at the root.
    std::env::set_current_dir(repository()).expect("the repository");
    let examples = pages::files(&repository().join("examples"), "weft").expect("the examples");
    assert!(!examples.is_empty(), "there are no examples");
    let answers = |command: &str| Command::new(command).arg("--version").output();
    if !answers("g++").is_ok_and(|output| output.status.success()) {
        say(&format!("skipped: {} examples on the emulated device: no g++", examples.len()));
        return;
    }
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let compiled = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(|| {
                while let Some(path) = examples.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a name");
                    let text = std::fs::read_to_string(path).expect("an example");
                    let started = Instant::now();
                    match compare(&items(&smaller(name, &text))) {
                        Ok(kernels) => {
                            let seconds = started.elapsed().as_secs_f64();
                            compiled.fetch_add(kernels, Ordering::Relaxed);
                            say(&format!(
                                "{name}: {kernels} programs ran compiled in {seconds:.1} s"
                            ));
                        }
                        Err(why) => {
                            failures.lock().expect("no panic").push(format!("{name}: {why}"))
                        }
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("no panic");
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
    assert!(compiled.into_inner() > 0, "nothing ran on the device");
}

/// Says something past the capture of a passing test's output.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The text of an example with less to do.
fn smaller(name: &str, text: &str) -> String {
    let mut text = text.to_owned();
    for (_, from, to) in SMALLER.iter().filter(|(example, _, _)| *example == name) {
        assert!(text.contains(from), "{name} has not {from:?}");
        text = text.replace(from, to);
    }
    text
}

/// The items of a text, each followed by what makes its value seen; without commands.
fn items(text: &str) -> Vec<String> {
    let mut whole: Vec<String> = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("--")) {
        match whole.last_mut() {
            Some(item) if line.starts_with(' ') => {
                item.push('\n');
                item.push_str(line);
            }
            Some(_) | None => whole.push(line.to_owned()),
        }
    }
    let mut shown = Vec::new();
    for item in whole.into_iter().filter(|item| !item.starts_with(':')) {
        if let Some(rest) = item.strip_prefix("assert ") {
            let (condition, value) = rest.split_at(first_group(rest));
            shown.extend([condition.to_owned(), value.trim().to_owned()]);
            continue;
        }
        let pattern = item.split_once(" = ").map(|(pattern, _)| pattern.to_owned());
        let is_binding = |pattern: &String| {
            pattern.chars().all(|each| each.is_alphanumeric() || "(), _".contains(each))
                && !["def ", "type "].iter().any(|word| pattern.starts_with(word))
        };
        shown.push(item);
        if let Some(pattern) = pattern.filter(is_binding) {
            shown.push(pattern.replace("_, ", "").replace(", _", ""));
        }
    }
    shown
}

/// Where the first group in parentheses ends.
fn first_group(text: &str) -> usize {
    let mut depth = 0;
    for (at, each) in text.char_indices() {
        depth += i32::from(each == '(') - i32::from(each == ')');
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// Runs items on both engines; how many programs the device ran.
fn compare(items: &[String]) -> Result<usize, String> {
    let cancel = Cancel::new();
    let (mut wanted, mut found) = (INTERPRETER.open(), EMULATED.open());
    for item in items {
        let value = |answer| match answer {
            Answer::Done { shown, .. } => Ok(shown.map(|(value, _)| value)),
            other => Err(format!("{item}\n{other:?}")),
        };
        let wanted: Option<Value> = value(wanted.evaluate(item, &cancel))?;
        let found: Option<Value> = value(found.evaluate(item, &cancel))?;
        let same = match (&found, &wanted) {
            (Some(found), Some(wanted)) => found.same_bits(wanted),
            (found, wanted) => found.is_none() && wanted.is_none(),
        };
        if !same {
            return Err(format!("{item}\n{found:?}\nnot {wanted:?}"));
        }
    }
    let ran = found.statistics();
    match (ran.faults, ran.bugs) {
        (0, 0) => Ok(ran.compiled as usize),
        (faults, bugs) => Err(format!("{faults} programs met a fault, {bugs} a bug")),
    }
}
