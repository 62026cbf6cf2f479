//! Ranges in brackets as they are written.
//!
//! A typed program does not tell `[1..5]` from `[(1..5)]` and `[range 1 5 1]`, nor whether somebody has written down
//! its type. So the text is parsed again where a program has such an array, once for each source.

use std::collections::{BTreeMap, HashMap};

use weft_ir::{ScalarType, SourceId, Span};
use weft_lang::ast::{
    Def, Expr, ExprKind, Item, ItemKind, LetBinding, LoopControl, Pattern, PatternKind, TypeExpr,
    TypeExprKind,
};
use weft_lang::{render, syntax};

use crate::sources::Sources;

/// A range that stands alone in brackets, without parentheses.
#[derive(Clone, Copy, Debug)]
pub(super) struct BareRange {
    /// All of it.
    pub(super) range: Span,
    /// What it ends before.
    pub(super) stop: Span,
}

/// The ranges in brackets of each source, by the places of the brackets: those of which nothing that is written
/// around them says that they are arrays of arrays.
#[derive(Debug, Default)]
pub(super) struct Brackets(HashMap<SourceId, BTreeMap<Span, BareRange>>);

impl Brackets {
    /// The range in these brackets.
    pub(super) fn range(&mut self, brackets: Span, sources: &Sources) -> Option<BareRange> {
        let of_source = self.0.entry(brackets.source).or_insert_with(|| {
            let text = render::Sources::text(sources, brackets.source);
            bare_ranges(brackets.source, text)
        });
        of_source.get(&brackets).copied()
    }
}

fn bare_ranges(source: SourceId, text: &str) -> BTreeMap<Span, BareRange> {
    let mut found = BTreeMap::new();
    for item in syntax::parse(source, text).items {
        match item.kind {
            // The expression of `:time e`, for example.
            ItemKind::Command { argument_span, .. } => {
                let argument = syntax::parse_item(source, text, argument_span.range());
                argument.items.iter().for_each(|item| of_item(item, &mut found));
            }
            _ => of_item(&item, &mut found),
        }
    }
    found
}

fn of_item(item: &Item, found: &mut BTreeMap<Span, BareRange>) {
    match &item.kind {
        ItemKind::Def(def) => of_function(def, found),
        ItemKind::Binding { pattern, value } => of_expr(value, binds_rows(pattern), found),
        ItemKind::Expr { value, .. } => of_expr(value, false, found),
        ItemKind::TypeAlias { .. } | ItemKind::Command { .. } | ItemKind::Import { .. } => {}
    }
}

fn of_function(def: &Def, found: &mut BTreeMap<Span, BareRange>) {
    let annotated = def.result.as_ref().is_some_and(has_rows) || def.params.iter().any(binds_rows);
    of_expr(&def.body, annotated, found);
}

/// Collects the ranges of an expression. `annotated` says whether a type with arrays of arrays is written for its value,
/// or for something that its value is made of: then its writer knows rows.
fn of_expr(expr: &Expr, annotated: bool, found: &mut BTreeMap<Span, BareRange>) {
    match &expr.kind {
        ExprKind::Array(elements) if !annotated => {
            if let [Expr { kind: ExprKind::Range { start, stop, .. }, span }] = &elements[..]
                // A place in parentheses begins with them.
                && span.start == start.span.start
            {
                found.insert(expr.span, BareRange { range: *span, stop: stop.span });
            }
            elements.iter().for_each(|element| of_expr(element, false, found));
        }
        ExprKind::Typed(value, ty) => of_expr(value, has_rows(ty), found),
        ExprKind::Let { bindings, body } => {
            for binding in bindings {
                match binding {
                    LetBinding::Value(pattern, value) => {
                        of_expr(value, binds_rows(pattern), found);
                    }
                    LetBinding::Function(def) => of_function(def, found),
                }
            }
            of_expr(body, annotated, found);
        }
        ExprKind::Lambda { params, body } => {
            of_expr(body, annotated || params.iter().any(binds_rows), found);
        }
        ExprKind::If { condition, then, otherwise } => {
            of_expr(condition, false, found);
            of_expr(then, annotated, found);
            of_expr(otherwise, annotated, found);
        }
        ExprKind::Loop { pattern, init, control, body } => {
            let of_state = annotated || binds_rows(pattern);
            of_expr(init, of_state, found);
            of_expr(body, of_state, found);
            match control {
                LoopControl::Each(pattern, source) => of_expr(source, binds_rows(pattern), found),
                LoopControl::Count(_, condition) | LoopControl::While(condition) => {
                    of_expr(condition, false, found);
                }
            }
        }
        ExprKind::Comprehension { body, generators, filter } => {
            of_expr(body, annotated, found);
            for (pattern, source) in generators {
                of_expr(source, binds_rows(pattern), found);
            }
            if let Some(filter) = filter {
                of_expr(filter, false, found);
            }
        }
        _ => expr.for_each_child(&mut |child| of_expr(child, annotated, found)),
    }
}

/// Whether an array of arrays is written in a type. What an alias stands for is not looked up: it may have one.
fn has_rows(ty: &TypeExpr) -> bool {
    match &ty.kind {
        TypeExprKind::Name(name) => ScalarType::from_name(name).is_none(),
        TypeExprKind::Array(_, element) => {
            matches!(element.kind, TypeExprKind::Array(..)) || has_rows(element)
        }
        TypeExprKind::Tuple(parts) => parts.iter().any(has_rows),
        TypeExprKind::Record(fields) => fields.iter().any(|(_, field)| has_rows(field)),
        TypeExprKind::Function(parameter, result) => has_rows(parameter) || has_rows(result),
        TypeExprKind::Window(_, element) | TypeExprKind::Seq(element) => has_rows(element),
    }
}

/// Whether an array of arrays is written in the types of a pattern.
fn binds_rows(pattern: &Pattern) -> bool {
    match &pattern.kind {
        PatternKind::Name(_) | PatternKind::Wildcard => false,
        PatternKind::Tuple(parts) => parts.iter().any(binds_rows),
        PatternKind::Record(fields) => fields.iter().any(|(_, field)| binds_rows(field)),
        PatternKind::Typed(pattern, ty) => has_rows(ty) || binds_rows(pattern),
    }
}
