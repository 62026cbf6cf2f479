//! Annotations with which a definition would be right: they are tried out ([`crate::check::again`]).

use weft_ir::{Name, ScalarType};

use super::Checker;
use crate::ast::{Def, Expr, Item, Pattern, PatternKind};
use crate::check::again::{annotated, annotated_definition};
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::types::{Class, Type};

/// Definitions with more parameters are not tried out: there are too many combinations.
const MOST_PARAMETERS: usize = 6;

/// `ll xs 1.5 0.5`, where nothing in the definition of `ll` says that `mu` and `s` are numbers.
pub(super) fn of_call(
    checker: &Checker<'_>,
    name: &Name,
    args: &[Expr],
    found: &Diagnostic,
) -> Option<String> {
    // What was said of the parameter is about the same.
    if found.code != "E0307" || found.help.iter().any(|help| help.starts_with(NOTHING_SAYS)) {
        return None;
    }
    let Some(Binding::Global(global)) = checker.environment.lookup(name) else { return None };
    let Global::Function(function) = checker.environment.global(*global)? else { return None };
    let written = function.written.as_deref()?;
    if checker.scope.contains_key(name) || args.len() > written.params.len() {
        return None;
    }
    let given: Vec<Option<Type>> =
        args.iter().map(|arg| closed(checker, &checker.type_at(arg.span)?)).collect();
    let ranks = |ty: &Type| {
        let mut rest = ty;
        let mut ranks = Vec::new();
        while let Type::Function(param, result) = rest {
            ranks.push(param.peel().0);
            rest = result;
        }
        ranks
    };
    let taken = ranks(&function.scheme.ty);
    let differs = |index: usize| {
        let rank = given[index].as_ref().map(|ty| ty.peel().0);
        matches!(written.params[index].kind, PatternKind::Name(_))
            && rank.is_some_and(|rank| taken.get(index).is_some_and(|taken| *taken != rank))
    };
    // First what does not fit, one after the other and together, then with all else that is known.
    let some: Vec<Option<Type>> =
        (0..args.len()).map(|index| given[index].clone().filter(|_| differs(index))).collect();
    let fits = |types: &[Option<Type>]| {
        let scheme = annotated(function, types, checker.environment, checker.config);
        scheme.is_some_and(|scheme| {
            let now = ranks(&scheme.ty);
            given
                .iter()
                .zip(now)
                .all(|(given, rank)| given.as_ref().is_none_or(|given| given.peel().0 == rank))
        })
    };
    let alone = (0..args.len()).filter(|index| some[*index].is_some()).map(|index| {
        let mut types = vec![None; args.len()];
        types[index].clone_from(&some[index]);
        types
    });
    let types = alone.chain([some.clone(), given.clone()]).find(|types| fits(types))?;
    let names = named(&written.params, &types);
    (!names.is_empty()).then(|| {
        format!(
            "{NOTHING_SAYS} `{name}` says what {} {}: write `{}` there",
            listed(&names),
            if names.len() == 1 { "is" } else { "are" },
            with_types(&written.params, &types)
        )
    })
}

/// How help begins that names an annotation of a parameter.
const NOTHING_SAYS: &str = "nothing in the definition of";

/// A definition that would be right if a parameter or two were arrays, or functions of such: what to write. There are
/// reports about it from position `first` on.
pub(super) fn of_definition(
    checker: &Checker<'_>,
    def: &Def,
    item: &Item,
    first: usize,
) -> Option<String> {
    let reports = &checker.diagnostics[first..];
    let is_about_ranks = |report: &Diagnostic| matches!(report.code, "E0305" | "E0307" | "E0312");
    let names_another =
        |report: &Diagnostic| report.help.iter().any(|help| help.starts_with(NOTHING_SAYS));
    if !reports.iter().any(is_about_ranks)
        || reports.iter().any(names_another)
        || def.params.len() > MOST_PARAMETERS
    {
        return None;
    }
    let float = Type::Scalar(ScalarType::F64);
    let (vector, matrix) = (Type::arrays(1, float.clone()), Type::arrays(2, float.clone()));
    let of_vectors = Type::functions([vector.clone()].into_iter(), float.clone());
    let names = |index: &usize| matches!(def.params[*index].kind, PatternKind::Name(_));
    let own: Vec<usize> = (0..def.params.len()).filter(names).collect();
    let mut tries: Vec<Vec<(usize, &Type)>> = Vec::new();
    for ty in [&matrix, &vector, &float, &of_vectors] {
        tries.extend(own.iter().map(|index| vec![(*index, ty)]));
    }
    for (one, other) in
        [(&matrix, &vector), (&of_vectors, &vector), (&matrix, &matrix), (&vector, &vector)]
    {
        for index in &own {
            let others = own.iter().filter(|other| *other != index);
            tries.extend(others.map(|second| vec![(*index, one), (*second, other)]));
        }
    }
    tries.into_iter().find_map(|tried| {
        let mut types = vec![None; def.params.len()];
        for (index, ty) in tried {
            types[index] = Some(ty.clone());
        }
        annotated_definition(def, &types, item.span, checker.environment, checker.config)?;
        let names = named(&def.params, &types);
        Some(format!(
            "nothing here says what {} {}: with `{}` the definition is right",
            listed(&names),
            if names.len() == 1 { "is" } else { "are" },
            with_types(&def.params, &types)
        ))
    })
}

/// The parameters for which there are types.
fn named<'p>(params: &'p [Pattern], types: &[Option<Type>]) -> Vec<&'p Name> {
    let all = params.iter().zip(types);
    all.filter_map(|(param, ty)| match &param.kind {
        PatternKind::Name(name) if ty.is_some() => Some(name),
        _ => None,
    })
    .collect()
}

fn listed(names: &[&Name]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(" and ")
}

/// The parameters for which there are types, as they are written with them.
fn with_types(params: &[Pattern], types: &[Option<Type>]) -> String {
    let all = params.iter().zip(types);
    let written = all.filter_map(|(param, ty)| match (&param.kind, ty) {
        (PatternKind::Name(name), Some(ty)) => Some(format!("({name} : {ty})")),
        _ => None,
    });
    written.collect::<Vec<_>>().join(" ")
}

/// The type of an argument, where a literal gets the one that it has by itself; nothing if that is not known.
fn closed(checker: &Checker<'_>, ty: &Type) -> Option<Type> {
    let (rank, head) = checker.table.peel(ty);
    let head = match checker.table.resolve(&head) {
        Type::Var(var) => {
            Type::Scalar(match checker.table.state(var).and_then(|open| open.class)? {
                Class::FLOAT => checker.config.float,
                _ => ScalarType::I64,
            })
        }
        Type::Function(..) => return None,
        head => head,
    };
    let mut open = Vec::new();
    checker.table.variables(&head, &mut open);
    open.is_empty().then(|| Type::arrays(rank, head))
}
