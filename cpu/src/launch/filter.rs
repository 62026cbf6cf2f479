//! The results of a filter.

use weft_ir::code::Operand;
use weft_ir::flat::Var;
use weft_ir::{Scalar, Stop};

use crate::lanes::{LaneType, Storage};
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
