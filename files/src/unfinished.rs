//! What processes leave that were killed while they replaced a file.

use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::path::Path;
use std::time::Duration;

/// How long nobody must have written to a file. Another machine, or another container, may be writing to
/// the folder as well; its processes are not to be seen here.
const QUIET: Duration = Duration::from_secs(600);

/// Removes the files with that ending that [`replace`](crate::replace()) began in a folder, and whose process
/// is gone. What cannot be removed stays: nobody reads it.
pub fn remove_unfinished(folder: &Path, ending: &str) {
    if !Path::new("/proc/self").exists() {
        // Nothing here says which processes there are.
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Some(process) = writer(&entry.file_name(), ending) else { continue };
        let is_gone = !Path::new("/proc").join(process.to_string()).exists();
        if is_gone && entry.metadata().is_ok_and(|metadata| is_quiet(&metadata)) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn is_quiet(metadata: &Metadata) -> bool {
    let age = metadata.modified().ok().and_then(|modified| modified.elapsed().ok());
    metadata.is_file() && age.is_some_and(|age| age >= QUIET)
}

/// The process that gave a file its name, `.weft-PROCESS-NUMBER.ENDING`.
fn writer(name: &OsStr, ending: &str) -> Option<u32> {
    let (process, rest) = name.to_str()?.strip_prefix(".weft-")?.split_once('-')?;
    let (number, found) = rest.split_once('.')?;
    number.parse::<u64>().ok()?;
    (found == ending).then(|| process.parse().ok())?
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::remove_unfinished;

    #[test]
    fn what_dead_processes_left_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = format!(".weft-{}-0.part", std::process::id());
        // Larger than any number that a process may have.
        let (old, new) = (".weft-4294967295-7.part", ".weft-4294967295-8.part");
        let others = [".weft-4294967295-7.tmp", ".weft-notes.part", "weft-4294967295-7.part"];
        for name in [&own, old, new].into_iter().chain(others) {
            let file = File::create(folder.path().join(name)).expect("a file");
            let hour = Duration::from_secs(3600);
            if name != new {
                file.set_modified(SystemTime::now() - hour).expect("its time");
            }
        }
        remove_unfinished(folder.path(), "part");
        let left = |name: &str| fs::exists(folder.path().join(name)).expect("an answer");
        assert!(!left(old));
        assert!(left(&own) && left(new) && others.into_iter().all(left));
    }
}
