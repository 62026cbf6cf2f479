//! Which arrays are wanted by their parts, from their uses back to what makes them.
//!
//! Note \[Parts\]. The parts of a row of few elements are its elements, as scalars. Those of an array of such rows are as many
//! arrays: of the first elements of all rows, of the second ones, and so on.
//!
//! A fold in a map that is written out wants the elements of what it folds, a map that is written out those of what
//! it maps, if its results are wanted so. What chooses between rows, and loops that carry rows, pass it on. A fold
//! of rows, such as the sum of vectors, wants all rows by their parts.

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Statement, Type, Var};

use super::cost::cost;
use super::extents::Known;
use super::sound::{Sound, folded, read};
use super::{CHEAP, MOST_COST, MOST_LOOPS, MOST_STATEMENTS};

/// What is wanted by its parts.
pub(super) struct Wanted<'k> {
    known: &'k Known,
    sound: &'k Sound<'k>,
    /// How often each variable is used.
    uses: Vec<usize>,
    /// How often by its parts.
    by_parts: HashMap<Var, usize>,
    /// What one element costs of what maps in maps make of few elements; nothing if that is not known.
    made: HashMap<Var, Option<u32>>,
    /// Rows whose parts are scalars or elements of what is stored, and arrays of such rows that maps make.
    divisible: HashSet<Var>,
    /// The few columns of arrays of rows that may have parts: these are what the parts are.
    columns: HashSet<Var>,
    /// The rows that loops carry by their parts.
    carried: HashSet<Var>,
    /// How many loops are around what is looked at.
    loops: usize,
}

impl<'k> Wanted<'k> {
    pub(super) fn of(program: &Program, known: &'k Known, sound: &'k Sound<'k>) -> Wanted<'k> {
        let mut uses = vec![0; program.variables as usize];
        count_uses(&program.body, &mut uses);
        let mut wanted = Wanted {
            known,
            sound,
            uses,
            by_parts: HashMap::new(),
            made: HashMap::new(),
            divisible: HashSet::new(),
            columns: HashSet::new(),
            carried: HashSet::new(),
            loops: 0,
        };
        wanted.divisible.extend(
            program.params.iter().map(|(var, _)| *var).filter(|var| known.ty(*var).rank == 1),
        );
        wanted.note_makers(&program.body, false);
        wanted.body(&program.body, &[], false);
        wanted
    }

    /// Whether anything wants the parts of a variable.
    pub(super) fn is_wanted(&self, var: Var) -> bool {
        self.by_parts.contains_key(&var)
    }

    /// Whether nothing wants more than its parts.
    pub(super) fn only_parts(&self, var: Var) -> bool {
        self.by_parts.get(&var).is_some_and(|parts| *parts >= self.uses[var.0 as usize])
    }

    /// How many elements a fold in a map has, if it is to be written out.
    pub(super) fn fold(&self, statement: &Statement) -> Option<usize> {
        let Operation::Fold { operator, arrays, .. } = &statement.operation else { return None };
        if statement.results.iter().any(|(_, ty)| ty.rank > 0) {
            return None;
        }
        let length = self.known.lockstep(arrays)?;
        // A fold of one element yields that.
        let read =
            if length > 1 { folded(operator) } else { vec![arrays.len() == 1; arrays.len()] };
        if !self.are_seen(arrays, &read) {
            return None;
        }
        let mut sum = cost(&operator.body, self.known)?;
        for array in arrays {
            let made = array.var().and_then(|var| self.made.get(&var));
            sum = sum.saturating_add(made.copied().unwrap_or(Some(1))?);
        }
        (sum.saturating_mul(length as u32) <= MOST_COST).then_some(length)
    }

    /// How many elements a map has, if it is to be written out: one in a map, but not if they are dear, and something
    /// wants the array too, where they would be computed again; or one of the few columns of rows, of which
    /// `columns` says what these are.
    pub(super) fn map(
        &self,
        statement: &Statement,
        in_map: bool,
        columns: impl Fn(Var) -> bool,
    ) -> Option<usize> {
        let Operation::Map(lambda, arrays) = &statement.operation else { return None };
        if lambda.body.results.is_empty() || statement.results.iter().any(|(_, ty)| ty.rank != 1) {
            return None;
        }
        let length = self.known.lockstep(arrays)?;
        if !self.are_seen(arrays, &read(lambda)) {
            return None;
        }
        if arrays.iter().any(|array| array.var().is_some_and(&columns)) {
            return (length * size(&lambda.body) <= MOST_STATEMENTS).then_some(length);
        }
        let cost = cost(&lambda.body, self.known).filter(|_| in_map)?;
        let mut vars = statement.results.iter().map(|(var, _)| *var);
        let is_wanted = vars.clone().any(|var| self.is_wanted(var));
        let once = vars.all(|var| self.only_parts(var) || self.uses[var.0 as usize] == 0);
        (is_wanted && (once || cost <= CHEAP) && cost.saturating_mul(length as u32) <= MOST_COST)
            .then_some(length)
    }

    /// Whether errors of arrays are seen where their elements are: those that are `read`, or cannot be errors
    /// (`Note [Errors of rows]`).
    fn are_seen(&self, arrays: &[Atom], read: &[bool]) -> bool {
        arrays.iter().zip(read).all(|(array, is_read)| *is_read || self.sound.exists(*array))
    }

    /// Which of these are rows that are wanted by their parts alone, and can be.
    pub(super) fn rows<'v>(&self, vars: impl IntoIterator<Item = &'v (Var, Type)>) -> Vec<bool> {
        let is_row = |(var, ty): &(Var, Type)| {
            ty.rank == 1 && self.takes_parts(*var) && self.known.row(Atom::Var(*var)).is_some()
        };
        vars.into_iter().map(is_row).collect()
    }

    /// Whether what makes rows can make their parts, and all that is wanted is these.
    pub(super) fn takes_parts(&self, rows: Var) -> bool {
        self.is_divisible(rows) && self.only_parts(rows)
    }

    /// Which leaves of a fold are rows of few elements, if it is one of such rows, which maps make, and what it does
    /// with them can be written out.
    pub(super) fn fold_of_rows(&self, statement: &Statement) -> Option<Vec<bool>> {
        let Operation::Fold { operator, arrays, start } = &statement.operation else {
            return None;
        };
        let is_row: Vec<bool> = statement.results.iter().map(|(_, ty)| ty.rank == 1).collect();
        let leaves = statement.results.iter().zip(arrays);
        let mut rows = leaves.filter(|((_, ty), _)| ty.rank > 0);
        let has_parts = |array: &Atom| array.var().is_some_and(|var| self.is_divisible(var));
        let fit = |((var, ty), array): ((Var, Type), &Atom)| {
            let length = self.known.row(*array);
            ty.rank == 1 && has_parts(array) && length.is_some() && {
                length == self.known.row(Atom::Var(var))
            }
        };
        let starts = start.values().into_iter().flatten().zip(&statement.results);
        let mut start_rows = starts.filter(|(_, (_, ty))| ty.rank == 1);
        let start_fits = start_rows
            .all(|(atom, (var, _))| self.known.row(*atom) == self.known.row(Atom::Var(*var)));
        let any =
            is_row.contains(&true) && rows.all(|((var, ty), array)| fit(((*var, *ty), array)));
        let few = cost(&operator.body, self.known).is_some_and(|cost| cost <= MOST_COST);
        (any && start_fits && few).then_some(is_row)
    }

    /// Which parts of the state of a loop are rows that it carries by their parts.
    pub(super) fn carried(&self, state: &[(Var, Type)]) -> Vec<bool> {
        state.iter().map(|(var, _)| self.carried.contains(var)).collect()
    }

    fn is_divisible(&self, var: Var) -> bool {
        self.divisible.contains(&var)
    }

    /// Notes what makes rows, before it is known what is wanted.
    fn note_makers(&mut self, body: &Body, in_map: bool) {
        for statement in &body.statements {
            let (operation, results) = (&statement.operation, &statement.results);
            operation.for_each_bound(&mut |var, ty| {
                if ty.rank == 1 {
                    self.divisible.insert(*var);
                }
            });
            let inside = inside(operation, in_map);
            operation.for_each_body(&mut |body| self.note_makers(body, inside));
            let divisible = &self.divisible;
            let of = |body: &Body| -> Vec<bool> {
                let of_atom = |atom: &Atom| atom.var().is_some_and(|it| divisible.contains(&it));
                body.results.iter().map(of_atom).collect()
            };
            let is_row = results.iter().map(|(_, ty)| ty.rank == 1);
            let divisible: Vec<bool> = match operation {
                Operation::Map(lambda, arrays) => {
                    let few = self.known.lockstep(arrays);
                    let each = few.and_then(|_| cost(&lambda.body, self.known));
                    if in_map {
                        self.made.extend(results.iter().map(|(var, _)| (*var, each)));
                    }
                    let rows = is_row.zip(of(&lambda.body));
                    rows.map(|(is_row, inner)| inner || is_row && (!in_map || each.is_some()))
                        .collect()
                }
                Operation::If { then, otherwise, .. } => of(then)
                    .into_iter()
                    .zip(of(otherwise))
                    .map(|(one, other)| one && other)
                    .collect(),
                Operation::While { body, state, .. } | Operation::For { body, state, .. } => {
                    let divisible = of(body);
                    for ((var, _), _) in state.iter().zip(&divisible).filter(|(_, it)| !**it) {
                        self.divisible.remove(var);
                    }
                    divisible
                }
                Operation::Literal(_)
                | Operation::Constant(_)
                | Operation::Iota(_)
                | Operation::Replicate(..)
                | Operation::Index(..)
                | Operation::Assert { .. }
                | Operation::Fold { .. } => is_row.collect(),
                _ => is_row.map(|is_row| is_row && !in_map).collect(),
            };
            if let Operation::Transpose(Atom::Var(array)) = operation
                && self.is_divisible(*array)
                && self.sound.has_sound_elements(Atom::Var(*array))
                && results[0].1.rank == 2
                && self.known.row(Atom::Var(*array)).is_some()
            {
                self.columns.insert(results[0].0);
            }
            let divisible = results.iter().zip(divisible).filter(|(_, it)| *it);
            self.divisible.extend(divisible.map(|((var, _), _)| *var));
        }
    }

    fn want(&mut self, atom: Atom) {
        if let Atom::Var(var) = atom {
            *self.by_parts.entry(var).or_default() += 1;
        }
    }

    /// Wants the elements of arrays, which are parts if they are scalars.
    fn want_all(&mut self, arrays: &[Atom]) {
        for array in arrays {
            let has_parts = |var| self.known.ty(var).rank == 1 || self.columns.contains(&var);
            if array.var().is_some_and(has_parts) {
                self.want(*array);
            }
        }
    }

    /// Goes through a body from its end; `results` says which of its results are wanted by their parts.
    fn body(&mut self, body: &Body, results: &[bool], in_map: bool) {
        for (atom, is_wanted) in body.results.iter().zip(results) {
            if *is_wanted {
                self.want(*atom);
            }
        }
        for statement in body.statements.iter().rev() {
            self.statement(statement, in_map);
        }
    }

    fn statement(&mut self, statement: &Statement, in_map: bool) {
        let results = &statement.results;
        match &statement.operation {
            Operation::Map(lambda, arrays) => {
                if self.map(statement, in_map, |var| self.columns.contains(&var)).is_some() {
                    self.body(&lambda.body, &[], true);
                    return self.want_all(arrays);
                }
                // Where all of an array of rows is wanted so, no row need be there.
                let rows: Vec<bool> =
                    results.iter().map(|(var, ty)| ty.rank > 1 && self.takes_parts(*var)).collect();
                self.body(&lambda.body, &rows, true);
                self.elements(lambda, arrays);
            }
            Operation::Fold { operator, start, arrays } => {
                if in_map && self.fold(statement).is_some() {
                    return self.want_all(arrays);
                }
                match self.fold_of_rows(statement) {
                    Some(rows) => {
                        self.body(&operator.body, &rows, true);
                        let start = start.values().into_iter().flatten();
                        for ((row, array), start) in rows
                            .iter()
                            .zip(arrays)
                            .zip(start.map(Some).chain(std::iter::repeat(None)))
                        {
                            if *row {
                                self.want(*array);
                                start.into_iter().for_each(|start| self.want(*start));
                            }
                        }
                    }
                    None => self.body(&operator.body, &[], false),
                }
            }
            Operation::If { then, otherwise, .. } => {
                let rows = if in_map { self.rows(results) } else { Vec::new() };
                self.body(then, &rows, in_map);
                self.body(otherwise, &rows, in_map);
            }
            Operation::While { state, initial, condition, body } => {
                self.state(state, initial, Some(condition), body, in_map);
            }
            Operation::For { state, initial, body, .. } => {
                self.state(state, initial, None, body, in_map);
            }
            Operation::Assert { values, .. } => {
                for ((var, _), value) in results.iter().zip(values) {
                    if self.only_parts(*var) {
                        self.want(*value);
                    }
                }
            }
            Operation::Transpose(array) => {
                let columns = results[0].0;
                if self.columns.contains(&columns) && self.only_parts(columns) {
                    self.want(*array);
                }
            }
            Operation::Index(array, indices) if in_map => {
                let constant = matches!(indices[..], [Atom::Scalar(_)]);
                let scalar = results.iter().all(|(_, ty)| ty.rank == 0);
                if constant && scalar && self.known.row(*array).is_some() {
                    self.want(*array);
                }
            }
            operation => {
                let inside = inside(operation, in_map);
                operation.for_each_body(&mut |body| self.body(body, &[], inside));
            }
        }
    }

    /// Wants the arrays of which a lambda wants no more than parts of the elements.
    fn elements(&mut self, lambda: &Lambda, arrays: &[Atom]) {
        for ((param, _), array) in lambda.params.iter().zip(arrays) {
            if self.only_parts(*param) {
                self.want(*array);
            }
        }
    }

    /// A loop: the rows that it carries are so by their parts unless a turn wants one of them whole.
    fn state(
        &mut self,
        state: &[(Var, Type)],
        initial: &[Atom],
        condition: Option<&Body>,
        body: &Body,
        in_map: bool,
    ) {
        if !in_map {
            condition.into_iter().chain([body]).for_each(|it| self.body(it, &[], false));
            return;
        }
        // Loops in loops in loops would be gone through often.
        let may_carry = self.loops < MOST_LOOPS;
        let is_row = |(var, ty): &(Var, Type)| {
            may_carry
                && ty.rank == 1
                && self.is_divisible(*var)
                && self.known.row(Atom::Var(*var)).is_some()
        };
        let mut rows: Vec<bool> = state.iter().map(is_row).collect();
        self.loops += 1;
        let mut is_done = false;
        while !is_done && rows.contains(&true) {
            let before = self.by_parts.clone();
            self.turn(condition, body, &rows);
            let now = self.rows(state);
            let fewer: Vec<bool> =
                now.into_iter().zip(&rows).map(|(now, before)| now && *before).collect();
            is_done = fewer == rows;
            if !is_done {
                (self.by_parts, rows) = (before, fewer);
            }
        }
        if !is_done {
            self.turn(condition, body, &rows);
        }
        self.loops -= 1;
        let wanted = initial.iter().zip(&rows).filter(|(_, is_row)| **is_row);
        wanted.for_each(|(atom, _)| self.want(*atom));
        for ((var, _), is_row) in state.iter().zip(rows) {
            match is_row {
                true => self.carried.insert(*var),
                false => self.carried.remove(var),
            };
        }
    }

    /// A turn of a loop in a map, of whose results these are wanted by their parts.
    fn turn(&mut self, condition: Option<&Body>, body: &Body, rows: &[bool]) {
        condition.into_iter().for_each(|it| self.body(it, &[], true));
        self.body(body, rows, true);
    }
}

/// Whether the bodies of an operation are done for each of many elements, by code of their own.
pub(super) fn inside(operation: &Operation, in_map: bool) -> bool {
    match operation {
        Operation::Map(..) => true,
        Operation::Fold { .. } | Operation::Scan { .. } | Operation::Scatter { .. } => false,
        _ => in_map,
    }
}

/// How many statements a body has, in bodies too.
fn size(body: &Body) -> usize {
    let mut size = body.statements.len();
    for statement in &body.statements {
        statement.operation.for_each_body(&mut |body| size += self::size(body));
    }
    size
}

fn count_uses(body: &Body, uses: &mut [usize]) {
    let mut count = |atom: &Atom| {
        if let Atom::Var(var) = atom {
            uses[var.0 as usize] += 1;
        }
    };
    body.results.iter().for_each(&mut count);
    for statement in &body.statements {
        statement.operation.for_each_atom(&mut count);
    }
    for statement in &body.statements {
        statement.operation.for_each_body(&mut |inner| count_uses(inner, uses));
    }
}
