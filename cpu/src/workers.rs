//! Threads that share the chunks of a kernel.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::execute::Halt;

/// Threads, made once and used by every run.
#[derive(Debug)]
pub struct Workers {
    pool: Option<rayon_core::ThreadPool>,
    threads: usize,
}

impl Workers {
    /// That many threads, at least one. With one everything runs on the caller's thread, as it does
    /// where the system gives no more.
    pub fn new(threads: usize) -> Workers {
        let build = || rayon_core::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        let pool = if threads > 1 { build() } else { None };
        Workers { threads: if pool.is_some() { threads } else { 1 }, pool }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
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
        let Some(pool) = self.pool.as_ref().filter(|_| parallel) else {
            let mut state = start();
            return claims.into_iter().try_for_each(|claim| work(&mut state, claim));
        };
        let claims = Mutex::new(Some(claims));
        let failure = Mutex::new(None);
        let one = || {
            let mut state = start();
            loop {
                // The guard is dropped before the work begins.
                let claim = lock(&claims).as_mut().and_then(Iterator::next);
                let Some(claim) = claim else { return };
                if let Err(halt) = work(&mut state, claim) {
                    lock(&failure).get_or_insert(halt);
                    *lock(&claims) = None;
                }
            }
        };
        pool.scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|_| one());
            }
        });
        lock(&failure).take().map_or(Ok(()), Err)
    }
}

/// Something that is worked on in the order of the claims, one at a time.
#[derive(Debug)]
pub(crate) struct InOrder<T> {
    state: Mutex<(usize, T)>,
    moved: Condvar,
}

impl<T> InOrder<T> {
    /// Claim 0 comes first.
    pub(crate) fn new(value: T) -> InOrder<T> {
        InOrder { state: Mutex::new((0, value)), moved: Condvar::new() }
    }

    /// Works on it when all claims before have done so. `given_up` tells that one of them never will.
    pub(crate) fn with<R>(
        &self,
        claim: usize,
        given_up: impl Fn() -> Result<(), Halt>,
        work: impl FnOnce(&mut T) -> Result<R, Halt>,
    ) -> Result<R, Halt> {
        let mut state = lock(&self.state);
        while state.0 != claim {
            given_up()?;
            let wait = Duration::from_millis(1);
            state = self.moved.wait_timeout(state, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
        let result = work(&mut state.1);
        state.0 += 1;
        self.moved.notify_all();
        result
    }

    /// What it has become.
    pub(crate) fn into_inner(self) -> T {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).1
    }
}

/// A thread that panics leaves nothing half done here: what it held is given up with the run.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
