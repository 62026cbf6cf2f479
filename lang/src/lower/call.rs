//! Calls of top-level functions that may call themselves.
//!
//! Note [Tail calls]. A function whose calls of itself are the last thing that it does is a loop: the
//! state is its parameters, its result, and whether it goes on. If all of its calls are of that kind,
//! the loop stands in the place of the call; else the function's body is the loop, so that its
//! tail calls do not nest, as on the interpreter.

use std::collections::BTreeMap;
use std::rc::Rc;

use weft_ir::nested::{Atom, Body, FunctionId, Operation, Type};
use weft_ir::{FaultKind, Scalar, ScalarOp};

use super::builder::{Lowering, Outcome};
use super::expression::builder;
use super::given::{Specialised, captured, with_atoms};
use super::operations::bool_atom;
use super::recursion::count_mentions;
use super::value::{Frame, Value};
use crate::builtins::Builtin;
use crate::typed::{Arg, Expr, ExprKind, FunctionRef, InstanceId, Pattern};
use crate::types;

/// What a call of a recursive function looks like.
#[derive(Clone)]
struct Signature<'p> {
    id: InstanceId,
    /// The patterns of the parameters.
    patterns: &'p [Pattern],
    /// Their types.
    params: Vec<&'p types::Type>,
    /// Those that are functions, which are the same in all calls (Note [Functions passed on]).
    given: Vec<Option<Value<'p>>>,
    /// The type of the result, …
    result: &'p types::Type,
    /// … and its leaves.
    results: Vec<Type>,
    body: &'p Expr,
}

impl<'p> Signature<'p> {
    fn is_given_functions(&self) -> bool {
        self.given.iter().any(Option::is_some)
    }

    /// The arguments whose leaves these are, with the functions.
    fn arguments(&self, leaves: &[Atom]) -> Vec<Value<'p>> {
        let mut rest = leaves;
        let take = |(ty, given): (&&'p types::Type, &Option<Value<'p>>)| match given {
            Some(given) => given.clone(),
            None => {
                let (taken, others) = rest.split_at(super::value::leaf_count(ty));
                rest = others;
                Value::of_leaves(ty, taken)
            }
        };
        self.params.iter().zip(&self.given).map(take).collect()
    }
}

/// The variables of a function as a loop.
#[derive(Clone, Copy)]
struct State<'a> {
    params: &'a [Atom],
    results: &'a [Atom],
}

impl<'p> Lowering<'p> {
    /// A call of a function that may call itself.
    pub(super) fn call_recursive(
        &mut self,
        id: InstanceId,
        args: &[Value<'p>],
    ) -> Outcome<Value<'p>> {
        let signature = self.signature(id, args)?;
        let mut leaves: Vec<Atom> = args.iter().filter_map(Value::leaves).flatten().collect();
        let tail_calls = count_tail_calls(id, args.len(), signature.body);
        if tail_calls > 0
            && self.recursion.is_alone(id)
            && tail_calls == count_mentions(id, signature.body)
        {
            let results = self.as_loop(&signature, &leaves)?;
            return Ok(Value::of_leaves(signature.result, &results));
        }
        leaves.extend(captured(&signature.given));
        let mut reads = self.recursion.reads(id);
        reads.extend(self.reads_of_given(&signature.given));
        for (global, ty) in &reads {
            leaves.extend(self.read_global(*global, ty)?);
        }
        let known = match signature.is_given_functions() {
            true => self.specialised(id, &signature.given),
            false => self.function_ids.get(&id).copied(),
        };
        let function = match known {
            Some(function) => function,
            None => self.define_recursive(&signature, &reads, tail_calls > 0)?,
        };
        let results = self.emit(Operation::Call(function, leaves), &signature.results);
        self.relate(signature.result, &results);
        Ok(Value::of_leaves(signature.result, &results))
    }

    fn signature(&mut self, id: InstanceId, args: &[Value<'p>]) -> Outcome<Signature<'p>> {
        let program = self.program;
        let instance = &program.instances[id.0 as usize];
        let ExprKind::Lambda { params: patterns, body } = &instance.body.kind else {
            panic!("lower: a definition without parameters is applied");
        };
        let mut result = &instance.body.ty;
        let mut params = Vec::new();
        for _ in patterns {
            let types::Type::Function(param, rest) = result else {
                panic!("lower: too many parameters of {}", instance.name);
            };
            params.push(&**param);
            result = rest;
        }
        let given = self.given(id, patterns, body, args)?;
        let results = self.leaf_types(result)?;
        Ok(Signature { id, patterns, params, given, result, results, body })
    }

    /// Defines a function: its parameters are its own but for functions, what these see, and the earlier bindings
    /// that are read.
    fn define_recursive(
        &mut self,
        signature: &Signature<'p>,
        reads: &BTreeMap<crate::typed::GlobalId, types::Type>,
        is_loop: bool,
    ) -> Outcome<FunctionId> {
        let name = self.program.instances[signature.id.0 as usize].name.clone();
        if signature.is_given_functions()
            && (!self.recursion.is_alone(signature.id) || self.leads_back(&signature.given))
        {
            return self.unsupported(format!(
                "`{name}` is recursive and is given a function that calls it"
            ));
        }
        let function = self.new_function();
        let mut vars = Vec::new();
        for (param, given) in signature.params.iter().zip(&signature.given) {
            if given.is_none() {
                vars.extend(self.new_parameters(param)?);
            }
        }
        let own = atoms_of(&vars);
        let seen = captured(&signature.given);
        let inside = self.new_variables(&self.types_of(&seen));
        vars.extend(inside.iter().copied());
        let mut to_inside = |atom| {
            let at = seen.iter().position(|other| *other == atom);
            at.map_or(atom, |at| Atom::Var(inside[at].0))
        };
        let given: Vec<Option<Value<'p>>> = signature
            .given
            .iter()
            .map(|given| given.as_ref().and_then(|value| with_atoms(value, &mut to_inside)))
            .collect();
        let mut globals = BTreeMap::new();
        for (global, ty) in reads {
            let new = self.new_parameters(ty)?;
            globals.insert(*global, atoms_of(&new));
            vars.extend(new);
        }
        let outer = self.leave_bodies(globals);
        let span = self.span;
        let is_given_functions = signature.is_given_functions();
        if is_given_functions {
            let given = given.clone();
            self.specialised.push(Specialised { id: signature.id, given, function });
        } else {
            self.function_ids.insert(signature.id, function);
        }
        let signature = Signature { given, ..signature.clone() };
        let results = if is_loop {
            self.as_loop(&signature, &own)?
        } else {
            let values = signature.arguments(&own);
            let value = self.expand(signature.id, &values)?;
            self.leaves(&value)?
        };
        if is_given_functions {
            self.specialised.pop();
        }
        self.span = span;
        let body = self.close(results);
        self.enter_bodies(outer);
        self.define(function, name, vars, signature.results.clone(), body);
        Ok(function)
    }

    fn new_parameters(&mut self, ty: &types::Type) -> Outcome<Vec<(weft_ir::nested::Var, Type)>> {
        let types = self.leaf_types(ty)?;
        let vars = self.new_variables(&types);
        self.relate(ty, &atoms_of(&vars));
        Ok(vars)
    }

    /// The results of a function with these arguments, by a loop (Note [Tail calls]).
    fn as_loop(&mut self, signature: &Signature<'p>, args: &[Atom]) -> Outcome<Vec<Atom>> {
        let mut initial = args.to_vec();
        for ty in &signature.results {
            initial.push(self.some_value(*ty));
        }
        initial.push(bool_atom(true));
        let (count, last) = (args.len(), initial.len() - 1);
        let state =
            self.while_loop(initial, &mut |_, state| Ok(state[last]), &mut |lowering, atoms| {
                let state = State { params: &atoms[..count], results: &atoms[count..last] };
                let frame = Frame::new(None);
                for (pattern, value) in
                    signature.patterns.iter().zip(signature.arguments(state.params))
                {
                    frame.bind(pattern, &value);
                }
                lowering.tail(signature, signature.body, &frame, state)
            })?;
        Ok(state[count..last].to_vec())
    }

    /// Some value of a type, which nobody looks at.
    fn some_value(&mut self, ty: Type) -> Atom {
        match ty.rank {
            0 => Atom::Scalar(Scalar::zero(ty.element)),
            _ => self.constant_array(builder(ty.element()).finish()),
        }
    }

    /// The next state, by an expression that is the last thing that a function does.
    fn tail(
        &mut self,
        signature: &Signature<'p>,
        expr: &'p Expr,
        frame: &Rc<Frame<'p>>,
        state: State<'_>,
    ) -> Outcome<Vec<Atom>> {
        let outer = std::mem::replace(&mut self.span, expr.span);
        let next = self.tail_here(signature, expr, frame, state);
        self.span = outer;
        next
    }

    fn tail_here(
        &mut self,
        signature: &Signature<'p>,
        expr: &'p Expr,
        frame: &Rc<Frame<'p>>,
        state: State<'_>,
    ) -> Outcome<Vec<Atom>> {
        match &expr.kind {
            ExprKind::Let { pattern, value, body } => {
                let value = self.expression(value, frame)?;
                frame.bind(pattern, &value);
                self.tail(signature, body, frame, state)
            }
            ExprKind::LetFunction { local, value, body, .. } => {
                let value = self.expression(value, frame)?;
                frame.set(*local, value);
                self.tail(signature, body, frame, state)
            }
            ExprKind::If { condition, then, otherwise } => {
                let condition = self.expression(condition, frame)?.expect_scalar();
                let then = self.tail_body(signature, then, frame, state)?;
                let otherwise = self.tail_body(signature, otherwise, frame, state)?;
                Ok(self.choose_state(condition, then, otherwise, state))
            }
            ExprKind::CheckSizes { checks, body } => {
                let holds = self.check_sizes(checks, frame);
                let next = self.tail(signature, body, frame, state)?;
                Ok(self.assert(holds, FaultKind::SizeMismatch, next))
            }
            ExprKind::Apply { function, args, depth: 0 } => {
                if is_call(signature.id, signature.patterns.len(), function, args) {
                    let mut next = Vec::with_capacity(state.params.len());
                    for (arg, given) in args.iter().zip(&signature.given) {
                        if given.is_some() {
                            continue;
                        }
                        let value = self.expression(&arg.expr, frame)?;
                        next.extend(self.leaves(&value)?);
                    }
                    next.extend(state.results);
                    next.push(bool_atom(true));
                    return Ok(next);
                }
                let Some((op, [first, second])) = short_circuit(function, args) else {
                    return self.finished(expr, frame, state);
                };
                let condition = self.expression(first, frame)?.expect_scalar();
                let needed = self.tail_body(signature, second, frame, state)?;
                let mut decided = state.params.to_vec();
                decided.extend([bool_atom(op == ScalarOp::Or), bool_atom(false)]);
                let decided = Body { statements: Vec::new(), results: decided };
                let (then, otherwise) =
                    if op == ScalarOp::And { (needed, decided) } else { (decided, needed) };
                Ok(self.choose_state(condition, then, otherwise, state))
            }
            _ => self.finished(expr, frame, state),
        }
    }

    /// The last state, by an expression that calls the function no more.
    fn finished(
        &mut self,
        expr: &'p Expr,
        frame: &Rc<Frame<'p>>,
        state: State<'_>,
    ) -> Outcome<Vec<Atom>> {
        let value = self.expression(expr, frame)?;
        let mut last = state.params.to_vec();
        last.extend(self.leaves(&value)?);
        last.push(bool_atom(false));
        Ok(last)
    }

    fn tail_body(
        &mut self,
        signature: &Signature<'p>,
        expr: &'p Expr,
        frame: &Rc<Frame<'p>>,
        state: State<'_>,
    ) -> Outcome<Body> {
        self.open();
        let next = self.tail(signature, expr, frame, state);
        let body = self.close(next.clone().unwrap_or_default());
        next?;
        Ok(body)
    }

    fn choose_state(
        &mut self,
        condition: Atom,
        then: Body,
        otherwise: Body,
        state: State<'_>,
    ) -> Vec<Atom> {
        let mut types = self.types_of(state.params);
        types.extend(self.types_of(state.results));
        types.push(super::builder::BOOL);
        self.emit(Operation::If { condition, then, otherwise }, &types)
    }
}

fn atoms_of(vars: &[(weft_ir::nested::Var, Type)]) -> Vec<Atom> {
    vars.iter().map(|(var, _)| Atom::Var(*var)).collect()
}

/// Whether an application is a call of a function with all its arguments.
fn is_call(id: InstanceId, arity: usize, function: &Expr, args: &[Arg]) -> bool {
    let is_function = match &function.kind {
        ExprKind::Function(FunctionRef::Instance(other)) => *other == id,
        _ => false,
    };
    is_function && args.len() == arity
}

/// The operands of `&&` or `||`.
fn short_circuit<'e>(function: &Expr, args: &'e [Arg]) -> Option<(ScalarOp, [&'e Expr; 2])> {
    match (&function.kind, args) {
        (ExprKind::Builtin(Builtin::Op(op @ (ScalarOp::And | ScalarOp::Or)), _), [a, b]) => {
            Some((*op, [&a.expr, &b.expr]))
        }
        _ => None,
    }
}

/// How many calls of a function are the last thing that an expression does.
fn count_tail_calls(id: InstanceId, arity: usize, expr: &Expr) -> usize {
    match &expr.kind {
        ExprKind::Let { body, .. }
        | ExprKind::LetFunction { body, .. }
        | ExprKind::CheckSizes { body, .. } => count_tail_calls(id, arity, body),
        ExprKind::If { then, otherwise, .. } => {
            count_tail_calls(id, arity, then) + count_tail_calls(id, arity, otherwise)
        }
        ExprKind::Apply { function, args, depth: 0 } => {
            if is_call(id, arity, function, args) {
                return 1;
            }
            match short_circuit(function, args) {
                Some((_, [_, second])) => count_tail_calls(id, arity, second),
                None => 0,
            }
        }
        _ => 0,
    }
}
