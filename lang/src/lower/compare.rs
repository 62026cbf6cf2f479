//! Operators on tuples, and the total order.
//!
//! Comparisons look at the components from the first on; the first that differs decides. `min` and
//! `max` yield one of the two tuples.

use weft_ir::nested::Atom;
use weft_ir::{ScalarOp, ScalarType};

use super::builder::Lowering;
use super::operations::{bool_atom, int};
use super::value::Value;

impl<'p> Lowering<'p> {
    /// A scalar operator of the program, on scalars or tuples of them.
    pub(super) fn operate(&mut self, op: ScalarOp, args: &[Value<'p>]) -> Value<'p> {
        let scalars: Option<Vec<Atom>> = args
            .iter()
            .map(|arg| match arg {
                Value::Scalar(atom) => Some(*atom),
                _ => None,
            })
            .collect();
        if let Some(scalars) = scalars {
            return Value::Scalar(self.scalar(op, &scalars));
        }
        match (op, args) {
            (ScalarOp::Eq, [a, b]) => Value::Scalar(self.equal(a, b)),
            (ScalarOp::Ne, [a, b]) => {
                let equal = self.equal(a, b);
                Value::Scalar(self.compute(ScalarOp::Not, &[equal]))
            }
            (ScalarOp::Lt | ScalarOp::Le | ScalarOp::Gt | ScalarOp::Ge, [a, b]) => {
                Value::Scalar(self.ordered(op, a, b))
            }
            (ScalarOp::Min | ScalarOp::Max, [a, b]) => self.extreme_of(op, a, b),
            (ScalarOp::Clip, [low, high, a]) => {
                let raised = self.extreme_of(ScalarOp::Max, a, low);
                self.extreme_of(ScalarOp::Min, &raised, high)
            }
            (ScalarOp::Select, [condition, a, b]) => {
                self.select_value(condition.expect_scalar(), a, b)
            }
            (op, _) => panic!("lower: {op:?} of tuples"),
        }
    }

    /// One of two values of scalars.
    pub(super) fn select_value(
        &mut self,
        condition: Atom,
        a: &Value<'p>,
        b: &Value<'p>,
    ) -> Value<'p> {
        match (a, b) {
            (Value::Scalar(a), Value::Scalar(b)) => Value::Scalar(self.select(condition, *a, *b)),
            (Value::Tuple(a), Value::Tuple(b)) => {
                let parts = a.iter().zip(b.iter());
                Value::tuple(parts.map(|(a, b)| self.select_value(condition, a, b)).collect())
            }
            _ => panic!("lower: a selection of what is no scalar"),
        }
    }

    /// `a == b`.
    fn equal(&mut self, a: &Value<'p>, b: &Value<'p>) -> Atom {
        match (a, b) {
            (Value::Tuple(a), Value::Tuple(b)) => {
                let mut all = bool_atom(true);
                for (a, b) in a.iter().zip(b.iter()) {
                    let equal = self.equal(a, b);
                    all = self.compute(ScalarOp::And, &[all, equal]);
                }
                all
            }
            (a, b) => self.compute(ScalarOp::Eq, &[a.expect_scalar(), b.expect_scalar()]),
        }
    }

    /// `a < b` and its like: the first component that is not `==` decides.
    fn ordered(&mut self, op: ScalarOp, a: &Value<'p>, b: &Value<'p>) -> Atom {
        let (Value::Tuple(left), Value::Tuple(right)) = (a, b) else {
            return self.compute(op, &[a.expect_scalar(), b.expect_scalar()]);
        };
        let mut result = None;
        for (a, b) in left.iter().zip(right.iter()).rev() {
            let here = self.ordered(op, a, b);
            result = Some(match result {
                // Where the last ones are equal, the operator says what that means.
                None => here,
                Some(rest) => {
                    let equal = self.equal(a, b);
                    self.select(equal, rest, here)
                }
            });
        }
        result.unwrap_or(bool_atom(matches!(op, ScalarOp::Le | ScalarOp::Ge)))
    }

    /// `min a b` or `max a b`.
    pub(super) fn extreme_of(&mut self, op: ScalarOp, a: &Value<'p>, b: &Value<'p>) -> Value<'p> {
        if let (Value::Scalar(a), Value::Scalar(b)) = (a, b) {
            return Value::Scalar(self.compute(op, &[*a, *b]));
        }
        let second = self.prefers_second(op, a, b);
        self.select_value(second, b, a)
    }

    /// Whether `min` or `max` yields the second of two values; not where they are the same.
    pub(super) fn prefers_second(&mut self, op: ScalarOp, a: &Value<'p>, b: &Value<'p>) -> Atom {
        if let (Value::Tuple(left), Value::Tuple(right)) = (a, b) {
            let mut result = None;
            for (a, b) in left.iter().zip(right.iter()).rev() {
                let here = self.prefers_second(op, a, b);
                result = Some(match result {
                    None => here,
                    Some(rest) => {
                        let same = self.same(a, b);
                        self.select(same, rest, here)
                    }
                });
            }
            return result.unwrap_or(bool_atom(false));
        }
        let (a, b) = (a.expect_scalar(), b.expect_scalar());
        if self.type_of(a).element.is_float() {
            let best = self.compute(op, &[a, b]);
            let (best, a) = (self.bits(best), self.bits(a));
            return self.compute(ScalarOp::Ne, &[best, a]);
        }
        let below = if op == ScalarOp::Min { ScalarOp::Lt } else { ScalarOp::Gt };
        self.compute(below, &[b, a])
    }

    /// Whether two values are the same: bit by bit, all NaNs being equal.
    pub(super) fn same(&mut self, a: &Value<'p>, b: &Value<'p>) -> Atom {
        let (Some(a), Some(b)) = (a.leaves(), b.leaves()) else {
            panic!("lower: functions are compared");
        };
        let mut all = bool_atom(true);
        for (a, b) in a.into_iter().zip(b) {
            let (a, b) = (self.bits(a), self.bits(b));
            let same = self.compute(ScalarOp::Eq, &[a, b]);
            all = self.compute(ScalarOp::And, &[all, same]);
        }
        all
    }

    /// Whether a value stands before another in the total order of numerics.md.
    pub(super) fn precedes(&mut self, a: &Value<'p>, b: &Value<'p>) -> Atom {
        let (Some(a), Some(b)) = (a.leaves(), b.leaves()) else {
            panic!("lower: functions are compared");
        };
        let pairs: Vec<(Atom, Atom)> = a.into_iter().zip(b).collect();
        let mut result = None;
        for (a, b) in pairs.into_iter().rev() {
            let (left, right) = (self.rank_of(a), self.rank_of(b));
            let below = self.compute(ScalarOp::Lt, &[left, right]);
            result = Some(match result {
                None => below,
                Some(rest) => {
                    let equal = self.compute(ScalarOp::Eq, &[left, right]);
                    self.select(equal, rest, below)
                }
            });
        }
        result.unwrap_or(bool_atom(false))
    }

    /// A float as the integer with its bits, NaN being one; anything else as it is.
    fn bits(&mut self, atom: Atom) -> Atom {
        match self.type_of(atom).element {
            ScalarType::F32 => self.compute(ScalarOp::Bitcast(ScalarType::I32), &[atom]),
            ScalarType::F64 => self.compute(ScalarOp::Bitcast(ScalarType::I64), &[atom]),
            _ => atom,
        }
    }

    /// A scalar whose `<` is the total order: the bits of a float, those behind the sign inverted if
    /// it is negative.
    fn rank_of(&mut self, atom: Atom) -> Atom {
        let bits = self.bits(atom);
        let (shift, mask) = match self.type_of(atom).element {
            ScalarType::F32 => (
                Atom::Scalar(weft_ir::Scalar::I32(31)),
                Atom::Scalar(weft_ir::Scalar::I32(i32::MAX)),
            ),
            ScalarType::F64 => (int(63), int(i64::MAX)),
            _ => return bits,
        };
        let sign = self.compute(ScalarOp::Shr, &[bits, shift]);
        let mask = self.compute(ScalarOp::BitAnd, &[sign, mask]);
        self.compute(ScalarOp::BitXor, &[bits, mask])
    }
}
