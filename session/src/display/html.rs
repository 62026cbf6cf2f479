//! Matrices and tables as HTML, for notebooks. All text is escaped; the size is bounded.

use std::fmt::Write;

use weft_ir::{Column, Type, Value};

use super::inline::shown;
use super::shape::{fitted_type, rank_above_atoms};
use super::table::{cell_text, component_columns, fraction_width, is_number};
use super::{Digits, Options, WHOLE_ROWS, record_of_columns};
use crate::modes::size_text;
use crate::plot;

/// Tables with more rows scroll.
const SCROLLED: usize = 40;

/// The bytes that a cell of a table takes at least.
const CELL_BYTES: usize = "<td style=\"text-align: left\"></td>".len();

/// The most cells that the type above a table takes.
const HEADING: usize = 400;

/// Rows that are shown before columns are left out for want of room.
const LEAST_ROWS: usize = 20;

/// Columns that are shown before rows are, but for two.
const LEAST_COLUMNS: usize = 20;

/// A value with rows and columns as an HTML table of at most `bytes` bytes, with its type above;
/// `None` for other values. As many rows and columns are shown as the options say, from both ends, or as there is room for.
pub fn html(value: &Value, ty: &Type, options: &Options, bytes: usize) -> Option<String> {
    if plot::is_plot(ty) {
        return None;
    }
    let heading = fitted_type(value, ty, HEADING);
    let mut max_columns = options.max_columns;
    loop {
        let (columns, extent) = columns(value, ty, &Options { max_columns, ..options.clone() })?;
        let is_cut = max_columns < options.max_columns;
        let table = Table { columns: &columns, extent, heading: &heading, is_cut, bytes };
        if let Some(text) = fitted(&table, options.max_rows) {
            return Some(text);
        }
        max_columns = max_columns.min(columns.len()) / 2;
        if max_columns < 2 {
            return None;
        }
    }
}

/// The table with as many rows as there is room for, if these are enough.
fn fitted(table: &Table<'_>, max_rows: usize) -> Option<String> {
    let (count, bytes) = (table.count(), table.bytes);
    let with = |rows: usize| {
        let more = match (rows < max_rows, max_rows >= WHOLE_ROWS) {
            (true, _) => table.limit(),
            (false, true) => "<code>:set rows</code> shows more".to_owned(),
            (false, false) => "<code>:show</code> shows more".to_owned(),
        };
        // What is sure to be too long need not be written to know that.
        let is_hopeless =
            rows > 2 && rows.min(count).saturating_mul(table.columns.len() * CELL_BYTES) > bytes;
        let text = if is_hopeless { None } else { Some(render(table, rows, &more)) };
        text.filter(|text| text.len() <= bytes)
    };
    let least =
        if table.columns.len() > LEAST_COLUMNS { LEAST_ROWS.min(max_rows).min(count) } else { 2 };
    let mut found = with(max_rows);
    if found.is_some() {
        return found;
    }
    // The last number of rows that fits, and the first one that does not.
    let (mut fits, mut beyond) = (least, max_rows.min(count));
    found = with(fits);
    while found.is_some() && fits + 1 < beyond {
        let middle = fits.midpoint(beyond);
        match with(middle) {
            Some(text) => (fits, found) = (middle, Some(text)),
            None => beyond = middle,
        }
    }
    found
}

/// What is to be written.
struct Table<'a> {
    columns: &'a [Option<Strip>],
    /// How many columns there are.
    extent: usize,
    heading: &'a str,
    /// Whether columns were left out for want of room.
    is_cut: bool,
    /// How long it may be.
    bytes: usize,
}

impl Table<'_> {
    /// Why there is not more of it.
    fn limit(&self) -> String {
        format!("a table takes at most {} here", size_text(self.bytes as u64))
    }

    /// How many rows there are.
    fn count(&self) -> usize {
        self.columns.iter().flatten().next().map_or(0, |strip| strip.column.len())
    }
}

/// A column to show; `None` in its place stands for columns left out.
struct Strip {
    header: Option<String>,
    column: Column,
    /// The position in each row, where the column is that of a matrix.
    position: Option<usize>,
    ty: Type,
    digits: Digits,
}

impl Strip {
    fn cell(&self, row: usize) -> Option<String> {
        let value = match self.position {
            Some(position) => self.column.row(row)?.get(position),
            None => self.column.get(row),
        };
        Some(cell_text(&value, &self.ty, self.digits))
    }
}

/// The columns that are shown, and how many there are.
fn columns(value: &Value, ty: &Type, options: &Options) -> Option<(Vec<Option<Strip>>, usize)> {
    let named = match (value, ty) {
        (Value::Tuple(values), _) => record_of_columns(values, ty)?,
        (Value::Array(array), Type::Array(element)) => match &array.elements {
            Column::Tuple { parts, .. } if !parts.is_empty() && !array.is_empty() => {
                component_columns(parts, element)
            }
            elements if rank_above_atoms(ty) == 2 => {
                return matrix_columns(elements, element, options);
            }
            _ => return None,
        },
        _ => return None,
    };
    let positions = shown(named.len(), options.max_columns);
    let strip = |position: usize| {
        let (header, column, ty) = named[position].clone();
        Strip { header: Some(header), column, position: None, ty, digits: options.digits }
    };
    Some((positions.into_iter().map(|position| position.map(strip)).collect(), named.len()))
}

fn matrix_columns(
    rows: &Column,
    row: &Type,
    options: &Options,
) -> Option<(Vec<Option<Strip>>, usize)> {
    let Type::Array(element) = row else { return None };
    let extent = rows.extent().ok().filter(|extent| *extent > 0 && !rows.is_empty())?;
    let strip = |position: usize| Strip {
        header: None,
        column: rows.clone(),
        position: Some(position),
        ty: (**element).clone(),
        digits: options.digits,
    };
    let positions = shown(extent, options.max_columns);
    Some((positions.into_iter().map(|position| position.map(strip)).collect(), extent))
}

/// The table; `more` says how to see more rows.
fn render(table: &Table<'_>, max_rows: usize, more: &str) -> String {
    let (&Table { columns, extent, heading, is_cut, .. }, count) = (table, table.count());
    // Not as a caption: that would be as narrow as the table.
    let mut out = format!("<div><code>{}</code></div>\n", escaped(heading));
    let rows = shown(count, max_rows);
    if rows.len() > SCROLLED {
        out.push_str("<div style=\"max-height: 32em; overflow: auto\">\n");
    }
    // Columns are as wide as what is in them, and digits as wide as each other. A dollar sign is one: notebooks would
    // set what stands between two of them as mathematics, but for these classes (of MathJax 2 and 3).
    let style = "white-space: nowrap; font-variant-numeric: tabular-nums";
    let class = "weft tex2jax_ignore mathjax_ignore";
    writeln!(out, "<table class=\"{class}\" style=\"{style}\">").expect("writing to a string");
    if columns.iter().flatten().any(|strip| strip.header.is_some()) {
        out.push_str("<thead><tr>");
        for strip in columns {
            let header = strip.as_ref().map_or("…", |s| s.header.as_deref().unwrap_or(""));
            cell(&mut out, "th", strip.as_ref(), header);
        }
        out.push_str("</tr></thead>\n");
    }
    out.push_str("<tbody>\n");
    let cells: Vec<Vec<Option<String>>> =
        columns.iter().map(|strip| points_aligned(strip.as_ref(), &rows)).collect();
    for row in 0..rows.len() {
        out.push_str("<tr>");
        for (strip, cells) in columns.iter().zip(&cells) {
            cell(&mut out, "td", strip.as_ref(), cells[row].as_deref().unwrap_or("…"));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table>");
    if rows.len() > SCROLLED {
        out.push_str("\n</div>");
    }
    let (seen, columns_seen) = (rows.iter().flatten().count(), columns.iter().flatten().count());
    let hides_columns = columns.iter().any(Option::is_none);
    if seen < count || hides_columns {
        let mut what = format!("{seen} of {count} rows; {more}");
        if hides_columns {
            let columns = format!("{columns_seen} of {extent} columns");
            let how = match is_cut {
                true => table.limit(),
                false => format!("<code>:set columns {extent}</code> shows all of them"),
            };
            let columns = format!("{columns}; {how}");
            what = if seen < count { format!("{what}; {columns}") } else { columns };
        }
        write!(out, "\n<div style=\"opacity: 0.6; font-size: 80%\">{what}</div>")
            .expect("writing to a string");
    }
    out
}

/// The cells of a column in some of its rows. Those of floats are followed by blanks as wide as digits, so that
/// their points stand below each other.
fn points_aligned(strip: Option<&Strip>, rows: &[Option<usize>]) -> Vec<Option<String>> {
    const POINT: char = '\u{2008}';
    const DIGIT: char = '\u{2007}';
    let cells = rows.iter().map(|row| row.and_then(|row| strip?.cell(row)));
    let cells: Vec<Option<String>> = cells.collect();
    let is_float =
        strip.is_some_and(|strip| matches!(&strip.ty, Type::Scalar(scalar) if scalar.is_float()));
    if !is_float {
        return cells;
    }
    let widest = cells.iter().flatten().map(|cell| fraction_width(cell)).max().unwrap_or(0);
    let padded = |mut cell: String| {
        let has = fraction_width(&cell);
        if has == 0 && widest > 0 {
            cell.push(POINT);
        }
        cell.extend(std::iter::repeat_n(DIGIT, widest - has.max(usize::from(widest > 0))));
        cell
    };
    cells.into_iter().map(|cell| cell.map(padded)).collect()
}

fn cell(out: &mut String, tag: &str, strip: Option<&Strip>, text: &str) {
    let side = if strip.is_some_and(|strip| is_number(&strip.ty)) { "right" } else { "left" };
    let has_blanks = text.contains("  ") || text.starts_with(' ') || text.ends_with(' ');
    let blanks = if has_blanks { "; white-space: pre" } else { "" };
    write!(out, "<{tag} style=\"text-align: {side}{blanks}\">{}</{tag}>", escaped(text))
        .expect("writing to a string");
}

/// The text with the characters that mean something in HTML replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(c),
        }
    }
    out
}
