//! E0320: a function about a part of texts whose part and texts stand in the other order.
//!
//! `contains "ain" names` asks each name; `contains names "ain"` asks whether a name stands in `ain`, by implicit map,
//! and nothing in the types is wrong with that. Nor is there in `contains "hello" "ell"`: but what is longer stands in
//! nothing shorter, and where the shorter one stands in the longer one they have been exchanged.

use weft_ir::{Column, ScalarType, Value};
use weft_lang::Diagnostic;
use weft_lang::typed::{Arg, Expr, ExprKind};
use weft_lang::types::Type;

use super::Walk;
use super::letters::{is_short, own};
use crate::state::State;

/// Longer texts are not looked into.
const MOST_LETTERS: usize = 1 << 16;

/// What there is to say about an application.
pub(super) fn remark(walk: &Walk<'_, '_>, function: &Expr, args: &[Arg]) -> Option<Diagnostic> {
    let name = own(walk.program, function)?;
    let does = match (name, args.len()) {
        ("contains", 2) => "looks for each of these texts in one text",
        ("startsWith", 2) => "asks whether one text begins with each of these texts",
        ("endsWith", 2) => "asks whether one text ends with each of these texts",
        ("splitText", 2) => "splits one text at each of these texts",
        ("replace", 3) => "replaces each of these texts in one text",
        _ => return None,
    };
    let sources = walk.sources;
    let ([texts, others @ ..], Some(last)) = (args, args.last()) else { return None };
    let is_text = |ty: &Type, rank| ty.peel() == (rank, &Type::Scalar(ScalarType::Char));
    let of_many = texts.mapped && is_text(&texts.expr.ty, 2) && is_text(&last.expr.ty, 1);
    // What is replaced stands behind the text elsewhere, and before what it is replaced by.
    let part = if name == "replace" { &args[1] } else { last };
    if !of_many && !is_exchanged(&texts.expr, &part.expr, &last.expr, walk.state) {
        return None;
    }
    let written = |arg: &Arg, other: &'static str| match sources.slice(arg.expr.span) {
        text if is_short(text) || (text.starts_with('"') && text.len() <= 24) => text.to_owned(),
        _ => other.to_owned(),
    };
    let mut order: Vec<String> = others.iter().map(|arg| written(arg, "part")).collect();
    order.push(written(texts, if of_many { "texts" } else { "text" }));
    let order = order.join(" ");
    let (message, here, last) = match of_many {
        true => (format!("`{name}` {does}"), "each of these is taken for a part", "texts stand"),
        false => (
            format!("`{name}` takes the part first, and here it is longer than the text"),
            "this is taken for the part",
            "text stands",
        ),
    };
    let remark = Diagnostic::error("E0320", message, texts.expr.span, here).warning();
    Some(remark.help(format!("the {last} last: `{name} {order}`")))
}

/// Whether a text that stands in the place of a part is longer than what stands in the place of the text, and has what may be
/// the part in it.
fn is_exchanged(whole: &Expr, part: &Expr, last: &Expr, state: &State) -> bool {
    let [whole, part, last] = [whole, part, last].map(|expr| letters(expr, state));
    let (Some(whole), Some(part), Some(last)) = (whole, part, last) else { return false };
    let is_in = || memchr::memmem::find(&whole, &part).is_some();
    !part.is_empty() && whole.len() > last.len() && is_in()
}

/// The letters of a text that is written out, or is a value of the session.
fn letters(expr: &Expr, state: &State) -> Option<Vec<u8>> {
    match &expr.kind {
        ExprKind::Text(letters) => Some(letters.to_vec()),
        ExprKind::Value(global) => match state.values.get(global)? {
            Value::Array(array) if array.elements.is_here() => match &array.elements {
                Column::Char(letters) if letters.as_slice().len() <= MOST_LETTERS => {
                    Some(letters.as_slice().to_vec())
                }
                _ => None,
            },
            _ => None,
        },
        _ => None,
    }
}
