//! Loops that no point needs.
//!
//! Note [Idle loops]. What does not depend on the inner dimensions of a space is computed once for all of their points, and
//! it is so if there are none: it may be an extent of the rows that there are none of. A loop can take long for that, or
//! never end, where the program would not have begun it, as in `{ x + (loop k = 1 while true do k + 1) : x in none }`.
//! So a loop that is outside of dimensions counts its turns, and once they are many it has to have a point, else it meets
//! a fault. Then the program runs again with conditions (`Note [Guarded maps]` in [`mod@crate::guard`]), or on the
//! interpreter, which looks for extents no further than so far. Loops that left their map before, with the number of their
//! turns, are asked there ([`mod@crate::share`]).

use std::collections::HashSet;

use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType};

use super::Flattener;
use super::scalar::{Control, ControlId, Definition, ScalarId};
use crate::MOST_IDLE_TURNS;

impl Flattener<'_> {
    /// Whether the dimensions of the current space from `depth` on have a point, as a scalar of those before; nothing if
    /// it is known that they have.
    pub(super) fn doubtful_point(&mut self, depth: usize) -> Option<ScalarId> {
        if depth >= self.depth() {
            return None;
        }
        let some = self.some_point(depth, self.depth());
        (self.scalars.known_scalar(some) != Some(Scalar::Bool(true))).then_some(some)
    }

    /// Whether a loop may take a turn after that many.
    pub(super) fn may_turn(&mut self, some_point: ScalarId, turns: ScalarId) -> ScalarId {
        let most = self.scalars.integer(MOST_IDLE_TURNS);
        let few = self.op(ScalarOp::Lt, &[turns, most]);
        if self.scalars.known_scalar(few) == Some(Scalar::Bool(true)) {
            return few;
        }
        self.op(ScalarOp::Or, &[some_point, few])
    }

    /// Notes that the loop with these results can take long, or never end.
    pub(super) fn note_long(&mut self, results: &[ScalarId]) {
        for result in results {
            if let Definition::Result(control, _) = self.scalars.node(*result).definition {
                self.long_loops.insert(control);
            }
        }
    }

    /// Makes the loops count their turns that these scalars come of, if they are outside of dimensions (Note [Idle loops]).
    /// The scalars are at home in no region: what a loop in another one depends on is known of the outer one alone.
    pub(super) fn count_idle_turns(&mut self, results: &[ScalarId]) {
        if self.region.is_some() || self.long_loops.is_empty() {
            return;
        }
        let depth = self.scalars.depth_of(results);
        let loops = match depth < self.depth() {
            true => self.loops_of(results),
            false => return,
        };
        if loops.is_empty() {
            return;
        }
        let Some(some) = self.doubtful_point(depth) else { return };
        for (id, result) in loops {
            self.count_turns(id, some);
            self.scalars.node_mut(result).may_fail = true;
        }
        for result in results {
            self.scalars.node_mut(*result).may_fail = true;
        }
    }

    /// The loops that can take long that scalars come of, each with a result, as far as they are in regions.
    fn loops_of(&self, results: &[ScalarId]) -> Vec<(ControlId, ScalarId)> {
        let mut found = Vec::new();
        let mut seen: HashSet<ScalarId> = HashSet::new();
        let mut controls: HashSet<ControlId> = HashSet::new();
        let mut open: Vec<ScalarId> = results.to_vec();
        while let Some(id) = open.pop() {
            let node = self.scalars.node(id);
            let is_root = results.contains(&id);
            if !seen.insert(id) || !is_root && node.home.is_none() {
                continue;
            }
            if let Definition::Result(control, _) = node.definition
                && self.long_loops.contains(&control)
                && controls.insert(control)
            {
                found.push((control, id));
            }
            self.scalars.operands(&node.definition, &mut open);
        }
        found
    }

    /// Makes a loop of scalars count its turns, and meet a fault if they are many and there is no point.
    fn count_turns(&mut self, id: ControlId, some_point: ScalarId) {
        let Control::While { condition: (region, condition), .. } =
            self.scalars.controls[id.0 as usize]
        else {
            return;
        };
        // Once will do.
        self.long_loops.remove(&id);
        let (zero, one) = (self.scalars.integer(0), self.scalars.integer(1));
        let turns = self.scalars.param(ScalarType::I64, region);
        let outer = self.region.replace(region);
        let may_turn = self.may_turn(some_point, turns);
        let next = self.op(ScalarOp::Add, &[turns, one]);
        let kind = FaultKind::AssertionFailed;
        let checked = self.scalars.checked(condition, may_turn, kind, Some(region), self.span);
        self.region = outer;
        if let Control::While { state, initial, condition, body } =
            &mut self.scalars.controls[id.0 as usize]
        {
            state.push(turns);
            initial.push(zero);
            condition.1 = checked;
            body.1.push(next);
        }
    }
}
