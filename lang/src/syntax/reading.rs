//! What the grammar's actions read: the tokens of the item at hand, and their text.

use std::collections::HashMap;
use std::sync::Arc;

use weft_ir::{Name, ScalarType, SourceId, Span};

use super::kind::Kind;
use super::lexer::Place;
use super::literal::{number, text};
use crate::ast::{Expr, ExprKind, Ident, Number};
use crate::diagnostic::Diagnostic;

/// The item being parsed.
pub(super) struct Reading<'a> {
    /// Where the text is from.
    pub(super) source: SourceId,
    /// The whole source.
    pub(super) text: &'a str,
    /// The item's tokens.
    pub(super) kinds: &'a [Kind],
    /// Their places.
    pub(super) places: &'a [Place],
    /// The values of the bulk array literals, by their first byte.
    pub(super) numbers: &'a [(u32, Arc<[Number]>)],
    /// The names seen so far: a name is allocated once.
    pub(super) names: HashMap<&'a str, Name>,
}

impl<'a> Reading<'a> {
    /// The span of the tokens `start..end` of the item.
    pub(super) fn span(&self, start: usize, end: usize) -> Span {
        let place = |token: usize| self.places.get(token).or(self.places.last());
        let last = place(end.saturating_sub(1)).map_or(0, |place| place.end);
        let first = if start < end { place(start).map_or(0, |place| place.start) } else { last };
        Span { source: self.source, start: first, end: last }
    }

    /// The text of a token.
    pub(super) fn token_text(&self, token: usize) -> &'a str {
        self.places.get(token).map_or("", |place| &self.text[place.range()])
    }

    /// The text of a span.
    pub(super) fn span_text(&self, span: Span) -> &'a str {
        &self.text[span.range()]
    }

    /// The shared copy of a name.
    pub(super) fn name(&mut self, text: &'a str) -> Name {
        self.names.entry(text).or_insert_with(|| Name::from(text)).clone()
    }

    /// The identifier that a token is.
    pub(super) fn ident(&mut self, token: usize) -> Ident {
        Ident { name: self.name(self.token_text(token)), span: self.span(token, token + 1) }
    }

    /// The field that a token `.name` names.
    pub(super) fn field(&mut self, token: usize) -> Ident {
        let mut span = self.span(token, token + 1);
        span.start += 1;
        Ident { name: self.name(self.span_text(span)), span }
    }

    /// The expression that a single token is, and what is wrong with it.
    pub(super) fn literal(&mut self, token: usize) -> (Expr, Option<Diagnostic>) {
        let span = self.span(token, token + 1);
        let written = self.token_text(token);
        let mut finding = None;
        let kind = match self.kinds[token] {
            Kind::Number => match number::value(written) {
                Ok((value, ty)) => {
                    finding = self.check_range(value, ty, token);
                    ExprKind::Number(value, ty)
                }
                Err(_) => ExprKind::Error,
            },
            Kind::Numbers => {
                match self.numbers.binary_search_by_key(&span.start, |(start, _)| *start) {
                    Ok(index) => ExprKind::NumberArray(self.numbers[index].1.clone()),
                    Err(_) => ExprKind::Error,
                }
            }
            Kind::Char => text::character(written).map_or(ExprKind::Error, ExprKind::Char),
            Kind::Text => ExprKind::Text(text::decode(written).into()),
            Kind::True => ExprKind::Bool(true),
            Kind::False => ExprKind::Bool(false),
            Kind::Invalid => ExprKind::Error,
            _ => ExprKind::Name(self.name(written)),
        };
        (Expr { kind, span }, finding)
    }

    /// Whether a literal fits its suffix. Behind a minus, one more is allowed than without.
    fn check_range(
        &self,
        value: Number,
        ty: Option<ScalarType>,
        token: usize,
    ) -> Option<Diagnostic> {
        let (Number::Int(value), Some(ty)) = (value, ty) else { return None };
        let is_negated = token.checked_sub(1).is_some_and(|before| {
            matches!(self.kinds[before], Kind::PrefixMinus | Kind::ArgumentMinus)
        });
        let (value, first) = if is_negated { (-value, token - 1) } else { (value, token) };
        if number::fits(value, ty) {
            return None;
        }
        let span = self.span(first, token + 1);
        let problem = number::out_of_range(self.span_text(span), ty);
        Some(Diagnostic::error(problem.code, problem.message, span, problem.remark))
    }
}
