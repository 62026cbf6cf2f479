//! How values print (section 7 of the language): scalars alone, arrays with their type first and
//! elided corners, matrices and records as tables, `[]char` as text.
//!
//! Whatever the size of a value, only what is shown is looked at. The choices behind the contract:
//!
//! - A value that holds an array is preceded by its type with the extents found. A text alone is
//!   not: it prints as it is, with control characters and broken UTF-8 as escapes.
//! - A list of up to `max_elements` prints whole, broken into aligned lines if need be; a longer
//!   one as its first three and last two. Tables show `max_rows` rows from both ends, and as many
//!   columns as fit into the width.
//! - Floats print as Rust's `{:?}`: the shortest digits that read back equal, an exponent from
//!   1e16 up and below 1e-5.
//! - An array of rank 3 or more prints as its matrices, each under its index.

mod graphics;
mod html;
mod inline;
mod latex;
mod literal;
mod picture;
mod scalar;
mod shape;
mod statistics;
mod table;

use std::num::NonZeroU8;

use unicode_width::UnicodeWidthStr;
use weft_ir::{Array, Column, Type, Value};

use crate::plot;
use crate::sink::Cancel;

pub use graphics::{Graphics, Pictures, graphics};
pub use html::html;
pub use latex::latex;
pub use literal::literal;
pub use picture::{Picture, picture};
pub use shape::{discovered_type, size};
pub use statistics::statistics;

pub(crate) use picture::{base64, is_image};
pub(crate) use shape::bound_type;

use inline::{Amount, cut, fitted, list, prefix, shown, whole};
use scalar::{plain_text, shown_scalar};
use shape::{fitted_type, holds_array, is_text, leaves, rank_above_atoms};
use table::{component_columns, is_number, matrix, table};

/// How much is shown, and on how wide a screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// Cells of a line.
    pub width: usize,
    /// Whether escape sequences may dim the type before a value.
    pub colour: bool,
    /// A list of more elements than this shows its ends only.
    pub max_elements: usize,
    /// The rows of a table or of a ragged array that are shown.
    pub max_rows: usize,
    /// The columns of a table that are shown, if they fit.
    pub max_columns: usize,
    /// The bytes of a text that are shown.
    pub max_text: usize,
    /// The significant digits of floats.
    pub digits: Digits,
    /// How a terminal shows pictures; `None` for what it can.
    pub graphics: Option<Pictures>,
}

/// How many significant digits a float is shown with; `None` for as many as it takes to read it back.
pub type Digits = Option<NonZeroU8>;

impl Options {
    /// As much as a person may want to page through.
    pub(crate) fn for_paging(&self) -> Options {
        Options {
            max_elements: self.max_elements.max(WHOLE_ELEMENTS),
            max_rows: self.max_rows.max(WHOLE_ROWS),
            max_columns: self.max_columns.max(1000),
            max_text: self.max_text.max(10 << 20),
            ..self.clone()
        }
    }

    /// Whether it is that much.
    fn is_for_paging(&self) -> bool {
        self.max_elements >= WHOLE_ELEMENTS && self.max_rows >= WHOLE_ROWS
    }

    /// The defaults, for a screen of that width.
    pub fn new(width: usize) -> Options {
        Options {
            width: width.max(20),
            colour: false,
            max_elements: 100,
            max_rows: 12,
            max_columns: 20,
            max_text: 20_000,
            digits: None,
            graphics: None,
        }
    }
}

/// How many elements or bytes are looked at before anybody asks again whether the rest is wanted.
const PIECE: usize = 1 << 16;

/// The rows of a table that `:show` shows at least.
const WHOLE_ROWS: usize = 10_000;

/// The elements of a list of which somebody may want to see all.
const WHOLE_ELEMENTS: usize = 100_000;

/// What is left of a value that somebody asked to see all of, where its text leaves something out.
pub(crate) fn left_out(text: &str, value: &Value, cancel: &Cancel) -> Option<&'static str> {
    const GAP: &str = "…";
    fn has_gap(column: &Column, cancel: &Cancel) -> bool {
        match column {
            Column::Char(bytes) => {
                let has = |part: &[u8]| part.windows(GAP.len()).any(|part| part == GAP.as_bytes());
                let bytes = bytes.as_slice();
                // Pieces overlap, as the sign may lie across their border.
                let starts = (0..bytes.len()).step_by(PIECE);
                let mut pieces =
                    starts.map(|at| &bytes[at..(at + PIECE + GAP.len()).min(bytes.len())]);
                pieces.any(|piece| cancel.is_cancelled() || has(piece))
            }
            Column::Dense { .. } | Column::Ragged { .. } => has_gap(&column.flatten(), cancel),
            Column::Tuple { parts, .. } => parts.iter().any(|part| has_gap(part, cancel)),
            _ => false,
        }
    }
    fn value_has_gap(value: &Value, cancel: &Cancel) -> bool {
        match value {
            Value::Scalar(_) => false,
            Value::Tuple(parts) => parts.iter().any(|part| value_has_gap(part, cancel)),
            Value::Array(array) => has_gap(&array.elements, cancel),
        }
    }
    // A text may have such a sign of its own.
    (text.contains(GAP) && !value_has_gap(value, cancel)).then_some(
        "`…` stands for what is left out: `:set elements`, `:set rows`, `:set columns` and a wider \
         screen show more",
    )
}

/// What stands after the type.
enum Body {
    /// One line, beside the type if there is room.
    Line(String),
    /// Lines of their own.
    Lines(String),
}

/// A value as it is shown; without a newline at the end. `None` if it is cancelled, which may come at any time:
/// a person may have asked for a million rows.
pub fn text(value: &Value, ty: &Type, options: &Options, cancel: &Cancel) -> Option<String> {
    let text = drawn_or_written(value, ty, options, cancel)?;
    Some(match plot::nothing_to_see(value, ty) {
        None => text,
        Some(why) => format!("{text}\n{why}"),
    })
}

fn drawn_or_written(
    value: &Value,
    ty: &Type,
    options: &Options,
    cancel: &Cancel,
) -> Option<String> {
    if let Some(plot) = plot::text(value, ty, options.width, options.colour) {
        return Some(plot);
    }
    if let (true, Value::Tuple(fields)) = (is_image(ty), value)
        && let Some(Value::Array(rows)) = fields.first()
        && let Ok(extent) = rows.elements.extent()
    {
        return Some(format!("a picture of {extent} by {} pixels", rows.len()));
    }
    if !holds_array(ty) {
        return Some(match body(value, ty, options.width, options, cancel)? {
            Body::Line(text) | Body::Lines(text) => text,
        });
    }
    let heading = fitted_type(value, ty, options.width);
    let beside = options.width.saturating_sub(heading.width() + 1);
    let shown_type =
        if options.colour { format!("\x1b[2m{heading}\x1b[0m") } else { heading.clone() };
    Some(match body(value, ty, beside, options, cancel)? {
        Body::Line(line) if line.width() <= beside => format!("{shown_type} {line}"),
        Body::Line(text) | Body::Lines(text) => format!("{shown_type}\n{text}"),
    })
}

/// Whether the type of a value stands before it.
pub(crate) fn has_heading(ty: &Type) -> bool {
    holds_array(ty) && !plot::is_plot(ty) && !is_image(ty)
}

/// The value without its type; one line if that takes at most `beside` cells.
fn body(
    value: &Value,
    ty: &Type,
    beside: usize,
    options: &Options,
    cancel: &Cancel,
) -> Option<Body> {
    match (value, ty) {
        (Value::Scalar(scalar), _) => Some(Body::Line(shown_scalar(*scalar, options.digits))),
        (Value::Tuple(values), _) => composite(value, values, ty, (beside, options), cancel),
        (Value::Array(array), Type::Array(element)) => {
            array_body(array, (ty, element), beside, options, cancel)
        }
        (value, ty) => panic!("a value that is not of its type {ty}: {value:?}"),
    }
}

/// A tuple or a record: a record of columns as a table, else on one line, else a line a component.
fn composite(
    value: &Value,
    values: &[Value],
    ty: &Type,
    (beside, options): (usize, &Options),
    cancel: &Cancel,
) -> Option<Body> {
    if let Some(columns) = record_of_columns(values, ty) {
        return table(&columns, options, cancel).map(Body::Lines);
    }
    if let Some(line) = whole(value, ty, beside, options.digits) {
        return Some(Body::Line(line));
    }
    let fields: Vec<(String, &Type)> = match ty {
        Type::Record(fields) => fields.iter().map(|(name, ty)| (name.to_string(), ty)).collect(),
        Type::Tuple(types) => {
            types.iter().enumerate().map(|(index, ty)| (format!(".{index}"), ty)).collect()
        }
        Type::Scalar(_) | Type::Array(_) => Vec::new(),
    };
    let names = fields.iter().map(|(name, _)| name.width()).max().unwrap_or(0);
    let lines: Vec<String> = values
        .iter()
        .zip(&fields)
        .map(|(value, (name, ty))| {
            let mut line = format!("{name}{:padding$} = ", "", padding = names - name.width());
            if holds_array(ty) {
                line.push_str(&fitted_type(value, ty, options.width / 2));
                line.push(' ');
            }
            let room = options.width.saturating_sub(line.width()).max(20);
            if let Some(rows) = indented(value, ty, room, options, cancel) {
                line.truncate(line.trim_end().len());
                return line + "\n" + &rows;
            }
            line.push_str(&fitted(value, ty, room, options.digits));
            cut(&line, options.width)
        })
        .collect();
    Some(Body::Lines(lines.join("\n")))
}

/// A short list of scalars as indented lines, if it does not fit on the rest of a line; where all is to be seen, any
/// component that does not.
fn indented(
    value: &Value,
    ty: &Type,
    room: usize,
    options: &Options,
    cancel: &Cancel,
) -> Option<String> {
    let narrower = Options { width: options.width.saturating_sub(2).max(20), ..options.clone() };
    let lines = match (value, ty) {
        _ if options.is_for_paging() => {
            if whole(value, ty, room, options.digits).is_some() {
                return None;
            }
            match body(value, ty, room, &narrower, cancel)? {
                Body::Line(text) | Body::Lines(text) => text,
            }
        }
        (Value::Array(array), Type::Array(element)) => {
            let is_short = matches!(**element, Type::Scalar(_)) && array.len() <= inline::SHORT;
            if !is_short || is_text(ty) {
                return None;
            }
            match numbers(&array.elements, element, room, &narrower, cancel)? {
                Body::Line(_) => return None,
                Body::Lines(lines) => lines,
            }
        }
        _ => return None,
    };
    Some(lines.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"))
}

/// The columns of a record whose fields are arrays of one length.
fn record_of_columns(values: &[Value], ty: &Type) -> Option<Vec<(String, Column, Type)>> {
    let Type::Record(fields) = ty else { return None };
    let mut columns = Vec::with_capacity(fields.len());
    for (value, (name, ty)) in values.iter().zip(fields.iter()) {
        let (Value::Array(array), Type::Array(element)) = (value, ty) else { return None };
        if is_text(ty) {
            return None;
        }
        columns.push((name.to_string(), array.elements.clone(), (**element).clone()));
    }
    let count = columns.first()?.1.len();
    (count > 0 && columns.iter().all(|(_, column, _)| column.len() == count)).then_some(columns)
}

fn array_body(
    array: &Array,
    (ty, element): (&Type, &Type),
    beside: usize,
    options: &Options,
    cancel: &Cancel,
) -> Option<Body> {
    let elements = &array.elements;
    match elements {
        Column::Char(bytes) if is_text(ty) => {
            return text_lines(bytes.as_slice(), options, cancel).map(Body::Lines);
        }
        elements if elements.is_empty() => return Some(Body::Line("[]".to_owned())),
        Column::Tuple { parts, .. } if !parts.is_empty() => {
            let columns = component_columns(parts, element);
            return table(&columns, options, cancel).map(Body::Lines);
        }
        _ => {}
    }
    match rank_above_atoms(ty) {
        0 | 1 if is_text(element) => rows(elements, element, beside, options, cancel),
        0 | 1 => numbers(elements, element, beside, options, cancel),
        2 => match (elements.extent(), element) {
            (Ok(extent), Type::Array(inner)) if extent > 0 => {
                matrix(elements, extent, inner, options, cancel).map(Body::Lines)
            }
            _ => rows(elements, element, beside, options, cancel),
        },
        _ => {
            let mut out = Vec::new();
            slices(elements, element, "", (options, cancel), &mut out)?;
            Some(Body::Lines(out.join("\n")))
        }
    }
}

/// A list of scalars.
fn numbers(
    elements: &Column,
    ty: &Type,
    beside: usize,
    options: &Options,
    cancel: &Cancel,
) -> Option<Body> {
    let amount = Amount::all(options.digits);
    if elements.len() > options.max_elements.max(5) {
        let ends = inline::ends(elements.len(), 3, 2);
        return Some(Body::Line(list(elements, ty, &ends, Amount::ends(options.digits))));
    }
    // The texts of the elements one behind the other, and where each ends.
    let (mut texts, mut ends) = (String::new(), Vec::new());
    let (mut widest, mut total) = (0, 0);
    for index in 0..elements.len() {
        if cancel.is_cancelled() {
            return None;
        }
        let text = inline::inline(&elements.get(index), ty, amount);
        let width = text.width();
        (widest, total) = (widest.max(width), total + width);
        texts.push_str(&text);
        ends.push(texts.len());
    }
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let cells = starts.zip(&ends).map(|(start, end)| &texts[start..*end]);
    const SEPARATOR: usize = 2;
    if SEPARATOR * elements.len().max(1) + total <= beside {
        return Some(Body::Line(format!("[{}]", cells.collect::<Vec<_>>().join(", "))));
    }
    let a_line = ((options.width.saturating_sub(1)) / (widest + SEPARATOR)).max(1);
    let right = is_number(ty);
    let mut lines = "[".to_owned();
    for (index, cell) in cells.enumerate() {
        if cancel.is_cancelled() {
            return None;
        }
        match (index, index % a_line) {
            (0, _) => {}
            (_, 0) => lines.push_str(",\n "),
            _ => lines.push_str(", "),
        }
        if right {
            lines.extend(std::iter::repeat_n(' ', widest - cell.width()));
        }
        lines.push_str(cell);
    }
    lines.push(']');
    Some(Body::Lines(lines))
}

/// Texts, or rows of different lengths: on one line, else a line each.
fn rows(
    elements: &Column,
    ty: &Type,
    beside: usize,
    options: &Options,
    cancel: &Cancel,
) -> Option<Body> {
    if leaves(elements) <= beside {
        let all: Vec<_> = (0..elements.len()).map(Some).collect();
        let line = list(elements, ty, &all, Amount::all(options.digits));
        if line.width() <= beside {
            return Some(Body::Line(line));
        }
    }
    let mut lines = Vec::new();
    for row in shown(elements.len(), options.max_rows) {
        if cancel.is_cancelled() {
            return None;
        }
        lines.push(match row {
            Some(row) => fitted(&elements.get(row), ty, options.width, options.digits),
            None => "…".to_owned(),
        });
    }
    Some(Body::Lines(lines.join("\n")))
}

/// An array of rank 3 or more: the arrays of rank 2 or less in it, each under its index.
/// Nothing if it is cancelled.
fn slices(
    elements: &Column,
    ty: &Type,
    index: &str,
    (options, cancel): (&Options, &Cancel),
    out: &mut Vec<String>,
) -> Option<()> {
    let inner_options = Options { max_rows: options.max_rows.div_ceil(2), ..options.clone() };
    // Deeper levels show less of each, so that the whole stays on a screen or two.
    let most = if index.is_empty() { 4 } else { 2 };
    for position in shown(elements.len(), most) {
        let Some(position) = position else {
            out.push("…".to_owned());
            continue;
        };
        let label =
            if index.is_empty() { position.to_string() } else { format!("{index}, {position}") };
        let value = elements.get(position);
        match (&value, ty) {
            (Value::Array(array), Type::Array(inner))
                if rank_above_atoms(ty) > 2 && !array.is_empty() =>
            {
                slices(&array.elements, inner, &label, (options, cancel), out)?;
            }
            _ => match body(&value, ty, options.width, &inner_options, cancel)? {
                Body::Line(text) => out.push(format!("[{label}] {text}")),
                Body::Lines(text) => out.push(format!("[{label}]\n{text}")),
            },
        }
    }
    Some(())
}

/// A text as it is; of a long one the beginning and the end.
fn text_lines(bytes: &[u8], options: &Options, cancel: &Cancel) -> Option<String> {
    if bytes.len() <= options.max_text {
        return pieces_of_text(bytes, cancel);
    }
    let head = prefix(bytes, options.max_text / 4 * 3);
    let mut tail = &bytes[bytes.len() - options.max_text / 4..];
    while let [first, rest @ ..] = tail
        && first & 0xc0 == 0x80
    {
        tail = rest;
    }
    let hidden = bytes.len() - head.len() - tail.len();
    let (head, tail) = (pieces_of_text(head, cancel)?, pieces_of_text(tail, cancel)?);
    Some(format!("{head}\n… {hidden} bytes …\n{tail}"))
}

/// A text as it is; nothing if that is cancelled.
fn pieces_of_text(mut bytes: &[u8], cancel: &Cancel) -> Option<String> {
    let mut out = String::new();
    while !bytes.is_empty() {
        if cancel.is_cancelled() {
            return None;
        }
        let piece = prefix(bytes, PIECE);
        out.push_str(&plain_text(piece));
        bytes = &bytes[piece.len()..];
    }
    Some(out)
}

#[cfg(test)]
mod tests;
