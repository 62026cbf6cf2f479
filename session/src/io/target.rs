//! Writing a file: beside its target first, compressed if the name says so, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;

use super::error::Problem;
use super::source::{Compression, compression};

/// How often the user's wish to stop is asked for.
const STEP: u64 = 1 << 20;

/// Writes a file with what `body` puts into the target, and returns its length in bytes. Unless
/// all of it succeeds, the file at `path` stays as it was.
pub(super) fn write_file(
    path: &Path,
    stop: &dyn Fn() -> bool,
    body: impl FnOnce(&mut Target) -> Result<(), Problem>,
) -> Result<u64, Problem> {
    let path = final_path(path)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".weft-").suffix(".part");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file has it (the process's mask applies), not the private mode of a
        // temporary file.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut temporary =
        builder.tempfile_in(folder).map_err(|error| cannot_create(folder, &error))?;
    let buffered = BufWriter::with_capacity(1 << 16, temporary.as_file_mut());
    let output = match compression(&path) {
        Compression::None => Output::Plain(buffered),
        Compression::Gzip => Output::Gzip(GzEncoder::new(buffered, flate2::Compression::default())),
        Compression::Xz => {
            return Err(Problem::unsupported("files cannot be saved compressed with xz")
                .hint("end the name in .gz instead"));
        }
    };
    let mut target = Target { output, stop, written: 0, asked_at: 0 };
    body(&mut target)?;
    target.finish().map_err(Problem::writing)?;
    let file = temporary.as_file();
    file.sync_all().map_err(Problem::writing)?;
    let length = file.metadata().map_err(Problem::writing)?.len();
    if let Ok(old) = fs::metadata(&path) {
        file.set_permissions(old.permissions()).map_err(Problem::writing)?;
    }
    temporary.persist(&path).map_err(|error| Problem::writing(error.error))?;
    Ok(length)
}

/// Where the file goes: through a symbolic link, which stays one.
fn final_path(path: &Path) -> Result<PathBuf, Problem> {
    let Ok(metadata) = fs::metadata(path) else { return Ok(path.to_owned()) };
    if metadata.is_dir() {
        return Err(Problem::cannot_write("is a folder, not a file"));
    }
    if !metadata.is_file() {
        return Err(Problem::cannot_write("is a device or a pipe, not a regular file"));
    }
    if metadata.permissions().readonly() {
        return Err(Problem::cannot_write("is write-protected"));
    }
    fs::canonicalize(path).map_err(Problem::writing)
}

fn cannot_create(folder: &Path, error: &io::Error) -> Problem {
    if folder.is_dir() {
        return Problem::write(error);
    }
    Problem::cannot_write(format!("the folder `{}` does not exist", folder.display()))
}

/// What a format writes to.
pub(super) struct Target<'a> {
    output: Output<'a>,
    stop: &'a dyn Fn() -> bool,
    written: u64,
    asked_at: u64,
}

enum Output<'a> {
    Plain(BufWriter<&'a mut File>),
    Gzip(GzEncoder<BufWriter<&'a mut File>>),
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
