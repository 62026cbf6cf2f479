//! Loops without anything parallel: on the host, until there is a function for them.
//!
//! Note [Long loops]. A loop of scalars, or one that replaces elements of its arrays one by one
//! ([`weft_codegen::sequential_loop`]), runs step by step at first. When that has taken a while a
//! function is asked for; when it is there it goes on from the state at hand, or from the
//! beginning where the loop is inside of host code: nothing but time depends on it. It writes to arrays
//! that nobody else holds. An array gets there with its first update; one that is shared is copied
//! only where the run has taken longer than that takes, and where there is memory.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use weft_codegen::{INTERRUPTED, LaneFunction, SequentialLoop};
use weft_ir::flat::Var;
use weft_ir::{Exhausted, Fault, FaultKind, Piece, Span, Stop};

use crate::execute::Source;
use crate::native::{Function, PATIENCE, Part, SerialCall, Supply, Ticket, Tier};

/// How many turns are between two looks at the clock.
const TURNS: u32 = 16;

/// A loop that can become a function.
#[derive(Debug)]
pub(crate) struct Sequential {
    native: Option<Supply>,
    function: LaneFunction,
    inputs: Vec<Var>,
    updated: BTreeSet<usize>,
    ticket: OnceLock<Arc<Ticket>>,
    /// The nanoseconds that the host has spent on it.
    spent: AtomicU64,
}

impl Sequential {
    pub(crate) fn new(of: SequentialLoop, native: Option<Supply>) -> Sequential {
        let SequentialLoop { text, functions, inputs, updated, sites } = of;
        let function = LaneFunction { text, functions, sites };
        let (ticket, spent) = Default::default();
        Sequential { native, function, inputs, updated, ticket, spent }
    }

    /// The text of the function.
    pub(crate) fn text(&self) -> &LaneFunction {
        &self.function
    }

    /// The variables that the function reads, beside its state.
    pub(crate) fn inputs(&self) -> &[Var] {
        &self.inputs
    }

    /// Whether the function writes to this array of the state.
    pub(crate) fn updates(&self, number: usize) -> bool {
        self.updated.contains(&number)
    }

    /// Has the function compiled, unless it has been asked for.
    pub(crate) fn want(&self) -> Option<&Arc<Ticket>> {
        let supply = self.native.as_ref()?;
        let request = || supply.native.service().request(self.function.clone());
        Some(self.ticket.get_or_init(request))
    }

    /// Calls the function; the state becomes the last one. The piece of work is the loop, of which some turns
    /// are done.
    ///
    /// # Errors
    /// A fault, or that the run was interrupted.
    pub(crate) fn run(
        &self,
        function: &Function,
        inputs: &[Source<'_>],
        state: &mut [Part],
        extents: &[i64],
        cancel: &AtomicBool,
        (begun, piece): (u64, Option<&Piece<'_>>),
    ) -> Result<(), Stop> {
        let done = piece.map(Piece::counter);
        let outcome = SerialCall { inputs, state, extents, cancel, begun, done }.run(function);
        match outcome {
            0 => Ok(()),
            INTERRUPTED => Err(Exhausted::Interrupted.into()),
            site => {
                let (kind, span): (FaultKind, Span) = self.function.sites[site as usize - 1];
                Err(Fault { kind, span }.into())
            }
        }
    }
}

/// One run of a loop on the host.
pub(crate) struct Watch<'a> {
    sequential: &'a Sequential,
    cancel: &'a AtomicBool,
    began: Instant,
    turns: u32,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(sequential: &'a Sequential, cancel: &'a AtomicBool) -> Watch<'a> {
        Watch { sequential, cancel, began: Instant::now(), turns: 0 }
    }

    /// The function, if it is there; to be called at each turn. Asks for it if that is worth it.
    pub(crate) fn turn(&mut self) -> Option<Function> {
        let supply = self.sequential.native.as_ref()?;
        match (supply.tier, self.sequential.ticket.get()) {
            (Tier::Interpreted, _) => None,
            (Tier::Native, _) => {
                let ticket = self.sequential.want()?;
                supply.native.service().wait(ticket, self.cancel);
                ticket.function()
            }
            (Tier::Automatic, Some(ticket)) => ticket.function(),
            (Tier::Automatic, None) => {
                if self.turns.is_multiple_of(TURNS) && self.spent() >= PATIENCE {
                    self.sequential.want();
                }
                self.turns += 1;
                None
            }
        }
    }

    /// Whether this run has taken longer than it takes to copy so many bytes, at a GB/s.
    pub(crate) fn is_worth(&self, bytes: u64) -> bool {
        self.began.elapsed().as_nanos() >= u128::from(bytes)
    }

    /// All that the host has spent on the loop.
    fn spent(&self) -> u64 {
        let here = u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        here.saturating_add(self.sequential.spent.load(Ordering::Relaxed))
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.sequential.spent.store(self.spent(), Ordering::Relaxed);
    }
}
