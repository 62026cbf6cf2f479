//! Threads that help a caller with its work.
//!
//! Note [Helpers may come late]. The caller begins at once and does not wait for anybody to wake up:
//! when it finds nothing left to do it closes the work, and a thread that has not joined by then
//! never does. So work that is over in a few microseconds does not pay for sleepers. A thread that
//! has just helped looks for more work for a while before it sleeps.
#![allow(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};

use super::lock;

/// The stack of a thread: kernels nest up to 1000 branches and loops, which take up to 1 KB each.
const STACK_BYTES: usize = 8 << 20;

/// How often a thread looks for work, or for the end of work, before it sleeps: some tens of
/// microseconds.
const LOOKS: usize = 1000;

/// The threads.
#[derive(Debug)]
pub(super) struct Team {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Whether a caller has them.
    busy: AtomicBool,
}

#[derive(Debug, Default)]
struct Shared {
    /// Counts what callers began; changes under the lock only.
    number: AtomicUsize,
    /// The threads that are at work; changes under the lock only.
    active: AtomicUsize,
    state: Mutex<State>,
    begun: Condvar,
    ended: Condvar,
}

#[derive(Debug, Default)]
struct State {
    work: Option<Work>,
    asleep: usize,
    /// Whether a caller sleeps until the last that is at work has done.
    awaited: bool,
    is_over: bool,
    panic: Option<Panic>,
}

/// What a thread panicked with.
struct Panic(Box<dyn Any + Send>);

impl std::fmt::Debug for Panic {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Panic")
    }
}

/// Work that its caller waits for, given the number of the thread.
#[derive(Clone, Copy, Debug)]
struct Work(*const (dyn Fn(usize) + Sync));

// SAFETY: what it points to may be shared between threads; that it still exists says the caller.
unsafe impl Send for Work {}

impl Team {
    /// That many threads besides the caller's; fewer if the system gives no more.
    pub(super) fn new(threads: usize) -> Team {
        let shared = Arc::new(Shared::default());
        let start = |number: usize| {
            let shared = Arc::clone(&shared);
            let builder = Builder::new().name(format!("weft-{number}")).stack_size(STACK_BYTES);
            builder.spawn(move || shared.serve(number)).ok()
        };
        let threads = (1..=threads).map_while(start).collect();
        Team { shared, threads, busy: AtomicBool::new(false) }
    }

    /// How many they are.
    pub(super) fn len(&self) -> usize {
        self.threads.len()
    }

    /// Does some work on the caller's thread, which is number 0, and on as many of these as come
    /// (Note [Helpers may come late]). If another caller has them, this one works alone.
    pub(super) fn run(&self, work: &(dyn Fn(usize) + Sync)) {
        if self.busy.swap(true, Ordering::Acquire) {
            return work(0);
        }
        let shared = &*self.shared;
        // SAFETY: only the lifetime changes. `Turn` is dropped before this function is left in any
        // way, and then nobody has the reference any more.
        let erased: &'static (dyn Fn(usize) + Sync) = unsafe { std::mem::transmute(work) };
        let mut state = lock(&shared.state);
        state.work = Some(Work(erased));
        shared.number.fetch_add(1, Ordering::Release);
        let asleep = state.asleep > 0;
        drop(state);
        let turn = Turn(self);
        if asleep {
            shared.begun.notify_all();
        }
        work(0);
        let panic = turn.close();
        drop(turn);
        if let Some(Panic(panic)) = panic {
            resume_unwind(panic);
        }
    }
}

impl Drop for Team {
    fn drop(&mut self) {
        lock(&self.shared.state).is_over = true;
        self.shared.begun.notify_all();
        for thread in self.threads.drain(..) {
            // Whatever it did, it is over.
            let _ = thread.join();
        }
    }
}

/// The time in which threads may join; the caller may panic in it.
struct Turn<'a>(&'a Team);

impl Turn<'_> {
    /// From now on no thread may join, and none is at work. Yields what one panicked with.
    fn close(&self) -> Option<Panic> {
        let shared = &*self.0.shared;
        lock(&shared.state).work = None;
        let mut looks = 0;
        while looks < LOOKS && shared.active.load(Ordering::Acquire) > 0 {
            looks += 1;
            std::hint::spin_loop();
        }
        let mut state = lock(&shared.state);
        while shared.active.load(Ordering::Acquire) > 0 {
            state.awaited = true;
            state = shared.ended.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.awaited = false;
        state.panic.take()
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.close();
        self.0.busy.store(false, Ordering::Release);
    }
}

impl Shared {
    /// What the thread of that number does all its life.
    fn serve(&self, number: usize) {
        let mut seen = 0;
        loop {
            let mut looks = 0;
            while looks < LOOKS && self.number.load(Ordering::Acquire) == seen {
                looks += 1;
                std::hint::spin_loop();
            }
            let mut state = lock(&self.state);
            while self.number.load(Ordering::Acquire) == seen && !state.is_over {
                state.asleep += 1;
                state = self.begun.wait(state).unwrap_or_else(PoisonError::into_inner);
                state.asleep -= 1;
            }
            if state.is_over {
                return;
            }
            seen = self.number.load(Ordering::Acquire);
            let Some(work) = state.work else { continue };
            self.active.fetch_add(1, Ordering::AcqRel);
            drop(state);
            // SAFETY: the work was open when this thread joined, under the lock; its caller closes it
            // before it goes, and then waits until all who joined have left.
            let result = catch_unwind(AssertUnwindSafe(|| unsafe { (*work.0)(number) }));
            let mut state = lock(&self.state);
            if let Err(panic) = result {
                state.panic.get_or_insert(Panic(panic));
            }
            let last = self.active.fetch_sub(1, Ordering::AcqRel) == 1;
            // Waking nobody is a call of the system too.
            let awaited = last && state.awaited;
            drop(state);
            if awaited {
                self.ended.notify_one();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::Team;

    /// How much of a counted work all together do.
    fn done(team: &Team, work: usize) -> usize {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        team.run(&|_| {
            while next.fetch_add(1, Ordering::Relaxed) < work {
                done.fetch_add(1, Ordering::Relaxed);
            }
        });
        done.into_inner()
    }

    #[test]
    fn everything_is_done_once() {
        for threads in [0, 1, 3] {
            let team = Team::new(threads);
            for work in (0..200).chain([10_000]) {
                assert_eq!(done(&team, work), work);
            }
        }
    }

    #[test]
    fn work_within_work_is_done_by_whoever_asks() {
        let team = Team::new(2);
        let (next, inner) = (AtomicUsize::new(0), AtomicUsize::new(0));
        team.run(&|_| {
            while next.fetch_add(1, Ordering::Relaxed) < 5 {
                inner.fetch_add(done(&team, 10), Ordering::Relaxed);
            }
        });
        assert_eq!(inner.into_inner(), 50);
    }

    #[test]
    fn several_callers_come_at_once() {
        let team = Team::new(2);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..50).for_each(|work| assert_eq!(done(&team, work), work)));
            }
        });
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_goes_on() {
        let team = Team::new(2);
        let next = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            team.run(&|_| {
                while next.fetch_add(1, Ordering::Relaxed) < 1000 {
                    std::thread::yield_now();
                    assert!(next.load(Ordering::Relaxed) < 500, "halfway");
                }
            });
        }));
        assert!(caught.is_err());
        assert_eq!(done(&team, 100), 100);
    }
}
