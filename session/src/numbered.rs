//! `Out[7]` and `In[7]`: earlier results and cells by number.
//!
//! A result has the name `_7` in the environment. Which type `Out[7]` has depends on the number, so
//! it cannot be an array that is indexed: before a cell is checked, `Out[7]` becomes the name `_7`
//! and `In[7]` the text of that cell; but not where the user has given that name to something else.

use std::sync::Arc;

use weft_ir::{Name, Span};
use weft_lang::Diagnostic;
use weft_lang::ast::{Axis, Expr, ExprKind, Item, ItemKind, Number};

/// The earlier cells and results that a cell may name.
pub(crate) trait Numbered {
    /// The text of cell `number`.
    fn input(&self, number: usize) -> Option<Arc<str>>;
    /// Whether the result of cell `number` is still kept.
    fn has_output(&self, number: usize) -> bool;
}

/// What earlier texts and results are called.
pub(crate) const NAMES: [&str; 2] = ["In", "Out"];

/// A cell or result that is not there.
#[derive(Debug)]
pub(crate) struct Missing {
    /// `In` or `Out`.
    pub(crate) what: &'static str,
    /// Its number.
    pub(crate) number: usize,
    /// Where it is used.
    pub(crate) span: Span,
}

impl Missing {
    /// E0504.
    pub(crate) fn report(&self) -> Diagnostic {
        let Missing { what, number, span } = self;
        let message = format!("there is no {what}[{number}]");
        let note = match *what {
            "In" => "In[n] is the text of cell n of this session",
            _ => {
                "Out[n], or _n, is what cell n has shown; the oldest results are let go (`:set outputs`)"
            }
        };
        Diagnostic::error("E0504", message, *span, "not kept or never there").note(note)
    }
}

/// Resolves the numbers in the items of a cell. What is not there is added to `missing`, and `taken` are the names
/// that stand for something else already.
pub(crate) fn resolve(
    items: &mut [Item],
    numbered: &dyn Numbered,
    mut taken: Vec<&'static str>,
    missing: &mut Vec<Missing>,
) {
    for item in items {
        let own = NAMES.into_iter().filter(|name| is_bound_in(item, name));
        let others: Vec<&str> = own.chain(taken.iter().copied()).collect();
        resolve_item(item, &mut Resolver { numbered, taken: &others, missing });
        taken.extend(NAMES.into_iter().filter(|name| defines(item, name)));
    }
}

/// Whether a name stands for something else somewhere in an item. Where else in it the earlier result is meant
/// says the checker.
fn is_bound_in(item: &Item, name: &str) -> bool {
    match &item.kind {
        ItemKind::Def(def) => {
            &*def.name.name == name
                || def.params.iter().any(|param| param.binds(name))
                || def.body.binds(name)
        }
        ItemKind::Binding { value, .. } | ItemKind::Expr { value, .. } => value.binds(name),
        ItemKind::TypeAlias { .. } | ItemKind::Command { .. } | ItemKind::Import { .. } => false,
    }
}

/// Whether an item defines a name for those behind it.
fn defines(item: &Item, name: &str) -> bool {
    match &item.kind {
        ItemKind::Def(def) => &*def.name.name == name,
        ItemKind::Binding { pattern, .. } => pattern.binds(name),
        ItemKind::Expr { .. }
        | ItemKind::TypeAlias { .. }
        | ItemKind::Command { .. }
        | ItemKind::Import { .. } => false,
    }
}

fn resolve_item(item: &mut Item, resolver: &mut Resolver<'_>) {
    match &mut item.kind {
        ItemKind::Def(def) => resolver.expr(&mut def.body),
        ItemKind::Binding { value, .. } | ItemKind::Expr { value, .. } => resolver.expr(value),
        ItemKind::TypeAlias { .. } | ItemKind::Command { .. } | ItemKind::Import { .. } => {}
    }
}

struct Resolver<'a> {
    numbered: &'a dyn Numbered,
    /// The names that stand for something else.
    taken: &'a [&'static str],
    missing: &'a mut Vec<Missing>,
}

impl Resolver<'_> {
    fn expr(&mut self, expr: &mut Expr) {
        if let Some((what, number)) = reference(expr)
            && !self.taken.contains(&what)
        {
            self.replace(expr, what, number);
            return;
        }
        expr.for_each_child_mut(&mut |child| self.expr(child));
    }

    fn replace(&mut self, expr: &mut Expr, what: &'static str, number: usize) {
        let found = match what {
            "In" => self.numbered.input(number).map(|text| ExprKind::Text(text.as_bytes().into())),
            _ => self.numbered.has_output(number).then(|| ExprKind::Name(output_name(number))),
        };
        expr.kind = found.unwrap_or_else(|| {
            self.missing.push(Missing { what, number, span: expr.span });
            ExprKind::Error
        });
    }
}

/// The name under which the environment has the result of cell `number`.
pub(crate) fn output_name(number: usize) -> Name {
    format!("_{number}").into()
}

/// The number of the result that a name stands for: `_7`.
pub(crate) fn output_number(name: &str) -> Option<usize> {
    let digits = name.strip_prefix('_').filter(|rest| rest.chars().all(|c| c.is_ascii_digit()))?;
    digits.parse().ok()
}

/// `In[n]` or `Out[n]` with a literal number.
fn reference(expr: &Expr) -> Option<(&'static str, usize)> {
    let ExprKind::Index { array, axes } = &expr.kind else { return None };
    let ExprKind::Name(name) = &array.kind else { return None };
    let what = NAMES.into_iter().find(|what| **what == **name)?;
    let [Axis::Index(Expr { kind: ExprKind::Number(Number::Int(number), None), .. })] = &axes[..]
    else {
        return None;
    };
    Some((what, usize::try_from(*number).ok()?))
}
