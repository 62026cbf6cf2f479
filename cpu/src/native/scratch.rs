//! Folders for files that the compiler reads and writes.
//!
//! Note [Scratch folders]. A folder goes when its work is done. A process that ends while its compiler runs
//! leaves the folder behind; so its name says whose it is, and the next process removes what belongs
//! to none that runs. Processes of another machine or container are not seen: what is young stays.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the names of folders begin with; the number of the process follows.
const PREFIX: &str = "weft-";

/// Folders that were changed since are left alone, whosever they are.
const YOUNG: Duration = Duration::from_secs(600);

/// A new folder for this process. It goes with the value.
///
/// # Errors
/// A sentence.
pub(super) fn folder(within: &Path) -> Result<tempfile::TempDir, String> {
    let fails = |error: io::Error| not_written(within, &error);
    fs::create_dir_all(within).map_err(fails)?;
    let prefix = format!("{PREFIX}{}-", std::process::id());
    tempfile::Builder::new().prefix(&prefix).tempdir_in(within).map_err(fails)
}

/// A sentence: nothing can be written to a folder.
pub(super) fn not_written(within: &Path, error: &io::Error) -> String {
    // Errors of `tempfile` go on with the name of a file that nobody knows.
    let text = error.to_string();
    let cause = text.split(" at path ").next().unwrap_or_default();
    format!("cannot write to the folder for temporary files {} ({cause})", within.display())
}

/// Removes the folders of processes that are gone.
pub(super) fn sweep(within: &Path) {
    for entry in fs::read_dir(within).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(process_of);
        if process.is_some_and(|process| !is_running(process)) && is_old(&entry.path()) {
            // Another process may be faster, and what belongs to another user stays.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// The process that a folder of this name belongs to.
fn process_of(name: &str) -> Option<u32> {
    let (process, rest) = name.strip_prefix(PREFIX)?.split_once('-')?;
    if rest.is_empty() { None } else { process.parse().ok() }
}

/// Whether there is such a process; where that cannot be told, all are.
fn is_running(process: u32) -> bool {
    let processes = PathBuf::from("/proc");
    !processes.join("self").exists() || processes.join(process.to_string()).exists()
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > YOUNG))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::Path;
    use std::time::SystemTime;

    use super::{YOUNG, folder, sweep};

    /// A process that does not run: the greatest number of one is smaller.
    const GONE: u32 = u32::MAX;

    fn made(within: &Path, name: &str, old: bool) {
        let path = within.join(name);
        fs::create_dir(&path).expect("a folder");
        fs::write(path.join("kernels.c"), "").expect("a file");
        if old {
            let long_ago = SystemTime::now() - 2 * YOUNG;
            File::open(path).and_then(|file| file.set_modified(long_ago)).expect("a time");
        }
    }

    #[test]
    fn folders_of_processes_that_are_gone_are_removed() {
        let within = tempfile::tempdir().expect("a folder");
        let own = folder(within.path()).expect("a folder");
        let running = format!("weft-{}-other", std::process::id());
        for (name, old) in [
            (format!("weft-{GONE}-abc"), true),
            (format!("weft-{GONE}-young"), false),
            (running.clone(), true),
            ("weft-notes-2".to_owned(), true),
            (format!("wefts-{GONE}-abc"), true),
        ] {
            made(within.path(), &name, old);
        }
        sweep(within.path());
        let mut left: Vec<String> = fs::read_dir(within.path())
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        left.sort();
        let own = own.path().file_name().expect("a name").to_string_lossy().into_owned();
        let mut expect = [
            format!("weft-{GONE}-young"),
            running,
            "weft-notes-2".to_owned(),
            format!("wefts-{GONE}-abc"),
            own,
        ];
        expect.sort();
        assert_eq!(left, expect);
    }
}
