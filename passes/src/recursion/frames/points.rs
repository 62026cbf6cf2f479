//! Where a function goes on behind a call, and what it needs there.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use weft_ir::ScalarType;
use weft_ir::nested::{Atom, Body, Operation, Statement, Type, Var};

use super::super::shape::{body_calls, calls_of_operation};
use crate::code::I64;

/// What is left of a body, and what comes behind it.
#[derive(Clone)]
pub(super) struct Rest<'f> {
    pub(super) statements: &'f [Statement],
    pub(super) results: &'f [Atom],
    pub(super) then: Then<'f>,
}

/// What comes behind a body.
#[derive(Clone)]
pub(super) enum Then<'f> {
    /// The function returns its results.
    Return,
    /// They are the results of this statement, a condition, and what is behind it goes on.
    Bind(&'f Statement, Rc<Rest<'f>>),
    /// They are the next state of this loop, behind which the rest goes on.
    Again(&'f Statement, Rc<Rest<'f>>),
}

impl<'f> Rest<'f> {
    pub(super) fn of(body: &'f Body, then: Then<'f>) -> Rest<'f> {
        Rest { statements: &body.statements, results: &body.results, then }
    }

    /// What is left behind the statement of that number.
    pub(super) fn behind(&self, number: usize) -> Rest<'f> {
        Rest { statements: &self.statements[number + 1..], ..self.clone() }
    }

    /// Whether nothing is done any more but to return the results of the statement before.
    pub(super) fn only_returns(&self, before: &Statement) -> bool {
        let same = self.results.len() == before.results.len()
            && self.results.iter().zip(&before.results).all(|(a, (var, _))| *a == Atom::Var(*var));
        let returns = match &self.then {
            Then::Return => true,
            Then::Bind(statement, rest) => rest.only_returns(statement),
            Then::Again(..) => false,
        };
        self.statements.is_empty() && same && returns
    }

    /// The variables that are bound before it and used in it.
    fn needs(&self, needed: &mut Needed) {
        match &self.then {
            Then::Return => {}
            Then::Bind(statement, rest) => {
                rest.needs(needed);
                needed.bind(&statement.results);
            }
            Then::Again(statement, rest) => {
                rest.needs(needed);
                needed.bind(&statement.results);
                needed.statement_bodies(statement);
                if let Operation::For { index, count, .. } = &statement.operation {
                    needed.atom(count);
                    needed.atom(&Atom::Var(*index));
                }
            }
        }
        needed.body(self.statements, self.results);
    }
}

/// Variables that are needed, found from the last use to the first.
#[derive(Default)]
struct Needed(std::collections::BTreeSet<Var>);

impl Needed {
    fn bind(&mut self, vars: &[(Var, Type)]) {
        vars.iter().for_each(|(var, _)| {
            self.0.remove(var);
        });
    }

    fn atom(&mut self, atom: &Atom) {
        if let Atom::Var(var) = atom {
            self.0.insert(*var);
        }
    }

    fn body(&mut self, statements: &[Statement], results: &[Atom]) {
        results.iter().for_each(|atom| self.atom(atom));
        for statement in statements.iter().rev() {
            self.bind(&statement.results);
            self.statement_bodies(statement);
            statement.operation.for_each_atom(&mut |atom| self.atom(atom));
        }
    }

    /// What the bodies of a statement use of what is around them.
    fn statement_bodies(&mut self, statement: &Statement) {
        // Every variable is bound once, so none of those that a body binds is needed behind it.
        statement.operation.for_each_body(&mut |body| self.body(&body.statements, &body.results));
        statement.operation.for_each_bound(&mut |var, _| {
            self.0.remove(var);
        });
    }
}

/// What a loop changes from turn to turn: the number of the turn, where it is counted, and its state.
pub(super) fn state_of(operation: &Operation) -> Vec<(Var, Type)> {
    match operation {
        Operation::While { state, .. } => state.clone(),
        Operation::For { index, state, .. } => [&[(*index, I64)][..], state].concat(),
        _ => Vec::new(),
    }
}

/// A place where a function goes on.
pub(super) struct Point<'f> {
    /// The call behind which it is, or the loop.
    pub(super) statement: &'f Statement,
    pub(super) rest: Rc<Rest<'f>>,
    /// What it needs beside the results of the call; of a loop the state is the first.
    pub(super) saved: Vec<(Var, Type)>,
}

/// All places of a function.
#[derive(Default)]
pub(super) struct Points<'f> {
    pub(super) list: Vec<Point<'f>>,
    /// By the statement.
    numbers: HashMap<*const Statement, usize>,
    types: HashMap<Var, Type>,
}

impl<'f> Points<'f> {
    /// Those of a body whose variables from outside are these. Variables of `fixed` are never saved.
    ///
    /// # Errors
    /// Why it has calls that cannot be made one after the other.
    pub(super) fn of(
        body: &'f Body,
        params: &[(Var, Type)],
        fixed: &[Var],
    ) -> Result<Points<'f>, &'static str> {
        let mut points = Points::default();
        points.types.extend(params.iter().copied());
        points.learn(&body.statements);
        points.survey(&Rest::of(body, Then::Return), fixed)?;
        Ok(points)
    }

    pub(super) fn number_of(&self, statement: &Statement) -> usize {
        self.numbers[&std::ptr::from_ref(statement)]
    }

    /// How many values of each type are saved at most.
    pub(super) fn slots(&self) -> Vec<(ScalarType, usize)> {
        let mut most = BTreeMap::new();
        for point in &self.list {
            let mut here: BTreeMap<ScalarType, usize> = BTreeMap::new();
            for (_, ty) in &point.saved {
                *here.entry(ty.element).or_default() += 1;
            }
            for (ty, count) in here {
                let most = most.entry(ty).or_default();
                *most = count.max(*most);
            }
        }
        most.into_iter().collect()
    }

    fn learn(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.types.extend(statement.results.iter().copied());
            statement.operation.for_each_bound(&mut |var, ty| {
                self.types.insert(*var, ty);
            });
            statement.operation.for_each_body(&mut |body| self.learn(&body.statements));
        }
    }

    fn survey(&mut self, rest: &Rest<'f>, fixed: &[Var]) -> Result<(), &'static str> {
        for (number, statement) in rest.statements.iter().enumerate() {
            if !calls_of_operation(&statement.operation) {
                continue;
            }
            let behind = Rc::new(rest.behind(number));
            match &statement.operation {
                Operation::Call(..) if behind.only_returns(statement) => {}
                Operation::Call(..) => {
                    let mut needed = Needed::default();
                    behind.needs(&mut needed);
                    needed.bind(&statement.results);
                    self.point(statement, behind, &[], needed, fixed)?;
                }
                Operation::If { then, otherwise, .. } => {
                    for branch in [then, otherwise] {
                        let then = Then::Bind(statement, behind.clone());
                        self.survey(&Rest::of(branch, then), fixed)?;
                    }
                }
                operation @ (Operation::While { body, .. } | Operation::For { body, .. }) => {
                    if let Operation::While { condition, .. } = operation
                        && body_calls(condition)
                    {
                        return Err("in the condition of a loop");
                    }
                    let again = Then::Again(statement, behind.clone());
                    let mut needed = Needed::default();
                    Rest { statements: &[], results: &[], then: again.clone() }.needs(&mut needed);
                    self.point(statement, behind, &state_of(operation), needed, fixed)?;
                    self.survey(&Rest::of(body, again), fixed)?;
                }
                _ => return Err("inside of a collective operation"),
            }
        }
        Ok(())
    }

    fn point(
        &mut self,
        statement: &'f Statement,
        rest: Rc<Rest<'f>>,
        first: &[(Var, Type)],
        needed: Needed,
        fixed: &[Var],
    ) -> Result<(), &'static str> {
        let is_first = |var: &Var| first.iter().any(|(other, _)| other == var);
        let others = needed.0.into_iter().filter(|var| !fixed.contains(var) && !is_first(var));
        let others = others.map(|var| (var, self.types[&var]));
        let saved: Vec<(Var, Type)> = first.iter().copied().chain(others).collect();
        if saved.iter().any(|(_, ty)| ty.rank > 0) {
            return Err("with arrays that are needed behind the call");
        }
        self.numbers.insert(std::ptr::from_ref(statement), self.list.len());
        self.list.push(Point { statement, rest, saved });
        Ok(())
    }
}
