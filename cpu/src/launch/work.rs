//! The work on chunks.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::plan::Sink;
use weft_ir::{Exhausted, Stop};

use crate::execute::{Halt, Source};
use crate::fold::{Carries, Chain, Folder, Rows};
use crate::lanes::{Elements, Storage, StorageMut};
use crate::launch::chunk::{CHUNK, Chunk, Cut, chunks};
use crate::launch::claim::{Claim, portions};
use crate::launch::filter::Filtering;
use crate::launch::interior::{Inside, run_among};
use crate::launch::layout::{Layout, Target};
use crate::launch::rows::RowFolds;
use crate::launch::scatter::{Grouped, Private, Sent};
use crate::launch::{Launch, SinkResult};
use crate::places::Places;
use crate::stream::Stream;
use crate::traverse::Evaluator;
use crate::workers::{InOrder, lock};

/// About how many bytes are kept of a chunk: where it is, and what it has come to.
const BYTES_OF_CHUNK: u64 = 200;

/// What threads have in common for one sink.
pub(super) enum Shared<'o> {
    Nothing,
    /// What each chunk has come to.
    Parts(Mutex<Vec<(usize, Part)>>),
    Filter(Filtering<'o>),
    Scan(InOrder<(Chain, Carries)>),
    Scatter(InOrder<Sent>),
    Private(Private),
    Grouped(Grouped),
}

impl Shared<'_> {
    /// How many bytes a filter or a scatter would have needed that had to end.
    fn exceeded(&self) -> Option<u64> {
        match self {
            Shared::Filter(filtering) => filtering.exceeded(),
            Shared::Scatter(sent) => sent.look(Sent::exceeded),
            Shared::Nothing
            | Shared::Parts(_)
            | Shared::Scan(_)
            | Shared::Private(_)
            | Shared::Grouped(_) => None,
        }
    }
}

/// What a chunk of a reduction has come to.
pub(super) struct Part {
    values: Vec<Storage>,
}

/// The state of one thread.
pub(super) struct Worker<'a> {
    evaluator: Evaluator<'a>,
    /// For the points of boxes (note [Interior points]).
    interiors: Vec<(Evaluator<'a>, &'a Inside<'a>)>,
    /// The buffers.
    pub(super) stages: Vec<Storage>,
    /// Per sink.
    pub(super) folders: Vec<Option<Folder<'a>>>,
    /// Per buffer what the blocks of its values have come to.
    pub(super) folded: Vec<Storage>,
    /// What a filter keeps of a chunk, with room for more.
    kept: Vec<Storage>,
    epilogue: Option<Evaluator<'a>>,
}

/// One thread: what folds its rows, if that is done by native functions, and its state for everything else,
/// once it is needed.
struct Thread<'a> {
    row_folds: Option<RowFolds<'a>>,
    worker: Option<Worker<'a>>,
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
                Sink::Store { .. }
                | Sink::Interleave { .. }
                | Sink::Scatter { .. }
                | Sink::Sort { .. } => {}
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
        let row_folds = self.row_folds(layout);
        let most = self.most_points(row_folds.is_some());
        let chunks =
            chunks(&self.shape, cut, most, self.context()).map_err(|halt| self.stop(halt))?;
        let mode = self.mode(&kernel.body, &self.shape);
        let body = kernel.body.variant(mode, &kernel.types);
        let interiors = self.interiors(mode);
        let epilogue = kernel.epilogue.as_ref().filter(|_| !layout.epilogue.is_empty());
        let epilogue = epilogue.map(|thunk| {
            let mode = self.mode(thunk, &self.shape);
            (mode, thunk.variant(mode, &kernel.types))
        });
        let mut destinations = Some(destinations);
        let mut kept = self.room_for_kept(layout, taken);
        let mut filtering = Some(self.filtering(layout, &mut kept, *taken));
        let shared: Vec<Shared<'_>> = (0..self.kernel.sinks.len())
            .map(|sink| self.shared(sink, &mut destinations, &mut filtering, *taken))
            .collect();

        let mut whole = self.room_for_rows(row_folds);
        let rows = whole.as_mut().map(|whole| &mut whole.0[..]).unwrap_or_default();
        let threads = if self.is_separate() { self.workers.threads() } else { 1 };
        let portions = portions(layout, &chunks, outputs, rows, cut == Cut::FromEnd, threads);
        let piece = self.meter.begin(points as u64);
        let context = self.context_beside(row_folds);
        let evaluator = |compiled, mode| {
            Evaluator::new(compiled, mode, &self.shape, context, points.min(CHUNK))
        };
        let worker = || Worker {
            evaluator: evaluator(body, mode).watched(piece.as_ref()),
            interiors: (interiors.iter())
                .map(|inside| {
                    let evaluator = evaluator(inside.compiled, mode).watched(piece.as_ref());
                    (evaluator.across(inside.across), inside)
                })
                .collect(),
            stages: layout.stages.iter().map(|ty| Storage::new(*ty)).collect(),
            folders: self.folders(),
            folded: layout.stages.iter().map(|ty| Storage::new(*ty)).collect(),
            kept: Vec::new(),
            epilogue: epilogue.map(|(mode, compiled)| evaluator(compiled, mode)),
        };
        let failed = AtomicBool::new(false);
        let start = || Thread {
            row_folds: row_folds.map(|compiled| RowFolds::new(compiled, self, starts)),
            worker: None,
        };
        self.workers
            .each_portion(
                self.is_parallel() && chunks.len() > 1,
                portions,
                start,
                |thread, claim| {
                    let _panicking = SetOnPanic(&failed);
                    let length = claim.chunk.positions.len();
                    let done =
                        self.claimed(thread, &worker, layout, &shared, starts, claim, &failed);
                    let is_watched = |worker: &Worker<'_>| worker.evaluator.is_watched();
                    if let Some(piece) = &piece
                        && !thread.worker.as_ref().is_some_and(is_watched)
                    {
                        piece.advance(length as u64);
                    }
                    if done.is_err() {
                        failed.store(true, Ordering::Relaxed);
                    }
                    done
                },
            )
            .map_err(|halt| match shared.iter().find_map(Shared::exceeded) {
                Some(wanted) => {
                    let (limit, span) = (self.limit, self.kernel.span);
                    Exhausted::Memory { wanted, limit, span }.into()
                }
                None => self.stop(halt),
            })?;
        drop(piece);
        if let Some(mut whole) = whole {
            for (sink, shared) in shared.into_iter().enumerate() {
                let Shared::Parts(parts) = shared else { unreachable!("all sinks reduce") };
                let parts =
                    in_order(parts).into_iter().map(|(at, part)| (&chunks[at], part.values));
                let cut =
                    self.rows_of_pieces(sink, parts.collect()).map_err(|halt| self.stop(halt))?;
                self.keep_cut_rows(sink, &mut whole, cut, starts);
            }
            return Ok(self.reduced_rows(whole, starts));
        }
        let mut results = shared
            .into_iter()
            .zip(0..)
            .map(|(shared, sink)| self.result(shared, sink, &chunks))
            .collect::<Result<Vec<SinkResult>, Stop>>()?;
        for result in &mut results {
            if let SinkResult::Filtered(_, values) = result
                && let Some(kept) = kept.take()
            {
                *values = kept;
            }
        }
        Ok(results)
    }

    fn shared<'o>(
        &'o self,
        sink: usize,
        destinations: &mut Option<Vec<Storage>>,
        filtering: &mut Option<Filtering<'o>>,
        taken: u64,
    ) -> Shared<'o> {
        match &self.kernel.sinks[sink] {
            Sink::Store { .. } | Sink::Interleave { .. } | Sink::Sort { .. } => Shared::Nothing,
            Sink::Reduce { .. } => Shared::Parts(Mutex::default()),
            Sink::Filter { .. } => Shared::Filter(filtering.take().expect("one filter")),
            Sink::Scan { .. } => Shared::Scan(InOrder::new((Chain::default(), Carries::default()))),
            Sink::Scatter { .. } => {
                let most = self.free_bytes.saturating_sub(taken);
                self.scatter(sink, destinations.take().unwrap_or_default(), most)
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
    fn claimed<'a>(
        &self,
        thread: &mut Thread<'a>,
        worker: &dyn Fn() -> Worker<'a>,
        layout: &Layout,
        shared: &[Shared<'_>],
        starts: &[Option<Vec<Storage>>],
        mut claim: Claim<'_, '_>,
        failed: &AtomicBool,
    ) -> Result<(), Halt> {
        let Thread { row_folds, worker: known } = thread;
        let Some(folds) = row_folds else {
            let worker = known.get_or_insert_with(worker);
            return self.chunk(worker, layout, shared, starts, claim, failed);
        };
        let began = folds.begin();
        if folds.is_native() && !claim.rows.is_empty() {
            return self.fold_whole_rows(folds, &mut claim, starts);
        }
        if folds.is_native() {
            let values = self.fold_chunk(folds, claim.chunk)?;
            for (shared, values) in shared.iter().zip(values) {
                let Shared::Parts(parts) = shared else { unreachable!("all sinks reduce") };
                lock(parts).push((claim.number, Part { values }));
            }
            return Ok(());
        }
        let worker = known.get_or_insert_with(worker);
        self.chunk(worker, layout, shared, starts, claim, failed)?;
        folds.end(began);
        Ok(())
    }

    #[allow(
        clippy::too_many_arguments,
        reason = "what the threads share, and what is a thread's own"
    )]
    fn chunk(
        &self,
        worker: &mut Worker<'_>,
        layout: &Layout,
        shared: &[Shared<'_>],
        starts: &[Option<Vec<Storage>>],
        mut claim: Claim<'_, '_>,
        failed: &AtomicBool,
    ) -> Result<(), Halt> {
        let chunk = claim.chunk;
        let (first, length) = (chunk.positions.start, chunk.positions.len());
        let Worker { evaluator, interiors, stages, folded, .. } = worker;
        for (number, stage) in stages.iter_mut().enumerate() {
            if layout.is_staged(number) {
                stage.resize(length);
            }
        }
        // The values of reductions by common operators are folded block by block where the blocks are
        // those of the tree.
        let direct = chunk.piece.is_some() && interiors.is_empty();
        // The others are buffers, which need not be made zeros again.
        let folds = folded.iter_mut().zip(&layout.folds).filter(|(_, fold)| fold.is_some());
        folds.for_each(|(folded, _)| folded.resize(0));
        let mut parts: Vec<Option<StorageMut<'_>>> =
            claim.parts.iter_mut().map(|part| Some(part.reborrow())).collect();
        let mut buffers: Vec<Option<StorageMut<'_>>> =
            stages.iter_mut().map(|stage| Some(stage.as_mut())).collect();
        let straight = layout.targets.iter().map(|target| match *target {
            Target::Output(output) => parts[output].take(),
            Target::Row => None,
            Target::Stage(stage) if !layout.is_staged(stage) => None,
            Target::Stage(stage) if direct && layout.folds[stage].is_some() => None,
            Target::Stage(stage) => buffers[stage].take(),
        });
        let places = Places::new(first, straight.collect()).without(layout.constants());
        let rows = layout.rows.iter().map(|(results, output)| {
            let rows = parts[*output].take().expect("a row has an output of its own");
            (results.clone(), rows)
        });
        let places = places.with_rows(rows.collect());
        let is_output = |at: &usize| matches!(layout.targets[*at], Target::Output(_) | Target::Row);
        let outputs = (0..layout.targets.len()).filter(|at| layout.streams && is_output(at));
        let mut places = places.past_caches(outputs.collect());
        let mut evaluate = |evaluator: &mut Evaluator<'_>, positions: Range<usize>| {
            let results = &evaluator.compiled.routine.results;
            evaluator.points(positions, &[], &mut places, |frame, block| {
                for (&slot, target) in results.iter().zip(&layout.targets) {
                    let Target::Stage(stage) = *target else { continue };
                    if let Some(fold) = layout.folds[stage].as_ref().filter(|_| direct)
                        && layout.is_staged(stage)
                    {
                        let to = &mut folded[stage];
                        fold.fold_register(frame, slot, block.len(), to);
                    }
                }
                Ok(())
            })
        };
        if interiors.is_empty() && !layout.only_known {
            evaluate(evaluator, chunk.positions.clone())?;
        }
        for (interior, inside) in interiors.iter_mut() {
            interior.begin();
            evaluator.engine().follow(interior.engine());
            let span = self.span(&inside.ranges);
            let start = span.start.max(chunk.positions.start);
            let end = span.end.min(chunk.positions.end);
            if inside.across && start < end {
                evaluate(interior, start..end)?;
            }
        }
        let mut position = if interiors.is_empty() { chunk.positions.end } else { first };
        while position < chunk.positions.end {
            let boxes = interiors.iter().map(|(_, inside)| &inside.ranges[..]);
            let (until, number) = run_among(&self.shape, position, boxes);
            let run = position..until.min(chunk.positions.end);
            match number.map(|number| &mut interiors[number]) {
                Some((_, inside)) if inside.across => {}
                Some((interior, _)) => evaluate(interior, run)?,
                None => evaluate(evaluator, run)?,
            }
            position = until;
        }
        for (at, (sink, shared)) in self.kernel.sinks.iter().zip(shared).enumerate() {
            let staged = layout.staged[at].clone();
            match (sink, shared) {
                (Sink::Reduce { .. }, Shared::Parts(parts)) => {
                    let values = self.fold_values(worker, at, layout, chunk, direct)?;
                    match claim.rows.is_empty() {
                        true => lock(parts).push((claim.number, Part { values })),
                        false => self.keep_rows(at, &mut claim, &values, starts),
                    }
                }
                (Sink::Filter { .. }, Shared::Filter(filtering)) => {
                    let given_up = || {
                        self.context().poll()?;
                        if failed.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
                    };
                    let Worker { stages, kept, .. } = &mut *worker;
                    let of_rows = self.close_up(chunk, stages, staged, layout, kept);
                    let stream = Stream::new(layout.streams);
                    filtering.keep(claim.number, kept, of_rows, &stream, given_up)?;
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
                (Sink::Scatter { .. }, Shared::Grouped(grouped)) => {
                    self.send_grouped(worker, at, layout, grouped, &claim, failed)?;
                }
                (Sink::Scatter { .. }, Shared::Private(private)) => {
                    self.send_privately(worker, at, layout, private)?;
                }
                (_, _) => {}
            }
        }
        self.epilogue_of_chunk(worker, layout, &mut claim)
    }

    /// What the values of a chunk come to by the operator of a reduction, row by row; those that are `direct`
    /// are folded block by block already.
    fn fold_values(
        &self,
        worker: &mut Worker<'_>,
        sink: usize,
        layout: &Layout,
        chunk: &Chunk,
        direct: bool,
    ) -> Result<Vec<Storage>, Halt> {
        let (first, length) = (chunk.positions.start, chunk.positions.len());
        let staged = layout.staged[sink].clone();
        let Worker { stages, folded, folders, .. } = worker;
        let of = |stage: usize| match layout.known[stage].map(|at| &self.sources[at]) {
            Some(Source::Array { elements, .. }) => elements.slice(first, first + length),
            _ if direct && layout.folds[stage].is_some() => folded[stage].elements(),
            _ => stages[stage].elements(),
        };
        let is_folded =
            |stage: usize| direct && layout.folds[stage].is_some() && layout.known[stage].is_none();
        // All components or none.
        let is_folded = staged.clone().all(is_folded);
        let values: Vec<Elements<'_>> = staged.map(of).collect();
        let folder = folders[sink].as_mut().expect("a reduction folds");
        let (rows, levels) = match chunk.piece {
            Some(_) => (Rows::One, if is_folded { 1 } else { 2 }),
            None => (self.shape.lengths(chunk.rows.clone()), usize::MAX),
        };
        folder.fold_rows(&values, rows, levels)
    }

    /// Runs the epilogue on the points of a chunk.
    fn epilogue_of_chunk(
        &self,
        worker: &mut Worker<'_>,
        layout: &Layout,
        claim: &mut Claim<'_, '_>,
    ) -> Result<(), Halt> {
        let Some(epilogue) = &mut worker.epilogue else { return Ok(()) };
        let positions = claim.chunk.positions.clone();
        let mut inputs = Vec::new();
        for (sink, staged) in self.kernel.sinks.iter().zip(&layout.staged) {
            if matches!(sink, Sink::Scan { full: None, .. }) {
                inputs.extend(worker.stages[staged.clone()].iter().map(Storage::elements));
            }
        }
        inputs.extend(worker.stages[layout.more.clone()].iter().map(Storage::elements));
        let mut parts: Vec<Option<StorageMut<'_>>> =
            claim.parts.iter_mut().map(|part| Some(part.reborrow())).collect();
        let straight = layout.epilogue.iter().map(|&output| parts[output].take());
        let places = Places::new(positions.start, straight.collect());
        let mut places = places.without(layout.constants());
        epilogue.points(positions, &inputs, &mut places, |_, _| Ok(()))?;
        Ok(())
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
            Shared::Grouped(grouped) => {
                let values = self.sent_grouped(grouped, sink).map_err(|halt| self.stop(halt))?;
                Ok(SinkResult::Scattered(values))
            }
            Shared::Private(private) => {
                Ok(SinkResult::Scattered(self.sent_privately(private, sink)))
            }
            Shared::Filter(filtering) => {
                let mut lengths: Vec<usize> = vec![0; self.shape.rows()];
                let (values, counts) = filtering.into_inner();
                for (number, counts) in in_order(counts) {
                    for (row, count) in (chunks[number].rows.start..).zip(counts) {
                        lengths[row] += count;
                    }
                }
                Ok(SinkResult::Filtered(lengths, values))
            }
            Shared::Parts(parts) => {
                let fold = self.bound.kernel.folds[sink].as_ref().expect("a reduction folds");
                let parts = in_order(parts).into_iter().map(|(_, part)| part.values).collect();
                let values = self.joined(fold, chunks, parts).map_err(|halt| self.stop(halt))?;
                Ok(SinkResult::Reduced { values, started: false })
            }
        }
    }
}

/// What belongs to the chunks, by their number.
pub(super) fn in_order<T>(parts: Mutex<Vec<(usize, T)>>) -> Vec<(usize, T)> {
    let mut parts = parts.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    parts.sort_by_key(|(number, _)| *number);
    parts
}
