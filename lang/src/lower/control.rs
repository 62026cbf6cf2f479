//! Conditions, loops, apply-to-each.

use std::rc::Rc;

use weft_ir::nested::{Atom, Body, Operation, Type};
use weft_ir::{FaultKind, ScalarOp};

use super::builder::{BodyOf, I64, Lowering, Outcome};
use super::value::{Frame, Value, element_type};
use crate::builtins::Builtin;
use crate::typed::{Arg, Expr, ExprKind, LoopControl, Pattern};
use crate::types;

/// The start, stop and step of a range, if an expression is one.
fn range(expr: &Expr) -> Option<&[Arg]> {
    let ExprKind::Apply { function, args, depth: 0 } = &expr.kind else { return None };
    let is_range = matches!(function.kind, ExprKind::Builtin(Builtin::Range, _));
    (is_range && args.len() == 3).then_some(args)
}

impl<'p> Lowering<'p> {
    /// One of two values of a type.
    pub(super) fn choose(
        &mut self,
        condition: Atom,
        ty: &types::Type,
        then: &mut dyn FnMut(&mut Self) -> Outcome<Value<'p>>,
        otherwise: &mut dyn FnMut(&mut Self) -> Outcome<Value<'p>>,
    ) -> Outcome<Value<'p>> {
        let types = self.leaf_types(ty)?;
        let then = self.branch(then)?;
        let otherwise = self.branch(otherwise)?;
        // What may be an error, and stands before the condition, is for one branch alone all the same.
        let guarded = [&then, &otherwise]
            .iter()
            .any(|branch| branch.results.iter().any(|result| self.is_risky(*result)));
        let nothing_to_do =
            !guarded && then.statements.is_empty() && otherwise.statements.is_empty();
        if nothing_to_do && types.iter().all(|ty| ty.rank == 0) {
            let pairs = then.results.into_iter().zip(otherwise.results);
            let leaves: Vec<Atom> = pairs.map(|(a, b)| self.select(condition, a, b)).collect();
            return Ok(Value::of_leaves(ty, &leaves));
        }
        let leaves = self.emit(Operation::If { condition, then, otherwise }, &types);
        let leaves = self.relying_on(condition, leaves);
        Ok(Value::of_leaves(ty, &leaves))
    }

    /// The leaves of a value that is an error if a scalar is: what is known of an array without it, as
    /// its length where both branches agree, relies on it all the same.
    fn relying_on(&mut self, scalar: Atom, leaves: Vec<Atom>) -> Vec<Atom> {
        if !self.may_fail(scalar) || leaves.iter().all(|leaf| self.type_of(*leaf).rank == 0) {
            return leaves;
        }
        let there = self.compute(ScalarOp::Eq, &[scalar, scalar]);
        self.assert(there, FaultKind::AssertionFailed, leaves)
    }

    fn branch(&mut self, branch: &mut dyn FnMut(&mut Self) -> Outcome<Value<'p>>) -> Outcome<Body> {
        self.open();
        let value = branch(self);
        let results = value.and_then(|value| self.leaves(&value));
        let body = self.close(results.clone().unwrap_or_default());
        results?;
        Ok(body)
    }

    /// `loop pattern = init … do body`.
    pub(super) fn repeat(
        &mut self,
        pattern: &'p Pattern,
        init: &'p Expr,
        control: &'p LoopControl,
        body: &'p Expr,
        frame: &Rc<Frame<'p>>,
    ) -> Outcome<Value<'p>> {
        let first = self.expression(init, frame)?;
        match control {
            LoopControl::Count(index, count) => {
                let count = self.expression(count, frame)?.expect_scalar();
                self.count_loop(&init.ty, &first, count, &mut |lowering, at, state| {
                    frame.bind(index, &Value::Scalar(at));
                    frame.bind(pattern, &state);
                    lowering.expression(body, frame)
                })
            }
            // The numbers of a range are computed, not read.
            LoopControl::Each(element, elements) if let Some(range) = range(elements) => {
                let mut bounds = Vec::with_capacity(range.len());
                for bound in range {
                    bounds.push(self.expression(&bound.expr, frame)?.expect_scalar());
                }
                let (start, step) = (bounds[0], bounds[2]);
                let count = self.range_count(start, bounds[1], step);
                self.count_loop(&init.ty, &first, count, &mut |lowering, at, state| {
                    frame.bind(element, &Value::Scalar(lowering.affine(start, step, at)));
                    frame.bind(pattern, &state);
                    lowering.expression(body, frame)
                })
            }
            LoopControl::Each(element, elements) => {
                let ty = element_type(&elements.ty);
                let leaves = self.expression(elements, frame)?.expect_array();
                let count = self.length(leaves[0]);
                self.count_loop(&init.ty, &first, count, &mut |lowering, at, state| {
                    let atoms = lowering.index_all(&leaves, &[at]);
                    frame.bind(element, &Value::of_leaves(ty, &atoms));
                    frame.bind(pattern, &state);
                    lowering.expression(body, frame)
                })
            }
            LoopControl::While(condition) => {
                let initial = self.leaves(&first)?;
                self.while_loop(
                    initial,
                    &mut |lowering, atoms| {
                        frame.bind(pattern, &Value::of_leaves(&init.ty, atoms));
                        Ok(lowering.expression(condition, frame)?.expect_scalar())
                    },
                    &mut |lowering, atoms| {
                        frame.bind(pattern, &Value::of_leaves(&init.ty, atoms));
                        let next = lowering.expression(body, frame)?;
                        lowering.leaves(&next)
                    },
                )
                .map(|leaves| Value::of_leaves(&init.ty, &leaves))
            }
        }
    }

    /// `count` times the body, which gets the number of the step and the state.
    pub(super) fn count_loop(
        &mut self,
        ty: &types::Type,
        first: &Value<'p>,
        count: Atom,
        body: &mut dyn FnMut(&mut Self, Atom, Value<'p>) -> Outcome<Value<'p>>,
    ) -> Outcome<Value<'p>> {
        let types = self.leaf_types(ty)?;
        let initial = self.leaves(first)?;
        let index = self.variable(I64);
        self.set_count(Atom::Var(index));
        let state = self.new_variables(&types);
        let atoms: Vec<Atom> = state.iter().map(|(var, _)| Atom::Var(*var)).collect();
        self.open();
        let next = body(self, Atom::Var(index), Value::of_leaves(ty, &atoms));
        let results = next.and_then(|next| self.leaves(&next));
        let body = self.close(results.clone().unwrap_or_default());
        results?;
        let leaves = self.emit(Operation::For { index, count, state, initial, body }, &types);
        let leaves = self.relying_on(count, leaves);
        Ok(Value::of_leaves(ty, &leaves))
    }

    /// A loop over leaves while a condition holds.
    pub(super) fn while_loop(
        &mut self,
        initial: Vec<Atom>,
        condition: &mut dyn FnMut(&mut Self, &[Atom]) -> Outcome<Atom>,
        body: BodyOf<'_, 'p>,
    ) -> Outcome<Vec<Atom>> {
        let types: Vec<Type> = self.types_of(&initial);
        let state = self.new_variables(&types);
        let atoms: Vec<Atom> = state.iter().map(|(var, _)| Atom::Var(*var)).collect();
        self.open();
        let holds = condition(self, &atoms);
        let condition = self.close(holds.clone().into_iter().collect());
        holds?;
        self.open();
        let results = body(self, &atoms);
        let body = self.close(results.clone().unwrap_or_default());
        results?;
        Ok(self.emit(Operation::While { state, initial, condition, body }, &types))
    }

    /// `{ body : p in xs ; … | filter }`.
    pub(super) fn comprehension(
        &mut self,
        body: &'p Expr,
        generators: &'p [(Pattern, Expr)],
        filter: Option<&'p Expr>,
        frame: &Rc<Frame<'p>>,
    ) -> Outcome<Value<'p>> {
        let mut arrays = Vec::new();
        let mut counts = Vec::with_capacity(generators.len());
        for (_, source) in generators {
            // A generator does not see the variables of the others.
            let leaves = self.expression(source, frame)?.expect_array();
            counts.push(leaves.len());
            arrays.extend(leaves.iter().copied());
        }
        let bind = |elements: &[Atom]| {
            let mut rest = elements;
            for ((pattern, source), count) in generators.iter().zip(&counts) {
                let (taken, others) = rest.split_at(*count);
                rest = others;
                frame.bind(pattern, &Value::of_leaves(element_type(&source.ty), taken));
            }
        };
        if let Some(filter) = filter {
            let flags = self.map(&arrays, &mut |lowering, elements| {
                bind(elements);
                Ok(vec![lowering.expression(filter, frame)?.expect_scalar()])
            })?;
            arrays = self.pack(flags[0], &arrays);
        }
        let leaves = self.map(&arrays, &mut |lowering, elements| {
            bind(elements);
            let value = lowering.expression(body, frame)?;
            lowering.leaves(&value)
        })?;
        Ok(Value::array(leaves))
    }
}
