//! What leaves the branches of an `if`, and what stays in them though it is computed again and again.

use std::collections::HashSet;

use weft_ir::nested::{Body, Operation, Statement};

use super::{COLLECTIVE_COST, Kind, LEAST_COST, Risk, Splitter, Turns, cost, free_variables, risk};

impl Splitter {
    /// Puts scalar operators of a branch before the `if`, where what is around that computes them again and again
    /// (Note [What is sure to be needed]).
    pub(super) fn lift(&mut self, branch: &mut Body) {
        if !self.can_leave_the_repeated_body(&Turns::new()) {
            return;
        }
        let inner = self.scopes.len();
        let mut cones: Vec<(usize, HashSet<usize>, u32)> = Vec::new();
        for (place, statement) in branch.statements.iter().enumerate() {
            let is_scalar =
                matches!(statement.operation, Operation::Scalar(..) | Operation::Random(..));
            if !is_scalar || risk(statement) != Risk::None {
                continue;
            }
            let mut cone = HashSet::from([place]);
            let is_free = free_variables(&statement.operation).into_iter().all(|var| {
                let of = |at: &usize| branch.statements[*at].results[0].0 == var;
                match cones.iter().find(|(at, ..)| of(at)) {
                    Some((_, other, _)) => {
                        cone.extend(other);
                        true
                    }
                    None => self.known.get(&var).is_none_or(|known| known.level < inner),
                }
            });
            let turns = self.turns(&statement.operation);
            if is_free && self.can_leave_the_repeated_body(&turns) {
                let costs = cone.iter().map(|at| cost(&branch.statements[*at]));
                let sum = costs.fold(0, u32::saturating_add);
                cones.push((place, cone, sum));
            }
        }
        let dear = cones.iter().filter(|(.., cost)| *cost >= LEAST_COST);
        let lifted: HashSet<usize> = dear.flat_map(|(_, cone, _)| cone.iter().copied()).collect();
        for (place, statement) in std::mem::take(&mut branch.statements).into_iter().enumerate() {
            match lifted.contains(&place) {
                true => self.push_outside(statement),
                false => branch.statements.push(statement),
            }
        }
    }

    /// Appends a statement to the outermost body that it can stand in.
    fn push_outside(&mut self, statement: Statement) {
        let used = free_variables(&statement.operation);
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
