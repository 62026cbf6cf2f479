//! The grammar: one parser for each form of item, over the laid-out tokens of one item.
//!
//! Every alternative is decided by its first token, so nothing is read twice and the failure that
//! reached furthest is the one to report. Where a bracket or a block continues after a broken
//! part, [`element`] reports the part and puts an error in its place.

mod bracket;
mod expression;
mod pattern;
mod types;

use chumsky::extra;
use chumsky::input::{InputRef, MapExtra};
use chumsky::inspector::SimpleState;
use chumsky::prelude::{Boxed, IterParser, Parser, choice, custom, via_parser};
use weft_ir::Span;

use super::failure::Failure;
use super::kind::{CLOSERS, Kind, KindSet, LITERALS, NAMES, OPENERS};
use super::layout::Form;
use super::reading::Reading;
use crate::ast::{Def, Expr, ExprKind, Ident, ItemKind, Pattern, PatternKind, TypeExpr};

/// What the parsers read.
type Tokens<'a> = &'a [Kind];

/// What their actions have at hand.
type Extra<'a> = extra::Full<Failure, SimpleState<Reading<'a>>, ()>;

/// A parser. Boxing keeps the types, and so the compile time, small.
pub(super) type Parse<'a, O> = Boxed<'a, 'a, Tokens<'a>, O, Extra<'a>>;

/// The argument of an action.
type Here<'a, 'b> = MapExtra<'a, 'b, Tokens<'a>, Extra<'a>>;

/// The parsers of the forms of items.
pub(super) struct Grammar<'a> {
    definition: Parse<'a, ItemKind>,
    type_alias: Parse<'a, ItemKind>,
    import: Parse<'a, ItemKind>,
    binding: Parse<'a, ItemKind>,
    expression: Parse<'a, ItemKind>,
}

impl<'a> Grammar<'a> {
    /// Builds the parsers.
    pub(super) fn new() -> Grammar<'a> {
        let ty = types::ty();
        let pattern = pattern::pattern(ty.clone());
        let expr = expression::expression(pattern.clone(), ty.clone());
        let body = element(expr, Stops::END_OF_ITEM);
        Grammar {
            definition: finish(definition(pattern.clone(), ty.clone(), body.clone())),
            type_alias: finish(type_alias(ty.clone())),
            import: finish(import()),
            binding: finish(binding(pattern, ty, body.clone())),
            expression: expression_item(body),
        }
    }

    /// Parses one item. Returns nothing if not even its head can be read.
    pub(super) fn parse(
        &self,
        form: Form,
        state: &mut SimpleState<Reading<'a>>,
    ) -> (Option<ItemKind>, Vec<Failure>) {
        let parser = match form {
            Form::Def => &self.definition,
            Form::TypeAlias => &self.type_alias,
            Form::Import => &self.import,
            Form::Binding => &self.binding,
            Form::Expression => &self.expression,
            // A command is not made of tokens; the caller reads it.
            Form::Command => return (None, Vec::new()),
        };
        let kinds = state.0.kinds;
        parser.parse_with_state(kinds, state).into_output_errors()
    }
}

fn definition<'a>(
    pattern: Parse<'a, Pattern>,
    ty: Parse<'a, TypeExpr>,
    body: Parse<'a, Expr>,
) -> Parse<'a, ItemKind> {
    just(Kind::Def)
        .ignore_then(name())
        .then(pattern.repeated().collect::<Vec<_>>())
        .then(annotation(ty))
        .then_ignore(just(Kind::Equals))
        .then(body)
        .map(|(((name, params), result), body)| ItemKind::Def(Def { name, params, result, body }))
        .boxed()
}

fn type_alias<'a>(ty: Parse<'a, TypeExpr>) -> Parse<'a, ItemKind> {
    just(Kind::Type)
        .ignore_then(name())
        .then_ignore(just(Kind::Equals))
        .then(ty)
        .map(|(name, ty)| ItemKind::TypeAlias { name, ty })
        .boxed()
}

fn import<'a>() -> Parse<'a, ItemKind> {
    just(Kind::Import)
        .ignore_then(just(Kind::Text).map_with(|_, here| here_span(here)))
        .map_with(|path_span: Span, here| {
            let bytes = super::literal::text::decode(here.state().0.span_text(path_span));
            let path = String::from_utf8_lossy(&bytes).into();
            ItemKind::Import { path, path_span }
        })
        .boxed()
}

fn binding<'a>(
    pattern: Parse<'a, Pattern>,
    ty: Parse<'a, TypeExpr>,
    body: Parse<'a, Expr>,
) -> Parse<'a, ItemKind> {
    pattern
        .then(annotation(ty))
        .then_ignore(just(Kind::Equals))
        .then(body)
        .map(|((pattern, ty), value)| ItemKind::Binding { pattern: typed(pattern, ty), value })
        .boxed()
}

fn expression_item<'a>(body: Parse<'a, Expr>) -> Parse<'a, ItemKind> {
    body.then(just(Kind::Quiet).or_not())
        .then_ignore(end())
        .map(|(value, semicolon)| ItemKind::Expr { value, quiet: semicolon.is_some() })
        .boxed()
}

/// Whatever the item, a trailing `;` is allowed and nothing else.
fn finish<'a>(item: Parse<'a, ItemKind>) -> Parse<'a, ItemKind> {
    item.then_ignore(just(Kind::Quiet).or_not()).then_ignore(end()).boxed()
}

/// `: type`, if there is one.
fn annotation<'a>(ty: Parse<'a, TypeExpr>) -> Parse<'a, Option<TypeExpr>> {
    just(Kind::Colon).ignore_then(ty).or_not().boxed()
}

/// The pattern with its annotation.
fn typed(pattern: Pattern, ty: Option<TypeExpr>) -> Pattern {
    match ty {
        None => pattern,
        Some(ty) => {
            let span = pattern.span.to(ty.span);
            Pattern { kind: PatternKind::Typed(Box::new(pattern), ty), span }
        }
    }
}

/// A name.
fn name<'a>() -> Parse<'a, Ident> {
    one_of(NAMES)
        .map_with(|_, here: &mut Here<'a, '_>| {
            let token = here.span().start;
            here.state().0.ident(token)
        })
        .boxed()
}

/// The span of what an action's parser has read.
fn here_span<'a>(here: &mut Here<'a, '_>) -> Span {
    let tokens = here.span();
    here.state().0.span(tokens.start, tokens.end)
}

/// One token of that kind.
fn just<'a>(kind: Kind) -> impl Parser<'a, Tokens<'a>, Kind, Extra<'a>> + Copy + 'a {
    one_of(KindSet::of(&[kind]))
}

/// One token of one of those kinds.
fn one_of<'a>(kinds: KindSet) -> impl Parser<'a, Tokens<'a>, Kind, Extra<'a>> + Copy + 'a {
    custom(move |input: &mut InputRef<'a, '_, Tokens<'a>, Extra<'a>>| match input.peek() {
        Some(kind) if kinds.contains(kind) => {
            input.skip();
            Ok(kind)
        }
        _ => Err(Failure::expected(*input.cursor().inner(), kinds)),
    })
}

/// The end of the item.
fn end<'a>() -> impl Parser<'a, Tokens<'a>, (), Extra<'a>> + Copy + 'a {
    custom(move |input: &mut InputRef<'a, '_, Tokens<'a>, Extra<'a>>| match input.peek() {
        None => Ok(()),
        Some(_) => Err(Failure::not_the_end(*input.cursor().inner())),
    })
}

/// Where a part of an item ends.
#[derive(Clone, Copy)]
struct Stops {
    /// Before one of these.
    kinds: KindSet,
    /// At the end of the item.
    end: bool,
}

impl Stops {
    /// The end of the item, or the `;` before it.
    const END_OF_ITEM: Stops = Stops { kinds: KindSet::of(&[Kind::Quiet]), end: true };

    /// Before one of those tokens.
    const fn before(kinds: &[Kind]) -> Stops {
        Stops { kinds: KindSet::of(kinds), end: false }
    }
}

/// An expression that must reach one of the stops. If it does not, the failure is reported, the
/// tokens up to a stop are skipped, and an error stands for all of it.
fn element<'a>(expr: Parse<'a, Expr>, stops: Stops) -> Parse<'a, Expr> {
    // In two steps: what was reported inside the expression stays so if only the rest is wrong.
    let rest = before(stops).map(|()| None).recover_with(via_parser(skip(stops).map(Some)));
    let whole =
        expr.recover_with(via_parser(skip(stops))).then(rest).map(|(expr, rest)| match rest {
            None => expr,
            Some(rest) => Expr { kind: ExprKind::Error, span: expr.span.to(rest.span) },
        });
    choice((lone(stops), whole)).boxed()
}

/// A name or literal directly before a stop. Large literals consist of little else, and this is
/// ten times faster than the way through all the levels of an expression.
fn lone<'a>(stops: Stops) -> impl Parser<'a, Tokens<'a>, Expr, Extra<'a>> + Copy + 'a {
    custom(move |input: &mut InputRef<'a, '_, Tokens<'a>, Extra<'a>>| {
        let token = *input.cursor().inner();
        let reading = &mut input.state().0;
        let is_lone = match reading.kinds[token..] {
            [kind, next, ..] => LITERALS.contains(kind) && stops.kinds.contains(next),
            _ => false,
        };
        if !is_lone {
            return Err(Failure::expected(token, KindSet::EMPTY));
        }
        let (expr, finding) = reading.literal(token);
        input.skip();
        if let Some(finding) = finding {
            input.emit(Failure::finding(finding));
        }
        Ok(expr)
    })
}

/// Succeeds before a stop, and takes nothing.
fn before<'a>(stops: Stops) -> impl Parser<'a, Tokens<'a>, (), Extra<'a>> + Copy + 'a {
    custom(move |input: &mut InputRef<'a, '_, Tokens<'a>, Extra<'a>>| match input.peek() {
        Some(kind) if stops.kinds.contains(kind) => Ok(()),
        None if stops.end => Ok(()),
        _ => Err(Failure {
            end_expected: stops.end,
            ..Failure::expected(*input.cursor().inner(), stops.kinds)
        }),
    })
}

/// Skips to a stop outside all brackets and `let`s that are opened on the way.
fn skip<'a>(stops: Stops) -> impl Parser<'a, Tokens<'a>, Expr, Extra<'a>> + Copy + 'a {
    custom(move |input: &mut InputRef<'a, '_, Tokens<'a>, Extra<'a>>| {
        let start = *input.cursor().inner();
        let (mut brackets, mut lets) = (0_u32, 0_u32);
        loop {
            let at = *input.cursor().inner();
            let is_outside = brackets == 0 && lets == 0;
            match input.peek() {
                Some(kind) if is_outside && stops.kinds.contains(kind) => {
                    return skipped(input, start, at, stops);
                }
                Some(kind) if OPENERS.contains(kind) => brackets += 1,
                Some(kind) if CLOSERS.contains(kind) && brackets > 0 => brackets -= 1,
                // The bracket ends; a missing `in` does not matter any more.
                Some(kind) if CLOSERS.contains(kind) && stops.kinds.contains(kind) => {
                    return skipped(input, start, at, stops);
                }
                Some(kind) if CLOSERS.contains(kind) => {
                    return Err(Failure::expected(at, stops.kinds));
                }
                Some(Kind::Let) if brackets == 0 => lets += 1,
                Some(Kind::In) if brackets == 0 => lets = lets.saturating_sub(1),
                Some(_) => {}
                None if stops.end => return skipped(input, start, at, stops),
                None => return Err(Failure::expected(at, stops.kinds)),
            }
            input.skip();
        }
    })
}

/// The error that stands for the tokens `start..at`. An empty part is only recovered at the end of
/// an item: elsewhere the enclosing part knows better what is missing.
fn skipped<'a>(
    input: &mut InputRef<'a, '_, Tokens<'a>, Extra<'a>>,
    start: usize,
    at: usize,
    stops: Stops,
) -> Result<Expr, Failure> {
    if start == at && !stops.end {
        return Err(Failure::expected(at, stops.kinds));
    }
    let span = input.state().0.span(start, at);
    Ok(Expr { kind: ExprKind::Error, span })
}
