//! What leaves the branches of an `if`, and what stays in them though it is computed again and again.

use std::collections::{BTreeMap, HashSet};

use weft_ir::nested::{Body, Operation, Statement, Var};

use super::{COLLECTIVE_COST, Kind, LARGEST_BODY, LEAST_COST, Risk, Splitter, Turns, cost, risk};

impl Splitter {
    /// Puts scalar operators of a branch before the `if`, where what is around that computes them again and again
    /// (Note [What is sure to be needed]). A long branch keeps them: the map around it would be too long to be split.
    pub(super) fn lift(&mut self, branch: &mut Body) {
        let is_long = branch.statements.len() > LARGEST_BODY;
        if is_long || !self.can_leave_the_repeated_body(&Turns::new()) {
            return;
        }
        let inner = self.scopes.len();
        // Those that can leave, by what they yield.
        let mut free: BTreeMap<Var, usize> = BTreeMap::new();
        for (place, statement) in branch.statements.iter().enumerate() {
            let is_scalar =
                matches!(statement.operation, Operation::Scalar(..) | Operation::Random(..));
            if !is_scalar || risk(statement) != Risk::None {
                continue;
            }
            let is_free = statement.operation.free_variables().into_iter().all(|var| {
                free.contains_key(&var) || self.known.get(&var).is_none_or(|it| it.level < inner)
            });
            let turns = self.turns(&statement.operation);
            if is_free && self.can_leave_the_repeated_body(&turns) {
                free.insert(statement.results[0].0, place);
            }
        }
        let lifted = dear(&branch.statements, &free);
        for (place, statement) in std::mem::take(&mut branch.statements).into_iter().enumerate() {
            match lifted.contains(&place) {
                true => self.push_outside(statement),
                false => branch.statements.push(statement),
            }
        }
    }

    /// Appends a statement to the outermost body that it can stand in.
    fn push_outside(&mut self, statement: Statement) {
        let used = statement.operation.free_variables();
        let levels = used.iter().filter_map(|var| self.known.get(var)).map(|known| known.level);
        let target = self.target(self.level(), levels.max().unwrap_or(0));
        // What does not differ in the turns of this body leaves it when it is shared again.
        let leaves = !self.turns(&statement.operation).contains(&self.level());
        if cost(&statement) >= LEAST_COST && (target < self.level() || leaves) {
            self.moved.push(statement.span);
        }
        self.push_at(target, statement);
    }

    /// Whether the innermost body around the current one that runs again and again is within another, or is itself one,
    /// in whose turns what a statement yields is the same.
    fn can_leave_the_repeated_body(&self, turns: &Turns) -> bool {
        let kinds = self.scopes.iter().map(|scope| scope.kind).enumerate().rev();
        let mut outside = kinds.skip_while(|(_, kind)| *kind == Kind::Branch);
        outside
            .by_ref()
            .take_while(|(_, kind)| *kind == Kind::Repeated)
            .any(|(at, _)| !turns.contains(&at))
    }

    /// Notes a statement that stays in a condition.
    pub(super) fn note_if_it_stays(&mut self, statement: &Statement) {
        let is_in_branch = self.scopes.last().is_some_and(|scope| scope.kind == Kind::Branch);
        if !is_in_branch {
            return;
        }
        // Of a map it is what does not depend on what is around it, and else would leave it.
        if let Operation::Map(lambda, _) = &statement.operation {
            for inner in &lambda.body.statements {
                let turns = self.turns(&inner.operation);
                if cost(inner) >= LEAST_COST && self.can_leave_the_repeated_body(&turns) {
                    self.stays.push(inner.span);
                }
            }
            return;
        }
        if cost(statement) < COLLECTIVE_COST {
            return;
        }
        let turns = self.turns(&statement.operation);
        if self.can_leave_the_repeated_body(&turns) {
            self.stays.push(statement.span);
        }
    }
}

/// The places of those statements that are worth an array together with all that they need, and of what they need.
/// `free` has the places of all statements that can leave.
fn dear(statements: &[Statement], free: &BTreeMap<Var, usize>) -> HashSet<usize> {
    let needed = |place: usize| {
        let used = statements[place].operation.free_variables();
        used.into_iter().filter_map(|var| free.get(&var).copied())
    };
    let mut dear = HashSet::new();
    for place in free.values() {
        // Each costs something, so this ends after a few.
        let (mut open, mut seen, mut sum) = (vec![*place], HashSet::new(), 0_u32);
        while sum < LEAST_COST
            && let Some(at) = open.pop()
        {
            if seen.insert(at) {
                sum = sum.saturating_add(cost(&statements[at]));
                open.extend(needed(at));
            }
        }
        if sum >= LEAST_COST {
            dear.insert(*place);
        }
    }
    for place in (0..statements.len()).rev() {
        if dear.contains(&place) {
            dear.extend(needed(place));
        }
    }
    dear
}
