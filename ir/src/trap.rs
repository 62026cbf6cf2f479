//! Run-time failures: the closed set that all engines share.

use std::fmt;

use crate::Span;

/// An error of the program, found while it ran. All engines report the same kind at the same span.
#[derive(Clone, Debug)]
pub struct Trap {
    /// What went wrong, with the values involved.
    pub kind: TrapKind,
    /// The expression that failed.
    pub span: Span,
    /// The call sites that led there, innermost first; at most [`Trap::MAX_CALLS`] are kept.
    pub calls: Vec<Span>,
    /// The maps and loops around it and how far they were, outermost first, if that is known; at most
    /// [`Trap::MAX_CALLS`] are kept.
    pub within: Vec<Place>,
}

/// Where a map or a loop stands while its body is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// What is counted.
    pub unit: Unit,
    /// How many were before.
    pub index: u64,
    /// The map or the loop.
    pub span: Span,
}

/// What a map or a loop goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// The scalars of an array.
    Element,
    /// The other elements of an array.
    Row,
    /// The turns of a loop.
    Turn,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Element => "element",
            Unit::Row => "row",
            Unit::Turn => "turn",
        };
        write!(f, "{unit} {}", self.index)
    }
}

/// Where maps and loops were is told, not compared: only the interpreter knows it.
impl PartialEq for Trap {
    fn eq(&self, other: &Trap) -> bool {
        (&self.kind, self.span, &self.calls) == (&other.kind, other.span, &other.calls)
    }
}

impl Trap {
    /// How many call sites a trap remembers.
    pub const MAX_CALLS: usize = 8;

    /// A trap at `span`, with no call sites yet.
    pub fn new(kind: TrapKind, span: Span) -> Trap {
        Trap { kind, span, calls: Vec::new(), within: Vec::new() }
    }
}

/// What a program can do wrong at run time.
#[derive(Clone, Debug, PartialEq)]
pub enum TrapKind {
    /// An index, of a read or of a scatter, outside `0..extent`.
    IndexOutOfRange {
        /// The index as the program gave it.
        index: i64,
        /// The number of elements on that axis.
        extent: i64,
    },
    /// Arrays that are traversed in lockstep have different lengths.
    LengthMismatch {
        /// The operation, as the program names it.
        operation: String,
        /// The first array's length.
        left: i64,
        /// The length that differs from it.
        right: i64,
    },
    /// An array's extent disagrees with the annotation `[n]t` or `[3]t`.
    SizeMismatch {
        /// The size as annotated: a name or a number.
        size: String,
        /// The extent that it stands for.
        expected: i64,
        /// The extent found.
        found: i64,
    },
    /// `//`, `%`, `quot` or `rem` by an integer 0.
    DivisionByZero,
    /// An integer raised to a negative power.
    NegativeExponent {
        /// The exponent.
        exponent: i64,
    },
    /// A length, count or extent below zero, or a product of extents above 2^63.
    BadLength {
        /// The operation, as the program names it.
        operation: String,
        /// The offending length.
        length: i128,
    },
    /// The number of elements does not suit the new shape (`reshape`, `segments`).
    BadShape {
        /// The operation, as the program names it.
        operation: String,
        /// What the shape or the lengths add up to.
        expected: i64,
        /// How many elements there are.
        found: i64,
    },
    /// A reduction without a neutral element met an empty array (`maximum`, `fold1`, `first`).
    EmptyArray {
        /// The operation, as the program names it.
        operation: String,
    },
    /// An operation that needs a regular array got a ragged one.
    Ragged {
        /// The operation, as the program names it.
        operation: String,
        /// The first row whose length differs.
        row: i64,
        /// The length of row 0.
        expected: i64,
        /// The length of that row.
        found: i64,
    },
    /// A slice or range with step 0, a window of size 0 and the like.
    BadArgument {
        /// The operation, as the program names it.
        operation: String,
        /// What is wrong, as the end of a sentence.
        problem: String,
    },
    /// `assert false e`.
    AssertionFailed,
    /// `error "text"`.
    Error(String),
}

impl TrapKind {
    /// The stable code, whose page `:explain` prints.
    pub fn code(&self) -> &'static str {
        match self {
            TrapKind::IndexOutOfRange { .. } => "E0601",
            TrapKind::LengthMismatch { .. } => "E0602",
            TrapKind::SizeMismatch { .. } => "E0603",
            TrapKind::DivisionByZero => "E0604",
            TrapKind::NegativeExponent { .. } => "E0605",
            TrapKind::BadLength { .. } => "E0606",
            TrapKind::BadShape { .. } => "E0607",
            TrapKind::EmptyArray { .. } => "E0608",
            TrapKind::Ragged { .. } => "E0609",
            TrapKind::BadArgument { .. } => "E0610",
            TrapKind::AssertionFailed => "E0611",
            TrapKind::Error(_) => "E0612",
        }
    }
}

impl fmt::Display for TrapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TrapKind::IndexOutOfRange { index, extent } => {
                write!(f, "index {index} is out of range for an axis of extent {extent}")
            }
            TrapKind::LengthMismatch { operation, left, right } => {
                write!(f, "{operation} needs equal lengths, but they are {left} and {right}")
            }
            TrapKind::SizeMismatch { size, expected, found } => {
                if size.parse::<i64>().is_ok() {
                    write!(f, "the annotation asks for {expected} elements, but there are {found}")
                } else {
                    write!(f, "size `{size}` is {expected} here, but this axis has {found}")
                }
            }
            TrapKind::DivisionByZero => f.write_str("integer division by zero"),
            TrapKind::NegativeExponent { exponent } => {
                write!(f, "an integer cannot be raised to the negative power {exponent}")
            }
            TrapKind::BadLength { operation, length } if *length < 0 => {
                write!(f, "{operation} needs a length of 0 or more, not {length}")
            }
            TrapKind::BadLength { operation, length } => {
                write!(f, "{operation} cannot make {length} elements: the most is 2^63 - 1")
            }
            TrapKind::BadShape { operation, expected, found } => {
                write!(f, "{operation} asks for {expected} elements, but there are {found}")
            }
            TrapKind::EmptyArray { operation } => {
                write!(f, "{operation} of an empty array has no value")
            }
            TrapKind::Ragged { operation, row, expected, found } => write!(
                f,
                "{operation} needs rows of one length, but row {row} has {found} and row 0 has \
                 {expected}"
            ),
            TrapKind::BadArgument { operation, problem } => write!(f, "{operation}: {problem}"),
            TrapKind::AssertionFailed => f.write_str("assertion failed"),
            TrapKind::Error(text) => f.write_str(text),
        }
    }
}

/// A run that was given up although the program may be right.
#[derive(Clone, Debug, PartialEq)]
pub enum Exhausted {
    /// The memory that an allocation would need is beyond the limit.
    Memory {
        /// Bytes asked for by this allocation.
        wanted: u64,
        /// Bytes allowed at most.
        limit: u64,
        /// The expression that allocates.
        span: Span,
    },
    /// Calls nested deeper than the limit.
    Recursion {
        /// How deep.
        depth: u64,
        /// The call.
        span: Span,
    },
    /// Calls nested deeper than the host's stack has room for.
    Stack {
        /// How deep.
        depth: u64,
        /// The bytes that nested calls may take of the stack.
        bytes: u64,
        /// The call.
        span: Span,
    },
    /// The user interrupted the run.
    Interrupted,
}

impl Exhausted {
    /// The stable code, whose page `:explain` prints.
    pub fn code(&self) -> &'static str {
        match self {
            Exhausted::Memory { .. } => "E0701",
            Exhausted::Recursion { .. } | Exhausted::Stack { .. } => "E0702",
            Exhausted::Interrupted => "E0703",
        }
    }
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Exhausted::Memory { wanted, limit, .. } => {
                write!(f, "this needs {wanted} bytes, and the limit is {limit}")
            }
            Exhausted::Recursion { depth, .. } => write!(f, "calls are nested {depth} deep"),
            Exhausted::Stack { depth, bytes, .. } => write!(
                f,
                "calls are nested {depth} deep, and the {bytes} bytes that the stack has for them are used up"
            ),
            Exhausted::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Why a run yielded no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The program is wrong.
    Trap(Box<Trap>),
    /// The run was given up.
    Exhausted(Exhausted),
}

impl From<Trap> for Failure {
    fn from(trap: Trap) -> Failure {
        Failure::Trap(Box::new(trap))
    }
}

impl From<Exhausted> for Failure {
    fn from(exhausted: Exhausted) -> Failure {
        Failure::Exhausted(exhausted)
    }
}
