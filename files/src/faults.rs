//! Files on which calls fail, for tests.

use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Access, Entry, FileSystem, Host, Output};

/// The files of the machine, where some calls fail as on a full disk. A write that fails has written
/// half of its bytes.
#[derive(Clone, Debug)]
pub struct Faults(Arc<Plan>);

#[derive(Debug)]
struct Plan {
    /// The numbers of the calls that fail; the first call is number 0.
    failing: Range<u64>,
    calls: AtomicU64,
}

/// Does some work again and again, so that each of its calls fails: that one alone, and that one with
/// all behind it. The work gets the files, and whether anything fails; it last runs where nothing does.
///
/// # Panics
/// If the work makes more than a thousand calls.
pub fn with_every_fault(mut work: impl FnMut(&Faults)) {
    for number in 0..1000 {
        let mut is_over = false;
        for failing in [number..number + 1, number..u64::MAX] {
            let faults = Faults(Arc::new(Plan { failing, calls: AtomicU64::new(0) }));
            work(&faults);
            is_over = !faults.has_failed();
        }
        if is_over {
            return;
        }
    }
    panic!("the work makes more than a thousand calls");
}

impl Faults {
    /// Whether a call has failed.
    pub fn has_failed(&self) -> bool {
        self.0.calls.load(Ordering::Relaxed) > self.0.failing.start
    }

    /// As something that is shared.
    pub fn shared(&self) -> Arc<dyn FileSystem> {
        Arc::new(self.clone())
    }

    fn call(&self) -> io::Result<()> {
        let number = self.0.calls.fetch_add(1, Ordering::Relaxed);
        match self.0.failing.contains(&number) {
            true => Err(io::ErrorKind::StorageFull.into()),
            false => Ok(()),
        }
    }
}

impl FileSystem for Faults {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.call()?;
        Host.read(path)
    }

    fn create(&self, path: &Path, access: Access) -> io::Result<Box<dyn Output>> {
        self.call()?;
        let file = Host.create(path, access)?;
        Ok(Box::new(FaultyOutput { file, faults: self.clone() }))
    }

    fn append(&self, path: &Path, access: Access) -> io::Result<Box<dyn Output>> {
        self.call()?;
        let file = Host.append(path, access)?;
        Ok(Box::new(FaultyOutput { file, faults: self.clone() }))
    }

    fn make_folder(&self, path: &Path, access: Access) -> io::Result<()> {
        self.call()?;
        Host.make_folder(path, access)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.call()?;
        Host.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.call()?;
        Host.remove(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        self.call()?;
        Host.list(path)
    }
}

struct FaultyOutput {
    file: Box<dyn Output>,
    faults: Faults,
}

impl Write for FaultyOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = self.faults.call() {
            self.file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Output for FaultyOutput {
    fn sync(&mut self) -> io::Result<()> {
        self.faults.call()?;
        self.file.sync()
    }

    fn length(&self) -> io::Result<u64> {
        self.faults.call()?;
        self.file.length()
    }

    fn last(&mut self) -> io::Result<u8> {
        self.faults.call()?;
        self.file.last()
    }

    fn permit_as(&self, other: &Path) -> io::Result<()> {
        self.faults.call()?;
        self.file.permit_as(other)
    }
}
