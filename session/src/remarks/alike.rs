//! E0325: `{ x * y : x in 1..5 ; y in 1..5 }`, whose generators go over the same array.
//!
//! Generators go side by side, so the variables are always the same. Elsewhere this is written for all pairs, and here
//! braces in braces are; where the lengths differ there is an error that says so (E0602), and here there is none. So it is
//! of `{ (i, j) : i in 0..h ; j in 0..w | m[i, j] }`, where h and w happen to be equal, and of `{ (l, r) : l in ls ; r in rs |
//! l.key == r.key }`, where two tables are as long as each other.

use weft_ir::ScalarOp;
use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Expr, ExprKind, LocalId, Pattern};

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
    let (array, element) = (short(array, "xs"), short(sources.slice(body.span), "e"));
    let message =
        format!("`{a}` and `{b}` are always the same: both generators go over this array");
    let pairs = format!("{{ {{ {element} : {b} in {array} }} : {a} in {array} }}");
    Some(always_the_same(message, [first, second], &pairs))
}

/// The remark on two generators that go side by side, with what to write for all pairs.
fn always_the_same(message: String, [first, second]: [&Expr; 2], pairs: &str) -> Diagnostic {
    let span = first.span.to(second.span);
    Diagnostic::error("E0325", message, span, "generators go side by side")
        .warning()
        .help(format!("for all pairs nest the braces: `{pairs}`"))
}

/// What there is to say of two ranges that begin at 0, whose variables are the indices of two axes of an array. As there is a
/// value, or would be, their lengths are equal.
pub(super) fn side_by_side(
    body: &Expr,
    generators: &[(Pattern, Expr)],
    filter: Option<&Expr>,
    sources: &Sources,
) -> Option<Diagnostic> {
    let ranges = generators.iter().filter_map(|(pattern, source)| {
        let Pattern::Local { name, local, .. } = pattern else { return None };
        let text = sources.slice(source.span);
        let from_zero =
            ["0..", "0 ..", "iota ", "indices "].iter().any(|head| text.starts_with(head));
        (from_zero && !text.contains(" by ")).then_some((name, *local, source, text))
    });
    let ranges: Vec<_> = ranges.collect();
    let pairs =
        ranges.iter().enumerate().flat_map(|(at, x)| ranges[at + 1..].iter().map(move |y| (x, y)));
    let index_both = |(x, y): &(&_, &_)| {
        let (x, y): (&(_, LocalId, _, _), &(_, LocalId, _, _)) = (x, y);
        std::iter::once(body).chain(filter).any(|expr| has_axes(expr, x.1, y.1))
    };
    let ((a, _, first, of_a), (b, _, second, of_b)) = pairs.into_iter().find(index_both)?;
    let message = format!("`{a}` and `{b}` are always the same: both generators begin at 0");
    let element = short(sources.slice(body.span), "e");
    let pairs = match filter.map(|filter| short(sources.slice(filter.span), "…")) {
        None => format!("{{ {{ {element} : {b} in {of_b} }} : {a} in {of_a} }}"),
        Some(kept) => {
            format!("flatten {{ {{ {element} : {b} in {of_b} | {kept} }} : {a} in {of_a} }}")
        }
    };
    Some(always_the_same(message, [first, second], &pairs))
}

/// What there is to say of records of two arrays of which those are wanted whose fields are equal, as a table is joined with
/// another elsewhere: only those at the same place meet.
pub(super) fn joined(
    body: &Expr,
    generators: &[(Pattern, Expr)],
    filter: Option<&Expr>,
    sources: &Sources,
) -> Option<Diagnostic> {
    let filter = filter?;
    let ExprKind::Apply { function, args, .. } = &filter.kind else { return None };
    let ExprKind::Builtin(Builtin::Op(ScalarOp::Eq), _) = &function.kind else { return None };
    let of_field = |expr: &Expr| {
        let ExprKind::Field { record, .. } = &expr.kind else { return None };
        let ExprKind::Local(local, _) = record.kind else { return None };
        let generator = generators.iter().find(
            |(pattern, _)| matches!(pattern, Pattern::Local { local: own, .. } if *own == local),
        );
        generator.map(|(pattern, source)| (pattern, source))
    };
    let [left, right] = &args[..] else { return None };
    let (one, other) = (of_field(&left.expr)?, of_field(&right.expr)?);
    let (first, second) =
        if one.1.span.end <= other.1.span.start { (one, other) } else { (other, one) };
    let (Pattern::Local { name: a, .. }, Pattern::Local { name: b, .. }) = (first.0, second.0)
    else {
        return None;
    };
    if a == b {
        return None;
    }
    let (xs, ys) = (sources.slice(first.1.span), sources.slice(second.1.span));
    let (xs, ys) = (short(xs, "xs"), short(ys, "ys"));
    let (element, kept) = (sources.slice(body.span), sources.slice(filter.span));
    let pairs = format!(
        "flatten {{ {{ {} : {b} in {ys} | {} }} : {a} in {xs} }}",
        short(element, "e"),
        short(kept, "…")
    );
    let message = format!("only a `{a}` and a `{b}` at the same place are compared");
    Some(always_the_same(message, [first.1, second.1], &pairs))
}

/// Whether two variables are indices of different axes of an array somewhere.
fn has_axes(expr: &Expr, one: LocalId, other: LocalId) -> bool {
    if let ExprKind::Apply { function, args, .. } = &expr.kind
        && let ExprKind::Builtin(Builtin::Index(_), _) = &function.kind
    {
        let is = |wanted: LocalId| {
            args.iter()
                .any(|arg| matches!(&arg.expr.kind, ExprKind::Local(local, _) if *local == wanted))
        };
        if is(one) && is(other) {
            return true;
        }
    }
    let mut found = false;
    expr.for_each_child(&mut |child| found = found || has_axes(child, one, other));
    found
}

/// A text, or what stands for one that is too long to be repeated.
fn short<'t>(text: &'t str, other: &'t str) -> &'t str {
    if text.len() <= LONGEST && !text.contains('\n') { text } else { other }
}
