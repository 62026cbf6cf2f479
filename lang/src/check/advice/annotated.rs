//! Annotations with which a definition would be right: they are tried out ([`crate::check::again`]).

use std::sync::Arc;

use weft_ir::{Name, ScalarType};

use super::Checker;
use crate::ast::{Def, Expr, ExprKind, Item, Pattern, PatternKind};
use crate::check::again::{annotated, annotated_definition, is_right_behind};
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::typed::Function;
use crate::types::{Class, Type};

/// Definitions with more parameters are not tried out: there are too many combinations.
const MOST_PARAMETERS: usize = 6;

/// So often is an item tried out, and one that takes long less often: so much text is looked at.
const MOST_TRIES: usize = 100;
const MOST_TEXT: usize = 50_000;

/// How often an item is tried out.
fn most_tries(item: &Item) -> usize {
    let length = (item.span.end - item.span.start) as usize;
    (MOST_TEXT / length.max(1)).min(MOST_TRIES)
}

/// Of so many arguments of an item the types are tried out for what a call leaves out.
const MOST_OTHERS: usize = 20;

/// Functions of more arguments are not tried out where they are passed.
const MOST_OF_LAMBDA: usize = 3;

/// `ll xs 1.5 0.5`, where nothing in the definition of `ll` says that `mu` and `s` are numbers. All else that is wrong with
/// the item may stay, unlike in [`of_item`].
pub(super) fn of_call(
    checker: &Checker<'_>,
    name: &Name,
    args: &[Expr],
    found: &Diagnostic,
) -> Option<String> {
    // What was said of the parameter is about the same.
    if found.code != "E0307" || names_another(found) {
        return None;
    }
    let callee = Callee::of(checker, name, args, ScalarType::I64)?;
    let types = callee.by_arguments().into_iter().find(|types| callee.fits(checker, types))?;
    callee.help(&types)
}

/// An item that would be right if a definition that it applies said what a parameter is. There are reports about it from
/// position `first` on.
pub(super) fn of_item(
    checker: &Checker<'_>,
    body: &Expr,
    item: &Item,
    first: usize,
) -> Option<String> {
    let reports = &checker.diagnostics[first..];
    let is_about_ranks = |report: &Diagnostic| {
        matches!(report.code, "E0301" | "E0302" | "E0303" | "E0305" | "E0307" | "E0312" | "E0316")
    };
    if !reports.iter().any(is_about_ranks) || reports.iter().any(names_another) {
        return None;
    }
    let mut calls = Vec::new();
    calls_in(body, &mut calls);
    let others = calls.iter().flat_map(|(_, args)| args.iter()).take(MOST_OTHERS);
    let others =
        others.filter_map(|arg| closed(checker, &checker.type_at(arg.span)?, ScalarType::I64));
    let mut others: Vec<Type> = others.collect();
    others.dedup();
    let mut tries = 0;
    for (name, args) in calls {
        // What is any number, as `identity 2`, may be a float or an integer.
        let floats = Callee::of(checker, name, args, checker.config.float);
        let Some(callee) = Callee::of(checker, name, args, ScalarType::I64) else { continue };
        let of_all = callee.by_all(checker).or_else(|| floats?.by_all(checker));
        let of_functions = callee.by_functions(checker, args);
        let of_rest = callee.by_rest(&others);
        let all = of_all.into_iter().chain(callee.by_arguments());
        let all = all.chain(of_functions).chain(of_rest);
        for types in all.chain(callee.by_lambdas(args)) {
            if tries == most_tries(item) {
                return None;
            }
            tries += 1;
            let (function, environment) = (&callee.function, &*checker.environment);
            if is_right_behind(function, &types, item, environment, checker.config) {
                return callee.help(&types);
            }
        }
    }
    None
}

/// A definition that is applied.
struct Callee {
    function: Arc<Function>,
    /// The types of the arguments, as far as they are known.
    given: Vec<Option<Type>>,
}

impl Callee {
    /// Of a call whose arguments are known, where what is any number is of the type `number`.
    fn of(checker: &Checker<'_>, name: &Name, args: &[Expr], number: ScalarType) -> Option<Callee> {
        let Some(Binding::Global(global)) = checker.environment.lookup(name) else { return None };
        let Global::Function(function) = checker.environment.global(*global)? else { return None };
        let written = function.written.as_deref()?;
        if checker.scope.contains_key(name) || args.len() > written.params.len() {
            return None;
        }
        let given =
            args.iter().map(|arg| closed(checker, &checker.type_at(arg.span)?, number)).collect();
        Some(Callee { function: Arc::clone(function), given })
    }

    /// Whether the definition takes its arguments with these annotations, and is mapped over none.
    fn fits(&self, checker: &Checker<'_>, types: &[Option<Type>]) -> bool {
        let scheme = annotated(&self.function, types, checker.environment, checker.config);
        scheme.is_some_and(|scheme| {
            let taken = ranks(&scheme.ty);
            let mut all = self.given.iter().zip(taken);
            all.all(|(given, taken)| given.as_ref().is_none_or(|given| ranks_of(given) == taken))
        })
    }

    /// The fewest annotations with which it takes all of its arguments as they are.
    fn by_all(&self, checker: &Checker<'_>) -> Option<Vec<Option<Type>>> {
        let mut types = self.differing();
        if types.iter().flatten().count() < 2 || !self.fits(checker, &types) {
            return None;
        }
        for index in 0..types.len() {
            let without = types[index].take();
            if without.is_some() && !self.fits(checker, &types) {
                types[index] = without;
            }
        }
        Some(types)
    }

    fn params(&self) -> &[Pattern] {
        self.function.written.as_ref().map_or(&[], |written| &written.params)
    }

    /// The types of arguments that are not of the rank of their parameters.
    fn differing(&self) -> Vec<Option<Type>> {
        let taken = ranks(&self.function.scheme.ty);
        let all = self.given.iter().zip(self.params()).zip(taken);
        all.map(|((given, param), taken)| {
            given.clone().filter(|given| has_names(param) && ranks_of(given) != taken)
        })
        .collect()
    }

    /// Annotations by the types of arguments: where they are not of the rank of the parameter, one after the other and
    /// together; then with all else that is known.
    fn by_arguments(&self) -> Vec<Vec<Option<Type>>> {
        let differing = self.differing();
        if differing.iter().all(Option::is_none) {
            return Vec::new();
        }
        let mut all = Vec::new();
        for (index, ty) in differing.iter().enumerate().filter(|(_, ty)| ty.is_some()) {
            let mut types = vec![None; differing.len()];
            types[index].clone_from(ty);
            all.push(types);
        }
        all.extend([differing, self.given.clone()]);
        all
    }

    /// Annotations of one parameter that is given a function by its name: what that takes and yields.
    fn by_functions(&self, checker: &Checker<'_>, args: &[Expr]) -> Vec<Vec<Option<Type>>> {
        let mut all = Vec::new();
        for (index, (arg, param)) in args.iter().zip(self.params()).enumerate() {
            let (ExprKind::Name(name), PatternKind::Name(_)) = (&arg.kind, &param.kind) else {
                continue;
            };
            let binding =
                checker.environment.lookup(name).filter(|_| !checker.scope.contains_key(name));
            let Some(Binding::Global(global)) = binding else { continue };
            let Some(Global::Function(function)) = checker.environment.global(*global) else {
                continue;
            };
            for number in [checker.config.float, ScalarType::I64] {
                let mut types = vec![None; args.len()];
                types[index] = Some(with_numbers(&function.scheme.ty, number));
                all.push(types);
            }
        }
        all
    }

    /// Annotations of the first parameter that a call leaves out, as in `iterate 10 (step 0.1) z`: by what else is passed there.
    fn by_rest(&self, others: &[Type]) -> Vec<Vec<Option<Type>>> {
        let next = self.given.len();
        let taken = ranks(&self.function.scheme.ty);
        let (Some(param), Some(taken)) = (self.params().get(next), taken.get(next)) else {
            return Vec::new();
        };
        let differing = others.iter().filter(|other| has_names(param) && ranks_of(other) != *taken);
        // An element of what is mapped over.
        let elements = others.iter().filter_map(|other| match other {
            Type::Array(element) if has_names(param) && ranks_of(element) != *taken => {
                Some(&**element)
            }
            _ => None,
        });
        differing
            .chain(elements)
            .map(|other| (0..next).map(|_| None).chain([Some(other.clone())]).collect())
            .collect()
    }

    /// Annotations of one parameter that is given a lambda: it may take and yield arrays.
    fn by_lambdas(&self, args: &[Expr]) -> Vec<Vec<Option<Type>>> {
        let axes = |ty: usize| Type::arrays(ty, Type::Scalar(ScalarType::F64));
        let mut all = Vec::new();
        for (index, (arg, param)) in args.iter().zip(self.params()).enumerate() {
            let (ExprKind::Lambda { params, .. }, PatternKind::Name(_)) = (&arg.kind, &param.kind)
            else {
                continue;
            };
            if params.len() > MOST_OF_LAMBDA {
                continue;
            }
            for choice in 0..3_usize.pow(params.len() as u32 + 1) {
                let rank = |at: usize| axes(choice / 3_usize.pow(at as u32) % 3);
                let from: Vec<Type> = (0..params.len()).map(rank).collect();
                let mut types = vec![None; args.len()];
                types[index] = Some(Type::functions(from.into_iter(), rank(params.len())));
                all.push(types);
            }
        }
        all
    }

    /// What to write.
    fn help(&self, types: &[Option<Type>]) -> Option<String> {
        let names = named(self.params(), types);
        (!names.is_empty()).then(|| {
            format!(
                "{NOTHING_SAYS} `{}` says what {} {}: write `{}` there",
                self.function.name,
                listed(&names),
                if names.len() == 1 { "is" } else { "are" },
                with_types(self.params(), types)
            )
        })
    }
}

/// The applications of names in an expression, the innermost last. A name that is passed is applied to nothing there.
fn calls_in<'e>(expr: &'e Expr, found: &mut Vec<(&'e Name, &'e [Expr])>) {
    if let ExprKind::Apply { function, args, .. } = &expr.kind {
        if let ExprKind::Name(name) = &function.kind {
            found.push((name, args));
        }
        for arg in args {
            if let ExprKind::Name(name) = &arg.kind {
                found.push((name, &[]));
            }
        }
    }
    expr.for_each_child(&mut |child| calls_in(child, found));
}

/// How many axes the parameters of a function have.
fn ranks(ty: &Type) -> Vec<Vec<usize>> {
    let mut rest = ty;
    let mut ranks = Vec::new();
    while let Type::Function(param, result) = rest {
        ranks.push(ranks_of(param));
        rest = result;
    }
    ranks
}

/// How many axes a type has, and the parts of a tuple in it.
fn ranks_of(ty: &Type) -> Vec<usize> {
    let (rank, head) = ty.peel();
    let parts = match head {
        Type::Tuple(parts) => parts.iter().flat_map(ranks_of).collect(),
        _ => Vec::new(),
    };
    std::iter::once(rank).chain(parts).collect()
}

/// A type of which all that is open is such a number.
fn with_numbers(ty: &Type, number: ScalarType) -> Type {
    match ty {
        Type::Var(_) => Type::Scalar(number),
        Type::Array(element) => Type::Array(Arc::new(with_numbers(element, number))),
        Type::Function(from, to) => {
            Type::Function(Arc::new(with_numbers(from, number)), Arc::new(with_numbers(to, number)))
        }
        Type::Tuple(parts) => {
            Type::Tuple(parts.iter().map(|part| with_numbers(part, number)).collect())
        }
        Type::Scalar(_)
        | Type::Record(_)
        | Type::Seq(_)
        | Type::Window(..)
        | Type::Boundary(..) => ty.clone(),
    }
}

/// Whether there is a name in a parameter that an annotation could be written at.
fn has_names(param: &Pattern) -> bool {
    match &param.kind {
        PatternKind::Name(_) => true,
        PatternKind::Tuple(parts) => parts.iter().any(has_names),
        _ => false,
    }
}

/// Whether a report names an annotation in another definition.
fn names_another(report: &Diagnostic) -> bool {
    report.help.iter().any(|help| help.contains("write `(") || help.contains("unless it says `("))
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
    tries.into_iter().take(most_tries(item)).find_map(|tried| {
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

/// The names in parameters for which there are types.
fn named<'p>(params: &'p [Pattern], types: &[Option<Type>]) -> Vec<&'p Name> {
    fn names<'p>(pattern: &'p Pattern, found: &mut Vec<&'p Name>) {
        match &pattern.kind {
            PatternKind::Name(name) => found.push(name),
            PatternKind::Tuple(parts) => parts.iter().for_each(|part| names(part, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    let typed = params.iter().zip(types).filter(|(_, ty)| ty.is_some());
    typed.for_each(|(param, _)| names(param, &mut found));
    found
}

fn listed(names: &[&Name]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match &quoted[..] {
        [first @ .., last] if first.len() > 1 => format!("{} and {last}", first.join(", ")),
        _ => quoted.join(" and "),
    }
}

/// The parameters for which there are types, as they are written with them.
fn with_types(params: &[Pattern], types: &[Option<Type>]) -> String {
    let all = params.iter().zip(types);
    let written = all.filter_map(|(param, ty)| match (&param.kind, ty) {
        (PatternKind::Name(name), Some(ty)) => Some(format!("({name} : {ty})")),
        (PatternKind::Tuple(_), Some(ty)) => Some(with_type(param, ty)),
        _ => None,
    });
    written.collect::<Vec<_>>().join(" ")
}

/// A pattern as it is written with a type for its names, inside of parentheses.
fn with_type(pattern: &Pattern, ty: &Type) -> String {
    match (&pattern.kind, ty) {
        (PatternKind::Tuple(parts), Type::Tuple(types)) if parts.len() == types.len() => {
            let parts: Vec<String> =
                parts.iter().zip(types.iter()).map(|(part, ty)| with_type(part, ty)).collect();
            format!("({})", parts.join(", "))
        }
        (PatternKind::Name(name), ty) => format!("{name} : {ty}"),
        (PatternKind::Typed(inner, _), ty) => with_type(inner, ty),
        _ => "_".to_owned(),
    }
}

/// The type of an argument, where a literal gets the one that it has by itself; nothing if that is not known.
fn closed(checker: &Checker<'_>, ty: &Type, number: ScalarType) -> Option<Type> {
    let inner = |ty: &Type| closed(checker, ty, number);
    // Part by part, as the variables in the type of a function may be those of a scheme.
    Some(match checker.table.shallow(ty) {
        Type::Var(var) => {
            Type::Scalar(match checker.table.state(var).and_then(|open| open.class)? {
                Class::FLOAT => checker.config.float,
                Class::INT => ScalarType::I64,
                _ => number,
            })
        }
        Type::Scalar(scalar) => Type::Scalar(scalar),
        Type::Array(element) => Type::Array(Arc::new(inner(&element)?)),
        Type::Seq(item) => Type::Seq(Arc::new(inner(&item)?)),
        Type::Tuple(parts) => Type::Tuple(parts.iter().map(inner).collect::<Option<_>>()?),
        Type::Record(fields) => {
            let field = |(name, ty): &(Name, Type)| Some((name.clone(), inner(ty)?));
            Type::Record(fields.iter().map(field).collect::<Option<_>>()?)
        }
        Type::Function(..) | Type::Window(..) | Type::Boundary(..) => return None,
    })
}
