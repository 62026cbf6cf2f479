//! Writing a Matrix Market file.

use std::io::Write;

use weft_ir::{Column, Scalar, ScalarType, Type, Value};

use super::super::error::Problem;
use super::super::fields;
use super::super::target::Target;

/// Writes a matrix record as coordinates, general: every entry, in order.
pub(in super::super) fn write(
    value: &Value,
    ty: &Type,
    target: &mut Target,
) -> Result<(), Problem> {
    let matrix = Matrix::of(value, ty).ok_or_else(|| {
        Problem::does_not_fit(format!("a .mtx file cannot hold a value of type {ty}")).hint(
            "it holds a record {rows: i64, cols: i64, rowIndex: []i64, colIndex: []i64, values: \
             []a} of numbers a or of pairs (f64, f64)",
        )
    })?;
    matrix.check()?;
    let field = matrix.field();
    let entries = matrix.row_index.len();
    let mut lines = Vec::new();
    writeln!(lines, "%%MatrixMarket matrix coordinate {field} general")
        .map_err(Problem::writing)?;
    writeln!(lines, "{} {} {entries}", matrix.rows, matrix.cols).map_err(Problem::writing)?;
    for index in 0..entries {
        let (row, col) = (matrix.row_index[index] + 1, matrix.col_index[index] + 1);
        write!(lines, "{row} {col}").map_err(Problem::writing)?;
        for part in &matrix.parts {
            let scalar = part.scalar(index).expect("values are numbers");
            lines.push(b' ');
            write_number(scalar, &mut lines);
        }
        lines.push(b'\n');
        if lines.len() > 1 << 16 {
            target.write_bytes(&lines)?;
            lines.clear();
        }
    }
    target.write_bytes(&lines)
}

/// A matrix record.
struct Matrix<'a> {
    rows: i64,
    cols: i64,
    row_index: &'a [i64],
    col_index: &'a [i64],
    /// The values, or their real and imaginary parts.
    parts: Vec<&'a Column>,
}

impl<'a> Matrix<'a> {
    fn of(value: &'a Value, ty: &Type) -> Option<Matrix<'a>> {
        let values = fields::as_column(fields::field(value, ty, "values")?)?;
        let parts: Vec<&Column> = match values {
            Column::Tuple { parts, .. } if parts.len() == 2 => parts.iter().collect(),
            values => vec![values],
        };
        let number = |part: &&Column| {
            !matches!(part.scalar_type(), None | Some(ScalarType::Bool | ScalarType::Char))
        };
        if !parts.iter().all(number) {
            return None;
        }
        Some(Matrix {
            rows: fields::as_integer(fields::field(value, ty, "rows")?)?,
            cols: fields::as_integer(fields::field(value, ty, "cols")?)?,
            row_index: fields::as_integers(fields::field(value, ty, "rowIndex")?)?,
            col_index: fields::as_integers(fields::field(value, ty, "colIndex")?)?,
            parts,
        })
    }

    fn check(&self) -> Result<(), Problem> {
        let entries = self.row_index.len();
        if self.rows < 0 || self.cols < 0 {
            return Err(Problem::does_not_fit("a matrix cannot have fewer than 0 rows or columns"));
        }
        let lengths = [self.col_index.len(), self.parts[0].len()];
        if lengths.iter().any(|&length| length != entries) {
            return Err(Problem::does_not_fit(format!(
                "rowIndex, colIndex and values have one length, but these have {entries}, {} and \
                 {}",
                lengths[0], lengths[1]
            )));
        }
        for (axis, indices, extent) in
            [("row", self.row_index, self.rows), ("column", self.col_index, self.cols)]
        {
            if let Some(index) = indices.iter().find(|&&index| index < 0 || index >= extent) {
                return Err(Problem::does_not_fit(format!(
                    "the {axis} index {index} is out of range for {extent} {axis}s"
                )));
            }
        }
        Ok(())
    }

    fn field(&self) -> &'static str {
        match self.parts[..] {
            [values] if values.scalar_type().is_some_and(ScalarType::is_int) => "integer",
            [_] => "real",
            _ => "complex",
        }
    }
}

/// A number; floats in the shortest form that reads back equal.
fn write_number(scalar: Scalar, line: &mut Vec<u8>) {
    let written = match scalar {
        Scalar::I8(number) => write!(line, "{number}"),
        Scalar::I16(number) => write!(line, "{number}"),
        Scalar::I32(number) => write!(line, "{number}"),
        Scalar::I64(number) => write!(line, "{number}"),
        Scalar::U8(number) => write!(line, "{number}"),
        Scalar::U16(number) => write!(line, "{number}"),
        Scalar::U32(number) => write!(line, "{number}"),
        Scalar::U64(number) => write!(line, "{number}"),
        Scalar::F32(number) => write!(line, "{number:?}"),
        Scalar::F64(number) => write!(line, "{number:?}"),
        Scalar::Bool(_) | Scalar::Char(_) => unreachable!("the values were found to be numbers"),
    };
    written.expect("memory can always be written to");
}
