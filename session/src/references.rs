//! Which top-level definitions and values a typed expression uses.

use std::collections::BTreeSet;

use weft_ir::Span;
use weft_lang::typed::{Expr, ExprKind, FunctionRef, GlobalId, Program};

/// What an expression uses directly.
pub(crate) fn of_expr(expr: &Expr) -> BTreeSet<GlobalId> {
    let mut used = BTreeSet::new();
    collect(expr, &mut used);
    used
}

/// What a program uses: its entry and all functions that it calls, however indirectly.
pub(crate) fn of_program(program: &Program) -> BTreeSet<GlobalId> {
    let mut used = of_expr(&program.entry);
    for instance in &program.instances {
        used.insert(instance.global);
        collect(&instance.body, &mut used);
    }
    used
}

/// Where the text of an item names values of a kind; a place that several expressions share is there once.
pub(crate) fn places(
    body: &Expr,
    item: Span,
    is_wanted: &dyn Fn(&GlobalId) -> bool,
) -> Vec<(Span, GlobalId)> {
    fn collect(
        expr: &Expr,
        item: Span,
        is_wanted: &dyn Fn(&GlobalId) -> bool,
        found: &mut Vec<(Span, GlobalId)>,
    ) {
        if let ExprKind::Value(global) = &expr.kind
            && item.contains(expr.span)
            && is_wanted(global)
            && !found.contains(&(expr.span, *global))
        {
            found.push((expr.span, *global));
        }
        expr.for_each_child(&mut |child| collect(child, item, is_wanted, found));
    }
    let mut found = Vec::new();
    collect(body, item, is_wanted, &mut found);
    found.sort_by_key(|(place, _)| place.start);
    found
}

fn collect(expr: &Expr, used: &mut BTreeSet<GlobalId>) {
    if let ExprKind::Value(global) | ExprKind::Function(FunctionRef::Generic(global, _)) =
        &expr.kind
    {
        used.insert(*global);
    }
    expr.for_each_child(&mut |child| collect(child, used));
}
