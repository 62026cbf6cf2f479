//! Writes out what is wanted by its parts (`Note [Parts]` in `wanted.rs`).

use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Lambda, Operation, Start, Statement, Type, Var};
use weft_ir::{FaultKind, ScalarOp, Span};

use super::extents::Known;
use super::sound::Sound;
use super::wanted::{Wanted, inside};
use super::{Made, WrittenOut};
use crate::code::{BOOL, Code, atoms, integer, renamed, replace};

pub(super) struct Writer<'w> {
    pub(super) known: &'w Known,
    pub(super) sound: &'w Sound<'w>,
    pub(super) wanted: &'w Wanted<'w>,
    /// The parts that are there.
    pub(super) parts: HashMap<Var, Vec<Atom>>,
    /// What stands in the columns of rows that have parts.
    pub(super) columns: HashMap<Var, Vec<Atom>>,
    /// What arrays are made of, of which no part is read then.
    pub(super) made: HashMap<Var, Made>,
    /// What the results are that are no longer bound.
    pub(super) names: HashMap<Var, Atom>,
    pub(super) variables: u32,
    /// What has been written out.
    pub(super) folds: Vec<WrittenOut>,
    pub(super) rows: Vec<WrittenOut>,
    pub(super) has_changed: bool,
}

impl Writer<'_> {
    pub(super) fn body(&mut self, body: &mut Body, in_map: bool) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            statement.operation.for_each_atom_mut(&mut |atom| *atom = self.name(*atom));
            self.statement(statement, in_map, &mut statements);
        }
        body.statements = statements;
        body.results.iter_mut().for_each(|atom| *atom = self.name(*atom));
    }

    fn name(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.names.get(&var).copied().unwrap_or(atom),
            Atom::Scalar(_) => atom,
        }
    }

    fn statement(&mut self, statement: Statement, in_map: bool, out: &mut Vec<Statement>) {
        if in_map && self.fold(&statement, out) {
            return;
        }
        let mut statement = statement;
        let is_fold_of_rows = self.has_parts_of_rows(&statement);
        match &statement.operation {
            Operation::Fold { .. } if is_fold_of_rows => {
                return self.fold_of_rows(statement, out);
            }
            Operation::If { .. } if in_map => return self.choice(statement, out),
            Operation::While { .. } | Operation::For { .. } if in_map => {
                return self.repetition(statement, out);
            }
            Operation::Map(..) => return self.map(statement, in_map, out),
            Operation::Assert { .. } => return self.assertion(statement, out),
            _ => {}
        }
        let inside = inside(&statement.operation, in_map);
        statement.operation.for_each_body_mut(&mut |body| self.body(body, inside));
        Made::note(&statement, &mut self.made);
        if let Operation::Transpose(Atom::Var(array)) = &statement.operation
            && let Some(parts) = self.parts.get(array)
        {
            self.columns.insert(statement.results[0].0, parts.clone());
        }
        out.push(statement);
    }

    /// One part of a row or of an array of rows: of one that is stored it is read.
    fn part(&self, array: Atom, at: usize, code: &mut Code<'_>) -> Atom {
        let var = array.var().expect("an array");
        if let Some(parts) = self.parts.get(&var) {
            return parts[at];
        }
        let index = integer(at as i64);
        let known = match self.made.get(&var) {
            Some(Made::Iota) => Some(index),
            Some(Made::Literal(atoms)) => Some(atoms[at]),
            Some(Made::Replicate(value)) => Some(*value),
            Some(Made::Constant(column)) => column.scalar(at).map(Atom::Scalar),
            None => None,
        };
        let ty = self.known.ty(var).element();
        known.unwrap_or_else(|| code.one(Operation::Index(array, vec![index]), ty))
    }

    /// One element of an array of few: a part of it, or a row.
    fn element(&self, array: Atom, at: usize, code: &mut Code<'_>) -> Atom {
        let var = array.var().expect("an array");
        if let Some(columns) = self.columns.get(&var) {
            return columns[at];
        }
        match self.made.get(&var) {
            _ if self.known.ty(var).rank == 1 => self.part(array, at, code),
            Some(Made::Literal(atoms)) => atoms[at],
            _ => code.one(
                Operation::Index(array, vec![integer(at as i64)]),
                self.known.ty(var).element(),
            ),
        }
    }

    fn parts(&self, array: Atom, count: usize, code: &mut Code<'_>) -> Vec<Atom> {
        (0..count).map(|at| self.part(array, at, code)).collect()
    }

    /// Whether it is a fold of few elements, and has been written out.
    fn fold(&mut self, statement: &Statement, out: &mut Vec<Statement>) -> bool {
        let Operation::Fold { operator, start, arrays } = &statement.operation else {
            return false;
        };
        let Some(length) = self.wanted.fold(statement) else { return false };
        let mut total = Vec::new();
        let written = self.code(statement.span, |writer, code| {
            let at = |at: usize, code: &mut Code<'_>| -> Vec<Atom> {
                arrays.iter().map(|array| writer.part(*array, at, code)).collect()
            };
            total = at(0, code);
            for next in 1..length {
                let next = at(next, code);
                total = code.apply(operator, &[total.clone(), next].concat());
            }
            if let Start::Combined(start) = start {
                total = code.apply(operator, &[start.clone(), total.clone()].concat());
            }
        });
        out.extend(written);
        for ((var, _), atom) in statement.results.iter().zip(total) {
            self.names.insert(*var, atom);
        }
        self.folds.push(WrittenOut { span: statement.span, elements: length });
        self.has_changed = true;
        true
    }

    fn map(&mut self, mut statement: Statement, in_map: bool, out: &mut Vec<Statement>) {
        let few = self.wanted.map(&statement, in_map, |var| self.columns.contains_key(&var));
        let Operation::Map(lambda, arrays) = &mut statement.operation else {
            panic!("a map is expected")
        };
        let wholes = match few {
            Some(_) => Vec::new(),
            None => self.take_parts(lambda, arrays, statement.span),
        };
        self.body(&mut lambda.body, true);
        lambda.body.statements.splice(..0, wholes);
        let Some(length) = few else { return self.map_to_parts(statement, out) };
        let mut results = vec![Vec::with_capacity(length); statement.results.len()];
        let written = self.code(statement.span, |writer, code| {
            for at in 0..length {
                let operands: Vec<Atom> =
                    arrays.iter().map(|array| writer.element(*array, at, code)).collect();
                let applied = code.apply(lambda, &operands);
                results.iter_mut().zip(applied).for_each(|(parts, atom)| parts.push(atom));
            }
        });
        out.extend(written);
        for ((var, _), parts) in statement.results.iter().zip(results) {
            self.parts.insert(*var, parts);
        }
        self.has_changed = true;
        // For what wants the array; it is dropped if nothing does. What is done with columns is done once.
        if !arrays.iter().any(|array| self.is_columns(*array)) {
            return out.push(statement);
        }
        for (var, ty) in &statement.results {
            let parts = self.parts[var].clone();
            out.extend(self.whole(*var, *ty, &parts, statement.span));
        }
    }

    fn is_columns(&self, array: Atom) -> bool {
        array.var().is_some_and(|var| self.columns.contains_key(&var))
    }

    /// A map that yields the parts of rows in their place, where all that is wanted is these.
    fn map_to_parts(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let Operation::Map(lambda, _) = &mut statement.operation else {
            panic!("a map is expected")
        };
        let rows = statement.results.iter().zip(&lambda.body.results).map(|((var, ty), inner)| {
            let count = self.known.row(Atom::Var(*var)).filter(|_| ty.rank > 1)?;
            let has_parts = ty.rank == 2 || self.parts.contains_key(&inner.var()?);
            (has_parts && self.wanted.takes_parts(*var)).then_some(count)
        });
        let rows: Vec<Option<usize>> = rows.collect();
        self.yield_parts(&mut lambda.body, &rows, statement.span);
        let (results, wholes) = self.split(&statement.results, &rows, statement.span);
        statement.results = results;
        out.push(statement);
        out.extend(wholes);
    }

    /// Has the parts of arrays of rows in lockstep, in place of the rows, where there are parts; what makes the rows.
    fn take_parts(
        &mut self,
        lambda: &mut Lambda,
        arrays: &mut Vec<Atom>,
        span: Span,
    ) -> Vec<Statement> {
        let count = |array: &Atom| {
            let var = array.var().filter(|var| self.known.ty(*var).rank > 1)?;
            self.parts.get(&var).map(Vec::len)
        };
        let rows: Vec<Option<usize>> = arrays.iter().map(count).collect();
        let parts_of = |(array, row): (&Atom, &Option<usize>)| match row {
            Some(_) => self.parts[&array.var().expect("an array")].clone(),
            None => vec![*array],
        };
        *arrays = arrays.iter().zip(&rows).flat_map(parts_of).collect();
        self.bind_parts(&mut lambda.params, &rows, span)
    }

    /// A fold of rows that there are parts of, as one of their parts.
    fn fold_of_rows(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let leaves = self.counts(&self.wanted.fold_of_rows(&statement), &statement.results);
        let span = statement.span;
        let Operation::Fold { operator, start, arrays } = &mut statement.operation else {
            panic!("a fold is expected")
        };
        if let Some(start) = start.values_mut() {
            out.extend(self.in_parts(start, &leaves, span));
        }
        let before = self.in_parts(arrays, &leaves, span);
        assert!(before.is_empty(), "there are parts of what is folded");
        let sides = [&leaves[..], &leaves[..]].concat();
        let wholes = self.bind_parts(&mut operator.params, &sides, span);
        self.body(&mut operator.body, true);
        operator.body.statements.splice(..0, wholes);
        self.yield_parts(&mut operator.body, &leaves, span);
        let (results, wholes) = self.split(&statement.results, &leaves, span);
        statement.results = results;
        out.push(statement);
        out.extend(wholes);
    }

    /// An assertion of rows as one of their parts.
    fn assertion(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let span = statement.span;
        let Operation::Assert { values, .. } = &mut statement.operation else {
            panic!("an assertion is expected")
        };
        let results = statement.results.iter().zip(&*values);
        let rows: Vec<Option<usize>> = results
            .map(|((var, _), value)| {
                let parts = self.parts.get(&value.var()?)?;
                self.wanted.only_parts(*var).then_some(parts.len())
            })
            .collect();
        out.extend(self.in_parts(values, &rows, span));
        let (results, wholes) = self.split(&statement.results, &rows, span);
        statement.results = results;
        out.push(statement);
        out.extend(wholes);
    }

    /// A choice between rows as one between their parts.
    fn choice(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let rows = self.counts(&Some(self.wanted.rows(&statement.results)), &statement.results);
        let span = statement.span;
        statement.operation.for_each_body_mut(&mut |body| {
            self.body(body, true);
            self.yield_parts(body, &rows, span);
        });
        let (results, wholes) = self.split(&statement.results, &rows, span);
        statement.results = results;
        out.push(statement);
        out.extend(wholes);
    }

    /// A loop that carries rows as one that carries their parts.
    fn repetition(&mut self, mut statement: Statement, out: &mut Vec<Statement>) {
        let span = statement.span;
        let rows = match &statement.operation {
            Operation::While { state, .. } | Operation::For { state, .. } => {
                self.wanted.carried(state)
            }
            _ => panic!("a loop is expected"),
        };
        let rows = self.counts(&Some(rows), &statement.results);
        match &mut statement.operation {
            Operation::While { state, initial, condition, body } => {
                out.extend(self.in_parts(initial, &rows, span));
                let wholes = self.bind_parts(state, &rows, span);
                self.body(condition, true);
                self.body(body, true);
                self.yield_parts(body, &rows, span);
                let copies = self.code(span, |_, code| {
                    let mut names = HashMap::new();
                    wholes.iter().for_each(|whole| code.copy(whole, &mut names));
                    replace(condition, &|atom| renamed(atom, &names));
                });
                condition.statements.splice(..0, copies);
                body.statements.splice(..0, wholes);
            }
            Operation::For { state, initial, body, .. } => {
                out.extend(self.in_parts(initial, &rows, span));
                let wholes = self.bind_parts(state, &rows, span);
                self.body(body, true);
                self.yield_parts(body, &rows, span);
                body.statements.splice(..0, wholes);
            }
            _ => panic!("a loop is expected"),
        }
        let (results, wholes) = self.split(&statement.results, &rows, span);
        statement.results = results;
        out.push(statement);
        out.extend(wholes);
    }

    /// Whether it is a fold of rows that there are parts of.
    fn has_parts_of_rows(&self, statement: &Statement) -> bool {
        let Operation::Fold { arrays, .. } = &statement.operation else { return false };
        let Some(rows) = self.wanted.fold_of_rows(statement) else { return false };
        let has_parts = |array: &Atom| array.var().is_some_and(|var| self.parts.contains_key(&var));
        rows.iter().zip(arrays).all(|(is_row, array)| !is_row || has_parts(array))
    }

    /// How many parts those have that are rows.
    fn counts(&self, rows: &Option<Vec<bool>>, results: &[(Var, Type)]) -> Vec<Option<usize>> {
        let rows = rows.iter().flatten().zip(results);
        let count = |(is_row, (var, _)): (&bool, &(Var, Type))| {
            self.known.row(Atom::Var(*var)).filter(|_| *is_row)
        };
        rows.map(count).collect()
    }

    /// Puts the parts of rows into their place; what reads them.
    fn in_parts(
        &mut self,
        atoms: &mut Vec<Atom>,
        rows: &[Option<usize>],
        span: Span,
    ) -> Vec<Statement> {
        let before = std::mem::take(atoms);
        self.code(span, |writer, code| {
            for (atom, row) in before.iter().zip(rows) {
                match row {
                    Some(count) => atoms.extend(writer.parts(*atom, *count, code)),
                    None => atoms.push(*atom),
                }
            }
        })
    }

    fn yield_parts(&mut self, body: &mut Body, rows: &[Option<usize>], span: Span) {
        let reads = self.in_parts(&mut body.results, rows, span);
        body.statements.extend(reads);
    }

    /// Binds parts in place of rows; what makes the rows, for what wants them whole.
    fn bind_parts(
        &mut self,
        vars: &mut Vec<(Var, Type)>,
        rows: &[Option<usize>],
        span: Span,
    ) -> Vec<Statement> {
        let (new, wholes) = self.split(vars, rows, span);
        *vars = new;
        wholes
    }

    /// Variables for parts in place of those for rows, and what makes the rows of them.
    fn split(
        &mut self,
        vars: &[(Var, Type)],
        rows: &[Option<usize>],
        span: Span,
    ) -> (Vec<(Var, Type)>, Vec<Statement>) {
        let mut split = Vec::with_capacity(vars.len());
        let mut wholes = Vec::new();
        for ((var, ty), row) in vars.iter().zip(rows) {
            let Some(count) = row else {
                split.push((*var, *ty));
                continue;
            };
            self.code(span, |_, code| split.extend(code.fresh(&vec![ty.element(); *count])));
            let parts = atoms(&split[split.len() - count..]);
            wholes.extend(self.whole(*var, *ty, &parts, span));
            self.parts.insert(*var, parts);
            self.has_changed = true;
            let written_out = WrittenOut { span, elements: *count };
            if !self.rows.contains(&written_out) {
                self.rows.push(written_out);
            }
        }
        (split, wholes)
    }

    /// Binds a row, or an array of rows, that is made of its parts.
    fn whole(&mut self, var: Var, ty: Type, parts: &[Atom], span: Span) -> Vec<Statement> {
        self.code(span, |writer, code| {
            let is_sound = writer.sound.is_sound(Atom::Var(var));
            let made = whole(ty, parts, is_sound, code);
            // Under the name that it has had.
            let last = code.statements.last_mut().expect("what makes it");
            assert_eq!(last.results, [(made, ty)], "the last makes it");
            last.results[0].0 = var;
        })
    }

    /// New statements.
    fn code(
        &mut self,
        span: Span,
        write: impl FnOnce(&Writer<'_>, &mut Code<'_>),
    ) -> Vec<Statement> {
        let mut variables = self.variables;
        let mut code = Code::new(&mut variables, span);
        write(self, &mut code);
        let statements = code.statements;
        self.variables = variables;
        statements
    }
}

/// A row, or an array of rows, that is made of its parts; one that is an error if its first part is, unless it is sound
/// (`Note [Errors of rows]`). The last statement makes it.
fn whole(ty: Type, parts: &[Atom], is_sound: bool, code: &mut Code<'_>) -> Var {
    if ty.rank == 1 {
        let row = code.fresh(&[ty]);
        code.push(row.clone(), Operation::Literal(parts.to_vec()));
        if is_sound {
            return row[0].0;
        }
        let equal = code.scalar(ScalarOp::Eq, &[parts[0], parts[0]], BOOL);
        let unequal = code.scalar(ScalarOp::Ne, &[parts[0], parts[0]], BOOL);
        let condition = code.scalar(ScalarOp::Or, &[equal, unequal], BOOL);
        let checked = code.fresh(&[ty]);
        let kind = FaultKind::IndexOutOfRange;
        let values = atoms(&row);
        code.push(checked.clone(), Operation::Assert { condition, kind, values });
        return checked[0].0;
    }
    let elements = vec![Type { rank: ty.rank - 2, ..ty }; parts.len()];
    let rows = code.map(parts.to_vec(), &elements, &[ty.element()], |code, parts| {
        vec![Atom::Var(whole(ty.element(), parts, is_sound, code))]
    });
    rows[0].var().expect("an array")
}
