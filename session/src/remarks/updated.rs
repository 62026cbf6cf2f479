//! E0320: an update that replaces an element of each row, where the row may be meant, or one element in each of many copies,
//! where many elements of one may.
//!
//! `m[1]` is a row of a matrix, and `(m with [1] = 5)` replaces element 1 of every row: a number is an element of a row, so
//! the update is mapped over the rows. An index of which nothing is known where it stands is a number: if it is an array after all, the
//! update is mapped over that.

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
    let Builtin::Update(_) = builtin else { return None };
    let [array, indices @ .., value] = args else { return None };
    if let Some(several) = indices.iter().find(|index| index.mapped)
        && !array.mapped
        && !value.mapped
        && depth == 1
    {
        return Some(of_copies(array, several, value, sources));
    }
    let [index] = indices else { return None };
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

/// What there is to say where one element is replaced for each of several indices, each time of another copy.
fn of_copies(array: &Arg, several: &Arg, value: &Arg, sources: &Sources) -> Diagnostic {
    let [x, is, v] = [(array, "x"), (several, "is"), (value, "v")]
        .map(|(arg, other)| quoted(sources, arg.expr.span, other));
    let message = format!("this yields a copy of {x} for each index, with one element replaced");
    let here = format!("this is {}", several.expr.ty);
    let help = format!(
        "to replace several elements of one array, say where {is} gets its name that it is an array: `({is} : []i64)`; if \
         copies are meant, `{{ ({x} with [i] = {v}) : i in {is} }}` says so"
    );
    Diagnostic::error("E0320", message, several.expr.span, here).warning().help(help)
}
