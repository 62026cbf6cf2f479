//! Runs the text of CUDA kernels, unmodified, on the host.
//!
//! A kernel is compiled by `g++` against a header that gives CUDA's words a meaning (`runtime/cuda.h`)
//! and loaded by a process of its own, the emulated device (`runtime/serve.cpp`), in which every
//! thread of the kernel is a fibre. The order in which they run is fixed by a [`Schedule`], so every
//! run can be repeated. The device reports the faults of kernels, each with the kernel's source line:
//!
//! - accesses out of bounds, misaligned, or of memory that nobody wrote;
//! - races: accesses that no barrier, fence with an atomic access, or warp synchronisation orders;
//! - barriers and warp operations that not all threads reach, or at different places;
//! - waiting that never ends; operations that C++ leaves undefined.
//!
//! Note [What it cannot see]. Accesses take effect in the order in which they run, so a result that
//! only weak memory gives does not occur; that the accesses were not ordered is reported all the same.
//! How fast a kernel is, it does not tell.

mod compiler;
mod device;
mod schedule;

pub use compiler::{Emulator, Module};
pub use device::{Address, Device, Grid, Poker, Statistics};
pub use schedule::{Order, Schedule};

use std::fmt;

/// Why something could not be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Error {
    /// There is no compiler that the emulator can use.
    Unavailable(String),
    /// There is a compiler, and what the emulator itself needs of it could not be made: tests must not pass over that.
    Broken(String),
    /// The text is no program; what the compiler says.
    Compile(String),
    /// What the device found wrong, or why it refused.
    Report(String),
    /// The device ended without an answer.
    Died(String),
    /// The user interrupted the run.
    Interrupted,
}

impl Error {
    /// Whether the machine lacks what the emulator needs, so that nothing is wrong.
    pub fn is_unavailable(&self) -> bool {
        matches!(self, Error::Unavailable(_))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unavailable(why) => write!(f, "there is no emulator: {why}"),
            Error::Broken(why) => write!(f, "the emulated device cannot be built: {why}"),
            Error::Compile(message) => write!(f, "the kernels do not compile:\n{message}"),
            Error::Report(message) => f.write_str(message),
            Error::Died(message) => write!(f, "the emulated device ended: {message}"),
            Error::Interrupted => f.write_str("interrupted"),
        }
    }
}

impl std::error::Error for Error {}
