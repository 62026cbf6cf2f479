//! What can go wrong with a file.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file could not be read or written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IoError {
    /// The file, as it was asked for.
    pub path: PathBuf,
    /// What kind of failure it is; it has the stable code.
    pub kind: IoErrorKind,
    /// What is wrong, in one sentence without the path and without a full stop.
    pub message: String,
    /// What to try, in the same form.
    pub hint: Option<String>,
}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoErrorKind {
    /// The file cannot be opened or read.
    Open,
    /// The file is not of that format, or it is damaged.
    Malformed(Place),
    /// The file is right, but uses something that the loader does not read.
    Unsupported,
    /// The file, or what it promises, is beyond the limit.
    TooLarge,
    /// The file cannot be written.
    Write,
    /// The value cannot be expressed in the format.
    DoesNotFit,
    /// The user stopped the operation.
    Interrupted,
}

impl IoErrorKind {
    /// The stable code, whose page `:explain` prints. An interruption has the code of an
    /// interrupted run.
    pub fn code(&self) -> &'static str {
        match self {
            IoErrorKind::Open => "E0401",
            IoErrorKind::Malformed(_) => "E0402",
            IoErrorKind::Unsupported => "E0403",
            IoErrorKind::TooLarge => "E0404",
            IoErrorKind::Write => "E0405",
            IoErrorKind::DoesNotFit => "E0406",
            IoErrorKind::Interrupted => "E0703",
        }
    }
}

/// Where in a file something is wrong. Offsets and lines count in the decompressed contents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At this byte, from 0.
    Byte(u64),
    /// In this line, from 1.
    Line(u64),
    /// In no particular place.
    Whole,
}

impl fmt::Display for IoError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path == Path::new("") {
            true => write!(f, "\"\"")?,
            false => write!(f, "{}", self.path.display())?,
        }
        match self.kind {
            IoErrorKind::Malformed(Place::Byte(offset)) => write!(f, ", byte {offset}")?,
            IoErrorKind::Malformed(Place::Line(line)) => write!(f, ", line {line}")?,
            IoErrorKind::Malformed(Place::Whole)
            | IoErrorKind::Open
            | IoErrorKind::Unsupported
            | IoErrorKind::TooLarge
            | IoErrorKind::Write
            | IoErrorKind::DoesNotFit
            | IoErrorKind::Interrupted => {}
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for IoError {}

/// An [`IoError`] whose path is not yet known: what the formats report.
#[derive(Debug)]
pub(super) struct Problem {
    kind: IoErrorKind,
    message: String,
    hint: Option<String>,
}

impl Problem {
    fn new(kind: IoErrorKind, message: impl Into<String>) -> Problem {
        Problem { kind, message: message.into(), hint: None }
    }

    pub(super) fn open(message: impl Into<String>) -> Problem {
        Problem::new(IoErrorKind::Open, message)
    }

    pub(super) fn malformed(place: Place, message: impl Into<String>) -> Problem {
        Problem::new(IoErrorKind::Malformed(place), message)
    }

    pub(super) fn unsupported(message: impl Into<String>) -> Problem {
        Problem::new(IoErrorKind::Unsupported, message)
    }

    /// `what` needs `bytes` bytes, which is more than `limit`.
    pub(super) fn too_large(what: &str, bytes: u128, limit: u64) -> Problem {
        let bytes = match u64::try_from(bytes) {
            Ok(bytes) => bytes.to_string(),
            Err(_) => "more than 2^64".to_owned(),
        };
        let message = format!("{what} {bytes} bytes, and the limit is {limit}");
        Problem::new(IoErrorKind::TooLarge, message)
    }

    /// A count of something else than bytes that is beyond a fixed limit.
    pub(super) fn too_many(message: impl Into<String>) -> Problem {
        Problem::new(IoErrorKind::TooLarge, message)
    }

    pub(super) fn write(error: &io::Error) -> Problem {
        Problem::new(IoErrorKind::Write, format!("cannot be written ({})", plain(error)))
    }

    pub(super) fn cannot_write(message: impl Into<String>) -> Problem {
        Problem::new(IoErrorKind::Write, message)
    }

    pub(super) fn does_not_fit(message: impl Into<String>) -> Problem {
        Problem::new(IoErrorKind::DoesNotFit, message)
    }

    pub(super) fn interrupted() -> Problem {
        Problem::new(IoErrorKind::Interrupted, "interrupted")
    }

    pub(super) fn hint(mut self, hint: &str) -> Problem {
        self.hint = Some(hint.to_owned());
        self
    }

    pub(super) fn at(self, path: &Path) -> IoError {
        let Problem { kind, message, hint } = self;
        IoError { path: path.to_owned(), kind, message, hint }
    }
}

/// Carries a [`Problem`] through code that knows only [`io::Error`] (decoders over our streams).
#[derive(Debug)]
struct Carried(Problem);

impl fmt::Display for Carried {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Carried {}

/// While a file is written.
impl From<io::Error> for Problem {
    fn from(error: io::Error) -> Problem {
        Problem::writing(error)
    }
}

impl From<Problem> for io::Error {
    fn from(problem: Problem) -> io::Error {
        // Not `ErrorKind::Interrupted`, which callers take as "try again".
        io::Error::other(Carried(problem))
    }
}

impl Problem {
    /// The problem behind a failed read at byte `offset`.
    pub(super) fn reading(error: io::Error, offset: u64) -> Problem {
        match error.downcast::<Carried>() {
            Ok(Carried(problem)) => problem,
            Err(error) => match error.kind() {
                io::ErrorKind::UnexpectedEof => {
                    Problem::malformed(Place::Byte(offset), "the file is cut off")
                }
                io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => Problem::malformed(
                    Place::Byte(offset),
                    format!("the compressed data is damaged ({})", plain(&error)),
                ),
                _ if is_memory_limit(&error) => {
                    Problem::too_many("the xz file needs more memory to decompress than is allowed")
                }
                _ => Problem::open(format!("cannot be read ({})", plain(&error))),
            },
        }
    }

    /// The problem behind a failed write.
    pub(super) fn writing(error: io::Error) -> Problem {
        match error.downcast::<Carried>() {
            Ok(Carried(problem)) => problem,
            Err(error) => Problem::write(&error),
        }
    }
}

/// Whether the xz decoder met its memory limit.
fn is_memory_limit(error: &io::Error) -> bool {
    let source = error.get_ref().and_then(|source| source.downcast_ref());
    matches!(source, Some(liblzma::stream::Error::MemLimit))
}

/// An operating-system error in words, without its number.
pub(super) fn plain(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => {
            let text = error.to_string();
            let end = text.find(" (os error").unwrap_or(text.len());
            text[..end].to_owned()
        }
    }
}
