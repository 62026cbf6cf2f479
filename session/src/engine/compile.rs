//! From a typed program to a plan, with the time that each pass took.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Instant;

use weft_cpu::Tier;
use weft_ir::flat::Dimension;
use weft_ir::leaves::{Axis, leaf_extents, leaf_layout, shared_axes};
use weft_ir::{Scalar, Span, Value, flat, nested, plan};
use weft_lang::Diagnostic;
use weft_lang::lower::{Lowered, Part, lower};
use weft_passes::fuse::FuseConfig;
use weft_passes::pipeline::{self, Compiled, Pass};
use weft_passes::share::share;
use weft_passes::unroll::{FEW_ROWS, MOST_ELEMENTS};
use weft_passes::{maps_rows, named_extents, with_few_elements};

use super::{Job, Ran};
use crate::engine::Backend;
use crate::footer::Phase;
use crate::modes::Modes;

/// What the compiled path cannot do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Unsupported {
    /// One clause for people.
    pub(crate) reason: String,
    /// The expression; the default if it is about the whole.
    pub(crate) span: Span,
}

/// A program in all intermediate languages, for people.
pub(crate) struct Stages {
    pub(crate) lowered: Lowered,
    pub(crate) inputs: Vec<Value>,
    pub(crate) compiled: Compiled,
}

/// A program in all intermediate languages.
pub(crate) fn stages(job: &Job<'_>) -> Result<Stages, Unsupported> {
    let mut ran = Ran::new(job.modes.backend);
    let lowered = lowered(job, &mut ran)?;
    let inputs = super::leaves(job, &lowered);
    let compiled = compiled(job.modes, &lowered, &inputs, &mut ran)?;
    Ok(Stages { lowered, inputs, compiled })
}

/// The report that the compiled path cannot do a program.
pub(crate) fn unsupported_diagnostic(unsupported: &Unsupported, job: &Job<'_>) -> Box<Diagnostic> {
    let span = match unsupported.span == Span::default() {
        true => job.program.entry.span,
        false => unsupported.span,
    };
    let message = format!("this is not compiled: {}", unsupported.reason);
    let diagnostic = Diagnostic::error("E0509", message, span, "because of this")
        .note("it runs on the interpreter, with the same answer");
    let is_because = |ending: &str| unsupported.reason.ends_with(ending);
    Box::new(if is_because("that are scalars, one call after the other") {
        diagnostic.help(
            "a `loop` says the same, and is compiled; so is `first { f x : x in [n] }` for `f n`, which \
             pays where a call does much on arrays",
        )
    } else if is_because("as in `f a || f b`: that is a loop") {
        diagnostic.help(
            "`any [f a, f b]` makes both calls, side by side, and is compiled; for `f a && f b` it is `all [f a, f b]`",
        )
    } else {
        diagnostic
    })
}

/// The program in *nested*.
pub(super) fn lowered(job: &Job<'_>, ran: &mut Ran) -> Result<Lowered, Unsupported> {
    let lowered = ran.timed(Phase::Lower, || lower(job.program));
    lowered.map_err(|why| Unsupported { reason: why.reason, span: why.span })
}

/// The program in *nested*, for people.
pub(crate) fn nested(job: &Job<'_>) -> Result<Lowered, Unsupported> {
    lowered(job, &mut Ran::new(job.modes.backend))
}

/// A program of *nested* with common terms shared, if its recursion can be compiled.
pub(crate) fn shared(program: nested::Program, modes: &Modes) -> Option<nested::Program> {
    let config = config(modes);
    let program = pipeline::without_recursion(program, config.sharing, config.calls).ok()?;
    config.sharing.then(|| share(program, &pipeline::SHARING))
}

/// The program in *flat*.
pub(super) fn flattened(
    modes: &Modes,
    lowered: &Lowered,
    inputs: &[Value],
    ran: &mut Ran,
) -> Result<flat::Program, Unsupported> {
    let (program, layouts) = (to_compile(lowered, inputs), layouts(lowered, inputs));
    let flattened = pipeline::flattened(program, &layouts, &config(modes), &mut phases(ran));
    flattened.map(|flattened| flattened.flat).map_err(from_passes)
}

/// Whether inner maps of a program are split, so that it takes more memory than without.
pub(super) fn is_split(modes: &Modes, lowered: &Lowered, inputs: &[Value]) -> bool {
    let (program, layouts) = (to_compile(lowered, inputs), layouts(lowered, inputs));
    let flattened = pipeline::flattened(program, &layouts, &config(modes), &mut |_| {});
    flattened.is_ok_and(|flattened| !flattened.changes.moved.is_empty())
}

/// The program as a plan.
pub(super) fn compiled(
    modes: &Modes,
    lowered: &Lowered,
    inputs: &[Value],
    ran: &mut Ran,
) -> Result<Compiled, Unsupported> {
    let layouts = layouts(lowered, inputs);
    let mut compile = |config: &pipeline::Config| {
        let program = to_compile(lowered, inputs);
        pipeline::compile(program, &layouts, config, &mut phases(ran)).map_err(from_passes)
    };
    let config = config(modes);
    let mut compiled = compile(&config)?;
    // What a loop reads row by row is stored; on a device only for those that have a kernel.
    if on_device(modes) && has_rows(&compiled.plan.body) && !has_row_kernels(&compiled.plan.body) {
        compiled = compile(&pipeline::Config { rows: false, ..config })?;
    }
    match shapeless(lowered, &compiled) {
        Some(part) => {
            let reason = "whether its rows have one length is known when it has run".to_owned();
            Err(Unsupported { reason, span: part.span })
        }
        None => Ok(compiled),
    }
}

/// Takes the time of each pass when it is done, beginning now.
fn phases(ran: &mut Ran) -> impl FnMut(Pass) {
    let mut started = Instant::now();
    move |pass| {
        let phase = match pass {
            Pass::Share | Pass::Flatten => Phase::Lower,
            Pass::Fuse | Pass::Place => Phase::Fuse,
        };
        ran.phases.push((phase, started.elapsed()));
        started = Instant::now();
    }
}

/// The member of a sequence whose rows may have one length, as far as the compiler sees, and that a later
/// one reads. Once it is there its layout is known, and what reads it may be compiled for dense rows.
fn shapeless<'l>(lowered: &'l Lowered, compiled: &Compiled) -> Option<&'l Part> {
    let is_ragged = |axis: &Dimension| matches!(axis, Dimension::Ragged { .. });
    let outputs = &compiled.plan.outputs;
    lowered.parts.iter().find(|part| {
        let mut leaves = outputs[part.results.clone()].iter();
        part.is_read && leaves.any(|leaf| leaf.axes.iter().any(is_ragged))
    })
}

/// The program for these inputs.
fn to_compile(lowered: &Lowered, inputs: &[Value]) -> nested::Program {
    let number = |input: &Value| match input {
        Value::Scalar(Scalar::I64(value)) => Some(*value),
        _ => None,
    };
    let numbers: Vec<Option<i64>> = inputs.iter().map(number).collect();
    with_few_elements(&lowered.program, &numbers).unwrap_or_else(|| lowered.program.clone())
}

/// What a plan depends on, as text.
pub(super) fn key(modes: &Modes, lowered: &Lowered, inputs: &[Value]) -> String {
    let layouts = layouts(lowered, inputs);
    let mut key = format!("{:?} {:?} {layouts:?}\n", config(modes), modes.tier);
    write!(key, "{}", to_compile(lowered, inputs)).expect("a string takes all text");
    key
}

/// Which axes of inputs are ragged, which are those of one array of tuples, and what is known of the extents of
/// the others.
fn layouts(lowered: &Lowered, inputs: &[Value]) -> Vec<Vec<Axis>> {
    let shared = lowered.inputs.iter().flat_map(|(_, ty)| shared_axes(ty));
    let layouts = inputs.iter().zip(shared).map(|(leaf, shared)| {
        let mut layout = leaf_layout(leaf);
        layout[..shared].fill(Axis::Shared);
        layout
    });
    let mut layouts: Vec<Vec<Axis>> = layouts.collect();
    let few = few_elements(inputs);
    if !few.is_empty() && maps_rows(&lowered.program) {
        note_extents(&mut layouts, inputs, &few, false);
    }
    if let Some(named) = named_extents(&lowered.program) {
        note_extents(&mut layouts, inputs, &named, true);
    }
    layouts
}

/// How many elements the rows of inputs have, where that is few, and the rows are not: they may be written out.
fn few_elements(inputs: &[Value]) -> BTreeSet<i64> {
    let mut few = BTreeSet::new();
    for input in inputs {
        let mut rows: i64 = 1;
        for (axis, extent) in leaf_extents(input).into_iter().enumerate() {
            let Some(extent) = extent else { break };
            if axis > 0 && rows >= FEW_ROWS as i64 && (1..=MOST_ELEMENTS as i64).contains(&extent) {
                few.insert(extent);
            }
            rows = rows.saturating_mul(extent);
        }
    }
    few
}

/// Notes the extents of dense axes that are among some numbers and, if `equal`, which are equal to those of earlier
/// axes.
fn note_extents(layouts: &mut [Vec<Axis>], inputs: &[Value], named: &BTreeSet<i64>, equal: bool) {
    let mut first = BTreeMap::new();
    for (leaf, (layout, input)) in layouts.iter_mut().zip(inputs).enumerate() {
        let extents = leaf_extents(input);
        for (axis, (known, extent)) in layout.iter_mut().zip(extents).enumerate() {
            match (&known, extent) {
                (Axis::Dense, Some(extent)) if named.contains(&extent) => {
                    *known = Axis::Known(extent)
                }
                (Axis::Dense, Some(extent)) if equal => match first.get(&extent) {
                    Some(&(leaf, axis)) => *known = Axis::Like { leaf, axis },
                    None => {
                        first.insert(extent, (leaf, axis));
                    }
                },
                _ => {}
            }
        }
    }
}

fn on_device(modes: &Modes) -> bool {
    matches!(modes.backend, Backend::Gpu | Backend::GpuEmulated)
}

fn config(modes: &Modes) -> pipeline::Config {
    let by_cpu = matches!(modes.backend, Backend::Auto | Backend::Cpu);
    pipeline::Config {
        sharing: modes.sharing,
        split: modes.split,
        fuse: FuseConfig { fusion: modes.fusion, solver: pipeline::SOLVER },
        rows: true,
        calls: pipeline::Calls {
            deepest: modes.recursion,
            stack: by_cpu && modes.tier != Tier::Interpreted && has_compiler(),
        },
        check: cfg!(debug_assertions),
    }
}

/// Whether there is machine code for loops of which a turn does little.
fn has_compiler() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| weft_cpu::NativeConfig::of_environment().has_compiler())
}

fn from_passes(unsupported: weft_passes::Unsupported) -> Unsupported {
    Unsupported { reason: unsupported.reason, span: unsupported.span }
}

/// Whether loops carry along what they are for one point.
fn has_rows(block: &plan::Block) -> bool {
    block.steps.iter().any(|step| match step {
        plan::Step::While { rows: Some(_), .. } => true,
        _ => step.blocks().any(has_rows),
    })
}

/// Whether a device runs one of them row by row.
fn has_row_kernels(block: &plan::Block) -> bool {
    block.steps.iter().any(|step| {
        let here = match step {
            plan::Step::While { rows: Some(rows), state, .. } => {
                weft_cuda::has_row_kernel(rows, state)
            }
            _ => false,
        };
        here || step.blocks().any(has_row_kernels)
    })
}

/// Whether the host has loops of its own, in which it may look at every element of an array.
pub(super) fn has_loops(block: &plan::Block) -> bool {
    block.steps.iter().any(|step| match step {
        plan::Step::While { .. } => true,
        plan::Step::Host { code, .. } => code.has_loops(),
        _ => step.blocks().any(has_loops),
    })
}
