//! What runs again after a fault, before the interpreter does.

use std::sync::Arc;

use weft_ir::{Exhausted, Fault, Span, Stop, Value};
use weft_lang::lower::Lowered;
use weft_passes::guard::guard;

use super::{Backend, Compiled, NotRun};

/// How often a program is compiled again with further conditions.
const MOST_ATTEMPTS: usize = 3;

/// The conditions that a program has been given (`Note [Guarded maps]` in `weft_passes`).
#[derive(Default)]
pub(super) struct Guards {
    /// The program without them, once it has met a fault.
    without: Option<Arc<Lowered>>,
    /// Where it has failed.
    places: Vec<Span>,
    /// How the program without them has failed.
    first: Option<Fault>,
}

impl Guards {
    /// What is to run after a program that has ended so: the same with conditions around the maps and loops out of which
    /// what failed may have been moved, unless there are none.
    pub(super) fn program_after(
        &mut self,
        outcome: &Result<Value, NotRun>,
        backend: Backend,
        known: &Compiled,
    ) -> Option<Compiled> {
        let Err(NotRun::Stop(Stop::Fault(fault))) = outcome else { return None };
        // Only passes move something out of a map, and that interpreter runs what comes before them.
        let is_moved = backend != Backend::Nested;
        // A fault of the passes' own statements is at no place of the program.
        let has_place = fault.span != Span::default();
        if !is_moved
            || !has_place
            || self.places.len() == MOST_ATTEMPTS
            || self.places.contains(&fault.span)
        {
            return None;
        }
        let last = known.lowered.as_ref()?;
        let without = self.without.get_or_insert_with(|| Arc::clone(last));
        self.places.push(fault.span);
        let program = guard(&without.program, &self.places);
        if program == last.program {
            return None;
        }
        let lowered = Lowered { program, ..Lowered::clone(without) };
        self.first.get_or_insert(*fault);
        Some(Compiled { lowered: Some(Arc::new(lowered)), ..Compiled::default() })
    }

    /// What is to be said of the last run. Where the program with conditions has not come to a value either, that is the
    /// first fault, of the program as it is written.
    pub(super) fn said(&self, outcome: Result<Value, NotRun>) -> Result<Value, NotRun> {
        match (&outcome, self.first) {
            (Ok(_), _)
            | (_, None)
            | (Err(NotRun::Stop(Stop::Exhausted(Exhausted::Interrupted))), _) => outcome,
            (Err(_), Some(fault)) => Err(NotRun::Stop(Stop::Fault(fault))),
        }
    }
}
