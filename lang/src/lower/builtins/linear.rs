//! Linear algebra.

use weft_ir::nested::Operation;
use weft_ir::{FaultKind, ScalarOp};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::int;
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
                Ok(vec![lowering.dot_of(row[0], column[0])?])
            })
        })?;
        Ok(Value::array(self.keep_extents(product, &[height, width])))
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
