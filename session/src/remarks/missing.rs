//! E0327: a comparison with nan, which no number is equal to, below or above.
//!
//! Missing numbers of a table are nan, and `x == nan` is how they are looked for elsewhere. IEEE 754 says that nan is
//! equal to nothing, itself included.

use weft_ir::{Scalar, ScalarOp};
use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind};

use super::letters::quoted;
use crate::sources::Sources;

/// What there is to say about an application.
pub(super) fn remark(builtin: Builtin, args: &[Arg], sources: &Sources) -> Option<Diagnostic> {
    let (Builtin::Op(op), [left, right]) = (builtin, args) else { return None };
    let always = match op {
        ScalarOp::Eq | ScalarOp::Lt | ScalarOp::Le | ScalarOp::Gt | ScalarOp::Ge => false,
        ScalarOp::Ne => true,
        _ => return None,
    };
    let (nan, other) = match (is_nan(&left.expr), is_nan(&right.expr)) {
        (_, true) => (right, left),
        (true, false) => (left, right),
        (false, false) => return None,
    };
    // Who compares nan with a number that is written out wants to know what comes out.
    if matches!(other.expr.kind, ExprKind::Scalar(_)) {
        return None;
    }
    let x = quoted(sources, other.expr.span, "x");
    let help = match op {
        ScalarOp::Ne => format!("whether it is a number: `!(isNan {x})`"),
        _ => format!("whether it is none: `isNan {x}`"),
    };
    let message =
        format!("this is {always} for every number: nothing is equal to nan, or orders with it");
    let here = "no number compares with this";
    Some(Diagnostic::error("E0327", message, nan.expr.span, here).warning().help(help))
}

/// Whether nan is written there.
fn is_nan(expr: &Expr) -> bool {
    match expr.kind {
        ExprKind::Scalar(Scalar::F64(number)) => number.is_nan(),
        ExprKind::Scalar(Scalar::F32(number)) => number.is_nan(),
        _ => false,
    }
}
