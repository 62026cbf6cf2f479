//! `:check`: what can be known of a program without running it.

use weft_ir::{Type, flat, nested, plan};

use super::Context;
use crate::engine::{Backend, Job, Stages, stages};
use crate::plot;

/// The type, whether each intermediate program keeps the rules of its language, and where it would
/// run.
pub(super) fn text(ty: &Type, context: &Context<'_>, job: &Job<'_>) -> String {
    let mut text = format!("type    {}\n", plot::shortened(ty.to_string()));
    let asked = job.modes.backend;
    match stages(job) {
        Ok(stages) => {
            for (name, found) in findings(&stages) {
                if let Err(problem) = found {
                    return format!("{text}{name:<7} a bug in Weft: {problem}");
                }
            }
            let objective = stages.compiled.report.objective;
            text.push_str(
                "stages  nested, shared, unrolled, flat, fused and plan keep their rules\n",
            );
            text.push_str(&format!("plan    {objective}\n"));
            let backend = if asked == Backend::Auto { Backend::Cpu } else { asked };
            text.push_str(&format!("runs    on {}", backend.name()));
        }
        Err(unsupported) => {
            let place = context.sources.place(match unsupported.span == weft_ir::Span::default() {
                true => job.program.entry.span,
                false => unsupported.span,
            });
            text.push_str(&format!("runs    on interp: {} ({place})", unsupported.reason));
        }
    }
    text
}

/// What the rules of each language say.
fn findings(stages: &Stages) -> [(&'static str, Result<(), String>); 6] {
    let compiled = &stages.compiled;
    [
        ("nested", nested::check(&stages.lowered.program)),
        ("shared", nested::check(&compiled.shared)),
        ("unrolled", nested::check(compiled.unrolled())),
        ("flat", flat::check(&compiled.flat)),
        ("fused", plan::check(&compiled.fused)),
        ("plan", plan::check(&compiled.plan)),
    ]
}
