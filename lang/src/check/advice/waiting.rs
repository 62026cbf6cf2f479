//! `sums = scan (+) xs`, used as an array: a builtin that lacks an argument is a function.

use crate::ast::{self, ExprKind};
use crate::builtins;
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::typed;

/// What there is to say about a name for a builtin that still waits for arguments; `path` are the expressions around it,
/// from the outside in.
pub(super) fn advice(
    checker: &Checker<'_>,
    path: &[&ast::Expr],
    found: &Diagnostic,
) -> Option<String> {
    if !matches!(found.code, "E0301" | "E0302" | "E0303" | "E0307") {
        return None;
    }
    let expr = path.iter().rev().find(|expr| expr.span == found.span())?;
    let name = match &expr.kind {
        ExprKind::Name(name) => name,
        ExprKind::Index { array, .. } => match &array.kind {
            ExprKind::Name(name) => name,
            _ => return None,
        },
        _ => return None,
    };
    let Binding::Global(global) = checker.environment.lookup(name)? else { return None };
    let Global::Function(function) = checker.environment.global(*global)? else { return None };
    let typed::ExprKind::Apply { function, args, .. } = &function.body.kind else { return None };
    let typed::ExprKind::Builtin(builtin, _) = &function.kind else { return None };
    let (wanted, given) = (builtin.arity(), args.len());
    // Of several names the short one.
    let names = builtins::all().filter(|entry| entry.builtin == *builtin).map(|entry| entry.name);
    let builtin = names.min_by_key(|name| name.len())?;
    (given < wanted).then(|| {
        format!("`{name}` is a function: `{builtin}` has {given} of its {wanted} arguments there (`:doc {builtin}`)")
    })
}
