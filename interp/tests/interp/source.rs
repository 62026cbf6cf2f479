//! From source text to a value: parse, check, run.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use weft_interp::Limits;
use weft_ir::{Exhausted, Failure, ScalarType, SourceId, Trap, Type, Value};
use weft_lang::typed::GlobalId;
use weft_lang::{CheckedKind, Config, Environment, NoFiles};

/// Plenty for every test that is not about limits.
pub(crate) const LIMITS: Limits =
    Limits { memory: 1 << 28, recursion: 10_000, stack: weft_lang::STACK_BYTES };

/// The value of the last expression of a cell, and its type.
pub(crate) fn run_with(
    text: &str,
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<(Value, Type), Failure> {
    run_reading(text, limits, cancel, &|value| value.clone())
}

/// As [`run_with`]; what the value of an earlier line is where one is read, `read` says.
pub(crate) fn run_reading(
    text: &str,
    limits: &Limits,
    cancel: &AtomicBool,
    read: &(dyn Fn(&Value) -> Value + Sync),
) -> Result<(Value, Type), Failure> {
    std::thread::scope(|scope| {
        std::thread::Builder::new()
            .stack_size(weft_lang::STACK_BYTES)
            .spawn_scoped(scope, || run_here(text, limits, cancel, read))
            .expect("a thread")
            .join()
            .unwrap_or_else(|_| panic!("the interpreter panicked on {text}"))
    })
}

fn run_here(
    text: &str,
    limits: &Limits,
    cancel: &AtomicBool,
    read: &dyn Fn(&Value) -> Value,
) -> Result<(Value, Type), Failure> {
    let parsed = weft_lang::syntax::parse(SourceId(0), text);
    assert!(parsed.diagnostics.is_empty(), "{text}\n{:#?}", parsed.diagnostics);
    let config = Config { float: ScalarType::F64 };
    let environment = Environment::default();
    let checked = weft_lang::check(&parsed.items, &environment, &config, &mut NoFiles);
    assert!(checked.diagnostics.is_empty(), "{text}\n{:#?}", checked.diagnostics);
    let mut values: BTreeMap<GlobalId, Value> = BTreeMap::new();
    let mut last = None;
    for item in checked.items {
        match item.kind {
            CheckedKind::Bind { program, names, .. } => {
                let whole = weft_interp::run(&program, &|id| read(&values[&id]), limits, cancel)?;
                for bound in names {
                    let part = bound.path.iter().fold(whole.clone(), |value, at| match value {
                        Value::Tuple(parts) => parts[*at].clone(),
                        other => panic!("{other:?} is no tuple"),
                    });
                    values.insert(bound.global, part);
                }
            }
            CheckedKind::Show { program, ty, global, .. } => {
                let value = weft_interp::run(&program, &|id| read(&values[&id]), limits, cancel)?;
                values.insert(global, value.clone());
                last = Some((value, ty));
            }
            CheckedKind::Define { .. } | CheckedKind::Alias { .. } => {}
            CheckedKind::ShowFunction { scheme, .. } => panic!("{text} is a function: {scheme}"),
        }
    }
    Ok(last.unwrap_or_else(|| panic!("{text} shows nothing")))
}

/// Whether a cell runs without a panic; nothing if it is no program.
pub(crate) fn try_run(text: &str, limits: &Limits, cancel: &AtomicBool) -> Option<Result<(), ()>> {
    let parsed = weft_lang::syntax::parse(SourceId(0), text);
    let config = Config { float: ScalarType::F64 };
    let environment = Environment::default();
    let checked = weft_lang::check(&parsed.items, &environment, &config, &mut NoFiles);
    let mut diagnostics = parsed.diagnostics.iter().chain(&checked.diagnostics);
    if diagnostics.next().is_some() {
        return None;
    }
    let run = || run_with(text, limits, cancel).map(|_| ());
    Some(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).map(|_| ()).map_err(|_| ()))
}

fn run(text: &str) -> Result<(Value, Type), Failure> {
    run_with(text, &LIMITS, &AtomicBool::new(false))
}

/// A cell yields the same as an expression.
#[track_caller]
pub(crate) fn check(text: &str, expected: &str) {
    let (value, ty) = run(text).unwrap_or_else(|failure| panic!("{text} fails: {failure:#?}"));
    let (expected, _) = run(&format!("({expected} : {ty})"))
        .unwrap_or_else(|failure| panic!("{expected} fails: {failure:#?}"));
    assert!(value.same_bits(&expected), "{text} is\n{value:#?}\ninstead of\n{expected:#?}");
}

/// The extents of the array that a cell yields, `None` where it is ragged.
#[track_caller]
pub(crate) fn check_extents(text: &str, expected: &[Option<usize>]) {
    match run(text).unwrap_or_else(|failure| panic!("{text} fails: {failure:#?}")) {
        (Value::Array(array), _) => assert_eq!(array.extents(), expected, "{text}"),
        (other, _) => panic!("{text} is {other:?}"),
    }
}

/// The trap that a cell ends in.
#[track_caller]
pub(crate) fn trap(text: &str) -> Trap {
    match run(text) {
        Err(Failure::Trap(trap)) => *trap,
        other => panic!("{text} ends in {other:#?}"),
    }
}

/// A cell ends in a trap with that message at that piece of its text.
#[track_caller]
pub(crate) fn check_trap(text: &str, message: &str, place: &str) {
    let trap = trap(text);
    assert_eq!(trap.kind.to_string(), message, "{text}");
    assert_eq!(&text[trap.span.range()], place, "{text}");
}

/// A cell ends in a trap of that code.
#[track_caller]
pub(crate) fn check_code(text: &str, code: &str) {
    let trap = trap(text);
    assert_eq!(trap.kind.code(), code, "{text}: {}", trap.kind);
}

/// The limit that a cell exceeds.
#[track_caller]
pub(crate) fn exhausted(text: &str, limits: &Limits) -> Exhausted {
    match run_with(text, limits, &AtomicBool::new(false)) {
        Err(Failure::Exhausted(exhausted)) => exhausted,
        other => panic!("{text} ends in {other:#?}"),
    }
}
