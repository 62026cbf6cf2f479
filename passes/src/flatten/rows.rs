//! What a loop of many points is for one of them (Note [Loops row by row] in `ir::rows`).
//!
//! The loop is taken out of the program, with what it sees from outside as inputs, and flattened by itself. Rows of its
//! state may grow along their first axis, or be such that it is not seen that they do not. It is
//! done without where that is not a loop with the same state but for that, and where an array that it sees would
//! have to be computed for each point, or may meet a fault. What is computed for it alone is small: scalars, the numbers of
//! rows, and one array of copies that all points have in common. Numbers from 0 on its program makes itself, where they
//! are the indices that they are made for, copies where their length is a point's own, and literals.

mod inputs;
mod state;

use std::rc::Rc;

use weft_ir::flat::{Dimension, Operation, Program, Size, Statement, Var, storage};
use weft_ir::nested::{self, Atom, Body};
use weft_ir::{
    MatrixRows, RowInput, RowNumber, RowState, Rows, Scalar, ScalarOp, ScalarType, Span,
};

use super::control::{Axis, Layout};
use super::repetition::Repetition;
use super::scalar::ScalarId;
use super::view::{Length, Source, Value, View};
use super::{Context, Flattener, flattened};
use crate::code::I64;
use inputs::{Extent, Inputs};
use state::push_state;

/// How the turns of a loop are counted, and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turns {
    /// By the host, for all points together.
    Host,
    /// By each point, which says in the last part of the state whether it goes on.
    Point,
}

impl Turns {
    /// What the number of a turn becomes, the first output.
    fn number(self) -> RowState {
        match self {
            Turns::Host => RowState::All(0),
            Turns::Point => RowState::Point(0),
        }
    }
}

/// What a loop sees from outside.
#[derive(Default)]
struct Seen {
    inputs: Inputs,
    /// Arrays that a point's program makes of them.
    made: Vec<nested::Statement>,
    /// The numbers below an extent, which a part of the inputs or of the state has.
    numbers: Vec<(nested::Var, Size)>,
    /// How often it goes round, if that is counted.
    count: Option<Atom>,
    counted: Option<ScalarId>,
}

impl Seen {
    fn make(&mut self, var: nested::Var, ty: nested::Type, operation: nested::Operation) {
        self.made.push(statement(var, ty, operation));
    }

    /// Makes the numbers that are indices of an input's axis. That their number is the axis's extent is seen.
    fn make_numbers(&mut self, fresh: &mut impl Iterator<Item = nested::Var>) -> Option<()> {
        let made = std::mem::take(&mut self.made);
        for (var, size) in std::mem::take(&mut self.numbers) {
            let &(leaf, axis) = self.inputs.known.get(&Extent::Size(size))?;
            let (array, length) = (Atom::Var(self.inputs.params[leaf].0), fresh.next()?);
            let extent = match axis {
                0 => nested::Operation::Length(array),
                _ => nested::Operation::Extent(array, axis),
            };
            self.make(length, I64, extent);
            self.make(var, I64.array(), nested::Operation::Iota(Atom::Var(length)));
        }
        self.made.extend(made);
        Some(())
    }
}

impl<'p> Flattener<'p> {
    /// The loop whose state is carried by these variables, in these layouts, for one point; nothing if it is better
    /// done without.
    pub(super) fn rows_of(
        &mut self,
        repetition: &Repetition<'p>,
        state: &'p [(nested::Var, nested::Type)],
        (carried, layouts): (&[Var], &[Layout]),
        turns: Turns,
    ) -> Option<Rows<Program>> {
        if !self.rows || self.depth() == 0 || state.iter().all(|(_, ty)| ty.rank == 0) {
            return None;
        }
        let layouts = &layouts[layouts.len() - state.len() - usize::from(turns == Turns::Point)..];
        let mut fresh = (self.program.variables..).map(nested::Var);
        let mut seen = self.seen(repetition, state, layouts, &mut fresh)?;
        let first = seen.inputs.params.len();
        let counts = matches!(repetition, Repetition::For(..)).then_some(turns);
        let parts = push_state((state, layouts), (counts, carried), &mut seen.inputs, &mut fresh)?;
        seen.make_numbers(&mut fresh)?;
        let turns_are_state = usize::from(counts.is_some());
        let nested = of_point(repetition, state, (&seen, first), fresh)?;
        let inputs = seen.inputs;
        let program = flattened(&nested, &inputs.layouts, false).ok()?;
        if program.outputs.len() + first != program.inputs.len() {
            return None;
        }
        let is_loop =
            |statement: &&Statement| matches!(statement.operation, Operation::While { .. });
        if program.body.statements.iter().filter(is_loop).count() != 1 {
            return None;
        }
        let mut state: Vec<RowState> = counts.map(Turns::number).into_iter().collect();
        let leaves = program.inputs[first..].iter().zip(&program.outputs);
        for ((output, (before, after)), part) in
            leaves.enumerate().skip(turns_are_state).zip(&parts)
        {
            state.extend(part.becomes(output, &before.axes, &after.axes)?);
        }
        state.resize(carried.len(), RowState::Done);
        let points = self.rows();
        let (inputs, span) = (inputs.of(&program), self.span);
        Some(Rows { points, inputs, state, program, span })
    }

    /// What a loop sees from outside, and how often it goes round if that is counted.
    fn seen(
        &mut self,
        repetition: &Repetition<'p>,
        state: &[(nested::Var, nested::Type)],
        layouts: &[Layout],
        fresh: &mut impl Iterator<Item = nested::Var>,
    ) -> Option<Seen> {
        let mut seen = Seen::default();
        let (bodies, counted) = match *repetition {
            Repetition::While(condition, body) => (vec![condition, body], None),
            Repetition::For(index, count, body) => (vec![body], Some((index, count))),
        };
        if let Some((_, count)) = counted {
            // Whether it is there has been asked at all points: the loop asks each whether it begins. So it comes first: what
            // the loop does with it then reads what is stored.
            seen.count = Some(self.scalar_given(count, &mut seen, fresh, Self::needed_scalar)?);
            seen.counted = Some(count);
        }
        let own = |var: &nested::Var| {
            let is_index = counted.is_some_and(|(index, _)| index == *var);
            is_index || state.iter().any(|(own, _)| own == var)
        };
        for var in nested::free_variables(&bodies).into_iter().filter(|var| !own(var)) {
            match self.bound.get(&var)?.clone() {
                Value::Scalar(id) => {
                    let given = self.given_scalar(id, seen.counted)?;
                    seen.inputs.push(var, self.var_types[&var], given, Vec::new());
                }
                Value::Array(view) => self.see_array(var, &view, &mut seen, fresh)?,
            }
        }
        self.see_lengths(layouts, &mut seen, fresh)?;
        Some(seen)
    }

    /// Makes the lengths of numbers inputs, where nothing else has that extent.
    fn see_lengths(
        &mut self,
        layouts: &[Layout],
        seen: &mut Seen,
        fresh: &mut impl Iterator<Item = nested::Var>,
    ) -> Option<()> {
        let mut lengths: Vec<(Size, Atom)> = Vec::new();
        let mut of_scalars = Vec::new();
        for (var, size) in std::mem::take(&mut seen.numbers) {
            let of_state = Axis::Fixed(size);
            let is_extent = seen.inputs.known.contains_key(&Extent::Size(size))
                || layouts.iter().any(|layout| layout.axes.contains(&of_state));
            if is_extent {
                seen.numbers.push((var, size));
                continue;
            }
            let length = match lengths.iter().find(|(known, _)| *known == size) {
                Some(&(_, length)) => length,
                None => self.seen_length(Length::Uniform(size), seen, fresh)?,
            };
            lengths.push((size, length));
            of_scalars.push(statement(var, I64.array(), nested::Operation::Iota(length)));
        }
        // What is made of them stands behind them.
        seen.made.splice(0..0, of_scalars);
        Some(())
    }

    /// Makes a variable of a point's program an array that the loop sees.
    fn see_array(
        &mut self,
        var: nested::Var,
        view: &Rc<View<'p>>,
        seen: &mut Seen,
        fresh: &mut impl Iterator<Item = nested::Var>,
    ) -> Option<()> {
        if let Some((given, extents)) = self.given_array(view) {
            seen.inputs.push(var, view.ty, given, extents);
            return Some(());
        }
        let operation = match &view.source {
            &Source::Iota(Length::Uniform(size @ Size::Var(_))) => {
                seen.numbers.push((var, self.same_size(size)));
                return Some(());
            }
            Source::Iota(length) => {
                nested::Operation::Iota(self.seen_length(*length, seen, fresh)?)
            }
            Source::Replicate(length, value) => {
                let length = self.seen_length(*length, seen, fresh)?;
                nested::Operation::Replicate(length, self.see_value(value, seen, fresh)?)
            }
            Source::Literal(elements) => {
                let elements = elements.iter().map(|element| self.see_value(element, seen, fresh));
                nested::Operation::Literal(elements.collect::<Option<_>>()?)
            }
            Source::Concat(first, second) => {
                let (of_first, of_second) = (fresh.next()?, fresh.next()?);
                self.see_array(of_first, first, seen, fresh)?;
                self.see_array(of_second, second, seen, fresh)?;
                nested::Operation::Concat(Atom::Var(of_first), Atom::Var(of_second))
            }
            _ => return None,
        };
        seen.make(var, view.ty, operation);
        Some(())
    }

    /// A value that an array is made of which the loop sees, as an atom of a point's program.
    fn see_value(
        &mut self,
        value: &Value<'p>,
        seen: &mut Seen,
        fresh: &mut impl Iterator<Item = nested::Var>,
    ) -> Option<Atom> {
        match value {
            Value::Scalar(id) => self.seen_scalar(*id, seen, fresh),
            Value::Array(row) => {
                let var = fresh.next()?;
                self.see_array(var, row, seen, fresh)?;
                Some(Atom::Var(var))
            }
        }
    }

    /// A scalar that the loop sees, as an atom of a point's program.
    fn seen_scalar(
        &mut self,
        id: ScalarId,
        seen: &mut Seen,
        fresh: &mut impl Iterator<Item = nested::Var>,
    ) -> Option<Atom> {
        let counted = seen.counted;
        self.scalar_given(id, seen, fresh, |this, id| this.given_scalar(id, counted))
    }

    fn scalar_given(
        &mut self,
        id: ScalarId,
        seen: &mut Seen,
        fresh: &mut impl Iterator<Item = nested::Var>,
        given: impl FnOnce(&mut Self, ScalarId) -> Option<RowInput>,
    ) -> Option<Atom> {
        if let Some(known) = self.scalars.known_scalar(id) {
            return Some(Atom::Scalar(known));
        }
        let (var, given) = (fresh.next()?, given(self, id)?);
        seen.inputs.push(var, nested::Type::scalar(self.scalars.ty(id)), given, Vec::new());
        Some(Atom::Var(var))
    }

    /// The length of an array that a point's program makes. Where rows of that length are stored, nothing has to be
    /// computed, nor looked at whether it is one.
    fn seen_length(
        &mut self,
        length: Length,
        seen: &mut Seen,
        fresh: &mut impl Iterator<Item = nested::Var>,
    ) -> Option<Atom> {
        let given = match length {
            Length::Uniform(Size::Constant(size)) => return Some(Atom::Scalar(Scalar::I64(size))),
            Length::Uniform(size) => RowInput::Size(self.same_size(size)),
            Length::Varying(id) => {
                let key = (id, self.context.space.clone());
                match self.descriptors.iter().find_map(|known| known.get(&key)) {
                    Some(&Dimension::Ragged { offsets, .. }) => {
                        RowInput::Length(offsets, RowNumber::Point(Size::Constant(1)))
                    }
                    _ => return self.seen_scalar(id, seen, fresh),
                }
            }
        };
        let var = fresh.next()?;
        seen.inputs.push(var, nested::Type::scalar(ScalarType::I64), given, Vec::new());
        Some(Atom::Var(var))
    }

    /// Whether to compute a scalar for the loop may meet a fault. What is stored is there, and so is what it reads.
    fn may_fail_for_rows(&self, id: ScalarId) -> bool {
        let node = self.scalars.node(id);
        node.may_fail && node.stored.is_none()
    }

    /// A scalar for a loop that goes round so often, if that is counted: where it does not at all, or at no point, nobody
    /// may need it.
    fn given_scalar(&mut self, id: ScalarId, counted: Option<ScalarId>) -> Option<RowInput> {
        if !self.may_fail_for_rows(id) {
            return self.needed_scalar(id);
        }
        let (count, zero) = (counted?, self.scalars.integer(0));
        let mut begins = self.op(ScalarOp::Lt, &[zero, count]);
        if self.scalars.depth(begins) == 0 {
            let points = self.rows();
            let points = self.scalars.size(points);
            let some = self.op(ScalarOp::Lt, &[zero, points]);
            begins = self.op(ScalarOp::And, &[begins, some]);
        }
        let other = self.scalars.constant(Scalar::zero(self.scalars.ty(id)));
        match self.branch(begins, None, |_| Value::Scalar(id), |_| Value::Scalar(other)) {
            Value::Scalar(guarded) => self.needed_scalar(guarded),
            Value::Array(_) => None,
        }
    }

    /// A scalar that is needed at every point.
    fn needed_scalar(&mut self, id: ScalarId) -> Option<RowInput> {
        Some(match self.scalars.depth(id) {
            0 => RowInput::All(self.host_scalar(id)),
            _ => RowInput::Row(self.store_here(id), RowNumber::Point(Size::Constant(1))),
        })
    }

    /// What an array is at a point, and its extents; nothing if it would have to be computed for that.
    fn given_array(&mut self, view: &Rc<View<'p>>) -> Option<(RowInput, Vec<Extent>)> {
        let stored = match &view.source {
            Source::Stored { .. } => Rc::clone(view),
            Source::Replicate(Length::Uniform(_), Value::Scalar(id))
                if self.scalars.depth(*id) == 0 && !self.may_fail_for_rows(*id) =>
            {
                self.stored_for_all(view)?
            }
            _ => return None,
        };
        let Source::Stored { var, prefix, axes } = &stored.source else { return None };
        let dense = |axis: &Dimension| match *axis {
            Dimension::Dense(size) => Some(Extent::Size(self.same_size(size))),
            Dimension::Ragged { .. } => None,
        };
        let (second, last) = match axes.get(1) {
            Some(Dimension::Ragged { offsets, .. }) => (Some(*offsets), &axes[2..]),
            _ => (None, &axes[1..]),
        };
        let rest = last.iter().map(dense).collect::<Option<Vec<_>>>()?;
        let (var, of_rows) = (*var, axes[0]);
        let row = match prefix.is_empty() {
            true => None,
            false => Some(self.row_number(&prefix.clone())?),
        };
        if let Some(offsets) = second {
            // The point is that of the row.
            row.filter(|row| *row == RowNumber::Point(Size::Constant(1)))?;
            let (first, rows) = match of_rows {
                Dimension::Dense(size) => {
                    let size = self.same_size(size);
                    (Extent::Size(size), MatrixRows::Each(size))
                }
                Dimension::Ragged { offsets, .. } => (
                    Extent::Row(offsets, RowNumber::Point(Size::Constant(1))),
                    MatrixRows::Segment(offsets),
                ),
            };
            let extents = [first, Extent::Width(offsets, rows)].into_iter().chain(rest);
            return Some((RowInput::Matrix(var, offsets, rows), extents.collect()));
        }
        let (first, given) = match (of_rows, row) {
            (Dimension::Dense(size), None) => {
                (Extent::Size(self.same_size(size)), RowInput::All(var))
            }
            (Dimension::Dense(size), Some(row)) => {
                (Extent::Size(self.same_size(size)), RowInput::Row(var, row))
            }
            (Dimension::Ragged { offsets, .. }, Some(row)) => {
                (Extent::Row(offsets, row), RowInput::Segment(var, offsets, row))
            }
            (Dimension::Ragged { .. }, None) => return None,
        };
        Some((given, std::iter::once(first).chain(rest).collect()))
    }

    /// An array that is the same at all points, stored once.
    fn stored_for_all(&mut self, view: &Rc<View<'p>>) -> Option<Rc<View<'p>>> {
        let outer = std::mem::take(&mut self.context);
        let stored = self.materialise(view);
        self.context = outer;
        stored.ok()
    }

    /// Which row of an array has this prefix: the number of its points where these are the first indices of the point,
    /// else computed for each.
    fn row_number(&mut self, prefix: &[(ScalarId, Size)]) -> Option<RowNumber> {
        if let Some(below) = self.points_of(prefix) {
            return Some(RowNumber::Point(below));
        }
        if prefix.iter().any(|&(index, _)| self.may_fail_for_rows(index)) {
            return None;
        }
        let number = self.linear(prefix);
        Some(match self.scalars.depth(number) {
            0 => return None,
            _ => RowNumber::At(self.store_here(number)),
        })
    }

    /// How many points have the row with this prefix in common, if it is the first indices of the point.
    fn points_of(&mut self, prefix: &[(ScalarId, Size)]) -> Option<Size> {
        let outer = self.context.clone();
        let mut found = None;
        for kept in (1..=outer.space.len()).rev() {
            let behind = &outer.space[kept..];
            if behind.iter().any(|dimension| matches!(dimension, Dimension::Ragged { .. })) {
                break;
            }
            self.context = Context {
                space: outer.space[..kept].to_vec(),
                levels: outer.levels[..kept].to_vec(),
            };
            if self.is_identity(prefix) {
                found = Some(storage(behind));
                break;
            }
        }
        self.context = outer;
        found.map(|behind| self.product(&behind))
    }
}

fn statement(
    var: nested::Var,
    ty: nested::Type,
    operation: nested::Operation,
) -> nested::Statement {
    nested::Statement { results: vec![(var, ty)], operation, span: Span::default() }
}

/// The program that takes a loop from a state to its last one. Its parameters are what it sees, from number `first`
/// on its state.
fn of_point(
    repetition: &Repetition<'_>,
    state: &[(nested::Var, nested::Type)],
    (Seen { inputs: Inputs { params, .. }, made, count, .. }, first): (&Seen, usize),
    mut fresh: impl Iterator<Item = nested::Var>,
) -> Option<nested::Program> {
    let mut carried: Vec<(nested::Var, nested::Type)> = Vec::new();
    let (condition, body) = match *repetition {
        Repetition::While(condition, body) => (condition.clone(), body.clone()),
        Repetition::For(index, _, body) => {
            carried.push((index, nested::Type::scalar(ScalarType::I64)));
            let (holds, next) = (fresh.next()?, fresh.next()?);
            let scalar = |var, ty, op, args| nested::Statement {
                results: vec![(var, nested::Type::scalar(ty))],
                operation: nested::Operation::Scalar(op, args),
                span: Span::default(),
            };
            let (number, one) = (Atom::Var(index), Atom::Scalar(Scalar::I64(1)));
            let count = (*count)?;
            let compare = scalar(holds, ScalarType::Bool, ScalarOp::Lt, vec![number, count]);
            let condition = Body { statements: vec![compare], results: vec![Atom::Var(holds)] };
            let mut body = body.clone();
            body.statements.push(scalar(next, ScalarType::I64, ScalarOp::Add, vec![number, one]));
            body.results.insert(0, Atom::Var(next));
            (condition, body)
        }
    };
    carried.extend_from_slice(state);
    let initial = params[first..].iter().map(|(var, _)| Atom::Var(*var)).collect();
    let results: Vec<(nested::Var, nested::Type)> =
        carried.iter().map(|&(_, ty)| Some((fresh.next()?, ty))).collect::<Option<_>>()?;
    let last = results.iter().map(|(var, _)| Atom::Var(*var)).collect();
    let operation = nested::Operation::While { state: carried, initial, condition, body };
    let statement = nested::Statement { results, operation, span: Span::default() };
    let variables = fresh.next()?.0;
    Some(nested::Program {
        params: params.clone(),
        functions: Vec::new(),
        body: Body { statements: made.iter().cloned().chain([statement]).collect(), results: last },
        variables,
    })
}
