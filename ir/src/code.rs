//! Scalar code: what runs for one element inside a kernel, and on the host between kernels.
//!
//! It is structured static single assignment: a [`Code`] is a straight list of instructions whose
//! registers are bound once in the whole thunk; `if` and `while` have bodies of their own. Arrays are
//! only read, at *storage indices* ([`crate::flat::Space`]) that are in range by construction: every
//! read that the program wrote is preceded by a [`Operation::Check`]. A check or a scalar operator
//! that fails raises a [`crate::Fault`].

mod check;
mod operator;
mod order;
mod parse;
mod print;
mod visit;

pub use check::CodeCheck;
pub(crate) use check::{check_operator, check_thunk, same_types};
pub use order::{Yielded, is_in_order};
pub use parse::{parse_code, parse_operator};
pub(crate) use parse::{parse_fault_kind, parse_indices, parse_operand, parse_registers};
pub(crate) use print::{
    write_code, write_indices, write_operands, write_operator, write_registers,
};

use crate::flat::Var;
use crate::nested::RandomKind;
use crate::{FaultKind, Scalar, ScalarOp, ScalarType, Span};

/// A register, printed `r5`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(pub u32);

/// What an instruction is applied to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Operand {
    /// A register.
    Register(Register),
    /// A constant.
    Scalar(Scalar),
}

/// Instructions in order, and what they yield.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// In order.
    pub instructions: Vec<Instruction>,
    /// The results.
    pub results: Vec<Operand>,
}

/// An operation and the registers that hold its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// One per result, with its type.
    pub results: Vec<(Register, ScalarType)>,
    /// What is computed.
    pub operation: Operation,
    /// The expression of the program that it comes from.
    pub span: Span,
}

/// What an instruction computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// A scalar operator.
    Scalar(ScalarOp, Vec<Operand>),
    /// A random number.
    Random(RandomKind, Vec<Operand>),
    /// An element of an array; as many indices as it has storage dimensions (none for a scalar).
    Read(Var, Vec<Operand>),
    /// Nothing, if the condition holds; else a fault. No results.
    Check(Operand, FaultKind),
    /// One of two bodies; the other is not evaluated.
    If {
        /// A bool.
        condition: Operand,
        /// Results if it holds.
        then: Code,
        /// Results if not.
        otherwise: Code,
    },
    /// `while condition(state) state = body(state)`; the results are the last state.
    While {
        /// The state's registers, seen by both bodies.
        state: Vec<(Register, ScalarType)>,
        /// Its first values.
        initial: Vec<Operand>,
        /// One bool.
        condition: Code,
        /// The next state.
        body: Code,
    },
}

/// A function of an index: the code of one element of an array.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Thunk {
    /// The index along each dimension of the space, `i64`s.
    pub indices: Vec<Register>,
    /// What it yields.
    pub code: Code,
}

/// A binary operator on tuples of k scalars.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// The components of the left operand.
    pub left: Vec<(Register, ScalarType)>,
    /// The components of the right operand.
    pub right: Vec<(Register, ScalarType)>,
    /// The components of the result.
    pub code: Code,
}
