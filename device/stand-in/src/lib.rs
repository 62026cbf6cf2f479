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
use std::process::{Child, Command, ExitCode};
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

/// Which of the processes that [`start_again`] has started this is, and how many there are: `1/2`.
const PART: &str = "WEFT_PART";

/// Runs this program again, with the same arguments, where the loader finds the stand-in: as several processes at a time, as
/// each has one device, whose tests come one after the other. Nothing if that is where it runs already ([`is_ours`]).
///
/// # Panics
/// If it cannot be started.
pub fn start_again(parts: usize) -> Option<ExitCode> {
    if env::var_os(PART).is_some() {
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    install(folder.path()).expect("the stand-in");
    let known = env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let start = |part: usize| {
        Command::new(env::current_exe().expect("this program"))
            .args(env::args().skip(1))
            .env("LD_LIBRARY_PATH", format!("{}:{known}", folder.path().display()))
            .env(PART, format!("{part}/{parts}"))
            .env("XDG_CACHE_HOME", folder.path().join(part.to_string()))
            .spawn()
            .expect("this program")
    };
    let started: Vec<Child> = (0..parts).map(start).collect();
    let ended = started.into_iter().map(|mut part| part.wait().expect("a process of our own"));
    let succeeded = ended.fold(true, |all, status| all & status.success());
    Some(if succeeded { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether a piece of work is that of this process, one of those that [`start_again`] has started.
///
/// # Panics
/// If it was not started so.
pub fn is_ours(work: usize) -> bool {
    let part = env::var(PART).expect("it has been started again");
    let (part, parts) = part.split_once('/').expect("as it was set");
    let number = |text: &str| text.parse::<usize>().expect("as it was set");
    work % number(parts) == number(part)
}
