//! Reading a file: decompression, limits, interruption.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read};
#[cfg(target_os = "linux")]
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use bytemuck::Pod;
use flate2::bufread::MultiGzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use super::Limits;
use super::error::{Place, Problem, plain};
use super::handed;

/// How often the user's wish to stop is asked for, and how much is read at once.
const STEP: usize = 1 << 20;

/// `O_NONBLOCK`, which regular files pay no attention to.
#[cfg(target_os = "linux")]
const DO_NOT_WAIT: i32 = 0o4000;

/// What a file begins with that is compressed with gzip.
const GZIP: &[u8] = b"\x1f\x8b";

/// What the xz decoder may allocate: the window of the highest preset needs 65 MiB.
const XZ_MEMORY: u64 = 256 << 20;

/// How a file is compressed, by its last extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compression {
    None,
    Gzip,
    Xz,
}

/// The compression that a path's last extension names.
pub(super) fn compression(path: &Path) -> Compression {
    match extension(path).as_str() {
        "gz" => Compression::Gzip,
        "xz" => Compression::Xz,
        _ => Compression::None,
    }
}

/// The extension that names the format, in lower case: `csv` for `a.csv` and for `a.csv.gz`.
pub(super) fn format(path: &Path) -> String {
    match compression(path) {
        Compression::None => extension(path),
        Compression::Gzip | Compression::Xz => extension(&path.with_extension("")),
    }
}

fn extension(path: &Path) -> String {
    path.extension().map(|ext| ext.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// The decompressed contents of a file (or of a member of an archive), within limits.
pub(super) struct Source<'a> {
    contents: Box<dyn Read + 'a>,
    limits: &'a Limits<'a>,
    position: u64,
    asked_at: u64,
    length: Option<u64>,
}

impl<'a> Source<'a> {
    /// Opens a regular file.
    pub(super) fn open(path: &Path, limits: &'a Limits<'a>) -> Result<Source<'a>, Problem> {
        let file = open_file(path, limits)?;
        let length = file.metadata().map_err(|error| cannot_open(path, &error))?.len();
        let buffered = |file| BufReader::with_capacity(1 << 16, file);
        Ok(match compression(path) {
            Compression::None => {
                if length > limits.read_bytes {
                    let limit = limits.read_bytes;
                    return Err(Problem::too_large("the file has", length.into(), limit));
                }
                // Some files of the system report length 0 and have contents all the same.
                let length = (length > 0).then_some(length);
                Source { length, ..Source::new(file, limits) }
            }
            Compression::Gzip => {
                let mut file = buffered(file);
                let begin = file.fill_buf().map_err(|error| Problem::reading(error, 0))?;
                if !begin.is_empty() && !begin.starts_with(GZIP) && !GZIP.starts_with(begin) {
                    let problem = "is not compressed with gzip, though its name says so";
                    return Err(Problem::malformed(Place::Whole, problem).hint("rename it"));
                }
                Source::new(MultiGzDecoder::new(file), limits)
            }
            Compression::Xz => {
                let stream = Stream::new_stream_decoder(XZ_MEMORY, CONCATENATED)
                    .map_err(|error| Problem::open(format!("cannot be read ({error})")))?;
                let decoder = liblzma::bufread::XzDecoder::new_stream(buffered(file), stream);
                Source::new(decoder, limits)
            }
        })
    }

    /// Contents of unknown length.
    pub(super) fn new(contents: impl Read + 'a, limits: &'a Limits<'a>) -> Source<'a> {
        Source { contents: Box::new(contents), limits, position: 0, asked_at: 0, length: None }
    }

    pub(super) fn limits(&self) -> &'a Limits<'a> {
        self.limits
    }

    /// How many bytes were read so far.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Everything.
    pub(super) fn read_all(mut self) -> Result<Vec<u8>, Problem> {
        let mut bytes = Vec::new();
        if let Some(length) = self.length {
            // One more, so that the end is noticed without growing.
            reserve(&mut bytes, length as usize + 1)?;
        }
        loop {
            let start = bytes.len();
            let read = self.by_ref().take(STEP as u64).read_to_end(&mut bytes);
            read.map_err(|error| Problem::reading(error, self.position))?;
            if bytes.len() == start {
                return Ok(bytes);
            }
        }
    }

    /// Exactly `buffer.len()` bytes.
    pub(super) fn read_bytes(&mut self, buffer: &mut [u8]) -> Result<(), Problem> {
        for piece in buffer.chunks_mut(STEP) {
            self.read_exact(piece).map_err(|error| Problem::reading(error, self.position))?;
        }
        Ok(())
    }

    /// Whether nothing is left. The checksum of a compressed file is tested by that.
    pub(super) fn at_end(&mut self) -> Result<bool, Problem> {
        let mut byte = [0];
        match self.read(&mut byte) {
            Ok(count) => Ok(count == 0),
            Err(error) => Err(Problem::reading(error, self.position)),
        }
    }

    /// The next `count` elements, as they lie in the file. Memory is taken only as the file
    /// shows that it has them.
    pub(super) fn read_elements<T: Pod>(&mut self, count: usize) -> Result<Vec<T>, Problem> {
        let wanted = count as u128 * size_of::<T>() as u128;
        if wanted > self.limits.value_bytes.into() {
            return Err(Problem::too_large("the array needs", wanted, self.limits.value_bytes));
        }
        let mut elements: Vec<T> = Vec::new();
        let mut room = match self.length {
            Some(length) if wanted > u128::from(length - self.position.min(length)) => {
                return Err(cut_off(wanted, self.position, length));
            }
            Some(_) => count,
            None => STEP,
        };
        while elements.len() < count {
            let start = elements.len();
            let end = count.min(start + room);
            if start == 0 {
                // Zeroed memory of the system needs no writing.
                elements = bytemuck::allocation::try_zeroed_vec(end)
                    .map_err(|()| out_of_memory(end * size_of::<T>()))?;
            } else {
                reserve(&mut elements, end - start)?;
                elements.resize(end, T::zeroed());
            }
            self.read_bytes(bytemuck::cast_slice_mut(&mut elements[start..]))?;
            room = elements.len();
        }
        Ok(elements)
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.position >= self.asked_at {
            self.asked_at = self.position + STEP as u64;
            if (self.limits.stop)() {
                return Err(Problem::interrupted().into());
            }
            if let Some(length) = self.length {
                (self.limits.progress)(self.position, length);
            }
        }
        let count = self.contents.read(buffer)?;
        self.position += count as u64;
        if self.position > self.limits.read_bytes {
            let limit = self.limits.read_bytes;
            let problem = Problem::too_many(format!(
                "the contents are larger than the limit of {limit} bytes"
            ));
            return Err(problem.into());
        }
        Ok(count)
    }
}

/// An array of `wanted` bytes from byte `position` on does not fit into a file of `length` bytes.
pub(super) fn cut_off(wanted: u128, position: u64, length: u64) -> Problem {
    let wanted = match u64::try_from(wanted) {
        Ok(wanted) => wanted.to_string(),
        Err(_) => "more than 2^64".to_owned(),
    };
    let message = format!(
        "the file is cut off: the array needs {wanted} bytes from byte {position} on, and the file has {length}"
    );
    Problem::malformed(Place::Byte(length), message)
}

/// Opens a regular file for reading, or what the process was handed over a pipe.
pub(super) fn open_file(path: &Path, limits: &Limits) -> Result<File, Problem> {
    if path == Path::new("") {
        return Err(Problem::open("cannot be opened: it is the empty path"));
    }
    // Asked before opening: opening a pipe without a writer would block for ever.
    let metadata = fs::metadata(path).map_err(|error| cannot_open(path, &error))?;
    if metadata.is_dir() {
        return Err(Problem::open("is a folder, not a file"));
    }
    if !metadata.is_file() {
        if let Some(descriptor) = handed::descriptor(path) {
            return handed::open(path, descriptor, limits);
        }
        return Err(Problem::open("is a device or a pipe, not a regular file"));
    }
    let mut options = OpenOptions::new();
    // Some files of the system wait until there is something to read, such as /proc/kmsg.
    #[cfg(target_os = "linux")]
    OpenOptionsExt::custom_flags(&mut options, DO_NOT_WAIT);
    options.read(true).open(path).map_err(|error| cannot_open(path, &error))
}

/// Room for `more` elements, or an error instead of the end of the process.
pub(super) fn reserve<T>(elements: &mut Vec<T>, more: usize) -> Result<(), Problem> {
    elements.try_reserve(more).map_err(|_| out_of_memory(more.saturating_mul(size_of::<T>())))
}

fn out_of_memory(bytes: usize) -> Problem {
    Problem::too_many(format!("there is no memory for {bytes} bytes"))
}

fn cannot_open(path: &Path, error: &io::Error) -> Problem {
    let problem = Problem::open(format!("cannot be opened ({})", plain(error)));
    if error.kind() != io::ErrorKind::NotFound {
        return problem;
    }
    match not_a_file(path).or_else(|| similar_file(path)) {
        Some(hint) => problem.hint(&hint),
        None => problem,
    }
}

/// A hint for what names no file of this machine, or several of them.
fn not_a_file(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    if ["http://", "https://", "ftp://", "s3://", "gs://", "file://"]
        .iter()
        .any(|scheme| text.starts_with(scheme))
    {
        return Some(
            "a loader reads a file of this machine: download it first, and name the file"
                .to_owned(),
        );
    }
    if text.starts_with("~/") {
        return Some("`~` is not expanded: write the path of the folder out".to_owned());
    }
    text.contains(['*', '?']).then(|| {
        "a loader reads one file: write a line for each, and join them with `++`".to_owned()
    })
}

/// A hint for a file that does not exist: a similar name in its folder, or the missing folder.
fn similar_file(path: &Path) -> Option<String> {
    let wanted = path.file_name()?.to_string_lossy().to_lowercase();
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else {
        return Some(format!("the folder `{}` does not exist", folder.display()));
    };
    // A folder of a million files is not worth a hint's time.
    let names = entries.take(10_000).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let (_, best) =
        names.filter_map(|name| Some((likeness(&wanted, &name.to_lowercase())?, name))).min()?;
    Some(format!("did you mean `{}`?", typed(&path.with_file_name(best))))
}

/// A path as it stands within the quotes of a text.
fn typed(path: &Path) -> String {
    path.display().to_string().chars().fold(String::new(), |mut text, c| {
        match c {
            '\'' => text.push(c),
            c => text.extend(c.escape_debug()),
        }
        text
    })
}

/// How far a name is from the wanted one; `None` if it is another name altogether.
fn likeness(wanted: &str, name: &str) -> Option<usize> {
    let stem = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    let distance = strsim::osa_distance(wanted, name);
    if distance <= 2.max(wanted.chars().count() / 4) {
        Some(distance)
    } else if !stem(wanted).is_empty() && stem(wanted) == stem(name) {
        // `a.csv` for `a.csv.gz`.
        Some(100 + distance)
    } else {
        None
    }
}
