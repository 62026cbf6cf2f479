//! E0320: a definition that is mapped over the rows of an array, and yields something else where it has the whole array.
//!
//! In `def richardson A b n = loop x = b for _ < n do x + 0.1 * (b - dot A x)` the product takes a vector, so `A` is one, and
//! a matrix is mapped over: each row alone with all of `b`. With `(A : [][]f64)` it is the product of a matrix and a
//! vector. Nothing is wrong with either, and nothing tells them apart but what comes out: of `def norm v = sqrt (dot v v)`
//! it is the same, a number for each row, and there is nothing to say.
//!
//! So the definition is checked once more as it is written, with the types of the arguments as annotations.
//!
//! Note [Lists of points]. Of `def middles ps = { (a + b) / 2.0 : a in init ps ; b in tail ps }` rows come out either way,
//! and they are not the same. Neighbours in the rows of a matrix may be meant; but if there are more rows than a few, of two
//! or three elements each, these are points.

use weft_ir::{Column, Value};
use weft_lang::ast::{self, PatternKind};
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, Function, Guess};
use weft_lang::types::{Scheme, Type};
use weft_lang::{Config, Diagnostic, annotated};

use super::Walk;
use super::letters::quoted;
use super::mapped::{MappedOver, applied, over_rows};
use crate::sources::Sources;

/// Functions that take neighbours of the elements of an array.
const NEIGHBOURS: [&str; 4] = ["init", "tail", "rotate", "windows"];

/// What there is to say about an application of a definition that yields `found`.
pub(super) fn remark(
    walk: &Walk<'_, '_>,
    function: &Expr,
    args: &[Arg],
    found: &Type,
) -> Option<Diagnostic> {
    if !args.iter().any(|arg| arg.mapped) || is_function(found) {
        return None;
    }
    let (definition, given) = applied(walk.program, walk.state, function)?;
    let written = definition.written.as_deref()?;
    let params: Vec<_> = written.params.iter().zip(param_types(definition)).skip(given).collect();
    let mut types: Vec<Option<Type>> = vec![None; given];
    let mut mapped: Vec<MappedOver<'_>> = Vec::new();
    for ((param, taken), arg) in params.into_iter().zip(args) {
        match &param.kind {
            PatternKind::Name(name) => {
                types.push((!is_function(&arg.expr.ty)).then(|| arg.expr.ty.clone()));
                if arg.mapped {
                    mapped.push((name, taken.peel().0, arg));
                }
            }
            // An annotation says what it is.
            _ if arg.mapped => return None,
            _ => types.push(None),
        }
    }
    let config = Config { float: walk.state.modes.float };
    let scheme = annotated(definition, &types, &walk.state.environment, &config)?;
    let whole = result_of(&scheme, given + args.len())?;
    let name = &definition.name;
    if ranks(whole) != ranks(found) && !mapped.is_empty() {
        let note = format!("with all of it, `{name}` would yield {whole}, and not {found}");
        return Some(over_rows(name, &mapped, note));
    }
    // Of both readings each axis of the result is one of an argument, in another order.
    let with_each = mapped.iter().copied().filter(|of| goes_with_each(&written.body, of.0));
    let with_each: Vec<_> = with_each.collect();
    if let Some((param, ..)) = with_each.first() {
        let note = format!(
            "`{param}` goes with each element of an array there: with all of it, another array of the type {found} would come out"
        );
        return Some(over_rows(name, &with_each, note));
    }
    let points = mapped.iter().find_map(|of @ (param, axes, arg)| {
        let width = walk.point_width(&arg.expr).filter(|_| *axes == 1)?;
        takes_neighbours(&written.body, param).then_some((*of, width))
    });
    let (of, width) = points?;
    let note = format!("`{name}` takes neighbours in each row, of {width} numbers");
    Some(over_rows(name, &[of], note))
}

/// What there is to say about a definition of which two parameters got more axes together, as nothing says which of them
/// has them: their rows go side by side. In `def nearest X q = argmin (distances X q)`, where `distances` takes two vectors,
/// each row of `q` may be to go with all of `X`, and `nearest X X` compares each row with itself.
pub(super) fn side_by_side(
    walk: &Walk<'_, '_>,
    function: &Expr,
    args: &[Arg],
) -> Option<Diagnostic> {
    let (definition, given) = applied(walk.program, walk.state, function)?;
    let together: Vec<(&Guess, &Arg)> = definition
        .guesses
        .iter()
        .filter(|guess| guess.rank > 1 && !guess.elements && guess.of.is_none())
        .filter_map(|guess| Some((guess, args.get(guess.parameter.checked_sub(given)?)?)))
        .filter(|(guess, arg)| !arg.mapped && arg.expr.ty.peel().0 == guess.rank)
        .collect();
    let [first, .., last] = &together[..] else { return None };
    let config = Config { float: walk.state.modes.float };
    // Whether one row of a parameter may go with all of the other.
    let is_right = |of: &Guess, ty: &Type| {
        let mut types = vec![None; given];
        types.extend(args.iter().map(|arg| Some(arg.expr.ty.clone())));
        types[of.parameter] = Some(ty.clone());
        types.iter_mut().for_each(|ty| *ty = ty.take().filter(|ty| !is_function(ty)));
        annotated(definition, &types, &walk.state.environment, &config).is_some()
    };
    let row =
        |(guess, arg): &(&Guess, &Arg)| Type::arrays(guess.rank - 1, arg.expr.ty.peel().1.clone());
    let (guess, arg, other) = [(last, first), (first, last)]
        .into_iter()
        .find_map(|(of, other)| is_right(of.0, &row(of)).then_some((of.0, of.1, other.0)))?;
    let (name, own, all, ty) = (&definition.name, &guess.name, &other.name, &arg.expr.ty);
    let message = format!("`{name}` takes the rows of `{all}` and those of `{own}` side by side");
    Some(
        Diagnostic::error("E0320", message, arg.expr.span, format!("this is {ty}"))
            .warning()
            .note(format!("nothing in the definition of `{name}` says whether a row of `{own}` goes with all of `{all}`"))
            .help(format!(
                "if it does, write `({own} : {})` there; `({own} : {ty})` says that the rows go side by side",
                row(&(guess, arg))
            )),
    )
}

fn is_function(ty: &Type) -> bool {
    matches!(ty, Type::Function(..))
}

/// Whether a parameter goes with each element of something else, in an apply-to-each.
fn goes_with_each(expr: &ast::Expr, param: &str) -> bool {
    let mut found = match &expr.kind {
        ast::ExprKind::Comprehension { body, generators, .. } => {
            body.mentions(param) && !generators.iter().any(|(_, source)| source.mentions(param))
        }
        _ => false,
    };
    expr.for_each_child(&mut |child| found = found || goes_with_each(child, param));
    found
}

/// Whether an expression takes neighbours of the elements of a parameter.
fn takes_neighbours(expr: &ast::Expr, param: &str) -> bool {
    let is_it =
        |expr: &ast::Expr| matches!(&expr.kind, ast::ExprKind::Name(name) if &**name == param);
    let mut found = match &expr.kind {
        ast::ExprKind::Apply { function, args, .. } => {
            let is_one = |name: &str| NEIGHBOURS.contains(&name);
            matches!(&function.kind, ast::ExprKind::Name(name) if is_one(name))
                && args.last().is_some_and(is_it)
        }
        _ => false,
    };
    expr.for_each_child(&mut |child| found = found || takes_neighbours(child, param));
    found
}

impl Walk<'_, '_> {
    /// How many numbers each row of an array has, if these can be points: two or three, and more rows.
    fn point_width(&self, array: &Expr) -> Option<usize> {
        let array = self.resolved(array);
        let (rows, width) = match &array.kind {
            ExprKind::Array(rows) => {
                let width = |row: &Expr| match &row.kind {
                    ExprKind::Array(numbers) => Some(numbers.len()),
                    _ => None,
                };
                let first = width(rows.first()?)?;
                let alike = rows.iter().all(|row| width(row) == Some(first));
                alike.then_some((rows.len(), first))?
            }
            _ => {
                let (_, Value::Array(array), _) = self.at_hand(array)? else { return None };
                match &array.elements {
                    Column::Dense { len, extent, .. } => (*len, *extent),
                    _ => return None,
                }
            }
        };
        ((2..=3).contains(&width) && rows > width).then_some(width)
    }
}

/// What a function of that type yields for so many arguments, if that is known and no function.
fn result_of(scheme: &Scheme, arguments: usize) -> Option<&Type> {
    let mut rest = &scheme.ty;
    for _ in 0..arguments {
        let Type::Function(_, result) = rest else { return None };
        rest = result;
    }
    let is_known = scheme.vars.is_empty() && !matches!(rest, Type::Function(..));
    is_known.then_some(rest)
}

/// The types of the parameters of a definition.
pub(super) fn param_types(definition: &Function) -> impl Iterator<Item = &Type> {
    let mut rest = &definition.scheme.ty;
    std::iter::from_fn(move || {
        let Type::Function(param, result) = rest else { return None };
        rest = result;
        Some(&**param)
    })
}

/// How many axes the parts of a type have, where an array of tuples is as many arrays.
fn ranks(ty: &Type) -> Vec<usize> {
    fn add(ty: &Type, around: usize, found: &mut Vec<usize>) {
        let (rank, head) = ty.peel();
        let around = around + rank;
        match head {
            Type::Tuple(parts) => parts.iter().for_each(|part| add(part, around, found)),
            Type::Record(fields) => fields.iter().for_each(|(_, part)| add(part, around, found)),
            _ => found.push(around),
        }
    }
    let mut found = Vec::new();
    add(ty, 0, &mut found);
    found
}

/// What there is to say about `dot` of two matrices, which is mapped over the rows of both.
pub(super) fn product(function: &Expr, args: &[Arg], sources: &Sources) -> Option<Diagnostic> {
    let ExprKind::Builtin(Builtin::Dot, _) = &function.kind else { return None };
    let [left, right] = args else { return None };
    let is_matrix = |arg: &Arg| arg.mapped && arg.expr.ty.peel().0 == 2;
    let (a, b) = (left.expr.span, right.expr.span);
    // Each row with itself is the square of its length.
    if !is_matrix(left) || !is_matrix(right) || sources.slice(a) == sources.slice(b) {
        return None;
    }
    let (a_text, b_text) = (quoted(sources, a, "a"), quoted(sources, b, "b"));
    let message = "`dot` is mapped over both matrices here: each row of one goes with the same row of the other";
    Some(
        Diagnostic::error("E0320", message, right.expr.span, format!("this is {}", right.expr.ty))
            .warning()
            .help(format!(
                "the product of matrices is `matmul {a_text} {b_text}`; `{{ dot r s : r in {a_text} ; s in {b_text} }}` \
                 says that rows are meant"
            )),
    )
}
