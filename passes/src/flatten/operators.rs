//! Operators on arrays, in the form that flattening knows: one map over all that they combine.
//!
//! Components that have nothing to do with each other become operations of their own, so that rows may
//! be combined beside scalars. What maps do one after the other, one map does.
//!
//! ```text
//! fold \x1: []f64, x2: i64, x3: []f64, x4: i64       fold \x1: []f64, x3: []f64
//!        x5 = map x1 x3 (gt)                                x9 = map x1 x3
//!        x6 = map x5 x1 x3 (select)             →                  \x7, x8: gt, select
//!        x7 = add x2 x4                                     yield x9
//!        yield x6 x7                                 fold \x2: i64, x4: i64 …
//! ```
//!
//! A map over all operands is an error where their lengths differ, also where a map over some of them
//! would not be: then compiled code meets a fault, and the interpreter decides.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

use weft_ir::ScalarOp;
use weft_ir::nested::{
    Atom, Body, Lambda, Operation, Program, Start, Statement, Type, Var, free_variables,
};

use super::collective::operator_of_elements;
use crate::code::{Code, atoms, renamed};

/// The program with operators on arrays that work element by element as one map each, where they do.
pub(super) fn plain_operators(program: &Program) -> Cow<'_, Program> {
    if !has_operator_on_arrays(&program.body) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let mut rewriter = Rewriter { variables: program.variables };
    rewriter.body(&mut program.body);
    program.variables = rewriter.variables;
    Cow::Owned(program)
}

fn has_operator_on_arrays(body: &Body) -> bool {
    body.statements.iter().any(|statement| {
        let mut inside = operator_of(&statement.operation).is_some_and(combines_arrays);
        statement.operation.for_each_body(&mut |body| inside |= has_operator_on_arrays(body));
        inside
    })
}

fn operator_of(operation: &Operation) -> Option<&Lambda> {
    match operation {
        Operation::Fold { operator, .. } | Operation::Scan { operator, .. } => Some(operator),
        Operation::Scatter { operator, .. } => operator.as_ref(),
        _ => None,
    }
}

fn combines_arrays(operator: &Lambda) -> bool {
    operator.params.iter().any(|(_, ty)| ty.rank > 0)
}

struct Rewriter {
    variables: u32,
}

impl Rewriter {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::new();
        for mut statement in std::mem::take(&mut body.statements) {
            statement.operation.for_each_body_mut(&mut |inner| self.body(inner));
            if operator_of(&statement.operation).is_some_and(combines_arrays) {
                let mut code = Code::new(&mut self.variables, statement.span);
                code.combination(statement);
                statements.append(&mut code.statements);
            } else {
                statements.push(statement);
            }
        }
        body.statements = statements;
    }
}

impl Code<'_> {
    /// A fold, scan or scatter with an operator on arrays.
    fn combination(&mut self, statement: Statement) {
        let operator = operator_of(&statement.operation).expect("it has one");
        let count = operator.params.len() / 2;
        // Each group by itself first: its rows may have other lengths than those of the others.
        let groups = independent(operator);
        let operators: Option<Vec<Lambda>> =
            groups.iter().map(|group| self.plain(operator, group)).collect();
        if let Some(operators) = operators {
            for (group, operator) in groups.iter().zip(operators) {
                self.part(&statement, group, operator);
            }
            return;
        }
        let whole: Vec<usize> = (0..count).collect();
        match self.plain(operator, &whole) {
            Some(plain) => self.part(&statement, &whole, plain),
            None => self.statements.push(statement),
        }
    }

    /// The operation on some of the components, by their operator.
    fn part(&mut self, statement: &Statement, group: &[usize], operator: Lambda) {
        let pick = |atoms: &[Atom]| group.iter().map(|&at| atoms[at]).collect::<Vec<_>>();
        let of_start = |start: &Start<Vec<Atom>>| match start {
            Start::None => Start::None,
            Start::Combined(atoms) => Start::Combined(pick(atoms)),
            Start::IfEmpty(atoms) => Start::IfEmpty(pick(atoms)),
        };
        let results: Vec<(Var, Type)> = group.iter().map(|&at| statement.results[at]).collect();
        let operation = match &statement.operation {
            Operation::Fold { start, arrays, .. } => {
                Operation::Fold { operator, start: of_start(start), arrays: pick(arrays) }
            }
            Operation::Scan { form, from_right, start, arrays, .. } => {
                let (form, from_right) = (*form, *from_right);
                let (start, arrays) = (of_start(start), pick(arrays));
                Operation::Scan { form, from_right, operator, start, arrays }
            }
            Operation::Scatter { destinations, indices, values, drops, .. } => Operation::Scatter {
                destinations: pick(destinations),
                indices: *indices,
                values: pick(values),
                operator: Some(operator),
                drops: *drops,
            },
            _ => panic!("flatten: {:?} has no operator", statement.operation),
        };
        self.push(results, operation);
    }

    /// The operator on some components that nothing else in it depends on, if it combines scalars, or
    /// arrays of one rank element by element.
    fn plain(&mut self, operator: &Lambda, group: &[usize]) -> Option<Lambda> {
        let count = operator.params.len() / 2;
        let (left, right) = operator.params.split_at(count);
        let pick = |params: &[(Var, Type)]| group.iter().map(|&at| params[at]).collect::<Vec<_>>();
        let results: Vec<Atom> = group.iter().map(|&at| operator.body.results[at]).collect();
        let statements = needed(&operator.body.statements, &results);
        let params = [pick(left), pick(right)].concat();
        let part = Lambda { params, body: Body { statements, results } };
        // What the parts have in common, each has under names of its own.
        let types: Vec<Type> = part.params.iter().map(|(_, ty)| *ty).collect();
        let params = self.fresh(&types);
        let body = self.inner(|code| code.apply(&part, &atoms(&params)));
        let rank = types[0].rank;
        if types.iter().any(|ty| ty.rank != rank) {
            return None;
        }
        let body = if rank == 0 { body } else { self.one_map(&params, &body)? };
        let lambda = Lambda { params, body };
        operator_of_elements(&lambda).is_some().then_some(lambda)
    }

    /// The body as one map over all parameters, if it consists of maps over them.
    fn one_map(&mut self, params: &[(Var, Type)], body: &Body) -> Option<Body> {
        let types: Vec<Type> = params.iter().map(|(_, ty)| ty.element()).collect();
        let elements = self.fresh(&types);
        let mut rows = Rows::default();
        for ((var, _), element) in params.iter().zip(atoms(&elements)) {
            rows.meanings.insert(*var, Meaning::Row(element));
        }
        let mut fits = true;
        let inner = self.inner(|code| {
            fits = body.statements.iter().all(|statement| rows.statement(code, statement));
            let results = body.results.iter().map(|result| rows.row(*result));
            results.collect::<Option<Vec<Atom>>>().unwrap_or_default()
        });
        if !fits || inner.results.len() != body.results.len() {
            return None;
        }
        let inner = if types[0].rank == 0 { inner } else { self.one_map(&elements, &inner)? };
        let lists: Vec<Type> = types[..body.results.len()].iter().map(|ty| ty.array()).collect();
        let map = Operation::Map(Lambda { params: elements, body: inner }, atoms(params));
        Some(self.inner(|code| code.many(map, &lists)))
    }
}

/// What is known of the names in an operator's body, where the new map is inside them.
#[derive(Default)]
struct Rows {
    meanings: HashMap<Var, Meaning>,
}

#[derive(Clone, Copy)]
enum Meaning {
    /// An array as long as the operands: its element, inside.
    Row(Atom),
    /// How long they are.
    Length,
    /// A condition that the map itself checks.
    Holds,
    /// A scalar that no operand is needed for: what it is called inside.
    Scalar(Atom),
}

impl Rows {
    /// Writes what a statement does for one element; false if that cannot be told.
    fn statement(&mut self, code: &mut Code<'_>, statement: &Statement) -> bool {
        match &statement.operation {
            Operation::Map(lambda, arrays) => {
                let elements: Option<Vec<Atom>> =
                    arrays.iter().map(|array| self.row(*array)).collect();
                let (Some(elements), Some(names)) =
                    (elements, self.names(&lambda.free_variables()))
                else {
                    return false;
                };
                let results = code.apply_under(lambda, &elements, names);
                self.note(&statement.results, results.into_iter().map(Meaning::Row));
                true
            }
            Operation::Replicate(Atom::Var(length), value) => {
                let is_scalar = statement.results[0].1.rank == 1;
                match (self.meanings.get(length), self.scalar(*value)) {
                    (Some(Meaning::Length), Some(value)) if is_scalar => {
                        self.note(&statement.results, [Meaning::Row(value)]);
                        true
                    }
                    _ => false,
                }
            }
            Operation::Length(Atom::Var(array)) => match self.meanings.get(array) {
                Some(Meaning::Row(_)) => {
                    self.note(&statement.results, [Meaning::Length]);
                    true
                }
                _ => false,
            },
            Operation::Scalar(ScalarOp::Eq, operands)
                if operands.iter().all(|atom| self.is_length(*atom)) =>
            {
                self.note(&statement.results, [Meaning::Holds]);
                true
            }
            Operation::Assert { condition: Atom::Var(condition), values, .. }
                if matches!(self.meanings.get(condition), Some(Meaning::Holds)) =>
            {
                let rows: Option<Vec<Atom>> = values.iter().map(|value| self.row(*value)).collect();
                let Some(rows) = rows else { return false };
                self.note(&statement.results, rows.into_iter().map(Meaning::Row));
                true
            }
            Operation::Scalar(..) | Operation::Index(..) => {
                if statement.results.iter().any(|(_, ty)| ty.rank > 0) {
                    return false;
                }
                let used = statement.operation.free_variables();
                let Some(mut names) = self.names(&used) else { return false };
                code.copy(statement, &mut names);
                let own = statement.results.iter();
                let inside: Vec<Meaning> =
                    own.map(|(var, _)| Meaning::Scalar(renamed(Atom::Var(*var), &names))).collect();
                self.note(&statement.results, inside);
                true
            }
            _ => false,
        }
    }

    fn note(&mut self, vars: &[(Var, Type)], meanings: impl IntoIterator<Item = Meaning>) {
        self.meanings.extend(vars.iter().map(|(var, _)| *var).zip(meanings));
    }

    /// The element of an array as long as the operands.
    fn row(&self, array: Atom) -> Option<Atom> {
        match array {
            Atom::Var(var) => match self.meanings.get(&var) {
                Some(Meaning::Row(element)) => Some(*element),
                _ => None,
            },
            Atom::Scalar(_) => None,
        }
    }

    /// A scalar that no operand is needed for.
    fn scalar(&self, atom: Atom) -> Option<Atom> {
        match atom {
            Atom::Var(var) => match self.meanings.get(&var) {
                Some(Meaning::Scalar(inside)) => Some(*inside),
                Some(Meaning::Row(_) | Meaning::Length | Meaning::Holds) => None,
                None => Some(atom),
            },
            Atom::Scalar(_) => Some(atom),
        }
    }

    fn is_length(&self, atom: Atom) -> bool {
        matches!(atom, Atom::Var(var) if matches!(self.meanings.get(&var), Some(Meaning::Length)))
    }

    /// What code that uses these variables calls them inside, if it can stand there.
    fn names(&self, used: &BTreeSet<Var>) -> Option<HashMap<Var, Atom>> {
        used.iter().map(|var| Some((*var, self.scalar(Atom::Var(*var))?))).collect()
    }
}

/// The components of an operator, in groups that do not depend on each other. Those of scalars stay
/// together.
fn independent(operator: &Lambda) -> Vec<Vec<usize>> {
    let count = operator.params.len() / 2;
    let (left, right) = operator.params.split_at(count);
    let mut groups: Vec<(BTreeSet<usize>, bool)> = Vec::new();
    for (at, result) in operator.body.results.iter().enumerate() {
        let statements = needed(&operator.body.statements, &[*result]);
        let used = free_variables(&[&Body { statements, results: vec![*result] }]);
        let mut group: BTreeSet<usize> = (0..count)
            .filter(|&at| used.contains(&left[at].0) || used.contains(&right[at].0))
            .collect();
        group.insert(at);
        let mut is_scalar = group.iter().all(|&at| left[at].1.rank == 0);
        groups.retain(|(other, other_is_scalar)| {
            let joined = !other.is_disjoint(&group) || (is_scalar && *other_is_scalar);
            if joined {
                group.extend(other);
                is_scalar &= other_is_scalar;
            }
            !joined
        });
        groups.push((group, is_scalar));
    }
    groups.into_iter().map(|(group, _)| group.into_iter().collect()).collect()
}

/// The statements that some results depend on.
fn needed(statements: &[Statement], results: &[Atom]) -> Vec<Statement> {
    let mut wanted: BTreeSet<Var> = BTreeSet::new();
    wanted.extend(results.iter().filter_map(|atom| atom.var()));
    let mut kept = Vec::new();
    for statement in statements.iter().rev() {
        if statement.results.iter().any(|(var, _)| wanted.contains(var)) {
            wanted.extend(statement.operation.free_variables());
            kept.push(statement.clone());
        }
    }
    kept.reverse();
    kept
}
