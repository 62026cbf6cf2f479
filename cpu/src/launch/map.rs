//! Evaluates code at all points of a space, for start values and epilogues.

use weft_ir::Stop;

use crate::lanes::{Elements, LaneType, Storage, StorageMut};
use crate::launch::chunk::{CHUNK, Cut, chunks};
use crate::launch::{Launch, PARALLEL};
use crate::places::Places;
use crate::shape::Shape;
use crate::traverse::{Evaluator, Thunk};

impl Launch<'_> {
    /// The results of a thunk, of these types, over a space; `inputs` have an element per point.
    pub(super) fn map(
        &self,
        thunk: &Thunk,
        shape: &Shape<'_>,
        inputs: &[Storage],
        types: Vec<LaneType>,
        taken: &mut u64,
    ) -> Result<Vec<Storage>, Stop> {
        let points = shape.points();
        let mut results = types
            .into_iter()
            .map(|ty| self.allocate(ty, points, taken))
            .collect::<Result<Vec<Storage>, Stop>>()?;
        let mode = self.mode(thunk, shape);
        let compiled = thunk.variant(mode, &self.bound.kernel.types);
        let inputs: Vec<Elements<'_>> = inputs.iter().map(Storage::elements).collect();
        let mut rest: Vec<StorageMut<'_>> = results.iter_mut().map(Storage::as_mut).collect();
        let chunks =
            chunks(shape, Cut::Anywhere, CHUNK, self.context()).map_err(|halt| self.stop(halt))?;
        let claims = chunks.into_iter().map(|chunk| {
            let length = chunk.positions.len();
            let parts: Vec<StorageMut<'_>> =
                rest.iter_mut().map(|rest| rest.take_front(length)).collect();
            (chunk.positions, parts)
        });
        let start = || Evaluator::new(compiled, mode, shape, self.context(), points.min(CHUNK));
        self.workers
            .each(points >= PARALLEL, claims, start, |evaluator, (positions, parts)| {
                let inputs: Vec<Elements<'_>> = inputs
                    .iter()
                    .map(|input| input.slice(positions.start, positions.end))
                    .collect();
                let mut places =
                    Places::new(positions.start, parts.into_iter().map(Some).collect());
                evaluator.points(positions, &inputs, &mut places, |_, _| Ok(()))
            })
            .map_err(|halt| self.stop(halt))?;
        Ok(results)
    }
}
