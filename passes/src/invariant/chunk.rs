//! What leaves an inner map, and the maps that compute it.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Start, Statement, Type, Var};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use super::{LARGEST_BODY, LEAST_COST, Risk, Splitter, cost, is_one, risk, risk_of_body};
use crate::code::{Code, renamed, replace};

/// A statement of an inner map that does not depend on all that is around it.
struct Candidate {
    /// The innermost level of what it uses, with the arrays in place of the map's parameters.
    lowest: usize,
    /// The body that it can go to.
    target: usize,
    /// Those of the map's parameters that it uses, if through other candidates.
    params: BTreeSet<usize>,
    /// The candidates that it needs, itself included, by their places in the body.
    cone: BTreeSet<usize>,
    /// Whether its result may be stored.
    may_be_stored: bool,
}

/// The candidates of a map by their places in its body.
struct Candidates {
    by_place: BTreeMap<usize, Candidate>,
    places: HashMap<Var, usize>,
    /// Those that say where to read, by their places (Note [Where to read]).
    positions: BTreeSet<usize>,
    /// Folds that are needed only where they have elements, by their places.
    of_some: BTreeSet<usize>,
}

impl Splitter {
    /// Splits a map of the current body, if something in it is worth an array: first what goes furthest out, so that
    /// the rest of it can be made of that.
    pub(super) fn split(&mut self, statement: &mut Statement) {
        let Operation::Map(lambda, arrays) = &mut statement.operation else { return };
        if lambda.body.statements.len() > LARGEST_BODY || self.level() == 0 {
            return;
        }
        let mut candidates = self.candidates(lambda, arrays);
        for target in 0..=self.level() {
            if self.split_to(target, &candidates, lambda, arrays) {
                candidates = self.candidates(lambda, arrays);
            }
        }
    }

    /// Moves what goes to one body, if anything does.
    fn split_to(
        &mut self,
        target: usize,
        candidates: &Candidates,
        lambda: &mut Lambda,
        arrays: &mut Vec<Atom>,
    ) -> bool {
        let stored = stored(target, &lambda.body, candidates);
        if stored.is_empty() {
            return false;
        }
        // Those that read the same arrays are one map.
        let mut groups: BTreeMap<&BTreeSet<usize>, Vec<usize>> = BTreeMap::new();
        for place in &stored {
            groups.entry(&candidates.by_place[place].params).or_default().push(*place);
        }
        let mut names: HashMap<Var, Atom> = HashMap::new();
        let mut added: Vec<((Var, Type), Atom)> = Vec::new();
        for (params, places) in groups {
            let made = self.chunk(lambda, arrays, candidates, params, &places);
            let statements = places.iter().map(|at| &lambda.body.statements[*at]);
            let olds = statements.flat_map(|statement| statement.results.iter().copied());
            for ((old, ty), (new, _)) in olds.zip(&made.results) {
                let param = Var(self.variables);
                self.variables += 1;
                names.insert(old, Atom::Var(param));
                added.push(((param, ty), Atom::Var(*new)));
            }
            if target < self.level() {
                self.moved.extend(places.iter().map(|at| lambda.body.statements[*at].span));
            }
            self.push_at(target, made);
        }
        rest(lambda, arrays, &stored, &names, added);
        self.know_params(lambda, arrays);
        true
    }

    fn candidates(&self, lambda: &Lambda, arrays: &[Atom]) -> Candidates {
        let level = self.level();
        let demanded = demanded(&lambda.body);
        let rows_of = rows_of(lambda);
        let of_some = demanded_of_some(&lambda.body, &demanded, &rows_of);
        let params: HashMap<Var, usize> =
            lambda.params.iter().enumerate().map(|(at, (var, _))| (*var, at)).collect();
        let level_of = |atom: Atom| match atom {
            Atom::Var(var) => self.known.get(&var).map_or(0, |known| known.level),
            Atom::Scalar(_) => 0,
        };
        // As long as a row that is an element of one of the map's arrays.
        let mut rows: HashSet<Var> =
            lambda.params.iter().filter(|(_, ty)| ty.rank == 1).map(|(var, _)| *var).collect();
        let mut found = Candidates {
            by_place: BTreeMap::new(),
            places: HashMap::new(),
            positions: BTreeSet::new(),
            of_some: BTreeSet::new(),
        };
        'statements: for (place, statement) in lambda.body.statements.iter().enumerate() {
            let is_scalar = statement.results.iter().all(|(_, ty)| ty.rank == 0);
            let is_row = matches!(&statement.operation, Operation::Map(_, arrays)
                if arrays.iter().any(|array| matches!(array, Atom::Var(var) if rows.contains(var))))
                && statement.results.iter().all(|(_, ty)| ty.rank == 1);
            if is_row {
                rows.extend(statement.results.iter().map(|(var, _)| *var));
            }
            let is_needed = statement.results.iter().all(|(var, _)| demanded.contains(var));
            match risk(statement) {
                Risk::None => {}
                Risk::MayFail if is_needed => {}
                Risk::MayFail
                    if folded_row(statement, &rows_of).is_some_and(|row| {
                        let needs = |var| of_some.get(var).is_some_and(|rows| rows.contains(&row));
                        statement.results.iter().any(|(var, _)| needs(var))
                    }) =>
                {
                    found.of_some.insert(place);
                }
                Risk::MayFail | Risk::MayNotEnd => continue,
            }
            let mut candidate = Candidate {
                lowest: 0,
                target: level,
                params: BTreeSet::new(),
                cone: BTreeSet::from([place]),
                may_be_stored: is_scalar || is_row,
            };
            for var in statement.operation.free_variables() {
                if let Some(at) = params.get(&var) {
                    candidate.params.insert(*at);
                    candidate.lowest = candidate.lowest.max(level_of(arrays[*at]));
                } else if let Some(other) = found.places.get(&var) {
                    let other = &found.by_place[other];
                    candidate.lowest = candidate.lowest.max(other.lowest);
                    candidate.params.extend(&other.params);
                    candidate.cone.extend(&other.cone);
                } else if level_of(Atom::Var(var)) <= level {
                    candidate.lowest = candidate.lowest.max(level_of(Atom::Var(var)));
                } else {
                    continue 'statements;
                }
            }
            let turns = self.turns(&statement.operation);
            candidate.target = self.target(level, candidate.lowest);
            if candidate.target == level && !self.is_repeated(&turns) {
                continue;
            }
            let counts = |at: &usize| arrays[*at].var().is_some_and(|it| self.counts.contains(&it));
            let steps = |at: &usize| is_step(&lambda.body.statements[*at]);
            if candidate.cone.iter().all(steps) && candidate.params.iter().all(counts) {
                found.positions.insert(place);
            }
            let mut arrays = candidate.params.iter().map(|at| arrays[*at]);
            candidate.may_be_stored &= !candidate.params.is_empty()
                && (candidate.target == level
                    || arrays.all(|array| self.is_stored_along(array, candidate.target)));
            found.places.extend(statement.results.iter().map(|(var, _)| (*var, place)));
            found.by_place.insert(place, candidate);
        }
        let mut values = HashSet::new();
        used_as_values(&lambda.body, &mut values);
        found.positions.retain(|at| {
            !lambda.body.statements[*at].results.iter().any(|(var, _)| values.contains(var))
        });
        found
    }

    /// Whether an array of a body is a row of what is stored, a row for each turn of the maps around
    /// (Note [What is worth an array]).
    fn is_stored_along(&self, array: Atom, level: usize) -> bool {
        let mut maps = (1..=level).filter(|at| self.scopes[*at].is_map).peekable();
        let Atom::Var(var) = array else { return false };
        let Some(known) = self.known.get(&var) else { return false };
        maps.peek().is_none() || known.is_stored && maps.all(|at| known.turns.contains(&at))
    }

    /// The map that computes some candidates.
    fn chunk(
        &mut self,
        lambda: &Lambda,
        arrays: &[Atom],
        candidates: &Candidates,
        params: &BTreeSet<usize>,
        places: &[usize],
    ) -> Statement {
        let spans = places.iter().map(|at| lambda.body.statements[*at].span);
        let span = spans.reduce(|first, next| match first.source == next.source {
            true => first.to(next),
            false => first,
        });
        let cone: BTreeSet<usize> =
            places.iter().flat_map(|at| candidates.by_place[at].cone.iter().copied()).collect();
        let statements = &lambda.body.statements;
        let copy = |at: &usize| {
            let mut statement = statements[*at].clone();
            if candidates.of_some.contains(at) {
                of_none_too(&mut statement);
            }
            statement
        };
        let copied = Lambda {
            params: params.iter().map(|at| lambda.params[*at]).collect(),
            body: Body {
                statements: cone.iter().map(copy).collect(),
                results: places
                    .iter()
                    .flat_map(|at| statements[*at].results.iter().map(|(var, _)| Atom::Var(*var)))
                    .collect(),
            },
        };
        let types: Vec<Type> = places
            .iter()
            .flat_map(|at| statements[*at].results.iter().map(|(_, ty)| ty.array()))
            .collect();
        let mut code = Code::new(&mut self.variables, span.unwrap_or_default());
        let elements: Vec<Type> = copied.params.iter().map(|(_, ty)| *ty).collect();
        let inputs: Vec<Atom> = params.iter().map(|at| arrays[*at]).collect();
        let results: Vec<Type> = types.iter().map(|ty| ty.element()).collect();
        code.map(inputs, &elements, &results, |code, atoms| code.apply(&copied, atoms));
        code.statements.pop().expect("it is one map")
    }
}

/// The places of the candidates for a body whose results are to be stored: what the rest uses of them, if that is
/// dearer than a load.
fn stored(target: usize, body: &Body, candidates: &Candidates) -> BTreeSet<usize> {
    let mut cheap: BTreeSet<usize> = candidates.positions.clone();
    loop {
        let stored = frontier(target, body, candidates, &cheap);
        let too_cheap: Vec<usize> = stored
            .iter()
            .copied()
            .filter(|place| rest_cost(*place, body, candidates, &stored) < LEAST_COST)
            .collect();
        if too_cheap.is_empty() {
            return stored;
        }
        cheap.extend(too_cheap);
    }
}

/// Whether a statement is arithmetic that takes an index to a neighbour, or back into an array.
fn is_step(statement: &Statement) -> bool {
    let is_integer =
        statement.results[0].1.rank == 0 && statement.results[0].1.element == ScalarType::I64;
    is_integer
        && matches!(
            statement.operation,
            Operation::Scalar(
                ScalarOp::Add | ScalarOp::Sub | ScalarOp::Min | ScalarOp::Max | ScalarOp::Mod,
                _
            )
        )
}

/// Adds what a body uses for anything but to read elements at what is made of it.
fn used_as_values(body: &Body, values: &mut HashSet<Var>) {
    values.extend(body.results.iter().filter_map(|atom| atom.var()));
    for statement in body.statements.iter().rev() {
        statement.operation.for_each_body(&mut |inner| used_as_values(inner, values));
        match &statement.operation {
            Operation::Index(..) => {}
            _ if is_step(statement) && !values.contains(&statement.results[0].0) => {}
            operation => operation.for_each_atom(&mut |atom| values.extend(atom.var())),
        }
    }
}

/// What a candidate costs if others are stored.
fn rest_cost(place: usize, body: &Body, candidates: &Candidates, stored: &BTreeSet<usize>) -> u32 {
    let (mut open, mut seen, mut sum) = (vec![place], BTreeSet::new(), 0_u32);
    while let Some(at) = open.pop() {
        if !seen.insert(at) || at != place && stored.contains(&at) {
            continue;
        }
        let statement = &body.statements[at];
        sum = sum.saturating_add(match candidates.positions.contains(&at) {
            true => 1,
            false => cost(statement),
        });
        let used = statement.operation.free_variables();
        open.extend(used.iter().filter_map(|var| candidates.places.get(var)));
    }
    sum
}

/// The candidates that the rest of the body uses, where those in `cheap` belong to the rest.
fn frontier(
    target: usize,
    body: &Body,
    candidates: &Candidates,
    cheap: &BTreeSet<usize>,
) -> BTreeSet<usize> {
    let mut used: HashSet<Var> = body.results.iter().filter_map(|atom| atom.var()).collect();
    let mut stored = BTreeSet::new();
    for (place, statement) in body.statements.iter().enumerate().rev() {
        match candidates.by_place.get(&place) {
            Some(_) if !statement.results.iter().any(|(var, _)| used.contains(var)) => continue,
            Some(candidate)
                if candidate.may_be_stored
                    && candidate.target == target
                    && !cheap.contains(&place) =>
            {
                stored.insert(place);
            }
            _ => used.extend(statement.operation.free_variables()),
        }
    }
    stored
}

/// What is left of a map whose stored statements are arrays now.
fn rest(
    lambda: &mut Lambda,
    arrays: &mut Vec<Atom>,
    stored: &BTreeSet<usize>,
    names: &HashMap<Var, Atom>,
    added: Vec<((Var, Type), Atom)>,
) {
    let used_in = |body: &Body| {
        let mut used: BTreeSet<Var> = body.results.iter().filter_map(|atom| atom.var()).collect();
        for statement in body.statements.iter().rev() {
            if statement.results.iter().any(|(var, _)| used.contains(var)) {
                used.extend(statement.operation.free_variables());
            }
        }
        used
    };
    let before = used_in(&lambda.body);
    let mut place = 0;
    lambda.body.statements.retain(|_| {
        place += 1;
        !stored.contains(&(place - 1))
    });
    replace(&mut lambda.body, &|atom| renamed(atom, names));
    let after = used_in(&lambda.body);
    let params = std::mem::take(&mut lambda.params);
    for (param, array) in params.into_iter().zip(std::mem::take(arrays)) {
        // What was not used says how long the arrays are.
        if after.contains(&param.0) || !before.contains(&param.0) {
            lambda.params.push(param);
            arrays.push(array);
        }
    }
    for (param, array) in added {
        lambda.params.push(param);
        arrays.push(array);
    }
    // What computed stored values alone uses what is not there any more.
    let mut kept = Vec::new();
    for statement in std::mem::take(&mut lambda.body.statements) {
        if statement.results.iter().any(|(var, _)| after.contains(var)) {
            kept.push(statement);
        }
    }
    lambda.body.statements = kept;
}

/// What every result of a body needs, whatever the values are.
fn demanded(body: &Body) -> HashSet<Var> {
    let mut demanded: HashSet<Var> = body.results.iter().filter_map(|atom| atom.var()).collect();
    for statement in body.statements.iter().rev() {
        if statement.results.iter().any(|(var, _)| demanded.contains(var)) {
            demanded.extend(needed_by(&statement.operation));
        }
    }
    demanded
}

/// What an operation needs, whatever the values are.
fn needed_by(operation: &Operation) -> Vec<Var> {
    let mut needed = Vec::new();
    match operation {
        Operation::Scalar(ScalarOp::And | ScalarOp::Or | ScalarOp::Select, operands) => {
            needed.extend(operands.first().and_then(|atom| atom.var()));
        }
        Operation::If { condition, .. } => needed.extend(condition.var()),
        Operation::While { .. }
        | Operation::For { .. }
        | Operation::Call(..)
        | Operation::Literal(_)
        | Operation::Pack { .. }
        | Operation::Replicate(..) => {}
        operation => operation.for_each_atom(&mut |atom| needed.extend(atom.var())),
    }
    needed
}

/// The rows of a body by what is as long as they are: themselves, and what maps make of them.
fn rows_of(lambda: &Lambda) -> HashMap<Var, Var> {
    let params = lambda.params.iter().filter(|(_, ty)| ty.rank == 1);
    let mut rows: HashMap<Var, Var> = params.map(|(var, _)| (*var, *var)).collect();
    for statement in &lambda.body.statements {
        if let Operation::Map(_, arrays) = &statement.operation
            && let Some(row) =
                arrays.iter().filter_map(|atom| atom.var()).find_map(|it| rows.get(&it)).copied()
        {
            rows.extend(statement.results.iter().map(|(var, _)| (*var, row)));
        }
    }
    rows
}

/// What every result of a body needs if a row has elements, with those rows.
fn demanded_of_some(
    body: &Body,
    demanded: &HashSet<Var>,
    rows: &HashMap<Var, Var>,
) -> HashMap<Var, BTreeSet<Var>> {
    let mut found: HashMap<Var, BTreeSet<Var>> = HashMap::new();
    for statement in body.statements.iter().rev() {
        let results = || statement.results.iter().map(|(var, _)| var);
        let of_results: BTreeSet<Var> =
            results().filter_map(|var| found.get(var)).flatten().copied().collect();
        for needed in needed_by(&statement.operation) {
            found.entry(needed).or_default().extend(&of_results);
        }
        if let Operation::Map(lambda, _) = &statement.operation
            && let Some(row) = results().find_map(|var| rows.get(var))
            && results().all(|var| demanded.contains(var))
        {
            self::demanded(&lambda.body).into_iter().for_each(|needed| {
                found.entry(needed).or_default().insert(*row);
            });
        }
    }
    found
}

/// The row that a fold without a start value is of, which may be an error only where that has no elements.
fn folded_row(statement: &Statement, rows: &HashMap<Var, Var>) -> Option<Var> {
    match &statement.operation {
        Operation::Fold { operator, start: Start::None, arrays }
            if is_one(arrays)
                && risk_of_body(&operator.body) == Risk::None
                && statement.results.iter().all(|(_, ty)| ty.rank == 0) =>
        {
            rows.get(&arrays[0].var()?).copied()
        }
        _ => None,
    }
}

/// A fold that is no error where there are no elements, since nobody needs it then.
fn of_none_too(statement: &mut Statement) {
    let zeros = statement.results.iter().map(|(_, ty)| Atom::Scalar(Scalar::zero(ty.element)));
    if let Operation::Fold { start: start @ Start::None, .. } = &mut statement.operation {
        *start = Start::IfEmpty(zeros.collect());
    }
}
