//! What is kept of programs.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The most that is kept of a kind; a session that makes more starts again.
const MOST: usize = 2_000;

/// What came of programs, by the text of what it was made from.
#[derive(Debug)]
pub(super) struct Kept<T>(Mutex<HashMap<String, T>>);

impl<T> Default for Kept<T> {
    fn default() -> Kept<T> {
        Kept(Mutex::new(HashMap::new()))
    }
}

impl<T: Clone> Kept<T> {
    pub(super) fn get(&self, key: &str) -> Option<T> {
        self.all().get(key).cloned()
    }

    pub(super) fn insert(&self, key: String, value: T) {
        let mut all = self.all();
        if all.len() >= MOST {
            all.clear();
        }
        all.insert(key, value);
    }

    pub(super) fn clear(&self) {
        self.all().clear();
    }

    pub(super) fn len(&self) -> usize {
        self.all().len()
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
