//! Loads compiled functions and calls them.
//!
//! This is where `unsafe` is needed: what a shared object holds is not known to Rust. It holds what
//! [`weft_codegen::lanes()`] has written, which keeps to these rules (Note [Native calls]).
//!
//! Note [Native calls]. A function takes a block ([`Block`]) and reads of it: the indices and inputs of
//! `count` lanes; elements of arrays, at indices that a check of the same function has found in range,
//! or that lie in range by construction of the plan; the cancel flag. It writes `count` lanes of each
//! result, or one group of lanes where all lanes share a result, or a row of results for each lane, and nothing else. It does so for one
//! step, or for as many as the block says where it combines its results; or it writes an element of each
//! result for each row that it folds; its inputs are then what the results begin with, or nothing. It keeps no
//! pointer, calls nothing but the C library's `fmod`, and may run on several threads at once. What
//! [`weft_codegen::sequential_loop`] has written takes [`Serial`] instead, and writes its state only; what
//! [`weft_codegen::small_loop`] has, to its scratch memory too, where the arrays of its last state may be. What
//! [`weft_codegen::row_loop`] has writes to the rows of the points that it is told, and to its scratch memory.
#![allow(unsafe_code)]

use std::ffi::c_void;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::ptr;
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};

use weft_codegen::{FULL, INTERRUPTED, LEFT, PAUSED};
use weft_ir::{Column, FaultKind};

use crate::compile::Compiled;
use crate::execute::{Context, Halt, Source};
use crate::fold::Rows;
use crate::isa::Slot;
use crate::lanes::{Elements, Frame, Lane, LaneType, Storage, StorageMut, reserve, with_lane_type};
use crate::native::arrays::{Arrays, address};
use crate::places::Places;

/// What a function is given; the C side is `struct block` of the generator's prelude.
#[repr(C)]
struct Block {
    count: i64,
    position: i64,
    steps: i64,
    indices: *const i64,
    lanes: *const *const i64,
    arrays: *const *const c_void,
    strides: *const *const i64,
    inputs: *const *const c_void,
    results: *const *mut c_void,
    cancel: *const u8,
    end: i64,
    row: i64,
    advance: i64,
    extents: *const i64,
    offsets: *const i64,
    past: i64,
}

/// Takes a [`Block`], or a [`Serial`] if it is a loop.
pub(super) type Entry = unsafe extern "C" fn(*const c_void) -> u32;

/// What the function of a loop is given; the C side is `struct serial` of the generator's prelude.
#[repr(C)]
pub(super) struct Serial {
    pub(super) inputs: *const *const c_void,
    pub(super) strides: *const *const i64,
    pub(super) state: *mut *mut c_void,
    pub(super) extents: *mut i64,
    pub(super) cancel: *const u8,
    pub(super) begun: u64,
    pub(super) done: *mut u64,
    pub(super) scratch: *mut c_void,
    pub(super) room: u64,
    pub(super) first: i64,
    pub(super) end: i64,
    pub(super) until: u64,
    pub(super) ends: *const *mut c_void,
    pub(super) is_late: Option<extern "C" fn(*const c_void) -> u32>,
    pub(super) trial: *const c_void,
}

/// What a function is called for.
pub(crate) struct Call<'c, 'p> {
    /// The registers of indices that are given lane by lane.
    pub(crate) frame: &'c mut Frame,
    /// The other indices: their values, or the first lane's.
    pub(crate) indices: &'c [i64],
    /// How many lanes there are.
    pub(crate) count: usize,
    /// The position of the first point.
    pub(crate) position: usize,
    /// How many elements of each lane are combined.
    pub(crate) steps: usize,
    /// The extents of all dimensions, if lanes run on from row to row.
    pub(crate) extents: &'c [i64],
    pub(crate) inputs: Inputs<'c>,
    pub(crate) results: Results<'c, 'p>,
}

/// Where the inputs of code are.
pub(crate) enum Inputs<'c> {
    /// In the registers of the frame.
    Registers,
    /// Among these elements, from a number on.
    Elements(&'c [Elements<'c>], usize),
}

/// Rows that a function folds.
pub(crate) struct RowsCall<'c> {
    /// The positions of all elements.
    pub(crate) positions: Range<usize>,
    /// The rows; offsets are positions.
    pub(crate) rows: Rows<'c>,
    /// Whether they are pieces of one row.
    pub(crate) pieces: bool,
    /// The number of the first.
    pub(crate) row: usize,
    /// The index of the first element within its row.
    pub(crate) first_index: usize,
    /// The extents of all dimensions but the last.
    pub(crate) extents: &'c [i64],
    /// What each result begins with, one element for all rows; none if rows begin with their first element.
    pub(crate) starts: &'c [Elements<'c>],
}

/// A part of the state of a sequential loop.
pub(crate) enum Part {
    /// What the function may write to.
    Written(Storage),
    /// An array that it may write to, with room to grow behind it, and of which it may leave a part: what is in front of
    /// that is dropped.
    Moving(Storage),
    /// What it only reads; others may hold it too.
    Read(Column),
    /// An array that it computes anew, with the numbers of its extents among those of the call; it only reads this
    /// one.
    Computed { column: Column, extents: Range<usize> },
}

/// What the function of a sequential loop is called for.
pub(crate) struct SerialCall<'c> {
    /// What it reads.
    pub(crate) inputs: &'c [Source<'c>],
    /// Its state, scalars as arrays of one element.
    pub(crate) state: &'c mut [Part],
    /// The extents of the arrays of the state, one after the other; those of the last state, where the function
    /// computes arrays in memory of its own.
    pub(crate) extents: &'c mut [i64],
    /// That memory; nothing for other functions.
    pub(crate) scratch: Option<&'c mut [i64]>,
    /// Set when the run shall end.
    pub(crate) cancel: &'c AtomicBool,
    /// How many turns are done.
    pub(crate) begun: u64,
    /// How many shall be at most, if the host may go on.
    pub(crate) until: u64,
    /// What is told how many are, if anybody wants to know.
    pub(crate) done: Option<&'c AtomicU64>,
}

/// Where its results go.
pub(crate) enum Results<'c, 'p> {
    /// To places, or to registers of the frame.
    Places(&'c mut Places<'p>),
    /// To these registers, where they are combined.
    Accumulators(&'c mut Frame, &'c [Slot]),
    /// What steps are combined to, among elements, from a number on.
    Sums(&'c mut [StorageMut<'p>], usize),
}

/// A shared object in this process.
#[derive(Debug)]
pub(crate) struct Library(libloading::Library);

/// A function of one; the object stays as long as the function does.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(super) entry: Entry,
    _library: Arc<Library>,
}

impl Library {
    /// Loads a shared object, which must be one that this crate's generator and a C compiler have
    /// made.
    ///
    /// # Errors
    /// What the dynamic linker says.
    pub(crate) fn load(path: &Path) -> Result<Library, String> {
        // SAFETY: such an object has no initialisers. That it is one follows from where it comes from:
        // it has just been compiled in a private folder, or its name there is its checksum.
        let library = unsafe { libloading::Library::new(path) };
        library.map(Library).map_err(|error| error.to_string())
    }

    /// A function of the generator's by its name.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn function(self: &Arc<Library>, name: &str) -> Result<Function, String> {
        // SAFETY: every function that the generator exports has this type.
        let symbol = unsafe { self.0.get::<Entry>(name) };
        let entry = *symbol.map_err(|error| error.to_string())?;
        Ok(Function { entry, _library: Arc::clone(self) })
    }
}

/// A function with what stays the same for all blocks of a launch.
#[derive(Debug)]
pub(crate) struct Caller<'a> {
    function: Function,
    sites: &'a [(FaultKind, u32)],
    context: Context<'a>,
    arrays: Vec<*const c_void>,
    strides: Vec<*const i64>,
    /// The scalars among the arrays; pointers go here, so that it must not change.
    scalars: Box<[u64]>,
    indices: Vec<i64>,
    lanes: Vec<*const i64>,
    inputs: Vec<*const c_void>,
    results: Vec<*mut c_void>,
    sources: PhantomData<&'a [Source<'a>]>,
}

impl<'a> Caller<'a> {
    /// For the sources of a launch. `sites` are the checks by the bits of the function's result.
    pub(crate) fn new(
        function: Function,
        sites: &'a [(FaultKind, u32)],
        context: Context<'a>,
    ) -> Caller<'a> {
        let Arrays { arrays, strides, scalars } = Arrays::new(context.sources);
        Caller {
            function,
            sites,
            context,
            arrays,
            strides,
            scalars,
            indices: Vec::new(),
            lanes: Vec::new(),
            inputs: Vec::new(),
            results: Vec::new(),
            sources: PhantomData,
        }
    }

    /// Computes the results of consecutive points.
    pub(crate) fn run(&mut self, compiled: &Compiled, call: Call<'_, '_>) -> Result<(), Halt> {
        let Call { frame, indices, count, position, steps, extents, inputs, results } = call;
        assert!(
            extents.is_empty() != compiled.native.runs_on()
                && (extents.is_empty() || extents.len() == indices.len()),
            "an extent for each index, where lanes run on"
        );
        assert_eq!(indices.len(), compiled.indices.len(), "all indices are given");
        self.lanes.clear();
        for &slot in &compiled.indices {
            self.lanes.push(match slot.uniform {
                true => ptr::null(),
                false => register::<i64>(frame, slot, count).cast_const(),
            });
        }
        self.inputs.clear();
        match inputs {
            Inputs::Elements(inputs, first) => {
                for input in inputs {
                    self.inputs.push(address(input.slice(first, first + count)));
                }
            }
            Inputs::Registers => {
                for &slot in &compiled.inputs {
                    with_lane_type!(slot.ty, T => {
                        self.inputs.push(register::<T>(frame, slot, count).cast_const().cast());
                    });
                }
            }
        }
        assert_eq!(self.inputs.len(), compiled.inputs.len(), "all inputs are given");
        let past = self.place_results(compiled, frame, results, position..position + count);
        let places = match compiled.native.widths() {
            [] => compiled.routine.results.len(),
            widths => widths.len(),
        };
        assert_eq!(self.results.len(), places, "room for all results");
        let block = Block {
            count: count as i64,
            position: position as i64,
            steps: steps as i64,
            indices: indices.as_ptr(),
            lanes: self.lanes.as_ptr(),
            arrays: self.arrays.as_ptr(),
            strides: self.strides.as_ptr(),
            inputs: self.inputs.as_ptr(),
            results: self.results.as_ptr(),
            cancel: self.context.cancel.as_ptr().cast_const().cast(),
            end: 0,
            row: 0,
            advance: 0,
            extents: if extents.is_empty() { ptr::null() } else { extents.as_ptr() },
            offsets: ptr::null(),
            past: i64::from(past),
        };
        debug_assert_eq!(self.scalars.len(), self.arrays.len());
        // SAFETY: Note [Native calls]. The pointers are valid for what the function does with them: the
        // registers have room for all lanes ([`register`]), the inputs and the places have been
        // measured, the arrays and their strides belong to the sources of the launch, which outlive
        // `self`.
        let failed = unsafe { (self.function.entry)(ptr::from_ref(&block).cast()) };
        self.outcome(failed)
    }

    /// Where the results of these points go; whether that is past the caches.
    fn place_results(
        &mut self,
        compiled: &Compiled,
        frame: &mut Frame,
        results: Results<'_, '_>,
        points: Range<usize>,
    ) -> bool {
        let count = points.len();
        self.results.clear();
        let mut past = false;
        match results {
            Results::Accumulators(accumulators, slots) => {
                assert!(compiled.native.folds(), "the function combines its results");
                for &slot in slots {
                    assert!(!slot.uniform, "an accumulator has all lanes");
                    with_lane_type!(slot.ty, T => {
                        self.results.push(register::<T>(accumulators, slot, count).cast());
                    });
                }
            }
            Results::Sums(sums, first) => {
                assert!(compiled.native.folds(), "the function combines its results");
                let slots = &compiled.routine.results;
                assert_eq!(sums.len(), slots.len(), "room for all results");
                for (sums, slot) in sums.iter_mut().zip(slots) {
                    with_lane_type!(slot.ty, T => {
                        let sums = &mut <T as Lane>::slice_mut(sums)[first..first + count];
                        self.results.push(sums.as_mut_ptr().cast());
                    });
                }
            }
            Results::Places(places) => {
                assert!(!compiled.native.folds(), "the function stores its results");
                past = true;
                let mut widths = compiled.native.widths().iter();
                let mut slots = compiled.routine.results.iter().enumerate();
                while let Some((number, &slot)) = slots.next() {
                    if let Some(width @ 2..) = widths.next() {
                        let rows = places.rows(number, points.start, count);
                        let mut rows = rows.expect("a row goes to a place");
                        with_lane_type!(slot.ty, T => {
                            let rows = <T as Lane>::slice_mut(&mut rows);
                            assert_eq!(rows.len(), count * width, "room for all elements");
                            self.results.push(rows.as_mut_ptr().cast());
                        });
                        let to = self.results.last().expect("the one above");
                        past &= places.is_past_caches(number) && to.addr().is_multiple_of(16);
                        slots.nth(width - 2);
                        continue;
                    }
                    past &= places.is_past_caches(number) && !slot.uniform;
                    let place = places.lanes(number, slot, points.start, count);
                    with_lane_type!(slot.ty, T => {
                        self.results.push(match place {
                            Some(mut place) => {
                                <T as Lane>::slice_mut(&mut place).as_mut_ptr().cast()
                            }
                            None => register::<T>(frame, slot, count).cast(),
                        });
                    });
                    let to = self.results.last().expect("the one above");
                    past &= to.addr().is_multiple_of(16);
                }
            }
        }
        past
    }

    /// Folds rows; the results have an element for each.
    pub(crate) fn fold_rows(
        &mut self,
        compiled: &Compiled,
        call: RowsCall<'_>,
        results: &mut [StorageMut<'_>],
    ) -> Result<(), Halt> {
        assert!(compiled.native.folds_rows(), "the function folds rows");
        assert_eq!(results.len(), compiled.routine.results.len(), "room for all results");
        assert_eq!(
            call.extents.len() + 1,
            compiled.indices.len(),
            "extents of the outer dimensions"
        );
        let points = call.positions.len();
        let mut pieces = Vec::new();
        let (count, length, offsets) = match call.rows {
            Rows::One => panic!("rows have lengths"),
            Rows::Even { count, length } => {
                assert!(points.div_ceil(length.max(1)) <= count, "the rows cover the points");
                if compiled.native.folds_ragged_rows() {
                    let Range { start, end } = call.positions;
                    pieces.extend((0..=count).map(|at| end.min(start + at * length) as i64));
                }
                let offsets = if pieces.is_empty() { ptr::null() } else { pieces.as_ptr() };
                (count, length, offsets)
            }
            Rows::Ragged(offsets) => (offsets.len() - 1, 0, offsets.as_ptr()),
        };
        self.results.clear();
        for (result, slot) in results.iter_mut().zip(&compiled.routine.results) {
            with_lane_type!(slot.ty, T => {
                let result = <T as Lane>::slice_mut(result);
                assert_eq!(result.len(), count, "room for all rows");
                self.results.push(result.as_mut_ptr().cast());
            });
        }
        assert!(
            call.starts.is_empty() || call.starts.len() == self.results.len(),
            "all results have start values, or none"
        );
        self.inputs.clear();
        for (start, slot) in call.starts.iter().zip(&compiled.routine.results) {
            assert!(start.ty() == slot.ty && start.len() == 1, "a start value for all rows");
            self.inputs.push(address(*start));
        }
        self.indices.clear();
        self.indices.resize(compiled.indices.len(), 0);
        if let Some(last) = self.indices.last_mut() {
            *last = call.first_index as i64;
        }
        let block = Block {
            count: count as i64,
            position: call.positions.start as i64,
            steps: length as i64,
            indices: self.indices.as_ptr(),
            lanes: ptr::null(),
            arrays: self.arrays.as_ptr(),
            strides: self.strides.as_ptr(),
            inputs: if call.starts.is_empty() { ptr::null() } else { self.inputs.as_ptr() },
            results: self.results.as_ptr(),
            cancel: self.context.cancel.as_ptr().cast_const().cast(),
            end: call.positions.end as i64,
            row: call.row as i64,
            advance: i64::from(!call.pieces),
            extents: call.extents.as_ptr(),
            offsets,
            past: 0,
        };
        // SAFETY: Note [Native calls]. The results have an element per row, the offsets one more, and are
        // given where the function reads them; the inputs are start values, one for each result; the
        // points lie in the space of the launch, and the arrays belong to its sources.
        let failed = unsafe { (self.function.entry)(ptr::from_ref(&block).cast()) };
        self.outcome(failed)
    }

    /// What a function's result means.
    fn outcome(&self, failed: u32) -> Result<(), Halt> {
        match failed {
            0 => Ok(()),
            INTERRUPTED => Err(Halt::Interrupted),
            bits => {
                let site = bits.trailing_zeros() as usize;
                let (kind, span) = self.sites[site.min(self.sites.len() - 1)];
                Err(Halt::Fault(kind, span))
            }
        }
    }
}

impl SerialCall<'_> {
    /// Calls the function of a loop for which `self` was made; its result.
    pub(crate) fn run(self, function: &Function) -> u32 {
        let SerialCall { inputs, state, extents, scratch, cancel, begun, until, done } = self;
        let Arrays { arrays, strides, scalars } = Arrays::new(inputs);
        let ends: Vec<*mut c_void> = state.iter_mut().map(end_of).collect();
        let mut places: Vec<*mut c_void> = state.iter_mut().map(place_of).collect();
        let (computes, before) = (scratch.is_some(), places.clone());
        let scratch = scratch.unwrap_or_default();
        let (_, scratch) =
            scratch.split_at_mut(scratch.as_ptr().align_offset(64).min(scratch.len()));
        let serial = Serial {
            inputs: arrays.as_ptr(),
            strides: strides.as_ptr(),
            state: places.as_mut_ptr(),
            extents: extents.as_mut_ptr(),
            scratch: scratch.as_mut_ptr().cast(),
            room: size_of_val(scratch) as u64,
            cancel: cancel.as_ptr().cast_const().cast(),
            begun,
            done: done.map_or(ptr::null_mut(), AtomicU64::as_ptr),
            first: 0,
            end: 0,
            until,
            ends: ends.as_ptr(),
            is_late: None,
            trial: ptr::null(),
        };
        // SAFETY: Note [Native calls]. The function replaces the parts of the state that are written, which nobody else
        // holds and which have the extents that it is told, and looks at these before it writes; it reads the inputs where a check or the plan
        // says that they have an element. All of them outlive the call.
        let outcome = unsafe { (function.entry)(ptr::from_ref(&serial).cast()) };
        if computes && matches!(outcome, 0 | LEFT | PAUSED | FULL) {
            for ((part, place), before) in state.iter_mut().zip(places).zip(before) {
                if let Part::Moving(storage) = part {
                    let bytes = storage.ty().scalar_type().bytes();
                    storage.drop_first((place.addr() - before.addr()) / bytes);
                }
                let Part::Computed { column, extents: own } = part else { continue };
                let length = extents[own.clone()].iter().map(|&extent| extent as usize).product();
                // It may be large, and need not be copied.
                if place == before && length == column.len() {
                    continue;
                }
                with_lane_type!(LaneType::of(column.scalar_type().expect("of scalars")), T => {
                    // SAFETY: Note [Native calls]. The function leaves there the address of so many elements, in its
                    // memory, its constants, its inputs or what this part of the state was: all of them still live,
                    // and nobody writes to them.
                    let elements = unsafe { slice::from_raw_parts(place.cast::<T>(), length) };
                    *part = Part::Written(T::into_storage(elements.to_vec()));
                });
            }
        }
        drop(scalars);
        outcome
    }
}

/// Where the memory of a part that moves ends.
fn end_of(part: &mut Part) -> *mut c_void {
    match part {
        Part::Moving(storage) => bounds_of(storage)[1],
        Part::Written(_) | Part::Read(_) | Part::Computed { .. } => ptr::null_mut(),
    }
}

/// Where the elements of a part are.
pub(super) fn place_of(part: &mut Part) -> *mut c_void {
    match part {
        Part::Written(storage) | Part::Moving(storage) => bounds_of(storage)[0],
        Part::Read(column) | Part::Computed { column, .. } => {
            address(Elements::of_column(column)).cast_mut()
        }
    }
}

/// Where elements begin that are written to, and where they end.
pub(super) fn bounds_of(storage: &mut Storage) -> [*mut c_void; 2] {
    with_lane_type!(storage.ty(), T => {
        let range = <T as Lane>::slice_mut(&mut storage.as_mut()).as_mut_ptr_range();
        [range.start.cast(), range.end.cast()]
    })
}

/// The lanes of a register, which gets room for them.
fn register<T: Lane>(frame: &mut Frame, slot: Slot, count: usize) -> *mut T {
    let lanes = if slot.uniform { 1 } else { count };
    reserve::<T>(frame, slot.index, lanes).as_mut_ptr().cast()
}
