//! The cells of one column, whose type is found while they are read.

use weft_ir::{Column, ScalarType, Type};

use super::super::{Loaded, fields};

/// The cells of a column so far. The type only ever widens: missing, bool or i64, f64, text.
pub(super) enum Cells {
    /// Nothing but missing values yet.
    Missing(usize),
    /// `true` and `false`; `None` where the value is missing.
    Bool(Vec<Option<bool>>),
    /// Integers, none of them missing.
    Integer(Vec<i64>),
    /// Numbers; NaN where the value is missing.
    Float(Vec<f64>),
    /// Texts; empty where the value is missing.
    Text {
        /// The length of every text.
        lengths: Vec<usize>,
        /// All texts, one after the other.
        chars: Vec<u8>,
    },
    /// A column that is text, but was taken for numbers or truths before: its cells are lost.
    Mixed,
}

/// One cell, classified.
enum Cell {
    Missing,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text,
}

impl Cells {
    pub(super) fn new() -> Cells {
        Cells::Missing(0)
    }

    /// A column that is known to be text.
    pub(super) fn text() -> Cells {
        Cells::Text { lengths: Vec::new(), chars: Vec::new() }
    }

    /// Appends a cell. Returns the bytes that it takes beyond the 8 that each cell has.
    pub(super) fn push(&mut self, text: &[u8], quoted: bool) -> usize {
        match self {
            Cells::Text { lengths, chars } => {
                let text = if is_missing(text, quoted) { b"" } else { text };
                lengths.push(text.len());
                chars.extend_from_slice(text);
                return text.len();
            }
            Cells::Mixed => return 0,
            // The case of most cells, without a look at the others.
            Cells::Integer(numbers) => {
                if let Some(number) = integer(text) {
                    numbers.push(number);
                    return 0;
                }
            }
            Cells::Float(numbers) => {
                if let Some(number) = float(text) {
                    numbers.push(number);
                    return 0;
                }
            }
            Cells::Missing(_) | Cells::Bool(_) => {}
        }
        let cell = classify(text, quoted);
        *self = match (std::mem::replace(self, Cells::Mixed), cell) {
            (Cells::Missing(count), Cell::Missing) => Cells::Missing(count + 1),
            (Cells::Missing(count), Cell::Bool(truth)) => {
                let mut truths = vec![None; count];
                truths.push(Some(truth));
                Cells::Bool(truths)
            }
            (Cells::Missing(0), Cell::Integer(number)) => Cells::Integer(vec![number]),
            (Cells::Missing(count), Cell::Integer(number)) => {
                Cells::Float(appended(vec![f64::NAN; count], number as f64))
            }
            (Cells::Missing(count), Cell::Float(number)) => {
                Cells::Float(appended(vec![f64::NAN; count], number))
            }
            (Cells::Missing(count), Cell::Text) => {
                let mut lengths = vec![0; count];
                lengths.push(text.len());
                *self = Cells::Text { lengths, chars: text.to_vec() };
                return text.len();
            }
            (Cells::Bool(truths), Cell::Missing) => Cells::Bool(appended(truths, None)),
            (Cells::Bool(truths), Cell::Bool(truth)) => Cells::Bool(appended(truths, Some(truth))),
            (Cells::Integer(numbers), Cell::Integer(number)) => {
                Cells::Integer(appended(numbers, number))
            }
            (Cells::Integer(numbers), Cell::Float(number)) => {
                Cells::Float(appended(floats(&numbers), number))
            }
            (Cells::Integer(numbers), Cell::Missing) => {
                Cells::Float(appended(floats(&numbers), f64::NAN))
            }
            (Cells::Float(numbers), Cell::Integer(number)) => {
                Cells::Float(appended(numbers, number as f64))
            }
            (Cells::Float(numbers), Cell::Float(number)) => Cells::Float(appended(numbers, number)),
            (Cells::Float(numbers), Cell::Missing) => Cells::Float(appended(numbers, f64::NAN)),
            (Cells::Bool(_), Cell::Integer(_) | Cell::Float(_) | Cell::Text)
            | (Cells::Integer(_) | Cells::Float(_), Cell::Bool(_) | Cell::Text)
            | (Cells::Text { .. } | Cells::Mixed, _) => Cells::Mixed,
        };
        0
    }

    /// Whether one of the texts of a column is this one.
    pub(super) fn has_text(&self, wanted: &[u8]) -> bool {
        self.texts().any(|text| text == wanted)
    }

    /// The texts of a column; none, if it holds something else.
    pub(super) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let (lengths, mut rest): (&[usize], &[u8]) = match self {
            Cells::Text { lengths, chars } => (lengths, chars),
            Cells::Missing(_)
            | Cells::Bool(_)
            | Cells::Integer(_)
            | Cells::Float(_)
            | Cells::Mixed => (&[], &[]),
        };
        lengths.iter().map(move |&length| {
            let (text, after) = rest.split_at(length);
            rest = after;
            text
        })
    }

    /// The least and the greatest number of a column of numbers.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        let range = |numbers: &mut dyn Iterator<Item = f64>| {
            let start = (f64::INFINITY, f64::NEG_INFINITY);
            let (least, greatest) =
                numbers.fold(start, |(least, greatest), x| (x.min(least), x.max(greatest)));
            (least <= greatest).then_some((least, greatest))
        };
        match self {
            Cells::Integer(numbers) => range(&mut numbers.iter().map(|&number| number as f64)),
            Cells::Float(numbers) => range(&mut numbers.iter().copied()),
            Cells::Missing(_) | Cells::Bool(_) | Cells::Text { .. } | Cells::Mixed => None,
        }
    }

    /// The column as an array. Truths of which some are missing become 1.0, 0.0 and NaN.
    pub(super) fn finish(self) -> Loaded {
        let scalar = |column, ty| fields::array(column, Type::Scalar(ty));
        match self {
            Cells::Missing(count) => {
                scalar(Column::F64(vec![f64::NAN; count].into()), ScalarType::F64)
            }
            Cells::Bool(truths) => match truths.iter().copied().collect::<Option<Vec<bool>>>() {
                Some(truths) => scalar(Column::Bool(truths.into()), ScalarType::Bool),
                None => {
                    let number = |truth: bool| if truth { 1.0 } else { 0.0 };
                    let numbers = truths.iter().map(|truth| truth.map_or(f64::NAN, number));
                    scalar(Column::F64(numbers.collect::<Vec<f64>>().into()), ScalarType::F64)
                }
            },
            Cells::Integer(numbers) => scalar(Column::I64(numbers.into()), ScalarType::I64),
            Cells::Float(numbers) => scalar(Column::F64(numbers.into()), ScalarType::F64),
            Cells::Text { lengths, chars } => {
                let texts = Column::from_lengths(&lengths, Column::Char(chars.into()));
                fields::array(texts, Type::array(Type::Scalar(ScalarType::Char)))
            }
            Cells::Mixed => unreachable!("mixed columns are read again as text"),
        }
    }
}

fn appended<T>(mut elements: Vec<T>, element: T) -> Vec<T> {
    elements.push(element);
    elements
}

fn floats(numbers: &[i64]) -> Vec<f64> {
    numbers.iter().map(|&number| number as f64).collect()
}

/// Whether a cell stands for "no value". In quotes only the empty text does.
pub(super) fn is_missing(text: &[u8], quoted: bool) -> bool {
    let text = text.trim_ascii();
    match text.len() {
        0 => true,
        1 => !quoted && text == b".",
        2 => !quoted && text.eq_ignore_ascii_case(b"na"),
        3 => !quoted && (text.eq_ignore_ascii_case(b"nan") || text.eq_ignore_ascii_case(b"n/a")),
        4 => !quoted && text.eq_ignore_ascii_case(b"null"),
        _ => false,
    }
}

/// Whether a cell is a number (and not a missing one).
pub(super) fn is_number(text: &[u8]) -> bool {
    float(text).is_some_and(|number| !number.is_nan())
}

fn classify(text: &[u8], quoted: bool) -> Cell {
    if is_missing(text, quoted) {
        return Cell::Missing;
    }
    if let Some(number) = integer(text) {
        return Cell::Integer(number);
    }
    if let Some(number) = float(text) {
        return Cell::Float(number);
    }
    let trimmed = text.trim_ascii();
    if trimmed.eq_ignore_ascii_case(b"true") {
        Cell::Bool(true)
    } else if trimmed.eq_ignore_ascii_case(b"false") {
        Cell::Bool(false)
    } else {
        Cell::Text
    }
}

/// The integer that a cell is, if it fits.
fn integer(text: &[u8]) -> Option<i64> {
    let text = text.trim_ascii();
    match text.first()? {
        b'0'..=b'9' | b'-' | b'+' => std::str::from_utf8(text).ok()?.parse().ok(),
        _ => None,
    }
}

/// The number that a cell is.
fn float(text: &[u8]) -> Option<f64> {
    let text = text.trim_ascii();
    match text.first()? {
        // Of the words that Rust reads as numbers, only those that begin so: `nan`, `inf`.
        b'0'..=b'9' | b'-' | b'+' | b'.' | b'i' | b'I' | b'n' | b'N' => {
            std::str::from_utf8(text).ok()?.parse().ok()
        }
        _ => None,
    }
}
