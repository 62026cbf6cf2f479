//! Stencils of two arrays: what lies outside of both.

use weft_ir::{Name, Span};

use super::Checker;
use crate::ast;
use crate::builtins::{self, Builtin, Entry};
use crate::diagnostic::Diagnostic;
use crate::typed::{Expr, ExprKind};
use crate::types::Type;

impl Checker<'_> {
    /// `stencil2 boundary f xs ys`. A boundary that holds an element holds one for both arrays, which have one type
    /// then; they may have two types beside `clamp`, `mirror` and `wrap`.
    pub(super) fn stencil2(
        &mut self,
        entry: &'static Entry,
        function: Span,
        args: &[&ast::Expr],
        span: Span,
    ) -> Expr {
        let typed = self.builtin(entry, function);
        let Some((first, second)) = elements(&typed.ty) else { return typed };
        let applied = self.apply_to(entry.name, typed, args, span);
        let [boundary, ..] = args else { return applied };
        let holds_no_element = match &boundary.kind {
            ast::ExprKind::Name(name) => self.builtin_named(name).is_some_and(|entry| {
                matches!(entry.builtin, Builtin::Clamp | Builtin::Mirror | Builtin::Wrap)
            }),
            _ => false,
        };
        if holds_no_element || self.is_broken(&applied) || self.errors > 0 {
            return applied;
        }
        self.propagate();
        if self.table.unify(&first, &second).is_err() {
            let (first, second) = (self.show(&first), self.show(&second));
            self.report(
                Diagnostic::error(
                    "E0302",
                    format!("one boundary for elements of {first} and of {second}"),
                    boundary.span,
                    "outside of both arrays lie the same elements",
                )
                .help(
                    "arrays of two types go with `clamp`, `mirror` or `wrap`; with pairs, `zip xs ys`, a boundary has \
                     an element for each: `stencil (constant (0, 0.0)) (\\w -> … w[0].0 … w[0].1 …) (zip xs ys)`",
                ),
            );
            return self.unknown(span);
        }
        applied
    }

    /// `stencil2` as a value: what boundary it will be given is not known, perhaps one that holds an element.
    pub(super) fn stencil2_as_value(&mut self, function: &Expr) {
        if let ExprKind::Builtin(Builtin::Stencil2, _) = &function.kind
            && let Some((first, second)) = elements(&function.ty)
        {
            // Both are new variables of one class.
            let _ = self.table.unify(&first, &second);
        }
    }

    /// The builtin that a name means here.
    pub(super) fn builtin_named(&self, name: &Name) -> Option<&'static Entry> {
        let is_other = self.scope.contains_key(name)
            || self.environment.lookup(name).is_some()
            || self.own.as_ref().is_some_and(|own| own.name == *name);
        builtins::lookup(name).filter(|_| !is_other)
    }
}

/// The types of the elements in the two windows of `stencil2`.
fn elements(stencil2: &Type) -> Option<(Type, Type)> {
    let Type::Function(_, rest) = stencil2 else { return None };
    let Type::Function(function, _) = &**rest else { return None };
    let Type::Function(first, rest) = &**function else { return None };
    let Type::Function(second, _) = &**rest else { return None };
    match (&**first, &**second) {
        (Type::Window(_, first), Type::Window(_, second)) => {
            Some(((**first).clone(), (**second).clone()))
        }
        _ => None,
    }
}
