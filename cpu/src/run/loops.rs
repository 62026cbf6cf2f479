//! Loops that functions run (Note [Long loops]).

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// For so many elements there is room behind an array that grows: more than a kernel of such a function has points.
const LEAST_GROWTH: usize = 1 << 15;

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
                    until: u64::MAX,
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
        let scratch = if sequential.computes_arrays() { 2 * SCRATCH as u64 } else { 0 };
        let there = |var: &Var| self.environment[var.0 as usize].is_some();
        if scratch > 0 && !sequential.inputs().iter().all(there) {
            return false;
        }
        let copies = self.written_bytes(sequential, state, |elements| !elements.is_alone());
        let growth = self.growing_bytes(sequential, state);
        let memory = copies + scratch + growth;
        (copies == 0 || watch.is_worth(copies))
            && (memory == 0 || self.alive.saturating_add(memory) <= self.config.memory_limit)
    }

    /// Goes on with a loop to its end, through some turns at most, or to a turn that is better left to the host;
    /// the state becomes what it is then. `turns` are how many are done, and how many may be. Says how many it has done, too.
    pub(super) fn finish_loop(
        &mut self,
        sequential: &Sequential,
        function: &Function,
        state: &[Var],
        (turns, piece): (Range<u64>, Option<&Piece<'_>>),
    ) -> Result<(Finished, u64), Stop> {
        // Whether anybody wants to know or not.
        let own = AtomicU64::new(turns.start);
        let done = piece.map_or(&own, Piece::counter);
        let mut begun = turns.start;
        loop {
            let finished =
                self.turns_of_function(sequential, function, state, (begun..turns.end, done))?;
            let now = done.load(Ordering::Relaxed);
            let all = now.saturating_sub(turns.start);
            if finished != Finished::Full {
                return Ok((finished, all));
            }
            // A turn that needs more than that is one for the host.
            if now == begun {
                return Ok((Finished::Some, all));
            }
            begun = now;
            let memory = self.growing_bytes(sequential, state);
            if self.alive.saturating_add(memory) > self.config.memory_limit {
                return Ok((Finished::Some, all));
            }
        }
    }

    /// As [`Machine::finish_loop`], as far as there is memory behind the arrays of the state.
    fn turns_of_function(
        &mut self,
        sequential: &Sequential,
        function: &Function,
        state: &[Var],
        (turns, done): (Range<u64>, &AtomicU64),
    ) -> Result<Finished, Stop> {
        let (mut parts, mut before) = (Vec::new(), Vec::new());
        for (number, var) in state.iter().enumerate() {
            let first = before.iter().map(Vec::len).sum();
            let (part, extents) = self.part(sequential, number, *var, first);
            parts.push(part);
            before.push(extents);
        }
        let mut extents: Vec<i64> = before.iter().flatten().map(|&extent| extent as i64).collect();
        let inputs = self.sources(sequential.inputs());
        let memory = self.config.workers.memory();
        let call = SerialCall {
            inputs: &inputs,
            state: &mut parts,
            extents: &mut extents,
            scratch: None,
            cancel: self.cancel,
            begun: turns.start,
            until: turns.end,
            done: Some(done),
        };
        let finished = sequential.run(function, call, memory)?;
        drop(inputs);
        let mut extents = extents.into_iter().map(|extent| extent as usize);
        for ((part, before), var) in parts.into_iter().zip(before).zip(state) {
            let now: Vec<usize> = extents.by_ref().take(before.len()).collect();
            match part {
                Part::Read(_) => {}
                Part::Computed { .. } if now == before => {}
                Part::Computed { .. } | Part::Written(_) | Part::Moving(_) => {
                    self.put_part(*var, part, now, 1);
                }
            }
        }
        Ok(finished)
    }

    /// A part of the state for a function, with its extents; `first` is the number of the first one of these.
    fn part(
        &mut self,
        sequential: &Sequential,
        number: usize,
        var: Var,
        first: usize,
    ) -> (Part, Vec<usize>) {
        if let Datum::Array { extents, elements, .. } = self.get(var) {
            let extents = extents.clone();
            if !sequential.updates(number) {
                let column = elements.clone();
                let part = match sequential.computes_arrays() {
                    true => Part::Computed { column, extents: first..first + extents.len() },
                    false => Part::Read(column),
                };
                return (part, extents);
            }
        }
        let (elements, extents) = self.take_elements(var);
        let mut storage = Storage::from_column(elements);
        if !sequential.moves(number) {
            return (Part::Written(storage), extents);
        }
        let room = room_to_grow(extents.iter().product());
        if storage.len() < room {
            storage.resize(room);
        }
        (Part::Moving(storage), extents)
    }

    /// The bytes that a function wants behind the arrays that grow.
    fn growing_bytes(&self, sequential: &Sequential, state: &[Var]) -> u64 {
        let bytes = |(number, var): (usize, &Var)| match self.get(*var) {
            Datum::Array { elements, .. } if sequential.moves(number) => {
                let more = room_to_grow(elements.len()) - elements.len();
                (more * self.types[var.0 as usize].element.bytes()) as u64
            }
            Datum::Array { .. } | Datum::Scalar(_) => 0,
        };
        state.iter().enumerate().map(bytes).sum()
    }

    /// The bytes of the state of a loop and of what its function reads.
    pub(super) fn bytes_around(&self, sequential: &Sequential, state: &[Var]) -> u64 {
        let bytes = |var: &Var| match self.get(*var) {
            Datum::Array { elements, .. } => elements.bytes() as u64,
            Datum::Scalar(_) => 0,
        };
        state.iter().chain(sequential.inputs()).map(bytes).sum()
    }

    /// The bytes of those arrays of the state that a function writes to and for which this holds.
    pub(super) fn written_bytes(
        &self,
        sequential: &Sequential,
        state: &[Var],
        holds: impl Fn(&Column) -> bool,
    ) -> u64 {
        let bytes = |(number, var): (usize, &Var)| match self.get(*var) {
            Datum::Array { elements, .. } if sequential.updates(number) && holds(elements) => {
                elements.bytes() as u64
            }
            Datum::Array { .. } | Datum::Scalar(_) => 0,
        };
        state.iter().enumerate().map(bytes).sum()
    }

    /// Takes the elements of an array, or a scalar as one, out of a variable, with its extents.
    pub(super) fn take_elements(&mut self, var: Var) -> (Column, Vec<usize>) {
        match self.take(var) {
            Datum::Scalar(scalar) => (Stored::scalar(scalar).elements, Vec::new()),
            Datum::Array { extents, elements, bytes } => {
                self.alive = self.alive.saturating_sub(bytes);
                (elements, extents)
            }
        }
    }

    /// Binds a variable to what a function has made of a part of the state: an array of these extents, or the last
    /// of so many scalars.
    pub(super) fn put_part(&mut self, var: Var, part: Part, extents: Vec<usize>, scalars: usize) {
        let Type { element, extents: sizes } = &self.types[var.0 as usize];
        let memory = self.config.workers.memory();
        let datum = match sizes.is_empty() {
            true => {
                let elements = column(part, *element, scalars, memory);
                Datum::Scalar(elements.scalar(scalars - 1).expect("so many scalars"))
            }
            false => {
                let elements = column(part, *element, extents.iter().product(), memory);
                let bytes = elements.bytes() as u64;
                Datum::Array { extents, elements, bytes }
            }
        };
        self.set(var, datum);
    }

    /// What a function reads these variables as.
    pub(super) fn sources(&self, vars: &[Var]) -> Vec<Source<'_>> {
        vars.iter().map(|var| source(self.get(*var), &[])).collect()
    }
}

/// For how many elements there shall be memory where an array of so many grows.
fn room_to_grow(length: usize) -> usize {
    length.saturating_mul(2).max(length.saturating_add(LEAST_GROWTH))
}

/// A part of the state as a column of that many elements.
fn column(part: Part, ty: ScalarType, length: usize, memory: &Arc<Pool>) -> Column {
    match part {
        Part::Written(storage) | Part::Moving(storage) => storage.into_column(ty, length, memory),
        Part::Read(column) | Part::Computed { column, .. } => column,
    }
}
