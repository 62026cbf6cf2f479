//! The front end: text → surface syntax → typed program, with diagnostics as data.
//!
//! Everything here is pure. [`syntax::parse`] and [`check()`] may report, never fail.

pub mod ast;
pub mod builtins;
mod check;
pub mod diagnostic;
mod environment;
pub mod lower;
mod monomorphise;
pub mod render;
pub mod suggest;
pub mod syntax;
pub mod typed;
pub mod types;

pub use check::{
    BoundName, Checked, CheckedItem, CheckedKind, Config, Files, LoadRequest, NoFiles,
    ShownSequence, annotated, check, is_loader, is_table_form, sequence_counterpart,
};
pub use diagnostic::Diagnostic;
pub use environment::{Binding, Environment, Global};
pub use monomorphise::monomorphise;

/// The stack that parsing, checking and running a cell may need, in bytes of address space: deep
/// programs recurse deeply, and pages that are not touched cost nothing.
pub const STACK_BYTES: usize = 1 << 30;
