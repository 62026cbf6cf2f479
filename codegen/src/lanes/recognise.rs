//! What several operators ask together, where fewer instructions say the same.

use weft_ir::code::Operand;
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::{Builder, Value};
use crate::dialect::type_name;

impl Builder<'_> {
    /// Whether one float comes before another, if that is what an operator asks by comparing the bits of
    /// the lesser, or the greater, of both with those of the other: as searches of the least element do.
    pub(super) fn precedes(
        &self,
        op: ScalarOp,
        operands: &[Operand],
    ) -> Option<(String, [Value; 2])> {
        let made = |operand: &Operand| match operand {
            Operand::Register(register) => self.made.get(register),
            Operand::Scalar(_) => None,
        };
        let bits = |operand: &Operand| match made(operand)? {
            (ScalarOp::Bitcast(_), operands) => Some(operands[0]),
            (_, _) => None,
        };
        let (ScalarOp::Ne, [chosen, present]) = (op, operands) else { return None };
        let (chosen, present) = (bits(chosen)?, bits(present)?);
        let (which, both) = made(&chosen)?;
        let name = match which {
            ScalarOp::Min => "precedes",
            ScalarOp::Max => "follows",
            _ => return None,
        };
        let other = match both[..] {
            [a, b] if a == present => b,
            [a, b] if b == present => a,
            _ => return None,
        };
        let values = [self.value(&other), self.value(&present)];
        let ty = values[0].ty;
        let text = format!("{name}_{}({}, {})", type_name(ty), values[0].text, values[1].text);
        ty.is_float().then_some((text, values))
    }

    /// Whether an index is at least 0 and less than an extent, if that is what an operator asks of two
    /// comparisons: one is enough where the elements come one by one.
    pub(super) fn in_range(
        &mut self,
        op: ScalarOp,
        operands: &[Operand],
    ) -> Option<(String, Value)> {
        let (true, ScalarOp::And | ScalarOp::BitAnd, [low, high]) = (self.one_by_one, op, operands)
        else {
            return None;
        };
        let compared = |operand: &Operand, wanted: ScalarOp| match operand {
            Operand::Register(register) => match self.made.get(register)? {
                (op, operands) if *op == wanted => Some([operands[0], operands[1]]),
                (_, _) => None,
            },
            Operand::Scalar(_) => None,
        };
        let [index, zero] = compared(low, ScalarOp::Ge)?;
        let [same, extent] = compared(high, ScalarOp::Lt)?;
        let (value, extent) = (self.value(&index), self.value(&extent));
        if index != same
            || zero != Operand::Scalar(Scalar::I64(0))
            || value.ty != ScalarType::I64
            || extent.varies
        {
            return None;
        }
        // As if an extent below zero were zero: no index is less than either.
        let name = self.fresh("extent");
        self.scalar(&format!("const u64 {name} = {0} > 0 ? (u64){0} : 0;", extent.text));
        Some((format!("(u64){} < {name}", value.text), value))
    }
}
