//! Lines of a cell that run as one program.
//!
//! Note [Joined lines]. Consecutive bindings that share arrays are lowered to one program that yields all of
//! their values. So an array is read once for all that look at it, what reads an array runs while it is
//! made, and one unit goes to the C compiler. It is an attempt: where the joined program cannot be compiled,
//! faults, or has no room, the lines run one by one, and nobody sees that it was made. A group that does
//! not go together is remembered by its text, as plans are, and not tried again.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};

use weft_ir::{Exhausted, Failure, Span, Value};
use weft_lang::lower::{Lowered, Member, lower_sequence};

use super::{Backend, Compiled, Engine, Fallback, Job, Ran, compile, leaves, message};
use crate::footer::Phase;

/// What came of lines that were to run as one program.
pub(crate) enum Joined {
    /// Their values, in order.
    Values(Vec<Value>),
    /// Somebody asked to stop.
    Interrupted,
    /// They have to run otherwise.
    Apart {
        /// How.
        how: LeftApart,
        /// What to remember that by ([`Engine::keep_apart`]) if it turns out that every line has a value;
        /// nothing if it is known already.
        key: Option<String>,
    },
}

/// How lines run that do not go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LeftApart {
    /// In several groups: those that begin at these positions, ascending, and what is before the first.
    Groups(Vec<usize>),
    /// This one by itself; those before it and those after it may be joined.
    One(usize),
    /// Each by itself.
    All,
}

impl Engine {
    /// Runs several programs as one, on the back end that the modes ask for. The program of the job is the
    /// first of them.
    pub(crate) fn run_joined(&self, job: &Job<'_>, members: &[Member<'_>]) -> (Joined, Ran) {
        let mut ran = Ran::new(job.modes.backend);
        let joined = self.joined(job, members, &mut ran);
        let mut statistics = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        match &joined {
            Joined::Values(values) => {
                statistics.joined += 1;
                let is_elsewhere = job.modes.backend == Backend::Gpu && ran.backend == Backend::Cpu;
                match is_elsewhere {
                    true => statistics.elsewhere += values.len() as u64,
                    false => statistics.compiled += values.len() as u64,
                }
            }
            Joined::Interrupted | Joined::Apart { how: LeftApart::Groups(_), .. } => {}
            Joined::Apart { .. } => statistics.apart += 1,
        }
        statistics.bugs += u64::from(matches!(ran.fallback, Some(Fallback::Bug(_))));
        drop(statistics);
        (joined, ran)
    }

    /// Remembers that lines do not go together.
    pub(crate) fn keep_apart(&self, key: String, how: LeftApart) {
        self.apart.insert(key, how);
    }

    fn joined(&self, job: &Job<'_>, members: &[Member<'_>], ran: &mut Ran) -> Joined {
        let lowered =
            ran.timed(Phase::Lower, || catch_unwind(AssertUnwindSafe(|| lower_sequence(members))));
        let lowered = match lowered {
            Ok(Ok(lowered)) => lowered,
            Ok(Err((index, _))) => return Joined::Apart { how: LeftApart::One(index), key: None },
            Err(panic) => {
                ran.fallback = Some(Fallback::Bug(message(&*panic)));
                return Joined::Apart { how: LeftApart::All, key: None };
            }
        };
        let begins = begins(&lowered);
        if !begins.is_empty() {
            return Joined::Apart { how: LeftApart::Groups(begins), key: None };
        }
        let (key, known) = ran.timed(Phase::Compile, || {
            let key = compile::key(job.modes, &lowered, &leaves(job, &lowered));
            let known = self.apart.get(&key);
            (key, known)
        });
        if let Some(how) = known {
            return Joined::Apart { how, key: None };
        }
        let spans: Vec<Span> = lowered.parts.iter().map(|part| part.span).collect();
        let mut compiled = prepared(lowered, key.clone());
        match self.compiled(job, job.modes.backend, &mut compiled, ran) {
            Some(Ok(Value::Tuple(values))) => Joined::Values(values.to_vec()),
            Some(Err(Failure::Exhausted(Exhausted::Interrupted))) => Joined::Interrupted,
            Some(_) => Joined::Apart { how: LeftApart::All, key: Some(key) },
            None => {
                let how = match &ran.fallback {
                    Some(Fallback::Unsupported(unsupported)) => {
                        let index = spans.iter().position(|part| part.contains(unsupported.span));
                        index.map_or(LeftApart::All, LeftApart::One)
                    }
                    Some(Fallback::Fault(_) | Fallback::Bug(_)) | None => LeftApart::All,
                };
                if matches!(ran.fallback, Some(Fallback::Fault(_))) {
                    // The error of a line, perhaps, which other values do not have.
                    return Joined::Apart { how, key: Some(key) };
                }
                self.keep_apart(key, how.clone());
                Joined::Apart { how, key: None }
            }
        }
    }
}

/// The lines before which an array has to be in memory, as it is read again and again from there on. One by
/// one they would find it there; in one program they could compute its elements instead of reading them,
/// and a product of matrices would not be known as such.
fn begins(lowered: &Lowered) -> Vec<usize> {
    let mut begins = Vec::new();
    for (index, part) in lowered.parts.iter().enumerate() {
        let start = begins.last().copied().unwrap_or(0);
        if part.rereads.is_some_and(|read| read >= start) {
            begins.push(index);
        }
    }
    begins
}

fn prepared(lowered: Lowered, key: String) -> Compiled {
    Compiled { lowered: Some(Arc::new(lowered)), key: Some(key), ..Compiled::default() }
}
