//! Scans of a chunk.
//!
//! A scan from the right works on the reversed rows, with the operator's operands exchanged.
//!
//! Note [Scans of short rows]. Rows of at most a block of the tree are scanned by a common operator on their way to the
//! result. Nothing is kept of a row: where there are millions of them, lists of their places would take longer than
//! their elements.

use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::flat::ScanForm;
use weft_ir::plan::Sink;

use crate::execute::{Halt, Source};
use crate::fold::{Carried, Carries, Chain, Primitive, Rows, TREE};
use crate::lanes::{Elements, Storage, StorageMut, with_lane_type};
use crate::launch::Launch;
use crate::launch::chunk::Chunk;
use crate::launch::claim::Claim;
use crate::launch::layout::Layout;
use crate::launch::work::Worker;
use crate::stream::Stream;
use crate::workers::InOrder;

impl Launch<'_> {
    /// Scans what is staged and writes what is wanted; leaves in the buffers what the epilogue sees.
    #[allow(
        clippy::too_many_arguments,
        reason = "what the threads share, and what is a thread's own"
    )]
    pub(super) fn scan(
        &self,
        worker: &mut Worker<'_>,
        sink: usize,
        layout: &Layout,
        chain: &InOrder<(Chain, Carries)>,
        starts: Option<&[Storage]>,
        claim: &mut Claim<'_, '_>,
        failed: &AtomicBool,
    ) -> Result<(), Halt> {
        let Sink::Scan { form, from_right, .. } = &self.kernel.sinks[sink] else { return Ok(()) };
        let given_up = || {
            self.context().poll()?;
            if failed.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
        };
        if let Some((primitive, rows)) = self.short_rows(sink, layout, claim.chunk) {
            self.scan_short_rows(worker, sink, layout, starts, claim, primitive, rows);
            if claim.chained {
                chain.with(claim.number, given_up, |_| Ok(()))?;
            }
            return Ok(());
        }
        let chunk = claim.chunk;
        let first = chunk.positions.start;
        // The rows within the chunk, by position in the buffers.
        let rows: Vec<(usize, usize)> = match chunk.piece {
            Some(_) => vec![(0, chunk.positions.len())],
            None => chunk
                .rows
                .clone()
                .map(|row| self.shape.row(row))
                .map(|row| (row.start - first, row.len()))
                .collect(),
        };
        if let Some(chained) = self.chained(sink, layout, chunk) {
            let start = starts.map(|starts| starts[0].elements());
            return self.scan_chained(worker, sink, layout, chain, start, claim, failed, chained);
        }
        for stage in layout.staged[sink].clone() {
            // What stands in an array was not evaluated.
            if let Some(Source::Array { elements, .. }) =
                layout.known[stage].map(|array| &self.sources[array])
            {
                let elements = elements.slice(first, first + chunk.positions.len());
                worker.stages[stage].resize(0);
                worker.stages[stage].append(elements);
            }
        }
        let values = &mut worker.stages[layout.staged[sink].clone()];
        let folder = worker.folders[sink].as_mut().expect("a scan folds");
        let reverse = |values: &mut [Storage]| {
            for values in values.iter_mut().filter(|_| *from_right) {
                rows.iter().for_each(|&(start, length)| values.reverse(start, start + length));
            }
        };
        reverse(values);
        let starts: Option<Vec<Storage>> = starts.map(|starts| {
            // One for all rows, or each its own.
            let of = |starts: &Storage| -> Vec<usize> {
                chunk.rows.clone().map(|row| if starts.len() == 1 { 0 } else { row }).collect()
            };
            starts.iter().map(|starts| starts.gather(&of(starts))).collect()
        });
        // What stands before the first element, for forms that begin with the start value.
        let mut before = starts.clone();
        match chunk.piece {
            None => {
                let lengths: Vec<usize> = rows.iter().map(|&(_, length)| length).collect();
                folder.scan(values, &lengths)?;
                if let Some(starts) = &starts {
                    folder.shift(values, &rows, starts)?;
                }
                if claim.chained {
                    chain.with(claim.number, given_up, |_| Ok(()))?;
                }
            }
            Some((is_first, _)) => {
                let carries = folder.scan_chunk(values)?;
                let length = chunk.positions.len();
                let blocks: Vec<(usize, usize)> =
                    (0..length).step_by(TREE).map(|at| (at, TREE.min(length - at))).collect();
                let blocks = if is_first { &blocks[1..] } else { &blocks[..] };
                let carries = chain.with(claim.number, given_up, |(chain, _)| {
                    if is_first {
                        *chain = Chain::default();
                    }
                    let carries = folder.link(chain, carries)?;
                    if *form != ScanForm::Inclusive {
                        // The last element as it will be, for the chunk that follows.
                        let mut last: Vec<Storage> =
                            values.iter().map(|values| values.gather(&[length - 1])).collect();
                        if !blocks.is_empty() {
                            let at = [blocks.len() - 1];
                            let carry: Vec<Storage> =
                                carries.iter().map(|carries| carries.gather(&at)).collect();
                            folder.shift(&mut last, &[(0, 1)], &carry)?;
                        }
                        if let Some(starts) = &starts {
                            folder.shift(&mut last, &[(0, 1)], starts)?;
                        }
                        let earlier = chain.last.replace(last);
                        before = earlier.or_else(|| starts.clone());
                    }
                    Ok(carries)
                })?;
                folder.shift(values, blocks, &carries)?;
                if let Some(starts) = &starts {
                    folder.shift(values, &[(0, length)], starts)?;
                }
            }
        }
        let ends = chunk.piece.is_none_or(|(_, last)| last);
        for (at, output) in layout.scans[sink].iter().enumerate() {
            let values = &mut values[at];
            let part = output.map(|output| &mut claim.parts[output]);
            let before = before.as_ref().map(|before| &before[at]);
            let stream = &Stream::new(layout.streams);
            let copy = Copy { form: *form, from_right: *from_right, stream };
            write(values, before, part, copy, &rows, ends);
        }
        Ok(())
    }
}

impl Launch<'_> {
    /// The operator and the rows of a chunk, if these are short and only the scan's own result is wanted
    /// (Note [Scans of short rows]).
    fn short_rows(
        &self,
        sink: usize,
        layout: &Layout,
        chunk: &Chunk,
    ) -> Option<(Primitive, Rows<'_>)> {
        if chunk.piece.is_some() {
            return None;
        }
        let primitive = self.plainly(sink, layout)?;
        let rows = self.shape.lengths(chunk.rows.clone());
        let longest = match rows {
            Rows::One => return None,
            Rows::Even { length, .. } => length as i64,
            // Without a branch for each.
            Rows::Ragged(offsets) => {
                offsets.iter().zip(&offsets[1..]).map(|(start, end)| end - start).max().unwrap_or(0)
            }
        };
        (longest <= TREE as i64).then_some((primitive, rows))
    }

    /// Scans the rows of a chunk that way.
    #[allow(clippy::too_many_arguments, reason = "what is a thread's own, and what it does")]
    fn scan_short_rows(
        &self,
        worker: &Worker<'_>,
        sink: usize,
        layout: &Layout,
        starts: Option<&[Storage]>,
        claim: &mut Claim<'_, '_>,
        primitive: Primitive,
        rows: Rows<'_>,
    ) {
        let chunk = claim.chunk;
        let stage = layout.staged[sink].start;
        let values = match layout.known[stage].map(|array| &self.sources[array]) {
            Some(Source::Array { elements, .. }) => {
                elements.slice(chunk.positions.start, chunk.positions.end)
            }
            _ => worker.stages[stage].elements(),
        };
        let starts = starts.map(|starts| match starts[0].elements() {
            one if one.len() == 1 => one,
            all => all.slice(chunk.rows.start, chunk.rows.end),
        });
        let Some(output) = layout.scans[sink][0] else { return };
        primitive.scan_rows(values, rows, starts, claim.parts[output].reborrow());
    }

    /// The operator, if this is a piece of a row, which only the scan's own result is wanted of.
    fn chained(&self, sink: usize, layout: &Layout, chunk: &Chunk) -> Option<Primitive> {
        chunk.piece.and(self.plainly(sink, layout))
    }

    /// A common operator on one component that scans from the left, if its values are stored and nothing else is
    /// done with them.
    fn plainly(&self, sink: usize, layout: &Layout) -> Option<Primitive> {
        let Sink::Scan { form: ScanForm::Inclusive, from_right: false, .. } =
            &self.kernel.sinks[sink]
        else {
            return None;
        };
        let [Some(_)] = layout.scans[sink][..] else { return None };
        let primitives = self.bound.kernel.folds[sink].as_ref()?.primitives.as_deref()?;
        primitives.first().copied().filter(|_| self.kernel.epilogue.is_none())
    }

    /// Scans a piece of a row that way.
    #[allow(
        clippy::too_many_arguments,
        reason = "what the threads share, and what is a thread's own"
    )]
    fn scan_chained(
        &self,
        worker: &mut Worker<'_>,
        sink: usize,
        layout: &Layout,
        chain: &InOrder<(Chain, Carries)>,
        starts: Option<Elements<'_>>,
        claim: &mut Claim<'_, '_>,
        failed: &AtomicBool,
        primitive: Primitive,
    ) -> Result<(), Halt> {
        let chunk = claim.chunk;
        let stage = layout.staged[sink].start;
        let Worker { stages, folded, .. } = worker;
        let length = chunk.positions.len();
        let is_first = matches!(chunk.piece, Some((true, _)));
        let given_up = || {
            self.context().poll()?;
            if failed.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
        };
        let start = starts.map(|starts| {
            let row = if starts.len() == 1 { 0 } else { chunk.rows.start };
            starts.slice(row, row + 1)
        });
        let Some(output) = layout.scans[sink][0] else { return Ok(()) };
        let stream = Stream::new(layout.streams);
        if primitive.from_zeros {
            let values = match layout.known[stage].map(|array| &self.sources[array]) {
                Some(Source::Array { elements, .. }) => {
                    elements.slice(chunk.positions.start, chunk.positions.end)
                }
                _ => stages[stage].elements(),
            };
            if self.workers.threads() == 1 {
                let to = &mut claim.parts[output];
                return chain.with(claim.number, given_up, |(_, carries)| {
                    if is_first {
                        *carries = Carries::default();
                    }
                    primitive.chained.follow(carries, values, start, to, &stream);
                    Ok(())
                });
            }
            let sum = primitive.chained.sum(values);
            let before = chain.with(claim.number, given_up, |(_, carries)| {
                if is_first {
                    *carries = Carries::default();
                }
                Ok(primitive.chained.total(carries, &sum))
            })?;
            let before = [start, before.as_ref().map(Storage::elements)];
            primitive.chained.run(values, before, &mut claim.parts[output], &stream);
            return Ok(());
        }
        match layout.known[stage].map(|array| &self.sources[array]) {
            Some(Source::Array { elements, .. }) => {
                let elements = elements.slice(chunk.positions.start, chunk.positions.end);
                stages[stage].resize(length);
                primitive.chained.blocks(Some(elements), &mut stages[stage]);
            }
            _ => primitive.chained.blocks(None, &mut stages[stage]),
        }
        let (values, before) = (&stages[stage], &mut folded[stage]);
        let all = chain.with(claim.number, given_up, |(_, carries)| {
            if is_first {
                *carries = Carries::default();
            }
            Ok(primitive.chained.carries(carries, values, before))
        })?;
        let carried = Carried { before, all, start };
        primitive.chained.write(values, &carried, &mut claim.parts[output], &stream);
        Ok(())
    }
}

/// How the values of a scan are written.
#[derive(Clone, Copy)]
struct Copy<'a> {
    form: ScanForm,
    from_right: bool,
    stream: &'a Stream,
}

/// Writes one component, and puts into `values` what stands at each point. Both are reversed back.
fn write(
    values: &mut Storage,
    before: Option<&Storage>,
    part: Option<&mut StorageMut<'_>>,
    Copy { form, from_right, stream }: Copy<'_>,
    rows: &[(usize, usize)],
    ends: bool,
) {
    with_lane_type!(values.ty(), T => {
        let values = <T as crate::lanes::Lane>::storage_mut(values);
        let mut part = part.map(|part| <T as crate::lanes::Lane>::slice_mut(part));
        let moves = form != ScanForm::Inclusive || from_right;
        let mut at = 0;
        for (number, &(start, length)) in rows.iter().enumerate().filter(|_| moves) {
            let row = &mut values[start..start + length];
            let first = before.map(|before| <T as crate::lanes::Lane>::storage(before)[number]);
            let last = row.last().copied().or(first);
            if let (ScanForm::Exclusive | ScanForm::Full, Some(first)) = (form, first)
                && length > 0
            {
                row.copy_within(..length - 1, 1);
                row[0] = first;
            }
            if from_right {
                row.reverse();
            }
            if form != ScanForm::Full {
                continue;
            }
            let Some(part) = part.as_deref_mut() else { continue };
            // The total follows, or comes first, where the row is complete.
            let total = if ends { last } else { None };
            let shift = usize::from(total.is_some() && from_right);
            let to = &mut part[at + shift..at + shift + length];
            // Past the caches go whole lines; between rows they would be written in parts.
            match rows.len() {
                1 => stream.copy(row, to),
                _ => to.copy_from_slice(row),
            }
            if let Some(total) = total {
                part[if from_right { at } else { at + length }] = total;
            }
            at += length + usize::from(total.is_some());
        }
        if let (Some(part), true) = (part, form != ScanForm::Full) {
            stream.copy(values, part);
        }
    });
}
