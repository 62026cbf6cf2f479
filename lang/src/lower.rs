//! Lowering: the monomorphic typed program → `nested`, by evaluating everything away that is known
//! at compile time.
//!
//! ```text
//! def dotp xs ys = fold (+) 0.0 (zipWith (*) xs ys)      x2 : []f64 = map x0 x1 \x3 x4 ->
//! dotp a b                                          →      x5 : f64 = mul x3 x4
//!                                                          yield x5
//!                                                        x6 : f64 = fold …
//! ```
//!
//! Note [Symbolic values]. The program is evaluated with symbolic values (`value.rs`): a scalar or
//! array is the [`Atom`](weft_ir::nested::Atom)s of its leaves, a tuple is its parts, and functions,
//! stencil windows and boundaries exist at compile time only. Applying a function evaluates its body
//! again; an operation appends statements to the innermost open body (`builder.rs`) and yields their
//! variables. What is bound by `let` is evaluated once, so that its leaves are shared.
//!
//! Note \[Checks\]. Every operation of the language that may fail has its check: in the operation of
//! `nested` that it becomes, or as an assertion on a value that the result needs. A check may be
//! stricter than the language (a fault makes the interpreter decide, see [`weft_ir::Fault`]), but
//! what passes has the interpreter's value.
//!
//! Higher-order programs are specialised as in Futhark (Hovgaard, Henriksen and Elsman,
//! "High-performance defunctionalization in Futhark", TFP 2018), but by evaluation instead of a
//! translation of types.

mod apply;
mod builder;
mod builtins;
mod call;
mod check_sizes;
mod compare;
mod control;
mod expression;
mod given;
mod grid;
mod index;
mod operations;
mod recursion;
mod sequence;
mod value;

use std::fmt;
use std::ops::Range;

use weft_ir::{Span, nested};

use crate::typed::{GlobalId, Program};
use crate::types::Type;
pub use sequence::{Member, lower_sequence};

/// A program without functions.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// What is computed. Its parameters are the leaves of the inputs, in order; its results are those
    /// of the value.
    pub program: nested::Program,
    /// The earlier bindings that it reads, in order of first use, and their types.
    pub inputs: Vec<(GlobalId, weft_ir::Type)>,
    /// The type of the value.
    pub ty: weft_ir::Type,
    /// The members of a sequence ([`lower_sequence`]); none of a single program.
    pub parts: Vec<Part>,
}

/// A member of a sequence that was lowered to one program.
#[derive(Clone, Debug)]
pub struct Part {
    /// Which results of the program are the leaves of its value.
    pub results: Range<usize>,
    /// Whether a later member reads its value.
    pub is_read: bool,
    /// The last of the earlier members of which it reads an array again and again: in the body of a
    /// lambda or a loop. Such an array had better be in memory before.
    pub rereads: Option<usize>,
    /// Its expression.
    pub span: Span,
}

/// What the compiled path cannot do; the interpreter runs it.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsupported {
    /// One sentence for the user.
    pub reason: String,
    /// The expression that asks for it.
    pub span: Span,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Lowers a program. The caller provides a stack of [`crate::STACK_BYTES`].
///
/// # Errors
/// Functions that are chosen while the program runs, recursion over functions, and programs that
/// grow beyond bounds when their functions are expanded.
pub fn lower(program: &Program) -> Result<Lowered, Unsupported> {
    let Some(ty) = program.entry.ty.to_value_type() else {
        let reason = "a value with functions in it runs on the interpreter".to_owned();
        return Err(Unsupported { reason, span: program.entry.span });
    };
    let mut lowering = builder::Lowering::new(program);
    let frame = value::Frame::new(None);
    let value = lowering.expression(&program.entry, &frame)?;
    let results = lowering.leaves(&value)?;
    let (program, inputs) = lowering.finish(results);
    Ok(Lowered { program, inputs: value_inputs(inputs), ty, parts: Vec::new() })
}

/// The inputs with their types as those of values.
fn value_inputs(inputs: Vec<(GlobalId, Type)>) -> Vec<(GlobalId, weft_ir::Type)> {
    let as_value = |ty: Type| ty.to_value_type().expect("the values of bindings have no functions");
    inputs.into_iter().map(|(global, ty)| (global, as_value(ty))).collect()
}
