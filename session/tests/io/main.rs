//! Files: every format, read and written, well-formed and hostile.
//!
//! The fixtures in `tests/data/io` were made with NumPy, Pillow and Python's `wave`, so that they
//! do not share our misunderstandings; small texts stand in the tests themselves.

mod csv;
mod hostile;
mod image;
mod mtx;
mod npy;
mod save;
mod show;
mod stream;
mod text;
mod wav;

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use weft_session::io::{IoError, Limits, Loaded};

/// A limit that no honest test reaches.
const LIMIT: u64 = 1 << 30;

/// A loader with the test's limits.
type Load = fn(&Path, &Limits) -> Result<Loaded, IoError>;

/// A fixture of the repository.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/io").join(name)
}

/// A file of these contents in a folder of its own, which lives as long as the pair.
fn file(name: &str, contents: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(name);
    fs::write(&path, contents).expect("a temporary file");
    (folder, path)
}

/// What a load came to: `type value`, or `code name: message`.
fn outcome(result: Result<Loaded, IoError>) -> String {
    match result {
        Ok(loaded) => show::loaded(&loaded),
        Err(error) => failure(&error),
    }
}

/// A failure as `code name, place: message`, with the hint after a bar.
fn failure(error: &IoError) -> String {
    let folder = error.path.parent().expect("tests name files in folders");
    let text = format!("{} {error}", error.kind.code());
    let hint = error.hint.as_ref().map(|hint| format!(" | {hint}")).unwrap_or_default();
    let folder = format!("{}/", folder.display());
    format!("{text}{hint}").replace(&folder, "")
}

/// Loads a file of these contents and compares the outcome.
fn check(load: Load, name: &str, contents: impl AsRef<[u8]>, expected: &str) {
    let (_folder, path) = file(name, contents.as_ref());
    assert_eq!(outcome(load(&path, &Limits::bytes(LIMIT))), expected);
}
