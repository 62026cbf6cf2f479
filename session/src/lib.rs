//! See ARCHITECTURE.md.

pub mod display;
pub mod io;
