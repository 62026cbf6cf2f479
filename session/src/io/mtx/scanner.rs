//! Lines and numbers of a Matrix Market file.

use super::super::error::{Place, Problem};

/// A position in the text, line by line.
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    position: usize,
    line: u64,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Scanner<'a> {
        Scanner { text, position: 0, line: 0 }
    }

    /// The first line without its end; the scanner stands at its end then.
    pub(super) fn first_line(&mut self) -> &'a [u8] {
        let end = self.text.iter().position(|&byte| byte == b'\n').unwrap_or(self.text.len());
        self.position = (end + 1).min(self.text.len());
        self.line = 1;
        &self.text[..end]
    }

    /// Goes to the next line that is neither blank nor a comment; `false` at the end of the file.
    pub(super) fn next_line(&mut self) -> bool {
        loop {
            self.line += 1;
            self.skip_blanks();
            match self.text.get(self.position) {
                None => return false,
                Some(b'\n') => self.position += 1,
                Some(b'%') => {
                    let rest = &self.text[self.position..];
                    let length = rest.iter().position(|&byte| byte == b'\n');
                    self.position += length.map_or(rest.len(), |length| length + 1);
                }
                Some(_) => return true,
            }
        }
    }

    /// The line, from 1, that is being read.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// How many bytes are left.
    pub(super) fn remaining(&self) -> u64 {
        (self.text.len() - self.position) as u64
    }

    /// Takes the end of the line.
    pub(super) fn end_of_line(&mut self) -> Result<(), Problem> {
        self.skip_blanks();
        match self.text.get(self.position) {
            None => Ok(()),
            Some(b'\n') => {
                self.position += 1;
                Ok(())
            }
            Some(_) => Err(self.damaged("the line has more on it than the banner allows")),
        }
    }

    /// A size.
    pub(super) fn count(&mut self, what: &str) -> Result<u64, Problem> {
        let number = std::str::from_utf8(self.word()).ok().and_then(|word| word.parse().ok());
        number
            .filter(|&number: &u64| number <= i64::MAX as u64)
            .ok_or_else(|| self.damaged(&format!("{what} was expected")))
    }

    /// An index from 1 to `extent`; given back from 0.
    pub(super) fn index(&mut self, axis: &str, extent: u64) -> Result<i64, Problem> {
        let word = self.word();
        let mut number: u64 = 0;
        let digits = !word.is_empty() && word.len() <= 19;
        for &byte in word {
            // At most 19 digits, so that nothing overflows.
            if !digits || !byte.is_ascii_digit() {
                return Err(self.bad_index(axis, word, extent));
            }
            number = number * 10 + u64::from(byte - b'0');
        }
        if number == 0 || number > extent {
            return Err(self.bad_index(axis, word, extent));
        }
        Ok(number as i64 - 1)
    }

    /// A real number.
    pub(super) fn real(&mut self) -> Result<f64, Problem> {
        let word = self.word();
        let number = std::str::from_utf8(word).ok().and_then(|word| word.parse().ok());
        number.or_else(|| fortran_real(word)).ok_or_else(|| {
            self.damaged(&format!("a number was expected instead of `{}`", shown(word)))
        })
    }

    /// An integer, as the nearest `f64`.
    pub(super) fn integer(&mut self) -> Result<f64, Problem> {
        let word = self.word();
        let digits = word.strip_prefix(b"-").or(word.strip_prefix(b"+")).unwrap_or(word);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            let message = format!("an integer was expected instead of `{}`", shown(word));
            return Err(self.damaged(&message));
        }
        if digits.len() <= 15 {
            // Small enough to be exact, and quicker this way.
            let number = digits.iter().fold(0, |sum, byte| sum * 10 + i64::from(byte - b'0'));
            return Ok(if word[0] == b'-' { -number as f64 } else { number as f64 });
        }
        Ok(std::str::from_utf8(word).ok().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN))
    }

    fn skip_blanks(&mut self) {
        while matches!(self.text.get(self.position), Some(b' ' | b'\t' | b'\r')) {
            self.position += 1;
        }
    }

    /// The next word of the line; empty at its end.
    fn word(&mut self) -> &'a [u8] {
        self.skip_blanks();
        let rest = &self.text[self.position..];
        let length = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
        self.position += length;
        &rest[..length]
    }

    fn bad_index(&self, axis: &str, word: &[u8], extent: u64) -> Problem {
        let word = shown(word);
        self.damaged(&format!("the {axis} `{word}` is not in the matrix (1 to {extent})"))
    }

    fn damaged(&self, message: &str) -> Problem {
        Problem::malformed(Place::Line(self.line), message)
    }
}

/// A number with the exponent letter of Fortran, `1.5D+03`.
fn fortran_real(word: &[u8]) -> Option<f64> {
    let word = std::str::from_utf8(word).ok()?;
    if !word.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) {
        return None;
    }
    word.replace(['d', 'D'], "e").parse().ok()
}

/// A word of the file in a message.
fn shown(word: &[u8]) -> String {
    let text: String = String::from_utf8_lossy(word).chars().take(40).collect();
    text.escape_debug().to_string()
}
