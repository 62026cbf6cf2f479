//! Functions of scalars as programs of their own, where that is possible: with what they use of their
//! surroundings, and without anything that could take long.

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_lang::builtins::Builtin;
use weft_lang::typed::{
    Expr, ExprKind, FunctionRef, Instance, InstanceId, LocalId, Pattern, Program,
};
use weft_lang::types::Type;

use super::Bound;

/// How many expressions such a function may have, those of the functions that it calls included.
const MOST_EXPRESSIONS: u32 = 400;

/// A program whose value is the function. There is none if the function has loops, recursion or arrays in
/// it, or depends on what is not known here.
pub(super) fn closed(function: &Expr, scope: &[Bound<'_>], program: &Program) -> Option<Program> {
    let mut search =
        Search { program, left: MOST_EXPRESSIONS, calls: Vec::new(), needed: BTreeSet::new() };
    search.is_plain(function).then_some(())?;
    let mut free = free_locals(function);
    let mut entry = function.clone();
    let (ty, span) = (&function.ty, function.span);
    for bound in scope.iter().rev() {
        match bound {
            Bound::Let(pattern, value) => {
                let names = bound_locals(pattern);
                if names.is_disjoint(&free) {
                    continue;
                }
                search.is_plain(value).then_some(())?;
                free = &(&free - &names) | &free_locals(value);
                let (pattern, value) = ((*pattern).clone(), Box::new((*value).clone()));
                let kind = ExprKind::Let { pattern, value, body: Box::new(entry) };
                entry = Expr { kind, ty: ty.clone(), span };
            }
            Bound::Function(name, local, value) => {
                if !free.remove(local) {
                    continue;
                }
                search.is_plain(value).then_some(())?;
                free = &free | &free_locals(value);
                let kind = ExprKind::LetFunction {
                    name: (*name).clone(),
                    local: *local,
                    quantified: (0, 0),
                    value: Arc::new((*value).clone()),
                    body: Box::new(entry),
                };
                entry = Expr { kind, ty: ty.clone(), span };
            }
            Bound::Call(_, params) => {
                if free.is_empty() {
                    break;
                }
                let used: Vec<_> = params
                    .iter()
                    .filter(|(param, _)| !bound_locals(param).is_disjoint(&free))
                    .collect();
                let names = used.iter().flat_map(|(param, _)| bound_locals(param)).collect();
                if !free.is_subset(&names) || !used.iter().all(|(_, arg)| search.is_plain(arg)) {
                    return None;
                }
                free = used.iter().flat_map(|(_, arg)| free_locals(arg)).collect();
                // All at once, as an argument may use a variable with the id of a parameter.
                let args: Vec<Expr> = used.iter().map(|(_, arg)| (*arg).clone()).collect();
                let types = Type::Tuple(args.iter().map(|arg| arg.ty.clone()).collect());
                let value = Box::new(Expr { kind: ExprKind::Tuple(args), ty: types, span });
                let pattern =
                    Pattern::Tuple(used.iter().map(|(param, _)| (*param).clone()).collect());
                let kind = ExprKind::Let { pattern, value, body: Box::new(entry) };
                entry = Expr { kind, ty: ty.clone(), span };
            }
        }
    }
    if !free.is_empty() {
        return None;
    }
    Some(Program { entry, instances: instances(program, &search.needed) })
}

/// The functions of the program, of which only those that are needed have a body.
fn instances(program: &Program, needed: &BTreeSet<InstanceId>) -> Vec<Instance> {
    let Some(last) = needed.last() else { return Vec::new() };
    let span = program.entry.span;
    let nothing =
        Arc::new(Expr { kind: ExprKind::Tuple(Vec::new()), ty: Type::Tuple([].into()), span });
    let all = program.instances.iter().take(last.0 as usize + 1).enumerate();
    all.map(|(index, instance)| match needed.contains(&InstanceId(index as u32)) {
        true => instance.clone(),
        false => Instance { body: Arc::clone(&nothing), ..instance.clone() },
    })
    .collect()
}

struct Search<'p> {
    program: &'p Program,
    /// How many expressions there may still be.
    left: u32,
    /// The functions whose bodies surround the expression at hand.
    calls: Vec<InstanceId>,
    needed: BTreeSet<InstanceId>,
}

impl Search<'_> {
    /// Whether an expression computes scalars from scalars, in a bounded time.
    fn is_plain(&mut self, expr: &Expr) -> bool {
        if self.left == 0 || !is_plain_type(&expr.ty) {
            return false;
        }
        self.left -= 1;
        match &expr.kind {
            ExprKind::Scalar(_) | ExprKind::Local(..) | ExprKind::Value(_) => true,
            ExprKind::Builtin(builtin, _) => matches!(builtin, Builtin::Op(_) | Builtin::Assert),
            ExprKind::Function(FunctionRef::Instance(id)) => {
                if self.calls.contains(id) {
                    return false;
                }
                self.needed.insert(*id);
                self.calls.push(*id);
                let body = Arc::clone(&self.program.instances[id.0 as usize].body);
                let is_plain = self.is_plain(&body);
                self.calls.pop();
                is_plain
            }
            ExprKind::Apply { depth: 0, .. }
            | ExprKind::Field { depth: 0, .. }
            | ExprKind::Lambda { .. }
            | ExprKind::Let { .. }
            | ExprKind::LetFunction { .. }
            | ExprKind::If { .. }
            | ExprKind::Tuple(_)
            | ExprKind::RecordUpdate { .. } => {
                let mut all = true;
                expr.for_each_child(&mut |child| all = all && self.is_plain(child));
                all
            }
            ExprKind::Number(_)
            | ExprKind::Text(_)
            | ExprKind::NumberArray(_)
            | ExprKind::Function(FunctionRef::Generic(..))
            | ExprKind::Apply { .. }
            | ExprKind::Field { .. }
            | ExprKind::Loop { .. }
            | ExprKind::Array(_)
            | ExprKind::Slice { .. }
            | ExprKind::WindowRead { .. }
            | ExprKind::Comprehension { .. }
            | ExprKind::CheckSizes { .. } => false,
        }
    }
}

/// Whether there are no arrays in it.
fn is_plain_type(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Tuple(parts) => parts.iter().all(is_plain_type),
        Type::Record(fields) => fields.iter().all(|(_, ty)| is_plain_type(ty)),
        Type::Function(from, to) => is_plain_type(from) && is_plain_type(to),
        Type::Var(_) | Type::Array(_) | Type::Seq(_) | Type::Window(..) | Type::Boundary(..) => {
            false
        }
    }
}

/// The variables of an expression that are bound around it. No two variables of an item are the same.
pub(super) fn free_locals(expr: &Expr) -> BTreeSet<LocalId> {
    fn collect(expr: &Expr, used: &mut BTreeSet<LocalId>, bound: &mut BTreeSet<LocalId>) {
        match &expr.kind {
            ExprKind::Local(local, _) => {
                used.insert(*local);
            }
            ExprKind::Lambda { params, .. } => {
                params.iter().for_each(|pattern| bound.append(&mut bound_locals(pattern)));
            }
            ExprKind::Let { pattern, .. } => bound.append(&mut bound_locals(pattern)),
            ExprKind::LetFunction { local, .. } => {
                bound.insert(*local);
            }
            _ => {}
        }
        expr.for_each_child(&mut |child| collect(child, used, bound));
    }
    let (mut used, mut bound) = (BTreeSet::new(), BTreeSet::new());
    collect(expr, &mut used, &mut bound);
    &used - &bound
}

/// The variables of a pattern.
fn bound_locals(pattern: &Pattern) -> BTreeSet<LocalId> {
    match pattern {
        Pattern::Local { local, .. } => BTreeSet::from([*local]),
        Pattern::Wildcard(_) => BTreeSet::new(),
        Pattern::Tuple(parts) => parts.iter().flat_map(bound_locals).collect(),
    }
}
