//! Patterns: names, `_`, tuples, records, `(p : type)`.

use chumsky::prelude::{IterParser, Parser, choice, recursive};

use super::{Parse, annotation, here_span, just, name, typed};
use crate::ast::{Pattern, PatternKind, TypeExpr};
use crate::syntax::kind::Kind;

/// A pattern.
pub(super) fn pattern<'a>(ty: Parse<'a, TypeExpr>) -> Parse<'a, Pattern> {
    recursive(|pattern| {
        let pattern = pattern.boxed();
        choice((variable(), wildcard(), tuple(pattern.clone(), ty), record(pattern)))
    })
    .boxed()
}

fn variable<'a>() -> Parse<'a, Pattern> {
    name().map(|name| Pattern { kind: PatternKind::Name(name.name), span: name.span }).boxed()
}

fn wildcard<'a>() -> Parse<'a, Pattern> {
    just(Kind::Wildcard)
        .map_with(|_, here| Pattern { kind: PatternKind::Wildcard, span: here_span(here) })
        .boxed()
}

/// `()`, `(p)`, `(p : t)`, `(p, q)`.
fn tuple<'a>(pattern: Parse<'a, Pattern>, ty: Parse<'a, TypeExpr>) -> Parse<'a, Pattern> {
    pattern
        .then(annotation(ty))
        .map(|(pattern, ty)| typed(pattern, ty))
        .separated_by(just(Kind::Comma))
        .collect::<Vec<_>>()
        .delimited_by(just(Kind::OpenParen), just(Kind::CloseParen))
        .map_with(|mut parts, here| {
            let span = here_span(here);
            match parts.pop() {
                Some(only) if parts.is_empty() => Pattern { kind: only.kind, span },
                last => {
                    parts.extend(last);
                    Pattern { kind: PatternKind::Tuple(parts), span }
                }
            }
        })
        .boxed()
}

/// `{x, y = p}`.
fn record<'a>(pattern: Parse<'a, Pattern>) -> Parse<'a, Pattern> {
    name()
        .then(just(Kind::Equals).ignore_then(pattern).or_not())
        .map(|(field, pattern)| {
            let pattern = pattern.unwrap_or_else(|| Pattern {
                kind: PatternKind::Name(field.name.clone()),
                span: field.span,
            });
            (field, pattern)
        })
        .separated_by(just(Kind::Comma))
        .allow_trailing()
        .at_least(1)
        .collect::<Vec<_>>()
        .delimited_by(just(Kind::OpenBrace), just(Kind::CloseBrace))
        .map_with(|fields, here| Pattern {
            kind: PatternKind::Record(fields),
            span: here_span(here),
        })
        .boxed()
}
