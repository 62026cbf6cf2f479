//! The harness: runs the Markdown pages of the manual and the suite on every engine.
//!
//! ```text
//! page ─markdown→ sections of cases ─runner→ answers of each engine ─expectation→ failures
//! ```
//!
//! The tests themselves are in `tests/tests/`.

pub mod comparison;
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

/// The root of the repository: relative paths of pages, examples and loads start here.
pub fn repository() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().unwrap_or(tests).to_path_buf()
}
