//! Loops that functions run row by row (Note [Loops row by row] in `weft_ir`'s `rows`).

use std::sync::atomic::Ordering;
use std::time::Duration;

use weft_codegen::{INTERRUPTED, LEFT};
use weft_ir::flat::Var;
use weft_ir::plan::Program;
use weft_ir::{
    Column, ColumnBuilder, Fault, FaultKind, MatrixRows, Meter, Piece, RowState, Rows, Scalar,
    Span, Stop,
};

use super::{Datum, Machine};
use crate::lanes::{Lane as _, LaneType, Storage};
use crate::native::{Function, Growing, Part, PointsCall};
use crate::sequential::{RowFunction, SCRATCH};

/// How many elements a scalar of the state is while a function runs: it reads the first, which is the same for all
/// rows, and writes the second.
const SCALARS: usize = 2;

/// Of rows without elements there may be more than anybody can count; so many are tried.
const MOST_EMPTY: usize = 1 << 20;

/// How a loop went on row by row.
pub(super) enum FinishedRows {
    /// To its end.
    All,
    /// Not at all, nor will it.
    None,
    /// Not at all: there is more to do at a point than pays surely (Note [Trials row by row] in `sequential/rows.rs`).
    TooMuch,
    /// Not at all: it took too long.
    Late,
}

/// The rows of a part of the state that have grown.
struct GrownRows {
    /// All extents of the array.
    extents: Vec<usize>,
    /// Whether each row has a length of its own: then how many there are in all along the first axis.
    total: Option<i64>,
    elements: Storage,
}

impl Machine<'_> {
    /// Goes on with a loop at every point to its end; the state becomes the last one. Not where there
    /// is no memory for it, where arrays grow too large for a function, where rows turn out to differ, or where it takes longer
    /// than it may on trial; then the state is as before. The meter counts points.
    pub(super) fn finish_rows(
        &mut self,
        row_function: &RowFunction,
        function: &Function,
        rows: &Rows<Program>,
        state: &[Var],
        (meter, patience): (&Meter, Option<Duration>),
    ) -> Result<FinishedRows, Stop> {
        let sequential = &row_function.sequential;
        let points = self.size(rows.points, Span::default())?;
        let elements = state.iter().map(|var| match self.get(*var) {
            Datum::Array { elements, .. } => elements.len(),
            Datum::Scalar(_) => 0,
        });
        let least = if row_function.growing.is_empty() { 0 } else { MOST_EMPTY };
        let all_empty = points > elements.max().unwrap_or(0).max(least);
        let scratch = if row_function.has_scratch { self.scratch(state, points.max(1)) } else { 0 };
        let Some(room) = self.room_beside(row_function, state, scratch) else {
            return Ok(FinishedRows::None);
        };
        if points == 0 || all_empty || !self.has_matrices(rows, points)? {
            return Ok(FinishedRows::None);
        }
        let growing: Vec<Growing> =
            row_function.growing.iter().map(|&number| self.growing_rows(number, state)).collect();
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
            growing: &growing,
            room,
            points,
            scratch: row_function.has_scratch.then_some(scratch),
            cancel: self.cancel,
            done: piece.as_ref().map(Piece::counter),
            workers: self.config.workers,
            patience,
        };
        let (outcome, grown) = call.run(function);
        drop(inputs);
        if outcome == LEFT && row_function.has_scratch {
            let is_sure = patience.is_none();
            return Ok(if is_sure { FinishedRows::TooMuch } else { FinishedRows::None });
        }
        if outcome == INTERRUPTED && patience.is_some() && !self.cancel.load(Ordering::Relaxed) {
            return Ok(FinishedRows::Late);
        }
        match sequential.failed(outcome) {
            // Rows that do not fit where those of the state at hand are all alike may fit where they are not
            // (Note [Matrices row by row] in `weft_ir`'s `rows`).
            Some(Stop::Fault(Fault { kind: FaultKind::LengthMismatch, .. }))
                if row_function.has_scratch =>
            {
                return Ok(FinishedRows::None);
            }
            Some(stop) => return Err(stop),
            None => {}
        }
        let mut all = Vec::new();
        for (at, number) in row_function.growing.iter().enumerate() {
            let pieces = grown.iter().map(|grown| &grown.parts[at]);
            let Some(rows) = self.joined(rows, (*number, points), (&mut parts, &extents), pieces)
            else {
                return Ok(FinishedRows::None);
            };
            all.push((*number, rows));
        }
        drop(grown);
        for (((part, extents), var), of_part) in
            parts.into_iter().zip(extents).zip(state).zip(&rows.state)
        {
            let is_whole = match of_part {
                RowState::All(_) | RowState::Extent(_) => true,
                RowState::Total(_) | RowState::Grown(_) => false,
                _ => !extents.is_empty(),
            };
            if matches!(part, Part::Written(_)) && is_whole {
                self.put_part(*var, part, extents, SCALARS);
            }
        }
        for (number, grown) in all {
            if let (Some(total), RowState::Grown(output)) = (grown.total, rows.state[number])
                && let Some(at) = part_that_is(rows, RowState::Total(output))
            {
                self.set(state[at], Datum::Scalar(Scalar::I64(total)));
            }
            self.put_part(state[number], Part::Written(grown.elements), grown.extents, SCALARS);
        }
        Ok(FinishedRows::All)
    }

    /// Whether the rows of the matrix of each point are as long as each other (Note [Matrices row by row] in `weft_ir`'s `rows`).
    fn has_matrices(&self, rows: &Rows<Program>, points: usize) -> Result<bool, Stop> {
        for (offsets, of) in rows.matrices() {
            let ends = self.integers(offsets);
            let is_regular = |first: usize, end: usize| {
                let mut lengths = ends[first..=end].windows(2).map(|ends| ends[1] - ends[0]);
                let width = lengths.next();
                lengths.all(|length| Some(length) == width)
            };
            let are_regular = match of {
                MatrixRows::Each(size) => {
                    let size = self.size(size, Span::default())?;
                    (0..points).all(|point| is_regular(point * size, (point + 1) * size))
                }
                MatrixRows::Segment(above) => self.integers(above)[..=points]
                    .windows(2)
                    .all(|ends| is_regular(ends[0] as usize, ends[1] as usize)),
            };
            if !are_regular {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The elements of an array of numbers.
    fn integers(&self, var: Var) -> &[i64] {
        match self.get(var) {
            Datum::Array { elements: Column::I64(numbers), .. } => numbers.as_slice(),
            _ => panic!("{var} is no array of i64"),
        }
    }

    /// A part of the state that grows, before it does.
    fn growing_rows(&self, number: usize, state: &[Var]) -> Growing {
        let var = state[number];
        let before = match self.get(var) {
            Datum::Array { elements, .. } => elements.len(),
            Datum::Scalar(_) => panic!("a scalar does not grow"),
        };
        Growing { number, ty: LaneType::of(self.types[var.0 as usize].element), before }
    }

    /// The rows that have grown at all points, of pieces that are one behind the other; of lengths there are offsets now.
    /// Nothing if there is no memory for
    /// them, or they are not as long as the plan says that they would be.
    fn joined<'s>(
        &self,
        rows: &Rows<Program>,
        (number, points): (usize, usize),
        (parts, extents): (&mut [Part], &[Vec<usize>]),
        pieces: impl Iterator<Item = &'s Storage> + Clone,
    ) -> Option<GrownRows> {
        let RowState::Grown(output) = rows.state[number] else { panic!("what grows is told so") };
        let rank = {
            let data = rows.program.outputs[output].data;
            rows.program.types[data.0 as usize].extents.len()
        };
        let mut extents = extents[number].clone();
        let first = extents.len() - rank;
        let mut total_rows = None;
        let taken: usize = if let Some(of) = part_that_is(rows, RowState::Offsets(output)) {
            let Part::Written(lengths) = &mut parts[of] else { panic!("lengths are written") };
            let offsets = i64::storage_mut(lengths);
            offsets[0] = 0;
            for at in 1..offsets.len() {
                offsets[at] = offsets[at].checked_add(offsets[at - 1])?;
            }
            total_rows = offsets.last().copied();
            extents[first] = usize::try_from(total_rows?).ok()?;
            extents[first]
        } else {
            if let Some(of) = part_that_is(rows, RowState::Extent(output)) {
                let Part::Written(length) = &mut parts[of] else { panic!("it is written") };
                extents[first] = usize::try_from(i64::storage_mut(length)[1]).ok()?;
            }
            points.checked_mul(extents[first])?
        };
        let row = extents[first + 1..].iter().try_fold(1, |row: usize, &n| row.checked_mul(n))?;
        let total: usize = pieces.clone().map(Storage::len).sum();
        if taken.checked_mul(row) != Some(total) {
            return None;
        }
        let ty = pieces.clone().next()?.ty();
        let bytes = (total * ty.scalar_type().bytes()) as u64;
        // The pieces are there once more.
        if self.alive.saturating_add(bytes.saturating_mul(2)) > self.config.memory_limit {
            return None;
        }
        let mut elements = self.config.workers.memory().take(ty, total);
        elements.resize(0);
        pieces.for_each(|piece| elements.append(piece.elements()));
        Some(GrownRows { extents, total: total_rows, elements })
    }

    /// How many bytes a function that computes arrays is given on each thread: there is room for what a point updates where
    /// it is, if points are about alike.
    fn scratch(&self, state: &[Var], points: usize) -> usize {
        let bytes = state.iter().map(|var| match self.get(*var) {
            Datum::Array { elements, .. } => elements.bytes(),
            Datum::Scalar(_) => 0,
        });
        SCRATCH.saturating_add(2 * (bytes.sum::<usize>() / points))
    }

    /// How many bytes there are beside what a function needs beside the state, with so many on each thread; nothing if not
    /// for that.
    fn room_beside(
        &self,
        row_function: &RowFunction,
        state: &[Var],
        scratch: usize,
    ) -> Option<u64> {
        let has_scratch = row_function.has_scratch;
        let scratch = self.config.workers.threads().saturating_mul(scratch);
        let written = self.written_bytes(&row_function.sequential, state, |elements| {
            has_scratch || !elements.is_alone()
        });
        let needed = self.alive.saturating_add(written).saturating_add(scratch as u64);
        self.config.memory_limit.checked_sub(needed)
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
        let grows = row_function.growing.contains(&number);
        if grows || !row_function.sequential.updates(number) {
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

/// The number of the part of the state that becomes this.
fn part_that_is(rows: &Rows<Program>, part: RowState) -> Option<usize> {
    rows.state.iter().position(|state| *state == part)
}
