//! Columns as an editor shows them: a tab reaches the next multiple of 8, wide characters take
//! two columns and combining ones none.

use unicode_width::UnicodeWidthChar;

/// The column of byte `at`, counted from the start of its line.
pub(super) fn column(text: &str, at: usize) -> u32 {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    advance(0, &text[start..at])
}

/// Columns of places in ascending order, in time linear in the text all together.
pub(super) struct Columns<'a> {
    text: &'a str,
    at: usize,
    column: u32,
}

impl<'a> Columns<'a> {
    /// Starts at the beginning of the line of byte `at`.
    pub(super) fn new(text: &'a str, at: usize) -> Columns<'a> {
        Columns { text, at, column: column(text, at) }
    }

    /// The column of byte `at`, which is not before the last one asked for.
    pub(super) fn column(&mut self, at: usize) -> u32 {
        let passed = &self.text[self.at..at];
        self.column = match passed.rfind('\n') {
            Some(newline) => advance(0, &passed[newline + 1..]),
            None => advance(self.column, passed),
        };
        self.at = at;
        self.column
    }
}

fn advance(column: u32, text: &str) -> u32 {
    text.chars().fold(column, |column, character| match character {
        '\t' => (column / 8 + 1) * 8,
        _ => column + character.width().unwrap_or(0) as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::{Columns, column};

    #[test]
    fn counts_what_is_seen() {
        assert_eq!(column("ab\n\tx", 4), 8);
        assert_eq!(column("e\u{301}x", 3), 1);
        assert_eq!(column("日本x", 6), 4);
        let mut columns = Columns::new("ab\ncd", 0);
        assert_eq!([columns.column(1), columns.column(4), columns.column(5)], [1, 1, 2]);
    }
}
