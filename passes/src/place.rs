//! Placement: the lifetimes of the buffers of a *plan*. Inserts a `free` after the last use of every
//! array that nobody yields, on every level of control.
//!
//! ```
//! let plan = weft_ir::plan::parse("\
//! input a1: [a0]f64
//! launch \"sort\" [a0] (r0)
//!   r1: f64 = read a1 r0
//!   yield r1
//!   sort r1 to a2: [a0]i64
//! end
//! launch \"map\" [a0] (r0)
//!   r1: i64 = read a2 r0
//!   r2: f64 = read a1 r1
//!   yield r2
//!   store r2 to a3: [a0]f64
//! end
//! output a3: [a0]f64
//! ").unwrap();
//! let placed = weft_passes::place(plan).to_string();
//! assert!(placed.ends_with("end\nfree a2\noutput a3: [a0]f64\n"));
//! ```
//!
//! What a step uses for the last time it may overwrite: a back end looks at the `free` that follows
//! it. An array that a loop inside uses is freed after it; one that a block itself binds is
//! freed in it, and so is the state of a loop by the body. What an `if` uses for the last time is freed after it, and before
//! that by a side that uses it and does not yield it: there it may be overwritten, whatever the other side does. A view shares its array's buffer, and each
//! is freed for itself: a buffer is free when all its names are. Inputs are the caller's and are not
//! freed. Scalars have no buffers and are not mentioned.

use std::collections::BTreeSet;

use weft_ir::flat::{Dimension, Type, Var};
use weft_ir::plan::{Block, Program, Step};

/// The plan with the lifetimes of its buffers.
pub fn place(mut program: Program) -> Program {
    let mut kept: BTreeSet<Var> = BTreeSet::new();
    for leaf in program.inputs.iter().chain(&program.outputs) {
        kept.insert(leaf.data);
        for axis in &leaf.axes {
            if let Dimension::Ragged { offsets, .. } = axis {
                kept.insert(*offsets);
            }
        }
    }
    name_starts(&mut program.body, &mut program.types);
    let placer = Placer { types: &program.types };
    placer.block(&mut program.body, &[], &kept);
    program
}

/// Gives the start of a loop's state another name where the loop itself reads it: a state is the
/// loop's own, to be overwritten.
fn name_starts(block: &mut Block, types: &mut Vec<Type>) {
    for mut step in std::mem::take(&mut block.steps) {
        match &mut step {
            Step::If { then, otherwise, .. } => {
                name_starts(then, types);
                name_starts(otherwise, types);
            }
            Step::While { initial, condition, body, rows, .. } => {
                name_starts(condition, types);
                name_starts(body, types);
                let mut inside = BTreeSet::new();
                let mut visit = |var: Var| {
                    inside.insert(var);
                };
                condition.uses(&mut visit);
                body.uses(&mut visit);
                rows.iter().for_each(|rows| rows.uses(&mut visit));
                for array in initial {
                    let ty = &types[array.0 as usize];
                    if inside.contains(array) && !ty.extents.is_empty() {
                        let result = Var(types.len() as u32);
                        types.push(ty.clone());
                        block.steps.push(Step::Reshape { result, array: *array });
                        *array = result;
                    }
                }
            }
            Step::Host { .. }
            | Step::Launch(_)
            | Step::Reshape { .. }
            | Step::Constant { .. }
            | Step::Check { .. }
            | Step::Free(_) => {}
        }
        block.steps.push(step);
    }
}

struct Placer<'a> {
    types: &'a [Type],
}

impl Placer<'_> {
    fn is_array(&self, var: Var) -> bool {
        self.types.get(var.0 as usize).is_some_and(|ty| !ty.extents.is_empty())
    }

    /// Places a block that frees what it binds and uses of `state`; `kept` outlives it beside its results.
    fn block(&self, block: &mut Block, state: &[Var], kept: &BTreeSet<Var>) {
        self.drop_dead(block, kept);
        let mut own: BTreeSet<Var> = state.iter().copied().collect();
        own.extend(block.steps.iter().flat_map(Step::results));
        // Backwards: what was not used after a step, it uses for the last time.
        let mut used: BTreeSet<Var> = kept.iter().chain(&block.results).copied().collect();
        let mut steps = Vec::with_capacity(block.steps.len() * 2);
        while let Some(mut step) = block.steps.pop() {
            let mut last = Vec::new();
            let mut touch = |var: Var| {
                if self.is_array(var) && own.contains(&var) && used.insert(var) {
                    last.push(var);
                }
            };
            step.results().into_iter().for_each(&mut touch);
            step.uses(&mut touch);
            match &mut step {
                Step::If { then, otherwise, .. } => {
                    for side in [then, otherwise] {
                        let own = last.iter().copied().filter(|var| !side.results.contains(var));
                        let own: Vec<Var> = own.collect();
                        self.block(side, &own, &BTreeSet::new());
                    }
                }
                Step::While { condition, body, state, rows, .. } => {
                    self.block(condition, &[], &state.iter().copied().collect());
                    self.block(body, state, &BTreeSet::new());
                    if let Some(rows) = rows {
                        rows.program = place(rows.program.clone());
                    }
                }
                Step::Host { .. }
                | Step::Launch(_)
                | Step::Reshape { .. }
                | Step::Constant { .. }
                | Step::Check { .. }
                | Step::Free(_) => {}
            }
            if !last.is_empty() {
                last.sort_unstable();
                last.dedup();
                steps.push(Step::Free(last));
            }
            steps.push(step);
        }
        steps.reverse();
        block.steps = steps;
    }

    /// Removes views and constants that nobody uses; `fuse` leaves no other dead steps.
    fn drop_dead(&self, block: &mut Block, kept: &BTreeSet<Var>) {
        let mut used: BTreeSet<Var> = kept.iter().chain(&block.results).copied().collect();
        let mut steps = Vec::with_capacity(block.steps.len());
        while let Some(step) = block.steps.pop() {
            let dead = match &step {
                Step::Reshape { result, .. } | Step::Constant { result, .. } => {
                    !used.contains(result)
                }
                Step::Host { .. }
                | Step::Launch(_)
                | Step::Check { .. }
                | Step::If { .. }
                | Step::While { .. }
                | Step::Free(_) => false,
            };
            if !dead {
                step.uses(&mut |var| {
                    used.insert(var);
                });
                steps.push(step);
            }
        }
        steps.reverse();
        block.steps = steps;
    }
}
