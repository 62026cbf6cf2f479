//! The vocabulary that every other crate shares: source spans, scalar types and operators, host
//! arrays, run-time failures, and the three intermediate languages ([`nested`], [`flat`], [`plan`]).
//! It knows nothing of the language's syntax nor of any back end.

mod array;
mod builder;
pub mod code;
mod fault;
pub mod flat;
pub mod leaves;
pub mod math;
mod meter;
pub mod nested;
mod op;
pub mod plan;
mod rows;
mod scalar;
mod span;
pub mod text;
mod trap;
mod value;

pub use array::{Array, Buf, Column, Fetch, Identity, Looks, Mapped, Recycle, Summary};
pub use builder::ColumnBuilder;
pub use fault::{Fault, FaultKind, Stop};
pub use meter::{Meter, Piece, Reading};
pub use op::ScalarOp;
pub use rows::{MatrixRows, RowInput, RowNumber, RowState, Rows};
pub use scalar::{Scalar, ScalarType};
pub use span::{SourceId, Span};
pub use trap::{Exhausted, Failure, Place, Trap, TrapKind, Unit};
pub use value::{Name, Type, Value};
