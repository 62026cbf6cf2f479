//! E0320: an update that replaces an element of each row, where the row may be meant, or one element in each of many copies,
//! where many elements may.
//!
//! `m[1]` is a row of a matrix, and `(m with [1] = 5)` replaces element 1 of every row: a number is an element of a row, so
//! the update is mapped over the rows. An index is a number: `(x with [[0, 2]] = 0)` is mapped over the indices.

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
    let help = match array.expr.ty.peel().0 {
        1 => format!(
            "several elements of one array are replaced by `scatter {x} {is} (replicate (length {is}) {v})`, those for which \
             a condition holds by `select condition {v} {x}`; if copies are meant, \
             `{{ ({x} with [i] = {v}) : i in {is} }}` says so"
        ),
        _ => "several elements of one array are replaced in a loop, `loop m = m for i in is do (m with [i, j] = v)`; if \
              copies are meant, `{ (m with [i, j] = v) : i in is }` says so"
            .to_owned(),
    };
    Diagnostic::error("E0320", message, several.expr.span, here).warning().help(help)
}
