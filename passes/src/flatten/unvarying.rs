//! Maps in the body of a map whose results are the same at all of its points.
//!
//! Note [The same for all rows]. What does not depend on the point has left the bodies of maps before (`share`), as far as
//! the program says so. That rows have one length it does not say: only layouts do. So what depends on the length of a row
//! is still inside, as are the roots of one for the transform of each row of a matrix. Where its elements cost much more
//! than a load, such a map is computed once, over its own dimension alone, and all rows read that array.
//!
//! Where there are no rows that is done in vain, and may meet a fault that nobody would have seen; then whoever runs the
//! program finds out.

use std::rc::Rc;

use weft_ir::nested::{Body, Lambda, Operation};

use super::view::{Length, Source, Value, View};
use super::{Context, Flattener, Outcome};
use crate::operator_cost::operator_cost;

/// What an element costs at least that is worth an array of its own.
const LEAST_COST: u32 = 20;

/// How many views to look through.
const MOST_STEPS: u32 = 16;

impl<'p> Flattener<'p> {
    /// A map in the bodies of those maps around it whose points it depends on.
    pub(super) fn map_for_all_rows(
        &mut self,
        lambda: &'p Lambda,
        arrays: Vec<Rc<View<'p>>>,
    ) -> Outcome<Vec<Value<'p>>> {
        let depth = self.depth();
        if depth == 0 || self.needed_at.is_some() || !cost(&lambda.body).is_some_and(is_dear) {
            return self.map(lambda, arrays);
        }
        let mut needed = 0;
        for array in &arrays {
            needed = needed.max(self.depth_of_view(array, MOST_STEPS));
        }
        for var in lambda.free_variables() {
            needed = needed.max(self.depth_of_value(&self.bound[&var], MOST_STEPS));
        }
        if needed >= depth {
            return self.map(lambda, arrays);
        }
        let outer = self.context.clone();
        self.context = Context {
            space: outer.space[..needed].to_vec(),
            levels: outer.levels[..needed].to_vec(),
        };
        let results = self.map(lambda, arrays);
        self.context = outer;
        results
    }

    /// How many of the outermost dimensions a value differs in.
    fn depth_of_value(&self, value: &Value<'p>, steps: u32) -> usize {
        match value {
            Value::Scalar(id) => self.scalars.depth(*id),
            Value::Array(view) => self.depth_of_view(view, steps),
        }
    }

    fn depth_of_view(&self, view: &View<'p>, steps: u32) -> usize {
        let Some(steps) = steps.checked_sub(1) else { return self.depth() };
        let of = |view: &Rc<View<'p>>| self.depth_of_view(view, steps);
        let of_length = |length: &Length| match length {
            Length::Uniform(_) => 0,
            Length::Varying(id) => self.scalars.depth(*id),
        };
        match &view.source {
            Source::Stored { prefix, .. } => {
                prefix.iter().map(|(index, _)| self.scalars.depth(*index)).max().unwrap_or(0)
            }
            Source::Iota(length) => of_length(length),
            Source::Replicate(length, value) => {
                of_length(length).max(self.depth_of_value(value, steps))
            }
            Source::Concat(first, second) | Source::Gathered(first, second) => {
                of(first).max(of(second))
            }
            Source::Transposed(inner, length) => {
                of(inner).max(length.as_ref().map_or(0, of_length))
            }
            Source::Column(inner, index) => of(inner).max(self.scalars.depth(*index)),
            Source::Checked(inner, condition, _) => of(inner).max(self.scalars.depth(*condition)),
            // What conditions choose, and what is delayed, belongs to a point.
            Source::Literal(_) | Source::Choice(..) | Source::Delayed(..) => self.depth(),
        }
    }
}

fn is_dear(cost: u32) -> bool {
    cost >= LEAST_COST
}

/// What scalar code without loops costs; nothing if it is more than that.
fn cost(body: &Body) -> Option<u32> {
    let mut sum = 0_u32;
    for statement in &body.statements {
        if statement.results.iter().any(|(_, ty)| ty.rank > 0) {
            return None;
        }
        sum = sum.saturating_add(match &statement.operation {
            Operation::Scalar(op, _) => operator_cost(*op),
            Operation::Random(..) => LEAST_COST,
            Operation::Index(..) => 1,
            Operation::Assert { .. } | Operation::Length(_) => 0,
            Operation::If { then, otherwise, .. } => cost(then)?.max(cost(otherwise)?),
            _ => return None,
        });
    }
    Some(sum)
}
