//! Splitting a table into records and fields.

use super::super::error::{Place, Problem};
use super::separator::SPACES;

/// The records of a table, one at a time. Blank lines are skipped.
///
/// A field that begins with a quote ends with one; between them, two quotes stand for one, and
/// separators and line breaks are text. Quotes elsewhere are ordinary characters. Where spaces separate,
/// any number of them does, and those around a line are nothing.
#[derive(Clone)]
pub(super) struct Records<'a> {
    text: &'a [u8],
    separator: u8,
    position: usize,
    next_line: u64,
    line: u64,
    fields: Vec<Field>,
    /// The texts of those fields that had doubled quotes.
    unescaped: Vec<u8>,
}

#[derive(Clone, Copy)]
struct Field {
    start: usize,
    end: usize,
    quoted: bool,
    /// Whether the range is one of `unescaped`.
    escaped: bool,
}

impl<'a> Records<'a> {
    /// What separates the cells of a row.
    pub(super) fn separator(&self) -> u8 {
        self.separator
    }

    /// The records from byte `position` on, which is in line `line`.
    pub(super) fn new(text: &'a [u8], position: usize, line: u64, separator: u8) -> Records<'a> {
        Records {
            text,
            separator,
            position,
            next_line: line,
            line,
            fields: Vec::new(),
            unescaped: Vec::new(),
        }
    }

    /// Goes to the next record; `false` if there is none.
    pub(super) fn next(&mut self) -> Result<bool, Problem> {
        self.fields.clear();
        self.unescaped.clear();
        while self.skip_blank_line() {}
        self.skip_spaces();
        self.line = self.next_line;
        if self.position >= self.text.len() {
            return Ok(false);
        }
        while self.field()? {}
        self.next_line += 1;
        Ok(true)
    }

    /// The number of fields.
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    /// The line, from 1, in which the record begins.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// A field without its quotes.
    pub(super) fn text(&self, index: usize) -> &[u8] {
        let Field { start, end, escaped, .. } = self.fields[index];
        if escaped { &self.unescaped[start..end] } else { &self.text[start..end] }
    }

    /// Whether a field stood in quotes.
    pub(super) fn quoted(&self, index: usize) -> bool {
        self.fields[index].quoted
    }

    /// Goes over spaces, if these separate.
    fn skip_spaces(&mut self) {
        if self.separator == SPACES {
            let rest = &self.text[self.position..];
            self.position += rest.iter().take_while(|&&byte| byte == SPACES).count();
        }
    }

    /// Goes over the spaces before a cell; `false` if the record ends behind them.
    fn next_between_spaces(&mut self) -> bool {
        self.skip_spaces();
        match &self.text[self.position..] {
            [b'\n', ..] => self.position += 1,
            [b'\r', b'\n', ..] => self.position += 2,
            [] => {}
            _ => return true,
        }
        false
    }

    fn skip_blank_line(&mut self) -> bool {
        let mut rest = &self.text[self.position..];
        if self.separator == SPACES {
            let spaces = rest.iter().take_while(|&&byte| byte == SPACES).count();
            if rest.len() == spaces || matches!(rest[spaces..], [b'\n', ..] | [b'\r', b'\n', ..]) {
                self.position += spaces;
                rest = &rest[spaces..];
            }
        }
        let length = match rest {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => return false,
        };
        self.position += length;
        self.next_line += 1;
        true
    }

    /// Takes one field and what ends it; `false` if that was the end of the record.
    fn field(&mut self) -> Result<bool, Problem> {
        if self.text.get(self.position) == Some(&b'"') {
            return self.quoted_field();
        }
        let start = self.position;
        let separator = self.separator;
        let rest = &self.text[start..];
        let length =
            rest.iter().position(|&byte| byte == separator || byte == b'\n').unwrap_or(rest.len());
        let mut end = start + length;
        let more = self.text.get(end) == Some(&separator);
        self.position = (end + 1).min(self.text.len());
        if !more && length > 0 && self.text[end - 1] == b'\r' {
            end -= 1;
        }
        // A separator before the end of the file is followed by one more, empty field.
        self.fields.push(Field { start, end, quoted: false, escaped: false });
        if more && separator == SPACES {
            return Ok(self.next_between_spaces());
        }
        if more && self.position == self.text.len() {
            let end = self.position;
            self.fields.push(Field { start: end, end, quoted: false, escaped: false });
            return Ok(false);
        }
        Ok(more)
    }

    fn quoted_field(&mut self) -> Result<bool, Problem> {
        let start = self.position + 1;
        let mut quotes = 0;
        let mut end = start;
        loop {
            match self.text.get(end) {
                Some(b'"') if self.text.get(end + 1) == Some(&b'"') => {
                    quotes += 1;
                    end += 2;
                }
                Some(b'"') => break,
                Some(byte) => {
                    self.next_line += u64::from(*byte == b'\n');
                    end += 1;
                }
                None => {
                    let message = "a quote that opens in this row is never closed";
                    return Err(Problem::malformed(Place::Line(self.line), message));
                }
            }
        }
        if quotes == 0 {
            self.fields.push(Field { start, end, quoted: true, escaped: false });
        } else {
            let first = self.unescaped.len();
            let mut rest = &self.text[start..end];
            while let Some(quote) = rest.iter().position(|&byte| byte == b'"') {
                self.unescaped.extend_from_slice(&rest[..=quote]);
                rest = &rest[quote + 2..];
            }
            self.unescaped.extend_from_slice(rest);
            let last = self.unescaped.len();
            self.fields.push(Field { start: first, end: last, quoted: true, escaped: true });
        }
        self.after_quote(end + 1)
    }

    /// What may follow a closing quote: blanks, then a separator or the end of the record.
    fn after_quote(&mut self, position: usize) -> Result<bool, Problem> {
        let rest = &self.text[position..];
        let blanks = rest
            .iter()
            .take_while(|&&byte| matches!(byte, b' ' | b'\t' | b'\r') && byte != self.separator)
            .count();
        let end = position + blanks;
        self.position = (end + 1).min(self.text.len());
        match self.text.get(end) {
            Some(&SPACES) if self.separator == SPACES => Ok(self.next_between_spaces()),
            Some(&byte) if byte == self.separator => {
                if self.position == self.text.len() {
                    let end = self.position;
                    self.fields.push(Field { start: end, end, quoted: false, escaped: false });
                    return Ok(false);
                }
                Ok(true)
            }
            Some(b'\n') | None => Ok(false),
            Some(&byte) => {
                let found = char::from(byte).escape_default();
                let message = format!("a closing quote is followed by `{found}`");
                Err(Problem::malformed(Place::Line(self.next_line), message)
                    .hint("a quote inside a quoted field is written twice"))
            }
        }
    }
}
