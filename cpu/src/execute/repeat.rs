//! Loops over lanes: all lanes step together; those that are done leave their state and drop out.
//!
//! Closing up the lanes that go on costs about as much as a step, so a body that can do no harm goes
//! on for lanes that are done until a quarter of them is.

use std::mem;

use crate::execute::branch::copy;
use crate::execute::{Context, Halt, Lanes, run};
use crate::isa::Slot;
use crate::lanes::{Frame, GROUP, Lane, with_lane_type};
use crate::routine::{Repeat, Routine, Subroutine};

/// How many steps go by between two looks at the cancel flag.
const STEPS_PER_POLL: usize = 32;

/// Runs a loop.
pub(super) fn repeat(
    routine: &Routine,
    repeat: &Repeat,
    frame: &mut Frame,
    lanes: Lanes,
    context: &Context<'_>,
) -> Result<(), Halt> {
    let subroutine = &routine.subroutines[repeat.subroutine];
    let mut child = mem::take(&mut frame.children[repeat.subroutine]);
    for &(outer, inner) in &subroutine.captures {
        copy(frame, outer, &mut child, inner, lanes.count);
    }
    for (&outer, &inner) in repeat.initial.iter().zip(&repeat.state) {
        copy(frame, outer, &mut child, inner, lanes.count);
    }
    let ran = steps(subroutine, repeat, frame, &mut child, lanes, context);
    frame.children[repeat.subroutine] = child;
    ran
}

fn steps(
    subroutine: &Subroutine,
    repeat: &Repeat,
    frame: &mut Frame,
    child: &mut Frame,
    lanes: Lanes,
    context: &Context<'_>,
) -> Result<(), Halt> {
    let mut active =
        Active { count: lanes.count, origins: Vec::new(), going: Vec::new(), left: lanes.count };
    for step in 0_usize.. {
        if step % STEPS_PER_POLL == STEPS_PER_POLL - 1 {
            context.poll()?;
        }
        let block = Lanes { count: active.count, position: lanes.position };
        run(&subroutine.routine, 0, child, block, context)?;
        let condition = &bool::file(child)[repeat.condition.index as usize];
        if repeat.condition.uniform {
            if !condition[0].0[0] {
                for (&inner, &outer) in repeat.state.iter().zip(&repeat.results) {
                    copy(child, inner, frame, outer, lanes.count);
                }
                return Ok(());
            }
        } else if active.drop_out(repeat, frame, child) {
            if active.left == 0 {
                return Ok(());
            }
            if !repeat.total || active.left * 4 <= active.count * 3 {
                active.close_up(subroutine, repeat, child);
            }
        }
        let block = Lanes { count: active.count, position: lanes.position };
        run(&subroutine.routine, 1, child, block, context)?;
        for (&state, &next) in repeat.state.iter().zip(&repeat.next) {
            with_lane_type!(state.ty, T => {
                T::file_mut(child).swap(state.index as usize, next.index as usize);
            });
        }
    }
    Ok(())
}

/// The lanes of a loop that vary in how long they run.
struct Active {
    /// How many lanes are computed.
    count: usize,
    /// The lane of the block that each belongs to; empty as long as that is the same.
    origins: Vec<u32>,
    /// Which of them are not done; empty as long as all are not.
    going: Vec<bool>,
    /// How many are not done.
    left: usize,
}

impl Active {
    /// Saves the state of the lanes whose condition has become false. Whether there are any.
    fn drop_out(&mut self, repeat: &Repeat, frame: &mut Frame, child: &Frame) -> bool {
        let condition = &bool::file(child)[repeat.condition.index as usize];
        if self.going.is_empty() {
            self.going = vec![true; self.count];
        }
        let mut done: Vec<u32> = Vec::new();
        for (at, (going, group)) in self.going.chunks_mut(GROUP).zip(condition).enumerate() {
            let lanes = going.iter().zip(&group.0);
            if !lanes.fold(false, |any, (&going, &holds)| any | (going & !holds)) {
                continue;
            }
            for (lane, (going, &holds)) in going.iter_mut().zip(&group.0).enumerate() {
                if *going && !holds {
                    *going = false;
                    done.push((at * GROUP + lane) as u32);
                }
            }
        }
        if done.is_empty() {
            return false;
        }
        self.left -= done.len();
        for (&inner, &outer) in repeat.state.iter().zip(&repeat.results) {
            save(child, inner, frame, outer, &done, &self.origins);
        }
        true
    }

    /// Leaves the lanes that are not done.
    fn close_up(&mut self, subroutine: &Subroutine, repeat: &Repeat, child: &mut Frame) {
        let lanes = 0..self.count as u32;
        let stay: Vec<u32> = lanes.filter(|&lane| self.going[lane as usize]).collect();
        let captured = subroutine.captures.iter().map(|&(_, inner)| inner);
        for slot in captured.chain(repeat.state.iter().copied()).filter(|slot| !slot.uniform) {
            // The gather runs forward and never passes what it reads.
            with_lane_type!(slot.ty, T => {
                let groups = &mut T::file_mut(child)[slot.index as usize];
                for (to, &from) in stay.iter().enumerate() {
                    let from = from as usize;
                    groups[to / GROUP].0[to % GROUP] = groups[from / GROUP].0[from % GROUP];
                }
            });
        }
        self.origins = if self.origins.is_empty() {
            stay
        } else {
            stay.into_iter().map(|lane| self.origins[lane as usize]).collect()
        };
        self.count = self.origins.len();
        self.going.clear();
    }
}

/// The state of the lanes that are done, to where they belong.
fn save(from: &Frame, source: Slot, to: &mut Frame, target: Slot, done: &[u32], origins: &[u32]) {
    with_lane_type!(source.ty, T => {
        let source_groups = &T::file(from)[source.index as usize];
        let target_groups = &mut T::file_mut(to)[target.index as usize];
        for &lane in done {
            let lane = lane as usize;
            let at = if source.uniform { 0 } else { lane };
            let origin = origins.get(lane).map_or(lane, |&origin| origin as usize);
            target_groups[origin / GROUP].0[origin % GROUP] =
                source_groups[at / GROUP].0[at % GROUP];
        }
    });
}
