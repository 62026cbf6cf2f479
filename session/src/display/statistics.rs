//! The line of statistics under a large array.

use weft_ir::{Column, ScalarType, Type, Value};

use super::scalar::scalar_text;
use weft_ir::Scalar;

/// `min 0.0, max 99.9, mean 49.95, nan 0` of all numbers of an array, however nested. The count of
/// NaNs stands there for floats only; they take no part in the other figures.
///
/// `None` if the value is no array of numbers, or holds none. It visits every element.
pub fn statistics(value: &Value, ty: &Type) -> Option<String> {
    let Value::Array(array) = value else { return None };
    let mut element = ty;
    while let Type::Array(inner) = element {
        element = inner;
    }
    let Type::Scalar(scalar) = element else { return None };
    if matches!(scalar, ScalarType::Bool | ScalarType::Char) {
        return None;
    }
    let mut column = array.elements.clone();
    while matches!(column, Column::Dense { .. } | Column::Ragged { .. }) {
        column = column.flatten();
    }
    summary(&column)
}

/// Summarises a column of numbers.
fn summary(column: &Column) -> Option<String> {
    macro_rules! integers {
        ($data:expr, $scalar:path) => {{
            let data = $data.as_slice();
            let (min, max) = (data.iter().min()?, data.iter().max()?);
            let sum: f64 = data.iter().map(|&value| value as f64).sum();
            line(scalar_text($scalar(*min)), scalar_text($scalar(*max)), sum / data.len() as f64)
        }};
    }
    macro_rules! floats {
        ($data:expr, $scalar:path) => {{
            let data = $data.as_slice();
            let numbers = data.iter().copied().filter(|value| !value.is_nan());
            let count = numbers.clone().count();
            let nans = data.len() - count;
            if count == 0 {
                return (nans > 0).then(|| format!("nan {nans}"));
            }
            let min = numbers.clone().reduce(|a, b| if b < a { b } else { a })?;
            let max = numbers.clone().reduce(|a, b| if b > a { b } else { a })?;
            let sum: f64 = numbers.map(f64::from).sum();
            let figures =
                line(scalar_text($scalar(min)), scalar_text($scalar(max)), sum / count as f64);
            format!("{figures}, nan {nans}")
        }};
    }
    Some(match column {
        Column::I8(data) => integers!(data, Scalar::I8),
        Column::I16(data) => integers!(data, Scalar::I16),
        Column::I32(data) => integers!(data, Scalar::I32),
        Column::I64(data) => integers!(data, Scalar::I64),
        Column::U8(data) => integers!(data, Scalar::U8),
        Column::U16(data) => integers!(data, Scalar::U16),
        Column::U32(data) => integers!(data, Scalar::U32),
        Column::U64(data) => integers!(data, Scalar::U64),
        Column::F32(data) => floats!(data, Scalar::F32),
        Column::F64(data) => floats!(data, Scalar::F64),
        Column::Bool(_)
        | Column::Char(_)
        | Column::Tuple { .. }
        | Column::Dense { .. }
        | Column::Ragged { .. } => return None,
    })
}

fn line(min: String, max: String, mean: f64) -> String {
    // Six digits are plenty for a glance; the text is then the shortest of that number.
    let rounded: f64 = format!("{mean:.5e}").parse().unwrap_or(mean);
    format!("min {min}, max {max}, mean {}", scalar_text(Scalar::F64(rounded)))
}
