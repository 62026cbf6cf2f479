//! Sending: elements go to places that other values name.

use weft_ir::nested::{Atom, Operation};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::value::Value;

impl<'p> Lowering<'p> {
    /// `scatter dest is xs`.
    pub(super) fn scatter(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (indices, values) = self.in_step(call.array(1)[0], &call.array(2));
        let destinations = call.array(0).to_vec();
        let types = self.types_of(&destinations);
        let operation =
            Operation::Scatter { destinations, indices, values, operator: None, drops: false };
        Ok(Value::array(self.emit(operation, &types)))
    }

    /// `scatterWith op dest is xs`.
    pub(super) fn scatter_with(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (indices, values) = self.in_step(call.array(2)[0], &call.array(3));
        self.send_with(call, indices, values, false)
    }

    /// `permute op dest f xs`: the targets are f 0, f 1, …; -1 drops an element.
    pub(super) fn permute(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let values = call.array(3).to_vec();
        let length = self.length(values[0]);
        let targets = self.tabulate(length, &mut |lowering, at| {
            let target = lowering.call(&call.args[2], vec![Value::Scalar(at)])?;
            Ok(vec![target.expect_scalar()])
        })?;
        self.send_with(call, targets[0], values, true)
    }

    fn send_with(
        &mut self,
        call: &Call<'p>,
        indices: Atom,
        values: Vec<Atom>,
        drops: bool,
    ) -> Outcome<Value<'p>> {
        let destinations = call.array(1).to_vec();
        let operator = Some(self.operator_of(&call.args[0], call.element(1))?);
        let types = self.types_of(&destinations);
        let operation = Operation::Scatter { destinations, indices, values, operator, drops };
        Ok(Value::array(self.emit(operation, &types)))
    }

    /// Indices and values of one length.
    fn in_step(&mut self, indices: Atom, values: &[Atom]) -> (Atom, Vec<Atom>) {
        let mut both = self.lockstep(indices, values[0], [&[indices], values].concat());
        let indices = both.remove(0);
        (indices, both)
    }

    /// `histogram n bins`.
    pub(super) fn histogram(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let length = self.count(call.scalar(0));
        Ok(Value::array(vec![self.histogram_of(length, call.array(1)[0])?]))
    }

    /// `pack xs flags`.
    pub(super) fn pack_of(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (flags, leaves) = self.in_step(call.array(1)[0], &call.array(0));
        Ok(Value::array(self.pack(flags, &leaves)))
    }
}
