//! The intermediate language *nested*: a monomorphic, first-order program in A-normal form over
//! scalars and arrays of arrays of scalars.
//!
//! Functions are gone except as the lambdas of collective operations and as named recursive
//! functions. Tuples are gone too: a value of the language is the list of its scalar *leaves* in
//! the order of its type, and an array of tuples is a list of arrays of equal shape (structure of
//! arrays); `()` is one leaf `false`, so that arrays of `()` keep their length. So a type is a
//! scalar type under a number of array axes, which may be regular or ragged.
//!
//! Every variable is bound once. A body's statements are in an order in which each variable is bound
//! before it is used; lambdas and branches see the variables around them.
//!
//! Meaning is that of the language: an operation yields an error only if one of its results is
//! needed ([`crate::Fault`] says how compiled code may deviate from that).

mod check;
mod parse;
mod print;
mod visit;

pub use check::check;
pub use parse::parse;
pub use visit::free_variables;

use crate::{Column, FaultKind, Name, Scalar, ScalarOp, ScalarType, Span};

/// A variable, printed `x7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u32);

/// A recursive function, printed `f3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionId(pub u32);

/// A scalar type under `rank` array axes: `[][]f32` has rank 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Type {
    /// The number of array axes.
    pub rank: usize,
    /// What is under them.
    pub element: ScalarType,
}

impl Type {
    /// The type of a scalar.
    pub fn scalar(element: ScalarType) -> Type {
        Type { rank: 0, element }
    }

    /// The type of arrays of this.
    pub fn array(self) -> Type {
        Type { rank: self.rank + 1, ..self }
    }

    /// The type of the elements.
    ///
    /// # Panics
    /// On a scalar type.
    pub fn element(self) -> Type {
        assert!(self.rank > 0, "{:?} has no elements", self);
        Type { rank: self.rank - 1, ..self }
    }
}

/// What an operation is applied to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Atom {
    /// A variable.
    Var(Var),
    /// A constant.
    Scalar(Scalar),
}

impl Atom {
    /// The variable, if it is one.
    pub fn var(self) -> Option<Var> {
        match self {
            Atom::Var(var) => Some(var),
            Atom::Scalar(_) => None,
        }
    }
}

/// A program: what it takes from earlier bindings, and what it yields.
#[derive(Clone, Debug, PartialEq)]
pub struct Program {
    /// The leaves of the earlier values that it uses.
    pub params: Vec<(Var, Type)>,
    /// The recursive functions, by [`FunctionId`].
    pub functions: Vec<Function>,
    /// Its results are the leaves of the value.
    pub body: Body,
    /// The number of variables: all are below it.
    pub variables: u32,
}

/// A recursive function; it sees its parameters only.
#[derive(Clone, Debug, PartialEq)]
pub struct Function {
    /// Its name in the program.
    pub name: Name,
    /// Its parameters.
    pub params: Vec<(Var, Type)>,
    /// The types of its results.
    pub results: Vec<Type>,
    /// What it yields.
    pub body: Body,
}

/// Statements and what they yield.
#[derive(Clone, Debug, PartialEq)]
pub struct Body {
    /// In order.
    pub statements: Vec<Statement>,
    /// The results.
    pub results: Vec<Atom>,
}

/// An operation and the variables that hold its results.
#[derive(Clone, Debug, PartialEq)]
pub struct Statement {
    /// One per result.
    pub results: Vec<(Var, Type)>,
    /// What is computed.
    pub operation: Operation,
    /// The expression of the program that it comes from.
    pub span: Span,
}

/// A function of array elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Lambda {
    /// Its parameters.
    pub params: Vec<(Var, Type)>,
    /// What it yields.
    pub body: Body,
}

/// Which values a scan yields, with the n elements x0 … and the start value z.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ScanForm {
    /// The n values z·x0, z·x0·x1, … ; without a start value x0, x0·x1, ….
    Inclusive,
    /// The n values z, z·x0, …, without the total.
    Exclusive,
    /// The n + 1 values z, z·x0, …, total.
    Full,
}

/// What a reduction or scan starts with.
#[derive(Clone, Debug, PartialEq)]
pub enum Start<T> {
    /// Nothing: an empty array is an error (of a fold; an empty scan is empty).
    None,
    /// These components are combined once, on the left.
    Combined(T),
    /// A fold of no elements yields these; otherwise they play no part (`sum` of `[-0.0]` is -0.0).
    IfEmpty(T),
}

impl<T> Start<T> {
    /// The components, if it has some.
    pub fn values(&self) -> Option<&T> {
        match self {
            Start::None => None,
            Start::Combined(values) | Start::IfEmpty(values) => Some(values),
        }
    }

    /// The same, to be changed.
    pub fn values_mut(&mut self) -> Option<&mut T> {
        match self {
            Start::None => None,
            Start::Combined(values) | Start::IfEmpty(values) => Some(values),
        }
    }
}

/// Which random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RandomKind {
    /// `[seed, index]`: an `f64` in [0, 1) ([`crate::math::random::uniform_f64`]).
    UniformF64,
    /// `[seed, index]`: an `f32` in [0, 1).
    UniformF32,
    /// `[seed, index, low, high]`: an `i64` in low..high; the caller has checked low < high.
    Int,
}

/// What a statement computes. `a`, `b` are arrays of any rank ≥ 1 unless said otherwise; indices,
/// lengths and counts are `i64`.
#[derive(Clone, Debug, PartialEq)]
pub enum Operation {
    /// A scalar operator; may fail as [`crate::math::eval`] does.
    Scalar(ScalarOp, Vec<Atom>),
    /// A random number.
    Random(RandomKind, Vec<Atom>),
    /// The same values if the condition holds, else an error of that kind. No values is a bug: an
    /// assertion that nothing needs is never observed.
    Assert {
        /// A bool.
        condition: Atom,
        /// What it is an error of.
        kind: FaultKind,
        /// What needs the condition.
        values: Vec<Atom>,
    },
    /// One of two bodies.
    If {
        /// A bool.
        condition: Atom,
        /// Results if it holds.
        then: Body,
        /// Results if not.
        otherwise: Body,
    },
    /// `while condition(state) state = body(state)`; the results are the last state. Ranks of the
    /// state are fixed, extents are not.
    While {
        /// The state's variables, seen by both bodies.
        state: Vec<(Var, Type)>,
        /// Its first values.
        initial: Vec<Atom>,
        /// One bool.
        condition: Body,
        /// The next state.
        body: Body,
    },
    /// `for index < count state = body(index, state)`; a count below 1 yields the initial state.
    For {
        /// The number of the step, from 0.
        index: Var,
        /// How many steps.
        count: Atom,
        /// The state's variables, seen by the body.
        state: Vec<(Var, Type)>,
        /// Its first values.
        initial: Vec<Atom>,
        /// The next state.
        body: Body,
    },
    /// A recursive function.
    Call(FunctionId, Vec<Atom>),
    /// The number of elements of the outermost axis.
    Length(Atom),
    /// `a[i, j, …]`: k indices on an array of rank r yield rank r - k; out of range is an error.
    Index(Atom, Vec<Atom>),
    /// `(a with [i, j, …] = value)`: a copy with that element (or subarray) replaced.
    Update {
        /// The array.
        array: Atom,
        /// At least one.
        indices: Vec<Atom>,
        /// Of rank r - k.
        value: Atom,
    },
    /// `[a, b, c]`: scalars or arrays of one type; at least one.
    Literal(Vec<Atom>),
    /// A constant array of scalars (no tuples, any number of axes).
    Constant(Column),
    /// 0, 1, … of that length, which is known not to be negative.
    Iota(Atom),
    /// `length` (known not to be negative) times the same scalar or array.
    Replicate(Atom, Atom),
    /// The lambda applied to the elements of all arrays in lockstep; at least one array; lengths
    /// that differ are an error. As many results as the lambda has.
    Map(Lambda, Vec<Atom>),
    /// All elements combined in the tree of numerics.md. The lambda takes two values of k leaves
    /// each (first all of the left, then all of the right) and yields k.
    Fold {
        /// An associative operator.
        operator: Lambda,
        /// What it starts with.
        start: Start<Vec<Atom>>,
        /// k arrays of equal length.
        arrays: Vec<Atom>,
    },
    /// Prefix combinations in the tree of the interpreter's Note [The tree of a scan].
    Scan {
        /// Which values.
        form: ScanForm,
        /// From the right: the mirror image, x_{n-1}·z, …; the operator's left operand is the
        /// element that stands further left in the array.
        from_right: bool,
        /// As for a fold.
        operator: Lambda,
        /// None (inclusive scans only) or combined.
        start: Start<Vec<Atom>>,
        /// k arrays of equal length.
        arrays: Vec<Atom>,
    },
    /// Of each array the elements whose flag holds; flags and arrays have one length (known).
    Pack {
        /// Bools.
        flags: Atom,
        /// At least one.
        arrays: Vec<Atom>,
    },
    /// Copies of the destinations with `values[i]` at `indices[i]`. Equal indices: the last in
    /// order; with an operator each old value, on the left, is combined with the fold of the values
    /// that are sent to it, in order and in the tree of a fold. An index out of range is an error.
    Scatter {
        /// k arrays of equal length.
        destinations: Vec<Atom>,
        /// As many as there are values.
        indices: Atom,
        /// k arrays.
        values: Vec<Atom>,
        /// How values that meet combine.
        operator: Option<Lambda>,
        /// Whether index -1 drops its element (`permute`).
        drops: bool,
    },
    /// The permutation (an `[]i64`) that sorts the keys, arrays of scalars of one length compared
    /// lexicographically in the total order of numerics.md; stable. Descending reverses the order
    /// of the keys, not of equal elements.
    SortOrder {
        /// At least one.
        keys: Vec<Atom>,
        /// Whether the greatest comes first.
        descending: bool,
    },
    /// The first two axes exchanged; they must be regular. `transpose` of no rows is an array of
    /// as many rows as the (discovered) second extent says.
    Transpose(Atom),
    /// The first `from` axes, which must be regular, become the given extents (known not to be
    /// negative); their products must agree.
    Reshape {
        /// The array.
        array: Atom,
        /// How many axes are replaced.
        from: usize,
        /// The new ones.
        extents: Vec<Atom>,
    },
    /// The extent of axis k > 0, which must be regular as all axes before it.
    Extent(Atom, usize),
    /// One level of nesting removed; rank ≥ 2; the axes may be ragged.
    Flatten(Atom),
    /// `segments lengths array`: consecutive rows of the given lengths, which are not negative and
    /// sum to the array's length (both checked).
    Segments(Atom, Atom),
    /// The elements of the first, then those of the second.
    Concat(Atom, Atom),
}

#[cfg(test)]
mod tests;
