//! Arguments with names, statements and dictionaries: forms of other languages that this one lacks.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::{CLOSERS, Kind, OPENERS};
use crate::syntax::layout::Form;

/// What to write for an argument that has a name elsewhere.
const NAMED: [(&[&str], &str); 9] = [
    (
        &["axis", "dim", "dims"],
        "`sum m` and the like go along the rows; along the columns goes `sum (transpose m)`",
    ),
    (
        &[
            "title", "label", "xLabel", "yLabel", "xlabel", "ylabel", "logX", "logY", "xscale",
            "yscale",
        ],
        "a figure is a record: `{plot xs with title = \"…\", xLabel = \"…\"}`",
    ),
    (
        &["color", "colour", "marker", "linestyle", "figsize", "kind"],
        "`:doc plot` says what a figure has",
    ),
    (&["reverse", "descending", "ascending"], "in descending order sorts `sortDesc xs`"),
    (&["key", "by", "cmp"], "by a key sorts `sortBy (\\x -> …) xs`"),
    (
        &["ddof", "corrected"],
        "`std` and `variance` divide by n, `sampleStd` and `sampleVariance` by n - 1",
    ),
    (&["dtype"], "conversions are named after the type: `f32 xs`, `i64 xs`"),
    (&["bins"], "so many bars has `histogramBins 20 xs`"),
    (&["seed", "size", "n", "q", "initial", "init", "sep", "end", "columns", "on", "how"], ""),
];

const NO_NAMES: &str = "arguments have no names and stand one after the other: `f x y`";

impl Context<'_, '_> {
    /// `sum(m, axis=0)`, `sum m axis=0`.
    pub(super) fn named_argument(&self) -> Option<Diagnostic> {
        let equals = match self.found {
            Kind::Equals => self.at,
            // What looks like a definition fails before its `=`.
            _ if self.form == Form::Binding && self.kind(0) == Some(Kind::Name) => {
                self.reading.kinds.iter().position(|kind| *kind == Kind::Equals)?
            }
            _ => return None,
        };
        let name = equals.checked_sub(1)?;
        let word = self.reading.token_text(name);
        let is_name = word.starts_with(char::is_alphabetic);
        if name == 0 || !is_name || self.at > equals {
            return None;
        }
        let place = |token: usize| self.reading.span(token, token + 1);
        let is_tight =
            place(name).end == place(equals).start && place(equals).end == place(equals + 1).start;
        let known = NAMED.iter().find(|(words, _)| words.contains(&word));
        let before = self.kind(name - 1);
        let is_in_call = self.found == Kind::Equals
            && matches!(before, Some(Kind::Comma | Kind::OpenParen))
            && self.is_in_parentheses_of_call(name);
        if !(is_in_call || is_tight && known.is_some()) {
            return None;
        }
        let diagnostic = Diagnostic::error(
            "E0115",
            "arguments have no names",
            self.reading.span(name, equals + 1),
            "no argument is given by its name",
        );
        Some(match known {
            Some((_, help)) if !help.is_empty() => diagnostic.help(*help),
            _ => diagnostic.help(NO_NAMES),
        })
    }

    /// Whether a token stands in `f(…` or `x.f(…`, without a space before the bracket.
    fn is_in_parentheses_of_call(&self, token: usize) -> bool {
        let mut closed = 0;
        for (index, kind) in self.reading.kinds[..token].iter().enumerate().rev() {
            if CLOSERS.contains(*kind) {
                closed += 1;
            } else if OPENERS.contains(*kind) && closed > 0 {
                closed -= 1;
            } else if OPENERS.contains(*kind) {
                return *kind == Kind::OpenParen
                    && index > 0
                    && matches!(self.kind(index - 1), Some(Kind::Name | Kind::Field))
                    && self.reading.span(index - 1, index).end
                        == self.reading.span(index, index + 1).start;
            }
        }
        false
    }

    /// `while c: …`, `for x in xs: …`.
    pub(super) fn statement(&self) -> Option<Diagnostic> {
        let first = self.kind(0)?;
        let help = match first {
            Kind::While => {
                "a loop is an expression with a value: `loop x = 0 while x < 3 do x + 1`"
            }
            Kind::For => {
                "for each element is `{ e : x in xs }`, from left to right `loop s = 0 for x in xs do s + x`"
            }
            _ => return None,
        };
        let word = self.reading.token_text(0);
        let message = format!("no item begins with `{word}`");
        Some(
            Diagnostic::error("E0101", message, self.reading.span(0, 1), "there are no statements")
                .help(help),
        )
    }

    /// `{"a": 1}`, `{a: 1}`.
    pub(super) fn dictionary(&self) -> Option<Diagnostic> {
        let colon = if self.found == Kind::Colon { self.at } else { self.at.checked_sub(1)? };
        let key = colon.checked_sub(1)?;
        let is_key = matches!(self.kind(key), Some(Kind::Text | Kind::Name | Kind::Number));
        let opens = key.checked_sub(1).is_some_and(|open| self.reading.token_text(open) == "{");
        let is_value = matches!(
            self.kind(colon + 1)?,
            Kind::Number
                | Kind::Text
                | Kind::Char
                | Kind::True
                | Kind::False
                | Kind::OpenBracket
                | Kind::Numbers
        );
        let is_generator = self.kind(colon + 2) == Some(Kind::In);
        if self.kind(colon) != Some(Kind::Colon) || !is_key || !opens || !is_value || is_generator {
            return None;
        }
        let name = self.reading.token_text(key).trim_matches('"');
        let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_')
            && name.starts_with(|c: char| c.is_lowercase() || c == '_');
        let field = if is_word { name } else { "name" };
        let value = match self.reading.token_text(colon + 1) {
            text if text.len() < 20 && !text.starts_with('[') => text,
            _ => "…",
        };
        Some(
            Diagnostic::error(
                "E0101",
                "the value of a field follows `=`",
                self.reading.span(colon, colon + 1),
                "expected `=`",
            )
            .help(format!("a record has names for its fields: `{{{field} = {value}}}`")),
        )
    }
}
