//! Which kernels may run beside others.
//!
//! Two kernels of a plan do not depend on each other if neither reads what the other one, or what comes of that,
//! has computed, and if none of them relies on checks of the other (`Note [What relies on checks]`). Where
//! the host looks at what kernels have computed, as at how many points a filter keeps, it waits for all of them. This
//! is only a hint for who launches them: what each launch has to wait for, he finds out himself. Kernels in loops get
//! none.

use std::collections::BTreeMap;

use weft_ir::flat::{Dimension, Var};
use weft_ir::plan::{Block, Kernel, Sink, Step};

use crate::fields::Field;
use crate::run::{kernels_in, kernels_of};
use crate::text::{KernelCode, Skeleton};

/// The most kernels that are compared with each other: the bits of a word.
const MOST: usize = 128;

/// Sets `beside` and `beside_long` of all kernels that others of the block do not depend on, nor they on those.
pub(crate) fn mark(block: &Block, codes: &mut [KernelCode]) {
    let mut walk = Walk { codes, run: Vec::new(), makers: BTreeMap::new() };
    walk.block(block, 0);
}

/// A kernel of a run, with those before it in the run that it depends on: one bit each.
struct Known {
    number: usize,
    before: u128,
}

struct Walk<'a> {
    codes: &'a mut [KernelCode],
    /// Kernels between which the host does not wait.
    run: Vec<Known>,
    /// The kernels of the run that variables depend on.
    makers: BTreeMap<Var, u128>,
}

impl Walk<'_> {
    /// Goes through a block whose first kernel has that number.
    fn block(&mut self, block: &Block, mut number: usize) {
        for step in &block.steps {
            match step {
                Step::Launch(kernel) => {
                    // Behind a sort of keys alone there is none.
                    if !self.codes[number].pieces.is_empty() {
                        self.kernel(kernel, number);
                    }
                    number += 1;
                }
                Step::Reshape { result, array } => {
                    let makers = self.makers_of(*array);
                    self.makers.insert(*result, makers);
                }
                Step::Host { code, .. } => {
                    let own = kernels_of(step);
                    if own > 0 || code.reads().any(|var| self.makers_of(var) != 0) {
                        self.settle();
                    }
                    number += own;
                }
                Step::Check { condition, .. } => {
                    if self.makers_of(*condition) != 0 {
                        self.settle();
                    }
                }
                Step::If { then, otherwise, .. } => {
                    self.settle();
                    self.block(then, number);
                    number += kernels_in(then);
                    self.block(otherwise, number);
                    number += kernels_in(otherwise);
                }
                Step::While { .. } => {
                    self.settle();
                    number += kernels_of(step);
                }
                Step::Constant { .. } | Step::Free(_) => {}
            }
        }
        self.settle();
    }

    fn makers_of(&self, var: Var) -> u128 {
        self.makers.get(&var).copied().unwrap_or(0)
    }

    fn kernel(&mut self, kernel: &Kernel, number: usize) {
        if self.run.len() == MOST {
            self.settle();
        }
        let mut before = 0;
        let mut visit = |var: Var| before |= self.makers_of(var);
        for field in self.codes[number].pieces.iter().flat_map(|piece| &piece.fields) {
            match *field {
                Field::Array(var)
                | Field::Computed(var)
                | Field::Scalar(var)
                | Field::Divisor(var) => visit(var),
                Field::Failure | Field::Output(_) | Field::Temporary(_) | Field::Numbers(_) => {}
            }
        }
        kernel.sinks.iter().flat_map(Sink::destinations).for_each(|var| visit(*var));
        for dimension in &kernel.space {
            if let Dimension::Ragged { offsets, .. } = dimension {
                visit(*offsets);
            }
        }
        if self.codes[number].relies {
            let has_checks = |known: &Known| !self.codes[known.number].sites.is_empty();
            let checks = self.run.iter().enumerate().filter(|(_, known)| has_checks(known));
            before |= checks.fold(0, |all, (at, _)| all | 1_u128 << at);
        }
        let own = 1 << self.run.len();
        for var in kernel.results() {
            self.makers.insert(var, before | own);
        }
        self.run.push(Known { number, before });
        let looks = |skeleton: &Skeleton| {
            matches!(
                skeleton,
                Skeleton::Filter { .. } | Skeleton::Sort { .. } | Skeleton::Runs { .. }
            )
        };
        if self.codes[number].pieces.iter().any(|piece| looks(&piece.skeleton)) {
            self.settle();
        }
    }

    /// The host waits for all kernels of the run.
    fn settle(&mut self) {
        self.makers.clear();
        let run = std::mem::take(&mut self.run);
        for (at, known) in run.iter().enumerate() {
            let is_independent = |(place, other): &(usize, &Known)| {
                *place != at && other.before & (1 << at) == 0 && known.before & (1 << *place) == 0
            };
            let mut others = run.iter().enumerate().filter(is_independent).peekable();
            let beside = others.peek().is_some();
            let beside_long = others.any(|(_, other)| self.codes[other.number].is_long());
            let code = &mut self.codes[known.number];
            (code.beside, code.beside_long) = (beside, beside_long);
        }
    }
}

#[cfg(test)]
mod tests {
    use weft_ir::plan;

    use crate::{Policy, generate};

    /// A kernel that makes one array of another.
    fn map(from: &str, to: &str) -> String {
        format!(
            "launch \"map\" [a0] (r0)\n  r1: f32 = read {from} r0\n  r2: f32 = add r1 1.0f32\n  yield r2\n  \
             store r2 to {to}: [a0]f32\nend\n"
        )
    }

    /// Which kernels of a program may run beside others.
    fn beside(steps: &[&str], output: &str) -> Vec<bool> {
        let text = format!("input a1: [a0]f32\n{}output {output}: [a0]f32\n", steps.concat());
        let program = plan::parse(&text).expect("a plan");
        plan::check(&program).expect("a plan");
        let code = generate(&program, &Policy::SM_90);
        code.kernels.iter().map(|kernel| kernel.beside).collect()
    }

    #[test]
    fn what_depends_on_each_other_does_not() {
        let (first, second, third) = (map("a1", "a2"), map("a2", "a3"), map("a1", "a4"));
        assert_eq!(beside(&[&first, &second], "a3"), [false, false]);
        // The third one depends on none of the others, and nothing on it.
        assert_eq!(beside(&[&first, &second, &third], "a3"), [true, true, true]);
        // All are made of the first one.
        let (second, third) = (map("a2", "a3"), map("a2", "a4"));
        assert_eq!(beside(&[&first, &second, &third], "a3"), [false, true, true]);
    }

    #[test]
    fn what_relies_on_a_check_is_behind_it() {
        let (first, third) = (map("a1", "a2"), map("a1", "a4"));
        let check = |to: &str| {
            format!(
                "launch \"map\" [a0] (r0)\n  r1: f32 = read a1 r0\n  r3: bool = lt r1 9.0f32\n  check r3 assert\n  \
                 yield r1\n  store r1 to {to}: [a0]f32\nend\n"
            )
        };
        // Who knows whether there are so many elements?
        let relying = third.replace("read a1 r0", "read a1 5i64");
        let (check, other) = (check("a3"), check("a5"));
        assert_eq!(beside(&[&first, &check, &relying], "a4"), [true, true, true]);
        assert_eq!(beside(&[&check, &relying], "a4"), [false, false]);
        assert_eq!(beside(&[&relying, &check], "a4"), [true, true]);
        assert_eq!(beside(&[&check, &third], "a4"), [true, true]);
        assert_eq!(beside(&[&check, &other], "a5"), [true, true]);
    }

    #[test]
    fn what_is_behind_a_look_of_the_host_does_not() {
        let third = map("a1", "a4");
        let look = "launch \"sum\" [a0] (r0)\n  r1: f32 = read a1 r0\n  yield r1\n  reduce r1 as (r2: f32) to a5: f32\n  \
                    by (r3: f32) (r4: f32)\n    r5: f32 = add r3 r4\n    yield r5\n  from ()\n    yield 0.0f32\nend\n\
                    a6: f32 = host\n  r0: f32 = read a5\n  yield r0\n";
        assert_eq!(beside(&[look, &third], "a4"), [false, false]);
        assert_eq!(beside(&[&third, look], "a4"), [true, true]);
    }
}
