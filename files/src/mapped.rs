//! Files that are read as they are looked at.
#![allow(unsafe_code)]

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use memmap2::{Mmap, MmapOptions};

/// A file whose bytes the system reads when they are looked at, and may forget again.
///
/// Its bytes are there as long as this is, also when the file has lost its name or another file got it. When
/// somebody writes to the file meanwhile, they change, and when it becomes shorter, looking at what is gone ends
/// the process (SIGBUS): who is about to look asks [`MappedFile::changed`] before.
#[derive(Debug)]
pub struct MappedFile {
    map: Mmap,
    file: File,
    path: PathBuf,
    modified: Option<SystemTime>,
}

impl MappedFile {
    /// The bytes of an open file as it is now. The path is for messages.
    ///
    /// # Errors
    /// It is empty, or nothing that the system can map.
    pub fn new(file: File, path: &Path) -> io::Result<MappedFile> {
        let metadata = file.metadata()?;
        let length = usize::try_from(metadata.len()).map_err(|_| io::ErrorKind::FileTooLarge)?;
        if !metadata.is_file() || length == 0 {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // SAFETY: nobody may write to the file while there are references to its bytes. Weft never does: it opens
        // the file for reading, and replaces files that it writes by new ones (`replace`). That no other program
        // does cannot be made sure of, here as with any mapped file. If one does, a byte has another value when
        // it is looked at again: callers see the bytes only as types of which all values are valid, and ask
        // `changed` before they begin to look. If the file becomes shorter, the system ends the process; no other
        // memory is touched.
        let map = unsafe { MmapOptions::new().len(length).map(&file)? };
        Ok(MappedFile { map, file, path: path.to_owned(), modified: metadata.modified().ok() })
    }

    /// All bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// What has happened to the file since it was opened, if it has been written to: a sentence that begins with
    /// its path.
    pub fn changed(&self) -> Option<String> {
        let path = self.path.display();
        let metadata = match self.file.metadata() {
            Ok(metadata) => metadata,
            Err(error) => return Some(format!("{path}: cannot be read any more ({error})")),
        };
        let (before, now) = (self.map.len() as u64, metadata.len());
        if before != now {
            return Some(format!(
                "{path}: had {before} bytes when it was opened, and has {now} now"
            ));
        }
        let is_same = self.modified == metadata.modified().ok();
        (!is_same).then(|| format!("{path}: has been written to since it was opened"))
    }

    /// The path under which the file was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }
}
