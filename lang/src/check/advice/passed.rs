//! Functions that are passed: to a definition that takes them for functions of numbers, to a fold whose state is of
//! another type than its elements, to `map` over pairs.

use weft_ir::Name;

use super::call::{is_function, names_of, parameters};
use super::number::is_of_the_start;
use super::written::{argument, written};
use crate::ast::{ApplyForm, Expr, ExprKind, Pattern, PatternKind, TypeExprKind};
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
    states(checker, name, args, position, found)
        .or_else(|| keys(checker, name, args, position, found))
        .or_else(|| of_vectors(checker, name, args, position, found))
        .or_else(|| from_left_to_right(checker, name, args, position, found))
        .or_else(|| over_pairs(checker, name, args, position, found))
}

/// `states (\x -> x * 2) 1 5`, where the step has no element; `states f xs z`; and a step that yields a state and something else.
fn states(
    checker: &Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
    found: &Diagnostic,
) -> Option<String> {
    let [step, start, elements] = args else { return None };
    let is_it = &**name == "states" && is_of_the_start(checker, name) && found.code != "E0201";
    if !is_it {
        return None;
    }
    let (z, of) = (argument(start), argument(elements));
    let (z, of) = (z.unwrap_or_else(|| "z".to_owned()), of.unwrap_or_else(|| "n".to_owned()));
    let rank = |expr: &Expr| checker.rank_at(expr.span);
    if let ExprKind::Lambda { params, body } = &step.kind
        && let [state] = &params[..]
        && rank(elements) != Some(1)
    {
        let state = pattern(state).unwrap_or_else(|| "s".to_owned());
        let body = written(body).unwrap_or_else(|| "…".to_owned());
        return Some(format!(
            "the step takes the state and an element, here the turn: `states (\\{state} _ -> {body}) {z} (0..{of})`"
        ));
    }
    if let (0, Some((state, of_tuple)), false) =
        (position, tuple_of_step(step), matches!(start.kind, ExprKind::Tuple(_)))
        && matches!(found.code, "E0301" | "E0312")
    {
        let more = ", …".repeat(of_tuple - 1);
        let rest = ", _".repeat(of_tuple - 1);
        let last = of_tuple - 1;
        return Some(format!(
            "all that a step yields is the next state: it takes `({state}{rest})`, begins with `({z}{more})`, and part {last} \
             of the states is `.{last}`"
        ));
    }
    let are_exchanged = rank(elements) == Some(0) && rank(start) > Some(0) && position > 0;
    are_exchanged.then(|| {
        let step = argument(step).unwrap_or_else(|| "step".to_owned());
        format!("the first state stands before the elements: `states {step} {of} {z}`")
    })
}

/// The state that a step takes, as it is written, if it yields a tuple of so many parts and takes none.
fn tuple_of_step(step: &Expr) -> Option<(String, usize)> {
    let ExprKind::Lambda { params, body } = &step.kind else { return None };
    let [state, _] = &params[..] else { return None };
    let mut last = &**body;
    while let ExprKind::Let { body, .. } = &last.kind {
        last = body;
    }
    match &last.kind {
        ExprKind::Tuple(parts) if !matches!(state.kind, PatternKind::Tuple(_)) => {
            Some((pattern(state)?, parts.len()))
        }
        _ => None,
    }
}

/// `groupBy (\x -> x % 2) xs`, `sortBy (-) xs`: keys of another kind than the function takes.
fn keys(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
    found: &Diagnostic,
) -> Option<String> {
    let [key, xs] = args else { return None };
    if position != 0 || found.code == "E0201" || !checker.is_builtin(name) {
        return None;
    }
    match &**name {
        "groupBy" if is_function(checker, key) => {
            let key = argument(key).unwrap_or_else(|| "f".to_owned());
            let xs = argument(xs).unwrap_or_else(|| "xs".to_owned());
            Some(format!("it takes the key of each element: `groupBy (map {key} {xs}) {xs}`"))
        }
        "sortBy" if takes_two(checker, key) => {
            let xs = argument(xs).unwrap_or_else(|| "xs".to_owned());
            Some(format!(
                "it takes a function of one element, its key, and no comparison; in descending order goes \
                 `sortDesc {xs}`"
            ))
        }
        _ => None,
    }
}

/// Whether a function compares or combines two values.
fn takes_two(checker: &mut Checker<'_>, function: &Expr) -> bool {
    match &function.kind {
        ExprKind::Lambda { params, .. } => params.len() == 2,
        ExprKind::Name(name) => parameters(checker, name).is_some_and(|params| params.len() == 2),
        _ => false,
    }
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
    let mut to = checker.table.shallow(params.get(position)?);
    let mut takes = Vec::new();
    while let Type::Function(from, result) = &to {
        takes.push(checker.table.peel(from));
        to = checker.table.shallow(result);
    }
    let is_number = |ty: &Type| match ty {
        Type::Var(var) => checker.table.state(*var).is_some_and(|open| open.class.is_some()),
        Type::Scalar(_) => true,
        _ => false,
    };
    if takes.is_empty() || !takes.iter().all(|(rank, head)| *rank == 0 && is_number(head)) {
        return None;
    }
    let to = checker.table.peel(&to);
    if to.0 > 0 {
        return None;
    }
    // An array that goes where such a number does.
    let array = args.iter().zip(&params).find_map(|(arg, param)| {
        let is_such = takes.contains(&checker.table.peel(param));
        let ty = checker.type_at(arg.span).filter(|ty| is_such && checker.table.peel(ty).0 > 0)?;
        Some(checker.annotation(&ty))
    })?;
    let names = names_of(checker, name)?;
    let parameter = names.split(' ').nth(position)?;
    let (of, types) = match &takes[..] {
        [_] => ("one number", array.clone()),
        several => {
            let arrays = array_parameters(checker, &args[position], several.len())?;
            let number = array.trim_start_matches("[]");
            let types = arrays.into_iter().map(|is_array| match is_array {
                true => &array[..],
                false => number,
            });
            ("numbers", types.collect::<Vec<_>>().join(" -> "))
        }
    };
    Some(format!(
        "`{name}` takes `{parameter}` for a function of {of}, as nothing in its definition says more; write \
         `({parameter} : {types} -> {array})` there"
    ))
}

/// Which parameters of a function that is passed are arrays: those of such a type, and those of which a lambda takes
/// elements.
fn array_parameters(checker: &mut Checker<'_>, function: &Expr, takes: usize) -> Option<Vec<bool>> {
    let arrays: Vec<bool> = match &function.kind {
        ExprKind::Lambda { params, body } => {
            let is_array = |param: &Pattern| match &param.kind {
                PatternKind::Typed(_, ty) => matches!(ty.kind, TypeExprKind::Array(..)),
                PatternKind::Name(name) => is_indexed(body, name),
                _ => false,
            };
            params.iter().map(is_array).collect()
        }
        ExprKind::Name(name) => {
            let params = parameters(checker, name)?;
            params.iter().map(|param| checker.table.peel(param).0 > 0).collect()
        }
        _ => return None,
    };
    (arrays.len() == takes && arrays.contains(&true)).then_some(arrays)
}

/// Whether elements of a variable are taken.
fn is_indexed(expr: &Expr, name: &Name) -> bool {
    let is_here = matches!(&expr.kind, ExprKind::Index { array, .. }
        if matches!(&array.kind, ExprKind::Name(of) if of == name));
    let mut found = is_here;
    expr.for_each_child(&mut |child| found = found || is_indexed(child, name));
    found
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
