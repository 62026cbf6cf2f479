//! Loops that functions run (Note [Long loops]).

use weft_codegen::Host;
use weft_ir::code::Code;
use weft_ir::flat::{Type, Var};
use weft_ir::leaves::Stored;
use weft_ir::{ScalarType, Stop};

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

    /// Whether there is memory for copies of what the state of a loop shares with others, which a
    /// function must not write to.
    pub(super) fn has_room_for(&self, state: &[Var]) -> bool {
        let copied = |var: &Var| match self.get(*var) {
            Datum::Array { elements, bytes, .. } if *bytes < elements.bytes() as u64 => {
                elements.bytes() as u64
            }
            Datum::Array { .. } | Datum::Scalar(_) => 0,
        };
        let copies: u64 = state.iter().map(copied).sum();
        self.alive.saturating_add(copies) <= self.config.memory_limit
    }

    /// Goes on with a loop to its end; the state becomes the last one.
    pub(super) fn finish_loop(
        &mut self,
        sequential: &Sequential,
        function: &Function,
        state: &[Var],
    ) -> Result<(), Stop> {
        let (mut parts, mut extents_of, mut all_extents) = (Vec::new(), Vec::new(), Vec::new());
        for var in state {
            let (elements, extents) = match self.take(*var) {
                Datum::Scalar(scalar) => (Stored::scalar(scalar).elements, Vec::new()),
                Datum::Array { extents, elements, bytes } => {
                    self.alive = self.alive.saturating_sub(bytes);
                    (elements, extents)
                }
            };
            parts.push(Storage::from_column(elements));
            all_extents.extend(extents.iter().map(|&extent| extent as i64));
            extents_of.push(extents);
        }
        let inputs = self.sources(sequential.inputs());
        sequential.run(function, &inputs, &mut parts, &all_extents, self.cancel)?;
        drop(inputs);
        let memory = self.config.workers.memory();
        for ((var, part), extents) in state.iter().zip(parts).zip(extents_of) {
            let Type { element, extents: sizes } = &self.types[var.0 as usize];
            let length = extents.iter().product();
            let elements = part.into_column(*element, length, memory);
            let datum = match sizes.is_empty() {
                true => Datum::Scalar(elements.scalar(0).expect("it has an element")),
                false => {
                    let bytes = elements.bytes() as u64;
                    Datum::Array { extents, elements, bytes }
                }
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
