//! Conditions that tell the points at a border from all others.
//!
//! What is written for the first and the last elements of an array stands behind `i == 0 || i == n - 1`, or the like: the
//! index is one number or another. Away from these it is known which side is taken. An index that is not a number is on one
//! side of it; which, nobody knows who has not seen the extents. A small constant is taken for a first element,
//! anything else for a last one, if there is a first one beside it: alone it may be any element, as that of a pivot is.

use weft_ir::ScalarOp;
use weft_ir::code::Operand;

use super::{Bound, Finder, Limit, Number};

/// The greatest number that is taken for one of the first.
const FIRST: i64 = 3;

/// What a truth value is in a box.
#[derive(Clone, Debug)]
pub(super) struct Border {
    bounds: Vec<Bound>,
    value: bool,
    /// Whether a number stands alone that is not one of the first.
    alone: bool,
}

impl Finder {
    /// What an index is compared to, and how: the index is put first.
    fn compared(
        &self,
        op: ScalarOp,
        first: Operand,
        second: Operand,
    ) -> Option<(ScalarOp, Operand, Operand)> {
        if self.index(first).is_some() {
            return Some((op, first, second));
        }
        let turned = match op {
            ScalarOp::Lt => ScalarOp::Gt,
            ScalarOp::Gt => ScalarOp::Lt,
            ScalarOp::Le => ScalarOp::Ge,
            ScalarOp::Ge => ScalarOp::Le,
            ScalarOp::Eq | ScalarOp::Ne => op,
            _ => return None,
        };
        self.index(second).is_some().then_some((turned, second, first))
    }

    /// Where a comparison of an index with a number holds.
    pub(super) fn compared_bound(
        &self,
        op: ScalarOp,
        first: Operand,
        second: Operand,
    ) -> Option<Bound> {
        let (op, index, number) = self.compared(op, first, second)?;
        match op {
            ScalarOp::Ge => self.bound(index, number, Limit::AtLeast),
            ScalarOp::Gt => self.above(index, number),
            ScalarOp::Le => self.bound(index, number, Limit::AtMost),
            ScalarOp::Lt => self.bound(index, number, Limit::Below),
            _ => None,
        }
    }

    /// That an index is greater than a number.
    fn above(&self, index: Operand, number: Operand) -> Option<Bound> {
        let bound = self.bound(index, number, Limit::AtLeast)?;
        Some(Bound { offset: bound.offset.plus(1, true)?, ..bound })
    }

    /// What a condition on the border is in a box, if the box is one.
    pub(super) fn border(&self, condition: &Operand) -> Option<(bool, Vec<Bound>)> {
        let Border { bounds, value, alone } = self.borders.get(&condition.register()?)?;
        (!alone).then(|| (*value, bounds.clone()))
    }

    /// What `op` makes of two operands in a box.
    pub(super) fn border_of(
        &self,
        op: ScalarOp,
        first: Operand,
        second: Operand,
    ) -> Option<Border> {
        match op {
            ScalarOp::Eq | ScalarOp::Ne => {
                let (_, index, number) = self.compared(op, first, second)?;
                let is_first = matches!(self.number(number)?, Number::Constant(at) if at <= FIRST);
                let bound = match is_first {
                    true => self.above(index, number)?,
                    false => self.bound(index, number, Limit::Below)?,
                };
                let value = op == ScalarOp::Ne;
                Some(Border { bounds: vec![bound], value, alone: !is_first })
            }
            ScalarOp::Or | ScalarOp::And => {
                let value = op == ScalarOp::And;
                let [first, second] = [self.side_of(first, value)?, self.side_of(second, value)?];
                let mut bounds = first.bounds;
                bounds.extend(second.bounds);
                let starts = |bound: &Bound| matches!(bound.limit, Limit::AtLeast(_));
                let alone = (first.alone || second.alone)
                    && bounds.iter().any(|bound| {
                        let begun =
                            |other: &Bound| starts(other) && other.dimension == bound.dimension;
                        !bounds.iter().any(begun)
                    });
                Some(Border { bounds, value, alone })
            }
            _ => None,
        }
    }

    /// Of the negation of a truth value.
    pub(super) fn border_of_not(&self, operand: Operand) -> Option<Border> {
        let register = operand.register()?;
        if let Some(border) = self.borders.get(&register) {
            return Some(Border { value: !border.value, ..border.clone() });
        }
        let bounds = self.holding.get(&register)?.clone();
        Some(Border { bounds, value: false, alone: false })
    }

    /// Where a truth value is this.
    fn side_of(&self, operand: Operand, value: bool) -> Option<Border> {
        let register = operand.register()?;
        if let Some(border) = self.borders.get(&register) {
            return (border.value == value).then(|| border.clone());
        }
        let holding = self.holding.get(&register)?;
        let bounds = match (&holding[..], value) {
            (holding, true) => holding.to_vec(),
            ([bound], false) => vec![bound.complement()?],
            (_, false) => return None,
        };
        Some(Border { bounds, value, alone: false })
    }
}
