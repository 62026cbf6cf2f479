//! E0322: brackets around a range, `[1..5]`, which are an array of one array.
//!
//! In other languages the brackets belong to the range. Here a range is an array by itself, and brackets make a matrix of
//! one row of it. Who means that can say so with `[(1..5)]`; and where an array of arrays is asked for, as by
//! `transpose` or beside `++`, it is what is meant.

use weft_ir::Span;
use weft_lang::Diagnostic;
use weft_lang::Global;
use weft_lang::builtins::{self, Builtin};
use weft_lang::typed::{Arg, Expr, ExprKind, FunctionRef, Program};
use weft_lang::types::Type;

use crate::sources::Sources;
use crate::state::State;

/// What there is to say about an array.
pub(super) fn remark(array: &Expr, sources: &Sources) -> Option<Diagnostic> {
    let range = only_range(array)?;
    let written = sources.slice(range);
    // In parentheses it is meant, and where a type beside it says so.
    let is_meant = written.starts_with('(') || sources.line(array.span).contains("[][]");
    if !written.contains("..") || is_meant {
        return None;
    }
    // A stop with a range of its own is not looked for.
    let parts: Vec<&str> = written.split("..").collect();
    let stop = match parts[..] {
        [_, rest] => rest.split(" by ").next().map(str::trim),
        _ => None,
    };
    let without = stop.map_or(String::new(), |stop| format!(", without {stop}"));
    Some(
        Diagnostic::error(
            "E0322",
            "a range in brackets is an array of one array",
            array.span,
            format!("this is {}", array.ty),
        )
        .warning()
        .help(format!("a range is an array by itself: `{written}`{without}"))
        .note(format!("if one row is meant, `[({written})]` says so")),
    )
}

/// The range that is all an array holds.
fn only_range(array: &Expr) -> Option<Span> {
    let ExprKind::Array(elements) = &array.kind else { return None };
    let [range] = &elements[..] else { return None };
    let ExprKind::Apply { function, .. } = &range.kind else { return None };
    matches!(function.kind, ExprKind::Builtin(Builtin::Range, _)).then_some(range.span)
}

/// The arguments of an application that are rows where rows are asked for.
pub(super) fn rows_asked_for(
    program: &Program,
    state: &State,
    head: &Expr,
    args: &[Arg],
) -> Vec<Span> {
    let asks = |position: usize| match &head.kind {
        // Joined with other rows.
        ExprKind::Builtin(Builtin::Concat, _) => {
            args.iter().any(|other| only_range(&other.expr).is_none())
        }
        ExprKind::Builtin(builtin, _) => {
            let entry = builtins::all().find(|entry| entry.builtin == *builtin);
            entry.is_some_and(|entry| asks_for_rows(entry.signature, position))
        }
        ExprKind::Function(FunctionRef::Instance(id)) => {
            let global = program.instances.get(id.0 as usize).map(|instance| instance.global);
            match global.and_then(|global| state.environment.global(global)) {
                Some(Global::Function(function)) => {
                    parameter_rank(&function.scheme.ty, position) > 1
                }
                Some(Global::Value { .. }) | None => true,
            }
        }
        // What a local function takes is not known here.
        _ => true,
    };
    let arrays = args.iter().enumerate().filter(|(_, arg)| !arg.mapped);
    arrays
        .filter(|(position, arg)| only_range(&arg.expr).is_some() && asks(*position))
        .map(|(_, arg)| arg.expr.span)
        .collect()
}

/// Whether a parameter of a builtin is an array of arrays, by its signature.
fn asks_for_rows(signature: &str, position: usize) -> bool {
    let ty = signature.rsplit("=>").next().unwrap_or_default();
    let mut depth = 0_i32;
    let mut parameters = vec![String::new()];
    for letter in ty.replace("->", "\n").chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        match (letter, parameters.last_mut()) {
            ('\n', _) if depth == 0 => parameters.push(String::new()),
            (_, Some(last)) => last.push(letter),
            (_, None) => {}
        }
    }
    parameters.get(position).is_some_and(|parameter| parameter.trim().starts_with("[][]"))
}

/// How many axes a parameter of a function has.
fn parameter_rank(ty: &Type, position: usize) -> usize {
    let mut ty = ty;
    for _ in 0..position {
        let Type::Function(_, rest) = ty else { return 0 };
        ty = rest;
    }
    match ty {
        Type::Function(parameter, _) => parameter.peel().0,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::asks_for_rows;

    #[test]
    fn signatures_tell_which_parameters_are_rows() {
        assert!(asks_for_rows("[][]a -> [][]a", 0));
        assert!(asks_for_rows("Num a => [][]a -> [][]a -> [][]a", 1));
        assert!(!asks_for_rows("[]a -> i64", 0));
        assert!(!asks_for_rows("(a -> [][]b) -> []a -> [][]b", 0));
        assert!(!asks_for_rows("(a -> [][]b) -> []a -> [][]b", 1));
    }
}
