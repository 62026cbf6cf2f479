//! E0325: `{ x * y : x in 1..5 ; y in 1..5 }`, whose generators go over the same array.
//!
//! Generators go side by side, so the variables are always the same. Elsewhere this is written for all pairs, and here
//! braces in braces are; where the lengths differ there is an error that says so (E0602), and here there is none.

use weft_lang::Diagnostic;
use weft_lang::typed::{Expr, Pattern};

use super::is_name;
use crate::sources::Sources;

/// Longer sources and bodies are not repeated.
const LONGEST: usize = 30;

/// What there is to say about the generators of an apply-to-each.
pub(super) fn remark(
    body: &Expr,
    generators: &[(Pattern, Expr)],
    sources: &Sources,
) -> Option<Diagnostic> {
    let named = generators.iter().filter_map(|(pattern, source)| {
        let Pattern::Local { name, .. } = pattern else { return None };
        (is_name(name) && source.ty.peel().0 > 0).then_some((
            name,
            source,
            sources.slice(source.span),
        ))
    });
    let named: Vec<_> = named.collect();
    // Columns of records are generators, too, and stand where the records do.
    let (x, y) = named.iter().enumerate().find_map(|(at, x)| {
        let y = named[at + 1..].iter().find(|y| y.2 == x.2 && x.1.span.end <= y.1.span.start)?;
        Some((x, y))
    })?;
    let ((a, first, array), (b, second, _)) = (x, y);
    let short = |text, other| if is_short(text) { text } else { other };
    let (array, element) = (short(array, "xs"), short(sources.slice(body.span), "e"));
    let message =
        format!("`{a}` and `{b}` are always the same: both generators go over this array");
    let here = "generators go side by side";
    let span = first.span.to(second.span);
    Some(Diagnostic::error("E0325", message, span, here).warning().help(format!(
        "for all pairs nest the braces: `{{ {{ {element} : {b} in {array} }} : {a} in {array} }}`"
    )))
}

fn is_short(text: &str) -> bool {
    text.len() <= LONGEST && !text.contains('\n')
}
