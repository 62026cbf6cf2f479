//! What the printer asks about values: types with discovered extents, sizes, regularity.

use unicode_width::UnicodeWidthStr;
use weft_ir::{Column, ScalarType, Type, Value};

use super::inline::cut;
use crate::plot;

/// The type of a value with the extents that it has: `[3][4]f32`, and `[3][~]i64` where rows
/// differ in length.
pub fn discovered_type(value: &Value, ty: &Type) -> String {
    Writer::text(value, ty, usize::MAX)
}

/// The same in at most `width` cells: of a record or tuple that is wider as many parts as there is room for, and how
/// many more it has.
pub(crate) fn fitted_type(value: &Value, ty: &Type, width: usize) -> String {
    let whole = discovered_type(value, ty);
    if whole.width() <= width {
        return whole;
    }
    // The most parts that fit lie from `fits` on and below `wide`.
    let (mut fits, mut wide) = (None, parts(ty));
    let mut low = 1;
    while low < wide {
        let middle = low + (wide - low) / 2;
        let text = Writer::text(value, ty, middle);
        if text.width() <= width {
            (fits, low) = (Some(text), middle + 1);
        } else {
            wide = middle;
        }
    }
    fits.unwrap_or_else(|| cut(&whole, width))
}

/// The type of a value that is bound to a name, in a few lines of a screen.
pub(crate) fn bound_type(name: &str, value: &Value, ty: &Type, width: usize) -> String {
    const LINES: usize = 3;
    let (whole, fitted) = (discovered_type(value, ty), fitted_type(value, ty, LINES * width));
    if fitted == whole { whole } else { format!("{fitted} (`:type {name}` shows all)") }
}

/// The most parts that a tuple or a record has in a type.
fn parts(ty: &Type) -> usize {
    match ty {
        Type::Scalar(_) => 0,
        Type::Array(element) => parts(element),
        Type::Tuple(types) => types.iter().map(parts).fold(types.len(), usize::max),
        Type::Record(fields) => {
            fields.iter().map(|(_, ty)| parts(ty)).fold(fields.len(), usize::max)
        }
    }
}

/// Writes types of values.
struct Writer {
    out: String,
    /// The parts of a tuple or a record that are written.
    most: usize,
}

impl Writer {
    fn text(value: &Value, ty: &Type, most: usize) -> String {
        let mut writer = Writer { out: String::new(), most };
        writer.value(value, ty);
        writer.out
    }

    fn value(&mut self, value: &Value, ty: &Type) {
        match (value, ty) {
            (_, ty) if plot::is_figure(ty) => self.out.push_str(plot::TYPE),
            (Value::Tuple(values), Type::Tuple(parts)) => {
                self.parts("(", ")", parts.len(), |writer, index| {
                    writer.value(&values[index], &parts[index]);
                });
            }
            (Value::Tuple(values), Type::Record(fields)) => {
                self.parts("{", "}", fields.len(), |writer, index| {
                    writer.out.push_str(&format!("{}: ", fields[index].0));
                    writer.value(&values[index], &fields[index].1);
                });
            }
            (Value::Array(array), Type::Array(element)) => {
                self.out.push_str(&format!("[{}]", array.len()));
                self.column(&array.elements, element);
            }
            _ => self.out.push_str(&ty.to_string()),
        }
    }

    /// The type of the elements of a column, with the extents that they share.
    fn column(&mut self, column: &Column, ty: &Type) {
        match (column, ty) {
            (_, ty) if plot::is_figure(ty) => self.out.push_str(plot::TYPE),
            (Column::Tuple { parts: columns, .. }, Type::Tuple(parts)) => {
                self.parts("(", ")", parts.len(), |writer, index| {
                    writer.column(&columns[index], &parts[index]);
                });
            }
            (Column::Tuple { parts: columns, .. }, Type::Record(fields)) => {
                self.parts("{", "}", fields.len(), |writer, index| {
                    writer.out.push_str(&format!("{}: ", fields[index].0));
                    writer.column(&columns[index], &fields[index].1);
                });
            }
            (Column::Dense { .. } | Column::Ragged { .. }, Type::Array(element)) => {
                match column.extent() {
                    Ok(extent) => self.out.push_str(&format!("[{extent}]")),
                    Err(_) => self.out.push_str("[~]"),
                }
                self.column(&column.flatten(), element);
            }
            _ => self.out.push_str(&ty.to_string()),
        }
    }

    fn parts(
        &mut self,
        open: &str,
        close: &str,
        count: usize,
        mut part: impl FnMut(&mut Writer, usize),
    ) {
        self.out.push_str(open);
        for index in 0..count.min(self.most) {
            if index > 0 {
                self.out.push_str(", ");
            }
            part(self, index);
        }
        if count > self.most {
            self.out.push_str(&format!(", … {} more", count - self.most));
        }
        self.out.push_str(close);
    }
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
