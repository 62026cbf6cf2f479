//! The intermediate language *plan*: kernel launches with host control between them. All that a back
//! end sees.
//!
//! A kernel is one traversal of an index space. Its [`Kernel::body`] is the code of one point, into
//! which the producers that fused have been composed: a *delayed* array is an index function, and
//! reading it at an index is its code at that index, so no trace of it is left but its name in
//! [`Kernel::fused`]. All arrays that a kernel reads are manifest. [`Sink`]s say what becomes of the
//! body's results; one kernel may have many. What follows a reduction, a scan or a filter point by
//! point runs in the kernel's [`Kernel::epilogue`].
//!
//! Note [Interleaved results]. An array of rows of few elements, each computed in a way of its own (`{ [sin x, cos x] : x
//! in xs }`), is no array over the points of a kernel that runs over its elements: each of those would have to look which
//! element it is, and what the elements of a row have in common would be computed, or read, for each. So it can be
//! the result of a kernel over its rows, which has all elements of a row at one point: [`Sink::Interleave`].
//!
//! Sources: McDonell, Chakravarty, Keller and Lippmeier, "Optimising purely functional GPU programs"
//! (ICFP 2013), section 4.

mod check;
mod parse;
mod print;
mod reading;
mod sorted;
#[cfg(test)]
mod tests;
mod visit;

pub use check::{check, epilogue_space};
pub use parse::parse;
pub use reading::read_back;
pub use sorted::{SortedKeys, sorted_keys};
pub use visit::last_uses;

use crate::code::{Code, Operand, Operator, Register, Thunk};
use crate::flat::{Dimension, Leaf, ScanForm, Size, Space, Start, Type, Var};
use crate::{FaultKind, Name, Rows, ScalarType, Span};

/// A plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What it takes.
    pub inputs: Vec<Leaf>,
    /// What it does.
    pub body: Block,
    /// What it yields.
    pub outputs: Vec<Leaf>,
    /// The type of each variable, by [`Var`]. Variables that fused away have a type but no step.
    pub types: Vec<Type>,
}

/// Steps in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In order.
    pub steps: Vec<Step>,
    /// The variables that it yields.
    pub results: Vec<Var>,
}

/// One step of the host.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Scalars that the host computes: the code's results, in order.
    Host {
        /// One per result.
        results: Vec<Var>,
        /// Reads scalars and single elements of arrays.
        code: Code,
        /// Where it comes from.
        span: Span,
    },
    /// A kernel.
    Launch(Box<Kernel>),
    /// The same buffer with the extents of the result's type.
    Reshape {
        /// The view.
        result: Var,
        /// The array.
        array: Var,
    },
    /// A constant array.
    Constant {
        /// The array.
        result: Var,
        /// Its elements in storage order.
        elements: crate::Column,
    },
    /// A fault unless the scalar holds.
    Check {
        /// A scalar bool.
        condition: Var,
        /// What it is a fault of.
        kind: FaultKind,
        /// The expression of the program.
        span: Span,
    },
    /// As in `flat`.
    If {
        /// One per result of the branches.
        results: Vec<Var>,
        /// A scalar bool.
        condition: Var,
        /// If it holds.
        then: Block,
        /// If not.
        otherwise: Block,
    },
    /// As in `flat`.
    While {
        /// The last state.
        results: Vec<Var>,
        /// The state, seen by both blocks.
        state: Vec<Var>,
        /// Its first values.
        initial: Vec<Var>,
        /// One scalar bool.
        condition: Block,
        /// The next state.
        body: Block,
        /// As in `flat`.
        rows: Option<Box<Rows<Program>>>,
    },
    /// The last uses of these variables are behind: their buffers may be reused. `place` inserts
    /// these steps; what a step before it uses for the last time it may overwrite.
    Free(Vec<Var>),
}

/// One traversal of an index space.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// What it is called: the skeleton and the source names that it came from.
    pub name: Name,
    /// The points.
    pub space: Space,
    /// The indices of a point, one register per dimension.
    pub indices: Vec<Register>,
    /// What is computed at a point; the sinks name its results and registers by operand.
    pub body: Code,
    /// What becomes of it; at least one. All of [`Sink::Sort`] and [`Sink::Filter`] stand alone or
    /// beside stores, and beside [`Sink::Interleave`] stand only stores.
    pub sinks: Vec<Sink>,
    /// What follows: over the space without its last dimension if a sink reduces, over the kept
    /// points if one filters, over the same points if one scans.
    pub epilogue: Option<Epilogue>,
    /// The arrays that this kernel computes without storing them, for people.
    pub fused: Vec<Var>,
    /// The expression of its first operation.
    pub span: Span,
}

/// What becomes of the results of a point. Operands are registers of the body (or constants).
#[derive(Clone, Debug, PartialEq)]
pub enum Sink {
    /// An array over the space.
    Store {
        /// The element.
        value: Operand,
        /// The array.
        array: Var,
    },
    /// An array of rows of as many elements as there are values, two at least, over the space; it has the
    /// extents of the space's storage, then constants (Note [Interleaved results]).
    Interleave {
        /// The elements of a row, in storage order.
        values: Vec<Operand>,
        /// The array.
        array: Var,
    },
    /// [`crate::flat::Operation::Reduce`].
    Reduce {
        /// The components of an element.
        values: Vec<Operand>,
        /// An associative operator.
        operator: Operator,
        /// The start values.
        start: Start<Thunk>,
        /// Registers that hold the results in the epilogue.
        registers: Vec<(Register, ScalarType)>,
        /// Arrays that hold them, where they are needed elsewhere.
        arrays: Vec<Option<Var>>,
    },
    /// [`crate::flat::Operation::Scan`].
    Scan {
        /// The components of an element.
        values: Vec<Operand>,
        /// Which values.
        form: ScanForm,
        /// The direction.
        from_right: bool,
        /// An associative operator.
        operator: Operator,
        /// The start values.
        start: Start<Thunk>,
        /// The last dimension of the results, in full form.
        full: Option<Dimension>,
        /// Registers that hold the results in the epilogue (not in full form).
        registers: Vec<(Register, ScalarType)>,
        /// Arrays that hold them, where they are needed elsewhere.
        arrays: Vec<Option<Var>>,
    },
    /// [`crate::flat::Operation::Filter`].
    Filter {
        /// Which points are kept.
        flag: Operand,
        /// Over one dimension the count, else the row offsets and the total.
        counts: Vec<Var>,
        /// What is kept, and where.
        kept: Vec<(Operand, Var)>,
    },
    /// [`crate::flat::Operation::Scatter`].
    Scatter {
        /// The target's index.
        target: Vec<Operand>,
        /// The components of the value.
        values: Vec<Operand>,
        /// The arrays before.
        destinations: Vec<Var>,
        /// How values that meet combine.
        operator: Option<Operator>,
        /// The arrays after.
        arrays: Vec<Var>,
    },
    /// [`crate::flat::Operation::Sort`].
    Sort {
        /// The components of the key.
        keys: Vec<Operand>,
        /// Whether the greatest comes first.
        descending: bool,
        /// The order.
        order: Var,
    },
}

/// Code after a reduction, scan or filter, point by point.
#[derive(Clone, Debug, PartialEq)]
pub struct Epilogue {
    /// The indices of the point (for a filter: the position among the kept).
    pub indices: Vec<Register>,
    /// What is computed; it sees the registers of the sinks, and after a filter those of the body
    /// at the point that is kept.
    pub code: Code,
    /// Arrays over the epilogue's space.
    pub stores: Vec<(Operand, Var)>,
}

/// How many elements a row of interleaved elements has, whose extents are these.
pub fn row_elements(row: &[Size]) -> Option<usize> {
    let extent = |size: &Size| match size {
        Size::Constant(extent) => usize::try_from(*extent).ok(),
        Size::Var(_) => None,
    };
    row.iter().try_fold(1_usize, |count, size| count.checked_mul(extent(size)?))
}

/// The extents that a kernel's space has, for people and for the check.
pub fn extents(kernel: &Kernel) -> Vec<Size> {
    crate::flat::storage(&kernel.space)
}
