//! What comes of a compiled run.

use weft_ir::leaves::leaves_to_value;
use weft_ir::{Exhausted, Failure, Span, Stop, Value};
use weft_lang::lower::Lowered;

use super::{Fallback, Job, Ran, Unsupported};

/// Why a program gave no value on the compiled path.
pub(super) enum NotRun {
    Unsupported(Unsupported),
    Stop(Stop),
}

impl From<Unsupported> for NotRun {
    fn from(unsupported: Unsupported) -> NotRun {
        NotRun::Unsupported(unsupported)
    }
}

impl From<Stop> for NotRun {
    fn from(stop: Stop) -> NotRun {
        NotRun::Stop(stop)
    }
}

/// What came of a program; none if the interpreter has to run it.
pub(super) fn answer(
    outcome: Result<Value, NotRun>,
    job: &Job<'_>,
    ran: &mut Ran,
) -> Option<Result<Value, Failure>> {
    match outcome {
        Ok(value) => Some(Ok(value)),
        Err(NotRun::Unsupported(unsupported)) => {
            ran.fallback = Some(Fallback::Unsupported(unsupported));
            None
        }
        Err(NotRun::Stop(Stop::Fault(fault))) => {
            ran.fallback = Some(Fallback::Fault(fault));
            None
        }
        Err(NotRun::Stop(Stop::Exhausted(exhausted))) => {
            Some(Err(Failure::Exhausted(at_item(exhausted, job))))
        }
    }
}

/// The value of a compiled program of which these are the leaves.
pub(super) fn value(results: Result<Vec<Value>, Stop>, lowered: &Lowered) -> Result<Value, NotRun> {
    let results = results.map_err(|stop| too_wide(stop, lowered))?;
    Ok(leaves_to_value(&results, &lowered.ty))
}

/// A stop of a compiled program. All calls of a level of a recursion are in memory at a time; where
/// they have no room the interpreter goes on, which has one in memory at a time.
pub(super) fn too_wide(stop: Stop, lowered: &Lowered) -> NotRun {
    match stop {
        Stop::Exhausted(Exhausted::Memory { span, .. })
            if !lowered.program.functions.is_empty() =>
        {
            let reason = "its recursion makes more calls at a time than memory holds".to_owned();
            NotRun::Unsupported(Unsupported { reason, span })
        }
        stop => NotRun::Stop(stop),
    }
}

/// An exhausted limit that names no place of the program is about all of it. A place elsewhere is that of the same
/// program in an earlier cell, which was compiled and kept.
fn at_item(exhausted: Exhausted, job: &Job<'_>) -> Exhausted {
    let whole = job.program.entry.span;
    let functions = job.program.instances.iter().map(|function| function.body.span);
    let texts: Vec<Span> = functions.chain([whole]).collect();
    let is_here = |span: Span| texts.iter().any(|text| text.contains(span));
    let known = |span: Span| if span != Span::default() && is_here(span) { span } else { whole };
    match exhausted {
        Exhausted::Memory { wanted, limit, span } => {
            Exhausted::Memory { wanted, limit, span: known(span) }
        }
        Exhausted::Recursion { depth, span } => Exhausted::Recursion { depth, span: known(span) },
        Exhausted::Stack { depth, bytes, span } => {
            Exhausted::Stack { depth, bytes, span: known(span) }
        }
        Exhausted::Interrupted => Exhausted::Interrupted,
    }
}
