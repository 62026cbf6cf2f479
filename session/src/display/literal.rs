//! A value as source text that reads back as the same value, nothing elided.

use weft_ir::{Column, Type, Value};

use super::scalar::{scalar_text, string_literal};
use super::shape::is_text;

/// The value in source syntax: `[[1, 2], [3]]`, `(1, 2.5)`, `{x = 1}`, `"text"`.
///
/// Literals carry no type suffix and empty arrays no extents: the type is known from elsewhere.
/// The text is as long as the value is large; for the screen there is [`super::text`].
pub fn literal(value: &Value, ty: &Type) -> String {
    let mut out = String::new();
    write_value(&mut out, value, ty);
    out
}

fn write_value(out: &mut String, value: &Value, ty: &Type) {
    match (value, ty) {
        (Value::Scalar(scalar), _) => out.push_str(&scalar_text(*scalar)),
        (Value::Tuple(values), Type::Record(fields)) => {
            out.push('{');
            for (index, (value, (name, ty))) in values.iter().zip(fields.iter()).enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                out.push_str(name);
                out.push_str(" = ");
                write_value(out, value, ty);
            }
            out.push('}');
        }
        (Value::Tuple(values), Type::Tuple(parts)) => {
            out.push('(');
            for (index, (value, ty)) in values.iter().zip(parts.iter()).enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                write_value(out, value, ty);
            }
            out.push(')');
        }
        (Value::Array(array), Type::Array(element)) => match &array.elements {
            Column::Char(bytes) if is_text(ty) => out.push_str(&string_literal(bytes.as_slice())),
            elements => {
                out.push('[');
                for index in 0..elements.len() {
                    out.push_str(if index == 0 { "" } else { ", " });
                    write_value(out, &elements.get(index), element);
                }
                out.push(']');
            }
        },
        (value, ty) => panic!("a value that is not of its type {ty}: {value:?}"),
    }
}
