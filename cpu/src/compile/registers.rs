//! Shares registers between values that are not alive together, so that a block stays in the first
//! level of the cache.

use std::collections::BTreeMap;

use crate::compile::scope::Scope;
use crate::isa::Slot;
use crate::routine::{Index, Instruction, Routine, Subroutine};

/// How an instruction uses a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    /// Read as the index of a read at the point, which may do without.
    AtPoint,
    Write,
}

/// What the registers of a scope are called in its routine.
pub(super) struct Names {
    slots: BTreeMap<Slot, Slot>,
    needed: Vec<Slot>,
}

impl Names {
    /// The new register.
    pub(super) fn slot(&self, slot: Slot) -> Slot {
        self.slots[&slot]
    }

    /// Whether an instruction reads it otherwise than at the point, or it is a result.
    pub(super) fn is_needed(&self, slot: Slot) -> bool {
        self.needed.binary_search(&slot).is_ok()
    }
}

/// The routine of a scope whose results are in these registers. Registers that are pinned, or that
/// an outer level defines and an inner one reads, are not shared.
pub(super) fn assign(mut scope: Scope, results: Vec<Slot>) -> (Routine, Names) {
    let mut uses = Uses::default();
    for slot in scope.pinned.iter().chain(&results) {
        uses.keep.push(*slot);
    }
    uses.needed.extend(&results);
    let mut number = 0;
    for (level, instructions) in scope.levels.iter_mut().enumerate() {
        for instruction in instructions {
            number += 1;
            visit(instruction, &mut scope.subroutines, &mut |slot, access| match access {
                Access::Write => {
                    uses.defined.insert(*slot, level);
                    uses.last.entry(*slot).or_insert((level, number));
                }
                Access::Read | Access::AtPoint => {
                    uses.last.insert(*slot, (level, number));
                    if access == Access::Read {
                        uses.needed.push(*slot);
                    }
                }
            });
        }
    }
    uses.needed.sort_unstable();
    for (slot, level) in &uses.defined {
        if uses.last[slot].0 != *level {
            uses.keep.push(*slot);
        }
    }
    uses.keep.sort_unstable();

    let mut pool = Pool::default();
    for slot in scope.pinned.clone() {
        pool.name(slot);
    }
    let mut number = 0;
    for instructions in &mut scope.levels {
        for instruction in instructions {
            number += 1;
            let mut dead = Vec::new();
            visit(instruction, &mut scope.subroutines, &mut |slot, _| {
                let old = *slot;
                *slot = pool.name(old);
                let ends = uses.last.get(&old).is_some_and(|&(_, last)| last == number);
                if ends && uses.keep.binary_search(&old).is_err() {
                    dead.push(old);
                }
            });
            dead.sort_unstable();
            dead.dedup();
            for slot in dead {
                pool.release(slot);
            }
        }
    }
    let results: Vec<Slot> = results.into_iter().map(|slot| pool.name(slot)).collect();
    let constants =
        scope.constants.iter().map(|&(slot, scalar)| (pool.name(slot), scalar)).collect();
    let routine = Routine {
        levels: scope.levels,
        registers: pool.registers.into_iter().collect(),
        constants,
        subroutines: scope.subroutines,
        results,
    };
    (routine, Names { slots: pool.names, needed: uses.needed })
}

#[derive(Default)]
struct Uses {
    /// The level that defines a register.
    defined: BTreeMap<Slot, usize>,
    /// The level and the number of the last instruction that touches it.
    last: BTreeMap<Slot, (usize, usize)>,
    /// Registers that are not shared, sorted at the end.
    keep: Vec<Slot>,
    /// Registers that are read otherwise than at the point, sorted at the end.
    needed: Vec<Slot>,
}

/// The registers of the routine.
#[derive(Default)]
struct Pool {
    registers: BTreeMap<crate::lanes::LaneType, Vec<bool>>,
    free: Vec<Slot>,
    names: BTreeMap<Slot, Slot>,
}

impl Pool {
    fn name(&mut self, old: Slot) -> Slot {
        if let Some(&name) = self.names.get(&old) {
            return name;
        }
        let fits = |slot: &Slot| slot.ty == old.ty && slot.uniform == old.uniform;
        let name = match self.free.iter().rposition(fits) {
            Some(at) => self.free.swap_remove(at),
            None => {
                let registers = self.registers.entry(old.ty).or_default();
                registers.push(old.uniform);
                Slot { index: registers.len() as u32 - 1, ..old }
            }
        };
        self.names.insert(old, name);
        name
    }

    fn release(&mut self, old: Slot) {
        self.free.push(self.names[&old]);
    }
}

/// Shows all registers of an instruction, reads before writes, so that a result never shares the
/// register of an operand that ends there.
fn visit(
    instruction: &mut Instruction,
    subroutines: &mut [Subroutine],
    see: &mut dyn FnMut(&mut Slot, Access),
) {
    match instruction {
        Instruction::Apply { arguments, .. } => {
            let out = arguments.out;
            let filler = arguments.operands.map(|operand| operand == out);
            for operand in &mut arguments.operands {
                // Operands that the operation does not have repeat the result.
                if *operand != out {
                    see(operand, Access::Read);
                }
            }
            see(&mut arguments.out, Access::Write);
            for (operand, is_filler) in arguments.operands.iter_mut().zip(filler) {
                if is_filler {
                    *operand = arguments.out;
                }
            }
        }
        Instruction::Ramp { out, base, .. } => {
            see(base, Access::Read);
            see(out, Access::Write);
        }
        Instruction::Read(read) => {
            let access = if read.at_point { Access::AtPoint } else { Access::Read };
            for index in &mut read.indices {
                match index {
                    Index::Uniform(slot) | Index::Affine(slot, _) | Index::Varying(slot) => {
                        see(slot, access);
                    }
                }
            }
            see(&mut read.out, Access::Write);
        }
        Instruction::Check { condition, .. } => see(condition, Access::Read),
        Instruction::Branch(branch) => {
            see(&mut branch.condition, Access::Read);
            for number in [branch.then.0, branch.otherwise.0] {
                for (outer, _) in &mut subroutines[number].captures {
                    see(outer, Access::Read);
                }
            }
            for slot in &mut branch.results {
                see(slot, Access::Write);
            }
        }
        Instruction::Repeat(repeat) => {
            for slot in &mut repeat.initial {
                see(slot, Access::Read);
            }
            for (outer, _) in &mut subroutines[repeat.subroutine].captures {
                see(outer, Access::Read);
            }
            for slot in &mut repeat.results {
                see(slot, Access::Write);
            }
        }
    }
}
