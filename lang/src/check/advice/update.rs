//! `(loop … do if c then a else a with [i] = v)`: all that stands before `with` is its array.

use super::written::written;
use crate::ast::{Expr, ExprKind};
use crate::diagnostic::Diagnostic;

/// What there is to say about a name that is only there before a `with`; `path` are the expressions around it, from
/// the outside in.
pub(super) fn advice(path: &[&Expr], found: &Diagnostic) -> Option<String> {
    if found.code != "E0201" {
        return None;
    }
    let array = path.iter().rev().find_map(|expr| match &expr.kind {
        ExprKind::With { array, .. } if !array.span.contains(found.span()) => Some(array),
        _ => None,
    })?;
    let last = last(array);
    (last.span != array.span).then_some(())?;
    let name = written(last)?;
    Some(format!(
        "all that stands before `with` is its array: write `({name} with [i] = …)` for `{name}`"
    ))
}

/// The part of an expression with which its text ends, if nothing there closes it.
fn last(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Let { body, .. }
        | ExprKind::Lambda { body, .. }
        | ExprKind::Loop { body, .. } => last(body),
        ExprKind::If { otherwise, .. } => last(otherwise),
        _ => expr,
    }
}
