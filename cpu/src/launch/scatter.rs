//! Scatters: chunks are evaluated in parallel and sent in order.
//!
//! Note [Private copies]. What combines integers and truth values by an operator to which zero is
//! neutral may do so in any order, and so may minima and maxima, of floats too. Where the destinations are small,
//! each thread sends to copies of its own, which are combined with the destinations at the end. They begin with zeros,
//! or as the destinations, where what is combined with itself stays as it is.
//!
//! Where there are no such copies, and the order does not matter, all goes to the destinations at once.
//!
//! Other operators combine in the tree of a fold, whose blocks go across chunks. A common operator on
//! very small destinations folds what it can chunk by chunk (Note [Grouped sends]), beside which integers
//! go to private copies; on those that are small, or have not many times as many elements as there are values,
//! it keeps one fold in progress for each of their elements; otherwise, and where another operator is to combine
//! them, targets and values are kept and sorted when all have come.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::FaultKind;
use weft_ir::flat::Var;
use weft_ir::plan::Sink;

use crate::execute::Halt;
use crate::fold::{Copies, Folder, Grouping, Primitive, SPREAD, Streams, TREE};
use crate::lanes::{Elements, Lane, LaneType, Storage, with_lane_type};
use crate::launch::chunk::CHUNK;
use crate::launch::claim::Claim;
use crate::launch::layout::Layout;
use crate::launch::work::{Shared, Worker, in_order};
use crate::launch::{Launch, PARALLEL};
use crate::workers::{InOrder, lock};

/// The most elements of a destination that has private copies, or folds in progress.
const SMALL: usize = 1 << 15;

/// The most elements of a destination whose chunks are sorted by place (Note [Grouped sends]).
const VERY_SMALL: usize = 1 << 10;

/// The most elements for each value that have folds in progress: their counts are read when all have come,
/// where a value that is kept is sorted.
const SPARSE: usize = 4;

/// The bytes that a kept point takes beside its values, which are kept and then gathered: its target, its
/// place in the order of targets, and two pairs of both while they are sorted.
const SORTED_BYTES: u64 = 48;

/// The destinations, and what is kept until all has been sent.
#[derive(Debug)]
pub(super) struct Sent {
    destinations: Vec<Storage>,
    kept: Kept,
    /// The bytes that there are for what is kept.
    most: u64,
    /// The bytes that there was no memory for.
    exceeded: Option<u64>,
}

impl Sent {
    /// How many bytes there was no memory for.
    pub(super) fn exceeded(&self) -> Option<u64> {
        self.exceeded
    }
}

/// What is combined at the end, because the tree of a fold must not depend on where chunks are cut.
#[derive(Debug)]
enum Kept {
    /// Nothing: all is sent at once.
    Nothing,
    /// Folds in progress, by component.
    Streams(Vec<Streams>),
    /// Targets and values, by component.
    All(Vec<i64>, Vec<Storage>),
}

/// Copies of destinations that no thread uses at the moment (Note [Private copies]); nothing of those
/// that are grouped.
#[derive(Debug)]
pub(super) struct Private {
    destinations: Vec<Storage>,
    copies: Mutex<Vec<Vec<Storage>>>,
}

/// Destinations whose chunks are sorted by place (Note [Grouped sends]).
#[derive(Debug)]
pub(super) struct Grouped {
    private: Private,
    /// How many values were sent to each element by the chunks whose turn has been.
    before: InOrder<Vec<u64>>,
    /// By the number of the chunk.
    parts: Mutex<Vec<(usize, Folded)>>,
}

/// What a chunk has come to.
#[derive(Debug)]
struct Folded {
    grouping: Grouping,
    /// By component that is grouped.
    values: Vec<Storage>,
}

/// How the components of a scatter are combined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// All in private copies.
    Private,
    /// In the tree of a fold, chunk by chunk, but for those that suit private copies.
    Grouped,
    /// In the order of the chunks.
    InOrder,
}

impl Launch<'_> {
    /// What threads have in common for a scatter to these destinations, with so many bytes for what is
    /// kept.
    pub(super) fn scatter(&self, sink: usize, destinations: Vec<Storage>, most: u64) -> Shared<'_> {
        let elements = destinations.first().map_or(0, Storage::len);
        match self.way(sink) {
            Way::Private => {
                return Shared::Private(Private { destinations, copies: Mutex::default() });
            }
            Way::Grouped => {
                let private = Private { destinations, copies: Mutex::default() };
                let (before, parts) = (InOrder::new(vec![0; elements]), Mutex::default());
                return Shared::Grouped(Grouped { private, before, parts });
            }
            Way::InOrder => {}
        }
        let fold = self.bound.kernel.folds[sink].as_ref();
        let primitives = fold.and_then(|fold| fold.primitives.as_deref());
        let small = (1..=SMALL).contains(&elements)
            || self.shape.points().saturating_mul(SPARSE) >= elements
                && self.stream_bytes(&destinations, elements) <= most;
        let exact = primitives.is_some_and(|all| all.iter().all(Primitive::is_exact));
        let kept = match (fold, primitives) {
            (Some(_), _) if exact => Kept::Nothing,
            (Some(_), Some(primitives)) if small => {
                Kept::Streams(primitives.iter().map(|_| Streams::new(elements)).collect())
            }
            (Some(_), _) => {
                let fresh = destinations.iter().map(|storage| Storage::new(storage.ty()));
                Kept::All(Vec::new(), fresh.collect())
            }
            (None, _) => Kept::Nothing,
        };
        Shared::Scatter(InOrder::new(Sent { destinations, kept, most, exceeded: None }))
    }

    /// The bytes of folds in progress for all elements: counts, and each level of the tree that there may be.
    fn stream_bytes(&self, destinations: &[Storage], elements: usize) -> u64 {
        let levels = self.shape.points().max(2).ilog(TREE) + 1;
        let of = |to: &Storage| size_of::<u64>() + levels as usize * to.ty().scalar_type().bytes();
        let each: usize = destinations.iter().map(of).sum();
        (elements as u64).saturating_mul(each as u64)
    }

    fn way(&self, sink: usize) -> Way {
        let Sink::Scatter { destinations, .. } = &self.kernel.sinks[sink] else {
            return Way::InOrder;
        };
        let elements: usize = self.extents[&destinations[0]].iter().product();
        let primitives = self.primitives(sink);
        let suits = |primitive: &Primitive| primitive.copies.is_some();
        let floats = destinations.iter().any(|to| is_float(LaneType::of(self.element(*to))));
        if primitives.is_empty() || elements == 0 {
            Way::InOrder
        } else if primitives.iter().all(suits)
            && elements <= SMALL
            && self.shape.points() / 4 >= elements
        {
            Way::Private
        } else if floats
            && elements <= VERY_SMALL
            && self.shape.points() > PARALLEL
            && self.grouped_bytes(destinations, elements) <= self.free_bytes
        {
            Way::Grouped
        } else {
            Way::InOrder
        }
    }

    /// The most bytes that chunks keep which are grouped: of each place how many values it has, those that
    /// continue a block, and what blocks come to.
    fn grouped_bytes(&self, destinations: &[Var], elements: usize) -> u64 {
        let bytes_of = |to: &Var| self.element(*to).bytes();
        let value: usize = destinations.iter().map(bytes_of).sum();
        let values = (elements * (TREE - 1)).min(CHUNK) + CHUNK / TREE + elements;
        let chunk = elements * size_of::<u64>() + values * value;
        (self.shape.points().div_ceil(CHUNK) as u64).saturating_mul(chunk as u64)
    }

    /// Whether threads send a component to copies of their own (Note [Private copies]).
    pub(super) fn is_private(&self, sink: usize, component: usize) -> bool {
        match self.way(sink) {
            Way::Private => true,
            Way::Grouped => self.primitives(sink)[component].copies.is_some(),
            Way::InOrder => false,
        }
    }

    /// The operators of a scatter whose components are combined one by one.
    fn primitives(&self, sink: usize) -> &[Primitive] {
        let fold = self.bound.kernel.folds[sink].as_ref();
        fold.and_then(|fold| fold.primitives.as_deref()).unwrap_or_default()
    }

    /// Sends what is staged.
    pub(super) fn send(
        &self,
        worker: &mut Worker<'_>,
        sink: usize,
        layout: &Layout,
        sent: &InOrder<Sent>,
        claim: &Claim<'_, '_>,
        failed: &AtomicBool,
    ) -> Result<(), Halt> {
        let (indices, values, extents) = self.staged(worker, sink, layout);
        let flat = flat(indices, extents)?;
        let targets = flat.as_deref().unwrap_or_else(|| i64::storage(&indices[0]));
        let given_up = || {
            self.context().poll()?;
            if failed.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
        };
        let primitives = self.primitives(sink);
        let combines = self.bound.kernel.folds[sink].is_some();
        sent.with(claim.number, given_up, |sent| {
            let mut inside = true;
            match &mut sent.kept {
                Kept::Nothing if combines => {
                    let each = primitives.iter().zip(&mut sent.destinations).zip(values);
                    for ((primitive, to), values) in each {
                        inside &= primitive.send(to, targets, values.elements());
                    }
                }
                Kept::Nothing => {
                    for (to, values) in sent.destinations.iter_mut().zip(values) {
                        inside &= replace(to, targets, values);
                    }
                }
                Kept::Streams(streams) => {
                    let each = primitives.iter().zip(streams).zip(values);
                    for ((primitive, streams), values) in each {
                        inside &= primitive.stream(streams, targets, values.elements());
                    }
                }
                Kept::All(all, kept) => {
                    let elements = sent.destinations[0].len();
                    let is_inside = |target: i64| (0..elements as i64).contains(&target);
                    inside = targets.iter().all(|&target| target == -1 || is_inside(target));
                    let sources: Vec<usize> =
                        (0..targets.len()).filter(|&at| targets[at] != -1).collect();
                    let of_value = kept.iter().map(|kept| kept.ty().scalar_type().bytes() as u64);
                    let of_point = of_value.map(|bytes| 2 * bytes).sum::<u64>() + SORTED_BYTES;
                    let wanted = (all.len() + sources.len()) as u64 * of_point;
                    if wanted > sent.most {
                        sent.exceeded = Some(wanted);
                        return Err(Halt::Interrupted);
                    }
                    for (kept, values) in kept.iter_mut().zip(values) {
                        kept.append(values.gather(&sources).elements());
                    }
                    all.extend(sources.iter().map(|&at| targets[at]));
                }
            }
            if inside { Ok(()) } else { Err(OUTSIDE) }
        })
    }

    /// Folds what is staged, place by place.
    pub(super) fn send_grouped(
        &self,
        worker: &mut Worker<'_>,
        sink: usize,
        layout: &Layout,
        grouped: &Grouped,
        claim: &Claim<'_, '_>,
        failed: &AtomicBool,
    ) -> Result<(), Halt> {
        let mut buffers = std::mem::take(&mut worker.folded);
        let (indices, values, extents) = self.staged(worker, sink, layout);
        let flat = flat(indices, extents)?;
        let targets = flat.as_deref().unwrap_or_else(|| i64::storage(&indices[0]));
        let given_up = || {
            self.context().poll()?;
            if failed.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
        };
        self.send_copies(sink, layout, &grouped.private, targets, values)?;
        let elements = grouped.private.destinations[0].len();
        let mut grouping = Grouping::counted(targets, elements).ok_or(OUTSIDE)?;
        grouped.before.with(claim.number, given_up, |before| {
            grouping.follow(before);
            Ok(())
        })?;
        grouping.sort(targets);
        let first = layout.staged[sink].end - values.len();
        let each = self.primitives(sink).iter().zip(values).zip(&mut buffers[first..]);
        let folded = each.filter(|((primitive, _), _)| primitive.copies.is_none()).map(
            |((primitive, values), buffer)| {
                primitive.fold_groups(values.elements(), &grouping, buffer)
            },
        );
        let values = folded.collect();
        let grouping = grouping.sorted();
        lock(&grouped.parts).push((claim.number, Folded { grouping, values }));
        worker.folded = buffers;
        Ok(())
    }

    /// The destinations, when all chunks have come to something.
    pub(super) fn sent_grouped(&self, grouped: Grouped, sink: usize) -> Result<Vec<Storage>, Halt> {
        let Grouped { private, before: _, parts } = grouped;
        let parts = in_order(parts);
        let mut destinations = self.sent_privately(private, sink);
        let each = self.primitives(sink).iter().zip(&mut destinations);
        for (part, (primitive, to)) in
            each.filter(|(primitive, _)| primitive.copies.is_none()).enumerate()
        {
            let elements = to.len();
            let step = elements.div_ceil(self.workers.threads()).max(1);
            let shares = (0..elements).step_by(step).map(|first| first..elements.min(first + step));
            let finished = Mutex::new(Vec::new());
            self.workers.each(
                true,
                shares,
                || (),
                |(), places| {
                    self.context().poll()?;
                    let mut streams = Streams::new(places.len());
                    for (_, Folded { grouping, values }) in &parts {
                        primitive.merge_groups(&mut streams, &places, grouping, &values[part]);
                    }
                    lock(&finished).push((places.start, streams));
                    Ok(())
                },
            )?;
            for (first, streams) in in_order(finished) {
                primitive.finish(streams, to, first);
            }
        }
        Ok(destinations)
    }

    /// Sends what is staged to copies that other threads do not see.
    pub(super) fn send_privately(
        &self,
        worker: &mut Worker<'_>,
        sink: usize,
        layout: &Layout,
        private: &Private,
    ) -> Result<(), Halt> {
        let (indices, values, extents) = self.staged(worker, sink, layout);
        let flat = flat(indices, extents)?;
        let targets = flat.as_deref().unwrap_or_else(|| i64::storage(&indices[0]));
        self.send_copies(sink, layout, private, targets, values)
    }

    /// Sends the components that suit them to private copies.
    fn send_copies(
        &self,
        sink: usize,
        layout: &Layout,
        private: &Private,
        targets: &[i64],
        values: &[Storage],
    ) -> Result<(), Halt> {
        let primitives = self.primitives(sink);
        if primitives.iter().all(|primitive| primitive.copies.is_none()) {
            return Ok(());
        }
        let fresh = || {
            let begin = |(to, primitive): (&Storage, &Primitive)| match primitive.copies {
                Some(Copies::Zeros) => Storage::zeros(to.ty(), to.len() * SPREAD),
                Some(Copies::Same) => {
                    let mut copies = Storage::new(to.ty());
                    (0..SPREAD).for_each(|_| copies.append(to.elements()));
                    copies
                }
                None => Storage::new(to.ty()),
            };
            private.destinations.iter().zip(primitives).map(begin).collect()
        };
        let mut copies: Vec<Storage> = lock(&private.copies).pop().unwrap_or_else(fresh);
        let mut inside = true;
        let first = layout.staged[sink].end - values.len();
        let each = primitives.iter().zip(&mut copies).zip(values).zip(first..);
        for (((primitive, to), values), stage) in
            each.filter(|(((primitive, _), _), _)| primitive.copies.is_some())
        {
            let values = layout.constant[stage].as_ref().unwrap_or(values);
            inside &= primitive.send_spread(to, targets, values.elements());
        }
        lock(&private.copies).push(copies);
        if inside { Ok(()) } else { Err(OUTSIDE) }
    }

    /// The destinations, when all copies have come to something.
    pub(super) fn sent_privately(&self, private: Private, sink: usize) -> Vec<Storage> {
        let Private { mut destinations, copies } = private;
        let copies = copies.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        for copies in &copies {
            let each = self.primitives(sink).iter().zip(&mut destinations).zip(copies);
            for ((primitive, to), copies) in each.filter(|((at, _), _)| at.copies.is_some()) {
                primitive.gather_spread(to, copies);
            }
        }
        destinations
    }

    /// The indices and the values that a chunk sends, and the extents of where to.
    fn staged<'b>(
        &'b self,
        worker: &'b Worker<'_>,
        sink: usize,
        layout: &Layout,
    ) -> (&'b [Storage], &'b [Storage], &'b [usize]) {
        let Sink::Scatter { target, destinations, .. } = &self.kernel.sinks[sink] else {
            unreachable!("only scatters send")
        };
        let stages = &worker.stages[layout.staged[sink].clone()];
        let (indices, values) = stages.split_at(target.len());
        (indices, values, &self.extents[&destinations[0]])
    }

    /// The destinations, when all has been sent.
    pub(super) fn sent(&self, sent: Sent, sink: usize) -> Result<Vec<Storage>, Halt> {
        let Sent { mut destinations, kept, .. } = sent;
        let (targets, values) = match kept {
            Kept::Nothing => return Ok(destinations),
            Kept::Streams(streams) => {
                let each = self.primitives(sink).iter().zip(streams).zip(&mut destinations);
                each.for_each(|((primitive, streams), to)| primitive.finish(streams, to, 0));
                return Ok(destinations);
            }
            Kept::All(targets, values) => (targets, values),
        };
        let Some(fold) = self.bound.kernel.folds[sink].as_ref().filter(|_| !targets.is_empty())
        else {
            return Ok(destinations);
        };
        let mut folder = Folder::new(fold, &self.bound.kernel.types, self.context(), false);
        let order = self.ordered(&targets)?;
        let sources: Vec<usize> = i64::storage(&order).iter().map(|&at| at as usize).collect();
        self.workers.memory().keep(order);
        let (mut rows, mut lengths) = (Vec::new(), Vec::new());
        for equal in sources.chunk_by(|&a, &b| targets[a] == targets[b]) {
            rows.push(targets[equal[0]]);
            lengths.push(equal.len());
        }
        let values: Vec<Storage> = values.iter().map(|values| values.gather(&sources)).collect();
        let values: Vec<Elements<'_>> = values.iter().map(Storage::elements).collect();
        let folded = folder.fold(&values, &lengths)?;
        let positions: Vec<usize> = rows.iter().map(|&row| row as usize).collect();
        let old: Vec<Storage> = destinations.iter().map(|old| old.gather(&positions)).collect();
        let old: Vec<Elements<'_>> = old.iter().map(Storage::elements).collect();
        let folded: Vec<Elements<'_>> = folded.iter().map(Storage::elements).collect();
        let combined = folder.combine(&old, &folded)?;
        for (destination, combined) in destinations.iter_mut().zip(&combined) {
            replace(destination, &rows, combined);
        }
        Ok(destinations)
    }
}

fn is_float(ty: LaneType) -> bool {
    matches!(ty, LaneType::F32 | LaneType::F64)
}

const OUTSIDE: Halt = Halt::Fault(FaultKind::IndexOutOfRange, u32::MAX);

/// The storage index of each target, unless there is one index only; -1 if the element is dropped.
fn flat(indices: &[Storage], extents: &[usize]) -> Result<Option<Vec<i64>>, Halt> {
    if indices.len() < 2 {
        return Ok(None);
    }
    let indices: Vec<&[i64]> = indices.iter().map(|index| i64::storage(index).as_slice()).collect();
    let length = indices[0].len();
    let mut targets = Vec::with_capacity(length);
    for at in 0..length {
        if indices[0][at] == -1 {
            targets.push(-1);
            continue;
        }
        let mut target = 0;
        for (index, &extent) in indices.iter().zip(extents) {
            let index = index[at];
            if index < 0 || index as usize >= extent {
                return Err(OUTSIDE);
            }
            target = target * extent as i64 + index;
        }
        targets.push(target);
    }
    Ok(Some(targets))
}

/// Writes values where they belong; the last one stays. Whether all targets but -1 exist.
fn replace(destination: &mut Storage, targets: &[i64], values: &Storage) -> bool {
    let mut inside = true;
    with_lane_type!(destination.ty(), T => {
        let destination = &mut T::storage_mut(destination)[..];
        for (&target, &value) in targets.iter().zip(T::storage(values)) {
            match destination.get_mut(target as usize) {
                Some(element) => *element = value,
                None => inside &= target == -1,
            }
        }
    });
    inside
}
