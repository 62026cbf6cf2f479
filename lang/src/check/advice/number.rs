//! Numbers of several types: what to convert, written out.

use weft_ir::{Name, ScalarType};

use super::call::parameters;
use super::written::{argument, operation, written};
use crate::ast::{ApplyForm, Expr, ExprKind, Number};
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::types::{Class, Type};

/// What there is to say about numbers whose types do not agree.
pub(super) fn advice(checker: &mut Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    if !matches!(found.code, "E0301" | "E0302" | "E0303" | "E0307") {
        return None;
    }
    match &expr.kind {
        ExprKind::Array(elements) => among_elements(checker, elements, found),
        ExprKind::Range { start, stop, step } => {
            in_range(checker, start, stop, step.as_deref(), found)
        }
        ExprKind::Apply { form: ApplyForm::Operator, .. } => between(checker, expr, found),
        ExprKind::Apply { function, args, .. } => {
            let ExprKind::Name(name) = &function.kind else { return None };
            let position = args.iter().position(|arg| arg.span == found.span())?;
            special(checker, name, args, position).or_else(|| {
                as_argument(checker, name, args, position).filter(|_| found.code != "E0307")
            })
        }
        _ => None,
    }
}

/// A number under some axes.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Numeric {
    rank: usize,
    pub(super) scalar: ScalarType,
    /// Whether it takes the type that its context gives it.
    pub(super) is_literal: bool,
}

impl Numeric {
    pub(super) fn of(checker: &Checker<'_>, expr: &Expr) -> Option<Numeric> {
        let float = checker.config.float;
        let literal = |scalar| Some(Numeric { rank: 0, scalar, is_literal: true });
        match &expr.kind {
            ExprKind::Number(Number::Int(_), None) => return literal(ScalarType::I64),
            ExprKind::Number(Number::Float { .. }, None) => return literal(float),
            _ => {}
        }
        let (rank, head) = checker.table.peel(&type_of(checker, expr)?);
        let (scalar, is_literal) = match head {
            Type::Scalar(scalar) if scalar.is_int() || scalar.is_float() => (scalar, false),
            Type::Var(var) => match checker.table.state(var)?.class? {
                Class::FLOAT => (float, true),
                Class::NUM | Class::INT => (ScalarType::I64, true),
                _ => return None,
            },
            _ => return None,
        };
        Some(Numeric { rank, scalar, is_literal })
    }
}

/// The type of an argument, of an application, or of a value that has a name or is a field of one.
pub(super) fn type_of(checker: &Checker<'_>, expr: &Expr) -> Option<Type> {
    checker.type_at(expr.span).or_else(|| {
        if let ExprKind::Field { record, field } = &expr.kind {
            let Type::Record(fields) = type_of(checker, record)? else { return None };
            return fields.iter().find(|(name, _)| *name == field.name).map(|(_, ty)| ty.clone());
        }
        let ExprKind::Name(name) = &expr.kind else { return None };
        let Binding::Global(global) = checker.environment.lookup(name)? else { return None };
        match checker.environment.global(*global)? {
            Global::Value { ty, .. } => Some(Type::of_value(ty)),
            Global::Function(_) => None,
        }
    })
}

/// The type to which both of two numbers can be brought: floats before integers, and the wider one.
fn common(one: Numeric, other: Numeric) -> Option<ScalarType> {
    let (a, b) = (one.scalar, other.scalar);
    let size = |numeric: Numeric| match numeric.is_literal {
        true => 0,
        false => numeric.scalar.bytes(),
    };
    Some(match (a.is_float(), b.is_float()) {
        (true, false) => a,
        (false, true) => b,
        _ if a == b => return None,
        _ if size(one) == size(other) => match a.is_signed_int() {
            true => a,
            false => b,
        },
        _ if size(one) > size(other) => a,
        _ => b,
    })
}

/// `xs * 0.5`, of integers.
fn between(checker: &Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    let (symbol, left, right) = operation(expr)?;
    if found.span() != left.span && found.span() != right.span {
        return None;
    }
    let (a, b) = (Numeric::of(checker, left)?, Numeric::of(checker, right)?);
    let is_quotient = symbol == "/" && (a.scalar.is_int() || b.scalar.is_int());
    let to = match symbol {
        "/" if a.scalar.is_int() && b.scalar.is_int() => ScalarType::F64,
        "+" | "-" | "*" | "/" | "//" | "%" | "**" | "==" | "!=" | "<" | "<=" | ">" | ">=" => {
            common(a, b)?
        }
        _ => return None,
    };
    let side = |expr: &Expr, numeric: Numeric| {
        let text = argument(expr)?;
        let is_right = numeric.is_literal || numeric.scalar == to;
        Some(if is_right { text } else { format!("{to} {text}") })
    };
    let whole = format!("{} {symbol} {}", side(left, a)?, side(right, b)?);
    Some(match is_quotient {
        true => format!("`/` divides floats: `{whole}`; integers divide with `//` or `quot`"),
        false => format!("nothing is converted implicitly: write `{whole}`"),
    })
}

/// `[n, 2.5]`.
fn among_elements(checker: &Checker<'_>, elements: &[Expr], found: &Diagnostic) -> Option<String> {
    if !elements.iter().any(|element| element.span == found.span()) {
        return None;
    }
    let kinds: Option<Vec<Numeric>> =
        elements.iter().map(|element| Numeric::of(checker, element)).collect();
    let kinds = kinds?;
    let first = *kinds.first()?;
    if kinds.iter().any(|kind| kind.rank != first.rank) {
        return None;
    }
    let to = kinds.iter().find_map(|kind| common(first, *kind))?;
    let texts = elements.iter().zip(&kinds).map(|(element, kind)| {
        let is_right = kind.scalar == to || kind.is_literal;
        match is_right {
            true => written(element),
            false => Some(format!("{to} {}", argument(element)?)),
        }
    });
    let texts: Option<Vec<String>> = texts.collect();
    Some(format!("nothing is converted implicitly: write `[{}]`", texts?.join(", ")))
}

/// `0.0..1.0`, and `0..n` up to a float.
fn in_range(
    checker: &Checker<'_>,
    start: &Expr,
    stop: &Expr,
    step: Option<&Expr>,
    found: &Diagnostic,
) -> Option<String> {
    let parts = [Some(start), Some(stop), step];
    let parts: Vec<&Expr> = parts.into_iter().flatten().collect();
    if !parts.iter().any(|part| part.span == found.span()) {
        return None;
    }
    let is_float = |part: &Expr| {
        Numeric::of(checker, part).is_some_and(|kind| kind.scalar.is_float() && kind.rank == 0)
    };
    let is_literal = |part: &&Expr| matches!(part.kind, ExprKind::Number(Number::Float { .. }, _));
    if parts.iter().any(is_literal) {
        let (start, stop) = (argument(start)?, argument(stop)?);
        let step = step.map_or_else(|| Some("0.1".to_owned()), argument)?;
        return Some(format!("a range of floats has a step: `range {start} {stop} {step}`"));
    }
    let bound = |part: &Expr| {
        let text = argument(part)?;
        Some(if is_float(part) { format!("i64 {text}") } else { text })
    };
    let by = match step {
        Some(step) => format!(" by {}", bound(step)?),
        None => String::new(),
    };
    parts.iter().any(|part| is_float(part)).then_some(())?;
    Some(format!(
        "`i64` cuts fractions off: `{}..{}{by}`; a range of floats is `range start stop step`",
        bound(start)?,
        bound(stop)?
    ))
}

/// Functions that are mistaken for others.
fn special(checker: &Checker<'_>, name: &Name, args: &[Expr], position: usize) -> Option<String> {
    let arg = &args[position];
    let kind = Numeric::of(checker, arg)?;
    let text = argument(arg);
    let is_prelude = |wanted: &str| &**name == wanted && is_of_the_start(checker, name);
    match (&**name, args) {
        ("select", [_, a, b]) if position == 0 && checker.is_builtin(name) => {
            let zero = if kind.scalar.is_float() { "> 0.0" } else { "!= 0" };
            let (text, a, b) = (text?, argument(a)?, argument(b)?);
            Some(format!("a condition is a bool: `select ({text} {zero}) {a} {b}`"))
        }
        ("scatter", [xs, ys]) if checker.is_builtin(name) => {
            let (xs, ys) = (argument(xs)?, argument(ys)?);
            Some(format!(
                "`scatter dest is xs` replaces elements; `scatterPlot {xs} {ys}` draws dots"
            ))
        }
        ("histogram", [xs, n]) if position == 0 && checker.is_builtin(name) && kind.rank > 0 => {
            let (xs, n) = (argument(xs)?, argument(n)?);
            Some(format!(
                "`histogram n is` counts integers: convert it with `i64 …`, or count intervals by `histogramBins {n} {xs}`"
            ))
        }
        ("histogram", [n, xs])
            if position == 1 && checker.is_builtin(name) && kind.scalar.is_float() =>
        {
            let (xs, n) = (argument(xs)?, argument(n)?);
            Some(format!(
                "`histogram n is` counts integers: convert it with `i64 …`, or count intervals by `histogramBins {n} {xs}`"
            ))
        }
        ("null", [_]) if checker.is_builtin(name) && kind.rank == 0 => Some(format!(
            "`null xs` says whether an array has no elements; whether a number is nan says `isNan {}`",
            text?
        )),
        (_, [mark, _]) if is_prelude("join") && position == 1 => {
            let (mark, xs) = (argument(mark)?, text?);
            let show = if kind.scalar.is_float() { "showFixed 2" } else { "showInt" };
            Some(format!("numbers are written as texts before: `join {mark} ({show} {xs})`"))
        }
        (_, [_]) if is_prelude("codes") => {
            let xs = text?;
            Some(format!(
                "it numbers texts; the distinct numbers are `unique {xs}`, and the place of each among them \
                 `searchSorted (unique {xs}) {xs}`"
            ))
        }
        (_, [_]) if is_prelude("showInt") && kind.scalar.is_float() => Some(format!(
            "a float is written as text by `showFixed 2 {}`, with two digits after the point",
            text?
        )),
        _ => None,
    }
}

/// Whether a name is that of a function that is there from the start, and no builtin.
pub(super) fn is_of_the_start(checker: &Checker<'_>, name: &Name) -> bool {
    let Some(Binding::Global(global)) = checker.environment.lookup(name) else { return false };
    matches!(checker.environment.global(*global), Some(Global::Function(_)))
}

/// `mean counts`, `iota 5.0`, `max n 0.5`.
fn as_argument(
    checker: &mut Checker<'_>,
    name: &Name,
    args: &[Expr],
    position: usize,
) -> Option<String> {
    let params = parameters(checker, name)?;
    if params.len() < args.len() {
        return None;
    }
    let heads: Vec<Type> = params.iter().map(|param| checker.table.peel(param).1).collect();
    let head = heads.get(position)?;
    let kind = Numeric::of(checker, &args[position])?;
    if let ("showFixed" | "roundTo", [numbers, digits]) = (&**name, args)
        && position == 0
        && kind.scalar.is_float()
    {
        let (digits, numbers) = (argument(digits)?, argument(numbers)?);
        return Some(format!("the number of digits stands first: `{name} {digits} {numbers}`"));
    }
    let class = match head {
        Type::Var(var) => checker.table.state(*var)?.class,
        _ => None,
    };
    let (which, to) = match (head, class) {
        (Type::Scalar(to), _) if to.is_int() || to.is_float() => (position, *to),
        (_, Some(Class::FLOAT)) if kind.scalar.is_int() => (position, ScalarType::F64),
        (_, Some(Class::INT)) if kind.scalar.is_float() => (position, ScalarType::I64),
        (Type::Var(_), _) => {
            // The two arguments that should have one type.
            let partner = args.iter().enumerate().find_map(|(other, arg)| {
                let partner = Numeric::of(checker, arg)?;
                let is_other = other != position && heads.get(other) == Some(head);
                Some((other, partner, common(kind, partner).filter(|_| is_other)?))
            });
            let (other, partner, to) = partner?;
            match (kind.scalar == to || kind.is_literal, partner.is_literal) {
                (false, _) => (position, to),
                (true, false) => (other, to),
                (true, true) => return None,
            }
        }
        _ => return None,
    };
    if Numeric::of(checker, &args[which])?.scalar == to {
        return None;
    }
    let texts = args.iter().enumerate().map(|(place, arg)| match (place == which, &arg.kind) {
        (true, ExprKind::Number(Number::Float { wide, .. }, None))
            if to.is_int() && wide.fract() == 0.0 && wide.abs() < 1e15 =>
        {
            let text = format!("{wide:.0}");
            Some(if text.starts_with('-') { format!("({text})") } else { text })
        }
        (true, _) => Some(format!("({to} {})", argument(arg)?)),
        (false, _) => argument(arg),
    });
    let texts: Option<Vec<String>> = texts.collect();
    let whole = format!("{name} {}", texts?.join(" "));
    let is_cut = to.is_int() && !matches!(args[which].kind, ExprKind::Number(..));
    Some(match is_cut && Numeric::of(checker, &args[which])?.scalar.is_float() {
        true => format!("`{to}` cuts fractions off: `{whole}`"),
        false => format!("nothing is converted implicitly: write `{whole}`"),
    })
}
