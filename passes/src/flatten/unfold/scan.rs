//! Scans of arrays by operators that are not element by element, as loops over the tree of a scan.
//!
//! The way up: blocks of 64 are scanned from left to right, all blocks side by side; the last values of
//! the blocks are the values of the next round, until there is one block. What the rounds come to is
//! kept, one round behind the other. The way down: every value of a block but the first is combined
//! with the value above that the block before it came to.
//!
//! ```text
//! scan f over xs    →    while there were several blocks
//!                          level = for j < min (length xs - 1) 63 with level = xs
//!                            level with [64 b + j + 1] = f level[64 b + j] level[64 b + j + 1]
//!                          kept = kept and level ; xs = the last of each block
//!                        for level of kept, the last first, with above
//!                          level with [64 + i] = f above[i // 64] level[64 + i]
//! ```

use weft_ir::nested::{Atom, Lambda, Operation, ScanForm, Start, Type, Var};
use weft_ir::{FaultKind, Scalar, ScalarOp};

use super::BLOCK;
use crate::code::{BOOL, Code, I64, atoms, integer};

/// More rounds than any scan has: the values would not fit into memory.
const MOST_ROUNDS: i64 = 11;

/// How two values are combined: by an operator, whose operands a scan from the right exchanges.
#[derive(Clone, Copy)]
struct Combination<'a> {
    operator: &'a Lambda,
    exchanged: bool,
    /// The types of the values' components.
    elements: &'a [Type],
    /// The types of arrays of them.
    lists: &'a [Type],
}

impl Code<'_> {
    /// The scan of arrays.
    pub(super) fn scan(
        &mut self,
        results: &[(Var, Type)],
        operator: &Lambda,
        (form, from_right): (ScanForm, bool),
        start: Start<Vec<Atom>>,
        arrays: Vec<Atom>,
    ) {
        let lists: Vec<Type> = results.iter().map(|(_, ty)| *ty).collect();
        let elements: Vec<Type> = lists.iter().map(|ty| ty.element()).collect();
        let by =
            Combination { operator, exchanged: from_right, elements: &elements, lists: &lists };
        let arrays = if from_right { self.reversed(by, &arrays) } else { arrays };
        let mut values = self.prefixes(by, &arrays);
        if let Start::Combined(start) | Start::IfEmpty(start) = start {
            values = self
                .map(values, &elements, &elements, |code, value| code.combined(by, &start, value));
            if form != ScanForm::Inclusive {
                values = self.after(by, start, values);
            }
            if form == ScanForm::Exclusive {
                let length = self.one(Operation::Length(arrays[0]), I64);
                values = self.slices(by, &values, integer(0), length);
            }
        }
        if from_right {
            values = self.reversed(by, &values);
        }
        // Under the names that the program knows.
        let condition = Atom::Scalar(Scalar::Bool(true));
        let kind = FaultKind::AssertionFailed;
        self.push(results.to_vec(), Operation::Assert { condition, kind, values });
    }

    /// The inclusive scan from the left, without a start value.
    fn prefixes(&mut self, by: Combination<'_>, arrays: &[Atom]) -> Vec<Atom> {
        let (kept, starts) = self.way_up(by, arrays);
        let levels = self.one(Operation::Length(starts), I64);
        let levels = self.scalar(ScalarOp::Sub, &[levels, integer(1)], I64);
        let nothing = self.slices(by, arrays, integer(0), integer(0));
        let index = self.fresh(&[I64])[0].0;
        let state = self.fresh(by.lists);
        let above = atoms(&state);
        let body = self.inner(|code| {
            let end = code.scalar(ScalarOp::Sub, &[levels, Atom::Var(index)], I64);
            let level = code.scalar(ScalarOp::Sub, &[end, integer(1)], I64);
            let start = code.one(Operation::Index(starts, vec![level]), I64);
            let end = code.one(Operation::Index(starts, vec![end]), I64);
            let length = code.scalar(ScalarOp::Sub, &[end, start], I64);
            let others = code.scalar(ScalarOp::Sub, &[length, integer(BLOCK)], I64);
            let others = code.scalar(ScalarOp::Max, &[others, integer(0)], I64);
            let length = code.scalar(ScalarOp::Max, &[length, integer(0)], I64);
            let level = code.slices(by, &kept, start, length);
            let second = code.scalar(ScalarOp::Add, &[start, integer(BLOCK)], I64);
            let places = code.one(Operation::Iota(others), I64.array());
            let before = code.map(vec![places], &[I64], by.elements, |code, place| {
                let block = code.scalar(ScalarOp::FloorDiv, &[place[0], integer(BLOCK)], I64);
                code.elements(&above, block, by.elements)
            });
            let values = code.slices(by, &kept, second, others);
            let rest = code.combined_each(by, before, values);
            code.replaced(by, level, integer(BLOCK), others, rest)
        });
        let repetition = Operation::For { index, count: levels, state, initial: nothing, body };
        self.many(repetition, by.lists)
    }

    /// The scanned blocks of all rounds, one round behind the other, and where the rounds start; the
    /// end of the last is the last start.
    fn way_up(&mut self, by: Combination<'_>, arrays: &[Atom]) -> (Vec<Atom>, Atom) {
        let count = arrays.len();
        let length = self.one(Operation::Length(arrays[0]), I64);
        let kept = self.room(by, arrays, length);
        let starts = self.one(Operation::Literal(vec![integer(0)]), I64.array());
        let types = [by.lists, by.lists, &[I64.array(), BOOL]].concat();
        let state = self.fresh(&types);
        let values = atoms(&state);
        let (current, kept_so_far) = (&values[..count], values[count..2 * count].to_vec());
        let (starts_so_far, goes_on) = (values[2 * count], values[2 * count + 1]);
        let condition = self.inner(|_| vec![goes_on]);
        let body = self.inner(|code| {
            let length = code.one(Operation::Length(current[0]), I64);
            let level = code.scanned_blocks(by, current, length);
            let mut next = code.last_of_blocks(by, &level, length);
            let rounds = code.one(Operation::Length(starts_so_far), I64);
            let round = code.scalar(ScalarOp::Sub, &[rounds, integer(1)], I64);
            let start = code.one(Operation::Index(starts_so_far, vec![round]), I64);
            next.extend(code.replaced(by, kept_so_far, start, length, level));
            let end = code.scalar(ScalarOp::Add, &[start, length], I64);
            let end = code.one(Operation::Literal(vec![end]), I64.array());
            next.push(code.one(Operation::Concat(starts_so_far, end), I64.array()));
            next.push(code.scalar(ScalarOp::Gt, &[length, integer(BLOCK)], BOOL));
            next
        });
        let goes_on = Atom::Scalar(Scalar::Bool(true));
        let initial = [arrays, &kept, &[starts, goes_on]].concat();
        let last = self.many(Operation::While { state, initial, condition, body }, &types);
        (last[count..2 * count].to_vec(), last[2 * count])
    }

    /// Each block scanned from left to right, all of them side by side.
    fn scanned_blocks(&mut self, by: Combination<'_>, arrays: &[Atom], length: Atom) -> Vec<Atom> {
        let others = self.scalar(ScalarOp::Sub, &[length, integer(1)], I64);
        let steps = self.scalar(ScalarOp::Min, &[others, integer(BLOCK - 1)], I64);
        let index = self.fresh(&[I64])[0].0;
        let state = self.fresh(by.lists);
        let level = atoms(&state);
        let body = self.inner(|code| {
            // The blocks that have a value there: all, but for the last perhaps.
            let last = code.scalar(ScalarOp::Sub, &[others, integer(1)], I64);
            let last = code.scalar(ScalarOp::Sub, &[last, Atom::Var(index)], I64);
            let blocks = code.scalar(ScalarOp::FloorDiv, &[last, integer(BLOCK)], I64);
            let blocks = code.scalar(ScalarOp::Add, &[blocks, integer(1)], I64);
            let blocks = code.scalar(ScalarOp::Max, &[blocks, integer(0)], I64);
            let blocks = code.one(Operation::Iota(blocks), I64.array());
            let types = [&[I64], by.elements, by.elements].concat();
            let mut values = code.map(vec![blocks], &[I64], &types, |code, block| {
                let first = code.scalar(ScalarOp::Mul, &[block[0], integer(BLOCK)], I64);
                let before = code.scalar(ScalarOp::Add, &[first, Atom::Var(index)], I64);
                let at = code.scalar(ScalarOp::Add, &[before, integer(1)], I64);
                let before = code.elements(&level, before, by.elements);
                let value = code.elements(&level, at, by.elements);
                [vec![at], before, value].concat()
            });
            let indices = values.remove(0);
            let next = values.split_off(by.lists.len());
            let values = code.combined_each(by, values, next);
            code.sent(by, level.clone(), indices, values)
        });
        let initial = arrays.to_vec();
        self.many(Operation::For { index, count: steps, state, initial, body }, by.lists)
    }

    /// The last value of each block.
    fn last_of_blocks(&mut self, by: Combination<'_>, level: &[Atom], length: Atom) -> Vec<Atom> {
        let rounded = self.scalar(ScalarOp::Add, &[length, integer(BLOCK - 1)], I64);
        let blocks = self.scalar(ScalarOp::FloorDiv, &[rounded, integer(BLOCK)], I64);
        let last = self.scalar(ScalarOp::Sub, &[length, integer(1)], I64);
        let blocks = self.one(Operation::Iota(blocks), I64.array());
        self.map(vec![blocks], &[I64], by.elements, |code, block| {
            let first = code.scalar(ScalarOp::Mul, &[block[0], integer(BLOCK)], I64);
            let at = code.scalar(ScalarOp::Add, &[first, integer(BLOCK - 1)], I64);
            let at = code.scalar(ScalarOp::Min, &[at, last], I64);
            code.elements(level, at, by.elements)
        })
    }

    /// Values combined with those at the same places of other arrays.
    fn combined_each(
        &mut self,
        by: Combination<'_>,
        first: Vec<Atom>,
        second: Vec<Atom>,
    ) -> Vec<Atom> {
        let count = first.len();
        let types = [by.elements, by.elements].concat();
        self.map([first, second].concat(), &types, by.elements, |code, values| {
            let (first, second) = values.split_at(count);
            code.combined(by, first, second)
        })
    }

    fn combined(&mut self, by: Combination<'_>, first: &[Atom], second: &[Atom]) -> Vec<Atom> {
        let (left, right) = if by.exchanged { (second, first) } else { (first, second) };
        self.apply(by.operator, &[left, right].concat())
    }

    /// The start value, then the others.
    fn after(&mut self, by: Combination<'_>, start: Vec<Atom>, values: Vec<Atom>) -> Vec<Atom> {
        let length = self.one(Operation::Length(values[0]), I64);
        let count = self.scalar(ScalarOp::Add, &[length, integer(1)], I64);
        let each = start.into_iter().zip(by.lists);
        let all: Vec<Atom> =
            each.map(|(start, ty)| self.one(Operation::Replicate(count, start), *ty)).collect();
        self.replaced(by, all, integer(1), length, values)
    }

    /// Arrays with room for all rounds: each has a 64th of the values of the one before, or one more.
    fn room(&mut self, by: Combination<'_>, arrays: &[Atom], length: Atom) -> Vec<Atom> {
        let others = self.scalar(ScalarOp::FloorDiv, &[length, integer(BLOCK - 1)], I64);
        let count = self.scalar(ScalarOp::Add, &[length, others], I64);
        let count = self.scalar(ScalarOp::Add, &[count, integer(MOST_ROUNDS)], I64);
        let some = self.scalar(ScalarOp::Gt, &[length, integer(0)], BOOL);
        let count = self.scalar(ScalarOp::Select, &[some, count, integer(0)], I64);
        let last = self.scalar(ScalarOp::Sub, &[length, integer(1)], I64);
        let places = self.one(Operation::Iota(count), I64.array());
        self.map(vec![places], &[I64], by.elements, |code, place| {
            let at = code.scalar(ScalarOp::Min, &[place[0], last], I64);
            code.elements(arrays, at, by.elements)
        })
    }

    /// Arrays of which `count` elements from `start` on are replaced. (Appended they might be rows of
    /// other lengths, which no scan of regular arrays yields.)
    fn replaced(
        &mut self,
        by: Combination<'_>,
        arrays: Vec<Atom>,
        start: Atom,
        count: Atom,
        values: Vec<Atom>,
    ) -> Vec<Atom> {
        let places = self.one(Operation::Iota(count), I64.array());
        let indices = self.map(vec![places], &[I64], &[I64], |code, place| {
            vec![code.scalar(ScalarOp::Add, &[place[0], start], I64)]
        });
        self.sent(by, arrays, indices[0], values)
    }

    fn sent(
        &mut self,
        by: Combination<'_>,
        destinations: Vec<Atom>,
        indices: Atom,
        values: Vec<Atom>,
    ) -> Vec<Atom> {
        let operator = None;
        let scatter = Operation::Scatter { destinations, indices, values, operator, drops: false };
        self.many(scatter, by.lists)
    }

    fn slices(
        &mut self,
        by: Combination<'_>,
        arrays: &[Atom],
        start: Atom,
        count: Atom,
    ) -> Vec<Atom> {
        let each = arrays.iter().zip(by.elements);
        each.map(|(array, element)| self.slice(*array, *element, start, count)).collect()
    }

    fn reversed(&mut self, by: Combination<'_>, arrays: &[Atom]) -> Vec<Atom> {
        let length = self.one(Operation::Length(arrays[0]), I64);
        let last = self.scalar(ScalarOp::Sub, &[length, integer(1)], I64);
        let places = self.one(Operation::Iota(length), I64.array());
        self.map(vec![places], &[I64], by.elements, |code, place| {
            let at = code.scalar(ScalarOp::Sub, &[last, place[0]], I64);
            code.elements(arrays, at, by.elements)
        })
    }
}
