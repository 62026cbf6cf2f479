//! How scalars and text print.

use std::fmt::Write as _;

use weft_ir::Scalar;

use super::Digits;

/// A scalar alone. Numbers and truth values are literals of the language; a `char` is quoted.
pub(crate) fn scalar_text(scalar: Scalar) -> String {
    match scalar {
        Scalar::I8(value) => value.to_string(),
        Scalar::I16(value) => value.to_string(),
        Scalar::I32(value) => value.to_string(),
        Scalar::I64(value) => value.to_string(),
        Scalar::U8(value) => value.to_string(),
        Scalar::U16(value) => value.to_string(),
        Scalar::U32(value) => value.to_string(),
        Scalar::U64(value) => value.to_string(),
        Scalar::F32(value) => float_text(f64::from(value), || format!("{value:?}")),
        Scalar::F64(value) => float_text(value, || format!("{value:?}")),
        Scalar::Bool(value) => value.to_string(),
        Scalar::Char(byte) => char_literal(byte),
    }
}

/// A scalar as it is shown: a float with at most so many significant digits.
pub(crate) fn shown_scalar(scalar: Scalar, digits: Digits) -> String {
    let Some(digits) = digits else { return scalar_text(scalar) };
    let digits = usize::from(digits.get()) - 1;
    match scalar {
        Scalar::F64(value) if value.is_finite() => {
            scalar_text(Scalar::F64(format!("{value:.digits$e}").parse().unwrap_or(value)))
        }
        Scalar::F32(value) if value.is_finite() => {
            scalar_text(Scalar::F32(format!("{value:.digits$e}").parse().unwrap_or(value)))
        }
        other => scalar_text(other),
    }
}

/// The shortest text that reads back equal, always with a point or an exponent.
///
/// Rust's `{:?}` is that text: decimal from 1e-5 up to 1e16, beyond that with an exponent
/// (`1e300`, `1.5e-7`). Only the special values are spelt differently here: `nan`, `inf`, `-inf`.
fn float_text(value: f64, finite: impl FnOnce() -> String) -> String {
    if value.is_nan() {
        "nan".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "inf" } else { "-inf" }.to_owned()
    } else {
        finite()
    }
}

/// A byte of text as the literal `'a'`.
pub(crate) fn char_literal(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".to_owned(),
        b'\\' => "'\\\\'".to_owned(),
        b' '..=b'~' => format!("'{}'", byte as char),
        _ => format!("'{}'", escaped_byte(byte)),
    }
}

/// Text as the literal `"…"`, on one line, whatever its bytes are.
pub(crate) fn string_literal(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len() + 2);
    out.push('"');
    escape_into(&mut out, bytes, |c| matches!(c, '"' | '\\'), |_| false);
    out.push('"');
    out
}

/// Text as it is, except that nothing in it can steer the terminal: control characters other than
/// newline and tab, marks that reorder text, and bytes that are no UTF-8 print as escapes.
pub(crate) fn plain_text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    escape_into(&mut out, bytes, |_| false, |c| matches!(c, '\n' | '\t'));
    out
}

/// Text as it is, on one line: as [`plain_text`], with newlines and tabs as escapes.
pub(crate) fn line_text(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    escape_into(&mut out, bytes, |_| false, |_| false);
    out
}

/// Appends `bytes` with escapes; `quote` marks characters to put a backslash before, `keep`
/// control characters to leave alone.
fn escape_into(
    out: &mut String,
    bytes: &[u8],
    quote: impl Fn(char) -> bool,
    keep: impl Fn(char) -> bool,
) {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if quote(c) {
                out.push('\\');
                out.push(c);
            } else if keep(c) || !steers_terminal(c) {
                out.push(c);
            } else if c.is_ascii() {
                out.push_str(&escaped_byte(c as u8));
            } else {
                // The escape of each byte reads back as the same text.
                let mut buffer = [0; 4];
                for byte in c.encode_utf8(&mut buffer).bytes() {
                    out.push_str(&escaped_byte(byte));
                }
            }
        }
        for &byte in chunk.invalid() {
            out.push_str(&escaped_byte(byte));
        }
    }
}

/// Control characters, and the marks that make text read in another order than it is stored.
fn steers_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}')
}

fn escaped_byte(byte: u8) -> String {
    match byte {
        b'\n' => "\\n".to_owned(),
        b'\t' => "\\t".to_owned(),
        b'\r' => "\\r".to_owned(),
        0 => "\\0".to_owned(),
        _ => {
            let mut text = String::with_capacity(4);
            write!(text, "\\x{byte:02x}").expect("writing to a string");
            text
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU8;

    use super::*;

    #[track_caller]
    fn check(scalar: Scalar, expect: &str) {
        assert_eq!(scalar_text(scalar), expect);
    }

    #[test]
    fn floats_print_the_shortest_text_that_reads_back() {
        check(Scalar::F64(1.0), "1.0");
        check(Scalar::F64(0.1), "0.1");
        check(Scalar::F32(0.1), "0.1");
        check(Scalar::F64(f64::from(0.1f32)), "0.10000000149011612");
        check(Scalar::F64(1e300), "1e300");
        check(Scalar::F64(1.5e-7), "1.5e-7");
        check(Scalar::F64(1e15), "1000000000000000.0");
        check(Scalar::F64(1e16), "1e16");
        check(Scalar::F64(-0.0), "-0.0");
        check(Scalar::F32(f32::MAX), "3.4028235e38");
        check(Scalar::F64(5e-324), "5e-324");
        check(Scalar::F64(-f64::NAN), "nan");
        check(Scalar::F32(f32::NEG_INFINITY), "-inf");
    }

    #[test]
    fn floats_are_shown_with_few_digits() {
        let check = |scalar, digits, expect: &str| {
            assert_eq!(shown_scalar(scalar, Digits::from(NonZeroU8::new(digits))), expect);
        };
        check(Scalar::F64(1.0 / 3.0), 4, "0.3333");
        check(Scalar::F64(0.1 + 0.2), 4, "0.3");
        check(Scalar::F64(123_456.789), 3, "123000.0");
        check(Scalar::F64(-9.999_96e-7), 4, "-1e-6");
        check(Scalar::F64(f64::MAX), 3, "inf");
        check(Scalar::F32(1.0 / 3.0), 3, "0.333");
        check(Scalar::F64(f64::NAN), 3, "nan");
        check(Scalar::I64(123_456), 2, "123456");
        check(Scalar::F64(1.0 / 3.0), 0, "0.3333333333333333");
    }

    #[test]
    fn chars_are_quoted_and_escaped() {
        check(Scalar::Char(b'a'), "'a'");
        check(Scalar::Char(b'\''), "'\\''");
        check(Scalar::Char(b'\n'), "'\\n'");
        check(Scalar::Char(0xe9), "'\\xe9'");
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        assert_eq!(plain_text("naïve\tok\n".as_bytes()), "naïve\tok\n");
        assert_eq!(plain_text(b"\x1b[31mred"), "\\x1b[31mred");
        assert_eq!(plain_text(b"caf\xe9!"), "caf\\xe9!");
        assert_eq!(plain_text("a\u{202e}b".as_bytes()), "a\\xe2\\x80\\xaeb");
        assert_eq!(plain_text("a\u{9b}b".as_bytes()), "a\\xc2\\x9bb");
        assert_eq!(line_text(b"say \"hi\"\n\t\\"), "say \"hi\"\\n\\t\\");
        assert_eq!(string_literal(b"say \"hi\"\n\\"), "\"say \\\"hi\\\"\\n\\\\\"");
    }
}
