//! E0322: brackets around a range, `[1..5]`, which are an array of one array.
//!
//! In other languages the brackets belong to the range. Here a range is an array by itself, and brackets make a matrix of
//! one row of it. Who means that can say so with `[(1..5)]`, or with a type; and where an array of arrays is asked for,
//! as by `transpose` or beside `++`, it is what is meant.

use weft_ir::Span;
use weft_lang::Diagnostic;
use weft_lang::{Binding, Global};

use weft_lang::builtins::{self, Builtin};
use weft_lang::typed::{Arg, Expr, ExprKind, FunctionRef, LoopControl, Pattern, Program};
use weft_lang::types::Type;

use super::brackets::{BareRange, Brackets};
use crate::sources::Sources;
use crate::state::State;

/// What there is to say about an array.
pub(super) fn remark(
    array: &Expr,
    sources: &Sources,
    brackets: &mut Brackets,
) -> Option<Diagnostic> {
    only_range(array)?;
    let BareRange { range, stop } = brackets.range(array.span, sources)?;
    let (written, stop) = (sources.slice(range), sources.slice(stop));
    Some(
        Diagnostic::error(
            "E0322",
            "a range in brackets is an array of one array",
            array.span,
            format!("this is {}", array.ty),
        )
        .warning()
        .help(format!("a range is an array by itself: `{written}`, without {stop}"))
        .note(format!("if one row is meant, `[({written})]` says so")),
    )
}

/// The place of an array of which a range is the only element.
fn only_range(array: &Expr) -> Option<Span> {
    let ExprKind::Array(elements) = &array.kind else { return None };
    let [range] = &elements[..] else { return None };
    let ExprKind::Apply { function, .. } = &range.kind else { return None };
    matches!(function.kind, ExprKind::Builtin(Builtin::Range, _)).then_some(array.span)
}

/// The parts of an expression that are rows where rows are asked for.
pub(super) fn rows_asked_for(
    program: &Program,
    state: &State,
    sources: &Sources,
    expr: &Expr,
) -> Vec<Span> {
    let asking = Asking { program, state, sources };
    match &expr.kind {
        ExprKind::Apply { function, args, .. } => {
            let arrays = args.iter().enumerate().filter(|(_, arg)| !arg.mapped);
            arrays
                .filter_map(|(position, arg)| Some((position, only_range(&arg.expr)?)))
                .filter(|(position, _)| asking.for_rows(function, args, *position))
                .map(|(_, span)| span)
                .collect()
        }
        ExprKind::Comprehension { body, generators, filter } => {
            let is_used = |pattern: &Pattern| {
                asking.uses_array(body, pattern)
                    || filter.as_ref().is_some_and(|filter| asking.uses_array(filter, pattern))
            };
            let used = generators.iter().filter(|(pattern, _)| is_used(pattern));
            used.filter_map(|(_, source)| only_range(source)).collect()
        }
        ExprKind::Loop { control: LoopControl::Each(pattern, source), body, .. }
            if asking.uses_array(body, pattern) =>
        {
            only_range(source).into_iter().collect()
        }
        // The other side, written in another way, has the same type: so rows are known there.
        ExprKind::If { then, otherwise, .. } => match (only_range(then), only_range(otherwise)) {
            (Some(span), None) | (None, Some(span)) => vec![span],
            (Some(_), Some(_)) | (None, None) => Vec::new(),
        },
        // The field was an array of arrays before.
        ExprKind::RecordUpdate { fields, .. } => {
            fields.iter().filter_map(|(_, value)| only_range(value)).collect()
        }
        _ => Vec::new(),
    }
}

/// What functions ask for.
struct Asking<'p> {
    program: &'p Program,
    state: &'p State,
    sources: &'p Sources,
}

impl Asking<'_> {
    /// Whether an argument is to be an array of arrays.
    fn for_rows(&self, function: &Expr, args: &[Arg], position: usize) -> bool {
        match &self.head(function).kind {
            // Joined with an array of arrays that is written in another way.
            ExprKind::Builtin(Builtin::Concat, _) => {
                args.iter().any(|other| only_range(&other.expr).is_none())
            }
            ExprKind::Builtin(..) => {
                // Another argument is a row, as the start value of a fold, or a function that takes rows.
                let row = element(&args[position].expr.ty);
                let is_row = |other: &Arg| !other.mapped && Some(&other.expr.ty) == row;
                self.rank(function, position) > 1
                    || args.iter().any(is_row)
                    || args.first().is_some_and(|first| self.takes_array(&first.expr))
            }
            ExprKind::Function(_) => self.rank(function, position) > 1,
            // What a local function takes is not known here, and in doubt nothing is said.
            _ => true,
        }
    }

    /// Whether a function takes an array first.
    fn takes_array(&self, function: &Expr) -> bool {
        match &function.kind {
            ExprKind::Lambda { params, body } => {
                params.first().is_some_and(|param| self.uses_array(body, param))
            }
            ExprKind::Apply { function, args, .. } => self.rank(function, args.len()) > 0,
            ExprKind::Builtin(..) | ExprKind::Function(_) => self.rank(function, 0) > 0,
            _ => false,
        }
    }

    /// Whether a variable is used in an expression where an array is asked for: then it is a row.
    fn uses_array(&self, body: &Expr, pattern: &Pattern) -> bool {
        let Pattern::Local { local, .. } = pattern else { return false };
        let is_it = |expr: &Expr| matches!(&expr.kind, ExprKind::Local(other, _) if other == local);
        let mut found = match &body.kind {
            ExprKind::Apply { function, args, .. } => {
                let mut args = args.iter().enumerate();
                args.any(|(position, arg)| {
                    !arg.mapped && is_it(&arg.expr) && self.rank(function, position) > 0
                })
            }
            ExprKind::Slice { array, .. } => is_it(array),
            ExprKind::Comprehension { generators, .. } => {
                generators.iter().any(|(_, source)| is_it(source))
            }
            ExprKind::Loop { control: LoopControl::Each(_, source), .. } => is_it(source),
            _ => false,
        };
        body.for_each_child(&mut |child| found = found || self.uses_array(child, pattern));
        found
    }

    /// How many axes a parameter of a function has, as far as its signature or definition says.
    fn rank(&self, function: &Expr, position: usize) -> usize {
        // `def total (m : [][]i64) = length m` has become `length`, to which an array of any rank can be given. The name
        // that is written here leads to the signature of `total`, which asks for more.
        let written = self.sources.slice(function.span);
        let named = match self.state.environment.lookup(written) {
            Some(Binding::Global(global)) => self.state.environment.global(*global),
            Some(Binding::Alias(_) | Binding::Broken) | None => None,
        };
        let of_global = |global: Option<&Global>| match global {
            Some(Global::Function(function)) => parameter_rank(&function.scheme.ty, position),
            Some(Global::Value { .. }) | None => 0,
        };
        let own = match &self.head(function).kind {
            ExprKind::Builtin(Builtin::Index(_), _) => usize::from(position == 0),
            ExprKind::Builtin(builtin, _) => {
                let entry = builtins::all().find(|entry| entry.builtin == *builtin);
                entry.map_or(0, |entry| rank_in_signature(entry.signature, position))
            }
            ExprKind::Function(FunctionRef::Instance(id)) => {
                let instance = self.program.instances.get(id.0 as usize);
                of_global(instance.and_then(|of| self.state.environment.global(of.global)))
            }
            _ => 0,
        };
        own.max(of_global(named))
    }

    /// What a function is another name for.
    fn head<'e>(&'e self, function: &'e Expr) -> &'e Expr {
        super::head(self.program, function)
    }
}

/// How many axes a parameter of a builtin has, by its signature.
fn rank_in_signature(signature: &str, position: usize) -> usize {
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
    let parameter = parameters.get(position).map_or("", |parameter| parameter.trim());
    parameter.len().saturating_sub(parameter.trim_start_matches("[]").len()) / 2
}

/// The type of the elements of an array.
fn element(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(element) => Some(element),
        _ => None,
    }
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
    use super::rank_in_signature;

    #[test]
    fn signatures_tell_how_many_axes_parameters_have() {
        assert_eq!(rank_in_signature("[][]a -> [][]a", 0), 2);
        assert_eq!(rank_in_signature("Num a => [][]a -> [][]a -> [][]a", 1), 2);
        assert_eq!(rank_in_signature("[]a -> i64", 0), 1);
        assert_eq!(rank_in_signature("(a -> [][]b) -> []a -> [][]b", 0), 0);
        assert_eq!(rank_in_signature("(a -> [][]b) -> []a -> [][]b", 1), 1);
    }
}
