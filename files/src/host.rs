//! The file system of the machine.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use crate::{Access, Entry, FileSystem, Output, read_regular};

/// The files of the machine, as the system shows them to this process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Host;

impl FileSystem for Host {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        read_regular(path, u64::MAX)
    }

    fn create(&self, path: &Path, access: Access) -> io::Result<Box<dyn Output>> {
        let file = open(OpenOptions::new().write(true).create_new(true), access, path)?;
        Ok(Box::new(HostOutput(file)))
    }

    fn append(&self, path: &Path, access: Access) -> io::Result<Box<dyn Output>> {
        let file = open(OpenOptions::new().read(true).append(true).create(true), access, path)?;
        Ok(Box::new(HostOutput(file)))
    }

    fn make_folder(&self, path: &Path, access: Access) -> io::Result<()> {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        if access == Access::Private {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        }
        #[cfg(not(unix))]
        let _ = access;
        builder.create(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Entry>> {
        // A file that goes away meanwhile is not there.
        let entries = fs::read_dir(path)?.flatten().filter_map(|entry| {
            let metadata = entry.metadata().ok()?;
            let modified = metadata.modified().ok();
            Some(Entry { path: entry.path(), length: metadata.len(), modified })
        });
        Ok(entries.collect())
    }
}

fn open(options: &mut OpenOptions, access: Access, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    if access == Access::Private {
        std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    }
    #[cfg(not(unix))]
    let _ = access;
    options.open(path)
}

struct HostOutput(File);

impl Write for HostOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Output for HostOutput {
    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn last(&mut self) -> io::Result<u8> {
        let mut last = [0];
        self.0.seek(SeekFrom::End(-1))?;
        self.0.read_exact(&mut last)?;
        Ok(last[0])
    }

    fn permit_as(&self, other: &Path) -> io::Result<()> {
        self.0.set_permissions(fs::metadata(other)?.permissions())
    }
}
