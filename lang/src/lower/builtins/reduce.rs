//! Reductions.

use weft_ir::nested::{Atom, Operation, Start};
use weft_ir::{ScalarOp, ScalarType};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::{bool_atom, int, number};
use crate::lower::value::Value;

impl<'p> Lowering<'p> {
    /// `fold op z xs`.
    pub(super) fn fold(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let start = self.leaves(&call.args[1])?;
        let arrays = call.array(2);
        self.fold_with(call, &arrays, Start::Combined(start), 2)
    }

    /// `fold1 op xs`.
    pub(super) fn fold1(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        self.fold_with(call, &call.array(1), Start::None, 1)
    }

    /// The fold by the first argument of arrays, the elements of argument `index`.
    fn fold_with(
        &mut self,
        call: &Call<'p>,
        arrays: &[Atom],
        start: Start<Vec<Atom>>,
        index: usize,
    ) -> Outcome<Value<'p>> {
        let element = call.element(index);
        let operator = self.operator_of(&call.args[0], element)?;
        let types = self.leaf_types(element)?;
        let arrays = arrays.to_vec();
        let leaves = self.emit(Operation::Fold { operator, start, arrays }, &types);
        Ok(Value::of_leaves(element, &leaves))
    }

    /// `foldSeg op z xs counts`.
    pub(super) fn fold_segments(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let start = self.leaves(&call.args[1])?;
        let rows = self.rows(call.array(3)[0], &call.array(2));
        let folded = self.map(&rows, &mut |lowering, rows| {
            let start = Start::Combined(start.clone());
            let value = lowering.fold_with(call, rows, start, 2)?;
            lowering.leaves(&value)
        })?;
        Ok(Value::array(folded))
    }

    /// `sum xs`.
    pub(super) fn sum(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        Ok(Value::Scalar(self.sum_of(call.array(0)[0])?))
    }

    /// The sum of numbers, which is a fold from 0: of floats the 0 counts, as -0.0 becomes 0.0.
    pub(super) fn sum_of(&mut self, array: Atom) -> Outcome<Atom> {
        let ty = self.type_of(array).element;
        let zero = vec![number(0, ty)];
        let start = if ty.is_float() { Start::Combined(zero) } else { Start::IfEmpty(zero) };
        self.fold_scalar(ScalarOp::Add, start, array)
    }

    /// `product xs`.
    pub(super) fn product(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let array = call.array(0)[0];
        let start = Start::IfEmpty(vec![number(1, self.type_of(array).element)]);
        Ok(Value::Scalar(self.fold_scalar(ScalarOp::Mul, start, array)?))
    }

    /// `minimum xs`, `maximum xs`.
    pub(super) fn extreme(&mut self, call: &Call<'p>, op: ScalarOp) -> Outcome<Value<'p>> {
        let (element, arrays) = (call.element(0), call.array(0));
        let types = self.leaf_types(element)?;
        let operator = self.operator(&types, &mut |lowering, left, right| {
            let (left, right) = (Value::of_leaves(element, left), Value::of_leaves(element, right));
            let value = lowering.extreme_of(op, &left, &right);
            lowering.leaves(&value)
        })?;
        let operation = Operation::Fold { operator, start: Start::None, arrays: arrays.to_vec() };
        let leaves = self.emit(operation, &types);
        Ok(Value::of_leaves(element, &leaves))
    }

    /// `mean xs`: the sum divided by the number of elements.
    pub(super) fn mean(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let array = call.array(0)[0];
        let ty = self.type_of(array).element;
        let sum = self.fold_scalar(ScalarOp::Add, Start::None, array)?;
        // The sum is a fold from 0.
        let sum = self.compute(ScalarOp::Add, &[number(0, ty), sum]);
        let length = self.length(array);
        let count = self.compute(ScalarOp::Cast(ty), &[length]);
        Ok(Value::Scalar(self.compute(ScalarOp::Div, &[sum, count])))
    }

    /// `all xs`, `any xs`: the fold by `&&` or `||`.
    pub(super) fn decide(&mut self, call: &Call<'p>, op: ScalarOp) -> Outcome<Value<'p>> {
        let start = Start::IfEmpty(vec![bool_atom(op == ScalarOp::And)]);
        Ok(Value::Scalar(self.fold_scalar(op, start, call.array(0)[0])?))
    }

    /// `count xs`.
    pub(super) fn count_true(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let ones = self.cast_all(call.array(0)[0], ScalarType::I64)?;
        Ok(Value::Scalar(self.sum_of(ones)?))
    }

    /// `argmin xs`, `argmax xs`: the fold of pairs of an element and its position; of equal elements
    /// the left one stays.
    pub(super) fn arg_extreme(&mut self, call: &Call<'p>, op: ScalarOp) -> Outcome<Value<'p>> {
        let (element, array) = (call.element(0), call.array(0));
        let length = self.length(array[0]);
        let mut arrays = array.to_vec();
        arrays.push(self.iota(length));
        let mut types = self.leaf_types(element)?;
        types.push(self.type_of(int(0)));
        let last = types.len() - 1;
        let operator = self.operator(&types, &mut |lowering, left, right| {
            let a = Value::of_leaves(element, &left[..last]);
            let b = Value::of_leaves(element, &right[..last]);
            let second = lowering.prefers_second(op, &a, &b);
            let pairs = left.iter().zip(right);
            Ok(pairs.map(|(left, right)| lowering.select(second, *right, *left)).collect())
        })?;
        let leaves = self.emit(Operation::Fold { operator, start: Start::None, arrays }, &types);
        Ok(Value::Scalar(leaves[last]))
    }

    /// `dot xs ys`.
    pub(super) fn dot(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        Ok(Value::Scalar(self.dot_of(call.array(0)[0], call.array(1)[0])?))
    }

    /// The sum of products.
    pub(super) fn dot_of(&mut self, left: Atom, right: Atom) -> Outcome<Atom> {
        let products = self.map(&[left, right], &mut |lowering, pair| {
            Ok(vec![lowering.compute(ScalarOp::Mul, pair)])
        })?;
        self.sum_of(products[0])
    }
}
