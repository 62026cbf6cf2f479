//! Replacing elements of an array: one, `(a with [i] = v)`, or a part, `(m with [:, j] = v)`, `(a with [is] = v)`.
//!
//! A part is replaced by what there is. Indices before the first slice choose a subarray, which is replaced as a whole; in it,
//! what is chosen of the places of all elements says where the new ones go:
//!
//! ```text
//! (m with [i, a:b] = v)   is   let row = m[i] in (m with [i] = replaced row (places row)[a:b] v)
//! ```
//!
//! One number (or tuple, or record) stands for as many.

use weft_ir::{Name, Span};

use super::Checker;
use crate::ast;
use crate::builtins::Builtin;
use crate::typed::{Axis, Expr, ExprKind, Pattern};
use crate::types::Type;

/// What is computed first, as it stands in several places.
type Held = Vec<(Pattern, Expr)>;

/// An array, and what of it is replaced.
struct Part {
    array: Expr,
    /// The indices before the first slice or array of indices.
    indices: Vec<Expr>,
    /// The other axes: slices and indices, or at least one array of indices and other indices.
    rest: Vec<Axis>,
    /// Where the axes stand.
    bracket: Span,
}

impl Checker<'_> {
    /// `(array with [axes] = value)`.
    pub(super) fn with(
        &mut self,
        array: &ast::Expr,
        axes: &[ast::Axis],
        value: &ast::Expr,
        span: Span,
    ) -> Expr {
        let array = self.expr(array);
        let spans = axes.iter().map(ast::Axis::span);
        let bracket = spans.reduce(Span::to).unwrap_or(span);
        let indices: Option<Vec<&ast::Expr>> = axes.iter().map(ast::Axis::index).collect();
        let axes = match indices {
            None => self.axes(axes, span).0,
            Some(indices) => {
                let indices: Vec<Expr> =
                    indices.into_iter().map(|index| self.expr(index)).collect();
                let many: Vec<bool> = indices.iter().map(|index| self.are_indices(index)).collect();
                if !many.contains(&true) {
                    return self.with_element(array, indices, value, span);
                }
                let axis =
                    |(index, many)| if many { Axis::Gather(index) } else { Axis::Index(index) };
                indices.into_iter().zip(many).map(axis).collect()
            }
        };
        let leading = axes.iter().take_while(|axis| matches!(axis, Axis::Index(_))).count();
        let mut axes = axes.into_iter();
        let indices = axes.by_ref().take(leading).filter_map(index_of).collect();
        let part = Part { array, indices, rest: axes.collect(), bracket };
        self.with_part(part, value, span)
    }

    /// Whether an index is an array of them, as far as is known now.
    fn are_indices(&mut self, index: &Expr) -> bool {
        let ty = self.known(&index.ty);
        match self.table.peel(&ty) {
            (0, _) => false,
            (_, Type::Scalar(scalar)) => scalar.is_int(),
            (_, head) => matches!(head, Type::Var(_)),
        }
    }

    fn with_part(&mut self, part: Part, value: &ast::Expr, span: Span) -> Expr {
        let Part { array, indices, mut rest, bracket } = part;
        let mut element = self.table.fresh();
        let count = indices.len() + rest.len();
        self.expect_axes(&array, count, &Type::arrays(count, element.clone()));
        let value = self.expr(value);
        let is_many = match self.known(&value.ty) {
            Type::Array(_) => true,
            Type::Var(var) => self.table.state(var).is_some_and(|open| open.class.is_none()),
            _ => false,
        };
        if !is_many {
            // One element for all of what is chosen, where that has further axes too.
            let (further, inner) = self.table.peel(&element);
            let all = || Axis::Slice { start: None, stop: None, step: None, span: bracket };
            rest.extend((0..further).map(|_| all()));
            element = inner;
        }
        let mut held = Held::new();
        let array = self.held(&mut held, "array", array);
        let indices: Vec<Expr> =
            indices.into_iter().map(|index| self.held(&mut held, "index", index)).collect();
        let inner = Type::arrays(rest.len(), element.clone());
        let whole = Type::arrays(indices.len(), inner.clone());
        let of_array: Vec<Expr> = std::iter::once(&array).chain(&indices).cloned().collect();
        let old = match indices.len() {
            0 => array,
            leading => {
                let index = Builtin::Index(leading as u8);
                let row = self.applied(index, "index", &inner, of_array.clone(), &inner, span);
                self.held(&mut held, "row", row)
            }
        };
        let depth = rest.len() as u8;
        let places = self.places(old.clone(), rest, &element, bracket);
        let of_places = self.known(&places.ty);
        let (kept, _) = self.table.peel(&of_places);
        let expected = if is_many { Type::arrays(kept, element.clone()) } else { element.clone() };
        self.expect(&value, &expected, bracket, "the part that is replaced");
        let (places, values) = if is_many {
            (places, value)
        } else {
            let places = self.held(&mut held, "places", places);
            let value = self.held(&mut held, "value", value);
            (places.clone(), self.as_many(value, places, kept))
        };
        let replace = Builtin::Replace(depth, kept as u8);
        let args = vec![old, places, values];
        let mut result = self.applied(replace, "with", &element, args, &inner, span);
        if !indices.is_empty() {
            let args = [&of_array[..], &[result]].concat();
            let update = Builtin::Update(indices.len() as u8);
            result = self.applied(update, "with", &inner, args, &whole, span);
        }
        held.into_iter().rev().fold(result, |body, (pattern, value)| {
            let ty = body.ty.clone();
            let kind = ExprKind::Let { pattern, value: Box::new(value), body: Box::new(body) };
            Expr { kind, ty, span }
        })
    }

    /// The places in an array that its axes choose.
    fn places(&mut self, array: Expr, axes: Vec<Axis>, element: &Type, span: Span) -> Expr {
        let numbers = Type::arrays(axes.len(), Type::I64);
        let places = Builtin::Places(axes.len() as u8);
        let all = self.applied(places, "with", element, vec![array], &numbers, span);
        if axes.iter().any(|axis| matches!(axis, Axis::Slice { .. })) {
            let kept = axes.iter().filter(|axis| !matches!(axis, Axis::Index(_))).count();
            let kind = ExprKind::Slice { array: Box::new(all), axes };
            return Expr { kind, ty: Type::arrays(kept, Type::I64), span };
        }
        // Indices alone are in step, as in `m[is, js]`.
        let count = axes.len();
        let params: Vec<Type> =
            std::iter::once(numbers).chain((0..count).map(|_| Type::I64)).collect();
        let args = std::iter::once(all).chain(axes.into_iter().filter_map(index_of)).collect();
        let index = (Builtin::Index(count as u8), &Type::I64);
        self.apply_builtin(index, "index", params, args, Type::I64, span)
    }

    /// An application of a builtin whose scheme has one variable to arguments of just its types.
    fn applied(
        &mut self,
        builtin: Builtin,
        name: &str,
        variable: &Type,
        args: Vec<Expr>,
        returns: &Type,
        span: Span,
    ) -> Expr {
        let params = args.iter().map(|arg| arg.ty.clone()).collect();
        self.apply_builtin((builtin, variable), name, params, args, returns.clone(), span)
    }

    /// An expression to be used several times: what has no name gets one.
    fn held(&mut self, held: &mut Held, name: &str, expr: Expr) -> Expr {
        if matches!(expr.kind, ExprKind::Local(..) | ExprKind::Value(_)) || self.is_broken(&expr) {
            return expr;
        }
        let (local, ty, span) = (self.fresh_local(), expr.ty.clone(), expr.span);
        let name: Name = name.into();
        held.push((Pattern::Local { local, name, ty: ty.clone() }, expr));
        Expr { kind: ExprKind::Local(local, Vec::new()), ty, span }
    }

    /// An array of the shape of `like` whose elements are all the same.
    fn as_many(&mut self, value: Expr, like: Expr, axes: usize) -> Expr {
        let span = value.span;
        let ty = Type::arrays(axes, value.ty.clone());
        let row = Type::arrays(axes.saturating_sub(1), Type::I64);
        let (pattern, body) = if axes <= 1 {
            (Pattern::Wildcard(row), value)
        } else {
            let (local, name): (_, Name) = (self.fresh_local(), "places".into());
            let kind = ExprKind::Local(local, Vec::new());
            let inner = Expr { kind, ty: row.clone(), span: like.span };
            let body = self.as_many(value, inner, axes - 1);
            (Pattern::Local { local, name, ty: row }, body)
        };
        let (body, generators) = (Box::new(body), vec![(pattern, like)]);
        let kind = ExprKind::Comprehension { body, generators, filter: None };
        Expr { kind, ty, span }
    }
}

/// The index of an axis, or its indices.
fn index_of(axis: Axis) -> Option<Expr> {
    match axis {
        Axis::Index(index) | Axis::Gather(index) => Some(index),
        Axis::Slice { .. } => None,
    }
}
