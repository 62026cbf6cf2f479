//! The intermediate language *flat*: no nesting. Data-parallel operations over explicit index
//! spaces, each with [`Thunk`]s for its elements, and host control between them.
//!
//! Every variable is a dense array with a fixed number of *storage dimensions*; a scalar is an array
//! of no dimensions. Arrays of arrays whose rows have one length are arrays of more dimensions;
//! ragged ones are a flat array of all elements beside a segment descriptor, an array of row
//! *offsets* (Note [Segment descriptors]).
//!
//! Note [Segment descriptors]. The descriptor of n rows is an array of n + 1 ascending `i64`s, the
//! first 0 and the last the number of elements: row r is `offsets[r] .. offsets[r + 1]`. An array
//! of several nested ragged axes has one descriptor per ragged axis, each in terms of the elements
//! of the axis above. Axes that stand between are collapsed: the rows of a descriptor are all points
//! of the axes above it, in storage order.
//!
//! Note [Spaces of points]. A space is a list of dimensions, outermost first. A point has one index per
//! dimension: along a dense dimension 0 .. extent, along a ragged one its absolute *position*, which
//! lies in the row that the indices before it select (in their storage order). The storage of an
//! array over a space: the last ragged dimension's total (or nothing), then the extents of the dense
//! dimensions after it. So positions already address the storage, and the indices before the last
//! ragged dimension are not used for it.
//!
//! Sources: Bergstrom and Reppy, "Nested data-parallelism on the GPU" (ICFP 2012); Clifton-Everest,
//! McDonell, Chakravarty and Keller, "Streaming irregular arrays" (Haskell 2017).

mod check;
mod parse;
mod print;
mod scope;
#[cfg(test)]
mod tests;

pub use check::check;
pub use parse::{Types, parse};
pub(crate) use parse::{
    parse_binding, parse_bindings, parse_dimension, parse_if, parse_inputs, parse_line,
    parse_outputs, parse_scan_form, parse_size, parse_space, parse_start, parse_var, parse_vars,
    parse_while,
};
pub(crate) use print::{
    write_bindings, write_if, write_inputs, write_outputs, write_results, write_space, write_start,
    write_vars, write_while, write_yield,
};
pub use scope::Scope;

pub use crate::code::{Code, Instruction, Operand, Operation as CodeOperation, Operator};
pub use crate::code::{Register, Thunk};
pub use crate::nested::{ScanForm, Start};
use crate::{FaultKind, Rows, ScalarType, Span};

/// A variable: an array, or a scalar. Printed `a7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u32);

/// An extent: an `i64` that the host knows when it gets there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Size {
    /// A number.
    Constant(i64),
    /// A scalar variable of type `i64`.
    Var(Var),
}

/// The type of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// The type of the elements.
    pub element: ScalarType,
    /// The storage dimensions, outermost first; none for a scalar. Storage is in row-major order.
    pub extents: Vec<Size>,
}

/// One dimension of a space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    /// Indices 0 .. extent.
    Dense(Size),
    /// Rows of different lengths.
    Ragged {
        /// The segment descriptor: one more than there are points in the dimensions before.
        offsets: Var,
        /// Its last element: the number of positions.
        total: Size,
    },
}

impl Size {
    /// The variable in it.
    pub fn uses(self, visit: &mut dyn FnMut(Var)) {
        match self {
            Size::Var(var) => visit(var),
            Size::Constant(_) => {}
        }
    }
}

impl Dimension {
    /// The variables in it.
    pub fn uses(self, visit: &mut dyn FnMut(Var)) {
        match self {
            Dimension::Dense(size) => size.uses(visit),
            Dimension::Ragged { offsets, total } => {
                visit(offsets);
                total.uses(visit);
            }
        }
    }
}

/// An index space (Note [Spaces of points]).
pub type Space = Vec<Dimension>;

/// The storage dimensions of an array over a space (Note [Spaces of points]).
pub fn storage(space: &[Dimension]) -> Vec<Size> {
    let mut extents = Vec::new();
    for dimension in space {
        match *dimension {
            Dimension::Dense(extent) => extents.push(extent),
            Dimension::Ragged { total, .. } => extents = vec![total],
        }
    }
    extents
}

/// Which of a point's indices address the storage: those from this dimension on.
pub fn first_stored(space: &[Dimension]) -> usize {
    space.iter().rposition(|dimension| matches!(dimension, Dimension::Ragged { .. })).unwrap_or(0)
}

/// A program.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// What it takes.
    pub inputs: Vec<Leaf>,
    /// What it does.
    pub body: Block,
    /// What it yields.
    pub outputs: Vec<Leaf>,
    /// The type of each variable, by [`Var`].
    pub types: Vec<Type>,
}

/// A leaf of a value of the language ([`crate::nested`]): a scalar, or an array of arrays of scalars
/// with the layout of every axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The layout of the axes, outermost first; the first is dense.
    pub axes: Vec<Dimension>,
    /// The scalar, or the elements, over the space of the axes.
    pub data: Var,
}

/// Statements in order. What a block yields is listed where the block stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// In order; all are executed, also those whose results nobody uses.
    pub statements: Vec<Statement>,
    /// The variables that it yields.
    pub results: Vec<Var>,
}

/// An operation and the variables that hold its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// One per result.
    pub results: Vec<Var>,
    /// What is computed.
    pub operation: Operation,
    /// The expression of the program that it comes from.
    pub span: Span,
}

/// What a statement computes.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// The thunk's results at every point of the space; over the empty space (one point), scalars
    /// that the host computes.
    Map {
        /// Where.
        space: Space,
        /// What.
        thunk: Thunk,
    },
    /// The thunk's k results combined along the last dimension, in the tree of numerics.md. Results
    /// over the space without its last dimension.
    Reduce {
        /// At least one dimension.
        space: Space,
        /// The elements.
        thunk: Thunk,
        /// An associative operator.
        operator: Operator,
        /// What it starts with: the thunk takes the indices of the dimensions but the last. Without
        /// a start rows are known not to be empty.
        start: Start<Thunk>,
    },
    /// Prefix combinations along the last dimension. Results over the space; in full form the last
    /// dimension is dense or ragged with one more position per row: `full` gives it.
    Scan {
        /// At least one dimension.
        space: Space,
        /// The elements.
        thunk: Thunk,
        /// Which values.
        form: ScanForm,
        /// Whether it runs from the right.
        from_right: bool,
        /// An associative operator.
        operator: Operator,
        /// None (inclusive scans only) or combined; its thunk as for a reduction.
        start: Start<Thunk>,
        /// The last dimension of the results, in full form only.
        full: Option<Dimension>,
    },
    /// The points whose first result (a bool) holds, along the last dimension; the other results
    /// are what is kept. Over a space of one dimension it yields the count (a scalar), then the
    /// arrays of that many; over more the row offsets, the total (a scalar), then the arrays.
    Filter {
        /// At least one dimension.
        space: Space,
        /// The flag, then the values.
        thunk: Thunk,
    },
    /// Copies of the destinations (arrays of one shape of d dimensions) with elements replaced. The
    /// thunk yields d indices, then k values. The indices are in range, or the first is -1 and the
    /// element is dropped. Where targets meet, the last in the order of the points wins; with an
    /// operator all are combined in that order, the old value on the left.
    Scatter {
        /// Where the values come from.
        space: Space,
        /// Targets and values.
        thunk: Thunk,
        /// k arrays.
        destinations: Vec<Var>,
        /// How values that meet combine.
        operator: Option<Operator>,
    },
    /// Sorts along the last dimension by the thunk's results, lexicographically in the total order
    /// of numerics.md; stable. Yields over the space the order: the index along the last dimension
    /// (as the thunk takes it: a position, where it is ragged) of the element that comes there.
    Sort {
        /// At least one dimension.
        space: Space,
        /// The keys.
        thunk: Thunk,
        /// Whether the greatest comes first (equal elements stay in order).
        descending: bool,
    },
    /// The same elements of an array with other extents (of equal product), at least one: no copy. Its type has them.
    Reshape(Var),
    /// Constant elements, in storage order. Its type has the extents, constants.
    Constant(crate::Column),
    /// A fault of that kind unless the scalar holds. No results.
    Check(Var, FaultKind),
    /// One of two blocks.
    If {
        /// A scalar bool.
        condition: Var,
        /// Results if it holds.
        then: Block,
        /// Results if not. The types of all results may differ between the branches in their
        /// extents: those of the statement's results are in terms of its own result scalars.
        otherwise: Block,
    },
    /// `while condition(state) state = body(state)`; the results are the last state. The types of
    /// arrays in the state are in terms of scalars in the state or before the statement.
    While {
        /// The state, seen by both blocks.
        state: Vec<Var>,
        /// Its first values.
        initial: Vec<Var>,
        /// One scalar bool.
        condition: Block,
        /// The next state.
        body: Block,
        /// The same for one point of the space that the state is over (Note [Loops row by row] in `rows`).
        rows: Option<Box<Rows<Program>>>,
    },
}
