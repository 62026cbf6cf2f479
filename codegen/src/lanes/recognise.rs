//! What several operators ask together, where fewer instructions say the same.

use weft_ir::code::{Operand, Register};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::{Builder, Running, Value};
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

    /// Whether an index that counts along the lanes is in range for all of them, if that is what a
    /// condition asks: then the first and the last lane tell. It must be asked of all lanes.
    pub(super) fn at_both_ends(&mut self, condition: &Operand) -> Option<Value> {
        let guarded = self.guard.as_ref().is_some_and(|guard| guard.varies);
        if self.given.rows || guarded || !self.value(condition).varies {
            return None;
        }
        let (ScalarOp::And | ScalarOp::BitAnd, [low, high]) = self.made_of(condition)? else {
            return None;
        };
        let (ScalarOp::Ge, [index, zero]) = self.made_of(&low)? else { return None };
        let (ScalarOp::Lt, [same, extent]) = self.made_of(&high)? else { return None };
        if index != same || zero != Operand::Scalar(Scalar::I64(0)) || self.value(&extent).varies {
            return None;
        }
        let start = self.start(&index)?;
        let (first, last) = (self.fresh("first"), self.fresh("last"));
        let (extent, held) = (self.value(&extent).text, self.fresh("t"));
        self.scalar(&format!("const i64 {first} = {start};"));
        self.scalar(&format!("const i64 {last} = (i64)((u64){first} + (u64)block->count - 1);"));
        // One that goes beyond the greatest number comes to one below zero.
        let both = format!("{first} >= 0 & {last} >= 0 & {last} < {extent}");
        self.scalar(&format!("const bool {held} = block->count < 1 | ({both});"));
        Some(Value { text: held, ty: ScalarType::Bool, varies: false })
    }

    /// The value at the first lane of an index that counts along the lanes.
    fn start(&self, index: &Operand) -> Option<String> {
        let Operand::Register(register) = index else { return None };
        let runs = |(of, running): &(Register, Running)| (of == register).then_some(*running);
        if let Some(running) = self.given.indices.iter().find_map(runs) {
            return (running == Running::Counting).then(|| format!("first_{register}"));
        }
        let (ScalarOp::Add, operands) = self.made_of(index)? else { return None };
        for (counts, other) in [(operands[0], operands[1]), (operands[1], operands[0])] {
            let other = self.value(&other);
            if let (false, Some(start)) = (other.varies, self.start(&counts)) {
                return Some(format!("(i64)((u64){start} + (u64){})", other.text));
            }
        }
        None
    }

    /// The operator that an operand is the result of, with its two operands.
    fn made_of(&self, operand: &Operand) -> Option<(ScalarOp, [Operand; 2])> {
        let Operand::Register(register) = operand else { return None };
        let (op, operands) = self.made.get(register)?;
        Some((*op, operands[..].try_into().ok()?))
    }

    /// Bits that leave at one end and come in at the other, if that is what an operator joins two shifts to.
    /// Many machines have an instruction for it.
    pub(super) fn rotated(
        &mut self,
        op: ScalarOp,
        operands: &[Operand],
    ) -> Option<(String, Vec<Value>)> {
        let (ScalarOp::BitOr, [a, b]) = (op, operands) else { return None };
        let (one, other) = (self.made_of(a)?, self.made_of(b)?);
        let ([of, by], [same, rest]) = match (one, other) {
            ((ScalarOp::Shl, left), (ScalarOp::Shr, right))
            | ((ScalarOp::Shr, right), (ScalarOp::Shl, left)) => (left, right),
            (_, _) => return None,
        };
        let (ScalarOp::Sub, [bits, less]) = self.made_of(&rest)? else { return None };
        let all = match bits {
            Operand::Scalar(Scalar::U32(32)) => 32,
            Operand::Scalar(Scalar::U64(64)) => 64,
            Operand::Scalar(_) | Operand::Register(_) => return None,
        };
        let (of_value, by_value) = (self.value(&of), self.value(&by));
        if of != same || by != less || !of_value.varies {
            return None;
        }
        let (ty, by) = (type_name(of_value.ty), &by_value.text);
        // Beyond the last bit, both shifts leave nothing.
        let (turn, kept) = (format!("{by} & {}", all - 1), format!("{by} <= {all} ? ({ty})-1 : 0"));
        let turn = self.compute(&turn, of_value.ty, std::slice::from_ref(&by_value));
        let kept = self.compute(&kept, of_value.ty, std::slice::from_ref(&by_value));
        let text = format!("rotate_{ty}({}, {}) & {}", of_value.text, turn.text, kept.text);
        Some((text, vec![of_value, turn, kept]))
    }
}
