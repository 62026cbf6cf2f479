//! What lengths that differ say beyond their numbers: which operand has which, on which axis, and that
//! nothing is repeated to fit; and what a slice means whose bounds were to count from the end.

use weft_ir::{Column, Span, Value};
use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, GlobalId, Program};

/// What to write where generators were to be nested.
const COMBINATIONS: &str = "generators go side by side; for all combinations nest the braces: `{ { e : y in ys } : x in xs }`";

/// Adds to the report about two lengths that differ what the operands are, if it is an application that
/// failed and not something inside of a function.
pub(super) fn explained(
    diagnostic: Diagnostic,
    program: &Program,
    values: &dyn Fn(GlobalId) -> Option<Value>,
    (operation, left, right): (&str, i64, i64),
    source: &dyn Fn(Span) -> String,
) -> Diagnostic {
    let place = diagnostic.span();
    let bodies = program.instances.iter().map(|instance| &*instance.body);
    let applied = std::iter::once(&program.entry).chain(bodies);
    let Some((function, args, depth)) = applied.into_iter().find_map(|body| at(body, place)) else {
        return match operation {
            "apply-to-each" => diagnostic.help(COMBINATIONS),
            _ => diagnostic,
        };
    };
    let mapped: Vec<&Expr> = args.iter().filter(|arg| arg.mapped).map(|arg| &arg.expr).collect();
    let [a, b] = mapped[..] else { return diagnostic };
    // Lengths of the outer axis are compared first.
    let axis = match (depth, length(a, values), length(b, values)) {
        (0, _, _) => return diagnostic,
        (1, _, _) => Axis::Only,
        (_, Some(a), Some(b)) if a != b => Axis::Outer,
        (2, Some(_), Some(_)) => Axis::Inner,
        (_, _, _) => return diagnostic,
    };
    let what = |length: i64| match (&axis, length) {
        (Axis::Only, 1) => "1 element".to_owned(),
        (Axis::Only, n) => format!("{n} elements"),
        (Axis::Outer, 1) => "1 row".to_owned(),
        (Axis::Outer, n) => format!("{n} rows"),
        (Axis::Inner, 1) => "rows of 1 element".to_owned(),
        (Axis::Inner, n) => format!("rows of {n} elements"),
    };
    let diagnostic = diagnostic.label(a.span, what(left)).label(b.span, what(right));
    let is_operator = matches!(&function.kind, ExprKind::Builtin(Builtin::Op(_), _));
    if !is_operator || args.len() != 2 || (left != 1 && right != 1) {
        return diagnostic;
    }
    let symbol = source(function.span);
    if symbol.is_empty() || symbol.starts_with(char::is_alphanumeric) || symbol.len() > 3 {
        return diagnostic;
    }
    // Rows may differ in length among themselves.
    let short = if right == 1 { b } else { a };
    if matches!(axis, Axis::Inner) && !has_rows_of_one(short, values) {
        return diagnostic;
    }
    let instead = match (axis, right == 1) {
        (Axis::Only, true) => format!("`xs {symbol} first ys`"),
        (Axis::Only, false) => format!("`first xs {symbol} ys`"),
        (Axis::Outer, true) => format!("`{{ r {symbol} first b : r in a }}`"),
        (Axis::Outer, false) => format!("`{{ first a {symbol} r : r in b }}`"),
        (Axis::Inner, true) => format!("`{{ r {symbol} first c : r in a ; c in b }}`"),
        (Axis::Inner, false) => format!("`{{ first c {symbol} r : c in a ; r in b }}`"),
    };
    diagnostic.help(format!("an axis of length 1 is not repeated to fit: write {instead}"))
}

/// Where the lengths differ.
enum Axis {
    /// The operands are traversed along one axis.
    Only,
    /// The first of several.
    Outer,
    /// One further in.
    Inner,
}

/// The application at a place: its function, its arguments, over how many axes it is mapped.
fn at(expr: &Expr, place: Span) -> Option<(&Expr, &[Arg], usize)> {
    if let ExprKind::Apply { function, args, depth } = &expr.kind
        && expr.span == place
    {
        return Some((function, args, *depth));
    }
    let mut found = None;
    expr.for_each_child(&mut |child| found = found.or_else(|| at(child, place)));
    found
}

/// Whether each row of an array has one element, as far as that is known.
fn has_rows_of_one(expr: &Expr, values: &dyn Fn(GlobalId) -> Option<Value>) -> bool {
    match &expr.kind {
        ExprKind::Array(parts) => parts.iter().all(|part| length(part, values) == Some(1)),
        ExprKind::Value(global) => match values(*global) {
            Some(Value::Array(array)) => {
                matches!(array.elements, Column::Dense { extent: 1, .. })
            }
            Some(Value::Scalar(_) | Value::Tuple(_)) | None => false,
        },
        _ => false,
    }
}

/// How long an array is, where that stands there or is known of a value.
fn length(expr: &Expr, values: &dyn Fn(GlobalId) -> Option<Value>) -> Option<usize> {
    match &expr.kind {
        ExprKind::Array(parts) => Some(parts.len()),
        ExprKind::NumberArray(numbers) => Some(numbers.len()),
        ExprKind::Value(global) => match values(*global)? {
            Value::Array(array) => Some(array.len()),
            Value::Scalar(_) | Value::Tuple(_) => None,
        },
        _ => None,
    }
}
