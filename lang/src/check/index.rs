//! Indexing, slices, reads of a stencil's window, and replacing one element.

use weft_ir::{Name, Span};

use super::{Checker, index_type};
use crate::ast::{self, Number};
use crate::builtins::Builtin;
use crate::diagnostic::Diagnostic;
use crate::typed::{Axis, Expr, ExprKind};
use crate::types::Type;

impl Checker<'_> {
    pub(super) fn index(&mut self, array: &ast::Expr, axes: &[ast::Axis], span: Span) -> Expr {
        if let Some(output) = self.earlier_output(array, axes, span) {
            return output;
        }
        let array = self.expr(array);
        if let Type::Window(index, element) = self.table.shallow(&array.ty) {
            return self.window_read(array, &index, &element, axes, span);
        }
        let plain: Option<Vec<&ast::Expr>> = axes.iter().map(ast::Axis::index).collect();
        let element = self.table.fresh();
        let whole = Type::arrays(axes.len(), element.clone());
        if let Some(indices) = plain {
            let params: Vec<Type> =
                std::iter::once(whole).chain(indices.iter().map(|_| Type::I64)).collect();
            let mut args = vec![array];
            args.extend(indices.into_iter().map(|index| self.expr(index)));
            let index = (Builtin::Index(axes.len() as u8), &element.clone());
            return self.apply_builtin(index, "index", params, args, element, span);
        }
        self.expect_axes(&array, axes.len(), &whole);
        let (axes, kept) = self.axes(axes, span);
        let ty = Type::arrays(kept, element);
        Expr { kind: ExprKind::Slice { array: Box::new(array), axes }, ty, span }
    }

    /// An array whose first axes are sliced.
    pub(super) fn expect_axes(&mut self, array: &Expr, count: usize, whole: &Type) {
        self.known(&array.ty);
        if let Err(clash) = self.table.unify(&array.ty, whole)
            && !self.is_broken(array)
        {
            self.too_few_axes(array, count, &clash);
        }
    }

    /// The axes of a slice, and how many of them it keeps.
    pub(super) fn axes(&mut self, axes: &[ast::Axis], span: Span) -> (Vec<Axis>, usize) {
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
        (axes, kept)
    }

    /// `Out[3]` is the value that cell 3 showed; the session binds it as `_3`.
    pub(super) fn earlier_output(
        &mut self,
        array: &ast::Expr,
        axes: &[ast::Axis],
        span: Span,
    ) -> Option<Expr> {
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
                "E0504",
                format!("there is no output {number}"),
                span,
                "no such output is kept",
            ));
            return Some(self.unknown(span));
        }
        Some(self.name(&output, span))
    }

    pub(super) fn window_read(
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
                axis => {
                    self.report(
                        Diagnostic::error(
                            "E0311",
                            "a stencil reads its window at constant offsets",
                            axis.span(),
                            "this is not an integer literal",
                        )
                        .help("write the offsets out, as in `w[0, -1]`"),
                    );
                    return self.unknown(span.to(window.span));
                }
            }
        }
        let own = index_type(axes.len());
        if let Err(_clash) = self.table.unify(index, &own) {
            self.window_rank_differs(&window, index, axes.len(), span);
        }
        let kind = ExprKind::WindowRead { window: Box::new(window), offset };
        Expr { kind, ty: element.clone(), span }
    }

    /// `(array with [indices] = value)`, where each index is a number.
    pub(super) fn with_element(
        &mut self,
        array: Expr,
        indices: Vec<Expr>,
        value: &ast::Expr,
        span: Span,
    ) -> Expr {
        let element = self.table.fresh();
        let whole = Type::arrays(indices.len(), element.clone());
        let mut params = vec![whole.clone()];
        params.extend(indices.iter().map(|_| Type::I64));
        params.push(element.clone());
        let update = Builtin::Update(indices.len() as u8);
        let mut args = vec![array];
        args.extend(indices);
        args.push(self.expr(value));
        self.apply_builtin((update, &element), "with", params, args, whole, span)
    }
}
