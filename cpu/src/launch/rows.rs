//! Reductions whose rows are folded by native functions, values and all: nothing is staged.

use std::ops::Range;
use std::time::Instant;

use weft_ir::flat::Start;
use weft_ir::plan::Sink;

use crate::compile::Compiled;
use crate::execute::{Context, Halt};
use crate::fold::{Primitive, Rows, SECOND};
use crate::lanes::{Elements, Lane, Storage, StorageMut, with_lane_type};
use crate::launch::chunk::Chunk;
use crate::launch::claim::Claim;
use crate::launch::layout::Layout;
use crate::launch::{Launch, SinkResult};
use crate::native::{Engine, RowsCall};
use crate::shape::Axis;
use crate::traverse::Mode;

/// The shortest rows that are looked through twice: for the extreme, and for where it is.
const LOOKED_THROUGH: usize = 16;

/// Folds rows on one thread, as soon as there is a native function.
pub(super) struct RowFolds<'a> {
    compiled: &'a Compiled,
    engine: Engine<'a>,
    /// The extents of all dimensions but the last.
    extents: Vec<i64>,
    /// What each result begins with, if the function combines whole rows with it.
    starts: Option<Vec<Elements<'a>>>,
}

/// The results of all rows, of which each chunk writes its own.
pub(super) struct WholeRows(pub(super) Vec<Storage>);

impl<'a> RowFolds<'a> {
    pub(super) fn new(
        compiled: &'a Compiled,
        launch: &'a Launch<'_>,
        starts: &'a [Option<Vec<Storage>>],
    ) -> RowFolds<'a> {
        let outer = launch.shape.axes.split_last().map_or(&[][..], |(_, outer)| outer);
        let extent = |axis: &Axis<'_>| match axis {
            Axis::Dense(extent) => *extent as i64,
            Axis::Ragged(_) => unreachable!("the rows of ragged rows are not folded here"),
        };
        let mut all = Vec::new();
        let mut have_all = true;
        for sink in 0..launch.kernel.sinks.len() {
            match launch.starts_in_chunks(sink, starts) {
                Some((_, starts)) => all.extend(starts.iter().map(Storage::elements)),
                None => have_all = false,
            }
        }
        RowFolds {
            compiled,
            engine: Engine::new(compiled, launch.context(), true),
            extents: outer.iter().map(extent).collect(),
            starts: have_all.then_some(all),
        }
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
            && kernel.interiors.is_empty()
            && layout.epilogue.is_empty()
            && !self.finds_extremes()
            && kernel.body.folds_rows();
        possible.then(|| kernel.body.variant(Mode::Rows, &kernel.types))
    }

    /// Whether it looks for extremes in rows that are not very short, which is faster where their elements are
    /// stored (Note [First extremes]).
    fn finds_extremes(&self) -> bool {
        let folds = &self.bound.kernel.folds;
        folds.iter().flatten().any(|fold| fold.first_extreme.is_some())
            && self.shape.points() / self.shape.rows().max(1) >= LOOKED_THROUGH
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
    pub(super) fn fold_chunk(
        &self,
        folds: &mut RowFolds<'_>,
        chunk: &Chunk,
    ) -> Result<Vec<Vec<Storage>>, Halt> {
        let count = match chunk.piece {
            Some(_) => chunk.positions.len().div_ceil(SECOND),
            None => chunk.rows.len(),
        };
        let results = &folds.compiled.routine.results;
        let mut values: Vec<Storage> =
            results.iter().map(|slot| Storage::zeros(slot.ty, count)).collect();
        let mut parts: Vec<StorageMut<'_>> = values.iter_mut().map(Storage::as_mut).collect();
        self.fold_to(folds, chunk, false, &mut parts)?;
        let mut values = values.into_iter();
        let of_sinks = self.kernel.sinks.iter();
        Ok(of_sinks.map(|sink| values.by_ref().take(sink.operands().count()).collect()).collect())
    }

    /// As [`Launch::fold_chunk`], to places with an element for each of these; `begins` says whether they begin
    /// with the start values.
    fn fold_to(
        &self,
        folds: &mut RowFolds<'_>,
        chunk: &Chunk,
        begins: bool,
        to: &mut [StorageMut<'_>],
    ) -> Result<(), Halt> {
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
        let starts = folds.starts.as_deref().filter(|_| begins).unwrap_or_default();
        let call = RowsCall {
            positions,
            rows,
            pieces: chunk.piece.is_some(),
            row,
            first_index,
            extents: &folds.extents,
            starts,
        };
        let caller = folds.engine.caller().expect("a native function");
        caller.fold_rows(folds.compiled, call, to)
    }

    /// Room for what the rows come to, if native functions may fold them.
    pub(super) fn room_for_rows(&self, folds: Option<&Compiled>) -> Option<WholeRows> {
        let compiled = folds?;
        let (rows, memory) = (self.shape.rows(), self.workers.memory());
        let results = compiled.routine.results.iter();
        Some(WholeRows(results.map(|slot| memory.take(slot.ty, rows)).collect()))
    }

    /// What the rows of a chunk come to, start values and all where [`Launch::starts_in_chunks`].
    pub(super) fn fold_whole_rows(
        &self,
        folds: &mut RowFolds<'_>,
        claim: &mut Claim<'_, '_>,
        starts: &[Option<Vec<Storage>>],
    ) -> Result<(), Halt> {
        if folds.starts.is_some() {
            return self.fold_to(folds, claim.chunk, true, &mut claim.rows);
        }
        self.fold_to(folds, claim.chunk, false, &mut claim.rows)?;
        let sinks = 0..self.kernel.sinks.len();
        sinks.for_each(|sink| self.start_rows(sink, claim, starts));
        Ok(())
    }

    /// Puts what the rows of a chunk have come to where it belongs.
    pub(super) fn keep_rows(
        &self,
        sink: usize,
        claim: &mut Claim<'_, '_>,
        values: &[Storage],
        starts: &[Option<Vec<Storage>>],
    ) {
        for (to, values) in claim.rows[self.results_of(sink)].iter_mut().zip(values) {
            with_lane_type!(values.ty(), T => {
                <T as Lane>::slice_mut(to).copy_from_slice(T::storage(values));
            });
        }
        self.start_rows(sink, claim, starts);
    }

    /// Whether what the rows of a chunk come to meets the start value at once: there is one for all, and
    /// a common operator.
    pub(super) fn starts_in_chunks<'s>(
        &self,
        sink: usize,
        starts: &'s [Option<Vec<Storage>>],
    ) -> Option<(&[Primitive], &'s [Storage])> {
        let primitives = self.bound.kernel.folds[sink].as_ref()?.primitives.as_ref()?;
        let Sink::Reduce { start: Start::Combined(_), .. } = &self.kernel.sinks[sink] else {
            return None;
        };
        let start = starts[sink].as_ref()?;
        start.iter().all(|start| start.len() == 1).then_some((primitives, start))
    }

    fn start_rows(&self, sink: usize, claim: &mut Claim<'_, '_>, starts: &[Option<Vec<Storage>>]) {
        let Some((primitives, starts)) = self.starts_in_chunks(sink, starts) else { return };
        let rows = claim.chunk.rows.clone();
        let parts = claim.rows[self.results_of(sink)].iter_mut();
        for ((primitive, start), part) in primitives.iter().zip(starts).zip(parts) {
            primitive.combine(start.elements(), part.reborrow());
            with_lane_type!(start.ty(), T => {
                let (start, part) = (T::storage(start)[0], <T as Lane>::slice_mut(part));
                match self.shape.axes.last() {
                    Some(Axis::Ragged(offsets)) => {
                        let offsets = &offsets[rows.start..=rows.end];
                        // Few arrays have empty rows, and this loop becomes vector instructions.
                        let starts = offsets.iter().zip(&offsets[1..]);
                        if starts.clone().fold(false, |some, (a, b)| some | (a == b)) {
                            for (element, (a, b)) in part.iter_mut().zip(starts) {
                                if a == b {
                                    *element = start;
                                }
                            }
                        }
                    }
                    Some(Axis::Dense(0)) => part.fill(start),
                    Some(Axis::Dense(_)) | None => {}
                }
            });
        }
    }

    /// The numbers of a sink's results.
    fn results_of(&self, sink: usize) -> Range<usize> {
        let count = |sinks: &[Sink]| sinks.iter().map(|sink| sink.operands().count()).sum();
        count(&self.kernel.sinks[..sink])..count(&self.kernel.sinks[..=sink])
    }

    /// Puts what the rows that were cut have come to where it belongs.
    pub(super) fn keep_cut_rows(
        &self,
        sink: usize,
        to: &mut WholeRows,
        cut: Vec<(usize, Vec<Storage>)>,
        starts: &[Option<Vec<Storage>>],
    ) {
        let to = &mut to.0[self.results_of(sink)];
        for (row, mut values) in cut {
            if let Some((primitives, starts)) = self.starts_in_chunks(sink, starts) {
                for ((primitive, start), value) in primitives.iter().zip(starts).zip(&mut values) {
                    primitive.combine(start.elements(), value.as_mut());
                }
            }
            for (to, value) in to.iter_mut().zip(&values) {
                with_lane_type!(value.ty(), T => T::storage_mut(to)[row] = T::storage(value)[0]);
            }
        }
    }

    /// What the rows have come to in the end, for each sink.
    pub(super) fn reduced_rows(
        &self,
        rows: WholeRows,
        starts: &[Option<Vec<Storage>>],
    ) -> Vec<SinkResult> {
        let mut rest = rows.0.into_iter();
        let reduced = |sink: usize| {
            let values = rest.by_ref().take(self.results_of(sink).len()).collect();
            SinkResult::Reduced { values, started: self.starts_in_chunks(sink, starts).is_some() }
        };
        (0..self.kernel.sinks.len()).map(reduced).collect()
    }
}
