//! The harness: runs the Markdown pages of the manual and the suite on every engine.
//!
//! ```text
//! page ─markdown→ sections of cases ─runner→ answers of each engine ─expectation→ failures
//! ```
//!
//! The tests themselves are in `tests/tests/`.

pub mod comparison;
pub mod device_check;
pub mod engine;
mod expectation;
pub mod generator;
pub mod markdown;
pub mod nested_program;
pub mod operations;
pub mod pages;
pub mod part;
pub mod runner;

use std::path::{Path, PathBuf};

/// The root of the repository: relative paths of pages, examples and loads start here. `WEFT_ROOT` says where
/// it is on a machine to which a program has been carried.
pub fn repository() -> PathBuf {
    if let Some(root) = std::env::var_os("WEFT_ROOT") {
        return root.into();
    }
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_path_buf()
}
