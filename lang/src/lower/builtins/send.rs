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

    /// Where the elements of a regular array are in all of them, one after the other.
    pub(super) fn places(&mut self, call: &Call<'p>, axes: usize) -> Outcome<Value<'p>> {
        let array = call.array(0)[0];
        let extents: Vec<Atom> = (0..axes).map(|axis| self.extent(array, axis)).collect();
        let count = match extents[..] {
            [length] => length,
            _ => {
                let all = self.flatten_to(array, axes);
                self.length(all)
            }
        };
        let places = self.iota(count);
        Ok(Value::array(self.shaped(vec![places], &extents)))
    }

    /// An array in which others stand at some places.
    pub(super) fn replace(
        &mut self,
        call: &Call<'p>,
        axes: usize,
        kept: usize,
    ) -> Outcome<Value<'p>> {
        let array = call.array(0);
        let sent = [&call.array(1)[..], &call.array(2)].concat();
        let mut sent = self.one_by_one(sent, kept)?;
        let extents: Vec<Atom> = (0..axes).map(|axis| self.extent(array[0], axis)).collect();
        let destinations: Vec<Atom> =
            array.iter().map(|leaf| self.flatten_to(*leaf, axes)).collect();
        let types = self.types_of(&destinations);
        let indices = sent.remove(0);
        let operation = Operation::Scatter {
            destinations,
            indices,
            values: sent,
            operator: None,
            drops: false,
        };
        let replaced = self.emit(operation, &types);
        Ok(Value::array(self.shaped(replaced, &extents)))
    }

    /// The elements of arrays of one shape of so many axes, all of each one after the other.
    fn one_by_one(&mut self, arrays: Vec<Atom>, axes: usize) -> Outcome<Vec<Atom>> {
        let (indices, values) = self.in_step(arrays[0], &arrays[1..]);
        let arrays = [&[indices], &values[..]].concat();
        if axes <= 1 {
            return Ok(arrays);
        }
        let rows =
            self.map(&arrays, &mut |lowering, rows| lowering.one_by_one(rows.to_vec(), axes - 1))?;
        Ok(rows.into_iter().map(|rows| self.flatten_one(rows)).collect())
    }

    /// Arrays of all elements, by rows again.
    fn shaped(&mut self, arrays: Vec<Atom>, extents: &[Atom]) -> Vec<Atom> {
        match extents {
            [_] => arrays,
            _ => arrays.into_iter().map(|array| self.reshape(array, 1, extents)).collect(),
        }
    }
}
