//! Calls as other languages write them: with arguments in another order, too many or too few; and
//! comparisons whose left side took the function that was meant for all of it.

use weft_ir::{Name, ScalarType};

use super::annotated;
use super::commas::{REDUCTIONS, axes_of, instead_of_more, with_commas};
use super::written::{argument, is_comparison, operation, written};
use crate::ast::{ApplyForm, Expr, ExprKind};
use crate::builtins;
use crate::check::Checker;
use crate::check::rank::{self, Site, SiteArg};
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::suggest;
use crate::typed::{ExprKind as Typed, FunctionRef, GlobalId, Pattern};
use crate::types::{Class, Type};

/// What yields a boundary.
const BOUNDARIES: [&str; 5] = ["clamp", "mirror", "wrap", "constant", "outside"];

/// Through how many definitions that only pass their arguments on is looked.
const MOST_PASSED_ON: u32 = 4;

/// What there is to say about an application.
pub(super) fn advice(checker: &mut Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    let ExprKind::Apply { function, args, form } = &expr.kind else { return None };
    if *form == ApplyForm::Operator {
        return None;
    }
    if let Some(help) = missing_argument(checker, expr, found) {
        return Some(help);
    }
    if let Some(help) = of_other_languages(checker, expr, found) {
        return Some(help);
    }
    // Reports about parts of the arguments are about those.
    let is_own = found.span() == function.span || args.iter().any(|arg| found.span() == arg.span);
    if !is_own || found.code == "E0201" {
        return None;
    }
    if let Some(help) = words_between(checker, args).or_else(|| index_behind(function, args)) {
        return Some(help);
    }
    let ExprKind::Name(name) = &function.kind else { return no_commas(function, args) };
    match &args[..] {
        [Expr { kind: ExprKind::Tuple(parts), .. }] if parts.len() > 1 => {
            with_commas(checker, name, parts)
        }
        _ => of_numbers(checker, name, args, found)
            .or_else(|| too_many(checker, name, args, found))
            .or_else(|| function_behind(checker, name, args))
            .or_else(|| without_boundary(checker, name, args))
            .or_else(|| random_shape(checker, name, args))
            .or_else(|| sought(name, args, found))
            .or_else(|| annotated::of_call(checker, name, args, found))
            .or_else(|| match found.code {
                // Parts of an argument would not fit anywhere else either.
                _ if has_parts(checker, found) => None,
                "E0302" | "E0303" | "E0307" => other_order(checker, name, expr, args),
                _ => None,
            })
            .or_else(|| function_elsewhere(checker, name, args)),
    }
}

/// `isIn 3 xs`: whether all that is sought is there, one after the other.
fn sought(name: &Name, args: &[Expr], found: &Diagnostic) -> Option<String> {
    let ([one, among], "E0307", "isIn") = (args, found.code, &**name) else { return None };
    let (is_of_it, one, among) = (found.span() == one.span, written(one)?, argument(among)?);
    is_of_it.then(|| format!("whether one value is among others: `any ({among} == {one})`"))
}

/// `sort(x)[0]`: the index belongs to the argument.
fn index_behind(function: &Expr, args: &[Expr]) -> Option<String> {
    let (ExprKind::Name(name), [arg]) = (&function.kind, args) else { return None };
    let ExprKind::Index { array, .. } = &arg.kind else { return None };
    if function.span.end != arg.span.start {
        return None;
    }
    let of = argument(array).unwrap_or_else(|| "…".to_owned());
    let whole = written(arg);
    let index = whole.as_ref().and_then(|whole| whole.strip_prefix(&of)).unwrap_or("[…]");
    let example = format!("({name} {of}){index}");
    Some(format!(
        "an index belongs to what stands before it: of what `{name}` yields it is `{example}`"
    ))
}

/// Whether the argument that was found to be wrong is a tuple or a record, or consists of such.
fn has_parts(checker: &Checker<'_>, found: &Diagnostic) -> bool {
    let head = checker.type_at(found.span()).map(|ty| checker.table.peel(&ty).1);
    found.code == "E0303" && matches!(head, Some(Type::Tuple(_) | Type::Record(_)))
}

/// `c(1, 2)`, `range(len(xs))`.
fn of_other_languages(checker: &Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    let ExprKind::Apply { function, args, .. } = &expr.kind else { return None };
    let (ExprKind::Name(name), [arg]) = (&function.kind, &args[..]) else { return None };
    if found.code != "E0201" {
        return None;
    }
    if &**name == "c" && found.span() == function.span && function.span.end == arg.span.start {
        let elements = match &arg.kind {
            ExprKind::Tuple(parts) => parts.iter().map(written).collect(),
            _ => written(arg).map(|element| vec![element]),
        };
        let elements: Vec<String> = elements.unwrap_or_else(|| vec!["x, y".to_owned()]);
        return Some(format!("an array is written in brackets: `[{}]`", elements.join(", ")));
    }
    let ExprKind::Apply { function: length, args: of, .. } = &arg.kind else { return None };
    let (ExprKind::Name(len), [array]) = (&length.kind, &of[..]) else { return None };
    let is_range = &**name == "range" && &**len == "len" && checker.is_builtin(name);
    (is_range && found.span() == length.span).then(|| {
        let array = argument(array).unwrap_or_else(|| "xs".to_owned());
        format!("the positions in an array are `indices {array}`; to n - 1 go `0..n`")
    })
}

/// Whether a name is that of a function of truth values.
fn takes_flags(checker: &Checker<'_>, name: &Name) -> bool {
    matches!(&**name, "count" | "all" | "any" | "assert") && checker.is_builtin(name)
}

/// `count xs > 9`, which compares the count.
pub(super) fn compared(
    checker: &mut Checker<'_>,
    expr: &Expr,
    found: &Diagnostic,
) -> Option<String> {
    let (symbol, left, right) = operation(expr)?;
    let ExprKind::Apply { function, args, form: ApplyForm::Juxtaposition } = &left.kind else {
        return None;
    };
    let ExprKind::Name(name) = &function.kind else { return None };
    let (arg, before) = args.split_last()?;
    if !is_comparison(symbol) || found.span() != arg.span {
        return None;
    }
    if !before.is_empty() {
        return compared_last(checker, name, args, (symbol, right));
    }
    let negates = &**name == "not" && checker.is_builtin(name);
    if !negates && !takes_flags(checker, name) {
        return None;
    }
    let (tail, of) = if &**name == "assert" { (" x", "a") } else { ("", "xs") };
    let compared = match (written(arg), argument(right)) {
        (Some(arg), Some(right)) => format!("{arg} {symbol} {right}"),
        _ => format!("{of} {symbol} b"),
    };
    Some(format!(
        "`{name}` takes what stands next to it; for the comparison write `{name} ({compared}){tail}`"
    ))
}

/// `pack xs ys == 1`, of a function whose last argument is truth values.
fn compared_last(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    (symbol, right): (&str, &Expr),
) -> Option<String> {
    let params = parameters(checker, name)?;
    let last = checker.table.peel(params.get(args.len() - 1)?).1;
    let texts: Option<Vec<String>> = args.iter().map(argument).collect();
    let (texts, right) = (texts?, argument(right)?);
    let (flags, before) = texts.split_last()?;
    (last == Type::BOOL).then(|| {
        let before = before.join(" ");
        format!("an application binds tighter than `{symbol}`: `{name} {before} ({flags} {symbol} {right})`")
    })
}

/// `count xs` of numbers.
fn of_numbers(
    checker: &Checker<'_>,
    name: &Name,
    args: &[Expr],
    found: &Diagnostic,
) -> Option<String> {
    let [arg] = args else { return None };
    if !takes_flags(checker, name) || &**name == "assert" || found.span() != arg.span {
        return None;
    }
    let (rank, head) = checker.table.peel(&checker.type_at(arg.span)?);
    let is_number = match &head {
        Type::Scalar(scalar) => scalar.is_int() || scalar.is_float(),
        Type::Var(var) => checker.table.state(*var).is_some_and(|open| open.class.is_some()),
        _ => false,
    };
    let of = argument(arg).unwrap_or_else(|| "xs".to_owned());
    (is_number && rank > 0).then(|| match &**name {
        "count" => format!(
            "how many are greater than 0 says `count ({of} > 0)`, how many there are `length {of}`"
        ),
        _ => format!("it takes the truth values of a comparison: `{name} ({of} > 0)`"),
    })
}

/// `not true and false`: a word that other languages put between two operands.
fn words_between(checker: &Checker<'_>, args: &[Expr]) -> Option<String> {
    args.iter().find_map(|arg| {
        let ExprKind::Name(word) = &arg.kind else { return None };
        let is_known =
            checker.environment.lookup(word).is_some() || builtins::lookup(word).is_some();
        if is_known { None } else { suggest::foreign_operator(word).map(str::to_owned) }
    })
}

/// `[1 2 3]`: a number is applied.
fn no_commas(function: &Expr, args: &[Expr]) -> Option<String> {
    let is_literal = |expr: &Expr| {
        matches!(
            expr.kind,
            ExprKind::Number(..) | ExprKind::Text(_) | ExprKind::Bool(_) | ExprKind::Char(_)
        )
    };
    // A signed number may have been meant as a difference.
    let is_signed = args.first().is_some_and(crate::check::apply::is_signed);
    if let (ExprKind::Number(..), [factor], false) = (&function.kind, args, is_signed)
        && !is_literal(factor)
    {
        let (number, factor) = (written(function)?, argument(factor)?);
        return Some(format!("a product is written with `*`: `{number} * {factor}`"));
    }
    if !is_literal(function) || is_signed || !args.iter().all(is_literal) {
        return None;
    }
    let parts: Option<Vec<String>> =
        std::iter::once(function).chain(args).take(6).map(written).collect();
    Some(match parts {
        Some(parts) => {
            let parts = parts.join(", ");
            format!(
                "the elements of an array are separated by commas: `[{parts}]`, or of a tuple: `({parts})`"
            )
        }
        None => "the elements of an array are separated by commas: `[1, 2, 3]`".to_owned(),
    })
}

/// More arguments than the function takes.
fn too_many(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    found: &Diagnostic,
) -> Option<String> {
    if found.code != "E0304" || parameters(checker, name)?.len() >= args.len() {
        return None;
    }
    if let Some(help) = instead_of_more(checker, name, args) {
        return Some(help);
    }
    if let Some(help) = applied_inside(checker, name, args) {
        return Some(help);
    }
    match args {
        [_, Expr { kind: ExprKind::Number(..), .. }] if REDUCTIONS.contains(&&**name) => {
            Some(axes_of(name))
        }
        _ => None,
    }
}

/// `sum iota 10`: one of the arguments is a function, to which those behind it belong; and `iota 2 10`.
fn applied_inside(checker: &mut Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let whole = nested_calls(checker, name, args)?;
    Some(format!("an argument that is an application stands in parentheses: `{whole}`"))
}

/// A call whose last parameter takes what the rest of the arguments make.
fn nested_calls(checker: &mut Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let takes = parameters(checker, name)?.len();
    let last = takes.checked_sub(1)?;
    let own: Option<Vec<String>> = args.get(..last)?.iter().map(argument).collect();
    let mut parts = vec![name.to_string()];
    parts.extend(own?);
    match args.get(last..)? {
        [] => return None,
        [only] => parts.push(argument(only)?),
        [inner, behind @ ..] => {
            let ExprKind::Name(inner) = &inner.kind else { return None };
            parts.push(format!("({})", nested_calls(checker, inner, behind)?));
        }
    }
    Some(parts.join(" "))
}

/// `sum (range 10)`: what is still a function, as it lacks an argument.
fn missing_argument(checker: &mut Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    if expr.span != found.span() {
        return None;
    }
    let ExprKind::Apply { function, args: given, form: ApplyForm::Juxtaposition } = &expr.kind
    else {
        return None;
    };
    let ExprKind::Name(name) = &function.kind else { return None };
    let takes = parameters(checker, name)?.len();
    let is_function = matches!(checker.type_at(expr.span)?, Type::Function(..));
    if !is_function || given.len() >= takes {
        return None;
    }
    let names = names_of(checker, name)?;
    let instead = match (&**name, &given[..]) {
        ("range", [n]) if checker.is_builtin(name) => {
            format!("; from 0 count `iota {}`", argument(n).unwrap_or_else(|| "n".to_owned()))
        }
        ("concat", [xss]) if checker.is_builtin(name) => {
            let of = argument(xss).unwrap_or_else(|| "xss".to_owned());
            format!("; the rows of one array joins `flatten {of}`")
        }
        _ => String::new(),
    };
    Some(format!(
        "`{name}` is given {} of its {takes} arguments: `{name} {names}`{instead}",
        given.len()
    ))
}

/// `map xs f`: the function stands first.
fn function_behind(checker: &mut Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let [array, function] = args else { return None };
    let params = parameters(checker, name)?;
    if params.len() != 2 || !matches!(params[0], Type::Function(..)) {
        return None;
    }
    if is_function(checker, array) || !is_function(checker, function) {
        return None;
    }
    let names = names_of(checker, name)?;
    let array = argument(array).unwrap_or_else(|| "xs".to_owned());
    Some(match argument(function) {
        Some(function) => {
            format!("the function stands first, `{name} {names}`: `{name} {function} {array}`")
        }
        None => format!("the function stands first: `{name} {names}`"),
    })
}

/// `stencil f xs`, `stencil (3, 3) f xs`: what lies outside stands first.
fn without_boundary(checker: &mut Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let is_boundary = |ty: &Type| matches!(ty, Type::Boundary(..));
    if !parameters(checker, name)?.first().is_some_and(is_boundary) {
        return None;
    }
    let is_one = |arg: &Expr| {
        let made_by = |expr: &Expr| matches!(&expr.kind, ExprKind::Name(name) if BOUNDARIES.contains(&&**name));
        match &arg.kind {
            ExprKind::Apply { function, .. } => made_by(function),
            // It needs its value.
            ExprKind::Name(name) if &**name == "constant" => false,
            _ => made_by(arg),
        }
    };
    if args.iter().any(is_one) || !args.iter().any(|arg| is_function(checker, arg)) {
        return None;
    }
    // The size of the window, or what lies outside as a number.
    let is_other = |arg: &&Expr| matches!(arg.kind, ExprKind::Tuple(_) | ExprKind::Number(..));
    let is_constant =
        |arg: &Expr| matches!(&arg.kind, ExprKind::Name(name) if &**name == "constant");
    let rest = if is_constant(&args[0]) { &args[1..] } else { args };
    let rest: Option<Vec<String>> =
        rest.iter().filter(|arg| !is_other(arg)).map(argument).collect();
    let (names, rest) = (names_of(checker, name)?, rest?.join(" "));
    Some(format!(
        "what lies outside of the array stands first, `{name} {names}`: `{name} clamp {rest}`, or `mirror`, `wrap`, \
         `(constant 0)` in the place of `clamp`"
    ))
}

/// `produce f n`: a function stands in the place of another argument.
fn function_elsewhere(checker: &mut Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let params = parameters(checker, name)?;
    if params.len() != args.len() {
        return None;
    }
    let takes: Vec<bool> = params.iter().map(|param| matches!(param, Type::Function(..))).collect();
    let given: Vec<bool> = args.iter().map(|arg| is_function(checker, arg)).collect();
    let count = |all: &[bool]| all.iter().filter(|is| **is).count();
    if count(&takes) != 1 || count(&given) != 1 {
        return None;
    }
    let position = |all: &[bool]| all.iter().position(|is| *is);
    let (to, from) = (position(&takes)?, position(&given)?);
    let names = names_of(checker, name)?;
    let mut written: Vec<String> = args.iter().map(argument).collect::<Option<_>>()?;
    let function = written.remove(from);
    written.insert(to, function);
    (to != from).then(|| {
        format!("the order of the arguments is `{name} {names}`: `{name} {}`", written.join(" "))
    })
}

/// Whether an expression is a function, as its form says.
pub(super) fn is_function(checker: &mut Checker<'_>, expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Lambda { .. } => true,
        ExprKind::Name(name) => parameters(checker, name).is_some_and(|params| !params.is_empty()),
        _ => false,
    }
}

/// `random 1 (3, 3)`: functions that yield one axis.
fn random_shape(checker: &Checker<'_>, name: &Name, args: &[Expr]) -> Option<String> {
    let is_of_prelude = (&**name, args.len()) == ("randomNormal", 2);
    let makes_numbers = is_of_prelude
        || matches!((&**name, args.len()), ("random", 2) | ("randomInt", 4) | ("iota", 1));
    let Some(Expr { kind: ExprKind::Tuple(extents), .. }) = args.last() else { return None };
    let is_known = checker.is_builtin(name) || is_of_prelude;
    if !makes_numbers || !is_known || extents.len() < 2 {
        return None;
    }
    let names: Option<Vec<String>> = extents.iter().map(argument).collect();
    let names = names.unwrap_or_else(|| {
        ["h", "w", "d"][..extents.len().min(3)].iter().map(|&x| x.into()).collect()
    });
    let before: Option<Vec<String>> = args[..args.len() - 1].iter().map(argument).collect();
    let mut call = vec![name.to_string()];
    call.extend(before?);
    call.push(format!("({})", names.join(" * ")));
    Some(format!("it makes one axis: `reshape ({}) ({})`", names.join(", "), call.join(" ")))
}

/// Arguments that fit in another order.
fn other_order(
    checker: &mut Checker<'_>,
    name: &Name,
    expr: &Expr,
    args: &[Expr],
) -> Option<String> {
    let site = checker.sites.iter().rposition(|site| site.span == expr.span)?;
    let count = args.len();
    let params = parameters(checker, name)?;
    if !(2..=3).contains(&count) || params.len() != count {
        return None;
    }
    let types: Option<Vec<Type>> = args.iter().map(|arg| checker.type_at(arg.span)).collect();
    let types = types?;
    if types.len() != checker.sites[site].args.len() {
        return None;
    }
    if let ("replicate", [Type::Tuple(_), _]) = (&**name, &types[..]) {
        let written: Option<Vec<String>> = args.iter().map(argument).collect();
        let written = written.unwrap_or_else(|| ["shape", "x"].map(str::to_owned).to_vec());
        return Some(format!("an array of a shape is made by `fill {}`", written.join(" ")));
    }
    const TWO: [&[usize]; 1] = [&[1, 0]];
    // An integer in the place of a float needs another type, and no other place.
    let takes_floats = |param: &Type| match param {
        Type::Scalar(scalar) => scalar.is_float(),
        Type::Var(var) => {
            checker.table.state(*var).and_then(|open| open.class) == Some(Class::FLOAT)
        }
        _ => false,
    };
    let is_whole = |ty: &Type| matches!(ty, Type::Scalar(scalar) if !scalar.is_float() && *scalar != ScalarType::Bool);
    let converted: Vec<Type> = (types.iter().zip(&params))
        .map(|(ty, param)| match takes_floats(param) && is_whole(ty) {
            true => Type::Scalar(ScalarType::F64),
            false => ty.clone(),
        })
        .collect();
    // First those in which arguments of one type that stood side by side keep their order.
    const THREE: [&[usize]; 5] = [&[1, 0, 2], &[0, 2, 1], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]];
    let orders: &[&[usize]] = if count == 2 { &TWO } else { &THREE };
    let fits = |checker: &mut Checker<'_>, types: &[Type], order: &[usize]| {
        let mut table = checker.table.clone();
        let args = order.iter().map(|&index| SiteArg {
            ty: types[index].clone(),
            span: expr.span,
            mapped: None,
        });
        let mut tried = Site {
            params: params.clone(),
            args: args.collect(),
            returns: table.fresh(),
            result: table.fresh(),
            exact: false,
            depth: None,
            settled: false,
            ..checker.sites[site].clone()
        };
        // What would be mapped over the wrong one is no better.
        let is_settled = rank::advance(&mut table, &mut tried).is_ok() && tried.settled;
        is_settled && tried.depth == Some(0)
    };
    let as_it_is: Vec<usize> = (0..count).collect();
    if converted != types && fits(checker, &converted, &as_it_is) {
        return None;
    }
    let order = orders.iter().copied().find(|order| fits(checker, &types, order))?;
    let names = names_of(checker, name)?;
    let written: Option<Vec<String>> = order.iter().map(|&index| argument(&args[index])).collect();
    Some(match written {
        Some(args) => {
            format!("the order of the arguments is `{name} {names}`: `{name} {}`", args.join(" "))
        }
        None => format!("the order of the arguments is `{name} {names}`"),
    })
}

/// The types of the parameters of a function that has a name of its own.
pub(super) fn parameters(checker: &mut Checker<'_>, name: &Name) -> Option<Vec<Type>> {
    let typed = match checker.environment.lookup(name) {
        Some(Binding::Global(global)) => match checker.environment.global(*global)? {
            Global::Function(_) => checker.name(name, weft_ir::Span::default()),
            Global::Value { .. } => return None,
        },
        Some(_) => return None,
        None => checker.builtin(builtins::lookup(name)?, weft_ir::Span::default()),
    };
    let mut params = Vec::new();
    let mut rest = checker.table.shallow(&typed.ty);
    while let Type::Function(parameter, result) = &rest {
        params.push((**parameter).clone());
        rest = checker.table.shallow(result);
    }
    Some(params)
}

/// The names of the parameters of a function.
pub(super) fn names_of(checker: &Checker<'_>, name: &Name) -> Option<String> {
    if let Some(Binding::Global(global)) = checker.environment.lookup(name) {
        return parameter_names(checker, *global, MOST_PASSED_ON);
    }
    Some(builtins::lookup(name)?.parameters.to_owned())
}

/// The same of a definition. What only passes its arguments on has become another function: then that one's.
fn parameter_names(checker: &Checker<'_>, global: GlobalId, most: u32) -> Option<String> {
    let Global::Function(function) = checker.environment.global(global)? else { return None };
    match &function.body.kind {
        Typed::Lambda { params, .. } => {
            let names = params.iter().map(|param| match param {
                Pattern::Local { name, .. } => Some(&**name),
                Pattern::Wildcard(_) | Pattern::Tuple(_) => None,
            });
            Some(names.collect::<Option<Vec<&str>>>()?.join(" "))
        }
        Typed::Function(FunctionRef::Generic(other, _)) => {
            parameter_names(checker, *other, most.checked_sub(1)?)
        }
        Typed::Builtin(builtin, _) => {
            let entry = builtins::all().find(|entry| entry.builtin == *builtin)?;
            Some(entry.parameters.to_owned())
        }
        _ => None,
    }
}
