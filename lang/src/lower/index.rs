//! Slices.
//!
//! A slice is a map over the positions that it chooses. Indices stay together as long as they can:
//! `m[:, j]` reads `m[i, j]` for every i, and no row is ever made.

use std::rc::Rc;

use weft_ir::nested::Atom;
use weft_ir::{FaultKind, Scalar, ScalarOp, Span};

use super::builder::{Lowering, Outcome};
use super::operations::{bool_atom, int};
use super::value::{Frame, Value};
use crate::typed::{Axis, Expr};

/// An axis of a slice expression, evaluated.
#[derive(Clone, Copy)]
enum Choice {
    Index(Atom),
    Gather(Atom),
    Range { start: Option<Atom>, stop: Option<Atom>, step: Atom, span: Span },
}

/// An array, or a row of it: what stands at the indices. If `extent` is known, it is the length of
/// the row.
#[derive(Clone)]
struct View {
    leaves: Rc<[Atom]>,
    indices: Vec<Atom>,
    extent: Option<Atom>,
}

impl View {
    /// A row, and its length if that is known.
    fn row(&self, position: Atom, extent: Option<Atom>) -> View {
        let mut indices = self.indices.clone();
        indices.push(position);
        View { leaves: Rc::clone(&self.leaves), indices, extent }
    }
}

impl<'p> Lowering<'p> {
    /// An index expression with at least one slice.
    pub(super) fn slice(
        &mut self,
        array: &'p Expr,
        axes: &'p [Axis],
        frame: &Rc<Frame<'p>>,
    ) -> Outcome<Value<'p>> {
        let leaves = self.expression(array, frame)?.expect_array();
        let mut choices = Vec::with_capacity(axes.len());
        for axis in axes {
            choices.push(match axis {
                Axis::Index(index) => Choice::Index(self.expression(index, frame)?.expect_scalar()),
                Axis::Gather(indices) => {
                    Choice::Gather(self.expression(indices, frame)?.expect_array()[0])
                }
                Axis::Slice { start, stop, step, span } => {
                    let mut bound = |bound: &'p Option<Expr>| match bound {
                        Some(expr) => Ok(Some(self.expression(expr, frame)?.expect_scalar())),
                        None => Ok(None),
                    };
                    let (start, stop, step) = (bound(start)?, bound(stop)?, bound(step)?);
                    Choice::Range { start, stop, step: step.unwrap_or(int(1)), span: *span }
                }
            });
        }
        let view = View { leaves, indices: Vec::new(), extent: None };
        Ok(Value::array(self.choose_of(view, &choices)?))
    }

    /// What the axes choose of a view.
    fn choose_of(&mut self, view: View, axes: &[Choice]) -> Outcome<Vec<Atom>> {
        let Some((axis, rest)) = axes.split_first() else {
            return Ok(self.index_all(&view.leaves, &view.indices));
        };
        if let Choice::Index(index) = axis {
            return self.choose_of(view.row(*index, None), rest);
        }
        let length = match view.extent {
            Some(extent) => extent,
            None => {
                // The rows are needed for their length.
                let row = self.index(view.leaves[0], &view.indices);
                self.length(row)
            }
        };
        let extent = match rest {
            [] => None,
            _ => {
                let rows = self.index(view.leaves[0], &view.indices);
                let extent = self.extent(rows, 1);
                Some(extent)
            }
        };
        match *axis {
            Choice::Index(_) => panic!("lower: an index was taken for a slice"),
            Choice::Gather(indices) => {
                let indices = self.of_regular(indices, extent, rest);
                self.map(&[indices], &mut |lowering, at| {
                    lowering.choose_of(view.row(at[0], extent), rest)
                })
            }
            Choice::Range { start, stop, step, span } => {
                let outer = std::mem::replace(&mut self.span, span);
                let (count, start) = self.range(start, stop, step, length);
                self.span = outer;
                let count = self.of_regular(count, extent, rest);
                self.tabulate(count, &mut |lowering, at| {
                    let offset = lowering.compute(ScalarOp::Mul, &[at, step]);
                    let position = lowering.compute(ScalarOp::Add, &[start, offset]);
                    lowering.choose_of(view.row(position, extent), rest)
                })
            }
        }
    }

    /// What is needed of an axis, if the rows are of one length: where nothing else needs that extent,
    /// rows of several lengths are an error all the same.
    fn of_regular(&mut self, needed: Atom, extent: Option<Atom>, rest: &[Choice]) -> Atom {
        match (extent, rest.first()) {
            (Some(extent), Some(Choice::Index(_) | Choice::Gather(_))) => {
                let regular = self.compute(ScalarOp::Ge, &[extent, int(0)]);
                self.assert_one(regular, FaultKind::Ragged, needed)
            }
            _ => needed,
        }
    }

    /// How many positions a slice chooses of `length` elements, and the first one.
    fn range(
        &mut self,
        start: Option<Atom>,
        stop: Option<Atom>,
        step: Atom,
        length: Atom,
    ) -> (Atom, Atom) {
        let mut holds = bool_atom(true);
        for bound in [start, stop].into_iter().flatten() {
            if !self.is_count(bound) {
                let low = self.compute(ScalarOp::Ge, &[bound, int(0)]);
                holds = self.compute(ScalarOp::And, &[holds, low]);
            }
            let high = self.compute(ScalarOp::Le, &[bound, length]);
            holds = self.compute(ScalarOp::And, &[holds, high]);
        }
        let upwards = match step {
            Atom::Scalar(Scalar::I64(step)) => bool_atom(step > 0),
            step => self.compute(ScalarOp::Gt, &[step, int(0)]),
        };
        let first = match start {
            Some(start) => start,
            None => self.by_direction(upwards, &mut |_| int(0), &mut |lowering| {
                lowering.compute(ScalarOp::Sub, &[length, int(1)])
            }),
        };
        let end = match stop {
            Some(stop) => stop,
            None => self.select(upwards, length, int(-1)),
        };
        let distance = self.by_direction(
            upwards,
            &mut |lowering| lowering.compute(ScalarOp::Sub, &[end, first]),
            &mut |lowering| lowering.compute(ScalarOp::Sub, &[first, end]),
        );
        let stride = self.by_direction(upwards, &mut |_| step, &mut |lowering| {
            lowering.compute(ScalarOp::Neg, &[step])
        });
        if let (Some(start), false) = (start, upwards == bool_atom(true)) {
            // Downwards the start must name an element, unless nothing is chosen.
            let inside = self.compute(ScalarOp::Lt, &[start, length]);
            let nothing = self.compute(ScalarOp::Le, &[distance, int(0)]);
            let fine = self.compute(ScalarOp::Or, &[inside, nothing]);
            let fine = self.compute(ScalarOp::Or, &[fine, upwards]);
            holds = self.compute(ScalarOp::And, &[holds, fine]);
        }
        // A step of 0, or the least one of all.
        let moves = self.compute(ScalarOp::Gt, &[stride, int(0)]);
        let stride = self.assert_one(moves, FaultKind::BadArgument, stride);
        let count = if stride == int(1) {
            distance
        } else {
            let before = self.compute(ScalarOp::Sub, &[distance, int(1)]);
            let steps = self.compute(ScalarOp::FloorDiv, &[before, stride]);
            self.compute(ScalarOp::Add, &[steps, int(1)])
        };
        let count = self.assert_one(holds, FaultKind::IndexOutOfRange, count);
        let count = if self.is_count(count) {
            count
        } else {
            self.compute(ScalarOp::Max, &[count, int(0)])
        };
        (self.set_count(count), first)
    }

    /// One of two integers, by the direction of a slice; the other one is not even computed if the
    /// direction is known.
    fn by_direction(
        &mut self,
        upwards: Atom,
        up: &mut dyn FnMut(&mut Self) -> Atom,
        down: &mut dyn FnMut(&mut Self) -> Atom,
    ) -> Atom {
        if upwards == bool_atom(true) {
            up(self)
        } else if upwards == bool_atom(false) {
            down(self)
        } else {
            let (up, down) = (up(self), down(self));
            self.select(upwards, up, down)
        }
    }
}
