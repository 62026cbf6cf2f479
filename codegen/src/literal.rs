//! Constants.

use weft_ir::Scalar;

/// A constant as an expression that binds as tightly as a name. Floats have the fewest digits that
/// read back as the same number.
pub fn literal(scalar: Scalar) -> String {
    match scalar {
        Scalar::I8(value) => signed(i64::from(value), ""),
        Scalar::I16(value) => signed(i64::from(value), ""),
        Scalar::I32(i32::MIN) => "(-2147483647 - 1)".to_owned(),
        Scalar::I32(value) => signed(i64::from(value), ""),
        Scalar::I64(i64::MIN) => "(-9223372036854775807LL - 1)".to_owned(),
        Scalar::I64(value) => signed(value, "LL"),
        Scalar::U8(value) | Scalar::Char(value) => value.to_string(),
        Scalar::U16(value) => value.to_string(),
        Scalar::U32(value) => format!("{value}U"),
        Scalar::U64(value) => format!("{value}ULL"),
        Scalar::F32(value) if value.is_nan() => "NAN_F32".to_owned(),
        Scalar::F64(value) if value.is_nan() => "NAN_F64".to_owned(),
        Scalar::F32(f32::INFINITY) => "INFINITY_F32".to_owned(),
        Scalar::F64(f64::INFINITY) => "INFINITY_F64".to_owned(),
        Scalar::F32(f32::NEG_INFINITY) => "(-INFINITY_F32)".to_owned(),
        Scalar::F64(f64::NEG_INFINITY) => "(-INFINITY_F64)".to_owned(),
        Scalar::F32(value) => parenthesised(format!("{value:?}f")),
        Scalar::F64(value) => parenthesised(format!("{value:?}")),
        Scalar::Bool(value) => if value { "true" } else { "false" }.to_owned(),
    }
}

fn signed(value: i64, suffix: &str) -> String {
    parenthesised(format!("{value}{suffix}"))
}

fn parenthesised(text: String) -> String {
    if text.starts_with('-') { format!("({text})") } else { text }
}
