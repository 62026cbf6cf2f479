//! Takes folds of rows out of conditions that ask for the rows' length.
//!
//! In `{ if null r then 0.0 else mean r : r in rows }` the condition is there for what is folded. A fold inside a condition of
//! an element is a loop of that element ([`mod@crate::flatten`]), which goes from one element of the row to the next; outside
//! it is one pass over all rows. What the condition spares is next to nothing, for the rows left out have no elements, or
//! few ([`MOST_SPARED`]). So the fold goes before the condition, with the maps over the row that it folds.
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::ahead::fold_ahead;
//!
//! let before = parse("\
//! params x0: [][]f64
//! x1: []f64 = map x0
//!   \\x2: []f64
//!     x3: i64 = length x2
//!     x4: bool = eq x3 0i64
//!     x5: f64 = if x4
//!       yield 0.0f64
//!     else
//!       x6: f64 = fold over x2
//!         \\x7: f64, x8: f64
//!           x9: f64 = max x7 x8
//!           yield x9
//!       x10: f64 = sqrt x6
//!       yield x10
//!     yield x5
//! yield x1
//! ").unwrap();
//! let (after, changed) = fold_ahead(before);
//! assert!(changed);
//! assert_eq!(after.to_string(), "\
//! params x0: [][]f64
//! x1: []f64 = map x0
//!   \\x2: []f64
//!     x3: i64 = length x2
//!     x4: bool = eq x3 0i64
//!     x6: f64 = fold if_empty 0.0f64 over x2
//!       \\x7: f64, x8: f64
//!         x9: f64 = max x7 x8
//!         yield x9
//!     x5: f64 = if x4
//!       yield 0.0f64
//!     else
//!       x10: f64 = sqrt x6
//!       yield x10
//!     yield x5
//! yield x1
//! ");
//! ```
//!
//! Note [Folds ahead of conditions]. Only what cannot fail is taken out, and so that no error is there that was not before:
//! where the condition shows that a row has elements, a fold without a start value has one for rows without. An element of a
//! short row may be an error itself; then the program meets a fault that it would not have met, and the interpreter
//! decides. Nothing is taken out of a condition inside a condition or a loop of an element, where it would be a loop all
//! the same, nor where the condition asks for more than the length: it may leave out long rows.

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Operation, Program, Start, Statement, Var};
use weft_ir::{Scalar, ScalarOp};

use crate::partial::may_fail;

/// The rows left out have no more elements than this.
pub const MOST_SPARED: i64 = 16;

/// The program with folds before conditions that ask for the length of what they fold, and whether there are such.
pub fn fold_ahead(mut program: Program) -> (Program, bool) {
    let mut ahead = Ahead::default();
    ahead.body(&mut program.body, false);
    (program, ahead.changed)
}

#[derive(Default)]
struct Ahead {
    /// Of arrays as long as another one, that one.
    like: HashMap<Var, Var>,
    /// Of lengths, whose.
    lengths: HashMap<Var, Var>,
    /// What conditions say of a length.
    conditions: HashMap<Var, Bound>,
    changed: bool,
}

/// What a condition says of the length of an array.
#[derive(Clone, Copy)]
struct Bound {
    array: Var,
    /// Whether the array is long where the condition holds, and not where it does not.
    long_if: bool,
    /// A long array has so many elements at least, and others have fewer.
    least: i64,
}

impl Ahead {
    /// `for_rows` says whether the body is of a map, and in no condition or loop of its elements.
    fn body(&mut self, body: &mut Body, for_rows: bool) {
        let mut statements = Vec::with_capacity(body.statements.len());
        for mut statement in std::mem::take(&mut body.statements) {
            self.note(&statement);
            match &mut statement.operation {
                Operation::Map(lambda, _) => self.body(&mut lambda.body, true),
                Operation::If { condition, then, otherwise } if for_rows => {
                    let bound = condition.var().and_then(|var| self.conditions.get(&var).copied());
                    if let Some(bound) = bound {
                        let long = if bound.long_if { then } else { otherwise };
                        let moved = self.taken(long, bound);
                        self.changed |= !moved.is_empty();
                        statements.extend(moved);
                    }
                }
                Operation::If { .. } | Operation::While { .. } | Operation::For { .. }
                    if !for_rows =>
                {
                    statement.operation.for_each_body_mut(&mut |inner| self.body(inner, false));
                }
                _ => {}
            }
            statements.push(statement);
        }
        body.statements = statements;
    }

    /// Learns what a statement says of lengths.
    fn note(&mut self, statement: &Statement) {
        let Some(&(result, _)) = statement.results.first() else { return };
        match &statement.operation {
            Operation::Map(_, arrays) => {
                if let Some(array) = self.common(arrays) {
                    self.like.extend(statement.results.iter().map(|(var, _)| (*var, array)));
                }
            }
            Operation::Length(Atom::Var(array)) => {
                self.lengths.insert(result, self.like(*array));
            }
            Operation::Scalar(ScalarOp::Not, operands) => {
                let of = operands[0].var().and_then(|var| self.conditions.get(&var).copied());
                if let Some(of) = of {
                    self.conditions.insert(result, Bound { long_if: !of.long_if, ..of });
                }
            }
            Operation::Scalar(op, operands) => {
                if let Some(bound) = self.bound(*op, operands) {
                    self.conditions.insert(result, bound);
                }
            }
            _ => {}
        }
    }

    /// What a comparison says of a length.
    fn bound(&self, op: ScalarOp, operands: &[Atom]) -> Option<Bound> {
        let (op, length, number) = match *operands {
            [Atom::Var(length), Atom::Scalar(Scalar::I64(number))] => (op, length, number),
            [Atom::Scalar(Scalar::I64(number)), Atom::Var(length)] => {
                let turned = match op {
                    ScalarOp::Lt => ScalarOp::Gt,
                    ScalarOp::Le => ScalarOp::Ge,
                    ScalarOp::Gt => ScalarOp::Lt,
                    ScalarOp::Ge => ScalarOp::Le,
                    op => op,
                };
                (turned, length, number)
            }
            _ => return None,
        };
        let array = *self.lengths.get(&length)?;
        if !(0..=MOST_SPARED).contains(&number) {
            return None;
        }
        let (long_if, least) = match op {
            ScalarOp::Eq if number == 0 => (false, 1),
            ScalarOp::Ne if number == 0 => (true, 1),
            ScalarOp::Lt => (false, number),
            ScalarOp::Le => (false, number + 1),
            ScalarOp::Gt => (true, number + 1),
            ScalarOp::Ge => (true, number),
            _ => return None,
        };
        Some(Bound { array, long_if, least })
    }

    /// The array that an array is known to be as long as.
    fn like(&self, array: Var) -> Var {
        self.like.get(&array).copied().unwrap_or(array)
    }

    /// The array that all of these are as long as.
    fn common(&self, arrays: &[Atom]) -> Option<Var> {
        let mut all = arrays.iter().map(|array| array.var().map(|var| self.like(var)));
        let first = all.next()??;
        all.all(|array| array == Some(first)).then_some(first)
    }

    /// Takes the folds out of the branch for long arrays, with what they need from it.
    fn taken(&mut self, branch: &mut Body, bound: Bound) -> Vec<Statement> {
        let mut stays: HashSet<Var> = HashSet::new();
        let mut can_move = Vec::with_capacity(branch.statements.len());
        for statement in &branch.statements {
            self.note(statement);
            let free = statement.operation.free_variables();
            let can =
                free.iter().all(|var| !stays.contains(var)) && self.is_total(statement, bound);
            if !can {
                stays.extend(statement.results.iter().map(|(var, _)| *var));
            }
            can_move.push(can);
        }
        let mut needed: HashSet<Var> = HashSet::new();
        for (statement, can) in branch.statements.iter().zip(&mut can_move).rev() {
            *can &= matches!(statement.operation, Operation::Fold { .. })
                || statement.results.iter().any(|(var, _)| needed.contains(var));
            if *can {
                needed.extend(statement.operation.free_variables());
            }
        }
        let mut moved = Vec::new();
        let mut can_move = can_move.into_iter();
        let mut rest = Vec::with_capacity(branch.statements.len());
        for mut statement in std::mem::take(&mut branch.statements) {
            if can_move.next() != Some(true) {
                rest.push(statement);
                continue;
            }
            if let Operation::Fold { start: start @ Start::None, .. } = &mut statement.operation {
                let zeros = statement.results.iter();
                let zeros = zeros.map(|(_, ty)| Atom::Scalar(Scalar::zero(ty.element)));
                *start = Start::IfEmpty(zeros.collect());
            }
            moved.push(statement);
        }
        branch.statements = rest;
        moved
    }

    /// Whether an operation of the branch for long arrays has a result for short ones too, and costs no more than a pass
    /// over the array.
    fn is_total(&self, statement: &Statement, bound: Bound) -> bool {
        let over = |arrays: &[Atom]| self.common(arrays) == Some(bound.array);
        match &statement.operation {
            Operation::Length(_) => true,
            Operation::Map(lambda, arrays) => over(arrays) && is_total_code(&lambda.body),
            Operation::Fold { operator, start, arrays } => {
                over(arrays)
                    && statement.results.iter().all(|(_, ty)| ty.rank == 0)
                    && is_total_code(&operator.body)
                    && (bound.least > 0 || *start != Start::None)
            }
            _ => is_total_operator(statement),
        }
    }
}

/// Whether a body has nothing but scalar operators that cannot fail.
fn is_total_code(body: &Body) -> bool {
    body.statements.iter().all(is_total_operator)
}

fn is_total_operator(statement: &Statement) -> bool {
    match &statement.operation {
        Operation::Scalar(op, operands) => !may_fail(*op, operands, statement.results[0].1.element),
        _ => false,
    }
}
