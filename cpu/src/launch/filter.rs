//! The results of a filter.

use weft_ir::code::Operand;
use weft_ir::flat::Var;
use weft_ir::{Exhausted, Scalar, Stop};

use crate::lanes::{Lane, LaneType, Storage, with_lane_type};
use crate::launch::{Launch, Yield};
use crate::shape::{Axis, Shape};

impl Launch<'_> {
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
            *taken += (total * values.ty().scalar_type().bytes()) as u64;
            if *taken > self.free_bytes {
                let (wanted, limit, span) = (*taken, self.limit, self.kernel.span);
                return Err(Exhausted::Memory { wanted, limit, span }.into());
            }
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

/// The values whose flags hold.
pub(super) fn compact(flags: &[bool], values: &Storage, kept: usize) -> Storage {
    with_lane_type!(values.ty(), T => {
        // Each value is written; the position moves on if it is kept.
        let mut out = vec![T::default(); kept + 1];
        let mut at = 0;
        for (&flag, &value) in flags.iter().zip(T::storage(values)) {
            out[at.min(kept)] = value;
            at += usize::from(flag);
        }
        out.truncate(kept);
        T::into_storage(out)
    })
}
