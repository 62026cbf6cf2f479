//! `(loop … do if c then a else a with [i] = v)`: all that stands before `with` is its array.

use super::written::written;
use crate::ast::{Expr, ExprKind, LetBinding, LoopControl};
use crate::diagnostic::Diagnostic;

/// What there is to say about a name that is only there before a `with`; `path` are the expressions around it, from
/// the outside in.
pub(super) fn advice(path: &[&Expr], found: &Diagnostic) -> Option<String> {
    let name = match &path.last()?.kind {
        ExprKind::Name(name) if found.code == "E0201" => name,
        _ => return None,
    };
    let array = path.iter().rev().find_map(|expr| match &expr.kind {
        ExprKind::With { array, .. } if !array.span.contains(found.span()) => Some(array),
        _ => None,
    })?;
    let (last, is_bound) = last(array, name);
    let array = written(last).filter(|_| is_bound)?;
    Some(format!(
        "all that stands before `with` is its array: write `({array} with [i] = …)` for `{array}`"
    ))
}

/// The part of an expression with which its text ends, if nothing there closes it, and whether a name is bound there.
fn last<'e>(expr: &'e Expr, name: &str) -> (&'e Expr, bool) {
    let (body, is_bound) = match &expr.kind {
        ExprKind::Let { bindings, body } => {
            let is_it = |binding: &LetBinding| match binding {
                LetBinding::Value(pattern, _) => pattern.binds(name),
                LetBinding::Function(def) => &*def.name.name == name,
            };
            (body, bindings.iter().any(is_it))
        }
        ExprKind::Lambda { params, body } => (body, params.iter().any(|param| param.binds(name))),
        ExprKind::Loop { pattern, control, body, .. } => {
            let of_control = match control {
                LoopControl::Count(own, _) | LoopControl::Each(own, _) => own.binds(name),
                LoopControl::While(_) => false,
            };
            (body, pattern.binds(name) || of_control)
        }
        ExprKind::If { otherwise, .. } => (otherwise, false),
        _ => return (expr, false),
    };
    let (last, inside) = last(body, name);
    (last, is_bound || inside)
}
