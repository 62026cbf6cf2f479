//! Code for the device, kept in memory and on disk.
//!
//! The key is a hash of the text, the options, and the release of the compiler. What is on disk is
//! trusted only as far as [`Cache`] checks it; whatever fails there, the compiler runs again.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use weft_codegen::{Cache, Digest, text_hash};

use crate::compiler::{self, Goal};

/// The most bytes of code in memory; when there are more, all go.
const MOST_BYTES: usize = 256 << 20;

/// How texts became code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Compiled.
    pub compiled: u64,
    /// Asked for again in this process.
    pub known: u64,
    /// Found on disk.
    pub from_disk: u64,
}

/// The compiler with what it has made.
#[derive(Debug)]
pub(crate) struct Images {
    goal: Goal,
    release: (u32, u32),
    /// What the hash of a text begins with.
    salt: String,
    disk: Option<Cache>,
    memory: Mutex<HashMap<Digest, Arc<Vec<u8>>>>,
    compiled: AtomicU64,
    known: AtomicU64,
    from_disk: AtomicU64,
}

impl Images {
    /// For a goal and a release of the compiler; nothing is kept on disk where the folder cannot be
    /// used, or where there is none.
    pub(crate) fn new(
        goal: Goal,
        release: (u32, u32),
        folder: Option<&Path>,
        capacity: u64,
    ) -> Images {
        let disk = folder.and_then(|folder| Cache::open(folder, "cubin", capacity).ok());
        let salt = format!("{release:?} {:?}", goal.options(release));
        let (compiled, known, from_disk) = Default::default();
        Images { goal, release, salt, disk, memory: Mutex::default(), compiled, known, from_disk }
    }

    /// What names the code of a text.
    pub(crate) fn key(&self, text: &str) -> Digest {
        text_hash(&[&self.salt, text])
    }

    /// The code of a text with that key.
    ///
    /// # Errors
    /// What the compiler says.
    pub(crate) fn image(&self, key: &Digest, text: &str) -> Result<Arc<Vec<u8>>, String> {
        if let Some(image) = self.memory().get(key) {
            self.known.fetch_add(1, Ordering::Relaxed);
            return Ok(Arc::clone(image));
        }
        let on_disk = || fs::read(self.disk.as_ref()?.find(key)?).ok();
        let image = match on_disk() {
            Some(image) => {
                self.from_disk.fetch_add(1, Ordering::Relaxed);
                image
            }
            None => {
                let image = compiler::compile(text, self.goal, self.release)?;
                self.compiled.fetch_add(1, Ordering::Relaxed);
                if let Some(disk) = &self.disk {
                    // A disk that is full is no reason not to run what has been compiled.
                    let stored = disk.store(std::slice::from_ref(key), &image);
                    stored.iter().for_each(|path| disk.tidy(path));
                }
                image
            }
        };
        let image = Arc::new(image);
        let mut memory = self.memory();
        let held: usize = memory.values().map(|image| image.len()).sum();
        if held + image.len() > MOST_BYTES {
            memory.clear();
        }
        memory.insert(key.clone(), Arc::clone(&image));
        Ok(image)
    }

    /// Whether the code with that key is in memory.
    pub(crate) fn is_known(&self, key: &Digest) -> bool {
        self.memory().contains_key(key)
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Statistics {
            compiled: count(&self.compiled),
            known: count(&self.known),
            from_disk: count(&self.from_disk),
        }
    }

    /// Forgets what is in memory.
    pub(crate) fn clear(&self) {
        self.memory().clear();
    }

    fn memory(&self) -> MutexGuard<'_, HashMap<Digest, Arc<Vec<u8>>>> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
