//! Elements that stay in their file, which is read as they are looked at.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytemuck::Pod;
use weft_files::MappedFile;
use weft_ir::{Buf, Mapped};

use super::Limits;
use super::error::Problem;
use super::source::{self, Compression};

/// A regular file as its bytes are; nothing if it must be read: it is compressed or empty, or the system cannot
/// map it.
pub(super) fn open(path: &Path, limits: &Limits) -> Result<Option<Arc<MappedFile>>, Problem> {
    let file = source::open_file(path, limits)?;
    match source::compression(path) {
        Compression::None => Ok(MappedFile::new(file, path).ok().map(Arc::new)),
        Compression::Gzip | Compression::Xz => Ok(None),
    }
}

/// `count` elements of a file, from byte `start` on, in this machine's byte order; nothing if they are not all
/// there, or if there is no number at such an address. All bytes must be values of their type.
pub(super) fn elements<T: Pod + Send + Sync>(
    file: &Arc<MappedFile>,
    start: usize,
    count: usize,
) -> Option<Buf<T>> {
    let range = start..start.checked_add(count.checked_mul(size_of::<T>())?)?;
    bytemuck::try_cast_slice::<u8, T>(file.bytes().get(range.clone())?).ok()?;
    Some(Buf::mapped(Arc::new(Part { file: Arc::clone(file), range, of: PhantomData })))
}

/// Bytes of a file as numbers; that they can be seen as such has been tried.
struct Part<T> {
    file: Arc<MappedFile>,
    range: Range<usize>,
    of: PhantomData<T>,
}

impl<T> fmt::Debug for Part<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "bytes {:?} of {}", self.range, self.file.path().display())
    }
}

impl<T: Pod + Send + Sync> Mapped<T> for Part<T> {
    fn elements(&self) -> &[T] {
        bytemuck::cast_slice(&self.file.bytes()[self.range.clone()])
    }

    fn changed(&self) -> Option<String> {
        self.file.changed()
    }
}
