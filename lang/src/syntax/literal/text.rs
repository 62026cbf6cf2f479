//! Text and character literals: their extent, their escapes, their bytes.

use std::ops::Range;

use super::Problem;

/// The codes of this subject.
pub(in crate::syntax) const UNTERMINATED: &str = "E0104";
const BAD_CHARACTER: &str = "E0106";
const BAD_ESCAPE: &str = "E0107";

/// The number of bytes of the text literal that begins `text`, its quotes included; `None` if the
/// line ends before the closing quote.
pub(in crate::syntax) fn length(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'"' => return Some(at + 1),
            b'\n' => return None,
            b'\\' if bytes.get(at + 1).is_some_and(|byte| *byte != b'\n') => at += 2,
            _ => at += 1,
        }
    }
    None
}

/// The number of bytes of the character literal that begins `text`, its quotes included; `None`
/// if there is no closing quote near enough to be meant.
pub(in crate::syntax) fn character_length(text: &str) -> Option<usize> {
    const NEAR: usize = 16;
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1).take(NEAR) {
        match character {
            '\n' => return None,
            '\'' if !escaped && (at > 1 || !text[2..].starts_with('\'')) => return Some(at + 1),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// The byte of a character literal, given with its quotes.
pub(in crate::syntax) fn character(literal: &str) -> Result<u8, Problem> {
    let body = &literal[1..literal.len() - 1];
    let mut bytes = Vec::new();
    if let Some((_, problem)) = decode_into(body, &mut bytes).into_iter().next() {
        return Err(problem);
    }
    match bytes[..] {
        [byte] => Ok(byte),
        [] => Err(Problem::new(BAD_CHARACTER, "a character literal is empty", "no byte here")
            .help("the quote itself is '\\''")),
        _ if body.chars().count() == 1 || body.starts_with("\\u") => Err(Problem::new(
            BAD_CHARACTER,
            format!("{literal} is more than one byte"),
            format!("it takes {} bytes in UTF-8, and a char is one byte", bytes.len()),
        )
        .help(format!("write it as text: \"{body}\""))),
        _ => Err(Problem::new(
            BAD_CHARACTER,
            format!("{literal} is more than one character"),
            "a char is one byte",
        )
        .help(format!("text has double quotes: \"{}\"", body.replace('"', "\\\"")))),
    }
}

/// The bytes of a text literal, given with its quotes.
pub(in crate::syntax) fn decode(literal: &str) -> Vec<u8> {
    let body = &literal[1..literal.len() - 1];
    let mut bytes = Vec::with_capacity(body.len());
    decode_into(body, &mut bytes);
    bytes
}

/// What is wrong with a text literal, given with its quotes: each with its place in the literal.
pub(in crate::syntax) fn problems(literal: &str) -> Vec<(Range<usize>, Problem)> {
    if !literal.contains('\\') {
        return Vec::new();
    }
    decode_into(&literal[1..literal.len() - 1], &mut Vec::new())
        .into_iter()
        .map(|(range, problem)| (range.start + 1..range.end + 1, problem))
        .collect()
}

/// Appends the bytes of `body` and returns what is wrong with its escapes.
fn decode_into(body: &str, bytes: &mut Vec<u8>) -> Vec<(Range<usize>, Problem)> {
    let mut problems = Vec::new();
    let mut at = 0;
    while let Some(offset) = body[at..].find('\\') {
        bytes.extend_from_slice(&body.as_bytes()[at..at + offset]);
        at += offset;
        match escape(&body[at..]) {
            Ok((Escape::Byte(byte), length)) => {
                bytes.push(byte);
                at += length;
            }
            Ok((Escape::Character(character), length)) => {
                bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                at += length;
            }
            Err((length, problem)) => {
                problems.push((at..at + length, problem));
                at += length;
            }
        }
    }
    bytes.extend_from_slice(&body.as_bytes()[at..]);
    problems
}

enum Escape {
    Byte(u8),
    Character(char),
}

/// The escape that begins `text`, and its length in bytes.
fn escape(text: &str) -> Result<(Escape, usize), (usize, Problem)> {
    let mut characters = text.chars().skip(1);
    let Some(letter) = characters.next() else {
        return Err((1, bad_escape("\\", "an escape needs a letter")));
    };
    let byte = match letter {
        'n' => b'\n',
        't' => b'\t',
        'r' => b'\r',
        '\\' => b'\\',
        '\'' => b'\'',
        '"' => b'"',
        '0' => 0,
        'x' => {
            let digits: String = characters.take(2).take_while(char::is_ascii_hexdigit).collect();
            return match u8::from_str_radix(&digits, 16) {
                Ok(byte) if digits.len() == 2 => Ok((Escape::Byte(byte), 4)),
                _ => Err((
                    2 + digits.len(),
                    bad_escape(&text[..2 + digits.len()], "`\\x` has two hexadecimal digits"),
                )),
            };
        }
        'u' => return unicode_escape(text),
        _ => {
            let length = 1 + letter.len_utf8();
            return Err((
                length,
                bad_escape(&text[..length], "there is no such escape").help(
                    "the escapes are \\n \\t \\r \\\\ \\' \\\" \\0 \\xHH \\u{…}; \
                     a backslash itself is \\\\",
                ),
            ));
        }
    };
    Ok((Escape::Byte(byte), 2))
}

fn unicode_escape(text: &str) -> Result<(Escape, usize), (usize, Problem)> {
    let digits = text[2..]
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
        .map(|(digits, _)| digits)
        .filter(|digits| digits.len() <= 8);
    let Some(digits) = digits else {
        return Err((2, bad_escape("\\u", "a code point stands in braces: \\u{e9}")));
    };
    let length = digits.len() + 4;
    match u32::from_str_radix(digits, 16).ok().and_then(char::from_u32) {
        Some(character) => Ok((Escape::Character(character), length)),
        None => Err((length, bad_escape(&text[..length], "there is no such code point"))),
    }
}

fn bad_escape(written: &str, remark: &str) -> Problem {
    Problem::new(BAD_ESCAPE, format!("`{written}` is not an escape"), remark)
}

#[cfg(test)]
mod tests {
    use super::{character, character_length, decode, length, problems};

    #[test]
    fn texts() {
        assert_eq!(length("\"a\\\"b\" c"), Some(6));
        assert_eq!(length("\"a\n\""), None);
        assert_eq!(length("\"a\\"), None);
        assert_eq!(decode("\"a\\n\\x41\\u{e9}é\\0\""), b"a\nA\xc3\xa9\xc3\xa9\0");
        assert_eq!(problems("\"\\q é \\x4 \\u{110000} \\u41\"").len(), 4);
    }

    #[test]
    fn characters() {
        for (literal, byte) in [("'a'", b'a'), ("'\\''", b'\''), ("'''", b'\''), ("'\\xe9'", 0xe9)]
        {
            assert_eq!(character_length(literal), Some(literal.len()), "{literal}");
            assert_eq!(character(literal), Ok(byte), "{literal}");
        }
        for literal in ["'é'", "''", "'ab'", "'\\q'", "'\\u{e9}'"] {
            assert_eq!(character_length(literal), Some(literal.len()), "{literal}");
            assert!(character(literal).is_err(), "{literal}");
        }
        assert_eq!(character_length("'a"), None);
    }
}
