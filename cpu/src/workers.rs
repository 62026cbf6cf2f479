//! Threads that share the chunks of a kernel.

mod team;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::execute::Halt;
use crate::pool::Pool;
use team::Team;

/// Threads, made once and used by every run.
#[derive(Debug)]
pub struct Workers {
    /// All but the caller's.
    team: Option<Team>,
    memory: Arc<Pool>,
}

impl Workers {
    /// That many threads, at least one. With one everything runs on the caller's thread, as it does
    /// where the system gives no more.
    pub fn new(threads: usize) -> Workers {
        let team = (threads > 1).then(|| Team::new(threads - 1));
        Workers { team, memory: Arc::default() }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.team.as_ref().map_or(1, |team| team.len() + 1)
    }

    /// The memory that their arrays lie in.
    pub(crate) fn memory(&self) -> &Arc<Pool> {
        &self.memory
    }

    /// Works through claims, which are handed out in order; each thread has a state of its own. After
    /// a failure no more are handed out; the first that is seen is returned.
    pub(crate) fn each<C: Send, S>(
        &self,
        parallel: bool,
        claims: impl Iterator<Item = C> + Send,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, C) -> Result<(), Halt> + Sync,
    ) -> Result<(), Halt> {
        self.each_portion(parallel, vec![claims], start, work)
    }

    /// As [`Workers::each`], but each thread begins with a portion of its own and then helps with the others:
    /// what it has worked on in the last run lies in its caches.
    pub(crate) fn each_portion<C: Send, S>(
        &self,
        parallel: bool,
        portions: Vec<impl Iterator<Item = C> + Send>,
        start: impl Fn() -> S + Sync,
        work: impl Fn(&mut S, C) -> Result<(), Halt> + Sync,
    ) -> Result<(), Halt> {
        let Some(team) = self.team.as_ref().filter(|_| parallel) else {
            let mut state = start();
            return portions.into_iter().flatten().try_for_each(|claim| work(&mut state, claim));
        };
        let portions: Vec<_> =
            portions.into_iter().map(|portion| Mutex::new(Some(portion))).collect();
        let failure = Mutex::new(None);
        let one = |thread: usize| {
            let mut state = None;
            let first = thread % portions.len().max(1);
            for portion in portions[first..].iter().chain(&portions[..first]) {
                loop {
                    // The guard is dropped before the work begins.
                    let claim = lock(portion).as_mut().and_then(Iterator::next);
                    let Some(claim) = claim else { break };
                    if let Err(halt) = work(state.get_or_insert_with(&start), claim) {
                        lock(&failure).get_or_insert(halt);
                        portions.iter().for_each(|portion| *lock(portion) = None);
                    }
                }
            }
        };
        team.run(&one);
        lock(&failure).take().map_or(Ok(()), Err)
    }
}

/// Something that is worked on in the order of the claims, one at a time.
#[derive(Debug)]
pub(crate) struct InOrder<T> {
    /// The claim whose turn it is.
    turn: AtomicUsize,
    state: Mutex<T>,
    moved: Condvar,
    /// How many threads sleep until it has moved; counted up under the lock.
    asleep: AtomicUsize,
}

/// How often a thread looks whether it is its turn before it sleeps: some tens of microseconds. Where
/// the one that it waits for has no processor, looking on would not help it to one.
const LOOKS: usize = 1000;

impl<T> InOrder<T> {
    /// Claim 0 comes first.
    pub(crate) fn new(value: T) -> InOrder<T> {
        let (turn, asleep) = (AtomicUsize::new(0), AtomicUsize::new(0));
        InOrder { turn, state: Mutex::new(value), moved: Condvar::new(), asleep }
    }

    /// Works on it when all claims before have done so. `given_up` tells that one of them never will.
    pub(crate) fn with<R>(
        &self,
        claim: usize,
        given_up: impl Fn() -> Result<(), Halt>,
        work: impl FnOnce(&mut T) -> Result<R, Halt>,
    ) -> Result<R, Halt> {
        let mut looks = 0;
        while self.turn.load(Ordering::Acquire) != claim {
            looks += 1;
            if looks < LOOKS {
                std::hint::spin_loop();
                continue;
            }
            given_up()?;
            let state = lock(&self.state);
            if self.turn.load(Ordering::Acquire) != claim {
                self.asleep.fetch_add(1, Ordering::AcqRel);
                // The time limit is for claims that were given up.
                drop(self.moved.wait_timeout(state, Duration::from_millis(1)));
                self.asleep.fetch_sub(1, Ordering::AcqRel);
            }
        }
        let mut state = lock(&self.state);
        let result = work(&mut state);
        self.turn.store(claim + 1, Ordering::Release);
        drop(state);
        if self.asleep.load(Ordering::Acquire) > 0 {
            self.moved.notify_all();
        }
        result
    }

    /// Looks at it, whosever turn it is.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        look(&lock(&self.state))
    }

    /// What it has become.
    pub(crate) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that panics leaves nothing half done here: what it held is given up with the run.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
