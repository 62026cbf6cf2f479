//! What Weft does to files: its histories, its cache, what users save, what it installs.
//!
//! All of that goes through [`FileSystem`], so that tests can make any one call fail ([`Faults`]) and
//! look at what is left. Data that users load is read elsewhere, but for files that are mapped into
//! memory ([`MappedFile`]).

mod faults;
mod host;
mod lines;
mod mapped;
mod regular;
mod replace;
mod unfinished;

use std::fmt::Debug;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

pub use faults::{Faults, with_every_fault};
pub use host::Host;
pub use lines::Lines;
pub use mapped::MappedFile;
pub use regular::{read_at_most, read_regular};
pub use replace::replace;
pub use unfinished::remove_unfinished;

/// A file system. Errors are those of the operating system.
pub trait FileSystem: Debug + Send + Sync {
    /// All bytes of a regular file.
    ///
    /// # Errors
    /// It is not there, is a folder, a device or a pipe, or cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// A new file.
    ///
    /// # Errors
    /// There is something with that name, or it cannot be made.
    fn create(&self, path: &Path, access: Access) -> io::Result<Box<dyn Output>>;

    /// A file to whose end is written; it is made if it is not there. What is written with one call
    /// stays together, whoever else writes to the file.
    ///
    /// # Errors
    /// It cannot be opened or made.
    fn append(&self, path: &Path, access: Access) -> io::Result<Box<dyn Output>>;

    /// Makes a folder and those around it, if they are not there.
    ///
    /// # Errors
    /// One of them cannot be made.
    fn make_folder(&self, path: &Path, access: Access) -> io::Result<()>;

    /// Gives a file another name, in place of the file that has it.
    ///
    /// # Errors
    /// It cannot be done; then nothing has changed.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// It is not there, or cannot be removed.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// What is in a folder, in no particular order.
    ///
    /// # Errors
    /// It is not there, or cannot be read.
    fn list(&self, path: &Path) -> io::Result<Vec<Entry>>;
}

/// A file that is being written.
pub trait Output: Write + Send {
    /// Waits until what has been written is on the disk.
    ///
    /// # Errors
    /// It cannot be brought there.
    fn sync(&mut self) -> io::Result<()>;

    /// How many bytes the file has.
    ///
    /// # Errors
    /// The system does not say.
    fn length(&self) -> io::Result<u64>;

    /// The last byte of a file that has one.
    ///
    /// # Errors
    /// It cannot be read; it can where the file was opened with [`FileSystem::append`].
    fn last(&mut self) -> io::Result<u8>;

    /// Gives the file the permissions of another one.
    ///
    /// # Errors
    /// The other one is not there, or the permissions cannot be given.
    fn permit_as(&self, other: &Path) -> io::Result<()>;
}

/// Who may use what is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Its owner.
    Private,
    /// Whom the user lets use new files.
    Usual,
}

/// A file in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes.
    pub length: u64,
    /// When it was last written to, if the system knows.
    pub modified: Option<SystemTime>,
}
