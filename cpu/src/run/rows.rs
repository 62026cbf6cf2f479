//! Loops that functions run row by row (Note [Loops row by row] in `weft_ir`'s `rows`).

use weft_codegen::LEFT;
use weft_ir::flat::Var;
use weft_ir::plan::Program;
use weft_ir::{ColumnBuilder, Meter, Piece, RowState, Rows, Scalar, Span, Stop};

use super::{Datum, Machine};
use crate::lanes::{LaneType, Storage};
use crate::native::{Function, Part, PointsCall};
use crate::sequential::{RowFunction, SCRATCH};

/// How many elements a scalar of the state is while a function runs: it reads the first, which is the same for all
/// rows, and writes the second.
const SCALARS: usize = 2;

impl Machine<'_> {
    /// Goes on with a loop at every point to its end; the state becomes the last one. Whether it did: not where there
    /// is no memory for it, or where arrays grow too large for a function, and then the state is as before. The meter
    /// counts points.
    pub(super) fn finish_rows(
        &mut self,
        row_function: &RowFunction,
        function: &Function,
        rows: &Rows<Program>,
        state: &[Var],
        meter: &Meter,
    ) -> Result<bool, Stop> {
        let sequential = &row_function.sequential;
        let points = self.size(rows.points, Span::default())?;
        // Of arrays without elements there may be more than anybody can count.
        let elements = state.iter().map(|var| match self.get(*var) {
            Datum::Array { elements, .. } => elements.len(),
            Datum::Scalar(_) => 0,
        });
        let all_empty = points > elements.max().unwrap_or(0);
        if points == 0 || all_empty || !self.has_memory(row_function, state) {
            return Ok(false);
        }
        let (mut parts, mut extents) = (Vec::new(), Vec::new());
        for (number, var) in state.iter().enumerate() {
            let (part, of_part) = self.part_of_rows(row_function, number, *var);
            parts.push(part);
            extents.push(of_part);
        }
        let inputs = self.sources(sequential.inputs());
        let piece = meter.begin(points as u64);
        let call = PointsCall {
            inputs: &inputs,
            state: &mut parts,
            points,
            scratch: row_function.has_scratch.then_some(SCRATCH),
            cancel: self.cancel,
            done: piece.as_ref().map(Piece::counter),
            workers: self.config.workers,
        };
        let outcome = call.run(function);
        drop(inputs);
        if outcome == LEFT && row_function.has_scratch {
            return Ok(false);
        }
        if let Some(stop) = sequential.failed(outcome) {
            return Err(stop);
        }
        for (((part, extents), var), of_part) in
            parts.into_iter().zip(extents).zip(state).zip(&rows.state)
        {
            let is_row = !extents.is_empty();
            if matches!(part, Part::Written(_)) && (is_row || matches!(of_part, RowState::All(_))) {
                self.put_part(*var, part, extents, SCALARS);
            }
        }
        Ok(true)
    }

    /// Whether there is memory for what a function needs beside the state.
    fn has_memory(&self, row_function: &RowFunction, state: &[Var]) -> bool {
        let has_scratch = row_function.has_scratch;
        let scratch = if has_scratch { self.config.workers.threads() * SCRATCH } else { 0 };
        let written = self.written_bytes(&row_function.sequential, state, |elements| {
            has_scratch || !elements.is_alone()
        });
        self.alive.saturating_add(written).saturating_add(scratch as u64)
            <= self.config.memory_limit
    }

    /// A part of the state for a function, with its extents.
    fn part_of_rows(
        &mut self,
        row_function: &RowFunction,
        number: usize,
        var: Var,
    ) -> (Part, Vec<usize>) {
        let (elements, extents) = match self.get(var) {
            Datum::Scalar(scalar) => return (twice(*scalar), Vec::new()),
            Datum::Array { elements, extents, .. } => (elements, extents.clone()),
        };
        if !row_function.sequential.updates(number) {
            return (Part::Read(elements.clone()), extents);
        }
        let storage = match row_function.has_scratch {
            true => {
                let ty = LaneType::of(self.types[var.0 as usize].element);
                self.config.workers.memory().take(ty, extents.iter().product())
            }
            false => Storage::from_column(self.take_elements(var).0),
        };
        (Part::Written(storage), extents)
    }
}

/// A scalar of the state.
fn twice(scalar: Scalar) -> Part {
    let mut elements = ColumnBuilder::new(&weft_ir::Type::Scalar(scalar.ty()));
    (0..SCALARS).for_each(|_| elements.push_scalar(scalar));
    Part::Written(Storage::from_column(elements.finish()))
}
