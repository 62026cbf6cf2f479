//! Walking over the parts of an expression as it is written.

use super::{Axis, Expr, ExprKind, LetBinding, LoopControl, Pattern, PatternKind, RecordPart};

/// What stands in the axes of an index.
macro_rules! visit_axes {
    ($axes:ident, $visit:ident) => {
        for axis in $axes {
            match axis {
                Axis::Index(index) => $visit(index),
                Axis::Slice { start, stop, step, span: _ } => {
                    [start, stop, step].into_iter().flatten().for_each(&mut *$visit);
                }
            }
        }
    };
}

/// The walk, shared or mutable.
macro_rules! walk {
    ($children:ident, [$($mutable:tt)?]) => {
        impl Expr {
            /// Visits the direct subexpressions, not those within them.
            pub fn $children<'a>(
                &'a $($mutable)? self,
                visit: &mut dyn FnMut(&'a $($mutable)? Expr),
            ) {
                match & $($mutable)? self.kind {
                    ExprKind::Name(_)
                    | ExprKind::Number(..)
                    | ExprKind::Bool(_)
                    | ExprKind::Char(_)
                    | ExprKind::Text(_)
                    | ExprKind::NumberArray(_)
                    | ExprKind::Error => {}
                    ExprKind::Apply { function, args, form: _ } => {
                        visit(function);
                        args.into_iter().for_each(visit);
                    }
                    ExprKind::Lambda { params: _, body } => visit(body),
                    ExprKind::Let { bindings, body } => {
                        for binding in bindings {
                            match binding {
                                LetBinding::Value(_, value) => visit(value),
                                LetBinding::Function(def) => visit(& $($mutable)? def.body),
                            }
                        }
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
                            LoopControl::Count(_, over)
                            | LoopControl::Each(_, over)
                            | LoopControl::While(over) => visit(over),
                        }
                        visit(body);
                    }
                    ExprKind::Tuple(parts) | ExprKind::Array(parts) => {
                        parts.into_iter().for_each(visit);
                    }
                    ExprKind::Record(parts) => {
                        for part in parts {
                            match part {
                                RecordPart::Field(_, value) | RecordPart::Spread(value) => {
                                    visit(value);
                                }
                            }
                        }
                    }
                    ExprKind::RecordUpdate { record, fields } => {
                        visit(record);
                        fields.into_iter().for_each(|(_, value)| visit(value));
                    }
                    ExprKind::Field { record: part, field: _ } | ExprKind::Typed(part, _) => {
                        visit(part);
                    }
                    ExprKind::Range { start, stop, step } => {
                        visit(start);
                        visit(stop);
                        if let Some(step) = step {
                            visit(step);
                        }
                    }
                    ExprKind::Index { array, axes } => {
                        visit(array);
                        visit_axes!(axes, visit);
                    }
                    ExprKind::With { array, axes, value } => {
                        visit(array);
                        visit_axes!(axes, visit);
                        visit(value);
                    }
                    ExprKind::Comprehension { body, generators, filter } => {
                        visit(body);
                        generators.into_iter().for_each(|(_, source)| visit(source));
                        if let Some(filter) = filter {
                            visit(filter);
                        }
                    }
                }
            }
        }
    };
}

walk!(for_each_child, []);
walk!(for_each_child_mut, [mut]);

impl Expr {
    /// Whether a name stands somewhere in it, whatever is bound there.
    pub fn mentions(&self, name: &str) -> bool {
        let mut found = matches!(&self.kind, ExprKind::Name(other) if &**other == name);
        self.for_each_child(&mut |child| found = found || child.mentions(name));
        found
    }

    /// Whether a parameter, a pattern or a local function in it has that name.
    pub fn binds(&self, name: &str) -> bool {
        let has = |pattern: &Pattern| pattern.binds(name);
        let mut found = match &self.kind {
            ExprKind::Lambda { params, body: _ } => params.iter().any(has),
            ExprKind::Let { bindings, body: _ } => bindings.iter().any(|binding| match binding {
                LetBinding::Value(pattern, _) => has(pattern),
                LetBinding::Function(def) => &*def.name.name == name || def.params.iter().any(has),
            }),
            ExprKind::Loop { pattern, init: _, control, body: _ } => {
                let counts = match control {
                    LoopControl::Count(of_turn, _) | LoopControl::Each(of_turn, _) => has(of_turn),
                    LoopControl::While(_) => false,
                };
                counts || has(pattern)
            }
            ExprKind::Comprehension { generators, .. } => {
                generators.iter().any(|(pattern, _)| has(pattern))
            }
            _ => false,
        };
        self.for_each_child(&mut |child| found = found || child.binds(name));
        found
    }
}

impl Pattern {
    /// Whether it binds that name.
    pub fn binds(&self, name: &str) -> bool {
        match &self.kind {
            PatternKind::Name(own) => &**own == name,
            PatternKind::Wildcard => false,
            PatternKind::Tuple(parts) => parts.iter().any(|part| part.binds(name)),
            PatternKind::Record(fields) => fields.iter().any(|(_, part)| part.binds(name)),
            PatternKind::Typed(part, _) => part.binds(name),
        }
    }
}
