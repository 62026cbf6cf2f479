//! E0320: a definition that is mapped over the rows of an array, and yields something else where it has the whole array.
//!
//! In `def richardson A b n = loop x = b for _ < n do x + 0.1 * (b - dot A x)` the product takes a vector, so `A` is one, and
//! a matrix is mapped over: each row alone with all of `b`. With `(A : [][]f64)` it is the product of a matrix and a
//! vector. Nothing is wrong with either, and nothing tells them apart but what comes out: of `def norm v = sqrt (dot v v)`
//! it is the same, a number for each row, and there is nothing to say.
//!
//! So the definition is checked once more as it is written, with the types of the arguments as annotations.

use weft_lang::ast::PatternKind;
use weft_lang::builtins::Builtin;
use weft_lang::typed::{Arg, Expr, ExprKind, Function, Program};
use weft_lang::types::{Scheme, Type};
use weft_lang::{Config, Diagnostic, annotated};

use super::letters::quoted;
use super::mapped::{MappedOver, applied, over_rows};
use crate::sources::Sources;
use crate::state::State;

/// What there is to say about an application of a definition that yields `found`.
pub(super) fn remark(
    program: &Program,
    state: &State,
    (function, args): (&Expr, &[Arg]),
    found: &Type,
) -> Option<Diagnostic> {
    if !args.iter().any(|arg| arg.mapped) || matches!(found, Type::Function(..)) {
        return None;
    }
    let (definition, given) = applied(program, state, function)?;
    let written = definition.written.as_deref()?;
    let params: Vec<_> = written.params.iter().zip(param_types(definition)).skip(given).collect();
    let mut types: Vec<Option<Type>> = vec![None; given];
    let mut mapped: Vec<MappedOver<'_>> = Vec::new();
    for ((param, taken), arg) in params.into_iter().zip(args) {
        match &param.kind {
            PatternKind::Name(name) => {
                let is_function = matches!(arg.expr.ty, Type::Function(..));
                types.push((!is_function).then(|| arg.expr.ty.clone()));
                if arg.mapped {
                    mapped.push((name, taken.peel().0, arg));
                }
            }
            // An annotation says what it is.
            _ if arg.mapped => return None,
            _ => types.push(None),
        }
    }
    let config = Config { float: state.modes.float };
    let scheme = annotated(definition, &types, &state.environment, &config)?;
    let whole = result_of(&scheme, given + args.len())?;
    if mapped.is_empty() || ranks(whole) == ranks(found) {
        return None;
    }
    let note =
        format!("with all of it, `{}` would yield {whole}, and not {found}", definition.name);
    Some(over_rows(&definition.name, &mapped, note))
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
