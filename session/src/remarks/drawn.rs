//! E0326: `{ mean xs[randomInt 1 0 n n] : i in iota 1000 }`, whose items draw the same random numbers.
//!
//! Random numbers follow from their seed. Where nothing in an item depends on what it is an item of, all seeds are the same,
//! and so are the items: a bootstrap then has one sample a thousand times. So it is with the turns of a loop: a walk goes
//! the same way in all of them.

use std::collections::BTreeSet;

use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, FunctionRef, InstanceId, LocalId, Pattern, Program};

use super::is_name;
use crate::prelude;

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

/// What there is to say about the turns of a loop.
pub(super) fn turns(program: &Program, looped: &Expr) -> Option<Diagnostic> {
    let ExprKind::Loop { body, .. } = &looped.kind else { return None };
    let mut names = Vec::new();
    looped.for_each_pattern(&mut |pattern| bound(pattern, &mut names));
    of_turns(program, body, names)
}

/// What there is to say about a function that makes the next state of one.
pub(super) fn stepped(program: &Program, function: &Expr, args: &[Arg]) -> Option<Diagnostic> {
    let is_loop = match &function.kind {
        ExprKind::Builtin(builtin, _) => *builtin == Builtin::Iterate,
        ExprKind::Function(FunctionRef::Instance(id)) => {
            let instance = &program.instances[id.0 as usize];
            &*instance.name == "states" && instance.body.span.source == prelude::SOURCE
        }
        _ => false,
    };
    args.iter().filter(|_| is_loop).find_map(|arg| match &arg.expr.kind {
        ExprKind::Lambda { params, body } => {
            let mut names = Vec::new();
            params.iter().for_each(|pattern| bound(pattern, &mut names));
            of_turns(program, body, names)
        }
        _ => None,
    })
}

fn of_turns(program: &Program, body: &Expr, names: Vec<(LocalId, &str)>) -> Option<Diagnostic> {
    let mut inside: BTreeSet<LocalId> = names.iter().map(|(local, _)| *local).collect();
    all_bound(body, &mut inside);
    let drawn = Turns { program, inside }.drawn(body)?;
    let message = "each turn draws the same random numbers";
    let here = "the same seed in each turn";
    Some(Diagnostic::error("E0326", message, drawn.span, here).warning().help(
        "with the number of the turn each has a seed of its own, `random (seed + i) n`, or the numbers for all turns are drawn \
         before the loop; what is meant to be the same has a name before it",
    ))
}

/// The locals that are bound somewhere in an expression.
fn all_bound(expr: &Expr, inside: &mut BTreeSet<LocalId>) {
    let mut names = Vec::new();
    expr.for_each_pattern(&mut |pattern| bound(pattern, &mut names));
    inside.extend(names.iter().map(|(local, _)| *local));
    if let ExprKind::LetFunction { local, .. } = &expr.kind {
        inside.insert(*local);
    }
    expr.for_each_child(&mut |child| all_bound(child, inside));
}

/// Looks for numbers that are drawn in each turn of a loop.
struct Turns<'p> {
    program: &'p Program,
    /// What is bound in a turn.
    inside: BTreeSet<LocalId>,
}

impl<'p> Turns<'p> {
    /// The application that draws numbers by nothing of the turn, unless the turn says which of them it takes.
    fn drawn(&self, expr: &'p Expr) -> Option<&'p Expr> {
        let is_drawn = |function: &Expr| draws(self.program, function, &mut BTreeSet::new());
        match &expr.kind {
            ExprKind::Apply { function, .. } if !self.depends(expr) && is_drawn(function) => {
                return Some(expr);
            }
            // The array is the same in each turn, and what is taken of it is not.
            ExprKind::Apply { .. }
                if self.chosen_of(expr).is_some_and(|array| !self.depends(array)) =>
            {
                return None;
            }
            ExprKind::Slice { array, .. } if !self.depends(array) && self.depends(expr) => {
                return None;
            }
            ExprKind::Let { pattern, body, .. } if self.is_indexed(pattern, body) => {
                return self.drawn(body);
            }
            _ => {}
        }
        let mut found = None;
        expr.for_each_child(&mut |child| found = found.or_else(|| self.drawn(child)));
        found
    }

    /// Whether an expression has something of the turn in it.
    fn depends(&self, expr: &Expr) -> bool {
        any(
            expr,
            &mut |expr| matches!(&expr.kind, ExprKind::Local(local, _) if self.inside.contains(local)),
        )
    }

    /// The array of which this is an element, if it is another one in each turn.
    fn chosen_of<'e>(&self, expr: &'e Expr) -> Option<&'e Expr> {
        let ExprKind::Apply { function, args, .. } = &expr.kind else { return None };
        let ExprKind::Builtin(Builtin::Index(_), _) = &function.kind else { return None };
        let (array, indices) = args.split_first()?;
        indices.iter().any(|index| self.depends(&index.expr)).then_some(&array.expr)
    }

    /// Whether a turn takes elements by their numbers of what a `let` binds.
    fn is_indexed(&self, pattern: &Pattern, body: &Expr) -> bool {
        let mut names = Vec::new();
        bound(pattern, &mut names);
        let is_name = |array: &Expr| matches!(&array.kind, ExprKind::Local(local, _) if names.iter().any(|(own, _)| own == local));
        any(body, &mut |expr| match &expr.kind {
            ExprKind::Slice { array, .. } => is_name(array),
            _ => self.chosen_of(expr).is_some_and(is_name),
        })
    }
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
