//! Pages on the compiled path where every kernel is a native function from its first run on.
//!
//! A C compiler takes a tenth of a second for a program, so this is a part of the pages only: what
//! operations, numbers, fused kernels and calls do. Functions are kept in the target folder, so that they are
//! compiled once. `cargo test -p weft-tests --test native -- scan` runs the pages among them whose
//! path contains `scan`. Where there is no C compiler, all pages are skipped, and counted.

use std::env;
use std::process::{Command, ExitCode};

use weft_tests::engine;
use weft_tests::part::Part;

/// The pages that take part: what their paths begin with.
const PART: [&str; 5] = [
    "suite/operations",
    "suite/numerics",
    "suite/fusion",
    "suite/compiled",
    "suite/syntax/calls.md",
];

/// Where functions are kept. Sessions look for the folder in the environment.
const CACHE: &str = "XDG_CACHE_HOME";

const NATIVE: Part = Part {
    name: "native",
    engine: &engine::NATIVE,
    takes: |page| PART.iter().any(|part| page.starts_with(part)),
    needs: &["cc", "gcc", "clang"],
};

fn main() -> ExitCode {
    if NATIVE.is_listed() {
        return ExitCode::SUCCESS;
    }
    let cache = concat!(env!("CARGO_TARGET_TMPDIR"), "/native");
    if env::var_os(CACHE).is_none_or(|folder| folder != cache) {
        let program = env::current_exe().expect("this program");
        let status = Command::new(program).args(env::args().skip(1)).env(CACHE, cache).status();
        let passed = status.expect("this program runs").success();
        return if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    }
    NATIVE.run()
}
