//! Matrices and tables: columns that line up, those in the middle left out where they do not fit.
//!
//! Only the columns that are drawn are written out, and whoever has to wait for many rows of them may
//! cancel that.

use std::ops::Range;

use comfy_table::{
    Cell, CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width,
};
use unicode_width::UnicodeWidthStr;
use weft_ir::{Column, ScalarType, Type, Value};

use super::inline::{Amount, cut, inline, prefix, shown};
use super::scalar::line_text;
use super::shape::is_text;
use super::{Digits, Options};
use crate::sink::Cancel;

/// The most cells that one column of a table takes.
const CELL: usize = 40;
/// The bytes of a text that are looked at to fill one.
const CELL_BYTES: usize = 4 * CELL;

/// A regular matrix; `rows` are arrays of `extent` elements of type `ty`. `None` if it is cancelled.
pub(crate) fn matrix(
    rows: &Column,
    extent: usize,
    ty: &Type,
    options: &Options,
    cancel: &Cancel,
) -> Option<String> {
    let mut shown_rows: Vec<Option<Column>> = Vec::new();
    for row in shown(rows.len(), options.max_rows) {
        shown_rows.push(row.and_then(|row| rows.row(row)));
        if cancel.is_cancelled() {
            return None;
        }
    }
    let strip = |column: usize| {
        let cell = |row: &Option<Column>| {
            row.as_ref().map(|row| cell_text(&row.get(column), ty, options.digits))
        };
        Some(Strip::new(None, gathered(shown_rows.iter().map(cell), cancel)?, ty))
    };
    let positions = shown(extent, options.max_columns);
    draw(&positions, &strip, options, cancel).map(|(text, _)| text)
}

/// A table with a header: `columns` of equal length with their names and element types. `None` if it is
/// cancelled.
pub(crate) fn table(
    columns: &[(String, Column, Type)],
    options: &Options,
    cancel: &Cancel,
) -> Option<String> {
    let count = columns.first().map_or(0, |(_, column, _)| column.len());
    let rows = shown(count, options.max_rows);
    let strip = |position: usize| {
        let (name, column, ty) = &columns[position];
        let cell =
            |row: &Option<usize>| row.map(|row| cell_text(&column.get(row), ty, options.digits));
        Some(Strip::new(Some(name.clone()), gathered(rows.iter().map(cell), cancel)?, ty))
    };
    let positions = shown(columns.len(), options.max_columns);
    let (text, drawn) = draw(&positions, &strip, options, cancel)?;
    Some(match columns.len() - drawn {
        0 => text,
        // The cells say `…`, and nothing else would say what is behind that.
        hidden => format!(
            "{text}\n{hidden} of {} columns are left out; `:type it` names them",
            columns.len()
        ),
    })
}

/// All that an iterator yields; `None` if it is cancelled.
fn gathered<T>(items: impl Iterator<Item = T>, cancel: &Cancel) -> Option<Vec<T>> {
    let mut all = Vec::new();
    for item in items {
        if cancel.is_cancelled() {
            return None;
        }
        all.push(item);
    }
    Some(all)
}

/// What a cell shows. Texts stand there without quotes; the header says what they are.
pub(crate) fn cell_text(value: &Value, ty: &Type, digits: Digits) -> String {
    if let (true, Value::Array(array)) = (is_text(ty), value)
        && let Column::Char(bytes) = &array.elements
    {
        return cut(&line_text(prefix(bytes.as_slice(), CELL_BYTES)), CELL);
    }
    cut(&inline(value, ty, Amount::ends(digits)), CELL)
}

/// One column as it will be drawn.
pub(super) struct Strip {
    header: Option<String>,
    cells: Vec<String>,
    is_number: bool,
    /// Terminal cells, without blanks around them.
    width: usize,
}

impl Strip {
    /// A column; `None` among the cells is a row of rows left out.
    pub(super) fn new(header: Option<String>, cells: Vec<Option<String>>, ty: &Type) -> Strip {
        let (is_number, is_float) = match ty {
            Type::Scalar(scalar) => (scalar.is_int() || scalar.is_float(), scalar.is_float()),
            Type::Tuple(_) | Type::Record(_) | Type::Array(_) => (false, false),
        };
        let align_points = |cell: &String| if is_float { fraction_width(cell) } else { 0 };
        let widest = cells.iter().flatten().map(align_points).max().unwrap_or(0);
        let cells = cells
            .into_iter()
            .map(|cell| match cell {
                Some(cell) => {
                    let padding = widest - align_points(&cell);
                    format!("{cell}{:padding$}", "")
                }
                None => "…".to_owned(),
            })
            .collect();
        Strip::measured(header.map(|name| cut(&name, CELL)), cells, is_number)
    }

    /// The column that stands for columns left out.
    fn gap(header: bool, rows: usize) -> Strip {
        let mark = || "…".to_owned();
        Strip::measured(header.then(mark), (0..rows).map(|_| mark()).collect(), false)
    }

    fn measured(header: Option<String>, cells: Vec<String>, is_number: bool) -> Strip {
        let width = header.iter().chain(&cells).map(|cell| cell.width()).max().unwrap_or(0);
        Strip { header, cells, is_number, width }
    }

    /// Terminal cells, with a blank on both sides.
    fn outer_width(&self) -> usize {
        2 + self.width
    }

    fn cell(&self, text: &str) -> Cell {
        let alignment = if self.is_number { CellAlignment::Right } else { CellAlignment::Left };
        Cell::new(text).set_alignment(alignment)
    }
}

/// The cells from the point on: padding after them makes the points of a column line up.
pub(crate) fn fraction_width(number: &str) -> usize {
    number.find('.').map_or(0, |point| number.len() - point)
}

/// So many rows are laid out at a time, between two looks whether that is cancelled.
const ROWS: usize = 1000;

/// The least that a column takes.
const NARROWEST: usize = 2;

/// Draws as many of the columns at `positions` as fit, from both ends; `None` among them is columns left out.
/// `strip` writes one of them out. Says how many are drawn; nothing if that is cancelled.
pub(super) fn draw(
    positions: &[Option<usize>],
    strip: &dyn Fn(usize) -> Option<Strip>,
    options: &Options,
    cancel: &Cancel,
) -> Option<(String, usize)> {
    let columns: Vec<usize> = positions.iter().copied().flatten().collect();
    let Some(&first) = columns.first() else { return Some((String::new(), 0)) };
    let first = strip(first)?;
    let gap = Strip::gap(first.header.is_some(), first.cells.len());
    // What cannot fit need not be written out to know that.
    if positions.len() * NARROWEST <= options.width {
        let mut all = vec![first];
        for column in &columns[1..] {
            all.push(strip(*column)?);
        }
        let gaps = (positions.len() - all.len()) * gap.outer_width();
        if gaps + all.iter().map(Strip::outer_width).sum::<usize>() <= options.width {
            let mut own = all.iter();
            let strips: Vec<&Strip> = positions
                .iter()
                .map(|position| position.and_then(|_| own.next()).unwrap_or(&gap))
                .collect();
            return Some((render(&strips, cancel)?, columns.len()));
        }
        let mut all = all.into_iter();
        let first = all.next()?;
        let mut rest: Vec<Option<Strip>> = all.map(Some).collect();
        return fitting(first, columns.len(), &gap, options, cancel, &mut |at| rest[at - 1].take());
    }
    fitting(first, columns.len(), &gap, options, cancel, &mut |at| strip(columns[at]))
}

/// Draws as many of `count` columns as fit from the left and from the right, taken in turn, and the mark of those
/// left out between them.
fn fitting(
    first: Strip,
    count: usize,
    gap: &Strip,
    options: &Options,
    cancel: &Cancel,
    strip: &mut dyn FnMut(usize) -> Option<Strip>,
) -> Option<(String, usize)> {
    let room = options.width.saturating_sub(gap.outer_width());
    let mut used = first.outer_width();
    let (mut head, mut tail) = (vec![first], Vec::new());
    while head.len() + tail.len() < count {
        let from_left = head.len() <= tail.len();
        let next = strip(if from_left { head.len() } else { count - 1 - tail.len() })?;
        if used + next.outer_width() > room {
            break;
        }
        used += next.outer_width();
        if from_left { &mut head } else { &mut tail }.push(next);
    }
    let strips: Vec<&Strip> = head.iter().chain([gap]).chain(tail.iter().rev()).collect();
    Some((render(&strips, cancel)?, head.len() + tail.len()))
}

/// The columns side by side, two blanks apart; nothing if that is cancelled.
fn render(strips: &[&Strip], cancel: &Cancel) -> Option<String> {
    let rows = strips[0].cells.len();
    let mut text = String::new();
    for first in (0..rows.max(1)).step_by(ROWS) {
        if cancel.is_cancelled() {
            return None;
        }
        if first > 0 {
            text.push('\n');
        }
        text.push_str(&part(strips, first..rows.min(first + ROWS)));
    }
    Some(text)
}

/// Some of the rows, with the header before the first of them.
fn part(strips: &[&Strip], rows: Range<usize>) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_width(u16::MAX);
    table.set_content_arrangement(ContentArrangement::Disabled);
    if rows.start == 0 && strips.iter().any(|strip| strip.header.is_some()) {
        table.set_header(
            strips.iter().map(|strip| strip.cell(strip.header.as_deref().unwrap_or(""))),
        );
    }
    for row in rows {
        table.add_row(strips.iter().map(|strip| strip.cell(&strip.cells[row])));
    }
    for (column, strip) in table.column_iter_mut().zip(strips) {
        // The style keeps a blank for the line between columns; with one before each cell that is two.
        column.set_padding((1, 0));
        // As in all other parts.
        let width = u16::try_from(strip.width + 1).unwrap_or(u16::MAX);
        column.set_constraint(ColumnConstraint::LowerBoundary(Width::Fixed(width)));
    }
    table.trim_fmt()
}

/// The columns of an array of tuples or records, named by field or position.
pub(crate) fn component_columns(parts: &[Column], ty: &Type) -> Vec<(String, Column, Type)> {
    match ty {
        Type::Tuple(types) => {
            let numbered = types.iter().enumerate();
            parts
                .iter()
                .zip(numbered)
                .map(|(part, (index, ty))| (format!(".{index}"), part.clone(), ty.clone()))
                .collect()
        }
        Type::Record(fields) => parts
            .iter()
            .zip(fields.iter())
            .map(|(part, (name, ty))| (name.to_string(), part.clone(), ty.clone()))
            .collect(),
        Type::Scalar(_) | Type::Array(_) => Vec::new(),
    }
}

/// Whether cells of such a type are aligned to the right.
pub(crate) fn is_number(ty: &Type) -> bool {
    matches!(ty, Type::Scalar(scalar) if !matches!(scalar, ScalarType::Bool | ScalarType::Char))
}
