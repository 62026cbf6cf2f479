//! Finds scalars of a loop's state that are the same in every turn, and results of a condition that are the same on both sides.
//!
//! Note [Lengths that are carried twice]. An array of tuples is several arrays, and a loop over it carries the length of each. Nothing
//! would say that these are equal: what reads the one array at a place of the other would be checked, and what puts something behind
//! each would be no `++` of all (Note [Arrays that grow] in `codegen/src/appending`). They begin as the same, and are the same in the
//! next turn if they are in this one: that is supposed, and taken back where it does not come out so.

use std::collections::{BTreeMap, HashMap};

use weft_ir::code::{Code, Operation as CodeOperation};
use weft_ir::flat::{Block, Operation, Size, Type, Var};

use super::cost::rank;

/// Which variables stand for others.
pub(super) struct Same<'a> {
    /// As far as is known around.
    pub aliases: &'a BTreeMap<Var, Size>,
    pub types: &'a [Type],
    /// As far as is supposed.
    supposed: HashMap<Var, Var>,
}

impl<'a> Same<'a> {
    pub(super) fn new(aliases: &'a BTreeMap<Var, Size>, types: &'a [Type]) -> Same<'a> {
        Same { aliases, types, supposed: HashMap::new() }
    }

    /// For each variable of a loop's state the number of the first one that is the same.
    pub(super) fn state(&mut self, state: &[Var], initial: &[Var], body: &Block) -> Vec<usize> {
        let is_scalar = |var: &Var| rank(self.types, *var) == 0;
        let initial: Vec<Var> = initial.iter().map(|var| self.of(*var)).collect();
        let mut first = first_of(state.len(), |at| match is_scalar(&state[at]) {
            true => initial[at],
            false => state[at],
        });
        while first.iter().enumerate().any(|(at, first)| at != *first) {
            for (at, first) in first.iter().enumerate() {
                self.supposed.remove(&state[at]);
                if at != *first {
                    self.supposed.insert(state[at], state[*first]);
                }
            }
            self.block(body);
            let next = first_of(state.len(), |at| (first[at], self.of(body.results[at])));
            // An array is the same as no other.
            let is_kept = next == first;
            first = next;
            if is_kept {
                break;
            }
        }
        first
    }

    /// For each result of a condition the number of the first one that is the same, whatever side yields it.
    pub(super) fn results(
        &mut self,
        results: &[Var],
        then: &Block,
        otherwise: &Block,
    ) -> Vec<usize> {
        let scalar: Vec<bool> = results.iter().map(|var| rank(self.types, *var) == 0).collect();
        if scalar.iter().filter(|scalar| **scalar).count() < 2 {
            return (0..results.len()).collect();
        }
        self.block(then);
        self.block(otherwise);
        first_of(results.len(), |at| match scalar[at] {
            true => (self.of(then.results[at]), self.of(otherwise.results[at])),
            false => (results[at], results[at]),
        })
    }

    /// Finds scalars that the statements of a block compute from the same.
    fn block(&mut self, block: &Block) {
        let mut known: HashMap<String, &[Var]> = HashMap::new();
        for statement in &block.statements {
            let results = &statement.results[..];
            results.iter().for_each(|result| {
                self.supposed.remove(result);
            });
            match &statement.operation {
                Operation::Map { space, thunk } if space.is_empty() => {
                    let others = *known.entry(self.key(&thunk.code)).or_insert(results);
                    if others != results {
                        self.supposed.extend(results.iter().copied().zip(others.iter().copied()));
                    }
                }
                Operation::While { state, initial, body, .. } => {
                    let first = self.state(state, initial, body);
                    self.supposed.extend(pairs(results, &first));
                }
                Operation::If { then, otherwise, .. } => {
                    let first = self.results(results, then, otherwise);
                    self.supposed.extend(pairs(results, &first));
                }
                _ => {}
            }
        }
    }

    /// What a variable is the same as.
    fn of(&self, var: Var) -> Var {
        let var = match self.aliases.get(&var) {
            Some(Size::Var(other)) => *other,
            Some(Size::Constant(_)) | None => var,
        };
        self.supposed.get(&var).copied().unwrap_or(var)
    }

    /// Code in terms of the first of what is the same.
    fn key(&self, code: &Code) -> String {
        let mut code = code.clone();
        code.walk_mut(&mut |instruction| {
            if let CodeOperation::Read(array, _) = &mut instruction.operation {
                *array = self.of(*array);
            }
        });
        format!("{code:?}")
    }
}

/// The variables that are the same as one before, with that.
pub(super) fn pairs(vars: &[Var], first: &[usize]) -> impl Iterator<Item = (Var, Var)> {
    let others = vars.iter().zip(first).map(|(var, first)| (*var, vars[*first]));
    others.filter(|(var, first)| var != first)
}

/// For each of so many the number of the first one with the same key.
fn first_of<K: std::hash::Hash + Eq>(count: usize, key: impl Fn(usize) -> K) -> Vec<usize> {
    let mut known = HashMap::new();
    (0..count).map(|at| *known.entry(key(at)).or_insert(at)).collect()
}
