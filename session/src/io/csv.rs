//! Tables of separated values (RFC 4180 and its relatives): read as a record of typed columns.

mod cells;
mod doubts;
mod header;
mod records;
mod separator;
mod write;

use weft_ir::Name;

use super::error::{Place, Problem};
use super::{Limits, Loaded, fields, foreign, text};
use cells::{Cells, is_missing, is_number};
use records::Records;

pub(super) use write::write;

/// More fields than this in a record are taken for another format.
const MAX_COLUMNS: usize = 100_000;

/// How many rows are read between two questions whether to stop.
const STEP: u64 = 1 << 14;

/// Reads a table. Its separator is found from the first lines unless it is given.
pub(super) fn read(
    bytes: &[u8],
    separator: Option<u8>,
    limits: &Limits,
) -> Result<Loaded, Problem> {
    let text = &*text::with_newlines(text::without_mark(bytes)?);
    let start = Start::after_comments(text);
    if let Some(problem) = foreign::recognised(text) {
        return Err(problem);
    }
    let separator = separator.unwrap_or_else(|| separator::find(text, &start));
    let table = Records::new(text, start.offset, start.line, separator);

    let mut rows = table.clone();
    if !rows.next()? {
        return Err(Problem::malformed(Place::Whole, "the file has no header and no rows"));
    }
    let width = rows.len();
    if width > MAX_COLUMNS {
        let message = format!("the first line has {width} fields, and the limit is {MAX_COLUMNS}");
        return Err(Problem::too_many(message));
    }
    let titles: Vec<Vec<u8>> = (0..width).map(|index| rows.text(index).to_vec()).collect();
    if !is_numeric(&titles) {
        let header = header::names(&header_text(&titles, rows.line())?);
        let columns = read_columns(rows.clone(), width, limits)?;
        if !is_row(&titles, &columns) {
            for doubt in doubts::about(text, &start, rows, &titles, &header, &columns) {
                (limits.doubt)(doubt);
            }
            return Ok(table_record(header, columns));
        }
    }
    if let Some(doubt) = doubts::titles_in_a_comment(text, &start, width) {
        (limits.doubt)(doubt);
    }
    let numbered = (0..width).map(|index| Name::from(format!("c{index}"))).collect();
    Ok(table_record(numbered, read_columns(table, width, limits)?))
}

fn table_record(names: Vec<Name>, columns: Vec<Cells>) -> Loaded {
    let columns = names.into_iter().zip(columns).map(|(name, cells)| (name, cells.finish()));
    fields::record(columns.collect())
}

/// Whether the first line is a row of numbers, some of which may be missing: then there is no
/// header. `nan`, as floats are saved that are none, is the title of nothing.
fn is_numeric(titles: &[Vec<u8>]) -> bool {
    titles.iter().all(|title| is_number(title) || is_missing(title, false))
        && titles.iter().any(|title| is_number(title) || title.eq_ignore_ascii_case(b"nan"))
}

/// Whether the first line is a row like any other: one of its cells stands again in its column of text, which a
/// title does not, and over each column of numbers or truths stands a number or nothing.
fn is_row(titles: &[Vec<u8>], columns: &[Cells]) -> bool {
    let fits = |(title, cells): (&Vec<u8>, &Cells)| {
        matches!(cells, Cells::Text { .. }) || is_number(title) || is_missing(title, false)
    };
    titles.iter().zip(columns).all(fits)
        && titles.iter().zip(columns).any(|(title, cells)| cells.has_text(title))
}

fn header_text(titles: &[Vec<u8>], line: u64) -> Result<Vec<&str>, Problem> {
    titles.iter().map(|title| text::utf8(title, line)).collect()
}

/// Reads all rows. A column that turns out to be text only after numbers were taken from it is
/// read again, as text, in a second pass.
fn read_columns(mut rows: Records, width: usize, limits: &Limits) -> Result<Vec<Cells>, Problem> {
    let start = rows.clone();
    let mut columns: Vec<Cells> = (0..width).map(|_| Cells::new()).collect();
    let mut budget = Budget { limits, bytes: 0, rows: 0 };
    while rows.next()? {
        check_width(&rows, width)?;
        budget.row(8 * width as u64)?;
        for (index, cells) in columns.iter_mut().enumerate() {
            budget.bytes += cells.push(rows.text(index), rows.quoted(index)) as u64;
        }
    }
    let mixed: Vec<usize> =
        (0..width).filter(|&index| matches!(columns[index], Cells::Mixed)).collect();
    if mixed.is_empty() {
        return Ok(columns);
    }
    for &index in &mixed {
        columns[index] = Cells::text();
    }
    let mut rows = start;
    while rows.next()? {
        budget.row(0)?;
        for &index in &mixed {
            let cells = &mut columns[index];
            budget.bytes += cells.push(rows.text(index), rows.quoted(index)) as u64;
        }
    }
    Ok(columns)
}

fn check_width(rows: &Records, width: usize) -> Result<(), Problem> {
    if rows.len() == width {
        return Ok(());
    }
    let fields = match rows.len() {
        1 => "1 field".to_owned(),
        count => format!("{count} fields"),
    };
    let message = format!("this row has {fields} and the first line has {width}");
    Err(Problem::malformed(Place::Line(rows.line()), message))
}

/// Keeps a table within its limits, row by row.
struct Budget<'a> {
    limits: &'a Limits<'a>,
    bytes: u64,
    rows: u64,
}

impl Budget<'_> {
    fn row(&mut self, bytes: u64) -> Result<(), Problem> {
        self.bytes += bytes;
        self.rows += 1;
        if self.rows.is_multiple_of(STEP) && (self.limits.stop)() {
            return Err(Problem::interrupted());
        }
        text::fits(self.bytes.into(), self.limits)
    }
}

/// Where the table begins: after leading blank lines and comments.
struct Start {
    offset: usize,
    line: u64,
}

impl Start {
    fn after_comments(text: &[u8]) -> Start {
        let mut start = Start { offset: 0, line: 1 };
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            if !line.starts_with(b"#") && !line.trim_ascii().is_empty() {
                break;
            }
            start.offset += line.len();
            start.line += 1;
        }
        start
    }
}
