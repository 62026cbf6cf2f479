//! Linear algebra.
//!
//! Note [Sums of products]. `matmul` adds each product to the sum before it with one rounding, by `fma`,
//! as BLAS does. It is a fold in the tree of every fold, of pairs (a, b) that stand for a·b:
//! (s, t) ⊕ (a, b) = (fma a b (s·t), 1). So in a block of 64 the first product is rounded, the others are not,
//! and the results of blocks, pairs (s, 1), are added. Whoever knows the operator
//! (`Operator::is_sum_of_products`) keeps one value in place of two, but for a pair that is alone in its
//! block: that has met no other, and is still a product.

use weft_ir::nested::{Atom, Operation, Start};
use weft_ir::{FaultKind, ScalarOp};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::{int, number};
use crate::lower::value::{Value, element_type};

impl<'p> Lowering<'p> {
    /// `matmul a b`: element [i, j] is the dot product of row i of a and column j of b.
    pub(super) fn matmul(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (left, right) = (call.array(0)[0], call.array(1)[0]);
        let (height, inner) = (self.length(left), self.extent(left, 1));
        let (depth, width) = (self.length(right), self.extent(right, 1));
        let equal = self.compute(ScalarOp::Eq, &[inner, depth]);
        let nothing = self.compute(ScalarOp::Eq, &[height, int(0)]);
        let holds = self.compute(ScalarOp::Or, &[equal, nothing]);
        let both = self.assert(holds, FaultKind::LengthMismatch, vec![left, right]);
        let ty = self.type_of(right);
        let columns = self.emit_one(Operation::Transpose(both[1]), ty);
        let product = self.map(&both[..1], &mut |lowering, row| {
            lowering.map(&[columns], &mut |lowering, column| {
                Ok(vec![lowering.sum_of_products(row[0], column[0])?])
            })
        })?;
        Ok(Value::array(self.keep_extents(product, &[height, width])))
    }

    /// The sum of products of numbers (Note [Sums of products]).
    fn sum_of_products(&mut self, left: Atom, right: Atom) -> Outcome<Atom> {
        let ty = self.type_of(left).element;
        if !ty.is_float() {
            return self.dot_of(left, right);
        }
        let (types, one) = ([self.type_of(left).element(); 2], number(1, ty));
        let operator = self.operator(&types, &mut |lowering, earlier, factors| {
            let sum = lowering.scalar(ScalarOp::Mul, &[earlier[0], earlier[1]]);
            let sum = lowering.scalar(ScalarOp::Fma, &[factors[0], factors[1], sum]);
            Ok(vec![sum, one])
        })?;
        let start = Start::Combined(vec![number(0, ty), one]);
        let arrays = vec![left, right];
        Ok(self.emit(Operation::Fold { operator, start, arrays }, &types)[0])
    }

    /// `outer f xs ys`: element [i, j] is f xs\[i\] ys\[j\].
    pub(super) fn outer(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (left, right) = (call.array(1), call.array(2));
        let (a, b) = (element_type(call.params[1]), element_type(call.params[2]));
        let product = self.map(&left, &mut |lowering, x| {
            lowering.map(&right, &mut |lowering, y| {
                let args = vec![Value::of_leaves(a, x), Value::of_leaves(b, y)];
                let result = lowering.call(&call.args[0], args)?;
                lowering.leaves(&result)
            })
        })?;
        let extents = [self.length(left[0]), self.length(right[0])];
        Ok(Value::array(self.keep_extents(product, &extents)))
    }
}
