//! `{ e : row in m ; x in row }`: generators go side by side, where other languages nest them.

use super::written::{argument, written};
use crate::ast::{Expr, ExprKind, Pattern, PatternKind};
use crate::diagnostic::Diagnostic;

/// What there is to say about a name of an earlier generator in a later one; `path` are the expressions around it, from
/// the outside in.
pub(super) fn advice(path: &[&Expr], found: &Diagnostic) -> Option<String> {
    if let Some(help) = with_positions(path.last()?, found) {
        return Some(help);
    }
    let name = match &path.last()?.kind {
        ExprKind::Name(name) if found.code == "E0201" => name,
        _ => return None,
    };
    path.iter().rev().find_map(|expr| {
        let ExprKind::Comprehension { body, generators, filter } = &expr.kind else { return None };
        let inner = generators.iter().position(|(_, of)| of.span.contains(found.span()))?;
        let outer = generators[..inner].iter().position(|(pattern, _)| pattern.binds(name))?;
        let both = generators.len() == 2 && filter.is_none();
        let text = |expr: &Expr| written(expr).unwrap_or_else(|| "…".to_owned());
        let of = |(pattern, from): &(Pattern, Expr)| match &pattern.kind {
            PatternKind::Name(name) => format!("{name} in {}", text(from)),
            _ => format!("… in {}", text(from)),
        };
        let body = if both { text(body) } else { "…".to_owned() };
        let (inner, outer) = (of(&generators[inner]), of(&generators[outer]));
        Some(format!(
            "generators go side by side; for each `{name}` all of it: `{{ {{ {body} : {inner} }} : {outer} }}`, which \
             `flatten` makes one array"
        ))
    })
}

/// `{ i * x : (i, x) in xs }`: the elements alone have no positions.
fn with_positions(expr: &Expr, found: &Diagnostic) -> Option<String> {
    if !found.message.starts_with("this pattern needs (a, b)") || !found.help.is_empty() {
        return None;
    }
    let ExprKind::Comprehension { generators, .. } = &expr.kind else { return None };
    let (pattern, of) = generators.iter().find(|(pattern, _)| pattern.span == found.span())?;
    let PatternKind::Tuple(parts) = &pattern.kind else { return None };
    let [PatternKind::Name(i), PatternKind::Name(x)] = [&parts[0].kind, &parts[1].kind] else {
        return None;
    };
    let of = argument(of).unwrap_or_else(|| "xs".to_owned());
    Some(format!(
        "the elements are no tuples; with their positions goes `({i}, {x}) in zip (indices {of}) {of}`"
    ))
}
