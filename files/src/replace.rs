//! Files that are replaced as a whole, or not at all.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Access, FileSystem, Output};

/// How many names are tried for the file that is written beside the other one: those of processes that
/// have been killed may be taken.
const TRIES: usize = 100;

/// Tells apart the files that one process is writing.
static WRITES: AtomicU64 = AtomicU64::new(0);

/// Makes a file hold what `body` writes, or leaves it as it is: the text goes to a file beside it, whose
/// name ends with `ending`, and which then takes its name. The result is that of `body`.
///
/// # Errors
/// `body` fails, or a file cannot be written.
pub fn replace<T, E: From<io::Error>>(
    files: &dyn FileSystem,
    path: &Path,
    access: Access,
    ending: &str,
    body: impl FnOnce(&mut (dyn Output + 'static)) -> Result<T, E>,
) -> Result<T, E> {
    let (beside, mut output) = create_beside(files, path, access, ending)?;
    let written = body(&mut *output).and_then(|result| {
        drop(output);
        files.rename(&beside, path)?;
        Ok(result)
    });
    if written.is_err() {
        // If even that fails, a file is left that nobody reads.
        drop(files.remove(&beside));
    }
    written
}

fn create_beside(
    files: &dyn FileSystem,
    path: &Path,
    access: Access,
    ending: &str,
) -> io::Result<(PathBuf, Box<dyn Output>)> {
    let mut tries = 0;
    loop {
        let number = WRITES.fetch_add(1, Ordering::Relaxed);
        let name = format!(".weft-{}-{number}.{ending}", std::process::id());
        let beside = path.with_file_name(name);
        match files.create(&beside, access) {
            Ok(output) => return Ok((beside, output)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                tries += 1;
            }
            Err(error) => return Err(error),
        }
    }
}
