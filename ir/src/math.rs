//! What every scalar operator yields, on every scalar type that it admits.
//!
//! # Typing rules
//!
//! | operators | operands | result |
//! | --- | --- | --- |
//! | `Add Sub Mul Neg Abs Signum Pow` | one integer or float type | the same |
//! | `FloorDiv Mod Quot Rem` | one integer or float type | the same |
//! | `Div`, `Fma`, `Sqrt` … `Erf`, `Atan2`, `Hypot`, `Floor Ceil Round Trunc` | one float type | the same |
//! | `Min Max Clip` | any one type | the same |
//! | `Gcd`, `Complement`, `Shl Shr` | one integer type (the count too) | the same |
//! | `BitAnd BitOr BitXor` | one integer type, or `bool` | the same |
//! | `Popcount Clz Ctz` | an integer type | `i64` |
//! | `IsNan IsInf` | a float type | `bool` |
//! | `Eq Ne Lt Le Gt Ge` | any one type | `bool` |
//! | `Not And Or` | `bool` | `bool` |
//! | `Select` | `bool`, then any one type twice | that type |
//! | `Cast(t)` | any type | `t` |
//! | `Bitcast(t)` | one of `f32 i32 u32` or `f64 i64 u64`, as wide as `t` | `t` |
//!
//! [`result_type`] is this table as a function.
//!
//! # Meaning
//!
//! The meaning of each operator stands once: for integers at the methods of [`integer::Integer`],
//! for floats at those of [`float::Float`], for conversions in [`cast`], and for the
//! transcendental functions in [`transcendental`]. [`unary`], [`binary`] and
//! [`ternary`] look one up and yield a plain function, so that an interpreter chooses once per
//! operation and not once per element; [`eval`] is defined through them.
//!
//! # Accuracy of the transcendental functions
//!
//! The greatest error found, in units in the last place of the true value, rounded up:
//!
//! | function | budget | `f32` | `f64` |
//! | --- | --- | --- | --- |
//! | `exp` | 2 | 0.99 | 0.96 |
//! | `exp2` | 2 | 0.87 | 0.75 |
//! | `expm1` | 2 | 1.10 | 1.03 |
//! | `log` | 2 | 0.83 | 0.79 |
//! | `log2` | 2 | 0.83 | 0.67 |
//! | `log10` | 4 | 0.73 | 0.63 |
//! | `log1p` | 2 | 0.83 | 0.78 |
//! | `sin` | 2 | 0.83 | 0.78 |
//! | `cos` | 2 | 0.84 | 0.76 |
//! | `tan` | 4 | 2.29 | 2.01 |
//! | `asin` | 4 | 0.63 | 0.60 |
//! | `acos` | 4 | 0.60 | 0.59 |
//! | `atan` | 4 | 0.85 | 0.75 |
//! | `sinh` | 4 | 1.62 | 1.56 |
//! | `cosh` | 4 | 1.45 | 1.40 |
//! | `tanh` | 4 | 2.43 | 1.90 |
//! | `asinh` | 4 | 1.78 | 1.68 |
//! | `acosh` | 4 | 2.01 | 1.71 |
//! | `atanh` | 4 | 2.02 | 1.52 |
//! | `erf` | 4 | 1.74 | 2.69 |
//! | `cbrt` | 4 | 0.50 | 0.50 |
//! | `rsqrt` | 2 | 1.50 | 1.47 |
//! | `pow` | 4 | 1.17 | 1.14 |
//! | `atan2` | 4 | 1.49 | 1.48 |
//! | `hypot` | 4 | 1.02 | 0.90 |
//!
//! Measured with `cargo run --release -p weft-ir --example accuracy` on x86-64 with hardware fma.
//! In `f32` the functions of one operand were tried on all 2^32 floats, those of two on 200 million
//! random pairs, against the standard library's functions in `f64` (`erf`: against its own `f64`
//! form). In `f64` all were tried on 200 000 random operands, against 256-bit arithmetic: so that
//! column is what a sample showed and no bound. `sqrt` is correctly rounded.

use crate::{Scalar, ScalarOp, ScalarType, TrapKind};

pub mod cast;
pub mod element;
pub mod float;
pub mod integer;
mod order;
pub mod random;
mod table;
pub mod transcendental;
mod typing;
mod work;

pub use order::{total_cmp, total_cmp_f32, total_cmp_f64};
pub use table::{Binary, Ternary, Unary, binary, ternary, unary};
pub use typing::{arity, result_type};
pub use work::{Work, can_fail, work};

/// Applies `op` to `args`.
///
/// # Errors
///
/// `DivisionByZero` for the integer `FloorDiv`, `Mod`, `Quot`, `Rem` by 0, and `NegativeExponent`
/// for the integer `Pow` ([`can_fail`]).
///
/// # Panics
///
/// When the operands do not satisfy the typing rule: that is a bug of the caller.
pub fn eval(op: ScalarOp, args: &[Scalar]) -> Result<Scalar, TrapKind> {
    let applied = match *args {
        [a] => unary(op, a.ty()).map(|function| function(a)),
        [a, b] if a.ty() == b.ty() => binary(op, a.ty()).map(|function| function(a, b)),
        [a, b, c] if b.ty() == c.ty() && operand_type(op, b) == a.ty() => {
            ternary(op, b.ty()).map(|function| function(a, b, c))
        }
        _ => None,
    };
    match applied {
        Some(result) => result,
        None => {
            let types: Vec<ScalarType> = args.iter().map(|arg| arg.ty()).collect();
            panic!("{op:?} does not admit operands of types {types:?}")
        }
    }
}

/// The type that the first of three operands has, given the second.
fn operand_type(op: ScalarOp, second: Scalar) -> ScalarType {
    if op == ScalarOp::Select { ScalarType::Bool } else { second.ty() }
}

#[cfg(test)]
mod tests;
