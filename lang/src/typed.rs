//! The typed program: what the checker yields and the reference interpreter runs.
//!
//! Implicit map is explicit here: every application says over how many outer axes it is mapped and
//! which arguments carry them. A program that runs is *monomorphic*: [`crate::monomorphise()`] has
//! made an [`Instance`] of every function at every type that it is used at.

mod visit;

use std::sync::Arc;

use weft_ir::{Name, Scalar, Span};

use crate::ast::Number;
use crate::builtins::Builtin;
use crate::environment::OpenDefinition;
use crate::types::{Scheme, Type};

/// A top-level definition or value, for good: a redefinition gets a new id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GlobalId(pub u32);

/// A local variable of one top-level item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LocalId(pub u32);

/// A function at particular types, in a [`Program`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InstanceId(pub u32);

/// A monomorphic program.
#[derive(Clone, Debug)]
pub struct Program {
    /// What is evaluated.
    pub entry: Expr,
    /// The top-level functions that it needs, by [`InstanceId`].
    pub instances: Vec<Instance>,
}

/// A top-level function at particular types.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The definition.
    pub global: GlobalId,
    /// Its name.
    pub name: Name,
    /// Its value: usually a [`ExprKind::Lambda`]; for `def f = e` any expression. It has no free
    /// locals.
    pub body: Arc<Expr>,
}

/// A checked top-level definition; its types may have variables of its scheme.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its id.
    pub global: GlobalId,
    /// Its name.
    pub name: Name,
    /// Its type.
    pub scheme: Scheme,
    /// Its value, as in [`Instance::body`].
    pub body: Arc<Expr>,
    /// Where it is defined: the whole item.
    pub span: Span,
    /// The parameters whose rank nothing said.
    pub guesses: Vec<Guess>,
    /// As it is written, to be checked once more with other annotations ([`crate::annotated`]); not of the prelude.
    pub written: Option<Arc<crate::ast::Def>>,
    /// What is checked anew at each use, if nothing says what the records are that it reads. `scheme` is then only shown,
    /// and `body` names what the definition uses.
    pub open: Option<Arc<OpenDefinition>>,
}

/// A parameter of a definition that is an operand beside others, and may be one element for all of theirs or an array
/// like them: its rank was chosen (`check/rank.rs`, Note [Implicit map]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// Which parameter it is.
    pub parameter: usize,
    /// Its name.
    pub name: Name,
    /// The rank that it got.
    pub rank: usize,
    /// Whether not the parameter but its elements stand beside others, and were taken for single ones.
    pub elements: bool,
    /// The definition whose parameter it only goes on to, and the name of that, if it was chosen there.
    pub of: Option<(Name, Name)>,
}

/// An expression with its type.
#[derive(Clone, Debug)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Its type.
    pub ty: Type,
    /// Where it stands; traps report it.
    pub span: Span,
}

/// The kinds of expressions.
#[derive(Clone, Debug)]
pub enum ExprKind {
    /// A number of the program text; [`Number::to_scalar`] gives its value at the type. Monomorphic
    /// programs have `Scalar` instead.
    Number(Number),
    /// A scalar constant.
    Scalar(Scalar),
    /// A text: its bytes, as `[]char`.
    Text(Arc<[u8]>),
    /// A long array literal of plain numbers; the element type is that of the array type.
    NumberArray(Arc<[Number]>),
    /// A local variable; the types instantiate a generalised local function (none in a monomorphic
    /// program).
    Local(LocalId, Vec<Type>),
    /// The value of an earlier top-level binding.
    Value(GlobalId),
    /// A top-level function.
    Function(FunctionRef),
    /// A builtin at the types of its scheme's variables. May stand unapplied or partially applied.
    Builtin(Builtin, Vec<Type>),
    /// `\p q -> body`.
    Lambda {
        /// At least one.
        params: Vec<Pattern>,
        /// The body.
        body: Arc<Expr>,
    },
    /// An application to one or more arguments: as many as the function type has arrows or fewer
    /// (then the result is a function; if so `depth` is 0).
    Apply {
        /// The function.
        function: Box<Expr>,
        /// The arguments.
        args: Vec<Arg>,
        /// Over how many outer axes it is mapped. The result has these axes, outermost first.
        depth: usize,
    },
    /// `let p = value in body`.
    Let {
        /// What is bound.
        pattern: Pattern,
        /// Its value.
        value: Box<Expr>,
        /// Where it is visible.
        body: Box<Expr>,
    },
    /// `let f x = … in body`: `value` is a `Lambda`. Its types may use `quantified` more variables
    /// than the surrounding definition (none in a monomorphic program).
    LetFunction {
        /// The function's name.
        name: Name,
        /// The local that holds it.
        local: LocalId,
        /// First of its own variables (numbered after the definition's), and how many.
        quantified: (u32, u32),
        /// The lambda.
        value: Arc<Expr>,
        /// Where it is visible (not in `value`: local functions do not recurse).
        body: Box<Expr>,
    },
    /// `if condition then … else …`.
    If {
        /// One bool.
        condition: Box<Expr>,
        /// Its value if that holds.
        then: Box<Expr>,
        /// Its value if not.
        otherwise: Box<Expr>,
    },
    /// `loop p = init … do body`.
    Loop {
        /// The state.
        pattern: Pattern,
        /// Its first value.
        init: Box<Expr>,
        /// What drives it.
        control: LoopControl,
        /// The next state.
        body: Box<Expr>,
    },
    /// A tuple, or a record with its fields in the order of the type.
    Tuple(Vec<Expr>),
    /// The record with these fields (by position) replaced.
    RecordUpdate {
        /// The record.
        record: Box<Expr>,
        /// Positions and new values, evaluated in order.
        fields: Vec<(usize, Expr)>,
    },
    /// Component `index` of a tuple or record; mapped over `depth` outer axes.
    Field {
        /// The tuple or record (or array of them).
        record: Box<Expr>,
        /// The position in the type.
        index: usize,
        /// Over how many axes it is mapped.
        depth: usize,
    },
    /// `[a, b, c]`.
    Array(Vec<Expr>),
    /// An index expression with at least one slice. (Without slices it is an application of
    /// [`Builtin::Index`], mapped like any other.)
    Slice {
        /// The array.
        array: Box<Expr>,
        /// One per leading axis.
        axes: Vec<Axis>,
    },
    /// `w[0, -1]`: an element of a stencil's window at a constant offset.
    WindowRead {
        /// The window.
        window: Box<Expr>,
        /// The offset along each axis.
        offset: Vec<i64>,
    },
    /// `{ body : p in xs ; … | filter }`.
    Comprehension {
        /// The element.
        body: Box<Expr>,
        /// In lockstep.
        generators: Vec<(Pattern, Expr)>,
        /// One bool.
        filter: Option<Box<Expr>>,
    },
    /// Checks sizes of annotations, then yields `body`. A size name is bound by its first check
    /// within this node and compared by the others.
    CheckSizes {
        /// In order.
        checks: Vec<SizeCheck>,
        /// The value.
        body: Box<Expr>,
    },
}

/// Which top-level function.
#[derive(Clone, Debug, PartialEq)]
pub enum FunctionRef {
    /// A definition at the types of its scheme's variables: before monomorphisation.
    Generic(GlobalId, Vec<Type>),
    /// One of the program's instances.
    Instance(InstanceId),
}

/// An argument of an application.
#[derive(Clone, Debug)]
pub struct Arg {
    /// The argument.
    pub expr: Expr,
    /// Whether it carries the `depth` outer axes of the application; else it is shared.
    pub mapped: bool,
}

/// A pattern; its parts cover the whole type.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// A variable.
    Local {
        /// Its id.
        local: LocalId,
        /// Its name.
        name: Name,
        /// Its type.
        ty: Type,
    },
    /// `_`.
    Wildcard(Type),
    /// A tuple or record pattern; one pattern per component (wildcards for fields that a record
    /// pattern does not name).
    Tuple(Vec<Pattern>),
}

/// What drives a loop.
#[derive(Clone, Debug)]
pub enum LoopControl {
    /// `for i < n`: the pattern is an `i64`.
    Count(Pattern, Box<Expr>),
    /// `for x in xs`.
    Each(Pattern, Box<Expr>),
    /// `while condition`; it sees the state.
    While(Box<Expr>),
}

/// One axis of a slice expression.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "one per axis of an index; few exist at a time")]
pub enum Axis {
    /// An `i64`: removes the axis.
    Index(Expr),
    /// A `[]i64`: these positions, in this order.
    Gather(Expr),
    /// `start:stop:step`, `i64`s; as in Python, negative steps count downwards from the end. But
    /// negative or too large bounds are errors, not wrap-around (see the manual).
    Slice {
        /// The first.
        start: Option<Expr>,
        /// One past the last.
        stop: Option<Expr>,
        /// The step.
        step: Option<Expr>,
        /// The colons and all.
        span: Span,
    },
}

/// One size of an annotation.
#[derive(Clone, Debug)]
pub struct SizeCheck {
    /// The variable whose value is measured.
    pub local: LocalId,
    /// Its name, for messages.
    pub name: Name,
    /// How to get from its value to the array whose length counts.
    pub path: Vec<SizeStep>,
    /// What the length must be.
    pub size: Size,
    /// The size in the annotation.
    pub span: Span,
}

/// A step from a value to a part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeStep {
    /// Into the elements of an array: the check is about all of them.
    Elements,
    /// To a component of a tuple or record.
    Component(usize),
}

/// A size in an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// A name.
    Name(Name),
    /// A number.
    Constant(i64),
}
