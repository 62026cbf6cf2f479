//! `:ir`: a program in the intermediate languages, as text that the parsers read back.

use similar::{ChangeTag, TextDiff};
use weft_ir::Span;
use weft_lang::Diagnostic;
use weft_lang::lower::Lowered;
use weft_lang::render::Sources as _;

use super::Context;
use crate::commands::typed_text;
use crate::engine::{Job, Unsupported, nested, shared, stages, unsupported_diagnostic};
use crate::modes::Modes;

/// Expressions are shown up to so many characters in comments.
const WIDEST_SOURCE: usize = 60;

/// A stage of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Typed,
    Nested,
    Shared,
    Unrolled,
    Flat,
    Fused,
    Plan,
    C,
    Asm,
    Cuda,
}

impl Stage {
    /// Every stage in order.
    pub(crate) const ALL: [Stage; 10] = [
        Stage::Typed,
        Stage::Nested,
        Stage::Shared,
        Stage::Unrolled,
        Stage::Flat,
        Stage::Fused,
        Stage::Plan,
        Stage::C,
        Stage::Asm,
        Stage::Cuda,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Typed => "typed",
            Stage::Nested => "nested",
            Stage::Shared => "shared",
            Stage::Unrolled => "unrolled",
            Stage::Flat => "flat",
            Stage::Fused => "fused",
            Stage::Plan => "plan",
            Stage::C => "c",
            Stage::Asm => "asm",
            Stage::Cuda => "cuda",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// Whether there is something to compare it with: the program before its pass, or without it.
    pub(crate) fn has_difference(self) -> bool {
        matches!(self, Stage::Shared | Stage::Unrolled | Stage::Flat | Stage::Fused | Stage::Plan)
    }

    /// The stage before it that is written in the same language.
    fn before(self) -> Option<Stage> {
        match self {
            Stage::Shared => Some(Stage::Nested),
            Stage::Unrolled => Some(Stage::Shared),
            Stage::Plan => Some(Stage::Fused),
            Stage::Typed
            | Stage::Nested
            | Stage::Flat
            | Stage::Fused
            | Stage::C
            | Stage::Asm
            | Stage::Cuda => None,
        }
    }
}

/// The text of a stage, or what its pass changed.
pub(super) fn text(
    stage: Stage,
    diff: bool,
    context: &Context<'_>,
    job: &Job<'_>,
) -> Result<String, Box<Diagnostic>> {
    let name = |global| context.state.name_of(global);
    if stage == Stage::Typed {
        return Ok(typed_text::program(job.program, &name));
    }
    let stages = match stages(job) {
        Ok(stages) => stages,
        Err(unsupported) => {
            return before_refusal(stage, context, job, &unsupported)
                .ok_or_else(|| unsupported_diagnostic(&unsupported, job));
        }
    };
    if matches!(stage, Stage::C | Stage::Asm) {
        return native(stage, &stages.compiled.plan, job);
    }
    if stage == Stage::Cuda {
        let policy = weft_cuda::Policy::SM_90;
        let remarks = |span| source_of(span, context);
        let code = weft_cuda::generate_with_remarks(&stages.compiled.plan, &policy, &remarks);
        let needs = needs(&code.text());
        return Ok(format!("{}{}\n\n{needs}", inputs(context, &stages.lowered), code.body.trim()));
    }
    let of = |stage| match stage {
        Stage::Typed => typed_text::program(job.program, &name),
        Stage::Nested => stages.lowered.program.to_string(),
        Stage::Shared => stages.compiled.shared.to_string(),
        Stage::Unrolled => stages.compiled.unrolled().to_string(),
        Stage::Flat => stages.compiled.flat.to_string(),
        Stage::Fused => stages.compiled.fused.to_string(),
        Stage::Plan | Stage::C | Stage::Asm | Stage::Cuda => stages.compiled.plan.to_string(),
    };
    let mut text = inputs(context, &stages.lowered);
    let before = match (diff, stage.before()) {
        (true, Some(before)) => Some(of(before)),
        (true, None) => without_pass(stage, job),
        (false, _) => None,
    };
    match before {
        Some(before) => text.push_str(&difference(&before, &of(stage))),
        None => text.push_str(&of(stage)),
    }
    Ok(text.trim_end().to_owned())
}

/// The text of a stage of a program that a later stage cannot do, with the reason.
fn before_refusal(
    stage: Stage,
    context: &Context<'_>,
    job: &Job<'_>,
    unsupported: &Unsupported,
) -> Option<String> {
    let lowered = nested(job).ok()?;
    let program = match stage {
        Stage::Nested => lowered.program.clone(),
        Stage::Shared => shared(lowered.program.clone(), job.modes)?,
        _ => return None,
    };
    let inputs = inputs(context, &lowered);
    let text = format!("-- this is not compiled: {}\n{inputs}{program}", unsupported.reason);
    Some(text.trim_end().to_owned())
}

/// The text of a stage whose pass changes the language, as it would be without sharing, or without
/// fusion; none if it is not compiled then.
fn without_pass(stage: Stage, job: &Job<'_>) -> Option<String> {
    let compiled = |modes: Modes| Some(stages(&Job { modes: &modes, ..*job }).ok()?.compiled);
    match stage {
        Stage::Flat => {
            let modes = Modes { sharing: false, ..job.modes.clone() };
            Some(compiled(modes)?.flat.to_string())
        }
        Stage::Fused => {
            let modes = Modes { fusion: false, ..job.modes.clone() };
            Some(compiled(modes)?.fused.to_string())
        }
        Stage::Typed
        | Stage::Nested
        | Stage::Shared
        | Stage::Unrolled
        | Stage::Plan
        | Stage::C
        | Stage::Asm
        | Stage::Cuda => None,
    }
}

/// The C of the kernels, without what stands before them in every file, or its assembler text.
fn native(
    stage: Stage,
    plan: &weft_ir::plan::Program,
    job: &Job<'_>,
) -> Result<String, Box<Diagnostic>> {
    let prepared = weft_cpu::prepare(plan, &mut weft_cpu::KernelCache::new());
    let source = weft_cpu::native_source(&prepared);
    if source.kernels.trim().is_empty() {
        return Ok("no kernels: the host computes it".to_owned());
    }
    if stage == Stage::Asm {
        let config = weft_cpu::NativeConfig::of_environment();
        return weft_cpu::native_assembly(&source.whole(), &config).map_err(|reason| {
            let span = job.program.entry.span;
            Box::new(Diagnostic::error("E0509", reason, span, "for this"))
        });
    }
    Ok(source.kernels.trim().to_owned())
}

/// What the kernels of a CUDA text need of a multiprocessor of `sm_90`, or why that is not known.
fn needs(text: &str) -> String {
    let lines = match weft_device::needs(text, 90) {
        Ok(all) => all.iter().map(ToString::to_string).collect(),
        Err(why) => vec![format!("registers and shared memory are not known: {why}")],
    };
    lines.iter().map(|line| format!("// {line}")).collect::<Vec<_>>().join("\n")
}

/// Where an expression of the program stands, and the first line of it.
fn source_of(span: Span, context: &Context<'_>) -> Option<String> {
    let text =
        context.sources.text(span.source).get(span.range()).filter(|text| !text.is_empty())?;
    let line = text.lines().next()?;
    let cut = match line.char_indices().nth(WIDEST_SOURCE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    };
    Some(format!("{}: {cut}", context.sources.place(span)))
}

/// A comment that says which earlier values are the inputs.
fn inputs(context: &Context<'_>, lowered: &Lowered) -> String {
    let names: Vec<String> = lowered
        .inputs
        .iter()
        .map(|(global, ty)| format!("{} : {ty}", context.state.name_of(*global)))
        .collect();
    match names.is_empty() {
        true => String::new(),
        false => format!("-- of {}\n", names.join(", ")),
    }
}

/// Lines that went and came.
fn difference(before: &str, after: &str) -> String {
    if before == after {
        return "nothing changed".to_owned();
    }
    let diff = TextDiff::from_lines(before, after);
    let mut text = String::new();
    for change in diff.iter_all_changes() {
        let mark = match change.tag() {
            ChangeTag::Delete => '-',
            ChangeTag::Insert => '+',
            ChangeTag::Equal => ' ',
        };
        text.push(mark);
        text.push_str(change.value());
        if !change.value().ends_with('\n') {
            text.push('\n');
        }
    }
    text
}
