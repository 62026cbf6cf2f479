//! Runs a cell both ways.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_nested};
use weft_ir::leaves::{leaves_to_value, value_to_leaves};
use weft_ir::{Failure, ScalarType, SourceId, Stop, Value, nested};
use weft_lang::lower::lower;
use weft_lang::typed::{GlobalId, Program};
use weft_lang::{CheckedKind, Config, Environment, NoFiles};

const LIMITS: Limits = Limits { memory: 1 << 28, recursion: 10_000, stack: weft_lang::STACK_BYTES };

/// What came of many cells.
#[derive(Default)]
pub(crate) struct Summary {
    /// How many values were equal.
    pub(crate) compared: usize,
    /// Where the lowered form failed although the interpreter has a value: slow, not wrong.
    pub(crate) faults: Vec<String>,
    /// What was not lowered, with the reason.
    pub(crate) unsupported: Vec<String>,
    /// What is wrong.
    wrong: Vec<String>,
}

impl Summary {
    /// The wrong ones, and with `WEFT_SHOW` in the environment all that were not compared.
    pub(crate) fn report(&self) -> String {
        let mut report = String::new();
        if std::env::var_os("WEFT_SHOW").is_some() {
            for (title, cells) in [("fault", &self.faults), ("unsupported", &self.unsupported)] {
                for cell in cells {
                    writeln!(report, "[{title}] {cell}").expect("a string");
                }
            }
            writeln!(report, "{} compared", self.compared).expect("a string");
        }
        for wrong in &self.wrong {
            writeln!(report, "[wrong] {wrong}").expect("a string");
        }
        report
    }
}

/// Runs cells, each in a session of its own, on a thread with a large stack.
pub(crate) fn compare_all(cells: Vec<String>) -> Summary {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(weft_lang::STACK_BYTES);
        let run = || {
            let mut summary = Summary::default();
            for cell in &cells {
                compare_cell(cell, &mut summary);
            }
            summary
        };
        builder.spawn_scoped(scope, run).expect("a thread").join().expect("no panic")
    })
}

/// Compares the values of all items of a cell; nothing if it is no program.
fn compare_cell(text: &str, summary: &mut Summary) {
    let parsed = weft_lang::syntax::parse(SourceId(0), text);
    let config = Config { float: ScalarType::F64 };
    let checked = weft_lang::check(&parsed.items, &Environment::default(), &config, &mut NoFiles);
    if !parsed.diagnostics.is_empty() || !checked.diagnostics.is_empty() {
        return;
    }
    let mut values: BTreeMap<GlobalId, Value> = BTreeMap::new();
    for item in checked.items {
        match item.kind {
            CheckedKind::Bind { program, names, .. } => {
                let Some(whole) = compare_program(text, &program, &values, summary) else { return };
                for bound in names {
                    let part = bound.path.iter().fold(whole.clone(), |value, at| match value {
                        Value::Tuple(parts) => parts[*at].clone(),
                        other => panic!("{other:?} is no tuple"),
                    });
                    values.insert(bound.global, part);
                }
            }
            CheckedKind::Show { program, global, .. } => {
                let Some(value) = compare_program(text, &program, &values, summary) else { return };
                values.insert(global, value);
            }
            CheckedKind::Define { .. }
            | CheckedKind::Alias { .. }
            | CheckedKind::ShowFunction { .. } => {}
        }
    }
}

/// The interpreter's value of a program, after a comparison.
fn compare_program(
    text: &str,
    program: &Program,
    values: &BTreeMap<GlobalId, Value>,
    summary: &mut Summary,
) -> Option<Value> {
    let cancel = AtomicBool::new(false);
    let expected = weft_interp::run(program, &|id| values[&id].clone(), &LIMITS, &cancel);
    if let Err(Failure::Exhausted(_)) = expected {
        return None;
    }
    let lowered = match lower(program) {
        Ok(lowered) => lowered,
        Err(unsupported) => {
            summary.unsupported.push(format!("{text}: {unsupported}"));
            return expected.ok();
        }
    };
    if let Err(message) = nested::check(&lowered.program) {
        summary.wrong.push(format!("{text}\n{}\n{message}", lowered.program));
        return expected.ok();
    }
    let inputs: Vec<Value> = lowered
        .inputs
        .iter()
        .flat_map(|(global, ty)| value_to_leaves(&values[global], ty))
        .collect();
    let found = run_nested(&lowered.program, &inputs, &LIMITS, &cancel);
    let found = found.map(|leaves| leaves_to_value(&leaves, &lowered.ty));
    match (&expected, found) {
        (Ok(expected), Ok(found)) if found.same_bits(expected) => summary.compared += 1,
        (Ok(_), Err(Stop::Fault(fault))) => {
            summary.faults.push(format!("{text}: {}", fault.kind));
        }
        (Err(_), Err(Stop::Fault(_))) => summary.compared += 1,
        (expected, found) => summary
            .wrong
            .push(format!("{text}\n{}\nis {found:?}\ninstead of {expected:?}", lowered.program)),
    }
    expected.ok()
}
