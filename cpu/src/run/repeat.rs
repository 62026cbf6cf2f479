//! Loops of the host.
//!
//! Note [Turns that are given up]. A loop that a function may run row by row runs step by step until the function is
//! there. A turn of it may have loops inside that take seconds. So at its beginning the state is kept, and when the
//! function is there the turn is given up wherever it is, at the next step, and the function goes on from the state
//! that was kept.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use weft_codegen::counted_steps;
use weft_ir::flat::Var;
use weft_ir::plan::{Block, Program, Step};
use weft_ir::{Meter, Piece, Rows, Scalar, Stop};

use super::rows::FinishedRows;
use super::{Datum, Machine, bound_in};
use crate::busy::Busy;
use crate::native::PATIENCE;
use crate::prepare::{PreparedBlock, Whole};
use crate::sequential::{Finished, Sequential, Watch};

/// What a turn is given up for.
pub(super) struct Waiting {
    function: Arc<Sequential>,
    began: Instant,
    /// Whether the turn was given up.
    over: bool,
}

/// The state that a turn began with.
struct Kept {
    state: Vec<Datum>,
    bytes: u64,
}

/// A loop that is running.
struct Running<'w, 'm> {
    /// What may go on with it.
    whole: &'w Whole,
    watch: Option<Watch<'w>>,
    began: Instant,
    /// How many turns are done, and how many there are if that is known.
    round: u64,
    rounds: Option<u64>,
    /// The meter of the loop, and what is shown there.
    meter: &'m Meter,
    piece: Option<Piece<'m>>,
}

/// What a turn has come to.
enum Turn {
    /// The loop goes on.
    Done,
    /// The condition did not hold.
    Over,
    /// It was given up, and the state is again what it began with.
    GivenUp,
}

impl<'m> Machine<'m> {
    /// Whether the turn at hand of a loop around is given up, from now on (Note [Turns that are given up]).
    pub(super) fn gives_up_turn(&mut self) -> bool {
        let Some(waiting) = &mut self.waiting else { return false };
        if !waiting.over && waiting.began.elapsed().as_nanos() >= u128::from(PATIENCE) {
            let ticket = waiting.function.want();
            waiting.over = ticket.is_some_and(|ticket| ticket.function().is_some());
        }
        waiting.over
    }

    /// Runs a loop.
    pub(super) fn repeat(
        &mut self,
        step: &Step,
        blocks: &[PreparedBlock; 2],
        whole: &Whole,
        freed: &[Var],
    ) -> Result<(), Stop> {
        let Step::While { results, state, initial, condition, body, rows } = step else {
            panic!("a loop")
        };
        let freed: BTreeSet<Var> = freed.iter().copied().collect();
        self.rename(initial, state, &freed);
        let states: BTreeSet<Var> = state.iter().copied().collect();
        let in_body = bound_in(body);
        let owned = in_body.union(&states).copied().collect();
        let rounds = counted_steps(state, condition, body);
        let mut running = self.running(whole, rounds.map(|rounds| self.rounds(&rounds, state)));
        if running.rounds.is_none() {
            self.meter = self.quiet;
        }
        loop {
            if let Some(piece) = &running.piece {
                piece.set(running.round);
            }
            if self.is_finished(&mut running, rows.as_deref(), state)? {
                break;
            }
            match self.turn_to_keep([condition, body], blocks, state, &running)? {
                Turn::GivenUp => continue,
                Turn::Over => break,
                Turn::Done => {}
            }
            self.rename(&body.results, state, &owned);
            self.clear_all(&in_body, state);
            running.round += 1;
        }
        self.meter = running.meter;
        self.rename(state, results, &states);
        self.clear_all(&states, results);
        Ok(())
    }

    /// A loop before its first turn.
    fn running<'w>(&self, whole: &'w Whole, rounds: Option<u64>) -> Running<'w, 'm>
    where
        'm: 'w,
    {
        let watch =
            whole.function().map(|function| Watch::new(function, self.cancel, self.launches));
        let (began, meter) = (Instant::now(), self.meter);
        let piece = rounds.and_then(|rounds| meter.begin(rounds));
        Running { whole, watch, began, round: 0, rounds, meter, piece }
    }

    /// Goes on with a loop in a function, if there is one for it; whether that has come to the end.
    fn is_finished(
        &mut self,
        running: &mut Running<'_, '_>,
        rows: Option<&Rows<Program>>,
        state: &[Var],
    ) -> Result<bool, Stop> {
        let Some(watch) = &mut running.watch else { return Ok(false) };
        let Some(function) = watch.turn(self.launches) else { return Ok(false) };
        match (running.whole, rows) {
            (Whole::Rows(whole), Some(rows)) => {
                let Some(patience) = watch.patience(whole) else { return Ok(false) };
                // From now on points count, no turns.
                running.piece = None;
                let began = Instant::now();
                let given = (running.meter, patience);
                let finished = self.finish_rows(whole, &function, rows, state, given)?;
                match finished {
                    FinishedRows::All => {
                        if patience.is_some() {
                            watch.won_rows(whole, began.elapsed());
                        }
                        return Ok(true);
                    }
                    FinishedRows::None => watch.leave(),
                    FinishedRows::TooMuch | FinishedRows::Late => {
                        watch.lost_rows(whole, began.elapsed());
                    }
                }
                running.piece = running.rounds.and_then(|rounds| running.meter.begin(rounds));
                if matches!(finished, FinishedRows::TooMuch) {
                    // It may be tried out at this very turn.
                    return self.is_finished(running, Some(rows), state);
                }
            }
            // Note [Long loops].
            (Whole::Loop(whole), _) if self.can_finish(whole, state, watch) => {
                let bytes = || self.bytes_around(whole, state);
                let Some(most) = watch.most_turns(bytes) else { return Ok(false) };
                let turns = running.round..running.round.saturating_add(most);
                let began = Busy::start();
                let (finished, done) =
                    self.finish_loop(whole, &function, state, (turns, running.piece.as_ref()))?;
                match finished {
                    Finished::All => return Ok(true),
                    Finished::Some | Finished::Full => watch.leave_turn(done),
                    // It goes on at the next turn, if that pays.
                    Finished::Asked => {
                        running.round += most;
                        watch.tried(began.nanoseconds(), self.bytes_around(whole, state));
                        return self.is_finished(running, rows, state);
                    }
                }
                if let Some(piece) = &running.piece {
                    running.round = piece.counter().load(Ordering::Relaxed);
                }
            }
            _ => {}
        }
        Ok(false)
    }

    /// A turn that may be given up, where something may go on with the loop in the middle of it.
    fn turn_to_keep(
        &mut self,
        [condition, body]: [&Block; 2],
        blocks: &[PreparedBlock; 2],
        state: &[Var],
        running: &Running<'_, '_>,
    ) -> Result<Turn, Stop> {
        let kept = match (running.whole, &running.watch) {
            (Whole::Rows(whole), Some(watch)) if watch.waits() && has_loops(body) => {
                self.keep(state, &whole.sequential, running.began)
            }
            _ => None,
        };
        let inside = self.meter;
        let goes_on = self.turn([condition, body], blocks, state);
        if let Some(Kept { state: kept, bytes }) = kept {
            self.alive = self.alive.saturating_sub(bytes);
            if self.waiting.take().is_some_and(|waiting| waiting.over) {
                self.meter = inside;
                self.put_back(state, kept, &bound_deep(condition), &bound_deep(body));
                return Ok(Turn::GivenUp);
            }
        }
        Ok(if goes_on? { Turn::Done } else { Turn::Over })
    }

    /// The condition and, if it holds, the body.
    fn turn(
        &mut self,
        [condition, body]: [&Block; 2],
        blocks: &[PreparedBlock; 2],
        state: &[Var],
    ) -> Result<bool, Stop> {
        self.steps(condition, &blocks[0])?;
        let holds = self.scalar(condition.results[0]) == Scalar::Bool(true);
        self.clear_all(&bound_in(condition), state);
        if holds {
            self.steps(body, &blocks[1])?;
        }
        Ok(holds)
    }

    /// Keeps a state for a turn that may be given up; nothing if one around it may be.
    fn keep(&mut self, state: &[Var], function: &Arc<Sequential>, began: Instant) -> Option<Kept> {
        let bytes = |var: &Var| match self.get(*var) {
            Datum::Array { elements, .. } => elements.bytes() as u64,
            Datum::Scalar(_) => 0,
        };
        let bytes: u64 = state.iter().map(bytes).sum();
        if self.waiting.is_some() || self.alive.saturating_add(bytes) > self.config.memory_limit {
            return None;
        }
        // Updates copy what is kept.
        self.alive += bytes;
        self.waiting = Some(Waiting { function: Arc::clone(function), began, over: false });
        let state = state.iter().map(|var| self.get(*var).clone()).collect();
        Some(Kept { state, bytes })
    }

    /// The state that was kept, and nothing of what the turn has bound.
    fn put_back(
        &mut self,
        state: &[Var],
        kept: Vec<Datum>,
        bound: &BTreeSet<Var>,
        more: &BTreeSet<Var>,
    ) {
        for var in bound.iter().chain(more).chain(state) {
            self.clear(*var);
        }
        for (var, datum) in state.iter().zip(kept) {
            self.set(*var, datum);
        }
    }
}

/// Whether a block has loops.
fn has_loops(block: &Block) -> bool {
    block
        .steps
        .iter()
        .any(|step| matches!(step, Step::While { .. }) || step.blocks().any(has_loops))
}

/// The variables that are bound in a block and in those inside of it.
fn bound_deep(block: &Block) -> BTreeSet<Var> {
    let mut bound = bound_in(block);
    for step in &block.steps {
        if let Step::While { state, .. } = step {
            bound.extend(state);
        }
        step.blocks().for_each(|inner| bound.extend(bound_deep(inner)));
    }
    bound
}
