//! Walking over the parts of a typed expression: what stands in it, and what it binds. Both look at the
//! expression itself, not at those within its parts.

use std::sync::Arc;

use super::{Axis, Expr, ExprKind, LoopControl, Pattern};

/// The walks, shared or mutable; `inner` is how they look into what is shared.
macro_rules! walks {
    ($children:ident, $patterns:ident, $inner:path, [$($mutable:tt)?]) => {
        impl Expr {
            /// Visits the direct subexpressions, in the order of evaluation.
            pub fn $children<'a>(
                &'a $($mutable)? self,
                visit: &mut dyn FnMut(&'a $($mutable)? Expr),
            ) {
                match & $($mutable)? self.kind {
                    ExprKind::Number(_)
                    | ExprKind::Scalar(_)
                    | ExprKind::Text(_)
                    | ExprKind::NumberArray(_)
                    | ExprKind::Local(..)
                    | ExprKind::Value(_)
                    | ExprKind::Function(_)
                    | ExprKind::Builtin(..) => {}
                    ExprKind::Lambda { params: _, body } => visit($inner(body)),
                    ExprKind::Apply { function, args, depth: _ } => {
                        visit(function);
                        args.into_iter().for_each(|arg| visit(& $($mutable)? arg.expr));
                    }
                    ExprKind::Let { pattern: _, value, body } => {
                        visit(value);
                        visit(body);
                    }
                    ExprKind::LetFunction { name: _, local: _, quantified: _, value, body } => {
                        visit($inner(value));
                        visit(body);
                    }
                    ExprKind::If { condition, then, otherwise } => {
                        visit(condition);
                        visit(then);
                        visit(otherwise);
                    }
                    ExprKind::Loop { pattern: _, init, control, body } => {
                        visit(init);
                        match control {
                            LoopControl::Count(_, source)
                            | LoopControl::Each(_, source)
                            | LoopControl::While(source) => visit(source),
                        }
                        visit(body);
                    }
                    ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
                        parts.into_iter().for_each(visit);
                    }
                    ExprKind::RecordUpdate { record, fields } => {
                        visit(record);
                        fields.into_iter().for_each(|(_, value)| visit(value));
                    }
                    ExprKind::Field { record: part, index: _, depth: _ }
                    | ExprKind::WindowRead { window: part, offset: _ }
                    | ExprKind::CheckSizes { checks: _, body: part } => visit(part),
                    ExprKind::Slice { array, axes } => {
                        visit(array);
                        for axis in axes {
                            match axis {
                                Axis::Index(index) | Axis::Gather(index) => visit(index),
                                Axis::Slice { start, stop, step, span: _ } => {
                                    [start, stop, step].into_iter().flatten().for_each(&mut *visit);
                                }
                            }
                        }
                    }
                    ExprKind::Comprehension { body, generators, filter } => {
                        generators.into_iter().for_each(|(_, source)| visit(source));
                        if let Some(filter) = filter {
                            visit(filter);
                        }
                        visit(body);
                    }
                }
            }

            /// Visits the patterns that the expression binds for its parts.
            pub fn $patterns<'a>(
                &'a $($mutable)? self,
                visit: &mut dyn FnMut(&'a $($mutable)? Pattern),
            ) {
                match & $($mutable)? self.kind {
                    ExprKind::Lambda { params, body: _ } => params.into_iter().for_each(visit),
                    ExprKind::Let { pattern, value: _, body: _ } => visit(pattern),
                    ExprKind::Loop { pattern, init: _, control, body: _ } => {
                        visit(pattern);
                        match control {
                            LoopControl::Count(pattern, _) | LoopControl::Each(pattern, _) => {
                                visit(pattern);
                            }
                            LoopControl::While(_) => {}
                        }
                    }
                    ExprKind::Comprehension { body: _, generators, filter: _ } => {
                        generators.into_iter().for_each(|(pattern, _)| visit(pattern));
                    }
                    ExprKind::Number(_)
                    | ExprKind::Scalar(_)
                    | ExprKind::Text(_)
                    | ExprKind::NumberArray(_)
                    | ExprKind::Local(..)
                    | ExprKind::Value(_)
                    | ExprKind::Function(_)
                    | ExprKind::Builtin(..)
                    | ExprKind::Apply { .. }
                    | ExprKind::LetFunction { .. }
                    | ExprKind::If { .. }
                    | ExprKind::Tuple(_)
                    | ExprKind::RecordUpdate { .. }
                    | ExprKind::Field { .. }
                    | ExprKind::Array(_)
                    | ExprKind::Slice { .. }
                    | ExprKind::WindowRead { .. }
                    | ExprKind::CheckSizes { .. } => {}
                }
            }
        }
    };
}

walks!(for_each_child, for_each_pattern, AsRef::as_ref, []);
walks!(for_each_child_mut, for_each_pattern_mut, Arc::make_mut, [mut]);
