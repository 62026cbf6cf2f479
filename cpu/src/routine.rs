//! Routines: what a kernel's code is compiled to, instructions over blocks of lanes.
//!
//! Note [Levels of code]. The instructions of a routine stand in four lists by how often they run: once per
//! launch, once per row (per change of the uniform outer indices), once per block, and once per step
//! of a sequential last index. A value's level is the greatest of those that it depends on. So what
//! does not change in a loop is computed outside of it, and an outer loop's registers stay as they
//! are in an inner one.
//!
//! Note [Uniform and affine]. A value that all lanes share is computed once, on a single group. An
//! index that counts along the lanes is not computed at all: it is known as a uniform base and a
//! constant coefficient, which tells that a read is contiguous, and becomes lanes only where
//! something else needs them.

use weft_ir::{FaultKind, Scalar};

use crate::isa::{Apply, Arguments, Slot};
use crate::lanes::{Frame, GROUP, Group, Lane, LaneType, with_lane_type};

/// How often an instruction runs (Note [Levels of code]).
pub(crate) mod level {
    /// Once per launch.
    pub(crate) const LAUNCH: usize = 0;
    /// Once per row.
    pub(crate) const ROW: usize = 1;
    /// Once per block.
    pub(crate) const BLOCK: usize = 2;
    /// Once per step along the last dimension.
    pub(crate) const STEP: usize = 3;
    /// How many there are.
    pub(crate) const COUNT: usize = 4;
}

/// Compiled code.
#[derive(Clone, Debug, Default)]
pub(crate) struct Routine {
    /// The instructions by level.
    pub(crate) levels: [Vec<Instruction>; level::COUNT],
    /// Of each register, by type: whether it is uniform.
    pub(crate) registers: Vec<(LaneType, Vec<bool>)>,
    /// Registers that hold constants.
    pub(crate) constants: Vec<(Slot, Scalar)>,
    /// Bodies of branches and loops, which have frames of their own.
    pub(crate) subroutines: Vec<Subroutine>,
    /// The registers that hold the results.
    pub(crate) results: Vec<Slot>,
}

/// A body with a frame of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subroutine {
    /// What it computes. A branch has one level; a loop has the condition at level 0, the body at
    /// level 1.
    pub(crate) routine: Routine,
    /// What it takes from the registers around it, and where it keeps that.
    pub(crate) captures: Vec<(Slot, Slot)>,
}

/// One step of a routine. Spans are ordinals of the canonical kernel.
#[derive(Clone, Debug)]
pub(crate) enum Instruction {
    /// A scalar operator.
    Apply { apply: Apply, arguments: Arguments, span: u32 },
    /// `base + coefficient · lane`.
    Ramp { out: Slot, base: Slot, coefficient: i64 },
    /// Elements of an array.
    Read(Read),
    /// A fault unless all lanes hold.
    Check { condition: Slot, kind: FaultKind, span: u32 },
    /// One of two subroutines.
    Branch(Branch),
    /// A loop.
    Repeat(Repeat),
}

/// A read of an array.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// Where the elements go.
    pub(crate) out: Slot,
    /// The array, by its number in the canonical kernel.
    pub(crate) array: usize,
    /// The storage index.
    pub(crate) indices: Vec<Index>,
    /// Whether the indices are those of the point: then the elements stand at the block's position,
    /// if the array has the extents of the space.
    pub(crate) at_point: bool,
}

/// An index of a read.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Index {
    /// The same for all lanes.
    Uniform(Slot),
    /// `base + coefficient · lane`.
    Affine(Slot, i64),
    /// Any.
    Varying(Slot),
}

/// Code that runs where a condition holds, and other code elsewhere.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// A bool.
    pub(crate) condition: Slot,
    /// The number of the subroutine for each side, with the registers of its results.
    pub(crate) then: (usize, Vec<Slot>),
    /// As `then`.
    pub(crate) otherwise: (usize, Vec<Slot>),
    /// Where the results go.
    pub(crate) results: Vec<Slot>,
}

/// A loop.
#[derive(Clone, Debug)]
pub(crate) struct Repeat {
    /// The subroutine.
    pub(crate) subroutine: usize,
    /// First values, outside.
    pub(crate) initial: Vec<Slot>,
    /// The state, inside.
    pub(crate) state: Vec<Slot>,
    /// The condition, inside.
    pub(crate) condition: Slot,
    /// The next state, inside: registers of their own, of the same kind as the state's.
    pub(crate) next: Vec<Slot>,
    /// Where the last state goes, outside.
    pub(crate) results: Vec<Slot>,
    /// Whether the body neither fails nor loops, so that it may go on for lanes that are done.
    pub(crate) total: bool,
}

impl Routine {
    /// A frame whose registers have no room yet, not even for constants: native functions need few
    /// of them.
    pub(crate) fn bare_frame(&self) -> Frame {
        let mut frame = Frame::default();
        for (ty, registers) in &self.registers {
            with_lane_type!(*ty, T => T::file_mut(&mut frame).resize(registers.len(), Vec::new()));
        }
        frame
    }

    /// Whether there is a loop in it: nobody knows then how long a point takes.
    pub(crate) fn repeats(&self) -> bool {
        let is_loop = |instruction: &Instruction| matches!(instruction, Instruction::Repeat(_));
        self.levels.iter().flatten().any(is_loop)
            || self.subroutines.iter().any(|child| child.routine.repeats())
    }

    /// A frame for blocks of at most that many lanes, with the constants in place.
    pub(crate) fn frame(&self, lanes: usize) -> Frame {
        let groups = lanes.div_ceil(GROUP).max(1);
        let mut frame = Frame::default();
        for (ty, uniform) in &self.registers {
            with_lane_type!(*ty, T => {
                let register = |uniform: &bool| {
                    vec![Group([T::default(); GROUP]); if *uniform { 1 } else { groups }]
                };
                *T::file_mut(&mut frame) = uniform.iter().map(register).collect();
            });
        }
        for (slot, scalar) in &self.constants {
            set_uniform(&mut frame, *slot, *scalar);
        }
        let children = self.subroutines.iter();
        frame.children = children.map(|child| child.routine.frame(lanes)).collect();
        frame
    }
}

/// Makes all lanes of a uniform register that scalar.
pub(crate) fn set_uniform(frame: &mut Frame, slot: Slot, scalar: Scalar) {
    with_lane_type!(slot.ty, T => {
        let value = <T as crate::lanes::FromScalar>::from_scalar(scalar);
        T::file_mut(frame)[slot.index as usize][0] = Group([value; GROUP]);
    });
}
