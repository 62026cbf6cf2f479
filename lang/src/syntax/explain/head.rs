//! Failures in the part of an item that comes before its body: mostly habits from elsewhere.

use super::{Context, replaced};
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::{BINARY, Kind};
use crate::syntax::layout::Form;

impl Context<'_, '_> {
    /// `by = 3`: a word of the language where a name is bound.
    pub(super) fn bound_keyword(&self) -> Option<Diagnostic> {
        let first = self.kind(0)?;
        let word = self.reading.token_text(0);
        let is_word = word.starts_with(char::is_alphabetic) && first != Kind::Name;
        if !is_word || self.kind(1) != Some(Kind::Equals) || self.at > 1 {
            return None;
        }
        Some(self.no_name(0))
    }

    /// `inf = 3` on a line of a `let` behind another binding: a constant where a name is bound.
    pub(super) fn bound_constant(&self) -> Option<Diagnostic> {
        let place = self.at.checked_sub(1)?;
        let is_word = self.reading.token_text(place).starts_with(char::is_alphabetic);
        let is_constant =
            matches!(self.kind(place), Some(Kind::Number | Kind::True | Kind::False)) && is_word;
        (is_constant && self.begins_line(place)).then(|| self.no_name(place))
    }

    /// A word of the language where a name is bound.
    pub(super) fn no_name(&self, place: usize) -> Diagnostic {
        let word = self.reading.token_text(place);
        Diagnostic::error(
            "E0111",
            format!("`{word}` cannot be a name"),
            self.reading.span(place, place + 1),
            "a word of the language",
        )
        .help(match self.kind(place) {
            Some(Kind::For | Kind::While)
                if self.kind(place.wrapping_sub(1)) == Some(Kind::Loop) =>
            {
                let head = match self.kind(place) {
                    Some(Kind::For) => "for x in xs",
                    _ => "while s < 100",
                };
                format!("a loop has a state, whose last value it yields: `loop s = 0 {head} do …`")
            }
            _ => format!("choose another name, such as `{word}'` or `{word}_`"),
        })
    }

    /// `a[i] = v`, `f x = e`, `a, b = e`, `var x = e`: not what a binding looks like.
    pub(super) fn assignment(&self) -> Option<Diagnostic> {
        let equals = self.reading.kinds.iter().position(|kind| *kind == Kind::Equals)?;
        if self.form != Form::Binding || self.at >= equals {
            return None;
        }
        let head = self.reading.span(0, equals);
        let written = self.reading.span_text(head);
        let first = self.reading.token_text(0);
        let value = self.quote_or_dots(equals + 1, self.end_of_text());
        let report = |message: &str, remark: &str, help: String| {
            Some(Diagnostic::error("E0122", message, head, remark).help(help))
        };
        match self.found {
            Kind::Field => report(
                "records do not change",
                "a field cannot be bound",
                format!(
                    "a record with this field, and the others of `{first}`: `{{..{first}, {} = {value}}}`",
                    &self.word()[1..]
                ),
            ),
            Kind::Comma => report(
                "a tuple pattern needs parentheses",
                "several names",
                match self.next_outside(equals + 1, |kind| kind == Kind::Comma) {
                    Some(_) => format!("write `({written}) = ({value})`"),
                    None => format!("write `({written}) = {value}`"),
                },
            ),
            _ if matches!(first, "fn" | "fun" | "func" | "function" | "define" | "proc") => report(
                "a function is defined by `def`",
                "not a pattern",
                format!(
                    "write `def {} = {value}`",
                    parameters(self.reading.span_text(self.reading.span(1, equals)))
                ),
            ),
            Kind::Name | Kind::Wildcard | Kind::OpenParen | Kind::OpenBrace
                if self.kind(0) == Some(Kind::Name) =>
            {
                report(
                    "a function is defined by `def`",
                    "this looks like a function with its parameters",
                    format!("write `def {} = {value}`", parameters(written)),
                )
            }
            Kind::Number | Kind::Text | Kind::Char | Kind::True | Kind::False
                if self.kind(0) == Some(Kind::OpenParen) =>
            {
                let before = self.reading.span_text(self.reading.span(0, self.at));
                let behind = self.reading.span_text(self.reading.span(self.at + 1, equals));
                let space = if before.ends_with(',') { " " } else { "" };
                Some(
                    Diagnostic::error(
                        "E0121",
                        "a pattern holds no values",
                        self.span,
                        "a value stands here",
                    )
                    .help(format!(
                        "a part that is not looked at is `_`: `{before}{space}_{behind} = {value}`"
                    )),
                )
            }
            _ if BINARY.contains(self.found) || self.kind(0) != Some(Kind::Name) => Some(
                Diagnostic::error(
                    "E0121",
                    "only a pattern can be bound",
                    head,
                    "not a name, `_`, or a tuple or record of patterns",
                )
                .help("equality is `==`"),
            ),
            _ => None,
        }
    }

    /// `a[i] = v`, `a[i, j] = v`, `a[i][j] += v`, `a[i:j] = v`.
    pub(super) fn changed_element(&self) -> Option<Diagnostic> {
        let equals = self.next_outside(0, |kind| kind == Kind::Equals)?;
        if self.form != Form::Binding
            || self.found != Kind::OpenIndex
            || self.kind(equals.wrapping_sub(1)) != Some(Kind::CloseBracket)
            || self.kind(0) != Some(Kind::Name)
            || self.at != 1
        {
            return None;
        }
        let head = self.reading.span(0, equals);
        let array = self.reading.token_text(0);
        let end = self.reading.kinds.len();
        let is_open = |token: &usize| self.kind(*token) == Some(Kind::OpenIndex);
        let indices: Vec<&str> = (self.at..equals)
            .filter(is_open)
            .map(|open| self.quote(open + 1, self.close_of(open)).unwrap_or("i"))
            .collect();
        let value = self.quote(equals + 1, end).unwrap_or("v");
        let value = match self.reading.token_text(equals).strip_suffix('=') {
            Some("") | Some(":") | None => value.to_owned(),
            Some(symbol) => format!("{} {symbol} {value}", self.quote_or_dots(0, equals)),
        };
        let field = indices.first().and_then(|index| index.strip_prefix('"')?.strip_suffix('"'));
        let help = match field {
            Some(field) if indices.len() == 1 => format!(
                "a table with this column, and the others of `{array}`: `{{..{array}, {field} = {value}}}`"
            ),
            _ => {
                let what = replaced(self.reading.kinds[self.at..equals].contains(&Kind::Colon));
                let indices = indices.join(", ");
                format!("a copy with {what} replaced: `({array} with [{indices}] = {value})`")
            }
        };
        Some(
            Diagnostic::error("E0122", "arrays do not change", head, "an element cannot be bound")
                .help(help),
        )
    }

    /// The head of a `def`.
    pub(super) fn head(&self) -> Option<Diagnostic> {
        let equals = self.reading.kinds.iter().position(|kind| *kind == Kind::Equals);
        if self.form != Form::Def || equals.is_some_and(|equals| self.at > equals) {
            return None;
        }
        let is_in_parameters = self.expects(Kind::Equals) || self.expects(Kind::Wildcard);
        if self.found == Kind::Arrow && is_in_parameters {
            let head = self.reading.span_text(self.reading.span(1, self.at));
            return Some(
                Diagnostic::error(
                    "E0122",
                    "the body of a function follows `=`",
                    self.span,
                    "expected `=`",
                )
                .help(format!("write `def {} = …`", parameters(head))),
            );
        }
        if self.found == Kind::Comma && is_in_parameters {
            return Some(
                Diagnostic::error(
                    "E0122",
                    "parameters are separated by spaces",
                    self.span,
                    "no comma here",
                )
                .help("write `def f x y = …`"),
            );
        }
        None
    }
}

/// The head `f(x, y)` as `f x y`.
fn parameters(head: &str) -> String {
    let is_simple = |character: char| {
        character.is_alphanumeric() || matches!(character, '_' | '\'' | ',' | ' ')
    };
    match head.split_once('(') {
        // With a space before them they are a tuple.
        Some((name, rest))
            if let Some(inner) = rest.strip_suffix(')')
                && !name.ends_with(' ')
                && inner.chars().all(is_simple) =>
        {
            format!(
                "{} {}",
                name.trim(),
                inner.replace(',', " ").split_whitespace().collect::<Vec<_>>().join(" ")
            )
        }
        _ => head.trim().into(),
    }
}
