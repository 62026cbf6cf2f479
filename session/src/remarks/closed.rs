//! Functions of scalars as programs of their own, where that is possible: with what they use of their
//! surroundings, and without anything that could take long.

use std::collections::BTreeSet;
use std::sync::Arc;

use weft_ir::{Name, Scalar, ScalarOp, ScalarType, Span};
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
    Closing::of(function, program, None)?.close(scope).map(|(program, _)| program)
}

/// How many choices of numbers there are for what is not known.
pub(super) const CHOICES: usize = 3;

/// What is assumed of a variable that is not known: where it is used, and what it is.
pub(super) type Assumed = (Span, Scalar);

/// The same with numbers in the place of those that are not known, one of the choices, and which they are.
pub(super) fn closed_with(
    function: &Expr,
    scope: &[Bound<'_>],
    program: &Program,
    choice: usize,
) -> Option<(Program, Vec<Assumed>)> {
    Closing::of(function, program, Some(choice))?.close(scope)
}

/// A function that is made a program, from the inside out.
struct Closing<'p> {
    search: Search<'p>,
    entry: Expr,
    free: BTreeSet<LocalId>,
    /// Which numbers to take for what is not known, if any.
    choice: Option<usize>,
    assumed: Vec<Assumed>,
}

impl<'p> Closing<'p> {
    fn of(function: &Expr, program: &'p Program, choice: Option<usize>) -> Option<Closing<'p>> {
        let (left, calls, needed) = (MOST_EXPRESSIONS, Vec::new(), BTreeSet::new());
        let mut search = Search { program, left, calls, needed };
        search.is_plain(function).then_some(())?;
        let (entry, free, assumed) = (function.clone(), free_locals(function), Vec::new());
        Some(Closing { search, entry, free, choice, assumed })
    }

    fn close(mut self, scope: &[Bound<'_>]) -> Option<(Program, Vec<Assumed>)> {
        for bound in scope.iter().rev() {
            match bound {
                Bound::Let(pattern, value) => {
                    let names = bound_locals(pattern);
                    if names.is_disjoint(&self.free) {
                        continue;
                    }
                    if !self.is_plain(value) {
                        self.assume(&names)?;
                        continue;
                    }
                    self.free = &(&self.free - &names) | &free_locals(value);
                    self.bind((*pattern).clone(), (*value).clone());
                }
                Bound::Function(name, local, value) => {
                    if !self.free.remove(local) {
                        continue;
                    }
                    self.search.is_plain(value).then_some(())?;
                    self.free = &self.free | &free_locals(value);
                    let kind = ExprKind::LetFunction {
                        name: (*name).clone(),
                        local: *local,
                        quantified: (0, 0),
                        value: Arc::new((*value).clone()),
                        body: Box::new(self.entry.clone()),
                    };
                    self.entry.kind = kind;
                }
                Bound::Call(_, params) => {
                    if self.free.is_empty() {
                        break;
                    }
                    self.call(params)?;
                }
            }
        }
        let unknown = self.free.clone();
        self.assume(&unknown)?;
        let instances = instances(self.search.program, &self.search.needed);
        Some((Program { entry: self.entry, instances }, self.assumed))
    }

    /// Whether an expression is plain; what was seen of one that is not does not count.
    fn is_plain(&mut self, value: &Expr) -> bool {
        let left = self.search.left;
        let is_plain = self.search.is_plain(value);
        if !is_plain {
            self.search.left = left;
        }
        is_plain
    }

    /// Puts a function's arguments in the place of its parameters. Nothing else around the call is seen in the function.
    fn call(&mut self, params: &[(&Pattern, &Expr)]) -> Option<()> {
        let used = params.iter().filter(|(param, _)| !bound_locals(param).is_disjoint(&self.free));
        let used: Vec<_> = used.copied().collect();
        let used: Vec<_> = used.into_iter().filter(|(_, arg)| self.is_plain(arg)).collect();
        let names = used.iter().flat_map(|(param, _)| bound_locals(param)).collect();
        let unknown = &self.free - &names;
        self.assume(&unknown)?;
        self.free = used.iter().flat_map(|(_, arg)| free_locals(arg)).collect();
        // All at once, as an argument may use a variable with the id of a parameter.
        let args: Vec<Expr> = used.iter().map(|(_, arg)| (*arg).clone()).collect();
        let ty = Type::Tuple(args.iter().map(|arg| arg.ty.clone()).collect());
        let value = Expr { kind: ExprKind::Tuple(args), ty, span: self.entry.span };
        let params = used.iter().map(|(param, _)| (*param).clone()).collect();
        self.bind(Pattern::Tuple(params), value);
        Some(())
    }

    fn bind(&mut self, pattern: Pattern, value: Expr) {
        let (value, body) = (Box::new(value), Box::new(self.entry.clone()));
        self.entry.kind = ExprKind::Let { pattern, value, body };
    }

    /// Takes numbers for those of the variables that are used and not known, if that is wanted and all are numbers.
    fn assume(&mut self, variables: &BTreeSet<LocalId>) -> Option<()> {
        for local in &(&self.free & variables) {
            let (ty, span) = use_of(&self.entry, *local)?;
            let Type::Scalar(scalar) = ty else { return None };
            let number = number(scalar, self.choice? + self.assumed.len())?;
            self.free.remove(local);
            self.assumed.push((span, number));
            let name = Name::from("assumed");
            let pattern = Pattern::Local { local: *local, name, ty: Type::Scalar(scalar) };
            let value = Expr { kind: ExprKind::Scalar(number), ty: Type::Scalar(scalar), span };
            self.bind(pattern, value);
        }
        Some(())
    }
}

/// A number of a type, by the choice: no float among them is 0 or 1, which many an operator does nothing with.
fn number(ty: ScalarType, choice: usize) -> Option<Scalar> {
    let number = match ty {
        ScalarType::Bool => return Some(Scalar::Bool(choice.is_multiple_of(2))),
        ScalarType::Char => return None,
        ty if ty.is_float() => [0.5, 0.75, 3.0][choice % CHOICES],
        _ => [2.0, 3.0, 7.0][choice % CHOICES],
    };
    weft_ir::math::eval(ScalarOp::Cast(ty), &[Scalar::F64(number)]).ok()
}

/// The type of a variable, and where it is used.
fn use_of(expr: &Expr, local: LocalId) -> Option<(Type, Span)> {
    if matches!(expr.kind, ExprKind::Local(used, _) if used == local) {
        return Some((expr.ty.clone(), expr.span));
    }
    let mut found = None;
    expr.for_each_child(&mut |child| found = found.take().or_else(|| use_of(child, local)));
    found
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
