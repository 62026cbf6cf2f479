//! Linear algebra.

use weft_ir::ScalarOp;

use super::Call;
use super::make::into_shape;
use super::reduce::scalar_type;
use crate::apply::{Callee, Source};
use crate::collect::Collector;
use crate::machine::{Machine, Outcome};
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
                let sources = [Source::Each(a), Source::Each(b)];
                let products = self.apply_to_each(&times, &sources, inner, &leaf, call.span)?;
                let sum = self.fold_range(&plus, None, &products, 0..inner)?;
                let val = match sum {
                    Some(sum) => self.apply(&plus, [zero.clone(), sum])?,
                    None => zero.clone(),
                };
                self.collect(&mut collector, val)?;
            }
        }
        let elements = self.finish(collector);
        Ok(into_shape(elements, &[height, width], call.result()))
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
            Ok(machine.finish(collector))
        })?;
        Ok(into_shape(elements, &[height, width], call.result()))
    }
}
