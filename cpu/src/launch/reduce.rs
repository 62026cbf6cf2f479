//! The ends of reductions: the results of chunks become those of rows, and meet the start values.

use weft_ir::flat::Start;
use weft_ir::plan::Sink;
use weft_ir::{Fault, FaultKind, Stop};

use crate::execute::Halt;
use crate::fold::{Fold, Folder, Rows};
use crate::lanes::{Elements, Lane, Storage, with_lane_type};
use crate::launch::Launch;
use crate::launch::chunk::Chunk;

impl Launch<'_> {
    /// The elements of all rows from what the chunks have come to, in order: an element per row, or
    /// several of a piece of a row. Elements of empty rows are zeros.
    pub(super) fn joined(
        &self,
        fold: &Fold,
        chunks: &[Chunk],
        parts: Vec<Vec<Storage>>,
    ) -> Result<Vec<Storage>, Halt> {
        let mut folder = Folder::new(fold, &self.bound.kernel.types, self.context(), false);
        let empty = || -> Vec<Storage> { fold.types().map(Storage::new).collect() };
        let (mut rows, mut partial) = (empty(), empty());
        for (chunk, part) in chunks.iter().zip(parts) {
            let to = if chunk.piece.is_some() { &mut partial } else { &mut rows };
            for (to, part) in to.iter_mut().zip(&part) {
                to.append(part.elements());
            }
            if let Some((_, true)) = chunk.piece {
                let whole = std::mem::replace(&mut partial, empty());
                let whole: Vec<Elements<'_>> = whole.iter().map(Storage::elements).collect();
                let whole = folder.fold_rows(&whole, Rows::One, usize::MAX)?;
                for (rows, whole) in rows.iter_mut().zip(&whole) {
                    rows.append(whole.elements());
                }
            }
        }
        Ok(rows)
    }

    /// The elements of rows, combined with the start values or replaced by them.
    pub(super) fn started(
        &self,
        sink: &Sink,
        values: Vec<Storage>,
        start: Option<Vec<Storage>>,
    ) -> Result<Vec<Storage>, Stop> {
        let at = self.kernel.sinks.iter().position(|other| std::ptr::eq(other, sink));
        let fold = at.and_then(|at| self.bound.kernel.folds[at].as_ref());
        let (Some(fold), Sink::Reduce { start: kind, .. }) = (fold, sink) else {
            return Ok(values);
        };
        let rows = self.shape.rows();
        let empty: Vec<usize> = match self.shape.has_empty_rows() {
            true => (0..rows).filter(|&row| self.shape.row(row).is_empty()).collect(),
            false => Vec::new(),
        };
        let mut values = values;
        match (kind, start) {
            (Start::Combined(_), Some(start)) => {
                if let Some(primitives) = &fold.primitives {
                    for ((primitive, start), values) in
                        primitives.iter().zip(&start).zip(&mut values)
                    {
                        primitive.combine(start.elements(), values);
                    }
                    replace(&mut values, &start, &empty);
                    return Ok(values);
                }
                let mut folder = Folder::new(fold, &self.bound.kernel.types, self.context(), false);
                let left: Vec<Elements<'_>> = start.iter().map(Storage::elements).collect();
                let right: Vec<Elements<'_>> = values.iter().map(Storage::elements).collect();
                if empty.len() < rows {
                    values = folder.combine(&left, &right).map_err(|halt| self.stop(halt))?;
                }
                replace(&mut values, &start, &empty);
            }
            (Start::IfEmpty(_), Some(start)) => replace(&mut values, &start, &empty),
            (_, _) if empty.is_empty() => {}
            (_, _) => {
                let (kind, span) = (FaultKind::EmptyArray, self.kernel.span);
                return Err(Fault { kind, span }.into());
            }
        }
        Ok(values)
    }
}

/// Elements of some rows, taken from others.
fn replace(values: &mut [Storage], from: &[Storage], rows: &[usize]) {
    for (values, from) in values.iter_mut().zip(from) {
        with_lane_type!(values.ty(), T => {
            let (values, from) = (T::storage_mut(values), T::storage(from));
            rows.iter().for_each(|&row| values[row] = from[row]);
        });
    }
}
