//! The walk forwards: value numbering with simplification, copies, and invariant code hoisted.
//!
//! Note [Hoisting statements]. Every variable has the level of the body that binds it, the program's body being
//! level 0. A statement goes to the outermost level at which all that it uses is bound, but never
//! out of a branch, which may be there to guard it. What may not end (a `while`, a call) stays: the
//! lambda that it is in may have no elements. Once a statement stands further out, what it computes
//! is available to everything that follows there.

use std::collections::{BTreeSet, HashMap};

use weft_ir::Scalar;
use weft_ir::nested::{Atom, Body, Operation, Program, Statement, Type, Var};

use super::Config;
use super::key::{Key, key};
use super::simplify::{Facts, simplify, without_unread_arrays};

/// Operations with more statements in their bodies are not compared with others: that keeps the time
/// in proportion to the program's size where bodies are nested deeply.
const LARGEST_COMPARED: usize = 1000;

/// Shares what a program computes more than once. What nothing needs any more is still there.
pub(super) fn number(mut program: Program, config: &Config) -> Program {
    let mut numbering = Numbering {
        config,
        scopes: Vec::new(),
        available: HashMap::new(),
        copies: vec![None; program.variables as usize],
        levels: vec![0; program.variables as usize],
        facts: Facts::new(program.variables),
    };
    for function in &mut program.functions {
        let body = take(&mut function.body);
        function.body = numbering.body(body, true).body;
    }
    program.body = numbering.body(program.body, true).body;
    program
}

struct Numbering<'c> {
    config: &'c Config,
    /// The bodies around the current statement, outermost first.
    scopes: Vec<Scope>,
    /// The results of the operations that were computed in those bodies.
    available: HashMap<Key, Vec<Atom>>,
    /// What stands for a variable, if it is not bound any more.
    copies: Vec<Option<Atom>>,
    /// Note [Hoisting statements].
    levels: Vec<usize>,
    facts: Facts,
}

/// A body in the making.
struct Scope {
    statements: Vec<Statement>,
    /// What is available as long as the body lasts.
    keys: Vec<Key>,
    uses: Uses,
    /// Whether statements may leave it.
    is_open: bool,
}

/// What is known about the code of a statement or body.
#[derive(Default)]
struct Uses {
    /// The levels of the variables that it uses.
    levels: BTreeSet<usize>,
    /// How many statements it has, those in bodies included.
    size: usize,
    /// Whether it must stay where it is.
    is_pinned: bool,
}

impl Uses {
    fn add(&mut self, inner: &Uses) {
        self.levels.extend(&inner.levels);
        self.size += inner.size;
        self.is_pinned |= inner.is_pinned;
    }
}

/// A finished body.
struct Finished {
    body: Body,
    uses: Uses,
}

impl Numbering<'_> {
    fn body(&mut self, body: Body, is_open: bool) -> Finished {
        let uses = Uses::default();
        self.scopes.push(Scope { statements: Vec::new(), keys: Vec::new(), uses, is_open });
        for statement in body.statements {
            self.statement(statement);
        }
        let mut results = body.results;
        results.iter_mut().for_each(|atom| self.replace(atom));
        let mut scope = self.scopes.pop().expect("pushed above");
        for key in scope.keys {
            self.available.remove(&key);
        }
        scope.uses.levels.extend(results.iter().filter_map(|atom| self.level(*atom)));
        scope.uses.levels.remove(&self.scopes.len());
        Finished { body: Body { statements: scope.statements, results }, uses: scope.uses }
    }

    fn statement(&mut self, statement: Statement) {
        let Statement { results, mut operation, span } = statement;
        operation.for_each_atom_mut(&mut |atom| self.replace(atom));
        if let Operation::If { condition: Atom::Scalar(Scalar::Bool(holds)), then, otherwise } =
            operation
        {
            return self.inline(if holds { then } else { otherwise }, &results);
        }
        let mut uses = self.bodies(&mut operation);
        without_unread_arrays(&mut operation, &self.facts);
        let known =
            simplify(&mut operation, &self.facts).or_else(|| identity(&operation, &self.facts));
        if let Some(atoms) = known {
            return self.copy(&results, &atoms);
        }
        let key = if uses.size > LARGEST_COMPARED { None } else { key(&operation) };
        if let Some(atoms) = key.as_ref().and_then(|key| self.available.get(key)) {
            let atoms = atoms.clone();
            return self.copy(&results, &atoms);
        }
        operation.for_each_atom(&mut |atom| uses.levels.extend(self.level(*atom)));
        uses.size += 1;
        uses.is_pinned |= matches!(operation, Operation::While { .. } | Operation::Call(..));
        let target = self.target(&uses);
        let vars: Vec<Var> = results.iter().map(|(var, _)| *var).collect();
        for var in &vars {
            self.levels[var.0 as usize] = target;
        }
        self.facts.note(&vars, &operation);
        let scope = &mut self.scopes[target];
        scope.uses.add(&uses);
        if let Some(key) = key {
            scope.keys.push(key.clone());
            self.available.insert(key, vars.into_iter().map(Atom::Var).collect());
        }
        scope.statements.push(Statement { results, operation, span });
    }

    /// Puts the branch that is taken into the place of the `if`.
    fn inline(&mut self, branch: Body, results: &[(Var, Type)]) {
        for statement in branch.statements {
            self.statement(statement);
        }
        let mut atoms = branch.results;
        atoms.iter_mut().for_each(|atom| self.replace(atom));
        self.copy(results, &atoms);
    }

    /// Numbers the bodies of an operation.
    fn bodies(&mut self, operation: &mut Operation) -> Uses {
        let level = self.scopes.len();
        let is_open = !matches!(operation, Operation::If { .. });
        operation.for_each_bound(&mut |var, _| self.levels[var.0 as usize] = level);
        let mut uses = Uses::default();
        operation.for_each_body_mut(&mut |body| {
            let finished = self.body(take(body), is_open);
            *body = finished.body;
            uses.add(&finished.uses);
        });
        uses
    }

    /// The level at which a statement is to stand.
    fn target(&self, uses: &Uses) -> usize {
        let mut target = self.scopes.len() - 1;
        if !self.config.hoist || uses.is_pinned {
            return target;
        }
        let lowest = uses.levels.last().copied().unwrap_or(0);
        while target > lowest && self.scopes[target].is_open {
            target -= 1;
        }
        target
    }

    /// The results are these atoms.
    fn copy(&mut self, results: &[(Var, Type)], atoms: &[Atom]) {
        for ((var, _), atom) in results.iter().zip(atoms) {
            self.copies[var.0 as usize] = Some(*atom);
        }
    }

    fn replace(&self, atom: &mut Atom) {
        if let Atom::Var(var) = atom
            && let Some(copy) = self.copies[var.0 as usize]
        {
            *atom = copy;
        }
    }

    fn level(&self, atom: Atom) -> Option<usize> {
        match atom {
            Atom::Var(var) => Some(self.levels[var.0 as usize]),
            Atom::Scalar(_) => None,
        }
    }
}

/// The results of a map that yields its arrays as they are.
fn identity(operation: &Operation, facts: &Facts) -> Option<Vec<Atom>> {
    let Operation::Map(lambda, arrays) = operation else { return None };
    if !facts.equally_long(arrays) {
        return None;
    }
    let array = |result: &Atom| {
        let at = lambda.params.iter().position(|(var, _)| Atom::Var(*var) == *result)?;
        Some(arrays[at])
    };
    lambda.body.results.iter().map(array).collect()
}

fn take(body: &mut Body) -> Body {
    std::mem::replace(body, Body { statements: Vec::new(), results: Vec::new() })
}
