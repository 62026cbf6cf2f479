//! Which lines of a cell run as one program, and how long each value is needed.
//!
//! Consecutive bindings form a group if arrays connect them: one reads what another computes, or both
//! read the same. A line that shows a value may end a group, for then it comes no later than by itself;
//! definitions between bindings do no harm. Lines that nothing connects stay programs of their own, so
//! that a changed line compiles its kernels only.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use weft_ir::Type;
use weft_lang::typed::{Expr, ExprKind, GlobalId, Program};
use weft_lang::{CheckedItem, CheckedKind, Global, types};

use crate::plan::Step;
use crate::references;
use crate::state::State;

/// The most programs in a group. What a group costs to compile grows a little faster than it does, and
/// its first line is told of when its last is there.
const MOST_MEMBERS: usize = 16;

/// A part of the work on a cell.
#[derive(Debug)]
pub(crate) enum Unit {
    /// A step by itself.
    Step(Step),
    /// Items that are better computed together.
    Group(Vec<Line>),
}

/// An item of a group.
#[derive(Debug)]
pub(crate) struct Line {
    /// The item.
    pub(crate) item: CheckedItem,
    /// Whether it is reported.
    pub(crate) shown: bool,
    /// Whether its value consists of constants and a few scalars. It is computed before the group, as an
    /// input: so the kernels do not depend on its numbers, and they are there when these change.
    pub(crate) is_plain: bool,
}

/// The units of a cell, in order. `state` knows all ids of the cell.
pub(crate) fn units(steps: Vec<Step>, state: &State) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut run: Vec<Line> = Vec::new();
    let mut computed = BTreeSet::new();
    for step in steps {
        match step {
            Step::Item { item, shown } => {
                let is_end = matches!(
                    item.kind,
                    CheckedKind::Show { .. } | CheckedKind::ShowFunction { .. }
                );
                let is_plain = program(&item).is_some_and(|program| {
                    program.instances.is_empty() && is_plain(&program.entry, &computed)
                });
                if !is_plain {
                    computed.extend(names(&item));
                }
                run.push(Line { item, shown, is_plain });
                if is_end {
                    split(std::mem::take(&mut run), state, &mut units);
                    computed.clear();
                }
            }
            other => {
                split(std::mem::take(&mut run), state, &mut units);
                computed.clear();
                units.push(Unit::Step(other));
            }
        }
    }
    split(run, state, &mut units);
    units
}

/// The program of an item, if it has one.
pub(crate) fn program(item: &CheckedItem) -> Option<&Program> {
    match &item.kind {
        CheckedKind::Bind { program, .. } | CheckedKind::Show { program, .. } => Some(program),
        CheckedKind::Define { .. }
        | CheckedKind::Alias { .. }
        | CheckedKind::ShowFunction { .. } => None,
    }
}

/// The ids that an item gives a value.
pub(crate) fn names(item: &CheckedItem) -> Vec<GlobalId> {
    match &item.kind {
        CheckedKind::Bind { names, .. } => names.iter().map(|name| name.global).collect(),
        CheckedKind::Show { global, .. } => vec![*global],
        CheckedKind::Define { .. }
        | CheckedKind::Alias { .. }
        | CheckedKind::ShowFunction { .. } => Vec::new(),
    }
}

/// What a step asks for by id, directly or through functions.
fn uses(step: &Step, state: &State) -> BTreeSet<GlobalId> {
    match step {
        Step::Item { item, .. } | Step::Timed { item, .. } | Step::Whole(item) => {
            item_uses(item, state)
        }
        Step::Inquire { program, .. } | Step::SaveValue { program, .. } => {
            references::of_program(program)
        }
        Step::Variables(environment) | Step::Memory(environment) => {
            state.seen_by(environment.clone()).reachable()
        }
        Step::Cache { .. }
        | Step::Text(_)
        | Step::Devices
        | Step::NeedsGpu
        | Step::Modes(_)
        | Step::SaveSource { .. }
        | Step::Quit => BTreeSet::new(),
    }
}

fn item_uses(item: &CheckedItem, state: &State) -> BTreeSet<GlobalId> {
    if let CheckedKind::ShowFunction { sequence: Some(sequence), .. } = &item.kind {
        return references::of_program(&sequence.part);
    }
    let Some(program) = program(item) else { return BTreeSet::new() };
    let known = names(item).first().and_then(|global| state.origins.get(global));
    known.map_or_else(|| references::of_program(program), |origin| origin.uses.clone())
}

/// For each step, the values of this cell that nothing can ask for once it is done: those of names that
/// the cell binds again, and of shown expressions before the last.
pub(crate) fn last_uses(steps: &[Step], state: &State) -> Vec<Vec<GlobalId>> {
    let mut kept = state.reachable();
    let mut last: BTreeMap<GlobalId, usize> = BTreeMap::new();
    let mut result = None;
    for (index, step) in steps.iter().enumerate() {
        for global in uses(step, state) {
            last.entry(global).and_modify(|last| *last = index);
        }
        if let Step::Item { item, .. } | Step::Timed { item, .. } | Step::Whole(item) = step {
            last.extend(names(item).into_iter().map(|global| (global, index)));
            if let CheckedKind::Show { global, .. } = item.kind {
                result = Some(global);
            }
        }
    }
    kept.extend(result);
    let mut free = vec![Vec::new(); steps.len()];
    for (global, index) in last {
        if !kept.contains(&global) {
            free[index].push(global);
        }
    }
    free
}

/// Cuts consecutive items where no array connects what is before with what is after.
fn split(run: Vec<Line>, state: &State, units: &mut Vec<Unit>) {
    let ranges: Vec<Range<usize>> = connected(&run, 0..run.len(), state)
        .into_iter()
        .flat_map(|range| match is_small(&run[range.clone()]) {
            true => vec![range],
            false => bounded(&run, range)
                .into_iter()
                .flat_map(|part| connected(&run, part, state))
                .collect(),
        })
        .collect();
    let mut lines = run.into_iter();
    for range in ranges {
        let mut group: Vec<Line> = lines.by_ref().take(range.len()).collect();
        match group.iter().filter(|line| is_member(line)).count() {
            0 | 1 => units.extend(
                group
                    .drain(..)
                    .map(|Line { item, shown, .. }| Unit::Step(Step::Item { item, shown })),
            ),
            _ => units.push(Unit::Group(group)),
        }
    }
}

/// Whether a line is computed as a part of its group.
pub(crate) fn is_member(line: &Line) -> bool {
    !line.is_plain && program(&line.item).is_some()
}

fn is_small(lines: &[Line]) -> bool {
    lines.iter().filter(|line| is_member(line)).count() <= MOST_MEMBERS
}

/// Consecutive parts of a range with that many members at most.
fn bounded(lines: &[Line], range: Range<usize>) -> Vec<Range<usize>> {
    let (mut parts, mut start, mut members) = (Vec::new(), range.start, 0);
    for index in range.clone() {
        if is_member(&lines[index]) {
            members += 1;
            if members > MOST_MEMBERS {
                parts.push(start..index);
                (start, members) = (index, 1);
            }
        }
    }
    parts.push(start..range.end);
    parts
}

/// Consecutive parts of a range, cut wherever no array is on both sides.
fn connected(lines: &[Line], range: Range<usize>, state: &State) -> Vec<Range<usize>> {
    // By array, the first and the last line that has to do with it.
    let mut spans: BTreeMap<GlobalId, (usize, usize)> = BTreeMap::new();
    for index in range.clone().filter(|index| is_member(&lines[*index])) {
        let mut globals = item_uses(&lines[index].item, state);
        globals.extend(names(&lines[index].item));
        for global in globals.into_iter().filter(|global| has_arrays(*global, state)) {
            spans.entry(global).and_modify(|span| span.1 = index).or_insert((index, index));
        }
    }
    let mut reach = vec![0; range.len()];
    for (first, last) in spans.into_values() {
        let entry = &mut reach[first - range.start];
        *entry = last.max(*entry);
    }
    let (mut parts, mut start, mut end) = (Vec::new(), range.start, range.start);
    for index in range.clone() {
        if index > end {
            parts.push(start..index);
            start = index;
        }
        end = end.max(index).max(reach[index - range.start]);
    }
    if !range.is_empty() {
        parts.push(start..range.end);
    }
    parts
}

/// Whether the value of an id has arrays in it.
fn has_arrays(global: GlobalId, state: &State) -> bool {
    match state.environment.global(global) {
        Some(Global::Value { ty, .. }) => holds_array(ty),
        Some(Global::Function(_)) | None => false,
    }
}

fn holds_array(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => false,
        Type::Array(_) => true,
        Type::Tuple(parts) => parts.iter().any(holds_array),
        Type::Record(fields) => fields.iter().any(|(_, ty)| holds_array(ty)),
    }
}

/// Whether a value takes no time to compute: constants, and operators on scalars that are no part of the
/// group.
fn is_plain(expr: &Expr, computed: &BTreeSet<GlobalId>) -> bool {
    let is_plain = |expr: &Expr| is_plain(expr, computed);
    match &expr.kind {
        ExprKind::Number(_)
        | ExprKind::Scalar(_)
        | ExprKind::Text(_)
        | ExprKind::NumberArray(_) => true,
        ExprKind::Value(global) => is_scalar(&expr.ty) && !computed.contains(global),
        ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().all(is_plain),
        ExprKind::Apply { function, args, depth: 0 } => {
            let is_operator = matches!(function.kind, ExprKind::Builtin(..));
            let are_scalars = args.iter().all(|arg| is_scalar(&arg.expr.ty));
            is_operator
                && is_scalar(&expr.ty)
                && are_scalars
                && args.iter().all(|arg| is_plain(&arg.expr))
        }
        ExprKind::Field { record, depth: 0, .. } => is_plain(record),
        ExprKind::If { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().all(|part| is_plain(part))
        }
        _ => false,
    }
}

fn is_scalar(ty: &types::Type) -> bool {
    match ty {
        types::Type::Scalar(_) => true,
        types::Type::Tuple(parts) => parts.iter().all(is_scalar),
        types::Type::Record(fields) => fields.iter().all(|(_, ty)| is_scalar(ty)),
        types::Type::Var(_)
        | types::Type::Array(_)
        | types::Type::Function(..)
        | types::Type::Seq(_)
        | types::Type::Window(..)
        | types::Type::Boundary(..) => false,
    }
}
