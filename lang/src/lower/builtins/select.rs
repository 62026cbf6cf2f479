//! Selecting elements.

use weft_ir::ScalarOp;
use weft_ir::nested::{Atom, Start};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::{bool_atom, int};
use crate::lower::value::Value;
use crate::types::Type;

impl<'p> Lowering<'p> {
    /// `filter p xs`.
    pub(super) fn filter(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(1);
        let flags = self.map_elements(&leaves, call.element(1), &call.args[0])?[0];
        Ok(Value::array(self.pack(flags, &leaves)))
    }

    /// `partition p xs`: those for which p holds, and the others.
    pub(super) fn partition(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(1);
        let flags = self.map_elements(&leaves, call.element(1), &call.args[0])?[0];
        let yes = self.pack(flags, &leaves);
        let others = self.inverted(flags)?;
        let no = self.pack(others, &leaves);
        Ok(Value::tuple(vec![Value::array(yes), Value::array(no)]))
    }

    /// `unique xs`: the distinct elements, ascending.
    pub(super) fn unique(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        let length = self.length(leaves[0]);
        let order = self.sort_order(&leaves, false);
        let sorted = self.gather_at(&leaves, order)?;
        let first = self.starts_of_runs(&sorted, call.element(0), length)?;
        Ok(Value::array(self.pack(first, &sorted)))
    }

    /// Whether each element of a sorted array differs from the one before it.
    pub(super) fn starts_of_runs(
        &mut self,
        sorted: &[Atom],
        element: &'p Type,
        length: Atom,
    ) -> Outcome<Atom> {
        let mut arrays = vec![self.iota(length)];
        arrays.extend(sorted);
        let flags = self.map(&arrays, &mut |lowering, atoms| {
            let at = atoms[0];
            let before = lowering.compute(ScalarOp::Sub, &[at, int(1)]);
            let before = lowering.compute(ScalarOp::Max, &[before, int(0)]);
            let before = lowering.index_all(sorted, &[before]);
            let before = Value::of_leaves(element, &before);
            let same = lowering.same(&before, &Value::of_leaves(element, &atoms[1..]));
            let differs = lowering.compute(ScalarOp::Not, &[same]);
            let is_first = lowering.compute(ScalarOp::Eq, &[at, int(0)]);
            Ok(vec![lowering.compute(ScalarOp::Or, &[is_first, differs])])
        })?;
        Ok(flags[0])
    }

    /// `indexWhere p xs`: the first position, or -1.
    pub(super) fn index_where(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(1);
        let length = self.length(leaves[0]);
        let mut arrays = leaves.to_vec();
        arrays.push(self.iota(length));
        let found = self.map(&arrays, &mut |lowering, atoms| {
            let (at, element) = atoms.split_last().expect("the position");
            let element = Value::of_leaves(call.element(1), element);
            let holds = lowering.call(&call.args[0], vec![element])?.expect_scalar();
            Ok(vec![lowering.select(holds, *at, int(i64::MAX))])
        })?;
        let start = Start::IfEmpty(vec![int(i64::MAX)]);
        let first = self.fold_scalar(ScalarOp::Min, start, found[0])?;
        let none = self.compute(ScalarOp::Eq, &[first, int(i64::MAX)]);
        Ok(Value::Scalar(self.select(none, int(-1), first)))
    }

    /// Whether the elements of an array are in order.
    pub(super) fn is_sorted(&mut self, leaves: &[Atom], element: &'p Type) -> Outcome<Atom> {
        let length = self.length(leaves[0]);
        let mut arrays = vec![self.iota(length)];
        arrays.extend(leaves);
        let flags = self.map(&arrays, &mut |lowering, atoms| {
            let before = lowering.compute(ScalarOp::Sub, &[atoms[0], int(1)]);
            let before = lowering.compute(ScalarOp::Max, &[before, int(0)]);
            let before = lowering.index_all(leaves, &[before]);
            let before = Value::of_leaves(element, &before);
            let wrong = lowering.precedes(&Value::of_leaves(element, &atoms[1..]), &before);
            Ok(vec![lowering.compute(ScalarOp::Not, &[wrong])])
        })?;
        self.fold_scalar(ScalarOp::And, Start::IfEmpty(vec![bool_atom(true)]), flags[0])
    }
}
