//! Recursion on scalars as a loop with a stack.
//!
//! Note [Frames on a stack]. Where a call is a few scalar operations, or needs the result of the call before, there is
//! nothing to be done side by side: the calls are made one after the other, as a processor makes them. The function
//! becomes a loop of which a turn goes from the beginning of the function, or from where it goes on behind a call,
//! to the next call or to its end. What it needs behind the call is saved in a frame: an element of an array for each
//! such value, at the depth of the call. So all is a loop over scalars and a few arrays of which a turn replaces one
//! element, of which the CPU makes a loop in C (`codegen::sequential`).
//!
//! ```text
//! f n = if n < 2 then n else let a = f (n - 1) in let b = f (n - 2) in a + b
//!
//! at 0, the beginning:  if n < 2 then return n else call n - 1, go on at 1, save n
//! at 1:                 the result is a; call n - 2 of the saved n, go on at 2, save a
//! at 2:                 the result is b; return a + b of the saved a
//! ```
//!
//! What every turn yields is the same list of scalars, a [`Step`]. A condition with calls in it is the last thing that
//! a turn does; what comes behind it stands in both branches, as far as it comes to the next call.
//!
//! Source: Reynolds, "Definitional interpreters for higher-order programming languages" (1972), on continuations that
//! are data.

mod points;

use std::collections::HashMap;

use weft_ir::nested::{Atom, Function, Operation, Statement, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, Span};

use super::shape::calls_of_operation;
use crate::code::{BOOL, Code, I64, atoms, integer, renamed};
use points::{Point, Points, Rest, Then};

/// No more statements than this are made of a function.
const MOST_STATEMENTS: usize = 1000;

/// How many frames there are at first; there are twice as many whenever all are taken.
const FIRST_FRAMES: i64 = 64;

/// What is where a loop has ended: below all calls.
const ENDED: i64 = -1;

/// How many frames there may be, those of the calls and the one below them.
fn most(deepest: u64) -> i64 {
    i64::try_from(deepest).unwrap_or(i64::MAX).saturating_add(1)
}

type Names = HashMap<Var, Atom>;

/// A recursion whose calls are made one after the other.
pub(super) struct Frames<'f> {
    function: &'f Function,
    /// The numbers of the parameters that differ from call to call.
    kept: Vec<usize>,
    /// The others, and what they are.
    fixed: Names,
    points: Points<'f>,
    /// The arrays of frames: the type of each.
    slots: Vec<Type>,
    span: Span,
}

/// What a turn comes to.
struct Step {
    /// By how much the stack grows: 1 for a call behind which the function goes on, -1 for a return.
    growth: i64,
    /// Where the function goes on: behind a call, or in the next turn.
    place: i64,
    /// Of a call.
    arguments: Option<Vec<Atom>>,
    /// Of a return.
    results: Option<Vec<Atom>>,
    /// For the place, slot by slot.
    saved: Vec<Atom>,
}

/// The number of a place, as the loop holds it: 0 is the beginning.
fn place(number: usize) -> i64 {
    1 + i64::try_from(number).expect("few places")
}

impl<'f> Frames<'f> {
    /// The recursion that a call of a function starts. `kept` and `fixed` are its parameters.
    ///
    /// # Errors
    /// Why it cannot be one.
    pub(super) fn of(
        function: &'f Function,
        kept: Vec<usize>,
        fixed: Names,
        span: Span,
    ) -> Result<Frames<'f>, &'static str> {
        let types = kept.iter().map(|&number| function.params[number].1);
        if types.chain(function.results.iter().copied()).any(|ty| ty.rank > 0) {
            return Err("with arrays");
        }
        let same: Vec<Var> = fixed.keys().copied().collect();
        let points = Points::of(&function.body, &function.params, &same)?;
        let slots = points.slots().into_iter();
        let slots = slots.flat_map(|(ty, count)| vec![Type::scalar(ty); count]).collect();
        Ok(Frames { function, kept, fixed, points, slots, span })
    }

    /// The loops in place of the call, which bind these results. Calls that nest deeper than `deepest` are a fault.
    ///
    /// # Errors
    /// That they would be too long.
    pub(super) fn expand(
        &self,
        code: &mut Code<'_>,
        arguments: &[Atom],
        results: &[(Var, Type)],
        deepest: u64,
    ) -> Result<(), &'static str> {
        let start = 2 + self.kept.len();
        let types = self.state_types();
        let none = self.function.results.iter().map(|ty| zero(ty.element)).collect();
        let given: Vec<Atom> = self.kept.iter().map(|&number| arguments[number]).collect();
        let arrays = self.empty_frames(code, integer(FIRST_FRAMES.min(most(deepest))));
        // Frames are numbered from 1 on; below them is where the loop ends.
        let initial = [vec![integer(0), integer(1)], given, none, arrays].concat();
        let state = code.fresh(&types);
        let values = atoms(&state);
        let condition = code.inner(|code| vec![self.goes_on(code, values[0])]);
        let mut turn = Ok(());
        let body = code.inner(|code| {
            let (length, arrays) = self.with_room(code, &values, deepest);
            let state = code.fresh(&types);
            let initial = [&values[..values.len() - arrays.len()], &arrays].concat();
            let values = atoms(&state);
            let condition = code.inner(|code| {
                let goes_on = self.goes_on(code, values[0]);
                let then =
                    code.inner(|code| vec![code.scalar(ScalarOp::Lt, &[values[1], length], BOOL)]);
                let otherwise = code.inner(|_| vec![Atom::Scalar(Scalar::Bool(false))]);
                vec![code.one(Operation::If { condition: goes_on, then, otherwise }, BOOL)]
            });
            let body = code.inner(|code| {
                self.turn(code, &values).unwrap_or_else(|because| {
                    turn = Err(because);
                    Vec::new()
                })
            });
            code.many(Operation::While { state, initial, condition, body }, &types)
        });
        turn?;
        let mut last = code.fresh(&types);
        last[start..start + results.len()].copy_from_slice(results);
        code.push(last, Operation::While { state, initial, condition, body });
        Ok(())
    }

    fn goes_on(&self, code: &mut Code<'_>, now: Atom) -> Atom {
        code.scalar(ScalarOp::Ge, &[now, integer(0)], BOOL)
    }

    /// Places and frames of that many calls.
    fn empty_frames(&self, code: &mut Code<'_>, length: Atom) -> Vec<Atom> {
        let scalars = self.slots.iter().map(|ty| Scalar::zero(ty.element));
        let scalars = std::iter::once(Scalar::I64(ENDED)).chain(scalars);
        let filled = scalars.map(|scalar| {
            let ty = Type::scalar(scalar.ty()).array();
            code.one(Operation::Replicate(length, Atom::Scalar(scalar)), ty)
        });
        filled.collect()
    }

    /// The places and frames of a state, twice as many if all are taken; how many there are.
    fn with_room(&self, code: &mut Code<'_>, state: &[Atom], deepest: u64) -> (Atom, Vec<Atom>) {
        let arrays = &state[state.len() - 1 - self.slots.len()..];
        let types = self.array_types();
        let length = code.one(Operation::Length(arrays[0]), I64);
        let is_full = code.scalar(ScalarOp::Ge, &[state[1], length], BOOL);
        let then = code.inner(|code| {
            let left = code.scalar(ScalarOp::Sub, &[integer(most(deepest)), length], I64);
            let condition = code.scalar(ScalarOp::Gt, &[left, integer(0)], BOOL);
            let (kind, values) = (FaultKind::AssertionFailed, vec![left]);
            let left = code.one(Operation::Assert { condition, kind, values }, I64);
            let more = code.scalar(ScalarOp::Min, &[left, length], I64);
            let more = self.empty_frames(code, more);
            let pairs = arrays.iter().zip(more).zip(&types);
            pairs
                .map(|((array, more), ty)| code.one(Operation::Concat(*array, more), *ty))
                .collect()
        });
        let otherwise = code.inner(|_| arrays.to_vec());
        let arrays = code.many(Operation::If { condition: is_full, then, otherwise }, &types);
        (code.one(Operation::Length(arrays[0]), I64), arrays)
    }

    /// The types of places and frames.
    fn array_types(&self) -> Vec<Type> {
        std::iter::once(I64.array()).chain(self.slots.iter().map(|ty| ty.array())).collect()
    }

    /// The types of the state: the place, the depth, arguments, results, the places of the frames, the frames.
    fn state_types(&self) -> Vec<Type> {
        let head = [&[I64, I64][..], &self.argument_types(), &self.function.results].concat();
        [head, self.array_types()].concat()
    }

    fn argument_types(&self) -> Vec<Type> {
        self.kept.iter().map(|&number| self.function.params[number].1).collect()
    }

    /// The types of what a [`Step`] is.
    fn step_types(&self) -> Vec<Type> {
        let arguments = self.argument_types();
        [&[I64, I64][..], &arguments, &self.function.results, &self.slots].concat()
    }

    /// The next state, of a state.
    fn turn(&self, code: &mut Code<'_>, state: &[Atom]) -> Result<Vec<Atom>, &'static str> {
        let [arguments, results] = [self.kept.len(), self.function.results.len()];
        let (now, depth) = (state[0], state[1]);
        let given = &state[2..2 + arguments];
        let returned = &state[2 + arguments..2 + arguments + results];
        let (places, frames) =
            state[2 + arguments + results..].split_first().expect("the places of the frames");
        let mut turn = Turn { frames: self, left: MOST_STATEMENTS };
        let step = turn.at(code, 0, now, &|code, number| {
            let mut names = self.fixed.clone();
            let Some(point) = number.checked_sub(1).map(|number| &self.points.list[number]) else {
                let params = self.kept.iter().map(|&number| self.function.params[number].0);
                names.extend(params.zip(given.iter().copied()));
                return names;
            };
            for ((var, ty), slot) in point.saved.iter().zip(self.slots_of(point)) {
                let value = code.one(Operation::Index(frames[slot], vec![depth]), *ty);
                names.insert(*var, value);
            }
            if matches!(point.statement.operation, Operation::Call(..)) {
                let vars = point.statement.results.iter().map(|(var, _)| *var);
                names.extend(vars.zip(returned.iter().copied()));
            }
            names
        })?;
        code.span = self.span;
        let (growth, place) = (step[0], step[1]);
        let grows = code.scalar(ScalarOp::Gt, &[growth, integer(0)], BOOL);
        let shrinks = code.scalar(ScalarOp::Lt, &[growth, integer(0)], BOOL);
        let otherwise = code.inner(|code| {
            let then = code.inner(|code| {
                let below = code.scalar(ScalarOp::Sub, &[depth, integer(1)], I64);
                vec![code.one(Operation::Index(*places, vec![below]), I64)]
            });
            let otherwise = code.inner(|_| vec![place]);
            vec![code.one(Operation::If { condition: shrinks, then, otherwise }, I64)]
        });
        let then = code.inner(|_| vec![integer(0)]);
        let next = code.one(Operation::If { condition: grows, then, otherwise }, I64);
        // Also where nothing is saved: what is written then lies above all frames.
        let mut stored = |array: Atom, value: Atom, ty: Type| {
            let indices = vec![depth];
            code.one(Operation::Update { array, indices, value }, ty.array())
        };
        let mut kept = vec![stored(*places, place, I64)];
        let values = &step[2 + arguments + results..];
        for ((array, value), ty) in frames.iter().zip(values).zip(&self.slots) {
            kept.push(stored(*array, *value, *ty));
        }
        let depth = code.scalar(ScalarOp::Add, &[depth, growth], I64);
        let scalars = step[2..2 + arguments + results].to_vec();
        Ok([vec![next, depth], scalars, kept].concat())
    }

    /// In which slot each of the values is that a place needs.
    fn slots_of(&self, point: &Point<'_>) -> Vec<usize> {
        let mut used: HashMap<ScalarType, usize> = HashMap::new();
        let slot = |(_, ty): &(Var, Type)| {
            let first = self.slots.iter().position(|slot| slot == ty).expect("a slot");
            let used = used.entry(ty.element).or_default();
            *used += 1;
            first + *used - 1
        };
        point.saved.iter().map(slot).collect()
    }
}

/// A turn of the loop under construction.
struct Turn<'a, 'f> {
    frames: &'a Frames<'f>,
    /// How many more statements it may have.
    left: usize,
}

impl<'f> Turn<'_, 'f> {
    /// From the place that the loop is at, which is none of those below `number`.
    fn at(
        &mut self,
        code: &mut Code<'_>,
        number: usize,
        now: Atom,
        names: &dyn Fn(&mut Code<'_>, usize) -> Names,
    ) -> Result<Vec<Atom>, &'static str> {
        if number == self.frames.points.list.len() {
            let mut names = names(code, number);
            return self.from(code, number, &mut names);
        }
        let number_of = i64::try_from(number).expect("few places");
        let condition = code.scalar(ScalarOp::Eq, &[now, integer(number_of)], BOOL);
        self.branches(
            code,
            condition,
            |turn, code| {
                let mut names = names(code, number);
                turn.from(code, number, &mut names)
            },
            |turn, code| turn.at(code, number + 1, now, names),
        )
    }

    /// From a place on: 0 is the beginning.
    fn from(
        &mut self,
        code: &mut Code<'_>,
        number: usize,
        names: &mut Names,
    ) -> Result<Vec<Atom>, &'static str> {
        let frames = self.frames;
        let Some(point) = number.checked_sub(1).map(|number| &frames.points.list[number]) else {
            return self.rest(code, &Rest::of(&frames.function.body, Then::Return), names);
        };
        let (holds, state, body) = match &point.statement.operation {
            Operation::While { state, condition, body, .. } => {
                for statement in &condition.statements {
                    self.copy(code, statement, names)?;
                }
                (renamed(condition.results[0], names), state, body)
            }
            Operation::For { index, count, state, body, .. } => {
                let operands = [names[index], renamed(*count, names)];
                (code.scalar(ScalarOp::Lt, &operands, BOOL), state, body)
            }
            _ => return self.rest(code, &point.rest, names),
        };
        let (mut inside, mut behind) = (names.clone(), names.clone());
        for ((var, _), (result, _)) in state.iter().zip(&point.statement.results) {
            behind.insert(*result, names[var]);
        }
        let again = Then::Again(point.statement, point.rest.clone());
        self.branches(
            code,
            holds,
            |turn, code| turn.rest(code, &Rest::of(body, again), &mut inside),
            |turn, code| turn.rest(code, &point.rest, &mut behind),
        )
    }

    fn branches(
        &mut self,
        code: &mut Code<'_>,
        condition: Atom,
        first: impl FnOnce(&mut Self, &mut Code<'_>) -> Result<Vec<Atom>, &'static str>,
        second: impl FnOnce(&mut Self, &mut Code<'_>) -> Result<Vec<Atom>, &'static str>,
    ) -> Result<Vec<Atom>, &'static str> {
        let (mut one, mut other) = (Ok(()), Ok(()));
        let then = code.inner(|code| {
            first(self, code).unwrap_or_else(|because| {
                one = Err(because);
                Vec::new()
            })
        });
        let otherwise = code.inner(|code| {
            second(self, code).unwrap_or_else(|because| {
                other = Err(because);
                Vec::new()
            })
        });
        one.and(other)?;
        let types = self.frames.step_types();
        Ok(code.many(Operation::If { condition, then, otherwise }, &types))
    }

    fn copy(
        &mut self,
        code: &mut Code<'_>,
        statement: &Statement,
        names: &mut Names,
    ) -> Result<(), &'static str> {
        self.left = self.left.checked_sub(1).ok_or("in too many ways")?;
        code.span = statement.span;
        code.copy(statement, names);
        Ok(())
    }

    /// To the next call, or to the end.
    fn rest(
        &mut self,
        code: &mut Code<'_>,
        rest: &Rest<'f>,
        names: &mut Names,
    ) -> Result<Vec<Atom>, &'static str> {
        for (number, statement) in rest.statements.iter().enumerate() {
            if !calls_of_operation(&statement.operation) {
                self.copy(code, statement, names)?;
                continue;
            }
            self.left = self.left.checked_sub(1).ok_or("in too many ways")?;
            code.span = statement.span;
            return self.call(code, statement, rest.behind(number), names);
        }
        let values: Vec<Atom> = rest.results.iter().map(|atom| renamed(*atom, names)).collect();
        match &rest.then {
            Then::Return => Ok(self.step(Step {
                growth: -1,
                place: ENDED,
                arguments: None,
                results: Some(values),
                saved: Vec::new(),
            })),
            Then::Bind(statement, rest) => {
                names.extend(statement.results.iter().map(|(var, _)| *var).zip(values));
                self.rest(code, rest, names)
            }
            Then::Again(statement, _) => {
                let mut next = Vec::new();
                if let Operation::For { index, .. } = &statement.operation {
                    next.push(code.scalar(ScalarOp::Add, &[names[index], integer(1)], I64));
                }
                next.extend(values);
                Ok(self.enter(statement, &next, names))
            }
        }
    }

    /// A statement with calls in it, behind which `rest` goes on.
    fn call(
        &mut self,
        code: &mut Code<'_>,
        statement: &'f Statement,
        rest: Rest<'f>,
        names: &mut Names,
    ) -> Result<Vec<Atom>, &'static str> {
        match &statement.operation {
            Operation::Call(_, args) => {
                let kept = self.frames.kept.iter().map(|&number| renamed(args[number], names));
                let arguments = Some(kept.collect());
                if rest.only_returns(statement) {
                    let (growth, place, saved) = (0, 0, Vec::new());
                    return Ok(self.step(Step { growth, place, arguments, results: None, saved }));
                }
                let number = self.frames.points.number_of(statement);
                let saved = self.saved(number, &[], names);
                let (growth, place) = (1, place(number));
                Ok(self.step(Step { growth, place, arguments, results: None, saved }))
            }
            Operation::If { condition, then, otherwise } => {
                let rest = std::rc::Rc::new(rest);
                let (mut first, mut second) = (names.clone(), names.clone());
                let bind = || Then::Bind(statement, rest.clone());
                self.branches(
                    code,
                    renamed(*condition, names),
                    |turn, code| turn.rest(code, &Rest::of(then, bind()), &mut first),
                    |turn, code| turn.rest(code, &Rest::of(otherwise, bind()), &mut second),
                )
            }
            Operation::While { initial, .. } | Operation::For { initial, .. } => {
                let is_counted = matches!(statement.operation, Operation::For { .. });
                let first = is_counted.then_some(integer(0)).into_iter();
                let initial = initial.iter().map(|atom| renamed(*atom, names));
                Ok(self.enter(statement, &first.chain(initial).collect::<Vec<_>>(), names))
            }
            _ => unreachable!("no place to go on behind {:?}", statement.operation),
        }
    }

    /// The next turn of a loop, with that state.
    fn enter(&self, statement: &Statement, state: &[Atom], names: &Names) -> Vec<Atom> {
        let number = self.frames.points.number_of(statement);
        let saved = self.saved(number, state, names);
        let place = place(number);
        self.step(Step { growth: 0, place, arguments: None, results: None, saved })
    }

    /// What a place needs, slot by slot; the first of it are given.
    fn saved(&self, number: usize, first: &[Atom], names: &Names) -> Vec<Atom> {
        let point = &self.frames.points.list[number];
        let mut slots: Vec<Atom> = self.frames.slots.iter().map(|ty| zero(ty.element)).collect();
        for (at, slot) in self.frames.slots_of(point).into_iter().enumerate() {
            let (var, _) = point.saved[at];
            slots[slot] = first.get(at).copied().unwrap_or_else(|| renamed(Atom::Var(var), names));
        }
        slots
    }

    fn step(&self, step: Step) -> Vec<Atom> {
        let Step { growth, place, arguments, results, saved } = step;
        let zeros = |types: &[Type]| types.iter().map(|ty| zero(ty.element)).collect::<Vec<_>>();
        let frames = self.frames;
        let arguments = arguments.unwrap_or_else(|| zeros(&frames.argument_types()));
        let results = results.unwrap_or_else(|| zeros(&frames.function.results));
        let saved = if saved.is_empty() { zeros(&frames.slots) } else { saved };
        [vec![integer(growth), integer(place)], arguments, results, saved].concat()
    }
}

fn zero(ty: ScalarType) -> Atom {
    Atom::Scalar(Scalar::zero(ty))
}
