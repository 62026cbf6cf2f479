//! E0320: a definition that is mapped over an argument, as a parameter whose rank nothing says was taken for
//! one element.
//!
//! In `def accuracy p y = f64 (count (p == y)) / f64 (length y)` the length makes `y` an array, and then `p` may be one
//! element for all of `y` or an array like it. It is one element (`check/rank.rs` of `lang`, Note [Implicit map]), so an array
//! for `p` is mapped over: an accuracy for each of its elements.

use weft_lang::typed::{Arg, Expr, ExprKind, FunctionRef, Program};
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
    let ExprKind::Function(FunctionRef::Instance(id)) = &function.kind else { return None };
    let global = program.instances.get(id.0 as usize)?.global;
    let Global::Function(definition) = state.environment.global(global)? else { return None };
    if definition.span.source == prelude::SOURCE {
        return None;
    }
    let chosen = definition.guesses.iter().filter(|guess| guess.rank == 0);
    let (guess, arg) = chosen
        .filter_map(|guess| Some((guess, args.get(guess.parameter)?)))
        .find(|(_, arg)| arg.mapped)?;
    let (callee, name, ty) = (&definition.name, &guess.name, &arg.expr.ty);
    let message =
        format!("`{callee}` is mapped over this array: it takes `{name}` for one element");
    let element = ty.peel().1;
    Some(
        Diagnostic::error("E0320", message, arg.expr.span, format!("this is {ty}"))
            .warning()
            .note(format!("nothing in the definition of `{callee}` says what `{name}` is"))
            .help(format!(
                "if the whole array is meant, write `({name} : {ty})` there; `({name} : {element})` says that one \
                 element is"
            )),
    )
}
