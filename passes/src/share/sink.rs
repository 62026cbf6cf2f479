//! The walk backwards: dead code goes, and what one branch alone needs goes into that branch.
//!
//! Note [Sinking statements]. The uses of a variable have a lowest common ancestor in the tree of bodies. From
//! the body where the variable is bound, the way there leads through branches, lambdas and loops. The
//! statement sinks along it as long as it meets branches: there it is computed at most as often as
//! before. Statements are met after all their uses, so that the uses stand already where they stay.

mod state;

use weft_ir::nested::{Atom, Body, Operation, Program, Statement, Var};

use super::Config;

/// Drops what nothing needs, and sinks what one branch needs.
pub(super) fn sink(mut program: Program, config: &Config) -> Program {
    let mut sinking =
        Sinking { config, bodies: Vec::new(), uses: vec![None; program.variables as usize] };
    for function in &mut program.functions {
        function.body = sinking.top(std::mem::replace(&mut function.body, nothing()));
    }
    program.body = sinking.top(program.body);
    program
}

/// The number of a body.
type BodyId = usize;

struct Sinking<'c> {
    config: &'c Config,
    bodies: Vec<Node>,
    /// For each variable the innermost body that all its uses are in.
    uses: Vec<Option<BodyId>>,
}

/// A body in the making.
struct Node {
    /// The body around it.
    parent: Option<BodyId>,
    depth: usize,
    is_branch: bool,
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
        let node = Node { parent, depth, is_branch, statements: Vec::new(), results: Vec::new() };
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
        statement.operation.for_each_atom(&mut |atom| self.note_use(*atom, target));
        let is_branch = matches!(statement.operation, Operation::If { .. });
        let mut bodies = Vec::new();
        statement.operation.for_each_body_mut(&mut |body| {
            let inner = self.enter(Some(target), is_branch);
            self.body(std::mem::replace(body, nothing()), inner);
            bodies.push(inner);
        });
        self.bodies[target].statements.push((statement, bodies));
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
        if let Atom::Var(Var(index)) = atom {
            let before = self.uses[index as usize];
            let after = before.map_or(id, |before| self.common_ancestor(before, id));
            self.uses[index as usize] = Some(after);
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
