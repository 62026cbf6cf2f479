//! Slices where elements are replaced, as other languages write them.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::Kind;

/// Where no update can be written for what was meant.
pub(super) const OTHER_PLACES: &str =
    "a copy with other elements at some places: `scatter xs places values`, of one row or of rows";

impl Context<'_, '_> {
    /// `(xs with [i:j] = v)`, `(m with [i, :] = v)`.
    pub(super) fn slice_in_update(&self) -> Option<Diagnostic> {
        let open = self.open_before(self.at)?;
        let with = open.checked_sub(1)?;
        let close = self.close_of(open);
        let is_update = self.kind(with) == Some(Kind::With)
            && self.found == Kind::Colon
            && self.kind(close + 1) == Some(Kind::Equals);
        if !is_update {
            return None;
        }
        let first = self.open_before(open).map_or(0, |around| around + 1);
        let array = match self.reading.kinds[first..with].contains(&Kind::With) {
            true => "…",
            false => self.quote_or_dots(first, with),
        };
        let value = self.quote_or_dots(close + 2, self.end_of_update(close + 2));
        let help = self.with_slices(array, open, value)?;
        let slice = self.reading.span(open, close + 1);
        Some(
            Diagnostic::error("E0101", "`with` takes no slice", slice, "expected indices")
                .help(help),
        )
    }

    /// What to write for an array in which what a slice chooses is replaced; none if the bracket at `open` has none.
    pub(super) fn with_slices(&self, array: &str, open: usize, value: &str) -> Option<String> {
        let parts = self.parts(open);
        let is_slice = |&(from, to): &(usize, usize)| self.colon(from, to).is_some();
        let is_all = |&(from, to): &(usize, usize)| {
            (from..to).all(|token| self.kind(token) == Some(Kind::Colon))
        };
        let first = *parts.iter().find(|part| is_slice(part))?;
        let text = |(from, to): (usize, usize)| self.quote_or_dots(from, to);
        let chosen = parts.iter().take_while(|part| !is_slice(part)).count();
        let scattered = |what: &str| {
            let places = self.places(array, first).unwrap_or_else(|| "places".to_owned());
            let (array, values) = (argument(array), values(value, &places));
            format!(
                "a copy with other {what} at some places: `scatter {array} ({places}) {values}`"
            )
        };
        Some(match &parts[..] {
            [..] if chosen > 0 && parts[chosen..].iter().all(is_all) => {
                let indices: Vec<&str> = parts[..chosen].iter().map(|part| text(*part)).collect();
                let indices = indices.join(", ");
                format!("what is left out is all of it: `({array} with [{indices}] = {value})`")
            }
            [one] if is_all(one) => "all elements are another array: bind that one".to_owned(),
            [_] => scattered("elements"),
            [rows, column] if is_all(rows) && !is_slice(column) => format!(
                "a copy with another column: `{{ (row with [{}] = x) : row in {array} ; x in {value} }}`",
                text(*column)
            ),
            [rows, columns] if is_slice(rows) && is_all(columns) => scattered("rows"),
            _ => OTHER_PLACES.to_owned(),
        })
    }

    /// Where what an index is made of begins and ends, between the commas of a bracket.
    fn parts(&self, open: usize) -> Vec<(usize, usize)> {
        let close = self.close_of(open);
        let mut parts = Vec::new();
        let mut from = open + 1;
        while from < close {
            let comma = self.next_outside(from, |kind| kind == Kind::Comma);
            let to = comma.filter(|comma| *comma < close).unwrap_or(close);
            parts.push((from, to));
            from = to + 1;
        }
        parts
    }

    fn colon(&self, from: usize, to: usize) -> Option<usize> {
        self.next_outside(from, |kind| kind == Kind::Colon).filter(|colon| *colon < to)
    }

    /// The range of the places that a slice chooses, if it counts upwards.
    fn places(&self, array: &str, (from, to): (usize, usize)) -> Option<String> {
        let colon = self.colon(from, to)?;
        let second = self.colon(colon + 1, to);
        let bound = |from: usize, to: usize, absent: &str| {
            if from == to {
                return Some(absent.to_owned());
            }
            let text = self.quote(from, to)?;
            Some(match text.strip_prefix('-') {
                Some(behind) => format!("length {} - {}", argument(array), behind.trim()),
                None => text.to_owned(),
            })
        };
        let low = bound(from, colon, "0")?;
        let high = bound(colon + 1, second.unwrap_or(to), &format!("length {}", argument(array)))?;
        let step = match second {
            Some(second) if second + 1 < to => Some(self.quote(second + 1, to)?),
            _ => None,
        };
        match step {
            Some(step) if step.starts_with('-') => None,
            Some(step) => Some(format!("{low}..{high} by {step}")),
            None => Some(format!("{low}..{high}")),
        }
    }

    /// Where the value of an update ends that begins here.
    fn end_of_update(&self, from: usize) -> usize {
        let is_end = |kind| matches!(kind, Kind::With | Kind::CloseParen | Kind::CloseBrace);
        self.next_outside(from, is_end).unwrap_or(self.reading.kinds.len())
    }
}

/// A piece of text as an argument.
fn argument(text: &str) -> String {
    let is_word = text.chars().all(|letter| letter.is_alphanumeric() || "_.…".contains(letter));
    let mut depth = 0_usize;
    // Where the bracket is closed with which the text begins.
    let closed = text.find(|letter| {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    });
    if is_word || closed.is_some_and(|at| at > 0 && at + 1 == text.len()) {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// The values for places: where one number is given for all, as many.
fn values(text: &str, places: &str) -> String {
    match text.parse::<f64>() {
        Ok(_) => format!("{{ {text} : _ in {places} }}"),
        Err(_) => argument(text),
    }
}
