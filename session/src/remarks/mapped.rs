//! E0320: a definition that is mapped over an argument, as a parameter whose rank nothing says was taken for
//! one element.
//!
//! In `def accuracy p y = f64 (count (p == y)) / f64 (length y)` the length makes `y` an array, and then `p` may be one
//! element for all of `y` or an array like it. It is one element (`check/rank.rs` of `lang`, Note [Implicit map]), so an array
//! for `p` is mapped over: an accuracy for each of its elements.

use weft_lang::typed::{Arg, Expr, ExprKind, Function, FunctionRef, Program};
use weft_lang::{Diagnostic, Global};

use crate::prelude;
use crate::state::State;

/// What there is to say about an application.
pub(super) fn remark(
    program: &Program,
    state: &State,
    function: &Expr,
    args: &[Arg],
) -> Option<Diagnostic> {
    let (definition, given) = applied(program, state, function)?;
    if definition.span.source == prelude::SOURCE {
        return None;
    }
    let chosen = definition.guesses.iter().filter(|guess| guess.rank == 0);
    let (guess, arg) = chosen
        .filter_map(|guess| Some((guess, args.get(guess.parameter.checked_sub(given)?)?)))
        .find(|(_, arg)| arg.mapped)?;
    let (callee, name, ty) = (&definition.name, &guess.name, &arg.expr.ty);
    let message =
        format!("`{callee}` is mapped over this array: it takes `{name}` for one element");
    let element = ty.peel().1;
    let remark =
        Diagnostic::error("E0320", message, arg.expr.span, format!("this is {ty}")).warning();
    Some(match &guess.of {
        None => remark
            .note(format!("nothing in the definition of `{callee}` says what `{name}` is"))
            .help(format!(
                "if the whole array is meant, write `({name} : {ty})` there; `({name} : {element})` says that one \
                 element is"
            )),
        Some((other, parameter)) => remark
            .note(format!(
                "`{name}` goes to `{other}`, and nothing in the definition of that says what `{parameter}` is"
            ))
            .help(format!(
                "if the whole array is meant, write `({parameter} : {ty})` in the definition of `{other}`; \
                 `({parameter} : {element})` says that one element is"
            )),
    })
}

/// The definition that is applied, and how many arguments it has been given before.
fn applied<'s>(
    program: &Program,
    state: &'s State,
    function: &Expr,
) -> Option<(&'s Function, usize)> {
    /// Names for partial applications of partial applications.
    const MOST_NAMES: usize = 16;
    let (mut function, mut given) = (function, 0);
    for _ in 0..MOST_NAMES {
        match &function.kind {
            ExprKind::Apply { function: inner, args, .. } => {
                given += args.len();
                function = inner;
            }
            ExprKind::Function(FunctionRef::Instance(id)) => {
                let instance = program.instances.get(id.0 as usize)?;
                // `h = f x`
                if let ExprKind::Apply { .. } | ExprKind::Function(_) = &instance.body.kind {
                    function = &instance.body;
                    continue;
                }
                return match state.environment.global(instance.global)? {
                    Global::Function(definition) => Some((definition, given)),
                    Global::Value { .. } => None,
                };
            }
            _ => return None,
        }
    }
    None
}
