//! Reductions whose rows are folded by native functions, values and all: nothing is staged.

use std::ops::Range;
use std::time::Instant;

use crate::compile::Compiled;
use crate::execute::{Context, Halt};
use crate::fold::{Rows, SECOND};
use crate::lanes::Storage;
use crate::launch::Launch;
use crate::launch::chunk::Chunk;
use crate::launch::layout::Layout;
use crate::native::{Engine, RowsCall};
use crate::prepare::operands;
use crate::shape::Axis;
use crate::traverse::Mode;

/// Folds rows on one thread, as soon as there is a native function.
pub(super) struct RowFolds<'a> {
    compiled: &'a Compiled,
    engine: Engine<'a>,
    /// The extents of all dimensions but the last.
    extents: Vec<i64>,
}

impl<'a> RowFolds<'a> {
    pub(super) fn new(compiled: &'a Compiled, launch: &'a Launch<'_>) -> RowFolds<'a> {
        let outer = launch.shape.outer();
        let extent = |axis: &Axis<'_>| match axis {
            Axis::Dense(extent) => *extent as i64,
            Axis::Ragged(_) => unreachable!("the rows of ragged rows are not folded here"),
        };
        let extents = outer.axes.iter().map(extent).collect();
        RowFolds { compiled, engine: Engine::new(compiled, launch.context(), true), extents }
    }

    /// As [`Engine::begin`].
    pub(super) fn begin(&mut self) -> Option<Instant> {
        self.engine.begin()
    }

    /// As [`Engine::end`].
    pub(super) fn end(&self, began: Option<Instant>) {
        self.engine.end(began);
    }

    /// Whether there is a native function.
    pub(super) fn is_native(&self) -> bool {
        self.engine.is_native()
    }
}

impl Launch<'_> {
    /// The code that folds rows, if its native function is the better way.
    pub(super) fn row_folds(&self, layout: &Layout) -> Option<&Compiled> {
        let kernel = &*self.bound.kernel;
        let possible = kernel.native.is_some()
            && kernel.interior.is_none()
            && layout.epilogue.is_empty()
            && kernel.body.folds_rows();
        possible.then(|| kernel.body.variant(Mode::Rows, &kernel.types))
    }

    /// What evaluates points where native functions fold rows: the block interpreter, until they do.
    pub(super) fn context_beside(&self, folds: Option<&Compiled>) -> Context<'_> {
        match folds {
            Some(_) => Context { native: None, ..self.context() },
            None => self.context(),
        }
    }

    /// What the rows of a chunk come to, or of a piece of a row each block of the second level of the
    /// tree; for each sink.
    pub(super) fn fold_rows(
        &self,
        folds: &mut RowFolds<'_>,
        chunk: &Chunk,
    ) -> Result<Vec<Vec<Storage>>, Halt> {
        self.context().poll()?;
        let positions = chunk.positions.clone();
        let Range { start: row, .. } = chunk.rows;
        let (rows, first_index) = match chunk.piece {
            Some(_) => {
                let count = positions.len().div_ceil(SECOND);
                (Rows::Even { count, length: SECOND }, positions.start - self.shape.row(row).start)
            }
            None => (self.shape.lengths(chunk.rows.clone()), 0),
        };
        let results = &folds.compiled.routine.results;
        let mut values: Vec<Storage> = results.iter().map(|slot| Storage::new(slot.ty)).collect();
        let call = RowsCall {
            positions,
            rows,
            pieces: chunk.piece.is_some(),
            row,
            first_index,
            extents: &folds.extents,
        };
        let caller = folds.engine.caller().expect("a native function");
        caller.fold_rows(folds.compiled, call, &mut values)?;
        let mut values = values.into_iter();
        let of_sinks = self.kernel.sinks.iter();
        Ok(of_sinks.map(|sink| values.by_ref().take(operands(sink).len()).collect()).collect())
    }
}
