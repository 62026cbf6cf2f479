//! Scalar code ([`weft_ir::code`]) as text of the C family.
//!
//! The text is the same for C and CUDA; what differs stands in the [`Dialect`]'s prelude, a few macros
//! for types and for the operations that a machine has. Everything else is built of these: the
//! integer and float operators of `prelude/shared.h`, and the transcendental functions, whose text
//! is recorded from their one definition in [`weft_ir::math::transcendental`] ([`Functions`]).
//!
//! What the host computes between kernels [`Host`] runs, for all back ends; long loops of it can become
//! functions ([`sequential_loop`]), and so can loops over small arrays ([`small_loop`]).

mod appending;
mod cache;
mod dialect;
mod functions;
mod hash;
mod host;
pub mod interior;
mod lanes;
mod literal;
mod operator;
mod order;
mod recorder;
mod scalar;
mod sequential;
mod unroll;

pub use appending::{Appended, ArrayPart, appended, part_of_array};
pub use cache::Cache;
pub use dialect::Dialect;
pub use functions::Functions;
pub use hash::{Digest, bytes_hash, text_hash};
pub use host::{Bound, Counted, Host, Leave, Read, counted_steps};
pub use lanes::{
    FULL, GROUP, INTERRUPTED, LEFT, LaneFunction, Lanes, PAUSED, Running, SIDE_BY_SIDE,
    can_fold_rows, is_total, lanes,
};
pub use literal::literal;
pub use operator::{Expression, operator, operator_of_lanes, random};
pub use order::order;
pub use scalar::{Surroundings, Turns, Writer};
pub use sequential::{
    RowLoop, SequentialLoop, row_loop, row_loop_in_place, sequential_code, sequential_loop,
    small_loop,
};
pub use unroll::unroll;
