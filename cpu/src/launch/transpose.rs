//! Transposed copies of matrices, tile by tile: a row of a tile is part of a cache line on one side, a
//! column of it on the other, so both sides are read and written while they are in the cache.

use weft_ir::Stop;
use weft_ir::code::{Operand, Operation};
use weft_ir::plan::Sink;

use crate::execute::{Halt, Source};
use crate::lanes::{Elements, Lane, Storage, with_lane_type};
use crate::launch::{Launch, PARALLEL, SinkResult};
use crate::shape::Axis;

/// The rows and columns of a tile.
pub(super) const TILE: usize = 16;

/// About how many elements a thread copies at a time.
const CLAIM: usize = 1 << 16;

impl Launch<'_> {
    /// Fills the output, if the kernel does nothing but transpose a matrix that no cache holds.
    pub(super) fn transpose(
        &self,
        outputs: &mut [Storage],
    ) -> Result<Option<Vec<SinkResult>>, Stop> {
        let Some(source) = self.transposed() else { return Ok(None) };
        let [output] = outputs else { return Ok(None) };
        let [Axis::Dense(rows), Axis::Dense(columns)] = self.shape.axes[..] else {
            return Ok(None);
        };
        with_lane_type!(output.ty(), T => {
            let from = <T as Lane>::elements(source);
            let to = &mut T::storage_mut(output)[..];
            self.transpose_to(from, to, rows, columns)
        })
        .map_err(|halt| self.stop(halt))?;
        Ok(Some(vec![SinkResult::Written]))
    }

    /// The elements of the matrix.
    fn transposed(&self) -> Option<Elements<'_>> {
        let kernel = self.kernel;
        let ([Sink::Store { value, .. }], None) = (&kernel.sinks[..], &kernel.epilogue) else {
            return None;
        };
        let ([read], [row, column]) = (&kernel.body.instructions[..], &kernel.indices[..]) else {
            return None;
        };
        let Operation::Read(array, indices) = &read.operation else { return None };
        let register = |at: &weft_ir::code::Register| Operand::Register(*at);
        let is_transposed =
            *value == register(&read.results[0].0) && *indices == [register(column), register(row)];
        let array = self.bound.arrays.iter().position(|known| known == array)?;
        let Source::Array { elements, strides, .. } = &self.sources[array] else { return None };
        // The other side has as many columns as this one has rows, and as many rows as columns.
        let [Axis::Dense(rows), Axis::Dense(columns)] = self.shape.axes[..] else { return None };
        let fits = *strides == [rows as i64, 1] && elements.len() == rows * columns;
        (is_transposed && fits && self.shape.points() >= PARALLEL).then_some(*elements)
    }

    fn transpose_to<T: Lane>(
        &self,
        from: &[T],
        to: &mut [T],
        rows: usize,
        columns: usize,
    ) -> Result<(), Halt> {
        let span = (CLAIM / columns).next_multiple_of(TILE).max(TILE);
        let claims = to[..rows * columns].chunks_mut(span * columns).enumerate();
        self.workers.each(
            true,
            claims,
            || (),
            |(), (number, to)| {
                self.context().poll()?;
                let first = number * span;
                for (at, to) in to.chunks_mut(TILE * columns).enumerate() {
                    let row = first + at * TILE;
                    for column in (0..columns).step_by(TILE) {
                        let (from, to) = (&from[column * rows + row..], &mut to[column..]);
                        // What is left of the columns is seen in what is left of the other side's rows.
                        let height = to.len().div_ceil(columns).min(TILE);
                        let width = from.len().div_ceil(rows).min(TILE);
                        tile(from, rows, to, columns, [height, width]);
                    }
                }
                Ok(())
            },
        )
    }
}

/// Copies a tile, or what there is of it: so many of its rows and columns. Both sides begin at their first element
/// of it; `from` has `rows` elements a row, `to` has `columns`.
pub(super) fn tile<T: Lane>(
    from: &[T],
    rows: usize,
    to: &mut [T],
    columns: usize,
    [height, width]: [usize; 2],
) {
    if height == TILE && width == TILE {
        let mut whole = [[T::default(); TILE]; TILE];
        for (at, whole) in whole.iter_mut().enumerate() {
            whole.copy_from_slice(&from[at * rows..at * rows + TILE]);
        }
        for row in 0..TILE {
            let to: &mut [T; TILE] =
                (&mut to[row * columns..row * columns + TILE]).try_into().expect("a tile's row");
            for (to, column) in to.iter_mut().zip(&whole) {
                *to = column[row];
            }
        }
        return;
    }
    for row in 0..height {
        for column in 0..width {
            to[row * columns + column] = from[column * rows + row];
        }
    }
}
