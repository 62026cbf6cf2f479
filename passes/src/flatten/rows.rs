//! What a loop of many points is for one of them (Note [Loops row by row] in `ir::rows`).
//!
//! The loop is taken out of the program, with what it sees from outside as inputs, and flattened by itself. It is
//! done without where that is not a loop with the same state, as where rows grow, and where an array that it sees would
//! have to be computed for each point, or may meet a fault. What is computed for it alone is small: scalars, the numbers of
//! rows, and one array of numbers or copies that all points have in common.

use std::collections::HashMap;
use std::rc::Rc;

use weft_ir::flat::{Dimension, Operation, Program, Size, Statement, Var, storage};
use weft_ir::leaves::Axis as InputAxis;
use weft_ir::nested::{self, Atom, Body};
use weft_ir::{RowInput, RowNumber, RowState, Rows, Scalar, ScalarOp, ScalarType, Span};

use super::control::{Axis, Layout};
use super::repetition::Repetition;
use super::scalar::ScalarId;
use super::view::{Length, Source, Value, View};
use super::{Context, Flattener, flattened};

/// How the turns of a loop are counted, and ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turns {
    /// By the host, for all points together.
    Host,
    /// By each point, which says in the last part of the state whether it goes on.
    Point,
}

/// What an extent of an input is the same as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Extent {
    Size(Size),
    /// The length of a row of a segment descriptor.
    Row(Var, RowNumber),
}

/// The inputs of a program of one point.
#[derive(Default)]
struct Inputs {
    params: Vec<(nested::Var, nested::Type)>,
    layouts: Vec<Vec<InputAxis>>,
    /// Per parameter what its elements are, and its extents.
    given: Vec<(RowInput, Vec<Extent>)>,
    /// Which axis of which parameter had an extent first.
    known: HashMap<Extent, (usize, usize)>,
}

impl Inputs {
    fn push(&mut self, var: nested::Var, ty: nested::Type, given: RowInput, extents: Vec<Extent>) {
        let leaf = self.params.len();
        let mut layout = Vec::with_capacity(extents.len());
        for (axis, extent) in extents.iter().enumerate() {
            layout.push(match (*extent, self.known.get(extent)) {
                (Extent::Size(Size::Constant(size)), _) => InputAxis::Known(size),
                (_, Some(&(leaf, axis))) => InputAxis::Like { leaf, axis },
                (_, None) => {
                    self.known.insert(*extent, (leaf, axis));
                    InputAxis::Dense
                }
            });
        }
        self.params.push((var, ty));
        self.layouts.push(layout);
        self.given.push((given, extents));
    }

    /// What the variables of the program are.
    fn of(&self, program: &Program) -> Vec<(Var, RowInput)> {
        let mut inputs = Vec::new();
        for ((leaf, (given, extents)), layout) in
            program.inputs.iter().zip(&self.given).zip(&self.layouts)
        {
            for ((axis, extent), kind) in leaf.axes.iter().zip(extents).zip(layout) {
                if let (Dimension::Dense(Size::Var(var)), InputAxis::Dense) = (axis, kind) {
                    inputs.push((
                        *var,
                        match *extent {
                            Extent::Size(size) => RowInput::Size(size),
                            Extent::Row(offsets, row) => RowInput::Length(offsets, row),
                        },
                    ));
                }
            }
            inputs.push((leaf.data, *given));
        }
        inputs
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
        let (mut inputs, count) = self.seen(repetition, state, &mut fresh)?;
        let first = inputs.params.len();
        let counts = matches!(repetition, Repetition::For(..)).then_some(turns);
        let parts = push_state((state, layouts), (counts, carried), &mut inputs, &mut fresh)?;
        let nested = of_point(repetition, count, state, (&inputs.params, first), fresh)?;
        let program = flattened(&nested, &inputs.layouts, false).ok()?;
        // A loop whose state has the layouts that it has here.
        let same = program.outputs.len() + first == program.inputs.len()
            && program
                .outputs
                .iter()
                .zip(&program.inputs[first..])
                .all(|(output, input)| output.axes == input.axes);
        let is_loop =
            |statement: &&Statement| matches!(statement.operation, Operation::While { .. });
        if !same || program.body.statements.iter().filter(is_loop).count() != 1 {
            return None;
        }
        let points = self.rows();
        let (inputs, span) = (inputs.of(&program), self.span);
        Some(Rows { points, inputs, state: parts, program, span })
    }

    /// What a loop sees from outside, as inputs, and how often it goes round if that is counted.
    fn seen(
        &mut self,
        repetition: &Repetition<'p>,
        state: &[(nested::Var, nested::Type)],
        fresh: &mut impl Iterator<Item = nested::Var>,
    ) -> Option<(Inputs, Option<Atom>)> {
        let mut inputs = Inputs::default();
        let (bodies, counted) = match *repetition {
            Repetition::While(condition, body) => (vec![condition, body], None),
            Repetition::For(index, count, body) => (vec![body], Some((index, count))),
        };
        let own = |var: &nested::Var| {
            let is_index = counted.is_some_and(|(index, _)| index == *var);
            is_index || state.iter().any(|(own, _)| own == var)
        };
        for var in nested::free_variables(&bodies).into_iter().filter(|var| !own(var)) {
            let value = self.bound.get(&var)?.clone();
            let (given, extents) = self.given(&value)?;
            inputs.push(var, self.var_types[&var], given, extents);
        }
        let Some((_, count)) = counted else { return Some((inputs, None)) };
        let count = match self.scalars.known_scalar(count) {
            Some(known) => Atom::Scalar(known),
            None => {
                let (var, given) = (fresh.next()?, self.given_scalar(count)?);
                inputs.push(var, nested::Type::scalar(ScalarType::I64), given, Vec::new());
                Atom::Var(var)
            }
        };
        Some((inputs, Some(count)))
    }

    /// What a value is at a point, and its extents; nothing if it would have to be computed for that.
    fn given(&mut self, value: &Value<'p>) -> Option<(RowInput, Vec<Extent>)> {
        match value {
            Value::Scalar(id) => Some((self.given_scalar(*id)?, Vec::new())),
            Value::Array(view) => self.given_array(view),
        }
    }

    /// Whether to compute a scalar for the loop may meet a fault. What is stored is there, and so is what it reads.
    fn may_fail_for_rows(&self, id: ScalarId) -> bool {
        let node = self.scalars.node(id);
        node.may_fail && node.stored.is_none()
    }

    fn given_scalar(&mut self, id: ScalarId) -> Option<RowInput> {
        if self.may_fail_for_rows(id) {
            return None;
        }
        Some(match self.scalars.depth(id) {
            0 => RowInput::All(self.host_scalar(id)),
            _ => RowInput::Row(self.store_here(id), RowNumber::Point(Size::Constant(1))),
        })
    }

    fn given_array(&mut self, view: &Rc<View<'p>>) -> Option<(RowInput, Vec<Extent>)> {
        let stored = match &view.source {
            Source::Stored { .. } => Rc::clone(view),
            Source::Iota(Length::Uniform(_)) => self.stored_for_all(view)?,
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
        let rest = axes[1..].iter().map(dense).collect::<Option<Vec<_>>>()?;
        let (var, of_rows) = (*var, axes[0]);
        let row = match prefix.is_empty() {
            true => None,
            false => Some(self.row_number(&prefix.clone())?),
        };
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

/// Adds the state of a loop, in these layouts and carried by these variables, to the inputs of the program of a point;
/// what each part of it becomes. `counts` says who counts the turns, if they are counted: then their number is the first
/// part.
fn push_state(
    (state, layouts): (&[(nested::Var, nested::Type)], &[Layout]),
    (counts, carried): (Option<Turns>, &[Var]),
    inputs: &mut Inputs,
    fresh: &mut impl Iterator<Item = nested::Var>,
) -> Option<Vec<RowState>> {
    let (first, one) = (inputs.params.len(), RowNumber::Point(Size::Constant(1)));
    let mut parts = Vec::new();
    let mut carried = carried.iter().copied();
    if let Some(turns) = counts {
        let number = carried.next()?;
        let (given, part) = match turns {
            Turns::Host => (RowInput::All(number), RowState::All(0)),
            Turns::Point => (RowInput::Row(number, one), RowState::Point(0)),
        };
        inputs.push(fresh.next()?, nested::Type::scalar(ScalarType::I64), given, Vec::new());
        parts.push(part);
    }
    for (&(_, ty), layout) in state.iter().zip(layouts) {
        let output = inputs.params.len() - first;
        let mut extents = Vec::new();
        let mut ragged = None;
        for (number, axis) in layout.axes.iter().enumerate() {
            extents.push(match *axis {
                Axis::Fixed(size) => Extent::Size(size),
                Axis::Ragged if number == 0 => {
                    // The number of ends, the total, the offsets.
                    let descriptor = [carried.next()?, carried.next()?, carried.next()?];
                    parts.extend([RowState::Kept; 3]);
                    ragged = Some(descriptor[2]);
                    Extent::Row(descriptor[2], one)
                }
                Axis::Ragged | Axis::Carried => return None,
            });
        }
        let data = carried.next()?;
        let (given, part) = match ragged {
            None => (RowInput::Row(data, one), RowState::Point(output)),
            Some(offsets) => {
                (RowInput::Segment(data, offsets, one), RowState::Segment(output, offsets))
            }
        };
        inputs.push(fresh.next()?, ty, given, extents);
        parts.push(part);
    }
    parts.extend(carried.map(|_| RowState::Done));
    Some(parts)
}

/// The program that takes a loop from a state to its last one. Its parameters are what it sees, from number `first`
/// on its state.
fn of_point(
    repetition: &Repetition<'_>,
    count: Option<Atom>,
    state: &[(nested::Var, nested::Type)],
    (params, first): (&[(nested::Var, nested::Type)], usize),
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
            let count = count?;
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
        params: params.to_vec(),
        functions: Vec::new(),
        body: Body { statements: vec![statement], results: last },
        variables,
    })
}
