//! `range`, with its careful count.

use weft_ir::nested::Atom;
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::Call;
use crate::lower::builder::{Lowering, Outcome};
use crate::lower::operations::{bool_atom, int, number};
use crate::lower::value::Value;

impl<'p> Lowering<'p> {
    /// `range start stop step`: start + i·step for all i from 0 on, as long as that is below stop
    /// (above it, for a negative step).
    pub(super) fn range_of(&mut self, call: &Call<'p>) -> Outcome<Value<'p>> {
        let (start, stop, step) = (call.scalar(0), call.scalar(1), call.scalar(2));
        let count = self.range_count(start, stop, step);
        let leaves =
            self.tabulate(count, &mut |lowering, at| Ok(vec![lowering.affine(start, step, at)]))?;
        Ok(Value::array(leaves))
    }

    /// How many numbers there are.
    pub(in crate::lower) fn range_count(&mut self, start: Atom, stop: Atom, step: Atom) -> Atom {
        let count = match self.type_of(start).element.is_float() {
            true => self.float_count(start, stop, step),
            false => self.integer_count(start, stop, step),
        };
        self.set_count(count)
    }

    /// How many integers there are. Where the distance is beyond an `i64` the interpreter decides.
    fn integer_count(&mut self, start: Atom, stop: Atom, step: Atom) -> Atom {
        let ty = self.type_of(start).element;
        let mut holds = bool_atom(true);
        let mut wide = |lowering: &mut Self, atom: Atom| match ty {
            ScalarType::I64 => atom,
            ty => {
                let wide = lowering.compute(ScalarOp::Cast(ScalarType::I64), &[atom]);
                if ty == ScalarType::U64 {
                    let fits = lowering.compute(ScalarOp::Ge, &[wide, int(0)]);
                    holds = lowering.compute(ScalarOp::And, &[holds, fits]);
                }
                wide
            }
        };
        let (start, stop, step) = (wide(self, start), wide(self, stop), wide(self, step));
        let upwards = self.compute(ScalarOp::Gt, &[step, int(0)]);
        let (less, greater) = (
            self.compute(ScalarOp::Lt, &[start, stop]),
            self.compute(ScalarOp::Gt, &[start, stop]),
        );
        let some = self.select(upwards, less, greater);
        let up = self.compute(ScalarOp::Sub, &[stop, start]);
        let down = self.compute(ScalarOp::Sub, &[start, stop]);
        let distance = self.select(upwards, up, down);
        let negated = self.compute(ScalarOp::Neg, &[step]);
        let stride = self.select(upwards, step, negated);
        let moves = self.compute(ScalarOp::Gt, &[stride, int(0)]);
        let stride = self.assert_one(moves, FaultKind::BadArgument, stride);
        // A distance that wrapped is negative.
        let none = self.compute(ScalarOp::Not, &[some]);
        let sound = self.compute(ScalarOp::Gt, &[distance, int(0)]);
        // From 0 or above upwards, and down to there, it does not wrap.
        let least = match step {
            Atom::Scalar(Scalar::I64(step)) if step > 0 => start,
            Atom::Scalar(Scalar::I64(_)) => stop,
            _ => int(-1),
        };
        let sound = match least {
            Atom::Scalar(Scalar::I64(least)) if least >= 0 => bool_atom(true),
            _ => self.compute(ScalarOp::Or, &[none, sound]),
        };
        let holds = self.compute(ScalarOp::And, &[holds, sound]);
        let before = self.compute(ScalarOp::Sub, &[distance, int(1)]);
        let steps = self.compute(ScalarOp::FloorDiv, &[before, stride]);
        let count = self.compute(ScalarOp::Add, &[steps, int(1)]);
        let count = self.select(some, count, int(0));
        // The step counts also where there is nothing to step over.
        let count = self.assert_one(moves, FaultKind::BadArgument, count);
        self.assert_one(holds, FaultKind::BadLength, count)
    }

    /// How many floats there are: the quotient, put right where it was rounded.
    fn float_count(&mut self, start: Atom, stop: Atom, step: Atom) -> Atom {
        let ty = self.type_of(start).element;
        let zero = number(0, ty);
        let mut holds = self.compute(ScalarOp::Ne, &[step, zero]);
        for bound in [start, stop, step] {
            let nan = self.compute(ScalarOp::IsNan, &[bound]);
            let infinite = self.compute(ScalarOp::IsInf, &[bound]);
            let special = self.compute(ScalarOp::Or, &[nan, infinite]);
            let finite = self.compute(ScalarOp::Not, &[special]);
            holds = self.compute(ScalarOp::And, &[holds, finite]);
        }
        let wide = |lowering: &mut Self, atom: Atom| match ty {
            ScalarType::F64 => atom,
            _ => lowering.compute(ScalarOp::Cast(ScalarType::F64), &[atom]),
        };
        let (first, last, by) = (wide(self, start), wide(self, stop), wide(self, step));
        let distance = self.compute(ScalarOp::Sub, &[last, first]);
        let quotient = self.compute(ScalarOp::Div, &[distance, by]);
        let rounded = self.compute(ScalarOp::Ceil, &[quotient]);
        let count = self.compute(ScalarOp::Max, &[rounded, number(0, ScalarType::F64)]);
        let count = self.compute(ScalarOp::Cast(ScalarType::I64), &[count]);
        // Saturated, if it is too large.
        let fits = self.compute(ScalarOp::Lt, &[count, int(i64::MAX)]);
        let before = self.compute(ScalarOp::Sub, &[count, int(1)]);
        let upwards = self.compute(ScalarOp::Lt, &[zero, step]);
        let mut is_before_stop = |at: Atom| {
            let value = self.affine(start, step, at);
            let below = self.compute(ScalarOp::Lt, &[value, stop]);
            let above = self.compute(ScalarOp::Gt, &[value, stop]);
            self.select(upwards, below, above)
        };
        let (last_holds, next_holds) = (is_before_stop(before), is_before_stop(count));
        let more = self.compute(ScalarOp::Add, &[count, int(1)]);
        let longer = self.select(next_holds, more, count);
        let empty = self.compute(ScalarOp::Eq, &[count, int(0)]);
        let kept = self.compute(ScalarOp::Or, &[empty, last_holds]);
        let count = self.select(kept, longer, before);
        let count = self.assert_one(fits, FaultKind::BadLength, count);
        self.assert_one(holds, FaultKind::BadArgument, count)
    }
}
