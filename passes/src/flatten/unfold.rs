//! Folds of arrays by operators that are not element by element, as loops.
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

use std::borrow::Cow;
use std::collections::HashMap;

use weft_ir::nested::{Atom, Body, Lambda, Operation, Program, Start, Statement, Type, Var};
use weft_ir::{Scalar, ScalarOp, ScalarType, Span};

use super::collective::is_element_by_element;

/// How many values are combined from left to right before their results are combined.
const BLOCK: i64 = 64;

const I64: Type = Type { rank: 0, element: ScalarType::I64 };
const BOOL: Type = Type { rank: 0, element: ScalarType::Bool };

/// The program with loops in place of folds that flattening has no operation for.
pub(super) fn unfold(program: &Program) -> Cow<'_, Program> {
    if !has_fold_of_arrays(&program.body) {
        return Cow::Borrowed(program);
    }
    let mut program = program.clone();
    let mut unfolder = Unfolder { variables: program.variables };
    unfolder.body(&mut program.body);
    program.variables = unfolder.variables;
    Cow::Owned(program)
}

fn has_fold_of_arrays(body: &Body) -> bool {
    body.statements.iter().any(|statement| {
        let mut inside = is_fold_of_arrays(&statement.operation);
        statement.operation.for_each_body(&mut |body| inside |= has_fold_of_arrays(body));
        inside
    })
}

fn is_fold_of_arrays(operation: &Operation) -> bool {
    match operation {
        Operation::Fold { operator, .. } => combines_arrays(operator),
        _ => false,
    }
}

/// Whether an operator combines whole arrays.
fn combines_arrays(operator: &Lambda) -> bool {
    operator.params.iter().any(|(_, ty)| ty.rank > 0) && !is_element_by_element(operator)
}

struct Unfolder {
    variables: u32,
}

impl Unfolder {
    fn body(&mut self, body: &mut Body) {
        for mut statement in std::mem::take(&mut body.statements) {
            statement.operation.for_each_body_mut(&mut |inner| self.body(inner));
            match statement.operation {
                Operation::Fold { operator, start, arrays } if combines_arrays(&operator) => {
                    let mut code = Code { unfolder: self, span: statement.span, body };
                    code.fold(&statement.results, &operator, start, arrays);
                }
                _ => body.statements.push(statement),
            }
        }
    }

    fn fresh(&mut self, types: &[Type]) -> Vec<(Var, Type)> {
        let first = self.variables;
        self.variables += types.len() as u32;
        (first..).map(Var).zip(types.iter().copied()).collect()
    }
}

/// A body under construction.
struct Code<'u, 'b> {
    unfolder: &'u mut Unfolder,
    span: Span,
    body: &'b mut Body,
}

impl Code<'_, '_> {
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
                let combine = |code: &mut Code<'_, '_>, folded: Vec<Atom>| {
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
        finish: impl FnOnce(&mut Code<'_, '_>, Vec<Atom>) -> Vec<Atom>,
    ) {
        let length = self.one(Operation::Length(array), I64);
        let some = self.scalar(ScalarOp::Gt, &[length, integer(0)], BOOL);
        let then = self.inner(|code| {
            let first = code.elements(folded, integer(0), results);
            finish(code, first)
        });
        let otherwise = Body { statements: Vec::new(), results: start };
        self.push(results.to_vec(), Operation::If { condition: some, then, otherwise });
    }

    /// The arrays after all rounds: of one element each, or of none.
    fn rounds(&mut self, lists: &[Type], operator: &Lambda, arrays: Vec<Atom>) -> Vec<Atom> {
        let state = self.unfolder.fresh(lists);
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
        let number = self.unfolder.fresh(&[I64]);
        let block = Atom::Var(number[0].0);
        let typed: Vec<(Var, Type)> = elements.iter().map(|ty| (Var(0), *ty)).collect();
        let firsts = self.inner(|code| {
            let at = code.scalar(ScalarOp::Mul, &[block, integer(BLOCK)], I64);
            code.elements(values, at, &typed)
        });
        let firsts = Lambda { params: number, body: firsts };
        let initial = self.many(Operation::Map(firsts, vec![blocks]), lists);
        let others = self.scalar(ScalarOp::Sub, &[length, integer(1)], I64);
        let steps = self.scalar(ScalarOp::Min, &[others, integer(BLOCK - 1)], I64);
        let index = self.unfolder.fresh(&[I64])[0].0;
        let state = self.unfolder.fresh(lists);
        let mut arrays = vec![blocks];
        arrays.extend(atoms(&state));
        let body = self.inner(|code| {
            let params = code.unfolder.fresh(&[&[I64], &elements[..]].concat());
            let inputs = atoms(&params);
            let body = code.inner(|code| {
                let first = code.scalar(ScalarOp::Mul, &[inputs[0], integer(BLOCK)], I64);
                let before = code.scalar(ScalarOp::Add, &[first, Atom::Var(index)], I64);
                let at = code.scalar(ScalarOp::Add, &[before, integer(1)], I64);
                let inside = code.scalar(ScalarOp::Lt, &[at, length], BOOL);
                let then = code.inner(|code| {
                    let next = code.elements(values, at, &typed);
                    code.apply(operator, &[&inputs[1..], &next[..]].concat())
                });
                let otherwise = Body { statements: Vec::new(), results: inputs[1..].to_vec() };
                code.many(Operation::If { condition: inside, then, otherwise }, &elements)
            });
            code.many(Operation::Map(Lambda { params, body }, arrays), lists)
        });
        self.many(Operation::For { index, count: steps, state, initial, body }, lists)
    }

    /// A copy of an operator's body, applied.
    fn apply(&mut self, operator: &Lambda, operands: &[Atom]) -> Vec<Atom> {
        let params = operator.params.iter().map(|(var, _)| *var);
        let mut names: HashMap<Var, Atom> = params.zip(operands.iter().copied()).collect();
        let mut copy = operator.body.clone();
        self.rename(&mut copy, &mut names);
        self.body.statements.append(&mut copy.statements);
        copy.results
    }

    /// Gives everything that a body binds a new name.
    fn rename(&mut self, body: &mut Body, names: &mut HashMap<Var, Atom>) {
        let replace = |atom: &mut Atom, names: &HashMap<Var, Atom>| {
            if let Atom::Var(var) = atom
                && let Some(name) = names.get(var)
            {
                *atom = *name;
            }
        };
        for statement in &mut body.statements {
            statement.operation.for_each_atom_mut(&mut |atom| replace(atom, names));
            statement.operation.for_each_bound_mut(&mut |var, ty| {
                let name = self.unfolder.fresh(&[ty])[0].0;
                names.insert(*var, Atom::Var(name));
                *var = name;
            });
            statement.operation.for_each_body_mut(&mut |inner| self.rename(inner, names));
            for (var, ty) in &mut statement.results {
                let name = self.unfolder.fresh(&[*ty])[0].0;
                names.insert(*var, Atom::Var(name));
                *var = name;
            }
        }
        body.results.iter_mut().for_each(|atom| replace(atom, names));
    }

    /// The elements of arrays at an index, of these types.
    fn elements(&mut self, arrays: &[Atom], at: Atom, types: &[(Var, Type)]) -> Vec<Atom> {
        let pairs = arrays.iter().zip(types);
        pairs.map(|(array, (_, ty))| self.one(Operation::Index(*array, vec![at]), *ty)).collect()
    }

    fn inner(&mut self, make: impl FnOnce(&mut Code<'_, '_>) -> Vec<Atom>) -> Body {
        let mut body = Body { statements: Vec::new(), results: Vec::new() };
        let mut code = Code { unfolder: self.unfolder, span: self.span, body: &mut body };
        let results = make(&mut code);
        Body { results, ..body }
    }

    fn scalar(&mut self, op: ScalarOp, operands: &[Atom], ty: Type) -> Atom {
        self.one(Operation::Scalar(op, operands.to_vec()), ty)
    }

    fn one(&mut self, operation: Operation, ty: Type) -> Atom {
        self.many(operation, &[ty])[0]
    }

    fn many(&mut self, operation: Operation, types: &[Type]) -> Vec<Atom> {
        let results = self.unfolder.fresh(types);
        let atoms = atoms(&results);
        self.push(results, operation);
        atoms
    }

    fn push(&mut self, results: Vec<(Var, Type)>, operation: Operation) {
        self.body.statements.push(Statement { results, operation, span: self.span });
    }
}

fn atoms(vars: &[(Var, Type)]) -> Vec<Atom> {
    vars.iter().map(|(var, _)| Atom::Var(*var)).collect()
}

fn integer(value: i64) -> Atom {
    Atom::Scalar(Scalar::I64(value))
}
