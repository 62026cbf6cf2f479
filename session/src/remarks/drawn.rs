//! E0326: `{ mean xs[randomInt 1 0 n n] : i in iota 1000 }`, whose items draw the same random numbers.
//!
//! Random numbers follow from their seed. Where nothing in an item depends on what it is an item of, all seeds are the same,
//! and so are the items: a bootstrap then has one sample a thousand times.

use std::collections::BTreeSet;

use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, FunctionRef, InstanceId, LocalId, Pattern, Program};

use super::is_name;

/// What there is to say about the items of an apply-to-each.
pub(super) fn remark(
    program: &Program,
    body: &Expr,
    generators: &[(Pattern, Expr)],
) -> Option<Diagnostic> {
    of_items(program, body, generators.iter().map(|(pattern, _)| pattern))
}

/// What there is to say about a function that is mapped, or makes an array.
pub(super) fn mapped(program: &Program, builtin: Builtin, args: &[Arg]) -> Option<Diagnostic> {
    let (Builtin::Map | Builtin::Generate) = builtin else { return None };
    args.iter().find_map(|arg| match &arg.expr.kind {
        ExprKind::Lambda { params, body } => of_items(program, body, params.iter()),
        _ => None,
    })
}

fn of_items<'e>(
    program: &Program,
    body: &Expr,
    patterns: impl Iterator<Item = &'e Pattern>,
) -> Option<Diagnostic> {
    let mut names = Vec::new();
    patterns.for_each(|pattern| bound(pattern, &mut names));
    if any(
        body,
        &mut |expr| matches!(&expr.kind, ExprKind::Local(local, _) if names.iter().any(|(own, _)| own == local)),
    ) {
        return None;
    }
    let drawn = drawn(program, body)?;
    let name = names.iter().map(|(_, name)| *name).find(|name| is_name(name)).unwrap_or("i");
    let message =
        format!("all items draw the same random numbers: nothing here depends on `{name}`");
    let here = "the same seed each time";
    Some(Diagnostic::error("E0326", message, drawn.span, here).warning().help(
        "numbers for all items are drawn at once, `reshape (k, n) (random seed (k * n))`, or each item has a seed of \
         its own: `{ … random (seed + i) n … : i in iota k }`",
    ))
}

/// What a pattern binds.
fn bound<'e>(pattern: &'e Pattern, names: &mut Vec<(LocalId, &'e str)>) {
    match pattern {
        Pattern::Local { local, name, .. } => names.push((*local, name)),
        Pattern::Wildcard(_) => {}
        Pattern::Tuple(parts) => parts.iter().for_each(|part| bound(part, names)),
    }
}

/// The application that draws random numbers, itself or by a function that it calls.
fn drawn<'e>(program: &'e Program, body: &'e Expr) -> Option<&'e Expr> {
    let mut found = match &body.kind {
        ExprKind::Apply { function, .. } if draws(program, function, &mut BTreeSet::new()) => {
            Some(body)
        }
        _ => None,
    };
    body.for_each_child(&mut |child| {
        if found.is_none() {
            found = drawn(program, child);
        }
    });
    found
}

/// Whether an expression draws random numbers when it is evaluated, or applied.
fn draws(program: &Program, expr: &Expr, entered: &mut BTreeSet<InstanceId>) -> bool {
    any(expr, &mut |expr| match &expr.kind {
        ExprKind::Builtin(builtin, _) => {
            matches!(builtin, Builtin::Random | Builtin::RandomInt)
        }
        ExprKind::Function(FunctionRef::Instance(id)) => {
            entered.insert(*id) && draws(program, &program.instances[id.0 as usize].body, entered)
        }
        _ => false,
    })
}

/// Whether something holds of an expression or of one in it.
fn any(expr: &Expr, test: &mut dyn FnMut(&Expr) -> bool) -> bool {
    let mut found = test(expr);
    expr.for_each_child(&mut |child| found = found || any(child, test));
    found
}
