//! Calls of functions that run a loop row by row, on all threads.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use weft_codegen::{FULL, INTERRUPTED, LEFT};

use crate::execute::{Halt, Source};
use crate::lanes::{Lane as _, LaneType, Storage};
use crate::native::Function;
use crate::native::arrays::Arrays;
use crate::native::call::{Part, Serial, bounds_of, place_of};
use crate::pool::Pool;
use crate::workers::Workers;

/// How many pieces of the points there are for each thread, some of which take longer than others.
const PIECES: usize = 16;

/// For so many elements there is memory where rows grow, beside those that there were.
const LEAST_ROOM: usize = 256;

/// What a function of [`weft_codegen::row_loop`] is called for.
pub(crate) struct PointsCall<'c> {
    /// What it reads.
    pub(crate) inputs: &'c [Source<'c>],
    /// Its state; what is the same at all points as arrays of two elements, the state at hand and the last one.
    pub(crate) state: &'c mut [Part],
    /// What grows in it (Note [Rows that grow] in `weft_codegen`'s `sequential/rows`).
    pub(crate) growing: &'c [Growing],
    /// How many bytes what grows may take.
    pub(crate) room: u64,
    /// How many points there are.
    pub(crate) points: usize,
    /// How many bytes of memory of its own it has on each thread; nothing for functions without.
    pub(crate) scratch: Option<usize>,
    /// Set when the run shall end.
    pub(crate) cancel: &'c AtomicBool,
    /// Counts the points that are done.
    pub(crate) done: Option<&'c AtomicU64>,
    /// The threads.
    pub(crate) workers: &'c Workers,
    /// How long it may take, on trial (Note [Trials row by row] in `sequential/rows.rs`); nothing where it is none.
    pub(crate) patience: Option<Duration>,
}

/// A trial.
struct Trial {
    began: Instant,
    patience: Duration,
    points: usize,
    done: AtomicUsize,
}

impl Trial {
    /// Whether all points would take too long, after some of them; so many others are at work, and count as done.
    fn is_lost(&self, at_work: usize) -> bool {
        let done = (self.done.load(Ordering::Relaxed) + at_work) as u128;
        let taken = self.began.elapsed().as_nanos();
        taken.saturating_mul(self.points as u128) > self.patience.as_nanos().saturating_mul(done)
    }
}

/// Whether a trial has taken too long.
extern "C" fn is_late(trial: *const c_void) -> u32 {
    // SAFETY: Note [Native calls]. The function gives what it was given, which outlives the call.
    let trial = unsafe { &*trial.cast::<Trial>() };
    u32::from(trial.began.elapsed() > trial.patience)
}

/// A part of the state whose rows grow.
pub(crate) struct Growing {
    /// Its number.
    pub(crate) number: usize,
    /// The type of its elements.
    pub(crate) ty: LaneType,
    /// How many there were at all points.
    pub(crate) before: usize,
}

/// What has grown at some points.
pub(crate) struct Grown {
    /// The first of them.
    pub(crate) first: usize,
    /// Per part that grows its elements at these points.
    pub(crate) parts: Vec<Storage>,
}

/// Memory of a thread, which goes back to the pool.
struct Scratch<'p>(Option<Storage>, &'p Pool);

impl Drop for Scratch<'_> {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(|memory| self.1.keep(memory));
    }
}

/// Addresses that all threads have.
struct Shared {
    inputs: *const *const c_void,
    strides: *const *const i64,
    state: Vec<*mut c_void>,
}

// SAFETY: the tables behind these addresses are only read while threads run.
unsafe impl Sync for Shared {}

/// Where the rows of a call go that grow.
struct Places {
    /// The state, with what is written to in the place of what grows.
    state: Vec<*mut c_void>,
    /// Where the memory of those parts ends.
    ends: Vec<*mut c_void>,
    /// The point that a call has come to, and how many elements of each part are there.
    reached: Vec<i64>,
}

impl Shared {
    /// As a function is told.
    fn serial(
        &self,
        points: (usize, usize),
        places: &mut Places,
        scratch: &mut [i64],
        (cancel, trial): (&AtomicBool, Option<&Trial>),
    ) -> Serial {
        let (_, scratch) =
            scratch.split_at_mut(scratch.as_ptr().align_offset(64).min(scratch.len()));
        Serial {
            inputs: self.inputs,
            strides: self.strides,
            state: places.state.as_mut_ptr(),
            extents: places.reached.as_mut_ptr(),
            cancel: cancel.as_ptr().cast_const().cast(),
            begun: 0,
            done: ptr::null_mut(),
            scratch: scratch.as_mut_ptr().cast(),
            room: size_of_val(scratch) as u64,
            first: points.0 as i64,
            end: points.1 as i64,
            until: u64::MAX,
            ends: places.ends.as_ptr(),
            is_late: trial.map(|_| is_late as extern "C" fn(*const c_void) -> u32),
            trial: trial.map_or(ptr::null(), |trial| ptr::from_ref(trial).cast()),
        }
    }

    /// What a call is told of what grows there.
    fn places(&self, growing: &[Growing], parts: &mut [Storage], reached: Vec<i64>) -> Places {
        let (mut state, mut ends) = (self.state.clone(), vec![ptr::null_mut(); self.state.len()]);
        for (of, part) in growing.iter().zip(parts) {
            [state[of.number], ends[of.number]] = bounds_of(part);
        }
        Places { state, ends, reached }
    }
}

/// Memory that is left.
struct Room<'c>(AtomicU64, &'c Pool);

impl Room<'_> {
    /// That many elements, if there is memory for them.
    fn take(&self, ty: LaneType, length: usize) -> Option<Storage> {
        let bytes = length.checked_mul(ty.scalar_type().bytes())? as u64;
        let rest = |room: u64| room.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest).ok()?;
        Some(self.1.take(ty, length))
    }

    /// Makes them twice as many, of which so many stay as they are; nothing if there is no memory for that.
    fn double(&self, storage: &mut Storage, length: usize) -> Option<()> {
        let room = storage.len().checked_mul(2)?;
        let mut more = self.take(storage.ty(), room)?;
        more.resize(0);
        more.append(storage.elements().slice(0, length));
        more.resize(room);
        let before = std::mem::replace(storage, more);
        let bytes = before.len() * before.ty().scalar_type().bytes();
        self.0.fetch_add(bytes as u64, Ordering::Relaxed);
        self.1.keep(before);
        Some(())
    }
}

impl PointsCall<'_> {
    /// Calls the function of a loop for which `self` was made for all points; its result, that of one of the pieces
    /// that did not come to their end if there are any, and what has grown, in the order of the points.
    pub(crate) fn run(self, function: &Function) -> (u32, Vec<Grown>) {
        let PointsCall {
            inputs,
            state,
            growing,
            room,
            points,
            scratch,
            cancel,
            done,
            workers,
            patience,
        } = self;
        let trial = patience.map(|patience| {
            let (began, done) = (Instant::now(), AtomicUsize::new(0));
            Trial { began, patience, points, done }
        });
        let trial = trial.as_ref();
        let Arrays { arrays, strides, scalars } = Arrays::new(inputs);
        let places: Vec<*mut c_void> = state.iter_mut().map(place_of).collect();
        let shared = Shared { inputs: arrays.as_ptr(), strides: strides.as_ptr(), state: places };
        let shared = &shared;
        let piece = (points / (workers.threads() * PIECES)).max(1);
        let pieces = (0..points).step_by(piece).map(|first| (first, points.min(first + piece)));
        let outcome = AtomicU32::new(0);
        let pool: &Pool = workers.memory();
        let room = Room(AtomicU64::new(room), pool);
        let all_grown = Mutex::new(Vec::new());
        let start = || {
            let words = |bytes| pool.take(LaneType::I64, bytes / size_of::<i64>());
            Scratch(scratch.map(words), pool)
        };
        let work = |scratch: &mut Scratch<'_>, (first, end): (usize, usize)| {
            let halted = |result: u32| {
                outcome.store(result, Ordering::Relaxed);
                Err(Halt::Interrupted)
            };
            let at_work = (workers.threads() - 1) * piece;
            if first > at_work && trial.is_some_and(|trial| trial.is_lost(at_work)) {
                return halted(INTERRUPTED);
            }
            // A share of what was there, and more.
            let begun = |of: &Growing| {
                let before = (of.before / points).saturating_mul(end - first);
                room.take(of.ty, before.saturating_add(before / 2 + LEAST_ROOM))
            };
            let Some(mut parts) = growing.iter().map(begun).collect::<Option<Vec<Storage>>>()
            else {
                return halted(LEFT);
            };
            let mut reached = vec![0; 1 + growing.len()];
            reached[0] = first as i64;
            loop {
                let from = reached[0] as usize;
                let mut places = shared.places(growing, &mut parts, reached);
                let memory = scratch.0.as_mut().map(|memory| &mut i64::storage_mut(memory)[..]);
                let memory = memory.unwrap_or_default();
                let serial = shared.serial((from, end), &mut places, memory, (cancel, trial));
                // SAFETY: Note [Native calls]. Of the parts of the state that are written, which nobody else holds, the
                // function writes to the rows of its points alone, and the first point's to what all have in common;
                // no two calls have a point in common. What grows is memory of this call, as far as it is told. It
                // reads its inputs where a check or the plan says that they have an element. All of them outlive the
                // call.
                let result = unsafe { (function.entry)(ptr::from_ref(&serial).cast()) };
                reached = places.reached;
                match result {
                    0 => break,
                    FULL => {
                        let mut all = parts.iter_mut().zip(&reached[1..]);
                        if !all.all(|(part, length)| room.double(part, *length as usize).is_some())
                        {
                            return halted(LEFT);
                        }
                    }
                    other => return halted(other),
                }
            }
            if let Some(done) = done {
                done.fetch_add((end - first) as u64, Ordering::Relaxed);
            }
            if let Some(trial) = trial {
                trial.done.fetch_add(end - first, Ordering::Relaxed);
            }
            if !growing.is_empty() {
                for (part, length) in parts.iter_mut().zip(&reached[1..]) {
                    part.resize(*length as usize);
                }
                let grown = Grown { first, parts };
                all_grown.lock().unwrap_or_else(PoisonError::into_inner).push(grown);
            }
            Ok(())
        };
        let parallel = points > 1;
        // What halted it is in the outcome.
        let _ = workers.each(parallel, pieces, start, work);
        drop(scalars);
        let mut grown = all_grown.into_inner().unwrap_or_else(PoisonError::into_inner);
        grown.sort_unstable_by_key(|grown| grown.first);
        (outcome.into_inner(), grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_lost_where_the_first_points_take_too_large_a_share() {
        let began =
            Instant::now().checked_sub(Duration::from_millis(100)).expect("it runs as long");
        // The points that are done, and those at work, of ten; how long all may take; whether that is too long.
        for (done, at_work, patience, is_lost) in [
            (1, 1, 400, true),
            (1, 1, 600_000, false),
            (0, 0, 600_000, true),
            (9, 1, 90, true),
            (4, 1, 199, true),
        ] {
            let patience = Duration::from_millis(patience);
            let trial = Trial { began, patience, points: 10, done: AtomicUsize::new(done) };
            assert_eq!(trial.is_lost(at_work), is_lost, "{done} {at_work} {patience:?}");
            assert_eq!(
                is_late(ptr::from_ref(&trial).cast()),
                u32::from(patience.as_millis() < 100)
            );
        }
    }
}
