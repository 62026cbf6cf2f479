//! Conditions that divide the points of a space, and loops that each point ends by itself.
//!
//! Note [Divided points]. A map or a fold of scalars inside a condition of an element is a loop of that
//! element ([`super::local`]). A sort, a scan or a filter is not, nor is a fold that each element of an array needs, as in
//! `if c then r / sum r else r`: the element would do it again. Then the points are divided: those for
//! which the condition holds become a space of their own, whose last dimension is the current one's
//! filter, and there the branch is flattened like any other code. What it uses from outside is packed
//! by the same filter; what it yields is read by the number of the point among those for which the
//! condition holds. A loop is the same again and again, until no point is left.
//!
//! Source: Blelloch and Sabot, "Compiling collection-oriented languages onto massively parallel
//! computers" (Journal of Parallel and Distributed Computing 8, 1990), section on conditionals.

use std::collections::HashMap;
use std::rc::Rc;

use weft_ir::flat::{Block, Dimension, Operation, Size, Start, Statement, Type, Var};
use weft_ir::nested::{self, Body, ScanForm};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::compile::Sharing;
use super::control::{Layout, more_general};
use super::layout::parts_of;
use super::local::{folds_for_elements, is_local};
use super::materialise::{constant_thunk, plain_operator};
use super::repetition::Repetition;
use super::rows::Turns;
use super::scalar::ScalarId;
use super::view::{Length, Source, Value, View};
use super::{Flattener, Outcome};

/// What is computed for the points for which a condition holds, of values as they are there.
type Inside<'b, 'p> =
    &'b mut dyn FnMut(&mut Flattener<'p>, &[Value<'p>]) -> Outcome<Vec<Value<'p>>>;

/// What was computed for the points for which a condition holds.
struct Part {
    /// The results over the part, with their types and axes.
    results: Vec<(Var, nested::Type, Vec<Dimension>)>,
    /// Where a point for which the condition holds finds its own.
    prefix: Vec<(ScalarId, Size)>,
}

impl<'p> Flattener<'p> {
    /// `if` whose branches do more than an element can do by itself.
    pub(super) fn divided_if(
        &mut self,
        condition: ScalarId,
        then: &'p Body,
        otherwise: &'p Body,
    ) -> Outcome<Vec<Value<'p>>> {
        if self.scalars.depth(condition) == self.depth() {
            self.store_here(condition);
        }
        let inverse = self.op(ScalarOp::Not, &[condition]);
        let mut branches = Vec::new();
        for (holds, body) in [(condition, then), (inverse, otherwise)] {
            let part = match is_local(body) && !folds_for_elements(body) {
                true => None,
                false => Some(
                    self.divided(holds, &[body], &[], &mut |flattener, _| flattener.body(body))?,
                ),
            };
            let region = self.scalars.region(None);
            self.region = Some(region);
            let values = match part {
                Some(part) => Ok(self.own(&part)),
                None => self.body(body),
            };
            self.region = None;
            branches.push((region, values?));
        }
        let otherwise = branches.pop().expect("two branches");
        let then = branches.pop().expect("two branches");
        Ok(self.join(condition, then, otherwise))
    }

    /// The results of a part at the current point, for which the condition is known to hold.
    fn own(&mut self, part: &Part) -> Vec<Value<'p>> {
        let results = part.results.iter();
        results
            .map(|(var, ty, axes)| self.stored_part(*var, *ty, part.prefix.clone(), axes.clone()))
            .collect()
    }

    /// What a body yields at the points for which a flag holds. It sees the variables that `bodies`
    /// use from outside, and `values`, as they are at these points.
    fn divided(
        &mut self,
        flag: ScalarId,
        bodies: &[&'p Body],
        values: &[Value<'p>],
        body: Inside<'_, 'p>,
    ) -> Outcome<Part> {
        let outer = self.context.clone();
        let free: Vec<(nested::Var, Value<'p>)> = nested::free_variables(bodies)
            .into_iter()
            .filter_map(|var| Some((var, self.bound.get(&var)?.clone())))
            .collect();
        let mut seen = Vec::new();
        for value in free.iter().map(|(_, value)| value).chain(values) {
            seen.push(self.movable(value)?);
        }
        let (index, _) = *self.identity().last().expect("a point has an index");
        let mut packed = vec![index];
        for value in &seen {
            self.scalars_in(value, &mut packed);
        }
        let mut moved = HashMap::new();
        let (offsets, dimension) = self.enter_part(flag, &packed, &mut moved);
        for ((var, _), value) in free.iter().zip(&seen) {
            let value = self.moved(value, &moved);
            self.bind(*var, value);
        }
        let inside: Vec<Value<'p>> =
            seen[free.len()..].iter().map(|value| self.moved(value, &moved)).collect();
        let results = body(self, &inside).and_then(|results| self.all_stored(&results));
        for (var, value) in free {
            self.bind(var, value);
        }
        self.context = outer;
        let prefix = self.place_in_part(flag, offsets, dimension);
        Ok(Part { results: results?, prefix })
    }

    /// Values stored over the current context, with their types and axes.
    fn all_stored(
        &mut self,
        values: &[Value<'p>],
    ) -> Outcome<Vec<(Var, nested::Type, Vec<Dimension>)>> {
        let mut stored = Vec::new();
        for value in values {
            let ty = value.ty(self);
            stored.push(match value {
                Value::Scalar(id) => (self.store_here(*id), ty, Vec::new()),
                Value::Array(view) => {
                    let (var, axes) = parts_of(&*self.materialise(view)?);
                    (var, ty, axes)
                }
            });
        }
        Ok(stored)
    }

    /// Enters the space of the points for which a flag holds. Yields the descriptor of its last
    /// dimension, if it has one, and that dimension; `moved` learns what the scalars are there.
    fn enter_part(
        &mut self,
        flag: ScalarId,
        packed: &[ScalarId],
        moved: &mut HashMap<ScalarId, ScalarId>,
    ) -> (Option<Var>, Dimension) {
        let mut wanted = vec![flag];
        for &id in packed {
            // What may fail is only needed where the flag holds.
            let zero = self.scalars.constant(Scalar::zero(self.scalars.ty(id)));
            let fails = self.scalars.node(id).may_fail;
            wanted.push(if fails { self.select(flag, id, zero) } else { id });
        }
        let space = self.context.space.clone();
        let thunk = self.thunk(&wanted, space.len(), Sharing::Store);
        self.leave();
        let mut results = Vec::new();
        let (offsets, dimension) = if self.depth() == 0 {
            let count = self.typed(Type { element: ScalarType::I64, extents: Vec::new() });
            results.push(count);
            (None, Dimension::Dense(Size::Var(count)))
        } else {
            let rows = self.rows();
            let extents = vec![self.size_plus(rows, 1)];
            let offsets = self.typed(Type { element: ScalarType::I64, extents });
            let total = self.typed(Type { element: ScalarType::I64, extents: Vec::new() });
            results.extend([offsets, total]);
            (Some(offsets), Dimension::Ragged { offsets, total: Size::Var(total) })
        };
        self.enter(dimension);
        let kept = self.context.space.clone();
        let here: Vec<ScalarId> = self.identity().into_iter().map(|(index, _)| index).collect();
        for &id in packed {
            let ty = self.scalars.ty(id);
            let var = self.array_over(&kept, ty);
            results.push(var);
            let span = self.span;
            moved.insert(id, self.scalars.element(var, ty, &here, None, span));
        }
        let (operation, span) = (Operation::Filter { space, thunk }, self.span);
        self.emit(Statement { results, operation, span });
        (offsets, dimension)
    }

    /// Where a point for which the flag holds is in the space of those points.
    fn place_in_part(
        &mut self,
        flag: ScalarId,
        offsets: Option<Var>,
        dimension: Dimension,
    ) -> Vec<(ScalarId, Size)> {
        let one = self.op(ScalarOp::Cast(ScalarType::I64), &[flag]);
        let space = self.context.space.clone();
        let before = self.array_over(&space, ScalarType::I64);
        let operation = Operation::Scan {
            thunk: self.thunk(&[one], space.len(), Sharing::Store),
            form: ScanForm::Exclusive,
            from_right: false,
            operator: plain_operator(ScalarOp::Add, ScalarType::I64),
            start: Start::Combined(constant_thunk(space.len() - 1, Scalar::I64(0))),
            full: None,
            space,
        };
        let span = self.span;
        self.emit(Statement { results: vec![before], operation, span });
        let here: Vec<ScalarId> = self.identity().into_iter().map(|(index, _)| index).collect();
        let number = self.scalars.read(before, ScalarType::I64, &here, None, span);
        match (offsets, dimension) {
            (Some(offsets), Dimension::Ragged { total, .. }) => {
                let inner = self.context.clone();
                self.leave();
                let rows = self.identity();
                self.context = inner;
                let (start, _) = self.row_bounds(offsets, &rows);
                vec![(self.op(ScalarOp::Add, &[start, number]), total)]
            }
            (_, Dimension::Dense(count) | Dimension::Ragged { total: count, .. }) => {
                vec![(number, count)]
            }
        }
    }

    /// The value as something whose scalars can be packed.
    fn movable(&mut self, value: &Value<'p>) -> Outcome<Value<'p>> {
        Ok(match value {
            Value::Scalar(id) => Value::Scalar(*id),
            Value::Array(view) => match &view.source {
                Source::Stored { .. } | Source::Iota(_) => Value::Array(Rc::clone(view)),
                Source::Replicate(_, Value::Scalar(_)) => Value::Array(Rc::clone(view)),
                Source::Replicate(..)
                | Source::Concat(..)
                | Source::Transposed(..)
                | Source::Column(..)
                | Source::Gathered(..)
                | Source::Literal(_)
                | Source::Choice(..)
                | Source::Checked(..)
                | Source::Delayed(..) => Value::Array(self.materialise(view)?),
            },
        })
    }

    /// Adds the scalars of a movable value that depend on the innermost dimension.
    fn scalars_in(&self, value: &Value<'p>, found: &mut Vec<ScalarId>) {
        let mut add = |id: ScalarId| {
            if self.scalars.depth(id) == self.depth() && !found.contains(&id) {
                found.push(id);
            }
        };
        match value {
            Value::Scalar(id) => add(*id),
            Value::Array(view) => match &view.source {
                Source::Stored { prefix, .. } => prefix.iter().for_each(|&(index, _)| add(index)),
                Source::Iota(Length::Varying(length)) => add(*length),
                Source::Replicate(length, value) => {
                    if let Length::Varying(length) = length {
                        add(*length);
                    }
                    self.scalars_in(value, found);
                }
                Source::Iota(Length::Uniform(_))
                | Source::Concat(..)
                | Source::Transposed(..)
                | Source::Column(..)
                | Source::Gathered(..)
                | Source::Literal(_)
                | Source::Choice(..)
                | Source::Checked(..)
                | Source::Delayed(..) => {}
            },
        }
    }

    /// A movable value with its scalars replaced.
    fn moved(&mut self, value: &Value<'p>, moved: &HashMap<ScalarId, ScalarId>) -> Value<'p> {
        let new = |id: ScalarId| moved.get(&id).copied().unwrap_or(id);
        let length = |length: Length| match length {
            Length::Varying(id) => Length::Varying(new(id)),
            uniform @ Length::Uniform(_) => uniform,
        };
        match value {
            Value::Scalar(id) => Value::Scalar(new(*id)),
            Value::Array(view) => {
                let source = match &view.source {
                    Source::Stored { var, prefix, axes } => Source::Stored {
                        var: *var,
                        prefix: prefix.iter().map(|&(id, extent)| (new(id), extent)).collect(),
                        axes: axes.clone(),
                    },
                    Source::Iota(of) => Source::Iota(length(*of)),
                    Source::Replicate(of, value) => {
                        Source::Replicate(length(*of), self.moved(value, moved))
                    }
                    _ => return Value::Array(Rc::clone(view)),
                };
                Value::Array(Rc::new(View { ty: view.ty, source }))
            }
        }
    }

    /// A loop that each point ends by itself.
    pub(super) fn divided_loop(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        initial: Vec<Value<'p>>,
    ) -> Outcome<Vec<Value<'p>>> {
        let mut initial = initial;
        if let Repetition::For(..) = repetition {
            initial.insert(0, Value::Scalar(self.scalars.integer(0)));
        }
        let goes_on = self.goes_on(repetition, state, &initial)?;
        initial.push(Value::Scalar(goes_on));
        let initial = self.stored_values(initial)?;
        let mut layouts: Vec<Layout> =
            initial.iter().map(|value| self.layout(value, u32::MAX)).collect();
        loop {
            let before = self.types.len() as u32;
            let (carried, values) = self.carriers(&layouts);
            self.open();
            let any = self.any_point(&values);
            let statements = self.close();
            let condition = Block { statements, results: vec![any] };
            self.open();
            let next = self.divided_step(repetition, state, &values);
            let next = next.and_then(|next| self.stored_values(next));
            let (mut results, mut general) = (Vec::new(), Ok(Vec::new()));
            match next {
                Err(error) => general = Err(error),
                Ok(next) => {
                    let found = next.iter().map(|value| self.layout(value, before));
                    let found: Vec<Layout> = layouts
                        .iter()
                        .zip(found)
                        .map(|(known, found)| more_general(known, &self.in_sizes_of(known, &found)))
                        .collect();
                    if found == layouts {
                        results = self.converted_all(&next, &layouts);
                    }
                    general = general.map(|_: Vec<Layout>| found);
                }
            }
            let body = Block { statements: self.close(), results };
            let general = general?;
            if general != layouts {
                layouts = general;
                continue;
            }
            let first = self.converted_all(&initial, &layouts);
            let (results, mut values) = self.carriers(&layouts);
            let rows =
                self.rows_of(repetition, state, (&carried, &layouts), Turns::Point).map(Box::new);
            let operation =
                Operation::While { state: carried, initial: first, condition, body, rows };
            let span = self.span;
            self.emit(Statement { results, operation, span });
            values.pop();
            return Ok(values.split_off(values.len() - state.len()));
        }
    }

    /// The next state of a loop that each point ends by itself; its last component says which points
    /// go on.
    fn divided_step(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        values: &[Value<'p>],
    ) -> Outcome<Vec<Value<'p>>> {
        let Some((Value::Scalar(active), values)) = values.split_last() else {
            panic!("flatten: the last component says who goes on")
        };
        let bodies = match *repetition {
            Repetition::While(condition, body) => vec![condition, body],
            Repetition::For(_, _, body) => vec![body],
        };
        let mut seen = values.to_vec();
        if let Repetition::For(_, count, _) = *repetition {
            seen.push(Value::Scalar(count));
        }
        self.bind_state(repetition, state, values);
        let part = self.divided(*active, &bodies, &seen, &mut |flattener, inside| {
            let (repetition, inside) = match *repetition {
                Repetition::While(condition, body) => (Repetition::While(condition, body), inside),
                Repetition::For(index, _, body) => {
                    let (count, inside) = inside.split_last().expect("the count");
                    let Value::Scalar(count) = *count else { panic!("flatten: a count") };
                    (Repetition::For(index, count, body), inside)
                }
            };
            flattener.bind_state(&repetition, state, inside);
            let mut next = Vec::new();
            let body = match repetition {
                Repetition::While(_, body) => body,
                Repetition::For(_, _, body) => {
                    let Value::Scalar(number) = inside[0] else { panic!("flatten: a number") };
                    let one = flattener.scalars.integer(1);
                    next.push(Value::Scalar(flattener.op(ScalarOp::Add, &[number, one])));
                    body
                }
            };
            next.extend(flattener.body(body)?);
            let goes_on = flattener.goes_on(&repetition, state, &next)?;
            next.push(Value::Scalar(goes_on));
            Ok(next)
        })?;
        let regions = (self.scalars.region(None), self.scalars.region(None));
        self.region = Some(regions.0);
        let then = self.own(&part);
        self.region = None;
        let mut otherwise = values.to_vec();
        otherwise.push(Value::Scalar(self.scalars.constant(Scalar::Bool(false))));
        Ok(self.join(*active, (regions.0, then), (regions.1, otherwise)))
    }

    fn bind_state(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        values: &[Value<'p>],
    ) {
        let own = values.len() - state.len();
        if let Repetition::For(index, ..) = repetition {
            self.bind(*index, values[0].clone());
        }
        for (&(var, _), value) in state.iter().zip(&values[own..]) {
            self.bind(var, value.clone());
        }
    }

    /// Whether a loop takes another step from a state.
    fn goes_on(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        values: &[Value<'p>],
    ) -> Outcome<ScalarId> {
        self.bind_state(repetition, state, values);
        match *repetition {
            Repetition::While(condition, _) => match self.body(condition)?[0] {
                Value::Scalar(id) => Ok(id),
                Value::Array(_) => panic!("flatten: a condition is a scalar"),
            },
            Repetition::For(_, count, _) => match values[0] {
                Value::Scalar(number) => Ok(self.op(ScalarOp::Lt, &[number, count])),
                Value::Array(_) => panic!("flatten: the number of a step is a scalar"),
            },
        }
    }

    /// Whether the last value holds at any point, as a variable of the host.
    fn any_point(&mut self, values: &[Value<'p>]) -> Var {
        match values.last() {
            Some(Value::Scalar(active)) => {
                let any = self.reduced(*active, ScalarOp::Or);
                self.host_scalar(any)
            }
            _ => panic!("flatten: the last component says who goes on"),
        }
    }
}
