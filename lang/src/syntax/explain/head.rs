//! Failures in the part of an item that comes before its body: mostly habits from elsewhere.

use super::Context;
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
        Some(
            Diagnostic::error(
                "E0111",
                format!("`{word}` cannot be a name"),
                self.reading.span(0, 1),
                "a word of the language",
            )
            .help(format!("choose another name, such as `{word}'` or `{word}_`")),
        )
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
        let report = |message: &str, remark: &str, help: String| {
            Some(Diagnostic::error("E0122", message, head, remark).help(help))
        };
        if written.split_whitespace().any(|word| word == "where") {
            return report(
                "there is no `where`",
                "this looks like a local definition",
                "local names come first: `let x = … in …`".into(),
            );
        }
        match self.found {
            Kind::OpenIndex => report(
                "arrays do not change",
                "an element cannot be bound",
                format!("a copy with one element replaced: `({first} with [i] = v)`"),
            ),
            Kind::Field => report(
                "records do not change",
                "a field cannot be bound",
                format!(
                    "a copy with one field replaced: `{{{first} with {} = v}}`",
                    &self.word()[1..]
                ),
            ),
            Kind::Comma => report(
                "a tuple pattern needs parentheses",
                "several names",
                format!("write `({written}) = …`"),
            ),
            _ if matches!(first, "var" | "val" | "const" | "mut" | "auto" | "set" | "my") => {
                report(
                    "a binding has no keyword",
                    "a name and `=` are enough",
                    format!("write `{} = …`", self.reading.span_text(self.reading.span(1, equals))),
                )
            }
            _ if matches!(first, "fn" | "fun" | "func" | "function" | "define" | "proc") => report(
                "a function is defined by `def`",
                "not a pattern",
                format!("write `def {} = …`", self.reading.span_text(self.reading.span(1, equals))),
            ),
            Kind::Name | Kind::Wildcard | Kind::OpenParen | Kind::OpenBrace
                if self.kind(0) == Some(Kind::Name) =>
            {
                report(
                    "a function is defined by `def`",
                    "this looks like a function with its parameters",
                    format!("write `def {} = …`", parameters(written)),
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

    /// The head of a `def`.
    pub(super) fn head(&self) -> Option<Diagnostic> {
        let equals = self.reading.kinds.iter().position(|kind| *kind == Kind::Equals);
        if self.form != Form::Def || equals.is_some_and(|equals| self.at > equals) {
            return None;
        }
        let is_in_parameters = self.expects(Kind::Equals) || self.expects(Kind::Wildcard);
        let colon = self.reading.kinds[..self.at].iter().rposition(|kind| *kind == Kind::Colon);
        let ends_in_colon = self.found == Kind::Colon || (equals.is_none() && colon.is_some());
        if ends_in_colon || self.found == Kind::Arrow && is_in_parameters {
            let end = colon.filter(|_| self.found != Kind::Arrow).unwrap_or(self.at);
            let head = self.reading.span_text(self.reading.span(1, end));
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
        Some((name, rest))
            if let Some(inner) = rest.strip_suffix(')')
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
