//! Order: sorting, ranking, searching, merging.

use weft_ir::nested::{Atom, Operation, Type};
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::int;
use crate::lower::value::Value;

impl<'p> Lowering<'p> {
    /// The permutation that sorts keys.
    pub(super) fn sort_order(&mut self, keys: &[Atom], descending: bool) -> Atom {
        let operation = Operation::SortOrder { keys: keys.to_vec(), descending };
        self.emit_one(operation, Type { rank: 1, element: ScalarType::I64 })
    }

    /// `sort xs`, `sortDesc xs`.
    pub(super) fn sort(&mut self, call: &Call<'p>, descending: bool) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        let order = self.sort_order(&leaves, descending);
        Ok(Value::array(self.gather_at(&leaves, order)?))
    }

    /// `sortBy key xs`.
    pub(super) fn sort_by(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(1);
        let keys = self.map_elements(&leaves, call.element(1), &call.args[0])?;
        let order = self.sort_order(&keys, false);
        Ok(Value::array(self.gather_at(&leaves, order)?))
    }

    /// `argsort xs`.
    pub(super) fn argsort(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        Ok(Value::array(vec![self.sort_order(&call.array(0), false)]))
    }

    /// `searchSorted xs x`: the binary search that halves the `width` elements from `low` on. How many turns it takes
    /// depends on the length alone, so that many searches in one array go on in step, without branches. What is sought
    /// is needed, even if there is nothing to compare it with.
    pub(super) fn search_sorted(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (leaves, element, sought) = (call.array(0), call.element(0), &call.args[1]);
        let length = self.length(leaves[0]);
        let found = self.while_loop(
            vec![int(0), length],
            &mut |lowering, state| Ok(lowering.compute(ScalarOp::Gt, &[state[1], int(0)])),
            &mut |lowering, state| {
                let (low, width) = (state[0], state[1]);
                let rest = lowering.compute(ScalarOp::FloorDiv, &[width, int(2)]);
                let middle = lowering.compute(ScalarOp::Add, &[low, rest]);
                let there = lowering.index_all(&leaves, &[middle]);
                let less = lowering.precedes(&Value::of_leaves(element, &there), sought);
                // With an even number what is in the middle stays: so the rest is as long in both cases.
                let half = lowering.compute(ScalarOp::Sub, &[width, rest]);
                let behind = lowering.compute(ScalarOp::Add, &[low, half]);
                Ok(vec![lowering.select(less, behind, low), rest])
            },
        )?;
        // Nothing precedes itself.
        let never = self.precedes(sought, sought);
        Ok(Value::Scalar(self.select(never, length, found[0])))
    }

    /// `merge xs ys`: both in order, so that sorting them together is the same.
    pub(super) fn merge(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (left, right) = (call.array(0), call.array(1));
        let element = call.element(0);
        let both = self.concat_all(&left, &right);
        // Of arrays in disorder the interpreter knows what merging them step by step yields.
        let first = self.is_sorted(&left, element)?;
        let second = self.is_sorted(&right, element)?;
        let holds = self.compute(ScalarOp::And, &[first, second]);
        let both = self.assert(holds, FaultKind::BadArgument, both);
        let order = self.sort_order(&both, false);
        Ok(Value::array(self.gather_at(&both, order)?))
    }
}
