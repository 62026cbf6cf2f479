//! Faults: what compiled code reports instead of a [`Trap`](crate::Trap).
//!
//! Note [Faults without values]. An error is observable only if its value is needed (numerics.md), but compiled
//! code evaluates whole arrays, also elements that nobody looks at, and a fault deep inside a kernel
//! does not carry the values involved. So a fault is no verdict: it says only which check failed
//! where. Whoever runs compiled code answers a fault by running the same program on the reference
//! interpreter, which yields the trap with its values, or the value, if the failing one was not
//! needed. Programs are pure, so that is always possible.

use std::fmt;

use crate::{Span, TrapKind};

/// What a check is about; the kinds of [`TrapKind`] without their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "each is the kind of trap of the same name")]
pub enum FaultKind {
    IndexOutOfRange,
    LengthMismatch,
    SizeMismatch,
    DivisionByZero,
    NegativeExponent,
    BadLength,
    BadShape,
    EmptyArray,
    Ragged,
    BadArgument,
    AssertionFailed,
    Error,
}

impl FaultKind {
    /// Every kind, in declaration order.
    pub const ALL: [FaultKind; 12] = [
        FaultKind::IndexOutOfRange,
        FaultKind::LengthMismatch,
        FaultKind::SizeMismatch,
        FaultKind::DivisionByZero,
        FaultKind::NegativeExponent,
        FaultKind::BadLength,
        FaultKind::BadShape,
        FaultKind::EmptyArray,
        FaultKind::Ragged,
        FaultKind::BadArgument,
        FaultKind::AssertionFailed,
        FaultKind::Error,
    ];

    /// The name in the text of the intermediate languages.
    pub fn name(self) -> &'static str {
        match self {
            FaultKind::IndexOutOfRange => "index",
            FaultKind::LengthMismatch => "lockstep",
            FaultKind::SizeMismatch => "size",
            FaultKind::DivisionByZero => "division",
            FaultKind::NegativeExponent => "exponent",
            FaultKind::BadLength => "length",
            FaultKind::BadShape => "shape",
            FaultKind::EmptyArray => "empty",
            FaultKind::Ragged => "ragged",
            FaultKind::BadArgument => "argument",
            FaultKind::AssertionFailed => "assert",
            FaultKind::Error => "error",
        }
    }

    /// The kind of that name.
    pub fn from_name(name: &str) -> Option<FaultKind> {
        FaultKind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// The kind that a scalar operator's trap is.
    pub fn of_trap(trap: &TrapKind) -> FaultKind {
        match trap {
            TrapKind::IndexOutOfRange { .. } => FaultKind::IndexOutOfRange,
            TrapKind::LengthMismatch { .. } => FaultKind::LengthMismatch,
            TrapKind::SizeMismatch { .. } => FaultKind::SizeMismatch,
            TrapKind::DivisionByZero => FaultKind::DivisionByZero,
            TrapKind::NegativeExponent { .. } => FaultKind::NegativeExponent,
            TrapKind::BadLength { .. } => FaultKind::BadLength,
            TrapKind::BadShape { .. } => FaultKind::BadShape,
            TrapKind::EmptyArray { .. } => FaultKind::EmptyArray,
            TrapKind::Ragged { .. } => FaultKind::Ragged,
            TrapKind::BadArgument { .. } => FaultKind::BadArgument,
            TrapKind::AssertionFailed => FaultKind::AssertionFailed,
            TrapKind::Error(_) => FaultKind::Error,
        }
    }

    /// The stable code of the corresponding trap.
    pub fn code(self) -> &'static str {
        match self {
            FaultKind::IndexOutOfRange => "E0601",
            FaultKind::LengthMismatch => "E0602",
            FaultKind::SizeMismatch => "E0603",
            FaultKind::DivisionByZero => "E0604",
            FaultKind::NegativeExponent => "E0605",
            FaultKind::BadLength => "E0606",
            FaultKind::BadShape => "E0607",
            FaultKind::EmptyArray => "E0608",
            FaultKind::Ragged => "E0609",
            FaultKind::BadArgument => "E0610",
            FaultKind::AssertionFailed => "E0611",
            FaultKind::Error => "E0612",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failed check (Note [Faults without values]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    /// Which kind of check.
    pub kind: FaultKind,
    /// The expression of the program that it belongs to.
    pub span: Span,
}

/// Why compiled code yielded no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// A check failed; the interpreter decides what that means.
    Fault(Fault),
    /// The run was given up.
    Exhausted(crate::Exhausted),
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Stop {
        Stop::Fault(fault)
    }
}

impl From<crate::Exhausted> for Stop {
    fn from(exhausted: crate::Exhausted) -> Stop {
        Stop::Exhausted(exhausted)
    }
}
