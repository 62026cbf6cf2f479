//! E0319: a function of arrays that takes texts letter by letter, where whole texts may be meant.
//!
//! A text is an array of letters, so `sort words` sorts the letters of each word, by implicit map. Somebody
//! who means that can say so with `map sort words`.

use weft_ir::{ScalarOp, ScalarType, Span};
use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, Program};
use weft_lang::types::Type;

use crate::references;
use crate::sources::Sources;

/// What there is to say about an application.
pub(super) fn remark(
    builtin: Builtin,
    function: &Expr,
    args: &[Arg],
    depth: usize,
    sources: &Sources,
) -> Option<Diagnostic> {
    let (does, instead) = words(builtin)?;
    let texts = args.iter().find(|arg| arg.mapped && is_text(&arg.expr.ty, depth))?;
    let name = sources.slice(function.span);
    let subject = match sources.slice(texts.expr.span) {
        text if is_short(text) => text,
        _ => "texts",
    };
    let message = format!("`{name}` {does} each text");
    let here = "these are texts, which are arrays of letters";
    let mut remark = Diagnostic::error("E0319", message, texts.expr.span, here)
        .warning()
        .help(format!("whole texts have numbers: {}", instead.replace('@', subject)));
    if args.len() == 1 {
        remark = remark.note(format!("if the letters are meant, `map {name} {subject}` says so"));
    }
    Some(remark)
}

/// What a function does to each text, and what does it to whole texts, which `@` stands for.
fn words(builtin: Builtin) -> Option<(&'static str, &'static str)> {
    Some(match builtin {
        Builtin::Sort => ("sorts the letters of", "`@[argsort (codes @).0]` sorts the texts"),
        Builtin::SortDesc => (
            "sorts the letters of",
            "`reverse @[argsort (codes @).0]` sorts the texts in descending order",
        ),
        Builtin::Argsort => {
            ("orders the letters of", "`argsort (codes @).0` are the places of the texts in order")
        }
        Builtin::Unique => {
            ("takes the distinct letters of", "`(codes @).1` are the distinct texts in order")
        }
        Builtin::Minimum => ("takes the least letter of", "`first (codes @).1` is the first text"),
        Builtin::Maximum => ("takes the greatest letter of", "`last (codes @).1` is the last text"),
        Builtin::Argmin => {
            ("finds the least letter of", "`argmin (codes @).0` is the place of the first text")
        }
        Builtin::Argmax => {
            ("finds the greatest letter of", "`argmax (codes @).0` is the place of the last text")
        }
        Builtin::GroupBy => {
            ("groups by the letters of", "`groupBy (codes @).0 values` groups by the texts")
        }
        _ => return None,
    })
}

/// Whether a type is that of texts, under that many axes.
fn is_text(ty: &Type, depth: usize) -> bool {
    depth > 0 && ty.peel() == (depth + 1, &Type::Scalar(ScalarType::Char))
}

/// Whether a text can be written into a message, and as an argument.
pub(super) fn is_short(text: &str) -> bool {
    let is_part = |letter: char| letter.is_alphanumeric() || "_'.".contains(letter);
    !text.is_empty() && text.len() <= 24 && text.chars().all(is_part)
}

/// How texts are compared or taken as keys by the application at a place, if lengths that differ there are
/// those of texts and of something else: what to write instead.
pub(crate) fn texts_compared(program: &Program, place: Span) -> Option<&'static str> {
    let bodies = program.instances.iter().map(|instance| &*instance.body);
    std::iter::once(&program.entry).chain(bodies).find_map(|body| compared_in(body, place))
}

fn compared_in(expr: &Expr, place: Span) -> Option<&'static str> {
    if let ExprKind::Apply { function, args, depth } = &expr.kind
        && (expr.span == place || function.span == place)
        && let ExprKind::Builtin(builtin, _) = &function.kind
    {
        let is_char = |ty: &Type| ty.peel().1 == &Type::Scalar(ScalarType::Char);
        match builtin {
            Builtin::Op(ScalarOp::Eq | ScalarOp::Ne)
                if *depth > 0 && args.iter().all(|arg| arg.mapped && is_char(&arg.expr.ty)) =>
            {
                return Some("`same a b` compares whole texts; `==` goes letter by letter");
            }
            Builtin::GroupBy | Builtin::SearchSorted | Builtin::Merge
                if args.first().is_some_and(|keys| is_text(&keys.expr.ty, *depth)) =>
            {
                return Some("a text as a key is its number: `(numbers, names) = codes texts`");
            }
            _ => {}
        }
    }
    let mut found = None;
    references::children(expr, &mut |child| found = found.or_else(|| compared_in(child, place)));
    found
}
