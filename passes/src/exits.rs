//! Loops that say by a flag whether they go on, as loops that ask for it.
//!
//! Note [Exits of loops]. Calls in tail position become a loop of which every turn yields the next arguments, the results,
//! and whether it goes on; so is many a loop written by hand. Each turn then carries results that only the last one has,
//! and chooses between them. Where it takes little to find out whether a turn is the last one, the condition does that,
//! a turn is what all but the last one do, and the last one follows the loop.
//!
//! ```text
//! loop (n, k, goes on) = (n, 0, true) while goes on do
//!   if n == 1 then (n, k, false) else (step n, k + 1, true)
//!
//! loop (n, k) = (n, 0) while !(n == 1) do (step n, k + 1)
//! ```
//!
//! Loops of scalars are meant: beside work on arrays a flag takes no time.
//!
//! Source: loop inversion and unswitching as in Muchnick, "Advanced Compiler Design and Implementation" (1997), section
//! 18.8.

use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Operation, Program, Statement, Type, Var};
use weft_ir::{Scalar, ScalarOp};

use crate::code::{BOOL, Code, atoms, renamed, replace};
use crate::operator_cost::operator_cost;

/// The most that finding out may cost, which is done twice in a turn.
const MOST_COST: u32 = 16;

/// What an element of an array costs.
const READ: u32 = 4;

/// The program with conditions in the place of such flags.
pub(crate) fn with_exits(mut program: Program) -> Program {
    let mut variables = program.variables;
    in_body(&mut program.body, &mut variables);
    program.variables = variables;
    program
}

fn in_body(body: &mut Body, variables: &mut u32) {
    let mut names: HashMap<Var, Atom> = HashMap::new();
    let mut statements = Vec::with_capacity(body.statements.len());
    for mut statement in std::mem::take(&mut body.statements) {
        if !names.is_empty() {
            let now = |atom: Atom| renamed(atom, &names);
            statement.operation.for_each_atom_mut(&mut |atom| *atom = now(*atom));
            statement.operation.for_each_body_mut(&mut |inner| replace(inner, &now));
        }
        statement.operation.for_each_body_mut(&mut |inner| in_body(inner, variables));
        let Some(exiting) = Exiting::of(&statement) else {
            statements.push(statement);
            continue;
        };
        let mut code = Code::new(variables, statement.span);
        let last = exiting.expand(&mut code);
        names.extend(statement.results.iter().map(|(var, _)| *var).zip(last));
        statements.append(&mut code.statements);
    }
    body.statements = statements;
    body.results.iter_mut().for_each(|atom| *atom = renamed(*atom, &names));
}

/// A loop that says by a flag whether it goes on.
struct Exiting<'s> {
    state: &'s [(Var, Type)],
    initial: &'s [Atom],
    /// Which part of the state the flag is, and what it is while the loop goes on.
    flag: usize,
    goes_on: bool,
    turn: Turn<'s>,
}

/// What a turn does.
struct Turn<'s> {
    /// At first.
    before: &'s [Statement],
    then: Then<'s>,
}

/// What it does after that.
enum Then<'s> {
    /// It yields the next state, with the flag.
    Yield(Vec<Atom>, bool),
    /// It does one of two things.
    Choose(Atom, Box<[Turn<'s>; 2]>),
}

impl<'s> Exiting<'s> {
    fn of(statement: &'s Statement) -> Option<Exiting<'s>> {
        let Operation::While { state, initial, condition, body } = &statement.operation else {
            return None;
        };
        // With a flag nothing is known of the extents that a loop leaves where there are no rows, and the interpreter says so
        // too (Note [Extents of nothing]): with a condition something would be known.
        if state.iter().any(|(_, ty)| ty.rank > 0) {
            return None;
        }
        let [asked] = condition.results[..] else { return None };
        let (asked, goes_on) = match &condition.statements[..] {
            [] => (asked, true),
            [Statement { operation: Operation::Scalar(ScalarOp::Not, of), results, .. }]
                if Atom::Var(results[0].0) == asked =>
            {
                (of[0], false)
            }
            _ => return None,
        };
        let flag = state.iter().position(|(var, _)| Atom::Var(*var) == asked)?;
        if initial[flag] != Atom::Scalar(Scalar::Bool(goes_on)) {
            return None;
        }
        let turn = Turn::of(&body.statements, body.results.clone(), flag)?;
        let exiting = Exiting { state, initial, flag, goes_on, turn };
        let (mut ends, mut others) = (0, 0);
        exiting.turn.count(goes_on, &mut others, &mut ends);
        let cheap = exiting.turn.cost(goes_on).is_some_and(|cost| cost <= MOST_COST);
        (ends > 0 && others == 1 && cheap).then_some(exiting)
    }

    /// The loop and its last turn; the last state.
    fn expand(&self, code: &mut Code<'_>) -> Vec<Atom> {
        let without_flag = |atoms: &[Atom]| {
            let mut others = atoms.to_vec();
            others.remove(self.flag);
            others
        };
        let mut types: Vec<Type> = self.state.iter().map(|(_, ty)| *ty).collect();
        types.remove(self.flag);
        let state = code.fresh(&types);
        let condition = code.inner(|code| {
            let mut names = self.names(&atoms(&state));
            vec![self.turn.goes_on(self.goes_on, code, &mut names)]
        });
        let body = code.inner(|code| {
            let mut names = self.names(&atoms(&state));
            without_flag(&self.turn.next(self.goes_on, code, &mut names))
        });
        let initial = without_flag(self.initial);
        let last = code.many(Operation::While { state, initial, condition, body }, &types);
        let all: Vec<Type> = self.state.iter().map(|(_, ty)| *ty).collect();
        self.turn.last(self.goes_on, code, &mut self.names(&last), &all)
    }

    /// What the state is called in a turn, of which the flag is known.
    fn names(&self, others: &[Atom]) -> HashMap<Var, Atom> {
        let mut now = others.to_vec();
        now.insert(self.flag, Atom::Scalar(Scalar::Bool(self.goes_on)));
        self.state.iter().map(|(var, _)| *var).zip(now).collect()
    }
}

impl<'s> Turn<'s> {
    /// What statements do that yield these values, of which one says whether the loop goes on.
    fn of(statements: &'s [Statement], mut values: Vec<Atom>, flag: usize) -> Option<Turn<'s>> {
        if let Atom::Scalar(Scalar::Bool(goes_on)) = values[flag] {
            return Some(Turn { before: statements, then: Then::Yield(values, goes_on) });
        }
        let (choice, before) = statements.split_last()?;
        let Operation::If { condition, then, otherwise } = &choice.operation else { return None };
        let place =
            |atom: &Atom| choice.results.iter().position(|(var, _)| Atom::Var(*var) == *atom);
        place(&values[flag])?;
        let side = |body: &'s Body| {
            let of = |atom: &Atom| place(atom).map_or(*atom, |at| body.results[at]);
            Turn::of(&body.statements, values.iter().map(of).collect(), flag)
        };
        let sides = Box::new([side(then)?, side(otherwise)?]);
        if let [Then::Yield(_, one), Then::Yield(_, other)] =
            sides.each_ref().map(|side| &side.then)
            && one == other
        {
            // What it chooses is another matter.
            values[flag] = Atom::Scalar(Scalar::Bool(*one));
            return Some(Turn { before: statements, then: Then::Yield(values, *one) });
        }
        Some(Turn { before, then: Then::Choose(*condition, sides) })
    }

    /// Counts in how many ways it goes on, and ends.
    fn count(&self, goes_on: bool, others: &mut usize, ends: &mut usize) {
        match &self.then {
            Then::Yield(_, flag) if *flag == goes_on => *others += 1,
            Then::Yield(..) => *ends += 1,
            Then::Choose(_, sides) => {
                sides.iter().for_each(|side| side.count(goes_on, others, ends));
            }
        }
    }

    /// Whether it may go on.
    fn may_go_on(&self, goes_on: bool) -> bool {
        let (mut others, mut ends) = (0, 0);
        self.count(goes_on, &mut others, &mut ends);
        others > 0
    }

    /// What finding out whether it goes on costs.
    fn cost(&self, goes_on: bool) -> Option<u32> {
        let Then::Choose(_, sides) = &self.then else { return Some(0) };
        let before =
            self.before.iter().map(cost).try_fold(0, |sum: u32, cost| Some(sum + cost?))?;
        let on_the_way = sides.iter().find(|side| side.may_go_on(goes_on));
        Some(before + on_the_way.map_or(Some(0), |side| side.cost(goes_on))?)
    }

    /// Whether the loop goes on.
    fn goes_on(&self, goes_on: bool, code: &mut Code<'_>, names: &mut HashMap<Var, Atom>) -> Atom {
        let truth = |truth: bool| Atom::Scalar(Scalar::Bool(truth));
        let Then::Choose(condition, sides) = &self.then else {
            return truth(self.may_go_on(goes_on));
        };
        self.before.iter().for_each(|statement| code.copy(statement, names));
        let condition = renamed(*condition, names);
        match sides.each_ref().map(|side| (side.may_go_on(goes_on), &side.then)) {
            [(true, Then::Yield(..)), _] => condition,
            [_, (true, Then::Yield(..))] => code.scalar(ScalarOp::Not, &[condition], BOOL),
            _ => {
                let [then, otherwise] = sides.each_ref().map(|side| {
                    code.inner(|code| match side.may_go_on(goes_on) {
                        true => vec![side.goes_on(goes_on, code, &mut names.clone())],
                        false => vec![truth(false)],
                    })
                });
                code.one(Operation::If { condition, then, otherwise }, BOOL)
            }
        }
    }

    /// The next state of a turn that goes on.
    fn next(
        &self,
        goes_on: bool,
        code: &mut Code<'_>,
        names: &mut HashMap<Var, Atom>,
    ) -> Vec<Atom> {
        self.before.iter().for_each(|statement| code.copy(statement, names));
        match &self.then {
            Then::Yield(values, _) => values.iter().map(|atom| renamed(*atom, names)).collect(),
            Then::Choose(_, sides) => {
                let side = sides.iter().find(|side| side.may_go_on(goes_on));
                side.expect("one of them").next(goes_on, code, names)
            }
        }
    }

    /// The state after the last turn.
    fn last(
        &self,
        goes_on: bool,
        code: &mut Code<'_>,
        names: &mut HashMap<Var, Atom>,
        types: &[Type],
    ) -> Vec<Atom> {
        self.before.iter().for_each(|statement| code.copy(statement, names));
        let (condition, sides) = match &self.then {
            Then::Yield(values, _) => {
                return values.iter().map(|atom| renamed(*atom, names)).collect();
            }
            Then::Choose(condition, sides) => (condition, sides),
        };
        let never = |side: &Turn<'_>| matches!(side.then, Then::Yield(_, flag) if flag == goes_on);
        match [never(&sides[0]), never(&sides[1])] {
            [true, _] => sides[1].last(goes_on, code, names, types),
            [_, true] => sides[0].last(goes_on, code, names, types),
            _ => {
                let condition = renamed(*condition, names);
                let [then, otherwise] = sides.each_ref().map(|side| {
                    code.inner(|code| side.last(goes_on, code, &mut names.clone(), types))
                });
                code.many(Operation::If { condition, then, otherwise }, types)
            }
        }
    }
}

/// What a statement costs; nothing if it is no matter of some scalar operations.
fn cost(statement: &Statement) -> Option<u32> {
    match &statement.operation {
        Operation::Scalar(op, _) => Some(operator_cost(*op)),
        Operation::Assert { .. } | Operation::Length(_) => Some(1),
        Operation::Index(..) if statement.results.iter().all(|(_, ty)| ty.rank == 0) => Some(READ),
        Operation::If { then, otherwise, .. } => [then, otherwise]
            .into_iter()
            .flat_map(|body| &body.statements)
            .try_fold(1, |sum, inner| Some(sum + cost(inner)?)),
        _ => None,
    }
}
