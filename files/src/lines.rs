//! Files of lines to which several processes add.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Access, FileSystem};

/// A file of lines, one entry each, closed to others. A process that dies, or a disk that is full, may
/// leave half a line at its end; what is added then begins a line of its own, so that nothing but that
/// half is lost.
#[derive(Debug)]
pub struct Lines {
    files: Arc<dyn FileSystem>,
    path: PathBuf,
    /// What a file begins with.
    heading: &'static str,
    /// Whether it has been there.
    was_there: bool,
}

impl Lines {
    /// The file with what it holds; nothing, if it is not there. A new one begins with `heading`.
    ///
    /// # Errors
    /// It is there and cannot be read.
    pub fn open(
        files: Arc<dyn FileSystem>,
        path: &Path,
        heading: &'static str,
    ) -> io::Result<(Lines, Vec<u8>)> {
        let (bytes, was_there) = match files.read(path) {
            Ok(bytes) => (bytes, true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Vec::new(), false),
            Err(error) => return Err(error),
        };
        Ok((Lines { files, path: path.to_owned(), heading, was_there }, bytes))
    }

    /// Adds lines, each with its end.
    ///
    /// # Errors
    /// They cannot be written, or only in part; one may try again.
    pub fn add(&mut self, lines: &str) -> io::Result<()> {
        let mut output = match self.files.append(&self.path, Access::Private) {
            // Somebody has removed its folder meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.was_there => {
                if let Some(folder) = self.path.parent() {
                    self.files.make_folder(folder, Access::Private)?;
                }
                self.files.append(&self.path, Access::Private)?
            }
            opened => opened?,
        };
        self.was_there = true;
        let mut length = output.length()?;
        if (1..self.heading.len() as u64).contains(&length) {
            // The heading was cut off.
            self.replace("")?;
            output = self.files.append(&self.path, Access::Private)?;
            length = output.length()?;
        }
        // Whoever wrote last may have died within a line.
        let begin = match length {
            0 => self.heading,
            _ if output.last()? != b'\n' => "\n",
            _ => "",
        };
        // One call, so that sessions side by side do not mix their lines.
        output.write_all(format!("{begin}{lines}").as_bytes())
    }

    /// Replaces all that stands behind the heading.
    ///
    /// # Errors
    /// It cannot be written; then it stays as it was.
    pub fn replace(&mut self, lines: &str) -> io::Result<()> {
        crate::replace(&*self.files, &self.path, Access::Private, "part", |output| {
            output.write_all(format!("{}{lines}", self.heading).as_bytes())
        })
    }
}
