//! Sorts of values, and what is in order beside the order: two launches of the plan in one go (Note [Sorted keys]
//! in `launch::sorted`).

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use weft_ir::Stop;
use weft_ir::flat::Var;
use weft_ir::plan::{Kernel, SortedKeys, Step};

use super::{Datum, Launched, Machine};
use crate::execute::Halt;
use crate::lanes::{Elements, Storage};
use crate::launch::{LONG_SORT, order_of, sort_keys};
use crate::pool::IntoColumn as _;
use crate::prepare::PreparedStep;
use crate::shape::Shape;

/// The bytes that a sort takes for each of its elements: the keys twice, and what is made of them.
const COPIES: u64 = 3;

/// The bytes that an order takes for each of its elements, with what is sorted to make it.
const ORDER_BYTES: u64 = 40;

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
        let offsets = self.offsets(sort);
        let shape = self.shape(sort, &offsets)?;
        // An order of several rows says where elements lie in each.
        if sorted.order.is_some() && (shape.rows() != 1 || shape.points() < LONG_SORT) {
            return Ok(false);
        }
        let (points, bytes_written) = match sorted.keys {
            Some(keys) => match self.sort_array(sort, keys, sorted, &shape)? {
                Some(length) => length,
                None => return Ok(false),
            },
            None => {
                self.launch(sort, bound, &[], Some(sorted))?;
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
        shape: &Shape<'_>,
    ) -> Result<Option<(u64, u64)>, Stop> {
        let Datum::Array { extents, elements, .. } = self.get(keys) else { return Ok(None) };
        let (length, bytes) = (elements.len(), elements.bytes() as u64);
        let wanted = match sorted.order {
            Some(_) => bytes.saturating_add(ORDER_BYTES.saturating_mul(length as u64)),
            None => bytes.saturating_mul(1 + COPIES),
        };
        if self.alive.saturating_add(wanted) > self.config.memory_limit
            || shape.storage() != *extents
        {
            return Ok(None);
        }
        let begin = Instant::now();
        let (workers, cancel) = (self.config.workers, self.cancel);
        let poll = || match cancel.load(Ordering::Relaxed) {
            true => Err(Halt::Interrupted),
            false => Ok(()),
        };
        let (keys, extents) = (Elements::of_column(elements), extents.clone());
        let made: Result<(Storage, Option<Storage>), Halt> = match sorted.order {
            Some(_) => {
                order_of(&[keys], length, sorted.descending, workers, &poll).and_then(|order| {
                    let room = workers.memory().take(keys.ty(), length);
                    Ok((order.of_key(keys, room, workers)?, Some(order.positions)))
                })
            }
            None => sort_keys(keys, sorted.descending, shape, workers, &poll)
                .map(|values| (values, None)),
        };
        let (values, order) = made.map_err(|halt| halt.stop(&[]))?;
        let mut bytes_written = 0;
        for (var, storage) in sorted.order.into_iter().zip(order) {
            bytes_written = self.put(var, extents.clone(), storage);
        }
        let bytes_of_values = self.put(sorted.sorted, extents, values);
        let (time, bytes_alive) = (begin.elapsed(), self.alive);
        let points = length as u64;
        (self.observe)(Launched { kernel, points, time, bytes_written, bytes_alive });
        Ok(Some((points, bytes_of_values)))
    }

    /// Binds an array; its bytes.
    fn put(&mut self, var: Var, extents: Vec<usize>, storage: Storage) -> u64 {
        let (ty, length) = (self.types[var.0 as usize].element, storage.len());
        let elements = storage.into_column(ty, length, self.config.workers.memory());
        let bytes = elements.bytes() as u64;
        self.set(var, Datum::Array { extents, elements, bytes });
        bytes
    }

    fn points_of(&self, array: Var) -> u64 {
        match self.get(array) {
            Datum::Array { elements, .. } => elements.len() as u64,
            Datum::Scalar(_) => 1,
        }
    }
}
