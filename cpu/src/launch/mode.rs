//! How lanes run through the points of a launch.

use weft_ir::plan::Sink;

use super::Launch;
use crate::compile::Compiled;
use crate::execute::Source;
use crate::native::Tier;
use crate::shape::{Axis, Shape};
use crate::traverse::{Mode, Thunk};

/// The shortest rows that are evaluated one by one, on average where they are of many lengths. To enter a row takes as
/// long as to compute some tens of elements, and their indices are given lane by lane where rows are not entered.
pub(super) const LONG_ROW: usize = 64;

/// The shortest rows that a native function goes through by itself (Note [On to further rows] in `weft_codegen`).
const SHORT_ROW: usize = 5;

impl Launch<'_> {
    /// How lanes run through the points of a space.
    pub(super) fn mode(&self, thunk: &Thunk, shape: &Shape<'_>) -> Mode {
        let length = match shape.axes.last() {
            Some(Axis::Dense(extent)) => *extent,
            Some(Axis::Ragged(_)) => shape.points() / shape.rows().max(1),
            None => 0,
        };
        if shape.axes.len() < 2 {
            return Mode::Flat;
        }
        let flat = thunk.variant(Mode::Flat, &self.bound.kernel.types);
        let indexed = flat.needed.iter().any(|&needed| needed);
        if self.in_place(flat) && !indexed {
            return Mode::Flat;
        }
        if length >= LONG_ROW || self.runs_on(thunk, flat, length) { Mode::Row } else { Mode::Flat }
    }

    /// Whether all arrays that code reads at the point itself have the extents of the space.
    fn in_place(&self, compiled: &Compiled) -> bool {
        let over_space =
            |&array: &usize| matches!(self.sources[array], Source::Array { over_space: true, .. });
        compiled.at_point.iter().all(over_space)
    }

    /// Whether rows of so many elements are gone through by a native function itself. It is asked for if it was worth it
    /// to ask for the one of `other`, the same code in another mode.
    pub(super) fn runs_on(&self, thunk: &Thunk, other: &Compiled, length: usize) -> bool {
        let stores = |sink: &Sink| matches!(sink, Sink::Store { .. } | Sink::Interleave { .. });
        let stores = self.kernel.sinks.iter().all(stores);
        let Some(source) = self.context().native.filter(|_| stores && length >= SHORT_ROW) else {
            return false;
        };
        let is_worth_it = match source.tier {
            Tier::Interpreted => false,
            Tier::Native | Tier::Turning => true,
            Tier::Automatic => other.native.wanted(self.in_place(other)).is_some(),
        };
        if !is_worth_it {
            return false;
        }
        let rows = thunk.variant(Mode::Row, &self.bound.kernel.types);
        if !rows.native.runs_on() || source.tier != Tier::Automatic {
            return rows.native.runs_on();
        }
        let service = source.native.service();
        let wanted = rows.native.want(self.in_place(rows), |function| service.request(function));
        wanted.is_some_and(|wanted| wanted.ticket.function().is_some())
    }
}
