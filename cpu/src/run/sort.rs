//! Sorts of values: two launches of the plan in one go (Note [Sorted keys] in `launch::sorted`).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use weft_ir::Stop;
use weft_ir::flat::Var;
use weft_ir::plan::{Kernel, Step};

use super::{Datum, Launched, Machine};
use crate::execute::Halt;
use crate::lanes::Elements;
use crate::launch::{SortedKeys, sort_keys};
use crate::pool::IntoColumn as _;
use crate::prepare::PreparedStep;

/// The bytes that a sort takes for each of its elements: the keys twice, and what is made of them.
const COPIES: u64 = 3;

impl Machine<'_> {
    /// Sorts values instead of running the next two launches, if there is memory for it; whether it did.
    pub(super) fn sort_values(
        &mut self,
        prepared: &PreparedStep,
        steps: &[Step],
        sorted: &SortedKeys,
    ) -> Result<bool, Stop> {
        let ([Step::Launch(sort), Step::Launch(send), ..], PreparedStep::Launch(bound, _)) =
            (steps, prepared)
        else {
            return Ok(false);
        };
        let (points, bytes_written) = match sorted.keys {
            Some(keys) => match self.sort_array(sort, keys, sorted)? {
                Some(length) => length,
                None => return Ok(false),
            },
            None => {
                self.launch(sort, bound, &[], Some(sorted.sorted))?;
                (self.points_of(sorted.sorted), 0)
            }
        };
        let (kernel, bytes_alive) = (send, self.alive);
        let time = Duration::ZERO;
        (self.observe)(Launched { kernel, points, time, bytes_written, bytes_alive });
        Ok(true)
    }

    /// Sorts the rows of an array as it stands; how many elements and bytes these are.
    fn sort_array(
        &mut self,
        kernel: &Kernel,
        keys: Var,
        sorted: &SortedKeys,
    ) -> Result<Option<(u64, u64)>, Stop> {
        let Datum::Array { extents, elements, .. } = self.get(keys) else { return Ok(None) };
        let (length, bytes) = (elements.len(), elements.bytes() as u64);
        let wanted = bytes.saturating_mul(1 + COPIES);
        if self.alive.saturating_add(wanted) > self.config.memory_limit {
            return Ok(None);
        }
        let offsets = self.offsets(kernel);
        let shape = self.shape(kernel, &offsets)?;
        if shape.storage() != *extents {
            return Ok(None);
        }
        let begin = Instant::now();
        let (workers, cancel) = (self.config.workers, self.cancel);
        let poll = || match cancel.load(Ordering::Relaxed) {
            true => Err(Halt::Interrupted),
            false => Ok(()),
        };
        let keys = Elements::of_column(elements);
        let values = sort_keys(keys, sorted.descending, &shape, workers, &poll)
            .map_err(|halt| halt.stop(&[]))?;
        let ty = self.types[sorted.sorted.0 as usize].element;
        let elements = values.into_column(ty, length, workers.memory());
        let datum = Datum::Array { extents: extents.clone(), elements, bytes };
        self.set(sorted.sorted, datum);
        let (time, bytes_alive) = (begin.elapsed(), self.alive);
        let points = length as u64;
        (self.observe)(Launched { kernel, points, time, bytes_written: 0, bytes_alive });
        Ok(Some((points, bytes)))
    }

    fn points_of(&self, array: Var) -> u64 {
        match self.get(array) {
            Datum::Array { elements, .. } => elements.len() as u64,
            Datum::Scalar(_) => 1,
        }
    }
}
