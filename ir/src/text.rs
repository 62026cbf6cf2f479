//! The text of the intermediate languages: a lexer, an indenting writer, and how scalars, types,
//! operators and columns are written. What they share stands here once; the grammar of each language
//! stands beside it.
//!
//! A statement is a line. Indentation is for people: a body ends with its `yield`, so the parsers look
//! at where lines end and never at how they begin. `--` begins a comment.

mod column;
mod lexer;
mod operator;
mod scalar;

use std::fmt;

pub use column::{parse_column, write_column};
pub use lexer::{Reader, Token};
pub use operator::OPERATORS;

/// Why a text is no program of an intermediate language.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for TextError {}

/// Collects text; every line begins with two spaces per level. To be written to with `write!`.
#[derive(Debug, Default)]
pub struct Writer {
    text: String,
    depth: usize,
}

impl Writer {
    /// Nothing written yet.
    pub fn new() -> Writer {
        Writer::default()
    }

    /// What `write` writes is one level deeper.
    pub fn indented(&mut self, write: impl FnOnce(&mut Writer) -> fmt::Result) -> fmt::Result {
        self.depth += 1;
        let result = write(self);
        self.depth -= 1;
        result
    }

    /// The text.
    pub fn finish(self) -> String {
        self.text
    }
}

impl fmt::Write for Writer {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive('\n') {
            let at_line_start = self.text.is_empty() || self.text.ends_with('\n');
            if at_line_start && piece != "\n" {
                self.text.extend(std::iter::repeat_n("  ", self.depth));
            }
            self.text.push_str(piece);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
