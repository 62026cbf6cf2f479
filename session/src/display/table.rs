//! Matrices and tables: columns that line up, those in the middle left out where they do not fit.

use comfy_table::{Cell, CellAlignment, ContentArrangement, LineStyle, Table, TableStyle};
use unicode_width::UnicodeWidthStr;
use weft_ir::{Column, ScalarType, Type, Value};

use super::inline::{Amount, cut, inline, prefix, shown};
use super::scalar::line_text;
use super::shape::is_text;
use super::{Digits, Options};

/// The most cells that one column of a table takes.
const CELL: usize = 40;
/// The bytes of a text that are looked at to fill one.
const CELL_BYTES: usize = 4 * CELL;

/// A regular matrix; `rows` are arrays of `extent` elements of type `ty`.
pub(crate) fn matrix(rows: &Column, extent: usize, ty: &Type, options: &Options) -> String {
    let row_positions = shown(rows.len(), options.max_rows);
    let shown_rows: Vec<Option<Column>> =
        row_positions.iter().map(|row| row.and_then(|row| rows.row(row))).collect();
    let columns = shown(extent, options.max_columns)
        .into_iter()
        .map(|column| {
            column.map(|column| {
                let cells = shown_rows.iter().map(|row| {
                    row.as_ref().map(|row| cell_text(&row.get(column), ty, options.digits))
                });
                Strip::new(None, cells.collect(), ty)
            })
        })
        .collect();
    draw(columns, options).0
}

/// A table with a header: `columns` of equal length with their names and element types.
pub(crate) fn table(columns: &[(String, Column, Type)], options: &Options) -> String {
    let count = columns.first().map_or(0, |(_, column, _)| column.len());
    let rows = shown(count, options.max_rows);
    let strips = shown(columns.len(), options.max_columns)
        .into_iter()
        .map(|position| {
            position.map(|position| {
                let (name, column, ty) = &columns[position];
                let cells = rows
                    .iter()
                    .map(|row| row.map(|row| cell_text(&column.get(row), ty, options.digits)));
                Strip::new(Some(name.clone()), cells.collect(), ty)
            })
        })
        .collect();
    let (text, drawn) = draw(strips, options);
    match columns.len() - drawn {
        0 => text,
        // The cells say `…`, and nothing else would say what is behind that.
        hidden => format!(
            "{text}\n{hidden} of {} columns are left out; `:type it` names them",
            columns.len()
        ),
    }
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
struct Strip {
    header: Option<String>,
    cells: Vec<String>,
    alignment: CellAlignment,
}

impl Strip {
    /// A column; `None` among the cells is a row of rows left out.
    fn new(header: Option<String>, cells: Vec<Option<String>>, ty: &Type) -> Strip {
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
        let alignment = if is_number { CellAlignment::Right } else { CellAlignment::Left };
        Strip { header: header.map(|name| cut(&name, CELL)), cells, alignment }
    }

    /// The column that stands for columns left out.
    fn gap(header: bool, rows: usize) -> Strip {
        let mark = || "…".to_owned();
        Strip {
            header: header.then(mark),
            cells: (0..rows).map(|_| mark()).collect(),
            alignment: CellAlignment::Left,
        }
    }

    /// Terminal cells, with a blank on both sides.
    fn width(&self) -> usize {
        let header = self.header.iter();
        2 + header.chain(&self.cells).map(|cell| cell.width()).max().unwrap_or(0)
    }
}

/// The cells from the point on: padding after them makes the points of a column line up.
pub(crate) fn fraction_width(number: &str) -> usize {
    number.find('.').map_or(0, |point| number.len() - point)
}

/// Draws as many of the columns as fit, from both ends; `None` among them is columns left out. Says how many are
/// drawn.
fn draw(columns: Vec<Option<Strip>>, options: &Options) -> (String, usize) {
    let Some(first) = columns.iter().flatten().next() else { return (String::new(), 0) };
    let gap = Strip::gap(first.header.is_some(), first.cells.len());
    let total: usize = columns.iter().map(|c| c.as_ref().map_or(gap.width(), Strip::width)).sum();
    if total <= options.width {
        let strips: Vec<&Strip> = columns.iter().map(|c| c.as_ref().unwrap_or(&gap)).collect();
        return (render(&strips, options), columns.iter().flatten().count());
    }
    let widths: Vec<usize> = columns.iter().flatten().map(Strip::width).collect();
    let (head, tail) = fitting(&widths, options.width.saturating_sub(gap.width()));
    let strips: Vec<&Strip> = columns.iter().flatten().collect();
    let mut chosen = strips[..head].to_vec();
    chosen.push(&gap);
    chosen.extend(&strips[strips.len() - tail..]);
    (render(&chosen, options), head + tail)
}

/// How many columns from the left and from the right fit into `width`, taken in turn.
fn fitting(widths: &[usize], width: usize) -> (usize, usize) {
    let (mut head, mut tail) = (1, 0);
    let mut used = widths[0];
    while head + tail < widths.len() {
        let from_left = head <= tail;
        let next = if from_left { widths[head] } else { widths[widths.len() - 1 - tail] };
        if used + next > width {
            break;
        }
        used += next;
        if from_left {
            head += 1;
        } else {
            tail += 1;
        }
    }
    (head, tail)
}

fn render(strips: &[&Strip], options: &Options) -> String {
    let mut table = Table::new();
    table.load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')));
    table.set_width(u16::try_from(options.width).unwrap_or(u16::MAX));
    table.set_content_arrangement(ContentArrangement::Disabled);
    if strips.iter().any(|strip| strip.header.is_some()) {
        table.set_header(strips.iter().map(|strip| {
            Cell::new(strip.header.as_deref().unwrap_or("")).set_alignment(strip.alignment)
        }));
    }
    for row in 0..strips[0].cells.len() {
        table.add_row(
            strips.iter().map(|strip| Cell::new(&strip.cells[row]).set_alignment(strip.alignment)),
        );
    }
    // The style keeps a blank for the line between columns; with one before each cell that is two.
    for column in table.column_iter_mut() {
        column.set_padding((1, 0));
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
