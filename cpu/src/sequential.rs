//! Loops without anything parallel, or over small arrays: on the host, until there is a function for them.
//!
//! Note [Long loops]. A loop of scalars, or one that replaces elements of its arrays one by one
//! ([`weft_codegen::sequential_loop`]), runs step by step at first. When that has taken a while a
//! function is asked for; when it is there it goes on from the state at hand, or from the
//! beginning where the loop is inside of host code: nothing but time depends on it. It writes to arrays
//! that nobody else holds. An array gets there with its first update; one that is shared is copied
//! only where the run has taken longer than that takes, and where there is memory.
//!
//! Note [Loops over small arrays]. Other loops have functions that compute arrays in memory of their own
//! ([`weft_codegen::small_loop`]), or replace elements where they are, as those of Note [Long loops] do. One is asked
//! for, and called, where the launches of a loop take no longer than launches of nothing do: then there is little in them to be gained from threads and vectors. It is the
//! processor's time that counts: on a busy machine launches of nothing take any time. The scalars of a turn take theirs
//! as well, which is all of it where few turns launch anything. Where launches take longer,
//! but not long, it is tried out for a few turns beside as many of the host, and goes on if it is the faster one: a call for
//! one turn says before that how long it takes to hand the state over.
//! How large the arrays were then is kept for the next run. One that was slower is tried again when the run has taken twice as
//! long, for a few turns may meet whatever else the machine is about, and a run may have millions. A turn that is too large for
//! it is left to the host, and it is called again for the next one; where it does hardly any turns from one such to the next,
//! ever later.

mod rows;

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use weft_codegen::{FULL, INTERRUPTED, LEFT, LaneFunction, PAUSED, SequentialLoop};
use weft_ir::flat::Var;
use weft_ir::{Exhausted, Fault, FaultKind, Span, Stop};

use crate::busy::Busy;
use crate::lanes::{Lane, LaneType};
use crate::native::{Function, PATIENCE, SerialCall, Supply, Ticket, Tier};
use crate::pool::Pool;

pub(crate) use rows::RowFunction;

/// How many turns are between two looks at the clock.
const TURNS: u32 = 16;

/// Launches that take no longer, in nanoseconds, hardly compute anything.
const SHORT_LAUNCH: u64 = 8_000;

/// Launches that take longer compute so much that it is not tried whether a function does without them.
const LONG_LAUNCH: u64 = 60_000;

/// What the host takes for a turn of scalars, in nanoseconds, …
const SHORT_TURN: u64 = 2_000;

/// … and the most that it takes for a turn beside launches, of which there may be few.
const LONG_TURN: u64 = 10_000;

/// So many trials it may lose at once: the first ones may meet whatever else the machine is about. Behind that a run has to be a
/// long one for another.
const MOST_LOST: u32 = 3;

/// A run that has taken so long, in nanoseconds, is a long one.
const LONG_RUN: u64 = 100_000_000;

/// What is lost in trials is at most one part in so many of a run.
const LOST_PART: u64 = 16;

/// The most bytes of arrays that launches of nothing read and write.
const SMALL: u64 = 1 << 15;

/// The memory of functions that compute arrays, in bytes.
pub(crate) const SCRATCH: usize = 1 << 22;

/// A loop that can become a function.
#[derive(Debug)]
pub(crate) struct Sequential {
    native: Option<Supply>,
    function: LaneFunction,
    inputs: Vec<Var>,
    updated: BTreeSet<usize>,
    moving: BTreeSet<usize>,
    computes_arrays: bool,
    ticket: OnceLock<Arc<Ticket>>,
    /// The nanoseconds that the host has spent on it.
    spent: AtomicU64,
    /// How many turns that were.
    turns: AtomicU64,
    /// How many launches it has made.
    launches: AtomicU64,
    /// For how many bytes of arrays the function was tried and was faster, at most, and slower, at least.
    faster: AtomicU64,
    slower: AtomicU64,
    /// How many trials it has lost since it won one.
    lost: AtomicU32,
    /// Whether it has been tried: the first trial, which finds nothing in the caches, counts only if it is won.
    is_tried: AtomicBool,
}

impl Sequential {
    pub(crate) fn new(of: SequentialLoop, native: Option<Supply>) -> Sequential {
        let SequentialLoop { text, functions, inputs, updated, moving, sites, computes_arrays } =
            of;
        let function = LaneFunction { text, functions, sites };
        let (ticket, spent, turns, launches, faster, lost) = Default::default();
        Sequential {
            native,
            function,
            inputs,
            updated,
            moving,
            computes_arrays,
            ticket,
            spent,
            turns,
            launches,
            faster,
            slower: AtomicU64::new(u64::MAX),
            lost,
            is_tried: AtomicBool::new(false),
        }
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

    /// Whether it grows this array of the state, or leaves a part of it.
    pub(crate) fn moves(&self, number: usize) -> bool {
        self.moving.contains(&number)
    }

    /// Whether the function computes arrays in memory that it is given (Note [Loops over small arrays]).
    pub(crate) fn computes_arrays(&self) -> bool {
        self.computes_arrays
    }

    /// Has the function compiled, unless it has been asked for.
    pub(crate) fn want(&self) -> Option<&Arc<Ticket>> {
        let supply = self.native.as_ref()?;
        let request = || supply.native.service().request_loop(self.function.clone());
        Some(self.ticket.get_or_init(request))
    }

    /// Calls the function; the state becomes the last one, or that of a turn from which the host goes on.
    /// The memory of a function that computes arrays comes from the pool.
    ///
    /// # Errors
    /// A fault, or that the run was interrupted.
    pub(crate) fn run(
        &self,
        function: &Function,
        call: SerialCall<'_>,
        pool: &Pool,
    ) -> Result<Finished, Stop> {
        let words = SCRATCH / size_of::<i64>();
        let mut memory = self.computes_arrays.then(|| pool.take(LaneType::I64, words));
        let scratch = memory.as_mut().map(|memory| &mut i64::storage_mut(memory)[..]);
        let outcome = SerialCall { scratch, ..call }.run(function);
        memory.into_iter().for_each(|memory| pool.keep(memory));
        match outcome {
            LEFT if self.computes_arrays => Ok(Finished::Some),
            PAUSED if self.computes_arrays => Ok(Finished::Asked),
            FULL if self.computes_arrays => Ok(Finished::Full),
            outcome => self.failed(outcome).map_or(Ok(Finished::All), Err),
        }
    }

    /// What the result of the function means, unless it has come to the end.
    ///
    /// # Panics
    /// If it left the loop to the host.
    pub(crate) fn failed(&self, outcome: u32) -> Option<Stop> {
        match outcome {
            0 => None,
            INTERRUPTED => Some(Exhausted::Interrupted.into()),
            site => {
                let (kind, span): (FaultKind, Span) = self.function.sites[site as usize - 1];
                Some(Fault { kind, span }.into())
            }
        }
    }
}

/// How many turns of a loop a function has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Finished {
    /// All.
    All,
    /// Some; the host goes on.
    Some,
    /// As many as it was asked for.
    Asked,
    /// As many as there was memory for, behind an array that grows.
    Full,
}

/// One run of a loop on the host.
pub(crate) struct Watch<'a> {
    sequential: &'a Sequential,
    cancel: &'a AtomicBool,
    began: Instant,
    /// What the host has spent, in nanoseconds, before a function was called the last time, and since then.
    before: u64,
    busy: Busy,
    turns: u32,
    /// What the host had spent when the clock was last looked at, and before it for [`TURNS`] turns.
    looked: [u64; 2],
    /// Whether the function goes on without being tried.
    sure: bool,
    /// How long a call for one turn takes, in nanoseconds, once that is known.
    one_turn: Option<u64>,
    /// How many launches there were in all before it, and how many at the turn at hand.
    launches: [u64; 2],
    /// How long the host had taken when a function took over.
    handed: Option<u64>,
    /// Whether a function has left the loop to the host.
    left: bool,
    /// How long the host has to have taken for the function to be tried, again perhaps.
    tried_at: u64,
    /// How many turns beside the one that a function has left to it the host does before the function is called again, and
    /// how many, with that one, it had.
    away: [u32; 2],
}

impl<'a> Watch<'a> {
    /// `launches` counts those that there have been.
    pub(crate) fn new(
        sequential: &'a Sequential,
        cancel: &'a AtomicBool,
        launches: u64,
    ) -> Watch<'a> {
        let (began, busy, launches) = (Instant::now(), Busy::start(), [launches; 2]);
        Watch {
            sequential,
            cancel,
            began,
            before: 0,
            busy,
            turns: 0,
            looked: [0; 2],
            sure: false,
            one_turn: None,
            launches,
            handed: None,
            left: false,
            tried_at: 0,
            away: [0, 1],
        }
    }

    /// A function has left the loop to the host, for good.
    pub(crate) fn leave(&mut self) {
        self.left = true;
    }

    /// A function has left the turn at hand to the host, and those behind it if it has not done many: each time it does few,
    /// the host does twice as many before it is called again.
    pub(crate) fn leave_turn(&mut self, done: u64) {
        let next = if done < u64::from(TURNS) { self.away[1].saturating_mul(2) } else { 1 };
        self.away = [next - 1, next];
        self.go_on();
    }

    /// Whether it is worth to wait for the function, which is not there yet.
    pub(crate) fn waits(&self) -> bool {
        let automatic = |supply: &Supply| supply.tier == Tier::Automatic;
        let failed = self.sequential.ticket.get().is_some_and(|ticket| ticket.has_failed());
        !self.left && !failed && self.sequential.native.as_ref().is_some_and(automatic)
    }

    /// How many turns the function shall do, given the bytes of the arrays around it: a few on trial, or all; nothing
    /// if it was slower where there were as many, more than once or twice.
    pub(crate) fn most_turns(&mut self, bytes: impl FnOnce() -> u64) -> Option<u64> {
        let native = self.sequential.native.as_ref().map(|supply| supply.tier);
        if !self.sequential.computes_arrays || native != Some(Tier::Automatic) || self.sure {
            self.handed = Some(self.here());
            return Some(u64::MAX);
        }
        let bytes = bytes();
        if bytes <= self.sequential.faster.load(Ordering::Relaxed)
            || bytes <= SMALL && self.is_all_overhead()
        {
            self.handed = Some(self.here());
            return Some(u64::MAX);
        }
        let may_win = self.may_win(bytes);
        let turns = if self.one_turn.is_some() { u64::from(TURNS) } else { 1 };
        (may_win && self.looked[1] > 0).then_some(turns)
    }

    /// Whether a trial with so many bytes around may show that the function is the faster one; if not, it is put off.
    fn may_win(&mut self, bytes: u64) -> bool {
        let may_win = bytes < self.sequential.slower.load(Ordering::Relaxed)
            || self.sequential.lost.load(Ordering::Relaxed) < MOST_LOST
            || self.here() >= LONG_RUN;
        if !may_win {
            self.tried_at = LONG_RUN;
        }
        may_win
    }

    /// The host goes on.
    fn go_on(&mut self) {
        if let Some(handed) = self.handed.take() {
            (self.before, self.busy) = (handed, Busy::start());
        }
    }

    /// The function has taken so long for some turns on trial.
    pub(crate) fn tried(&mut self, nanoseconds: u64, bytes: u64) {
        let Some(one_turn) = self.one_turn else {
            self.one_turn = Some(nanoseconds);
            // What it took is no part of what the next turns of the host take.
            self.looked[0] = self.here();
            return;
        };
        let is_first = !self.sequential.is_tried.swap(true, Ordering::Relaxed);
        // Of many trials some are won by chance: one that has been put off has to be won clearly.
        let share = if self.tried_at > 0 { 2 } else { 1 };
        self.sure = nanoseconds.saturating_sub(one_turn).saturating_mul(share) < self.looked[1];
        if self.sure {
            self.sequential.faster.fetch_max(bytes, Ordering::Relaxed);
            self.sequential.lost.store(0, Ordering::Relaxed);
        } else if is_first {
            self.one_turn = None;
        } else {
            self.sequential.slower.fetch_min(bytes, Ordering::Relaxed);
            self.sequential.lost.fetch_add(1, Ordering::Relaxed);
            let (here, cost) = (self.here(), nanoseconds.saturating_add(one_turn));
            self.tried_at = here.saturating_add(here.max(LOST_PART.saturating_mul(cost)));
            self.one_turn = None;
        }
    }

    /// Whether the turns of the loop and their launches take as long as if they computed nothing.
    fn is_all_overhead(&self) -> bool {
        self.spent() <= self.at_most(SHORT_LAUNCH, SHORT_TURN)
    }

    /// Whether the launches take so short that a function may do without them.
    fn launches_are_short(&self) -> bool {
        self.spent() <= self.at_most(LONG_LAUNCH, LONG_TURN)
    }

    /// What all turns take where a launch takes so long, and the rest of a turn.
    fn at_most(&self, launch: u64, turn: u64) -> u64 {
        let turns =
            u64::from(self.turns).saturating_add(self.sequential.turns.load(Ordering::Relaxed));
        self.launched().saturating_mul(launch).saturating_add(turns.saturating_mul(turn))
    }

    /// All launches of the loop.
    fn launched(&self) -> u64 {
        let here = self.launches[1].saturating_sub(self.launches[0]);
        here.saturating_add(self.sequential.launches.load(Ordering::Relaxed))
    }

    /// The function, if it is there; to be called at each turn. Asks for it if that is worth it.
    pub(crate) fn turn(&mut self, launches: u64) -> Option<Function> {
        self.launches[1] = launches;
        if self.left {
            return None;
        }
        let function = self.chosen();
        if self.away[0] > 0 {
            self.away[0] -= 1;
            return None;
        }
        if function.is_some() && !self.sequential.computes_arrays {
            self.handed = Some(self.here());
        }
        function
    }

    fn chosen(&mut self) -> Option<Function> {
        let supply = self.sequential.native.as_ref()?;
        let computes_arrays = self.sequential.computes_arrays;
        match (supply.tier, self.sequential.ticket.get()) {
            (Tier::Interpreted, _) => None,
            (Tier::Native | Tier::Turning, _) => {
                let ticket = self.sequential.want()?;
                supply.native.service().wait(ticket, self.cancel);
                ticket.function()
            }
            (Tier::Automatic, ticket) => {
                let looks = self.turns.is_multiple_of(TURNS);
                if looks {
                    let now = self.here();
                    let taken = if self.turns > 0 { now.saturating_sub(self.looked[0]) } else { 0 };
                    self.looked = [now, taken];
                }
                self.turns += 1;
                if let Some(ticket) = ticket {
                    let may_be_tried = looks && self.looked[0] >= self.tried_at;
                    let now = match computes_arrays {
                        true => self.sure || may_be_tried && self.launches_are_short(),
                        // Of a function that goes on row by row.
                        false => self.tried_at == 0 || self.here() >= self.tried_at,
                    };
                    return ticket.function().filter(|_| now);
                }
                if looks
                    && self.spent() >= PATIENCE
                    && (!computes_arrays || self.launches_are_short())
                {
                    self.sequential.want();
                }
                None
            }
        }
    }

    /// Whether this run has taken longer than it takes to copy so many bytes, at a GB/s.
    pub(crate) fn is_worth(&self, bytes: u64) -> bool {
        self.began.elapsed().as_nanos() >= u128::from(bytes)
    }

    /// What the host has spent on this run, in nanoseconds.
    fn here(&self) -> u64 {
        self.handed.unwrap_or_else(|| self.before.saturating_add(self.busy.nanoseconds()))
    }

    /// All that the host has spent on the loop.
    fn spent(&self) -> u64 {
        self.here().saturating_add(self.sequential.spent.load(Ordering::Relaxed))
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.sequential.spent.store(self.spent(), Ordering::Relaxed);
        self.sequential.turns.fetch_add(u64::from(self.turns), Ordering::Relaxed);
        self.sequential.launches.store(self.launched(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_codegen::Functions;

    fn sequential() -> Sequential {
        let of = SequentialLoop {
            text: String::new(),
            functions: Functions::default(),
            inputs: Vec::new(),
            updated: BTreeSet::new(),
            moving: BTreeSet::new(),
            sites: Vec::new(),
            computes_arrays: true,
        };
        Sequential::new(of, None)
    }

    #[test]
    fn launches_behind_a_trial_count_like_the_time_that_they_take() {
        let (sequential, cancel) = (sequential(), AtomicBool::new(false));
        let mut watch = Watch::new(&sequential, &cancel, 10);
        watch.turn(12);
        watch.leave();
        watch.turn(500);
        drop(watch);
        assert_eq!(sequential.launches.load(Ordering::Relaxed), 490);
    }

    #[test]
    fn turns_of_scalars_are_no_launches_that_compute_something() {
        for (spent, launches, turns, is_overhead, are_short) in [
            (850_000_000, 195, 1_000_000, true, true),
            (3_600_000_000, 204, 1_000_000, false, true),
            (850_000_000, 195, 1000, false, false),
            (5_000_000, 1000, 1000, true, true),
            (40_000_000, 1000, 1000, false, true),
        ] {
            let (sequential, cancel) = (sequential(), AtomicBool::new(false));
            sequential.spent.store(spent, Ordering::Relaxed);
            sequential.launches.store(launches, Ordering::Relaxed);
            sequential.turns.store(turns, Ordering::Relaxed);
            let watch = Watch::new(&sequential, &cancel, 0);
            assert_eq!(watch.is_all_overhead(), is_overhead, "{spent} ns for {turns} turns");
            assert_eq!(watch.launches_are_short(), are_short, "{spent} ns for {turns} turns");
        }
    }

    #[test]
    fn to_hand_over_the_state_is_no_part_of_the_turns_on_trial() {
        let (sequential, cancel) = (sequential(), AtomicBool::new(false));
        // What a call for one turn takes, one for some turns, those turns on the host, and whether the function goes on.
        for (one_turn, turns, on_host, goes_on) in [
            (200_000, 204_000, 64_000, true),
            (200_000, 150_000, 64_000, true),
            (200_000, 300_000, 64_000, false),
            (1000, 100_000, 64_000, false),
        ] {
            let mut watch = Watch::new(&sequential, &cancel, 0);
            watch.looked = [0, on_host];
            sequential.is_tried.store(true, Ordering::Relaxed);
            // Nor is it one of the turns that the host does next.
            while watch.here() == 0 {}
            let before = watch.here();
            watch.tried(one_turn, 8);
            assert!(!watch.sure && !watch.left, "{one_turn}");
            assert!(watch.looked[0] >= before && watch.looked[1] == on_host);
            watch.tried(turns, 8);
            assert_eq!((watch.sure, watch.tried_at == 0), (goes_on, goes_on), "{one_turn} {turns}");
        }
    }

    #[test]
    fn the_host_does_ever_more_turns_where_a_function_does_few() {
        let (sequential, cancel) = (sequential(), AtomicBool::new(false));
        let mut watch = Watch::new(&sequential, &cancel, 0);
        // How many turns a function has done, and how many the host does behind the one that is left to it.
        for (done, behind) in [(0, 1), (3, 3), (15, 7), (1000, 0), (16, 0), (2, 1)] {
            watch.handed = Some(1_000_000);
            watch.leave_turn(done);
            assert_eq!((watch.away[0], watch.handed), (behind, None), "behind {done}");
            assert!(watch.here() >= 1_000_000, "what was spent before is not forgotten");
        }
    }

    #[test]
    fn a_function_that_has_lost_is_tried_again_and_then_in_long_runs_alone() {
        let (sequential, cancel) = (sequential(), AtomicBool::new(false));
        let chance = |bytes: u64| {
            let mut watch = Watch::new(&sequential, &cancel, 0);
            watch.looked = [0, 1000];
            (watch.may_win(bytes), watch)
        };
        // The first trial does not count.
        let mut cold = chance(1 << 20).1;
        cold.tried(0, 1 << 20);
        cold.tried(100_000, 1 << 20);
        assert_eq!((cold.sure, cold.tried_at, cold.one_turn), (false, 0, None));
        assert_eq!(sequential.lost.load(Ordering::Relaxed), 0);
        for _ in 0..MOST_LOST {
            let (may_win, mut watch) = chance(1 << 20);
            assert!(may_win);
            watch.tried(0, 1 << 20);
            watch.tried(100_000, 1 << 20);
            // The run has to take twice as long, or as long as many trials, before the next one.
            assert!(watch.tried_at >= LOST_PART * 100_000 && watch.one_turn.is_none());
            assert!(!watch.left);
        }
        assert!(!chance(1 << 20).0 && chance((1 << 20) - 1).0);
        let mut long = chance(1 << 20).1;
        assert_eq!(long.tried_at, LONG_RUN, "it is put off");
        long.before = LONG_RUN;
        assert!(long.may_win(1 << 20), "a long run tries again");
        for (nanoseconds, is_won) in [(600, false), (400, true)] {
            long.tried_at = LONG_RUN;
            long.tried(0, 1 << 20);
            long.tried(nanoseconds, 1 << 20);
            assert_eq!(long.sure, is_won, "{nanoseconds} of 1000");
        }
        // One that wins may lose as often again.
        let mut watch = chance(1 << 10).1;
        watch.tried(0, 1 << 10);
        watch.tried(10, 1 << 10);
        assert!(watch.sure && chance(1 << 20).0);
    }
}
