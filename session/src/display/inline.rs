//! Values on one line.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};
use weft_ir::{Column, Type, Value};

use super::Digits;
use super::scalar::{shown_scalar, string_literal};
use super::shape::{is_text, size};

/// Nested arrays up to this length are shown whole even where elements are left out.
pub(crate) const SHORT: usize = 6;
/// Elements shown before and after the mark of those left out.
const HEAD: usize = 3;
const TAIL: usize = 2;
/// Bytes of a text shown inside another value, where elements are left out.
const TEXT: usize = 60;

/// How much a line shows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Amount {
    /// Of long arrays only the first and the last elements.
    ends: bool,
    /// The digits of floats.
    digits: Digits,
}

impl Amount {
    /// All of an array.
    pub(crate) fn all(digits: Digits) -> Amount {
        Amount { ends: false, digits }
    }

    /// Of long arrays only the first and the last elements.
    pub(crate) fn ends(digits: Digits) -> Amount {
        Amount { ends: true, digits }
    }
}

/// The value on one line of at most `width` cells: whole if it fits, else with elements left out, as
/// few as suffice, and cut off where even the first and the last are too long.
pub(crate) fn fitted(value: &Value, ty: &Type, width: usize, digits: Digits) -> String {
    if let Some(line) = whole(value, ty, width, digits) {
        return line;
    }
    let amount = Amount::ends(digits);
    let line = inline(value, ty, amount);
    if line.width() <= width {
        return line;
    }
    if let (Value::Array(array), Type::Array(element)) = (value, ty)
        && !is_text(ty)
    {
        let (elements, count) = (&array.elements, array.len());
        let fits = [(2, 2), (2, 1), (1, 1)]
            .into_iter()
            .filter(|(head, tail)| head + tail < count)
            .map(|(head, tail)| list(elements, element, &ends(count, head, tail), amount))
            .find(|line| line.width() <= width);
        if let Some(line) = fits {
            return line;
        }
    }
    cut(&line, width)
}

/// The whole value on one line, if that takes at most `width` cells.
pub(crate) fn whole(value: &Value, ty: &Type, width: usize, digits: Digits) -> Option<String> {
    // A scalar takes at least one cell, so that no long text is made only to be thrown away.
    if size(value) > width {
        return None;
    }
    Some(inline(value, ty, Amount::all(digits))).filter(|line| line.width() <= width)
}

/// The value on one line, however long it gets.
pub(crate) fn inline(value: &Value, ty: &Type, amount: Amount) -> String {
    match (value, ty) {
        (Value::Scalar(scalar), _) => shown_scalar(*scalar, amount.digits),
        (Value::Tuple(values), Type::Record(fields)) => {
            let parts = values.iter().zip(fields.iter());
            let parts: Vec<_> = parts
                .map(|(value, (name, ty))| format!("{name} = {}", inline(value, ty, amount)))
                .collect();
            format!("{{{}}}", parts.join(", "))
        }
        (Value::Tuple(values), Type::Tuple(types)) => {
            let parts = values.iter().zip(types.iter());
            let parts: Vec<_> = parts.map(|(value, ty)| inline(value, ty, amount)).collect();
            format!("({})", parts.join(", "))
        }
        (Value::Array(array), Type::Array(element)) => match &array.elements {
            Column::Char(bytes) if is_text(ty) => inline_text(bytes.as_slice(), amount),
            elements => {
                let shown = match amount.ends && elements.len() > SHORT {
                    true => ends(elements.len(), HEAD, TAIL),
                    false => (0..elements.len()).map(Some).collect(),
                };
                list(elements, element, &shown, amount)
            }
        },
        (value, ty) => panic!("a value that is not of its type {ty}: {value:?}"),
    }
}

/// `[a, b, …, z]` of the shown positions of a column.
pub(crate) fn list(
    elements: &Column,
    ty: &Type,
    shown: &[Option<usize>],
    amount: Amount,
) -> String {
    let parts: Vec<_> = shown
        .iter()
        .map(|index| match index {
            Some(index) => inline(&elements.get(*index), ty, amount),
            None => "…".to_owned(),
        })
        .collect();
    format!("[{}]", parts.join(", "))
}

/// The first `head` and the last `tail` of `count` positions; `None` stands for those between.
/// The caller has checked that there are more than `head + tail`.
pub(crate) fn ends(count: usize, head: usize, tail: usize) -> Vec<Option<usize>> {
    (0..head).map(Some).chain([None]).chain((count - tail..count).map(Some)).collect()
}

/// The positions of `count` things of which at most `most` are to be shown.
pub(crate) fn shown(count: usize, most: usize) -> Vec<Option<usize>> {
    let most = most.max(2);
    if count <= most {
        return (0..count).map(Some).collect();
    }
    ends(count, most.div_ceil(2), most / 2)
}

fn inline_text(bytes: &[u8], amount: Amount) -> String {
    if !amount.ends || bytes.len() <= TEXT {
        return string_literal(bytes);
    }
    let mut literal = string_literal(prefix(bytes, TEXT));
    literal.pop();
    literal.push_str("…\"");
    literal
}

/// At most `most` leading bytes of a text, not ending within a character.
pub(crate) fn prefix(bytes: &[u8], most: usize) -> &[u8] {
    if bytes.len() <= most {
        return bytes;
    }
    let within = |end: usize| bytes[end] & 0xc0 == 0x80;
    let end = (most.saturating_sub(3)..=most).rev().find(|&end| !within(end)).unwrap_or(most);
    &bytes[..end]
}

/// The line, cut off with `…` if it takes more than `width` cells.
pub(crate) fn cut(line: &str, width: usize) -> String {
    if line.width() <= width {
        return line.to_owned();
    }
    let mut used = 0;
    let mut out = String::new();
    for c in line.chars() {
        let cells = c.width().unwrap_or(0);
        if used + cells + 1 > width {
            break;
        }
        used += cells;
        out.push(c);
    }
    out.push('…');
    out
}
