//! Short expressions as text, for advice that repeats what was written.

use crate::ast::{ApplyForm, Axis, Expr, ExprKind, Number, PatternKind};

/// Longer texts are not repeated.
const LONGEST: usize = 40;

/// An expression as it could be written, if that is short.
pub(super) fn written(expr: &Expr) -> Option<String> {
    let text = whole(expr, "", "")?;
    (text.len() <= LONGEST).then_some(text)
}

/// The same as an argument: in parentheses where it needs them.
pub(super) fn argument(expr: &Expr) -> Option<String> {
    let text = written(expr)?;
    let is_signed = text.starts_with('-');
    Some(match &expr.kind {
        ExprKind::Apply { .. } | ExprKind::Range { .. } | ExprKind::Lambda { .. } => {
            format!("({text})")
        }
        _ if is_signed => format!("({text})"),
        _ => text,
    })
}

/// The same with the name `from` written as `to`: the element in place of the array.
pub(super) fn renamed(expr: &Expr, from: &str, to: &str) -> Option<String> {
    let text = whole(expr, from, to)?;
    (text.len() <= LONGEST).then_some(text)
}

/// The operands of an operator between two expressions, and its symbol.
pub(super) fn operation(expr: &Expr) -> Option<(&str, &Expr, &Expr)> {
    let ExprKind::Apply { function, args, form: ApplyForm::Operator } = &expr.kind else {
        return None;
    };
    match (&function.kind, &args[..]) {
        (ExprKind::Name(symbol), [left, right]) => Some((&**symbol, left, right)),
        _ => None,
    }
}

/// Whether an operator compares.
pub(super) fn is_comparison(symbol: &str) -> bool {
    matches!(symbol, "==" | "!=" | "<" | "<=" | ">" | ">=")
}

fn whole(expr: &Expr, from: &str, to: &str) -> Option<String> {
    let part = |expr: &Expr| {
        let text = whole(expr, from, to)?;
        Some(match &expr.kind {
            ExprKind::Apply { .. } | ExprKind::Range { .. } | ExprKind::Lambda { .. } => {
                format!("({text})")
            }
            _ => text,
        })
    };
    Some(match &expr.kind {
        ExprKind::Name(name) if !from.is_empty() && &**name == from => to.to_owned(),
        ExprKind::Name(name) if name.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
            name.to_string()
        }
        ExprKind::Name(name) => format!("({name})"),
        ExprKind::Number(Number::Int(value), None) => value.to_string(),
        ExprKind::Number(Number::Float { wide, .. }, None) if wide.is_nan() => "nan".to_owned(),
        ExprKind::Number(Number::Float { wide, .. }, None) if *wide == std::f64::consts::PI => {
            "pi".to_owned()
        }
        ExprKind::Number(Number::Float { wide, .. }, None) => format!("{wide:?}"),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Text(bytes) => {
            let text = std::str::from_utf8(bytes).ok()?;
            let is_plain = |letter: char| !letter.is_control() && letter != '"' && letter != '\\';
            text.chars().all(is_plain).then(|| format!("\"{text}\""))?
        }
        ExprKind::Char(byte) if is_plain_letter(*byte) => {
            format!("'{}'", *byte as char)
        }
        ExprKind::Field { record, field } => format!("{}.{}", part(record)?, field.name),
        ExprKind::Array(parts) if parts.len() <= 8 => {
            let parts: Option<Vec<String>> =
                parts.iter().map(|part| whole(part, from, to)).collect();
            format!("[{}]", parts?.join(", "))
        }
        ExprKind::Tuple(parts) if parts.len() <= 4 => {
            let parts: Option<Vec<String>> =
                parts.iter().map(|part| whole(part, from, to)).collect();
            format!("({})", parts?.join(", "))
        }
        ExprKind::Index { array, axes } => {
            let axes: Option<Vec<String>> = axes
                .iter()
                .map(|axis| match axis {
                    Axis::Index(index) => whole(index, from, to),
                    Axis::Slice { start: None, stop: None, step: None, .. } => Some(":".to_owned()),
                    Axis::Slice { .. } => None,
                })
                .collect();
            format!("{}[{}]", part(array)?, axes?.join(", "))
        }
        ExprKind::Apply { function, args, form } => match (&function.kind, &args[..], form) {
            (ExprKind::Name(symbol), [left, right], ApplyForm::Operator) => {
                format!("{} {symbol} {}", part(left)?, part(right)?)
            }
            (_, _, ApplyForm::Operator) => return None,
            (_, args, ApplyForm::Juxtaposition | ApplyForm::Pipe) => {
                let mut text = part(function)?;
                for arg in args {
                    let arg = part(arg)?;
                    let arg = if arg.starts_with('-') { format!("({arg})") } else { arg };
                    text.push(' ');
                    text.push_str(&arg);
                }
                text
            }
        },
        ExprKind::Lambda { params, body } => {
            let names = params.iter().map(|param| match &param.kind {
                PatternKind::Name(name) if name.starts_with(char::is_alphabetic) => Some(&**name),
                _ => None,
            });
            let names: Option<Vec<&str>> = names.collect();
            format!("\\{} -> {}", names?.join(" "), whole(body, from, to)?)
        }
        _ => return None,
    })
}

/// Whether a letter stands for itself between quotes.
fn is_plain_letter(byte: u8) -> bool {
    (byte.is_ascii_graphic() || byte == b' ') && !matches!(byte, b'\'' | b'\\')
}
