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
        if chunks.iter().all(|chunk| chunk.piece.is_none()) {
            return Ok(self.one_after_the_other(fold, chunks, parts));
        }
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

    /// What rows come to that were cut, with their numbers, from what their pieces have come to, in order.
    pub(super) fn rows_of_pieces(
        &self,
        sink: usize,
        parts: Vec<(&Chunk, Vec<Storage>)>,
    ) -> Result<Vec<(usize, Vec<Storage>)>, Halt> {
        if parts.is_empty() {
            return Ok(Vec::new());
        }
        let fold = self.bound.kernel.folds[sink].as_ref().expect("a reduction folds");
        let mut folder = Folder::new(fold, &self.bound.kernel.types, self.context(), false);
        let empty = || -> Vec<Storage> { fold.types().map(Storage::new).collect() };
        let (mut rows, mut partial) = (Vec::new(), empty());
        for (chunk, part) in parts {
            for (to, part) in partial.iter_mut().zip(&part) {
                to.append(part.elements());
            }
            if let Some((_, true)) = chunk.piece {
                let whole = std::mem::replace(&mut partial, empty());
                let whole: Vec<Elements<'_>> = whole.iter().map(Storage::elements).collect();
                rows.push((chunk.rows.start, folder.fold_rows(&whole, Rows::One, usize::MAX)?));
            }
        }
        Ok(rows)
    }

    /// The elements of all rows, where no row was cut.
    fn one_after_the_other(
        &self,
        fold: &Fold,
        chunks: &[Chunk],
        mut parts: Vec<Vec<Storage>>,
    ) -> Vec<Storage> {
        if parts.len() == 1 {
            return parts.remove(0);
        }
        let (rows, memory) = (self.shape.rows(), self.workers.memory());
        let mut all: Vec<Storage> = fold.types().map(|ty| memory.take(ty, rows)).collect();
        for (chunk, part) in chunks.iter().zip(&parts) {
            for (all, part) in all.iter_mut().zip(part) {
                with_lane_type!(all.ty(), T => {
                    T::storage_mut(all)[chunk.rows.clone()].copy_from_slice(T::storage(part));
                });
            }
        }
        all
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
        let empty = self.shape.empty_rows();
        let mut values = values;
        match (kind, start) {
            (Start::Combined(_), Some(start)) => {
                if let Some(primitives) = &fold.primitives {
                    for ((primitive, start), values) in
                        primitives.iter().zip(&start).zip(&mut values)
                    {
                        primitive.combine(start.elements(), values.as_mut());
                    }
                    replace(&mut values, &start, &empty);
                    return Ok(values);
                }
                let start: Vec<Storage> =
                    start.into_iter().map(|start| spread(start, rows)).collect();
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

/// Elements of some rows, taken from others, or one for all.
fn replace(values: &mut [Storage], from: &[Storage], rows: &[usize]) {
    for (values, from) in values.iter_mut().zip(from) {
        with_lane_type!(values.ty(), T => {
            let (values, from) = (T::storage_mut(values), T::storage(from));
            let last = from.len().saturating_sub(1);
            rows.iter().for_each(|&row| values[row] = from[row.min(last)]);
        });
    }
}

/// A start value for each row, where there is one for all.
fn spread(start: Storage, rows: usize) -> Storage {
    if start.len() == rows {
        return start;
    }
    with_lane_type!(start.ty(), T => T::into_storage(vec![T::storage(&start)[0]; rows]))
}
