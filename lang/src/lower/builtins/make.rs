//! Making arrays.

use weft_ir::nested::{Operation, RandomKind, Type};
use weft_ir::{FaultKind, ScalarOp, ScalarType};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::{int, number};
use crate::lower::value::{Value, under};
use crate::types;

impl<'p> Lowering<'p> {
    /// `iota n`.
    pub(super) fn iota_of(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let length = self.count(call.scalar(0));
        Ok(Value::array(vec![self.iota(length)]))
    }

    /// `linspace start stop n`: start + i·((stop - start) / (n - 1)), but that the last one is stop
    /// itself. One number is start.
    pub(super) fn linspace(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (start, stop) = (call.scalar(0), call.scalar(1));
        let ty = self.type_of(start).element;
        let length = self.count(call.scalar(2));
        let last = self.compute(ScalarOp::Sub, &[length, int(1)]);
        let gaps = self.compute(ScalarOp::Cast(ty), &[last]);
        let distance = self.compute(ScalarOp::Sub, &[stop, start]);
        let step = self.compute(ScalarOp::Div, &[distance, gaps]);
        let leaves = self.tabulate(length, &mut |lowering, at| {
            let between = lowering.affine(start, step, at);
            let is_last = lowering.compute(ScalarOp::Eq, &[at, last]);
            let is_first = lowering.compute(ScalarOp::Eq, &[at, int(0)]);
            let value = lowering.select(is_last, stop, between);
            Ok(vec![lowering.select(is_first, start, value)])
        })?;
        Ok(Value::array(leaves))
    }

    /// start + index·step, in their type.
    pub(in crate::lower) fn affine(
        &mut self,
        start: weft_ir::nested::Atom,
        step: weft_ir::nested::Atom,
        index: weft_ir::nested::Atom,
    ) -> weft_ir::nested::Atom {
        let ty = self.type_of(start).element;
        let index =
            if ty == ScalarType::I64 { index } else { self.compute(ScalarOp::Cast(ty), &[index]) };
        let offset = self.compute(ScalarOp::Mul, &[index, step]);
        self.compute(ScalarOp::Add, &[start, offset])
    }

    /// `replicate n x`.
    pub(super) fn replicate_of(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let length = self.count(call.scalar(0));
        let leaves = self.leaves(&call.args[1])?;
        Ok(Value::array(leaves.into_iter().map(|leaf| self.replicate(length, leaf)).collect()))
    }

    /// `fill shape x`.
    pub(super) fn fill(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let extents = self.new_shape(&call.args[0].expect_index());
        let leaves = self.leaves(&call.args[1])?;
        let filled = leaves.into_iter().map(|leaf| {
            extents.iter().rev().fold(leaf, |array, extent| self.replicate(*extent, array))
        });
        Ok(Value::array(filled.collect()))
    }

    /// `generate shape f`.
    pub(super) fn generate(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let extents = self.new_shape(&call.args[0].expect_index());
        let leaves = self.over_grid(&extents, &mut |lowering, index| {
            let result = lowering.call(&call.args[1], vec![Value::index(index)])?;
            lowering.leaves(&result)
        })?;
        Ok(Value::array(leaves))
    }

    /// `random seed n`.
    pub(super) fn random(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let seed = call.scalar(0);
        let length = self.count(call.scalar(1));
        let (kind, ty) = match under(call.result, 1) {
            types::Type::Scalar(ScalarType::F32) => (RandomKind::UniformF32, ScalarType::F32),
            _ => (RandomKind::UniformF64, ScalarType::F64),
        };
        let leaves = self.tabulate(length, &mut |lowering, at| {
            let operation = Operation::Random(kind, vec![seed, at]);
            Ok(vec![lowering.emit_one(operation, Type::scalar(ty))])
        })?;
        Ok(Value::array(leaves))
    }

    /// `randomInt seed lo hi n`.
    pub(super) fn random_int(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (seed, low, high) = (call.scalar(0), call.scalar(1), call.scalar(2));
        let length = self.count(call.scalar(3));
        let below = self.compute(ScalarOp::Lt, &[low, high]);
        let nothing = self.compute(ScalarOp::Eq, &[length, int(0)]);
        let holds = self.compute(ScalarOp::Or, &[below, nothing]);
        let length = self.assert_one(holds, FaultKind::BadArgument, length);
        let leaves = self.tabulate(length, &mut |lowering, at| {
            let operation = Operation::Random(RandomKind::Int, vec![seed, at, low, high]);
            Ok(vec![lowering.emit_one(operation, Type::scalar(ScalarType::I64))])
        })?;
        Ok(Value::array(leaves))
    }

    /// `identity n`: 1 on the diagonal, else 0.
    pub(super) fn identity(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let length = call.scalar(0);
        let extents = self.new_shape(&[length, length]);
        let types::Type::Scalar(ty) = under(call.result, 2) else {
            panic!("lower: identity of {}", call.result);
        };
        let leaves = self.over_grid(&extents, &mut |lowering, index| {
            let diagonal = lowering.compute(ScalarOp::Eq, index);
            Ok(vec![lowering.select(diagonal, number(1, *ty), number(0, *ty))])
        })?;
        Ok(Value::array(leaves))
    }
}
