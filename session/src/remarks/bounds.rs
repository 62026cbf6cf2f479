//! E0323: `clip` whose bounds stand behind the values, as in NumPy.
//!
//! `clip lo hi x` takes the bounds first, so that `clip 0 1` is a function. `clip xs 0 1` limits 1 to bounds of which the
//! lower one is an element of `xs`: each result is the upper bound 0, or the lower one.

use weft_ir::ScalarOp;
use weft_lang::Diagnostic;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr};

use crate::sources::Sources;

/// What there is to say about an application.
pub(super) fn remark(
    builtin: Builtin,
    function: &Expr,
    args: &[Arg],
    sources: &Sources,
) -> Option<Diagnostic> {
    let (Builtin::Op(ScalarOp::Clip), [first, second, third]) = (builtin, args) else {
        return None;
    };
    let written = |arg: &Arg| sources.slice(arg.expr.span);
    // Lower bounds one by one, for one number below one upper bound, are hardly meant.
    if !first.mapped || second.mapped || third.mapped {
        return None;
    }
    let name = sources.slice(function.span);
    let message = format!("`{name}` takes the bounds first, and here the lower one is an array");
    let help = format!("write `{name} {} {} {}`", written(second), written(third), written(first));
    let place = first.expr.span;
    Some(Diagnostic::error("E0323", message, place, "this is the lower bound").warning().help(help))
}
