//! Maps over rows of few elements: the lanes are rows, and one element of all of them is computed after the other. So no
//! lane has to be told which element it is, what is chosen by that is the same for all of them, and the block
//! interpreter computes what a row has in common once. The elements are written where they belong, a row apart.

use weft_ir::Stop;
use weft_ir::code::{Code, Operation};
use weft_ir::plan::Sink;

use crate::execute::{Halt, Source};
use crate::lanes::{Storage, StorageMut};
use crate::launch::chunk::CHUNK;
use crate::launch::layout::{Layout, Target};
use crate::launch::{Launch, SinkResult};
use crate::places::store_apart;
use crate::shape::Axis;
use crate::traverse::{Evaluator, Mode};

/// The most elements of a row.
const FEW: usize = 15;

/// The fewest rows that are worth it.
const LANES: usize = 64;

impl Launch<'_> {
    /// Fills the outputs, if the kernel maps over rows of few elements and this is the better way.
    pub(super) fn stepped(
        &self,
        layout: &Layout,
        outputs: &mut [Storage],
    ) -> Result<Option<Vec<SinkResult>>, Stop> {
        let Some(steps) = self.steps(layout) else { return Ok(None) };
        let kernel = &*self.bound.kernel;
        let compiled = kernel.body.variant(Mode::FlatColumns, &kernel.types);
        let results = &compiled.routine.results[..];
        let rows = self.shape.rows();
        let span = (self.most_points(false).min(CHUNK) / steps).max(LANES);
        let mut rest: Vec<StorageMut<'_>> = outputs.iter_mut().map(Storage::as_mut).collect();
        let claims = (0..rows).step_by(span).map(|start| {
            let rows = start..rows.min(start + span);
            let points = rows.len() * steps;
            let parts: Vec<StorageMut<'_>> =
                rest.iter_mut().map(|rest| rest.take_front(points)).collect();
            (rows, parts)
        });
        let piece = self.meter.begin(self.shape.points() as u64);
        let start =
            || Evaluator::new(compiled, Mode::FlatColumns, &self.shape, self.context(), span);
        self.workers
            .each(self.is_parallel(), claims, start, |evaluator, (rows, mut parts)| {
                let began = evaluator.begin();
                let (first, points) = (rows.start, rows.len() * steps);
                evaluator.columns(rows, 0..steps, |frame, block, step| {
                    let places = (block.start - first) * steps..(block.end - first) * steps;
                    for (slot, part) in results.iter().zip(&mut parts) {
                        store_apart(frame, *slot, part, places.clone(), (step, steps));
                    }
                    Ok(())
                })?;
                evaluator.end(began);
                if let Some(piece) = &piece {
                    piece.advance(points as u64);
                }
                Ok::<(), Halt>(())
            })
            .map_err(|halt| self.stop(halt))?;
        Ok(Some(self.kernel.sinks.iter().map(|_| SinkResult::Written).collect()))
    }

    /// How many elements a row has, if lanes are to be rows: where points that follow each other in memory would
    /// have to be told their indices, and there is no function that goes through rows by itself.
    fn steps(&self, layout: &Layout) -> Option<usize> {
        let kernel = &*self.bound.kernel;
        let is_straight = |(number, target): (usize, &Target)| *target == Target::Output(number);
        let Some(Axis::Dense(steps @ 2..=FEW)) = self.shape.axes.last().copied() else {
            return None;
        };
        let flat = kernel.body.variant(Mode::Flat, &kernel.types);
        let over_space =
            |&array: &usize| matches!(self.sources[array], Source::Array { over_space: true, .. });
        let fits = self.shape.axes.len() >= 2
            && self.shape.axes.iter().all(|axis| matches!(axis, Axis::Dense(_)))
            && self.shape.rows() >= LANES
            && self.kernel.epilogue.is_none()
            && self.kernel.sinks.iter().all(|sink| matches!(sink, Sink::Store { .. }))
            && layout.targets.iter().enumerate().all(is_straight)
            && !flat.routine.repeats();
        let needs_indices = flat.needed.contains(&true) || !flat.at_point.iter().all(over_space);
        let columns = || kernel.body.variant(Mode::FlatColumns, &kernel.types);
        // Of branches all lanes of a row take all, where elements take different ones.
        let branches = |code: &Code| {
            let mut all = code.instructions.iter().map(|instruction| &instruction.operation);
            all.any(|operation| matches!(operation, Operation::If { .. }))
        };
        let runs_on =
            || !branches(&kernel.body.code) && self.runs_on(&kernel.body, columns(), steps);
        (fits && needs_indices && !runs_on()).then_some(steps)
    }
}
