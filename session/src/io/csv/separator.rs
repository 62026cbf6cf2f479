//! What separates the cells of a table.

use super::records::Records;
use super::{Start, is_missing, is_number};

/// The separator that stands for runs of spaces, which begin and end a line as well.
pub(super) const SPACES: u8 = b' ';

/// How many lines are looked at.
const LINES: usize = 20;

/// Finds the separator: that of comma, tab and semicolon which occurs equally often in most of the first lines.
/// It is the bar if that is in all of them equally often, and no other is; spaces, if nothing else
/// separates and [`are_separated_by_spaces`] holds. A table of one column has none; then it is the comma.
pub(super) fn find(text: &[u8], start: &Start) -> u8 {
    let lines = first_lines(&text[start.offset..]);
    let score = |separator: u8| {
        let counts: Vec<usize> = lines.iter().map(|line| occurrences(line, separator)).collect();
        let first = counts.first().copied().unwrap_or(0);
        let agreeing = counts.iter().filter(|&&count| count == first).count();
        if first == 0 { (0, 0) } else { (agreeing, first) }
    };
    // `max_by_key` keeps the last of equals.
    let best = [b';', b',', b'\t'].into_iter().max_by_key(|&separator| score(separator));
    let (best, found) = best.map_or((b',', (0, 0)), |best| (best, score(best)));
    if score(b'|').0 == lines.len() && found.0 < lines.len() && lines.len() > 1 {
        b'|'
    } else if found != (0, 0) {
        best
    } else if are_separated_by_spaces(text, start) {
        SPACES
    } else {
        b','
    }
}

/// Whether every line has the same number of cells between runs of spaces, and two columns or more hold nothing
/// but numbers below the first line. Texts with spaces in them, names of people or dates with times, do not.
fn are_separated_by_spaces(text: &[u8], start: &Start) -> bool {
    let mut rows = Records::new(text, start.offset, start.line, SPACES);
    if !matches!(rows.next(), Ok(true)) || rows.len() < 2 {
        return false;
    }
    let mut is_number_column = vec![true; rows.len()];
    let mut below = 0;
    loop {
        match rows.next() {
            Ok(true) if rows.len() == is_number_column.len() => {}
            Ok(false) => break,
            Ok(true) | Err(_) => return false,
        }
        below += 1;
        for (index, is_column) in is_number_column.iter_mut().enumerate() {
            let cell = rows.text(index);
            *is_column &= is_number(cell) || is_missing(cell, rows.quoted(index));
        }
        if is_number_column.iter().filter(|&&is_column| is_column).count() < 2 {
            return false;
        }
    }
    below > 0
}

/// What seems to separate the cells of a file that was read as one column of text, though not plainly.
pub(super) fn likely(text: &[u8], start: &Start) -> Option<Likely> {
    let lines = first_lines(&text[start.offset..]);
    let below = lines.get(1..)?;
    let (first, rest) = below.split_first()?;
    let bars = occurrences(first, b'|');
    if bars > 0 && rest.iter().all(|line| occurrences(line, b'|') == bars) {
        return Some(Likely::Bars);
    }
    let is_numbers = |line: &&[u8]| {
        let cells: Vec<&[u8]> =
            line.split(u8::is_ascii_whitespace).filter(|cell| !cell.is_empty()).collect();
        let numbers = cells.iter().filter(|cell| is_number(cell)).count();
        numbers >= 2 && 2 * numbers >= cells.len()
    };
    below.iter().all(is_numbers).then_some(Likely::Spaces)
}

/// What seems to separate the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Likely {
    /// `|`.
    Bars,
    /// Runs of spaces between numbers.
    Spaces,
}

fn first_lines(text: &[u8]) -> Vec<&[u8]> {
    text.split(|&byte| byte == b'\n')
        .filter(|line| !line.trim_ascii().is_empty())
        .take(LINES)
        .collect()
}

/// How often a byte occurs outside quotes.
fn occurrences(line: &[u8], separator: u8) -> usize {
    let mut quoted = false;
    let mut count = 0;
    for &byte in line {
        quoted ^= byte == b'"';
        count += usize::from(byte == separator && !quoted);
    }
    count
}
