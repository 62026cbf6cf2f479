//! Plans as CUDA C++, and their run on the emulated device.
//!
//! A kernel of a plan becomes one or several *pieces*, one for what its stores and reductions need,
//! one for each scan, filter, scatter and sort, and one for an epilogue that cannot run where its
//! inputs are made. A piece is a C++ structure with the scalar code of its points ([`generate()`]), on
//! which a skeleton (`skeletons/*.cu`) is instantiated. The host launches the pieces in order
//! ([`run()`]); what it needs of a device is the trait [`Target`].
//!
//! Note [One tree]. Reductions and scans combine in the tree of the interpreter, so results have the
//! same bits on every back end. Long rows are cut at nodes of the second level (64 · 64 elements).

mod beside;
pub mod elements;
mod fields;
mod generate;
mod inside;
mod launch;
mod policy;
mod run;
mod shape;
mod shared;
mod structure;
mod target;
mod text;
mod units;

pub use generate::{generate, generate_with_remarks, has_row_kernel, loops_on_one_thread};
pub use policy::Policy;
pub use run::{Config, Emulated, Halt, Launched, run, run_emulated, run_fallible};
pub use shared::MOST_SHARED;
pub use structure::Remarks;
pub use target::{Access, Broken, EmulatedTarget, Output, Target, Weight};
pub use text::{Code, Entry, KernelCode};
pub use units::Unit;
