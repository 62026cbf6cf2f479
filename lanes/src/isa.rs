//! Loops in several versions: the baseline of the target, and one with AVX2 and fused
//! multiply-add, chosen when a loop is looked up. Without the latter `fma` is a slow call, and
//! every transcendental function is made of it.
//!
//! Note [Loops over bytes]. A loop sees registers as bytes. So operators that do the same to the bits of
//! several types share one, such as the addition of signed and of unsigned integers. Each loop says how
//! wide the lanes are that it works on, which is compared before it runs.
#![allow(unsafe_code)]

use weft_ir::FaultKind;

use crate::lanes::{Frame, GROUP, Group, LaneType};

/// A register of a routine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Slot {
    /// The type of its lanes.
    pub ty: LaneType,
    /// Whether it is a single group of equal lanes.
    pub uniform: bool,
    /// Among the registers of its type.
    pub index: u32,
}

impl Slot {
    /// The groups from one of the loop to the next.
    #[inline(always)]
    pub fn step(self) -> usize {
        usize::from(!self.uniform)
    }
}

/// What an operation is applied to.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    /// Where the result goes: not one of the operands.
    pub out: Slot,
    /// The operands; those that an operation does not have are not looked at.
    pub operands: [Slot; 4],
}

/// A loop over lanes. Implementations are inlined into the versions.
pub(crate) trait Loop {
    /// The bytes of a lane of the result.
    const RESULT: usize;
    /// The bytes of a lane of each operand, 0 for those that it does not have.
    const OPERANDS: [usize; 4];

    /// Applies it to all groups of the result, failing on the first `lanes` lanes only. Where the first
    /// alone is wanted, it makes all lanes of its group the same.
    ///
    /// # Safety
    /// The result and the operands are whole, aligned groups of lanes of these widths, with bits that are
    /// valid for their types. An operand has as many groups as the result, or one.
    unsafe fn run(out: &mut [u8], operands: [&[u8]; 4], lanes: usize) -> Result<(), FaultKind>;
}

/// The operands are parameters of their own, which tells the compiler that they are not the result.
type Version = unsafe fn(&mut [u8], &[u8], &[u8], &[u8], &[u8], usize) -> Result<(), FaultKind>;

/// A loop in the version for this machine.
#[derive(Clone, Copy, Debug)]
pub struct Apply {
    version: Version,
    result: usize,
    operands: [usize; 4],
    /// Whether the first two operands change places.
    exchanged: bool,
}

impl Apply {
    /// The version of a loop for this machine.
    pub(crate) fn of<L: Loop>() -> Apply {
        Apply::in_versions::<L, L>()
    }

    /// As [`Apply::of`], where the baseline is another loop that does the same.
    pub(crate) fn in_versions<L: Loop, B: Loop>() -> Apply {
        #[cfg(target_arch = "x86_64")]
        if has_avx2() {
            return Apply::with::<L>(avx2::<L>);
        }
        Apply::plain::<B>()
    }

    /// The baseline, for a loop that gains nothing from other instructions.
    pub(crate) fn plain<L: Loop>() -> Apply {
        Apply::with::<L>(baseline::<L>)
    }

    fn with<L: Loop>(version: Version) -> Apply {
        Apply { version, result: L::RESULT, operands: L::OPERANDS, exchanged: false }
    }

    /// With the first two operands in the other order.
    pub(crate) fn exchanged(self) -> Apply {
        Apply { exchanged: !self.exchanged, ..self }
    }

    /// Runs it on blocks of that many lanes.
    ///
    /// # Panics
    /// If a register has lanes of another width or too few groups, or if the result is an operand.
    #[inline]
    pub fn run(
        &self,
        frame: &mut Frame,
        arguments: &Arguments,
        lanes: usize,
    ) -> Result<(), FaultKind> {
        let out = arguments.out;
        let (groups, lanes) = if out.uniform { (1, 1) } else { (lanes.div_ceil(GROUP), lanes) };
        let (to, bytes) = {
            let bytes = frame.bytes_mut(out, groups);
            (bytes.as_mut_ptr(), bytes.len())
        };
        let mut fits = bytes == self.result * GROUP * groups;
        let frame = &*frame;
        let mut operand = |at: usize| -> &[u8] {
            if self.operands[at] == 0 {
                return &[];
            }
            let slot =
                arguments.operands[if at < 2 { at ^ usize::from(self.exchanged) } else { at }];
            let groups = if slot.uniform { 1 } else { groups };
            let bytes = frame.bytes(slot, groups);
            fits &= bytes.len() == self.operands[at] * GROUP * groups;
            fits &= (slot.ty, slot.index) != (out.ty, out.index);
            bytes
        };
        let (a, b, c, d) = (operand(0), operand(1), operand(2), operand(3));
        assert!(fits, "registers are what the loop was looked up for");
        // SAFETY: these bytes are a register's, and no operand is the same register. `Apply::with` is the
        // only way to an `Apply`, and is given a version that needs certain instructions only where the
        // machine has them. All lengths have been compared, and registers hold valid lanes.
        unsafe {
            let out = std::slice::from_raw_parts_mut(to, bytes);
            (self.version)(out, a, b, c, d, lanes)
        }
    }
}

/// # Safety
/// As [`Loop::run`] demands.
unsafe fn baseline<L: Loop>(
    out: &mut [u8],
    a: &[u8],
    b: &[u8],
    c: &[u8],
    d: &[u8],
    lanes: usize,
) -> Result<(), FaultKind> {
    // SAFETY: the caller's duty.
    unsafe { L::run(out, [a, b, c, d], lanes) }
}

/// # Safety
/// As [`Loop::run`] demands; the machine has the instructions.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt")]
unsafe fn avx2<L: Loop>(
    out: &mut [u8],
    a: &[u8],
    b: &[u8],
    c: &[u8],
    d: &[u8],
    lanes: usize,
) -> Result<(), FaultKind> {
    // SAFETY: the caller's duty.
    unsafe { L::run(out, [a, b, c, d], lanes) }
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

/// The groups of a result.
///
/// # Safety
/// The bytes are whole, aligned groups of lanes that are valid for the type.
#[inline(always)]
pub(crate) unsafe fn groups_mut<T>(bytes: &mut [u8]) -> &mut [Group<T>] {
    let groups = bytes.len() / size_of::<Group<T>>();
    // SAFETY: the caller's duty.
    unsafe { std::slice::from_raw_parts_mut(bytes.as_mut_ptr().cast(), groups) }
}

/// The groups of an operand, or the one that stands for all.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a, T> {
    groups: &'a [Group<T>],
    step: usize,
}

impl<'a, T> Operand<'a, T> {
    /// Of these bytes.
    ///
    /// # Safety
    /// They are whole, aligned groups of lanes that are valid for the type, at least one.
    #[inline(always)]
    pub(crate) unsafe fn new(bytes: &'a [u8]) -> Operand<'a, T> {
        let count = bytes.len() / size_of::<Group<T>>();
        // SAFETY: the caller's duty.
        let groups = unsafe { std::slice::from_raw_parts(bytes.as_ptr().cast(), count) };
        Operand { groups, step: usize::from(count > 1) }
    }

    /// The lanes of a group.
    ///
    /// # Safety
    /// There is one group, or more than that.
    #[inline(always)]
    pub(crate) unsafe fn lanes(self, at: usize) -> &'a [T; GROUP] {
        // SAFETY: the caller's duty.
        unsafe { &self.groups.get_unchecked(at * self.step).0 }
    }
}
