//! E0320: an update that replaces an element of each row, where the row may be meant.
//!
//! `m[1]` is a row of a matrix, and `(m with [1] = 5)` replaces element 1 of every row: a number is an element of a row, so
//! the update is mapped over the rows.

use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::Arg;

use super::letters::quoted;
use crate::sources::Sources;

/// What there is to say about an application.
pub(super) fn remark(
    builtin: Builtin,
    args: &[Arg],
    depth: usize,
    sources: &Sources,
) -> Option<Diagnostic> {
    let Builtin::Update(1) = builtin else { return None };
    let [array, index, value] = args else { return None };
    if !array.mapped || index.mapped || value.mapped || depth != 1 {
        return None;
    }
    let [m, i, v] = [(array, "m"), (index, "i"), (value, "v")]
        .map(|(arg, other)| quoted(sources, arg.expr.span, other));
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
