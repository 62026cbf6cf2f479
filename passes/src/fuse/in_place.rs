//! Finds what is sent into an array and computed of the same array, where that could take place in the array itself.
//!
//! Note [Sent where it comes from]. A scatter takes place where its destination is, if nobody looks at the old array any more
//! (Note [In place]). If what it sends were computed of the old array in the same kernel, as in `scatter a is (gather a js)`, points
//! could read what others have already replaced, so the destination would be copied: all of it, in each turn of a loop,
//! be it for ten elements. So that is computed first, in a kernel of its own. A scatter that combines what it
//! sends is left as it is: it may send many times as much as its destination holds.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::flat::{Block, Operation, Program, Statement, Type, Var};

use super::outputs;
use super::uses::statement_uses;

/// What maps yield that is sent where it comes from.
pub(super) fn sent_where_it_comes_from(program: &Program) -> BTreeSet<Var> {
    let mut finder = Finder { types: &program.types, found: BTreeSet::new() };
    finder.block(&program.body, BTreeSet::new(), &outputs(program));
    finder.found
}

struct Finder<'p> {
    types: &'p [Type],
    found: BTreeSet<Var>,
}

impl Finder<'_> {
    /// `own` is what the block may overwrite although it is there before, `kept` what is needed behind the block.
    fn block(&mut self, block: &Block, own: BTreeSet<Var>, kept: &BTreeSet<Var>) {
        let scope = Scope::new(block, self.types, own, kept);
        for (at, statement) in block.statements.iter().enumerate() {
            match &statement.operation {
                Operation::Scatter { operator: None, .. } => scope.scatter(at, &mut self.found),
                Operation::While { state, condition, body, .. } => {
                    self.block(condition, BTreeSet::new(), &BTreeSet::new());
                    self.block(body, state.iter().copied().collect(), &BTreeSet::new());
                }
                Operation::If { then, otherwise, .. } => {
                    let own = scope.last_used(at);
                    self.block(then, own.clone(), &BTreeSet::new());
                    self.block(otherwise, own, &BTreeSet::new());
                }
                _ => {}
            }
        }
    }
}

/// The statements of a block.
struct Scope<'b> {
    statements: &'b [Statement],
    /// Which statement yields a variable.
    producers: BTreeMap<Var, usize>,
    /// The last statement that uses a variable.
    last: BTreeMap<Var, usize>,
    /// What shows an array with other extents.
    views: BTreeMap<Var, Vec<Var>>,
    own: BTreeSet<Var>,
    kept: BTreeSet<Var>,
}

impl<'b> Scope<'b> {
    fn new(
        block: &'b Block,
        types: &[Type],
        own: BTreeSet<Var>,
        kept: &BTreeSet<Var>,
    ) -> Scope<'b> {
        let mut scope = Scope {
            statements: &block.statements,
            producers: BTreeMap::new(),
            last: BTreeMap::new(),
            views: BTreeMap::new(),
            own,
            kept: kept.iter().chain(&block.results).copied().collect(),
        };
        for (at, statement) in block.statements.iter().enumerate() {
            scope.producers.extend(statement.results.iter().map(|result| (*result, at)));
            statement_uses(statement, types, &mut |var| {
                scope.last.insert(var, at);
            });
            if let (Operation::Reshape(array), [view]) =
                (&statement.operation, &statement.results[..])
            {
                let base = scope.base(*array);
                scope.views.entry(base).or_default().push(*view);
            }
        }
        scope
    }

    /// What the block may overwrite and is not looked at behind a statement.
    fn last_used(&self, at: usize) -> BTreeSet<Var> {
        let used = self.last.iter().filter(|(_, last)| **last == at).map(|(var, _)| *var);
        used.filter(|var| self.may_be_overwritten(self.base(*var), at)).collect()
    }

    /// What the statement sends, if it is a scatter, of what it replaces.
    fn scatter(&self, at: usize, found: &mut BTreeSet<Var>) {
        let Operation::Scatter { thunk, destinations, operator: None, .. } =
            &self.statements[at].operation
        else {
            return;
        };
        let bases: BTreeSet<Var> = destinations.iter().map(|array| self.base(*array)).collect();
        let replaced: BTreeSet<Var> =
            bases.into_iter().filter(|base| self.may_be_overwritten(*base, at)).collect();
        if replaced.is_empty() {
            return;
        }
        let made = self.made_of(&replaced, at);
        let sent = thunk.code.reads().map(|read| self.base(read));
        found.extend(sent.filter(|base| made.contains(base)));
    }

    /// The array that a variable shows with other extents.
    fn base(&self, array: Var) -> Var {
        let mut base = array;
        while let Some(at) = self.producers.get(&base)
            && let Operation::Reshape(array) = &self.statements[*at].operation
        {
            base = *array;
        }
        base
    }

    /// Whether an array is the block's own, and nothing behind a statement looks at it.
    fn may_be_overwritten(&self, base: Var, at: usize) -> bool {
        let is_own = self.own.contains(&base) || self.producers.contains_key(&base);
        let views = self.views.get(&base).into_iter().flatten();
        is_own
            && views.chain([&base]).all(|name| {
                !self.kept.contains(name) && self.last.get(name).is_none_or(|last| *last <= at)
            })
    }

    /// The arrays that maps before a statement compute of the elements of others.
    fn made_of(&self, others: &BTreeSet<Var>, at: usize) -> BTreeSet<Var> {
        let mut made = BTreeSet::new();
        for statement in &self.statements[..at] {
            let Operation::Map { space, thunk } = &statement.operation else { continue };
            let mut reads = thunk.code.reads().map(|read| self.base(read));
            if !space.is_empty() && reads.any(|base| others.contains(&base) || made.contains(&base))
            {
                made.extend(&statement.results);
            }
        }
        made
    }
}
