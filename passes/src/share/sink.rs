//! The walk backwards: dead code goes, and what one branch alone needs goes into that branch.
//!
//! Note [Sinking statements]. The uses of a variable have a lowest common ancestor in the tree of bodies. From
//! the body where the variable is bound, the way there leads through branches, lambdas and loops. The
//! statement sinks along it as long as it meets branches: there it is computed at most as often as
//! before. Statements are met after all their uses, so that the uses stand already where they stay.
//!
//! A counted loop that has left a map or a loop, and is needed there alone, if through what else has left it, is needed by
//! nothing if there is nothing to map or no turn. If it has many turns it is a fault then (`Note [Idle loops]` in `flatten/idle.rs`).

mod idle;
mod state;

use std::collections::HashSet;

use weft_ir::nested::{Atom, Body, Operation, Program, Statement, Var};

use super::Config;
use idle::Work;

/// Drops what nothing needs, and sinks what one branch needs.
pub(super) fn sink(mut program: Program, config: &Config) -> Program {
    let mut sinking = Sinking {
        config,
        bodies: Vec::new(),
        uses: vec![None; program.variables as usize],
        needs: vec![None; program.variables as usize],
        placed: HashSet::new(),
        variables: program.variables,
        asserted: idle::asserted(&program),
    };
    for function in &mut program.functions {
        function.body = sinking.top(std::mem::replace(&mut function.body, nothing()));
    }
    program.body = sinking.top(program.body);
    program.variables = sinking.variables;
    program
}

/// The number of a body.
type BodyId = usize;

struct Sinking<'c> {
    config: &'c Config,
    bodies: Vec<Node>,
    /// For each variable the innermost body that all its uses are in.
    uses: Vec<Option<BodyId>>,
    /// The innermost body that all of it is in that needs the variable, if only through statements further out.
    needs: Vec<Option<BodyId>>,
    /// The variables whose statements have their place.
    placed: HashSet<Var>,
    /// How many variables there are.
    variables: u32,
    /// Those that an assertion yields.
    asserted: HashSet<Var>,
}

/// A body in the making.
struct Node {
    /// The body around it.
    parent: Option<BodyId>,
    depth: usize,
    is_branch: bool,
    /// What says whether it runs at all, if that is known before.
    work: Option<Work>,
    /// The body that needs the statement that it is of, if that stands further out.
    needed: Option<BodyId>,
    /// The last one first, each with its bodies.
    statements: Vec<(Statement, Vec<BodyId>)>,
    results: Vec<Atom>,
}

impl Sinking<'_> {
    fn top(&mut self, body: Body) -> Body {
        self.bodies.clear();
        let id = self.enter(None, false);
        self.body(body, id);
        self.finish(id)
    }

    fn enter(&mut self, parent: Option<BodyId>, is_branch: bool) -> BodyId {
        let depth = parent.map_or(0, |parent| self.bodies[parent].depth + 1);
        let (statements, results) = (Vec::new(), Vec::new());
        let (work, needed) = (None, None);
        let node = Node { parent, depth, is_branch, work, needed, statements, results };
        self.bodies.push(node);
        self.bodies.len() - 1
    }

    fn body(&mut self, body: Body, id: BodyId) {
        body.results.iter().for_each(|atom| self.note_use(*atom, id));
        self.bodies[id].results = body.results;
        for statement in body.statements.into_iter().rev() {
            self.statement(statement, id);
        }
    }

    fn statement(&mut self, mut statement: Statement, id: BodyId) {
        let uses = statement.results.iter().filter_map(|(var, _)| self.uses[var.0 as usize]);
        let Some(ancestor) = uses.reduce(|a, b| self.common_ancestor(a, b)) else { return };
        self.drop_results(&mut statement);
        let target = if self.config.sink { self.target(id, ancestor) } else { id };
        let is_branch = matches!(statement.operation, Operation::If { .. });
        let work = Work::of(&statement.operation);
        let need = self.need(&statement).unwrap_or(target);
        statement.operation.for_each_atom(&mut |atom| self.note(*atom, target, need));
        let checks = self.count_checked(&mut statement, target, need);
        let needed = self.bodies[target].needed.or((need != target).then_some(need));
        self.placed.extend(statement.results.iter().map(|(var, _)| *var));
        let mut bodies = Vec::new();
        statement.operation.for_each_body_mut(&mut |body| {
            let inner = self.enter(Some(target), is_branch);
            self.bodies[inner].work = work;
            self.bodies[inner].needed = needed;
            self.body(std::mem::replace(body, nothing()), inner);
            bodies.push(inner);
        });
        let statements = &mut self.bodies[target].statements;
        statements.push((statement, bodies));
        statements.extend(checks.into_iter().rev().map(|check| (check, Vec::new())));
    }

    /// The innermost body that all of it is in that needs a statement.
    fn need(&self, statement: &Statement) -> Option<BodyId> {
        let needs = statement.results.iter().filter_map(|(var, _)| self.needs[var.0 as usize]);
        needs.reduce(|a, b| self.common_ancestor(a, b))
    }

    /// What says whether the map or the loop in that body has something to do that alone needs what is needed in `need`.
    /// The body `id` may be within what stands before that.
    fn work(&self, id: BodyId, need: BodyId) -> Option<Work> {
        let id = self.common_ancestor(id, need);
        let mut at = need;
        while at != id {
            let parent = self.bodies[at].parent?;
            if parent == id {
                return self.bodies[at].work;
            }
            at = parent;
        }
        None
    }

    /// Makes a counted loop that is needed in a map or loop alone one that is a fault if it has many turns and there is
    /// nothing to do for that; what stands before it then.
    fn count_checked(
        &mut self,
        statement: &mut Statement,
        id: BodyId,
        need: BodyId,
    ) -> Vec<Statement> {
        let Operation::For { count, .. } = &mut statement.operation else { return Vec::new() };
        if !self.config.hoist || !idle::may_take_long(*count, &self.asserted) {
            return Vec::new();
        }
        let is_there =
            |work: &Work| !matches!(work.atom(), Atom::Var(var) if self.placed.contains(&var));
        let Some(work) = self.work(id, need).filter(is_there) else { return Vec::new() };
        let (checks, checked) =
            idle::checked_count(*count, work, statement.span, &mut self.variables);
        *count = Atom::Var(checked);
        self.note(work.atom(), id, need);
        checks
    }

    /// Drops the results that nothing uses, where an operation can do without.
    fn drop_results(&self, statement: &mut Statement) {
        let used: Vec<bool> =
            statement.results.iter().map(|(var, _)| self.uses[var.0 as usize].is_some()).collect();
        if used.iter().all(|used| *used) {
            return;
        }
        match &mut statement.operation {
            Operation::Map(lambda, _) => {
                keep(&mut lambda.body.results, &used);
                keep(&mut statement.results, &used);
            }
            Operation::If { then, otherwise, .. } => {
                keep(&mut then.results, &used);
                keep(&mut otherwise.results, &used);
                keep(&mut statement.results, &used);
            }
            Operation::Assert { values, .. } => {
                keep(values, &used);
                keep(&mut statement.results, &used);
            }
            Operation::Pack { arrays, .. } if arrays.len() == used.len() => {
                // Flags and arrays are known to have one length.
                keep(arrays, &used);
                keep(&mut statement.results, &used);
            }
            Operation::While { state, initial, body, condition } => {
                let needed = state::needed(state, Some(&*condition), body, used);
                keep(state, &needed);
                keep(initial, &needed);
                keep(&mut body.results, &needed);
                keep(&mut statement.results, &needed);
            }
            Operation::For { state, initial, body, .. } => {
                let needed = state::needed(state, None, body, used);
                keep(state, &needed);
                keep(initial, &needed);
                keep(&mut body.results, &needed);
                keep(&mut statement.results, &needed);
            }
            _ => {}
        }
    }

    /// Where a statement of that body goes whose uses are all in `ancestor` (Note [Sinking statements]).
    fn target(&self, id: BodyId, ancestor: BodyId) -> BodyId {
        let mut target = ancestor;
        let mut at = ancestor;
        while at != id {
            let node = &self.bodies[at];
            let parent = node.parent.expect("a use is in the body of the statement");
            if !node.is_branch {
                target = parent;
            }
            at = parent;
        }
        target
    }

    fn note_use(&mut self, atom: Atom, id: BodyId) {
        self.note(atom, id, self.bodies[id].needed.unwrap_or(id));
    }

    /// Notes that what is in a body uses an atom, and which body needs that.
    fn note(&mut self, atom: Atom, id: BodyId, need: BodyId) {
        if let Atom::Var(Var(index)) = atom {
            let join = |before: Option<BodyId>, id| {
                Some(before.map_or(id, |before| self.common_ancestor(before, id)))
            };
            let index = index as usize;
            (self.uses[index], self.needs[index]) =
                (join(self.uses[index], id), join(self.needs[index], need));
        }
    }

    fn common_ancestor(&self, mut a: BodyId, mut b: BodyId) -> BodyId {
        while a != b {
            let (deeper, other) =
                if self.bodies[a].depth >= self.bodies[b].depth { (a, b) } else { (b, a) };
            a = self.bodies[deeper].parent.expect("the outermost body is around all others");
            b = other;
        }
        a
    }

    fn finish(&mut self, id: BodyId) -> Body {
        let placed = std::mem::take(&mut self.bodies[id].statements);
        let results = std::mem::take(&mut self.bodies[id].results);
        let mut statements = Vec::with_capacity(placed.len());
        for (mut statement, bodies) in placed.into_iter().rev() {
            let mut bodies = bodies.into_iter();
            statement.operation.for_each_body_mut(&mut |body| {
                *body = self.finish(bodies.next().expect("as many as there were"));
            });
            statements.push(statement);
        }
        Body { statements, results }
    }
}

/// Keeps the elements whose flag holds.
fn keep<T>(elements: &mut Vec<T>, flags: &[bool]) {
    let mut flags = flags.iter();
    elements.retain(|_| *flags.next().expect("a flag for each"));
}

fn nothing() -> Body {
    Body { statements: Vec::new(), results: Vec::new() }
}
