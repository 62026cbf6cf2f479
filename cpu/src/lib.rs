//! Runs plans on host threads.
//!
//! Kernels are prepared once ([`prepare()`]) and run by a block interpreter: the code of a point is
//! compiled to loops over blocks of lanes, which skeletons (map, reduction, scan, filter, scatter,
//! sort) apply to the points of a space, in parallel over chunks. Results do not depend on the
//! number of threads.

mod busy;
mod canonical;
mod compile;
mod execute;
mod factors;
mod fold;
mod hoist;
mod launch;
mod native;
mod pages;
mod places;
mod pool;
mod prepare;
mod radix;
mod routine;
mod run;
mod sequential;
mod shape;
mod traverse;
mod workers;

use weft_lanes::{compact, isa, lanes, operators, product, stream};

pub use native::{
    Config as NativeConfig, Native, NativeSource, Statistics, Tier, native_assembly, native_source,
};
pub use prepare::{KernelCache, Prepared, has_row_function, kernel_key, prepare};
pub use run::{Config, Launched, run, run_metered};
pub use workers::Workers;
