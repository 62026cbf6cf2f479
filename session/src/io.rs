//! Files: what the loaders (`load`, `loadCsv`, …) give and what `:save` writes.
//!
//! Every loader reads one file into one value with its type, which follows from the file alone.
//! Nothing here trusts a file: sizes are checked against [`Limits`] before memory is taken, and
//! whatever is wrong is an [`IoError`] with a stable code. `docs/manual/files.md` is the page for
//! users.

mod csv;
mod error;
mod fields;
mod foreign;
mod handed;
mod image;
mod mapped;
mod mtx;
mod npy;
mod npz;
mod save;
mod source;
mod target;
mod text;
mod wav;

use std::path::Path;

use weft_ir::{Type, Value};

pub use error::{IoError, IoErrorKind, Place};
pub(crate) use handed::is_standard_input;

use error::Problem;
use source::Source;

/// A value that came out of a file, and its type.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The value; a record is a tuple with its fields in the order of the type.
    pub value: Value,
    /// Its type.
    pub ty: Type,
}

/// What a loader may take. It is asked before memory is allocated and while a file is read.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Bytes read at most, after decompression.
    pub read_bytes: u64,
    /// Bytes that the value may take at most.
    pub value_bytes: u64,
    /// Asked every few megabytes; `true` gives the load up.
    pub stop: &'a dyn Fn() -> bool,
    /// Told at the same times how many bytes are read, of how many.
    pub progress: &'a dyn Fn(u64, u64),
    /// Told what may have been read otherwise than is meant.
    pub doubt: &'a dyn Fn(Doubt),
}

/// What a file may mean otherwise than it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// How it was read.
    pub message: String,
    /// What else it may mean, and what to do then. `PATH` in it stands for the path of the file.
    pub help: String,
}

impl Limits<'_> {
    /// The same limit on what is read and on what it becomes, and no way to stop.
    pub fn bytes(limit: u64) -> Limits<'static> {
        Limits {
            read_bytes: limit,
            value_bytes: limit,
            stop: &|| false,
            progress: &|_, _| {},
            doubt: &|_| {},
        }
    }
}

/// `load`: the array of a `.npy` file, or one member of a `.npz` archive.
///
/// `member` names the member; without it the archive must have just one.
pub fn load(path: &Path, member: Option<&str>, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || match (source::format(path).as_str(), member) {
        ("npz", _) => npz::read(path, member, limits),
        ("npy", Some(_)) => {
            Err(Problem::unsupported("a .npy file holds one array and has no members")
                .hint("leave the member's name out, or load a .npz file"))
        }
        ("npy", None) => npy::read(&mut Source::open(path, limits)?),
        (other, _) => Err(wrong_loader(other)),
    };
    read().map_err(|problem| problem.at(path))
}

/// `loadCsv`: a table of separated values as a record of columns.
pub fn load_csv(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let separator = (source::format(path) == "tsv").then_some(b'\t');
    let read = || csv::read(&Source::open(path, limits)?.read_all()?, separator, limits);
    read().map_err(|problem| problem.at(path))
}

/// `loadMtx`: a Matrix Market file as `{rows, cols, rowIndex, colIndex, values}`, counted from 0.
pub fn load_mtx(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || mtx::read(&Source::open(path, limits)?.read_all()?, limits);
    read().map_err(|problem| problem.at(path))
}

/// `loadImage`: a PNG, JPEG, PGM or PPM picture as `[h][w]` of a grey value or of a colour.
pub fn load_image(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || image::read(&Source::open(path, limits)?.read_all()?, limits);
    read().map_err(|problem| problem.at(path))
}

/// `loadWav`: a WAV file as `{rate, samples}`.
pub fn load_wav(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || wav::read(&Source::open(path, limits)?.read_all()?, limits);
    read().map_err(|problem| problem.at(path))
}

/// `loadText`: the whole file as `[]char`, without a leading byte-order mark.
pub fn load_text(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || text::read_text(Source::open(path, limits)?.read_all()?, limits);
    read().map_err(|problem| problem.at(path))
}

/// `loadLines`: the lines as `[][]char`, without their ends (`\n` or `\r\n`).
pub fn load_lines(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || text::read_lines(Source::open(path, limits)?.read_all()?, limits);
    read().map_err(|problem| problem.at(path))
}

/// `loadBytes`: the bytes of the file, decompressed, as `[]u8`.
pub fn load_bytes(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || text::read_bytes(Source::open(path, limits)?.read_all()?, limits);
    read().map_err(|problem| problem.at(path))
}

/// `streamNpy`: the array of a `.npy` file as [`load`] gives it, its elements left in the file where they can be,
/// and then however many they are. Without a row to go over it is refused.
pub fn stream_npy(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    let read = || match source::format(path).as_str() {
        "npy" => npy::stream(path, limits),
        other => Err(wrong_stream(other)),
    };
    read().map_err(|problem| problem.at(path))
}

/// `streamLines`: a text as [`load_text`] gives it, left in the file where it can be, and where each of its lines
/// (as [`load_lines`] has them) begins and ends: `([]char, []i64, []i64)`.
pub fn stream_lines(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    text::stream_lines(path, limits).map_err(|problem| problem.at(path))
}

/// `streamWav`: a sound as `(raw, channels, bias, scale)`, its samples left in the file where they can be: those of
/// one moment side by side, each `f32 ((f64 raw - bias) * scale)`.
pub fn stream_wav(path: &Path, limits: &Limits) -> Result<Loaded, IoError> {
    wav::stream(path, limits).map_err(|problem| problem.at(path))
}

/// `:save`: writes `value` in the format that the path's extension names, and returns the number
/// of bytes of the file. The file is written beside its target and renamed over it, so a save
/// that fails or is stopped leaves an older file as it was.
pub fn save(
    value: &Value,
    ty: &Type,
    path: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<u64, IoError> {
    save::save(value, ty, path, stop).map_err(|problem| problem.at(path))
}

/// How bright a picture of floats is.
pub(crate) struct Brightness {
    /// The least value.
    pub(crate) least: f64,
    /// The greatest value.
    pub(crate) greatest: f64,
    /// Which part of the values is not within 0.0 and 1.0.
    pub(crate) clipped: f64,
    /// Whether a pixel is one value.
    pub(crate) is_grey: bool,
}

/// The brightness of a value that was saved as a picture, if much of it is beyond 0.0 to 1.0.
pub(crate) fn brightness(value: &Value, path: &Path) -> Option<Brightness> {
    match source::format(path).as_str() {
        "png" | "pgm" | "ppm" => image::brightness_beyond(value),
        _ => None,
    }
}

/// Writes a text, such as the source of definitions, as carefully as [`save()`] writes values.
pub(crate) fn save_source(
    text: &str,
    path: &Path,
    stop: &dyn Fn() -> bool,
) -> Result<u64, IoError> {
    let write = |target: &mut target::Target| target.write_bytes(text.as_bytes());
    target::write_file(path, stop, write).map_err(|problem| problem.at(path))
}

/// The function that reads a file of data, told by its name; nothing for what may be a program.
pub(crate) fn loader_of(path: &Path) -> Option<&'static str> {
    loader_of_format(&source::format(path))
}

fn loader_of_format(format: &str) -> Option<&'static str> {
    match format {
        "npy" | "npz" => Some("load"),
        "csv" | "tsv" => Some("loadCsv"),
        "mtx" => Some("loadMtx"),
        "png" | "jpg" | "jpeg" | "pgm" | "ppm" => Some("loadImage"),
        "wav" => Some("loadWav"),
        _ => None,
    }
}

/// The answer to `load "a.csv"` and the like.
fn wrong_loader(format: &str) -> Problem {
    let loader = match format {
        "txt" => Some("loadText` or `loadLines"),
        _ => loader_of_format(format),
    };
    let problem = Problem::unsupported("`load` reads .npy and .npz files only");
    if let Some(hint) = foreign::advice(format) {
        return problem.hint(hint);
    }
    match loader {
        Some(loader) => problem.hint(&format!("use `{loader}` for .{format} files")),
        None => problem.hint("`loadBytes` reads any file as []u8"),
    }
}

/// The answer to `streamNpy "a.npz"` and the like.
fn wrong_stream(format: &str) -> Problem {
    let hint = match format {
        "npz" => "`load` reads a member of it, and `stream` goes over its rows",
        "txt" => "use `streamLines` for .txt files",
        "wav" => "use `streamWav` for .wav files",
        _ => "`streamLines` reads any text",
    };
    Problem::unsupported("`streamNpy` reads .npy files only").hint(hint)
}
