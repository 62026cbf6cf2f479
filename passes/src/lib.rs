//! The middle end: pure functions between the intermediate languages, one verb a file. Each takes a
//! program and a configuration and yields a program; none knows the language or a back end.

pub mod ahead;
mod code;
pub mod early;
mod exits;
mod extents;
mod flatten;
pub mod fuse;
pub mod guard;
pub mod invariant;
pub mod late;
pub mod lengths;
mod operator_cost;
mod partial;
pub mod pipeline;
mod place;
mod recursion;
pub mod share;
pub mod slices;
pub mod unroll;

pub use extents::{maps_rows, named_extents, with_few_elements};
pub use flatten::flatten;
pub use place::place;

use weft_ir::Span;

/// How many turns a loop may take of which it is not known whether anything needs it (`Note [Idle loops]` in
/// `flatten/idle.rs`).
const MOST_IDLE_TURNS: i64 = 10_000;

/// What a pass cannot do; the program then runs on the interpreter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// One clause for people.
    pub reason: String,
    /// The expression.
    pub span: Span,
}
