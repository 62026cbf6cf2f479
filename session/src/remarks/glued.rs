//! E0324: `sort(x)[0]`, as a call is written elsewhere, where the index belongs to the argument.

use weft_ir::Span;
use weft_lang::Diagnostic;
use weft_lang::typed::{Arg, Expr};

use super::is_name;
use crate::sources::Sources;

/// Longer arguments are not repeated.
const LONGEST: usize = 40;

/// What there is to say about an application to one argument that stands in parentheses right behind the function.
pub(super) fn remark(function: &Expr, args: &[Arg], sources: &Sources) -> Option<Diagnostic> {
    let [arg] = args else { return None };
    let (name, whole) = (sources.slice(function.span), arg.expr.span);
    if function.span.source != whole.source || !is_name(name) {
        return None;
    }
    let start = function.span.end as usize;
    let text = sources.slice(Span::new(whole.source, start, whole.end as usize));
    let close = closing(text)?;
    let (inside, behind) = (&text[1..close], &text[close + 1..]);
    let what = match behind.as_bytes().first()? {
        b'[' => "an index",
        b'.' => "a field",
        _ => return None,
    };
    let inner = if inside.contains([' ', ',']) { format!("({inside})") } else { inside.to_owned() };
    let written = match text.len() <= LONGEST {
        true => (format!("{name} ({inner}{behind})"), format!("({name} {inner}){behind}")),
        false => (format!("{name} ((…){behind})"), format!("({name} (…)){behind}")),
    };
    let message = format!("{what} belongs to what stands before it: this is `{}`", written.0);
    let help = format!("of what the function yields it is `{}`", written.1);
    let remark = Diagnostic::error("E0324", message, whole, "the argument");
    Some(remark.warning().help(help))
}

/// The place of the parenthesis that closes the one at the start of a text.
fn closing(text: &str) -> Option<usize> {
    let mut open = 0;
    let mut quote = None;
    for (place, letter) in text.char_indices() {
        match (letter, quote) {
            (_, Some(end)) if letter == end => quote = None,
            (_, Some(_)) => {}
            ('"' | '\'', None) => quote = Some(letter),
            ('(', None) => open += 1,
            (')', None) => open -= 1,
            _ => {}
        }
        if open == 0 {
            return (place > 0).then_some(place);
        }
    }
    None
}
