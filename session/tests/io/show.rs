//! Values as text, in full.

use weft_ir::{Scalar, Type, Value};
use weft_session::io::Loaded;

/// The type and the value.
pub(crate) fn loaded(loaded: &Loaded) -> String {
    format!("{} {}", loaded.ty, value(&loaded.value, &loaded.ty))
}

fn value(shown: &Value, ty: &Type) -> String {
    match (shown, ty) {
        (Value::Scalar(scalar), _) => text(*scalar),
        (Value::Tuple(parts), Type::Tuple(types)) => {
            let parts = parts.iter().zip(types.iter()).map(|(part, ty)| value(part, ty));
            format!("({})", parts.collect::<Vec<_>>().join(", "))
        }
        (Value::Tuple(parts), Type::Record(fields)) => {
            let parts = parts.iter().zip(fields.iter());
            let parts = parts.map(|(part, (name, ty))| format!("{name} = {}", value(part, ty)));
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        (Value::Array(array), Type::Array(element)) => {
            if let weft_ir::Column::Char(chars) = &array.elements {
                return format!("{:?}", String::from_utf8_lossy(chars.as_slice()));
            }
            let parts = (0..array.len()).map(|index| value(&array.elements.get(index), element));
            format!("[{}]", parts.collect::<Vec<_>>().join(", "))
        }
        (shown, ty) => panic!("{shown:?} is no value of type {ty}"),
    }
}

fn text(scalar: Scalar) -> String {
    match scalar {
        Scalar::I8(number) => number.to_string(),
        Scalar::I16(number) => number.to_string(),
        Scalar::I32(number) => number.to_string(),
        Scalar::I64(number) => number.to_string(),
        Scalar::U8(number) => number.to_string(),
        Scalar::U16(number) => number.to_string(),
        Scalar::U32(number) => number.to_string(),
        Scalar::U64(number) => number.to_string(),
        Scalar::F32(number) => format!("{number:?}"),
        Scalar::F64(number) => format!("{number:?}"),
        Scalar::Bool(truth) => truth.to_string(),
        Scalar::Char(byte) => format!("{:?}", char::from(byte)),
    }
}
