//! E0321: a sum, product or running sum of small integers that does not fit their type, and so has wrapped.
//!
//! `sum` yields the type of the elements, and bytes of a picture soon add up to more than u8 holds. Whether
//! they do is known only from the elements, so this looks where they are at hand: values of the session, their
//! fields, what is written out. It adds up what a program certainly adds up, and says nothing unless the true
//! result is another than the one of the program.

use std::collections::BTreeMap;
use std::ops::Range;

use weft_ir::{Column, Scalar, ScalarOp, ScalarType, Value};
use weft_lang::Diagnostic;
use weft_lang::ast::Number;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, LocalId, Pattern, Program};
use weft_lang::types::Type;

use crate::sources::Sources;
use crate::state::State;

/// How many elements are added up for the remarks on a program; it takes some milliseconds.
const MOST_ELEMENTS: usize = 1 << 20;

/// What there is to say about the entry of a program whose inputs have values.
pub(super) fn remarks(program: &Program, state: &State, sources: &Sources) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut left = MOST_ELEMENTS;
    certain(&program.entry, &Names::new(), &mut |function, args, names| {
        let mut at_hand = AtHand { state, names, left: &mut left };
        found.extend(remark(function, args, sources, &mut at_hand));
    });
    found
}

/// What local names stand for: that, or one after the other what lies in it.
type Names<'e> = BTreeMap<LocalId, &'e Expr>;

/// The names around an expression, and one more for a pattern that is a name.
fn with<'e>(names: &Names<'e>, pattern: &Pattern, value: &'e Expr) -> Names<'e> {
    let mut names = names.clone();
    if let Pattern::Local { local, .. } = pattern {
        names.insert(*local, value);
    }
    names
}

/// Calls `visit` with the applications that take place whatever the values are, and with the names around them. What is
/// done with each item of an array takes place if there is one, of which what is said is said.
fn certain<'e>(
    expr: &'e Expr,
    names: &Names<'e>,
    visit: &mut dyn FnMut(&'e Expr, &'e [Arg], &Names<'e>),
) {
    match &expr.kind {
        ExprKind::Apply { function, args, .. } => {
            visit(function, args, names);
            if needs_all(function) {
                args.iter().for_each(|arg| certain(&arg.expr, names, visit));
            }
            if let (ExprKind::Builtin(Builtin::Map, _), [each, items]) = (&function.kind, &args[..])
                && let ExprKind::Lambda { params, body } = &each.expr.kind
                && let [param] = &params[..]
            {
                certain(body, &with(names, param, &items.expr), visit);
            }
        }
        // What is bound may not be used.
        ExprKind::Let { pattern, value, body } => {
            certain(body, &with(names, pattern, value), visit)
        }
        ExprKind::Comprehension { body, generators, filter: None } => {
            let names = generators
                .iter()
                .fold(names.clone(), |names, (pattern, items)| with(&names, pattern, items));
            certain(body, &names, visit);
        }
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
            parts.iter().for_each(|part| certain(part, names, visit));
        }
        ExprKind::Field { record, index, depth } => match &record.kind {
            ExprKind::Tuple(parts) if *depth == 0 => certain(&parts[*index], names, visit),
            _ => certain(record, names, visit),
        },
        ExprKind::CheckSizes { body, .. } => certain(body, names, visit),
        ExprKind::Number(_)
        | ExprKind::Scalar(_)
        | ExprKind::Text(_)
        | ExprKind::NumberArray(_)
        | ExprKind::Local(..)
        | ExprKind::Value(_)
        | ExprKind::Function(_)
        | ExprKind::Builtin(..)
        | ExprKind::Lambda { .. }
        | ExprKind::LetFunction { .. }
        | ExprKind::If { .. }
        | ExprKind::Loop { .. }
        | ExprKind::RecordUpdate { .. }
        | ExprKind::Slice { .. }
        | ExprKind::WindowRead { .. }
        | ExprKind::Comprehension { .. } => {}
    }
}

/// Whether a function needs all of what it is applied to, high bits that have been lost too.
fn needs_all(function: &Expr) -> bool {
    match &function.kind {
        ExprKind::Builtin(Builtin::Op(op), _) => !matches!(
            op,
            ScalarOp::And
                | ScalarOp::Or
                | ScalarOp::Select
                | ScalarOp::BitAnd
                | ScalarOp::Mod
                | ScalarOp::Rem
        ),
        ExprKind::Builtin(..) => true,
        _ => false,
    }
}

/// A reduction of small integers.
struct Reduction<'e> {
    /// What it is called in messages.
    what: &'static str,
    multiplies: bool,
    /// Whether all results on the way count, and not the last alone.
    is_running: bool,
    start: i128,
    array: &'e Expr,
}

fn remark(
    function: &Expr,
    args: &[Arg],
    sources: &Sources,
    at_hand: &mut AtHand<'_>,
) -> Option<Diagnostic> {
    let reduction = reduction(function, args)?;
    let Type::Scalar(scalar) = *reduction.array.ty.peel().1 else { return None };
    let holds = range_of(scalar)?;
    let result = at_hand.rows(reduction.array)?.wrapped(&reduction, &holds)?;
    let name = sources.slice(function.span);
    let Reduction { what, array, start, .. } = reduction;
    let rank = at_hand.named(array).ty.peel().0;
    let of = if rank > 1 { " of a row" } else { "" };
    let result = match result {
        Some(result) => format!("the {what}{of} is {result}"),
        None => format!("the {what}{of} is larger"),
    };
    let (low, high) = (holds.start, holds.end - 1);
    let message = format!("this wraps: {result}, and {scalar} holds {low} to {high}");
    let text = match sources.slice(array.span) {
        text if super::letters::is_short(text) => text,
        _ => "xs",
    };
    let call = match args {
        [_] => format!("{name} (i64 {text})"),
        [each, _] => format!("{name} {} (i64 {text})", sources.slice(each.expr.span)),
        [operator, _, _] => {
            let operator = sources.slice(operator.expr.span);
            let shown = if start < 0 { format!("({start})") } else { start.to_string() };
            format!("{name} {operator} {} (i64 {text})", shown)
        }
        _ => return None,
    };
    let here = format!("this is {}", array.ty);
    Some(
        Diagnostic::error("E0321", message, array.span, here)
            .warning()
            .help(format!("the result has the type of the elements; `{call}` has room for it")),
    )
}

fn reduction<'e>(function: &Expr, args: &'e [Arg]) -> Option<Reduction<'e>> {
    let ExprKind::Builtin(builtin, _) = &function.kind else { return None };
    match (builtin, args) {
        (Builtin::Map, [each, array]) => match each.expr.kind {
            ExprKind::Builtin(Builtin::Sum | Builtin::Product, _) => {
                reduction(&each.expr, std::slice::from_ref(array))
            }
            _ => None,
        },
        (Builtin::Sum, [array]) => Some(Reduction {
            what: "sum",
            multiplies: false,
            is_running: false,
            start: 0,
            array: &array.expr,
        }),
        (Builtin::Product, [array]) => Some(Reduction {
            what: "product",
            multiplies: true,
            is_running: false,
            start: 1,
            array: &array.expr,
        }),
        (Builtin::Fold | Builtin::Postscanl, [operator, start, array]) => {
            let multiplies = match &operator.expr.kind {
                ExprKind::Builtin(Builtin::Op(ScalarOp::Add), _) => false,
                ExprKind::Builtin(Builtin::Op(ScalarOp::Mul), _) => true,
                _ => return None,
            };
            let is_running = !matches!(builtin, Builtin::Fold);
            let what = match (multiplies, is_running) {
                (false, false) => "sum",
                (true, false) => "product",
                (false, true) => "running sum",
                (true, true) => "running product",
            };
            let start = number(&start.expr)?;
            Some(Reduction { what, multiplies, is_running, start, array: &array.expr })
        }
        _ => None,
    }
}

/// The numbers that a small integer type holds.
fn range_of(scalar: ScalarType) -> Option<Range<i128>> {
    match scalar {
        ScalarType::I8 => Some(-128..128),
        ScalarType::I16 => Some(-32_768..32_768),
        ScalarType::U8 => Some(0..256),
        ScalarType::U16 => Some(0..65_536),
        _ => None,
    }
}

/// A result on its way.
struct Total {
    /// Nothing once it is huge.
    result: Option<i128>,
    has_zero: bool,
    /// The first of the running results that the type does not hold.
    outside: Option<Option<i128>>,
}

impl Total {
    fn new(reduction: &Reduction<'_>) -> Total {
        Total { result: Some(reduction.start), has_zero: reduction.start == 0, outside: None }
    }

    fn add(&mut self, element: i128, reduction: &Reduction<'_>, holds: &Range<i128>) {
        self.has_zero |= element == 0;
        self.result = match (self.result, reduction.multiplies) {
            (Some(result), false) => result.checked_add(element),
            (Some(result), true) => result.checked_mul(element),
            (None, _) => None,
        };
        if reduction.is_running && self.outside.is_none() {
            self.outside = Some(self.result).filter(|result| is_outside(*result, holds));
        }
    }

    /// The result if its type does not hold it: the number, or nothing if that is huge.
    fn wrapped(&self, reduction: &Reduction<'_>, holds: &Range<i128>) -> Option<Option<i128>> {
        // A 0 makes a whole product 0, however large it was on the way.
        let is_zero = reduction.multiplies && self.has_zero;
        match reduction.is_running {
            true => self.outside,
            false => Some(self.result).filter(|result| !is_zero && is_outside(*result, holds)),
        }
    }
}

fn is_outside(result: Option<i128>, holds: &Range<i128>) -> bool {
    !result.is_some_and(|result| holds.contains(&result))
}

/// The innermost rows of an array that is at hand.
enum Rows {
    /// They stand in the program.
    Written(Vec<Vec<i128>>),
    /// Those of an array of the session; one after the other as one row, if they are flattened.
    Held { column: Column, flattened: bool },
}

impl Rows {
    /// The columns of a matrix.
    fn transposed(self) -> Option<Rows> {
        let rows = match self {
            Rows::Written(rows) => rows,
            Rows::Held { column, .. } => {
                let mut rows = Vec::new();
                each_row(&column, 0..column.len(), &mut |row| {
                    let mut elements = Vec::new();
                    row.for_each(&mut |element| elements.push(element));
                    rows.push(elements);
                });
                rows
            }
        };
        columns(rows).map(Rows::Written)
    }

    /// The first result that its type does not hold.
    fn wrapped(&self, reduction: &Reduction<'_>, holds: &Range<i128>) -> Option<Option<i128>> {
        let mut total = Total::new(reduction);
        match self {
            Rows::Written(rows) => rows.iter().find_map(|row| {
                total = Total::new(reduction);
                row.iter().for_each(|element| total.add(*element, reduction, holds));
                total.wrapped(reduction, holds)
            }),
            Rows::Held { column, flattened } => {
                let mut found = None;
                each_row(column, 0..column.len(), &mut |row| {
                    if !flattened {
                        total = Total::new(reduction);
                    }
                    row.for_each(&mut |element| total.add(element, reduction, holds));
                    if !flattened && found.is_none() {
                        found = total.wrapped(reduction, holds);
                    }
                });
                if *flattened { total.wrapped(reduction, holds) } else { found }
            }
        }
    }
}

/// The columns of rows of one length; nothing if they are none.
fn columns(rows: Vec<Vec<i128>>) -> Option<Vec<Vec<i128>>> {
    let width = rows.first()?.len();
    rows.iter()
        .all(|row| row.len() == width)
        .then(|| (0..width).map(|index| rows.iter().map(|row| row[index]).collect()).collect())
}

/// A row of scalars in a column.
struct Row<'c> {
    column: &'c Column,
    place: Range<usize>,
}

impl Row<'_> {
    fn for_each(&self, visit: &mut dyn FnMut(i128)) {
        let place = self.place.clone();
        match self.column {
            Column::I8(buf) => buf.as_slice()[place].iter().for_each(|&x| visit(i128::from(x))),
            Column::I16(buf) => buf.as_slice()[place].iter().for_each(|&x| visit(i128::from(x))),
            Column::U8(buf) => buf.as_slice()[place].iter().for_each(|&x| visit(i128::from(x))),
            Column::U16(buf) => buf.as_slice()[place].iter().for_each(|&x| visit(i128::from(x))),
            // Only columns of these types get here.
            _ => {}
        }
    }
}

fn each_row(column: &Column, place: Range<usize>, visit: &mut dyn FnMut(Row<'_>)) {
    match column {
        Column::Dense { extent, inner, .. } => {
            for index in place {
                each_row(inner, index * extent..(index + 1) * extent, visit);
            }
        }
        Column::Ragged { offsets, inner } => {
            let offsets = offsets.as_slice();
            for index in place {
                each_row(inner, offsets[index]..offsets[index + 1], visit);
            }
        }
        scalars => visit(Row { column: scalars, place }),
    }
}

/// How many scalars a column has, and rows in between.
fn count(column: &Column) -> usize {
    match column {
        Column::Dense { len, inner, .. } => len + count(inner),
        Column::Ragged { offsets, inner } => offsets.len() + count(inner),
        scalars => scalars.len(),
    }
}

/// Where arrays are that can be looked at.
struct AtHand<'e> {
    state: &'e State,
    names: &'e Names<'e>,
    /// How many more elements may be added up.
    left: &'e mut usize,
}

impl AtHand<'_> {
    /// What an expression stands for, if it is a name.
    fn named<'e>(&'e self, expr: &'e Expr) -> &'e Expr {
        match &expr.kind {
            ExprKind::Local(local, _) => match self.names.get(local) {
                Some(value) => self.named(value),
                None => expr,
            },
            _ => expr,
        }
    }

    /// The innermost rows of an array, if it is at hand, and no more elements than are left to be added up.
    fn rows(&mut self, expr: &Expr) -> Option<Rows> {
        match &expr.kind {
            ExprKind::Local(local, _) => self.rows(self.names.get(local).copied()?),
            ExprKind::NumberArray(_) | ExprKind::Array(_) => written(expr).map(Rows::Written),
            ExprKind::Apply { function, args, depth: 0 } => match (&function.kind, &args[..]) {
                // What a name of items stands for is all of them.
                (ExprKind::Builtin(Builtin::Flatten, _), [nested])
                    if !matches!(nested.expr.kind, ExprKind::Local(..)) =>
                {
                    let is_last = nested.expr.ty.peel().0 == 2;
                    match self.rows(&nested.expr)? {
                        Rows::Written(rows) if is_last => {
                            Some(Rows::Written(vec![rows.into_iter().flatten().collect()]))
                        }
                        Rows::Held { column, .. } if is_last => {
                            Some(Rows::Held { column, flattened: true })
                        }
                        // The rows are the same, but for what is around them.
                        rows => Some(rows),
                    }
                }
                (ExprKind::Builtin(Builtin::Transpose, _), [matrix])
                    if matrix.expr.ty.peel().0 == 2
                        && !matches!(matrix.expr.kind, ExprKind::Local(..)) =>
                {
                    self.rows(&matrix.expr)?.transposed()
                }
                _ => None,
            },
            ExprKind::Value(_) | ExprKind::Field { .. } => {
                let column = column(expr, self.state)?;
                if !column.is_here() {
                    return None;
                }
                *self.left = self.left.checked_sub(count(&column))?;
                Some(Rows::Held { column, flattened: false })
            }
            _ => None,
        }
    }
}

/// The numbers of a literal.
fn written(expr: &Expr) -> Option<Vec<Vec<i128>>> {
    match &expr.kind {
        ExprKind::NumberArray(numbers) => {
            let row: Option<Vec<i128>> = numbers.iter().map(|number| integer(*number)).collect();
            Some(vec![row?])
        }
        ExprKind::Array(parts) if expr.ty.peel().0 == 1 => {
            let numbers = parts.iter().map(number);
            Some(vec![numbers.collect::<Option<Vec<i128>>>()?])
        }
        ExprKind::Array(parts) => {
            let rows: Option<Vec<_>> = parts.iter().map(written).collect();
            Some(rows?.into_iter().flatten().collect())
        }
        _ => None,
    }
}

/// A number that is written out.
fn number(expr: &Expr) -> Option<i128> {
    match expr.kind {
        ExprKind::Number(number) => integer(number),
        ExprKind::Scalar(Scalar::I8(value)) => Some(value.into()),
        ExprKind::Scalar(Scalar::I16(value)) => Some(value.into()),
        ExprKind::Scalar(Scalar::U8(value)) => Some(value.into()),
        ExprKind::Scalar(Scalar::U16(value)) => Some(value.into()),
        _ => None,
    }
}

fn integer(number: Number) -> Option<i128> {
    match number {
        Number::Int(value) => Some(value),
        Number::Float { .. } => None,
    }
}

/// The elements of an array of the session.
fn column(expr: &Expr, state: &State) -> Option<Column> {
    match &expr.kind {
        ExprKind::Value(global) => match state.values.get(global)? {
            Value::Array(array) => Some(array.elements.clone()),
            Value::Scalar(_) | Value::Tuple(_) => None,
        },
        ExprKind::Field { record, index, depth: 0 } => {
            let ExprKind::Value(global) = &record.kind else { return None };
            let Value::Tuple(parts) = state.values.get(global)? else { return None };
            match parts.get(*index)? {
                Value::Array(array) => Some(array.elements.clone()),
                Value::Scalar(_) | Value::Tuple(_) => None,
            }
        }
        ExprKind::Field { record, index, depth: 1 } => match column(record, state)? {
            Column::Tuple { parts, .. } => parts.get(*index).cloned(),
            _ => None,
        },
        _ => None,
    }
}
