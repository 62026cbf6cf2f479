//! Sorts: digit after digit, from the last key to the first.

use weft_ir::Stop;
use weft_ir::plan::Sink;

use super::{ITEMS, Launch, word};
use crate::fields::Divisor;
use crate::run::Buffer;
use crate::shape::Row;
use crate::text::Piece;

/// Bits of a digit.
const DIGIT: u32 = 8;

impl Launch<'_, '_> {
    /// Keys and the order that belongs to them, sorted by so many bits of the keys.
    fn sort_by(
        &mut self,
        keys: Buffer,
        order: Buffer,
        bits: u32,
    ) -> Result<(Buffer, Buffer), Stop> {
        let points = self.shape.points;
        let tiles = points.div_ceil(self.threads() * ITEMS);
        let counts = self.machine.memory.scratch((tiles << DIGIT).max(1), 8, "counts")?;
        let (mut from, mut to) = ((keys, order), self.pair()?);
        for shift in (0..bits).step_by(DIGIT as usize) {
            let shift = shift.to_le_bytes().to_vec();
            let count = [
                word(from.0.address),
                word(points),
                shift.clone(),
                word(tiles),
                word(counts.address),
            ];
            self.launch("sort_by_digit_count", tiles, &count)?;
            self.launch("sort_by_digit_sum", 1, &[word(counts.address), word(tiles << DIGIT)])?;
            let send = [
                word(from.0.address),
                word(from.1.address),
                word(points),
                shift,
                word(tiles),
                word(counts.address),
                word(to.0.address),
                word(to.1.address),
            ];
            self.launch("sort_by_digit_send", tiles, &send)?;
            std::mem::swap(&mut from, &mut to);
        }
        Ok(from)
    }

    fn pair(&mut self) -> Result<(Buffer, Buffer), Stop> {
        let points = self.shape.points;
        let keys = self.machine.memory.scratch(points, 8, "keys")?;
        Ok((keys, self.machine.memory.scratch(points, 8, "order")?))
    }

    /// The keys in an order, or the numbers of the points if there is none.
    fn gather(&mut self, keys: Option<&Buffer>, order: Option<&Buffer>) -> Result<Buffer, Stop> {
        let points = self.shape.points;
        let out = self.machine.memory.scratch(points, 8, "keys")?;
        let address = |buffer: Option<&Buffer>| word(buffer.map_or(0, |buffer| buffer.address));
        let parameters = [address(keys), address(order), word(points), word(out.address)];
        self.launch("sort_gather", self.blocks_for(points), &parameters)?;
        Ok(out)
    }

    pub(super) fn sort(&mut self, piece: &Piece, keys: &[(usize, u32)]) -> Result<(), Stop> {
        let points = self.shape.points;
        if points == 0 {
            return Ok(());
        }
        self.map(piece, points)?;
        self.stop_if_failed(piece)?;
        let mut order = self.gather(None, None)?;
        for (at, &(number, bits)) in keys.iter().rev().enumerate() {
            let keys = self.temporaries[number].clone();
            let keys = if at == 0 { keys } else { self.gather(Some(&keys), Some(&order))? };
            order = self.sort_by(keys, order, bits)?.1;
        }
        let rows = self.shape.rows;
        if rows > 1 {
            let keys = self.machine.memory.scratch(points, 8, "rows")?;
            let parameters = [
                self.shape.rows_argument(),
                self.row_divisor().bytes(),
                word(order.address),
                word(points),
                word(keys.address),
            ];
            self.launch("sort_rows", self.blocks_for(points), &parameters)?;
            order = self.sort_by(keys, order, bits_of(rows - 1))?.1;
        }
        let Some(Sink::Sort { order: result, .. }) =
            self.code.kernel.sinks.iter().find(|sink| matches!(sink, Sink::Sort { .. }))
        else {
            return Ok(());
        };
        let out = self.outputs[result].address;
        let length = self.row_divisor().bytes();
        let parameters = [word(order.address), word(points), length, word(out)];
        self.launch("sort_order", self.blocks_for(points), &parameters)
    }

    /// By the length of rows; by 0, if they are ragged.
    fn row_divisor(&self) -> Divisor {
        Divisor::new(match self.shape.row {
            Row::Dense(length) => length,
            Row::Ragged(_) => 0,
        })
    }

    /// Prepares a scatter and sorts its points by target, in place of what was prepared.
    pub(super) fn targets(&mut self, piece: &Piece, keys: usize, order: usize) -> Result<(), Stop> {
        let points = self.shape.points;
        if points == 0 {
            return Ok(());
        }
        self.map(piece, points)?;
        self.stop_if_failed(piece)?;
        let sinks = &self.code.kernel.sinks;
        let sink = sinks.iter().position(|sink| matches!(sink, Sink::Scatter { .. }));
        let dropped = self.targets_of(sink.unwrap_or_default())?;
        let (from, with) = (self.temporaries[keys].clone(), self.temporaries[order].clone());
        let (sorted, ordered) = self.sort_by(from, with, bits_of(dropped))?;
        self.temporaries[keys] = sorted;
        self.temporaries[order] = ordered;
        Ok(())
    }

    pub(super) fn runs(&mut self, piece: &Piece, sink: usize, keys: usize) -> Result<(), Stop> {
        let points = self.shape.points;
        if points == 0 {
            return Ok(());
        }
        let dropped = self.targets_of(sink)?;
        let keys = self.temporaries[keys].address;
        let parameters = [self.arguments(piece), word(points), word(keys), word(dropped)];
        self.launch(&self.entry(piece, "scatter_runs"), self.blocks_for(points), &parameters)
    }
}

/// How many bits a number needs.
fn bits_of(number: u64) -> u32 {
    u64::BITS - number.leading_zeros()
}
