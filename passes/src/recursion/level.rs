//! A body that calls, over the arguments of one level: the calls that it makes, or, with their
//! results, what it yields.

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Function, Lambda, Operation, Statement, Type, Var};
use weft_ir::{ScalarOp, Span};

use super::empty_array;
use super::shape::{calls_of_operation, makes_one_call, note};
use crate::code::{Code, I64, atoms, integer, renamed};

/// A recursion.
pub(super) struct Level<'f> {
    pub(super) function: &'f Function,
    /// The numbers of the parameters that differ from call to call.
    pub(super) kept: Vec<usize>,
    /// The others, and what they are.
    pub(super) fixed: Vec<(Var, Atom)>,
    /// Whether one call starts it, and a call is a few scalar operations.
    pub(super) is_small: bool,
    /// Where it starts.
    pub(super) span: Span,
}

/// The arguments of the calls that some code makes, or the results of these calls: leaf by leaf.
#[derive(Clone)]
pub(super) enum Calls {
    /// Of one call.
    One(Vec<Atom>),
    /// Arrays, of any number of calls.
    Many(Vec<Atom>),
}

impl Level<'_> {
    /// The types of the arguments that differ.
    pub(super) fn kept_types(&self) -> Vec<Type> {
        self.kept.iter().map(|&number| self.function.params[number].1).collect()
    }

    /// The types of arrays of them.
    pub(super) fn list_types(&self) -> Vec<Type> {
        self.kept_types().iter().map(|ty| ty.array()).collect()
    }

    /// The arguments as arrays.
    pub(super) fn lists(&self, code: &mut Code<'_>, calls: Calls) -> Vec<Atom> {
        match calls {
            Calls::Many(lists) => lists,
            Calls::One(args) => {
                let pairs = args.into_iter().zip(self.list_types());
                pairs.map(|(arg, ty)| code.one(Operation::Literal(vec![arg]), ty)).collect()
            }
        }
    }

    /// The calls that a body makes. What needs their results is left out.
    fn calls(
        &self,
        code: &mut Code<'_>,
        body: &Body,
        names: &mut HashMap<Var, Atom>,
        tainted: &mut HashSet<Var>,
    ) -> Calls {
        let mut parts = Vec::new();
        for statement in &body.statements {
            code.span = statement.span;
            if calls_of_operation(&statement.operation) {
                parts.push(self.calls_of(code, statement, names, tainted));
                tainted.extend(statement.results.iter().map(|(var, _)| *var));
            } else if !note(statement, tainted) {
                code.copy(statement, names);
            }
        }
        if parts.len() < 2 {
            return parts.pop().unwrap_or_else(|| {
                let types = self.list_types();
                Calls::Many(types.into_iter().map(|ty| empty_array(code, ty)).collect())
            });
        }
        let parts: Vec<Vec<Atom>> = parts.into_iter().map(|part| self.lists(code, part)).collect();
        let mut parts = parts.into_iter();
        let first = parts.next().expect("two or more");
        Calls::Many(parts.fold(first, |left, right| {
            let pairs = left.into_iter().zip(right).zip(self.list_types());
            pairs.map(|((left, right), ty)| code.one(Operation::Concat(left, right), ty)).collect()
        }))
    }

    /// The calls that a statement makes.
    pub(super) fn calls_of(
        &self,
        code: &mut Code<'_>,
        statement: &Statement,
        names: &mut HashMap<Var, Atom>,
        tainted: &mut HashSet<Var>,
    ) -> Calls {
        match &statement.operation {
            Operation::Call(_, args) => {
                let args = self.kept.iter().map(|&number| renamed(args[number], names));
                Calls::One(args.collect())
            }
            Operation::If { condition, then, otherwise } => {
                let condition = renamed(*condition, names);
                let [then, otherwise] = [then, otherwise].map(|body| {
                    code.inner(|code| {
                        let calls = self.calls(code, body, names, tainted);
                        self.lists(code, calls)
                    })
                });
                let operation = Operation::If { condition, then, otherwise };
                Calls::Many(code.many(operation, &self.list_types()))
            }
            Operation::Map(lambda, arrays) => {
                let one = makes_one_call(&lambda.body);
                let types = if one { self.kept_types() } else { self.list_types() };
                let mapped = self.mapped(code, lambda, arrays, names, &types, |code, names| {
                    match self.calls(code, &lambda.body, names, tainted) {
                        Calls::One(atoms) | Calls::Many(atoms) => atoms,
                    }
                });
                if one {
                    return Calls::Many(mapped);
                }
                let pairs = mapped.into_iter().zip(&types);
                let flat = pairs.map(|(lists, ty)| code.one(Operation::Flatten(lists), *ty));
                Calls::Many(flat.collect())
            }
            operation => panic!("recursion: a call in {operation:?}"),
        }
    }

    /// A map with the parameters of a lambda.
    fn mapped(
        &self,
        code: &mut Code<'_>,
        lambda: &Lambda,
        arrays: &[Atom],
        names: &mut HashMap<Var, Atom>,
        results: &[Type],
        make: impl FnOnce(&mut Code<'_>, &mut HashMap<Var, Atom>) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let arrays = arrays.iter().map(|array| renamed(*array, names)).collect();
        let elements: Vec<Type> = lambda.params.iter().map(|(_, ty)| *ty).collect();
        code.map(arrays, &elements, results, |code, inputs| {
            names.extend(lambda.params.iter().map(|(var, _)| *var).zip(inputs.iter().copied()));
            make(code, names)
        })
    }

    /// What a body yields, given the results of the calls that it makes.
    fn results(
        &self,
        code: &mut Code<'_>,
        body: &Body,
        names: &mut HashMap<Var, Atom>,
        below: &Calls,
    ) -> Vec<Atom> {
        let calling = |statement: &&Statement| calls_of_operation(&statement.operation);
        let only = body.statements.iter().filter(calling).count() == 1;
        let mut tainted = HashSet::new();
        let mut offset = integer(0);
        for statement in &body.statements {
            code.span = statement.span;
            if !calling(&statement) {
                note(statement, &mut tainted);
                code.copy(statement, names);
                continue;
            }
            let own = match below {
                _ if only => below.clone(),
                Calls::One(_) => panic!("recursion: several statements share one call"),
                Calls::Many(lists) => {
                    let (own, count) =
                        self.portion(code, statement, names, &mut tainted, lists, offset);
                    offset = code.scalar(ScalarOp::Add, &[offset, count], I64);
                    own
                }
            };
            tainted.extend(statement.results.iter().map(|(var, _)| *var));
            match own {
                Calls::One(values) => {
                    names.extend(statement.results.iter().map(|(var, _)| *var).zip(values));
                }
                Calls::Many(lists) => {
                    let types: Vec<Type> = statement.results.iter().map(|(_, ty)| *ty).collect();
                    let new = code.fresh(&types);
                    self.finish(code, statement, names, lists, &new);
                    let new = atoms(&new);
                    names.extend(statement.results.iter().map(|(var, _)| *var).zip(new));
                }
            }
        }
        body.results.iter().map(|atom| renamed(*atom, names)).collect()
    }

    /// Of the results of all calls of a body those of one statement, which begin at an offset, and
    /// how many they are.
    fn portion(
        &self,
        code: &mut Code<'_>,
        statement: &Statement,
        names: &mut HashMap<Var, Atom>,
        tainted: &mut HashSet<Var>,
        lists: &[Atom],
        offset: Atom,
    ) -> (Calls, Atom) {
        if let Operation::Call(..) = statement.operation {
            let elements = code.elements(lists, offset, &self.function.results);
            return (Calls::One(elements), integer(1));
        }
        let calls = self.calls_of(code, statement, names, tainted);
        let calls = self.lists(code, calls);
        let count = code.one(Operation::Length(calls[0]), I64);
        let pairs = lists.iter().zip(&self.function.results);
        let part = pairs.map(|(list, ty)| code.slice(*list, *ty, offset, count)).collect();
        (Calls::Many(part), count)
    }

    /// A statement, given the results of the calls that it makes.
    pub(super) fn finish(
        &self,
        code: &mut Code<'_>,
        statement: &Statement,
        names: &mut HashMap<Var, Atom>,
        below: Vec<Atom>,
        results: &[(Var, Type)],
    ) {
        match &statement.operation {
            Operation::Call(..) => {
                for (list, result) in below.into_iter().zip(results) {
                    code.push(vec![*result], Operation::Index(list, vec![integer(0)]));
                }
            }
            Operation::If { condition, then, otherwise } => {
                let condition = renamed(*condition, names);
                let below = Calls::Many(below);
                let [then, otherwise] = [then, otherwise]
                    .map(|body| code.inner(|code| self.results(code, body, names, &below)));
                code.push(results.to_vec(), Operation::If { condition, then, otherwise });
            }
            Operation::Map(lambda, arrays) => {
                let one = makes_one_call(&lambda.body);
                let below = match one {
                    true => below,
                    false => self.by_caller(code, lambda, arrays, names, below),
                };
                let mut params =
                    code.fresh(&lambda.params.iter().map(|(_, ty)| *ty).collect::<Vec<Type>>());
                let own = lambda.params.iter().map(|(var, _)| *var);
                names.extend(own.zip(atoms(&params)));
                let types = self.function.results.iter();
                let types: Vec<Type> = types.map(|ty| if one { *ty } else { ty.array() }).collect();
                let given = code.fresh(&types);
                let values = atoms(&given);
                let values = if one { Calls::One(values) } else { Calls::Many(values) };
                let body = code.inner(|code| self.results(code, &lambda.body, names, &values));
                params.extend(given);
                let arrays = arrays.iter().map(|array| renamed(*array, names)).chain(below);
                let operation = Operation::Map(Lambda { params, body }, arrays.collect());
                code.push(results.to_vec(), operation);
            }
            operation => panic!("recursion: a call in {operation:?}"),
        }
    }

    /// The results of the calls of a map, in rows: one for each element.
    fn by_caller(
        &self,
        code: &mut Code<'_>,
        lambda: &Lambda,
        arrays: &[Atom],
        names: &mut HashMap<Var, Atom>,
        below: Vec<Atom>,
    ) -> Vec<Atom> {
        let lengths = self.mapped(code, lambda, arrays, names, &[I64], |code, names| {
            let calls = self.calls(code, &lambda.body, names, &mut HashSet::new());
            let calls = self.lists(code, calls);
            vec![code.one(Operation::Length(calls[0]), I64)]
        });
        let pairs = below.into_iter().zip(&self.function.results);
        let rows = pairs
            .map(|(list, ty)| code.one(Operation::Segments(lengths[0], list), ty.array().array()));
        rows.collect()
    }
}
