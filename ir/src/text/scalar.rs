//! Scalars with their suffix: `1i64`, `2.5f32`, `-inff64`, `nanf32`, `true`, `'c'`, `'\x0a'`.

use std::fmt;

use crate::{Scalar, ScalarType};

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ty = self.ty();
        match *self {
            Scalar::I8(value) => write!(f, "{value}{ty}"),
            Scalar::I16(value) => write!(f, "{value}{ty}"),
            Scalar::I32(value) => write!(f, "{value}{ty}"),
            Scalar::I64(value) => write!(f, "{value}{ty}"),
            Scalar::U8(value) => write!(f, "{value}{ty}"),
            Scalar::U16(value) => write!(f, "{value}{ty}"),
            Scalar::U32(value) => write!(f, "{value}{ty}"),
            Scalar::U64(value) => write!(f, "{value}{ty}"),
            // All NaNs are one value (numerics.md).
            Scalar::F32(value) if value.is_nan() => write!(f, "nan{ty}"),
            Scalar::F64(value) if value.is_nan() => write!(f, "nan{ty}"),
            Scalar::F32(value) => write!(f, "{value:?}{ty}"),
            Scalar::F64(value) => write!(f, "{value:?}{ty}"),
            Scalar::Bool(value) => write!(f, "{value}"),
            Scalar::Char(byte @ (b' '..=b'~')) if byte != b'\'' && byte != b'\\' => {
                write!(f, "'{}'", char::from(byte))
            }
            Scalar::Char(byte) => write!(f, "'\\x{byte:02x}'"),
        }
    }
}

impl Scalar {
    /// The scalar that [`Scalar`]'s `Display` writes so.
    pub fn from_text(text: &str) -> Option<Scalar> {
        match text {
            "true" => return Some(Scalar::Bool(true)),
            "false" => return Some(Scalar::Bool(false)),
            _ => {}
        }
        if let Some(inner) = text.strip_prefix('\'') {
            return character(inner.strip_suffix('\'')?).map(Scalar::Char);
        }
        let ty = ScalarType::ALL.into_iter().find(|ty| text.ends_with(ty.name()))?;
        let number = &text[..text.len() - ty.name().len()];
        match ty {
            ScalarType::I8 => number.parse().ok().map(Scalar::I8),
            ScalarType::I16 => number.parse().ok().map(Scalar::I16),
            ScalarType::I32 => number.parse().ok().map(Scalar::I32),
            ScalarType::I64 => number.parse().ok().map(Scalar::I64),
            ScalarType::U8 => number.parse().ok().map(Scalar::U8),
            ScalarType::U16 => number.parse().ok().map(Scalar::U16),
            ScalarType::U32 => number.parse().ok().map(Scalar::U32),
            ScalarType::U64 => number.parse().ok().map(Scalar::U64),
            ScalarType::F32 => number.parse().ok().map(Scalar::F32),
            ScalarType::F64 => number.parse().ok().map(Scalar::F64),
            ScalarType::Bool | ScalarType::Char => None,
        }
    }
}

fn character(inner: &str) -> Option<u8> {
    if let Some(digits) = inner.strip_prefix("\\x") {
        return if digits.len() == 2 { u8::from_str_radix(digits, 16).ok() } else { None };
    }
    match *inner.as_bytes() {
        [byte @ (b' '..=b'~')] if byte != b'\'' && byte != b'\\' => Some(byte),
        _ => None,
    }
}
