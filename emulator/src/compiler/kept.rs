//! What is kept between runs, in a folder that only this user can write: the device, and modules.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Modules that are kept; when there are more, the older half goes.
const MOST_MODULES: usize = 6000;

/// Beginnings that are kept, likewise.
const MOST_BEGINNINGS: usize = 16;

/// What names a module: two hashes of all that it depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u64, u64);

impl Key {
    pub(super) fn of(value: &impl Hash) -> Key {
        Key(hash(value), hash(&("second", value)))
    }
}

pub(super) fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The folder.
#[derive(Debug)]
pub(super) struct Kept {
    directory: PathBuf,
}

impl Kept {
    /// Opens it, and makes room.
    pub(super) fn new() -> io::Result<Kept> {
        let kept = Kept { directory: directory()? };
        for (name, most) in [("modules", MOST_MODULES), ("beginnings", MOST_BEGINNINGS)] {
            let folder = kept.directory.join(name);
            match private().create(&folder) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                Ok(()) | Err(_) => {}
            }
            make_room(&folder, most)?;
        }
        remove_orphans(&kept.directory)?;
        Ok(kept)
    }

    /// The path of a file.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// A new folder.
    pub(super) fn fresh_directory(&self) -> io::Result<PathBuf> {
        fresh_directory(&self.directory)
    }

    /// A module that some process has built.
    pub(super) fn module(&self, key: &Key) -> Option<PathBuf> {
        used(self.path("modules", key))
    }

    /// A folder with a beginning that some process has compiled.
    pub(super) fn beginning(&self, key: &Key) -> Option<PathBuf> {
        used(self.path("beginnings", key))
    }

    /// Keeps a folder with a beginning.
    pub(super) fn keep_beginning(&self, key: &Key, built: &Path) -> io::Result<PathBuf> {
        let path = self.path("beginnings", key);
        match fs::rename(built, &path) {
            // Another process was faster.
            Err(_) if path.is_dir() => Ok(path),
            Err(error) => Err(error),
            Ok(()) => Ok(path),
        }
    }

    /// Keeps a module.
    pub(super) fn keep(&self, key: &Key, built: &Path) -> io::Result<PathBuf> {
        let path = self.path("modules", key);
        fs::rename(built, &path)?;
        Ok(path)
    }

    fn path(&self, kind: &str, key: &Key) -> PathBuf {
        self.directory.join(format!("{kind}/{:016x}{:016x}", key.0, key.1))
    }
}

/// The path of what exists; it is the last to go from now on.
fn used(path: PathBuf) -> Option<PathBuf> {
    let file = fs::File::open(&path).ok()?;
    // It does no harm if this fails.
    drop(file.set_modified(SystemTime::now()));
    Some(path)
}

fn make_room(folder: &Path, most: usize) -> io::Result<()> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        // Another process may remove it meanwhile.
        if let Ok(modified) = entry.metadata().and_then(|metadata| metadata.modified()) {
            found.push((modified, entry.path()));
        }
    }
    if found.len() > most {
        found.sort();
        for (_, path) in found.iter().take(most / 2) {
            // What cannot be removed stays.
            drop(if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) });
        }
    }
    Ok(())
}

/// Removes the folders of processes that ended without doing that, where processes can be seen.
fn remove_orphans(directory: &Path) -> io::Result<()> {
    if !Path::new("/proc/self").exists() {
        return Ok(());
    }
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix("weft-")?.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
            // Another process may do the same.
            drop(fs::remove_dir_all(entry.path()));
        }
    }
    Ok(())
}

/// The folder of this user, or a new one if somebody else has taken the name.
fn directory() -> io::Result<PathBuf> {
    let temporary = std::env::temp_dir();
    let probe = fresh_directory(&temporary)?;
    let user = fs::metadata(&probe)?.uid();
    let kept = temporary.join(format!("weft-emulator-{user}"));
    match private().create(&kept) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let found = fs::symlink_metadata(&kept)?;
    if found.is_dir() && found.uid() == user && found.mode() & 0o077 == 0 {
        fs::remove_dir(&probe)?;
        Ok(kept)
    } else {
        Ok(probe)
    }
}

/// A new folder that only this user can see.
fn fresh_directory(within: &Path) -> io::Result<PathBuf> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = within.join(format!("weft-{}-{number}", std::process::id()));
        match private().create(&path) {
            Ok(()) => return Ok(path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn private() -> fs::DirBuilder {
    let mut builder = fs::DirBuilder::new();
    builder.mode(0o700);
    builder
}
