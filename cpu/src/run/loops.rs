//! Loops that functions run (Note [Long loops]).

use weft_codegen::Host;
use weft_ir::code::Code;
use weft_ir::flat::{Type, Var};
use weft_ir::leaves::Stored;
use weft_ir::{Exhausted, ScalarType, Span, Stop};

use super::{Datum, Machine, source};
use crate::execute::Source;
use crate::lanes::{LaneType, Storage};
use crate::native::Function;
use crate::pool::IntoColumn as _;
use crate::sequential::{Sequential, Watch};

impl Machine<'_> {
    /// Runs host code with a loop (Note [Long loops]).
    pub(super) fn host_loop(
        &mut self,
        results: &[Var],
        code: &Code,
        sequential: &Sequential,
    ) -> Result<(), Stop> {
        let (cancel, meter) = (self.cancel, self.meter);
        let mut function = None;
        let values = {
            let mut watch = Watch::new(sequential, cancel);
            let mut leave = || {
                function = watch.turn();
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
                let mut state: Vec<Storage> =
                    types.iter().map(|ty| Storage::zeros(LaneType::of(*ty), 1)).collect();
                let inputs = self.sources(sequential.inputs());
                sequential.run(&function, &inputs, &mut state, &[], cancel)?;
                drop(inputs);
                let memory = self.config.workers.memory();
                let scalar = |(part, ty): (Storage, ScalarType)| {
                    part.into_column(ty, 1, memory).scalar(0).expect("it has an element")
                };
                state.into_iter().zip(types).map(scalar).collect()
            }
        };
        for (var, value) in results.iter().zip(values) {
            self.set(*var, Datum::Scalar(value));
        }
        Ok(())
    }

    /// Goes on with a loop to its end; the state becomes the last one.
    pub(super) fn finish_loop(
        &mut self,
        sequential: &Sequential,
        function: &Function,
        state: &[Var],
    ) -> Result<(), Stop> {
        let mut extents_of = Vec::new();
        let mut parts = Vec::new();
        let (mut all_extents, mut bytes_of) = (Vec::new(), Vec::new());
        let limit = self.config.memory_limit;
        let mut held = 0_u64;
        for var in state {
            match self.take(*var) {
                Datum::Scalar(scalar) => {
                    parts.push(Storage::from_column(Stored::scalar(scalar).elements));
                    extents_of.push(Vec::new());
                    bytes_of.push(0);
                }
                Datum::Array { extents, elements, bytes } => {
                    let wanted = elements.bytes() as u64;
                    self.alive = self.alive.saturating_sub(bytes);
                    held = held.saturating_add(wanted);
                    // What was counted before may stay; a shared buffer is copied.
                    if bytes < wanted && self.alive.saturating_add(held) > limit {
                        let span = Span::default();
                        return Err(Exhausted::Memory { wanted, limit, span }.into());
                    }
                    parts.push(Storage::from_column(elements));
                    all_extents.extend(extents.iter().map(|&extent| extent as i64));
                    extents_of.push(extents);
                    bytes_of.push(wanted);
                }
            }
        }
        let inputs = self.sources(sequential.inputs());
        sequential.run(function, &inputs, &mut parts, &all_extents, self.cancel)?;
        drop(inputs);
        let memory = self.config.workers.memory();
        for (((var, part), extents), bytes) in state.iter().zip(parts).zip(extents_of).zip(bytes_of)
        {
            let Type { element, extents: sizes } = &self.types[var.0 as usize];
            let length = extents.iter().product();
            let elements = part.into_column(*element, length, memory);
            let datum = match sizes.is_empty() {
                true => Datum::Scalar(elements.scalar(0).expect("it has an element")),
                false => Datum::Array { extents, elements, bytes },
            };
            self.set(*var, datum);
        }
        Ok(())
    }

    /// What a function reads these variables as.
    fn sources(&self, vars: &[Var]) -> Vec<Source<'_>> {
        vars.iter().map(|var| source(self.get(*var), &[])).collect()
    }
}
