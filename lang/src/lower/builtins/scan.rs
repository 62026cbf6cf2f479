//! Scans.

use weft_ir::ScalarOp;
use weft_ir::nested::{Atom, Operation, ScanForm, Start};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::int;
use crate::lower::value::Value;

impl<'p> Lowering<'p> {
    /// `scanl op z xs` and its kin with a start value.
    pub(super) fn scan(
        &mut self,
        call: &Call<'p>,
        form: ScanForm,
        from_right: bool,
    ) -> Outcome<Value<'p>> {
        let start = Start::Combined(self.leaves(&call.args[1])?);
        Ok(Value::array(self.scan_with(call, form, from_right, start, 2)?))
    }

    /// `scanl1 op xs`, `scanr1 op xs`.
    pub(super) fn scan1(&mut self, call: &Call<'p>, from_right: bool) -> Outcome<Value<'p>> {
        let leaves = self.scan_with(call, ScanForm::Inclusive, from_right, Start::None, 1)?;
        Ok(Value::array(leaves))
    }

    /// `scanl' op z xs`, `scanr' op z xs`: all n + 1 values, the total apart.
    pub(super) fn scan_apart(&mut self, call: &Call<'p>, from_right: bool) -> Outcome<Value<'p>> {
        let start = Start::Combined(self.leaves(&call.args[1])?);
        let length = self.length(call.array(2)[0]);
        let all = self.scan_with(call, ScanForm::Full, from_right, start, 2)?;
        let (total, first) = if from_right { (int(0), int(1)) } else { (length, int(0)) };
        let total = self.index_all(&all, &[total]);
        let total = Value::of_leaves(call.component(1), &total);
        let others = self.rearrange(&all, length, &mut |lowering, at| {
            lowering.compute(ScalarOp::Add, &[at, first])
        })?;
        Ok(Value::tuple(vec![others, total]))
    }

    fn scan_with(
        &mut self,
        call: &Call<'p>,
        form: ScanForm,
        from_right: bool,
        start: Start<Vec<Atom>>,
        index: usize,
    ) -> Outcome<Vec<Atom>> {
        let arrays = call.array(index).to_vec();
        let operator = self.operator_of(&call.args[0], call.element(index))?;
        let types = self.types_of(&arrays);
        Ok(self.emit(Operation::Scan { form, from_right, operator, start, arrays }, &types))
    }
}
