//! Nesting: cutting arrays into rows.

use weft_ir::nested::{Atom, Operation, Start};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::{bool_atom, int};
use crate::lower::value::{Value, component_types};

impl<'p> Lowering<'p> {
    /// `segments counts xs`.
    pub(super) fn segments(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        Ok(Value::array(self.rows(call.array(0)[0], &call.array(1))))
    }

    /// Consecutive rows of these lengths of all leaves.
    pub(super) fn rows(&mut self, lengths: Atom, leaves: &[Atom]) -> Vec<Atom> {
        let rows = leaves.iter().map(|leaf| {
            let ty = self.type_of(*leaf).array();
            self.emit_one(Operation::Segments(lengths, *leaf), ty)
        });
        rows.collect()
    }

    /// `chunks k xs`: rows of k elements; the last may be shorter.
    pub(super) fn chunks(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let k = self.positive(call.scalar(0));
        let leaves = call.array(1);
        let mut length = self.length(leaves[0]);
        if let (Atom::Scalar(Scalar::I64(known)), Atom::Scalar(Scalar::I64(each))) = (length, k)
            && each > 0
            && known % each == 0
        {
            // Rows of one length.
            let extents = [int(known / each), k];
            let rows = leaves.iter().map(|leaf| self.reshape(*leaf, 1, &extents)).collect();
            return Ok(Value::array(rows));
        }
        if self.is_outside_lambdas() {
            // No rows at all have k columns, which segments cannot say: the interpreter does.
            let some = self.compute(ScalarOp::Gt, &[length, int(0)]);
            length = self.assert_one(some, FaultKind::EmptyArray, length);
        }
        let last = self.compute(ScalarOp::Sub, &[length, int(1)]);
        let rows = self.compute(ScalarOp::FloorDiv, &[last, k]);
        let count = self.compute(ScalarOp::Add, &[rows, int(1)]);
        let count = self.set_count(count);
        let lengths = self.tabulate(count, &mut |lowering, at| {
            let start = lowering.compute(ScalarOp::Mul, &[at, k]);
            let rest = lowering.compute(ScalarOp::Sub, &[length, start]);
            Ok(vec![lowering.compute(ScalarOp::Min, &[k, rest])])
        })?;
        Ok(Value::array(self.rows(lengths[0], &leaves)))
    }

    /// `windows k xs`, and `windowsBy k step xs` if it is stepped.
    pub(super) fn windows(&mut self, call: &Call<'p>, stepped: bool) -> Outcome<Value<'p>> {
        let k = self.positive(call.scalar(0));
        let step = if stepped { self.positive(call.scalar(1)) } else { int(1) };
        let leaves = call.array(if stepped { 2 } else { 1 });
        let length = self.length(leaves[0]);
        let free = self.compute(ScalarOp::Sub, &[length, k]);
        let steps = self.compute(ScalarOp::FloorDiv, &[free, step]);
        let count = self.compute(ScalarOp::Add, &[steps, int(1)]);
        let count = self.compute(ScalarOp::Max, &[count, int(0)]);
        let count = self.set_count(count);
        let rows = self.over_grid(&[count, k], &mut |lowering, index| {
            let start = lowering.compute(ScalarOp::Mul, &[index[0], step]);
            let at = lowering.compute(ScalarOp::Add, &[start, index[1]]);
            Ok(lowering.index_all(&leaves, &[at]))
        })?;
        Ok(Value::array(rows))
    }

    /// An integer that must be at least 1.
    fn positive(&mut self, value: Atom) -> Atom {
        let holds = self.compute(ScalarOp::Ge, &[value, int(1)]);
        let value = self.assert_one(holds, FaultKind::BadArgument, value);
        self.set_count(value)
    }

    /// `groupBy keys values`: each distinct key with its values.
    pub(super) fn group_by(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (keys, values) = (call.array(0), call.array(1));
        let both = self.lockstep(keys[0], values[0], [&keys[..], &values[..]].concat());
        let (keys, values) = both.split_at(keys.len());
        let length = self.length(keys[0]);
        let order = self.sort_order(keys, false);
        let sorted = self.gather_at(keys, order)?;
        let values = self.gather_at(values, order)?;
        let first = self.starts_of_runs(&sorted, call.element(0), length)?;
        let positions = self.iota(length);
        let mut packed = sorted.clone();
        packed.push(positions);
        let mut packed = self.pack(first, &packed);
        let starts = packed.pop().expect("the positions");
        let groups = self.length(starts);
        let last = self.compute(ScalarOp::Sub, &[groups, int(1)]);
        let lengths = self.tabulate(groups, &mut |lowering, at| {
            let start = lowering.index(starts, &[at]);
            let next = lowering.compute(ScalarOp::Add, &[at, int(1)]);
            let next = lowering.compute(ScalarOp::Min, &[next, last]);
            let next = lowering.index(starts, &[next]);
            let is_last = lowering.compute(ScalarOp::Eq, &[at, last]);
            let stop = lowering.select(is_last, length, next);
            Ok(vec![lowering.compute(ScalarOp::Sub, &[stop, start])])
        })?;
        packed.extend(self.rows(lengths[0], &values));
        Ok(Value::array(packed))
    }

    /// `split flags xs`: the elements where the flag is false, and those where it is true.
    pub(super) fn split(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (flags, leaves) = (call.array(0)[0], call.array(1));
        let mut both = self.lockstep(flags, leaves[0], [&[flags], &leaves[..]].concat());
        let flags = both.remove(0);
        let others = self.inverted(flags)?;
        let no = self.pack(others, &both);
        let yes = self.pack(flags, &both);
        Ok(Value::tuple(vec![Value::array(no), Value::array(yes)]))
    }

    /// Where flags do not hold.
    pub(super) fn inverted(&mut self, flags: Atom) -> Outcome<Atom> {
        let inverted = self
            .map(&[flags], &mut |lowering, flag| Ok(vec![lowering.compute(ScalarOp::Not, flag)]))?;
        Ok(inverted[0])
    }

    /// `csr m`: the entries of a sparse matrix row by row, in their order within a row.
    pub(super) fn csr(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let Value::Tuple(parts) = &call.args[0] else { panic!("lower: a matrix is a record") };
        let height = self.count(parts[0].expect_scalar());
        let part = |index: usize| parts[index].expect_array();
        let (rows, columns, values) = (part(2), part(3), part(4));
        let all = [&rows[..], &columns[..], &values[..]].concat();
        let all = self.lockstep(rows[0], columns[0], all);
        let all = self.lockstep(all[0], all[2], all);
        let inside = self.map(&[all[0]], &mut |lowering, row| {
            let low = lowering.compute(ScalarOp::Ge, &[row[0], int(0)]);
            let high = lowering.compute(ScalarOp::Lt, &[row[0], height]);
            Ok(vec![lowering.compute(ScalarOp::And, &[low, high])])
        })?;
        let start = Start::IfEmpty(vec![bool_atom(true)]);
        let inside = self.fold_scalar(ScalarOp::And, start, inside[0])?;
        let all = self.assert(inside, FaultKind::IndexOutOfRange, all);
        let counts = self.histogram_of(height, all[0])?;
        let order = self.sort_order(&all[..1], false);
        let columns = self.gather_at(&all[1..2], order)?;
        let values = self.gather_at(&all[2..], order)?;
        assert_eq!(component_types(call.result).len(), 3, "csr yields three arrays");
        Ok(Value::tuple(vec![
            Value::array(vec![counts]),
            Value::array(columns),
            Value::array(values),
        ]))
    }

    /// How often each bin occurs, of those below `length`.
    pub(super) fn histogram_of(&mut self, length: Atom, bins: Atom) -> Outcome<Atom> {
        let zeros = self.replicate(length, int(0));
        let count = self.length(bins);
        let ones = self.replicate(count, int(1));
        let ty = self.type_of(int(0));
        let operator = self.operator(&[ty], &mut |lowering, left, right| {
            Ok(vec![lowering.compute(ScalarOp::Add, &[left[0], right[0]])])
        })?;
        let bins = self.cast_all(bins, ScalarType::I64)?;
        let operation = Operation::Scatter {
            destinations: vec![zeros],
            indices: bins,
            values: vec![ones],
            operator: Some(operator),
            drops: false,
        };
        Ok(self.emit_one(operation, ty.array()))
    }
}
