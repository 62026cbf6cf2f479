//! Files that are read as a whole, up to a length.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// All bytes of a regular file, if there are no more than `most`.
///
/// # Errors
/// It is not there, is a folder, a device or a pipe, has more bytes, or cannot be read.
pub fn read_regular(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    // Asked before opening: opening a pipe without a writer would block for ever.
    let metadata = fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, not a file"));
    }
    if !metadata.is_file() {
        let message = "it is a device or a pipe, not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    read_at_most(File::open(path)?, most)
}

/// All that there is to read, if that is no more than `most` bytes.
///
/// # Errors
/// There are more bytes, or they cannot be read.
pub fn read_at_most(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    input.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("it has more than {most} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{read_at_most, read_regular};

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("file");
        fs::write(&file, "text").expect("a file");
        assert_eq!(read_regular(&file, 4).expect("its bytes"), b"text");
        let problem = |path: &Path| read_regular(path, 3).expect_err("a problem").to_string();
        assert_eq!(problem(&file), "it has more than 3 bytes");
        assert_eq!(problem(folder.path()), "it is a folder, not a file");
        #[cfg(unix)]
        assert_eq!(problem(Path::new("/dev/zero")), "it is a device or a pipe, not a regular file");
    }

    #[test]
    fn what_never_ends_is_not_read_to_its_end() {
        let problem = read_at_most(std::io::repeat(0), 1000).expect_err("a problem");
        assert_eq!(problem.kind(), std::io::ErrorKind::FileTooLarge);
        assert_eq!(read_at_most(&b"text"[..], 4).expect("its bytes"), b"text");
    }
}
