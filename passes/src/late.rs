//! Replaces elements of an array after all else has read it.
//!
//! `((s with [i] = x), sum s)` updates before it sums, as it is written. Then there are two arrays, the old one and the new one, and
//! the update is of a copy. Where nothing that looks at the old array needs the new one, the update is done last, where
//! the array is.
//!
//! ```
//! use weft_ir::nested::parse;
//! use weft_passes::late::update_late;
//!
//! let before = parse("\
//! params x0: []i64, x1: i64
//! x2: []i64 = update x0 at x1 value 0i64
//! x3: i64 = index x2 x1
//! x4: i64 = length x0
//! x5: i64 = add x3 x4
//! yield x2 x5
//! ").unwrap();
//! let (after, changed) = update_late(before);
//! assert!(changed);
//! assert_eq!(after.to_string(), "\
//! params x0: []i64, x1: i64
//! x4: i64 = length x0
//! x2: []i64 = update x0 at x1 value 0i64
//! x3: i64 = index x2 x1
//! x5: i64 = add x3 x4
//! yield x2 x5
//! ");
//! ```
//!
//! Note [Late updates]. The order of statements means nothing here: of two that fail the interpreter says which one it is. What
//! needs the new array goes behind the update as it was. Elements that are read behind an update and that also need the new
//! array are [`mod@crate::early`]'s.

use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use weft_ir::nested::{Body, Operation, Program, Var};

/// So many updates of a body are moved at most: each takes a look at all of it.
const MOST_MOVED: usize = 100;

/// The program with updates behind what reads the array as it was, and whether there are such.
pub fn update_late(mut program: Program) -> (Program, bool) {
    let mut changed = false;
    in_body(&mut program.body, &mut changed);
    (program, changed)
}

fn in_body(body: &mut Body, changed: &mut bool) {
    for statement in &mut body.statements {
        statement.operation.for_each_body_mut(&mut |inner| in_body(inner, changed));
    }
    if !body.statements.iter().any(|statement| updated(&statement.operation).is_some()) {
        return;
    }
    let mut uses: Vec<BTreeSet<Var>> =
        body.statements.iter().map(|statement| statement.operation.free_variables()).collect();
    let mut last = last_uses(&uses);
    let mut moved = 0;
    for place in (0..body.statements.len()).rev() {
        let Some(array) = updated(&body.statements[place].operation) else { continue };
        let last_use = last.get(&array).copied().unwrap_or(place);
        let is_kept = || body.results.iter().any(|result| result.var() == Some(array));
        if last_use == place || moved == MOST_MOVED || is_kept() {
            continue;
        }
        let Some(late) = behind(body, &uses, place..=last_use, array) else { continue };
        move_behind(&mut body.statements, place..=last_use, &late);
        move_behind(&mut uses, place..=last_use, &late);
        last = last_uses(&uses);
        moved += 1;
        *changed = true;
    }
}

/// Moves some of the elements in a range, by their numbers, behind the others there.
fn move_behind<T>(all: &mut Vec<T>, range: RangeInclusive<usize>, late: &BTreeSet<usize>) {
    let numbered = range.clone().zip(all.drain(range.clone()));
    let (behind, before): (Vec<_>, Vec<_>) = numbered.partition(|(at, _)| late.contains(at));
    let place = *range.start();
    all.splice(place..place, before.into_iter().chain(behind).map(|(_, element)| element));
}

/// The array that an operation replaces an element of.
fn updated(operation: &Operation) -> Option<Var> {
    match operation {
        Operation::Update { array, .. } => array.var(),
        _ => None,
    }
}

/// Where each variable is used last.
fn last_uses(uses: &[BTreeSet<Var>]) -> HashMap<Var, usize> {
    uses.iter().enumerate().flat_map(|(at, vars)| vars.iter().map(move |var| (*var, at))).collect()
}

/// Of these statements, the first of which is an update, those that need what it yields, and itself; nothing if one of the others
/// among them needs the array as it was.
fn behind(
    body: &Body,
    uses: &[BTreeSet<Var>],
    range: RangeInclusive<usize>,
    array: Var,
) -> Option<BTreeSet<usize>> {
    let update = *range.start();
    let results = |at: usize| body.statements[at].results.iter().map(|(var, _)| *var);
    let (mut late, mut made) = (BTreeSet::from([update]), BTreeSet::new());
    made.extend(results(update));
    for at in range.skip(1) {
        if !uses[at].is_disjoint(&made) {
            if uses[at].contains(&array) {
                return None;
            }
            late.insert(at);
            made.extend(results(at));
        }
    }
    Some(late)
}
