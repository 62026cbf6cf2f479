//! Writing a file: beside its target first, compressed if the name says so, then renamed.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use weft_files::{Access, FileSystem, Host, remove_unfinished, replace};

use super::error::Problem;
use super::source::{Compression, compression};

/// How the names of files end that are not complete yet.
const ENDING: &str = "part";

/// How often the user's wish to stop is asked for.
const STEP: u64 = 1 << 20;

/// Writes a file with what `body` puts into the target, and returns its length in bytes. Unless
/// all of it succeeds, the file at `path` stays as it was.
pub(super) fn write_file(
    path: &Path,
    stop: &dyn Fn() -> bool,
    body: impl FnOnce(&mut Target) -> Result<(), Problem>,
) -> Result<u64, Problem> {
    // What was left there may be what the disk is full of.
    remove_unfinished(folder(path), ENDING);
    write_file_in(&Host, path, stop, body)
}

fn write_file_in(
    files: &dyn FileSystem,
    path: &Path,
    stop: &dyn Fn() -> bool,
    body: impl FnOnce(&mut Target) -> Result<(), Problem>,
) -> Result<u64, Problem> {
    let (path, is_new) = final_path(path)?;
    let folder = folder(&path);
    if !folder.is_dir() {
        let message = format!("the folder `{}` does not exist", folder.display());
        return Err(Problem::cannot_write(message));
    }
    let compression = compression(&path);
    if compression == Compression::Xz {
        return Err(Problem::unsupported("files cannot be saved compressed with xz")
            .hint("end the name in .gz instead"));
    }
    replace(files, &path, Access::Usual, ENDING, |file| {
        let buffered = BufWriter::with_capacity(1 << 16, &mut *file);
        let output = match compression {
            Compression::Gzip => {
                Output::Gzip(GzEncoder::new(buffered, flate2::Compression::default()))
            }
            Compression::None | Compression::Xz => Output::Plain(buffered),
        };
        let mut target = Target { output, stop, written: 0, asked_at: 0 };
        body(&mut target)?;
        target.finish()?;
        file.sync()?;
        if !is_new {
            file.permit_as(&path)?;
        }
        Ok(file.length()?)
    })
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    }
}

/// Where the file goes, and whether there is none yet: through a symbolic link, which stays one.
fn final_path(path: &Path) -> Result<(PathBuf, bool), Problem> {
    let Ok(metadata) = fs::metadata(path) else { return Ok((path.to_owned(), true)) };
    if metadata.is_dir() {
        return Err(Problem::cannot_write("is a folder, not a file"));
    }
    if !metadata.is_file() {
        return Err(Problem::cannot_write("is a device or a pipe, not a regular file"));
    }
    if metadata.permissions().readonly() {
        return Err(Problem::cannot_write("is write-protected"));
    }
    Ok((fs::canonicalize(path)?, false))
}

/// What a format writes to.
pub(super) struct Target<'a> {
    output: Output<'a>,
    stop: &'a dyn Fn() -> bool,
    written: u64,
    asked_at: u64,
}

enum Output<'a> {
    Plain(BufWriter<&'a mut (dyn weft_files::Output + 'static)>),
    Gzip(GzEncoder<BufWriter<&'a mut (dyn weft_files::Output + 'static)>>),
}

impl Target<'_> {
    pub(super) fn write_bytes(&mut self, bytes: &[u8]) -> Result<(), Problem> {
        self.write_all(bytes).map_err(Problem::writing)
    }

    fn finish(self) -> io::Result<()> {
        match self.output {
            Output::Plain(mut plain) => plain.flush(),
            Output::Gzip(gzip) => gzip.finish()?.flush(),
        }
    }
}

impl Write for Target<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.written >= self.asked_at {
            self.asked_at = self.written + STEP;
            if (self.stop)() {
                return Err(Problem::interrupted().into());
            }
        }
        let bytes = &bytes[..bytes.len().min(STEP as usize)];
        let count = match &mut self.output {
            Output::Plain(plain) => plain.write(bytes)?,
            Output::Gzip(gzip) => gzip.write(bytes)?,
        };
        self.written += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.output {
            Output::Plain(plain) => plain.flush(),
            Output::Gzip(gzip) => gzip.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use weft_files::with_every_fault;

    use super::write_file_in;
    use crate::io::IoErrorKind;

    #[test]
    fn a_file_that_cannot_be_saved_stays_as_it_was() {
        for (name, old) in [("a.txt", Some("old")), ("a.txt", None), ("a.txt.gz", Some("old"))] {
            with_every_fault(|files| {
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join(name);
                if let Some(old) = old {
                    fs::write(&path, old).expect("a file");
                }
                let saved = write_file_in(files, &path, &|| false, |target| {
                    // More than a buffer holds.
                    (0..3).try_for_each(|_| Ok(target.write_all(&[7; 100_000])?))
                });
                let is_old = fs::read(&path).ok() == old.map(|old| old.as_bytes().to_vec());
                assert_eq!((saved.is_err(), is_old), (files.has_failed(), files.has_failed()));
                match saved {
                    Ok(length) => assert_eq!(fs::metadata(&path).expect("it").len(), length),
                    Err(problem) => {
                        let error = problem.at(&path);
                        assert_eq!(error.kind, IoErrorKind::Write);
                        assert!(error.to_string().contains("a.txt"), "{error}");
                    }
                }
            });
        }
    }
}
