//! Re-indexing: the same elements at other places.

use weft_ir::nested::{Atom, Operation};
use weft_ir::{FaultKind, ScalarOp};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::int;
use crate::lower::value::{Value, component_types, leaf_count};

impl<'p> Lowering<'p> {
    /// `reshape shape xs`.
    pub(super) fn reshape_of(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let extents = self.new_shape(&call.args[0].expect_index());
        let from = call.rank(1);
        let leaves = call.array(1);
        Ok(Value::array(leaves.iter().map(|leaf| self.reshape(*leaf, from, &extents)).collect()))
    }

    /// `flatten rows`.
    pub(super) fn flatten(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        Ok(Value::array(leaves.iter().map(|leaf| self.flatten_one(*leaf)).collect()))
    }

    /// One level of nesting removed.
    pub(super) fn flatten_one(&mut self, array: Atom) -> Atom {
        let ty = self.type_of(array).element();
        self.emit_one(Operation::Flatten(array), ty)
    }

    /// The elements of so many axes, one after the other.
    pub(super) fn flatten_to(&mut self, array: Atom, axes: usize) -> Atom {
        (1..axes).fold(array, |array, _| self.flatten_one(array))
    }

    /// `transpose m`.
    pub(super) fn transpose(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        let turned = leaves.iter().map(|leaf| {
            let ty = self.type_of(*leaf);
            self.emit_one(Operation::Transpose(*leaf), ty)
        });
        Ok(Value::array(turned.collect()))
    }

    /// `reverse xs`.
    pub(super) fn reverse(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        let length = self.length(leaves[0]);
        let last = self.compute(ScalarOp::Sub, &[length, int(1)]);
        self.rearrange(&leaves, length, &mut |lowering, at| {
            lowering.compute(ScalarOp::Sub, &[last, at])
        })
    }

    /// `rotate k xs`: k places to the left; any k.
    pub(super) fn rotate(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(1);
        let length = self.length(leaves[0]);
        let some = self.compute(ScalarOp::Max, &[length, int(1)]);
        let by = self.compute(ScalarOp::Mod, &[call.scalar(0), some]);
        self.rearrange(&leaves, length, &mut |lowering, at| {
            let moved = lowering.compute(ScalarOp::Add, &[at, by]);
            let past = lowering.compute(ScalarOp::Ge, &[moved, length]);
            let again = lowering.compute(ScalarOp::Sub, &[moved, length]);
            lowering.select(past, again, moved)
        })
    }

    /// `take n xs`.
    pub(super) fn take(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(1);
        let wanted = self.count(call.scalar(0));
        let length = self.length(leaves[0]);
        let count = self.compute(ScalarOp::Min, &[wanted, length]);
        self.rearrange(&leaves, count, &mut |_, at| at)
    }

    /// `drop n xs`.
    pub(super) fn drop_first(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(1);
        let wanted = self.count(call.scalar(0));
        let length = self.length(leaves[0]);
        let start = self.compute(ScalarOp::Min, &[wanted, length]);
        let count = self.compute(ScalarOp::Sub, &[length, start]);
        let count = self.set_count(count);
        self.rearrange(&leaves, count, &mut |lowering, at| {
            lowering.compute(ScalarOp::Add, &[at, start])
        })
    }

    /// `init xs` from 0 on, `tail xs` from 1 on.
    pub(super) fn all_but_one(&mut self, call: &Call<'p>, start: i64) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        let length = self.length(leaves[0]);
        let some = self.compute(ScalarOp::Gt, &[length, int(0)]);
        let length = self.assert_one(some, FaultKind::EmptyArray, length);
        let count = self.compute(ScalarOp::Sub, &[length, int(1)]);
        let count = self.set_count(count);
        self.rearrange(&leaves, count, &mut |lowering, at| {
            lowering.compute(ScalarOp::Add, &[at, int(start)])
        })
    }

    /// `backpermute shape f xs`.
    pub(super) fn backpermute(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let mut extents = self.new_shape(&call.args[0].expect_index());
        let leaves = call.array(2);
        extents[0] = self.if_there(leaves[0], extents[0]);
        let moved = self.over_grid(&extents, &mut |lowering, index| {
            let source = lowering.call(&call.args[1], vec![Value::index(index)])?;
            Ok(lowering.index_all(&leaves, &source.expect_index()))
        })?;
        Ok(Value::array(moved))
    }

    /// `gather xs is`.
    pub(super) fn gather(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        let positions = self.if_there(leaves[0], call.array(1)[0]);
        Ok(Value::array(self.gather_at(&leaves, positions)?))
    }

    /// A value, if an array is one: what is made of the elements of an array is an error where the
    /// array is, even if no element is read.
    pub(super) fn if_there(&mut self, array: Atom, value: Atom) -> Atom {
        if self.is_there(array) {
            return value;
        }
        let length = self.length(array);
        let there = self.compute(ScalarOp::Ge, &[length, int(0)]);
        self.assert_one(there, FaultKind::IndexOutOfRange, value)
    }

    /// `concat xs ys`, `xs ++ ys`.
    pub(super) fn concat(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        Ok(Value::array(self.concat_all(&call.array(0), &call.array(1))))
    }

    /// Leaf by leaf the elements of one array, then those of another.
    pub(super) fn concat_all(&mut self, left: &[Atom], right: &[Atom]) -> Vec<Atom> {
        let pairs = left.iter().zip(right);
        pairs
            .map(|(left, right)| {
                let ty = self.type_of(*left);
                self.emit_one(Operation::Concat(*left, *right), ty)
            })
            .collect()
    }

    /// `interleave xs ys`: the elements of both one after the other, read alternately.
    pub(super) fn interleave(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (left, right) = (call.array(0), call.array(1));
        let (first, second) = (left[0], right[0]);
        let both = self.lockstep(first, second, [&left[..], &right[..]].concat());
        let (left, right) = both.split_at(left.len());
        let length = self.length(left[0]);
        let count = self.compute(ScalarOp::Mul, &[length, int(2)]);
        let count = self.set_count(count);
        let both = self.concat_all(left, right);
        self.rearrange(&both, count, &mut |lowering, at| {
            let row = lowering.compute(ScalarOp::FloorDiv, &[at, int(2)]);
            let side = lowering.compute(ScalarOp::Mod, &[at, int(2)]);
            let start = lowering.compute(ScalarOp::Mul, &[side, length]);
            lowering.compute(ScalarOp::Add, &[start, row])
        })
    }

    /// `zip xs ys`, `zip3 xs ys zs`: the leaves of all.
    pub(super) fn zip(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let first = call.array(0);
        let mut leaves = first.to_vec();
        for index in 1..call.args.len() {
            let array = call.array(index);
            leaves.extend(array.iter());
            leaves = self.lockstep(leaves[0], array[0], leaves);
        }
        Ok(Value::array(leaves))
    }

    /// `unzip ps`, `unzip3 ps`.
    pub(super) fn unzip(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = call.array(0);
        let mut rest = &leaves[..];
        let mut parts = Vec::new();
        for ty in component_types(call.element(0)) {
            let (taken, others) = rest.split_at(leaf_count(ty));
            rest = others;
            parts.push(Value::array(taken.to_vec()));
        }
        Ok(Value::tuple(parts))
    }

    /// `a[i, …]`.
    pub(super) fn index_of(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let indices: Vec<Atom> = (1..call.args.len()).map(|index| call.scalar(index)).collect();
        let leaves = self.index_all(&call.array(0), &indices);
        Ok(Value::of_leaves(call.result, &leaves))
    }

    /// `(a with [i, …] = v)`.
    pub(super) fn update(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let last = call.args.len() - 1;
        let indices: Vec<Atom> = (1..last).map(|index| call.scalar(index)).collect();
        let values = self.leaves(&call.args[last])?;
        let arrays = call.array(0);
        let updated = arrays.iter().zip(values).map(|(array, value)| {
            let ty = self.type_of(*array);
            let operation = Operation::Update { array: *array, indices: indices.clone(), value };
            self.emit_one(operation, ty)
        });
        Ok(Value::array(updated.collect()))
    }
}
