//! Number literals: `42 42u8 0xff 0b1010 1_000 1.5 1.5f32 1e-3`, and `nan`, `inf`, `pi`.

use weft_ir::ScalarType;

use super::Problem;
use crate::ast::Number;

/// The codes of this subject.
const MALFORMED: &str = "E0108";
const OUT_OF_RANGE: &str = "E0109";

/// The number of bytes of the number, well-formed or not, that `bytes` begins with.
pub(in crate::syntax) fn length(bytes: &[u8]) -> usize {
    let word = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_' || **byte >= 0x80)
            .count()
    };
    let at = |index: usize| bytes.get(index).copied().unwrap_or(0);
    let digits = |from: usize| {
        bytes[from..].iter().take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count()
    };
    if at(0) == b'0' && at(1).is_ascii_alphabetic() && !matches!(at(1), b'e' | b'E') {
        return word(0);
    }
    let mut end = digits(0);
    if at(end) == b'.' {
        if at(end + 1).is_ascii_digit() {
            end += 1;
            end += digits(end);
        } else if !matches!(at(end + 1), b'.' | b'|' | b'^' | b'&') {
            // `1.` lacks its second half; a name after the point belongs to the mistake.
            return end + 1 + word(end + 1);
        }
    }
    if matches!(at(end), b'e' | b'E') {
        let sign = usize::from(matches!(at(end + 1), b'+' | b'-'));
        if at(end + 1 + sign).is_ascii_digit() {
            end += 1 + sign;
            end += digits(end);
        }
    }
    end += word(end);
    while at(end) == b'.' && at(end + 1).is_ascii_digit() {
        end += 1;
        end += word(end);
    }
    end
}

/// The meaning of a number as written, with its type suffix.
pub(in crate::syntax) fn value(text: &str) -> Result<(Number, Option<ScalarType>), Problem> {
    const SURELY_EXACT: usize = 18;
    if text.len() <= SURELY_EXACT && text.bytes().all(|byte| byte.is_ascii_digit()) {
        let value = text.bytes().fold(0, |value: i64, byte| value * 10 + i64::from(byte - b'0'));
        return Ok((Number::Int(value.into()), None));
    }
    if let Some(constant) = constant(text) {
        return Ok((constant, None));
    }
    for (prefix, radix) in [("0x", 16), ("0b", 2)] {
        if let Some(rest) = text.strip_prefix(prefix) {
            return integer_in_radix(rest, radix);
        }
    }
    if let Some(rest) = text.strip_prefix("0o") {
        let fix = match i128::from_str_radix(rest, 8) {
            Ok(value) => format!("write {value}, or 0x{value:x} in hexadecimal"),
            Err(_) => "integers are decimal, hexadecimal (0xff) or binary (0b1010)".into(),
        };
        return Err(malformed(text, "octal is not supported").help(fix));
    }
    let body = text
        .find(|character: char| character.is_alphabetic() && !matches!(character, 'e' | 'E'))
        .or_else(|| text.find(['e', 'E']).filter(|&at| !is_exponent(&text[at..])))
        .unwrap_or(text.len());
    let (digits, suffix) = text.split_at(body);
    if let Some((whole, rest)) = digits.split_once('.')
        && !rest.starts_with(|digit: char| digit.is_ascii_digit())
    {
        return Err(malformed(text, "a float has a digit on both sides of its point")
            .help(format!("write {whole}.0{rest}")));
    }
    let is_float = digits.contains(['.', 'e', 'E']);
    let ty = suffix_type(text, digits, suffix)?;
    let plain = digits.replace('_', "");
    if is_float { float(text, &plain, ty) } else { decimal(text, &plain, ty) }
}

/// `nan`, `inf`, `pi`.
pub(in crate::syntax) fn constant(word: &str) -> Option<Number> {
    let (wide, narrow) = match word {
        "nan" => (f64::NAN, f32::NAN),
        "inf" => (f64::INFINITY, f32::INFINITY),
        "pi" => (std::f64::consts::PI, std::f32::consts::PI),
        _ => return None,
    };
    Some(Number::Float { wide, narrow })
}

/// Whether a literal of that type can have that value.
pub(in crate::syntax) fn fits(value: i128, ty: ScalarType) -> bool {
    match bounds(ty) {
        Some((low, high)) => (low..=high).contains(&value),
        None => true,
    }
}

/// The report for an integer that its suffix does not allow.
pub(in crate::syntax) fn out_of_range(written: &str, ty: ScalarType) -> Problem {
    let remark = match bounds(ty) {
        Some((low, high)) => format!("{ty} holds {low} to {high}"),
        None => format!("{ty} cannot hold it"),
    };
    Problem::new(OUT_OF_RANGE, format!("{written} is out of range for {ty}"), remark)
}

/// The least and the greatest value of an integer type.
fn bounds(ty: ScalarType) -> Option<(i128, i128)> {
    if !ty.is_int() {
        return None;
    }
    let bits = 8 * ty.bytes() as u32;
    Some(if ty.is_signed_int() {
        (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)
    } else {
        (0, (1 << bits) - 1)
    })
}

fn malformed(text: &str, remark: &str) -> Problem {
    let shown: String = text.chars().take(40).collect();
    Problem::new(MALFORMED, format!("`{shown}` is not a number"), remark)
}

/// Whether `text`, which begins with `e`, is an exponent.
fn is_exponent(text: &str) -> bool {
    text[1..].trim_start_matches(['+', '-']).starts_with(|digit: char| digit.is_ascii_digit())
}

fn suffix_type(text: &str, digits: &str, suffix: &str) -> Result<Option<ScalarType>, Problem> {
    if suffix.is_empty() {
        return Ok(None);
    }
    if suffix.contains('.') || digits.matches('.').count() > 1 {
        return Err(malformed(text, "it has two points"));
    }
    match ScalarType::from_name(suffix) {
        Some(ty) if ty.is_int() && digits.contains(['.', 'e', 'E']) => {
            Err(malformed(text, "a number with a point or an exponent cannot have an integer type")
                .help(format!("convert it: `{suffix} {digits}`")))
        }
        Some(ty) if ty.is_int() || ty.is_float() => Ok(Some(ty)),
        _ => Err(malformed(text, "a number ends in digits or a type such as u8 or f32")
            .help(format!("to multiply, write {digits} * {suffix}"))),
    }
}

fn integer_in_radix(rest: &str, radix: u32) -> Result<(Number, Option<ScalarType>), Problem> {
    let written = if radix == 16 { format!("0x{rest}") } else { format!("0b{rest}") };
    let end = rest.find(|digit: char| !digit.is_digit(radix) && digit != '_').unwrap_or(rest.len());
    let (digits, suffix) = rest.split_at(end);
    let plain = digits.replace('_', "");
    if plain.is_empty() {
        return Err(malformed(&written, "there are no digits"));
    }
    let ty = match ScalarType::from_name(suffix) {
        None if suffix.is_empty() => None,
        Some(ty) if ty.is_int() => Some(ty),
        _ => return Err(malformed(&written, "these digits do not belong to its base")),
    };
    match i128::from_str_radix(&plain, radix) {
        Ok(value) => Ok((Number::Int(value), ty)),
        Err(_) => Err(too_large(&written)),
    }
}

fn decimal(
    text: &str,
    plain: &str,
    ty: Option<ScalarType>,
) -> Result<(Number, Option<ScalarType>), Problem> {
    match plain.parse() {
        Ok(value) => Ok((Number::Int(value), ty)),
        Err(_) => Err(too_large(text)),
    }
}

fn float(
    text: &str,
    plain: &str,
    ty: Option<ScalarType>,
) -> Result<(Number, Option<ScalarType>), Problem> {
    let (Ok(wide), Ok(narrow)) = (plain.parse::<f64>(), plain.parse::<f32>()) else {
        return Err(malformed(text, "it is not a decimal number"));
    };
    let infinite = match ty {
        Some(ScalarType::F32) => narrow.is_infinite(),
        _ => wide.is_infinite(),
    };
    if infinite {
        let ty = ty.unwrap_or(ScalarType::F64);
        let shown: String = text.chars().take(40).collect();
        let message = format!("{shown} is out of range for {ty}");
        let remark = format!("the largest {ty} is far below; infinity is `inf`");
        return Err(Problem::new(OUT_OF_RANGE, message, remark));
    }
    Ok((Number::Float { wide, narrow }, ty))
}

fn too_large(text: &str) -> Problem {
    let shown: String = text.chars().take(40).collect();
    Problem::new(
        OUT_OF_RANGE,
        format!("the integer {shown} is too large"),
        "no type holds an integer of that size",
    )
    .help("as a float, write it with an exponent: 1e40")
}

#[cfg(test)]
mod tests {
    use super::{length, value};
    use crate::ast::Number;

    fn check(text: &str, expect: &str) {
        let shown = match value(&text[..length(text.as_bytes())]) {
            Ok((Number::Int(value), ty)) => format!("{value} {ty:?}"),
            Ok((Number::Float { wide, .. }, ty)) => format!("{wide:?} {ty:?}"),
            Err(problem) => problem.code.to_string(),
        };
        assert_eq!(shown, expect, "{text}");
    }

    #[test]
    fn numbers() {
        check("42", "42 None");
        check("1_000", "1000 None");
        check("42u8", "42 Some(U8)");
        check("0xff", "255 None");
        check("0xffu8", "255 Some(U8)");
        check("0b1010", "10 None");
        check("0b10i8", "10 None".replace("10", "2").replace("None", "Some(I8)").as_str());
        check("1.5", "1.5 None");
        check("1.5f32", "1.5 Some(F32)");
        check("1e-3", "0.001 None");
        check("1e5f32", "100000.0 Some(F32)");
        check("2f32", "2 Some(F32)");
        check("1..5", "1 None");
        check("1.|.2", "1 None");
        check("007", "7 None");
        check("0", "0 None");
        check("0e1", "0.0 None");
        check("170141183460469231731687303715884105727", &format!("{} None", i128::MAX));
    }

    #[test]
    fn mistakes() {
        for text in
            ["1.", "1.e5", "1.x", "2x", "1e", "1.5i32", "0o17", "0x", "0b2", "1bool", "1.2.3"]
        {
            check(text, "E0108");
        }
        for text in ["1e400", "1e40f32", "170141183460469231731687303715884105728"] {
            check(text, "E0109");
        }
    }
}
