//! Texts: what is written in other languages by methods, by `f"…"` and by comparisons of their order.

use weft_ir::ScalarType;

use super::number::type_of;
use super::written::{argument, operation, written};
use crate::ast::{ApplyForm, Expr, ExprKind, Number};
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::types::Type;

/// What there is to say about a part of a program in which texts stand.
pub(super) fn advice(checker: &Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    match &expr.kind {
        ExprKind::Apply { function, args, form } if *form != ApplyForm::Operator => {
            formatted(function, args, found)
                .or_else(|| read(checker, function, args, found))
                .or_else(|| date_of_digits(function, args, found))
                .or_else(|| day_of(function, args, found))
                .or_else(|| numbers_of(checker, args, found))
                .or_else(|| letter(checker, args, found))
        }
        ExprKind::Apply { .. } => {
            numbers_in(checker, expr, found).or_else(|| ordered(checker, expr, found))
        }
        _ => None,
    }
}

/// `f"n = {n}"`.
fn formatted(function: &Expr, args: &[Expr], found: &Diagnostic) -> Option<String> {
    let (ExprKind::Name(name), [text]) = (&function.kind, args) else { return None };
    let is_prefix = matches!(&**name, "f" | "r" | "b" | "rf" | "fr" | "s")
        && matches!(text.kind, ExprKind::Text(_))
        && function.span.end == text.span.start;
    if !is_prefix || found.code != "E0201" || found.span() != function.span {
        return None;
    }
    Some(match &**name {
        "r" | "b" => "a text has quotes alone, `\"…\"`; a backslash is written `\\\\`".to_owned(),
        _ => "texts are joined with `++`, and numbers are written by `showInt n` and `showFixed 2 x`: \
              `\"n = \" ++ showInt n`"
            .to_owned(),
    })
}

/// `int "10"`.
fn read(
    checker: &Checker<'_>,
    function: &Expr,
    args: &[Expr],
    found: &Diagnostic,
) -> Option<String> {
    let (ExprKind::Name(name), [text]) = (&function.kind, args) else { return None };
    let is_text = matches!(text.kind, ExprKind::Text(_)) || {
        let ty = type_of(checker, text).map(|ty| checker.table.peel(&ty));
        matches!(ty, Some((rank, Type::Scalar(ScalarType::Char))) if rank > 0)
    };
    if found.code != "E0201" || found.span() != function.span || !is_text {
        return None;
    }
    let text = argument(text).unwrap_or_else(|| "text".to_owned());
    match &**name {
        "int" | "Int" | "integer" | "long" => {
            Some(format!("the integer that a text is, or 0, is `parseInt 0 {text}`"))
        }
        "float" | "Float" | "double" | "number" => {
            Some(format!("the number that a text is, or nan, is `parseFloat {text}`"))
        }
        _ => None,
    }
}

/// `dayNumber [20240103]`.
fn date_of_digits(function: &Expr, args: &[Expr], found: &Diagnostic) -> Option<String> {
    let (ExprKind::Name(name), [days]) = (&function.kind, args) else { return None };
    let is_it = &**name == "dayNumber" && days.span == found.span();
    let is_number = found.message.ends_with("i64") || found.message.ends_with("number");
    let days = argument(days)?;
    (is_it && is_number).then(|| {
        format!("of a number such as 20240131: `parseDate \"yyyymmdd\" (-1) (showInt {days})`")
    })
}

/// `dateParts "2024-01-03"`.
fn day_of(function: &Expr, args: &[Expr], found: &Diagnostic) -> Option<String> {
    let ExprKind::Name(name) = &function.kind else { return None };
    let of_days = matches!(&**name, "dateParts" | "dateText");
    let date = args.iter().find(|arg| arg.span == found.span())?;
    let is_text = found.message.ends_with("[]char");
    let date = argument(date)?;
    (of_days && is_text)
        .then(|| format!("the number of the day that a text writes is `dayNumber {date}`"))
}

/// A function of numbers that is given texts: a column in which there is more than numbers.
fn numbers_of(checker: &Checker<'_>, args: &[Expr], found: &Diagnostic) -> Option<String> {
    let arg = args.iter().find(|arg| arg.span == found.span())?;
    let whole = found.code == "E0302" && found.message.contains("needs i64, but");
    let any = found.code == "E0303"
        && (found.message.contains("a number") || found.message.contains("a float"));
    if !whole && !any {
        return None;
    }
    let reads = if whole { "parseInt 0" } else { "parseFloat" };
    let (rank, head) = checker.table.peel(&checker.type_at(arg.span)?);
    if head != Type::Scalar(ScalarType::Char) {
        return None;
    }
    let texts = argument(arg).unwrap_or_else(|| "texts".to_owned());
    match rank {
        0 => None,
        1 => Some(format!(
            "its letters have numbers, `i64 {texts}`; the number that it writes is `{reads} {texts}`"
        )),
        _ if whole => {
            Some(format!("these are texts: `{reads} {texts}` are numbers, 0 where a text is none"))
        }
        _ => Some(format!(
            "these are texts: `{reads} {texts}` are numbers, nan where a text is none"
        )),
    }
}

/// `toUpper 'a'`: a letter where a text is wanted.
fn letter(checker: &Checker<'_>, args: &[Expr], found: &Diagnostic) -> Option<String> {
    let arg = args.iter().find(|arg| arg.span == found.span())?;
    if !found.message.contains("[]char") || !found.message.ends_with("this is char") {
        return None;
    }
    match &arg.kind {
        ExprKind::Char(byte) => Some(format!(
            "a text stands in double quotes, `\"{}\"`; in single ones stands one letter",
            match byte {
                b'"' => "\\\"".to_owned(),
                b'\'' => "'".to_owned(),
                byte => byte.escape_ascii().to_string(),
            }
        )),
        _ if checker.rank_at(arg.span) == Some(0) => {
            let letter = written(arg).unwrap_or_else(|| "c".to_owned());
            Some(format!("the text of one letter is `[{letter}]`"))
        }
        _ => None,
    }
}

/// The same with an operator.
fn numbers_in(checker: &Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    let (symbol, left, right) = operation(expr)?;
    let is_arithmetic = matches!(symbol, "-" | "*" | "/" | "+" | "**" | "//" | "%");
    let arg = [left, right].into_iter().find(|arg| arg.span == found.span())?;
    let other = if std::ptr::eq(arg, left) { right } else { left };
    let is_text = |expr: &Expr| {
        let ty = checker.type_at(expr.span)?;
        let (rank, head) = checker.table.peel(&ty);
        Some((rank, head == Type::Scalar(ScalarType::Char)))
    };
    // `c - 'a'`, where nothing says yet what `c` is.
    if symbol == "-" && matches!(right.kind, ExprKind::Char(_)) && found.code == "E0303" {
        let (left, right) = (argument(left)?, argument(right)?);
        return Some(format!("how far letters are apart: `i64 {left} - i64 {right}`"));
    }
    let (rank, true) = is_text(arg)? else { return None };
    if matches!(found.code, "E0303" | "E0302") && matches!(symbol, "+" | "-" | "*") {
        let numbers = checker.rank_at(other.span);
        if symbol == "-" && is_text(other)?.1 {
            let (left, right) = (argument(left)?, argument(right)?);
            return Some(format!("how far letters are apart: `i64 {left} - i64 {right}`"));
        }
        let is_count = |expr: &Expr| matches!(expr.kind, ExprKind::Number(Number::Int(_), _));
        if rank == 0 && symbol != "*" && numbers == Some(0) && !is_text(other)?.1 {
            let sides = |part: &Expr| {
                let text = argument(part)?;
                Some(if std::ptr::eq(part, arg) { format!("i64 {text}") } else { text })
            };
            let whole = format!("{} {symbol} {}", sides(left)?, sides(right)?);
            return Some(match is_count(other) {
                true => format!("a letter has a number: `char ({whole})`"),
                false => format!("a letter has a number: `{whole}`"),
            });
        }
        if rank == 1 && symbol == "*" && is_count(other) {
            let (n, text) = (argument(other)?, argument(arg)?);
            return Some(format!("a text is repeated by `flatten (replicate {n} {text})`"));
        }
    }
    if !is_arithmetic || !matches!(found.code, "E0303" | "E0302") || is_text(other)?.1 || rank == 0
    {
        return None;
    }
    if let (ExprKind::Text(format), "%") = (&arg.kind, symbol)
        && format.contains(&b'%')
    {
        return Some(
            "numbers in a text: `\"… \" ++ showInt n ++ \" …\"`, with two decimals `showFixed 2 x`"
                .to_owned(),
        );
    }
    let texts = argument(arg).unwrap_or_else(|| "text".to_owned());
    Some(format!("`parseFloat {texts}` makes a number of a text, nan where it is none"))
}

/// `r.date > "2015-01-01"`: texts have no order of their own.
fn ordered(checker: &Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    let (symbol, left, right) = operation(expr)?;
    let is_order = matches!(symbol, "<" | "<=" | ">" | ">=");
    let text = [left, right].into_iter().find(|side| matches!(side.kind, ExprKind::Text(_)));
    let is_text = |expr: &Expr| {
        let ty = checker.type_at(expr.span).map(|ty| checker.table.peel(&ty));
        matches!(ty, Some((rank, Type::Scalar(ScalarType::Char))) if rank > 0)
    };
    let are_texts = is_text(left) && is_text(right);
    let is_own =
        found.span() == expr.span || found.span() == left.span || found.span() == right.span;
    if !is_order || !is_own || !are_texts || !matches!(found.code, "E0301" | "E0305" | "E0306") {
        return None;
    }
    let is_date = |bytes: &[u8]| {
        let is_mark = |place: usize| place == 4 || place == 7;
        bytes.len() == 10
            && bytes.iter().enumerate().all(|(place, byte)| match is_mark(place) {
                true => *byte == b'-' || *byte == b'/' || *byte == b'.',
                false => byte.is_ascii_digit(),
            })
    };
    if let Some(Expr { kind: ExprKind::Text(bytes), .. }) = text
        && is_date(bytes)
        && let Some(mark) = bytes.get(4)
    {
        let number: String =
            bytes.iter().filter(|byte| byte.is_ascii_digit()).map(|&byte| byte as char).collect();
        let other = if matches!(left.kind, ExprKind::Text(_)) { right } else { left };
        let rank = checker.type_at(other.span).map_or(1, |ty| checker.table.peel(&ty).0);
        let mark = *mark as char;
        // The parameter of a section has no name that can be written.
        let of =
            argument(other).filter(|of| !of.contains('$')).unwrap_or_else(|| "date".to_owned());
        let digits = match rank {
            1 => format!("parseInt 0 {{ c in {of} | c != '{mark}' }}"),
            _ => format!("parseInt 0 {{ {{ c in d | c != '{mark}' }} : d in {of} }}"),
        };
        let compared = if std::ptr::eq(other, left) {
            format!("{digits} {symbol} {number}")
        } else {
            format!("{number} {symbol} {digits}")
        };
        return Some(format!("a text has no order; of such a date the digits have: `{compared}`"));
    }
    Some(
        "a text has no order of its own, but its number among others has: `(numbers, names) = codes texts`, \
         where `names` are in order"
            .to_owned(),
    )
}
