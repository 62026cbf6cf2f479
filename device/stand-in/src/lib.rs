//! Stands in for libcuda and libnvrtc: the functions that `weft-device` calls, over the emulator.
//!
//! It is a shared library. A folder in which it is called `libcuda.so` and `libnvrtc.so` ([`install`]),
//! named in `LD_LIBRARY_PATH`, makes a machine without a device look as if it had one, so that the very
//! code that calls the driver runs in tests. It is strict where the driver is: what was not allocated
//! cannot be freed, what was freed cannot be handed to a kernel, work is done in the background, in an order that
//! streams and events allow (Note [The worst order]), that of a graph in one that its edges allow, and after a fault
//! of a kernel every call fails until the context is destroyed, which gives back no buffer that was not given back before.
//! To load kernels it waits until nothing is queued, and for large copies from the host until a stream gets there, as
//! the driver may. Its machine code is the text of the kernels.
//!
//! A call can be made to fail (`weft_stand_in_fail`), there is as much memory as one likes
//! (`weft_stand_in_memory`), there may be no graphs (`weft_stand_in_graphs`), and their kernels may take long
//! (`weft_stand_in_delay`), as may the compiler (`weft_stand_in_compiling`), the driver may be of another release
//! (`weft_stand_in_release`), the device of another architecture (`weft_stand_in_architecture`) or not there
//! (`weft_stand_in_devices`), and there may be no second context (`weft_stand_in_refuse`); in the environment, `WEFT_STAND_IN_FAIL` and `WEFT_STAND_IN_MEMORY` do the first two
//! from the start.
#![allow(
    unsafe_code,
    reason = "it is a C library; its callers keep to the contracts of the driver"
)]
#![allow(clippy::missing_safety_doc, reason = "the contracts are those of the driver's functions")]

mod aside;
mod compiler;
mod driver;
mod faults;
mod graphs;
mod kernels;
mod machine;
mod objects;
mod pinned;
mod profile;
mod streams;
mod work;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, io};

/// Puts the library into a folder, under both names.
///
/// # Errors
/// If it is not where cargo puts it, beside the program that runs, or if the folder cannot be written.
pub fn install(folder: &Path) -> io::Result<()> {
    let name = format!("{}weft_stand_in{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let program = env::current_exe()?;
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

/// Set where [`start_again`] has started a program.
const STARTED: &str = "WEFT_STARTED_AGAIN";

/// Runs this program again, with the same arguments, where the loader finds the stand-in. Nothing if that is
/// where it runs already.
///
/// # Panics
/// If it cannot be started.
pub fn start_again() -> Option<ExitCode> {
    if env::var_os(STARTED).is_some() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    install(folder.path()).expect("the stand-in");
    let known = env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let status = Command::new(env::current_exe().expect("this program"))
        .args(env::args().skip(1))
        .env("LD_LIBRARY_PATH", format!("{}:{known}", folder.path().display()))
        .env(STARTED, "1")
        .env("XDG_CACHE_HOME", folder.path())
        .status()
        .expect("this program");
    Some(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
