//! Looking at arrays: lengths, shapes, ends.

use weft_ir::ScalarOp;

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::int;
use crate::lower::value::Value;

impl<'p> Lowering<'p> {
    /// `shape xs`: the extents of all axes, of a regular array.
    pub(super) fn shape(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let array = call.array(0)[0];
        let extents: Vec<_> = (0..call.rank(0)).map(|axis| self.extent(array, axis)).collect();
        Ok(Value::index(&extents))
    }

    /// `size xs`: how many elements there are on all axes together.
    pub(super) fn size(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let all = self.flatten_to(call.array(0)[0], call.rank(0));
        Ok(Value::Scalar(self.length(all)))
    }

    /// How many scalars there are in an array.
    pub(super) fn weight(&mut self, call: &Call<'p>) -> Value<'p> {
        let mut weight = int(0);
        for leaf in call.array(0).iter() {
            let leaf = self.flatten_to(*leaf, self.type_of(*leaf).rank);
            let length = self.length(leaf);
            weight = self.compute(ScalarOp::Add, &[weight, length]);
        }
        Value::Scalar(weight)
    }

    /// `null xs`.
    pub(super) fn null(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let length = self.length(call.array(0)[0]);
        Ok(Value::Scalar(self.compute(ScalarOp::Eq, &[length, int(0)])))
    }

    /// `indices xs`.
    pub(super) fn indices(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let length = self.length(call.array(0)[0]);
        Ok(Value::array(vec![self.iota(length)]))
    }

    /// `lengths rows`.
    pub(super) fn lengths(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let rows = call.array(0)[0];
        let lengths = self.map(&[rows], &mut |lowering, row| Ok(vec![lowering.length(row[0])]))?;
        Ok(Value::array(lengths))
    }

    /// `first xs`.
    pub(super) fn first(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = self.index_all(&call.array(0), &[int(0)]);
        Ok(Value::of_leaves(call.result, &leaves))
    }

    /// `last xs`.
    pub(super) fn last(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let array = call.array(0);
        let length = self.length(array[0]);
        let last = self.compute(ScalarOp::Sub, &[length, int(1)]);
        let leaves = self.index_all(&array, &[last]);
        Ok(Value::of_leaves(call.result, &leaves))
    }
}
