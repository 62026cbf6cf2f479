//! The end of checking an item: every inferred type, depth and field is filled into the typed tree.

use std::sync::Arc;

use super::Checker;
use super::apply::is_atom;
use crate::ast::Number;
use crate::diagnostic::Diagnostic;
use crate::typed::{Expr, ExprKind, FunctionRef, Pattern};
use crate::types::Type;

impl Checker<'_> {
    /// Fills in the types of a value; open ones get their defaults.
    pub(super) fn finish(&mut self, expr: &mut Expr) {
        self.finish_definition(expr, Vec::new());
    }

    /// Fills in the types of a definition whose recursive uses are at `own_types`.
    pub(super) fn finish_definition(&mut self, expr: &mut Expr, own_types: Vec<Type>) {
        self.finish_expr(expr, &own_types);
    }

    fn finish_type(&mut self, ty: &mut Type) {
        self.table.default_open(&ty.clone(), self.config.float);
        *ty = self.table.resolve(ty);
    }

    fn finish_expr(&mut self, expr: &mut Expr, own: &[Type]) {
        if self.is_broken(expr) {
            return;
        }
        self.finish_type(&mut expr.ty);
        self.check_functions(expr);
        let span = expr.span;
        match &mut expr.kind {
            ExprKind::Number(number) => self.check_number(*number, &expr.ty, span),
            ExprKind::NumberArray(numbers) => {
                let numbers = Arc::clone(numbers);
                if let Type::Array(element) = expr.ty.clone() {
                    for number in numbers.iter() {
                        if self.errors == 0 {
                            self.check_number(*number, &element, span);
                        }
                    }
                }
            }
            ExprKind::Scalar(_) | ExprKind::Text(_) | ExprKind::Value(_) => {}
            ExprKind::Local(_, types) | ExprKind::Builtin(_, types) => {
                types.iter_mut().for_each(|ty| self.finish_type(ty));
            }
            ExprKind::Function(FunctionRef::Generic(global, types)) => {
                if self.own.as_ref().is_some_and(|def| def.global == *global) {
                    *types = own.to_vec();
                } else {
                    types.iter_mut().for_each(|ty| self.finish_type(ty));
                }
            }
            ExprKind::Function(FunctionRef::Instance(_)) => {}
            ExprKind::Lambda { params, body } => {
                params.iter_mut().for_each(|param| self.finish_pattern(param));
                self.finish_expr(Arc::make_mut(body), own);
                if let Some(function) = eta_reduced(params, body) {
                    *expr = function;
                }
            }
            ExprKind::Apply { function, args, depth } => {
                self.finish_expr(function, own);
                args.iter_mut().for_each(|arg| self.finish_expr(&mut arg.expr, own));
                let site = *depth;
                let solved = &self.sites[site];
                *depth = solved.depth.unwrap_or(0);
                if let Some(positions) = self.positions.get(&site) {
                    for (position, arg) in positions.iter().zip(&solved.args) {
                        args[*position].mapped = arg.mapped == Some(true);
                    }
                }
            }
            ExprKind::Field { record, index, depth } => {
                self.finish_expr(record, own);
                if let Some((found, axes)) = self.fields[*index].found {
                    (*index, *depth) = (found, axes);
                }
            }
            ExprKind::Let { .. }
            | ExprKind::LetFunction { .. }
            | ExprKind::If { .. }
            | ExprKind::Loop { .. }
            | ExprKind::Tuple(_)
            | ExprKind::Array(_)
            | ExprKind::RecordUpdate { .. }
            | ExprKind::Slice { .. }
            | ExprKind::WindowRead { .. }
            | ExprKind::Comprehension { .. }
            | ExprKind::CheckSizes { .. } => {
                expr.for_each_pattern_mut(&mut |pattern| self.finish_pattern(pattern));
                expr.for_each_child_mut(&mut |child| self.finish_expr(child, own));
            }
        }
    }

    fn finish_pattern(&mut self, pattern: &mut Pattern) {
        match pattern {
            Pattern::Local { ty, .. } | Pattern::Wildcard(ty) => self.finish_type(ty),
            Pattern::Tuple(parts) => parts.iter_mut().for_each(|part| self.finish_pattern(part)),
        }
    }

    fn check_number(&mut self, number: Number, ty: &Type, span: weft_ir::Span) {
        if let Type::Scalar(scalar) = ty
            && number.to_scalar(*scalar).is_none()
        {
            self.report(number_does_not_fit(number, *scalar, span));
        }
    }

    /// Functions exist at compile time only: none in arrays, none chosen at run time.
    fn check_functions(&mut self, expr: &Expr) {
        let is_function =
            |ty: &Type| matches!(ty, Type::Function(..) | Type::Seq(_) | Type::Boundary(..));
        let chosen = match &expr.kind {
            ExprKind::If { .. } => Some("an `if`"),
            ExprKind::Loop { .. } => Some("a `loop`"),
            _ => None,
        };
        let is_sequence = |ty: &Type| matches!(ty, Type::Seq(_));
        if let (Some(what), true) = (chosen, contains(&expr.ty, &is_function)) {
            let thing = if contains(&expr.ty, &is_sequence) { "sequence" } else { "function" };
            self.report(
                Diagnostic::error(
                    "E0314",
                    format!("{what} cannot yield a {thing}"),
                    expr.span,
                    format!("this is {}", expr.ty),
                )
                .help(match thing {
                    "sequence" => "consume it inside, so that every branch yields a value",
                    _ => "apply the function inside, so that every branch yields a value",
                }),
            );
        }
        let within = |ty: &Type| matches!(ty, Type::Seq(item) if contains(item, &is_function));
        if self.errors == 0 && contains(&expr.ty, &within) {
            self.report(crate::check::sequence::unfit_items(&expr.ty, expr.span));
        }
        let (rank, head) = expr.ty.peel();
        let makes = matches!(
            expr.kind,
            ExprKind::Array(_) | ExprKind::Comprehension { .. } | ExprKind::Apply { .. }
        );
        if rank > 0 && makes && self.errors == 0 && contains(head, &is_function) {
            let things = if contains(head, &is_sequence) { "sequences" } else { "functions" };
            self.report(
                Diagnostic::error(
                    "E0313",
                    format!("an array cannot hold {things}"),
                    expr.span,
                    format!("this would be {}", expr.ty),
                )
                .note(format!("{things} are specialised away before a program runs")),
            );
        }
    }
}

/// A number at a type that it does not fit.
pub(crate) fn number_does_not_fit(
    number: Number,
    scalar: weft_ir::ScalarType,
    span: weft_ir::Span,
) -> Diagnostic {
    let text = match number {
        Number::Int(value) => value.to_string(),
        Number::Float { wide, .. } => format!("{wide:?}"),
    };
    let diagnostic = Diagnostic::error(
        "E0309",
        format!("{text} does not fit in {scalar}"),
        span,
        format!("this literal is {scalar} here"),
    );
    match number {
        Number::Int(value) if scalar == weft_ir::ScalarType::I64 => {
            diagnostic.help(match u64::try_from(value) {
                Ok(_) => "write it with a point for a float, or with the suffix `u64`",
                Err(_) => "write it with a point for a float",
            })
        }
        _ => diagnostic,
    }
}

/// Whether a type or a part of it is of that kind.
pub(super) fn contains(ty: &Type, wanted: &dyn Fn(&Type) -> bool) -> bool {
    if wanted(ty) {
        return true;
    }
    match ty {
        Type::Tuple(parts) => parts.iter().any(|part| contains(part, wanted)),
        Type::Record(fields) => fields.iter().any(|(_, ty)| contains(ty, wanted)),
        Type::Array(element) | Type::Seq(element) => contains(element, wanted),
        Type::Var(_)
        | Type::Scalar(_)
        | Type::Function(..)
        | Type::Window(..)
        | Type::Boundary(..) => false,
    }
}

/// `\x y -> f x y` is `f`, if `f` is a name and nothing is mapped.
fn eta_reduced(params: &[Pattern], body: &Expr) -> Option<Expr> {
    let ExprKind::Apply { function, args, depth: 0 } = &body.kind else { return None };
    if !is_atom(function) || args.len() != params.len() {
        return None;
    }
    let same = params.iter().zip(args).all(|(param, arg)| match (param, &arg.expr.kind) {
        (Pattern::Local { local, .. }, ExprKind::Local(used, _)) => local == used,
        _ => false,
    });
    // The function itself may be one of the parameters: `\f x -> f x` keeps its lambda.
    let free = match &function.kind {
        ExprKind::Local(local, _) => !params
            .iter()
            .any(|param| matches!(param, Pattern::Local { local: own, .. } if own == local)),
        _ => true,
    };
    (same && free).then(|| (**function).clone())
}
