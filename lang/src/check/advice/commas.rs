//! Calls with commas, with an axis, and what else was expected of a function that takes fewer arguments.

use weft_ir::Name;

use super::call::{is_function, parameters};
use super::number::type_of;
use super::written::{argument, written};
use crate::ast::{ApplyForm, Expr, ExprKind};
use crate::check::Checker;
use crate::environment::{Binding, Global};
use crate::types::Type;

/// Functions of an array that yield one value, and take no axis.
pub(super) const REDUCTIONS: [&str; 15] = [
    "sum", "product", "mean", "maximum", "minimum", "all", "any", "count", "argmax", "argmin",
    "median", "std", "variance", "sort", "argsort",
];

impl Checker<'_> {
    /// What to write in place of `f(x, y)`, a call with commas of a function of as many arguments; and of `range(n)`.
    pub(in crate::check) fn with_commas(&mut self, value: &Expr) -> Option<String> {
        let ExprKind::Apply { function, args, form: ApplyForm::Juxtaposition } = &value.kind else {
            return None;
        };
        if let ExprKind::Name(name) = &function.kind
            && self.is_builtin(name)
            && let Some(help) = begun(self, name, args)
        {
            return Some(help);
        }
        if let ExprKind::Name(name) = &function.kind
            && &**name == "range"
            && self.is_builtin(name)
            && let Some(help) = with_step_of_one(args)
        {
            return Some(format!("`range start stop step` has three arguments; {help}"));
        }
        let (ExprKind::Name(name), [Expr { kind: ExprKind::Tuple(parts), span }]) =
            (&function.kind, &args[..])
        else {
            return None;
        };
        // Of one pair the greater is nothing.
        let is_extreme = matches!(&**name, "max" | "min") && self.is_builtin(name);
        let is_call = function.span.end == span.start || is_extreme;
        if !is_call || parts.len() < 2 || parameters(self, name)?.len() != parts.len() {
            return None;
        }
        with_commas(self, name, parts)
    }
}

/// `fold max xs`, `concat xss`.
fn begun(checker: &Checker<'_>, name: &str, args: &[Expr]) -> Option<String> {
    let of = argument(args.last()?)?;
    let is_array = type_of(checker, args.last()?).map_or(0, |ty| checker.table.peel(&ty).0) > 0
        || matches!(args.last()?.kind, ExprKind::Array(_) | ExprKind::Range { .. });
    match (name, args) {
        ("concat", [_]) => Some(format!("the rows of one array joins `flatten {of}`")),
        ("fold" | "scan", [op, _]) if is_array => {
            let first = if name == "fold" { "fold1" } else { "scanl1" };
            let op = argument(op)?;
            Some(format!(
                "`{name} op z xs` begins with z; from the first element on it is `{first} {op} {of}`"
            ))
        }
        _ => None,
    }
}

/// `range n`, `range a b`, `range(a, b)`.
fn with_step_of_one(args: &[Expr]) -> Option<String> {
    let of = |expr: &Expr, usual: &str| argument(expr).unwrap_or_else(|| usual.to_owned());
    match args {
        [Expr { kind: ExprKind::Tuple(parts), .. }] => match &parts[..] {
            [_, _] => with_step_of_one(parts),
            _ => None,
        },
        [stop] => Some(format!("from 0 counts `iota {}`", of(stop, "n"))),
        [start, stop] => Some(format!("one by one counts `{}..{}`", of(start, "a"), of(stop, "b"))),
        _ => None,
    }
}

/// `f(x, y)`, of a function that takes as many arguments; and `sum(m, 0)`.
pub(super) fn with_commas(
    checker: &mut Checker<'_>,
    name: &Name,
    parts: &[Expr],
) -> Option<String> {
    if let ("range", [start, stop]) = (&**name, parts)
        && checker.is_builtin(name)
    {
        let (start, stop) = (argument(start)?, argument(stop)?);
        return Some(format!("the numbers from {start} on, without {stop}, are `{start}..{stop}`"));
    }
    let params = parameters(checker, name)?;
    if params.len() == 1 {
        return of_axis(checker, name, parts);
    }
    if matches!(&**name, "fill" | "reshape") && parts.len() > 2 && checker.is_builtin(name) {
        let (last, extents) = parts.split_last()?;
        let extents: Option<Vec<String>> = extents.iter().map(written).collect();
        let (extents, last) = (extents?.join(", "), argument(last)?);
        return Some(format!("the extents are one argument, a tuple: `{name} ({extents}) {last}`"));
    }
    if parts.len() > params.len() {
        return None;
    }
    if matches!(params.first(), Some(Type::Tuple(_))) {
        return None;
    }
    let args: Option<Vec<String>> = parts.iter().map(argument).collect();
    let letters = ["x", "y", "z", "u", "v", "w"];
    let args =
        args.unwrap_or_else(|| letters.iter().take(parts.len()).map(|&x| x.into()).collect());
    Some(format!(
        "arguments stand one after the other, without commas: `{name} {}`",
        args.join(" ")
    ))
}

/// `sum(m, 0)`, `round(x, 2)`, `max` of three.
fn of_axis(checker: &mut Checker<'_>, name: &Name, parts: &[Expr]) -> Option<String> {
    if let Some(help) = instead_of_more(checker, name, parts) {
        return Some(help);
    }
    if let [Type::Array(_)] = parameters(checker, name)?[..]
        && parts.iter().all(|part| matches!(part.kind, ExprKind::Number(..)))
    {
        let all: Option<Vec<String>> = parts.iter().map(written).collect();
        return Some(format!("it takes one array: `{name} [{}]`", all?.join(", ")));
    }
    let [_, axis] = parts else { return None };
    let is_axis = matches!(axis.kind, ExprKind::Number(..));
    (REDUCTIONS.contains(&&**name) && is_axis).then(|| axes_of(name))
}

/// What goes along which axis.
pub(super) fn axes_of(name: &str) -> String {
    let of_sample = match name {
        "std" => "; it divides by n, `sampleStd xs` by n - 1",
        "variance" => "; it divides by n, `sampleVariance xs` by n - 1",
        _ => "",
    };
    format!(
        "`{name} m` goes along the rows; along the columns goes `{name} (transpose m)`{of_sample}"
    )
}

/// What else does what was expected of a function that takes fewer arguments.
pub(super) fn instead_of_more(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
) -> Option<String> {
    // Plots are functions of every session, and no builtins.
    if !checker.is_builtin(name) && &**name != "plot" {
        return None;
    }
    let digits = match args.get(1).map(|arg| &arg.kind) {
        Some(ExprKind::Number(crate::ast::Number::Int(digits @ 0..=15), None)) => Some(*digits),
        _ => None,
    };
    let all: Option<Vec<String>> = args.iter().map(written).collect();
    let of_scalars = args.iter().all(|arg| match &arg.kind {
        ExprKind::Number(..) => true,
        ExprKind::Name(name) => is_scalar(checker, name),
        _ => false,
    });
    match (&**name, args.len()) {
        ("iota", 2 | 3) => {
            let all: Vec<String> = args.iter().map(argument).collect::<Option<_>>()?;
            let step = all.get(2).map_or_else(String::new, |step| format!(" by {step}"));
            let shape = match all.len() {
                2 => format!(
                    "; a matrix of that shape is made by `generate ({}, {}) (\\(i, j) -> …)`",
                    all[0], all[1]
                ),
                _ => String::new(),
            };
            Some(format!("from one number to another goes `{}..{}{step}`{shape}", all[0], all[1]))
        }
        ("round", 2) if digits.is_some() => {
            let digits = digits.unwrap_or(2);
            let x = argument(&args[0]).unwrap_or_else(|| "x".to_owned());
            Some(format!(
                "`round x` yields a whole number; with {digits} digits after the point it is `roundTo {digits} {x}`"
            ))
        }
        ("log", 2) => Some("the logarithm of x to the base b is `log x / log b`".to_owned()),
        ("sort", 2) => Some(
            "`sort xs` is in ascending order, `sortDesc xs` in descending order, `sortBy f xs` in that of a key"
                .to_owned(),
        ),
        ("max" | "min", 3..) if of_scalars => Some(format!(
            "of more than two it is `{}imum [{}]`",
            name,
            all.map_or_else(|| "x, y, z".to_owned(), |all| all.join(", "))
        )),
        ("maximum" | "minimum", 2) if of_scalars => {
            let both: Option<Vec<String>> = args.iter().map(argument).collect();
            let both = both.unwrap_or_else(|| vec!["a".to_owned(), "b".to_owned()]);
            Some(format!("of two values it is `{} {}`", &name[..3], both.join(" ")))
        }
        ("maximum" | "minimum" | "argmax" | "argmin", 2)
            if is_function(checker, &args[0]) || is_function(checker, &args[1]) =>
        {
            let mut both: Option<Vec<String>> = args.iter().map(argument).collect();
            if let (Some(both), false) = (&mut both, is_function(checker, &args[0])) {
                both.reverse();
            }
            let both = both.unwrap_or_else(|| vec!["f".to_owned(), "xs".to_owned()]);
            Some(format!("it takes values, and no function: `{name} (map {})`", both.join(" ")))
        }
        // A whole number behind an array is meant as an axis.
        ("maximum" | "minimum", 2) if digits.is_none() => {
            let both: Option<Vec<String>> = args.iter().map(argument).collect();
            let both = both.unwrap_or_else(|| vec!["a".to_owned(), "b".to_owned()]);
            Some(format!(
                "it takes one array; of two values, or of two arrays element by element, it is `{} {}`",
                &name[..3],
                both.join(" ")
            ))
        }
        ("sum" | "mean" | "product", 2..) if of_scalars => Some(format!(
            "it takes one array: `{name} [{}]`",
            all.map_or_else(|| "x, y, z".to_owned(), |all| all.join(", "))
        )),
        ("any" | "all" | "count", 2)
            if is_anonymous(checker, &args[0]) || is_anonymous(checker, &args[1]) =>
        {
            let mut both: Option<Vec<String>> = args.iter().map(argument).collect();
            if let (Some(both), false) = (&mut both, is_anonymous(checker, &args[0])) {
                both.reverse();
            }
            let both = both.unwrap_or_else(|| vec!["p".to_owned(), "xs".to_owned()]);
            Some(format!(
                "it takes truth values, and no function: `{name} (map {})`",
                both.join(" ")
            ))
        }
        // A predicate with a name has its own help.
        ("count", 2) if !args.iter().any(|arg| is_function(checker, arg)) => {
            let both: Option<Vec<String>> = args.iter().map(argument).collect();
            let both = both.unwrap_or_else(|| vec!["xs".to_owned(), "x".to_owned()]);
            let equal = match args.iter().any(|arg| is_text(checker, arg)) {
                true => format!("same {} {}", both[1], both[0]),
                false => format!("{} == {}", both[0], both[1]),
            };
            Some(format!("it takes truth values: `count ({equal})`"))
        }
        ("map", 3) if is_function(checker, &args[0]) && is_function(checker, &args[1]) => {
            let all: Option<Vec<String>> = args.iter().map(argument).collect();
            let all = all.unwrap_or_else(|| ["f", "g", "xs"].map(str::to_owned).to_vec());
            Some(format!(
                "it takes one function; one after the other they are `map (\\x -> {} ({} x)) {}`",
                all[0], all[1], all[2]
            ))
        }
        ("map", 3) => {
            let all: Option<Vec<String>> = args.iter().map(argument).collect();
            let all = all.unwrap_or_else(|| ["f", "xs", "ys"].map(str::to_owned).to_vec());
            Some(format!("of two arrays it is `zipWith {}`", all.join(" ")))
        }
        ("zip", 3) => {
            let all: Vec<String> = args.iter().map(argument).collect::<Option<_>>()?;
            Some(format!("of three arrays it is `zip3 {}`", all.join(" ")))
        }
        ("plot", 2) if are_texts(checker, &args[0]) => {
            let (xs, ys) = (argument(&args[0])?, argument(&args[1])?);
            Some(format!(
                "`plot ys` takes the heights alone: `plot {ys}`; dates as numbers are `dayNumber {xs}`, and with both \
                 it is `linePlot (dayNumber {xs}) {ys}`"
            ))
        }
        ("plot", 2) => {
            let both: Option<Vec<String>> = args.iter().map(argument).collect();
            let both = both.unwrap_or_else(|| vec!["xs".to_owned(), "ys".to_owned()]);
            Some(format!(
                "`plot ys` takes the heights alone; with both `linePlot {0}`, or dots by `scatterPlot {0}`",
                both.join(" ")
            ))
        }
        _ => None,
    }
}

/// Whether an expression is a function that has no name.
fn is_anonymous(checker: &Checker<'_>, expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Lambda { .. })
        || type_of(checker, expr)
            .is_some_and(|ty| matches!(checker.table.shallow(&ty), Type::Function(..)))
}

/// Whether an expression is a text.
fn is_text(checker: &Checker<'_>, expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Text(_)) || has_letters(checker, expr, 1)
}

/// Whether an expression is an array of texts.
fn are_texts(checker: &Checker<'_>, expr: &Expr) -> bool {
    has_letters(checker, expr, 2)
}

/// Whether an expression is an array of so many axes of letters.
fn has_letters(checker: &Checker<'_>, expr: &Expr, rank: usize) -> bool {
    let letter = Type::Scalar(weft_ir::ScalarType::Char);
    type_of(checker, expr).is_some_and(|ty| checker.table.peel(&ty) == (rank, letter))
}

/// Whether a name is that of a value that is a scalar.
fn is_scalar(checker: &Checker<'_>, name: &Name) -> bool {
    let Some(Binding::Global(global)) = checker.environment.lookup(name) else { return false };
    matches!(
        checker.environment.global(*global),
        Some(Global::Value { ty: weft_ir::Type::Scalar(_), .. })
    )
}
