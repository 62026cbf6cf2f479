//! The text of a cell while it is edited: a cursor, words, lines, what was cut, and undo.

use unicode_segmentation::UnicodeSegmentation as _;

/// Earlier texts that are kept.
const MOST_UNDONE: usize = 500;

/// A text with a cursor.
#[derive(Debug, Default)]
pub(super) struct Text {
    text: String,
    /// A byte between two characters.
    cursor: usize,
    /// Earlier texts with their cursors, the latest last.
    before: Vec<(String, usize)>,
    /// What was cut last.
    cut: String,
    /// Where typing would go on with the word that the last change belongs to.
    typing: Option<usize>,
}

/// What a word is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// Letters and digits.
    Name,
    /// All but spaces.
    Dense,
}

impl Text {
    /// All of it.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// The byte before which the cursor stands.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Starts again with nothing; what was cut stays.
    pub(super) fn clear(&mut self) {
        *self = Text { cut: std::mem::take(&mut self.cut), ..Text::default() };
    }

    /// Another text, with the cursor at its end.
    pub(super) fn set(&mut self, text: &str) {
        self.remember();
        text.clone_into(&mut self.text);
        self.cursor = text.len();
    }

    /// Puts something before the cursor.
    pub(super) fn insert(&mut self, text: &str) {
        let goes_on = self.typing == Some(self.cursor) && text.chars().all(char::is_alphanumeric);
        if !goes_on {
            self.remember();
        }
        self.text.insert_str(self.cursor, text);
        self.cursor += text.len();
        self.typing = Some(self.cursor);
    }

    /// Replaces what stands between a byte and the cursor.
    pub(super) fn replace_from(&mut self, start: usize, text: &str) {
        self.remember();
        self.text.replace_range(start..self.cursor, text);
        self.cursor = start + text.len();
    }

    /// How many blanks the line begins with.
    pub(super) fn indentation(&self) -> usize {
        let line = &self.text[self.line_start()..];
        line.len() - line.trim_start_matches(' ').len()
    }

    /// Backspace. In the indentation of a line it takes two spaces.
    pub(super) fn delete_back(&mut self) {
        let line = &self.text[self.line_start()..self.cursor];
        let is_indentation = line.len() >= 2 && line.bytes().all(|byte| byte == b' ');
        let start = match is_indentation && line.len().is_multiple_of(2) {
            true => self.cursor - 2,
            false => self.left_of(self.cursor),
        };
        self.delete(start, self.cursor);
    }

    /// Takes the character under the cursor.
    pub(super) fn delete_forward(&mut self) {
        self.delete(self.cursor, self.right_of(self.cursor));
    }

    /// Cuts back to the beginning of a word.
    pub(super) fn cut_word_back(&mut self, word: Word) {
        self.cut(self.word_start(word), self.cursor);
    }

    /// Cuts to the end of a word.
    pub(super) fn cut_word_forward(&mut self) {
        self.cut(self.cursor, self.word_end());
    }

    /// Cuts the rest of the line, or where there is none, its end.
    pub(super) fn cut_to_line_end(&mut self) {
        let end = self.line_end();
        let end = if end == self.cursor { self.right_of(self.cursor) } else { end };
        self.cut(self.cursor, end);
    }

    /// Cuts the line up to the cursor.
    pub(super) fn cut_to_line_start(&mut self) {
        self.cut(self.line_start(), self.cursor);
    }

    /// Inserts what was cut last.
    pub(super) fn paste_cut(&mut self) {
        let cut = self.cut.clone();
        self.insert(&cut);
        self.typing = None;
    }

    /// Exchanges the two characters around the cursor; at the end of a line, those before it.
    pub(super) fn transpose(&mut self) {
        let middle = match self.cursor == self.line_end() {
            true => self.left_of(self.cursor),
            false => self.cursor,
        };
        let (start, end) = (self.left_of(middle), self.right_of(middle));
        if start < middle && middle < end && start >= self.line_start() {
            self.remember();
            let swapped = format!("{}{}", &self.text[middle..end], &self.text[start..middle]);
            self.text.replace_range(start..end, &swapped);
            self.cursor = end;
        }
    }

    /// Takes the last change back.
    pub(super) fn undo(&mut self) {
        if let Some((text, cursor)) = self.before.pop() {
            (self.text, self.cursor, self.typing) = (text, cursor, None);
        }
    }

    /// One character to the left.
    pub(super) fn left(&mut self) {
        self.cursor = self.left_of(self.cursor);
    }

    /// One character to the right.
    pub(super) fn right(&mut self) {
        self.cursor = self.right_of(self.cursor);
    }

    /// To the beginning of a word.
    pub(super) fn word_left(&mut self) {
        self.cursor = self.word_start(Word::Name);
    }

    /// To the end of a word.
    pub(super) fn word_right(&mut self) {
        self.cursor = self.word_end();
    }

    /// To the first character of the line.
    pub(super) fn home(&mut self) {
        self.cursor = self.line_start();
    }

    /// Behind the last character of the line.
    pub(super) fn end(&mut self) {
        self.cursor = self.line_end();
    }

    /// To the beginning of the cell.
    pub(super) fn first(&mut self) {
        self.cursor = 0;
    }

    /// Behind the last character of the cell.
    pub(super) fn last(&mut self) {
        self.cursor = self.text.len();
    }

    /// To the line above; `false` if there is none.
    pub(super) fn up(&mut self) -> bool {
        let start = self.line_start();
        if start == 0 {
            return false;
        }
        let above = self.text[..start - 1].rfind('\n').map_or(0, |newline| newline + 1);
        self.cursor = self.in_line(above, start - 1, self.column());
        true
    }

    /// To the line below; `false` if there is none.
    pub(super) fn down(&mut self) -> bool {
        let end = self.line_end();
        if end == self.text.len() {
            return false;
        }
        let below = self.text[end + 1..].find('\n').map_or(self.text.len(), |at| end + 1 + at);
        self.cursor = self.in_line(end + 1, below, self.column());
        true
    }

    fn column(&self) -> usize {
        self.text[self.line_start()..self.cursor].graphemes(true).count()
    }

    /// The byte of that column in a line, or its end.
    fn in_line(&self, start: usize, end: usize, column: usize) -> usize {
        let line = &self.text[start..end];
        line.grapheme_indices(true).nth(column).map_or(end, |(index, _)| start + index)
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |newline| newline + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn left_of(&self, byte: usize) -> usize {
        self.text[..byte].graphemes(true).next_back().map_or(0, |last| byte - last.len())
    }

    fn right_of(&self, byte: usize) -> usize {
        byte + self.text[byte..].graphemes(true).next().map_or(0, str::len)
    }

    fn word_start(&self, word: Word) -> usize {
        let before = &self.text[..self.cursor];
        let inside = before.trim_end_matches(|c| !word.has(c));
        inside.trim_end_matches(|c| word.has(c)).len()
    }

    fn word_end(&self) -> usize {
        let after = &self.text[self.cursor..];
        let inside = after.trim_start_matches(|c| !Word::Name.has(c));
        self.text.len() - inside.trim_start_matches(|c| Word::Name.has(c)).len()
    }

    fn cut(&mut self, start: usize, end: usize) {
        if start < end {
            self.cut = self.text[start..end].to_owned();
            self.delete(start, end);
        }
    }

    fn delete(&mut self, start: usize, end: usize) {
        if start < end {
            self.remember();
            self.text.replace_range(start..end, "");
            self.cursor = start;
        }
    }

    fn remember(&mut self) {
        self.typing = None;
        if self.before.len() >= MOST_UNDONE {
            self.before.remove(0);
        }
        self.before.push((self.text.clone(), self.cursor));
    }
}

impl Word {
    fn has(self, c: char) -> bool {
        match self {
            Word::Name => c.is_alphanumeric() || c == '_',
            Word::Dense => !c.is_whitespace(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Text, Word};

    /// Does something with a text in which `|` is the cursor.
    #[track_caller]
    fn check(before: &str, act: fn(&mut Text), after: &str) {
        let mut text = Text { text: before.replace('|', ""), ..Text::default() };
        text.cursor = before.find('|').expect("a cursor");
        act(&mut text);
        let mut found = text.text.clone();
        found.insert(text.cursor, '|');
        assert_eq!(found, after);
        assert_eq!(text.cursor, after.find('|').expect("a cursor"));
    }

    #[test]
    fn characters_are_what_people_see() {
        check("e\u{301}|x", Text::delete_back, "|x");
        check("a|é", Text::right, "aé|");
        check("a|", Text::delete_forward, "a|");
        check("ab|c", Text::transpose, "acb|");
        check("ab|", Text::transpose, "ba|");
        check("|ab", Text::transpose, "|ab");
    }

    #[test]
    fn words_and_lines() {
        check("sum (xs.first|)", Text::word_left, "sum (xs.|first)");
        check("|  sum xs", Text::word_right, "  sum| xs");
        check("a + (b|", |text| text.cut_word_back(Word::Dense), "a + |");
        check("a + (b|", |text| text.cut_word_back(Word::Name), "a + (|");
        check("one\ntw|o\nthree", Text::cut_to_line_end, "one\ntw|\nthree");
        check("one|\ntwo", Text::cut_to_line_end, "one|two");
        check("one\ntw|o", Text::cut_to_line_start, "one\n|o");
        check("one\ntw|o", Text::home, "one\n|two");
        check("on|e\ntwo", Text::end, "one|\ntwo");
    }

    #[test]
    fn lines_above_and_below_keep_the_column() {
        check("long\nab\nlo|ng", |text| assert!(text.up()), "long\nab|\nlong");
        check("lo|ng\na\n", |text| assert!(text.down()), "long\na|\n");
        check("o|ne\ntwo", |text| assert!(!text.up()), "o|ne\ntwo");
        check("one\nt|wo", |text| assert!(!text.down()), "one\nt|wo");
    }

    #[test]
    fn indentation_goes_in_steps() {
        check("f\n    |x", Text::delete_back, "f\n  |x");
        check("f\n   |x", Text::delete_back, "f\n  |x");
        check("f\n|x", Text::delete_back, "f|x");
    }

    #[test]
    fn changes_are_taken_back_word_by_word() {
        let mut text = Text::default();
        for c in ["o", "n", "e", " ", "t", "w", "o"] {
            text.insert(c);
        }
        text.undo();
        assert_eq!(text.as_str(), "one");
        text.undo();
        assert_eq!(text.as_str(), "");
        text.undo();
        text.set("one two");
        text.cut_word_back(Word::Name);
        text.first();
        text.paste_cut();
        assert_eq!(text.as_str(), "twoone ");
    }
}
