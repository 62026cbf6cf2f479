//! Which parts of an operator some numbers make use of.
//!
//! Note [Domains that use all of an operator]. Of numbers that are not negative, `max 0 (s + x)` is associative, but
//! whoever writes `max 0` expects others. So a domain speaks for an operator only if it uses all of its
//! choices: a comparison in it replaced by `true` or by `false`, or a `max` by one of its operands, must be
//! noticed there, if any domain notices it.

use std::sync::Arc;

use weft_ir::{Scalar, ScalarOp};
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Expr, ExprKind, Instance, Program};
use weft_lang::types::Type;

/// How many choices of an operator are looked at.
const MOST_CHOICES: usize = 8;

/// The program of an operator with one of its choices fixed, in all ways.
pub(super) fn mutants(program: &Program) -> Vec<Program> {
    let mut mutants = Vec::new();
    for choice in 0..MOST_CHOICES {
        let found = mutants.len();
        mutants.extend((0..2).filter_map(|way| mutant(program, choice, way)));
        if mutants.len() == found {
            break;
        }
    }
    mutants
}

fn mutant(program: &Program, choice: usize, way: usize) -> Option<Program> {
    let mut left = choice;
    let mut mutant = program.clone();
    if fix(&mut mutant.entry, &mut left, way) {
        return Some(mutant);
    }
    for instance in &mut mutant.instances {
        let mut body = Expr::clone(&instance.body);
        if fix(&mut body, &mut left, way) {
            *instance = Instance { body: Arc::new(body), ..instance.clone() };
            return Some(mutant);
        }
    }
    None
}

/// Fixes the choice before which there are `left` others, and says whether there is one.
fn fix(expr: &mut Expr, left: &mut usize, way: usize) -> bool {
    if let Some(fixed) = fixed(expr, way) {
        if *left == 0 {
            *expr = fixed;
            return true;
        }
        *left -= 1;
    }
    let mut is_done = false;
    expr.for_each_child_mut(&mut |child| is_done = is_done || fix(child, left, way));
    is_done
}

/// A choice with its outcome fixed.
fn fixed(expr: &Expr, way: usize) -> Option<Expr> {
    use ScalarOp::{Abs, Clip, Eq, Ge, Gt, Le, Lt, Max, Min, Ne};
    let ExprKind::Apply { function, args, depth: 0 } = &expr.kind else { return None };
    let ExprKind::Builtin(Builtin::Op(op), _) = &function.kind else { return None };
    match (op, &args[..]) {
        (Eq | Ne | Lt | Le | Gt | Ge, [_, _]) => {
            let kind = ExprKind::Scalar(Scalar::Bool(way == 0));
            Some(Expr { kind, ..expr.clone() })
        }
        (Min | Max, [_, _]) => Some(args[way].expr.clone()),
        (Abs, [arg]) => Some(arg.expr.clone()),
        // Only one of the bounds is left.
        (Clip, [bound, other, arg]) => {
            let (op, bound) = if way == 0 { (Max, bound) } else { (Min, other) };
            let Type::Function(_, of_two) = &function.ty else { return None };
            let ExprKind::Builtin(_, types) = &function.kind else { return None };
            let kind = ExprKind::Builtin(Builtin::Op(op), types.clone());
            let function = Box::new(Expr { kind, ty: Type::clone(of_two), span: function.span });
            let args = vec![bound.clone(), arg.clone()];
            Some(Expr { kind: ExprKind::Apply { function, args, depth: 0 }, ..expr.clone() })
        }
        _ => None,
    }
}
