//! Runs the instructions of a routine over one block of lanes.

mod branch;
mod read;
mod repeat;

use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::{Exhausted, FaultKind, Scalar};

use crate::isa::Slot;
use crate::lanes::{Elements, Frame, GROUP, Lane};
use crate::native;
use crate::native::engine::Overdue;
use crate::routine::{Instruction, Routine};

/// What a kernel reads.
#[derive(Clone, Debug)]
pub(crate) enum Source<'a> {
    /// A scalar.
    Scalar(Scalar),
    /// An array.
    Array {
        /// In storage order.
        elements: Elements<'a>,
        /// How far apart neighbours along each dimension stand.
        strides: Vec<i64>,
        /// Whether its extents are those of the space's storage.
        over_space: bool,
    },
}

/// What all blocks of a launch share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Context<'a> {
    /// By number.
    pub(crate) sources: &'a [Source<'a>],
    /// Set when the run shall end.
    pub(crate) cancel: &'a AtomicBool,
    /// Where native functions come from.
    pub(crate) native: Option<&'a native::Supply>,
    /// What a block gives way to that takes long.
    pub(crate) overdue: Option<&'a Overdue<'a>>,
}

/// Why a block did not end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Halt {
    /// A check failed; the span is an ordinal of the canonical kernel.
    Fault(FaultKind, u32),
    /// The user interrupted the run.
    Interrupted,
    /// There is a native function by now, which shall do the block (Note [Blocks that are begun again]).
    Overtaken,
}

impl Context<'_> {
    /// Fails if the run shall end, or the block had better be begun again.
    pub(crate) fn poll(&self) -> Result<(), Halt> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(Halt::Interrupted);
        }
        match self.overdue {
            Some(overdue) if overdue.is_overtaken() => Err(Halt::Overtaken),
            Some(_) | None => Ok(()),
        }
    }
}

impl Halt {
    /// What that means for the run; spans by ordinal.
    pub(crate) fn stop(self, spans: &[weft_ir::Span]) -> weft_ir::Stop {
        match self {
            Halt::Fault(kind, span) => {
                let span = spans.get(span as usize).copied().unwrap_or_default();
                weft_ir::Fault { kind, span }.into()
            }
            Halt::Interrupted => Exhausted::Interrupted.into(),
            Halt::Overtaken => unreachable!("the block is begun again"),
        }
    }
}

/// A block: how many lanes, and where its first point stands in storage order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lanes {
    /// At least one, at most those that the frame was made for.
    pub(crate) count: usize,
    /// The position of the first lane.
    pub(crate) position: usize,
}

/// Runs the instructions of one level.
pub(crate) fn run(
    routine: &Routine,
    level: usize,
    frame: &mut Frame,
    lanes: Lanes,
    context: &Context<'_>,
) -> Result<(), Halt> {
    for instruction in &routine.levels[level] {
        match instruction {
            Instruction::Apply { apply, arguments, span } => {
                apply
                    .run(frame, arguments, lanes.count)
                    .map_err(|kind| Halt::Fault(kind, *span))?;
            }
            Instruction::Ramp { out, base, coefficient } => {
                ramp(frame, *out, *base, *coefficient, lanes.count);
            }
            Instruction::Read(read) => read::read(frame, read, lanes, context),
            Instruction::Check { condition, kind, span } => {
                if !all(frame, *condition, lanes.count) {
                    return Err(Halt::Fault(*kind, *span));
                }
            }
            Instruction::Branch(branch) => {
                branch::branch(routine, branch, frame, lanes, context)?;
            }
            Instruction::Repeat(repeat) => {
                repeat::repeat(routine, repeat, frame, lanes, context)?;
            }
        }
    }
    Ok(())
}

/// `base + coefficient · lane`.
fn ramp(frame: &mut Frame, out: Slot, base: Slot, coefficient: i64, lanes: usize) {
    let mut first = uniform_i64(frame, base);
    for group in &mut i64::file_mut(frame)[out.index as usize][..lanes.div_ceil(GROUP)] {
        for (lane, index) in group.0.iter_mut().zip(0_i64..) {
            *lane = first.wrapping_add(coefficient.wrapping_mul(index));
        }
        first = first.wrapping_add(coefficient.wrapping_mul(GROUP as i64));
    }
}

/// The value of a uniform register.
pub(crate) fn uniform_i64(frame: &Frame, slot: Slot) -> i64 {
    i64::file(frame)[slot.index as usize][0].0[0]
}

/// Whether all lanes of a block hold.
pub(crate) fn all(frame: &Frame, slot: Slot, lanes: usize) -> bool {
    let groups = &bool::file(frame)[slot.index as usize];
    if slot.uniform {
        return groups[0].0[0];
    }
    let (whole, rest) = (lanes / GROUP, lanes % GROUP);
    groups[..whole].iter().all(|group| group.0.iter().fold(true, |all, &lane| all & lane))
        && (rest == 0 || groups[whole].0[..rest].iter().all(|&lane| lane))
}
