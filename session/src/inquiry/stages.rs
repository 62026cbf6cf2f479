//! `:ir`: a program in the intermediate languages, as text that the parsers read back.

use similar::{ChangeTag, TextDiff};
use weft_lang::Diagnostic;

use super::Context;
use crate::commands::typed_text;
use crate::engine::{Job, stages, unsupported_diagnostic};

/// A stage of compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Typed,
    Nested,
    Shared,
    Flat,
    Fused,
    Plan,
    C,
    Asm,
}

impl Stage {
    /// Every stage in order.
    pub(crate) const ALL: [Stage; 8] = [
        Stage::Typed,
        Stage::Nested,
        Stage::Shared,
        Stage::Flat,
        Stage::Fused,
        Stage::Plan,
        Stage::C,
        Stage::Asm,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Typed => "typed",
            Stage::Nested => "nested",
            Stage::Shared => "shared",
            Stage::Flat => "flat",
            Stage::Fused => "fused",
            Stage::Plan => "plan",
            Stage::C => "c",
            Stage::Asm => "asm",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name)
    }

    /// The stage before it that is written in the same language.
    fn before(self) -> Option<Stage> {
        match self {
            Stage::Shared => Some(Stage::Nested),
            Stage::Plan => Some(Stage::Fused),
            Stage::Typed
            | Stage::Nested
            | Stage::Flat
            | Stage::Fused
            | Stage::C
            | Stage::Asm => None,
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
    if stage == Stage::Typed {
        return Ok(typed_text::program(job.program));
    }
    let stages = stages(job).map_err(|unsupported| unsupported_diagnostic(&unsupported, job))?;
    if matches!(stage, Stage::C | Stage::Asm) {
        return native(stage, &stages.compiled.plan, job);
    }
    let of = |stage| match stage {
        Stage::Typed => typed_text::program(job.program),
        Stage::Nested => stages.lowered.program.to_string(),
        Stage::Shared => stages.compiled.shared.to_string(),
        Stage::Flat => stages.compiled.flat.to_string(),
        Stage::Fused => stages.compiled.fused.to_string(),
        Stage::Plan | Stage::C | Stage::Asm => stages.compiled.plan.to_string(),
    };
    let mut text = inputs(context, &stages);
    match (diff, stage.before()) {
        (true, Some(before)) => text.push_str(&difference(&of(before), &of(stage))),
        _ => text.push_str(&of(stage)),
    }
    Ok(text.trim_end().to_owned())
}

/// The C of the kernels, without what stands before them in every file, or its assembler text.
fn native(
    stage: Stage,
    plan: &weft_ir::plan::Program,
    job: &Job<'_>,
) -> Result<String, Box<Diagnostic>> {
    let prepared = weft_cpu::prepare(plan, &mut weft_cpu::KernelCache::new());
    let source = weft_cpu::native_source(&prepared);
    if stage == Stage::Asm {
        let config = weft_cpu::NativeConfig::of_environment();
        return weft_cpu::native_assembly(&source.whole(), &config).map_err(|reason| {
            let span = job.program.entry.span;
            Box::new(Diagnostic::error("E0509", reason, span, "for this"))
        });
    }
    Ok(source.kernels.trim().to_owned())
}

/// A comment that says which earlier values are the inputs.
fn inputs(context: &Context<'_>, stages: &crate::engine::Stages) -> String {
    let names: Vec<String> = stages
        .lowered
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
