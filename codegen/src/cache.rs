//! Compiled objects on disk, for all processes of a user: shared libraries, code for a device.
//!
//! Note [The cache]. An object is a file that is named by its checksum; an *entry*, named by the key
//! of a function, holds the name of the object that the function is in. Files are written under
//! another name and then renamed, so that nobody sees half of one, and two that write the same do no
//! harm to each other. Whatever is not as it should be (a checksum, the text of an entry, a missing
//! object) is removed and counts as not there. The folder must belong to the user and be closed to all
//! others, because what lies in it is run: otherwise it is not used at all.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use weft_files::{Access, Entry, FileSystem, Host, replace};

use crate::{Digest, bytes_hash};

/// What the name of an entry ends with.
const ENTRY: &str = "entry";
/// What the name of a file ends with that is being written.
const PARTIAL: &str = "partial";
/// The first line of an entry.
const MAGIC: &str = "weft cache 1";
/// A file that is being written for longer than this belongs to a process that has died.
const ABANDONED: Duration = Duration::from_secs(600);

/// Tells apart the files that one process is writing.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// A folder of compiled objects.
#[derive(Debug)]
pub struct Cache {
    files: Arc<dyn FileSystem>,
    folder: PathBuf,
    /// What the names of the objects end with.
    ending: &'static str,
    /// The most bytes that the objects may take together.
    capacity: u64,
    /// How many bytes have been stored since it was looked how many there are: at first nobody has.
    unseen: AtomicU64,
}

/// It is looked again how many bytes there are when this share of the capacity has been stored: a full cache has
/// tens of thousands of files.
const SHARE_UNSEEN: u64 = 64;

impl Cache {
    /// The cache in a folder, which is made if it is not there; the names of its objects end with
    /// `ending`, and they may take `capacity` bytes together.
    ///
    /// # Errors
    /// It cannot be made or written, is no folder, belongs to somebody else, or is open to others.
    pub fn open(folder: &Path, ending: &'static str, capacity: u64) -> io::Result<Cache> {
        make_private(folder)?;
        let (files, folder) = (Arc::new(Host), folder.to_owned());
        let unseen = AtomicU64::new(u64::MAX);
        let cache = Cache { files, folder, ending, capacity, unseen };
        cache.check_owner()?;
        Ok(cache)
    }

    /// The object that a function is in.
    pub fn find(&self, key: &Digest) -> Option<PathBuf> {
        let entry = self.folder.join(format!("{key}.{ENTRY}"));
        let text = String::from_utf8(self.files.read(&entry).ok()?);
        let found = self.object_of(&text.unwrap_or_default());
        match &found {
            // Recently used; if that cannot be noted, the object only goes earlier.
            Some(path) => drop(touch(path)),
            None => drop(self.files.remove(&entry)),
        }
        found
    }

    /// The object of an entry with that text, if it is whole.
    fn object_of(&self, text: &str) -> Option<PathBuf> {
        let (first, name) = text.strip_suffix('\n')?.split_once('\n')?;
        let plain = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        if first != MAGIC || !plain {
            return None;
        }
        let path = self.folder.join(format!("{name}.{}", self.ending));
        let bytes = self.files.read(&path).ok()?;
        if bytes_hash(&bytes).to_string() == name {
            return Some(path);
        }
        drop(self.files.remove(&path));
        None
    }

    /// Keeps an object in which functions with these keys are. Yields where it is.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn store(&self, keys: &[Digest], object: &[u8]) -> io::Result<PathBuf> {
        let name = bytes_hash(object).to_string();
        let path = self.folder.join(format!("{name}.{}", self.ending));
        self.replace(&path, object)?;
        for key in keys {
            let entry = self.folder.join(format!("{key}.{ENTRY}"));
            self.replace(&entry, format!("{MAGIC}\n{name}\n").as_bytes())?;
        }
        let stored = |unseen: u64| Some(unseen.saturating_add(object.len() as u64));
        // It always is some number.
        let _ = self.unseen.fetch_update(Ordering::Relaxed, Ordering::Relaxed, stored);
        Ok(path)
    }

    /// Removes what has been used least recently until all objects but `kept`, which was stored last, fit, if much has been
    /// stored since that was done. That may take longer than to store one.
    pub fn tidy(&self, kept: &Path) {
        if self.unseen.load(Ordering::Relaxed) > self.capacity / SHARE_UNSEEN {
            self.unseen.store(0, Ordering::Relaxed);
            self.make_room(kept);
        }
    }

    /// Makes a file hold these bytes, or leaves it as it is.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        replace(&*self.files, path, Access::Private, PARTIAL, |file| file.write_all(bytes))
    }

    /// Removes what has been used least recently until all objects but `kept` fit. What cannot be
    /// removed stays: another process may have been faster.
    fn make_room(&self, kept: &Path) {
        let Ok(files) = self.files.list(&self.folder) else { return };
        let now = SystemTime::now();
        let (mut objects, mut entries, mut total) = (Vec::new(), Vec::new(), 0);
        for Entry { path, length, modified } in files {
            let used = modified.unwrap_or(now);
            match path.extension().and_then(|extension| extension.to_str()) {
                Some(ending) if ending == self.ending => {
                    total += length;
                    objects.push((used, length, path));
                }
                Some(ENTRY) => entries.push(path),
                Some(PARTIAL) if now.duration_since(used).is_ok_and(|age| age > ABANDONED) => {
                    drop(self.files.remove(&path));
                }
                Some(_) | None => {}
            }
        }
        if total <= self.capacity {
            return;
        }
        objects.sort();
        for (_, bytes, path) in objects.into_iter().filter(|(_, _, path)| path != kept) {
            // Down to three quarters, so that not every new object begins this again.
            if total <= self.capacity / 4 * 3 {
                break;
            }
            drop(self.files.remove(&path));
            total -= bytes;
        }
        for entry in entries {
            // What cannot be read now stays.
            let Ok(text) = self.files.read(&entry) else { continue };
            let text = String::from_utf8(text).unwrap_or_default();
            let name = text.lines().nth(1).unwrap_or_default();
            if !self.folder.join(format!("{name}.{}", self.ending)).exists() {
                drop(self.files.remove(&entry));
            }
        }
    }

    /// That the folder belongs to whom this process runs as.
    fn check_owner(&self) -> io::Result<()> {
        let name = format!("{}-owner.{PARTIAL}", std::process::id());
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(format!("{number}-{name}"));
        let file = File::create_new(&path)?;
        let mine = file.metadata();
        drop(fs::remove_file(&path));
        same_owner(&fs::symlink_metadata(&self.folder)?, &mine?)
    }
}

fn touch(path: &Path) -> io::Result<()> {
    File::options().append(true).open(path)?.set_modified(SystemTime::now())
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, reason.to_owned())
}

/// Makes a folder that only its owner can use, or checks that it is one.
#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt, MetadataExt};

    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let metadata = fs::symlink_metadata(folder)?;
    if !metadata.is_dir() {
        return Err(refused("it is no folder"));
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(refused("it is open to others"));
    }
    Ok(())
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn same_owner(folder: &fs::Metadata, mine: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    if folder.uid() == mine.uid() { Ok(()) } else { Err(refused("it belongs to somebody else")) }
}

#[cfg(not(unix))]
fn same_owner(_folder: &fs::Metadata, _mine: &fs::Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests;
