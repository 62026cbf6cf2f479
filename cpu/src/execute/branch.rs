//! Conditionals: each side runs on the lanes that take it, closed up in a frame of its own, so that
//! what is guarded is not evaluated elsewhere.

use std::mem;

use crate::execute::{Context, Halt, Lanes, run};
use crate::isa::Slot;
use crate::lanes::{Frame, GROUP, Lane, with_lane_type};
use crate::routine::{Branch, Routine, Subroutine};

/// Runs a conditional.
pub(super) fn branch(
    routine: &Routine,
    branch: &Branch,
    frame: &mut Frame,
    lanes: Lanes,
    context: &Context<'_>,
) -> Result<(), Halt> {
    let chosen = |frame: &mut Frame, (number, inner): &(usize, Vec<Slot>)| {
        on_all(&routine.subroutines[*number], *number, inner, branch, frame, lanes, context)
    };
    let condition = &bool::file(frame)[branch.condition.index as usize];
    if branch.condition.uniform {
        let then = condition[0].0[0];
        return chosen(frame, if then { &branch.then } else { &branch.otherwise });
    }
    let (mut yes, mut no) = (Vec::new(), Vec::new());
    for lane in 0..lanes.count {
        let side = if condition[lane / GROUP].0[lane % GROUP] { &mut yes } else { &mut no };
        side.push(lane as u32);
    }
    if no.is_empty() {
        return chosen(frame, &branch.then);
    }
    if yes.is_empty() {
        return chosen(frame, &branch.otherwise);
    }
    for (selection, (number, inner)) in [(yes, &branch.then), (no, &branch.otherwise)] {
        let subroutine = &routine.subroutines[*number];
        let mut child = mem::take(&mut frame.children[*number]);
        for &(outer, inner) in &subroutine.captures {
            select(frame, outer, &mut child, inner, &selection);
        }
        let count = Lanes { count: selection.len(), position: lanes.position };
        let ran = run(&subroutine.routine, 0, &mut child, count, context);
        for (&inner, &outer) in inner.iter().zip(&branch.results) {
            spread(&child, inner, frame, outer, &selection);
        }
        frame.children[*number] = child;
        ran?;
    }
    Ok(())
}

/// Runs one side on all lanes; the captured registers change hands meanwhile.
fn on_all(
    subroutine: &Subroutine,
    number: usize,
    inner: &[Slot],
    branch: &Branch,
    frame: &mut Frame,
    lanes: Lanes,
    context: &Context<'_>,
) -> Result<(), Halt> {
    let mut child = mem::take(&mut frame.children[number]);
    exchange(subroutine, frame, &mut child);
    let ran = run(&subroutine.routine, 0, &mut child, lanes, context);
    for (&inner, &outer) in inner.iter().zip(&branch.results) {
        copy(&child, inner, frame, outer, lanes.count);
    }
    exchange(subroutine, frame, &mut child);
    frame.children[number] = child;
    ran
}

fn exchange(subroutine: &Subroutine, frame: &mut Frame, child: &mut Frame) {
    for &(outer, inner) in &subroutine.captures {
        with_lane_type!(outer.ty, T => mem::swap(
            &mut T::file_mut(frame)[outer.index as usize],
            &mut T::file_mut(child)[inner.index as usize],
        ));
    }
}

/// The first lanes of a register in one of another frame.
pub(super) fn copy(from: &Frame, source: Slot, to: &mut Frame, target: Slot, lanes: usize) {
    with_lane_type!(source.ty, T => {
        let source_groups = &T::file(from)[source.index as usize];
        let target_groups = &mut T::file_mut(to)[target.index as usize];
        let groups = if target.uniform { 1 } else { lanes.div_ceil(GROUP) };
        if source.uniform {
            target_groups[..groups].fill(source_groups[0]);
        } else {
            target_groups[..groups].copy_from_slice(&source_groups[..groups]);
        }
    });
}

/// The selected lanes of a register, closed up in one of another frame.
pub(super) fn select(from: &Frame, source: Slot, to: &mut Frame, target: Slot, selection: &[u32]) {
    with_lane_type!(source.ty, T => {
        let source_groups = &T::file(from)[source.index as usize];
        let target_groups = &mut T::file_mut(to)[target.index as usize];
        if target.uniform {
            target_groups[0] = source_groups[0];
        } else {
            for (group, selection) in target_groups.iter_mut().zip(selection.chunks(GROUP)) {
                for (lane, &from) in group.0.iter_mut().zip(selection) {
                    *lane = source_groups[from as usize / GROUP].0[from as usize % GROUP];
                }
            }
        }
    });
}

/// The inverse of [`select`].
fn spread(from: &Frame, source: Slot, to: &mut Frame, target: Slot, selection: &[u32]) {
    with_lane_type!(source.ty, T => {
        let source_groups = &T::file(from)[source.index as usize];
        let target_groups = &mut T::file_mut(to)[target.index as usize];
        for (lane, &to) in selection.iter().enumerate() {
            let at = if source.uniform { 0 } else { lane };
            target_groups[to as usize / GROUP].0[to as usize % GROUP] =
                source_groups[at / GROUP].0[at % GROUP];
        }
    });
}
