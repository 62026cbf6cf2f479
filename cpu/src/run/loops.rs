//! Loops that functions run (Note [Long loops]).

use std::sync::Arc;

use weft_codegen::Host;
use weft_ir::code::Code;
use weft_ir::flat::{Type, Var};
use weft_ir::leaves::Stored;
use weft_ir::{Column, Piece, ScalarType, Stop};

use super::{Datum, Machine, source};
use crate::execute::Source;
use crate::lanes::{LaneType, Storage};
use crate::native::{Function, Part, SerialCall};
use crate::pool::{IntoColumn as _, Pool};
use crate::sequential::{Finished, SCRATCH, Sequential, Watch};

impl Machine<'_> {
    /// Runs host code with a loop (Note [Long loops]).
    pub(super) fn host_loop(
        &mut self,
        results: &[Var],
        code: &Code,
        sequential: &Sequential,
    ) -> Result<(), Stop> {
        let (cancel, meter) = (self.cancel, self.meter);
        let (mut function, mut total) = (None, 0);
        let values = {
            let mut watch = Watch::new(sequential, cancel, 0);
            let mut leave = || {
                function = watch.turn(0);
                if function.is_some() {
                    total = meter.read().map_or(0, |reading| reading.total);
                }
                function.is_some()
            };
            let mut read = |var: Var, indices: &[i64]| Ok(self.element(var, indices));
            Host { read: &mut read, cancel, meter }.run_unless(code, &mut leave)?
        };
        let values = match (values, function) {
            (Some(values), _) => values,
            (None, None) => panic!("it is left for a function"),
            (None, Some(function)) => {
                let types = results.iter().map(|var| self.types[var.0 as usize].element);
                let types: Vec<ScalarType> = types.collect();
                let zero = |ty: &ScalarType| Part::Written(Storage::zeros(LaneType::of(*ty), 1));
                let mut state: Vec<Part> = types.iter().map(zero).collect();
                let inputs = self.sources(sequential.inputs());
                let piece = meter.begin(total);
                let memory = self.config.workers.memory();
                let call = SerialCall {
                    inputs: &inputs,
                    state: &mut state,
                    extents: &mut [],
                    scratch: None,
                    cancel,
                    begun: 0,
                    done: piece.as_ref().map(Piece::counter),
                };
                sequential.run(&function, call, memory)?;
                drop(inputs);
                let scalar = |(part, ty): (Part, ScalarType)| {
                    let column = column(part, ty, 1, memory);
                    column.scalar(0).expect("it has an element")
                };
                state.into_iter().zip(types).map(scalar).collect()
            }
        };
        for (var, value) in results.iter().zip(values) {
            self.set(*var, Datum::Scalar(value));
        }
        Ok(())
    }

    /// Whether a function may go on with a loop at this state: it writes to no array that somebody else
    /// holds, or to a copy that is worth it; where it computes arrays there is memory for that.
    pub(super) fn can_finish(
        &self,
        sequential: &Sequential,
        state: &[Var],
        watch: &Watch<'_>,
    ) -> bool {
        if sequential.is_small() {
            let there = |var: &Var| self.environment[var.0 as usize].is_some();
            return self.alive.saturating_add(2 * SCRATCH as u64) <= self.config.memory_limit
                && sequential.inputs().iter().all(there);
        }
        let copied = |(number, var): (usize, &Var)| match self.get(*var) {
            Datum::Array { elements, .. } if sequential.updates(number) && !elements.is_alone() => {
                elements.bytes() as u64
            }
            Datum::Array { .. } | Datum::Scalar(_) => 0,
        };
        let copies: u64 = state.iter().enumerate().map(copied).sum();
        copies == 0
            || (watch.is_worth(copies)
                && self.alive.saturating_add(copies) <= self.config.memory_limit)
    }

    /// Goes on with a loop to its end, or to a turn that is better left to the host; the state becomes what it is
    /// then.
    pub(super) fn finish_loop(
        &mut self,
        sequential: &Sequential,
        function: &Function,
        state: &[Var],
        (begun, piece): (u64, Option<&Piece<'_>>),
    ) -> Result<Finished, Stop> {
        let (mut parts, mut written, mut extents) = (Vec::new(), Vec::new(), Vec::new());
        for (number, var) in state.iter().enumerate() {
            if let Datum::Array { extents: of_array, elements, .. } = self.get(*var) {
                extents.extend(of_array.iter().map(|&extent| extent as i64));
                if sequential.is_small() {
                    let (column, axes) = (elements.clone(), of_array.len());
                    parts.push(Part::Computed { column, axes });
                    written.push(Some((*var, of_array.clone())));
                    continue;
                }
                if !sequential.updates(number) {
                    parts.push(Part::Read(elements.clone()));
                    written.push(None);
                    continue;
                }
            }
            let (elements, of_array) = match self.take(*var) {
                Datum::Scalar(scalar) => (Stored::scalar(scalar).elements, Vec::new()),
                Datum::Array { extents, elements, bytes } => {
                    self.alive = self.alive.saturating_sub(bytes);
                    (elements, extents)
                }
            };
            parts.push(Part::Written(Storage::from_column(elements)));
            written.push(Some((*var, of_array)));
        }
        let inputs = self.sources(sequential.inputs());
        let memory = self.config.workers.memory();
        let call = SerialCall {
            inputs: &inputs,
            state: &mut parts,
            extents: &mut extents,
            scratch: None,
            cancel: self.cancel,
            begun,
            done: piece.map(Piece::counter),
        };
        let finished = sequential.run(function, call, memory)?;
        drop(inputs);
        let mut extents = extents.into_iter();
        for (part, written) in parts.into_iter().zip(written) {
            let Some((var, mut of_array)) = written else { continue };
            if sequential.is_small() {
                let now: Vec<usize> =
                    extents.by_ref().take(of_array.len()).map(|extent| extent as usize).collect();
                let stays = matches!(part, Part::Computed { .. }) && now == of_array;
                if stays && !of_array.is_empty() {
                    continue;
                }
                of_array = now;
            }
            let extents = of_array;
            let Type { element, extents: sizes } = &self.types[var.0 as usize];
            let elements = column(part, *element, extents.iter().product(), memory);
            let datum = match sizes.is_empty() {
                true => Datum::Scalar(elements.scalar(0).expect("it has an element")),
                false => {
                    let bytes = elements.bytes() as u64;
                    Datum::Array { extents, elements, bytes }
                }
            };
            self.set(var, datum);
        }
        Ok(finished)
    }

    /// What a function reads these variables as.
    pub(super) fn sources(&self, vars: &[Var]) -> Vec<Source<'_>> {
        vars.iter().map(|var| source(self.get(*var), &[])).collect()
    }
}

/// A part of the state as a column of that many elements.
pub(super) fn column(part: Part, ty: ScalarType, length: usize, memory: &Arc<Pool>) -> Column {
    match part {
        Part::Written(storage) => storage.into_column(ty, length, memory),
        Part::Read(column) | Part::Computed { column, .. } => column,
    }
}
