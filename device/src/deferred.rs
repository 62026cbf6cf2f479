//! Results that stay on the device until somebody wants to see them.
//!
//! Note [Results that are not fetched]. A run leaves large results where they were made, and gives the
//! host columns whose elements lie elsewhere ([`weft_ir::Buf::deferred`]). Such a copy is *dirty*: the host has
//! not got the elements. It comes to the host when something looks at all of it (a file, the interpreter, a
//! run on the CPU), or when the device needs the room. If its context is gone by then, or busy with another
//! run, the program runs again, on the CPU; for that the inputs of its run are held as long as it is dirty.
//! That can be interrupted where somebody says beforehand that he will look ([`weft_ir::Value::bring`]): if at all
//! elements, they are fetched at once, and nothing can get in between.
//! Who looks at single elements gets these alone, up to [`MOST_LOOKS`] of them; and what all of them come to, the
//! device finds out itself (`summary.rs`). So showing a large array does not fetch it.
//! Results of results may not pile up: what depends on [`MOST_DEPTH`] dirty ones, one after the other, is
//! fetched at once.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use weft_cuda::elements::read_column;
use weft_ir::{Buf, Column, Fetch, Looks, ScalarType, Summary, Value};

use crate::driver::Driver;
use crate::state::State;
use crate::summary::{Tools, summary};
use crate::words::Failure;

/// How many dirty results may be made of each other, one after the other.
pub(crate) const MOST_DEPTH: u32 = 4;

/// How many elements may be looked at one by one; for the next one all are fetched. Showing a table looks at a
/// few hundred.
const MOST_LOOKS: u32 = 2000;

/// How long somebody who wants to see elements waits for a device that is busy.
const PATIENCE: Duration = Duration::from_millis(100);

/// Runs a program again, elsewhere: the leaves of its value. It has had one, so it does not fail; but there is
/// none if the flag was set meanwhile.
pub type Again = Arc<dyn Fn(&AtomicBool) -> Option<Vec<Value>> + Send + Sync>;

/// What a run's results are made of, if the device has lost them.
pub(crate) struct Origin {
    again: Again,
    leaves: OnceLock<Vec<Value>>,
}

impl Origin {
    pub(crate) fn new(again: Again) -> Origin {
        Origin { again, leaves: OnceLock::new() }
    }

    /// Whether the leaves are there: the program runs again, unless `cancel` is set meanwhile.
    fn bring(&self, cancel: &AtomicBool) -> bool {
        if self.leaves.get().is_some() {
            return true;
        }
        let Some(leaves) = (self.again)(cancel) else { return false };
        // Somebody else may have been faster.
        drop(self.leaves.set(leaves));
        true
    }

    /// The elements of a leaf.
    fn elements(&self, leaf: usize) -> Column {
        let all = || (self.again)(&AtomicBool::new(false)).expect("nobody interrupts it");
        let leaves = self.leaves.get_or_init(all);
        match &leaves[leaf] {
            Value::Array(array) => scalars(&array.elements).clone(),
            other => panic!("{other:?} has no elements"),
        }
    }
}

/// The scalars of a leaf's column.
pub(crate) fn scalars(column: &Column) -> &Column {
    match column {
        Column::Dense { inner, .. } | Column::Ragged { inner, .. } => scalars(inner),
        column => column,
    }
}

/// What stays on the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// The number of its context.
    pub(crate) context: u64,
    pub(crate) address: u64,
    pub(crate) count: usize,
    pub(crate) element: ScalarType,
    /// Of how many dirty results it is made, one after the other, itself included.
    pub(crate) depth: u32,
}

/// A result that was not fetched when its run ended.
pub(crate) struct Deferred {
    device: Weak<Mutex<Result<State, String>>>,
    kept: Kept,
    tools: Arc<Tools>,
    place: Mutex<Place>,
    /// How many elements were looked at one by one.
    looks: AtomicU32,
}

/// Where the elements are.
enum Place {
    /// On the device, as a leaf of this run.
    Device(Arc<Origin>, usize),
    /// They had to make room there.
    Host(Column),
    /// With those who wanted to see them.
    Gone,
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred").field("kept", &self.kept).finish_non_exhaustive()
    }
}

impl Deferred {
    pub(crate) fn new(
        device: Weak<Mutex<Result<State, String>>>,
        kept: Kept,
        tools: Arc<Tools>,
        (origin, leaf): (Arc<Origin>, usize),
    ) -> Arc<Deferred> {
        let place = Mutex::new(Place::Device(origin, leaf));
        Arc::new(Deferred { device, kept, tools, place, looks: AtomicU32::new(0) })
    }

    /// The same, for a program that takes these elements while this waits: nobody fetches them.
    fn alias(&self) -> Arc<Deferred> {
        let (device, kept, tools) = (Weak::clone(&self.device), self.kept, Arc::clone(&self.tools));
        let (place, looks) = (Mutex::new(Place::Gone), AtomicU32::new(0));
        Arc::new(Deferred { device, kept, tools, place, looks })
    }

    /// The column whose elements these are.
    pub(crate) fn column(self: &Arc<Deferred>) -> Column {
        let count = self.kept.count;
        macro_rules! deferred {
            ($variant:ident) => {{
                let own = Arc::clone(self);
                Column::$variant(Buf::deferred(count, own))
            }};
        }
        match self.kept.element {
            ScalarType::I8 => deferred!(I8),
            ScalarType::I16 => deferred!(I16),
            ScalarType::I32 => deferred!(I32),
            ScalarType::I64 => deferred!(I64),
            ScalarType::U8 => deferred!(U8),
            ScalarType::U16 => deferred!(U16),
            ScalarType::U32 => deferred!(U32),
            ScalarType::U64 => deferred!(U64),
            ScalarType::F32 => deferred!(F32),
            ScalarType::F64 => deferred!(F64),
            ScalarType::Bool => deferred!(Bool),
            ScalarType::Char => deferred!(Char),
        }
    }

    /// Of how many dirty results it is made, itself included; 0 if it is not dirty itself.
    pub(crate) fn depth(&self) -> u32 {
        match &*lock(&self.place) {
            Place::Device(..) => self.kept.depth,
            Place::Host(_) | Place::Gone => 0,
        }
    }

    /// How many bytes the elements take.
    pub(crate) fn bytes(&self) -> u64 {
        (self.kept.count * self.kept.element.bytes()) as u64
    }

    /// Brings the elements to the host, to make room for others. All work on them must be done.
    pub(crate) fn spill(&self, driver: &Driver) -> Result<(), Failure> {
        let elements = self.read(driver)?;
        let mut place = lock(&self.place);
        if matches!(*place, Place::Device(..)) {
            *place = Place::Host(elements);
        }
        Ok(())
    }

    fn read(&self, driver: &Driver) -> Result<Column, Failure> {
        let Kept { address, count, element, .. } = self.kept;
        read_column(element, count, |into| driver.read(address, into))
    }

    /// The elements, from wherever they are.
    fn fetched(&self) -> Column {
        let elements = self.brought().or_else(|| self.on_device()).or_else(|| self.brought());
        let elements = elements.unwrap_or_else(|| {
            let origin = match &*lock(&self.place) {
                Place::Device(origin, leaf) => Some((Arc::clone(origin), *leaf)),
                Place::Host(_) | Place::Gone => None,
            };
            let (origin, leaf) = origin.expect("elements are asked for once");
            origin.elements(leaf)
        });
        *lock(&self.place) = Place::Gone;
        elements
    }

    /// Brings all elements, if all are wanted. If the device has lost them, or loses them now, the program runs
    /// again, unless `cancel` is set meanwhile: false then.
    fn bring(&self, looks: Looks, cancel: &AtomicBool) -> bool {
        let (origin, leaf) = match &*lock(&self.place) {
            Place::Device(origin, leaf) => (Arc::clone(origin), *leaf),
            Place::Host(_) | Place::Gone => return true,
        };
        let elements = match looks {
            Looks::AtSome if self.ask(&|_| Ok(Some(()))).is_some() => return true,
            Looks::AtSome => None,
            Looks::AtAll => self.on_device(),
        };
        if elements.is_none() && !origin.bring(cancel) {
            return false;
        }
        let mut place = lock(&self.place);
        if matches!(*place, Place::Device(..)) {
            *place = Place::Host(elements.unwrap_or_else(|| origin.elements(leaf)));
        }
        true
    }

    /// The elements, if they had to make room.
    fn brought(&self) -> Option<Column> {
        match &*lock(&self.place) {
            Place::Host(elements) => Some(elements.clone()),
            Place::Device(..) | Place::Gone => None,
        }
    }

    /// The elements, if they are on the device and it gives them.
    fn on_device(&self) -> Option<Column> {
        self.ask(&|state| self.read(&state.driver).map(Some).map_err(said))
    }

    /// One element, if it comes alone.
    fn one(&self, index: usize) -> Option<Column> {
        if self.looks.fetch_add(1, Ordering::Relaxed) >= MOST_LOOKS {
            return None;
        }
        if let Some(elements) = self.brought() {
            return Some(elements.slice(index, 1));
        }
        let Kept { address, element, .. } = self.kept;
        let at = address + (index * element.bytes()) as u64;
        self.ask(&|state| {
            let one = read_column(element, 1, |into| state.driver.read(at, into));
            one.map(Some).map_err(said)
        })
    }

    /// What all elements come to, if the device finds it out.
    fn summary(&self) -> Option<Summary> {
        let alias = self.alias().column();
        self.ask(&|state| summary(state, &self.tools, &self.kept, &alias))
    }

    /// Asks the device for something, if the elements are there.
    fn ask<T>(&self, question: &dyn Fn(&mut State) -> Result<Option<T>, String>) -> Option<T> {
        let device = self.device.upgrade()?;
        let mut guard = patient_lock(&device)?;
        let state = guard.as_mut().ok().filter(|state| state.number == self.kept.context)?;
        if !matches!(*lock(&self.place), Place::Device(..)) {
            return None;
        }
        match state.driver.enter().map_err(said).and_then(|()| question(state)) {
            Ok(answer) => answer,
            Err(why) => {
                crate::state::lose(&mut guard, why);
                None
            }
        }
    }
}

fn said(failure: Failure) -> String {
    failure.to_string()
}

macro_rules! fetched_as {
    ($($element:ty: $($variant:ident)|+;)*) => {$(
        impl Fetch<$element> for Deferred {
            fn fetch(&self) -> Vec<$element> {
                match self.fetched() {
                    $(Column::$variant(elements) => elements.into_vec(),)+
                    other => panic!("{:?} are no {}", other.scalar_type(), stringify!($element)),
                }
            }

            fn one(&self, index: usize) -> Option<$element> {
                match Deferred::one(self, index)? {
                    $(Column::$variant(elements) => Some(elements.at(0)),)+
                    other => panic!("{:?} are no {}", other.scalar_type(), stringify!($element)),
                }
            }

            fn summary(&self) -> Option<Summary> {
                Deferred::summary(self)
            }

            fn bring(&self, looks: Looks, cancel: &AtomicBool) -> bool {
                Deferred::bring(self, looks, cancel)
            }
        }
    )*};
}

fetched_as! {
    i8: I8;
    i16: I16;
    i32: I32;
    i64: I64;
    u8: U8 | Char;
    u16: U16;
    u32: U32;
    u64: U64;
    f32: F32;
    f64: F64;
    bool: Bool;
}

/// Takes a lock, unless somebody else keeps it for long: perhaps this very thread, which runs a program.
fn patient_lock<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    let begun = Instant::now();
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if begun.elapsed() > PATIENCE => return None,
            Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_micros(200)),
        }
    }
}

/// Takes a lock, also over from a thread that has left it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
