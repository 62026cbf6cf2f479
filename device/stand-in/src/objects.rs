//! What handles stand for.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Objects by number; a handle is the number as a pointer, to which nobody goes.
#[derive(Debug)]
pub(crate) struct Objects<T>(Mutex<(usize, BTreeMap<usize, T>)>);

impl<T: Clone> Objects<T> {
    /// None so far; numbers begin behind `first`, so that handles of different kinds differ.
    pub(crate) const fn new(first: usize) -> Objects<T> {
        Objects(Mutex::new((first, BTreeMap::new())))
    }

    /// The handle of a new object.
    pub(crate) fn add(&self, object: T) -> *mut c_void {
        let mut objects = self.lock();
        objects.0 += 1;
        let number = objects.0;
        objects.1.insert(number, object);
        ptr::without_provenance_mut(number)
    }

    /// The object of a handle.
    pub(crate) fn get(&self, handle: *mut c_void) -> Option<T> {
        self.lock().1.get(&handle.addr()).cloned()
    }

    /// All that there are.
    pub(crate) fn all(&self) -> Vec<T> {
        self.lock().1.values().cloned().collect()
    }

    /// Destroys an object.
    pub(crate) fn remove(&self, handle: *mut c_void) -> Option<T> {
        self.lock().1.remove(&handle.addr())
    }

    fn lock(&self) -> MutexGuard<'_, (usize, BTreeMap<usize, T>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
