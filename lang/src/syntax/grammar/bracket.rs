//! What stands in brackets: tuples, sections, annotations, updates, arrays, records and
//! apply-to-each.

use chumsky::prelude::{IterParser, Parser, choice};
use weft_ir::{Name, Span};

use super::expression::{axis, record_field};
use super::{Here, Parse, Stops, element, here_span, just, one_of};
use crate::ast::{
    ApplyForm, Axis, Expr, ExprKind, Ident, Pattern, PatternKind, RecordPart, TypeExpr,
};
use crate::diagnostic::Diagnostic;
use crate::syntax::failure::Failure;
use crate::syntax::kind::{BINARY, Kind};
use crate::syntax::operator::{Associativity, apply, from_spelling, function, precedence};

/// The parameter of a section; no program can name it.
const PARAMETER: &str = "$";

/// Everything in parentheses.
pub(super) fn paren<'a>(expr: Parse<'a, Expr>, ty: Parse<'a, TypeExpr>) -> Parse<'a, Expr> {
    just(Kind::OpenParen)
        .ignore_then(choice((
            unit(),
            operator(expr.clone()),
            not_operator(),
            field_section(),
            grouped(expr, ty),
        )))
        .map_with(|mut expr, here| {
            expr.span = here_span(here);
            expr
        })
        .boxed()
}

/// `[a, b, c]`.
pub(super) fn array<'a>(expr: Parse<'a, Expr>) -> Parse<'a, Expr> {
    const ENDS: Stops = Stops::before(&[Kind::Comma, Kind::CloseBracket]);
    element(expr, ENDS)
        .separated_by(just(Kind::Comma))
        .allow_trailing()
        .collect()
        .delimited_by(just(Kind::OpenBracket), just(Kind::CloseBracket))
        .map_with(|elements, here| Expr { kind: ExprKind::Array(elements), span: here_span(here) })
        .boxed()
}

/// Everything in braces.
pub(super) fn brace<'a>(expr: Parse<'a, Expr>, pattern: Parse<'a, Pattern>) -> Parse<'a, Expr> {
    choice((
        record(expr.clone()),
        update(expr.clone()),
        comprehension(expr.clone(), pattern.clone()),
        filter(expr, pattern),
    ))
    .map_with(|kind, here| Expr { kind, span: here_span(here) })
    .boxed()
}

fn unit<'a>() -> Parse<'a, Expr> {
    just(Kind::CloseParen)
        .map(|_| Expr { kind: ExprKind::Tuple(Vec::new()), span: Span::default() })
        .boxed()
}

/// `(+)`, `(* 2)`.
fn operator<'a>(expr: Parse<'a, Expr>) -> Parse<'a, Expr> {
    const ENDS: Stops = Stops::before(&[Kind::CloseParen]);
    one_of(BINARY)
        .map_with(|kind, here| (kind, here_span(here)))
        .then(choice((just(Kind::CloseParen).map(|_| None), section_operand(expr, ENDS))))
        .map_with(|((kind, span), operand), here: &mut Here<'a, '_>| {
            if !is_function(kind) {
                here.emit(Failure::finding(no_section(kind, span)));
                return Expr { kind: ExprKind::Error, span };
            }
            match operand {
                None => function(kind, span),
                Some(operand) => {
                    check_section(kind, span, &operand, Side::Right, here);
                    let left = parameter(span);
                    section(span, apply(kind, span, left, operand))
                }
            }
        })
        .boxed()
}

fn section_operand<'a>(expr: Parse<'a, Expr>, ends: Stops) -> Parse<'a, Option<Expr>> {
    element(expr, ends).then_ignore(just(Kind::CloseParen)).map(Some).boxed()
}

/// `(!)`.
fn not_operator<'a>() -> Parse<'a, Expr> {
    just(Kind::PrefixNot)
        .then_ignore(just(Kind::CloseParen))
        .map_with(|_, here| Expr { kind: ExprKind::Name(Name::from("not")), span: here_span(here) })
        .boxed()
}

/// `(.x.y)`.
fn field_section<'a>() -> Parse<'a, Expr> {
    just(Kind::Field)
        .map_with(|_, here: &mut Here<'a, '_>| {
            let token = here.span().start;
            here.state().0.field(token)
        })
        .repeated()
        .at_least(1)
        .collect::<Vec<Ident>>()
        .then_ignore(just(Kind::CloseParen))
        .map_with(|fields, here| {
            let span = here_span(here);
            let body = fields.into_iter().fold(parameter(span), |record, field| {
                let span = field.span;
                Expr { kind: ExprKind::Field { record: Box::new(record), field }, span }
            });
            section(span, body)
        })
        .boxed()
}

/// What may follow the first expression in parentheses.
enum Tail {
    Nothing,
    Section(Span),
    Tuple(Vec<Expr>),
    Typed(TypeExpr),
    With(Vec<(Vec<Axis>, Expr)>),
}

/// `(e)`, `(a, b)`, `(e : t)`, `(2 *)`, `(a with [i] = v)`.
fn grouped<'a>(expr: Parse<'a, Expr>, ty: Parse<'a, TypeExpr>) -> Parse<'a, Expr> {
    const FIRST_ENDS: Stops = Stops::before(&[
        Kind::CloseParen,
        Kind::Comma,
        Kind::Colon,
        Kind::With,
        Kind::TrailingOperator,
    ]);
    const PART_ENDS: Stops = Stops::before(&[Kind::Comma, Kind::CloseParen]);
    const VALUE_ENDS: Stops = Stops::before(&[Kind::With, Kind::CloseParen]);
    let section = just(Kind::TrailingOperator).map_with(|_, here| Tail::Section(here_span(here)));
    let tuple = just(Kind::Comma)
        .ignore_then(
            element(expr.clone(), PART_ENDS)
                .separated_by(just(Kind::Comma))
                .allow_trailing()
                .at_least(1)
                .collect(),
        )
        .map(Tail::Tuple);
    let typed = just(Kind::Colon).ignore_then(ty).map(Tail::Typed);
    let axes = axis(expr.clone())
        .separated_by(just(Kind::Comma))
        .at_least(1)
        .collect()
        .delimited_by(just(Kind::OpenBracket), just(Kind::CloseBracket));
    let with = just(Kind::With)
        .ignore_then(axes)
        .then_ignore(just(Kind::Equals))
        .then(element(expr.clone(), VALUE_ENDS))
        .repeated()
        .at_least(1)
        .collect()
        .map(Tail::With);
    let tail = choice((section, tuple, typed, with)).boxed().or_not();
    element(expr, FIRST_ENDS)
        .then(tail.map(|tail| tail.unwrap_or(Tail::Nothing)))
        .then_ignore(just(Kind::CloseParen))
        .map_with(|(first, tail), here: &mut Here<'a, '_>| group(first, tail, here))
        .boxed()
}

fn group<'a>(first: Expr, tail: Tail, here: &mut Here<'a, '_>) -> Expr {
    let span = first.span;
    match tail {
        Tail::Nothing => first,
        Tail::Section(span) => {
            let kind = from_spelling(here.state().0.span_text(span)).unwrap_or(Kind::Range);
            if !is_function(kind) {
                here.emit(Failure::finding(no_section(kind, span)));
                return Expr { kind: ExprKind::Error, span };
            }
            check_section(kind, span, &first, Side::Left, here);
            section(span, apply(kind, span, first, parameter(span)))
        }
        Tail::Tuple(rest) => {
            let parts = std::iter::once(first).chain(rest).collect();
            Expr { kind: ExprKind::Tuple(parts), span }
        }
        Tail::Typed(ty) => Expr { kind: ExprKind::Typed(Box::new(first), ty), span },
        Tail::With(updates) => updates.into_iter().fold(first, |array, (axes, value)| {
            let span = array.span.to(value.span);
            let (array, value) = (Box::new(array), Box::new(value));
            Expr { kind: ExprKind::With { array, axes, value }, span }
        }),
    }
}

/// On which side of the operator a section's operand stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// `(a + b *)` is not `(a + b) * x`: a section's operand must bind tighter than its operator.
fn check_section<'a>(
    kind: Kind,
    operator: Span,
    operand: &Expr,
    side: Side,
    here: &mut Here<'a, '_>,
) {
    let reading = &here.state().0;
    let root = match &operand.kind {
        ExprKind::Apply { function, args, .. } if args.len() == 2 => {
            let is_infix =
                args[0].span.end <= function.span.start && operand.span.start == args[0].span.start;
            is_infix.then(|| from_spelling(reading.span_text(function.span))).flatten()
        }
        ExprKind::Apply { args, form: ApplyForm::Pipe, .. } if args.len() == 1 => {
            let is_bare =
                operand.span.start == args[0].span.start || operand.span.end == args[0].span.end;
            is_bare.then_some(Kind::PipeRight)
        }
        ExprKind::Range { start, .. } => {
            (operand.span.start == start.span.start).then_some(Kind::Range)
        }
        _ => None,
    };
    let Some(root) = root else { return };
    let (outer, associativity) = precedence(kind);
    let (inner, _) = precedence(root);
    let continues = match side {
        Side::Left => associativity == Associativity::Left,
        Side::Right => associativity == Associativity::Right,
    };
    if inner > outer || (inner == outer && continues) {
        return;
    }
    let (section, root) =
        (kind.spelling().unwrap_or_default(), root.spelling().unwrap_or_default());
    let fix = match side {
        Side::Left => "((…) op)",
        Side::Right => "(op (…))",
    };
    here.emit(Failure::finding(
        Diagnostic::error(
            "E0123",
            format!("`{section}` binds tighter than `{root}`, so this is no section"),
            operator,
            "the section's operator",
        )
        .label(operand.span, "its operand")
        .help(format!("put the operand in parentheses: `{}`", fix.replace("op", section))),
    ));
}

/// Whether the operator is a function, so that it has sections.
fn is_function(kind: Kind) -> bool {
    !matches!(kind, Kind::Range | Kind::By)
}

fn no_section(kind: Kind, span: Span) -> Diagnostic {
    let spelling = kind.spelling().unwrap_or_default();
    Diagnostic::error("E0123", format!("`{spelling}` has no section"), span, "not a function")
        .help("a range needs both ends: `\\n -> 0..n`")
}

fn parameter(span: Span) -> Expr {
    Expr { kind: ExprKind::Name(Name::from(PARAMETER)), span }
}

fn section(span: Span, body: Expr) -> Expr {
    let params = vec![Pattern { kind: PatternKind::Name(Name::from(PARAMETER)), span }];
    Expr { kind: ExprKind::Lambda { params, body: Box::new(body) }, span }
}

/// `{x = 1, y, ..r}`.
fn record<'a>(expr: Parse<'a, Expr>) -> Parse<'a, ExprKind> {
    const ENDS: Stops = Stops::before(&[Kind::Comma, Kind::CloseBrace]);
    let field = record_field(expr.clone()).map(|(field, value)| RecordPart::Field(field, value));
    let spread = just(Kind::Range).ignore_then(element(expr, ENDS)).map(RecordPart::Spread);
    choice((field, spread))
        .separated_by(just(Kind::Comma))
        .allow_trailing()
        .at_least(1)
        .collect()
        .delimited_by(just(Kind::OpenBrace), just(Kind::CloseBrace))
        .map(ExprKind::Record)
        .boxed()
}

/// `{r with x = 3}`.
fn update<'a>(expr: Parse<'a, Expr>) -> Parse<'a, ExprKind> {
    just(Kind::OpenUpdate)
        .ignore_then(element(expr.clone(), Stops::before(&[Kind::With])))
        .then_ignore(just(Kind::With))
        .then(
            record_field(expr)
                .separated_by(just(Kind::Comma))
                .allow_trailing()
                .at_least(1)
                .collect(),
        )
        .then_ignore(just(Kind::CloseBrace))
        .map(|(record, fields)| ExprKind::RecordUpdate { record: Box::new(record), fields })
        .boxed()
}

/// `{ e : p in xs ; q in ys | cond }`.
fn comprehension<'a>(expr: Parse<'a, Expr>, pattern: Parse<'a, Pattern>) -> Parse<'a, ExprKind> {
    just(Kind::OpenComprehension)
        .ignore_then(element(expr.clone(), Stops::before(&[Kind::Colon])))
        .then_ignore(just(Kind::Colon))
        .then(generators(expr.clone(), pattern))
        .then(condition(expr))
        .then_ignore(just(Kind::CloseBrace))
        .map(|((body, generators), filter)| ExprKind::Comprehension {
            body: Box::new(body),
            generators,
            filter,
        })
        .boxed()
}

/// `{ p in xs | cond }`.
fn filter<'a>(expr: Parse<'a, Expr>, pattern: Parse<'a, Pattern>) -> Parse<'a, ExprKind> {
    just(Kind::OpenFilter)
        .ignore_then(generators(expr.clone(), pattern))
        .then(condition(expr))
        .then_ignore(just(Kind::CloseBrace))
        .map_with(|(generators, filter), here: &mut Here<'a, '_>| {
            let body = Box::new(filtered_element(&generators, here));
            ExprKind::Comprehension { body, generators, filter }
        })
        .boxed()
}

fn generators<'a>(
    expr: Parse<'a, Expr>,
    pattern: Parse<'a, Pattern>,
) -> Parse<'a, Vec<(Pattern, Expr)>> {
    const ENDS: Stops = Stops::before(&[Kind::Semicolon, Kind::Bar, Kind::CloseBrace]);
    pattern
        .then_ignore(just(Kind::In))
        .then(element(expr, ENDS))
        .separated_by(just(Kind::Semicolon))
        .at_least(1)
        .collect()
        .boxed()
}

fn condition<'a>(expr: Parse<'a, Expr>) -> Parse<'a, Option<Box<Expr>>> {
    just(Kind::Bar)
        .ignore_then(element(expr, Stops::before(&[Kind::CloseBrace])))
        .map(Box::new)
        .or_not()
        .boxed()
}

/// The element of `{ p in xs | cond }`: what p matches.
fn filtered_element<'a>(generators: &[(Pattern, Expr)], here: &mut Here<'a, '_>) -> Expr {
    let span = generators.first().map_or_else(Span::default, |(pattern, _)| pattern.span);
    let element = match generators {
        [(pattern, _)] => matched(pattern),
        _ => None,
    };
    element.unwrap_or_else(|| {
        here.emit(Failure::finding(
            Diagnostic::error(
                "E0121",
                "the element is not clear",
                span,
                "an expression is missing",
            )
            .help("write what each element is: `{ (x, y) : x in xs ; y in ys }`"),
        ));
        Expr { kind: ExprKind::Error, span }
    })
}

/// The expression that gives back what a pattern matches; none if the pattern drops something.
fn matched(pattern: &Pattern) -> Option<Expr> {
    let kind = match &pattern.kind {
        PatternKind::Name(name) => ExprKind::Name(name.clone()),
        PatternKind::Wildcard => return None,
        PatternKind::Tuple(parts) => {
            ExprKind::Tuple(parts.iter().map(matched).collect::<Option<_>>()?)
        }
        // A record pattern may leave fields out, so it does not say what the element is.
        PatternKind::Record(_) => return None,
        PatternKind::Typed(inner, _) => matched(inner)?.kind,
    };
    Some(Expr { kind, span: pattern.span })
}
