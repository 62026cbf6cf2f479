//! Loops in several versions: the baseline of the target, and one with AVX2 and fused
//! multiply-add, chosen when a loop is looked up. Without the latter `fma` is a slow call, and
//! every transcendental function is made of it.
//!
//! This is the one module of the crate with `unsafe`: a function that is compiled for certain
//! instructions may only be called where the machine has them.
#![allow(unsafe_code)]

use weft_ir::FaultKind;

use crate::lanes::{Frame, GROUP, LaneType};

/// A register of a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Slot {
    /// The type of its lanes.
    pub(crate) ty: LaneType,
    /// Whether it is a single group of equal lanes.
    pub(crate) uniform: bool,
    /// Among the registers of its type.
    pub(crate) index: u32,
}

impl Slot {
    /// The groups from one of the loop to the next.
    #[inline(always)]
    pub(crate) fn step(self) -> usize {
        usize::from(!self.uniform)
    }
}

/// What an operation is applied to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arguments {
    /// Where the result goes: not one of the operands.
    pub(crate) out: Slot,
    /// The operands; those that an operation does not have are not looked at.
    pub(crate) operands: [Slot; 4],
}

impl Arguments {
    /// The groups to compute for a block of that many lanes.
    #[inline(always)]
    pub(crate) fn groups(&self, lanes: usize) -> usize {
        if self.out.uniform { 1 } else { lanes.div_ceil(GROUP) }
    }
}

/// A loop over lanes. Implementations are inlined into the versions.
pub(crate) trait Loop {
    /// Applies it to all groups of the result, failing on the first `lanes` lanes only.
    fn run(frame: &mut Frame, arguments: &Arguments, lanes: usize) -> Result<(), FaultKind>;
}

type Version = unsafe fn(&mut Frame, &Arguments, usize) -> Result<(), FaultKind>;

/// A loop in the version for this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Apply(Version);

impl Apply {
    /// The version of a loop for this machine.
    pub(crate) fn of<L: Loop>() -> Apply {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            return Apply(avx2::<L>);
        }
        Apply(baseline::<L>)
    }

    /// Runs it.
    #[inline(always)]
    pub(crate) fn run(
        self,
        frame: &mut Frame,
        arguments: &Arguments,
        lanes: usize,
    ) -> Result<(), FaultKind> {
        // SAFETY: `Apply::of` is the only way to an `Apply`, and it takes a version that needs
        // certain instructions only where the machine has them.
        unsafe { (self.0)(frame, arguments, lanes) }
    }
}

fn baseline<L: Loop>(
    frame: &mut Frame,
    arguments: &Arguments,
    lanes: usize,
) -> Result<(), FaultKind> {
    L::run(frame, arguments, lanes)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
fn avx2<L: Loop>(frame: &mut Frame, arguments: &Arguments, lanes: usize) -> Result<(), FaultKind> {
    L::run(frame, arguments, lanes)
}

/// Whether the machine has what versions with AVX2 are compiled for.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("popcnt")
}
