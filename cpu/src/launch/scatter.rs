//! Scatters: chunks are evaluated in parallel and sent in order.

use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::FaultKind;
use weft_ir::plan::Sink;

use crate::execute::Halt;
use crate::fold::Folder;
use crate::lanes::{Elements, Lane, LaneType, Storage, with_lane_type};
use crate::launch::Launch;
use crate::launch::layout::Layout;
use crate::launch::sort::radix_sort;
use crate::launch::work::{Claim, Worker};
use crate::workers::InOrder;

/// The destinations, and what is kept until all has been sent.
#[derive(Debug)]
pub(super) struct Sent {
    destinations: Vec<Storage>,
    /// Targets and values that are combined at the end, because the tree of a fold must not depend
    /// on where chunks are cut.
    targets: Vec<usize>,
    values: Vec<Storage>,
}

impl Sent {
    pub(super) fn new(destinations: Vec<Storage>) -> Sent {
        let values = destinations.iter().map(|storage| Storage::new(storage.ty())).collect();
        Sent { destinations, targets: Vec::new(), values }
    }
}

impl Launch<'_> {
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
        let Sink::Scatter { target, destinations, operator, .. } = &self.kernel.sinks[sink] else {
            return Ok(());
        };
        let stages = &worker.stages[layout.staged[sink].clone()];
        let (indices, values) = stages.split_at(target.len());
        let extents = &self.extents[&destinations[0]];
        let targets = targets(indices, extents)?;
        let given_up = || {
            self.context().poll()?;
            if failed.load(Ordering::Relaxed) { Err(Halt::Interrupted) } else { Ok(()) }
        };
        let fold = self.bound.kernel.folds[sink].as_ref();
        let direct = fold.and_then(|fold| fold.primitives.as_ref()).filter(|_| {
            // Integers and truth values may be combined in any bracketing.
            values.iter().all(|values| !matches!(values.ty(), LaneType::F32 | LaneType::F64))
        });
        sent.with(claim.number, given_up, |sent| {
            for (at, values) in values.iter().enumerate() {
                match (operator, direct) {
                    (None, _) => replace(&mut sent.destinations[at], &targets, values),
                    (Some(_), Some(primitives)) => {
                        primitives[at].send(
                            &mut sent.destinations[at],
                            &targets,
                            values.elements(),
                        );
                    }
                    (Some(_), None) => {
                        let sources: Vec<usize> =
                            (0..targets.len()).filter(|&at| targets[at].is_some()).collect();
                        sent.values[at].append(values.gather(&sources).elements());
                    }
                }
            }
            if operator.is_some() && direct.is_none() {
                sent.targets.extend(targets.iter().flatten());
            }
            Ok(())
        })
    }

    /// The destinations, when all has been sent.
    pub(super) fn sent(&self, sent: Sent, sink: usize) -> Result<Vec<Storage>, Halt> {
        let Sent { mut destinations, targets, values } = sent;
        let Some(fold) = self.bound.kernel.folds[sink].as_ref().filter(|_| !targets.is_empty())
        else {
            return Ok(destinations);
        };
        let mut folder = Folder::new(fold, &self.bound.kernel.types, self.context(), false);
        let mut pairs: Vec<(u64, usize)> =
            targets.iter().enumerate().map(|(at, &target)| (target as u64, at)).collect();
        radix_sort(&mut pairs, &|| self.context().poll())?;
        let sources: Vec<usize> = pairs.iter().map(|&(_, at)| at).collect();
        let (mut rows, mut lengths) = (Vec::new(), Vec::new());
        for equal in pairs.chunk_by(|a, b| a.0 == b.0) {
            rows.push(equal[0].0 as usize);
            lengths.push(equal.len());
        }
        let values: Vec<Storage> = values.iter().map(|values| values.gather(&sources)).collect();
        let values: Vec<Elements<'_>> = values.iter().map(Storage::elements).collect();
        let (folded, _) = folder.fold(&values, &lengths, usize::MAX)?;
        let old: Vec<Storage> = destinations.iter().map(|old| old.gather(&rows)).collect();
        let old: Vec<Elements<'_>> = old.iter().map(Storage::elements).collect();
        let folded: Vec<Elements<'_>> = folded.iter().map(Storage::elements).collect();
        let combined = folder.combine(&old, &folded)?;
        let rows: Vec<Option<usize>> = rows.into_iter().map(Some).collect();
        for (destination, combined) in destinations.iter_mut().zip(&combined) {
            replace(destination, &rows, combined);
        }
        Ok(destinations)
    }
}

/// The storage index of each target; none if the element is dropped.
fn targets(indices: &[Storage], extents: &[usize]) -> Result<Vec<Option<usize>>, Halt> {
    let indices: Vec<&[i64]> = indices.iter().map(|index| i64::storage(index).as_slice()).collect();
    let length = indices.first().map_or(0, |index| index.len());
    let mut targets = Vec::with_capacity(length);
    for at in 0..length {
        if indices[0][at] == -1 {
            targets.push(None);
            continue;
        }
        let mut target = 0;
        for (index, &extent) in indices.iter().zip(extents) {
            let index = index[at];
            if index < 0 || index as usize >= extent {
                return Err(Halt::Fault(FaultKind::IndexOutOfRange, u32::MAX));
            }
            target = target * extent + index as usize;
        }
        targets.push(Some(target));
    }
    Ok(targets)
}

/// Writes values where they belong; the last one stays.
fn replace(destination: &mut Storage, targets: &[Option<usize>], values: &Storage) {
    with_lane_type!(destination.ty(), T => {
        let destination = T::storage_mut(destination);
        for (target, &value) in targets.iter().zip(T::storage(values)) {
            if let Some(target) = *target {
                destination[target] = value;
            }
        }
    });
}
