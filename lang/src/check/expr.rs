//! Expressions: surface syntax → typed expressions whose types are still being inferred.

use std::sync::Arc;

use weft_ir::{Name, ScalarType, Span};

use super::Checker;
use super::apply::function_name;
use super::unify::Clash;
use crate::ast::{self, Number};
use crate::builtins::{self, Builtin};
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::typed::{Arg, Expr, ExprKind, FunctionRef, Pattern};
use crate::types::{Class, Type, TypeVar};

impl Checker<'_> {
    /// Infers the type of an expression.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Name(name) => self.name(name, span),
            ast::ExprKind::Number(number, suffix) => {
                let ty = match (suffix, number) {
                    (Some(scalar), _) => Type::Scalar(*scalar),
                    (None, Number::Int(_)) => self.table.fresh_of(Some(Class::NUM)),
                    (None, Number::Float { .. }) => self.table.fresh_of(Some(Class::FLOAT)),
                };
                Expr { kind: ExprKind::Number(*number), ty, span }
            }
            ast::ExprKind::Bool(value) => {
                Expr { kind: ExprKind::Scalar(weft_ir::Scalar::Bool(*value)), ty: Type::BOOL, span }
            }
            ast::ExprKind::Char(byte) => Expr {
                kind: ExprKind::Scalar(weft_ir::Scalar::Char(*byte)),
                ty: Type::Scalar(ScalarType::Char),
                span,
            },
            ast::ExprKind::Text(bytes) => Expr {
                kind: ExprKind::Text(Arc::clone(bytes)),
                ty: Type::array(Type::Scalar(ScalarType::Char)),
                span,
            },
            ast::ExprKind::Apply { function, args, form } => {
                self.apply(function, args, *form, span)
            }
            ast::ExprKind::Lambda { params, body } => self.lambda(params, body, None, span),
            ast::ExprKind::Let { bindings, body } => self.let_in(bindings, body, span),
            ast::ExprKind::If { condition, then, otherwise } => {
                self.if_else(condition, then, otherwise, span)
            }
            ast::ExprKind::Loop { pattern, init, control, body } => {
                self.loop_do(pattern, init, control, body, span)
            }
            ast::ExprKind::Tuple(parts) => {
                let parts: Vec<Expr> = parts.iter().map(|part| self.expr(part)).collect();
                let ty = Type::Tuple(parts.iter().map(|part| part.ty.clone()).collect());
                self.sized(Expr { kind: ExprKind::Tuple(parts), ty, span })
            }
            ast::ExprKind::Record(fields) => self.record(fields, span),
            ast::ExprKind::RecordUpdate { record, fields } => {
                self.record_update(record, fields, span)
            }
            ast::ExprKind::Field { record, field } => self.field(record, field, span),
            ast::ExprKind::Array(elements) => self.array(elements, span),
            ast::ExprKind::NumberArray(numbers) => self.number_array(numbers, span),
            ast::ExprKind::Range { start, stop, step } => {
                let reports = self.diagnostics.len();
                let mut args = vec![self.expr(start)];
                if self.diagnostics.len() > reports
                    && let ast::ExprKind::Apply { function, .. } = &start.kind
                    && let Some(diagnostic) = self.diagnostics.last_mut()
                {
                    let name = function_name(function);
                    let help =
                        format!("a range as an argument stands in parentheses: `{name} (a..b)`");
                    diagnostic.help.push(help);
                }
                args.push(self.expr(stop));
                args.push(match step {
                    Some(step) => self.expr(step),
                    None => Expr {
                        kind: ExprKind::Scalar(weft_ir::Scalar::I64(1)),
                        ty: Type::I64,
                        span,
                    },
                });
                let (params, range) = (vec![Type::I64; 3], (Builtin::Range, &Type::I64));
                self.apply_builtin(range, "..", params, args, Type::array(Type::I64), span)
            }
            ast::ExprKind::Index { array, axes } => self.index(array, axes, span),
            ast::ExprKind::With { array, .. }
                if let ast::ExprKind::Lambda { params, .. } = &array.kind =>
            {
                self.with_behind_lambda(params, array.span);
                self.unknown(span)
            }
            ast::ExprKind::With { array, axes, value } => self.with(array, axes, value, span),
            ast::ExprKind::Comprehension { body, generators, filter } => {
                self.comprehension(body, generators, filter.as_deref(), span)
            }
            ast::ExprKind::Typed(inner, annotation) => self.ascription(inner, annotation, span),
            ast::ExprKind::Error => {
                self.poisoned = true;
                self.unknown(span)
            }
        }
    }

    /// Stands for an expression about which an error was reported.
    pub(super) fn unknown(&mut self, span: Span) -> Expr {
        Expr { kind: ExprKind::Tuple(Vec::new()), ty: self.table.fresh(), span }
    }

    pub(super) fn name(&mut self, name: &Name, span: Span) -> Expr {
        if let Some(open) = self.open_function(name) {
            return self.open_use(&open, None, span);
        }
        if let Some(local) = self.scope.get(name).and_then(|stack| stack.last()).cloned() {
            let mut types = Vec::new();
            let mut replacements = Vec::new();
            for (var, class) in &local.vars {
                let fresh = self.table.fresh_of(*class);
                types.push(fresh.clone());
                replacements.push((*var, fresh));
            }
            let ty = if replacements.is_empty() {
                local.ty
            } else {
                self.table.substitute(&local.ty, &replacements)
            };
            return Expr { kind: ExprKind::Local(local.local, types), ty, span };
        }
        if let Some(own) = self.own.as_ref().filter(|own| own.name == *name) {
            let kind = ExprKind::Function(FunctionRef::Generic(own.global, Vec::new()));
            return Expr { kind, ty: own.ty.clone(), span };
        }
        match self.environment.lookup(name) {
            Some(Binding::Global(id)) => {
                let id = *id;
                match self.environment.global(id) {
                    Some(Global::Function(function)) => {
                        let scheme = function.scheme.clone();
                        let types: Vec<Type> =
                            scheme.vars.iter().map(|class| self.table.fresh_of(*class)).collect();
                        let ty = instantiate(&scheme.ty, &types);
                        let kind = ExprKind::Function(FunctionRef::Generic(id, types));
                        return Expr { kind, ty, span };
                    }
                    Some(Global::Value { ty, .. }) => {
                        return Expr { kind: ExprKind::Value(id), ty: Type::of_value(ty), span };
                    }
                    None => {}
                }
            }
            Some(Binding::Broken) => {
                self.poisoned = true;
                return self.unknown(span);
            }
            Some(Binding::Alias(_)) => {
                self.report(Diagnostic::error(
                    "E0201",
                    format!("`{name}` is a type, not a value"),
                    span,
                    "a type stands here",
                ));
                return self.unknown(span);
            }
            None => {}
        }
        let internal = || builtins::internal(name).filter(|_| self.environment.is_prelude());
        if let Some(entry) = builtins::lookup(name).or_else(internal) {
            let builtin = self.builtin(entry, span);
            self.stencil2_as_value(&builtin);
            return builtin;
        }
        let constant = match &**name {
            "pi" => Some((std::f64::consts::PI, std::f32::consts::PI)),
            "inf" => Some((f64::INFINITY, f32::INFINITY)),
            "nan" => Some((f64::NAN, f32::NAN)),
            _ => None,
        };
        if let Some((wide, narrow)) = constant {
            let ty = self.table.fresh_of(Some(Class::FLOAT));
            return Expr { kind: ExprKind::Number(Number::Float { wide, narrow }), ty, span };
        }
        self.unknown_name(name, span);
        self.unknown(span)
    }

    /// A lambda; `expected` is the function type that its context needs, if one does.
    pub(super) fn lambda(
        &mut self,
        params: &[ast::Pattern],
        body: &ast::Expr,
        expected: Option<&Type>,
        span: Span,
    ) -> Expr {
        let was_top = std::mem::replace(&mut self.top_level, false);
        let mark = self.enter();
        self.names_bound_twice(params, "parameters");
        let mut rest = expected.map(|ty| self.table.shallow(ty));
        let mut types = Vec::new();
        let mut typed = Vec::new();
        let mut checks = Vec::new();
        for param in params {
            let (ty, next) = match rest.take() {
                Some(Type::Function(parameter, result)) => {
                    ((*parameter).clone(), Some(self.table.shallow(&result)))
                }
                // A variable with a class stands for scalars and the like.
                Some(Type::Var(var)) if self.table.is_rank_open(&Type::Var(var)) => {
                    let (parameter, result) = (self.table.fresh(), self.table.fresh());
                    let whole = Type::function(parameter.clone(), result.clone());
                    // Any other variable accepts any type.
                    let _ = self.table.unify(&Type::Var(var), &whole);
                    (parameter, Some(result))
                }
                Some(other) => {
                    self.too_many_params(span, &other, types.len());
                    (self.table.fresh(), None)
                }
                None => (self.table.fresh(), None),
            };
            typed.push(self.pattern(param, &ty, &mut checks));
            types.push(ty);
            rest = next;
        }
        let body_span = body.span;
        let mut body = match (&body.kind, &rest) {
            (ast::ExprKind::Lambda { params, body }, Some(expected)) => {
                self.lambda(params, body, Some(expected), body_span)
            }
            _ => self.expr(body),
        };
        if let Some(result) = &rest
            && let Err(clash) = self.table.unify(result, &body.ty)
        {
            self.mismatch(body.span, &body.ty.clone(), result, &clash, span, "the context");
        }
        body = with_checks(checks, body);
        self.leave(mark);
        self.top_level = was_top;
        let ty = Type::functions(types.into_iter(), body.ty.clone());
        Expr { kind: ExprKind::Lambda { params: typed, body: Arc::new(body) }, ty, span }
    }

    fn if_else(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Expr {
        let condition = self.expr(condition);
        if !self.is_broken(&condition)
            && let Err(clash) = self.table.unify(&condition.ty, &Type::BOOL)
        {
            self.bad_condition(&condition, &clash);
        }
        let then = self.expr(then);
        let otherwise = self.expr(otherwise);
        if let Err(clash) = self.table.unify(&then.ty, &otherwise.ty) {
            self.branches_differ(&then, &otherwise, &clash);
        }
        let ty = then.ty.clone();
        let kind = ExprKind::If {
            condition: Box::new(condition),
            then: Box::new(then),
            otherwise: Box::new(otherwise),
        };
        Expr { kind, ty, span }
    }

    fn array(&mut self, elements: &[ast::Expr], span: Span) -> Expr {
        let element = self.table.fresh();
        let mut typed: Vec<Expr> = Vec::with_capacity(elements.len());
        for value in elements {
            let value = self.expr(value);
            if let Err(clash) = self.table.unify(&element, &value.ty)
                && !self.is_broken(&value)
            {
                self.elements_differ(&typed, &value, &clash);
            }
            typed.push(value);
        }
        Expr { kind: ExprKind::Array(typed), ty: Type::array(element), span }
    }

    fn number_array(&mut self, numbers: &Arc<[Number]>, span: Span) -> Expr {
        let class = match numbers.first() {
            Some(Number::Float { .. }) => Class::FLOAT,
            Some(Number::Int(_)) | None => Class::NUM,
        };
        let element = self.table.fresh_of(Some(class));
        Expr { kind: ExprKind::NumberArray(Arc::clone(numbers)), ty: Type::array(element), span }
    }

    fn comprehension(
        &mut self,
        body: &ast::Expr,
        generators: &[(ast::Pattern, ast::Expr)],
        filter: Option<&ast::Expr>,
        span: Span,
    ) -> Expr {
        let sources = self.sources(generators, span);
        self.names_bound_twice(generators.iter().map(|(pattern, _)| pattern), "generators");
        if sources.iter().any(|source| self.is_sequence(source)) {
            return self.sequence_comprehension(body, generators, filter, sources, span);
        }
        let was_top = std::mem::replace(&mut self.top_level, false);
        let mark = self.enter();
        let mut checks = Vec::new();
        let mut typed: Vec<(Pattern, Expr)> = Vec::new();
        for ((pattern, _), source) in generators.iter().zip(sources) {
            let ty = self.element_type(&source, "apply-to-each goes over");
            let pattern = self.pattern(pattern, &ty, &mut checks);
            typed.push((pattern, source));
        }
        let filter = filter.map(|condition| {
            let condition = self.expr(condition);
            if !self.is_broken(&condition)
                && let Err(clash) = self.table.unify(&condition.ty, &Type::BOOL)
            {
                self.bad_filter(&condition, &clash, span);
            }
            Box::new(condition)
        });
        let body = with_checks(checks, self.expr(body));
        self.leave(mark);
        self.top_level = was_top;
        let ty = Type::array(body.ty.clone());
        let kind = ExprKind::Comprehension { body: Box::new(body), generators: typed, filter };
        Expr { kind, ty, span }
    }

    /// `(e : type)`.
    fn ascription(&mut self, inner: &ast::Expr, annotation: &ast::TypeExpr, span: Span) -> Expr {
        let wanted = self.type_expr(annotation);
        let typed = match &inner.kind {
            ast::ExprKind::Lambda { params, body } => {
                self.lambda(params, body, Some(&wanted), inner.span)
            }
            _ => self.expr(inner),
        };
        self.expect(&typed, &wanted, annotation.span, "the annotation");
        if !self.has_sizes(annotation) {
            return typed;
        }
        let local = self.fresh_local();
        let name: Name = "this value".into();
        let mut checks = Vec::new();
        self.size_checks(local, &name, Some(annotation), &mut checks);
        let ty = typed.ty.clone();
        let result = Expr { kind: ExprKind::Local(local, Vec::new()), ty: ty.clone(), span };
        let kind = ExprKind::Let {
            pattern: Pattern::Local { local, name, ty: ty.clone() },
            value: Box::new(typed),
            body: Box::new(with_checks(checks, result)),
        };
        Expr { kind, ty, span }
    }

    /// The element type of an expression that must be an array.
    pub(super) fn element_type(&mut self, array: &Expr, what: &str) -> Type {
        let ty = self.known(&array.ty);
        if let Type::Array(element) = ty {
            return (*element).clone();
        }
        let element = self.table.fresh();
        if let Err(clash) = self.table.unify(&array.ty, &Type::array(element.clone()))
            && !self.is_broken(array)
        {
            self.not_an_array(array, what, &clash);
        }
        element
    }

    /// Reports an expression that does not have the type that its place needs.
    pub(super) fn expect(&mut self, expr: &Expr, expected: &Type, place: Span, what: &str) {
        if self.is_broken(expr) {
            return;
        }
        if let Err(clash) = self.table.unify(&expr.ty, expected) {
            self.mismatch(expr.span, &expr.ty.clone(), expected, &clash, place, what);
        }
    }

    /// Whether an error about the expression was already reported: it is the mark that
    /// [`Checker::unknown`] leaves.
    pub(super) fn is_broken(&self, expr: &Expr) -> bool {
        matches!(&expr.kind, ExprKind::Tuple(parts) if parts.is_empty())
            && matches!(expr.ty, Type::Var(_))
    }

    /// The expression, unless its type has become too large to work with.
    pub(super) fn sized(&mut self, expr: Expr) -> Expr {
        if self.table.is_too_large(&expr.ty) {
            self.clash_report(&Clash::TooLarge, expr.span);
            return self.unknown(expr.span);
        }
        expr
    }
}

/// `body` after the checks of the sizes in annotations.
pub(super) fn with_checks(checks: Vec<crate::typed::SizeCheck>, body: Expr) -> Expr {
    if checks.is_empty() {
        return body;
    }
    let (ty, span) = (body.ty.clone(), body.span);
    Expr { kind: ExprKind::CheckSizes { checks, body: Box::new(body) }, ty, span }
}

/// The scheme's type at the given types.
fn instantiate(ty: &Type, types: &[Type]) -> Type {
    instantiate_at(ty, &|var| types[var.0 as usize].clone())
}

/// The type with every variable replaced.
pub(crate) fn instantiate_at(ty: &Type, at: &dyn Fn(TypeVar) -> Type) -> Type {
    match ty {
        Type::Var(var) => at(*var),
        Type::Scalar(scalar) => Type::Scalar(*scalar),
        Type::Tuple(parts) => {
            Type::Tuple(parts.iter().map(|part| instantiate_at(part, at)).collect())
        }
        Type::Record(fields) => Type::Record(
            fields.iter().map(|(name, ty)| (name.clone(), instantiate_at(ty, at))).collect(),
        ),
        Type::Array(element) => Type::array(instantiate_at(element, at)),
        Type::Seq(item) => Type::seq(instantiate_at(item, at)),
        Type::Function(a, b) => Type::function(instantiate_at(a, at), instantiate_at(b, at)),
        Type::Window(a, b) => {
            Type::Window(instantiate_at(a, at).into(), instantiate_at(b, at).into())
        }
        Type::Boundary(a, b) => {
            Type::Boundary(instantiate_at(a, at).into(), instantiate_at(b, at).into())
        }
    }
}

/// An argument that is not (yet) known to be mapped.
pub(super) fn shared(expr: Expr) -> Arg {
    Arg { expr, mapped: false }
}
