//! Which top-level definitions and values a typed expression uses.

use std::collections::BTreeSet;

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

fn collect(expr: &Expr, used: &mut BTreeSet<GlobalId>) {
    if let ExprKind::Value(global) | ExprKind::Function(FunctionRef::Generic(global, _)) =
        &expr.kind
    {
        used.insert(*global);
    }
    expr.for_each_child(&mut |child| collect(child, used));
}
