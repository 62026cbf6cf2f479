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
            max_elements: self.max_elements.max(100_000),
            max_rows: self.max_rows.max(WHOLE_ROWS),
            max_columns: self.max_columns.max(1000),
            max_text: self.max_text.max(10 << 20),
            ..self.clone()
        }
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

/// The rows of a table that `:show` shows at least.
const WHOLE_ROWS: usize = 10_000;

/// What is left of a value that somebody asked to see all of, where its text leaves something out.
pub(crate) fn left_out(text: &str, value: &Value) -> Option<&'static str> {
    const GAP: &str = "…";
    fn has_gap(column: &Column) -> bool {
        match column {
            Column::Char(bytes) => {
                bytes.as_slice().windows(GAP.len()).any(|part| part == GAP.as_bytes())
            }
            Column::Dense { .. } | Column::Ragged { .. } => has_gap(&column.flatten()),
            Column::Tuple { parts, .. } => parts.iter().any(has_gap),
            _ => false,
        }
    }
    fn value_has_gap(value: &Value) -> bool {
        match value {
            Value::Scalar(_) => false,
            Value::Tuple(parts) => parts.iter().any(value_has_gap),
            Value::Array(array) => has_gap(&array.elements),
        }
    }
    // A text may have such a sign of its own.
    (text.contains(GAP) && !value_has_gap(value)).then_some(
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

/// A value as it is shown; without a newline at the end.
pub fn text(value: &Value, ty: &Type, options: &Options) -> String {
    match plot::nothing_to_see(value, ty) {
        None => drawn_or_written(value, ty, options),
        Some(why) => format!("{}\n{why}", drawn_or_written(value, ty, options)),
    }
}

fn drawn_or_written(value: &Value, ty: &Type, options: &Options) -> String {
    if let Some(plot) = plot::text(value, ty, options.width, options.colour) {
        return plot;
    }
    if let (true, Value::Tuple(fields)) = (is_image(ty), value)
        && let Some(Value::Array(rows)) = fields.first()
        && let Ok(extent) = rows.elements.extent()
    {
        return format!("a picture of {extent} by {} pixels", rows.len());
    }
    if !holds_array(ty) {
        return match body(value, ty, options.width, options) {
            Body::Line(text) | Body::Lines(text) => text,
        };
    }
    let heading = fitted_type(value, ty, options.width);
    let beside = options.width.saturating_sub(heading.width() + 1);
    let shown_type =
        if options.colour { format!("\x1b[2m{heading}\x1b[0m") } else { heading.clone() };
    match body(value, ty, beside, options) {
        Body::Line(line) if line.width() <= beside => format!("{shown_type} {line}"),
        Body::Line(text) | Body::Lines(text) => format!("{shown_type}\n{text}"),
    }
}

/// Whether the type of a value stands before it.
pub(crate) fn has_heading(ty: &Type) -> bool {
    holds_array(ty) && !plot::is_plot(ty) && !is_image(ty)
}

/// The value without its type; one line if that takes at most `beside` cells.
fn body(value: &Value, ty: &Type, beside: usize, options: &Options) -> Body {
    match (value, ty) {
        (Value::Scalar(scalar), _) => Body::Line(shown_scalar(*scalar, options.digits)),
        (Value::Tuple(values), _) => composite(value, values, ty, beside, options),
        (Value::Array(array), Type::Array(element)) => {
            array_body(array, ty, element, beside, options)
        }
        (value, ty) => panic!("a value that is not of its type {ty}: {value:?}"),
    }
}

/// A tuple or a record: a record of columns as a table, else on one line, else a line a component.
fn composite(value: &Value, values: &[Value], ty: &Type, beside: usize, options: &Options) -> Body {
    if let Some(columns) = record_of_columns(values, ty) {
        return Body::Lines(table(&columns, options));
    }
    if let Some(line) = whole(value, ty, beside, options.digits) {
        return Body::Line(line);
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
            if let Some(rows) = short_rows(value, ty, room, options) {
                line.truncate(line.trim_end().len());
                return line + "\n" + &rows;
            }
            line.push_str(&fitted(value, ty, room, options.digits));
            cut(&line, options.width)
        })
        .collect();
    Body::Lines(lines.join("\n"))
}

/// A short list of scalars as indented lines, if it does not fit on the rest of a line.
fn short_rows(value: &Value, ty: &Type, room: usize, options: &Options) -> Option<String> {
    let (Value::Array(array), Type::Array(element)) = (value, ty) else { return None };
    let is_short = matches!(**element, Type::Scalar(_)) && array.len() <= inline::SHORT;
    if !is_short || is_text(ty) {
        return None;
    }
    let narrower = Options { width: options.width.saturating_sub(2).max(20), ..options.clone() };
    match numbers(&array.elements, element, room, &narrower) {
        Body::Line(_) => None,
        Body::Lines(lines) => {
            Some(lines.lines().map(|line| format!("  {line}")).collect::<Vec<_>>().join("\n"))
        }
    }
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

fn array_body(array: &Array, ty: &Type, element: &Type, beside: usize, options: &Options) -> Body {
    let elements = &array.elements;
    match elements {
        Column::Char(bytes) if is_text(ty) => {
            return Body::Lines(text_lines(bytes.as_slice(), options));
        }
        elements if elements.is_empty() => return Body::Line("[]".to_owned()),
        Column::Tuple { parts, .. } if !parts.is_empty() => {
            return Body::Lines(table(&component_columns(parts, element), options));
        }
        _ => {}
    }
    match rank_above_atoms(ty) {
        0 | 1 if is_text(element) => rows(elements, element, beside, options),
        0 | 1 => numbers(elements, element, beside, options),
        2 => match (elements.extent(), element) {
            (Ok(extent), Type::Array(inner)) if extent > 0 => {
                Body::Lines(matrix(elements, extent, inner, options))
            }
            _ => rows(elements, element, beside, options),
        },
        _ => {
            let mut out = Vec::new();
            slices(elements, element, "", options, &mut out);
            Body::Lines(out.join("\n"))
        }
    }
}

/// A list of scalars.
fn numbers(elements: &Column, ty: &Type, beside: usize, options: &Options) -> Body {
    let amount = Amount::all(options.digits);
    if elements.len() > options.max_elements.max(5) {
        let ends = inline::ends(elements.len(), 3, 2);
        return Body::Line(list(elements, ty, &ends, Amount::ends(options.digits)));
    }
    let all: Vec<_> = (0..elements.len()).map(Some).collect();
    let line = list(elements, ty, &all, amount);
    if line.width() <= beside {
        return Body::Line(line);
    }
    let cells: Vec<String> =
        (0..elements.len()).map(|i| inline::inline(&elements.get(i), ty, amount)).collect();
    let widest = cells.iter().map(|cell| cell.width()).max().unwrap_or(0);
    let a_line = ((options.width.saturating_sub(1)) / (widest + 2)).max(1);
    let right = is_number(ty);
    let lines: Vec<String> = cells
        .chunks(a_line)
        .map(|chunk| {
            let padded: Vec<String> = chunk
                .iter()
                .map(|cell| {
                    let padding = widest - cell.width();
                    if right { format!("{:padding$}{cell}", "") } else { cell.clone() }
                })
                .collect();
            padded.join(", ")
        })
        .collect();
    Body::Lines(format!("[{}]", lines.join(",\n ")))
}

/// Texts, or rows of different lengths: on one line, else a line each.
fn rows(elements: &Column, ty: &Type, beside: usize, options: &Options) -> Body {
    if leaves(elements) <= beside {
        let all: Vec<_> = (0..elements.len()).map(Some).collect();
        let line = list(elements, ty, &all, Amount::all(options.digits));
        if line.width() <= beside {
            return Body::Line(line);
        }
    }
    let lines: Vec<String> = shown(elements.len(), options.max_rows)
        .into_iter()
        .map(|row| match row {
            Some(row) => fitted(&elements.get(row), ty, options.width, options.digits),
            None => "…".to_owned(),
        })
        .collect();
    Body::Lines(lines.join("\n"))
}

/// An array of rank 3 or more: the arrays of rank 2 or less in it, each under its index.
fn slices(elements: &Column, ty: &Type, index: &str, options: &Options, out: &mut Vec<String>) {
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
                slices(&array.elements, inner, &label, options, out);
            }
            _ => match body(&value, ty, options.width, &inner_options) {
                Body::Line(text) => out.push(format!("[{label}] {text}")),
                Body::Lines(text) => out.push(format!("[{label}]\n{text}")),
            },
        }
    }
}

/// A text as it is; of a long one the beginning and the end.
fn text_lines(bytes: &[u8], options: &Options) -> String {
    if bytes.len() <= options.max_text {
        return plain_text(bytes);
    }
    let head = prefix(bytes, options.max_text / 4 * 3);
    let mut tail = &bytes[bytes.len() - options.max_text / 4..];
    while let [first, rest @ ..] = tail
        && first & 0xc0 == 0x80
    {
        tail = rest;
    }
    let hidden = bytes.len() - head.len() - tail.len();
    format!("{}\n… {hidden} bytes …\n{}", plain_text(head), plain_text(tail))
}

#[cfg(test)]
mod tests;
