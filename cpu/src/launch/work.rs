//! The work on chunks.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::plan::Sink;
use weft_ir::{Exhausted, Stop};

use crate::compact::{SLACK, compact};
use crate::compile::Compiled;
use crate::execute::{Halt, copy_lanes};
use crate::fold::{Chain, Folder};
use crate::lanes::{Elements, Lane, Storage, StorageMut, with_lane_type};
use crate::launch::chunk::{CHUNK, Chunk, Cut, chunks};
use crate::launch::layout::{Layout, Target};
use crate::launch::reduce::spread;
use crate::launch::scatter::{Private, Sent};
use crate::launch::{Launch, PARALLEL, SinkResult};
use crate::traverse::Evaluator;
use crate::workers::{InOrder, lock};

/// About how many bytes are kept of a chunk: where it is, and what it has come to.
const BYTES_OF_CHUNK: u64 = 200;

/// What threads have in common for one sink.
pub(super) enum Shared<'o> {
    Nothing,
    /// What each chunk has come to.
    Parts(Mutex<Vec<(usize, Part)>>),
    /// The rest of the arrays of what is kept, and how many points of the rows of each chunk are.
    Filter(InOrder<Vec<StorageMut<'o>>>, Mutex<Vec<(usize, Vec<usize>)>>),
    Scan(InOrder<Chain>),
    Scatter(InOrder<Sent>),
    Private(Private),
}

/// What a chunk of a reduction has come to.
pub(super) struct Part {
    values: Vec<Storage>,
}

/// The state of one thread.
pub(super) struct Worker<'a> {
    evaluator: Evaluator<'a>,
    /// The buffers.
    pub(super) stages: Vec<Storage>,
    /// Per sink.
    pub(super) folders: Vec<Option<Folder<'a>>>,
    /// What a filter keeps of a chunk, with room for more.
    kept: Vec<Storage>,
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

/// Sets a flag if the work at hand panics: those who wait for what it would have done must not wait
/// for ever.
struct SetOnPanic<'a>(&'a AtomicBool);

impl Drop for SetOnPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
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
        taken: &mut u64,
    ) -> Result<Vec<SinkResult>, Stop> {
        let kernel = &*self.bound.kernel;
        let (points, cut) = (self.shape.points(), self.cut());
        // What is kept of each chunk counts as memory too: of points that nobody stores there can be
        // very many.
        let wanted = (points as u64 / CHUNK as u64).saturating_mul(BYTES_OF_CHUNK);
        if wanted > self.free_bytes {
            let (limit, span) = (self.limit, self.kernel.span);
            return Err(Exhausted::Memory { wanted, limit, span }.into());
        }
        let chunks = chunks(&self.shape, cut, self.context()).map_err(|halt| self.stop(halt))?;
        let mode = self.mode(&kernel.body, &self.shape);
        let body = kernel.body.variant(mode, &kernel.types);
        let epilogue = kernel.epilogue.as_ref().filter(|_| !layout.epilogue.is_empty());
        let epilogue = epilogue.map(|thunk| {
            let mode = self.mode(thunk, &self.shape);
            (mode, thunk.variant(mode, &kernel.types))
        });
        let mut destinations = Some(destinations);
        let mut kept = self.room_for_kept(layout, taken)?;
        let mut kept_parts = Some(kept.iter_mut().map(Storage::as_mut).collect());
        let shared: Vec<Shared<'_>> = (0..self.kernel.sinks.len())
            .map(|sink| self.shared(sink, &mut destinations, &mut kept_parts))
            .collect();

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
            kept: Vec::new(),
            epilogue: epilogue.map(|(mode, compiled)| {
                Evaluator::new(compiled, mode, &self.shape, self.context(), points.min(CHUNK))
            }),
        };
        let failed = AtomicBool::new(false);
        self.workers
            .each(points >= PARALLEL && chunks.len() > 1, claims, start, |worker, claim| {
                let _panicking = SetOnPanic(&failed);
                let done = self.chunk(worker, body, layout, &shared, starts, claim, &failed);
                if done.is_err() {
                    failed.store(true, Ordering::Relaxed);
                }
                done
            })
            .map_err(|halt| self.stop(halt))?;
        let mut results = shared
            .into_iter()
            .zip(0..)
            .map(|(shared, sink)| self.result(shared, sink, &chunks))
            .collect::<Result<Vec<SinkResult>, Stop>>()?;
        for result in &mut results {
            if let SinkResult::Filtered(_, values) = result {
                *values = std::mem::take(&mut kept);
            }
        }
        Ok(results)
    }

    fn shared<'o>(
        &'o self,
        sink: usize,
        destinations: &mut Option<Vec<Storage>>,
        kept: &mut Option<Vec<StorageMut<'o>>>,
    ) -> Shared<'o> {
        match &self.kernel.sinks[sink] {
            Sink::Store { .. } | Sink::Sort { .. } => Shared::Nothing,
            Sink::Reduce { .. } => Shared::Parts(Mutex::default()),
            Sink::Filter { .. } => {
                Shared::Filter(InOrder::new(kept.take().unwrap_or_default()), Mutex::default())
            }
            Sink::Scan { .. } => Shared::Scan(InOrder::new(Chain::default())),
            Sink::Scatter { .. } => self.scatter(sink, destinations.take().unwrap_or_default()),
        }
    }

    /// Arrays for all points, of which a filter fills the front. Pages that are never written take no
    /// memory.
    fn room_for_kept(&self, layout: &Layout, taken: &mut u64) -> Result<Vec<Storage>, Stop> {
        let filter = |sink: &Sink| matches!(sink, Sink::Filter { .. });
        let Some(sink) = self.kernel.sinks.iter().position(filter) else { return Ok(Vec::new()) };
        let kept = layout.staged[sink].clone().skip(1).chain(layout.more.clone());
        kept.map(|at| self.allocate(layout.stages[at], self.shape.points(), taken)).collect()
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
        shared: &[Shared<'_>],
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
                    lock(parts).push((claim.number, Part { values }));
                }
                (Sink::Filter { .. }, Shared::Filter(rest, counts)) => {
                    let given_up = || {
                        self.context().poll()?;
                        if failed.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
                    };
                    let Worker { stages, kept, .. } = &mut *worker;
                    let of_rows = self.filter(chunk, stages, staged, layout, kept);
                    let total = of_rows.iter().sum();
                    let places: Vec<StorageMut<'_>> =
                        rest.with(claim.number, given_up, |rest| {
                            Ok(rest.iter_mut().map(|rest| rest.take_front(total)).collect())
                        })?;
                    for (mut place, kept) in places.into_iter().zip(kept) {
                        with_lane_type!(kept.ty(), T => {
                            let kept = &T::storage(kept)[..total];
                            <T as Lane>::slice_mut(&mut place).copy_from_slice(kept);
                        });
                    }
                    lock(counts).push((claim.number, of_rows));
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
                (Sink::Scatter { .. }, Shared::Private(private)) => {
                    self.send_privately(worker, at, layout, private)?;
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

    /// Closes up what is kept of a chunk; yields how many points of each of its rows that are.
    fn filter(
        &self,
        chunk: &Chunk,
        stages: &[Storage],
        staged: std::ops::Range<usize>,
        layout: &Layout,
        kept: &mut Vec<Storage>,
    ) -> Vec<usize> {
        let flags = &bool::storage(&stages[staged.start])[..];
        let values =
            stages[staged.start + 1..staged.end].iter().chain(&stages[layout.more.clone()]);
        for (at, values) in values.enumerate() {
            if kept.len() == at {
                kept.push(Storage::new(values.ty()));
            }
            let room = values.len() + SLACK;
            if kept[at].len() < room {
                kept[at].resize(room);
            }
            with_lane_type!(values.ty(), T => {
                compact(flags, T::storage(values), T::storage_mut(&mut kept[at]));
            });
        }
        let count = |flags: &[bool]| flags.iter().map(|&flag| usize::from(flag)).sum::<usize>();
        let first = chunk.positions.start;
        match chunk.piece {
            None if !chunk.rows.is_empty() => chunk
                .rows
                .clone()
                .map(|row| {
                    let row = self.shape.row(row);
                    count(&flags[row.start - first..row.end - first])
                })
                .collect(),
            _ => vec![count(flags)],
        }
    }

    /// What a sink has come to, of what the threads had in common.
    fn result(
        &self,
        shared: Shared<'_>,
        sink: usize,
        chunks: &[Chunk],
    ) -> Result<SinkResult, Stop> {
        match shared {
            Shared::Nothing | Shared::Scan(_) => Ok(SinkResult::Written),
            Shared::Scatter(sent) => {
                let values = self.sent(sent.into_inner(), sink).map_err(|halt| self.stop(halt))?;
                Ok(SinkResult::Scattered(values))
            }
            Shared::Private(private) => {
                Ok(SinkResult::Scattered(self.sent_privately(private, sink)))
            }
            Shared::Filter(_, counts) => {
                let mut lengths: Vec<usize> = vec![0; self.shape.rows()];
                for (number, counts) in in_order(counts) {
                    for (row, count) in (chunks[number].rows.start..).zip(counts) {
                        lengths[row] += count;
                    }
                }
                Ok(SinkResult::Filtered(lengths, Vec::new()))
            }
            Shared::Parts(parts) => {
                let fold = self.bound.kernel.folds[sink].as_ref().expect("a reduction folds");
                let parts = in_order(parts).into_iter().map(|(_, part)| part.values).collect();
                let rows = self.joined(fold, chunks, parts).map_err(|halt| self.stop(halt))?;
                Ok(SinkResult::Reduced(rows))
            }
        }
    }
}

/// What belongs to the chunks, by their number.
fn in_order<T>(parts: Mutex<Vec<(usize, T)>>) -> Vec<(usize, T)> {
    let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    parts.sort_by_key(|(number, _)| *number);
    parts
}
