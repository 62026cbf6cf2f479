//! Which arrays of a small loop are updated where they are.
//!
//! Note [Updates of small loops]. A function that computes each array to fresh memory copies an array of which a turn
//! replaces one element, as a table that is filled by sums over what is there so far. Where nobody looks at a part of
//! the state as it was before the update, it is replaced where it is, in memory that the host gives to the function and
//! nobody else holds. The state that a turn began with has to be there where the function leaves the turn to the host:
//! so what is replaced is kept until the turn ends, and put back there. A loop inside may change such an array too, in
//! turns that take no memory with them: then all that is replaced is written to one log, at the end of the scratch memory.
//! Where one side of a conditional yields another array in the place of such a one, it is copied to where that is.
//!
//! Note [Arrays that move]. So it is with an array that a turn puts something behind (Note [Arrays that grow] in
//! `appending`), and with one of which it leaves a part, as stacks and queues do: the part begins further on in the same
//! memory, or ends earlier, and what is put behind it replaces what is there. The host gives such an array twice the
//! memory that it takes. Where that is full the function ends, and is called again with twice as much. A turn that needs
//! more than there is at its beginning is the host's.
//!
//! Note [Updates of a loop's own]. A loop inside, and the loop of a function that takes a point from the state at hand to its end
//! (`rows`), copies what it updates where it is once, before the first turn, to memory of its own. There is nothing to put back
//! where the function leaves the turn, or the loop, to the host, which has the state as it was. Arrays that move are computed in
//! every turn.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Type, Var};
use weft_ir::plan::{Block, Kernel, Sink, Step};

use crate::appending::{appended, part_of_array};
use crate::sequential::is_one_point;

/// What a loop does to arrays of its state where they are.
#[derive(Debug, Default)]
pub(in crate::sequential) struct Updates {
    /// For each array after a change, and each part of one, of which part of the state it is.
    pub(in crate::sequential) parts: BTreeMap<Var, usize>,
    /// The parts of the state that grow, or of which a part is left.
    pub(in crate::sequential) moving: BTreeSet<usize>,
    /// Whether loops inside change some of them.
    pub(in crate::sequential) inside: bool,
    /// The results of conditionals of which one side yields such an array where it is, and the other one another array.
    pub(in crate::sequential) replaced: BTreeMap<Var, Replaced>,
}

/// What a side of a conditional yields in the place of an array of the state, where it is put.
#[derive(Clone, Copy, Debug)]
pub(in crate::sequential) struct Replaced {
    /// The number of the side.
    pub(in crate::sequential) side: usize,
    pub(in crate::sequential) part: usize,
    /// What the array is called before the conditional.
    pub(in crate::sequential) before: Var,
}

/// The arrays of the state that a loop changes where they are.
pub(super) fn updates(state: &[Var], condition: &Block, body: &Block, types: &[Type]) -> Updates {
    let mut refused = BTreeSet::new();
    loop {
        let mut all = Updates::default();
        for (part, (&var, &result)) in state.iter().zip(&body.results).enumerate() {
            let is_array = !types[var.0 as usize].extents.is_empty();
            if !is_array || refused.contains(&part) || yields(condition, &BTreeSet::from([var])) {
                continue;
            }
            let mut chain = Chain::new(var, types);
            let follows = chain.block(body).is_some() && chain.names.contains(&result);
            let others = body
                .results
                .iter()
                .filter(|other| chain.names.contains(other) || chain.before.contains(other));
            if follows && others.count() == 1 {
                all.parts.extend(chain.after.into_iter().map(|var| (var, part)));
                let replaced = chain.replaced.into_iter();
                all.replaced.extend(
                    replaced.map(|(var, side, before)| (var, Replaced { side, part, before })),
                );
                all.inside |= chain.inside;
                if chain.moves {
                    all.moving.insert(part);
                }
            }
        }
        let before = refused.len();
        refuse_in_part(body, types, &all.parts, &mut refused);
        if refused.len() == before {
            return all;
        }
    }
}

/// The arrays of its state that a loop changes in memory of its own (Note [Updates of a loop's own]).
pub(super) fn updates_of_own(
    state: &[Var],
    condition: &Block,
    body: &Block,
    types: &[Type],
) -> Updates {
    let mut all = updates(state, condition, body, types);
    let moving = std::mem::take(&mut all.moving);
    all.parts.retain(|_, part| !moving.contains(part));
    all.replaced.retain(|_, replaced| !moving.contains(&replaced.part));
    all
}

/// Refuses what is appended to by a kernel that appends to something else too, which is not where it was.
fn refuse_in_part(
    block: &Block,
    types: &[Type],
    parts: &BTreeMap<Var, usize>,
    refused: &mut BTreeSet<usize>,
) {
    for step in &block.steps {
        if let Step::Launch(kernel) = step
            && appended(kernel, types).is_some()
        {
            let results: Vec<Var> = kernel.results().collect();
            if results.iter().any(|result| !parts.contains_key(result)) {
                refused.extend(results.iter().filter_map(|result| parts.get(result)));
            }
        }
        step.blocks().for_each(|inner| refuse_in_part(inner, types, parts, refused));
    }
}

/// What an array of the state is called from change to change.
struct Chain<'a> {
    types: &'a [Type],
    /// The array as it is now, and parts of it.
    names: BTreeSet<Var>,
    /// What was there before: nobody may look at that any more.
    before: BTreeSet<Var>,
    /// What is where the array was.
    after: BTreeSet<Var>,
    /// Whether it grows, or a part of it is left.
    moves: bool,
    /// Whether a loop inside changes it.
    inside: bool,
    /// The results of conditionals of which a side yields another array, with its number and a name of this one before.
    replaced: Vec<(Var, usize, Var)>,
}

impl<'a> Chain<'a> {
    fn new(var: Var, types: &'a [Type]) -> Chain<'a> {
        let (before, after, moves, inside, replaced) = Default::default();
        Chain { types, names: BTreeSet::from([var]), before, after, moves, inside, replaced }
    }

    /// Follows an array through the steps of a block; nothing if it cannot be changed where it is.
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
            // It would have two names.
            Step::Reshape { array, .. } => (!self.names.contains(array)).then_some(()),
            Step::While { initial, .. } => {
                if initial.iter().any(|var| self.names.contains(var)) {
                    return self.repeated(step);
                }
                let inside = step.blocks().any(|block| yields(block, &self.names));
                (!inside).then_some(())
            }
            Step::Host { .. }
            | Step::Check { .. }
            | Step::Free(_)
            | Step::Constant { .. }
            | Step::If { .. } => Some(()),
        }
    }

    /// What has changed where it is, is this now.
    fn becomes(&mut self, result: Var) {
        self.before.append(&mut self.names);
        self.names.insert(result);
        self.after.insert(result);
    }

    /// A loop inside that begins with the array, and leaves it where it was.
    fn repeated(&mut self, step: &Step) -> Option<()> {
        let Step::While { results, state, initial, condition, body, .. } = step else {
            return None;
        };
        let mut begins = (0..initial.len()).filter(|&at| self.names.contains(&initial[at]));
        let (at, None) = (begins.next()?, begins.next()) else { return None };
        // In there nobody knows it by another name than that of the state.
        let mut known = false;
        for block in [condition, body] {
            block.uses(&mut |var| known |= self.names.contains(&var) || self.before.contains(&var));
        }
        let mut chain = Chain::new(state[at], self.types);
        chain.block(condition)?;
        if known || !chain.after.is_empty() || yields(condition, &chain.names) {
            return None;
        }
        chain.block(body)?;
        let named = |var: &&Var| chain.names.contains(var) || chain.before.contains(var);
        let is_one = body.results.iter().filter(named).count() == 1;
        if !is_one || !chain.names.contains(&body.results[at]) {
            return None;
        }
        self.inside |= !chain.after.is_empty();
        self.moves |= chain.moves;
        self.after.extend(chain.after);
        self.replaced.extend(chain.replaced);
        self.becomes(results[at]);
        Some(())
    }

    fn kernel(&mut self, kernel: &Kernel) -> Option<()> {
        if let Some(appended) = appended(kernel, self.types) {
            let mut grown = (appended.parts.iter().zip(&kernel.sinks))
                .filter(|(part, _)| self.names.contains(&part.array));
            return match (grown.next(), grown.next()) {
                (None, _) => Some(()),
                (Some((_, Sink::Store { array, .. })), None) => {
                    self.becomes(*array);
                    self.moves = true;
                    Some(())
                }
                (Some(_), _) => None,
            };
        }
        for sink in &kernel.sinks {
            if let Sink::Store { array, .. } = sink
                && let Some(part) = part_of_array(kernel, sink, self.types)
                && self.names.contains(&part.array)
            {
                self.names.insert(*array);
                self.after.insert(*array);
                self.moves = true;
            }
        }
        let mut scatters = kernel.sinks.iter().filter_map(|sink| match sink {
            Sink::Scatter { destinations, operator, arrays, .. } => {
                Some((destinations, operator, arrays))
            }
            _ => None,
        });
        let Some((destinations, operator, arrays)) = scatters.next() else { return Some(()) };
        let mut at = destinations.iter().enumerate().filter(|(_, var)| self.names.contains(var));
        let Some((at, _)) = at.next().filter(|_| at.next().is_none()) else {
            return destinations.iter().all(|var| !self.names.contains(var)).then_some(());
        };
        // What one point has written another one could read, and values that meet combine before they meet what was there.
        let many = !is_one_point(kernel) && (operator.is_some() || self.is_read_by(kernel));
        let late = kernel
            .epilogue
            .as_ref()
            .is_some_and(|epilogue| epilogue.code.reads().any(|var| self.names.contains(&var)));
        if scatters.next().is_some() || many || late || operator.is_some() && destinations.len() > 1
        {
            return None;
        }
        self.becomes(arrays[at]);
        Some(())
    }

    fn is_read_by(&self, kernel: &Kernel) -> bool {
        let reads = |var: Var| self.names.contains(&var);
        kernel.body.reads().any(reads)
            || kernel.sinks.iter().flat_map(Sink::codes).any(|code| code.reads().any(reads))
    }

    /// Both sides leave the array where it was, under one name; or one side does, and the other one yields another array,
    /// which is put there.
    fn conditional(&mut self, results: &[Var], sides: [&Block; 2]) -> Option<()> {
        let ends: Vec<Chain<'_>> = (sides.iter())
            .map(|side| {
                let [names, before, after] =
                    [&self.names, &self.before, &self.after].map(BTreeSet::clone);
                let replaced = Vec::new();
                let mut chain =
                    Chain { types: self.types, names, before, after, replaced, ..*self };
                chain.block(side)?;
                side.results.iter().all(|var| !chain.before.contains(var)).then_some(chain)
            })
            .collect::<Option<_>>()?;
        let yielded = |at: usize, of: usize| ends[of].names.contains(&sides[of].results[at]);
        let mut named = (0..results.len()).filter(|&at| yielded(at, 0) || yielded(at, 1));
        let Some(at) = named.next() else {
            // Whoever has changed it has lost it.
            return ends.iter().all(|end| end.before == self.before).then_some(());
        };
        if named.next().is_some() {
            return None;
        }
        let is_replaced = !(yielded(at, 0) && yielded(at, 1));
        let is_changed = ends.iter().any(|end| end.before != self.before);
        if is_replaced {
            let known = *self.names.last()?;
            self.replaced.push((results[at], usize::from(yielded(at, 0)), known));
            self.moves = true;
        }
        for end in ends {
            self.before.extend(end.before);
            self.after.extend(end.after);
            self.replaced.extend(end.replaced);
            self.moves |= end.moves;
            self.inside |= end.inside;
        }
        if is_replaced || is_changed {
            // What the sides call it is known to nobody else.
            self.becomes(results[at]);
        } else {
            self.names.insert(results[at]);
            self.after.insert(results[at]);
        }
        Some(())
    }
}

/// Whether a block or one inside of it yields one of these variables as it is.
fn yields(block: &Block, vars: &BTreeSet<Var>) -> bool {
    block.results.iter().any(|var| vars.contains(var))
        || block.steps.iter().any(|step| match step {
            Step::Reshape { array, .. } => vars.contains(array),
            Step::While { initial, .. } if initial.iter().any(|var| vars.contains(var)) => true,
            _ => step.blocks().any(|inner| yields(inner, vars)),
        })
}
