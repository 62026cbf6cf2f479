//! Arrays: masks in brackets, a number for each row, an element that is joined, groups by texts.

use weft_ir::ScalarType;

use super::written::{argument, is_comparison, operation, renamed, written};
use crate::ast::{Axis, Expr, ExprKind, LetBinding, Number, Pattern, PatternKind};
use crate::check::Checker;
use crate::diagnostic::Diagnostic;
use crate::types::{Class, Type};

/// What there is to say about an index, an operator between arrays or an apply-to-each.
pub(super) fn advice(checker: &Checker<'_>, expr: &Expr, found: &Diagnostic) -> Option<String> {
    match &expr.kind {
        ExprKind::Index { array, axes } => {
            column(expr, array, axes, found).or_else(|| mask(checker, expr, array, axes, found))
        }
        ExprKind::With { array, axes, value } => mask_beside_slices(checker, axes, found)
            .or_else(|| mask_of_all(checker, array, axes, value, found)),
        ExprKind::Comprehension { body, generators, filter: Some(filter) }
            if filter.span == found.span() && found.message.starts_with("the filter") =>
        {
            filter_of_rows(checker, body, generators, filter)
        }
        ExprKind::Comprehension { body, generators, filter: Some(filter) }
            if found.code == "E0201" && filter.span.contains(found.span()) =>
        {
            bound_in_value(body, generators, filter, found)
        }
        ExprKind::Comprehension { generators, .. } => {
            let is_it = |pattern: &&(Pattern, Expr)| pattern.0.span == found.span();
            let (_, source) = generators.iter().find(is_it)?;
            groups_of_texts(checker, source)
        }
        ExprKind::Array(elements) if found.message == "the elements of an array have one type" => {
            range_among_elements(elements)
        }
        ExprKind::Apply { .. } => {
            let (symbol, left, right) = operation(expr)?;
            match symbol {
                "++" => joined(checker, left, right, found)
                    .or_else(|| began_empty(checker, left, right, found)),
                _ => against_nothing(symbol, left, right, found)
                    .or_else(|| of_rows(symbol, left, right, found)),
            }
        }
        _ => None,
    }
}

/// `{ let y = e in y : x in xs | y > 3 }`: a filter sees what the generators bind, and nothing of the value.
fn bound_in_value(
    body: &Expr,
    generators: &[(Pattern, Expr)],
    filter: &Expr,
    found: &Diagnostic,
) -> Option<String> {
    let mut rest = body;
    let mut before = 0;
    while let ExprKind::Let { bindings, body } = &rest.kind {
        for binding in bindings {
            let LetBinding::Value(pattern, value) = binding else { continue };
            let PatternKind::Name(name) = &pattern.kind else { continue };
            if found.message != format!("there is no `{name}`") {
                before += 1;
                continue;
            }
            let [(source_pattern, source)] = generators else { continue };
            let PatternKind::Name(element) = &source_pattern.kind else { continue };
            let value = written(value).filter(|_| before == 0).unwrap_or_else(|| "…".to_owned());
            let source = written(source).unwrap_or_else(|| "xs".to_owned());
            let condition = written(filter).unwrap_or_else(|| "…".to_owned());
            let values = format!("{name} in {{ {value} : {element} in {source} }}");
            let is_result = matches!(&body.kind, ExprKind::Name(result) if result == name);
            let whole = match is_result {
                true => format!("{{ {values} | {condition} }}"),
                false => format!("{{ … : {element} in {source} ; {values} | {condition} }}"),
            };
            return Some(format!("a condition sees what the generators bind: `{whole}`"));
        }
        rest = body;
    }
    None
}

/// `[1..5, 7]`, `[1, 3..9]`: a range is an array by itself, and elements beside it are others.
fn range_among_elements(elements: &[Expr]) -> Option<String> {
    let is_range = |expr: &Expr| matches!(expr.kind, ExprKind::Range { .. });
    if let [first, Expr { kind: ExprKind::Range { start, stop, step: None }, .. }] = elements
        && let (ExprKind::Number(Number::Int(first), _), ExprKind::Number(Number::Int(second), _)) =
            (&first.kind, &start.kind)
        && let Some(stop) = written(stop)
    {
        let step = second.checked_sub(*first)?;
        let step = if step < 0 { format!("({step})") } else { step.to_string() };
        return Some(format!("a range with a step is `{first}..{stop} by {step}`, without {stop}"));
    }
    elements.iter().any(is_range).then(|| {
        "a range is an array by itself, `1..5`; arrays are joined with `++`: `(1..5) ++ [7]`"
            .to_owned()
    })
}

/// `{ c in texts | c != '$' }`: the letters of each text are meant.
fn filter_of_rows(
    checker: &Checker<'_>,
    body: &Expr,
    generators: &[(Pattern, Expr)],
    filter: &Expr,
) -> Option<String> {
    let [(pattern, source)] = generators else { return None };
    let (PatternKind::Name(element), ExprKind::Name(value)) = (&pattern.kind, &body.kind) else {
        return None;
    };
    let (symbol, left, right) = operation(filter)?;
    // Whole texts are compared with a text.
    if [left, right].iter().any(|side| matches!(side.kind, ExprKind::Text(_))) {
        return None;
    }
    let (rank, head) = checker.table.peel(&checker.type_at(filter.span).or_else(|| {
        // The comparison of a letter of an array of texts.
        checker.type_at(source.span)
    })?);
    let is_literal = matches!(&source.kind, ExprKind::Array(_));
    if element != value || !is_comparison(symbol) || (rank == 0 && !is_literal) {
        return None;
    }
    let of_char = matches!(head, Type::Scalar(ScalarType::Bool | ScalarType::Char));
    let row = ["row", "text"][usize::from(of_char)];
    let (condition, source) = (written(filter)?, written(source)?);
    Some(format!(
        "the elements of each row: `{{ {{ {element} in {row} | {condition} }} : {row} in {source} }}`"
    ))
}

/// `t["wind"]`: a column by its name.
fn column(expr: &Expr, array: &Expr, axes: &[Axis], found: &Diagnostic) -> Option<String> {
    let [Axis::Index(Expr { kind: ExprKind::Text(name), .. })] = axes else { return None };
    let name = std::str::from_utf8(name).ok()?;
    let is_name = name.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    let is_own = found.span() == expr.span || found.span() == array.span;
    (is_name && is_own).then_some(())?;
    Some(format!("a field of a record is `{}.{name}`", argument(array)?))
}

/// `xs[xs > 2]`, `m[m[:, 0] > 2, :]`, `w[w.x > 2]`.
fn mask(
    checker: &Checker<'_>,
    expr: &Expr,
    array: &Expr,
    axes: &[Axis],
    found: &Diagnostic,
) -> Option<String> {
    let span = found.span();
    let (position, mask) = axes.iter().enumerate().find_map(|(position, axis)| match axis {
        Axis::Index(index) if is_mask(checker, index) => Some((position, index)),
        Axis::Index(_) | Axis::Slice { .. } => None,
    })?;
    if span != mask.span && span != array.span && span != expr.span {
        return None;
    }
    let name = written(array);
    // A table: its columns stand in the condition.
    let columns = checker.type_at(array.span).and_then(|ty| checker.table_help(&ty));
    if columns.is_some() || is_of_fields(array, mask) {
        let ExprKind::Name(table) = &array.kind else { return None };
        return Some(match renamed(mask, table, "r") {
            Some(condition) => {
                format!("the rows for which that holds: `{{ r in rows {table} | {condition} }}`")
            }
            None => format!("the rows for which a condition holds: `{{ r in rows {table} | … }}`"),
        });
    }
    let all = name.clone().unwrap_or_else(|| "xs".to_owned());
    let flags = argument(mask).unwrap_or_else(|| "flags".to_owned());
    if axes.len() > 1 {
        return Some(match position {
            0 => format!("the rows for which that holds: `pack {all} {flags}`"),
            _ => format!(
                "the columns for which that holds: `transpose (pack (transpose {all}) {flags})`"
            ),
        });
    }
    let rank = mask_rank(checker, mask);
    let compared = operation(mask).filter(|(symbol, left, _)| {
        is_comparison(symbol) && written(left) == name && name.is_some()
    });
    // A name for an element, which nothing else has there.
    let element = |of: &Expr| {
        let free = ["x", "y", "e"].into_iter().find(|name| !of.mentions(name) && **name != *all);
        free.unwrap_or("element")
    };
    Some(match (compared, rank) {
        (Some((symbol, _, right)), 0 | 1) => {
            let x = element(right);
            let right = argument(right).unwrap_or_else(|| "…".to_owned());
            format!(
                "the elements for which that holds: `{{ {x} in {all} | {x} {symbol} {right} }}`, those of another \
                 array at these places: `pack ys {flags}`"
            )
        }
        (Some((symbol, _, right)), _) => {
            let x = element(right);
            let right = argument(right).unwrap_or_else(|| "…".to_owned());
            format!(
                "the elements for which that holds: `{{ {x} in flatten {all} | {x} {symbol} {right} }}`"
            )
        }
        (None, 0 | 1) => {
            let is_matrix = checker.rank_at(array.span).is_some_and(|rank| rank > 1);
            let what = if is_matrix { "rows" } else { "elements" };
            let array = argument(array).unwrap_or(all);
            format!("the {what} for which that holds: `pack {array} {flags}`")
        }
        (None, _) => {
            let array = argument(array).unwrap_or(all);
            format!("the elements for which that holds: `pack (flatten {array}) (flatten {flags})`")
        }
    })
}

/// `(m with [m[:, 0] > 2, :] = v)`.
fn mask_beside_slices(checker: &Checker<'_>, axes: &[Axis], found: &Diagnostic) -> Option<String> {
    axes.iter().find(|axis| axis.index().is_none())?;
    let mut indices = axes.iter().filter_map(Axis::index);
    let mask = indices.find(|index| index.span == found.span() && is_mask(checker, index))?;
    let flags = argument(mask).unwrap_or_else(|| "flags".to_owned());
    Some(format!("the places for which that holds are `positions {flags}`"))
}

/// `(m with [m < 0] = 0)`, where the mask has all axes of the matrix.
fn mask_of_all(
    checker: &Checker<'_>,
    array: &Expr,
    axes: &[Axis],
    value: &Expr,
    found: &Diagnostic,
) -> Option<String> {
    let [Axis::Index(mask)] = axes else { return None };
    if mask.span != found.span() || !is_mask(checker, mask) || mask_rank(checker, mask) < 2 {
        return None;
    }
    let (flags, new, array) = (argument(mask)?, argument(value)?, argument(array)?);
    Some(format!("the same with other values at some places: `select {flags} {new} {array}`"))
}

/// `q != []`, where one bool is wanted.
fn against_nothing(symbol: &str, left: &Expr, right: &Expr, found: &Diagnostic) -> Option<String> {
    let is_nothing =
        |side: &Expr| matches!(&side.kind, ExprKind::Array(elements) if elements.is_empty());
    let other = match (is_nothing(left), is_nothing(right)) {
        (false, true) => left,
        (true, false) => right,
        _ => return None,
    };
    let is_it = found.span() == left.span.to(right.span) && found.message.contains("needs bool");
    if !is_it && found.code != "E0305" {
        return None;
    }
    let array = argument(other)?;
    match symbol {
        "==" => Some(format!("`null {array}` says whether there is nothing in it")),
        "!=" => Some(format!("`!(null {array})` says whether there is something in it")),
        _ => None,
    }
}

/// Whether an index holds truth values.
fn is_mask(checker: &Checker<'_>, index: &Expr) -> bool {
    let is_condition = operation(index)
        .is_some_and(|(symbol, ..)| is_comparison(symbol) || matches!(symbol, "&&" | "||"));
    let ty = checker.type_at(index.span);
    let head = ty.map(|ty| checker.table.peel(&ty).1);
    head == Some(Type::Scalar(ScalarType::Bool)) || (head.is_none() && is_condition)
}

fn mask_rank(checker: &Checker<'_>, mask: &Expr) -> usize {
    checker.type_at(mask.span).map_or(1, |ty| checker.table.peel(&ty).0)
}

/// Whether a condition reads the fields of what is indexed.
fn is_of_fields(array: &Expr, mask: &Expr) -> bool {
    let ExprKind::Name(table) = &array.kind else { return false };
    let mut reads = false;
    mask.for_each_child(&mut |part| {
        let ExprKind::Field { record, .. } = &part.kind else { return };
        reads |= matches!(&record.kind, ExprKind::Name(name) if name == table);
    });
    reads
}

/// `m - mean m`: a matrix and a number for each of its rows.
fn of_rows(symbol: &str, left: &Expr, right: &Expr, found: &Diagnostic) -> Option<String> {
    if found.code != "E0305" {
        return None;
    }
    let of = |part: &Expr, whole: &Expr| {
        let ExprKind::Apply { args, .. } = &part.kind else { return false };
        written(whole).is_some() && args.iter().any(|arg| written(arg) == written(whole))
    };
    if of(right, left) {
        let (m, v) = (written(left)?, written(right)?);
        return Some(format!(
            "each row with its own number: `{{ r {symbol} x : r in {m} ; x in {v} }}`"
        ));
    }
    if of(left, right) {
        let (v, m) = (written(left)?, written(right)?);
        return Some(format!(
            "each row with its own number: `{{ x {symbol} r : x in {v} ; r in {m} }}`"
        ));
    }
    None
}

/// `log ++ ["a"]` where `log` was bound to `[]`, perhaps: its elements are integers then, as nothing says otherwise.
fn began_empty(
    checker: &Checker<'_>,
    left: &Expr,
    right: &Expr,
    found: &Diagnostic,
) -> Option<String> {
    if ![left.span, right.span].contains(&found.span()) {
        return None;
    }
    let of = |expr: &Expr| checker.type_at(expr.span);
    let integers = Type::Array(Type::Scalar(ScalarType::I64).into());
    let (named, other) = match (of(left)? == integers, of(right)? == integers) {
        (true, false) => (left, right),
        (false, true) => (right, left),
        _ => return None,
    };
    let ty = of(other).filter(|ty| checker.table.peel(ty).0 > 0)?;
    let ty = checker.annotation(&ty);
    let place = match &named.kind {
        ExprKind::Name(name) => format!("`({name} : {ty}) = []`"),
        ExprKind::Field { field, .. } => format!("`{} = ([] : {ty})`", field.name),
        _ => return None,
    };
    let named = written(named)?;
    Some(format!(
        "`{named}` are integers, and so is `[]` where nothing says otherwise: to begin with none of these, write {place}"
    ))
}

/// `xs ++ 3`, `"n = " ++ 5`, `"abc"[0] ++ "d"`.
fn joined(checker: &Checker<'_>, left: &Expr, right: &Expr, found: &Diagnostic) -> Option<String> {
    let of = |expr: &Expr| Some(checker.table.peel(&checker.type_at(expr.span)?));
    let ((left_rank, left_head), (right_rank, right_head)) = (of(left)?, of(right)?);
    let (single, rank, head, other) = match found.span() {
        span if span == right.span => (right, right_rank, right_head, left_head),
        span if span == left.span => (left, left_rank, left_head, right_head),
        _ => return None,
    };
    let is_number = |ty: &Type| match ty {
        Type::Scalar(scalar) => scalar.is_int() || scalar.is_float(),
        _ => false,
    };
    if rank > 0
        && other == Type::Scalar(ScalarType::Char)
        && left_rank == right_rank
        && !is_number(&head)
    {
        return None;
    }
    let class = match &head {
        Type::Var(var) => checker.table.state(*var).and_then(|open| open.class),
        _ => None,
    };
    let is_float =
        class == Some(Class::FLOAT) || matches!(&head, Type::Scalar(scalar) if scalar.is_float());
    let is_int = matches!(class, Some(Class::NUM | Class::INT))
        || matches!(&head, Type::Scalar(scalar) if scalar.is_int());
    let text = argument(single);
    let is_text = |ty: &Type| *ty == Type::Scalar(ScalarType::Char);
    if is_text(&other) && rank == 0 && (is_float || is_int) {
        let text = text.unwrap_or_else(|| "x".to_owned());
        return Some(match is_float {
            true => format!(
                "a number is written as text by `showFixed 2 {text}`, with two digits after the point"
            ),
            false => format!("an integer is written as text by `showInt {text}`"),
        });
    }
    if is_text(&other) && rank == 1 && (is_float || is_int) {
        let numbers = written(single)?;
        let show = if is_float { "showFixed 2 x" } else { "showInt x" };
        let whole = match std::ptr::eq(single, right) {
            true => format!("{} ++ {show}", argument(left)?),
            false => format!("{show} ++ {}", argument(right)?),
        };
        return Some(format!("of each of the numbers a text: `{{ {whole} : x in {numbers} }}`"));
    }
    let other_rank = if std::ptr::eq(single, right) { left_rank } else { right_rank };
    let are_literals = |ty: &Type| match ty {
        Type::Var(var) => checker.table.state(*var).is_some_and(|open| open.class.is_some()),
        _ => is_number(ty),
    };
    let is_alike = head == other || are_literals(&head) && are_literals(&other);
    if found.code == "E0307" && rank > 0 && rank + 1 == other_rank && is_alike {
        let element = written(single).unwrap_or_else(|| "row".to_owned());
        return Some(format!("one row is joined as an array that holds it: `[{element}]`"));
    }
    let are_tuples = matches!((&head, &other), (Type::Tuple(_), Type::Tuple(_)));
    if found.code == "E0307" && are_tuples && rank + 1 == other_rank {
        let element = written(single).unwrap_or_else(|| "x".to_owned());
        return Some(format!("one element is joined as an array that holds it: `[{element}]`"));
    }
    let is_one = rank == 0 && (is_text(&other) == is_text(&head));
    if !is_one || (!is_text(&head) && !is_float && !is_int && class.is_none()) {
        return None;
    }
    let element = written(single).unwrap_or_else(|| "x".to_owned());
    Some(format!("one element is joined as an array that holds it: `[{element}]`"))
}

/// `{ … : (k, g) in groupBy texts values }`.
fn groups_of_texts(checker: &Checker<'_>, source: &Expr) -> Option<String> {
    let ExprKind::Apply { function, args, .. } = &source.kind else { return None };
    let (ExprKind::Name(name), [keys, values]) = (&function.kind, &args[..]) else { return None };
    if &**name != "groupBy" || !checker.is_builtin(name) {
        return None;
    }
    let (rank, head) = checker.table.peel(&checker.type_at(keys.span)?);
    if rank < 2 || head != Type::Scalar(ScalarType::Char) {
        return None;
    }
    let keys = argument(keys).unwrap_or_else(|| "texts".to_owned());
    let values = argument(values).unwrap_or_else(|| "values".to_owned());
    Some(format!(
        "a text as a key is its number: `(numbers, names) = codes {keys}`, then \
         `{{ (names[k], g) : (k, g) in groupBy numbers {values} }}`"
    ))
}
