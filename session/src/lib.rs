//! One cell in, one output out: the engine behind the REPL, the notebook kernel and the test
//! harness. It prints nothing; a [`Sink`] hears what happens, as plain data.
//!
//! ```text
//! Cell ─plan→ checked items ─run→ events, next State
//! ```

mod commands;
mod complete;
pub mod display;
mod engine;
pub mod explain;
mod files;
mod footer;
mod hint;
mod inquiry;
mod inspect;
pub mod io;
mod join;
pub mod memory;
mod modes;
mod numbered;
mod origin;
mod plan;
mod plot;
mod prelude;
mod progress;
mod recipes;
mod reference;
mod references;
mod remarks;
mod run;
mod session;
mod sink;
mod sources;
mod stack;
mod state;
mod topics;
mod traffic;

pub use commands::{COMMANDS, Command};
pub use complete::{Candidate, Completions, Detail, Snapshot, completeness};
pub use engine::{Backend, Counters, Statistics};
pub use footer::{Footer, Phase, Progress};
pub use hint::Hints;
pub use plan::SOURCE_BYTES;
pub use reference::{Reference, reference};
pub use session::{Cell, Config, Entry, Keep, Session};
pub use sink::{Cancel, Collected, Event, Outcome, Shown, Sink};
pub use sources::{Report, Sources};
pub use weft_lang::syntax::{Completeness, TokenClass, tokens};
