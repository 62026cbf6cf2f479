//! The fast path for array literals of many plain numbers: no tokens, no trees.

use super::number;
use crate::ast::Number;

/// From how many numbers on an array literal is one token.
const AT_LEAST: usize = 64;

/// Reads `1, -2, 3]`: plain numbers without suffix up to the closing bracket, which must belong to
/// the same item (no line of it at or left of column `base`). Returns the numbers and the
/// length in bytes with the bracket, or nothing if the text is anything else.
pub(in crate::syntax) fn numbers(text: &str, base: Option<u32>) -> Option<(Vec<Number>, usize)> {
    let bytes = text.as_bytes();
    let mut numbers = Vec::new();
    let mut has_float = false;
    let mut at = blank(bytes, 0, base)?;
    loop {
        if bytes.get(at) == Some(&b']') {
            break;
        }
        let negative = bytes.get(at) == Some(&b'-');
        at += usize::from(negative);
        let length = plain_length(&bytes[at..]);
        let number = number(&text[at..at + length])?;
        has_float |= matches!(number, Number::Float { .. });
        numbers.push(if negative { negate(number) } else { number });
        at = blank(bytes, at + length, base)?;
        match bytes.get(at) {
            Some(b',') => at = blank(bytes, at + 1, base)?,
            Some(b']') => {}
            _ => return None,
        }
    }
    if numbers.len() < AT_LEAST {
        return None;
    }
    if has_float {
        numbers.iter_mut().for_each(|number| *number = widen(*number));
    }
    Some((numbers, at + 1))
}

/// The negated literal.
pub(in crate::syntax) fn negate(number: Number) -> Number {
    match number {
        // No literal reaches i128::MIN, so this cannot overflow.
        Number::Int(value) => Number::Int(-value),
        Number::Float { wide, narrow } => Number::Float { wide: -wide, narrow: -narrow },
    }
}

/// The position of the next byte that is not blank, if that is still in the same item.
fn blank(bytes: &[u8], mut at: usize, base: Option<u32>) -> Option<usize> {
    let mut column = None;
    loop {
        match bytes.get(at)? {
            b' ' => column = column.map(|column| column + 1),
            b'\t' => column = column.map(|column: u32| (column / 8 + 1) * 8),
            b'\n' => column = Some(0),
            b'\r' => {}
            b']' => return Some(at),
            _ => {
                let leaves = matches!((column, base), (Some(column), Some(base)) if column <= base);
                return (!leaves).then_some(at);
            }
        }
        at += 1;
    }
}

/// The length of the digits, points and exponents that `bytes` begins with.
fn plain_length(bytes: &[u8]) -> usize {
    let mut length = 0;
    while let Some(byte) = bytes.get(length) {
        let is_sign =
            matches!(byte, b'+' | b'-') && length > 0 && matches!(bytes[length - 1], b'e' | b'E');
        if !(byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E') || is_sign) {
            break;
        }
        length += 1;
    }
    length
}

fn number(text: &str) -> Option<Number> {
    if !text.starts_with(|first: char| first.is_ascii_digit()) {
        return None;
    }
    match number::value(text) {
        Ok((number, None)) => Some(number),
        _ => None,
    }
}

fn widen(number: Number) -> Number {
    match number {
        Number::Int(value) => Number::Float { wide: value as f64, narrow: value as f32 },
        Number::Float { .. } => number,
    }
}

#[cfg(test)]
mod tests {
    use super::numbers;
    use crate::ast::Number;

    #[test]
    fn reads_many_plain_numbers() {
        let text = "1, -2,\n  3 ,4]".replace("4]", &"5, ".repeat(70)) + "] rest";
        let (found, length) = numbers(&text, Some(0)).expect("plain numbers");
        assert_eq!(found.len(), 73);
        assert_eq!(found[1], Number::Int(-2));
        assert_eq!(&text[length..], " rest");
    }

    #[test]
    fn mixes_become_floats() {
        let text = "1, ".repeat(64) + "0.1]";
        let (found, _) = numbers(&text, None).expect("plain numbers");
        assert_eq!(found[0], Number::Float { wide: 1.0, narrow: 1.0 });
        assert_eq!(found[64], Number::Float { wide: 0.1, narrow: 0.1 });
    }

    #[test]
    fn leaves_everything_else() {
        let many = "1, ".repeat(64);
        for text in ["1, 2]".to_string(), many.clone() + "x]", many.clone() + "1u8]", many.clone()]
        {
            assert_eq!(numbers(&text, None), None);
        }
        assert_eq!(numbers(&(many.clone() + "\n2]"), Some(0)), None);
        assert!(numbers(&(many + "\n]"), Some(0)).is_some());
    }
}
