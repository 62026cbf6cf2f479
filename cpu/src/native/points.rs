//! Calls of functions that run a loop row by row, on all threads.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::execute::{Halt, Source};
use crate::lanes::{Lane as _, LaneType, Storage};
use crate::native::Function;
use crate::native::call::{Arrays, Part, Serial, place_of};
use crate::pool::Pool;
use crate::workers::Workers;

/// How many pieces of the points there are for each thread, some of which take longer than others.
const PIECES: usize = 16;

/// What a function of [`weft_codegen::row_loop`] is called for.
pub(crate) struct PointsCall<'c> {
    /// What it reads.
    pub(crate) inputs: &'c [Source<'c>],
    /// Its state; what is the same at all points as arrays of two elements, the state at hand and the last one.
    pub(crate) state: &'c mut [Part],
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
    state: *mut *mut c_void,
}

// SAFETY: the tables behind these addresses are only read while threads run.
unsafe impl Sync for Shared {}

impl Shared {
    /// As a function is told.
    fn serial(&self, points: (usize, usize), scratch: &mut [i64], cancel: &AtomicBool) -> Serial {
        let (_, scratch) =
            scratch.split_at_mut(scratch.as_ptr().align_offset(64).min(scratch.len()));
        Serial {
            inputs: self.inputs,
            strides: self.strides,
            state: self.state,
            extents: ptr::null_mut(),
            cancel: cancel.as_ptr().cast_const().cast(),
            begun: 0,
            done: ptr::null_mut(),
            scratch: scratch.as_mut_ptr().cast(),
            room: size_of_val(scratch) as u64,
            first: points.0 as i64,
            end: points.1 as i64,
            until: u64::MAX,
            ends: ptr::null(),
        }
    }
}

impl PointsCall<'_> {
    /// Calls the function of a loop for which `self` was made for all points; its result, that of one of the pieces
    /// that did not come to their end if there are any.
    pub(crate) fn run(self, function: &Function) -> u32 {
        let PointsCall { inputs, state, points, scratch, cancel, done, workers } = self;
        let Arrays { arrays, strides, scalars } = Arrays::new(inputs);
        let mut places: Vec<*mut c_void> = state.iter_mut().map(place_of).collect();
        let shared = Shared {
            inputs: arrays.as_ptr(),
            strides: strides.as_ptr(),
            state: places.as_mut_ptr(),
        };
        let shared = &shared;
        let piece = (points / (workers.threads() * PIECES)).max(1);
        let pieces = (0..points).step_by(piece).map(|first| (first, points.min(first + piece)));
        let outcome = AtomicU32::new(0);
        let pool: &Pool = workers.memory();
        let start = || {
            let words = |bytes| pool.take(LaneType::I64, bytes / size_of::<i64>());
            Scratch(scratch.map(words), pool)
        };
        let work = |scratch: &mut Scratch<'_>, points| {
            let memory = scratch.0.as_mut().map(|memory| &mut i64::storage_mut(memory)[..]);
            let serial = shared.serial(points, memory.unwrap_or_default(), cancel);
            // SAFETY: Note [Native calls]. Of the parts of the state that are written, which nobody else holds, the
            // function writes to the rows of its points alone, and the first point's to what all have in common; no
            // two calls have a point in common. It reads its inputs where a check or the plan says that they have an
            // element. All of them outlive the call.
            let result = unsafe { (function.entry)(ptr::from_ref(&serial).cast()) };
            if result == 0 {
                if let Some(done) = done {
                    done.fetch_add((points.1 - points.0) as u64, Ordering::Relaxed);
                }
                return Ok(());
            }
            outcome.store(result, Ordering::Relaxed);
            Err(Halt::Interrupted)
        };
        let parallel = points > 1;
        // What halted it is in the outcome.
        let _ = workers.each(parallel, pieces, start, work);
        drop(scalars);
        outcome.into_inner()
    }
}
