//! Writes out folds of few elements for each element of a map, in the order of the fold.
//!
//! `{ sum { w[i] * x[j + i] : i in iota 3 } : j in js }` would fold rows of three; now it is a map. That matters
//! most where such folds nest, as in sums over windows, since each of them but the innermost reads
//! what the one within has stored.
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::unroll::unroll;
//!
//! let before = parse("\
//! params x0: []f64, x1: []f64
//! x2: []i64 = iota 2i64
//! x3: []f64 = map x0
//!   \\x4: f64
//!     x5: []f64 = map x2
//!       \\x6: i64
//!         x7: f64 = index x1 x6
//!         x8: f64 = mul x4 x7
//!         yield x8
//!     x9: f64 = fold from 0.0f64 over x5
//!       \\x10: f64, x11: f64
//!         x12: f64 = add x10 x11
//!         yield x12
//!     yield x9
//! yield x3
//! ").unwrap();
//! let (after, written_out) = unroll(before);
//! assert_eq!(written_out.len(), 1);
//! assert_eq!(after.to_string(), "\
//! params x0: []f64, x1: []f64
//! x3: []f64 = map x0
//!   \\x4: f64
//!     x13: f64 = index x1 0i64
//!     x14: f64 = mul x4 x13
//!     x15: f64 = index x1 1i64
//!     x16: f64 = mul x4 x15
//!     x17: f64 = add x14 x16
//!     x18: f64 = add 0.0f64 x17
//!     yield x18
//! yield x3
//! ");
//! ```
//!
//! A fold is one block of the tree of numerics.md if it has at most 64 elements: from left to right, and then the
//! start value on the left. What cannot be seen to have so many elements stays, and what yields arrays. A map
//! that something else reads too stays as well: its elements would be computed twice.

use std::collections::{BTreeSet, HashMap};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Start, Statement, Type, Var};
use weft_ir::{Column, Scalar, Span};

use crate::code::{Code, integer};
use crate::operator_cost::operator_cost;

/// Folds of more elements stay.
const MOST_ELEMENTS: usize = 8;

/// What is written out for one fold may cost as much as so many loads. It is 5 by 5 products of what is read in two
/// places, about.
const MOST_COST: u32 = 256;

/// A fold that has been written out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrittenOut {
    /// The expression.
    pub span: Span,
    /// How many elements it has.
    pub elements: usize,
}

/// The program with folds of few elements in place, and which these are. Constants and common terms are those of
/// each element: what shares and folds these is to follow.
pub fn unroll(mut program: Program) -> (Program, Vec<WrittenOut>) {
    let mut uses = vec![0; program.variables as usize];
    count_uses(&program.body, &mut uses);
    let mut unroller = Unroller {
        uses,
        made: HashMap::new(),
        names: HashMap::new(),
        variables: program.variables,
        written_out: Vec::new(),
    };
    unroller.body(&mut program.body, false);
    program.variables = unroller.variables;
    (program, unroller.written_out)
}

struct Unroller {
    /// How often each variable of the program is used.
    uses: Vec<usize>,
    /// What is known of arrays.
    made: HashMap<Var, Made>,
    /// What the folds have become that are written out.
    names: HashMap<Var, Atom>,
    variables: u32,
    written_out: Vec<WrittenOut>,
}

/// An array of a known length.
#[derive(Clone)]
struct Made {
    length: usize,
    /// The type of an element.
    ty: Type,
    elements: Elements,
}

#[derive(Clone)]
enum Elements {
    Iota,
    Literal(Vec<Atom>),
    Replicate(Atom),
    Constant(Column),
    /// They are read.
    Stored,
}

/// The statements of a body so far, and which of them binds what.
#[derive(Default)]
struct Around {
    statements: Vec<Statement>,
    by_var: HashMap<Var, usize>,
}

impl Unroller {
    fn body(&mut self, body: &mut Body, in_map: bool) {
        let mut around = Around::default();
        let before = self.written_out.len();
        for mut statement in std::mem::take(&mut body.statements) {
            statement.operation.for_each_atom_mut(&mut |atom| *atom = self.name(*atom));
            let inside = match &statement.operation {
                Operation::Map(..) => true,
                Operation::Fold { .. } | Operation::Scan { .. } | Operation::Scatter { .. } => {
                    false
                }
                _ => in_map,
            };
            statement.operation.for_each_body_mut(&mut |body| self.body(body, inside));
            if in_map && self.fold(&statement, &mut around) {
                continue;
            }
            self.note(&statement);
            for (var, _) in &statement.results {
                around.by_var.insert(*var, around.statements.len());
            }
            around.statements.push(statement);
        }
        body.statements = around.statements;
        body.results.iter_mut().for_each(|atom| *atom = self.name(*atom));
        if self.written_out.len() > before {
            drop_unused(body);
        }
    }

    fn name(&self, atom: Atom) -> Atom {
        match atom {
            Atom::Var(var) => self.names.get(&var).copied().unwrap_or(atom),
            Atom::Scalar(_) => atom,
        }
    }

    /// Notes what is known of the results of an operation.
    fn note(&mut self, statement: &Statement) {
        let of_length = |length: &Atom| match length {
            Atom::Scalar(Scalar::I64(length)) => usize::try_from(*length).ok(),
            Atom::Scalar(_) | Atom::Var(_) => None,
        };
        let (length, elements) = match &statement.operation {
            Operation::Iota(length) => (of_length(length), Elements::Iota),
            Operation::Replicate(length, value) => (of_length(length), Elements::Replicate(*value)),
            Operation::Literal(atoms) => (Some(atoms.len()), Elements::Literal(atoms.clone())),
            Operation::Constant(column) => (Some(column.len()), Elements::Constant(column.clone())),
            // It fails if the lengths differ.
            Operation::Map(_, arrays) => (self.length(arrays), Elements::Stored),
            _ => return,
        };
        let Some(length) = length else { return };
        for (var, ty) in &statement.results {
            let made = Made { length, ty: ty.element(), elements: elements.clone() };
            self.made.insert(*var, made);
        }
    }

    fn made(&self, array: Atom) -> Option<&Made> {
        match array {
            Atom::Var(var) => self.made.get(&var),
            Atom::Scalar(_) => None,
        }
    }

    /// The length of arrays, if all are known to have it.
    fn length(&self, arrays: &[Atom]) -> Option<usize> {
        let first = self.made(*arrays.first()?)?.length;
        let same = |array: &Atom| self.made(*array).is_some_and(|made| made.length == first);
        arrays.iter().all(same).then_some(first)
    }

    /// Writes a statement out if it is a fold of few elements. Whether it is.
    fn fold(&mut self, statement: &Statement, around: &mut Around) -> bool {
        let Operation::Fold { operator, start, arrays } = &statement.operation else {
            return false;
        };
        let scalars = statement.results.iter().all(|(_, ty)| ty.rank == 0);
        let Some(length @ 1..=MOST_ELEMENTS) = self.length(arrays) else { return false };
        let (Some(of_operator), Some(of_elements)) =
            (cost(&operator.body), self.cost_of_elements(arrays, around))
        else {
            return false;
        };
        if !scalars || (of_operator + of_elements).saturating_mul(length as u32) > MOST_COST {
            return false;
        }
        let mut code = Code::new(&mut self.variables, statement.span);
        let mut total: Option<Vec<Atom>> = None;
        for at in 0..length {
            let mut applied = HashMap::new();
            let of =
                |array: &Atom| element(&self.made, *array, at, around, &mut code, &mut applied);
            let elements: Vec<Atom> = arrays.iter().map(of).collect();
            total = Some(match total {
                None => elements,
                Some(total) => code.apply(operator, &[total, elements].concat()),
            });
        }
        let mut total = total.expect("there are elements");
        if let Start::Combined(start) = start {
            total = code.apply(operator, &[start.clone(), total].concat());
        }
        for (written, at) in code.statements.into_iter().zip(around.statements.len()..) {
            for (var, _) in &written.results {
                around.by_var.insert(*var, at);
            }
            around.statements.push(written);
        }
        for ((var, _), atom) in statement.results.iter().zip(total) {
            self.names.insert(*var, atom);
        }
        self.written_out.push(WrittenOut { span: statement.span, elements: length });
        true
    }

    /// What an element of each of these arrays costs, where nothing but what uses all of them uses one of them
    /// that is computed; nothing if they cannot be written out.
    fn cost_of_elements(&self, arrays: &[Atom], around: &Around) -> Option<u32> {
        let mut sum = 0_u32;
        let mut seen = BTreeSet::new();
        for array in arrays {
            sum = sum.saturating_add(match computed(*array, around) {
                Some((at, lambda, inputs)) => {
                    if !seen.insert(at) {
                        continue;
                    }
                    // All that is used of it is used here, once.
                    let results = around.statements[at].results.iter();
                    let mut uses = results.map(|(var, _)| {
                        let here = arrays.iter().filter(|&&array| array == Atom::Var(*var)).count();
                        (here, self.uses.get(var.0 as usize).copied().unwrap_or(0))
                    });
                    if !uses.all(|(here, all)| here == all) {
                        return None;
                    }
                    self.cost_of_elements(inputs, around)?.saturating_add(cost(&lambda.body)?)
                }
                None => 1,
            });
        }
        Some(sum)
    }
}

/// The map in this body that an array is the result of: which statement, its function, and its arrays.
fn computed(array: Atom, around: &Around) -> Option<(usize, &Lambda, &[Atom])> {
    let Atom::Var(var) = array else { return None };
    let at = *around.by_var.get(&var)?;
    match &around.statements[at].operation {
        Operation::Map(lambda, arrays) => Some((at, lambda, arrays)),
        _ => None,
    }
}

/// An element of an array of known length; `applied` are the elements there of the maps in this body.
fn element(
    made: &HashMap<Var, Made>,
    array: Atom,
    at: usize,
    around: &Around,
    code: &mut Code<'_>,
    applied: &mut HashMap<usize, Vec<Atom>>,
) -> Atom {
    let Atom::Var(var) = array else { panic!("an array is no scalar") };
    if let Some((statement, lambda, arrays)) = computed(array, around) {
        let result = around.statements[statement].results.iter().position(|(own, _)| *own == var);
        let result = result.expect("it is one of the results");
        if !applied.contains_key(&statement) {
            let of = |array: &Atom| element(made, *array, at, around, code, applied);
            let operands: Vec<Atom> = arrays.iter().map(of).collect();
            applied.insert(statement, code.apply(lambda, &operands));
        }
        return applied[&statement][result];
    }
    let index = integer(at as i64);
    let known = match &made[&var].elements {
        Elements::Iota => Some(index),
        Elements::Literal(atoms) => Some(atoms[at]),
        Elements::Replicate(value) => Some(*value),
        Elements::Constant(column) => column.scalar(at).map(Atom::Scalar),
        Elements::Stored => None,
    };
    known.unwrap_or_else(|| code.one(Operation::Index(array, vec![index]), made[&var].ty))
}

/// What scalar code costs; nothing if it is more than that.
fn cost(body: &Body) -> Option<u32> {
    let mut sum = 0_u32;
    for statement in &body.statements {
        if statement.results.iter().any(|(_, ty)| ty.rank > 0) {
            return None;
        }
        sum = sum.saturating_add(match &statement.operation {
            Operation::Scalar(op, _) => operator_cost(*op),
            Operation::Random(..) => 20,
            Operation::Index(..) | Operation::Length(_) | Operation::Extent(..) => 2,
            Operation::Assert { .. } => 1,
            Operation::If { then, otherwise, .. } => {
                cost(then)?.saturating_add(cost(otherwise)?).saturating_add(1)
            }
            _ => return None,
        });
    }
    Some(sum)
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

/// Removes statements whose results nothing uses: the maps that folds were of, and what these alone used.
fn drop_unused(body: &mut Body) {
    fn see(operation: &Operation, used: &mut BTreeSet<Var>) {
        operation.for_each_atom(&mut |atom| {
            if let Atom::Var(var) = atom {
                used.insert(*var);
            }
        });
        operation.for_each_body(&mut |body| {
            for statement in &body.statements {
                see(&statement.operation, used);
            }
            used.extend(variables(&body.results));
        });
    }
    fn variables(atoms: &[Atom]) -> impl Iterator<Item = Var> {
        atoms.iter().filter_map(|atom| atom.var())
    }
    let mut used: BTreeSet<Var> = variables(&body.results).collect();
    let mut kept = Vec::new();
    for statement in std::mem::take(&mut body.statements).into_iter().rev() {
        if statement.results.iter().any(|(var, _)| used.contains(var)) {
            see(&statement.operation, &mut used);
            kept.push(statement);
        }
    }
    kept.reverse();
    body.statements = kept;
}
