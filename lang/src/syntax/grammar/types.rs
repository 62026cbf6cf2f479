//! Types as written: `[n]t`, `(t, u)`, `{x: t}`, `t -> u`, `seq t`, `window2 t`.

use chumsky::prelude::{IterParser, Parser, choice, recursive};
use weft_ir::Span;

use super::{Here, Parse, here_span, just, name, one_of};
use crate::ast::{Number, Size, TypeExpr, TypeExprKind};
use crate::diagnostic::Diagnostic;
use crate::syntax::failure::Failure;
use crate::syntax::kind::{Kind, KindSet, NAMES};
use crate::syntax::literal::number;

/// What stands before an element type.
enum Prefix {
    Array(Option<Size>),
    Seq,
    Window(u8),
}

/// A type.
pub(super) fn ty<'a>() -> Parse<'a, TypeExpr> {
    recursive(|ty| {
        let prefix = choice((array(), word())).map_with(|prefix, here| (prefix, here_span(here)));
        let prefixed = prefix
            .repeated()
            .collect::<Vec<_>>()
            .then(choice((alias(), tuple(ty.clone().boxed()), record(ty.boxed()))))
            .map(|(prefixes, atom)| prefixes.into_iter().rev().fold(atom, wrap))
            .boxed();
        prefixed.clone().then(just(Kind::Arrow).ignore_then(prefixed).repeated().collect()).map(
            |(first, rest): (TypeExpr, Vec<TypeExpr>)| {
                let mut types = std::iter::once(first).chain(rest).rev();
                let last = types.next();
                last.into_iter().chain(types).reduce(function).unwrap_or_else(unit)
            },
        )
    })
    .boxed()
}

fn wrap(element: TypeExpr, (prefix, start): (Prefix, Span)) -> TypeExpr {
    let span = start.to(element.span);
    let element = Box::new(element);
    let kind = match prefix {
        Prefix::Array(size) => TypeExprKind::Array(size, element),
        Prefix::Seq => TypeExprKind::Seq(element),
        Prefix::Window(rank) => TypeExprKind::Window(rank, element),
    };
    TypeExpr { kind, span }
}

fn function(result: TypeExpr, parameter: TypeExpr) -> TypeExpr {
    let span = parameter.span.to(result.span);
    TypeExpr { kind: TypeExprKind::Function(Box::new(parameter), Box::new(result)), span }
}

fn unit() -> TypeExpr {
    TypeExpr { kind: TypeExprKind::Tuple(Vec::new()), span: Span::default() }
}

/// `[]`, `[n]`, `[3]`.
fn array<'a>() -> Parse<'a, Prefix> {
    let size = choice((name().map(Some).map(|name| name.map(Size::Name)), constant()));
    one_of(KindSet::of(&[Kind::OpenBracket, Kind::OpenIndex]))
        .ignore_then(size.or_not())
        .then_ignore(just(Kind::CloseBracket))
        .map(|size| Prefix::Array(size.flatten()))
        .boxed()
}

/// A constant size; `None` if it is no whole number, which is reported.
fn constant<'a>() -> Parse<'a, Option<Size>> {
    just(Kind::Number)
        .map_with(|_, here: &mut Here<'a, '_>| {
            let span = here_span(here);
            match number::value(here.state().0.span_text(span)) {
                Ok((Number::Int(value), None)) if let Ok(value) = i64::try_from(value) => {
                    Some(Size::Constant(value, span))
                }
                _ => {
                    let message = "a size is a whole number";
                    here.emit(Failure::finding(
                        Diagnostic::error("E0108", message, span, "not a size")
                            .help("an array type is `[]t`, `[n]t` or `[3]t`"),
                    ));
                    None
                }
            }
        })
        .boxed()
}

/// `seq`, `window1`, `window2`, `window3`.
fn word<'a>() -> Parse<'a, Prefix> {
    just(Kind::TypeWord)
        .map_with(|_, here: &mut Here<'a, '_>| {
            let token = here.span().start;
            match here.state().0.token_text(token) {
                "window1" => Prefix::Window(1),
                "window2" => Prefix::Window(2),
                "window3" => Prefix::Window(3),
                _ => Prefix::Seq,
            }
        })
        .boxed()
}

fn alias<'a>() -> Parse<'a, TypeExpr> {
    just(Kind::Name)
        .map_with(|_, here: &mut Here<'a, '_>| {
            let token = here.span().start;
            let name = here.state().0.ident(token);
            TypeExpr { kind: TypeExprKind::Name(name.name), span: name.span }
        })
        .boxed()
}

/// `()`, `(t)`, `(t, u)`.
fn tuple<'a>(ty: Parse<'a, TypeExpr>) -> Parse<'a, TypeExpr> {
    ty.separated_by(just(Kind::Comma))
        .collect::<Vec<_>>()
        .delimited_by(just(Kind::OpenParen), just(Kind::CloseParen))
        .map_with(|mut parts, here| {
            let span = here_span(here);
            match parts.pop() {
                Some(only) if parts.is_empty() => TypeExpr { kind: only.kind, span },
                last => {
                    parts.extend(last);
                    TypeExpr { kind: TypeExprKind::Tuple(parts), span }
                }
            }
        })
        .boxed()
}

/// `{x: t, y: u}`.
fn record<'a>(ty: Parse<'a, TypeExpr>) -> Parse<'a, TypeExpr> {
    one_of(NAMES)
        .map_with(|_, here: &mut Here<'a, '_>| {
            let token = here.span().start;
            here.state().0.ident(token)
        })
        .then_ignore(just(Kind::Colon))
        .then(ty)
        .separated_by(just(Kind::Comma))
        .allow_trailing()
        .collect::<Vec<_>>()
        .delimited_by(just(Kind::OpenBrace), just(Kind::CloseBrace))
        .map_with(|fields, here| TypeExpr {
            kind: TypeExprKind::Record(fields),
            span: here_span(here),
        })
        .boxed()
}
