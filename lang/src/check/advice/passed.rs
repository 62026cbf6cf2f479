//! Functions that are passed: to a definition that takes them for functions of numbers, to a fold whose state is of
//! another type than its elements, to `map` over pairs.

use weft_ir::Name;

use super::call::{names_of, parameters};
use super::written::{argument, written};
use crate::ast::{ApplyForm, Expr, ExprKind, Pattern, PatternKind};
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::types::Type;

/// What there is to say about an application around a report.
pub(super) fn advice(checker: &mut Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    let ExprKind::Apply { function, args, form } = &expr.kind else { return None };
    let ExprKind::Name(name) = &function.kind else { return None };
    if *form == ApplyForm::Operator {
        return None;
    }
    let position = args.iter().position(|arg| arg.span.contains(found.span()))?;
    of_vectors(checker, name, args, position, found)
        .or_else(|| from_left_to_right(checker, name, args, position, found))
        .or_else(|| over_pairs(checker, name, args, position, found))
}

/// `gd grad [1.0, 2.0]`, where `grad` is a function of vectors and the definition has not said so.
fn of_vectors(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
    found: &Diagnostic,
) -> Option<String> {
    let is_own = matches!(args[position].kind, ExprKind::Lambda { .. })
        || args[position].span == found.span();
    if !is_own || checker.is_builtin(name) || !matches!(found.code, "E0301" | "E0303" | "E0307") {
        return None;
    }
    let params = parameters(checker, name)?;
    let Type::Function(from, to) = checker.table.shallow(params.get(position)?) else {
        return None;
    };
    let (from, to) = (checker.table.peel(&from), checker.table.peel(&to));
    let is_number = match &from.1 {
        Type::Var(var) => checker.table.state(*var).is_some_and(|open| open.class.is_some()),
        Type::Scalar(_) => true,
        _ => false,
    };
    if from.0 > 0 || to.0 > 0 || !is_number {
        return None;
    }
    // An array that goes where such a number does.
    let array = args.iter().zip(&params).find_map(|(arg, param)| {
        let is_such = checker.table.peel(param) == from;
        let ty = checker.type_at(arg.span).filter(|ty| is_such && checker.table.peel(ty).0 > 0)?;
        Some(checker.annotation(&ty))
    })?;
    let names = names_of(checker, name)?;
    let parameter = names.split(' ').nth(position)?;
    Some(format!(
        "`{name}` takes `{parameter}` for a function of one number, as nothing in its definition says more; write \
         `({parameter} : {array} -> {array})` there"
    ))
}

/// `fold (\n w -> n + length w) 0 words`: what is passed is a step, and no associative operator.
fn from_left_to_right(
    checker: &Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
    found: &Diagnostic,
) -> Option<String> {
    let [Expr { kind: ExprKind::Lambda { params, body }, .. }, start, array] = args else {
        return None;
    };
    let ([state, element], true) = (&params[..], checker.is_builtin(name)) else { return None };
    let is_scan = matches!(&**name, "scan" | "scanl");
    if !(is_scan || &**name == "fold") || position == 1 || found.code == "E0201" {
        return None;
    }
    let of = |expr: &Expr| Some(checker.table.peel(&checker.type_at(expr.span)?));
    let ((start_rank, start_head), (rank, element_head)) = (of(start)?, of(array)?);
    let kinds = (kind(checker, &start_head), kind(checker, &element_head));
    let grows = matches!(&start.kind, ExprKind::Array(parts) if parts.is_empty());
    let is_one_type = start_rank + 1 == rank && (kinds.0 == kinds.1 || kinds.0 == Kind::Unknown);
    if is_one_type {
        return None;
    }
    let xs = written(array).unwrap_or_else(|| "xs".to_owned());
    let z = written(start).unwrap_or_else(|| "z".to_owned());
    let patterns = pattern(state).zip(pattern(element));
    let parts = patterns.zip(written(body)).filter(|_| !is_scan || grows);
    let what = "the operator of a fold or a scan combines values of one type, in any order";
    Some(match parts {
        Some(((state, element), body)) => format!(
            "{what}; from left to right goes `loop {state} = {z} for {element} in {xs} do {body}`"
        ),
        None if is_scan => {
            let xs = argument(array).unwrap_or_else(|| "xs".to_owned());
            let z = argument(start).unwrap_or_else(|| "z".to_owned());
            let step = argument(&args[0]).unwrap_or_else(|| "step".to_owned());
            format!("{what}; from left to right goes `states {step} {z} {xs}`")
        }
        None => format!("{what}; from left to right goes `loop s = {z} for x in {xs} do …`"),
    })
}

/// `map (\a b -> a + b) (zip xs ys)`: each element is one pair.
fn over_pairs(
    checker: &Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
    found: &Diagnostic,
) -> Option<String> {
    let [Expr { kind: ExprKind::Lambda { params, body }, .. }, pairs] = args else { return None };
    let is_map = matches!(&**name, "map" | "filter" | "all" | "any") && checker.is_builtin(name);
    if !is_map || position != 0 || params.len() < 2 || found.code == "E0201" {
        return None;
    }
    let Type::Tuple(parts) = checker.table.peel(&checker.type_at(pairs.span)?).1 else {
        return None;
    };
    if parts.len() != params.len() {
        return None;
    }
    let names: Option<Vec<String>> = params.iter().map(pattern).collect();
    let names = names?;
    let body = written(body).unwrap_or_else(|| "…".to_owned());
    let pairs = argument(pairs).unwrap_or_else(|| "pairs".to_owned());
    Some(format!(
        "each element is one tuple: `{name} (\\({}) -> {body}) {pairs}`",
        names.join(", ")
    ))
}

/// What values under some axes are.
#[derive(PartialEq)]
enum Kind {
    Number,
    Scalar(weft_ir::ScalarType),
    Tuple,
    Unknown,
    Other,
}

fn kind(checker: &Checker<'_>, head: &Type) -> Kind {
    match head {
        Type::Scalar(scalar) if scalar.is_int() || scalar.is_float() => Kind::Number,
        Type::Scalar(scalar) => Kind::Scalar(*scalar),
        Type::Var(var) => match checker.table.state(*var).and_then(|open| open.class) {
            Some(_) => Kind::Number,
            None => Kind::Unknown,
        },
        Type::Tuple(_) => Kind::Tuple,
        _ => Kind::Other,
    }
}

/// A pattern as it could be written: a name, or a tuple of names.
fn pattern(pattern: &Pattern) -> Option<String> {
    match &pattern.kind {
        PatternKind::Name(name) => Some(name.to_string()),
        PatternKind::Tuple(parts) => {
            let parts: Option<Vec<String>> = parts.iter().map(self::pattern).collect();
            Some(format!("({})", parts?.join(", ")))
        }
        _ => None,
    }
}
