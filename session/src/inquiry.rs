//! Commands that look at how a program is compiled: `:ir`, `:fuse`, `:cost`, `:check`, `:compare`,
//! `:bench`. They need the values that the program reads, so they are answered while the cell runs.

mod bandwidth;
mod bench;
mod check;
mod compare;
mod cost;
mod excerpt;
mod fuse;
mod graph;
mod launches;
mod names;
mod stages;

use weft_ir::Type;
use weft_lang::Diagnostic;
use weft_lang::typed::Program;

use crate::engine::{Engine, Job};
use crate::run::Stop;
use crate::sink::{Cancel, Sink};
use crate::sources::Sources;
use crate::state::State;
pub(crate) use stages::Stage;

/// What is asked about a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Inquiry {
    /// `:ir stage e`.
    Ir {
        /// Which.
        stage: Stage,
        /// Whether to show what the last pass changed.
        diff: bool,
    },
    /// `:fuse e`.
    Fuse,
    /// `:cost e`.
    Cost,
    /// `:check e`.
    Check,
    /// `:compare e`.
    Compare,
    /// `:bench e`.
    Bench,
}

/// What an inquiry may look at.
pub(crate) struct Context<'a> {
    pub(crate) engine: &'a Engine,
    pub(crate) state: &'a State,
    pub(crate) sources: &'a Sources,
    pub(crate) cancel: &'a Cancel,
}

/// An answer.
pub(crate) struct Answer {
    /// As text.
    pub(crate) text: String,
    /// The same as a picture, in SVG.
    pub(crate) svg: Option<String>,
    /// The bug that it shows, if it does.
    pub(crate) bug: Option<String>,
}

/// Answers a question. What is known of it when somebody cancels, the sink is told.
pub(crate) fn answer(
    inquiry: Inquiry,
    program: &Program,
    ty: &Type,
    context: &Context<'_>,
    job: &Job<'_>,
    sink: &mut dyn Sink,
) -> Result<Answer, Stop> {
    let text = match inquiry {
        Inquiry::Ir { stage, diff } => stages::text(stage, diff, context, job).map_err(failed),
        Inquiry::Fuse => return fuse::answer(context, job).map_err(failed),
        Inquiry::Cost => cost::text(context, job).map_err(failed),
        Inquiry::Check => Ok(check::text(ty, context, job)),
        Inquiry::Compare => return compare::answer(program, ty, context, job, sink),
        Inquiry::Bench => bench::text(context, job),
    };
    text.map(|text| Answer { text, svg: None, bug: None })
}

fn failed(diagnostic: Box<Diagnostic>) -> Stop {
    Stop::Failed(diagnostic)
}
