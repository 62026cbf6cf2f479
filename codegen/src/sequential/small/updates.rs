//! Which arrays of a small loop are updated where they are.
//!
//! Note [Updates of small loops]. A function that computes each array to fresh memory copies an array of which a turn
//! replaces one element, as a table that is filled by sums over what is there so far. Where nobody looks at a part of
//! the state as it was before the update, it is replaced where it is, in memory that the host gives to the function and
//! nobody else holds. The state that a turn began with has to be there where the function leaves the turn to the host:
//! so what is replaced is kept until the turn ends, and put back there.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Type, Var};
use weft_ir::plan::{Block, Kernel, Sink, Step};

use crate::sequential::is_one_point;

/// The updates of a loop that replace elements where they are: for each array after such an update, of which part of
/// the state it is.
pub(super) fn updates(
    state: &[Var],
    condition: &Block,
    body: &Block,
    types: &[Type],
) -> BTreeMap<Var, usize> {
    let mut all = BTreeMap::new();
    for (part, (&var, &result)) in state.iter().zip(&body.results).enumerate() {
        let once = body.results.iter().filter(|other| **other == result).count() == 1;
        let is_array = !types[var.0 as usize].extents.is_empty();
        if !once || !is_array || yields(condition, var) {
            continue;
        }
        let mut chain = Chain { is_now: var, before: BTreeSet::new(), after: BTreeSet::new() };
        let follows = chain.block(body).is_some() && chain.is_now == result;
        if follows && body.results.iter().all(|other| !chain.before.contains(other)) {
            all.extend(chain.after.into_iter().map(|var| (var, part)));
        }
    }
    all
}

/// What an array of the state is called from update to update.
struct Chain {
    is_now: Var,
    /// What it was called before: nobody may look at that any more.
    before: BTreeSet<Var>,
    /// What the updates yield.
    after: BTreeSet<Var>,
}

impl Chain {
    /// Follows an array through the steps of a block; nothing if it cannot be updated where it is.
    fn block(&mut self, block: &Block) -> Option<()> {
        block.steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Option<()> {
        if let Step::If { results, condition, then, otherwise } = step {
            if self.before.contains(condition) {
                return None;
            }
            return self.conditional(results, [then, otherwise]);
        }
        let mut late = false;
        step.uses(&mut |var| late |= self.before.contains(&var));
        if late {
            return None;
        }
        match step {
            Step::Launch(kernel) => self.kernel(kernel),
            // It would have two names, or become the state of a loop inside.
            Step::Reshape { array, .. } => (*array != self.is_now).then_some(()),
            Step::While { initial, .. } => {
                let inside = step.blocks().any(|block| yields(block, self.is_now));
                (!initial.contains(&self.is_now) && !inside).then_some(())
            }
            Step::Host { .. }
            | Step::Check { .. }
            | Step::Free(_)
            | Step::Constant { .. }
            | Step::If { .. } => Some(()),
        }
    }

    fn kernel(&mut self, kernel: &Kernel) -> Option<()> {
        let mut scatters = kernel.sinks.iter().filter_map(|sink| match sink {
            Sink::Scatter { destinations, operator, arrays, .. } => {
                Some((destinations, operator, arrays))
            }
            _ => None,
        });
        let Some((destinations, operator, arrays)) = scatters.next() else { return Some(()) };
        let Some(at) = destinations.iter().position(|var| *var == self.is_now) else {
            return Some(());
        };
        let again = destinations[at + 1..].contains(&self.is_now) || scatters.next().is_some();
        // What one point has written another one could read, and values that meet combine before they meet what was there.
        let many = !is_one_point(kernel) && (operator.is_some() || self.is_read_by(kernel));
        let late = kernel
            .epilogue
            .as_ref()
            .is_some_and(|epilogue| epilogue.code.reads().any(|var| var == self.is_now));
        if again || many || late || operator.is_some() && destinations.len() > 1 {
            return None;
        }
        self.before.insert(self.is_now);
        self.is_now = arrays[at];
        self.after.insert(self.is_now);
        Some(())
    }

    fn is_read_by(&self, kernel: &Kernel) -> bool {
        kernel.body.reads().any(|var| var == self.is_now)
            || kernel
                .sinks
                .iter()
                .flat_map(Sink::codes)
                .any(|code| code.reads().any(|var| var == self.is_now))
    }

    /// Both sides leave the array where it was, under one name.
    fn conditional(&mut self, results: &[Var], sides: [&Block; 2]) -> Option<()> {
        let ends: Vec<Chain> = (sides.iter())
            .map(|side| {
                let (before, after) = (self.before.clone(), self.after.clone());
                let mut chain = Chain { is_now: self.is_now, before, after };
                chain.block(side)?;
                side.results.iter().all(|var| !chain.before.contains(var)).then_some(chain)
            })
            .collect::<Option<_>>()?;
        let yielded = |at: usize| (0..2).all(|of| sides[of].results[at] == ends[of].is_now);
        let mut named = (0..results.len())
            .filter(|&at| (0..2).any(|of| sides[of].results[at] == ends[of].is_now));
        let Some(at) = named.next() else {
            // Whoever has updated it has lost it.
            return ends.iter().all(|end| end.is_now == self.is_now).then_some(());
        };
        if named.next().is_some() || !yielded(at) {
            return None;
        }
        for end in ends {
            self.before.extend(end.before);
            self.after.extend(end.after);
        }
        // What the sides call it is known to nobody else.
        self.before.insert(self.is_now);
        self.is_now = results[at];
        Some(())
    }
}

/// Whether a block or one inside of it yields this variable as it is.
fn yields(block: &Block, var: Var) -> bool {
    block.results.contains(&var)
        || block.steps.iter().any(|step| match step {
            Step::Reshape { array, .. } => *array == var,
            Step::While { initial, .. } if initial.contains(&var) => true,
            _ => step.blocks().any(|inner| yields(inner, var)),
        })
}
