//! Combining scatters of arrays by operators that are not element by element: the values that go to one
//! place become a row, and each row is folded.
//!
//! ```text
//! scatter f into d at is values xs    →    rows = segments (how many go to each place) (xs sorted by is)
//!                                          { if length row > 0 then f old (fold f row) else old
//!                                          : old in d ; row in rows }
//! ```

use weft_ir::nested::{Atom, Body, Lambda, Operation, ScanForm, Start, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp};

use crate::code::{BOOL, Code, I64, atoms, integer};

/// What is sent where.
pub(super) struct Sent {
    pub(super) destinations: Vec<Atom>,
    pub(super) indices: Atom,
    pub(super) values: Vec<Atom>,
    /// Whether index -1 drops its value.
    pub(super) drops: bool,
}

impl Code<'_> {
    /// The scatter of arrays.
    pub(super) fn scatter(&mut self, results: &[(Var, Type)], operator: &Lambda, sent: Sent) {
        let elements: Vec<Type> = results.iter().map(|(_, ty)| ty.element()).collect();
        let Sent { destinations, indices, values, drops } = sent;
        let places = self.one(Operation::Length(destinations[0]), I64);
        let indices = self.within(indices, places, drops);
        let counts = self.counts(indices, places, drops);
        let all = self.one(Operation::Length(indices), I64);
        let kept = self.sum(counts);
        // Those that are dropped come first.
        let dropped = self.scalar(ScalarOp::Sub, &[all, kept], I64);
        let starts = Operation::Scan {
            form: ScanForm::Exclusive,
            from_right: false,
            operator: self.plain_operator(ScalarOp::Add, I64),
            start: Start::Combined(vec![dropped]),
            arrays: vec![counts],
        };
        let starts = self.one(starts, I64.array());
        let keys = vec![indices];
        let order = self.one(Operation::SortOrder { keys, descending: false }, I64.array());
        let sorted = self.map(vec![order], &[I64], &elements, |code, at| {
            code.elements(&values, at[0], &elements)
        });
        let params = self.fresh(&[&[I64, I64], &elements[..]].concat());
        let inputs = atoms(&params);
        let (count, start, old) = (inputs[0], inputs[1], &inputs[2..]);
        let body = self.inner(|code| {
            let some = code.scalar(ScalarOp::Gt, &[count, integer(0)], BOOL);
            let then = code.inner(|code| {
                let pairs = sorted.iter().zip(&elements);
                let row = pairs.map(|(list, ty)| code.slice(*list, *ty, start, count)).collect();
                let folded = code.fresh(&elements);
                code.fold(&folded, operator, Start::None, row);
                code.apply(operator, &[old, &atoms(&folded)].concat())
            });
            let otherwise = Body { statements: Vec::new(), results: old.to_vec() };
            code.many(Operation::If { condition: some, then, otherwise }, &elements)
        });
        let arrays = [vec![counts, starts], destinations].concat();
        self.push(results.to_vec(), Operation::Map(Lambda { params, body }, arrays));
    }

    /// The indices, if all are places.
    fn within(&mut self, indices: Atom, places: Atom, drops: bool) -> Atom {
        let first = if drops { -1 } else { 0 };
        let fits = self.map(vec![indices], &[I64], &[BOOL], |code, index| {
            let low = code.scalar(ScalarOp::Ge, &[index[0], integer(first)], BOOL);
            let high = code.scalar(ScalarOp::Lt, &[index[0], places], BOOL);
            vec![code.scalar(ScalarOp::And, &[low, high], BOOL)]
        });
        let operator = self.plain_operator(ScalarOp::And, BOOL);
        let start = Start::IfEmpty(vec![Atom::Scalar(Scalar::Bool(true))]);
        let condition = self.one(Operation::Fold { operator, start, arrays: fits }, BOOL);
        let kind = FaultKind::IndexOutOfRange;
        self.one(Operation::Assert { condition, kind, values: vec![indices] }, I64.array())
    }

    /// How many values go to each place.
    fn counts(&mut self, indices: Atom, places: Atom, drops: bool) -> Atom {
        let length = self.one(Operation::Length(indices), I64);
        let zeros = self.one(Operation::Replicate(places, integer(0)), I64.array());
        let ones = self.one(Operation::Replicate(length, integer(1)), I64.array());
        let operator = Some(self.plain_operator(ScalarOp::Add, I64));
        let (destinations, values) = (vec![zeros], vec![ones]);
        let scatter = Operation::Scatter { destinations, indices, values, operator, drops };
        self.one(scatter, I64.array())
    }

    fn sum(&mut self, array: Atom) -> Atom {
        let operator = self.plain_operator(ScalarOp::Add, I64);
        let start = Start::IfEmpty(vec![integer(0)]);
        self.one(Operation::Fold { operator, start, arrays: vec![array] }, I64)
    }

    fn plain_operator(&mut self, op: ScalarOp, ty: Type) -> Lambda {
        let params = self.fresh(&[ty, ty]);
        let operands = atoms(&params);
        let body = self.inner(|code| vec![code.scalar(op, &operands, ty)]);
        Lambda { params, body }
    }
}
