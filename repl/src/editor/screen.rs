//! Where the text of a cell stands on the screen, and how it gets there.
//!
//! Lines are broken here, not by the terminal: so it is known in which row the cursor is, and the
//! next picture can be drawn over the last one.

use std::ops::Range;

use unicode_width::UnicodeWidthChar as _;

/// A part of a text and how it looks: the parameters of an escape sequence.
pub(super) type Style = (Range<usize>, &'static str);

/// What is to be seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Picture<'a> {
    /// Stands before the first line.
    pub(super) prompt: &'a str,
    /// Stands before each further line, as wide as the prompt.
    pub(super) continuation: &'a str,
    /// What is edited.
    pub(super) text: &'a str,
    /// The byte of the cursor.
    pub(super) cursor: usize,
    /// How parts of the text look, in order; none where there are no colours.
    pub(super) styles: &'a [Style],
    /// Stands dim behind the text, if there is room.
    pub(super) hint: &'a str,
    /// Lines below the text, each of at most the width.
    pub(super) below: &'a [String],
}

/// The part of the screen that a cell takes.
#[derive(Debug)]
pub(super) struct Screen {
    colour: bool,
    /// The rows between the first one and that of the cursor.
    cursor_row: usize,
}

impl Screen {
    /// Begins in the row of the cursor.
    pub(super) fn new(colour: bool) -> Screen {
        Screen { colour, cursor_row: 0 }
    }

    /// Whether there are colours.
    pub(super) fn colour(&self) -> bool {
        self.colour
    }

    /// What a terminal of that size is to be sent, so that the picture takes the place of the last.
    /// Of a text with more rows than the screen those around the cursor are shown.
    pub(super) fn draw(
        &mut self,
        picture: &Picture<'_>,
        (width, height): (usize, usize),
    ) -> String {
        let all = self.rows(picture, width);
        let room = height.saturating_sub(picture.below.len()).max(1);
        let cursor = row_of(&all, picture.cursor);
        let first = match all.len() > room {
            true => (cursor + 1).saturating_sub(room.div_ceil(2)).min(all.len() - room),
            false => 0,
        };
        let shown = &all[first..(first + room).min(all.len())];
        let mut out = self.to_the_top();
        self.write(picture, shown, width, &mut out);
        for line in picture.below {
            out.push_str("\r\n");
            out.push_str(line);
        }
        self.cursor_row = cursor - first;
        let column = all[cursor].column_of(picture.text, picture.cursor) + prompt_width(picture);
        let up = shown.len() - 1 - self.cursor_row + picture.below.len();
        if up > 0 {
            out.push_str(&format!("\x1b[{up}A"));
        }
        out.push('\r');
        match column.min(width.saturating_sub(1)) {
            0 => {}
            column => out.push_str(&format!("\x1b[{column}C")),
        }
        out.push_str("\x1b[?25h");
        out
    }

    /// The same for the last picture of a cell: all of it, and the cursor on a line of its own.
    pub(super) fn finish(&mut self, picture: &Picture<'_>, (width, _): (usize, usize)) -> String {
        let rows = self.rows(picture, width);
        let mut out = self.to_the_top();
        self.write(picture, &rows, width, &mut out);
        out.push_str("\x1b[?25h\r\n");
        self.cursor_row = 0;
        out
    }

    /// What clears the whole screen, before a picture is drawn at its top.
    pub(super) fn clear(&mut self) -> &'static str {
        self.cursor_row = 0;
        "\x1b[H\x1b[2J"
    }

    fn to_the_top(&self) -> String {
        let mut out = "\x1b[?25l".to_owned();
        if self.cursor_row > 0 {
            out.push_str(&format!("\x1b[{}A", self.cursor_row));
        }
        out.push_str("\r\x1b[J");
        out
    }

    fn rows(&self, picture: &Picture<'_>, width: usize) -> Vec<Row> {
        rows(picture.text, width.saturating_sub(prompt_width(picture)).max(4))
    }

    fn write(&self, picture: &Picture<'_>, rows: &[Row], width: usize, out: &mut String) {
        let indent = prompt_width(picture);
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                out.push_str("\r\n");
            }
            match row.start {
                Start::Cell => out.push_str(&self.styled(picture.prompt, "1")),
                Start::Line => out.push_str(&self.styled(picture.continuation, "2")),
                Start::Further => out.extend(std::iter::repeat_n(' ', indent)),
            }
            self.write_row(picture, row, out);
            let is_last = row.range.end == picture.text.len() && index + 1 == rows.len();
            let room = width.saturating_sub(indent + row.width);
            if is_last && room > 8 && !picture.hint.is_empty() {
                out.push_str(&self.styled(&cut(picture.hint, room - 1), "2"));
            }
        }
    }

    fn write_row(&self, picture: &Picture<'_>, row: &Row, out: &mut String) {
        let mut at = row.range.start;
        let plain = |range: Range<usize>, out: &mut String| {
            out.extend(picture.text[range].chars().map(visible));
        };
        let of_row = picture.styles.iter().filter(|(range, _)| {
            self.colour && range.start < row.range.end && range.end > row.range.start
        });
        for (range, style) in of_row {
            let (start, end) = (range.start.max(at), range.end.min(row.range.end));
            plain(at..start, out);
            out.push_str(&format!("\x1b[{style}m"));
            plain(start..end, out);
            out.push_str("\x1b[0m");
            at = end;
        }
        plain(at..row.range.end, out);
    }

    /// A text in a style, where there are colours.
    pub(super) fn styled(&self, text: &str, style: &str) -> String {
        match self.colour {
            true => format!("\x1b[{style}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

/// The beginning of a text that takes at most that many columns; `…` where something is left out.
pub(super) fn cut(text: &str, width: usize) -> String {
    let mut out = String::new();
    let mut column = 0;
    for c in text.chars() {
        column += columns(c);
        if column > width {
            while out.chars().map(columns).sum::<usize>() >= width.max(1) {
                out.pop();
            }
            out.push('…');
            break;
        }
        out.push(visible(c));
    }
    out
}

/// The columns that a text takes.
pub(super) fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// What a row of the screen begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Start {
    Cell,
    Line,
    /// It goes on with the line above.
    Further,
}

/// A row of the screen.
#[derive(Debug)]
struct Row {
    start: Start,
    /// Its part of the text, without the end of the line.
    range: Range<usize>,
    /// The columns that this takes.
    width: usize,
}

impl Row {
    fn column_of(&self, text: &str, byte: usize) -> usize {
        width(&text[self.range.start..byte.min(self.range.end)])
    }
}

/// The rows of a text, each of at most that many columns.
fn rows(text: &str, room: usize) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut row = Row { start: Start::Cell, range: 0..0, width: 0 };
    for (index, c) in text.char_indices() {
        let width = columns(c);
        let ends_line = c == '\n';
        if ends_line || row.width + width > room {
            row.range.end = index;
            rows.push(row);
            let (start, first) = match ends_line {
                true => (Start::Line, index + 1),
                false => (Start::Further, index),
            };
            row = Row { start, range: first..first, width: 0 };
        }
        if !ends_line {
            row.width += width;
        }
    }
    row.range.end = text.len();
    let is_full = row.width == room;
    rows.push(row);
    if is_full {
        // The cursor stands behind the last character.
        rows.push(Row { start: Start::Further, range: text.len()..text.len(), width: 0 });
    }
    rows
}

/// The row in which the cursor stands.
fn row_of(rows: &[Row], cursor: usize) -> usize {
    rows.iter().rposition(|row| row.range.start <= cursor).unwrap_or(0)
}

fn prompt_width(picture: &Picture<'_>) -> usize {
    width(picture.prompt)
}

fn columns(c: char) -> usize {
    visible(c).width().unwrap_or(0)
}

/// What stands for a character that would move the cursor.
fn visible(c: char) -> char {
    match c {
        '\0'..=' ' if c != ' ' => char::from_u32(0x2400 + u32::from(c)).unwrap_or('?'),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}' => '?',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::{Picture, Screen, Start, cut, row_of, rows};

    #[test]
    fn long_lines_go_on_in_further_rows() {
        let found = rows("abcdef\ngh", 4);
        let ranges: Vec<_> = found.iter().map(|row| (row.start, row.range.clone())).collect();
        assert_eq!(ranges, [(Start::Cell, 0..4), (Start::Further, 4..6), (Start::Line, 7..9)]);
        assert_eq!([0, 3, 4, 6, 7, 9].map(|cursor| row_of(&found, cursor)), [0, 0, 1, 1, 2, 2]);
        assert_eq!(rows("日本語", 5)[0].range, 0..6);
        assert_eq!(rows("abcd", 4).len(), 2);
        assert_eq!(rows("", 4).len(), 1);
    }

    /// What the screen shows after some pictures, and where the cursor is.
    fn screen(pictures: &[Picture<'_>], size: (usize, usize)) -> (Vec<String>, (usize, usize)) {
        let mut screen = Screen::new(false);
        let mut lines: Vec<Vec<char>> = vec![Vec::new()];
        let (mut row, mut column) = (0, 0);
        for picture in pictures {
            let text = screen.draw(picture, size);
            let mut chars = text.chars().peekable();
            while let Some(c) = chars.next() {
                match c {
                    '\x1b' => {
                        chars.next();
                        let mut count = String::new();
                        let letter = loop {
                            match chars.next().expect("a whole sequence") {
                                c if c.is_ascii_alphabetic() => break c,
                                c => count.push(c),
                            }
                        };
                        let count = count.parse().unwrap_or(1);
                        match letter {
                            'A' => row -= count,
                            'C' => column += count,
                            'J' => {
                                lines.truncate(row + 1);
                                lines[row].truncate(column);
                            }
                            _ => {}
                        }
                    }
                    '\r' => column = 0,
                    '\n' => {
                        row += 1;
                        lines.resize(lines.len().max(row + 1), Vec::new());
                    }
                    c => {
                        let width = lines[row].len().max(column + 1);
                        lines[row].resize(width, ' ');
                        lines[row][column] = c;
                        column += 1;
                    }
                }
            }
        }
        let lines = lines.into_iter().map(String::from_iter);
        (lines.map(|line| line.trim_end().to_owned()).collect(), (row, column))
    }

    fn picture<'a>(text: &'a str, cursor: usize) -> Picture<'a> {
        Picture { prompt: "1> ", continuation: "·· ", text, cursor, ..Picture::default() }
    }

    #[test]
    fn pictures_take_the_place_of_the_last() {
        let first = picture("def f x =\n  x + 1", 12);
        let (lines, cursor) = screen(std::slice::from_ref(&first), (40, 10));
        assert_eq!(lines, ["1> def f x =", "··   x + 1"]);
        assert_eq!(cursor, (1, 5));
        let (lines, cursor) = screen(&[first, picture("sum", 1)], (40, 10));
        assert_eq!((lines, cursor), (vec!["1> sum".to_owned()], (0, 4)));
    }

    #[test]
    fn what_is_below_does_not_move_the_cursor() {
        let below = ["sum".to_owned(), "sumBy".to_owned()];
        let picture = Picture { hint: " : i64", below: &below, ..picture("su", 2) };
        let (lines, cursor) = screen(&[picture], (40, 10));
        assert_eq!((lines.join("|"), cursor), ("1> su : i64|sum|sumBy".to_owned(), (0, 5)));
    }

    #[test]
    fn a_cell_taller_than_the_screen_shows_its_cursor() {
        let text: Vec<String> = (0..50).map(|line| format!("line {line}")).collect();
        let text = text.join("\n");
        for cursor in [0, text.len() / 2, text.len()] {
            let (lines, (row, _)) = screen(&[picture(&text, cursor)], (40, 10));
            assert_eq!(lines.len(), 10);
            let line = text[..cursor].matches('\n').count();
            assert!(lines[row].ends_with(&format!("line {line}")), "{lines:?} {row}");
        }
    }

    #[test]
    fn texts_are_cut_at_the_width() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
        assert_eq!(cut("日本語", 4), "日…");
        assert_eq!(cut("a\nb", 3), "a␊b");
    }
}
