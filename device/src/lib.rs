//! Runs plans on a CUDA device.
//!
//! The text of the kernels comes from [`weft_cuda`]. Here it becomes machine code (NVRTC), and here are
//! the memory of the device and its launches, behind [`weft_cuda::Target`]. Neither CUDA nor a device
//! needs to be there: [`find`] says what is missing.
//!
//! Note [Nothing is lost]. What a program reads lies on the host, or the device has made it of what does and
//! it can be made again (Note [Results that are not fetched]). So a device that fails takes nothing with it: its
//! context is thrown away, a new one is made for the next program, and this one runs elsewhere.

mod compiler;
mod copying;
mod deferred;
mod device;
mod driver;
mod found;
mod graphs;
mod images;
mod kernels;
mod needs;
mod spare;
#[cfg(feature = "stand-in")]
pub mod stand_in;
mod state;
mod streams;
mod summary;
mod table;
mod target;
mod without;
mod words;

pub use deferred::Again;
pub use device::{Config, Device, Ran, Residency};
pub use found::{Absent, Description, find};
pub use images::Statistics;
pub use kernels::Kernels;
pub use needs::{Needs, needs};
pub use state::{KeptContexts, keep_contexts};
pub use streams::Beside;
pub use target::Traffic;
pub use weft_cuda::{Broken, Halt};
pub use without::{Compiled, Texts, load_compiler};

/// From how many input elements on a program is worth the way to the device, where the back end is
/// chosen automatically. An estimate that was not measured.
pub const WORTHWHILE_ELEMENTS: u64 = 50_000;
