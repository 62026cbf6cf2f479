//! `map` and its kin; repeating; checking.

use weft_ir::nested::{Atom, Operation};
use weft_ir::{FaultKind, ScalarType};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::expression::builder;
use crate::lower::operations::bool_atom;
use crate::lower::value::{Value, element_type};

impl<'p> Lowering<'p> {
    /// `map f xs`, `zipWith f xs ys` …
    pub(super) fn zip_with(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let arrays: Vec<_> = (1..call.args.len()).map(|index| call.array(index)).collect();
        let leaves: Vec<Atom> = arrays.iter().flat_map(|array| array.iter().copied()).collect();
        let mapped = self.map(&leaves, &mut |lowering, atoms| {
            let mut rest = atoms;
            let mut args = Vec::with_capacity(arrays.len());
            for (array, ty) in arrays.iter().zip(&call.params[1..]) {
                let (taken, others) = rest.split_at(array.len());
                rest = others;
                args.push(Value::of_leaves(element_type(ty), taken));
            }
            let result = lowering.call(&call.args[0], args)?;
            lowering.leaves(&result)
        })?;
        Ok(Value::array(mapped))
    }

    /// `mapWithIndex f xs`.
    pub(super) fn map_with_index(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let array = call.array(1);
        let length = self.length(array[0]);
        let mut leaves = vec![self.iota(length)];
        leaves.extend(array.iter());
        let mapped = self.map(&leaves, &mut |lowering, atoms| {
            let element = Value::of_leaves(call.element(1), &atoms[1..]);
            let result = lowering.call(&call.args[0], vec![Value::Scalar(atoms[0]), element])?;
            lowering.leaves(&result)
        })?;
        Ok(Value::array(mapped))
    }

    /// `iterate n f x`.
    pub(super) fn iterate(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let count = self.count(call.scalar(0));
        self.count_loop(call.result, &call.args[2], count, &mut |lowering, _, state| {
            lowering.call(&call.args[1], vec![state])
        })
    }

    /// `assert condition x`.
    pub(super) fn assert_of(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let leaves = self.leaves(&call.args[1])?;
        let leaves = self.assert(call.scalar(0), FaultKind::AssertionFailed, leaves);
        Ok(Value::of_leaves(call.result, &leaves))
    }

    /// `error message`: some value of the type behind an assertion that fails.
    pub(super) fn error(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let types = self.leaf_types(call.result)?;
        let mut leaves = Vec::with_capacity(types.len());
        for ty in types {
            leaves.push(match ty.rank {
                0 => Atom::Scalar(weft_ir::Scalar::zero(ty.element)),
                _ => self.emit_one(Operation::Constant(builder(ty.element()).finish()), ty),
            });
        }
        let leaves = self.assert(bool_atom(false), FaultKind::Error, leaves);
        Ok(Value::of_leaves(call.result, &leaves))
    }

    /// Elements of another scalar type.
    pub(super) fn cast_all(&mut self, array: Atom, ty: ScalarType) -> Outcome<Atom> {
        if self.type_of(array).element == ty {
            return Ok(array);
        }
        let cast = self.map(&[array], &mut |lowering, element| {
            Ok(vec![lowering.compute(weft_ir::ScalarOp::Cast(ty), element)])
        })?;
        Ok(cast[0])
    }
}
