//! The lines of a source that a diagnostic points at, as a terminal can show them.
//!
//! All other lines are there but empty, so that line numbers stay. In the lines shown, tabs
//! become spaces up to the next multiple of 8, control characters become visible, and a line that
//! is wider than the terminal is cut to a window around its labels, with `…` at each cut.

use std::collections::BTreeMap;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

/// The least width of a window: narrower terminals have to wrap.
const NARROWEST: usize = 40;

/// The columns that ariadne's margin takes.
const MARGIN: usize = 12;

/// A text to be shown in place of a source.
#[derive(Debug, PartialEq)]
pub(super) struct Excerpt {
    /// The text.
    pub(super) text: String,
    /// The ranges in it that correspond to those asked for; none is empty.
    pub(super) ranges: Vec<Range<usize>>,
    /// Where each range begins, in the text itself.
    pub(super) places: Vec<Place>,
}

/// A line and a column, both counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: usize,
    /// In characters.
    pub(super) column: usize,
}

/// Where a byte of a text is.
pub(super) fn place(text: &str, at: usize) -> Place {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = 1 + text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
    Place { line, column: 1 + text[start..at].chars().count() }
}

/// Cuts what shows `ranges` out of `text`, for a terminal of `width` columns. The first range is
/// the most important one.
pub(super) fn excerpt(text: &str, ranges: &[Range<usize>], width: usize) -> Excerpt {
    let width = width.saturating_sub(MARGIN).max(NARROWEST);
    let ranges: Vec<Range<usize>> = ranges.iter().map(|range| inside(text, range)).collect();
    let mut lines = Lines::default();
    for range in &ranges {
        lines.want(text, range.start);
        lines.want(text, last(text, range));
    }
    let marks = |line: &Line| -> Vec<usize> {
        let ends = ranges.iter().flat_map(|range| [range.start, last(text, range)]);
        ends.filter(|at| line.contains(*at))
            .map(|at| (at - line.range.start).min(line.range.len()))
            .collect()
    };
    let cuts: Vec<Cut<'_>> = lines
        .wanted
        .values()
        .map(|line| Cut { text: &text[line.range.clone()], marks: marks(line) })
        .collect();
    let windows = windows(&cuts, width);
    let mut excerpt = String::new();
    let mut shown: Vec<(Line, Shown)> = Vec::new();
    let mut number = 0;
    for (line, window) in lines.wanted.values().zip(windows) {
        while number < line.number {
            excerpt.push('\n');
            number += 1;
        }
        let from = excerpt.len();
        let offsets = show(&text[line.range.clone()], &window, &mut excerpt);
        shown.push((line.clone(), Shown { range: from..excerpt.len(), window, offsets }));
    }
    let locate = |at: usize| {
        shown
            .iter()
            .find(|(line, _)| line.contains(at))
            .map(|(line, shown)| shown.locate(at - line.range.start))
    };
    let mapped = ranges.iter().map(|range| {
        let start = locate(range.start).map_or(0, |place| place.start);
        let end = locate(last(text, range)).map_or(start + 1, |place| place.end);
        start..end.max(start + 1)
    });
    let mapped = mapped.collect();
    let places = ranges.iter().map(|range| place(text, range.start)).collect();
    Excerpt { text: excerpt, ranges: mapped, places }
}

/// What stands for a character on the terminal.
pub(super) fn visible(character: char) -> char {
    match character {
        '\0'..='\x1f' => char::from_u32(0x2400 + character as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '␡',
        '\u{80}'..='\u{9f}' | '\u{feff}' => '\u{fffd}',
        // These end lines, or change the direction of what follows them.
        '\u{2028}' | '\u{2029}' | '\u{200e}' | '\u{200f}' => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        _ => character,
    }
}

/// The range, moved onto character boundaries within the text.
fn inside(text: &str, range: &Range<usize>) -> Range<usize> {
    let floor = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = floor(range.start.min(text.len()));
    start..floor(range.end.min(text.len())).max(start)
}

/// The first byte of the range's last character.
fn last(text: &str, range: &Range<usize>) -> usize {
    text[range.clone()]
        .trim_end_matches(['\n', '\r'])
        .char_indices()
        .next_back()
        .map_or(range.start, |(at, _)| range.start + at)
}

/// A line of the source, without its line break.
#[derive(Clone, Debug)]
struct Line {
    number: usize,
    range: Range<usize>,
}

impl Line {
    /// Whether the byte belongs to the line; the place of its line break does.
    fn contains(&self, at: usize) -> bool {
        self.range.start <= at && at <= self.range.end
    }
}

#[derive(Default)]
struct Lines {
    wanted: BTreeMap<usize, Line>,
}

impl Lines {
    fn want(&mut self, text: &str, at: usize) {
        if self.wanted.values().any(|line| line.contains(at)) {
            return;
        }
        let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let end = text[at..].find('\n').map_or(text.len(), |length| at + length);
        let end = start + text[start..end].trim_end_matches('\r').len();
        let number = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count();
        self.wanted.insert(start, Line { number, range: start..end.max(at) });
    }
}

/// The columns that a character takes at a column.
fn columns(character: char, column: usize) -> usize {
    match character {
        '\t' => 8 - column % 8,
        _ => visible(character).width().unwrap_or(1),
    }
}

/// A line that may have to be cut, and the bytes of it that have to be seen.
struct Cut<'t> {
    text: &'t str,
    marks: Vec<usize>,
}

/// The bytes of each line to show. Lines are cut in the same column where that shows all marks, so that what stands
/// in one column of the source does so here: indentation may be what a report is about.
fn windows(lines: &[Cut<'_>], width: usize) -> Vec<Range<usize>> {
    let own: Vec<Range<usize>> = lines.iter().map(|line| window(line, width)).collect();
    let column = |line: &Cut<'_>, at: usize| columns_of(&line.text[..at]);
    let starts = || lines.iter().zip(&own).map(|(line, window)| column(line, window.start));
    let (Some(least), Some(most)) = (starts().min(), starts().max()) else { return own };
    // The place of a mark at the end of a line is there too, and so are the two `…`.
    let is_seen =
        |line: &Cut<'_>| line.marks.iter().all(|at| column(line, *at) + 3 <= least + width);
    if least == most || !lines.iter().all(is_seen) {
        return own;
    }
    let from_column = |line: &Cut<'_>| {
        let from = at_column(line.text, least);
        from..from + extent(&line.text[from..], width)
    };
    lines.iter().map(from_column).collect()
}

/// The bytes of the line to show: all if it is narrow enough, else a window that begins a little
/// before the first mark, or before the most important one if they do not fit together.
fn window(line: &Cut<'_>, width: usize) -> Range<usize> {
    let Cut { text: line, marks } = line;
    if extent(line, width) == line.len() {
        return 0..line.len();
    }
    const BEFORE: usize = 4;
    let least = marks.iter().copied().min().unwrap_or(0);
    let most = marks.iter().copied().max().unwrap_or(0);
    let fit_together = extent(&line[least..], width - width / BEFORE) >= most - least;
    let anchor = if fit_together { least } else { marks.first().copied().unwrap_or(0) };
    let mut from = anchor;
    let mut room = width / BEFORE;
    for (at, character) in line[..anchor].char_indices().rev() {
        let needed = columns(character, 0);
        if needed > room {
            break;
        }
        room -= needed;
        from = at;
    }
    from..from + extent(&line[from..], width)
}

/// The columns that a text at the start of a line takes.
fn columns_of(text: &str) -> usize {
    text.chars().fold(0, |column, character| column + columns(character, column))
}

/// The first byte of a line that stands in a column, or behind it.
fn at_column(line: &str, wanted: usize) -> usize {
    let mut column = 0;
    for (at, character) in line.char_indices() {
        if column >= wanted {
            return at;
        }
        column += columns(character, column);
    }
    line.len()
}

/// How many bytes of the text fit into that many columns.
fn extent(text: &str, width: usize) -> usize {
    let mut column = 0;
    for (at, character) in text.char_indices() {
        column += columns(character, column);
        if column > width {
            return at;
        }
    }
    text.len()
}

/// A line as shown.
struct Shown {
    range: Range<usize>,
    window: Range<usize>,
    /// For each byte of the window that begins a character, and for its end: where that is shown.
    offsets: BTreeMap<usize, usize>,
}

impl Shown {
    /// Where the character at a byte of the line is shown; if it is not, the cut is.
    fn locate(&self, at: usize) -> Range<usize> {
        const CUT: usize = '…'.len_utf8();
        if at < self.window.start {
            return self.range.start..self.range.start + CUT;
        }
        let mut following = self.offsets.range(at..).map(|(_, shown)| *shown);
        match (following.next(), following.next()) {
            (Some(start), Some(end)) => start..end,
            (Some(start), None) => start..start + 1,
            (None, _) => self.range.end.saturating_sub(CUT)..self.range.end,
        }
    }
}

/// Appends the window of the line, and a blank for a caret behind its end.
fn show(line: &str, window: &Range<usize>, into: &mut String) -> BTreeMap<usize, usize> {
    let mut offsets = BTreeMap::new();
    if window.start > 0 {
        into.push('…');
    }
    let mut column = columns_of(&line[..window.start]);
    for (at, character) in line[window.clone()].char_indices() {
        offsets.insert(window.start + at, into.len());
        let needed = columns(character, column);
        if character == '\t' {
            into.extend(std::iter::repeat_n(' ', needed));
        } else {
            into.push(visible(character));
        }
        column += needed;
    }
    if window.end < line.len() {
        into.push('…');
    } else {
        offsets.insert(window.end, into.len());
        into.push(' ');
    }
    offsets
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    fn check(text: &str, range: std::ops::Range<usize>, shown: &str, marked: &str) {
        let excerpt = excerpt(text, std::slice::from_ref(&range), 60);
        assert_eq!(excerpt.text, shown);
        assert_eq!(&excerpt.text[excerpt.ranges[0].clone()], marked);
    }

    #[test]
    fn keeps_line_numbers() {
        check("a\nbc\nd", 3..4, "\nbc ", "c");
        check("a\r\nbc\r\nd", 3..5, "\nbc ", "bc");
    }

    #[test]
    fn marks_behind_the_end() {
        check("ab", 2..2, "ab ", " ");
        check("", 0..0, " ", " ");
        check("ab\n", 2..2, "ab ", " ");
        check("ab\ncd", 2..3, "ab ", " ");
    }

    #[test]
    fn shows_what_a_terminal_would_not() {
        check("\tx\x1b[2J", 1..2, "        x␛[2J ", "x");
        check("é\u{301}x\u{202e}", 4..5, "é\u{301}x\u{fffd} ", "x");
    }

    #[test]
    fn cuts_long_lines() {
        let text = "x".repeat(1000) + "é!" + &"y".repeat(1000);
        let excerpt = excerpt(&text, &[1000..1002, 3..4, 1800..1801], 60);
        assert!(excerpt.text.chars().count() < 60, "{}", excerpt.text);
        let marked: Vec<&str> =
            excerpt.ranges.iter().map(|range| &excerpt.text[range.clone()]).collect();
        assert_eq!(marked, ["é", "…", "…"]);
        let columns: Vec<usize> = excerpt.places.iter().map(|place| place.column).collect();
        assert_eq!(columns, [1001, 4, 1800]);
    }

    /// The lines that are shown, and in which column each mark stands.
    fn cut(text: &str, marks: &[std::ops::Range<usize>]) -> (Vec<String>, Vec<usize>) {
        let excerpt = excerpt(text, marks, 60);
        let lines: Vec<String> = excerpt.text.lines().map(str::to_owned).collect();
        let column = |at: usize| {
            let line = excerpt.text[..at].rfind('\n').map_or(0, |before| before + 1);
            excerpt.text[line..at].chars().count()
        };
        let columns = excerpt.ranges.iter().map(|range| column(range.start)).collect();
        (lines, columns)
    }

    #[test]
    fn lines_are_cut_in_one_column() {
        let long = format!("{}a = 1 + {}", " ".repeat(20), "2 + ".repeat(50));
        let short = format!("{}b = 2", " ".repeat(21));
        let text = format!("{long}\n{short}\n{long}");
        let third = long.len() + short.len() + 22;
        let second = long.len() + 22;
        let (lines, columns) = cut(&text, &[second..second + 1, 20..21, third..third + 1]);
        assert_eq!(columns, [21, 20, 20], "{lines:#?}");
        // Far to the right, too.
        let far = format!("{}{long}", "x".repeat(100));
        let (_, columns) =
            cut(&format!("{far}\n y{far}"), &[120..121, far.len() + 123..far.len() + 124]);
        assert_eq!(columns[0] + 2, columns[1]);
        // Not where the marks are too far from each other.
        let (lines, _) =
            cut(&format!("{long}\n{far}"), &[20..21, long.len() + 121..long.len() + 122]);
        assert!(lines.iter().all(|line| line.contains("a = 1")), "{lines:#?}");
    }

    #[test]
    fn takes_any_range() {
        let text = "aé\nb";
        for start in 0..8 {
            for end in 0..8 {
                let excerpt = excerpt(text, std::slice::from_ref(&(start..end)), 60);
                assert!(!excerpt.text[excerpt.ranges[0].clone()].is_empty());
            }
        }
    }
}
