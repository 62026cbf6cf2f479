//! Walking over the parts of an operation: its operands, its bodies, and what it binds for them.
//! Each of the three looks at the operation itself, not at the statements in its bodies.

use std::collections::BTreeSet;

use crate::nested::{Atom, Body, Lambda, Operation, Start, Type, Var};

/// The three walks, shared or mutable.
macro_rules! walks {
    ($atoms:ident, $bodies:ident, $bound:ident, [$($mutable:tt)?]) => {
        /// Visits the operands in the order of the text.
        pub fn $atoms(& $($mutable)? self, visit: &mut dyn FnMut(& $($mutable)? Atom)) {
            match self {
                Operation::Scalar(_, atoms)
                | Operation::Random(_, atoms)
                | Operation::Call(_, atoms)
                | Operation::Literal(atoms)
                | Operation::Map(_, atoms)
                | Operation::SortOrder { keys: atoms, descending: _ }
                | Operation::While { initial: atoms, state: _, condition: _, body: _ } => {
                    atoms.into_iter().for_each(visit);
                }
                Operation::Assert { condition: first, kind: _, values: rest }
                | Operation::Index(first, rest)
                | Operation::Pack { flags: first, arrays: rest }
                | Operation::Reshape { array: first, from: _, extents: rest }
                | Operation::For { count: first, initial: rest, index: _, state: _, body: _ } => {
                    visit(first);
                    rest.into_iter().for_each(visit);
                }
                Operation::If { condition: atom, then: _, otherwise: _ }
                | Operation::Length(atom)
                | Operation::Iota(atom)
                | Operation::Transpose(atom)
                | Operation::Extent(atom, _)
                | Operation::Flatten(atom) => visit(atom),
                Operation::Replicate(first, second)
                | Operation::Segments(first, second)
                | Operation::Concat(first, second) => {
                    visit(first);
                    visit(second);
                }
                Operation::Update { array, indices, value } => {
                    visit(array);
                    indices.into_iter().for_each(&mut *visit);
                    visit(value);
                }
                Operation::Fold { operator: _, start, arrays }
                | Operation::Scan { form: _, from_right: _, operator: _, start, arrays } => {
                    match start {
                        Start::None => {}
                        Start::Combined(atoms) | Start::IfEmpty(atoms) => {
                            atoms.into_iter().for_each(&mut *visit);
                        }
                    }
                    arrays.into_iter().for_each(visit);
                }
                Operation::Scatter { destinations, indices, values, operator: _, drops: _ } => {
                    destinations.into_iter().for_each(&mut *visit);
                    visit(indices);
                    values.into_iter().for_each(visit);
                }
                Operation::Constant(_) => {}
            }
        }

        /// Visits the bodies, those of lambdas included, in the order of the text.
        pub fn $bodies<'a>(
            &'a $($mutable)? self,
            visit: &mut dyn FnMut(&'a $($mutable)? Body),
        ) {
            match self {
                Operation::If { condition: _, then: first, otherwise: second }
                | Operation::While { condition: first, body: second, state: _, initial: _ } => {
                    visit(first);
                    visit(second);
                }
                Operation::For { body, index: _, count: _, state: _, initial: _ }
                | Operation::Map(Lambda { body, params: _ }, _)
                | Operation::Fold { operator: Lambda { body, params: _ }, start: _, arrays: _ }
                | Operation::Scan { operator: Lambda { body, params: _ }, .. }
                | Operation::Scatter { operator: Some(Lambda { body, params: _ }), .. } => {
                    visit(body);
                }
                Operation::Scalar(..)
                | Operation::Random(..)
                | Operation::Assert { .. }
                | Operation::Call(..)
                | Operation::Length(_)
                | Operation::Index(..)
                | Operation::Update { .. }
                | Operation::Literal(_)
                | Operation::Constant(_)
                | Operation::Iota(_)
                | Operation::Replicate(..)
                | Operation::Pack { .. }
                | Operation::Scatter { operator: None, .. }
                | Operation::SortOrder { .. }
                | Operation::Transpose(_)
                | Operation::Reshape { .. }
                | Operation::Extent(..)
                | Operation::Flatten(_)
                | Operation::Segments(..)
                | Operation::Concat(..) => {}
            }
        }

        /// Visits the variables that the operation binds for its bodies: parameters of lambdas, the
        /// state of loops, indices.
        pub fn $bound(& $($mutable)? self, visit: &mut dyn FnMut(& $($mutable)? Var, Type)) {
            let mut visit_all = |vars: & $($mutable)? Vec<(Var, Type)>| {
                vars.into_iter().for_each(|(var, ty)| visit(var, *ty));
            };
            match self {
                Operation::While { state, initial: _, condition: _, body: _ } => visit_all(state),
                Operation::For { index, state, count: _, initial: _, body: _ } => {
                    visit_all(state);
                    visit(index, Type::scalar(crate::ScalarType::I64));
                }
                Operation::Map(Lambda { params, body: _ }, _)
                | Operation::Fold { operator: Lambda { params, body: _ }, start: _, arrays: _ }
                | Operation::Scan { operator: Lambda { params, body: _ }, .. }
                | Operation::Scatter { operator: Some(Lambda { params, body: _ }), .. } => {
                    visit_all(params);
                }
                Operation::If { .. }
                | Operation::Scalar(..)
                | Operation::Random(..)
                | Operation::Assert { .. }
                | Operation::Call(..)
                | Operation::Length(_)
                | Operation::Index(..)
                | Operation::Update { .. }
                | Operation::Literal(_)
                | Operation::Constant(_)
                | Operation::Iota(_)
                | Operation::Replicate(..)
                | Operation::Pack { .. }
                | Operation::Scatter { operator: None, .. }
                | Operation::SortOrder { .. }
                | Operation::Transpose(_)
                | Operation::Reshape { .. }
                | Operation::Extent(..)
                | Operation::Flatten(_)
                | Operation::Segments(..)
                | Operation::Concat(..) => {}
            }
        }
    };
}

impl Operation {
    walks!(for_each_atom, for_each_body, for_each_bound, []);
    walks!(for_each_atom_mut, for_each_body_mut, for_each_bound_mut, [mut]);
}

impl Operation {
    /// The variables from outside that the operation uses, its bodies included.
    pub fn free_variables(&self) -> BTreeSet<Var> {
        let (mut used, mut bound) = (BTreeSet::new(), BTreeSet::new());
        collect_operation(self, &mut used, &mut bound);
        &used - &bound
    }
}

impl Lambda {
    /// The variables from outside that it uses.
    pub fn free_variables(&self) -> BTreeSet<Var> {
        let mut free = free_variables(&[&self.body]);
        self.params.iter().for_each(|(var, _)| {
            free.remove(var);
        });
        free
    }
}

/// The variables from outside that some bodies use.
pub fn free_variables(bodies: &[&Body]) -> BTreeSet<Var> {
    let (mut used, mut bound) = (BTreeSet::new(), BTreeSet::new());
    bodies.iter().for_each(|body| collect(body, &mut used, &mut bound));
    &used - &bound
}

fn collect(body: &Body, used: &mut BTreeSet<Var>, bound: &mut BTreeSet<Var>) {
    used.extend(body.results.iter().filter_map(|atom| atom.var()));
    for statement in &body.statements {
        bound.extend(statement.results.iter().map(|(var, _)| *var));
        collect_operation(&statement.operation, used, bound);
    }
}

fn collect_operation(operation: &Operation, used: &mut BTreeSet<Var>, bound: &mut BTreeSet<Var>) {
    operation.for_each_atom(&mut |atom| used.extend(atom.var()));
    operation.for_each_bound(&mut |var, _| {
        bound.insert(*var);
    });
    operation.for_each_body(&mut |body| collect(body, used, bound));
}
