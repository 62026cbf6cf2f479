//! Folds, scans and scatters of arrays by operators that are not element by element, as loops.
//!
//! A product of matrices combines whole arrays. Its fold is a loop over the tree of numerics.md: as
//! long as there are several values, blocks of 64 are combined from left to right, all blocks side by
//! side, and their results are the values of the next round.
//!
//! ```text
//! fold f over xs    →    while length xs > 1
//!                          xs = for j < min (length xs - 1) 63 with acc = every 64th of xs
//!                            { if 64 b + j + 1 < length xs then f a xs[64 b + j + 1] else a
//!                            : a in acc ; b in blocks }
//!                        xs[0]
//! ```
//!
//! Scans are in [`scan`], scatters in [`scatter`].

mod scan;
mod scatter;

use std::borrow::Cow;

use weft_ir::ScalarOp;
use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Start, Type, Var};

use super::collective::operator_of_elements;
use crate::code::{BOOL, Code, I64, atoms, integer};
use scatter::Sent;

/// How many values are combined from left to right before their results are combined.
const BLOCK: i64 = 64;

/// The program with loops in place of folds, scans and scatters that flattening has no operation for.
pub(super) fn unfold(program: &Program) -> Cow<'_, Program> {
    if !has_arrays_combined(&program.body) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let mut unfolder = Unfolder { variables: program.variables };
    unfolder.body(&mut program.body);
    program.variables = unfolder.variables;
    Cow::Owned(program)
}

fn has_arrays_combined(body: &Body) -> bool {
    body.statements.iter().any(|statement| {
        let mut inside = is_unfolded(&statement.operation);
        statement.operation.for_each_body(&mut |body| inside |= has_arrays_combined(body));
        inside
    })
}

fn is_unfolded(operation: &Operation) -> bool {
    match operation {
        Operation::Fold { operator, .. } | Operation::Scan { operator, .. } => {
            combines_arrays(operator)
        }
        Operation::Scatter { operator: Some(operator), .. } => combines_arrays(operator),
        _ => false,
    }
}

/// Whether an operator combines whole arrays.
fn combines_arrays(operator: &Lambda) -> bool {
    operator.params.iter().any(|(_, ty)| ty.rank > 0) && operator_of_elements(operator).is_none()
}

struct Unfolder {
    variables: u32,
}

impl Unfolder {
    fn body(&mut self, body: &mut Body) {
        let mut statements = Vec::new();
        for mut statement in std::mem::take(&mut body.statements) {
            statement.operation.for_each_body_mut(&mut |inner| self.body(inner));
            match statement.operation {
                Operation::Fold { operator, start, arrays } if combines_arrays(&operator) => {
                    let mut code = Code::new(&mut self.variables, statement.span);
                    code.fold(&statement.results, &operator, start, arrays);
                    statements.append(&mut code.statements);
                }
                Operation::Scan { form, from_right, operator, start, arrays }
                    if combines_arrays(&operator) =>
                {
                    let mut code = Code::new(&mut self.variables, statement.span);
                    let results = &statement.results;
                    code.scan(results, &operator, (form, from_right), start, arrays);
                    statements.append(&mut code.statements);
                }
                Operation::Scatter {
                    destinations,
                    indices,
                    values,
                    operator: Some(operator),
                    drops,
                } if combines_arrays(&operator) => {
                    let mut code = Code::new(&mut self.variables, statement.span);
                    let sent = Sent { destinations, indices, values, drops };
                    code.scatter(&statement.results, &operator, sent);
                    statements.append(&mut code.statements);
                }
                _ => statements.push(statement),
            }
        }
        body.statements = statements;
    }
}

impl Code<'_> {
    fn fold(
        &mut self,
        results: &[(Var, Type)],
        operator: &Lambda,
        start: Start<Vec<Atom>>,
        arrays: Vec<Atom>,
    ) {
        let types: Vec<Type> = results.iter().map(|(_, ty)| *ty).collect();
        let lists: Vec<Type> = types.iter().map(|ty| ty.array()).collect();
        let folded = self.rounds(&lists, operator, arrays.clone());
        match start {
            Start::None => {
                for (array, result) in folded.iter().zip(results) {
                    let operation = Operation::Index(*array, vec![integer(0)]);
                    self.push(vec![*result], operation);
                }
            }
            Start::Combined(start) => {
                let combine = |code: &mut Code<'_>, folded: Vec<Atom>| {
                    code.apply(operator, &[&start[..], &folded[..]].concat())
                };
                self.unless_empty(results, arrays[0], &folded, start.clone(), combine);
            }
            Start::IfEmpty(start) => {
                self.unless_empty(results, arrays[0], &folded, start, |_, folded| folded);
            }
        }
    }

    /// The first elements of what the rounds left, worked into results, if there are any.
    fn unless_empty(
        &mut self,
        results: &[(Var, Type)],
        array: Atom,
        folded: &[Atom],
        start: Vec<Atom>,
        finish: impl FnOnce(&mut Code<'_>, Vec<Atom>) -> Vec<Atom>,
    ) {
        let length = self.one(Operation::Length(array), I64);
        let some = self.scalar(ScalarOp::Gt, &[length, integer(0)], BOOL);
        let then = self.inner(|code| {
            let types: Vec<Type> = results.iter().map(|(_, ty)| *ty).collect();
            let first = code.elements(folded, integer(0), &types);
            finish(code, first)
        });
        let otherwise = Body { statements: Vec::new(), results: start };
        self.push(results.to_vec(), Operation::If { condition: some, then, otherwise });
    }

    /// The arrays after all rounds: of one element each, or of none.
    fn rounds(&mut self, lists: &[Type], operator: &Lambda, arrays: Vec<Atom>) -> Vec<Atom> {
        let state = self.fresh(lists);
        let values: Vec<Atom> = atoms(&state);
        let condition = self.inner(|code| {
            let length = code.one(Operation::Length(values[0]), I64);
            vec![code.scalar(ScalarOp::Gt, &[length, integer(1)], BOOL)]
        });
        let body = self.inner(|code| code.round(lists, operator, &values));
        self.many(Operation::While { state, initial: arrays, condition, body }, lists)
    }

    /// The results of the blocks.
    fn round(&mut self, lists: &[Type], operator: &Lambda, values: &[Atom]) -> Vec<Atom> {
        let elements: Vec<Type> = lists.iter().map(|ty| ty.element()).collect();
        let length = self.one(Operation::Length(values[0]), I64);
        let rounded = self.scalar(ScalarOp::Add, &[length, integer(BLOCK - 1)], I64);
        let count = self.scalar(ScalarOp::FloorDiv, &[rounded, integer(BLOCK)], I64);
        let blocks = self.one(Operation::Iota(count), I64.array());
        let number = self.fresh(&[I64]);
        let block = Atom::Var(number[0].0);
        let firsts = self.inner(|code| {
            let at = code.scalar(ScalarOp::Mul, &[block, integer(BLOCK)], I64);
            code.elements(values, at, &elements)
        });
        let firsts = Lambda { params: number, body: firsts };
        let initial = self.many(Operation::Map(firsts, vec![blocks]), lists);
        let others = self.scalar(ScalarOp::Sub, &[length, integer(1)], I64);
        let steps = self.scalar(ScalarOp::Min, &[others, integer(BLOCK - 1)], I64);
        let index = self.fresh(&[I64])[0].0;
        let state = self.fresh(lists);
        let mut arrays = vec![blocks];
        arrays.extend(atoms(&state));
        let body = self.inner(|code| {
            let params = code.fresh(&[&[I64], &elements[..]].concat());
            let inputs = atoms(&params);
            let body = code.inner(|code| {
                let first = code.scalar(ScalarOp::Mul, &[inputs[0], integer(BLOCK)], I64);
                let before = code.scalar(ScalarOp::Add, &[first, Atom::Var(index)], I64);
                let at = code.scalar(ScalarOp::Add, &[before, integer(1)], I64);
                let inside = code.scalar(ScalarOp::Lt, &[at, length], BOOL);
                let then = code.inner(|code| {
                    let next = code.elements(values, at, &elements);
                    code.apply(operator, &[&inputs[1..], &next[..]].concat())
                });
                let otherwise = Body { statements: Vec::new(), results: inputs[1..].to_vec() };
                code.many(Operation::If { condition: inside, then, otherwise }, &elements)
            });
            code.many(Operation::Map(Lambda { params, body }, arrays), lists)
        });
        self.many(Operation::For { index, count: steps, state, initial, body }, lists)
    }
}
