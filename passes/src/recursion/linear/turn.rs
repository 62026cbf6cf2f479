//! What one turn of the loop does (Note [Accumulated recursion]).

use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Operation, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp};

use super::Linear;
use crate::code::{BOOL, Code, I64, integer, renamed};

/// A turn of the loop.
pub(super) struct Turn<'t> {
    pub(super) linear: &'t Linear,
    pub(super) state: &'t [Atom],
    pub(super) types: &'t [Type],
    pub(super) deepest: i64,
}

impl Turn<'_> {
    /// The next state, by a body whose results are combined with what has been accumulated.
    pub(super) fn next(
        &self,
        code: &mut Code<'_>,
        body: &Body,
        names: &mut HashMap<Var, Atom>,
        accumulated: &[Atom],
    ) -> Vec<Atom> {
        let Some(around) = self.linear.turn.around(body) else {
            body.statements.iter().for_each(|statement| code.copy(statement, names));
            let results = body.results.iter().map(|atom| renamed(*atom, names)).collect();
            return self.without_call(code, results, accumulated);
        };
        for statement in around.before.iter().chain(around.behind) {
            code.span = statement.span;
            code.copy(statement, names);
        }
        code.span = around.calling.span;
        let mut all = accumulated.to_vec();
        self.add(code, &mut all, &around.operands, names);
        match (&around.calling.operation, around.sides) {
            (Operation::Call(_, arguments), _) => self.call(code, arguments, names, all),
            (Operation::If { condition, .. }, Some(sides)) => {
                let condition = renamed(*condition, names);
                let [then, otherwise] =
                    sides.map(|side| code.inner(|code| self.next(code, &side, names, &all)));
                code.many(Operation::If { condition, then, otherwise }, self.types)
            }
            (operation, _) => panic!("recursion: {operation:?} calls"),
        }
    }

    /// Adds the operands of each result to what has been accumulated.
    fn add(
        &self,
        code: &mut Code<'_>,
        all: &mut [Atom],
        operands: &[Vec<(ScalarOp, Atom)>],
        names: &HashMap<Var, Atom>,
    ) {
        let results = operands.iter().zip(&self.linear.operators).zip(&self.linear.results);
        let accumulating = results.filter(|((_, operator), _)| operator.is_some());
        for (all, ((operands, _), ty)) in all.iter_mut().zip(accumulating) {
            for (operator, operand) in operands {
                *all = code.scalar(*operator, &[*all, renamed(*operand, names)], *ty);
            }
        }
    }

    /// The next state where there is no call, or one in tail position.
    fn without_call(
        &self,
        code: &mut Code<'_>,
        results: Vec<Atom>,
        accumulated: &[Atom],
    ) -> Vec<Atom> {
        let (arguments, results, goes_on) = match self.linear.turn.arguments {
            None => (&[][..], &results[..], Atom::Scalar(Scalar::Bool(false))),
            Some(count) => {
                let end = results.len() - 1;
                (&results[..count], &results[count..end], results[end])
            }
        };
        // Those that calls in tail position do not change stay as they are.
        let others = &self.state[arguments.len()..self.linear.kept.len()];
        let mut next = [arguments, others, accumulated].concat();
        let mut accumulated = accumulated.iter();
        for ((&result, operator), ty) in
            results.iter().zip(&self.linear.operators).zip(&self.linear.results)
        {
            let all = operator.and_then(|operator| Some((operator, *accumulated.next()?)));
            next.push(match all {
                Some((operator, all)) => code.scalar(operator, &[all, result], *ty),
                None => result,
            });
        }
        next.extend([self.state[self.state.len() - 2], goes_on]);
        next
    }

    /// The state of a call, which is one deeper.
    fn call(
        &self,
        code: &mut Code<'_>,
        arguments: &[Atom],
        names: &HashMap<Var, Atom>,
        all: Vec<Atom>,
    ) -> Vec<Atom> {
        let end = self.state.len() - 2;
        let depth = code.scalar(ScalarOp::Add, &[self.state[end], integer(1)], I64);
        let condition = code.scalar(ScalarOp::Le, &[depth, integer(self.deepest)], BOOL);
        let kept = self.linear.kept.iter();
        let mut values: Vec<Atom> =
            kept.map(|(number, ..)| renamed(arguments[*number], names)).collect();
        values.extend(all);
        // Whatever the loop goes on with needs that it may.
        let kind = FaultKind::AssertionFailed;
        let types = &self.types[..values.len()];
        let mut next = code.many(Operation::Assert { condition, kind, values }, types);
        next.extend(&self.state[next.len()..end]);
        next.extend([depth, Atom::Scalar(Scalar::Bool(true))]);
        next
    }
}
