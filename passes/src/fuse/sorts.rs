//! Finds what brings elements into the order that was made of them.
//!
//! Note [Sorts of values]. `sort xs` is an order, and the elements in this order. Where only those read the order,
//! a back end may sort the elements themselves, which is several times as fast as making an order of them; for
//! that it has to see both side by side. So such a map stays a kernel of its own, however few of its elements are
//! wanted, and whoever reads it: a median reads two elements, and would otherwise read them through the order.

use std::collections::{BTreeMap, BTreeSet};

use weft_ir::code::{Operand, Thunk, Yielded, is_in_order};
use weft_ir::flat::{Block, Operation, Program, Space, Statement, Type, Var};

use super::compose::{Delayed, Lookup, composed};
use super::uses::{blocks, statement_uses};

/// What maps of a program yield that bring into order what a sort sorted, if nobody else reads the order.
pub(super) fn sorted_values(program: &Program) -> BTreeSet<Var> {
    let mut found = BTreeSet::new();
    in_block(&program.body, &mut found);
    if found.is_empty() {
        return BTreeSet::new();
    }
    let mut readers: BTreeMap<Var, usize> = BTreeMap::new();
    let mut count = |var: Var| *readers.entry(var).or_default() += 1;
    for leaf in &program.outputs {
        count(leaf.data);
        leaf.axes.iter().for_each(|axis| axis.uses(&mut count));
    }
    count_readers(&program.body, &program.types, &mut count);
    found.retain(|(order, _)| readers.get(order) == Some(&1));
    found.into_iter().map(|(_, values)| values).collect()
}

/// Finds orders, and what is brought into them.
fn in_block(block: &Block, found: &mut BTreeSet<(Var, Var)>) {
    let mut sorts: BTreeMap<Var, (&Space, &Thunk, Operand)> = BTreeMap::new();
    let mut places = Places::default();
    for statement in &block.statements {
        match (&statement.operation, &statement.results[..]) {
            (Operation::Sort { space, thunk, .. }, [order]) => {
                if let [key] = thunk.code.results[..] {
                    sorts.insert(*order, (space, thunk, key));
                }
            }
            (Operation::Map { space, thunk }, [values]) if !sorts.is_empty() => {
                let whole = places.read_in(thunk);
                let orders: Vec<Var> = [Some(thunk), whole.as_ref()]
                    .into_iter()
                    .flatten()
                    .flat_map(|thunk| brought_into_order(&sorts, space, thunk))
                    .collect();
                if orders.is_empty() && thunk.code.reads().any(|read| sorts.contains_key(&read)) {
                    places.0.insert(*values, (space, statement));
                }
                found.extend(orders.into_iter().map(|order| (order, *values)));
            }
            (operation, _) => {
                blocks(operation).into_iter().for_each(|inner| in_block(inner, found));
            }
        }
    }
}

/// The orders into which a map brings the keys that they were made of.
fn brought_into_order(
    sorts: &BTreeMap<Var, (&Space, &Thunk, Operand)>,
    space: &Space,
    thunk: &Thunk,
) -> Vec<Var> {
    let [value] = thunk.code.results[..] else { return Vec::new() };
    let sent = Yielded { indices: &thunk.indices, code: &thunk.code, value };
    let is_brought = |(order, (sorted, keys, key)): &(&Var, &(&Space, &Thunk, Operand))| {
        let key = Yielded { indices: &keys.indices, code: &keys.code, value: *key };
        *sorted == space && is_in_order(key, sent, **order)
    };
    sorts.iter().filter(is_brought).map(|(order, _)| *order).collect()
}

/// Maps that make other places of an order: in rows of several lengths the place of an element in its row is that in all rows, less
/// where the row begins.
#[derive(Default)]
struct Places<'p>(BTreeMap<Var, (&'p Space, &'p Statement)>);

impl<'p> Places<'p> {
    /// Code that computes such places itself, if it reads any.
    fn read_in(&self, thunk: &Thunk) -> Option<Thunk> {
        thunk.code.reads().find(|read| self.0.contains_key(read))?;
        Some(composed(thunk, self).0)
    }
}

impl<'p> Lookup<'p> for Places<'p> {
    fn delayed(&self, array: Var) -> Option<Delayed<'p>> {
        let (space, statement) = self.0.get(&array)?;
        let Operation::Map { thunk, .. } = &statement.operation else { return None };
        Some(Delayed { statement: array.0, result: 0, thunk: Some(thunk), space })
    }
}

/// Counts the statements that use each variable.
fn count_readers(block: &Block, types: &[Type], count: &mut impl FnMut(Var)) {
    for statement in &block.statements {
        let Statement { operation, .. } = statement;
        let mut used = BTreeSet::new();
        statement_uses(statement, types, &mut |var| {
            used.insert(var);
        });
        used.into_iter().for_each(&mut *count);
        for inner in blocks(operation) {
            count_readers(inner, types, count);
        }
    }
    block.results.iter().for_each(|result| count(*result));
}
