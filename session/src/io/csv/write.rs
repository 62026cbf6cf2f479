//! Writing a table.

use std::io::Write;

use weft_ir::{Column, Scalar, ScalarType, Type, Value};

use super::super::error::Problem;
use super::super::fields;
use super::super::target::Target;
use super::super::text::is_lines;
use super::cells::{is_missing, is_number};

/// Writes a record of columns, an array of records or of tuples, a matrix or a vector, with the
/// given separator. Matrices and vectors of numbers have no header; all else has one.
pub(in super::super) fn write(
    value: &Value,
    ty: &Type,
    separator: u8,
    target: &mut Target,
) -> Result<(), Problem> {
    let table = Table::of(value, ty)?;
    let mut line = Vec::new();
    if let Some(names) = &table.names {
        for (index, name) in names.iter().enumerate() {
            if index > 0 {
                line.push(separator);
            }
            write_text(name.as_bytes(), separator, &mut line);
        }
        line.push(b'\n');
    }
    for row in 0..table.rows {
        let start = line.len();
        for (index, column) in table.columns.iter().enumerate() {
            if index > 0 {
                line.push(separator);
            }
            column.write_cell(row, separator, &mut line);
        }
        if line.len() == start {
            // A blank line would not count as a row.
            line.extend_from_slice(b"\"\"");
        }
        line.push(b'\n');
        if line.len() > 1 << 16 {
            target.write_bytes(&line)?;
            line.clear();
        }
    }
    target.write_bytes(&line)
}

/// What a value is as a table.
struct Table {
    names: Option<Vec<String>>,
    columns: Vec<Cells>,
    rows: usize,
}

/// A column of a table: the elements `first`, `first + step`, … of scalars, or texts.
struct Cells {
    elements: Column,
    first: usize,
    step: usize,
}

impl Table {
    fn of(value: &Value, ty: &Type) -> Result<Table, Problem> {
        if let Some(fields) = fields::fields(value, ty) {
            return Table::of_columns(&fields);
        }
        let Some(elements) = fields::as_column(value) else {
            return Err(no_table(ty));
        };
        let rows = elements.len();
        match elements {
            Column::Tuple { parts, .. } => {
                let names = match element_type(ty) {
                    Some(Type::Record(fields)) => {
                        fields.iter().map(|(name, _)| name.to_string()).collect()
                    }
                    _ => (0..parts.len()).map(|index| format!("c{index}")).collect(),
                };
                let columns = parts.iter().map(|part| Cells::of(part).ok_or_else(|| no_table(ty)));
                let columns = columns.collect::<Result<_, _>>()?;
                Ok(Table { names: Some(names), columns, rows })
            }
            Column::Dense { .. } | Column::Ragged { .. } if !is_lines(elements) => {
                Table::of_matrix(elements, ty)
            }
            column => {
                let cells = Cells::of(column).ok_or_else(|| no_table(ty))?;
                let names = (!is_numeric(column)).then(|| vec!["c0".to_owned()]);
                Ok(Table { names, columns: vec![cells], rows })
            }
        }
    }

    fn of_columns(fields: &[(&weft_ir::Name, &Value, &Type)]) -> Result<Table, Problem> {
        let mut names = Vec::new();
        let mut columns = Vec::new();
        let mut rows: Option<(usize, &str)> = None;
        for (name, value, ty) in fields {
            let cells = fields::as_column(value).and_then(Cells::of).ok_or_else(|| {
                Problem::does_not_fit(format!(
                    "a column of a table is an array of scalars or of texts, but field `{name}` \
                     is a value of type {ty}"
                ))
            })?;
            let len = fields::as_column(value).map_or(0, Column::len);
            match rows {
                Some((rows, first)) if rows != len => {
                    let elements = if rows == 1 { "element" } else { "elements" };
                    return Err(Problem::does_not_fit(format!(
                        "the columns of a table have one length, but `{first}` has {rows} {elements} and \
                         `{name}` has {len}"
                    )));
                }
                Some(_) => {}
                None => rows = Some((len, name)),
            }
            names.push(name.to_string());
            columns.push(cells);
        }
        let Some((rows, _)) = rows else {
            return Err(Problem::does_not_fit("a record without fields is no table"));
        };
        Ok(Table { names: Some(names), columns, rows })
    }

    fn of_matrix(elements: &Column, ty: &Type) -> Result<Table, Problem> {
        let width = elements.extent().map_err(|(row, first, length)| {
            let elements = if length == 1 { "element" } else { "elements" };
            Problem::does_not_fit(format!(
                "the rows of a table have one length, but row {row} has {length} {elements} and row 0 has {first}"
            ))
        })?;
        let flat = elements.flatten();
        if flat.scalar_type().is_none() {
            return Err(no_table(ty));
        }
        let names =
            (!is_numeric(&flat)).then(|| (0..width).map(|index| format!("c{index}")).collect());
        let columns =
            (0..width).map(|first| Cells { elements: flat.clone(), first, step: width }).collect();
        Ok(Table { names, columns, rows: elements.len() })
    }
}

impl Cells {
    fn of(column: &Column) -> Option<Cells> {
        let is_column = column.scalar_type().is_some() || is_lines(column);
        is_column.then(|| Cells { elements: column.clone(), first: 0, step: 1 })
    }

    fn write_cell(&self, row: usize, separator: u8, line: &mut Vec<u8>) {
        let index = self.first + row * self.step;
        match self.elements.scalar(index) {
            Some(scalar) => write_scalar(scalar, separator, line),
            None => {
                let text = self.elements.row(index);
                let Some(Column::Char(text)) = &text else { unreachable!("cells are texts") };
                write_text(text.as_slice(), separator, line);
            }
        }
    }
}

fn write_scalar(scalar: Scalar, separator: u8, line: &mut Vec<u8>) {
    let written = match scalar {
        Scalar::I8(number) => write!(line, "{number}"),
        Scalar::I16(number) => write!(line, "{number}"),
        Scalar::I32(number) => write!(line, "{number}"),
        Scalar::I64(number) => write!(line, "{number}"),
        Scalar::U8(number) => write!(line, "{number}"),
        Scalar::U16(number) => write!(line, "{number}"),
        Scalar::U32(number) => write!(line, "{number}"),
        Scalar::U64(number) => write!(line, "{number}"),
        // The shortest text that reads back equal, always with a point or an exponent.
        Scalar::F32(number) if number.is_nan() => write!(line, "nan"),
        Scalar::F64(number) if number.is_nan() => write!(line, "nan"),
        Scalar::F32(number) => write!(line, "{number:?}"),
        Scalar::F64(number) => write!(line, "{number:?}"),
        Scalar::Bool(truth) => write!(line, "{truth}"),
        Scalar::Char(byte) => {
            write_text(&[byte], separator, line);
            Ok(())
        }
    };
    written.expect("memory can always be written to");
}

/// A text, in quotes where it would be read as something else without them.
fn write_text(text: &[u8], separator: u8, line: &mut Vec<u8>) {
    let special = |byte: &u8| *byte == separator || matches!(byte, b'"' | b'\n' | b'\r' | b'#');
    let plain = !text.iter().any(special) && !is_missing(text, false) && !is_number(text);
    if plain || text.is_empty() {
        line.extend_from_slice(text);
        return;
    }
    line.push(b'"');
    for &byte in text {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

fn element_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(element) => Some(element),
        Type::Scalar(_) | Type::Tuple(_) | Type::Record(_) => None,
    }
}

fn is_numeric(column: &Column) -> bool {
    !matches!(column.scalar_type(), None | Some(ScalarType::Bool | ScalarType::Char))
}

fn no_table(ty: &Type) -> Problem {
    let message = format!("a table cannot hold a value of type {ty}");
    Problem::does_not_fit(message).hint(
        "a table is a record of columns, an array of records or tuples of scalars, or a matrix",
    )
}
