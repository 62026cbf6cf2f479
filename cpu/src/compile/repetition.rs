//! Loops.

use std::collections::BTreeMap;

use weft_ir::ScalarType;
use weft_ir::code::{Code, Operand, Operation, Register};

use crate::compile::scope::Scope;
use crate::compile::{Builder, Place, Value, registers, scope_is_full};
use crate::isa::Slot;
use crate::lanes::LaneType;
use crate::routine::{Instruction, Repeat, Subroutine};

impl Builder<'_> {
    pub(super) fn repetition(
        &mut self,
        state: &[(Register, ScalarType)],
        initial: &[Operand],
        condition: &Code,
        body: &Code,
        results: &[(Register, ScalarType)],
    ) {
        let mut varying = BTreeMap::new();
        let same = !self.spreads(state, initial, condition, body, &mut varying);
        let values: Vec<Value> = initial.iter().map(|&operand| self.value(operand)).collect();
        let initial: Vec<Slot> = values.iter().map(|&value| self.slot(value)).collect();

        let full = same && scope_is_full(&self.scopes);
        let mut scope = Scope { full, ..Scope::default() };
        let mut state_slots = Vec::new();
        for &(register, ty) in state {
            let slot = scope.pinned(LaneType::of(ty), !varying[&register]);
            scope.values.insert(register, Value { place: Place::Slot(slot), level: 0 });
            state_slots.push(slot);
        }
        self.scopes.push(scope);
        self.code(condition);
        let condition = self.slot_of(condition.results[0]);
        self.top().pinned.push(condition);
        self.top().floor = 1;
        self.code(body);
        let mut next = Vec::new();
        for (&operand, &state) in body.results.iter().zip(&state_slots) {
            let value = self.value(operand);
            let slot = self.slot(value);
            let own = self.own_register(slot, state, &next);
            next.push(own);
        }
        let scope = self.scopes.pop().expect("the scope pushed above");
        let total = !scope.partial;
        let (capture_level, captures) = (scope.capture_level, scope.captures.clone());
        let (routine, names) = registers::assign(scope, next);
        let captures =
            captures.into_iter().map(|(outer, inner)| (outer, names.slot(inner))).collect();
        let next = routine.results.clone();

        let scope = self.top();
        let uniform = |slot: &Slot| same && slot.uniform;
        let slots: Vec<Slot> =
            state_slots.iter().map(|slot| scope.fresh(slot.ty, uniform(slot))).collect();
        let repeat = Repeat {
            subroutine: scope.subroutines.len(),
            initial,
            state: state_slots.iter().map(|&slot| names.slot(slot)).collect(),
            condition: names.slot(condition),
            next,
            results: slots.clone(),
            total,
        };
        scope.subroutines.push(Subroutine { routine, captures });
        scope.partial = true;
        let levels = values.iter().map(|value| value.level);
        // A check before the loop may be what makes it end.
        let at = levels.max().unwrap_or(0).max(capture_level).max(scope.check_level);
        let at = scope.emit(at, Instruction::Repeat(repeat));
        for (&(register, _), slot) in results.iter().zip(slots) {
            scope.values.insert(register, Value { place: Place::Slot(slot), level: at });
        }
    }

    /// The register, or a copy of it, that may change hands with one of the state.
    fn own_register(&mut self, slot: Slot, state: Slot, taken: &[Slot]) -> Slot {
        let scope = self.top();
        let computed =
            !scope.pinned.contains(&slot) && !scope.ramps.iter().any(|ramp| ramp.2 == slot);
        if computed && slot.uniform == state.uniform && !taken.contains(&slot) {
            return slot;
        }
        let out = scope.fresh(slot.ty, state.uniform);
        // Selection of equal values is a copy that every type has.
        let ty = slot.ty.scalar_type();
        let apply =
            crate::operators::operator(weft_ir::ScalarOp::Select, &[ScalarType::Bool, ty, ty]);
        let truth = Value { place: Place::Constant(weft_ir::Scalar::Bool(true)), level: 0 };
        let truth = scope.slot(truth);
        let arguments = crate::isa::Arguments { out, operands: [truth, slot, slot, out] };
        scope.emit(1, Instruction::Apply { apply, arguments, span: 0 });
        out
    }

    /// Notes in `varying` which registers of a loop differ from lane to lane. Whether its condition
    /// does, which makes the whole state vary once the loop has ended.
    fn spreads(
        &self,
        state: &[(Register, ScalarType)],
        initial: &[Operand],
        condition: &Code,
        body: &Code,
        varying: &mut BTreeMap<Register, bool>,
    ) -> bool {
        for (&(register, _), operand) in state.iter().zip(initial) {
            varying.insert(register, self.varies(operand, varying));
        }
        loop {
            self.spread(condition, varying);
            self.spread(body, varying);
            let mut grown = false;
            for (&(register, _), operand) in state.iter().zip(&body.results) {
                if self.varies(operand, varying) {
                    grown |= varying.insert(register, true) == Some(false);
                }
            }
            if !grown {
                return self.varies(&condition.results[0], varying);
            }
        }
    }

    fn spread(&self, code: &Code, varying: &mut BTreeMap<Register, bool>) {
        for instruction in &code.instructions {
            let results = &instruction.results;
            let flags: Vec<bool> = match &instruction.operation {
                Operation::Scalar(_, operands)
                | Operation::Random(_, operands)
                | Operation::Read(_, operands) => {
                    vec![operands.iter().any(|operand| self.varies(operand, varying))]
                }
                Operation::Check(..) => Vec::new(),
                Operation::If { condition, then, otherwise } => {
                    self.spread(then, varying);
                    self.spread(otherwise, varying);
                    let all = self.varies(condition, varying);
                    let sides = then.results.iter().zip(&otherwise.results);
                    sides
                        .map(|(a, b)| all || self.varies(a, varying) || self.varies(b, varying))
                        .collect()
                }
                Operation::While { state, initial, condition, body } => {
                    let all = self.spreads(state, initial, condition, body, varying);
                    state.iter().map(|(register, _)| all || varying[register]).collect()
                }
            };
            for (&(register, _), varies) in results.iter().zip(flags) {
                varying.insert(register, varies);
            }
        }
    }

    fn varies(&self, operand: &Operand, varying: &BTreeMap<Register, bool>) -> bool {
        match operand {
            Operand::Scalar(_) => false,
            Operand::Register(register) => match varying.get(register) {
                Some(&varies) => varies,
                None => !self.is_uniform(*register),
            },
        }
    }
}
