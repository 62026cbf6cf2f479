//! Text: the whole of it, its lines, or the bare bytes.

use std::borrow::Cow;
use std::path::Path;

use weft_ir::{Buf, Column, ScalarType, Type, Value};

use super::error::{Place, Problem};
use super::source::{self, Source};
use super::target::Target;
use super::{Limits, Loaded, fields, mapped};

/// How many bytes are looked through between two questions whether to stop.
const STEP: usize = 1 << 20;

/// The UTF-8 byte-order mark, which some editors put before a text.
const MARK: &[u8] = b"\xef\xbb\xbf";

/// A text without its byte-order mark. UTF-16, which is told by its own mark, is refused.
pub(super) fn without_mark(bytes: &[u8]) -> Result<&[u8], Problem> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Problem::unsupported("the text is UTF-16, and only UTF-8 can be read")
            .hint("convert it to UTF-8 first"));
    }
    Ok(bytes.strip_prefix(MARK).unwrap_or(bytes))
}

/// What ends the lines of a text.
fn newline(text: &[u8]) -> u8 {
    let is_old = memchr::memchr(b'\n', text).is_none() && memchr::memchr(b'\r', text).is_some();
    if is_old { b'\r' } else { b'\n' }
}

/// A text with the line ends of this time: old ones are a carriage return alone.
pub(super) fn with_newlines(text: &[u8]) -> Cow<'_, [u8]> {
    if newline(text) == b'\n' {
        return Cow::Borrowed(text);
    }
    let now = |byte: &u8| if *byte == b'\r' { b'\n' } else { *byte };
    Cow::Owned(text.iter().map(now).collect())
}

/// `loadText`.
pub(super) fn read_text(mut bytes: Vec<u8>, limits: &Limits) -> Result<Loaded, Problem> {
    let mark = bytes.len() - without_mark(&bytes)?.len();
    bytes.drain(..mark);
    fits(bytes.len() as u128, limits)?;
    Ok(fields::array(Column::Char(bytes.into()), Type::Scalar(ScalarType::Char)))
}

/// `loadLines`.
pub(super) fn read_lines(bytes: Vec<u8>, limits: &Limits) -> Result<Loaded, Problem> {
    let text = &*with_newlines(without_mark(&bytes)?);
    let count = text.iter().filter(|&&byte| byte == b'\n').count();
    fits(text.len() as u128 + 8 * count as u128, limits)?;
    let mut lengths = Vec::with_capacity(count + 1);
    let mut chars = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let line = match line.strip_suffix(b"\n") {
            Some(line) => line.strip_suffix(b"\r").unwrap_or(line),
            None => line,
        };
        lengths.push(line.len());
        chars.extend_from_slice(line);
    }
    let lines = Column::from_lengths(&lengths, Column::Char(chars.into()));
    Ok(fields::array(lines, Type::array(Type::Scalar(ScalarType::Char))))
}

/// `streamLines`: the text, and where each line begins and ends in it.
pub(super) fn stream_lines(path: &Path, limits: &Limits) -> Result<Loaded, Problem> {
    let (text, held) = match mapped::open(path, limits)? {
        Some(file) => {
            let length = without_mark(file.bytes())?.len();
            let mark = file.bytes().len() - length;
            // Bytes lie at any address.
            (mapped::elements(&file, mark, length).unwrap_or_else(|| Buf::new(Vec::new())), 0)
        }
        None => {
            let mut bytes = Source::open(path, limits)?.read_all()?;
            let mark = bytes.len() - without_mark(&bytes)?.len();
            bytes.drain(..mark);
            let held = bytes.len() as u128;
            (Buf::new(bytes), held)
        }
    };
    let (starts, ends) = bounds(text.as_slice(), held, limits)?;
    let integers = |positions: Vec<i64>| {
        fields::array(Column::I64(positions.into()), Type::Scalar(ScalarType::I64))
    };
    let text = fields::array(Column::Char(text), Type::Scalar(ScalarType::Char));
    Ok(fields::tuple(vec![text, integers(starts), integers(ends)]))
}

/// Where the lines of a text begin and end, if there is memory for that beside the bytes that are held already.
fn bounds(text: &[u8], held: u128, limits: &Limits) -> Result<(Vec<i64>, Vec<i64>), Problem> {
    let (mut starts, mut ends): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    let (mut begin, newline) = (0, newline(text));
    let room = |starts: &mut Vec<i64>, ends: &mut Vec<i64>, more: usize| {
        fits(held + (starts.len() + more) as u128 * 2 * size_of::<i64>() as u128, limits)?;
        source::reserve(starts, more)?;
        source::reserve(ends, more)
    };
    for (index, block) in text.chunks(STEP).enumerate() {
        if (limits.stop)() {
            return Err(Problem::interrupted());
        }
        (limits.progress)((index * STEP) as u64, text.len() as u64);
        room(&mut starts, &mut ends, memchr::memchr_iter(newline, block).count())?;
        for position in memchr::memchr_iter(newline, block) {
            let end = index * STEP + position;
            let line = &text[begin..end];
            let length = line.strip_suffix(b"\r").unwrap_or(line).len();
            starts.push(begin as i64);
            ends.push((begin + length) as i64);
            begin = end + 1;
        }
    }
    if begin < text.len() {
        room(&mut starts, &mut ends, 1)?;
        starts.push(begin as i64);
        ends.push(text.len() as i64);
    }
    Ok((starts, ends))
}

/// `loadBytes`.
pub(super) fn read_bytes(bytes: Vec<u8>, limits: &Limits) -> Result<Loaded, Problem> {
    fits(bytes.len() as u128, limits)?;
    Ok(fields::array(Column::U8(bytes.into()), Type::Scalar(ScalarType::U8)))
}

/// Whether a value of that many bytes is allowed.
pub(super) fn fits(bytes: u128, limits: &Limits) -> Result<(), Problem> {
    if bytes > limits.value_bytes.into() {
        return Err(Problem::too_large("the value needs", bytes, limits.value_bytes));
    }
    Ok(())
}

/// Writes a `[]char` as it is, or a `[][]char` as lines.
pub(super) fn write(value: &Value, ty: &Type, target: &mut Target) -> Result<(), Problem> {
    match fields::as_column(value) {
        Some(Column::Char(text)) => target.write_bytes(text.as_slice()),
        Some(lines) if is_lines(lines) => {
            let chars = lines.flatten();
            let Column::Char(chars) = &chars else { unreachable!("lines are arrays of chars") };
            let mut rest = chars.as_slice();
            for index in 0..lines.len() {
                let (line, after) = rest.split_at(lines.row_len(index).unwrap_or(0));
                // What ends in `\r` would lose it when it is read again.
                if line.contains(&b'\n') || line.ends_with(b"\r") {
                    return Err(Problem::does_not_fit(format!(
                        "line {index} contains a line break"
                    ))
                    .hint("flatten the lines to save them as one text"));
                }
                target.write_bytes(line)?;
                target.write_bytes(b"\n")?;
                rest = after;
            }
            Ok(())
        }
        _ => Err(Problem::does_not_fit(format!(
            "a .txt file holds a []char or a [][]char (lines), not a value of type {ty}"
        ))),
    }
}

/// Whether the elements of a column are texts.
pub(super) fn is_lines(column: &Column) -> bool {
    match column {
        Column::Dense { inner, .. } | Column::Ragged { inner, .. } => {
            matches!(**inner, Column::Char(_))
        }
        _ => false,
    }
}

/// Text that must be UTF-8, being part of a type (a header).
pub(super) fn utf8(bytes: &[u8], line: u64) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("the header is not UTF-8 text (at its byte {})", error.valid_up_to());
        Problem::malformed(Place::Line(line), message).hint(
            "a file in Latin-1 is converted by `iconv -f ISO-8859-1 -t UTF-8 old.csv > new.csv`",
        )
    })
}
