//! Loops that functions run row by row (Note [Loops row by row] in `weft_ir`'s `rows`).

use weft_codegen::LEFT;
use weft_ir::flat::{Type, Var};
use weft_ir::plan::Program;
use weft_ir::{ColumnBuilder, RowState, Rows, Span, Stop};

use super::{Datum, Machine, loops};
use crate::lanes::{LaneType, Storage};
use crate::native::{Function, Part, PointsCall};
use crate::sequential::{RowFunction, SCRATCH};

/// What a part of the state is while a function runs.
struct Taken {
    part: Part,
    /// Where it goes behind it; nothing if it stays what it was.
    to: Option<To>,
}

struct To {
    extents: Vec<usize>,
    length: usize,
}

impl Machine<'_> {
    /// Goes on with a loop at every point to its end; the state becomes the last one. Whether it did: not where there
    /// is no memory for it, or where arrays grow too large for a function, and then the state is as before.
    pub(super) fn finish_rows(
        &mut self,
        row_function: &RowFunction,
        function: &Function,
        rows: &Rows<Program>,
        state: &[Var],
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
        let mut taken = Vec::with_capacity(state.len());
        for (number, var) in state.iter().enumerate() {
            taken.push(self.taken(row_function, rows.state[number], number, *var));
        }
        let (mut parts, to): (Vec<Part>, Vec<Option<To>>) =
            taken.into_iter().map(|Taken { part, to }| (part, to)).unzip();
        let inputs = self.sources(sequential.inputs());
        let call = PointsCall {
            inputs: &inputs,
            state: &mut parts,
            points,
            scratch: row_function.small.then_some(SCRATCH),
            cancel: self.cancel,
            workers: self.config.workers,
        };
        let outcome = call.run(function);
        drop(inputs);
        if outcome == LEFT && row_function.small {
            return Ok(false);
        }
        if let Some(stop) = sequential.failed(outcome) {
            return Err(stop);
        }
        let memory = self.config.workers.memory();
        for ((part, to), var) in parts.into_iter().zip(to).zip(state) {
            let Some(To { extents, length }) = to else { continue };
            let Type { element, extents: sizes } = &self.types[var.0 as usize];
            let elements = loops::column(part, *element, length, memory);
            let datum = match sizes.is_empty() {
                true => Datum::Scalar(elements.scalar(1).expect("the first and the last")),
                false => {
                    let bytes = elements.bytes() as u64;
                    Datum::Array { extents, elements, bytes }
                }
            };
            self.set(*var, datum);
        }
        Ok(true)
    }

    /// Whether there is memory for what a function needs beside the state.
    fn has_memory(&self, row_function: &RowFunction, state: &[Var]) -> bool {
        let own = match row_function.small {
            true => (self.config.workers.threads() * SCRATCH) as u64,
            false => 0,
        };
        let more = |(number, var): (usize, &Var)| match self.get(*var) {
            Datum::Array { elements, .. }
                if row_function.sequential.updates(number)
                    && (row_function.small || !elements.is_alone()) =>
            {
                elements.bytes() as u64
            }
            Datum::Array { .. } | Datum::Scalar(_) => 0,
        };
        let more: u64 = state.iter().enumerate().map(more).sum();
        self.alive.saturating_add(more).saturating_add(own) <= self.config.memory_limit
    }

    /// A part of the state, ready to be written to if it is.
    fn taken(
        &mut self,
        row_function: &RowFunction,
        part: RowState,
        number: usize,
        var: Var,
    ) -> Taken {
        let extents = match self.get(var) {
            Datum::Scalar(scalar) => {
                let mut twice = ColumnBuilder::new(&weft_ir::Type::Scalar(scalar.ty()));
                (0..2).for_each(|_| twice.push_scalar(*scalar));
                let twice = twice.finish();
                let to =
                    matches!(part, RowState::All(_)).then(|| To { extents: vec![], length: 2 });
                return Taken { part: Part::Written(Storage::from_column(twice)), to };
            }
            Datum::Array { elements, .. } if !row_function.sequential.updates(number) => {
                return Taken { part: Part::Read(elements.clone()), to: None };
            }
            Datum::Array { extents, .. } => extents.clone(),
        };
        let length = extents.iter().product();
        let storage = if row_function.small {
            let ty = self.types[var.0 as usize].element;
            self.config.workers.memory().take(LaneType::of(ty), length)
        } else {
            match self.take(var) {
                Datum::Array { elements, bytes, .. } => {
                    self.alive = self.alive.saturating_sub(bytes);
                    Storage::from_column(elements)
                }
                Datum::Scalar(_) => panic!("an array"),
            }
        };
        Taken { part: Part::Written(storage), to: Some(To { extents, length }) }
    }
}
