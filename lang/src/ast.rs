//! The surface syntax tree: what the parser yields and the checker reads.
//!
//! Sections, operators and `|>` are already resolved into applications; everything keeps its span.

mod visit;

use std::sync::Arc;

use weft_ir::{Name, Span};

/// A name where it stands in the source.
#[derive(Clone, Debug, PartialEq)]
pub struct Ident {
    /// The name.
    pub name: Name,
    /// Where it stands.
    pub span: Span,
}

/// One item of a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What it is.
    pub kind: ItemKind,
    /// All of its text, from column 0 to its last token.
    pub span: Span,
    /// How deep its tree can be at most, where each operator of a chain and each binding of a `let` is a level.
    pub levels: u32,
}

/// The kinds of items.
#[derive(Clone, Debug, PartialEq)]
pub enum ItemKind {
    /// `def name params [: type] = body`; without parameters it defines a constant expression
    /// that is generalised like a function.
    Def(Def),
    /// `type name = type`.
    TypeAlias {
        /// The alias.
        name: Ident,
        /// What it stands for.
        ty: TypeExpr,
    },
    /// `pattern = expression`.
    Binding {
        /// What is bound.
        pattern: Pattern,
        /// Its value.
        value: Expr,
    },
    /// A bare expression. `quiet` if a trailing `;` asks not to show it.
    Expr {
        /// The expression.
        value: Expr,
        /// Whether a trailing `;` suppresses the display.
        quiet: bool,
    },
    /// `:name rest-of-the-line`; the session reads it.
    Command {
        /// The name without the colon.
        name: Ident,
        /// The rest of the line, trimmed, with its place (later lines of the item included).
        argument: Arc<str>,
        /// Where the argument stands.
        argument_span: Span,
    },
    /// `import "path"`.
    Import {
        /// The path as written.
        path: Arc<str>,
        /// Where the string stands.
        path_span: Span,
    },
}

/// A function definition, top-level or local (`let f x y = …`).
#[derive(Clone, Debug, PartialEq)]
pub struct Def {
    /// The function's name.
    pub name: Ident,
    /// Its parameters.
    pub params: Vec<Pattern>,
    /// The annotated type of its result.
    pub result: Option<TypeExpr>,
    /// Its body.
    pub body: Expr,
}

/// A pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Pattern {
    /// What it is.
    pub kind: PatternKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of patterns.
#[derive(Clone, Debug, PartialEq)]
pub enum PatternKind {
    /// A name.
    Name(Name),
    /// `_`.
    Wildcard,
    /// `(p, q)`, `()`.
    Tuple(Vec<Pattern>),
    /// `{x = p, y}`: the named fields; a pun has its own name as pattern.
    Record(Vec<(Ident, Pattern)>),
    /// `(p : type)`.
    Typed(Box<Pattern>, TypeExpr),
}

/// An expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands.
    pub span: Span,
}

/// A number literal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// Written without a point or exponent. Negative ones come from folding a prefix minus.
    Int(i128),
    /// Written with a point or exponent, or `nan`, `inf`, `pi`: as f64; `exact32` is the f32 that the
    /// same decimal text rounds to (rounding twice would differ).
    Float {
        /// The nearest f64.
        wide: f64,
        /// The nearest f32.
        narrow: f32,
    },
}

/// What stands between the commas of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordPart {
    /// `x = 1`, or `x`, which has the variable of that name as value.
    Field(Ident, Expr),
    /// `..r`: all fields of a record.
    Spread(Expr),
}

/// The kinds of expressions.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// A variable, function or builtin. Operators in applications and in `(+)` are names too:
    /// `+`, `-`, `*`, `/`, `//`, `%`, `**`, `==`, `!=`, `<`, `<=`, `>`, `>=`, `&&`, `||`, `.|.`, `.^.`,
    /// `.&.`, `<<`, `>>`, `++`; prefix `-` is `negate` and prefix `!` is `not`.
    Name(Name),
    /// A number, with the type suffix if it has one (`42u8`, `1.5f32`).
    Number(Number, Option<weft_ir::ScalarType>),
    /// `true`, `false`.
    Bool(bool),
    /// `'c'`: one byte.
    Char(u8),
    /// `"text"`: its bytes.
    Text(Arc<[u8]>),
    /// `f x y`: at least one argument. Binary operators apply their name to two arguments,
    /// `x |> f` is `f x` and `f <| x` too.
    Apply {
        /// The function.
        function: Box<Expr>,
        /// The arguments.
        args: Vec<Expr>,
        /// How it was written, for messages.
        form: ApplyForm,
    },
    /// `\x (y, z) -> e`; the sections `(* 2)`, `(2 *)`, `(.x)` are lambdas too.
    Lambda {
        /// At least one.
        params: Vec<Pattern>,
        /// The body.
        body: Box<Expr>,
    },
    /// `let bindings in body`.
    Let {
        /// In order; each sees the ones before.
        bindings: Vec<LetBinding>,
        /// The body.
        body: Box<Expr>,
    },
    /// `if c then a else b`.
    If {
        /// The condition.
        condition: Box<Expr>,
        /// Its value if it holds.
        then: Box<Expr>,
        /// Its value if not.
        otherwise: Box<Expr>,
    },
    /// `loop p = e for/while … do body`.
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
    /// `(a, b)`, `()`.
    Tuple(Vec<Expr>),
    /// `{x = 1, y, ..r}`.
    Record(Vec<RecordPart>),
    /// `{r with x = 3}`.
    RecordUpdate {
        /// The record.
        record: Box<Expr>,
        /// The new fields.
        fields: Vec<(Ident, Expr)>,
    },
    /// `e.x` or `e.0` (the field's name is then the digits).
    Field {
        /// The record or tuple.
        record: Box<Expr>,
        /// The field.
        field: Ident,
    },
    /// `[a, b, c]`.
    Array(Vec<Expr>),
    /// An array literal of at least 64 plain numbers, all without suffix and all of one kind of
    /// literal: parsed in bulk.
    NumberArray(Arc<[Number]>),
    /// `a..b`, `a..b by s`.
    Range {
        /// The first.
        start: Box<Expr>,
        /// One past the last.
        stop: Box<Expr>,
        /// The step, 1 if absent.
        step: Option<Box<Expr>>,
    },
    /// `a[i]`, `m[i, :]`.
    Index {
        /// The array.
        array: Box<Expr>,
        /// One entry per axis; at least one.
        axes: Vec<Axis>,
    },
    /// `(a with [i, j] = v)`, `(m with [:, j] = v)`.
    With {
        /// The array.
        array: Box<Expr>,
        /// One entry per axis; at least one.
        axes: Vec<Axis>,
        /// What stands there.
        value: Box<Expr>,
    },
    /// `{ e : p in xs ; q in ys | cond }`.
    Comprehension {
        /// The element.
        body: Box<Expr>,
        /// At least one, in lockstep.
        generators: Vec<(Pattern, Expr)>,
        /// The filter.
        filter: Option<Box<Expr>>,
    },
    /// `(e : type)`.
    Typed(Box<Expr>, TypeExpr),
    /// Text that could not be parsed; a diagnostic was reported. The checker accepts it silently.
    Error,
}

/// How an application was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyForm {
    /// `f x`.
    Juxtaposition,
    /// `x + y`, `-x`.
    Operator,
    /// `x |> f`, `f <| x`.
    Pipe,
}

/// One binding of a `let`.
#[derive(Clone, Debug, PartialEq)]
pub enum LetBinding {
    /// `p = e`.
    Value(Pattern, Expr),
    /// `f x y = e`.
    Function(Def),
}

/// What drives a `loop`.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopControl {
    /// `for i < n`.
    Count(Pattern, Box<Expr>),
    /// `for x in xs`.
    Each(Pattern, Box<Expr>),
    /// `while cond`.
    While(Box<Expr>),
}

/// One axis of an index expression.
#[derive(Clone, Debug, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "one per axis of an index; few exist at a time")]
pub enum Axis {
    /// `i`, or an array of indices.
    Index(Expr),
    /// `a:b:s`, each optional.
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

impl Axis {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            Axis::Index(Expr { span, .. }) | Axis::Slice { span, .. } => *span,
        }
    }

    /// The index, if it is no slice.
    pub fn index(&self) -> Option<&Expr> {
        match self {
            Axis::Index(index) => Some(index),
            Axis::Slice { .. } => None,
        }
    }
}

/// A type as written.
#[derive(Clone, Debug, PartialEq)]
pub struct TypeExpr {
    /// What it is.
    pub kind: TypeExprKind,
    /// Where it stands.
    pub span: Span,
}

/// The kinds of written types.
#[derive(Clone, Debug, PartialEq)]
pub enum TypeExprKind {
    /// A scalar type, an alias or a type variable.
    Name(Name),
    /// `[]t`, `[n]t`, `[3]t`.
    Array(Option<Size>, Box<TypeExpr>),
    /// `(t, u)`, `()`.
    Tuple(Vec<TypeExpr>),
    /// `{x: t}`.
    Record(Vec<(Ident, TypeExpr)>),
    /// `t -> u`.
    Function(Box<TypeExpr>, Box<TypeExpr>),
    /// `window1 t`, `window2 t`, `window3 t`: what a stencil's function reads.
    Window(u8, Box<TypeExpr>),
    /// `seq t`.
    Seq(Box<TypeExpr>),
}

/// A size in an annotation.
#[derive(Clone, Debug, PartialEq)]
pub enum Size {
    /// `[n]t`.
    Name(Ident),
    /// `[3]t`.
    Constant(i64, Span),
}

impl Number {
    /// The value at a scalar type: `None` if it has no place there (an integer out of range, a
    /// fraction at an integer type, any number at `bool` or `char`).
    pub fn to_scalar(self, ty: weft_ir::ScalarType) -> Option<weft_ir::Scalar> {
        use weft_ir::{Scalar, ScalarType};
        Some(match (self, ty) {
            (Number::Int(value), ScalarType::I8) => Scalar::I8(value.try_into().ok()?),
            (Number::Int(value), ScalarType::I16) => Scalar::I16(value.try_into().ok()?),
            (Number::Int(value), ScalarType::I32) => Scalar::I32(value.try_into().ok()?),
            (Number::Int(value), ScalarType::I64) => Scalar::I64(value.try_into().ok()?),
            (Number::Int(value), ScalarType::U8) => Scalar::U8(value.try_into().ok()?),
            (Number::Int(value), ScalarType::U16) => Scalar::U16(value.try_into().ok()?),
            (Number::Int(value), ScalarType::U32) => Scalar::U32(value.try_into().ok()?),
            (Number::Int(value), ScalarType::U64) => Scalar::U64(value.try_into().ok()?),
            (Number::Int(value), ScalarType::F32) => Scalar::F32(value as f32),
            (Number::Int(value), ScalarType::F64) => Scalar::F64(value as f64),
            (Number::Float { narrow, .. }, ScalarType::F32) => Scalar::F32(narrow),
            (Number::Float { wide, .. }, ScalarType::F64) => Scalar::F64(wide),
            (Number::Float { .. }, _) | (Number::Int(_), ScalarType::Bool | ScalarType::Char) => {
                return None;
            }
        })
    }
}
