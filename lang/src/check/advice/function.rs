//! Applications that lack an argument or a function, or are given another kind of value: tuples, shapes.

use weft_ir::{Name, ScalarType};

use super::call::{is_function, names_of, parameters};
use super::number::is_of_the_start;
use super::written::{argument, written};
use crate::ast::{ApplyForm, Expr, ExprKind, Number};
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::types::Type;

/// What there is to say about an application of a function that has a name, or about a field.
pub(super) fn advice(checker: &mut Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    match &expr.kind {
        ExprKind::Field { record, field } if found.span() == field.span => {
            method(checker, record, &field.name, found)
        }
        ExprKind::Apply { function, args, form } if *form != ApplyForm::Operator => {
            let ExprKind::Name(name) = &function.kind else { return None };
            // The function, or what it is with the first of its arguments.
            if found.span().start == function.span.start && expr.span.contains(found.span()) {
                return shape(checker, name, args).or_else(|| complex(checker, name, args));
            }
            let position = args.iter().position(|arg| arg.span == found.span())?;
            incomplete(checker, name, args, found)
                .or_else(|| one_tuple(checker, name, args))
                .or_else(|| split(checker, name, args, position))
                .or_else(|| product(checker, name, args))
                .or_else(|| complex(checker, name, args))
                .or_else(|| negated(checker, name, args))
                .or_else(|| of_sequence(checker, name, args))
                .or_else(|| no_function(checker, name, args, position, found))
                .or_else(|| of_tuple(checker, name, args, position, found))
        }
        _ => None,
    }
}

/// `xs.sum`, `t.wind.max`: the extremes of an array have names of their own.
fn method(
    checker: &mut Checker<'_>,
    record: &Expr,
    field: &Name,
    found: &Diagnostic,
) -> Option<String> {
    if !found.help.iter().any(|help| help.starts_with("a function stands before")) {
        return None;
    }
    let is_array = found.message.starts_with("[]");
    let name: Name = match &**field {
        "max" if is_array => "maximum".into(),
        "min" if is_array => "minimum".into(),
        _ => field.clone(),
    };
    let usual = if is_array { "xs" } else { "x" };
    // `f64.sqrt`: there the functions of a type are those of a module.
    let is_module = super::call::is_function(checker, record);
    let of = argument(record).filter(|_| !is_module).unwrap_or_else(|| usual.to_owned());
    let takes = parameters(checker, &name)?.len();
    (takes == 1).then(|| format!("a function stands before its argument: `{name} {of}`"))
}

/// `reshape 2 3 xs`, `reshape xs (2, 3)`: the shape is one argument, and the first.
fn shape(checker: &Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    if !matches!(&**name, "reshape" | "fill" | "generate") || !checker.is_builtin(name) {
        return None;
    }
    let is_extent = |arg: &Expr| matches!(arg.kind, ExprKind::Number(Number::Int(_), None));
    let (last, before) = args.split_last()?;
    if before.len() > 1 && before.iter().all(is_extent) {
        let extents: Option<Vec<String>> = before.iter().map(written).collect();
        return Some(format!(
            "the extents are one argument, a tuple: `{name} ({}) {}`",
            extents?.join(", "),
            argument(last)?
        ));
    }
    let [value, extents] = args else { return None };
    let is_shape = match &extents.kind {
        ExprKind::Tuple(parts) => parts.iter().all(is_extent),
        _ => is_extent(extents),
    };
    if !is_shape || is_extent(value) || matches!(value.kind, ExprKind::Tuple(_)) {
        return None;
    }
    Some(format!("the shape stands first: `{name} {} {}`", argument(extents)?, argument(value)?))
}

/// `parseInt "5"`: an application to too few arguments, which is not mapped.
fn incomplete(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    found: &Diagnostic,
) -> Option<String> {
    // What is meant by these of an array has its own help.
    let is_operator = !name.starts_with(char::is_alphabetic);
    if found.code != "E0316" || is_operator || matches!(&**name, "max" | "min") {
        return None;
    }
    let takes = parameters(checker, name)?.len();
    if args.len() >= takes {
        return passed_incomplete(checker, name, args, found);
    }
    let names = names_of(checker, name)?;
    let ranks: Vec<usize> = args.iter().map(|arg| checker.rank_at(arg.span).unwrap_or(0)).collect();
    let texts: Option<Vec<String>> = args.iter().map(argument).collect();
    let texts = texts.unwrap_or_default();
    let line = match (&**name, &texts[..]) {
        ("parseInt", [text]) => {
            Some(format!("what stands for no integer comes first: `parseInt (-1) {text}`"))
        }
        ("shuffle", [xs]) => Some(format!("the seed comes first: `shuffle 1 {xs}`")),
        ("convolve", [kernel, xs]) => {
            let parts = |arg: &Expr| match &arg.kind {
                ExprKind::Array(parts) => Some(parts.len()),
                _ => None,
            };
            // NumPy has the array first; a kernel is the shorter one.
            let (kernel, xs) = match (parts(&args[0]), parts(&args[1])) {
                (Some(first), Some(second)) if first > second => (xs, kernel),
                _ => (kernel, xs),
            };
            let what = "the boundary comes first, the array last";
            Some(format!("{what}: `convolve clamp {kernel} {xs}`"))
        }
        ("histogram", [xs]) if ranks == [1] => {
            Some(format!("the number of bins comes first; a drawing is `histogramPlot {xs}`"))
        }
        ("correlation" | "covariance", [m]) if ranks == [2] => {
            Some(format!("for each two rows of a matrix it is `outer {name} {m} {m}`"))
        }
        _ => None,
    };
    let given = args.len();
    Some(match line {
        Some(line) => format!("it takes `{name} {names}`; {line}"),
        None => format!("`{name}` is given {given} of its {takes} arguments: `{name} {names}`"),
    })
}

/// `map parseInt texts`: a function of more arguments than it is given there.
fn passed_incomplete(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    found: &Diagnostic,
) -> Option<String> {
    let passed = args.iter().find(|arg| arg.span == found.span())?;
    let ExprKind::Name(function) = &passed.kind else { return None };
    let names = names_of(checker, function)?;
    let (first, last) = names.rsplit_once(' ')?;
    let first = if &**function == "parseInt" { "0" } else { first };
    let behind: Vec<String> =
        args.iter().filter(|arg| arg.span != passed.span).filter_map(argument).collect();
    let whole = format!("{name} ({function} {first}) {}", behind.join(" "));
    Some(match &**function {
        "parseInt" => format!("what stands for no integer comes first: `{}`", whole.trim()),
        _ => format!(
            "it takes `{function} {names}`, and is given the {last} alone: `{}`",
            whole.trim()
        ),
    })
}

/// `f(1)` of `def f(x, y) = …`.
fn one_tuple(checker: &mut Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let ([param], [arg]) = (&parameters(checker, name)?[..], args) else { return None };
    let Type::Tuple(parts) = checker.table.shallow(param) else { return None };
    let is_tuple = matches!(arg.kind, ExprKind::Tuple(_))
        || !matches!(checker.type_at(arg.span)?, Type::Scalar(_) | Type::Array(_) | Type::Var(_));
    if is_tuple
        || checker.is_builtin(name)
        || checker.table.peel(&checker.type_at(arg.span)?).1 == *param
    {
        return None;
    }
    let letters = ["x", "y", "z", "u", "v", "w"];
    let rest: Vec<&str> = letters.iter().skip(1).take(parts.len() - 1).copied().collect();
    let first = written(arg).unwrap_or_else(|| "x".to_owned());
    Some(format!("it takes a tuple: `{name} ({first}, {})`", rest.join(", ")))
}

/// `split "," text`, as other languages have it.
fn split(checker: &Checker<'_>, name: &Name, args: &[Expr], position: usize) -> Option<String> {
    let mark = |arg: &Expr| match &arg.kind {
        ExprKind::Text(bytes) if bytes.len() == 1 => {
            written(arg).map(|text| text.replace('"', "'"))
        }
        ExprKind::Char(_) => written(arg),
        _ => None,
    };
    let is_split = &**name == "split" && checker.is_builtin(name) && position < 2;
    let [first, second] = args else { return None };
    let (of, mark) = match (mark(first), mark(second)) {
        _ if !is_split => return None,
        (Some(mark), _) => (second, mark),
        (None, Some(mark)) => (first, mark),
        (None, None) => return None,
    };
    let of = argument(of).unwrap_or_else(|| "text".to_owned());
    Some(format!("`split` takes flags; a text is split at a letter by `splitOn {mark} {of}`"))
}

/// `matmul m v`: the product of a matrix and a vector.
fn product(checker: &Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let ("matmul", [a, b], true) = (&**name, args, checker.is_builtin(name)) else { return None };
    let line = match (checker.rank_at(a.span)?, checker.rank_at(b.span)?) {
        (2, 1) => format!("dot {} {}", argument(a)?, argument(b)?),
        (1, 2) => format!("dot (transpose {}) {}", argument(b)?, argument(a)?),
        (1, 1) => format!("dot {} {}", argument(a)?, argument(b)?),
        _ => return None,
    };
    Some(format!("`matmul` takes two matrices; with a vector it is `{line}`"))
}

/// `fft xs` of real numbers, `rfft zs` of complex ones.
fn complex(checker: &Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let [arg] = args else { return None };
    if !is_of_the_start(checker, name) || checker.rank_at(arg.span)? == 0 {
        return None;
    }
    let element = checker.table.shallow(&checker.table.peel(&checker.type_at(arg.span)?).1);
    let are_pairs = matches!(&element, Type::Tuple(parts) if parts.len() == 2);
    let xs = argument(arg).unwrap_or_else(|| "xs".to_owned());
    let pairs = format!("complex numbers are pairs, `{{ (x, 0.0) : x in {xs} }}`");
    match (&**name, are_pairs, checker.rank_at(arg.span)?) {
        ("fft", false, 1) => Some(format!("{pairs}; of real numbers it is `rfft {xs}`")),
        ("fft", false, _) => {
            Some(format!("complex numbers are pairs; of real numbers it is `rfft {xs}`"))
        }
        ("ifft", false, 1) => Some(pairs),
        ("rfft", true, _) => Some(format!("of complex numbers it is `fft {xs}`")),
        _ => None,
    }
}

/// `not isNan`: a function is no truth value.
fn negated(checker: &Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let ("not", [condition]) = (&**name, args) else { return None };
    let Type::Function(_, result) = checker.type_at(condition.span)? else { return None };
    if matches!(checker.table.shallow(&result), Type::Function(..)) {
        return None;
    }
    let of = argument(condition)?;
    Some(format!("a function is applied before what it yields is negated: `\\x -> !({of} x)`"))
}

/// `sum s` of a sequence.
fn of_sequence(checker: &Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let [sequence] = args else { return None };
    let Type::Seq(item) = checker.type_at(sequence.span)? else { return None };
    let (op, z) = match &**name {
        "sum" => ("(+)", "0"),
        "product" => ("(*)", "1"),
        "length" | "size" => ("(\\n x -> n + 1)", "0"),
        _ => return None,
    };
    let is_scalar = checker.table.peel(&item).0 == 0;
    if !checker.is_builtin(name) || !is_scalar {
        return None;
    }
    let of = argument(sequence)?;
    Some(format!("of a sequence it is `foldSeq {op} {z} {of}`"))
}

/// `scan xs`, `outer xs ys`: an array stands where the function should.
fn no_function(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
    found: &Diagnostic,
) -> Option<String> {
    let params = parameters(checker, name)?;
    let wants_function = matches!(params.get(position)?, Type::Function(..));
    let is_call_with_commas = matches!(args, [Expr { kind: ExprKind::Tuple(_), .. }]);
    if found.code != "E0301" || !wants_function || !checker.is_builtin(name) || is_call_with_commas
    {
        return None;
    }
    // What yields something is a function, if it is another one than is wanted.
    if found.message.contains("` yields ") || args.iter().any(|arg| is_function(checker, arg)) {
        return None;
    }
    let texts: Option<Vec<String>> = args.iter().map(argument).collect();
    let line = match (&**name, &texts.unwrap_or_default()[..]) {
        ("outer", [xs, ys]) => format!("outer (*) {xs} {ys}"),
        ("scanl1" | "scanr1" | "fold1", [xs]) => format!("{name} (+) {xs}"),
        ("fold" | "scan" | "exscan" | "scanl" | "scanr" | "prescanl" | "postscanl", [xs]) => {
            format!("{name} (+) 0 {xs}")
        }
        ("fold" | "scan" | "exscan" | "scanl" | "scanr" | "prescanl" | "postscanl", [z, xs]) => {
            format!("{name} (+) {z} {xs}")
        }
        _ => {
            return names_of(checker, name).map(|names| {
                let names: Vec<&str> = names.split(' ').collect();
                let which = names.get(position).copied().unwrap_or("f");
                format!("`{name} {}`: `{which}` is a function", names.join(" "))
            });
        }
    };
    Some(format!("a function stands first, such as `(+)` or `max`: `{line}`"))
}

/// `lengths (split flags xs)`: a tuple stands where one of its parts should.
fn of_tuple(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
    found: &Diagnostic,
) -> Option<String> {
    let arg = &args[position];
    if matches!(arg.kind, ExprKind::Tuple(_)) || !matches!(found.code, "E0302" | "E0301" | "E0307")
    {
        return None;
    }
    let Type::Tuple(parts) = checker.type_at(arg.span)? else { return None };
    let param = parameters(checker, name)?.get(position)?.clone();
    if !matches!(checker.table.shallow(&param), Type::Array(_) | Type::Scalar(ScalarType::I64)) {
        return None;
    }
    let texts: Option<Vec<String>> = args.iter().map(argument).collect();
    let last = parts.len() - 1;
    Some(match texts {
        Some(mut texts) => {
            texts[position].push_str(".0");
            format!(
                "this is a tuple, whose parts are `.0` to `.{last}`: `{name} {}`",
                texts.join(" ")
            )
        }
        None => format!("this is a tuple, whose parts are `.0` to `.{last}`"),
    })
}
