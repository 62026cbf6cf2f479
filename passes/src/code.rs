//! A body of nested under construction, for passes that put new code into a program.

use std::collections::{HashMap, HashSet};

use weft_ir::nested::{Atom, Body, Lambda, Operation, Statement, Type, Var};
use weft_ir::{Scalar, ScalarOp, ScalarType, Span};

pub(crate) const I64: Type = Type { rank: 0, element: ScalarType::I64 };
pub(crate) const BOOL: Type = Type { rank: 0, element: ScalarType::Bool };

/// Statements so far; new variables are numbered on from those of the program.
pub(crate) struct Code<'n> {
    /// How many variables the program has.
    variables: &'n mut u32,
    /// The expression that the statements come from.
    pub(crate) span: Span,
    pub(crate) statements: Vec<Statement>,
}

impl<'n> Code<'n> {
    pub(crate) fn new(variables: &'n mut u32, span: Span) -> Code<'n> {
        Code { variables, span, statements: Vec::new() }
    }

    pub(crate) fn fresh(&mut self, types: &[Type]) -> Vec<(Var, Type)> {
        let first = *self.variables;
        *self.variables += types.len() as u32;
        (first..).map(Var).zip(types.iter().copied()).collect()
    }

    /// A body of its own, with the results of `make`.
    pub(crate) fn inner(&mut self, make: impl FnOnce(&mut Code<'_>) -> Vec<Atom>) -> Body {
        let mut code = Code::new(self.variables, self.span);
        let results = make(&mut code);
        Body { statements: code.statements, results }
    }

    /// A map over arrays whose elements are of these types; the results are arrays of `results`.
    pub(crate) fn map(
        &mut self,
        arrays: Vec<Atom>,
        elements: &[Type],
        results: &[Type],
        make: impl FnOnce(&mut Code<'_>, &[Atom]) -> Vec<Atom>,
    ) -> Vec<Atom> {
        let params = self.fresh(elements);
        let inputs = atoms(&params);
        let body = self.inner(|code| make(code, &inputs));
        let lists: Vec<Type> = results.iter().map(|ty| ty.array()).collect();
        self.many(Operation::Map(Lambda { params, body }, arrays), &lists)
    }

    pub(crate) fn scalar(&mut self, op: ScalarOp, operands: &[Atom], ty: Type) -> Atom {
        self.one(Operation::Scalar(op, operands.to_vec()), ty)
    }

    pub(crate) fn one(&mut self, operation: Operation, ty: Type) -> Atom {
        self.many(operation, &[ty])[0]
    }

    pub(crate) fn many(&mut self, operation: Operation, types: &[Type]) -> Vec<Atom> {
        let results = self.fresh(types);
        let atoms = atoms(&results);
        self.push(results, operation);
        atoms
    }

    pub(crate) fn push(&mut self, results: Vec<(Var, Type)>, operation: Operation) {
        self.statements.push(Statement { results, operation, span: self.span });
    }

    /// The elements of arrays at an index, of these types.
    pub(crate) fn elements(&mut self, arrays: &[Atom], at: Atom, types: &[Type]) -> Vec<Atom> {
        let pairs = arrays.iter().zip(types);
        pairs.map(|(array, ty)| self.one(Operation::Index(*array, vec![at]), *ty)).collect()
    }

    /// `count` elements of an array from `start` on; `count` is not negative.
    pub(crate) fn slice(&mut self, array: Atom, element: Type, start: Atom, count: Atom) -> Atom {
        let places = self.one(Operation::Iota(count), I64.array());
        let part = self.map(vec![places], &[I64], &[element], |code, place| {
            let at = code.scalar(ScalarOp::Add, &[place[0], start], I64);
            vec![code.one(Operation::Index(array, vec![at]), element)]
        });
        part[0]
    }

    /// A copy of a body, applied: what it binds gets new names.
    pub(crate) fn apply(&mut self, lambda: &Lambda, operands: &[Atom]) -> Vec<Atom> {
        self.apply_under(lambda, operands, HashMap::new())
    }

    /// The same, where names around the body have changed.
    pub(crate) fn apply_under(
        &mut self,
        lambda: &Lambda,
        operands: &[Atom],
        mut names: HashMap<Var, Atom>,
    ) -> Vec<Atom> {
        let params = lambda.params.iter().map(|(var, _)| *var);
        names.extend(params.zip(operands.iter().copied()));
        let mut copy = lambda.body.clone();
        self.rename(&mut copy, &mut names);
        self.statements.append(&mut copy.statements);
        copy.results
    }

    /// Appends a copy of a statement under new names, which `names` learns.
    pub(crate) fn copy(&mut self, statement: &Statement, names: &mut HashMap<Var, Atom>) {
        let mut body = Body { statements: vec![statement.clone()], results: Vec::new() };
        self.rename(&mut body, names);
        self.statements.append(&mut body.statements);
    }

    /// Gives everything that a body binds a new name.
    fn rename(&mut self, body: &mut Body, names: &mut HashMap<Var, Atom>) {
        for statement in &mut body.statements {
            statement.operation.for_each_atom_mut(&mut |atom| *atom = renamed(*atom, names));
            statement.operation.for_each_bound_mut(&mut |var, ty| {
                let name = self.fresh(&[ty])[0].0;
                names.insert(*var, Atom::Var(name));
                *var = name;
            });
            statement.operation.for_each_body_mut(&mut |inner| self.rename(inner, names));
            for (var, ty) in &mut statement.results {
                let name = self.fresh(&[*ty])[0].0;
                names.insert(*var, Atom::Var(name));
                *var = name;
            }
        }
        body.results.iter_mut().for_each(|atom| *atom = renamed(*atom, names));
    }
}

/// What an atom is called now.
pub(crate) fn renamed(atom: Atom, names: &HashMap<Var, Atom>) -> Atom {
    match atom {
        Atom::Var(var) => names.get(&var).copied().unwrap_or(atom),
        Atom::Scalar(_) => atom,
    }
}

/// Puts other atoms in the place of those that a body uses, in its bodies too.
pub(crate) fn replace(body: &mut Body, with: &dyn Fn(Atom) -> Atom) {
    for statement in &mut body.statements {
        statement.operation.for_each_atom_mut(&mut |atom| *atom = with(*atom));
        statement.operation.for_each_body_mut(&mut |inner| replace(inner, with));
    }
    body.results.iter_mut().for_each(|atom| *atom = with(*atom));
}

/// Whether a statement, or one in its bodies, uses one of these.
pub(crate) fn uses(statement: &Statement, vars: &HashSet<Var>) -> bool {
    let of = |atom: &Atom| matches!(atom, Atom::Var(var) if vars.contains(var));
    let mut found = false;
    statement.operation.for_each_atom(&mut |atom| found |= of(atom));
    statement.operation.for_each_body(&mut |body| {
        found |= body.results.iter().any(of)
            || body.statements.iter().any(|statement| uses(statement, vars));
    });
    found
}

pub(crate) fn atoms(vars: &[(Var, Type)]) -> Vec<Atom> {
    vars.iter().map(|(var, _)| Atom::Var(*var)).collect()
}

pub(crate) fn integer(value: i64) -> Atom {
    Atom::Scalar(Scalar::I64(value))
}
