//! What a table may mean otherwise than it was read: a separator that is not one of ours, a first line that is a
//! row, numbers that are written otherwise.

use super::super::Doubt;
use super::cells::Cells;
use super::records::Records;
use super::separator::{self, Likely};
use super::{Start, is_missing, is_number};

/// How many cells of a column are looked at.
const CELLS: usize = 50;

/// How many different texts there may be among numbers for them to be marks, and how long one is.
const MOST_MARKS: usize = 3;
const LONGEST_MARK: usize = 12;

/// How much of a line is repeated.
const LONGEST_LINE: usize = 36;

/// The doubts about a table whose first line was taken for titles.
pub(super) fn about(
    text: &[u8],
    start: &Start,
    rows: Records,
    titles: &[Vec<u8>],
    names: &[weft_ir::Name],
    columns: &[Cells],
) -> Vec<Doubt> {
    let mut doubts = Vec::new();
    doubts.extend(codes(start, rows, names, columns));
    doubts.extend(one_column(text, start, columns).or_else(|| first_of_a_list(titles, columns)));
    doubts.extend(titles_in_place_of_a_row(titles, names, columns));
    doubts.extend(names.iter().zip(columns).filter_map(|(name, cells)| rounded(name, cells)));
    doubts.extend(commas_in_numbers(names, columns));
    doubts.extend(names.iter().zip(columns).filter_map(|(name, cells)| few_texts(name, cells)));
    doubts.extend(other_letters(text));
    doubts
}

/// A column of whole numbers that are written as codes are, `00501` or `+4930`: what is written more than the number is
/// lost. Two digits are hours or months.
fn codes(
    start: &Start,
    mut rows: Records,
    names: &[weft_ir::Name],
    columns: &[Cells],
) -> Option<Doubt> {
    let whole: Vec<usize> =
        (0..columns.len()).filter(|&index| matches!(columns[index], Cells::Integer(_))).collect();
    for _ in 0..CELLS {
        if whole.is_empty() || !rows.next().ok()? {
            return None;
        }
        for &index in &whole {
            let cell = rows.text(index).trim_ascii();
            let is_code = cell.len() > 2 && cell[0] == b'0' || cell.len() > 4 && cell[0] == b'+';
            if !is_code {
                continue;
            }
            let (name, cell) = (&names[index], String::from_utf8_lossy(cell));
            let cells = match rows.separator() {
                separator::SPACES => "words line".to_owned(),
                b'\t' => "splitOn '\\t' line".to_owned(),
                separator => format!("splitOn '{}' line", char::from(separator)),
            };
            return Some(Doubt {
                message: format!(
                    "the column `{name}` is whole numbers: of `{cell}` only the number is kept"
                ),
                help: format!(
                    "the texts are `{{ ({cells})[{index}] : line in drop {} (loadLines \"PATH\") }}`, where no cell is in \
                     quotes",
                    start.line
                ),
            });
        }
    }
    None
}

/// One column of text, in which something else seems to separate.
fn one_column(text: &[u8], start: &Start, columns: &[Cells]) -> Option<Doubt> {
    let [Cells::Text { .. }] = columns else { return None };
    let (what, help) = match separator::likely(text, start)? {
        Likely::Bars => (
            "`|`",
            "`{ splitOn '|' line : line in loadLines \"PATH\" }` reads the cells of each line",
        ),
        Likely::Spaces => (
            "spaces",
            "`{ parseFloat (words line) : line in drop 1 (loadLines \"PATH\") }` reads the numbers below the first line",
        ),
    };
    Some(Doubt {
        message: format!(
            "one column of text; {what} may separate more, though not equally many in each line"
        ),
        help: help.to_owned(),
    })
}

/// One column of text, most of which look as its title does: the lines may be a list without a title.
fn first_of_a_list(titles: &[Vec<u8>], columns: &[Cells]) -> Option<Doubt> {
    let ([title], [cells @ Cells::Text { .. }]) = (titles, columns) else { return None };
    let looks = |text: &[u8]| {
        let text = text.trim_ascii();
        let has = |of: fn(&u8) -> bool| text.iter().any(of);
        let begins = text.first().is_some_and(u8::is_ascii_uppercase);
        [
            begins,
            has(u8::is_ascii_lowercase),
            has(u8::is_ascii_digit),
            has(u8::is_ascii_punctuation),
            text.contains(&b' '),
        ]
    };
    let (mut all, mut alike) = (0, 0);
    for text in cells.texts().take(CELLS) {
        all += 1;
        alike += usize::from(looks(text) == looks(title));
    }
    let title = String::from_utf8_lossy(title);
    (all > 1 && 2 * alike > all).then(|| Doubt {
        message: format!(
            "one column of text, and its first line, `{}`, gave it its name",
            title.trim()
        ),
        help: "if that is no title, `loadLines \"PATH\"` has all lines".to_owned(),
    })
}

/// A title that is a number, and one that its column could hold, or a date over dates: the table may have no line of
/// titles. The first number of a column in order is beside those below it, no farther than they are from each other.
/// Years and other numbers that count up are titles of columns (`country,2012,2013`).
fn titles_in_place_of_a_row(
    titles: &[Vec<u8>],
    names: &[weft_ir::Name],
    columns: &[Cells],
) -> Option<Doubt> {
    let number = |title: &[u8]| std::str::from_utf8(title).ok()?.trim().parse::<f64>().ok();
    let over_numbers: Vec<(f64, &Cells)> = titles
        .iter()
        .zip(columns)
        .filter(|(title, _)| is_number(title))
        .filter_map(|(title, cells)| Some((number(title)?, cells)))
        .collect();
    let counts_up = over_numbers.len() > 1
        && over_numbers.is_sorted_by(|(a, _), (b, _)| a < b)
        && over_numbers.iter().all(|(title, _)| title.fract() == 0.0);
    let could_hold = |&(title, cells): &(f64, &Cells)| {
        cells.range().is_some_and(|(least, greatest)| {
            let span = greatest - least;
            least - span <= title && title <= greatest + span
        })
    };
    let is_over_dates = |(title, cells): (&Vec<u8>, &Cells)| {
        let mut texts = cells.texts().take(CELLS).peekable();
        is_date(title) && texts.peek().is_some() && texts.all(is_date)
    };
    let is_number_of_row = !counts_up && over_numbers.iter().any(could_hold);
    if !is_number_of_row && !titles.iter().zip(columns).any(is_over_dates) {
        return None;
    }
    let names: Vec<String> = names.iter().take(4).map(|name| format!("`{name}`")).collect();
    let more = if titles.len() > names.len() { ", …" } else { "" };
    Some(Doubt {
        message: format!(
            "the first line gave the columns their names, {}{more}, and it looks like a row",
            names.join(", ")
        ),
        help: "if it is one, write a line of titles above it into the file".to_owned(),
    })
}

/// Whether a text begins with a date as `2012-01-31`.
fn is_date(text: &[u8]) -> bool {
    let text = text.trim_ascii();
    text.len() >= 10
        && text[..10].iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            _ => byte.is_ascii_digit(),
        })
}

/// One line of comment above the table, with as many cells as its rows have: it may be the line of titles.
pub(super) fn titles_in_a_comment(text: &[u8], start: &Start, width: usize) -> Option<Doubt> {
    let above = std::str::from_utf8(&text[..start.offset]).ok()?;
    let mut comments = above.lines().filter(|line| !line.trim().is_empty());
    // Several are a text about the table.
    let (Some(line), None) = (comments.next(), comments.next()) else { return None };
    let titles = line.trim_start_matches('#').trim();
    let separators = [',', ';', '\t'];
    let cells = |separator: char| titles.split(separator).count();
    if width < 2 || !separators.into_iter().any(|separator| cells(separator) == width) {
        return None;
    }
    Some(Doubt {
        message: format!("the line above the table is a comment: `{}`", short(titles)),
        help: "if it has the titles of the columns, it stands there without the `#`".to_owned(),
    })
}

/// A text that is not too long for a message.
fn short(text: &str) -> String {
    match text.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A column of whole numbers, some of which floats do not hold: they are floats because others are missing.
fn rounded(name: &weft_ir::Name, cells: &Cells) -> Option<Doubt> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    let Cells::Float(numbers) = cells else { return None };
    let whole = numbers.iter().all(|number| number.is_nan() || number.fract() == 0.0);
    let large = numbers.iter().copied().find(|number| number.abs() >= LARGEST)?;
    whole.then(|| Doubt {
        message: format!(
            "the column `{name}` is floats, of about 16 digits: numbers as {large:.0} are rounded"
        ),
        help: "`parseInt 0` of its texts, from `loadLines`, keeps the digits of whole numbers below 2 ** 63".to_owned(),
    })
}

/// A column of text whose cells are numbers with a comma in them.
fn commas_in_numbers(names: &[weft_ir::Name], columns: &[Cells]) -> Option<Doubt> {
    let found = names.iter().zip(columns).find_map(|(name, cells)| {
        let mut kinds = cells.texts().filter(|text| !text.is_empty()).take(CELLS).map(comma);
        let first = kinds.next()??;
        let kind = kinds.try_fold(first, |kind, next| match (kind, next?) {
            (Comma::Thousands, Comma::Thousands) => Some(Comma::Thousands),
            (Comma::Decimal, _) | (_, Comma::Decimal) => Some(Comma::Decimal),
        })?;
        Some((name, kind))
    })?;
    let (name, (what, other)) = match found {
        (name, Comma::Decimal) => (name, ("a decimal comma", ".")),
        (name, Comma::Thousands) => (name, ("commas between thousands", "")),
    };
    Some(Doubt {
        message: format!("the column `{name}` is text: its numbers have {what}"),
        help: format!(
            "`parseFloat (replace \",\" \"{other}\" t.{name})` are the numbers, if `t` is the table"
        ),
    })
}

/// A column of text in which most cells are numbers, and the others a few marks such as `-`.
fn few_texts(name: &weft_ir::Name, cells: &Cells) -> Option<Doubt> {
    let (mut all, mut others, mut kinds) = (0_usize, 0_usize, Vec::new());
    for text in cells.texts().filter(|text| !is_missing(text, false)) {
        all += 1;
        if is_number(text) {
            continue;
        }
        others += 1;
        if !kinds.contains(&text) {
            kinds.push(text);
        }
        if kinds.len() > MOST_MARKS {
            return None;
        }
    }
    let first = String::from_utf8_lossy(kinds.first()?);
    if 2 * others > all || first.chars().count() > LONGEST_MARK {
        return None;
    }
    let are = if others == 1 { "is no number" } else { "are no numbers" };
    Some(Doubt {
        message: format!(
            "the column `{name}` is text: of {all} cells {others} {are} (`{}`)",
            first.trim()
        ),
        help: format!("`parseFloat t.{name}` are numbers, with nan there, if `t` is the table"),
    })
}

/// Bytes that are no UTF-8: the file is in another encoding.
fn other_letters(text: &[u8]) -> Option<Doubt> {
    let place = std::str::from_utf8(text).err()?.valid_up_to();
    let line = 1 + text[..place].iter().filter(|&&byte| byte == b'\n').count();
    Some(Doubt {
        message: format!("line {line} is not UTF-8: its letters may be those of Latin-1"),
        help: "`iconv -f ISO-8859-1 -t UTF-8 PATH > utf8.csv` makes a file of it that is"
            .to_owned(),
    })
}

#[derive(Clone, Copy)]
enum Comma {
    Decimal,
    /// Three digits behind each comma: it may be either, and thousands are likelier.
    Thousands,
}

/// What the comma in a number is; `None` if the text is something else.
fn comma(text: &[u8]) -> Option<Comma> {
    let text = text.trim_ascii();
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let mut parts = digits.split(|&byte| byte == b',');
    let whole = parts.next()?;
    let parts: Vec<&[u8]> = parts.collect();
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if !is_number(whole) || parts.is_empty() || !parts.iter().all(|part| is_number(part)) {
        return None;
    }
    let is_grouped = whole.len() <= 3 && whole != b"0" && parts.iter().all(|part| part.len() == 3);
    match parts.len() {
        _ if is_grouped => Some(Comma::Thousands),
        1 => Some(Comma::Decimal),
        _ => None,
    }
}
