//! Building records and looking into them.

use std::sync::Arc;

use weft_ir::{Array, Column, Name, Scalar, ScalarType, Type, Value};

use super::Loaded;

/// A record of these fields.
pub(super) fn record(fields: Vec<(Name, Loaded)>) -> Loaded {
    let mut values = Vec::with_capacity(fields.len());
    let mut types = Vec::with_capacity(fields.len());
    for (name, Loaded { value, ty }) in fields {
        values.push(value);
        types.push((name, ty));
    }
    Loaded { value: Value::Tuple(values.into()), ty: Type::Record(types.into()) }
}

/// A tuple of these parts.
pub(super) fn tuple(parts: Vec<Loaded>) -> Loaded {
    let (values, types): (Vec<Value>, Vec<Type>) =
        parts.into_iter().map(|part| (part.value, part.ty)).unzip();
    Loaded { value: Value::Tuple(values.into()), ty: Type::Tuple(types.into()) }
}

/// An array of these elements.
pub(super) fn array(elements: Column, element: Type) -> Loaded {
    let value = Value::Array(Arc::new(Array::new(elements)));
    Loaded { value, ty: Type::array(element) }
}

/// An `i64`.
pub(super) fn integer(value: i64) -> Loaded {
    Loaded { value: Value::Scalar(Scalar::I64(value)), ty: Type::Scalar(ScalarType::I64) }
}

/// An `f64`.
pub(super) fn float(value: f64) -> Loaded {
    Loaded { value: Value::Scalar(Scalar::F64(value)), ty: Type::Scalar(ScalarType::F64) }
}

/// The fields of a record; `None` if the value is none.
pub(super) fn fields<'a>(
    value: &'a Value,
    ty: &'a Type,
) -> Option<Vec<(&'a Name, &'a Value, &'a Type)>> {
    match (value, ty) {
        (Value::Tuple(values), Type::Record(fields)) => {
            Some(fields.iter().zip(values.iter()).map(|((name, ty), v)| (name, v, ty)).collect())
        }
        _ => None,
    }
}

/// The field of that name, if the value is a record that has it.
pub(super) fn field<'a>(value: &'a Value, ty: &Type, name: &str) -> Option<&'a Value> {
    match (value, ty) {
        (Value::Tuple(values), Type::Record(fields)) => {
            let index = fields.iter().position(|(field, _)| &**field == name)?;
            values.get(index)
        }
        _ => None,
    }
}

/// The number in an `i64`.
pub(super) fn as_integer(value: &Value) -> Option<i64> {
    match value {
        Value::Scalar(Scalar::I64(number)) => Some(*number),
        _ => None,
    }
}

/// The elements of an array.
pub(super) fn as_column(value: &Value) -> Option<&Column> {
    match value {
        Value::Array(array) => Some(&array.elements),
        _ => None,
    }
}

/// The elements of a `[]i64`.
pub(super) fn as_integers(value: &Value) -> Option<&[i64]> {
    match as_column(value)? {
        Column::I64(buf) => Some(buf.as_slice()),
        _ => None,
    }
}
