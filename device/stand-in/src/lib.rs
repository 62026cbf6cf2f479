//! Stands in for libcuda and libnvrtc: the functions that `weft-device` calls, over the emulator.
//!
//! It is a shared library. A folder in which it is called `libcuda.so` and `libnvrtc.so` ([`install`]),
//! named in `LD_LIBRARY_PATH`, makes a machine without a device look as if it had one, so that the very
//! code that calls the driver runs in tests. It is strict where the driver is: what was not allocated
//! cannot be freed, work is done in the background in the order of the stream, and after a fault of a
//! kernel every call fails until the context is reset. Its machine code is the text of the kernels.
//!
//! A call can be made to fail (`weft_stand_in_fail`), and there is as much memory as one likes
//! (`weft_stand_in_memory`); in the environment, `WEFT_STAND_IN_FAIL` and `WEFT_STAND_IN_MEMORY` do that
//! from the start.
#![allow(
    unsafe_code,
    reason = "it is a C library; its callers keep to the contracts of the driver"
)]
#![allow(clippy::missing_safety_doc, reason = "the contracts are those of the driver's functions")]

mod compiler;
mod driver;
mod faults;
mod kernels;
mod machine;
mod objects;

use std::io;
use std::path::{Path, PathBuf};

/// Puts the library into a folder, under both names.
///
/// # Errors
/// If it is not where cargo puts it, beside the program that runs, or if the folder cannot be written.
pub fn install(folder: &Path) -> io::Result<()> {
    let name =
        format!("{}weft_stand_in{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let program = std::env::current_exe()?;
    let folders = program.ancestors().skip(1).take(2);
    let places = folders.flat_map(|folder| [folder.join(&name), folder.join("deps").join(&name)]);
    let library: Option<PathBuf> = places.into_iter().find(|path| path.exists());
    let missing = || io::Error::new(io::ErrorKind::NotFound, format!("there is no {name}"));
    let library = library.ok_or_else(missing)?;
    for name in ["libcuda.so", "libnvrtc.so"] {
        let link = folder.join(name);
        if !link.exists() {
            std::os::unix::fs::symlink(&library, link)?;
        }
    }
    Ok(())
}
