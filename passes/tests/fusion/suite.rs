//! Every program of the suite and every documented example: what *flat* yields, the plan yields too,
//! however it is fused.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use weft_interp::{Limits, run_flat};
use weft_ir::leaves::{leaf_layout, value_to_leaves};
use weft_ir::{ScalarType, SourceId, Value, flat, plan};
use weft_lang::lower::lower;
use weft_lang::typed::{GlobalId, Program};
use weft_lang::{CheckedKind, Config, Environment, NoFiles};
use weft_passes::fuse::{FuseConfig, fuse};
use weft_passes::{pipeline, place};

use crate::{GREEDY, ILP, OFF};

/// Without a stack: the interpreter of *flat* takes half a millisecond for a turn, and some programs make 100,000s.
const CALLS: pipeline::Calls = pipeline::Calls { deepest: 10_000, stack: false };

/// The passes before fusion, all of them, each of whose results is checked.
const PASSES: pipeline::Config = pipeline::Config {
    sharing: true,
    split: true,
    fuse: ILP,
    rows: true,
    calls: CALLS,
    check: true,
};

const LIMITS: Limits = Limits { memory: 1 << 28, recursion: 10_000, stack: weft_lang::STACK_BYTES };

/// What came of many cells.
#[derive(Default)]
struct Summary {
    compared: usize,
    /// Plans that meet a fault, or have no room, as *flat* does.
    faults: usize,
    /// Plans that yield something where *flat* meets a fault: that of something nobody needs.
    spared: usize,
    kernels: [usize; 3],
    wrong: Vec<String>,
}

impl Summary {
    fn and(mut self, other: Summary) -> Summary {
        self.compared += other.compared;
        self.faults += other.faults;
        self.spared += other.spared;
        self.kernels.iter_mut().zip(other.kernels).for_each(|(sum, more)| *sum += more);
        self.wrong.extend(other.wrong);
        self
    }
}

/// Runs a test on a thread with a large stack.
pub(crate) fn with_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(weft_lang::STACK_BYTES);
        builder.spawn_scoped(scope, run).expect("a thread").join().expect("no panic")
    })
}

fn cells() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite");
    let mut pages = Vec::new();
    for folder in std::fs::read_dir(root).expect("the suite") {
        let folder = folder.expect("a folder").path();
        for page in std::fs::read_dir(folder).expect("a folder of the suite") {
            pages.push(page.expect("a page").path());
        }
    }
    pages.sort();
    let mut cells: Vec<String> =
        weft_lang::builtins::all().map(|entry| entry.example.to_owned()).collect();
    for page in pages {
        let text = std::fs::read_to_string(page).expect("a page");
        for section in text.split("\n## ") {
            let fences: Vec<&str> = section
                .split("```weft\n")
                .skip(1)
                .map(|rest| rest.split("\n```").next().unwrap_or_default())
                .filter(|fence| !fence.starts_with(':'))
                .collect();
            if fences.len() > 1 {
                cells.push(fences.join("\n"));
            }
            cells.extend(fences.iter().map(|fence| (*fence).to_owned()));
        }
    }
    cells
}

fn compare_cell(text: &str, summary: &mut Summary) {
    visit_cell(text, &mut |program, values| compare_program(text, program, values, summary));
}

/// Visits the programs of a cell with the values of the items before; none if it is no cell.
fn visit_cell(text: &str, visit: &mut dyn FnMut(&Program, &BTreeMap<GlobalId, Value>)) {
    let parsed = weft_lang::syntax::parse(SourceId(0), text);
    let config = Config { float: ScalarType::F64 };
    let checked = weft_lang::check(&parsed.items, &Environment::default(), &config, &mut NoFiles);
    if !parsed.diagnostics.is_empty() || !checked.diagnostics.is_empty() {
        return;
    }
    let mut values: BTreeMap<GlobalId, Value> = BTreeMap::new();
    for item in checked.items {
        let (program, names, global) = match item.kind {
            CheckedKind::Bind { program, names, .. } => (program, names, None),
            CheckedKind::Show { program, global, .. } => (program, Vec::new(), Some(global)),
            CheckedKind::Define { .. }
            | CheckedKind::Alias { .. }
            | CheckedKind::ShowFunction { .. } => continue,
        };
        let cancel = AtomicBool::new(false);
        let value = weft_interp::run(&program, &|id| values[&id].clone(), &LIMITS, &cancel);
        visit(&program, &values);
        let Ok(value) = value else { return };
        for bound in names {
            let part = bound.path.iter().fold(value.clone(), |value, at| match value {
                Value::Tuple(parts) => parts[*at].clone(),
                other => panic!("{other:?} is no tuple"),
            });
            values.insert(bound.global, part);
        }
        values.extend(global.map(|global| (global, value)));
    }
}

/// The flat form of a program and its inputs, if it has one.
fn flattened(
    program: &Program,
    values: &BTreeMap<GlobalId, Value>,
) -> Option<(flat::Program, Vec<Value>)> {
    let lowered = lower(program).ok()?;
    let inputs: Vec<Value> = lowered
        .inputs
        .iter()
        .flat_map(|(global, ty)| value_to_leaves(&values[global], ty))
        .collect();
    let layouts: Vec<_> = inputs.iter().map(leaf_layout).collect();
    let flattened = pipeline::flattened(lowered.program, &layouts, &PASSES, &mut |_| {}).ok()?;
    Some((flattened.flat, inputs))
}

/// The flat form of the last item of a cell.
pub(crate) fn last_of(text: &str) -> Option<flat::Program> {
    let mut last = None;
    visit_cell(text, &mut |program, values| {
        last = flattened(program, values).map(|(flat, _)| flat);
    });
    last
}

fn compare_program(
    text: &str,
    program: &Program,
    values: &BTreeMap<GlobalId, Value>,
    summary: &mut Summary,
) {
    let Some((flat, inputs)) = flattened(program, values) else { return };
    let cancel = AtomicBool::new(false);
    let expected = run_flat(&flat, &inputs, &LIMITS, &cancel);
    for (at, config) in [ILP, GREEDY, OFF].iter().enumerate() {
        match planned(&flat, config) {
            Err(problem) => summary.wrong.push(format!("{text}\n{flat}\n{problem}")),
            Ok(plan) => {
                let again = plan::read_back(&plan);
                summary.kernels[at] += kernels(&plan.body);
                if let Err(problem) = flat::check(&again) {
                    summary.wrong.push(format!("{text}\n{plan}\n{again}\n{problem}"));
                    continue;
                }
                let found = run_flat(&again, &inputs, &LIMITS, &cancel);
                match (&found, &expected) {
                    (Ok(found), Ok(expected)) if same_bits(found, expected) => {
                        summary.compared += 1;
                    }
                    (Err(_), Err(_)) => summary.faults += 1,
                    (Ok(_), Err(_)) => summary.spared += 1,
                    (_, Ok(_)) => summary.wrong.push(format!(
                        "{text}\n{flat}\n{plan}\nis {found:?}\ninstead of {expected:?}"
                    )),
                }
            }
        }
    }
}

fn same_bits(found: &[Value], expected: &[Value]) -> bool {
    found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| a.same_bits(b))
}

fn planned(flat: &flat::Program, config: &FuseConfig) -> Result<plan::Program, String> {
    let fused = fuse(flat, config).program;
    plan::check(&fused).map_err(|problem| format!("fused:\n{fused}\n{problem}"))?;
    let placed = place(fused);
    plan::check(&placed).map_err(|problem| format!("placed:\n{placed}\n{problem}"))?;
    let printed = placed.to_string();
    let parsed = plan::parse(&printed).map_err(|error| format!("{printed}\n{error}"))?;
    if parsed.to_string() == printed {
        Ok(placed)
    } else {
        Err(format!("{printed}\nreads as\n{parsed}"))
    }
}

fn kernels(block: &plan::Block) -> usize {
    block
        .steps
        .iter()
        .map(|step| match step {
            plan::Step::Launch(_) => 1,
            plan::Step::If { then, otherwise, .. } => kernels(then) + kernels(otherwise),
            plan::Step::While { condition, body, .. } => kernels(condition) + kernels(body),
            _ => 0,
        })
        .sum()
}

#[test]
fn plans_yield_what_flat_yields() {
    let cells = cells();
    let next = AtomicUsize::new(0);
    let compare = || {
        with_stack(|| {
            let mut summary = Summary::default();
            while let Some(cell) = cells.get(next.fetch_add(1, Ordering::Relaxed)) {
                compare_cell(cell, &mut summary);
            }
            summary
        })
    };
    let summary = std::thread::scope(|scope| {
        let beside = scope.spawn(compare);
        compare().and(beside.join().expect("no panic"))
    });
    let wrong = summary.wrong.len();
    assert!(wrong == 0, "{wrong} wrong; the first:\n{}", summary.wrong[0]);
    let Summary { compared, faults, spared, .. } = summary;
    assert!(compared > 5000, "only {compared} were compared");
    // Checks go only with all that needs them, which is rare.
    assert!(faults > 500 && spared < faults / 20, "{faults} fail as flat does, {spared} do not");
    let [ilp, greedy, off] = summary.kernels;
    assert!(ilp <= greedy && greedy < off, "{ilp} <= {greedy} < {off}");
}
