//! The work on chunks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::Stop;
use weft_ir::plan::Sink;

use crate::compile::Compiled;
use crate::execute::{Halt, copy_lanes};
use crate::fold::{Chain, Folder};
use crate::lanes::{Elements, Lane, Storage, StorageMut, with_lane_type};
use crate::launch::chunk::{CHUNK, Chunk, Cut, chunks};
use crate::launch::filter::compact;
use crate::launch::layout::{Layout, Target};
use crate::launch::reduce::spread;
use crate::launch::scatter::Sent;
use crate::launch::{Launch, PARALLEL, SinkResult};
use crate::traverse::Evaluator;
use crate::workers::{InOrder, lock};

/// What threads have in common for one sink.
pub(super) enum Shared {
    Nothing,
    /// What each chunk has come to.
    Parts(Mutex<Vec<(usize, Part)>>),
    Scan(InOrder<Chain>),
    Scatter(InOrder<Sent>),
}

/// What a chunk has come to: for a filter, how many points of each of its rows are kept.
pub(super) struct Part {
    values: Vec<Storage>,
    counts: Vec<usize>,
}

/// The state of one thread.
pub(super) struct Worker<'a> {
    evaluator: Evaluator<'a>,
    /// The buffers.
    pub(super) stages: Vec<Storage>,
    /// Per sink.
    pub(super) folders: Vec<Option<Folder<'a>>>,
    epilogue: Option<Evaluator<'a>>,
}

/// A chunk that a thread works on.
pub(super) struct Claim<'c, 'o> {
    pub(super) number: usize,
    pub(super) chunk: &'c Chunk,
    /// Its parts of the outputs.
    pub(super) parts: Vec<StorageMut<'o>>,
    /// Whether some chunks are pieces of rows.
    pub(super) chained: bool,
}

impl Launch<'_> {
    /// Where the space may be cut.
    fn cut(&self) -> Cut {
        let (mut from_left, mut from_right, mut rows) = (false, false, false);
        for sink in &self.kernel.sinks {
            match sink {
                Sink::Reduce { .. } => rows = true,
                Sink::Scan { from_right: true, .. } => from_right = true,
                Sink::Scan { from_right: false, .. } => from_left = true,
                Sink::Filter { .. } => rows |= self.shape.axes.len() > 1,
                Sink::Store { .. } | Sink::Scatter { .. } | Sink::Sort { .. } => {}
            }
        }
        match (from_left, from_right) {
            (true, true) => Cut::Rows,
            // The tree of a fold counts from the start of a row, that of this scan from its end.
            (false, true) if rows => Cut::Rows,
            (false, true) => Cut::FromEnd,
            (true, false) => Cut::FromStart,
            (false, false) if rows => Cut::FromStart,
            (false, false) => Cut::Anywhere,
        }
    }

    /// Traverses the space and feeds the sinks.
    pub(super) fn chunks(
        &self,
        layout: &Layout,
        outputs: &mut [Storage],
        starts: &[Option<Vec<Storage>>],
        destinations: Vec<Storage>,
    ) -> Result<Vec<SinkResult>, Stop> {
        let kernel = &*self.bound.kernel;
        let (points, cut) = (self.shape.points(), self.cut());
        let chunks = chunks(&self.shape, cut);
        let mode = self.mode(&kernel.body, &self.shape);
        let body = kernel.body.variant(mode, &kernel.types);
        let epilogue = kernel.epilogue.as_ref().filter(|_| !layout.epilogue.is_empty());
        let epilogue = epilogue.map(|thunk| {
            let mode = self.mode(thunk, &self.shape);
            (mode, thunk.variant(mode, &kernel.types))
        });
        let mut destinations = Some(destinations);
        let shared: Vec<Shared> =
            self.kernel.sinks.iter().map(|sink| self.shared(sink, &mut destinations)).collect();

        let mut rest: Vec<StorageMut<'_>> = outputs.iter_mut().map(Storage::as_mut).collect();
        let chained = chunks.iter().any(|chunk| chunk.piece.is_some());
        let claims = chunks.iter().enumerate().map(|(number, chunk)| {
            let mut parts = Vec::with_capacity(rest.len());
            for (rest, output) in rest.iter_mut().zip(&layout.outputs) {
                let length = output.part(chunk);
                let back = cut == Cut::FromEnd;
                parts.push(if back { rest.take_back(length) } else { rest.take_front(length) });
            }
            Claim { number, chunk, parts, chained }
        });
        let start = || Worker {
            evaluator: Evaluator::new(body, mode, &self.shape, self.context(), points.min(CHUNK)),
            stages: layout.stages.iter().map(|ty| Storage::new(*ty)).collect(),
            folders: self.folders(),
            epilogue: epilogue.map(|(mode, compiled)| {
                Evaluator::new(compiled, mode, &self.shape, self.context(), points.min(CHUNK))
            }),
        };
        let failed = AtomicBool::new(false);
        self.workers
            .each(points >= PARALLEL && chunks.len() > 1, claims, start, |worker, claim| {
                let done = self.chunk(worker, body, layout, &shared, starts, claim, &failed);
                if done.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                done
            })
            .map_err(|halt| self.stop(halt))?;
        shared
            .into_iter()
            .zip(0..)
            .map(|(shared, sink)| self.result(shared, sink, layout, &chunks))
            .collect()
    }

    fn shared(&self, sink: &Sink, destinations: &mut Option<Vec<Storage>>) -> Shared {
        match sink {
            Sink::Store { .. } | Sink::Sort { .. } => Shared::Nothing,
            Sink::Reduce { .. } | Sink::Filter { .. } => Shared::Parts(Mutex::new(Vec::new())),
            Sink::Scan { .. } => Shared::Scan(InOrder::new(Chain::default())),
            Sink::Scatter { .. } => {
                let destinations = destinations.take().unwrap_or_default();
                Shared::Scatter(InOrder::new(Sent::new(destinations)))
            }
        }
    }

    fn folders(&self) -> Vec<Option<Folder<'_>>> {
        let sinks = self.kernel.sinks.iter().zip(&self.bound.kernel.folds);
        sinks
            .map(|(sink, fold)| {
                let exchange = matches!(sink, Sink::Scan { from_right: true, .. });
                let scatter = matches!(sink, Sink::Scatter { .. });
                let fold = fold.as_ref().filter(|_| !scatter)?;
                Some(Folder::new(fold, &self.bound.kernel.types, self.context(), exchange))
            })
            .collect()
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "what the threads share, and what is a thread's own"
    )]
    fn chunk(
        &self,
        worker: &mut Worker<'_>,
        body: &Compiled,
        layout: &Layout,
        shared: &[Shared],
        starts: &[Option<Vec<Storage>>],
        mut claim: Claim<'_, '_>,
        failed: &AtomicBool,
    ) -> Result<(), Halt> {
        let chunk = claim.chunk;
        let (first, length) = (chunk.positions.start, chunk.positions.len());
        worker.stages.iter_mut().for_each(|stage| stage.resize(length));
        let Worker { evaluator, stages, .. } = worker;
        evaluator.points(chunk.positions.clone(), &[], |frame, block| {
            let block = block.start - first..block.end - first;
            for (&slot, target) in body.routine.results.iter().zip(&layout.targets) {
                with_lane_type!(slot.ty, T => {
                    let to = match *target {
                        Target::Output(output) => <T as Lane>::slice_mut(&mut claim.parts[output]),
                        Target::Stage(stage) => T::storage_mut(&mut stages[stage]),
                    };
                    copy_lanes::<T>(frame, slot, &mut to[block.clone()]);
                });
            }
            Ok(())
        })?;
        for (at, (sink, shared)) in self.kernel.sinks.iter().zip(shared).enumerate() {
            let staged = layout.staged[at].clone();
            match (sink, shared) {
                (Sink::Reduce { .. }, Shared::Parts(parts)) => {
                    let values: Vec<Elements<'_>> =
                        worker.stages[staged].iter().map(Storage::elements).collect();
                    let folder = worker.folders[at].as_mut().expect("a reduction folds");
                    let lengths: Vec<usize> = match chunk.piece {
                        Some(_) => vec![length],
                        None => chunk.rows.clone().map(|row| self.shape.row(row).len()).collect(),
                    };
                    let levels = if chunk.piece.is_some() { 2 } else { usize::MAX };
                    let (values, counts) = folder.fold(&values, &lengths, levels)?;
                    let values =
                        if chunk.piece.is_some() { values } else { spread(values, &counts) };
                    lock(parts).push((claim.number, Part { values, counts: Vec::new() }));
                }
                (Sink::Filter { .. }, Shared::Parts(parts)) => {
                    let part = self.filter(chunk, &worker.stages, staged, layout);
                    lock(parts).push((claim.number, part));
                }
                (Sink::Scan { .. }, Shared::Scan(chain)) => {
                    self.scan(
                        worker,
                        at,
                        layout,
                        chain,
                        starts[at].as_deref(),
                        &mut claim,
                        failed,
                    )?;
                }
                (Sink::Scatter { .. }, Shared::Scatter(sent)) => {
                    self.send(worker, at, layout, sent, &claim, failed)?;
                }
                (_, _) => {}
            }
        }
        if let Some(epilogue) = &mut worker.epilogue {
            let mut inputs = Vec::new();
            for (sink, staged) in self.kernel.sinks.iter().zip(&layout.staged) {
                if matches!(sink, Sink::Scan { full: None, .. }) {
                    inputs.extend(worker.stages[staged.clone()].iter().map(Storage::elements));
                }
            }
            inputs.extend(worker.stages[layout.more.clone()].iter().map(Storage::elements));
            let results = &epilogue.compiled.routine.results;
            epilogue.points(chunk.positions.clone(), &inputs, |frame, block| {
                for (&slot, &output) in results.iter().zip(&layout.epilogue) {
                    with_lane_type!(slot.ty, T => {
                        let to = <T as Lane>::slice_mut(&mut claim.parts[output]);
                        let to = &mut to[block.start - first..block.end - first];
                        copy_lanes::<T>(frame, slot, to);
                    });
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// The points of a chunk that are kept.
    fn filter(
        &self,
        chunk: &Chunk,
        stages: &[Storage],
        staged: std::ops::Range<usize>,
        layout: &Layout,
    ) -> Part {
        let flags = bool::storage(&stages[staged.start]);
        let count = |flags: &[bool]| flags.iter().map(|&flag| usize::from(flag)).sum::<usize>();
        let kept = count(flags);
        let first = chunk.positions.start;
        let counts = match chunk.piece {
            None if !chunk.rows.is_empty() => chunk
                .rows
                .clone()
                .map(|row| {
                    let row = self.shape.row(row);
                    count(&flags[row.start - first..row.end - first])
                })
                .collect(),
            _ => vec![kept],
        };
        let values =
            stages[staged.start + 1..staged.end].iter().chain(&stages[layout.more.clone()]);
        Part { values: values.map(|values| compact(flags, values, kept)).collect(), counts }
    }

    /// What a sink has come to, of what the threads had in common.
    fn result(
        &self,
        shared: Shared,
        sink: usize,
        layout: &Layout,
        chunks: &[Chunk],
    ) -> Result<SinkResult, Stop> {
        let parts = match shared {
            Shared::Nothing | Shared::Scan(_) => return Ok(SinkResult::Written),
            Shared::Scatter(sent) => {
                let values = self.sent(sent.into_inner(), sink).map_err(|halt| self.stop(halt))?;
                return Ok(SinkResult::Scattered(values));
            }
            Shared::Parts(parts) => parts,
        };
        let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        parts.sort_by_key(|(number, _)| *number);
        let parts = parts.into_iter().map(|(_, part)| part);
        if let (Sink::Reduce { .. }, Some(fold)) =
            (&self.kernel.sinks[sink], &self.bound.kernel.folds[sink])
        {
            let parts = parts.map(|part| part.values).collect();
            let rows = self.joined(fold, chunks, parts).map_err(|halt| self.stop(halt))?;
            return Ok(SinkResult::Reduced(rows));
        }
        let mut lengths: Vec<usize> = vec![0; self.shape.rows()];
        let kept = layout.staged[sink].clone().skip(1).chain(layout.more.clone());
        let mut values: Vec<Storage> = kept.map(|at| Storage::new(layout.stages[at])).collect();
        for (chunk, part) in chunks.iter().zip(parts) {
            for (row, count) in (chunk.rows.start..).zip(part.counts) {
                lengths[row] += count;
            }
            if values.iter().all(|values| values.len() == 0) {
                values = part.values;
            } else {
                for (values, part) in values.iter_mut().zip(&part.values) {
                    values.append(part.elements());
                }
            }
        }
        Ok(SinkResult::Filtered(lengths, values))
    }
}
