//! Patterns, and types as written.

use std::collections::BTreeMap;

use weft_ir::{Name, ScalarType, Span};

use super::{Checker, LocalBinding, index_type};
use crate::ast::{self, PatternKind, TypeExprKind};
use crate::diagnostic::Diagnostic;
use crate::environment::Binding;
use crate::suggest;
use crate::typed::{LocalId, Pattern, Size, SizeCheck, SizeStep};
use crate::types::{Type, TypeVar};

impl Checker<'_> {
    /// Binds the names of a pattern for a value of type `ty`; sizes of annotations go to `checks`.
    pub(super) fn pattern(
        &mut self,
        pattern: &ast::Pattern,
        ty: &Type,
        checks: &mut Vec<SizeCheck>,
    ) -> Pattern {
        let typed = self.pattern_in(pattern, ty, None, checks);
        let mut names = Vec::new();
        bound_names(pattern, &mut names);
        for (position, (name, span)) in names.iter().enumerate() {
            if names[..position].iter().any(|(other, _)| other == name) {
                self.report(Diagnostic::error(
                    "E0202",
                    format!("`{name}` stands twice in this pattern"),
                    *span,
                    "the second one",
                ));
            }
        }
        typed
    }

    /// Reports the names that two of the patterns that stand beside each other bind: the later would hide the earlier.
    pub(super) fn names_bound_twice<'p>(
        &mut self,
        patterns: impl IntoIterator<Item = &'p ast::Pattern>,
        what: &str,
    ) {
        let mut before: BTreeMap<&Name, Span> = BTreeMap::new();
        for pattern in patterns {
            let mut own = Vec::new();
            bound_names(pattern, &mut own);
            for (name, span) in &own {
                let Some(first) = before.get(name) else { continue };
                self.report(
                    Diagnostic::error(
                        "E0202",
                        format!("two {what} have the name `{name}`"),
                        *span,
                        "the second one",
                    )
                    .label(*first, "the first one")
                    .help("give each a name of its own; one that is not used is `_`"),
                );
            }
            before.extend(own);
        }
    }

    fn pattern_in(
        &mut self,
        pattern: &ast::Pattern,
        ty: &Type,
        annotation: Option<&ast::TypeExpr>,
        checks: &mut Vec<SizeCheck>,
    ) -> Pattern {
        match &pattern.kind {
            PatternKind::Name(name) => {
                let local = self.bind_local(name, ty.clone(), Vec::new());
                self.size_checks(local, name, annotation, checks);
                Pattern::Local { local, name: name.clone(), ty: ty.clone() }
            }
            PatternKind::Wildcard => {
                let sized = annotation.is_some_and(|annotation| self.has_sizes(annotation));
                if !sized {
                    return Pattern::Wildcard(ty.clone());
                }
                let local = self.fresh_local();
                let name: Name = "_".into();
                self.size_checks(local, &name, annotation, checks);
                Pattern::Local { local, name, ty: ty.clone() }
            }
            PatternKind::Tuple(parts) => {
                let types: Vec<Type> = parts.iter().map(|_| self.table.fresh()).collect();
                let whole = Type::Tuple(types.clone().into());
                if let Err(clash) = self.table.unify(ty, &whole) {
                    self.mismatch(pattern.span, ty, &whole, &clash, pattern.span, "this pattern");
                }
                let annotations = match annotation.map(|annotation| &annotation.kind) {
                    Some(TypeExprKind::Tuple(inner)) => inner.iter().map(Some).collect(),
                    _ => vec![None; parts.len()],
                };
                Pattern::Tuple(
                    parts
                        .iter()
                        .zip(types)
                        .zip(annotations.into_iter().chain(std::iter::repeat(None)))
                        .map(|((part, ty), annotation)| {
                            self.pattern_in(part, &ty, annotation, checks)
                        })
                        .collect(),
                )
            }
            PatternKind::Record(fields) => self.record_pattern(pattern, fields, ty, checks),
            PatternKind::Typed(inner, annotation) => {
                let before = self.diagnostics.len();
                let own = self.type_expr(annotation);
                // `(x:xs)`
                if let (ast::PatternKind::Name(first), ast::TypeExprKind::Name(rest)) =
                    (&inner.kind, &annotation.kind)
                    && rest.strip_suffix('s') == Some(&**first)
                    && let Some(found) = self.diagnostics.get_mut(before)
                {
                    found.help = vec![
                        "no pattern takes an array apart: its first element is `first xs`, the others are `tail xs`"
                            .to_owned(),
                    ];
                    found.notes.clear();
                }
                if let Err(clash) = self.table.unify(ty, &own) {
                    self.mismatch(inner.span, ty, &own, &clash, annotation.span, "the annotation");
                }
                self.pattern_in(inner, &own, Some(annotation), checks)
            }
        }
    }

    fn record_pattern(
        &mut self,
        pattern: &ast::Pattern,
        fields: &[(ast::Ident, ast::Pattern)],
        ty: &Type,
        checks: &mut Vec<SizeCheck>,
    ) -> Pattern {
        let known = self.known(ty);
        if let Type::Var(_) = known {
            // Nothing is known of the record: it has these fields and no others.
            let own: Vec<(Name, Type)> =
                fields.iter().map(|(field, _)| (field.name.clone(), self.table.fresh())).collect();
            let own = Type::Record(own.into());
            if let Err(clash) = self.table.unify(ty, &own) {
                self.clash_report(&clash, pattern.span);
            }
        }
        let Type::Record(known) = self.table.shallow(ty) else {
            let found = self.show(ty);
            self.report(Diagnostic::error(
                "E0301",
                "a record pattern needs a record",
                pattern.span,
                format!("the value is {found}"),
            ));
            return Pattern::Wildcard(ty.clone());
        };
        for (field, _) in fields {
            if !known.iter().any(|(name, _)| *name == field.name) {
                self.no_such_field(field, &Type::Record(known.clone()), pattern.span);
            }
        }
        Pattern::Tuple(
            known
                .iter()
                .map(|(name, ty)| match fields.iter().find(|(field, _)| field.name == *name) {
                    Some((_, inner)) => self.pattern_in(inner, ty, None, checks),
                    None => Pattern::Wildcard(ty.clone()),
                })
                .collect(),
        )
    }

    /// Makes a name visible.
    pub(super) fn bind_local(
        &mut self,
        name: &Name,
        ty: Type,
        vars: Vec<(TypeVar, Option<crate::types::Class>)>,
    ) -> LocalId {
        let local = self.fresh_local();
        self.scope.entry(name.clone()).or_default().push(LocalBinding {
            local,
            ty,
            vars,
            open: None,
        });
        self.bound.push(name.clone());
        local
    }

    /// The type that an annotation means.
    pub(super) fn type_expr(&mut self, ty: &ast::TypeExpr) -> Type {
        match &ty.kind {
            TypeExprKind::Name(name) => self.type_name(name, ty.span),
            TypeExprKind::Array(_, element) => Type::array(self.type_expr(element)),
            TypeExprKind::Tuple(parts) => {
                Type::Tuple(parts.iter().map(|part| self.type_expr(part)).collect())
            }
            TypeExprKind::Record(fields) => Type::Record(
                fields.iter().map(|(field, ty)| (field.name.clone(), self.type_expr(ty))).collect(),
            ),
            TypeExprKind::Function(parameter, result) => {
                Type::function(self.type_expr(parameter), self.type_expr(result))
            }
            TypeExprKind::Window(rank, element) => {
                let element = self.type_expr(element);
                Type::Window(index_type(usize::from(*rank)).into(), element.into())
            }
            TypeExprKind::Seq(item) => Type::seq(self.type_expr(item)),
        }
    }

    fn type_name(&mut self, name: &Name, span: Span) -> Type {
        if let Some(scalar) = ScalarType::from_name(name) {
            return Type::Scalar(scalar);
        }
        if let Some(Binding::Alias(alias)) = self.environment.lookup(name) {
            let alias = std::sync::Arc::clone(alias);
            return self.type_expr(&alias);
        }
        if let Some(Binding::Broken) = self.environment.lookup(name) {
            self.poisoned = true;
            return self.table.fresh();
        }
        if is_type_variable(name) {
            if let Some(ty) = self.annotation_vars.get(name) {
                return ty.clone();
            }
            let ty = self.table.fresh();
            self.annotation_vars.insert(name.clone(), ty.clone());
            return ty;
        }
        let mut candidates: Vec<Name> = ScalarType::ALL.iter().map(|ty| ty.name().into()).collect();
        for (name, binding) in self.environment.names() {
            if let Binding::Alias(_) = binding {
                candidates.push(name.clone());
            }
        }
        let mut diagnostic =
            Diagnostic::error("E0203", format!("there is no type `{name}`"), span, "unknown type");
        let close = suggest::closest(name, candidates.iter().map(|name| &**name));
        diagnostic = match (super::errors::foreign_type(name), close) {
            (Some(help), _) => diagnostic.help(help),
            (None, Some(close)) => diagnostic.help(format!("did you mean `{close}`?")),
            (None, None) => diagnostic
                .note("a type variable is a letter, like `a`; `type name = …` defines an alias"),
        };
        self.report(diagnostic);
        self.table.fresh()
    }

    /// The checks that the sizes of an annotation ask for.
    pub(super) fn size_checks(
        &mut self,
        local: LocalId,
        name: &Name,
        annotation: Option<&ast::TypeExpr>,
        checks: &mut Vec<SizeCheck>,
    ) {
        fn walk(
            checker: &Checker<'_>,
            ty: &ast::TypeExpr,
            path: &mut Vec<SizeStep>,
            found: &mut dyn FnMut(&[SizeStep], Size, Span),
        ) {
            match &ty.kind {
                TypeExprKind::Array(size, element) => {
                    match size {
                        Some(ast::Size::Name(ident)) => {
                            found(path, Size::Name(ident.name.clone()), ident.span);
                        }
                        Some(ast::Size::Constant(value, span)) => {
                            found(path, Size::Constant(*value), *span);
                        }
                        None => {}
                    }
                    path.push(SizeStep::Elements);
                    walk(checker, element, path, found);
                    path.pop();
                }
                TypeExprKind::Tuple(parts) => {
                    for (index, part) in parts.iter().enumerate() {
                        path.push(SizeStep::Component(index));
                        walk(checker, part, path, found);
                        path.pop();
                    }
                }
                TypeExprKind::Record(fields) => {
                    for (index, (_, part)) in fields.iter().enumerate() {
                        path.push(SizeStep::Component(index));
                        walk(checker, part, path, found);
                        path.pop();
                    }
                }
                TypeExprKind::Name(name) => {
                    if let Some(Binding::Alias(alias)) = checker.environment.lookup(name) {
                        walk(checker, alias, path, found);
                    }
                }
                TypeExprKind::Function(..) | TypeExprKind::Window(..) | TypeExprKind::Seq(_) => {}
            }
        }
        let Some(annotation) = annotation else { return };
        walk(self, annotation, &mut Vec::new(), &mut |path, size, span| {
            checks.push(SizeCheck { local, name: name.clone(), path: path.to_vec(), size, span });
        });
    }

    /// Whether an annotation mentions a size, itself or in what an alias stands for.
    pub(super) fn has_sizes(&self, ty: &ast::TypeExpr) -> bool {
        match &ty.kind {
            TypeExprKind::Array(size, element) => size.is_some() || self.has_sizes(element),
            TypeExprKind::Tuple(parts) => parts.iter().any(|part| self.has_sizes(part)),
            TypeExprKind::Record(fields) => fields.iter().any(|(_, ty)| self.has_sizes(ty)),
            TypeExprKind::Name(name) => match self.environment.lookup(name) {
                Some(Binding::Alias(alias)) => self.has_sizes(alias),
                _ => false,
            },
            TypeExprKind::Function(..) | TypeExprKind::Window(..) | TypeExprKind::Seq(_) => false,
        }
    }
}

/// The names that a pattern binds, and where.
pub(super) fn bound_names<'a>(pattern: &'a ast::Pattern, names: &mut Vec<(&'a Name, Span)>) {
    match &pattern.kind {
        PatternKind::Name(name) => names.push((name, pattern.span)),
        PatternKind::Wildcard => {}
        PatternKind::Tuple(parts) => parts.iter().for_each(|part| bound_names(part, names)),
        PatternKind::Record(fields) => {
            fields.iter().for_each(|(_, part)| bound_names(part, names));
        }
        PatternKind::Typed(inner, _) => bound_names(inner, names),
    }
}

/// Whether a name stands for any type: a letter, and digits behind it. What looks like a type of numbers, as `i46`, does not.
fn is_type_variable(name: &str) -> bool {
    let Some(digits) = name.strip_prefix(char::is_lowercase) else { return false };
    let is_number = digits.len() > 1 && name.starts_with(['i', 'u', 'f']);
    !is_number && digits.chars().all(|letter| letter.is_ascii_digit())
}
