//! Which top-level definitions and values a typed expression uses.

use std::collections::BTreeSet;

use weft_lang::typed::{Axis, Expr, ExprKind, FunctionRef, GlobalId, LoopControl, Program};

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
    match &expr.kind {
        ExprKind::Value(global) | ExprKind::Function(FunctionRef::Generic(global, _)) => {
            used.insert(*global);
        }
        ExprKind::Number(_)
        | ExprKind::Scalar(_)
        | ExprKind::Text(_)
        | ExprKind::NumberArray(_)
        | ExprKind::Local(..)
        | ExprKind::Function(FunctionRef::Instance(_))
        | ExprKind::Builtin(..) => {}
        _ => children(expr, &mut |child| collect(child, used)),
    }
}

/// Calls `visit` with the direct subexpressions, in order of evaluation.
pub(crate) fn children<'e>(expr: &'e Expr, visit: &mut dyn FnMut(&'e Expr)) {
    match &expr.kind {
        ExprKind::Number(_)
        | ExprKind::Scalar(_)
        | ExprKind::Text(_)
        | ExprKind::NumberArray(_)
        | ExprKind::Local(..)
        | ExprKind::Value(_)
        | ExprKind::Function(_)
        | ExprKind::Builtin(..) => {}
        ExprKind::Lambda { body, .. } => visit(body),
        ExprKind::Apply { function, args, .. } => {
            visit(function);
            args.iter().for_each(|arg| visit(&arg.expr));
        }
        ExprKind::Let { value, body, .. } => {
            visit(value);
            visit(body);
        }
        ExprKind::LetFunction { value, body, .. } => {
            visit(value);
            visit(body);
        }
        ExprKind::If { condition, then, otherwise } => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::Loop { init, control, body, .. } => {
            visit(init);
            match control {
                LoopControl::Count(_, bound) => visit(bound),
                LoopControl::Each(_, array) => visit(array),
                LoopControl::While(condition) => visit(condition),
            }
            visit(body);
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().for_each(visit),
        ExprKind::RecordUpdate { record, fields } => {
            visit(record);
            fields.iter().for_each(|(_, value)| visit(value));
        }
        ExprKind::Field { record, .. } => visit(record),
        ExprKind::Slice { array, axes } => {
            visit(array);
            for axis in axes {
                match axis {
                    Axis::Index(index) | Axis::Gather(index) => visit(index),
                    Axis::Slice { start, stop, step, .. } => {
                        [start, stop, step].into_iter().flatten().for_each(&mut *visit);
                    }
                }
            }
        }
        ExprKind::WindowRead { window, .. } => visit(window),
        ExprKind::Comprehension { body, generators, filter } => {
            generators.iter().for_each(|(_, array)| visit(array));
            filter.iter().for_each(|filter| visit(filter));
            visit(body);
        }
        ExprKind::CheckSizes { body, .. } => visit(body),
    }
}
