//! Expressions: surface syntax → typed expressions whose types are still being inferred.

use std::sync::Arc;

use weft_ir::{Name, ScalarType, Span};

use super::Checker;
use super::unify::Clash;
use crate::ast::{self, Number};
use crate::builtins::{self, Builtin};
use crate::diagnostic::Diagnostic;
use crate::environment::{Binding, Global};
use crate::typed::{Arg, Axis, Expr, ExprKind, FunctionRef, LoopControl, Pattern};
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
            ast::ExprKind::Bool(value) => Expr {
                kind: ExprKind::Scalar(weft_ir::Scalar::Bool(*value)),
                ty: Type::BOOL,
                span,
            },
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
            ast::ExprKind::Apply { function, args, .. } => self.apply(function, args, span),
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
                let mut args = vec![self.expr(start), self.expr(stop)];
                args.push(match step {
                    Some(step) => self.expr(step),
                    None => Expr {
                        kind: ExprKind::Scalar(weft_ir::Scalar::I64(1)),
                        ty: Type::I64,
                        span,
                    },
                });
                let params = vec![Type::I64; 3];
                let function = Expr {
                    kind: ExprKind::Builtin(Builtin::Range, vec![Type::I64]),
                    ty: Type::functions(params.iter().cloned(), Type::array(Type::I64)),
                    span,
                };
                self.apply_typed("..", function, params, args, Type::array(Type::I64), span)
            }
            ast::ExprKind::Index { array, axes } => self.index(array, axes, span),
            ast::ExprKind::With { array, indices, value } => {
                self.with_element(array, indices, value, span)
            }
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

    fn name(&mut self, name: &Name, span: Span) -> Expr {
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
        if let Some(entry) = builtins::lookup(name) {
            return self.builtin(entry, span);
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
        let mut rest = expected.map(|ty| self.table.shallow(ty));
        let mut types = Vec::new();
        let mut typed = Vec::new();
        let mut checks = Vec::new();
        for param in params {
            let (ty, next) = match rest.take() {
                Some(Type::Function(parameter, result)) => {
                    ((*parameter).clone(), Some(self.table.shallow(&result)))
                }
                Some(Type::Var(var)) if self.table.state(var).is_some() => {
                    let (parameter, result) = (self.table.fresh(), self.table.fresh());
                    let whole = Type::function(parameter.clone(), result.clone());
                    // An open variable accepts any type.
                    let _ = self.table.unify(&Type::Var(var), &whole);
                    (parameter, Some(result))
                }
                Some(other) => {
                    self.too_many_params(span, &other);
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
        if let Some(result) = &rest {
            if let Err(clash) = self.table.unify(result, &body.ty) {
                self.mismatch(body.span, &body.ty.clone(), result, &clash, span, "the context");
            }
        }
        body = with_checks(checks, body);
        self.leave(mark);
        self.top_level = was_top;
        let ty = Type::functions(types.into_iter(), body.ty.clone());
        Expr { kind: ExprKind::Lambda { params: typed, body: Arc::new(body) }, ty, span }
    }

    fn let_in(&mut self, bindings: &[ast::LetBinding], body: &ast::Expr, span: Span) -> Expr {
        let mark = self.enter();
        // Built inside out at the end, so that a long `let` does not recurse here.
        let mut wrappers: Vec<Wrapper> = Vec::new();
        for binding in bindings {
            match binding {
                ast::LetBinding::Value(pattern, value) => match (&pattern.kind, &value.kind) {
                    (ast::PatternKind::Name(name), ast::ExprKind::Lambda { params, body }) => {
                        let ident = ast::Ident { name: name.clone(), span: pattern.span };
                        wrappers.push(self.local_function(&ident, params, None, body, value.span));
                    }
                    _ => {
                        let value = self.expr(value);
                        let mut checks = Vec::new();
                        let pattern = self.pattern(pattern, &value.ty, &mut checks);
                        wrappers.push(Wrapper::Value(pattern, value, checks));
                    }
                },
                ast::LetBinding::Function(def) => {
                    wrappers.push(self.local_function(
                        &def.name,
                        &def.params,
                        def.result.as_ref(),
                        &def.body,
                        def.name.span.to(def.body.span),
                    ));
                }
            }
        }
        let mut result = self.expr(body);
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
    fn local_function(
        &mut self,
        name: &ast::Ident,
        params: &[ast::Pattern],
        result: Option<&ast::TypeExpr>,
        body: &ast::Expr,
        span: Span,
    ) -> Wrapper {
        self.table.level += 1;
        let first_site = self.sites.len();
        let mut value = self.lambda(params, body, None, span);
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

    fn if_else(
        &mut self,
        condition: &ast::Expr,
        then: &ast::Expr,
        otherwise: &ast::Expr,
        span: Span,
    ) -> Expr {
        let condition = self.expr(condition);
        if !self.is_broken(&condition) {
            if let Err(clash) = self.table.unify(&condition.ty, &Type::BOOL) {
                self.bad_condition(&condition, &clash);
            }
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

    fn loop_do(
        &mut self,
        pattern: &ast::Pattern,
        init: &ast::Expr,
        control: &ast::LoopControl,
        body: &ast::Expr,
        span: Span,
    ) -> Expr {
        let init = self.expr(init);
        let state = init.ty.clone();
        let before = match control {
            ast::LoopControl::Count(_, bound) => {
                let bound = self.expr(bound);
                self.expect(&bound, &Type::I64, span, "the bound of a `loop`");
                Some(bound)
            }
            ast::LoopControl::Each(_, xs) => Some(self.expr(xs)),
            ast::LoopControl::While(_) => None,
        };
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
        let kind =
            ExprKind::Loop { pattern, init: Box::new(init), control, body: Box::new(body) };
        Expr { kind, ty: state, span }
    }

    fn record(&mut self, fields: &[(ast::Ident, ast::Expr)], span: Span) -> Expr {
        let mut names: Vec<(Name, Type)> = Vec::new();
        let mut parts = Vec::new();
        for (field, value) in fields {
            if names.iter().any(|(name, _)| *name == field.name) {
                self.report(Diagnostic::error(
                    "E0202",
                    format!("field `{}` stands twice in this record", field.name),
                    field.span,
                    "the second one",
                ));
                continue;
            }
            let value = self.expr(value);
            names.push((field.name.clone(), value.ty.clone()));
            parts.push(value);
        }
        let ty = Type::Record(names.into());
        self.sized(Expr { kind: ExprKind::Tuple(parts), ty, span })
    }

    fn record_update(
        &mut self,
        record: &ast::Expr,
        fields: &[(ast::Ident, ast::Expr)],
        span: Span,
    ) -> Expr {
        let record = self.expr(record);
        let ty = self.known(&record.ty);
        let Type::Record(known) = &ty else {
            if !self.is_broken(&record) {
                self.not_a_record(&record, &ty);
            }
            return self.unknown(span);
        };
        let mut updates = Vec::new();
        for (field, value) in fields {
            let value = self.expr(value);
            match known.iter().position(|(name, _)| *name == field.name) {
                Some(index) => {
                    let expected = known[index].1.clone();
                    let what = format!("field `{}`", field.name);
                    self.expect(&value, &expected, field.span, &what);
                    updates.push((index, value));
                }
                None => self.no_such_field(field, &ty, record.span),
            }
        }
        let kind = ExprKind::RecordUpdate { record: Box::new(record), fields: updates };
        Expr { kind, ty, span }
    }

    fn field(&mut self, record: &ast::Expr, field: &ast::Ident, span: Span) -> Expr {
        let record = self.expr(record);
        let ty = self.table.fresh();
        let site = self.fields.len();
        self.fields.push(super::FieldSite {
            record: record.ty.clone(),
            record_span: record.span,
            field: field.clone(),
            result: ty.clone(),
            found: None,
            failed: self.is_broken(&record),
        });
        if !self.advance_field(site) {
            let head = self.table.peel(&record.ty).1;
            if matches!(head, Type::Var(_)) && !self.fields[site].failed {
                self.propagate();
            }
        }
        // The index and depth are filled in when the definition is complete.
        Expr { kind: ExprKind::Field { record: Box::new(record), index: site, depth: 0 }, ty, span }
    }

    fn array(&mut self, elements: &[ast::Expr], span: Span) -> Expr {
        let element = self.table.fresh();
        let mut typed: Vec<Expr> = Vec::with_capacity(elements.len());
        for value in elements {
            let value = self.expr(value);
            if let Err(clash) = self.table.unify(&element, &value.ty) {
                if !self.is_broken(&value) {
                    self.elements_differ(&typed, &value, &clash);
                }
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

    fn index(&mut self, array: &ast::Expr, axes: &[ast::Axis], span: Span) -> Expr {
        if let Some(output) = self.earlier_output(array, axes, span) {
            return output;
        }
        let array = self.expr(array);
        if let Type::Window(index, element) = self.table.shallow(&array.ty) {
            return self.window_read(array, &index, &element, axes, span);
        }
        let plain: Option<Vec<&ast::Expr>> = axes
            .iter()
            .map(|axis| match axis {
                ast::Axis::Index(expr) => Some(expr),
                ast::Axis::Slice { .. } => None,
            })
            .collect();
        let element = self.table.fresh();
        let whole = Type::arrays(axes.len(), element.clone());
        if let Some(indices) = plain {
            let params: Vec<Type> =
                std::iter::once(whole).chain(indices.iter().map(|_| Type::I64)).collect();
            let mut args = vec![array];
            args.extend(indices.into_iter().map(|index| self.expr(index)));
            let function = Expr {
                kind: ExprKind::Builtin(Builtin::Index(axes.len() as u8), vec![element.clone()]),
                ty: Type::functions(params.iter().cloned(), element.clone()),
                span,
            };
            return self.apply_typed("index", function, params, args, element, span);
        }
        self.known(&array.ty);
        if let Err(clash) = self.table.unify(&array.ty, &whole) {
            if !self.is_broken(&array) {
                self.too_few_axes(&array, axes.len(), &clash);
            }
        }
        let mut kept = 0;
        let axes: Vec<Axis> = axes
            .iter()
            .map(|axis| match axis {
                ast::Axis::Index(index) => {
                    let index = self.expr(index);
                    let many = matches!(self.known(&index.ty), Type::Array(_));
                    let expected = if many { Type::array(Type::I64) } else { Type::I64 };
                    self.expect(&index, &expected, span, "an index");
                    kept += usize::from(many);
                    if many { Axis::Gather(index) } else { Axis::Index(index) }
                }
                ast::Axis::Slice { start, stop, step, span } => {
                    kept += 1;
                    let mut bound = |bound: &Option<ast::Expr>| {
                        bound.as_ref().map(|bound| {
                            let bound = self.expr(bound);
                            self.expect(&bound, &Type::I64, *span, "a bound of a slice");
                            bound
                        })
                    };
                    Axis::Slice {
                        start: bound(start),
                        stop: bound(stop),
                        step: bound(step),
                        span: *span,
                    }
                }
            })
            .collect();
        let ty = Type::arrays(kept, element);
        Expr { kind: ExprKind::Slice { array: Box::new(array), axes }, ty, span }
    }

    /// `Out[3]` is the value that cell 3 showed; the session binds it as `_3`.
    fn earlier_output(&mut self, array: &ast::Expr, axes: &[ast::Axis], span: Span) -> Option<Expr> {
        let ast::ExprKind::Name(name) = &array.kind else { return None };
        let [ast::Axis::Index(ast::Expr { kind, .. })] = axes else { return None };
        let ast::ExprKind::Number(Number::Int(number), None) = kind else { return None };
        if &**name != "Out"
            || self.scope.contains_key(name)
            || self.environment.lookup("Out").is_some()
        {
            return None;
        }
        let output: Name = format!("_{number}").into();
        if self.environment.lookup(&output).is_none() {
            self.report(Diagnostic::error(
                "E0207",
                format!("there is no output {number}"),
                span,
                "no such output is kept",
            ));
            return Some(self.unknown(span));
        }
        Some(self.name(&output, span))
    }

    fn window_read(
        &mut self,
        window: Expr,
        index: &Type,
        element: &Type,
        axes: &[ast::Axis],
        span: Span,
    ) -> Expr {
        let mut offset = Vec::new();
        for axis in axes {
            match axis {
                ast::Axis::Index(ast::Expr {
                    kind: ast::ExprKind::Number(Number::Int(value), None),
                    ..
                }) if i64::try_from(*value).is_ok() => offset.push(*value as i64),
                ast::Axis::Index(ast::Expr { span, .. }) | ast::Axis::Slice { span, .. } => {
                    self.report(
                        Diagnostic::error(
                            "E0311",
                            "a stencil reads its window at constant offsets",
                            *span,
                            "this is not an integer literal",
                        )
                        .help("write the offsets out, as in `w[0, -1]`"),
                    );
                    return self.unknown(span.to(window.span));
                }
            }
        }
        let own = super::index_type(axes.len());
        if let Err(_clash) = self.table.unify(index, &own) {
            self.window_rank_differs(&window, index, axes.len(), span);
        }
        let kind = ExprKind::WindowRead { window: Box::new(window), offset };
        Expr { kind, ty: element.clone(), span }
    }

    fn with_element(
        &mut self,
        array: &ast::Expr,
        indices: &[ast::Expr],
        value: &ast::Expr,
        span: Span,
    ) -> Expr {
        let array = self.expr(array);
        let element = self.table.fresh();
        let whole = Type::arrays(indices.len(), element.clone());
        let mut params = vec![whole.clone()];
        params.extend(indices.iter().map(|_| Type::I64));
        params.push(element.clone());
        let mut args = vec![array];
        args.extend(indices.iter().map(|index| self.expr(index)));
        args.push(self.expr(value));
        let function = Expr {
            kind: ExprKind::Builtin(Builtin::Update(indices.len() as u8), vec![element]),
            ty: Type::functions(params.iter().cloned(), whole.clone()),
            span,
        };
        self.apply_typed("with", function, params, args, whole, span)
    }

    fn comprehension(
        &mut self,
        body: &ast::Expr,
        generators: &[(ast::Pattern, ast::Expr)],
        filter: Option<&ast::Expr>,
        span: Span,
    ) -> Expr {
        let sources: Vec<Expr> = generators.iter().map(|(_, source)| self.expr(source)).collect();
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
            self.expect(&condition, &Type::BOOL, span, "the filter of an apply-to-each");
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
        if !super::pattern::has_sizes(annotation) {
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
    fn element_type(&mut self, array: &Expr, what: &str) -> Type {
        let ty = self.known(&array.ty);
        if let Type::Array(element) = ty {
            return (*element).clone();
        }
        let element = self.table.fresh();
        if let Err(clash) = self.table.unify(&array.ty, &Type::array(element.clone())) {
            if !self.is_broken(array) {
                self.not_an_array(array, what, &clash);
            }
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

/// A binding of a `let`, waiting for its body.
enum Wrapper {
    Value(Pattern, Expr, Vec<crate::typed::SizeCheck>),
    Function { name: Name, local: crate::typed::LocalId, quantified: (u32, u32), value: Expr },
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
        Type::Tuple(parts) => Type::Tuple(parts.iter().map(|part| instantiate_at(part, at)).collect()),
        Type::Record(fields) => Type::Record(
            fields.iter().map(|(name, ty)| (name.clone(), instantiate_at(ty, at))).collect(),
        ),
        Type::Array(element) => Type::array(instantiate_at(element, at)),
        Type::Function(a, b) => Type::function(instantiate_at(a, at), instantiate_at(b, at)),
        Type::Window(a, b) => Type::Window(instantiate_at(a, at).into(), instantiate_at(b, at).into()),
        Type::Boundary(a, b) => {
            Type::Boundary(instantiate_at(a, at).into(), instantiate_at(b, at).into())
        }
    }
}

/// An argument that is not (yet) known to be mapped.
pub(super) fn shared(expr: Expr) -> Arg {
    Arg { expr, mapped: false }
}
