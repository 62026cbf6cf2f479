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
}

impl Stage {
    /// Every stage in order.
    pub(crate) const ALL: [Stage; 6] =
        [Stage::Typed, Stage::Nested, Stage::Shared, Stage::Flat, Stage::Fused, Stage::Plan];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Stage::Typed => "typed",
            Stage::Nested => "nested",
            Stage::Shared => "shared",
            Stage::Flat => "flat",
            Stage::Fused => "fused",
            Stage::Plan => "plan",
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
            Stage::Typed | Stage::Nested | Stage::Flat | Stage::Fused => None,
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
    let of = |stage| match stage {
        Stage::Typed => typed_text::program(job.program),
        Stage::Nested => stages.lowered.program.to_string(),
        Stage::Shared => stages.compiled.shared.to_string(),
        Stage::Flat => stages.compiled.flat.to_string(),
        Stage::Fused => stages.compiled.fused.to_string(),
        Stage::Plan => stages.compiled.plan.to_string(),
    };
    let mut text = inputs(context, &stages);
    match (diff, stage.before()) {
        (true, Some(before)) => text.push_str(&difference(&of(before), &of(stage))),
        _ => text.push_str(&of(stage)),
    }
    Ok(text.trim_end().to_owned())
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
