//! Apply-to-each in the brackets of arrays, or with a pair without parentheses, and `in` as a question.

use super::Context;
use crate::diagnostic::Diagnostic;
use crate::syntax::kind::Kind;

impl Context<'_, '_> {
    /// `[x * x : x in xs]`.
    pub(super) fn each_in_brackets(&self) -> Option<Diagnostic> {
        let open = self.open_before(self.at)?;
        let close = self.close_of(open);
        let inside = self.next_outside(self.at, |kind| kind == Kind::In)?;
        let is_it = self.found == Kind::Colon
            && self.kind(open) == Some(Kind::OpenBracket)
            && inside < close;
        if !is_it {
            return None;
        }
        let body = self.quote_or_dots(open + 1, self.at);
        let rest = self.quote_or_dots(self.at + 1, close);
        let message = "an apply-to-each stands in braces";
        let span = self.reading.span(open, open + 1);
        let help = format!("write `{{ {body} : {rest} }}`");
        Some(Diagnostic::error("E0101", message, span, "expected `{`").help(help))
    }

    /// `{ x : x <- xs }`.
    pub(super) fn each_with_arrow(&self) -> Option<Diagnostic> {
        let open = self.open_before(self.at)?;
        let close = self.close_of(open);
        let colon = self.next_outside(open + 1, |kind| kind == Kind::Colon)?;
        let arrow = self.arrow(colon + 1, close)?;
        if self.reading.token_text(open) != "{" || self.found == Kind::In {
            return None;
        }
        let body = self.quote_or_dots(open + 1, colon);
        let pattern = self.quote_or_dots(colon + 1, arrow);
        let rest = self.quote_or_dots(arrow + 2, close);
        let span = self.reading.span(arrow, arrow + 2);
        let help = format!("write `{{ {body} : {pattern} in {rest} }}`");
        let message = "what is gone through stands behind `in`";
        Some(Diagnostic::error("E0101", message, span, "expected `in`").help(help))
    }

    /// `{ x, y : x in xs ; y in ys }`.
    pub(super) fn pair_in_braces(&self) -> Option<Diagnostic> {
        let open = self.open_before(self.at)?;
        let close = self.close_of(open);
        let colon = self.next_outside(self.at, |kind| kind == Kind::Colon)?;
        let inside = self.next_outside(colon, |kind| kind == Kind::In)?;
        let is_brace = matches!(
            self.kind(open),
            Some(Kind::OpenBrace | Kind::OpenComprehension | Kind::OpenFilter)
        );
        // What begins like a record of names goes on with `:` alone.
        let is_place = self.is_after_operand() || self.expects(Kind::Colon);
        let is_it = self.found == Kind::Comma && is_brace && is_place && inside < close;
        if !is_it {
            return None;
        }
        let body = self.quote_or_dots(open + 1, colon);
        let rest = self.quote_or_dots(colon + 1, close);
        let message = "several values for each element are a tuple";
        let help = format!("write `{{ ({body}) : {rest} }}`");
        Some(Diagnostic::error("E0101", message, self.span, "expected `:`").help(help))
    }

    /// `3 in xs`.
    pub(super) fn membership(&self) -> Option<Diagnostic> {
        if self.found != Kind::In || !self.is_after_operand() {
            return None;
        }
        let binds = |kind: &Kind| {
            matches!(kind, Kind::Let | Kind::For | Kind::Loop | Kind::Colon | Kind::Bar)
        };
        if self.reading.kinds[..self.at].iter().any(binds) {
            return None;
        }
        let element = self.at.checked_sub(1)?;
        let is_atom = |token: usize| {
            matches!(
                self.kind(token),
                Some(
                    Kind::Name | Kind::Number | Kind::Text | Kind::Char | Kind::True | Kind::False
                )
            )
        };
        let array = self.at + 1;
        let end = match self.kind(array)? {
            Kind::OpenBracket | Kind::OpenParen => self.close_of(array) + 1,
            _ if is_atom(array) => array + 1,
            _ => return None,
        };
        if !is_atom(element) {
            return None;
        }
        let (x, xs) = (self.quote(element, self.at)?, self.quote_or_dots(array, end));
        let help = match self.kind(element) {
            Some(Kind::Text) => format!(
                "whether a text stands in an array of texts says `any (same {x} {xs})`, whether it is a part of a \
                 text `contains {x} {xs}`"
            ),
            _ if x == "nan" => {
                format!(
                    "nan is equal to nothing; whether one stands in an array says `any (isNan {xs})`"
                )
            }
            _ => format!("whether an element stands in an array says `any ({xs} == {x})`"),
        };
        let message = "`in` is no question";
        let remark = "it stands before what is gone through";
        Some(Diagnostic::error("E0101", message, self.span, remark).help(help))
    }
}
