//! E0320: a function about a part of texts whose part and texts stand in the other order.
//!
//! `contains "ain" names` asks each name; `contains names "ain"` asks whether a name stands in `ain`, by implicit map,
//! and nothing in the types is wrong with that.

use weft_ir::ScalarType;
use weft_lang::Diagnostic;
use weft_lang::typed::{Arg, Expr, Program};
use weft_lang::types::Type;

use super::letters::{is_short, own};
use crate::sources::Sources;

/// What there is to say about an application.
pub(super) fn remark(
    program: &Program,
    function: &Expr,
    args: &[Arg],
    sources: &Sources,
) -> Option<Diagnostic> {
    let name = own(program, function)?;
    let does = match (name, args.len()) {
        ("contains", 2) => "looks for each of these texts in one text",
        ("startsWith", 2) => "asks whether one text begins with each of these texts",
        ("endsWith", 2) => "asks whether one text ends with each of these texts",
        ("splitText", 2) => "splits one text at each of these texts",
        ("replace", 3) => "replaces each of these texts in one text",
        _ => return None,
    };
    let ([texts, others @ ..], Some(last)) = (args, args.last()) else { return None };
    let is_text = |ty: &Type, rank| ty.peel() == (rank, &Type::Scalar(ScalarType::Char));
    if !is_text(&texts.expr.ty, 2) || !texts.mapped || !is_text(&last.expr.ty, 1) {
        return None;
    }
    let written = |arg: &Arg, other: &'static str| match sources.slice(arg.expr.span) {
        text if is_short(text) || (text.starts_with('"') && text.len() <= 24) => text.to_owned(),
        _ => other.to_owned(),
    };
    let mut order: Vec<String> = others.iter().map(|arg| written(arg, "part")).collect();
    order.push(written(texts, "texts"));
    let here = "each of these is taken for a part";
    Some(
        Diagnostic::error("E0320", format!("`{name}` {does}"), texts.expr.span, here)
            .warning()
            .help(format!("the texts stand last: `{name} {}`", order.join(" "))),
    )
}
