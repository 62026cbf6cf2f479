//! The state of one routine while it is compiled.

use std::collections::BTreeMap;

use weft_ir::Scalar;
use weft_ir::code::Register;

use crate::compile::{Builder, Place, Value};
use crate::isa::Slot;
use crate::lanes::LaneType;
use crate::routine::{Instruction, Subroutine, level};

/// A routine that is being compiled. Its registers are not yet shared; [`super::registers`] does that.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    /// What the registers of the code are.
    pub(crate) values: BTreeMap<Register, Value>,
    /// By type, of each register whether it is uniform.
    pub(crate) registers: BTreeMap<LaneType, Vec<bool>>,
    /// Instructions by level.
    pub(crate) levels: [Vec<Instruction>; level::COUNT],
    /// Registers that hold constants.
    pub(crate) constants: Vec<(Slot, Scalar)>,
    /// Counting indices that have become lanes.
    pub(crate) ramps: Vec<(Slot, i64, Slot)>,
    /// Registers that keep what they hold.
    pub(crate) pinned: Vec<Slot>,
    /// Bodies of branches and loops.
    pub(crate) subroutines: Vec<Subroutine>,
    /// What this one takes from around it: the register there and here.
    pub(crate) captures: Vec<(Slot, Slot)>,
    /// The greatest level of those, there.
    pub(crate) capture_level: usize,
    /// The least level of an instruction.
    pub(crate) floor: usize,
    /// The greatest level of a check so far.
    pub(crate) check_level: usize,
    /// Which lanes really take the side of a conditional that is compiled for all lanes.
    pub(crate) guard: Option<Value>,
    /// Whether something in it may fail or go on for ever.
    pub(crate) partial: bool,
    /// Whether its lanes are those of the block.
    pub(crate) full: bool,
    /// The arrays that are read at the point.
    pub(crate) at_point: Vec<usize>,
}

impl Scope {
    /// A new register.
    pub(crate) fn fresh(&mut self, ty: LaneType, uniform: bool) -> Slot {
        let registers = self.registers.entry(ty).or_default();
        registers.push(uniform);
        Slot { ty, uniform, index: registers.len() as u32 - 1 }
    }

    /// A new register that keeps what it holds.
    pub(crate) fn pinned(&mut self, ty: LaneType, uniform: bool) -> Slot {
        let slot = self.fresh(ty, uniform);
        self.pinned.push(slot);
        slot
    }

    /// Appends an instruction that depends on values of that level; the level where it now is.
    pub(crate) fn emit(&mut self, at: usize, instruction: Instruction) -> usize {
        let at = at.max(self.floor);
        self.levels[at].push(instruction);
        at
    }

    /// The register that holds a value; emits what makes it one.
    pub(crate) fn slot(&mut self, value: Value) -> Slot {
        match value.place {
            Place::Slot(slot) => slot,
            Place::Constant(scalar) => self.constant(scalar),
            Place::Affine { base, coefficient } => {
                let same = |ramp: &&(Slot, i64, Slot)| (ramp.0, ramp.1) == (base, coefficient);
                if let Some(&(_, _, slot)) = self.ramps.iter().find(same) {
                    return slot;
                }
                let out = self.fresh(LaneType::I64, false);
                self.emit(value.level, Instruction::Ramp { out, base, coefficient });
                self.ramps.push((base, coefficient, out));
                out
            }
        }
    }

    fn constant(&mut self, scalar: Scalar) -> Slot {
        let ty = LaneType::of(scalar.ty());
        let same = |(slot, known): &&(Slot, Scalar)| slot.ty == ty && known.same_bits(scalar);
        if let Some(&(slot, _)) = self.constants.iter().find(same) {
            return slot;
        }
        let slot = self.pinned(ty, true);
        self.constants.push((slot, scalar));
        slot
    }

    /// The register of this routine that is filled from one around it.
    fn capture(&mut self, outer: Slot) -> Slot {
        if let Some(&(_, inner)) = self.captures.iter().find(|(known, _)| *known == outer) {
            return inner;
        }
        let inner = self.pinned(outer.ty, outer.uniform);
        self.captures.push((outer, inner));
        inner
    }
}

impl Builder<'_> {
    /// What a register of the code is, in the scope of that depth.
    ///
    /// # Panics
    /// If it is not bound.
    pub(super) fn look_up(&mut self, register: Register, depth: usize) -> Value {
        if let Some(&value) = self.scopes[depth].values.get(&register) {
            return value;
        }
        assert!(depth > 0, "r{} is used before it is bound", register.0);
        let outer = self.look_up(register, depth - 1);
        let scope_is_full = self.scopes[depth].full;
        let place = match outer.place {
            Place::Constant(_) => outer.place,
            Place::Affine { base, coefficient } if scope_is_full => {
                Place::Affine { base: self.scopes[depth].capture(base), coefficient }
            }
            Place::Slot(_) | Place::Affine { .. } => {
                let slot = self.scopes[depth - 1].slot(outer);
                Place::Slot(self.scopes[depth].capture(slot))
            }
        };
        let scope = &mut self.scopes[depth];
        scope.capture_level = scope.capture_level.max(outer.level);
        let value = Value { place, level: 0 };
        scope.values.insert(register, value);
        value
    }

    /// Whether all lanes share what a register of the code is.
    pub(super) fn is_uniform(&self, register: Register) -> bool {
        let found = self.scopes.iter().rev().find_map(|scope| scope.values.get(&register));
        match found.map(|value| value.place) {
            Some(Place::Constant(_)) => true,
            Some(Place::Slot(slot)) => slot.uniform,
            Some(Place::Affine { .. }) | None => false,
        }
    }
}
