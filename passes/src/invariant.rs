//! Computes once for each element what an inner map would compute again in every turn of what is around it.
//!
//! In `{ { x * exp y : y in ys } : x in xs }` the exponential depends on `y` alone, but stands in the inner map because
//! the product does: it would be computed for every pair. Now there is an array of the exponentials, and the inner
//! map reads it. (What does not depend on the inner map's elements either has left it before: see
//! [`crate::share`].)
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::invariant::split_invariant;
//!
//! let before = parse("\
//! params x0: []f64, x1: []f64
//! x2: [][]f64 = map x0
//!   \\x3: f64
//!     x4: []f64 = map x1
//!       \\x5: f64
//!         x6: f64 = exp x5
//!         x7: f64 = mul x3 x6
//!         yield x7
//!     yield x4
//! yield x2
//! ").unwrap();
//! let after = split_invariant(before);
//! assert_eq!(after.moved.len(), 1);
//! assert_eq!(after.program.to_string(), "\
//! params x0: []f64, x1: []f64
//! x10: []f64 = map x1
//!   \\x8: f64
//!     x9: f64 = exp x8
//!     yield x9
//! x2: [][]f64 = map x0
//!   \\x3: f64
//!     x4: []f64 = map x10
//!       \\x11: f64
//!         x7: f64 = mul x3 x11
//!         yield x7
//!     yield x4
//! yield x2
//! ");
//! ```
//!
//! Note [What is worth an array]. An element of the new array costs a load for every turn, so what costs less is
//! computed in every turn as before ([`LEAST_COST`]). The array is no larger than what is there already, or than the inner map has
//! elements: there is none for all pairs of two maps. If even so memory is short, whoever runs the program does without
//! ([`crate::pipeline::Config::split`]).
//!
//! Note [Where to read]. What steps from an index to a neighbour stays where it reads, though a remainder costs more than
//! a load: away from the borders it comes to a sum, and a back end that sees the arithmetic leaves the rest out there and
//! reads neighbours as they lie. Of an array of indices nobody sees that. Flattening keeps to it too
//! (`Note [Positions]` in `flatten/compile.rs`).
//!
//! Note [What is sure to be needed]. What may fail is moved only if every element of the inner map needs it;
//! then there is no error that was not there before, but where the outer map has no elements or nobody looks at
//! what it yields (`Note [Faults without values]` in `weft_ir`). A fold without a start value, a mean say, that maps over
//! its own elements need is needed if there are elements; where it is moved, it is something where there are none. What stands in a condition may not be needed at all. There, scalar operators that cannot
//! fail are moved, since they cost each element of the inner map little, and at most once; folds, loops and what may fail stay.

mod chunk;
mod condition;

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Statement, Var};
use weft_ir::{Scalar, ScalarOp, Span};

use crate::MOST_IDLE_TURNS;
use crate::operator_cost::operator_cost;
use crate::partial::may_fail;

/// What costs less beside a load, which costs 1, is computed in every turn.
const LEAST_COST: u32 = 8;

/// What a collective operation costs, whatever its length.
const COLLECTIVE_COST: u32 = 64;

/// Bodies with more statements stay as they are: the time is to be in proportion to the program.
const LARGEST_BODY: usize = 1000;

/// A program with inner maps split.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The program. Dead code is in it, and code that stands before the one branch that needs it: what shares it again
    /// is to follow.
    pub program: Program,
    /// What is computed once for each element now; if it is nothing, the program does not become better.
    pub moved: Vec<Span>,
    /// What stays in a condition, though what is around that computes it again and again.
    pub stays: Vec<Span>,
}

/// Splits inner maps: into what does not depend on what is around them, and the rest.
pub fn split_invariant(mut program: Program) -> Split {
    let mut splitter = Splitter {
        scopes: Vec::new(),
        known: HashMap::new(),
        counts: HashSet::new(),
        variables: program.variables,
        moved: Vec::new(),
        stays: Vec::new(),
    };
    for (var, _) in &program.params {
        splitter.known.insert(*var, Known { level: 0, turns: Turns::new(), is_stored: true });
    }
    splitter.body(&mut program.body, Kind::Top, false);
    program.variables = splitter.variables;
    let [moved, stays] = [splitter.moved, splitter.stays].map(|spans| outermost(&distinct(spans)));
    Split { program, moved, stays }
}

/// Which of the bodies around a variable that run again and again it differs in from turn to turn, by their levels.
type Turns = BTreeSet<usize>;

/// What is known of a variable.
#[derive(Clone, Debug)]
struct Known {
    /// The level of the body that binds it; that of the program is 0.
    level: usize,
    turns: Turns,
    /// Whether it is an array that is in memory, as far as can be seen, or a part of one.
    is_stored: bool,
}

/// What a body is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A program.
    Top,
    /// A map or a loop.
    Repeated,
    /// An `if`.
    Branch,
}

/// A body in the making.
struct Scope {
    kind: Kind,
    /// Whether all turns are there at once.
    is_map: bool,
    statements: Vec<Statement>,
}

struct Splitter {
    /// The bodies around the current statement, outermost first.
    scopes: Vec<Scope>,
    known: HashMap<Var, Known>,
    /// The arrays that are 0, 1, …
    counts: HashSet<Var>,
    variables: u32,
    moved: Vec<Span>,
    stays: Vec<Span>,
}

impl Splitter {
    fn body(&mut self, body: &mut Body, kind: Kind, is_map: bool) {
        self.scopes.push(Scope { kind, is_map, statements: Vec::new() });
        for statement in std::mem::take(&mut body.statements) {
            self.statement(statement);
        }
        body.statements = self.scopes.pop().expect("pushed above").statements;
    }

    /// The level of the current body.
    fn level(&self) -> usize {
        self.scopes.len() - 1
    }

    fn statement(&mut self, mut statement: Statement) {
        let inner = self.scopes.len();
        if let Operation::Map(lambda, arrays) = &statement.operation {
            self.know_params(lambda, arrays);
        } else {
            statement.operation.for_each_bound(&mut |var, _| {
                let known = Known { level: inner, turns: Turns::from([inner]), is_stored: false };
                self.known.insert(*var, known);
            });
        }
        let is_map = matches!(statement.operation, Operation::Map(..));
        match &mut statement.operation {
            Operation::Map(Lambda { body, .. }, _) | Operation::For { body, .. } => {
                self.body(body, Kind::Repeated, is_map);
            }
            Operation::While { condition, body, .. } => {
                self.body(condition, Kind::Repeated, false);
                self.body(body, Kind::Repeated, false);
            }
            Operation::If { then, otherwise, .. } => {
                self.body(then, Kind::Branch, false);
                self.body(otherwise, Kind::Branch, false);
                self.lift(then);
                self.lift(otherwise);
            }
            // Operators of folds are recognised by their form.
            _ => {}
        }
        self.split(&mut statement);
        self.note_if_it_stays(&statement);
        self.push_at(self.level(), statement);
    }

    /// Appends a statement to a body around what is in the current one, or to that.
    fn push_at(&mut self, level: usize, statement: Statement) {
        let turns = self.turns(&statement.operation);
        let is_made = matches!(statement.operation, Operation::Iota(_) | Operation::Replicate(..));
        if matches!(statement.operation, Operation::Iota(_)) {
            self.counts.insert(statement.results[0].0);
        }
        for (var, _) in &statement.results {
            let is_stored = level == 0 && !is_made;
            self.known.insert(*var, Known { level, turns: turns.clone(), is_stored });
        }
        self.scopes[level].statements.push(statement);
    }

    /// Notes what is known of the parameters of a map of the current body.
    fn know_params(&mut self, lambda: &Lambda, arrays: &[Atom]) {
        let level = self.scopes.len();
        for ((var, _), array) in lambda.params.iter().zip(arrays) {
            let mut turns = self.turns_of(*array);
            turns.insert(level);
            let is_stored = match array {
                Atom::Var(array) => self.known.get(array).is_some_and(|known| known.is_stored),
                Atom::Scalar(_) => false,
            };
            self.known.insert(*var, Known { level, turns, is_stored });
        }
    }

    fn turns_of(&self, atom: Atom) -> Turns {
        match atom {
            Atom::Var(var) => {
                self.known.get(&var).map_or_else(Turns::new, |known| known.turns.clone())
            }
            Atom::Scalar(_) => Turns::new(),
        }
    }

    /// The turns in which what an operation yields may differ.
    fn turns(&self, operation: &Operation) -> Turns {
        let inner = self.scopes.len();
        let mut turns = Turns::new();
        for var in operation.free_variables() {
            turns.extend(self.turns_of(Atom::Var(var)).iter().filter(|level| **level < inner));
        }
        turns
    }

    /// The outermost level that a statement of a level may go to, if all that it uses is bound at level `lowest`
    /// or before.
    fn target(&self, from: usize, lowest: usize) -> usize {
        let mut target = from;
        while target > lowest && self.scopes[target].kind == Kind::Repeated {
            target -= 1;
        }
        target
    }

    /// Whether something around a statement of the current body, which it can leave, runs again and again while
    /// what the statement yields is the same.
    fn is_repeated(&self, turns: &Turns) -> bool {
        let kinds = self.scopes.iter().map(|scope| scope.kind).enumerate().rev();
        kinds.take_while(|(_, kind)| *kind == Kind::Repeated).any(|(at, _)| !turns.contains(&at))
    }
}

/// What a statement is to whoever wants to move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Risk {
    /// It yields something, soon.
    None,
    /// It may be an error.
    MayFail,
    /// It may not end, or take long.
    MayNotEnd,
}

fn risk_of_body(body: &Body) -> Risk {
    body.statements.iter().map(risk).max().unwrap_or(Risk::None)
}

fn risk(statement: &Statement) -> Risk {
    let own = match &statement.operation {
        Operation::Scalar(op, operands) => {
            match may_fail(*op, operands, statement.results[0].1.element) {
                true => Risk::MayFail,
                false => Risk::None,
            }
        }
        Operation::Random(..)
        | Operation::If { .. }
        | Operation::Length(_)
        | Operation::Literal(_)
        | Operation::Constant(_)
        | Operation::Iota(_)
        | Operation::Replicate(..)
        | Operation::Pack { .. }
        | Operation::SortOrder { .. }
        | Operation::Concat(..) => Risk::None,
        Operation::Map(_, arrays) if is_one(arrays) => Risk::None,
        Operation::Fold { start, arrays, .. } if is_one(arrays) => match start.values() {
            Some(_) => Risk::None,
            None => Risk::MayFail,
        },
        Operation::Scan { arrays, .. } if is_one(arrays) => Risk::None,
        Operation::For { count: Atom::Scalar(Scalar::I64(count)), .. }
            if *count <= MOST_IDLE_TURNS =>
        {
            Risk::None
        }
        Operation::For { .. } | Operation::While { .. } | Operation::Call(..) => Risk::MayNotEnd,
        Operation::Assert { .. }
        | Operation::Index(..)
        | Operation::Update { .. }
        | Operation::Map(..)
        | Operation::Fold { .. }
        | Operation::Scan { .. }
        | Operation::Scatter { .. }
        | Operation::Transpose(_)
        | Operation::Reshape { .. }
        | Operation::Extent(..)
        | Operation::Flatten(_)
        | Operation::Segments(..) => Risk::MayFail,
    };
    let mut most = own;
    statement.operation.for_each_body(&mut |body| most = most.max(risk_of_body(body)));
    most
}

/// Whether arrays cannot differ in length: they are one.
fn is_one(arrays: &[Atom]) -> bool {
    arrays.iter().all(|array| *array == arrays[0])
}

fn cost_of_body(body: &Body) -> u32 {
    body.statements.iter().map(cost).fold(0, u32::saturating_add)
}

/// What a statement costs beside a load, by and large.
fn cost(statement: &Statement) -> u32 {
    match &statement.operation {
        // By a constant it is a multiplication.
        Operation::Scalar(
            ScalarOp::FloorDiv | ScalarOp::Mod | ScalarOp::Quot | ScalarOp::Rem,
            operands,
        ) if matches!(operands[1], Atom::Scalar(_)) => 2,
        Operation::Scalar(op, _) => operator_cost(*op),
        Operation::Random(..) => 20,
        Operation::Index(..) => 2,
        Operation::Assert { .. } => 1,
        Operation::If { then, otherwise, .. } => {
            cost_of_body(then).max(cost_of_body(otherwise)).saturating_add(1)
        }
        Operation::Length(_)
        | Operation::Extent(..)
        | Operation::Literal(_)
        | Operation::Constant(_)
        | Operation::Iota(_)
        | Operation::Replicate(..)
        | Operation::Transpose(_)
        | Operation::Reshape { .. }
        | Operation::Flatten(_) => 0,
        Operation::For { body, count: Atom::Scalar(Scalar::I64(count)), .. } => {
            cost_of_body(body).saturating_mul(u32::try_from((*count).max(0)).unwrap_or(u32::MAX))
        }
        Operation::For { body, .. } | Operation::While { body, .. } => {
            cost_of_body(body).saturating_add(COLLECTIVE_COST)
        }
        // Alone it costs what it does to the elements of a row that is stored.
        Operation::Map(lambda, _) => cost_of_body(&lambda.body),
        Operation::Update { .. }
        | Operation::Call(..)
        | Operation::Fold { .. }
        | Operation::Scan { .. }
        | Operation::Pack { .. }
        | Operation::Scatter { .. }
        | Operation::SortOrder { .. }
        | Operation::Segments(..)
        | Operation::Concat(..) => COLLECTIVE_COST,
    }
}

/// Each once, in order.
fn distinct(spans: Vec<Span>) -> Vec<Span> {
    let mut known = BTreeSet::new();
    spans.into_iter().filter(|span| known.insert(*span)).collect()
}

/// Those that are in no other, in their order. Each is there once.
fn outermost(spans: &[Span]) -> Vec<Span> {
    let mut nested = spans.to_vec();
    // What holds another comes before it.
    nested.sort_by_key(|span| (span.source, span.start, Reverse(span.end)));
    let mut kept: Vec<Span> = Vec::new();
    for span in nested {
        // If any before it holds it, the last that no other holds does: it ends last.
        if !kept.last().is_some_and(|last| last.contains(span)) {
            kept.push(span);
        }
    }
    let kept: BTreeSet<Span> = kept.into_iter().collect();
    spans.iter().copied().filter(|span| kept.contains(span)).collect()
}

#[cfg(test)]
mod tests;
