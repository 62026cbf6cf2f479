//! Loops, of the host or of an element.
//!
//! A loop of the host has a state of stored arrays (Note [Common layouts] in `super::control`). Its turns may have to be
//! counted: up to a number, or as nothing may need it (`Note [Idle loops]` in [`super::idle`]).

use weft_ir::flat::{Block, Operation, Program, Statement, Type, Var};
use weft_ir::nested::{self, Body};
use weft_ir::{FaultKind, RowState, Rows, ScalarOp, ScalarType};

use super::control::{Layout, more_general};
use super::local::{is_local, is_scalar_code, scalars_of};
use super::rows::Turns;
use super::scalar::ScalarId;
use super::view::Value;
use super::{Flattener, Outcome, unsupported};
use crate::MOST_IDLE_TURNS;

/// What a loop does.
pub(super) enum Repetition<'p> {
    For(nested::Var, ScalarId, &'p Body),
    While(&'p Body, &'p Body),
}

/// Why the turns of a loop of the host are counted.
#[derive(Clone, Copy)]
enum Counted {
    /// There are so many.
    To(ScalarId),
    /// There may be no point, which this says (`Note [Idle loops]` in [`super::idle`]).
    Idle(ScalarId),
}

/// A loop's blocks.
struct LoopBody {
    condition: Block,
    body: Block,
    carried: Vec<Var>,
    /// What the state's layouts must be at least.
    layouts: Vec<Layout>,
}

impl<'p> Flattener<'p> {
    /// A loop, of the host or of an element.
    pub(super) fn repetition(
        &mut self,
        statement: &'p nested::Statement,
    ) -> Outcome<Vec<Value<'p>>> {
        let scalars = statement.results.iter().all(|(_, ty)| ty.rank == 0);
        let (state, initial, bodies) = match &statement.operation {
            nested::Operation::For { state, initial, body, .. } => (state, initial, vec![body]),
            nested::Operation::While { state, initial, condition, body } => {
                (state, initial, vec![condition, body])
            }
            _ => panic!("flatten: a loop"),
        };
        let simple = bodies.iter().all(|body| is_scalar_code(body));
        let local = scalars && bodies.iter().all(|body| is_local(body));
        let initial: Vec<Value<'p>> = initial.iter().map(|atom| self.atom(atom)).collect();
        let mut host = self.region.is_none() && !(scalars && simple);
        let repetition = match &statement.operation {
            nested::Operation::For { index, count, body, .. } => {
                let count = self.scalar_atom(count);
                host &= self.scalars.depth(count) == 0;
                Repetition::For(*index, count, body)
            }
            nested::Operation::While { condition, body, .. } => {
                // Where each element decides for itself when to stop, it loops by itself.
                host &= self.depth() == 0 || !scalars;
                Repetition::While(condition, body)
            }
            _ => panic!("flatten: a loop"),
        };
        if host && let Some(values) = self.host_loop(&repetition, state, &initial)? {
            return Ok(values);
        }
        if local {
            return self.local_loop(&repetition, state, scalars_of(initial));
        }
        if self.region.is_some() {
            return unsupported(
                "a loop over arrays inside an operator or a loop of an element",
                statement.span,
            );
        }
        self.divided_loop(&repetition, state, initial)
    }

    fn local_loop(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        initial: Vec<ScalarId>,
    ) -> Outcome<Vec<Value<'p>>> {
        let results = match *repetition {
            Repetition::While(condition, body) => {
                let results = self.repeat(
                    &initial,
                    |flattener, ids| {
                        flattener.bind_all(state, ids);
                        Ok(scalars_of(flattener.body(condition)?)[0])
                    },
                    |flattener, ids| {
                        flattener.bind_all(state, ids);
                        Ok(scalars_of(flattener.body(body)?))
                    },
                )?;
                self.note_long(&results);
                results
            }
            Repetition::For(index, count, body) => {
                let mut with_index = vec![self.scalars.integer(0)];
                with_index.extend(&initial);
                let results = self.repeat(
                    &with_index,
                    |flattener, ids| Ok(flattener.op(ScalarOp::Lt, &[ids[0], count])),
                    |flattener, ids| {
                        flattener.bind(index, Value::Scalar(ids[0]));
                        flattener.bind_all(state, &ids[1..]);
                        let one = flattener.scalars.integer(1);
                        let mut next = vec![flattener.op(ScalarOp::Add, &[ids[0], one])];
                        next.extend(scalars_of(flattener.body(body)?));
                        Ok(next)
                    },
                )?;
                if self.scalars.known_integer(count).is_none_or(|count| count > MOST_IDLE_TURNS) {
                    self.note_long(&results);
                }
                results[1..].to_vec()
            }
        };
        self.count_idle_turns(&results);
        Ok(results.into_iter().map(Value::Scalar).collect())
    }

    fn bind_all(&mut self, state: &[(nested::Var, nested::Type)], ids: &[ScalarId]) {
        for (&(var, _), &id) in state.iter().zip(ids) {
            self.bind(var, Value::Scalar(id));
        }
    }

    /// A loop of the host; nothing if each element ends it by itself.
    fn host_loop(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        initial: &[Value<'p>],
    ) -> Outcome<Option<Vec<Value<'p>>>> {
        match *repetition {
            Repetition::For(_, _, body) => self.store_free(&[body], true),
            Repetition::While(condition, body) => self.store_free(&[condition, body], true),
        }
        let turns = self.counted(repetition);
        let initial = self.stored_values(initial.to_vec())?;
        let mut layouts: Vec<Layout> =
            initial.iter().map(|value| self.layout(value, u32::MAX)).collect();
        loop {
            let attempt = self.loop_body(repetition, turns, state, &layouts)?;
            let Some(LoopBody { condition, body, carried, layouts: found }) = attempt else {
                return Ok(None);
            };
            if found != layouts {
                // The variables of this attempt stay without a use.
                layouts = found;
                continue;
            }
            let mut first = self.converted_all(&initial, &layouts);
            let (mut results, values) = self.carriers(&layouts);
            if turns.is_some() {
                let zero = self.scalars.integer(0);
                first.insert(0, self.host_scalar(zero));
                results.insert(0, self.counter());
            }
            let rows = self.rows_of_host_loop(repetition, state, turns, (&carried, &layouts));
            let rows = rows.map(Box::new);
            let operation =
                Operation::While { state: carried, initial: first, condition, body, rows };
            let span = self.span;
            self.emit(Statement { results, operation, span });
            return Ok(Some(values));
        }
    }

    /// Why the turns of a loop are counted, if they are.
    fn counted(&mut self, repetition: &Repetition<'p>) -> Option<Counted> {
        let count = match *repetition {
            Repetition::For(_, count, _) => {
                let size = self.host_size(count);
                Some(self.scalars.size(size))
            }
            Repetition::While(..) => None,
        };
        let some_point = self.doubtful_point(0);
        let Some(count) = count else { return some_point.map(Counted::Idle) };
        if let Some(some_point) = some_point {
            let may_turn = self.may_turn(some_point, count);
            self.check(may_turn, FaultKind::AssertionFailed);
        }
        Some(Counted::To(count))
    }

    /// A variable for the number of a turn.
    fn counter(&mut self) -> Var {
        self.typed(Type { element: ScalarType::I64, extents: Vec::new() })
    }

    /// A loop of the host for one point.
    fn rows_of_host_loop(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        turns: Option<Counted>,
        (carried, layouts): (&[Var], &[Layout]),
    ) -> Option<Rows<Program>> {
        match turns {
            // The program of a point counts no turns that only the host counts.
            Some(Counted::Idle(_)) => {
                let mut rows =
                    self.rows_of(repetition, state, (&carried[1..], layouts), Turns::Host)?;
                rows.state.insert(0, RowState::Kept);
                Some(rows)
            }
            Some(Counted::To(_)) | None => {
                self.rows_of(repetition, state, (carried, layouts), Turns::Host)
            }
        }
    }

    /// The blocks of a loop whose state has these layouts, and those that the body's results need;
    /// nothing if its condition differs from element to element.
    fn loop_body(
        &mut self,
        repetition: &Repetition<'p>,
        turns: Option<Counted>,
        state: &'p [(nested::Var, nested::Type)],
        layouts: &[Layout],
    ) -> Outcome<Option<LoopBody>> {
        let counter = turns.map(|_| self.counter());
        let before = self.types.len() as u32;
        let (mut carried, values) = self.carriers(layouts);
        carried.splice(0..0, counter);
        self.open();
        let condition = self.host_goes_on(repetition, turns, counter, (state, &values));
        let condition = condition.map(|condition| match self.scalars.depth(condition) {
            0 => Some(self.host_scalar(condition)),
            _ => None,
        });
        let statements = self.close();
        let Some(condition) = condition? else { return Ok(None) };
        let condition = Block { statements, results: vec![condition] };
        self.open();
        if let (Some(counter), Some(Counted::To(count))) = (counter, turns) {
            self.note_turn(counter, count);
        }
        let next = self.next_state(repetition, turns, counter, (state, &values));
        let next = next.map(|results| {
            let found: Vec<Layout> =
                results.iter().map(|value| self.layout(value, before)).collect();
            let needed: Vec<Layout> = layouts
                .iter()
                .zip(&found)
                .map(|(known, found)| more_general(known, &self.in_sizes_of(known, found)))
                .collect();
            let mut next = Vec::new();
            if needed == layouts {
                next = self.converted_all(&results, layouts);
                if let Some(counter) = counter {
                    next.insert(0, self.following(counter));
                }
            }
            (next, needed)
        });
        let statements = self.close();
        let (results, layouts) = next?;
        let body = Block { statements, results };
        Ok(Some(LoopBody { condition, body, carried, layouts }))
    }

    /// Takes up what is known of the number of a turn: what the loop runs over, which is as long, is indexed by it.
    fn note_turn(&mut self, counter: Var, count: ScalarId) {
        let (counter, zero) =
            (self.scalars.host(counter, ScalarType::I64), self.scalars.integer(0));
        let known =
            [self.op(ScalarOp::Lt, &[counter, count]), self.op(ScalarOp::Ge, &[counter, zero])];
        let checked = self.checked.last_mut().expect("a block is open");
        checked.extend(known.map(|condition| (condition, FaultKind::IndexOutOfRange)));
    }

    /// Whether a loop of the host goes on at a state.
    fn host_goes_on(
        &mut self,
        repetition: &Repetition<'p>,
        turns: Option<Counted>,
        counter: Option<Var>,
        (state, values): (&[(nested::Var, nested::Type)], &[Value<'p>]),
    ) -> Outcome<ScalarId> {
        match (repetition, counter, turns) {
            (Repetition::While(condition, _), _, _) => {
                self.bind_values(state, values);
                self.body(condition).map(|results| scalars_of(results)[0])
            }
            (Repetition::For(..), Some(counter), Some(Counted::To(count))) => {
                let counter = self.scalars.host(counter, ScalarType::I64);
                Ok(self.op(ScalarOp::Lt, &[counter, count]))
            }
            (Repetition::For(..), _, _) => panic!("flatten: a counted loop counts"),
        }
    }

    /// The next state of a loop of the host, stored.
    fn next_state(
        &mut self,
        repetition: &Repetition<'p>,
        turns: Option<Counted>,
        counter: Option<Var>,
        (state, values): (&[(nested::Var, nested::Type)], &[Value<'p>]),
    ) -> Outcome<Vec<Value<'p>>> {
        if let (Some(counter), Some(Counted::Idle(some_point))) = (counter, turns) {
            let counter = self.scalars.host(counter, ScalarType::I64);
            let may_turn = self.may_turn(some_point, counter);
            self.check(may_turn, FaultKind::AssertionFailed);
        }
        self.bind_values(state, values);
        let body = match *repetition {
            Repetition::While(_, body) => body,
            Repetition::For(index, _, body) => {
                let counter = self.scalars.host(counter.expect("counted"), ScalarType::I64);
                self.bind(index, Value::Scalar(counter));
                body
            }
        };
        let results = self.body(body)?;
        self.store_appended(&results);
        self.stored_values(results)
    }

    /// The number of the next turn.
    fn following(&mut self, counter: Var) -> Var {
        let counter = self.scalars.host(counter, ScalarType::I64);
        let one = self.scalars.integer(1);
        let following = self.op(ScalarOp::Add, &[counter, one]);
        self.host_scalar(following)
    }

    fn bind_values(&mut self, state: &[(nested::Var, nested::Type)], values: &[Value<'p>]) {
        for (&(var, _), value) in state.iter().zip(values) {
            self.bind(var, value.clone());
        }
    }
}
