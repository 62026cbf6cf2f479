//! `let` and `loop`: local names, local functions, states.

use std::sync::Arc;

use weft_ir::{Name, Span};

use super::Checker;
use super::expr::with_checks;
use crate::ast;
use crate::diagnostic::Diagnostic;
use crate::typed::{Expr, ExprKind, LocalId, LoopControl, Pattern, SizeCheck};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn let_in(
        &mut self,
        bindings: &[ast::LetBinding],
        body: &ast::Expr,
        span: Span,
    ) -> Expr {
        let mark = self.enter();
        // Built inside out at the end, so that a long `let` does not recurse here.
        let mut wrappers: Vec<Wrapper> = Vec::new();
        let mut open = Vec::new();
        for binding in bindings {
            match binding {
                ast::LetBinding::Value(pattern, value) => {
                    if let ast::PatternKind::Name(name) = &pattern.kind {
                        if let Some(given) = self.bind_partial(name, value) {
                            wrappers.extend(given);
                            open.push((name, value.span));
                            continue;
                        }
                        if let ast::ExprKind::Lambda { params, body } = &value.kind {
                            if self.bind_open(name, params, None, body, value.span) {
                                open.push((name, value.span));
                                continue;
                            }
                            let ident = ast::Ident { name: name.clone(), span: pattern.span };
                            wrappers
                                .push(self.local_function(&ident, params, None, body, value.span));
                            continue;
                        }
                    }
                    let value = self.expr(value);
                    let mut checks = Vec::new();
                    let pattern = self.pattern(pattern, &value.ty, &mut checks);
                    wrappers.push(Wrapper::Value(pattern, value, checks));
                }
                ast::LetBinding::Function(def) => {
                    let (name, result) = (&def.name, def.result.as_ref());
                    let span = name.span.to(def.body.span);
                    if self.bind_open(&name.name, &def.params, result, &def.body, span) {
                        open.push((&name.name, span));
                        continue;
                    }
                    wrappers.push(self.local_function(name, &def.params, result, &def.body, span));
                }
            }
        }
        let mut result = self.expr(body);
        // What nobody uses is checked all the same.
        for (name, span) in open {
            if !self.uses.is_used(span) {
                self.name(name, span);
            }
        }
        self.leave(mark);
        while let Some(wrapper) = wrappers.pop() {
            let ty = result.ty.clone();
            let kind = match wrapper {
                Wrapper::Value(pattern, value, checks) => {
                    let body = Box::new(with_checks(checks, result));
                    ExprKind::Let { pattern, value: Box::new(value), body }
                }
                Wrapper::Function { name, local, quantified, value } => ExprKind::LetFunction {
                    name,
                    local,
                    quantified,
                    value: Arc::new(value),
                    body: Box::new(result),
                },
            };
            result = Expr { kind, ty, span };
        }
        result
    }

    /// `let f x = …`: generalised where its types do not depend on the surroundings.
    pub(super) fn local_function(
        &mut self,
        name: &ast::Ident,
        params: &[ast::Pattern],
        result: Option<&ast::TypeExpr>,
        body: &ast::Expr,
        span: Span,
    ) -> Wrapper {
        self.table.level += 1;
        let first_site = self.sites.len();
        self.defining.push(name.name.clone());
        let mut value = self.lambda(params, body, None, span);
        self.defining.pop();
        if let Some(annotation) = result {
            self.annotate_result(&mut value, params.len(), annotation);
        }
        let vars = self.generalise_local(first_site, &value.ty);
        self.table.level -= 1;
        let start = self.next_quantified;
        for (var, _) in &vars {
            self.table.quantify(*var, self.next_quantified);
            self.next_quantified += 1;
        }
        let quantified = (start, vars.len() as u32);
        let local = self.bind_local(&name.name, value.ty.clone(), vars);
        Wrapper::Function { name: name.name.clone(), local, quantified, value }
    }

    pub(super) fn loop_do(
        &mut self,
        pattern: &ast::Pattern,
        init: &ast::Expr,
        control: &ast::LoopControl,
        body: &ast::Expr,
        span: Span,
    ) -> Expr {
        let init = self.expr(init);
        let of_control = match control {
            ast::LoopControl::Count(index, _) => Some(index),
            ast::LoopControl::Each(element, _) => Some(element),
            ast::LoopControl::While(_) => None,
        };
        self.names_bound_twice([pattern].into_iter().chain(of_control), "variables of this loop");
        let state = init.ty.clone();
        let before = match control {
            ast::LoopControl::Count(_, bound) => {
                let bound = self.expr(bound);
                if self.table.peel(&bound.ty).0 > 0 && !self.is_broken(&bound) {
                    let found = self.show(&bound.ty);
                    let message = format!("the bound of a `loop` needs i64, but this is {found}");
                    self.report(
                        Diagnostic::error("E0301", message, bound.span, format!("this is {found}"))
                            .help("a loop over the elements of an array is `loop s = … for x in xs do …`"),
                    );
                } else {
                    self.expect(&bound, &Type::I64, span, "the bound of a `loop`");
                }
                Some(bound)
            }
            ast::LoopControl::Each(_, xs) => Some(self.expr(xs)),
            ast::LoopControl::While(_) => None,
        };
        if let (ast::LoopControl::Each(element, _), Some(items)) = (control, &before)
            && self.is_sequence(items)
        {
            let items = items.clone();
            return self.sequence_loop([pattern, element], [init, items], body, span);
        }
        let mark = self.enter();
        let mut checks = Vec::new();
        let pattern = self.pattern(pattern, &state, &mut checks);
        let control = match (control, before) {
            (ast::LoopControl::Count(index, _), Some(bound)) => {
                let index = self.pattern(index, &Type::I64, &mut checks);
                LoopControl::Count(index, Box::new(bound))
            }
            (ast::LoopControl::Each(element, _), Some(xs)) => {
                let ty = self.element_type(&xs, "a `loop` goes over");
                let element = self.pattern(element, &ty, &mut checks);
                LoopControl::Each(element, Box::new(xs))
            }
            (ast::LoopControl::While(condition), _) => {
                let condition = self.expr(condition);
                self.expect(&condition, &Type::BOOL, span, "the condition of a `loop`");
                LoopControl::While(Box::new(condition))
            }
            (ast::LoopControl::Count(..) | ast::LoopControl::Each(..), None) => {
                return self.unknown(span);
            }
        };
        let body = self.expr(body);
        if let Err(clash) = self.table.unify(&body.ty, &state) {
            self.loop_state_differs(&init, &body, &clash);
        }
        self.leave(mark);
        let body = with_checks(checks, body);
        let kind = ExprKind::Loop { pattern, init: Box::new(init), control, body: Box::new(body) };
        Expr { kind, ty: state, span }
    }
}

/// A binding of a `let`, waiting for its body.
pub(super) enum Wrapper {
    Value(Pattern, Expr, Vec<SizeCheck>),
    Function { name: Name, local: LocalId, quantified: (u32, u32), value: Expr },
}
