//! Every page on the emulated device: the CUDA text of the kernels runs on the host, at small block sizes
//! and in orders that chance decides, with every access checked.
//!
//! `cargo test -p weft-tests --test emulated -- scan` runs the pages whose path contains `scan`.
//! Where there is no `g++`, all pages are skipped, and counted.

use std::process::ExitCode;

use weft_tests::engine;
use weft_tests::part::Part;

const EMULATED: Part =
    Part { name: "emulated", engine: &engine::EMULATED, takes: |_| true, needs: &["g++"] };

fn main() -> ExitCode {
    if EMULATED.is_listed() { ExitCode::SUCCESS } else { EMULATED.run() }
}
