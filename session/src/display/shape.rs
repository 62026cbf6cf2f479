//! What the printer asks about values: types with discovered extents, sizes, regularity.

use weft_ir::{Column, ScalarType, Type, Value};

use crate::plot;

/// The type of a value with the extents that it has: `[3][4]f32`, and `[3][~]i64` where rows
/// differ in length.
pub fn discovered_type(value: &Value, ty: &Type) -> String {
    let mut out = String::new();
    write_value_type(&mut out, value, ty);
    out
}

fn write_value_type(out: &mut String, value: &Value, ty: &Type) {
    match (value, ty) {
        (_, ty) if plot::is_figure(ty) => out.push_str(plot::TYPE),
        (Value::Tuple(values), Type::Tuple(parts)) => {
            write_parts(out, "(", ")", parts.len(), |out, index| {
                write_value_type(out, &values[index], &parts[index]);
            });
        }
        (Value::Tuple(values), Type::Record(fields)) => {
            write_parts(out, "{", "}", fields.len(), |out, index| {
                out.push_str(&format!("{}: ", fields[index].0));
                write_value_type(out, &values[index], &fields[index].1);
            });
        }
        (Value::Array(array), Type::Array(element)) => {
            out.push_str(&format!("[{}]", array.len()));
            write_column_type(out, &array.elements, element);
        }
        _ => out.push_str(&ty.to_string()),
    }
}

/// The type of the elements of a column, with the extents that they share.
fn write_column_type(out: &mut String, column: &Column, ty: &Type) {
    match (column, ty) {
        (_, ty) if plot::is_figure(ty) => out.push_str(plot::TYPE),
        (Column::Tuple { parts: columns, .. }, Type::Tuple(parts)) => {
            write_parts(out, "(", ")", parts.len(), |out, index| {
                write_column_type(out, &columns[index], &parts[index]);
            });
        }
        (Column::Tuple { parts: columns, .. }, Type::Record(fields)) => {
            write_parts(out, "{", "}", fields.len(), |out, index| {
                out.push_str(&format!("{}: ", fields[index].0));
                write_column_type(out, &columns[index], &fields[index].1);
            });
        }
        (Column::Dense { .. } | Column::Ragged { .. }, Type::Array(element)) => {
            match column.extent() {
                Ok(extent) => out.push_str(&format!("[{extent}]")),
                Err(_) => out.push_str("[~]"),
            }
            write_column_type(out, &column.flatten(), element);
        }
        _ => out.push_str(&ty.to_string()),
    }
}

fn write_parts(
    out: &mut String,
    open: &str,
    close: &str,
    count: usize,
    mut part: impl FnMut(&mut String, usize),
) {
    out.push_str(open);
    for index in 0..count {
        if index > 0 {
            out.push_str(", ");
        }
        part(out, index);
    }
    out.push_str(close);
}

/// Whether the type is `[]char`.
pub(crate) fn is_text(ty: &Type) -> bool {
    matches!(ty, Type::Array(element) if **element == Type::Scalar(ScalarType::Char))
}

/// The array axes above the things that print as one: scalars, tuples, records and texts.
pub(crate) fn rank_above_atoms(ty: &Type) -> usize {
    match ty {
        Type::Array(element) if !is_text(ty) => 1 + rank_above_atoms(element),
        Type::Scalar(_) | Type::Tuple(_) | Type::Record(_) | Type::Array(_) => 0,
    }
}

/// Whether an array is somewhere in a value of this type, texts not counted.
pub(crate) fn holds_array(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => false,
        Type::Tuple(parts) => parts.iter().any(holds_array),
        Type::Record(fields) => fields.iter().any(|(_, ty)| holds_array(ty)),
        Type::Array(_) => !is_text(ty),
    }
}

/// The number of scalars in a value; found from the layout, without visiting them.
pub fn size(value: &Value) -> usize {
    match value {
        Value::Scalar(_) => 1,
        Value::Tuple(parts) => parts.iter().map(size).sum(),
        Value::Array(array) => leaves(&array.elements),
    }
}

/// The number of scalars in a column.
pub(crate) fn leaves(column: &Column) -> usize {
    match column {
        Column::Tuple { parts, .. } => parts.iter().map(leaves).sum(),
        // Rows count too, so that a million empty rows are no small value.
        Column::Dense { .. } | Column::Ragged { .. } => {
            leaves(&column.flatten()).saturating_add(column.len())
        }
        _ => column.len(),
    }
}
