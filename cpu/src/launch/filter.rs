//! The results of a filter.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use weft_ir::code::Operand;
use weft_ir::flat::Var;
use weft_ir::plan::Sink;
use weft_ir::{Scalar, Stop};

use crate::compact::{SLACK, compact};
use crate::execute::{Halt, Source};
use crate::lanes::{Lane, LaneType, Storage, StorageMut, with_lane_type};
use crate::launch::chunk::Chunk;
use crate::launch::layout::Layout;
use crate::launch::{Launch, Yield};
use crate::shape::{Axis, Shape};
use crate::stream::Stream;
use crate::workers::{InOrder, lock};

/// How many points of each row of a chunk are kept, by the chunk's number.
type Counts = Vec<(usize, Vec<usize>)>;

/// What threads have in common for a filter.
pub(super) struct Filtering<'o> {
    room: InOrder<Room<'o>>,
    counts: Mutex<Counts>,
    /// The bytes that there was no memory for.
    exceeded: AtomicU64,
}

/// Where that goes which is kept.
enum Room<'o> {
    /// What is left of arrays that are large enough for all points.
    Ready(Vec<StorageMut<'o>>),
    /// To arrays that grow to so many bytes at most.
    Growing(Vec<Storage>, u64),
}

impl Filtering<'_> {
    /// Takes what is kept of a chunk, of so many points in each of its rows.
    pub(super) fn keep(
        &self,
        chunk: usize,
        kept: &[Storage],
        of_rows: Vec<usize>,
        stream: &Stream,
        given_up: impl Fn() -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        let total = of_rows.iter().sum();
        let places: Vec<StorageMut<'_>> = self.room.with(chunk, given_up, |room| match room {
            Room::Ready(rest) => Ok(rest.iter_mut().map(|rest| rest.take_front(total)).collect()),
            Room::Growing(values, most) => {
                let mut bytes = 0;
                for (values, kept) in values.iter_mut().zip(kept) {
                    bytes += (values.len() + total) * values.ty().scalar_type().bytes();
                    if bytes as u64 > *most {
                        self.exceeded.store(bytes as u64, Ordering::Relaxed);
                        return Err(Halt::Interrupted);
                    }
                    values.append(kept.elements().slice(0, total));
                }
                Ok(Vec::new())
            }
        })?;
        for (mut place, kept) in places.into_iter().zip(kept) {
            with_lane_type!(kept.ty(), T => {
                let kept = &T::storage(kept)[..total];
                let to = <T as Lane>::slice_mut(&mut place);
                stream.copy(kept, to);
            });
        }
        lock(&self.counts).push((chunk, of_rows));
        Ok(())
    }

    /// How many bytes there was no memory for.
    pub(super) fn exceeded(&self) -> Option<u64> {
        Some(self.exceeded.load(Ordering::Relaxed)).filter(|bytes| *bytes > 0)
    }

    /// The arrays that have grown, and the counts.
    pub(super) fn into_inner(self) -> (Vec<Storage>, Mutex<Counts>) {
        let values = match self.room.into_inner() {
            Room::Ready(_) => Vec::new(),
            Room::Growing(values, _) => values,
        };
        (values, self.counts)
    }
}

impl Launch<'_> {
    /// Arrays for all points, of which a filter fills the front: pages that are never written take no
    /// memory. Nothing if they might take more than there is.
    pub(super) fn room_for_kept(&self, layout: &Layout, taken: &mut u64) -> Option<Vec<Storage>> {
        let before = *taken;
        let kept = self
            .kept(layout)
            .map(|at| self.allocate(layout.stages[at], self.shape.points(), taken).ok());
        let kept: Option<Vec<Storage>> = kept.collect();
        if kept.is_none() {
            *taken = before;
        }
        kept
    }

    /// What threads have in common for the filter, if there is one.
    pub(super) fn filtering<'o>(
        &self,
        layout: &Layout,
        room: &'o mut Option<Vec<Storage>>,
        taken: u64,
    ) -> Filtering<'o> {
        let room = match room {
            Some(room) => Room::Ready(room.iter_mut().map(Storage::as_mut).collect()),
            None => {
                let fresh = self.kept(layout).map(|at| Storage::new(layout.stages[at]));
                Room::Growing(fresh.collect(), self.free_bytes.saturating_sub(taken))
            }
        };
        Filtering {
            room: InOrder::new(room),
            counts: Mutex::default(),
            exceeded: AtomicU64::new(0),
        }
    }

    /// The buffers of what the filter keeps, if there is one.
    fn kept<'l>(&self, layout: &'l Layout) -> impl Iterator<Item = usize> + use<'l> {
        let filter = |sink: &Sink| matches!(sink, Sink::Filter { .. });
        let sink = self.kernel.sinks.iter().position(filter);
        let of_sink = sink.map_or(0..0, |sink| layout.staged[sink].clone());
        of_sink.skip(1).chain(layout.more.clone()).filter(move |_| sink.is_some())
    }

    /// Closes up what is kept of a chunk; yields how many points of each of its rows that are.
    pub(super) fn close_up(
        &self,
        chunk: &Chunk,
        stages: &[Storage],
        staged: Range<usize>,
        layout: &Layout,
        kept: &mut Vec<Storage>,
    ) -> Vec<usize> {
        let flags = &bool::storage(&stages[staged.start])[..];
        let positions = &chunk.positions;
        let values = (staged.start + 1..staged.end).chain(layout.more.clone()).map(|stage| {
            match layout.known[stage].map(|array| &self.sources[array]) {
                Some(Source::Array { elements, .. }) => {
                    elements.slice(positions.start, positions.end)
                }
                _ => stages[stage].elements(),
            }
        });
        for (at, values) in values.enumerate() {
            if kept.len() == at {
                kept.push(Storage::new(values.ty()));
            }
            let room = values.len() + SLACK;
            if kept[at].len() < room {
                kept[at].resize(room);
            }
            with_lane_type!(values.ty(), T => {
                compact(flags, <T as Lane>::elements(values), T::storage_mut(&mut kept[at]));
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

    /// Counts, what is kept, and the epilogue over it; `more` are what only the epilogue needs.
    #[allow(clippy::too_many_arguments, reason = "the parts of one sink")]
    pub(super) fn filtered(
        &self,
        counts: &[Var],
        kept: &[(Operand, Var)],
        lengths: &[usize],
        values: Vec<Storage>,
        more: Vec<Storage>,
        taken: &mut u64,
        yields: &mut Vec<(Var, Yield)>,
    ) -> Result<(), Stop> {
        let total: usize = lengths.iter().sum();
        let mut offsets = vec![0_i64];
        let mut end = 0;
        for length in lengths {
            end += *length as i64;
            offsets.push(end);
        }
        for ((_, var), values) in kept.iter().zip(values) {
            yields.push((*var, self.array(*var, vec![total], values)));
        }
        if let (Some(epilogue), Some(thunk)) = (&self.kernel.epilogue, &self.bound.kernel.epilogue)
        {
            let mut axes = self.shape.outer().axes;
            axes.push(match counts {
                [_] => Axis::Dense(total),
                _ => Axis::Ragged(&offsets),
            });
            let shape = Shape::new(axes).expect("no more points than before");
            let types = epilogue.stores.iter().map(|(_, var)| LaneType::of(self.element(*var)));
            let stored = self.map(thunk, &shape, &more, types.collect(), taken)?;
            for ((_, var), storage) in epilogue.stores.iter().zip(stored) {
                yields.push((*var, self.array(*var, vec![total], storage)));
            }
            more.into_iter().for_each(|unused| self.workers.memory().keep(unused));
        }
        let total = Yield::Scalar(Scalar::I64(total as i64));
        match counts {
            [count] => yields.push((*count, total)),
            [row_offsets, count] => {
                let extents = vec![offsets.len()];
                yields
                    .push((*row_offsets, self.array(*row_offsets, extents, Storage::I64(offsets))));
                yields.push((*count, total));
            }
            _ => {}
        }
        Ok(())
    }
}
