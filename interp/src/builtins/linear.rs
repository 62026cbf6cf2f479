//! Linear algebra.

use weft_ir::{ScalarOp, Span, Type};

use super::Call;
use super::make::into_shape;
use super::reduce::{BLOCK, scalar_type};
use crate::apply::{Callee, Source};
use crate::collect::Collector;
use crate::elements::Elements;
use crate::extents::Known;
use crate::machine::{Machine, Outcome, Unwind};
use crate::operator::{Operator, number};
use crate::value::{Val, under};

impl Machine<'_> {
    /// `matmul a b`: element [i, j] is the dot product of row i of a and column j of b.
    pub(super) fn matmul(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let (left, right) = (call.array(0)?, call.array(1)?);
        let (height, width) = (left.len(), self.regular(call.name(), &right, call.span)?);
        let inner = self.regular(call.name(), &left, call.span)?;
        if height > 0 {
            self.same_length(call.name(), inner, right.len(), call.span)?;
        }
        let leaf = under(call.result(), 2).clone();
        let count = self.new_length_wide(&call, height as i128 * width as i128)?;
        self.admit_elements(count as u128, &leaf, call.span)?;
        let columns = self.transpose_rows(&right, right.len(), width, call.result(), call.span)?;
        let columns = super::look::rows_of(&columns)?;
        let left = self.concatenate_rows(&left, &leaf, call.span)?;
        let right = self.concatenate_rows(&columns, &leaf, call.span)?;
        let mut collector = Collector::new(&leaf, call.span);
        let times = Callee::Operator(Operator::binary(ScalarOp::Mul, &leaf), call.span);
        let plus = Callee::Operator(Operator::binary(ScalarOp::Add, &leaf), call.span);
        let zero = Val::of_scalar(number(0, scalar_type(&leaf)));
        for row in 0..height {
            for column in 0..width {
                let a = left.slice(row * inner, inner, &leaf);
                let b = right.slice(column * inner, inner, &leaf);
                let val = match scalar_type(&leaf).is_float() {
                    true => self.sum_of_products(&a, &b, &leaf, call.span)?,
                    false => {
                        let sources = [Source::Each(a), Source::Each(b)];
                        let products =
                            self.apply_to_each(&times, &sources, inner, &leaf, call.span)?;
                        let sum = self.fold_range(&plus, None, &products, 0..inner)?;
                        match sum {
                            Some(sum) => self.apply(&plus, [zero.clone(), sum])?,
                            None => zero.clone(),
                        }
                    }
                };
                self.collect(&mut collector, val)?;
            }
        }
        let elements = self.finish(collector);
        Ok(into_shape(elements, &[height, width], call.result()))
    }

    /// The fold from (0, 1) of pairs (a, b) that stand for a·b, by (s, t) ⊕ (a, b) = (fma a b (s·t), 1): each
    /// product is added with a single rounding. Yields the first component.
    fn sum_of_products(
        &mut self,
        a: &Elements,
        b: &Elements,
        leaf: &Type,
        span: Span,
    ) -> Result<Val, Unwind> {
        let ty = weft_lang::types::Type::of_value(leaf);
        let fused = Operator::of(ScalarOp::Fma, &[ty.clone(), ty.clone(), ty]);
        let times = Operator::binary(ScalarOp::Mul, leaf);
        let one = Val::of_scalar(number(1, scalar_type(leaf)));
        // Without a second component it is 1, and nothing is to be multiplied.
        let combine =
            |machine: &Machine<'_>, (s, t): (Val, Option<Val>), (a, b): (Val, Option<Val>)| {
                let earlier = match t {
                    Some(t) => times.apply(machine, &[s, t], span),
                    None => s,
                };
                (fused.apply(machine, &[a, b.unwrap_or_else(|| one.clone()), earlier], span), None)
            };
        let mut level: Vec<(Val, Option<Val>)> =
            (0..a.len()).map(|at| (a.get(at), Some(b.get(at)))).collect();
        while level.len() > 1 {
            let mut next = Vec::with_capacity(level.len().div_ceil(BLOCK));
            for (at, pair) in level.into_iter().enumerate() {
                if at.is_multiple_of(BLOCK) {
                    next.push(pair);
                } else {
                    let so_far = next.pop().expect("the block has begun");
                    next.push(combine(self, so_far, pair));
                }
                self.step()?;
            }
            level = next;
        }
        let start = (Val::of_scalar(number(0, scalar_type(leaf))), None);
        Ok(match level.pop() {
            Some(pair) => combine(self, start, pair).0,
            None => start.0,
        })
    }

    /// `outer f xs ys`: element [i, j] is f xs\[i\] ys\[j\].
    pub(super) fn outer(&mut self, mut call: Call<'_>) -> Outcome<Val> {
        let function = call.value(0);
        let (left, right) = (call.array(1)?, call.array(2)?);
        let leaf = under(call.result(), 2).clone();
        let (height, width) = (left.len(), right.len());
        let count = self.new_length_wide(&call, height as i128 * width as i128)?;
        self.admit_elements(count as u128, &leaf, call.span)?;
        let elements = self.with_callee(&function, 2, call.span, |machine, callee| {
            let mut collector = Collector::new(&leaf, call.span);
            for row in 0..height {
                for column in 0..width {
                    let val = machine.apply(callee, [left.get(row), right.get(column)])?;
                    machine.collect(&mut collector, val)?;
                }
            }
            let result = machine.finish(collector);
            Ok(machine.with_extents(result, &leaf, |machine| {
                let args = vec![Known::element_of(&left), Known::element_of(&right)];
                machine.known_of_call(callee, args)
            })?)
        })?;
        Ok(into_shape(elements, &[height, width], call.result()))
    }
}
