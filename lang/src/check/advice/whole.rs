//! Floats where an integer is needed: indices, bounds, lengths. Most of them are quotients, which were meant whole.

use super::call::parameters;
use super::number::Numeric;
use super::written::{argument, operation, written};
use crate::ast::{ApplyForm, Axis, Expr, ExprKind, LetBinding, LoopControl, PatternKind};
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::types::Type;

/// What there is to say about a float in the place of an integer; `path` are the expressions around it, from the
/// outside in.
pub(super) fn advice(
    checker: &mut Checker<'_>,
    path: &[&Expr],
    found: &Diagnostic,
) -> Option<String> {
    if !matches!(found.code, "E0301" | "E0302" | "E0303") {
        return None;
    }
    let at = path.iter().rposition(|expr| expr.span == found.span())?;
    let (around, expr) = (&path[..at], path[at]);
    let place = Place::of(checker, around.last()?, expr)?;
    if let Some(whole) = quotient(checker, expr) {
        return Some(format!("`//` divides integers: `{whole}`"));
    }
    if let ExprKind::Name(name) = &expr.kind
        && let Some(value) = bound(around, name)
        && let Some(whole) = quotient(checker, value)
    {
        return Some(format!("`//` divides integers: `{name} = {whole}`"));
    }
    let numeric = Numeric::of(checker, expr)?;
    match place {
        Place::Index(array, 1) if numeric.scalar.is_float() && !numeric.is_literal => Some(
            format!("`i64` cuts fractions off: `{}[i64 {}]`", argument(array)?, argument(expr)?),
        ),
        _ => None,
    }
}

/// Where an integer is needed.
enum Place<'e> {
    /// An index of this array, one of so many.
    Index(&'e Expr, usize),
    /// A bound, a length, an argument.
    Other,
}

impl<'e> Place<'e> {
    /// The place of an expression in the one around it, if it is one of integers.
    fn of(checker: &mut Checker<'_>, around: &'e Expr, expr: &Expr) -> Option<Place<'e>> {
        let is_it = |other: &Expr| other.span == expr.span;
        match &around.kind {
            ExprKind::Index { array, axes } | ExprKind::With { array, axes, value: _ } => {
                let is_read = matches!(around.kind, ExprKind::Index { .. });
                axes.iter().find_map(|axis| match axis {
                    Axis::Index(index) if is_read => {
                        is_it(index).then_some(Place::Index(array, axes.len()))
                    }
                    Axis::Index(index) => is_it(index).then_some(Place::Other),
                    Axis::Slice { start, stop, step, .. } => {
                        let bounds = [start, stop, step];
                        bounds.into_iter().flatten().any(is_it).then_some(Place::Other)
                    }
                })
            }
            ExprKind::Loop { control: LoopControl::Count(_, count), .. } => {
                is_it(count).then_some(Place::Other)
            }
            ExprKind::Apply { function, args, form: ApplyForm::Juxtaposition } => {
                let ExprKind::Name(name) = &function.kind else { return None };
                let position = args.iter().position(is_it)?;
                let params = parameters(checker, name)?;
                match checker.table.peel(params.get(position)?).1 {
                    Type::Scalar(scalar) if scalar.is_int() => Some(Place::Other),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}

/// `a // b` for `a / b`, unless one of both is known to be a float.
fn quotient(checker: &Checker<'_>, expr: &Expr) -> Option<String> {
    let ("/", left, right) = operation(expr)? else { return None };
    let is_float = |side: &Expr| {
        let is_written = matches!(side.kind, ExprKind::Number(crate::ast::Number::Float { .. }, _));
        let numeric = Numeric::of(checker, side);
        is_written || numeric.is_some_and(|side| side.scalar.is_float() && !side.is_literal)
    };
    if is_float(left) || is_float(right) {
        return None;
    }
    Some(format!("{} // {}", operand(left)?, operand(right)?))
}

/// A side of a quotient.
fn operand(expr: &Expr) -> Option<String> {
    match operation(expr) {
        Some(_) => Some(format!("({})", written(expr)?)),
        None => written(expr),
    }
}

/// What a `let` around binds to a name.
fn bound<'e>(around: &[&'e Expr], name: &str) -> Option<&'e Expr> {
    around.iter().rev().find_map(|expr| {
        let ExprKind::Let { bindings, .. } = &expr.kind else { return None };
        bindings.iter().rev().find_map(|binding| match binding {
            LetBinding::Value(pattern, value) => match &pattern.kind {
                PatternKind::Name(own) if &**own == name => Some(value),
                _ => None,
            },
            LetBinding::Function(_) => None,
        })
    })
}
