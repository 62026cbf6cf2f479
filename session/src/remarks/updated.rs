//! E0320: an update that replaces an element of each row, where the row may be meant.
//!
//! `m[1]` is a row of a matrix, and `(m with [1] = 5)` replaces element 1 of every row: a number is an element of a row, so
//! the update is mapped over the rows.

use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr};

use crate::sources::Sources;

/// What there is to say about an application.
pub(super) fn remark(
    builtin: Builtin,
    function: &Expr,
    args: &[Arg],
    depth: usize,
    sources: &Sources,
) -> Option<Diagnostic> {
    let Builtin::Update(1) = builtin else { return None };
    let [array, index, value] = args else { return None };
    let is_mapped = array.mapped && !index.mapped && !value.mapped && depth == 1;
    // `!rows` and a text, or what stands elsewhere, has no index as it is written.
    if !is_mapped || array.expr.span.source != function.span.source {
        return None;
    }
    let short = |expr: &Expr, other: &'static str| match sources.slice(expr.span) {
        text if !text.is_empty() && text.len() <= 12 && !text.contains('\n') => text.to_owned(),
        _ => other.to_owned(),
    };
    let (m, i, v) = (short(&array.expr, "m"), short(&index.expr, "i"), short(&value.expr, "v"));
    let message = format!("this replaces element {i} of each row");
    let here = format!("this is {}", array.expr.ty);
    Some(
        Diagnostic::error("E0320", message, array.expr.span, here)
            .warning()
            .help(format!(
                "a row is replaced by a row: `({m} with [{i}] = replicate (length {m}[{i}]) {v})`, one element by \
                 `({m} with [{i}, j] = {v})`; if each row is meant, `{{ (r with [{i}] = {v}) : r in {m} }}` says so"
            )),
    )
}
