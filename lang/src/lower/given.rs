//! The functions that recursive functions are given.
//!
//! Note [Functions passed on]. A function that calls itself may take functions if all its calls of itself pass them
//! on as they are: `def fix f x = if f x == x then x else fix f (f x)`. They are then the same in all calls, and the
//! function is specialised to them. What the given functions see around them becomes further parameters, for a
//! function of `nested` sees nothing but these.

use std::collections::BTreeSet;
use std::rc::Rc;

use weft_ir::nested::{Atom, FunctionId};

use super::builder::{Lowering, Outcome};
use super::recursion::{count_mentions, visit};
use super::value::{Frame, Function, Value};
use crate::typed::{Expr, ExprKind, FunctionRef, GlobalId, InstanceId, LocalId, Pattern};
use crate::types;

/// A recursive function under construction that was given functions.
pub(super) struct Specialised<'p> {
    pub(super) id: InstanceId,
    /// By parameter.
    pub(super) given: Vec<Option<Value<'p>>>,
    pub(super) function: FunctionId,
}

impl<'p> Lowering<'p> {
    /// The functions among the arguments of a recursive function, by parameter.
    pub(super) fn given(
        &mut self,
        id: InstanceId,
        patterns: &[Pattern],
        body: &'p Expr,
        args: &[Value<'p>],
    ) -> Outcome<Vec<Option<Value<'p>>>> {
        let name = &self.program.instances[id.0 as usize].name;
        let mut given = Vec::with_capacity(args.len());
        for (at, arg) in args.iter().enumerate() {
            if arg.leaves().is_some() {
                given.push(None);
                continue;
            }
            if !matches!(arg, Value::Function(_)) || with_atoms(arg, &mut |atom| atom).is_none() {
                return self.unsupported(format!(
                    "`{name}` is recursive and is given more than values and functions"
                ));
            }
            if !passes_on(id, patterns, at, body) {
                return self.unsupported(format!(
                    "`{name}` is recursive, and the function that it takes is not passed on as it is"
                ));
            }
            given.push(Some(arg.clone()));
        }
        Ok(given)
    }

    /// The function of `nested` that is under construction for these functions.
    pub(super) fn specialised(
        &self,
        id: InstanceId,
        given: &[Option<Value<'p>>],
    ) -> Option<FunctionId> {
        let same = |(a, b): (&Option<Value<'p>>, &Option<Value<'p>>)| match (a, b) {
            (Some(Value::Function(a)), Some(Value::Function(b))) => is_same(a, b),
            _ => a.is_none() && b.is_none(),
        };
        let all_same =
            |other: &&Specialised<'p>| other.id == id && other.given.iter().zip(given).all(same);
        self.specialised.iter().rev().find(all_same).map(|found| found.function)
    }

    /// Whether one of the functions leads back to a function that is under construction.
    pub(super) fn leads_back(&self, given: &[Option<Value<'p>>]) -> bool {
        let mut mentioned = Vec::new();
        given.iter().flatten().for_each(|value| instances(value, &mut mentioned));
        mentioned.iter().any(|id| {
            self.recursion.reachable(*id).any(|id| self.specialised.iter().any(|of| of.id == id))
        })
    }

    /// What these functions read of earlier bindings, with its types.
    pub(super) fn reads_of_given(
        &self,
        given: &[Option<Value<'p>>],
    ) -> Vec<(GlobalId, types::Type)> {
        let mut bodies = Vec::new();
        let mut mentioned = Vec::new();
        for value in given.iter().flatten() {
            bodies_of(value, &mut bodies);
            instances(value, &mut mentioned);
        }
        for id in mentioned {
            let reached = self.recursion.reachable(id);
            bodies.extend(reached.map(|id| &*self.program.instances[id.0 as usize].body));
        }
        let mut found = Vec::new();
        for body in bodies {
            visit(body, &mut |expr| {
                if let ExprKind::Value(global) = &expr.kind {
                    found.push((*global, expr.ty.clone()));
                }
            });
        }
        found
    }
}

/// Whether all calls that a function makes of itself have its own parameter at a position.
fn passes_on(id: InstanceId, patterns: &[Pattern], at: usize, body: &Expr) -> bool {
    let Some(Pattern::Local { local: own, .. }) = patterns.get(at) else { return false };
    let mut passed = 0;
    visit(body, &mut |expr| {
        let ExprKind::Apply { function, args, .. } = &expr.kind else { return };
        let ExprKind::Function(FunctionRef::Instance(called)) = &function.kind else { return };
        let is_own = |expr: &Expr| matches!(&expr.kind, ExprKind::Local(local, _) if local == own);
        let is_passed = args.get(at).is_some_and(|arg| is_own(&arg.expr));
        passed += usize::from(*called == id && args.len() == patterns.len() && is_passed);
    });
    passed == count_mentions(id, body)
}

fn is_same<'p>(a: &Rc<Function<'p>>, b: &Rc<Function<'p>>) -> bool {
    match (&**a, &**b) {
        (Function::Instance(a), Function::Instance(b)) => a == b,
        (
            Function::Builtin { builtin: a, ty: s, .. },
            Function::Builtin { builtin: b, ty: t, .. },
        ) => a == b && s == t,
        _ => Rc::ptr_eq(a, b),
    }
}

/// The variables that values see, each once, in order.
pub(super) fn captured(given: &[Option<Value<'_>>]) -> Vec<Atom> {
    let mut found = Vec::new();
    for value in given.iter().flatten() {
        with_atoms(value, &mut |atom| {
            if matches!(atom, Atom::Var(_)) && !found.contains(&atom) {
                found.push(atom);
            }
            atom
        });
    }
    found
}

/// The value with other atoms; nothing, if it is none of values and functions only.
pub(super) fn with_atoms<'p>(
    value: &Value<'p>,
    to: &mut dyn FnMut(Atom) -> Atom,
) -> Option<Value<'p>> {
    Some(match value {
        Value::Scalar(atom) => Value::Scalar(to(*atom)),
        Value::Array(leaves) => Value::Array(leaves.iter().map(|atom| to(*atom)).collect()),
        Value::Tuple(parts) => {
            Value::Tuple(parts.iter().map(|part| with_atoms(part, to)).collect::<Option<_>>()?)
        }
        Value::Function(function) => Value::Function(function_with_atoms(function, to)?),
        Value::Seq(_) | Value::Window(_) | Value::Boundary(_) => return None,
    })
}

fn function_with_atoms<'p>(
    function: &Rc<Function<'p>>,
    to: &mut dyn FnMut(Atom) -> Atom,
) -> Option<Rc<Function<'p>>> {
    Some(match &**function {
        Function::Closure { params, body, frame } => {
            let own = Frame::new(None);
            for local in mentioned(body) {
                if let Some((value, ty)) = frame.find(local) {
                    own.set_typed(local, with_atoms(&value, to)?, ty);
                }
            }
            Rc::new(Function::Closure { params, body, frame: own })
        }
        Function::Partial { function, args } => {
            let function = function_with_atoms(function, to)?;
            let args = args.iter().map(|arg| with_atoms(arg, to)).collect::<Option<_>>()?;
            Rc::new(Function::Partial { function, args })
        }
        Function::Instance(_) | Function::Builtin { .. } => Rc::clone(function),
    })
}

/// The bodies of the functions in a value, and of those that they see.
fn bodies_of<'p>(value: &Value<'p>, bodies: &mut Vec<&'p Expr>) {
    match value {
        Value::Tuple(parts) => parts.iter().for_each(|part| bodies_of(part, bodies)),
        Value::Function(function) => match &**function {
            Function::Closure { body, frame, .. } => {
                bodies.push(body);
                for (value, _) in mentioned(body).into_iter().filter_map(|local| frame.find(local))
                {
                    bodies_of(&value, bodies);
                }
            }
            Function::Partial { function, args } => {
                bodies_of(&Value::Function(Rc::clone(function)), bodies);
                args.iter().for_each(|arg| bodies_of(arg, bodies));
            }
            Function::Instance(_) | Function::Builtin { .. } => {}
        },
        _ => {}
    }
}

/// The top-level functions that the functions in a value are or mention.
fn instances(value: &Value<'_>, found: &mut Vec<InstanceId>) {
    match value {
        Value::Tuple(parts) => parts.iter().for_each(|part| instances(part, found)),
        Value::Function(function) => match &**function {
            Function::Instance(id) => found.push(*id),
            Function::Partial { function, args } => {
                instances(&Value::Function(Rc::clone(function)), found);
                args.iter().for_each(|arg| instances(arg, found));
            }
            Function::Closure { .. } => {
                let mut bodies = Vec::new();
                bodies_of(value, &mut bodies);
                for body in bodies {
                    visit(body, &mut |expr| {
                        if let ExprKind::Function(FunctionRef::Instance(id)) = &expr.kind {
                            found.push(*id);
                        }
                    });
                }
            }
            Function::Builtin { .. } => {}
        },
        _ => {}
    }
}

/// The variables that an expression mentions.
fn mentioned(expr: &Expr) -> BTreeSet<LocalId> {
    let mut found = BTreeSet::new();
    visit(expr, &mut |expr| match &expr.kind {
        ExprKind::Local(local, _) => {
            found.insert(*local);
        }
        ExprKind::CheckSizes { checks, .. } => found.extend(checks.iter().map(|check| check.local)),
        _ => {}
    });
    found
}
