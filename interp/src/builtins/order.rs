//! Order: sorting, ranking, searching, merging, by the total order of [`weft_ir::math::total_cmp`];
//! tuples by their first components, then the second, and so on.
//!
//! An error among the elements or keys is an error of every element of the result; its length does not
//! depend on them. `searchSorted` looks at no other elements than those that its binary search meets.

use std::cmp::Ordering;
use std::rc::Rc;

use weft_ir::{Column, Span, math};

use super::Call;
use crate::apply::Source;
use crate::collect::Collector;
use crate::elements::Elements;
use crate::machine::{CHUNK, Machine, Outcome, Stop, Unwind};
use crate::value::Val;

impl Machine<'_> {
    /// `sort xs`.
    pub(super) fn sort(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        let order = match self.ascending(&elements, call.span) {
            Ok(order) => order,
            Err(stop) => return self.erroneous(stop, elements.len(), call.span),
        };
        Ok(self.gather_elements(&elements, &order, call.element())?.into_val())
    }

    /// `sortDesc xs`: equal elements keep their order.
    pub(super) fn sort_desc(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        let column = match sound(&elements) {
            Ok(column) => column,
            Err(stop) => return self.erroneous(stop, elements.len(), call.span),
        };
        self.admit(column.len() as u128 * 16, call.span)?;
        let order = self.stable_order(column.len(), |a, b| compare_in(column, b, a))?;
        Ok(self.gather_elements(&elements, &order, call.element())?.into_val())
    }

    /// `sortBy key xs`: the elements may have errors in them, the keys may not.
    pub(super) fn sort_by(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let key = call.value(0);
        let elements = call.array(1)?;
        let sources = [Source::Each(elements.clone())];
        let keys = self.with_callee(&key, 1, call.span, |machine, callee| {
            let mut keys = Vec::with_capacity(elements.len());
            for index in 0..elements.len() {
                let key = machine.apply_at(callee, &sources, index)?;
                if let Some(error) = key.first_error() {
                    return Err(Stop::Error(error));
                }
                keys.push(key);
            }
            Ok(keys)
        });
        let keys = match keys {
            Ok(keys) => keys,
            Err(stop) => return self.erroneous(stop, elements.len(), call.span),
        };
        let order = self.stable_order(keys.len(), |a, b| compare(&keys[a], &keys[b]))?;
        Ok(self.gather_elements(&elements, &order, call.element())?.into_val())
    }

    /// `argsort xs`: the positions of the elements in sorted order.
    pub(super) fn argsort(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        let order = match self.ascending(&elements, call.span) {
            Ok(order) => order,
            Err(stop) => return self.erroneous(stop, elements.len(), call.span),
        };
        let order: Vec<i64> = order.into_iter().map(|position| position as i64).collect();
        Ok(Val::array(Column::I64(order.into())))
    }

    /// `searchSorted xs x`: the first position whose element is not below x. Where xs is not
    /// ascending, the answer is that of this binary search, whose turns depend on the length alone: of the `width`
    /// elements from `low` on, it looks at the one in the middle, the second one if they are even in number.
    pub(super) fn search_sorted(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let elements = call.array(0)?;
        let sought = call.value(1);
        if let Some(error) = sought.first_error() {
            return Err(Stop::Error(error));
        }
        let (mut low, mut width) = (0, elements.len());
        while width > 0 {
            let there = elements.get(low + width / 2);
            if let Some(error) = there.first_error() {
                return Err(Stop::Error(error));
            }
            if compare(&there, &sought) == Ordering::Less {
                // With an even number this one stays among the others: so the rest is as long in both cases.
                low += width - width / 2;
            }
            width /= 2;
        }
        Ok(Val::I64(low as i64))
    }

    /// `merge xs ys`: of equal elements those of xs come first.
    pub(super) fn merge(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (left, right) = (call.array(0)?, call.array(1)?);
        let (xs, ys) = match (sound(&left), sound(&right)) {
            (Ok(xs), Ok(ys)) => (xs, ys),
            (Err(stop), _) | (_, Err(stop)) => {
                return self.erroneous(stop, left.len() + right.len(), call.span);
            }
        };
        let mut both = Collector::new(call.element(), call.span);
        both.extend(&left);
        both.extend(&right);
        self.admit((xs.len() + ys.len()) as u128 * 8, call.span)?;
        let mut order = Vec::with_capacity(xs.len() + ys.len());
        let (mut i, mut j) = (0, 0);
        while i < xs.len() && j < ys.len() {
            if compare_columns(xs, i, ys, j) == Ordering::Greater {
                order.push(xs.len() + j);
                j += 1;
            } else {
                order.push(i);
                i += 1;
            }
            self.step()?;
        }
        order.extend(i..xs.len());
        order.extend(xs.len() + j..xs.len() + ys.len());
        Ok(self.gather_elements(&both.finish(), &order, call.element())?.into_val())
    }

    /// The result of an operation that had to stop, where its length does not depend on why: an array
    /// with the error in every element.
    pub(super) fn erroneous(&mut self, stop: Stop, length: usize, span: Span) -> Outcome<Val> {
        match stop {
            Stop::Error(error) if length > 0 => {
                self.admit(length as u128 * 16, span)?;
                Ok(Val::Boxed(Rc::new(vec![Val::Error(error); length])))
            }
            stop => Err(stop),
        }
    }

    /// The positions of the elements in ascending order.
    pub(super) fn ascending(&mut self, elements: &Elements, span: Span) -> Outcome<Vec<usize>> {
        let column = sound(elements)?;
        self.admit(column.len() as u128 * 16, span)?;
        Ok(self.stable_order(column.len(), |a, b| compare_in(column, a, b))?)
    }

    /// Where in a sorted order the runs of equal elements start.
    pub(super) fn group_starts(
        &mut self,
        elements: &Elements,
        order: &[usize],
    ) -> Outcome<Vec<usize>> {
        let column = sound(elements)?;
        let mut starts = Vec::new();
        for at in 0..order.len() {
            if at == 0 || compare_in(column, order[at - 1], order[at]) != Ordering::Equal {
                starts.push(at);
            }
            self.step()?;
        }
        Ok(starts)
    }

    /// The positions `0..length` in a stable order. Pieces are sorted by the standard library and
    /// then merged pairwise, so that an interrupt is seen in between.
    pub(super) fn stable_order(
        &mut self,
        length: usize,
        compare: impl Fn(usize, usize) -> Ordering,
    ) -> Result<Vec<usize>, Unwind> {
        let mut order: Vec<usize> = (0..length).collect();
        for piece in order.chunks_mut(CHUNK) {
            piece.sort_by(|a, b| compare(*a, *b));
            self.poll()?;
        }
        let mut width = CHUNK;
        while width < length {
            let mut merged = Vec::with_capacity(length);
            for pair in order.chunks(2 * width) {
                let (left, right) = pair.split_at(width.min(pair.len()));
                let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
                while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
                    let from_right = compare(**a, **b) == Ordering::Greater;
                    merged.extend(if from_right { right.next() } else { left.next() });
                    self.step()?;
                }
                merged.extend(left);
                merged.extend(right);
            }
            order = merged;
            width *= 2;
        }
        Ok(order)
    }
}

/// The column of elements without errors; else the first error.
fn sound(elements: &Elements) -> Outcome<&Rc<Column>> {
    match elements {
        Elements::Packed(column) => Ok(column),
        Elements::Boxed(vals) => match vals.iter().find_map(Val::first_error) {
            Some(error) => Err(Stop::Error(error)),
            None => panic!("a boxed array without an error"),
        },
    }
}

/// Compares two elements of a column.
fn compare_in(column: &Column, a: usize, b: usize) -> Ordering {
    compare_columns(column, a, column, b)
}

fn compare_columns(left: &Column, a: usize, right: &Column, b: usize) -> Ordering {
    match (left, right) {
        (Column::I64(left), Column::I64(right)) => left.as_slice()[a].cmp(&right.as_slice()[b]),
        (Column::F64(left), Column::F64(right)) => {
            math::total_cmp_f64(left.as_slice()[a], right.as_slice()[b])
        }
        (Column::Tuple { parts: left, .. }, Column::Tuple { parts: right, .. }) => {
            let parts = left.iter().zip(right);
            parts.fold(Ordering::Equal, |order, (left, right)| {
                order.then_with(|| compare_columns(left, a, right, b))
            })
        }
        (left, right) => match (left.scalar(a), right.scalar(b)) {
            (Some(a), Some(b)) => math::total_cmp(a, b),
            _ => panic!("arrays have no order"),
        },
    }
}

/// Compares two values without errors.
fn compare(a: &Val, b: &Val) -> Ordering {
    if let (Val::Tuple(a), Val::Tuple(b)) = (a, b) {
        let parts = a.iter().zip(b.iter());
        return parts.fold(Ordering::Equal, |order, (a, b)| order.then_with(|| compare(a, b)));
    }
    match (a.scalar(), b.scalar()) {
        (Some(a), Some(b)) => math::total_cmp(a, b),
        _ => panic!("{a:?} and {b:?} have no order"),
    }
}
