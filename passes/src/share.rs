//! Makes every value of a nested program computed once, where it is needed, and nothing else.
//!
//! First, loops read arrays that no turn changes as they were before ([`steady`]).
//! In one walk forwards ([`number`]): common subexpressions by scoped value numbering, constants,
//! exact algebra, copies, and invariant code out of lambdas and loops. In one walk backwards
//! ([`sink`]): dead code, and code that one branch alone needs into that branch.
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::share::{Config, share};
//!
//! let before = parse("\
//! params x0: []f64, x1: f64
//! x2: []f64 = map x0
//!   \\x3: f64
//!     x4: f64 = sqrt x1
//!     x5: f64 = mul x3 x4
//!     x6: f64 = mul x4 x3
//!     x7: f64 = add x5 x6
//!     yield x7
//! x8: i64 = length x2
//! x9: f64 = sqrt x1
//! yield x2 x8 x9
//! ").unwrap();
//! let after = share(before, &Config { hoist: true, sink: true });
//! assert_eq!(after.to_string(), "\
//! params x0: []f64, x1: f64
//! x4: f64 = sqrt x1
//! x2: []f64 = map x0
//!   \\x3: f64
//!     x5: f64 = mul x3 x4
//!     x7: f64 = add x5 x5
//!     yield x7
//! x8: i64 = length x0
//! yield x2 x8 x4
//! ");
//! ```
//!
//! What is needed by one branch only is computed there:
//!
//! ```
//! # use weft_ir::nested::parse;
//! # use weft_passes::share::{Config, share};
//! let before = parse("\
//! params x0: bool, x1: f64
//! x2: f64 = exp x1
//! x3: f64 = if x0
//!   yield x2
//! else
//!   yield x1
//! yield x3
//! ").unwrap();
//! let after = share(before, &Config { hoist: true, sink: true });
//! assert_eq!(after.to_string(), "\
//! params x0: bool, x1: f64
//! x3: f64 = if x0
//!   x2: f64 = exp x1
//!   yield x2
//! else
//!   yield x1
//! yield x3
//! ");
//! ```
//!
//! An array that a loop carries along, no turn changes and nobody wants behind it, is no part of its state:
//!
//! ```
//! # use weft_ir::nested::parse;
//! # use weft_passes::share::{Config, share};
//! let before = parse("\
//! params x0: []f64, x1: i64
//! x6: []f64, x7: i64 = for x2 < x1 x3: []f64 = x0, x4: i64 = 0i64
//!   x9: f64 = index x3 x2
//!   x10: i64 = cast_i64 x9
//!   x5: i64 = add x4 x10
//!   yield x3 x5
//! yield x7
//! ").unwrap();
//! let after = share(before, &Config { hoist: true, sink: true });
//! assert_eq!(after.to_string(), "\
//! params x0: []f64, x1: i64
//! x7: i64 = for x2 < x1 x4: i64 = 0i64
//!   x9: f64 = index x0 x2
//!   x10: i64 = cast_i64 x9
//!   x5: i64 = add x4 x10
//!   yield x5
//! yield x7
//! ");
//! ```
//!
//! Sources: value numbering and code motion as in Click, "Global code motion, global value
//! numbering" (PLDI 1995). [`unshare()`] is what a program is without any of it.

mod key;
mod number;
mod simplify;
mod sink;
mod steady;
mod unshare;

use weft_ir::nested::Program;

pub(crate) use steady::without_steady_parts;
use steady::without_steady_state;
pub use unshare::{TooLarge, unshare};

/// Which code is moved. Where it stays, it is still shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Config {
    /// Whether invariant code leaves lambdas and loops.
    pub hoist: bool,
    /// Whether code goes into the one branch that needs it.
    pub sink: bool,
}

/// The same program with everything computed once. It takes time in proportion to the program, but
/// for bodies that are nested deeply.
///
/// An error that was not needed may go, and one that was needed stays. Scalar code that left a lambda
/// and may fail is computed only if the map has elements (`Note [A check belongs to a value]` in
/// `flatten/demand.rs`); array code may meet an error all the same (`Note [Faults without values]` in
/// `weft_ir`).
pub fn share(mut program: Program, config: &Config) -> Program {
    without_steady_state(&mut program.body);
    sink::sink(number::number(program, config), config)
}

#[cfg(test)]
mod tests;
