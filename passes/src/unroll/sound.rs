//! What cannot be an error.
//!
//! Note [Errors of rows]. A row can be an error as a whole, as `xs[i]` beyond the end is. That is seen also by what
//! wants no more than its length, or maps its elements to a constant. Its parts are errors too, but only where they are
//! read. So what reads rows is written out if these are sound, or if it reads a part of each of them whatever it
//! yields; and a row that is made of its parts again is an error if the first of them is, unless it is sound.

use std::collections::HashSet;

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Start, Statement, Type, Var};
use weft_ir::{Scalar, ScalarOp};

use super::MOST_LOOPS;
use super::extents::Known;
use crate::partial::may_fail;

/// What is known of the variables of a program.
pub(super) struct Sound<'k> {
    known: &'k Known,
    /// Those that are no errors, and have none in them.
    sound: HashSet<Var>,
    /// The arrays that are no errors, though elements may be.
    exist: HashSet<Var>,
    /// What maps make of sound elements.
    of_sound: HashSet<Var>,
    /// How many loops and operators are around what is looked at.
    loops: usize,
}

impl<'k> Sound<'k> {
    pub(super) fn of(program: &Program, known: &'k Known) -> Sound<'k> {
        let sound = program.params.iter().map(|(var, _)| *var).collect();
        let mut all =
            Sound { known, sound, exist: HashSet::new(), of_sound: HashSet::new(), loops: 0 };
        all.body(&program.body);
        all
    }

    /// Whether it is no error, and has none in it.
    pub(super) fn is_sound(&self, atom: Atom) -> bool {
        atom.var().is_none_or(|var| self.sound.contains(&var))
    }

    /// Whether an array is no error as a whole.
    pub(super) fn exists(&self, array: Atom) -> bool {
        self.is_sound(array) || array.var().is_some_and(|var| self.exist.contains(&var))
    }

    /// Whether the elements of an array are sound, if it is no error itself.
    pub(super) fn has_sound_elements(&self, array: Atom) -> bool {
        self.is_sound(array) || array.var().is_some_and(|var| self.of_sound.contains(&var))
    }

    /// Whether arrays are known to have one length.
    fn in_lockstep(&self, arrays: &[Atom]) -> bool {
        let same = arrays.iter().all(|array| *array == arrays[0]);
        same || self.known.lockstep(arrays).is_some()
    }

    /// Goes through a body; which of its results are sound.
    fn body(&mut self, body: &Body) -> Vec<bool> {
        for statement in &body.statements {
            let sound = self.operation(statement);
            self.note(&statement.results, &sound);
            let exist = self.makes_what_exists(&statement.operation);
            for (number, (var, _)) in statement.results.iter().enumerate() {
                let of_sound = match &statement.operation {
                    Operation::Map(lambda, _) => self.is_sound(lambda.body.results[number]),
                    _ => false,
                };
                for (set, is_in) in [(&mut self.exist, exist), (&mut self.of_sound, of_sound)] {
                    match is_in {
                        true => set.insert(*var),
                        false => set.remove(var),
                    };
                }
            }
        }
        body.results.iter().map(|atom| self.is_sound(*atom)).collect()
    }

    fn note(&mut self, vars: &[(Var, Type)], sound: &[bool]) {
        for ((var, _), is_sound) in vars.iter().zip(sound) {
            match is_sound {
                true => self.sound.insert(*var),
                false => self.sound.remove(var),
            };
        }
    }

    fn makes_what_exists(&self, operation: &Operation) -> bool {
        match operation {
            Operation::Literal(_) | Operation::Constant(_) => true,
            Operation::Iota(length) | Operation::Replicate(length, _) => self.is_sound(*length),
            Operation::Map(_, arrays) => {
                self.in_lockstep(arrays) && arrays.iter().all(|array| self.exists(*array))
            }
            _ => false,
        }
    }

    /// Which results of an operation are sound.
    fn operation(&mut self, statement: &Statement) -> Vec<bool> {
        let results = &statement.results;
        let mut all = true;
        statement.operation.for_each_atom(&mut |atom| all &= self.is_sound(*atom));
        let is_sound = match &statement.operation {
            Operation::Scalar(op, atoms) => all && !may_fail(*op, atoms, results[0].1.element),
            Operation::If { condition, then, otherwise } => {
                let condition = self.is_sound(*condition);
                let branches = self.body(then).into_iter().zip(self.body(otherwise));
                return branches.map(|(one, other)| condition && one && other).collect();
            }
            Operation::While { state, initial, condition, body } => {
                let initial = self.all_sound(initial);
                return self.steady(initial, |sound, state_is| {
                    sound.note(state, state_is);
                    let turns = sound.body(condition).iter().all(|it| *it);
                    sound.body(body).into_iter().map(|it| it && turns).collect()
                });
            }
            Operation::For { index, count, state, initial, body } => {
                let turns = self.is_sound(*count);
                self.sound.insert(*index);
                let initial = self.all_sound(initial);
                return self.steady(initial, |sound, state_is| {
                    sound.note(state, state_is);
                    sound.body(body).into_iter().map(|it| it && turns).collect()
                });
            }
            Operation::Index(array, indices) | Operation::Update { array, indices, .. } => {
                let there = indices.iter().enumerate().all(|(axis, index)| match index {
                    Atom::Scalar(Scalar::I64(index)) => {
                        let extent = self.known.extent(*array, axis);
                        extent.is_some_and(|extent| (0..extent as i64).contains(index))
                    }
                    _ => false,
                });
                all && there
            }
            Operation::Map(lambda, arrays) => {
                let elements: Vec<bool> =
                    arrays.iter().map(|it| self.has_sound_elements(*it)).collect();
                self.note(&lambda.params, &elements);
                let all = all && self.in_lockstep(arrays);
                return self.body(&lambda.body).into_iter().map(|it| it && all).collect();
            }
            Operation::Fold { operator, start, arrays } => {
                let some = !matches!(start, Start::None) || self.known.lockstep(arrays).is_some();
                self.is_closed(operator, all) && some && self.in_lockstep(arrays)
            }
            Operation::Scan { operator, arrays, .. } => {
                self.is_closed(operator, all) && self.in_lockstep(arrays)
            }
            Operation::Scatter { operator: Some(operator), .. } => {
                self.is_closed(operator, false);
                false
            }
            Operation::SortOrder { keys, .. } => all && self.in_lockstep(keys),
            Operation::Transpose(array) => all && self.known.row(*array).is_some(),
            Operation::Random(..)
            | Operation::Length(_)
            | Operation::Literal(_)
            | Operation::Constant(_)
            | Operation::Iota(_)
            | Operation::Replicate(..)
            | Operation::Pack { .. }
            | Operation::Flatten(_)
            | Operation::Concat(..) => all,
            Operation::Assert { .. }
            | Operation::Call(..)
            | Operation::Scatter { operator: None, .. }
            | Operation::Reshape { .. }
            | Operation::Extent(..)
            | Operation::Segments(..) => false,
        };
        vec![is_sound; results.len()]
    }

    fn all_sound(&self, atoms: &[Atom]) -> Vec<bool> {
        atoms.iter().map(|atom| self.is_sound(*atom)).collect()
    }

    /// Whether an operator makes what is sound of what is, if that is there.
    fn is_closed(&mut self, operator: &Lambda, all: bool) -> bool {
        let after = |sound: &mut Self, state: &[bool]| {
            sound.note(&operator.params, &[state, state].concat());
            sound.body(&operator.body)
        };
        self.steady(vec![all; operator.params.len() / 2], after).iter().all(|it| *it)
    }

    /// What stays sound, however often something is done with it.
    fn steady(
        &mut self,
        mut state: Vec<bool>,
        mut after: impl FnMut(&mut Self, &[bool]) -> Vec<bool>,
    ) -> Vec<bool> {
        // Loops in loops in loops would be gone through often.
        if self.loops >= MOST_LOOPS {
            state.fill(false);
        }
        self.loops += 1;
        loop {
            let next = after(self, &state);
            let fewer: Vec<bool> =
                state.iter().zip(next).map(|(before, now)| *before && now).collect();
            if fewer == state {
                break;
            }
            let lost = state.iter().zip(&fewer).filter(|(before, now)| before != now).count();
            state = if lost > 1 { vec![false; fewer.len()] } else { fewer };
        }
        self.loops -= 1;
        state
    }
}

/// Which elements of what a fold of at least two elements folds are read, whatever it yields: one of each array.
pub(super) fn folded(operator: &Lambda) -> Vec<bool> {
    let read = read(operator);
    let (left, right) = read.split_at(read.len() / 2);
    left.iter().zip(right).map(|(left, right)| *left || *right).collect()
}

/// Which parameters of a function are read for each of its results.
pub(super) fn read(lambda: &Lambda) -> Vec<bool> {
    let mut all = vec![true; lambda.params.len()];
    for result in &lambda.body.results {
        let needed = needed(&lambda.body, *result);
        for (all, (var, _)) in all.iter_mut().zip(&lambda.params) {
            *all &= needed.contains(var);
        }
    }
    all
}

/// What a result of a body is an error of; not all of it.
fn needed(body: &Body, result: Atom) -> HashSet<Var> {
    let mut needed: HashSet<Var> = result.var().into_iter().collect();
    for statement in body.statements.iter().rev() {
        let mut results = statement.results.iter();
        let Some(number) = results.position(|(var, _)| needed.contains(var)) else { continue };
        match &statement.operation {
            // These look at the second operand only if the first says so.
            Operation::Scalar(ScalarOp::And | ScalarOp::Or | ScalarOp::Select, atoms) => {
                needed.extend(atoms[0].var());
            }
            Operation::Scalar(..)
            | Operation::Random(..)
            | Operation::Index(..)
            | Operation::Length(_)
            | Operation::Extent(..)
            | Operation::Map(..)
            | Operation::Transpose(_)
            | Operation::Flatten(_)
            | Operation::SortOrder { .. } => {
                statement.operation.for_each_atom(&mut |atom| needed.extend(atom.var()));
            }
            Operation::Fold { arrays, .. } | Operation::Scan { arrays, .. } => {
                needed.extend(arrays.iter().filter_map(|atom| atom.var()));
            }
            Operation::Assert { condition, values, .. } => {
                needed.extend(condition.var());
                needed.extend(values[number].var());
            }
            Operation::If { condition, .. } => needed.extend(condition.var()),
            _ => {}
        }
    }
    needed
}
