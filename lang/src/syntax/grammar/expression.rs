//! Expressions: chains of operands, applications, postfixes, and the forms that are open to the
//! right (`\x -> e`, `let`, `if`, `loop`).

use chumsky::prelude::{IterParser, Parser, choice, recursive};
use weft_ir::Span;

use super::{
    Here, Parse, Stops, annotation, bracket, element, here_span, just, name, one_of, typed,
};
use crate::ast::{
    ApplyForm, Axis, Def, Expr, ExprKind, Ident, LetBinding, LoopControl, Pattern, PatternKind,
    TypeExpr,
};
use crate::diagnostic::Diagnostic;
use crate::syntax::failure::Failure;
use crate::syntax::kind::{BINARY, Kind, KindSet, LITERALS};
use crate::syntax::operator::{Operand, apply_prefix, resolve};

/// An expression.
pub(super) fn expression<'a>(
    pattern: Parse<'a, Pattern>,
    ty: Parse<'a, TypeExpr>,
) -> Parse<'a, Expr> {
    recursive(|expr| {
        let expr = expr.boxed();
        let atom = choice((
            literal(),
            bracket::paren(expr.clone(), ty.clone()),
            bracket::array(expr.clone()),
            bracket::brace(expr.clone(), pattern.clone()),
        ))
        .boxed();
        let operand = choice((
            application(postfix(atom, expr.clone())),
            lambda(pattern.clone(), expr.clone()),
            let_in(pattern.clone(), ty, expr.clone()),
            if_else(expr.clone()),
            loop_do(pattern, expr),
        ));
        chain(prefixed(operand.boxed()))
    })
    .boxed()
}

/// `a + b * c`: the flat chain, made a tree.
fn chain<'a>(operand: Parse<'a, Operand>) -> Parse<'a, Expr> {
    let operator = one_of(BINARY).map_with(|kind, here| (kind, here_span(here)));
    let link = operator.then(operand.clone()).map(|((kind, span), operand)| (kind, span, operand));
    operand
        .then(link.repeated().collect::<Vec<_>>())
        .map_with(|(first, rest), here: &mut Here<'a, '_>| {
            let mut findings = Vec::new();
            let expr = resolve(first, rest, here.state().0.text, &mut findings);
            findings.into_iter().for_each(|finding| here.emit(Failure::finding(finding)));
            expr
        })
        .boxed()
}

/// `- ! e`.
fn prefixed<'a>(operand: Parse<'a, Expr>) -> Parse<'a, Operand> {
    one_of(KindSet::of(&[Kind::PrefixMinus, Kind::PrefixNot]))
        .map_with(|kind, here| (kind, here_span(here)))
        .repeated()
        .collect::<Vec<_>>()
        .then(operand)
        .map(|(prefixes, expr)| Operand { prefixes, expr })
        .boxed()
}

/// `f x -1 !b`.
fn application<'a>(postfix: Parse<'a, Expr>) -> Parse<'a, Expr> {
    let prefix = one_of(KindSet::of(&[Kind::ArgumentMinus, Kind::ArgumentNot]))
        .map_with(|kind, here| (kind, here_span(here)))
        .or_not();
    let argument = prefix.then(postfix.clone()).map(|(prefix, expr)| match prefix {
        Some((kind, span)) => apply_prefix(kind, span, expr),
        None => expr,
    });
    postfix
        .then(argument.repeated().collect::<Vec<_>>())
        .map(|(function, args)| match args.last() {
            None => function,
            Some(last) => {
                let span = function.span.to(last.span);
                // Beside something unreadable it is not even clear that this is an application.
                if args.iter().any(|argument| argument.kind == ExprKind::Error) {
                    return Expr { kind: ExprKind::Error, span };
                }
                let function = Box::new(function);
                let form = ApplyForm::Juxtaposition;
                Expr { kind: ExprKind::Apply { function, args, form }, span }
            }
        })
        .boxed()
}

/// What follows an operand without a space.
enum Postfix {
    Field(Ident),
    Index(Vec<Axis>),
}

/// `a[i].x`.
fn postfix<'a>(atom: Parse<'a, Expr>, expr: Parse<'a, Expr>) -> Parse<'a, Expr> {
    let field = just(Kind::Field).map_with(|_, here: &mut Here<'a, '_>| {
        let token = here.span().start;
        Postfix::Field(here.state().0.field(token))
    });
    let index = axis(expr)
        .separated_by(just(Kind::Comma))
        .at_least(1)
        .collect()
        .delimited_by(just(Kind::OpenIndex), just(Kind::CloseBracket))
        .map(Postfix::Index);
    let postfix = choice((field, index)).map_with(|postfix, here| (postfix, here_span(here)));
    atom.foldl(postfix.boxed().repeated(), |operand, (postfix, end): (Postfix, Span)| {
        let span = operand.span.to(end);
        let operand = Box::new(operand);
        let kind = match postfix {
            Postfix::Field(field) => ExprKind::Field { record: operand, field },
            Postfix::Index(axes) => ExprKind::Index { array: operand, axes },
        };
        Expr { kind, span }
    })
    .boxed()
}

/// `i`, `a:b`, `:`, `::2`.
pub(super) fn axis<'a>(expr: Parse<'a, Expr>) -> Parse<'a, Axis> {
    const ENDS: Stops = Stops::before(&[Kind::Colon, Kind::Comma, Kind::CloseBracket]);
    let bound = element(expr, ENDS).or_not().boxed();
    let colon = just(Kind::Colon).ignore_then(bound.clone());
    bound
        .then(colon.clone().then(colon.or_not()).or_not())
        .map_with(|(first, slice), here: &mut Here<'a, '_>| (first, slice, here_span(here)))
        .try_map(|(first, slice, span), tokens| match (first, slice) {
            (start, Some((stop, step))) => {
                Ok(Axis::Slice { start, stop, step: step.flatten(), span })
            }
            (Some(index), None) => Ok(Axis::Index(index)),
            // Nothing at all: what an axis may begin with has failed here before.
            (None, None) => Err(Failure::expected(tokens.start, KindSet::EMPTY)),
        })
        .boxed()
}

/// Everything that is one token.
fn literal<'a>() -> Parse<'a, Expr> {
    one_of(LITERALS)
        .map_with(|_, here: &mut Here<'a, '_>| {
            let token = here.span().start;
            let (expr, finding) = here.state().0.literal(token);
            if let Some(finding) = finding {
                here.emit(Failure::finding(finding));
            }
            expr
        })
        .boxed()
}

/// `\x (y, z) -> e`.
fn lambda<'a>(pattern: Parse<'a, Pattern>, expr: Parse<'a, Expr>) -> Parse<'a, Expr> {
    just(Kind::Backslash)
        .ignore_then(pattern.repeated().at_least(1).collect())
        .then_ignore(just(Kind::Arrow))
        .then(expr)
        .map_with(|(params, body), here| Expr {
            kind: ExprKind::Lambda { params, body: Box::new(body) },
            span: here_span(here),
        })
        .boxed()
}

/// `let p = e; f x = e in body`.
fn let_in<'a>(
    pattern: Parse<'a, Pattern>,
    ty: Parse<'a, TypeExpr>,
    expr: Parse<'a, Expr>,
) -> Parse<'a, Expr> {
    const ENDS: Stops = Stops::before(&[Kind::Semicolon, Kind::NewLine, Kind::In]);
    let binding = pattern
        .repeated()
        .at_least(1)
        .collect::<Vec<_>>()
        .then(annotation(ty))
        .then_ignore(just(Kind::Equals))
        .then(element(expr.clone(), ENDS))
        .map_with(|((head, ty), value), here: &mut Here<'a, '_>| {
            let (binding, finding) = let_binding(head, ty, value);
            if let Some(finding) = finding {
                here.emit(Failure::finding(finding));
            }
            binding
        })
        .boxed();
    just(Kind::Let)
        .ignore_then(
            binding
                .separated_by(one_of(KindSet::of(&[Kind::Semicolon, Kind::NewLine])))
                .allow_trailing()
                .at_least(1)
                .collect(),
        )
        .then_ignore(just(Kind::In))
        .then(expr)
        .map_with(|(bindings, body), here| Expr {
            kind: ExprKind::Let { bindings, body: Box::new(body) },
            span: here_span(here),
        })
        .boxed()
}

/// A binding whose head is one pattern, or a name and parameters; and what is wrong with it.
fn let_binding(
    mut head: Vec<Pattern>,
    ty: Option<TypeExpr>,
    value: Expr,
) -> (LetBinding, Option<Diagnostic>) {
    let params = head.split_off(1);
    let Some(first) = head.pop() else {
        let nothing = Pattern { kind: PatternKind::Wildcard, span: value.span };
        return (LetBinding::Value(nothing, value), None);
    };
    if params.is_empty() {
        return (LetBinding::Value(typed(first, ty), value), None);
    }
    match first.kind {
        PatternKind::Name(name) => {
            let name = Ident { name, span: first.span };
            (LetBinding::Function(Def { name, params, result: ty, body: value }), None)
        }
        kind => {
            let finding = Diagnostic::error(
                "E0121",
                "a local function needs a name",
                first.span,
                "parameters follow, so this is the function's name",
            )
            .help("several values at once are a tuple: `let (a, b) = … in …`");
            let pattern = Pattern { kind, span: first.span };
            (LetBinding::Value(pattern, value), Some(finding))
        }
    }
}

/// `if c then a else b`.
fn if_else<'a>(expr: Parse<'a, Expr>) -> Parse<'a, Expr> {
    just(Kind::If)
        .ignore_then(expr.clone())
        .then_ignore(just(Kind::Then))
        .then(expr.clone())
        .then_ignore(just(Kind::Else))
        .then(expr)
        .map_with(|((condition, then), otherwise), here| Expr {
            kind: ExprKind::If {
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            },
            span: here_span(here),
        })
        .boxed()
}

/// `loop p = e for i < n do body` and its siblings.
fn loop_do<'a>(pattern: Parse<'a, Pattern>, expr: Parse<'a, Expr>) -> Parse<'a, Expr> {
    let bound = just(Kind::Less).ignore_then(expr.clone());
    let elements = just(Kind::In).ignore_then(expr.clone());
    let control = choice((
        just(Kind::For)
            .ignore_then(pattern.clone())
            .then(choice((
                bound.map(|bound| (Kind::Less, bound)),
                elements.map(|elements| (Kind::In, elements)),
            )))
            .map(|(pattern, (kind, expr))| match kind {
                Kind::Less => LoopControl::Count(pattern, Box::new(expr)),
                _ => LoopControl::Each(pattern, Box::new(expr)),
            }),
        just(Kind::While)
            .ignore_then(expr.clone())
            .map(|condition| LoopControl::While(Box::new(condition))),
    ))
    .boxed();
    just(Kind::Loop)
        .ignore_then(pattern)
        .then_ignore(just(Kind::Equals))
        .then(expr.clone())
        .then(control)
        .then_ignore(just(Kind::Do))
        .then(expr)
        .map_with(|(((pattern, init), control), body), here| Expr {
            kind: ExprKind::Loop { pattern, init: Box::new(init), control, body: Box::new(body) },
            span: here_span(here),
        })
        .boxed()
}

/// The name before `=`, `,` or the closing brace of a record.
pub(super) fn record_field<'a>(expr: Parse<'a, Expr>) -> Parse<'a, (Ident, Expr)> {
    const ENDS: Stops = Stops::before(&[Kind::Comma, Kind::CloseBrace]);
    name()
        .then(just(Kind::Equals).ignore_then(element(expr, ENDS)).or_not())
        .map(|(field, value)| {
            let value = value.unwrap_or_else(|| Expr {
                kind: ExprKind::Name(field.name.clone()),
                span: field.span,
            });
            (field, value)
        })
        .boxed()
}
