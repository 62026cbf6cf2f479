//! Calling functions: once, or many times over the elements of arrays.

use std::rc::Rc;

use weft_ir::{Column, Span};

use crate::builtins::neighbourhood::Boundary;
use crate::code::{BuiltinCode, Code, Target};
use crate::elements::{Elements, element};
use crate::machine::{Instance, Machine, Outcome, Stop, Unwind};
use crate::operator::Operator;
use crate::value::Val;

/// A function as a value.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) kind: FunctionKind,
    /// How deep functions are nested in it, through what they captured.
    pub(crate) depth: u32,
}

/// The kinds of functions.
#[derive(Debug)]
pub(crate) enum FunctionKind {
    /// A lambda with the values of the variables that it captured.
    Code { code: Rc<Code>, captured: Vec<Val> },
    /// A builtin that takes at least one argument.
    Builtin(Rc<BuiltinCode>),
    /// A function applied to fewer arguments than it takes.
    Partial { function: Rc<Function>, args: Vec<Val> },
}

impl Function {
    pub(crate) fn closure(code: Rc<Code>, captured: Vec<Val>) -> Function {
        let depth = captured.iter().map(depth_of).max().unwrap_or(0).saturating_add(1);
        Function { kind: FunctionKind::Code { code, captured }, depth }
    }

    pub(crate) fn builtin(code: Rc<BuiltinCode>) -> Function {
        Function { kind: FunctionKind::Builtin(code), depth: 1 }
    }

    fn partial(function: Rc<Function>, args: Vec<Val>) -> Function {
        let depth = args.iter().map(depth_of).fold(function.depth, u32::max).saturating_add(1);
        Function { kind: FunctionKind::Partial { function, args }, depth }
    }
}

/// How deep functions are nested in a value.
fn depth_of(val: &Val) -> u32 {
    match val {
        Val::Function(function) => function.depth,
        Val::Tuple(parts) => parts.iter().map(depth_of).max().unwrap_or(0),
        Val::Boundary(boundary) => match &**boundary {
            Boundary::Constant(val) | Boundary::Outside(val) => depth_of(val),
            Boundary::Clamp | Boundary::Mirror | Boundary::Wrap => 0,
        },
        _ => 0,
    }
}

/// A function made ready for many calls. Callees nest: the one that was made ready last is released
/// first.
#[derive(Debug)]
pub(crate) enum Callee {
    Operator(Operator, Span),
    /// A lambda, whose frame is set up already.
    Frame(Frame),
    /// Any other function.
    General(Rc<Function>, Span),
}

#[derive(Debug)]
pub(crate) struct Frame {
    code: Rc<Code>,
    base: usize,
    /// The arguments that a partial application has fixed.
    bound: Vec<Val>,
}

impl Frame {
    /// The function, where its slots are, and the arguments that are fixed.
    pub(crate) fn parts(&self) -> (&Code, usize, &[Val]) {
        (&self.code, self.base, &self.bound)
    }
}

/// Where the arguments of repeated calls come from.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// Every call gets this value.
    Shared(Val),
    /// Call `i` gets element `i`.
    Each(Elements),
}

impl Source {
    pub(crate) fn get(&self, index: usize) -> Val {
        match self {
            Source::Shared(val) => val.clone(),
            Source::Each(elements) => elements.get(index),
        }
    }
}

impl Machine<'_> {
    /// Applies a function value to at least one argument: fewer than it takes, as many, or more (then
    /// its result takes the rest).
    pub(crate) fn call(
        &mut self,
        function: &Val,
        args: Vec<Val>,
        span: Span,
    ) -> Result<Val, Unwind> {
        let mut function = match function {
            Val::Function(function) => Rc::clone(function),
            Val::Error(_) => return Ok(function.clone()),
            other => panic!("{other:?} is applied"),
        };
        let mut args = args;
        loop {
            let arity = match &function.kind {
                FunctionKind::Code { code, .. } => code.arity(),
                FunctionKind::Builtin(code) => code.builtin.arity(),
                FunctionKind::Partial { function: inner, args: bound } => {
                    args.splice(0..0, bound.iter().cloned());
                    function = Rc::clone(inner);
                    continue;
                }
            };
            if args.len() < arity {
                let partial = Function::partial(function, args);
                self.admit_function(&partial, span)?;
                return Ok(Val::Function(Rc::new(partial)));
            }
            let rest = args.split_off(arity);
            let result = match &function.kind {
                FunctionKind::Code { code, captured } => {
                    self.stack.append(&mut args);
                    self.call_code(code, captured, span)?
                }
                FunctionKind::Builtin(code) => self.call_builtin(code, args, span)?,
                FunctionKind::Partial { .. } => unreachable!("handled above"),
            };
            match result {
                result if rest.is_empty() => return Ok(result),
                Val::Function(next) => (function, args) = (next, rest),
                error => return Ok(error),
            }
        }
    }

    /// Calls a lambda, whose arguments are on top of the stack.
    pub(crate) fn call_code(
        &mut self,
        code: &Rc<Code>,
        captured: &[Val],
        span: Span,
    ) -> Result<Val, Unwind> {
        self.enter(span)?;
        let is_site = code.name.is_some();
        if is_site {
            self.calls.push(span);
        }
        let base = self.push_frame(code, captured, code.arity());
        let caller = std::mem::replace(&mut self.base, base);
        let result = self.run_frame(code)?;
        self.base = caller;
        self.stack.truncate(base);
        if is_site {
            self.calls.pop();
        }
        self.leave();
        Ok(result)
    }

    /// Calls a top-level function, whose arguments are on top of the stack: as many as it takes.
    pub(crate) fn call_instance(
        &mut self,
        instance: weft_lang::typed::InstanceId,
        span: Span,
    ) -> Result<Val, Unwind> {
        let Instance::Function(code) = &self.instances[instance.0 as usize] else {
            panic!("a direct call of an instance that is no lambda");
        };
        let code = Rc::clone(code);
        self.call_code(&code, &[], span)
    }

    /// Makes room for a frame, of which the top `args` values are the beginning, and puts captured
    /// values in place. Yields its base.
    fn push_frame(&mut self, code: &Code, captured: &[Val], args: usize) -> usize {
        let base = self.stack.len() - args;
        self.stack.resize(base + code.slots, Val::NOTHING);
        for (slot, val) in code.captures.iter().zip(captured) {
            self.stack[base + slot] = val.clone();
        }
        base
    }

    /// Evaluates the body of a lambda in the current frame, where its arguments are; again as long
    /// as it ends in a call of itself.
    fn run_frame(&mut self, code: &Code) -> Result<Val, Unwind> {
        loop {
            for (index, target) in code.params.iter().enumerate() {
                if let Target::Tuple(_) = target {
                    let slot = self.base + index;
                    let arg = std::mem::replace(&mut self.stack[slot], Val::NOTHING);
                    self.bind(target, arg);
                }
            }
            match self.evaluate(&code.body) {
                Err(unwind) => {
                    self.catch_tail_call(unwind)?;
                    self.step()?;
                    let first = self.stack.len() - code.arity();
                    for index in 0..code.arity() {
                        self.stack.swap(self.base + index, first + index);
                    }
                    self.stack.truncate(first);
                }
                result => return result,
            }
        }
    }

    /// Makes a function ready for calls with `count` arguments each. `span` is the expression that
    /// calls it; the errors of a builtin are where its name stands.
    fn prepare(&mut self, function: &Val, count: usize, span: Span) -> Outcome<Callee> {
        let function = match function {
            Val::Function(function) => function,
            Val::Error(error) => return Err(Stop::Error(Rc::clone(error))),
            other => panic!("{other:?} is applied"),
        };
        Ok(match &function.kind {
            FunctionKind::Builtin(code)
                if code.operator.is_some() && code.builtin.arity() == count =>
            {
                match code.operator {
                    Some(operator) => Callee::Operator(operator, code.span),
                    None => unreachable!("just looked at"),
                }
            }
            FunctionKind::Code { code, captured } if code.arity() == count => {
                Callee::Frame(self.set_up(code, captured, Vec::new(), span))
            }
            FunctionKind::Partial { function: inner, args } => match &inner.kind {
                FunctionKind::Code { code, captured } if code.arity() == args.len() + count => {
                    Callee::Frame(self.set_up(code, captured, args.clone(), span))
                }
                FunctionKind::Builtin(code) => Callee::General(Rc::clone(function), code.span),
                _ => Callee::General(Rc::clone(function), span),
            },
            FunctionKind::Builtin(code) => Callee::General(Rc::clone(function), code.span),
            FunctionKind::Code { .. } => Callee::General(Rc::clone(function), span),
        })
    }

    /// Makes a function ready, uses it, and releases it.
    pub(crate) fn with_callee<T>(
        &mut self,
        function: &Val,
        count: usize,
        span: Span,
        body: impl FnOnce(&mut Self, &Callee) -> Outcome<T>,
    ) -> Outcome<T> {
        let callee = self.prepare(function, count, span)?;
        let result = body(self, &callee);
        if !matches!(result, Err(Stop::Unwind(_))) {
            self.release(callee);
        }
        result
    }

    fn set_up(&mut self, code: &Rc<Code>, captured: &[Val], bound: Vec<Val>, span: Span) -> Frame {
        if code.name.is_some() {
            self.calls.push(span);
        }
        let base = self.push_frame(code, captured, 0);
        Frame { code: Rc::clone(code), base, bound }
    }

    /// Ends the calls of a function that was made ready.
    fn release(&mut self, callee: Callee) {
        if let Callee::Frame(frame) = callee {
            self.stack.truncate(frame.base);
            if frame.code.name.is_some() {
                self.calls.pop();
            }
        }
    }

    /// One call, with as many arguments as the function was made ready for.
    pub(crate) fn apply<const N: usize>(
        &mut self,
        callee: &Callee,
        args: [Val; N],
    ) -> Result<Val, Unwind> {
        self.step()?;
        match callee {
            Callee::Operator(operator, span) => Ok(operator.apply(self, &args, *span)),
            Callee::Frame(frame) => {
                for (slot, val) in frame.bound.iter().enumerate() {
                    self.stack[frame.base + slot] = val.clone();
                }
                let first = frame.base + frame.bound.len();
                for (index, val) in args.into_iter().enumerate() {
                    self.stack[first + index] = val;
                }
                self.run_prepared(frame)
            }
            Callee::General(function, span) => {
                self.call(&Val::Function(Rc::clone(function)), args.into(), *span)
            }
        }
    }

    /// Call `index` of many, with its arguments from `sources`.
    pub(crate) fn apply_at(
        &mut self,
        callee: &Callee,
        sources: &[Source],
        index: usize,
    ) -> Result<Val, Unwind> {
        match callee {
            Callee::Frame(frame) if frame.bound.is_empty() => {
                self.step()?;
                let caller = std::mem::replace(&mut self.base, frame.base);
                for (source, target) in sources.iter().zip(&frame.code.params) {
                    match source {
                        Source::Shared(val) => self.bind(target, val.clone()),
                        Source::Each(elements) => self.bind_element(target, elements, index),
                    }
                }
                // The patterns are bound; only a call of itself binds them again.
                let result = match self.evaluate(&frame.code.body) {
                    Err(unwind) => {
                        self.catch_tail_call(unwind)?;
                        let first = self.stack.len() - frame.code.arity();
                        for index in 0..frame.code.arity() {
                            self.stack.swap(self.base + index, first + index);
                        }
                        self.stack.truncate(first);
                        self.run_frame(&frame.code)
                    }
                    result => result,
                };
                self.base = caller;
                result
            }
            _ => match sources {
                [a] => self.apply(callee, [a.get(index)]),
                [a, b] => self.apply(callee, [a.get(index), b.get(index)]),
                [a, b, c] => self.apply(callee, [a.get(index), b.get(index), c.get(index)]),
                sources => self.apply_general(callee, sources, index),
            },
        }
    }

    /// As [`Machine::apply_at`], for any number of arguments.
    fn apply_general(
        &mut self,
        callee: &Callee,
        sources: &[Source],
        index: usize,
    ) -> Result<Val, Unwind> {
        let args: Vec<Val> = sources.iter().map(|source| source.get(index)).collect();
        self.step()?;
        match callee {
            Callee::Operator(operator, span) => Ok(operator.apply(self, &args, *span)),
            Callee::Frame(frame) => {
                for (slot, val) in frame.bound.iter().chain(&args).enumerate() {
                    self.stack[frame.base + slot] = val.clone();
                }
                self.run_prepared(frame)
            }
            Callee::General(function, span) => {
                self.call(&Val::Function(Rc::clone(function)), args, *span)
            }
        }
    }

    fn run_prepared(&mut self, frame: &Frame) -> Result<Val, Unwind> {
        let caller = std::mem::replace(&mut self.base, frame.base);
        let result = self.run_frame(&frame.code)?;
        self.base = caller;
        Ok(result)
    }

    /// Puts the parts of a value into slots of the current frame. An error is in all its parts.
    #[inline]
    pub(crate) fn bind(&mut self, target: &Target, val: Val) {
        match target {
            Target::Ignore => {}
            Target::Slot(slot) => {
                let slot = self.base + slot;
                self.stack[slot] = val;
            }
            Target::Tuple(targets) => self.bind_parts(targets, val),
        }
    }

    fn bind_parts(&mut self, targets: &[Target], val: Val) {
        match val {
            Val::Tuple(parts) => match Rc::try_unwrap(parts) {
                Ok(parts) => {
                    for (target, part) in targets.iter().zip(parts) {
                        self.bind(target, part);
                    }
                }
                Err(shared) => {
                    for (target, part) in targets.iter().zip(shared.iter()) {
                        self.bind(target, part.clone());
                    }
                }
            },
            error => {
                for target in targets {
                    self.bind(target, error.clone());
                }
            }
        }
    }

    /// [`Machine::bind`] of element `index`, without building a tuple only to take it apart.
    pub(crate) fn bind_element(&mut self, target: &Target, elements: &Elements, index: usize) {
        match elements {
            Elements::Packed(column) => self.bind_column(target, column, index),
            Elements::Boxed(elements) => self.bind(target, elements[index].clone()),
        }
    }

    fn bind_column(&mut self, target: &Target, column: &Column, index: usize) {
        match (target, column) {
            (Target::Ignore, _) => {}
            (Target::Tuple(targets), Column::Tuple { parts, .. }) => {
                for (target, part) in targets.iter().zip(parts) {
                    self.bind_column(target, part, index);
                }
            }
            (target, column) => self.bind(target, element(column, index)),
        }
    }
}
