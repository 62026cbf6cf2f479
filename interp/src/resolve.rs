//! From the typed program to the resolved one: variables become slots, operators become the
//! functions that compute them, constants become values.

use std::collections::BTreeMap;
use std::rc::Rc;

use weft_ir::{Column, ColumnBuilder, Name, ScalarOp, Span, Value};
use weft_lang::builtins::Builtin;
use weft_lang::typed::{
    self, Arg, Expr, ExprKind, FunctionRef, GlobalId, InstanceId, LocalId, LoopControl, Pattern,
    Program,
};
use weft_lang::types::Type;

use crate::apply::Function;
use crate::builtins::{self, neighbourhood::Boundary};
use crate::code::{
    Axis, BuiltinCode, Check, Code, Comprehension, Control, Loop, Mapped, Node, Slice, Slot,
    Target, Update,
};
use crate::liveness;
use crate::machine::Instance;
use crate::operator::Operator;
use crate::value::{Val, element_type};

/// The program's entry, as a function without arguments, and its top-level functions.
pub(crate) fn resolve(
    program: &Program,
    values: &dyn Fn(GlobalId) -> Value,
) -> (Rc<Code>, Vec<Instance>) {
    let mut resolver = Resolver {
        program,
        values,
        known: BTreeMap::new(),
        names: BTreeMap::new(),
        scopes: vec![],
    };
    let mut instances = Vec::with_capacity(program.instances.len());
    for (index, instance) in program.instances.iter().enumerate() {
        let name = Some(instance.name.clone());
        instances.push(match &instance.body.kind {
            ExprKind::Lambda { params, body } => {
                let id = Some(InstanceId(index as u32));
                Instance::Function(resolver.function(name, params, body, id).0)
            }
            _ => {
                let (code, _) = resolver.function(None, &[], &instance.body, None);
                Instance::Expression(code, None)
            }
        });
    }
    let (entry, _) = resolver.function(None, &[], &program.entry, None);
    (entry, instances)
}

struct Resolver<'a> {
    program: &'a Program,
    values: &'a dyn Fn(GlobalId) -> Value,
    /// The values of earlier bindings that were asked for.
    known: BTreeMap<GlobalId, Val>,
    /// The names of local functions.
    names: BTreeMap<LocalId, Name>,
    /// The functions around the expression at hand, the innermost last.
    scopes: Vec<Scope>,
}

/// A function that is being resolved.
struct Scope {
    locals: BTreeMap<LocalId, Slot>,
    /// The variables of the functions around it that it reads, and their slots here.
    captures: Vec<(LocalId, Slot)>,
    slots: usize,
    /// Which top-level function it is, if it is one.
    instance: Option<InstanceId>,
}

impl Resolver<'_> {
    /// A function, and the variables around it that it captures.
    fn function(
        &mut self,
        name: Option<Name>,
        params: &[Pattern],
        body: &Expr,
        instance: Option<InstanceId>,
    ) -> (Rc<Code>, Vec<LocalId>) {
        self.scopes.push(Scope {
            locals: BTreeMap::new(),
            captures: Vec::new(),
            slots: params.len(),
            instance,
        });
        let params = params
            .iter()
            .enumerate()
            .map(|(index, pattern)| match pattern {
                Pattern::Local { local, .. } => {
                    self.scope().locals.insert(*local, index);
                    Target::Slot(index)
                }
                Pattern::Wildcard(_) => Target::Ignore,
                Pattern::Tuple(_) => self.target(pattern),
            })
            .collect();
        let span = body.span;
        let mut body = self.tail(body);
        let scope = self.scopes.pop().expect("pushed above");
        let (captured, captures): (Vec<LocalId>, Vec<Slot>) = scope.captures.into_iter().unzip();
        liveness::mark_last_uses(&mut body, &captures, scope.slots);
        (Rc::new(Code { name, params, captures, slots: scope.slots, body, span }), captured)
    }

    fn scope(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("every expression is in a function")
    }

    fn new_slot(&mut self) -> Slot {
        let scope = self.scope();
        scope.slots += 1;
        scope.slots - 1
    }

    /// The slot of a variable; one of a function around this one is captured.
    fn slot(&mut self, local: LocalId) -> Slot {
        let depth = self.scopes.len() - 1;
        self.slot_at(local, depth)
    }

    fn slot_at(&mut self, local: LocalId, depth: usize) -> Slot {
        if let Some(slot) = self.scopes[depth].locals.get(&local) {
            return *slot;
        }
        assert!(depth > 0, "the variable {local:?} is bound nowhere");
        self.slot_at(local, depth - 1);
        let scope = &mut self.scopes[depth];
        let slot = scope.slots;
        scope.slots += 1;
        scope.captures.push((local, slot));
        scope.locals.insert(local, slot);
        slot
    }

    /// A pattern, whose variables get new slots.
    fn target(&mut self, pattern: &Pattern) -> Target {
        match pattern {
            Pattern::Local { local, .. } => {
                let slot = self.new_slot();
                self.scope().locals.insert(*local, slot);
                Target::Slot(slot)
            }
            Pattern::Wildcard(_) => Target::Ignore,
            Pattern::Tuple(parts) => {
                Target::Tuple(parts.iter().map(|part| self.target(part)).collect())
            }
        }
    }

    /// The pattern of a loop's state, of which nothing is ignored.
    fn state_target(&mut self, pattern: &Pattern) -> Target {
        match pattern {
            Pattern::Wildcard(_) => Target::Slot(self.new_slot()),
            Pattern::Tuple(parts) if !parts.is_empty() => {
                Target::Tuple(parts.iter().map(|part| self.state_target(part)).collect())
            }
            // The empty tuple may be an error, which must not get lost.
            Pattern::Tuple(_) => Target::Slot(self.new_slot()),
            Pattern::Local { .. } => self.target(pattern),
        }
    }

    /// An expression that is the last thing its function does.
    fn tail(&mut self, expr: &Expr) -> Node {
        match &expr.kind {
            ExprKind::Let { pattern, value, body } => {
                let value = self.node(value);
                let target = self.target(pattern);
                Node::Let { target, value: Box::new(value), body: Box::new(self.tail(body)) }
            }
            ExprKind::LetFunction { .. } => {
                let (target, value, body) = self.local_function(expr);
                Node::Let { target, value: Box::new(value), body: Box::new(self.tail(body)) }
            }
            ExprKind::If { condition, then, otherwise } => {
                Node::If(Box::new([self.node(condition), self.tail(then), self.tail(otherwise)]))
            }
            ExprKind::CheckSizes { checks, body } => {
                let checks = self.checks(checks);
                Node::CheckSizes { checks, body: Box::new(self.tail(body)) }
            }
            ExprKind::Apply { function, args, depth: 0 } => match &function.kind {
                ExprKind::Builtin(Builtin::Op(op @ (ScalarOp::And | ScalarOp::Or)), _)
                    if args.len() == 2 =>
                {
                    let operands = Box::new([self.node(&args[0].expr), self.tail(&args[1].expr)]);
                    if *op == ScalarOp::And { Node::And(operands) } else { Node::Or(operands) }
                }
                ExprKind::Function(FunctionRef::Instance(id))
                    if self.scope().instance == Some(*id)
                        && self.instance_arity(*id) == Some(args.len()) =>
                {
                    Node::TailCall(self.args(args))
                }
                _ => self.node(expr),
            },
            _ => self.node(expr),
        }
    }

    fn nodes(&mut self, exprs: &[Expr]) -> Vec<Node> {
        exprs.iter().map(|expr| self.node(expr)).collect()
    }

    fn args(&mut self, args: &[Arg]) -> Vec<Node> {
        args.iter().map(|arg| self.node(&arg.expr)).collect()
    }

    fn boxed(&mut self, expr: &Expr) -> Box<Node> {
        Box::new(self.node(expr))
    }

    fn optional(&mut self, expr: &Option<Expr>) -> Option<Node> {
        expr.as_ref().map(|expr| self.node(expr))
    }

    /// An expression.
    fn node(&mut self, expr: &Expr) -> Node {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Number(number) => {
                let Type::Scalar(ty) = expr.ty else { panic!("a number of type {}", expr.ty) };
                Node::Constant(Val::of_scalar(number.to_scalar(ty).expect("checked")))
            }
            ExprKind::Scalar(scalar) => Node::Constant(Val::of_scalar(*scalar)),
            ExprKind::Text(bytes) => {
                Node::Constant(Val::array(Column::Char(bytes.to_vec().into())))
            }
            ExprKind::NumberArray(numbers) => {
                let ty = value_type(&expr.ty);
                let element = element_type(&ty);
                let mut builder = ColumnBuilder::with_capacity(element, numbers.len());
                let weft_ir::Type::Scalar(scalar) = element else { panic!("numbers of {element}") };
                for number in numbers.iter() {
                    builder.push_scalar(number.to_scalar(*scalar).expect("checked"));
                }
                Node::Constant(Val::array(builder.finish()))
            }
            ExprKind::Local(local, _) => Node::Local(self.slot(*local)),
            ExprKind::Value(global) => Node::Constant(self.known_value(*global)),
            ExprKind::Function(FunctionRef::Instance(id)) => Node::Instance(*id),
            ExprKind::Function(FunctionRef::Generic(..)) => {
                panic!("the program is not monomorphic")
            }
            ExprKind::Builtin(builtin, _) => Node::Constant(self.builtin_value(*builtin, expr)),
            ExprKind::Lambda { params, body } => self.closure(None, params, body),
            ExprKind::Apply { function, args, depth: 0 } => self.apply(function, args, expr),
            ExprKind::Apply { function, args, depth } => {
                let ty = crate::value::under(&value_type(&expr.ty), *depth).clone();
                let name = self.function_name(function);
                let function = match &function.kind {
                    ExprKind::Builtin(builtin, _) => {
                        let code = builtin_code(*builtin, function, span);
                        Node::Constant(Val::Function(Rc::new(Function::builtin(code))))
                    }
                    _ => self.node(function),
                };
                let args = args.iter().map(|arg| (self.node(&arg.expr), arg.mapped)).collect();
                Node::Mapped(Box::new(Mapped { function, args, depth: *depth, ty, name, span }))
            }
            ExprKind::Let { pattern, value, body } => {
                let value = self.boxed(value);
                let target = self.target(pattern);
                Node::Let { target, value, body: self.boxed(body) }
            }
            ExprKind::LetFunction { .. } => {
                let (target, value, body) = self.local_function(expr);
                Node::Let { target, value: Box::new(value), body: self.boxed(body) }
            }
            ExprKind::If { condition, then, otherwise } => {
                Node::If(Box::new([self.node(condition), self.node(then), self.node(otherwise)]))
            }
            ExprKind::Loop { pattern, init, control, body } => {
                self.resolve_loop(pattern, init, control, body, expr.span)
            }
            ExprKind::Tuple(parts) => Node::Tuple(self.nodes(parts)),
            ExprKind::RecordUpdate { record, fields } => {
                let width = match &record.ty {
                    Type::Record(fields) => fields.len(),
                    Type::Tuple(parts) => parts.len(),
                    other => panic!("a record of type {other}"),
                };
                let record = self.boxed(record);
                let fields = fields.iter().map(|(at, field)| (*at, self.node(field))).collect();
                Node::RecordUpdate { record, width, fields }
            }
            ExprKind::Field { record, index, depth } => {
                // At depth 0 the type is not needed, and a component may be a function.
                let ty = expr.ty.to_value_type();
                let ty = Box::new(ty.unwrap_or(weft_ir::Type::Tuple([].into())));
                Node::Field { record: self.boxed(record), index: *index, depth: *depth, ty }
            }
            ExprKind::Array(elements) => {
                let ty = element_type(&value_type(&expr.ty)).clone();
                Node::Array { elements: self.nodes(elements), ty, span }
            }
            ExprKind::Slice { array, axes } => {
                let ty = value_type(&array.ty);
                let array = self.node(array);
                let axes = axes.iter().map(|axis| self.axis(axis)).collect();
                Node::Slice(Box::new(Slice { array, axes, ty, span }))
            }
            ExprKind::WindowRead { window, offset } => {
                Node::WindowRead { window: self.boxed(window), offset: offset.clone(), span }
            }
            ExprKind::Comprehension { body, generators, filter } => {
                // A generator does not see the variables of the others.
                let sources: Vec<Node> =
                    generators.iter().map(|(_, source)| self.node(source)).collect();
                let targets = generators.iter().map(|(pattern, _)| self.target(pattern));
                let targets: Vec<Target> = targets.collect();
                Node::Comprehension(Box::new(Comprehension {
                    names: names_of_sources(generators),
                    generators: targets.into_iter().zip(sources).collect(),
                    filter: filter.as_ref().map(|filter| self.node(filter)),
                    body: self.node(body),
                    ty: element_type(&value_type(&expr.ty)).clone(),
                    span,
                }))
            }
            ExprKind::CheckSizes { checks, body } => {
                Node::CheckSizes { checks: self.checks(checks), body: self.boxed(body) }
            }
        }
    }

    /// An application at depth 0.
    fn apply(&mut self, function: &Expr, args: &[Arg], expr: &Expr) -> Node {
        let span = expr.span;
        match &function.kind {
            ExprKind::Builtin(builtin, _) if args.len() >= builtin.arity() => {
                let (own, rest) = args.split_at(builtin.arity());
                let applied = self.apply_builtin(*builtin, function, own, span);
                if rest.is_empty() {
                    return applied;
                }
                Node::Call { function: Box::new(applied), args: self.args(rest), span }
            }
            ExprKind::Function(FunctionRef::Instance(id))
                if self.instance_arity(*id) == Some(args.len()) =>
            {
                Node::CallInstance { instance: *id, args: self.args(args), span }
            }
            _ => Node::Call { function: self.boxed(function), args: self.args(args), span },
        }
    }

    /// A builtin applied to as many arguments as it takes.
    fn apply_builtin(
        &mut self,
        builtin: Builtin,
        function: &Expr,
        args: &[Arg],
        span: Span,
    ) -> Node {
        let code = builtin_code(builtin, function, span);
        let mut args = self.args(args);
        let mut next = || args.remove(0);
        match (builtin, code.operator) {
            (Builtin::Index(_), _) => Node::Index { array: Box::new(next()), indices: args, span },
            (Builtin::Update(_), _) => {
                let array = next();
                let value = args.pop().expect("the new value");
                let ty = code.result.clone().expect("an array type");
                Node::Update(Box::new(Update { array, indices: args, value, ty, span }))
            }
            (_, Some(Operator::Unary(function))) => {
                Node::Unary { function, operand: Box::new(next()), span }
            }
            (_, Some(Operator::Binary(operator))) => {
                Node::Binary { operator, operands: Box::new([next(), next()]), span }
            }
            (_, Some(Operator::Ternary(function))) => {
                Node::Ternary { function, operands: Box::new([next(), next(), next()]), span }
            }
            (_, Some(Operator::And)) => Node::And(Box::new([next(), next()])),
            (_, Some(Operator::Or)) => Node::Or(Box::new([next(), next()])),
            (_, Some(Operator::Select)) => Node::If(Box::new([next(), next(), next()])),
            (_, Some(Operator::Tuples(_)) | None) => Node::Builtin { code, args, span },
        }
    }

    /// A builtin that stands alone.
    fn builtin_value(&mut self, builtin: Builtin, expr: &Expr) -> Val {
        match builtin {
            Builtin::Clamp => Val::Boundary(Rc::new(Boundary::Clamp)),
            Builtin::Mirror => Val::Boundary(Rc::new(Boundary::Mirror)),
            Builtin::Wrap => Val::Boundary(Rc::new(Boundary::Wrap)),
            builtin => {
                Val::Function(Rc::new(Function::builtin(builtin_code(builtin, expr, expr.span))))
            }
        }
    }

    fn closure(&mut self, name: Option<Name>, params: &[Pattern], body: &Expr) -> Node {
        let (code, captured) = self.function(name, params, body, None);
        let captures = captured.into_iter().map(|local| self.slot(local)).collect();
        Node::Closure { code, captures }
    }

    /// What a `LetFunction` binds, its value and its body.
    fn local_function<'e>(&mut self, expr: &'e Expr) -> (Target, Node, &'e Expr) {
        let ExprKind::LetFunction { name, local, value, body, .. } = &expr.kind else {
            panic!("no local function: {:?}", expr.kind);
        };
        let node = match &value.kind {
            ExprKind::Lambda { params, body } => self.closure(Some(name.clone()), params, body),
            _ => self.node(value),
        };
        self.names.insert(*local, name.clone());
        let slot = self.new_slot();
        self.scope().locals.insert(*local, slot);
        (Target::Slot(slot), node, body)
    }

    fn resolve_loop(
        &mut self,
        pattern: &Pattern,
        init: &Expr,
        control: &LoopControl,
        body: &Expr,
        span: Span,
    ) -> Node {
        let init = self.node(init);
        // The bound and the array do not see the state, the condition does.
        let control = match control {
            LoopControl::Count(pattern, count) => {
                let count = self.node(count);
                Control::Count(self.target(pattern), count)
            }
            LoopControl::Each(pattern, elements) => {
                let elements = self.node(elements);
                Control::Each(self.target(pattern), elements)
            }
            LoopControl::While(condition) => {
                let state = self.state_target(pattern);
                let control = Control::While(self.node(condition));
                let body = self.node(body);
                return Node::Loop(Box::new(Loop { state, init, control, body, span }));
            }
        };
        let state = self.state_target(pattern);
        let body = self.node(body);
        Node::Loop(Box::new(Loop { state, init, control, body, span }))
    }

    fn axis(&mut self, axis: &typed::Axis) -> Axis {
        match axis {
            typed::Axis::Index(index) => Axis::Index(self.node(index)),
            typed::Axis::Gather(indices) => Axis::Gather(self.node(indices)),
            typed::Axis::Slice { start, stop, step, span } => Axis::Range {
                start: self.optional(start),
                stop: self.optional(stop),
                step: self.optional(step),
                span: *span,
            },
        }
    }

    fn checks(&mut self, checks: &[typed::SizeCheck]) -> Vec<Check> {
        let resolve = |check: &typed::SizeCheck| Check {
            slot: self.slot(check.local),
            path: check.path.clone(),
            size: check.size.clone(),
            span: check.span,
        };
        checks.iter().map(resolve).collect()
    }

    fn known_value(&mut self, global: GlobalId) -> Val {
        let values = self.values;
        self.known.entry(global).or_insert_with(|| Val::of_value(&values(global))).clone()
    }

    /// How many arguments a top-level function takes, if it is a lambda.
    fn instance_arity(&self, id: InstanceId) -> Option<usize> {
        match &self.program.instances[id.0 as usize].body.kind {
            ExprKind::Lambda { params, .. } => Some(params.len()),
            _ => None,
        }
    }

    /// What messages call a function.
    fn function_name(&self, function: &Expr) -> Name {
        match &function.kind {
            ExprKind::Builtin(builtin, _) => builtins::name(*builtin).into(),
            ExprKind::Function(FunctionRef::Instance(id)) => {
                self.program.instances[id.0 as usize].name.clone()
            }
            ExprKind::Local(local, _) => {
                self.names.get(local).cloned().unwrap_or_else(|| "a function".into())
            }
            _ => "a function".into(),
        }
    }
}

/// A builtin at the types that its expression has; `span` is where its errors are, unless it is
/// applied elsewhere.
fn builtin_code(builtin: Builtin, expr: &Expr, span: Span) -> Rc<BuiltinCode> {
    let mut params = Vec::new();
    let mut result = &expr.ty;
    for _ in 0..builtin.arity() {
        let Type::Function(param, rest) = result else {
            panic!("{builtin:?} has type {}", expr.ty);
        };
        params.push((**param).clone());
        result = rest;
    }
    let operator = match builtin {
        Builtin::Op(op) => Some(Operator::of(op, &params)),
        _ => None,
    };
    Rc::new(BuiltinCode {
        builtin,
        operator,
        params: params.iter().map(Type::to_value_type).collect(),
        result: result.to_value_type(),
        span,
    })
}

/// What generators go over, as far as that has names in messages.
fn names_of_sources(generators: &[(Pattern, Expr)]) -> Vec<String> {
    let name = |(pattern, source): &(Pattern, Expr)| match pattern {
        // What `rows` goes over are columns of one table, with their names.
        Pattern::Local { name, .. } if generators.iter().all(|(_, it)| it.span == source.span) => {
            name.to_string()
        }
        _ => field_name(source),
    };
    generators.iter().map(name).collect()
}

/// The field that an expression reads; empty if it is no such expression.
fn field_name(expr: &Expr) -> String {
    let ExprKind::Field { record, index, .. } = &expr.kind else { return String::new() };
    match record.ty.peel().1 {
        Type::Record(fields) => {
            fields.get(*index).map_or_else(String::new, |(name, _)| name.to_string())
        }
        _ => String::new(),
    }
}

/// The type of an expression that is a value.
fn value_type(ty: &Type) -> weft_ir::Type {
    ty.to_value_type().unwrap_or_else(|| panic!("{ty} is no type of values"))
}
