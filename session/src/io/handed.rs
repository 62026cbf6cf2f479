//! Pipes that the process was handed: standard input, and what `<(command)` of a shell stands for.
//!
//! A pipe can be read once, and a program may look at it twice: a name for it in one line, another in the next. So what it
//! says is kept in a file without a name, as far as it was asked for, and that file is what loaders read: it has a length,
//! can be read from any place, and be mapped. A pipe that has a name in a folder is refused as a device is: opening it
//! waits for whoever writes to it, and what is written the next time is something else.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs::File;
use std::io::{self, IsTerminal, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::Limits;
use super::error::{Problem, plain};

/// How much is read at once, and how many of these pieces wait to be kept.
const PIECE: usize = 1 << 18;
const MOST_WAITING: usize = 4;

/// The descriptor of standard input.
const STANDARD_INPUT: u32 = 0;

/// How often the user's wish to stop is asked for while nothing comes.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the pipes have said that were read, by their descriptors.
static PIPES: LazyLock<Mutex<BTreeMap<u32, Pipe>>> = LazyLock::new(Mutex::default);

/// Whether a path is that of standard input.
pub(crate) fn is_standard_input(path: &Path) -> bool {
    descriptor(path) == Some(STANDARD_INPUT)
}

/// The number of what the process was handed open, if a path stands for that.
pub(super) fn descriptor(path: &Path) -> Option<u32> {
    if path == Path::new("/dev/stdin") {
        return Some(STANDARD_INPUT);
    }
    let number = |folder: &str| path.strip_prefix(folder).ok()?.to_str()?.parse().ok();
    number("/dev/fd").or_else(|| number("/proc/self/fd"))
}

/// All that a pipe says, as a file.
pub(super) fn open(path: &Path, descriptor: u32, limits: &Limits) -> Result<File, Problem> {
    let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
    let failed = |error: io::Error| Problem::open(format!("cannot be read ({})", plain(&error)));
    let pipe = match pipes.entry(descriptor) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(free) => free.insert(Pipe::begin(path)?),
    };
    pipe.read_to_end(limits)?;
    // Both have one position, which is free again when the next load begins: loads come one after the other.
    let mut file = pipe.kept.try_clone().map_err(failed)?;
    file.seek(SeekFrom::Start(0)).map_err(failed)?;
    Ok(file)
}

/// A pipe that is being read, or was.
struct Pipe {
    /// What it has said.
    kept: File,
    length: u64,
    /// What it says next; ends with the pipe.
    pieces: Receiver<io::Result<Vec<u8>>>,
}

impl Pipe {
    fn begin(path: &Path) -> Result<Pipe, Problem> {
        let failed =
            |error: io::Error| Problem::open(format!("cannot be opened ({})", plain(&error)));
        let input: Box<dyn Read + Send> = match is_standard_input(path) {
            true if io::stdin().is_terminal() => {
                let problem = Problem::open("is a terminal, not a file or a pipe");
                return Err(problem.hint("`weft program.weft < FILE` hands a file to a program"));
            }
            // Not by its path: a socket cannot be opened.
            true => Box::new(io::stdin()),
            false => Box::new(File::open(path).map_err(failed)?),
        };
        let kept = tempfile::tempfile().map_err(failed)?;
        let (sender, pieces) = sync_channel(MOST_WAITING);
        // A thread, as there is no way to give up a read that waits.
        thread::Builder::new()
            .name("pipe".to_owned())
            .spawn(move || send(input, &sender))
            .map_err(failed)?;
        Ok(Pipe { kept, length: 0, pieces })
    }

    /// Keeps what comes until the pipe ends. What has come stays when this is given up, and the rest can be asked for again.
    fn read_to_end(&mut self, limits: &Limits) -> Result<(), Problem> {
        loop {
            if (limits.stop)() {
                return Err(Problem::interrupted());
            }
            if self.length > limits.read_bytes {
                let limit = limits.read_bytes;
                return Err(Problem::too_many(format!(
                    "there is more than the limit of {limit} bytes"
                )));
            }
            match self.pieces.recv_timeout(PATIENCE) {
                Ok(Ok(piece)) => {
                    // A load before this one may have left the position elsewhere.
                    let kept = self.kept.seek(SeekFrom::Start(self.length));
                    kept.and_then(|_| self.kept.write_all(&piece)).map_err(|error| {
                        Problem::open(format!(
                            "cannot be kept in a temporary file ({})",
                            plain(&error)
                        ))
                    })?;
                    self.length += piece.len() as u64;
                }
                Ok(Err(error)) => return Err(Problem::reading(error, self.length)),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
        }
    }
}

/// Sends all that there is to read, or until nobody wants it any more.
fn send(mut input: impl Read, pieces: &SyncSender<io::Result<Vec<u8>>>) {
    loop {
        let mut piece = vec![0; PIECE];
        let sent = match input.read(&mut piece) {
            Ok(0) => return,
            Ok(count) => {
                piece.truncate(count);
                pieces.send(Ok(piece))
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => pieces.send(Err(error)),
        };
        if sent.is_err() {
            return;
        }
    }
}
