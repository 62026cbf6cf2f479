//! The vocabulary that every other crate shares: source spans, scalar types and operators, host
//! arrays, and run-time failures. It knows nothing of the language's syntax nor of any back end.

mod array;
mod builder;
pub mod math;
mod op;
mod scalar;
mod span;
mod trap;
mod value;

pub use array::{Array, Buf, Column};
pub use builder::ColumnBuilder;
pub use op::ScalarOp;
pub use scalar::{Scalar, ScalarType};
pub use span::{SourceId, Span};
pub use trap::{Exhausted, Failure, Trap, TrapKind};
pub use value::{Name, Type, Value};
