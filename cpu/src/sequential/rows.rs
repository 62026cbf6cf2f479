//! Functions of loops that go on row by row, and when they are called.
//!
//! Note [Trials row by row]. A function that does one point after the other (Note [Loops row by row] in `weft_ir`'s `rows`)
//! surely pays where there is little to do at a point: the host's turns are launches over all points, of which some may have
//! come to their end. Where there is more it is tried out. How many turns there will be nobody knows; but a loop that has
//! taken so long may well take as long again. So the function may take as long as the host has: it gives up when that
//! is over, or when the first points have taken too large a share of it, and nothing is changed then. It is tried again when the
//! run has taken twice as long, or longer if the trial took much.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use weft_codegen::{RowLoop, SequentialLoop};

use super::{LOST_PART, Sequential, Watch};
use crate::native::{PATIENCE, Supply, Tier};

/// A loop that can become a function of one point (Note [Loops row by row] in `weft_ir`'s `rows`).
#[derive(Debug)]
pub(crate) struct RowFunction {
    /// The function.
    pub(crate) sequential: Arc<Sequential>,
    /// Whether it is given memory for arrays on each thread, [`SCRATCH`](super::SCRATCH) bytes or more.
    pub(crate) has_scratch: bool,
    /// The parts of the state whose rows it writes one behind the other, by their numbers.
    pub(crate) growing: Vec<usize>,
    /// Whether there has been more to do at a point than pays surely.
    is_much: AtomicBool,
    /// How many nanoseconds the last trial took that was won; 0 if the last one was lost.
    won: AtomicU64,
}

impl RowFunction {
    pub(crate) fn new(of: RowLoop, native: Option<Supply>) -> RowFunction {
        let RowLoop { text, functions, inputs, written: updated, growing, sites, has_scratch } = of;
        // It is wanted whatever the launches of the host's loop take. Its memory is that of a `PointsCall`.
        let computes_arrays = false;
        let moving = BTreeSet::new();
        let of =
            SequentialLoop { text, functions, inputs, updated, moving, sites, computes_arrays };
        let sequential = Arc::new(Sequential::new(of, native));
        let (is_much, won) = Default::default();
        RowFunction { sequential, has_scratch, growing, is_much, won }
    }
}

impl Watch<'_> {
    /// How long a function may take that goes on row by row: any time where it surely pays, which is nothing. Nothing at all
    /// where it is not tried out at this turn.
    pub(crate) fn patience(&mut self, rows: &RowFunction) -> Option<Option<Duration>> {
        if !rows.is_much.load(Ordering::Relaxed) {
            return Some(None);
        }
        let native = self.sequential.native.as_ref().map(|supply| supply.tier);
        if native != Some(Tier::Automatic) {
            return Some(Some(Duration::MAX));
        }
        let may_take = may_take(self.here(), rows.won.load(Ordering::Relaxed));
        if may_take.is_none() {
            self.go_on();
            self.tried_at = PATIENCE;
        }
        may_take.map(Some)
    }

    /// A function has gone on row by row on trial, and took so long.
    pub(crate) fn won_rows(&self, rows: &RowFunction, took: Duration) {
        rows.won.store(nanoseconds(took).max(PATIENCE), Ordering::Relaxed);
    }

    /// A function has not gone on row by row, and took so long.
    pub(crate) fn lost_rows(&mut self, rows: &RowFunction, took: Duration) {
        let was_much = rows.is_much.swap(true, Ordering::Relaxed);
        rows.won.store(0, Ordering::Relaxed);
        let here = self.here();
        self.go_on();
        if was_much {
            let cost = LOST_PART.saturating_mul(nanoseconds(took));
            self.tried_at = here.saturating_add(here.max(cost));
        }
    }
}

/// How long a trial may take where the host has taken so long, and the last one that was won; nothing if that is nothing yet.
fn may_take(here: u64, won: u64) -> Option<Duration> {
    let is_time = here.max(won) >= PATIENCE;
    is_time.then(|| Duration::from_nanos(here.max(won.saturating_mul(2))))
}

fn nanoseconds(of: Duration) -> u64 {
    u64::try_from(of.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use weft_codegen::Functions;

    use super::*;

    #[test]
    fn a_trial_may_take_as_long_as_the_host_has_or_twice_the_last_one() {
        let nanoseconds = |here, won| may_take(here, won).map(|time| time.as_nanos() as u64);
        assert_eq!(nanoseconds(PATIENCE - 1, 0), None);
        assert_eq!(nanoseconds(PATIENCE, 0), Some(PATIENCE));
        assert_eq!(nanoseconds(0, PATIENCE), Some(2 * PATIENCE));
        assert_eq!(nanoseconds(9 * PATIENCE, PATIENCE), Some(9 * PATIENCE));
    }

    #[test]
    fn what_has_lost_is_tried_again_later() {
        let rows = RowFunction::new(
            RowLoop {
                text: String::new(),
                functions: Functions::default(),
                inputs: Vec::new(),
                written: BTreeSet::new(),
                growing: Vec::new(),
                sites: Vec::new(),
                has_scratch: true,
            },
            None,
        );
        let cancel = AtomicBool::new(false);
        let mut watch = Watch::new(&rows.sequential, &cancel, 0);
        assert_eq!(watch.patience(&rows), Some(None), "it pays surely");
        // That there is too much to do is no trial.
        watch.handed = Some(5 * PATIENCE);
        watch.lost_rows(&rows, Duration::from_secs(1));
        assert!(rows.is_much.load(Ordering::Relaxed) && watch.tried_at == 0);
        // A short trial, and one that has taken as long as the host.
        for (took, at) in [(1, 10 * PATIENCE), (5 * PATIENCE, (5 + LOST_PART * 5) * PATIENCE)] {
            watch.won_rows(&rows, Duration::from_nanos(took));
            assert!(rows.won.load(Ordering::Relaxed) >= PATIENCE);
            watch.handed = Some(5 * PATIENCE);
            watch.lost_rows(&rows, Duration::from_nanos(took));
            assert_eq!((watch.tried_at, rows.won.load(Ordering::Relaxed)), (at, 0));
            assert!(watch.handed.is_none() && watch.here() >= 5 * PATIENCE);
        }
    }
}
