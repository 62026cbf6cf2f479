//! Typed program → monomorphic program: one instance of every function at every type that it is
//! used at.

use std::collections::HashMap;
use std::sync::Arc;

use weft_ir::{Name, Span};

use crate::check::{instantiate_at, number_does_not_fit};
use crate::diagnostic::Diagnostic;
use crate::environment::{Environment, Global};
use crate::typed::{
    Arg, Axis, Expr, ExprKind, FunctionRef, GlobalId, Instance, InstanceId, LocalId, LoopControl,
    Pattern, Program,
};
use crate::types::{Type, TypeVar};

/// How many instances a program may need; a tower of functions that double a type stops here.
const MAX_INSTANCES: usize = 100_000;

/// Makes a finished expression without type variables, and all that it calls, monomorphic.
///
/// # Errors
/// A number literal of a generic function that does not fit the type at which it is used (E0309),
/// or too many instances (E0317).
pub fn monomorphise(entry: Expr, environment: &Environment) -> Result<Program, Box<Diagnostic>> {
    let mut maker = Maker {
        ids: HashMap::new(),
        wanted: Vec::new(),
        used_at: None,
        instances: Vec::new(),
        local_instances: HashMap::new(),
        next_local: FIRST_INSTANCE_LOCAL,
    };
    let entry = maker.expr(&entry, &Types::default())?;
    while let Some((id, global, types, used_at)) = maker.wanted.pop() {
        maker.used_at = Some(used_at);
        let Some(Global::Function(function)) = environment.global(global) else {
            panic!("monomorphise: {global:?} is no function");
        };
        let types = Types { own: types, local: Vec::new() };
        let body = Arc::new(maker.expr(&function.body, &types)?);
        let name = function.name.clone();
        maker.instances[id.0 as usize] = Some(Instance { global, name, body });
    }
    let instances = maker.instances.into_iter().flatten().collect();
    Ok(Program { entry, instances })
}

/// Locals of instances of local functions are numbered from here.
const FIRST_INSTANCE_LOCAL: u32 = 1 << 24;

struct Maker {
    ids: HashMap<(GlobalId, Vec<Type>), InstanceId>,
    wanted: Vec<(InstanceId, GlobalId, Vec<Type>, Span)>,
    /// The place in the entry from where the current instance is needed; none in the entry itself.
    used_at: Option<Span>,
    instances: Vec<Option<Instance>>,
    /// For the generalised local functions in scope: the types at which each is used, and the local
    /// that holds it at these types.
    local_instances: HashMap<LocalId, Vec<(Vec<Type>, LocalId)>>,
    next_local: u32,
}

/// What the type variables of the current body stand for.
#[derive(Clone, Default)]
struct Types {
    /// Those of the definition's scheme.
    own: Vec<Type>,
    /// Those of local schemes: the number of the first, and their types.
    local: Vec<(u32, Vec<Type>)>,
}

impl Types {
    fn of(&self, ty: &Type) -> Type {
        instantiate_at(ty, &|var: TypeVar| {
            for (start, types) in &self.local {
                if let Some(ty) = var.0.checked_sub(*start).and_then(|i| types.get(i as usize)) {
                    return ty.clone();
                }
            }
            self.own.get(var.0 as usize).cloned().unwrap_or(Type::I64)
        })
    }

    fn all(&self, types: &[Type]) -> Vec<Type> {
        types.iter().map(|ty| self.of(ty)).collect()
    }
}

impl Maker {
    fn instance(
        &mut self,
        global: GlobalId,
        types: Vec<Type>,
        span: Span,
    ) -> Result<InstanceId, Box<Diagnostic>> {
        if let Some(id) = self.ids.get(&(global, types.clone())) {
            return Ok(*id);
        }
        if self.instances.len() >= MAX_INSTANCES {
            return Err(Box::new(Diagnostic::error(
                "E0317",
                format!("this program needs more than {MAX_INSTANCES} instances of its functions"),
                span,
                "needed from here",
            )));
        }
        let id = InstanceId(self.instances.len() as u32);
        self.ids.insert((global, types.clone()), id);
        self.instances.push(None);
        self.wanted.push((id, global, types, self.used_at.unwrap_or(span)));
        Ok(id)
    }

    fn boxed(&mut self, expr: &Expr, types: &Types) -> Result<Box<Expr>, Box<Diagnostic>> {
        Ok(Box::new(self.expr(expr, types)?))
    }

    fn exprs(&mut self, exprs: &[Expr], types: &Types) -> Result<Vec<Expr>, Box<Diagnostic>> {
        exprs.iter().map(|expr| self.expr(expr, types)).collect()
    }

    fn optional(
        &mut self,
        expr: &Option<Expr>,
        types: &Types,
    ) -> Result<Option<Expr>, Box<Diagnostic>> {
        expr.as_ref().map(|expr| self.expr(expr, types)).transpose()
    }

    fn expr(&mut self, expr: &Expr, types: &Types) -> Result<Expr, Box<Diagnostic>> {
        let ty = types.of(&expr.ty);
        let span = expr.span;
        if let Type::Seq(item) = &ty
            && item.to_value_type().is_none()
        {
            let place = self.used_at.unwrap_or(span);
            return Err(Box::new(crate::check::unfit_items(&ty, place)));
        }
        let kind = match &expr.kind {
            ExprKind::Number(number) => match &ty {
                Type::Scalar(scalar) => match number.to_scalar(*scalar) {
                    Some(value) => ExprKind::Scalar(value),
                    None => return Err(Box::new(number_does_not_fit(*number, *scalar, span))),
                },
                _ => panic!("monomorphise: a number of type {ty}"),
            },
            ExprKind::Scalar(scalar) => ExprKind::Scalar(*scalar),
            ExprKind::Text(bytes) => ExprKind::Text(Arc::clone(bytes)),
            ExprKind::NumberArray(numbers) => {
                if let (Type::Array(element), false) = (&ty, types.own.is_empty())
                    && let Type::Scalar(scalar) = **element
                {
                    let misfit = numbers.iter().find(|n| n.to_scalar(scalar).is_none());
                    if let Some(number) = misfit {
                        return Err(Box::new(number_does_not_fit(*number, scalar, span)));
                    }
                }
                ExprKind::NumberArray(Arc::clone(numbers))
            }
            ExprKind::Local(local, at) => {
                ExprKind::Local(self.local(*local, types.all(at)), vec![])
            }
            ExprKind::Value(global) => ExprKind::Value(*global),
            ExprKind::Function(FunctionRef::Generic(global, at)) => {
                let id = self.instance(*global, types.all(at), span)?;
                ExprKind::Function(FunctionRef::Instance(id))
            }
            ExprKind::Function(FunctionRef::Instance(id)) => {
                ExprKind::Function(FunctionRef::Instance(*id))
            }
            ExprKind::Builtin(builtin, at) => ExprKind::Builtin(*builtin, types.all(at)),
            ExprKind::Lambda { params, body } => ExprKind::Lambda {
                params: params.iter().map(|param| pattern(param, types)).collect(),
                body: Arc::new(self.expr(body, types)?),
            },
            ExprKind::Apply { function, args, depth } => ExprKind::Apply {
                function: self.boxed(function, types)?,
                args: args
                    .iter()
                    .map(|arg| Ok(Arg { expr: self.expr(&arg.expr, types)?, mapped: arg.mapped }))
                    .collect::<Result<_, Box<Diagnostic>>>()?,
                depth: *depth,
            },
            ExprKind::Let { pattern: bound, value, body } => ExprKind::Let {
                pattern: pattern(bound, types),
                value: self.boxed(value, types)?,
                body: self.boxed(body, types)?,
            },
            ExprKind::LetFunction { name, local, quantified, value, body } => {
                return self.let_function(name, *local, *quantified, value, body, types, span);
            }
            ExprKind::If { condition, then, otherwise } => ExprKind::If {
                condition: self.boxed(condition, types)?,
                then: self.boxed(then, types)?,
                otherwise: self.boxed(otherwise, types)?,
            },
            ExprKind::Loop { pattern: state, init, control, body } => ExprKind::Loop {
                pattern: pattern(state, types),
                init: self.boxed(init, types)?,
                control: match control {
                    LoopControl::Count(index, bound) => {
                        LoopControl::Count(pattern(index, types), self.boxed(bound, types)?)
                    }
                    LoopControl::Each(element, xs) => {
                        LoopControl::Each(pattern(element, types), self.boxed(xs, types)?)
                    }
                    LoopControl::While(condition) => {
                        LoopControl::While(self.boxed(condition, types)?)
                    }
                },
                body: self.boxed(body, types)?,
            },
            ExprKind::Tuple(parts) => ExprKind::Tuple(self.exprs(parts, types)?),
            ExprKind::Array(elements) => ExprKind::Array(self.exprs(elements, types)?),
            ExprKind::RecordUpdate { record, fields } => ExprKind::RecordUpdate {
                record: self.boxed(record, types)?,
                fields: fields
                    .iter()
                    .map(|(index, value)| Ok((*index, self.expr(value, types)?)))
                    .collect::<Result<_, Box<Diagnostic>>>()?,
            },
            ExprKind::Field { record, index, depth } => {
                ExprKind::Field { record: self.boxed(record, types)?, index: *index, depth: *depth }
            }
            ExprKind::Slice { array, axes } => ExprKind::Slice {
                array: self.boxed(array, types)?,
                axes: axes
                    .iter()
                    .map(|axis| self.axis(axis, types))
                    .collect::<Result<_, Box<Diagnostic>>>()?,
            },
            ExprKind::WindowRead { window, offset } => {
                ExprKind::WindowRead { window: self.boxed(window, types)?, offset: offset.clone() }
            }
            ExprKind::Comprehension { body, generators, filter } => ExprKind::Comprehension {
                generators: generators
                    .iter()
                    .map(|(bound, source)| Ok((pattern(bound, types), self.expr(source, types)?)))
                    .collect::<Result<_, Box<Diagnostic>>>()?,
                filter: match filter {
                    Some(filter) => Some(self.boxed(filter, types)?),
                    None => None,
                },
                body: self.boxed(body, types)?,
            },
            ExprKind::CheckSizes { checks, body } => {
                ExprKind::CheckSizes { checks: checks.clone(), body: self.boxed(body, types)? }
            }
        };
        Ok(Expr { kind, ty, span })
    }

    fn axis(&mut self, axis: &Axis, types: &Types) -> Result<Axis, Box<Diagnostic>> {
        Ok(match axis {
            Axis::Index(index) => Axis::Index(self.expr(index, types)?),
            Axis::Gather(index) => Axis::Gather(self.expr(index, types)?),
            Axis::Slice { start, stop, step, span } => Axis::Slice {
                start: self.optional(start, types)?,
                stop: self.optional(stop, types)?,
                step: self.optional(step, types)?,
                span: *span,
            },
        })
    }

    /// The local that holds a local function at these types.
    fn local(&mut self, local: LocalId, at: Vec<Type>) -> LocalId {
        if at.is_empty() {
            return local;
        }
        let next = LocalId(self.next_local);
        let instances = self.local_instances.entry(local).or_default();
        if let Some((_, instance)) = instances.iter().find(|(types, _)| *types == at) {
            return *instance;
        }
        instances.push((at, next));
        self.next_local += 1;
        next
    }

    #[allow(clippy::too_many_arguments, reason = "the fields of one variant")]
    fn let_function(
        &mut self,
        name: &Name,
        local: LocalId,
        (start, count): (u32, u32),
        value: &Arc<Expr>,
        body: &Expr,
        types: &Types,
        span: Span,
    ) -> Result<Expr, Box<Diagnostic>> {
        // The body first: it says at which types the function is needed.
        let outer = self.local_instances.remove(&local);
        let mut result = self.expr(body, types)?;
        let mut instances = self.local_instances.remove(&local).unwrap_or_default();
        if let Some(outer) = outer {
            self.local_instances.insert(local, outer);
        }
        if count == 0 {
            instances = vec![(Vec::new(), local)];
        }
        for (at, instance) in instances {
            let mut inner = types.clone();
            inner.local.push((start, at));
            let value = self.expr(value, &inner)?;
            let ty = result.ty.clone();
            let kind = ExprKind::LetFunction {
                name: name.clone(),
                local: instance,
                quantified: (start, 0),
                value: Arc::new(value),
                body: Box::new(result),
            };
            result = Expr { kind, ty, span };
        }
        Ok(result)
    }
}

fn pattern(bound: &Pattern, types: &Types) -> Pattern {
    match bound {
        Pattern::Local { local, name, ty } => {
            Pattern::Local { local: *local, name: name.clone(), ty: types.of(ty) }
        }
        Pattern::Wildcard(ty) => Pattern::Wildcard(types.of(ty)),
        Pattern::Tuple(parts) => {
            Pattern::Tuple(parts.iter().map(|part| pattern(part, types)).collect())
        }
    }
}
