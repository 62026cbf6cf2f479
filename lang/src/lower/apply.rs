//! Applying functions: directly, and over the outer axes of arguments.

use std::rc::Rc;

use weft_ir::ScalarOp;
use weft_ir::nested::Atom;

use super::builder::{Lowering, Outcome};
use super::value::{Frame, Function, Value, element_type};
use crate::builtins::Builtin;
use crate::typed::{Arg, Expr, ExprKind, InstanceId};
use crate::types::Type;

/// The type and the leaves of an argument that a function is mapped over; nothing if it is shared.
type Mapped<'p> = Option<(&'p Type, Rc<[Atom]>)>;

impl<'p> Lowering<'p> {
    /// An application, over `depth` outer axes.
    pub(super) fn application(
        &mut self,
        expr: &'p Expr,
        function: &'p Expr,
        args: &'p [Arg],
        depth: usize,
        frame: &Rc<Frame<'p>>,
    ) -> Outcome<Value<'p>> {
        let span = self.span;
        if let (ExprKind::Builtin(Builtin::Op(op), _), 0) = (&function.kind, depth) {
            match (op, args) {
                (ScalarOp::And | ScalarOp::Or, [a, b]) => {
                    return self.short_circuit(*op, [&a.expr, &b.expr], frame);
                }
                (ScalarOp::Select, [condition, a, b]) => {
                    let condition = self.expression(&condition.expr, frame)?.expect_scalar();
                    return self.choose(
                        condition,
                        &expr.ty,
                        &mut |lowering| lowering.expression(&a.expr, frame),
                        &mut |lowering| lowering.expression(&b.expr, frame),
                    );
                }
                _ => {}
            }
        }
        let callee = match (&function.kind, self.expression(function, frame)?) {
            // The errors of a builtin that is applied at once are those of the application.
            (ExprKind::Builtin(builtin, _), Value::Function(_)) => {
                Rc::new(Function::Builtin { builtin: *builtin, ty: &function.ty, span })
            }
            (_, Value::Function(function)) => function,
            _ => panic!("lower: what is applied is no function"),
        };
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.expression(&arg.expr, frame)?);
        }
        if depth == 0 {
            return self.apply(&callee, values);
        }
        let mapped = args
            .iter()
            .zip(&values)
            .map(|(arg, value)| arg.mapped.then(|| (&arg.expr.ty, value.expect_array())))
            .collect();
        let leaves = self.lift(&callee, &values, mapped, depth)?;
        Ok(Value::array(leaves))
    }

    /// Applies a function over `depth` outer axes of some of its arguments: those that have a type
    /// and leaves in `mapped`.
    fn lift(
        &mut self,
        callee: &Rc<Function<'p>>,
        values: &[Value<'p>],
        mapped: Vec<Mapped<'p>>,
        depth: usize,
    ) -> Outcome<Vec<Atom>> {
        let arrays: Vec<Atom> =
            mapped.iter().flatten().flat_map(|(_, leaves)| leaves.iter().copied()).collect();
        self.map(&arrays, &mut |lowering, elements| {
            let mut rest = elements;
            let mut inner = Vec::with_capacity(mapped.len());
            let mut args = values.to_vec();
            for (index, source) in mapped.iter().enumerate() {
                let Some((ty, leaves)) = source else {
                    inner.push(None);
                    continue;
                };
                let (taken, others) = rest.split_at(leaves.len());
                rest = others;
                let element = element_type(ty);
                if depth == 1 {
                    args[index] = Value::of_leaves(element, taken);
                }
                inner.push(Some((element, taken.into())));
            }
            if depth > 1 {
                return lowering.lift(callee, values, inner, depth - 1);
            }
            let result = lowering.apply(callee, args)?;
            lowering.leaves(&result)
        })
    }

    /// Applies a function value.
    pub(super) fn call(
        &mut self,
        function: &Value<'p>,
        args: Vec<Value<'p>>,
    ) -> Outcome<Value<'p>> {
        match function {
            Value::Function(function) => self.apply(function, args),
            _ => panic!("lower: what is applied is no function"),
        }
    }

    /// Applies a function to at least one argument: fewer than it takes, as many, or more.
    fn apply(&mut self, function: &Rc<Function<'p>>, args: Vec<Value<'p>>) -> Outcome<Value<'p>> {
        self.check_size()?;
        let mut function = Rc::clone(function);
        let mut args = args;
        loop {
            let arity = match &*function {
                Function::Closure { params, .. } => params.len(),
                Function::Instance(id) => self.params_of(*id).len(),
                Function::Builtin { builtin, .. } => builtin.arity(),
                Function::Partial { function: inner, args: bound } => {
                    args.splice(0..0, bound.iter().cloned());
                    function = Rc::clone(inner);
                    continue;
                }
            };
            if args.len() < arity {
                return Ok(Value::Function(Rc::new(Function::Partial { function, args })));
            }
            let rest = args.split_off(arity);
            let result = self.apply_all(&function, args)?;
            if rest.is_empty() {
                return Ok(result);
            }
            let Value::Function(next) = result else {
                panic!("lower: what is applied is no function");
            };
            (function, args) = (next, rest);
        }
    }

    /// The patterns of a top-level function.
    fn params_of(&self, id: InstanceId) -> &'p [crate::typed::Pattern] {
        match &self.program.instances[id.0 as usize].body.kind {
            ExprKind::Lambda { params, .. } => params,
            _ => panic!("lower: a definition without parameters is applied"),
        }
    }

    /// Applies a function to as many arguments as it takes.
    fn apply_all(&mut self, function: &Function<'p>, args: Vec<Value<'p>>) -> Outcome<Value<'p>> {
        match function {
            Function::Closure { params, body, frame } => {
                let frame = Frame::new(Some(Rc::clone(frame)));
                for (param, arg) in params.iter().zip(&args) {
                    frame.bind(param, arg);
                }
                self.expression(body, &frame)
            }
            Function::Instance(id) if self.recursion.is_recursive(*id) => {
                self.call_recursive(*id, &args)
            }
            Function::Instance(id) => self.expand(*id, &args),
            Function::Builtin { builtin, ty, span } => {
                let outer = std::mem::replace(&mut self.span, *span);
                let result = self.builtin(*builtin, ty, args);
                self.span = outer;
                result
            }
            Function::Partial { .. } => panic!("lower: a partial application was not taken apart"),
        }
    }

    /// Evaluates the body of a top-level function.
    pub(super) fn expand(&mut self, id: InstanceId, args: &[Value<'p>]) -> Outcome<Value<'p>> {
        let program = self.program;
        let ExprKind::Lambda { params, body } = &program.instances[id.0 as usize].body.kind else {
            panic!("lower: a definition without parameters is applied");
        };
        let frame = Frame::new(None);
        for (param, arg) in params.iter().zip(args) {
            frame.bind(param, arg);
        }
        self.expression(body, &frame)
    }
}
