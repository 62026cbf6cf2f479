//! The Jupyter kernel of Weft: the messages of the protocol on one side, a
//! [`weft_session::Session`] on the other.
//!
//! ```text
//! shell, control ─wire→ serve ─┬→ execute (one thread, owns the session) ─┐
//!                              └→ answers (one thread, reads snapshots)  ─┴→ publish → clients
//! ```

mod answers;
pub mod client;
mod colours;
pub mod command;
mod content;
mod display;
mod doctor;
mod execute;
mod extension;
mod history;
mod kernelspec;
mod orphan;
mod output;
mod publish;
mod serve;
pub mod wire;

pub use serve::run;
