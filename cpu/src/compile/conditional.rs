//! Conditionals.

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::math::{self, Work};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use crate::compile::scope::Scope;
use crate::compile::{Builder, Place, Value, registers, scope_is_full};
use crate::isa::Slot;
use crate::routine::{Branch, Instruction, Subroutine};

/// The most that both sides together may cost to be run on all lanes: about what it costs to close
/// up the lanes of each side and spread them again.
const SHORT: usize = 24;

impl Builder<'_> {
    pub(super) fn conditional(
        &mut self,
        condition: Operand,
        then: &Code,
        otherwise: &Code,
        results: &[(Register, ScalarType)],
        span: u32,
    ) {
        let condition = self.value(condition);
        if let Place::Constant(scalar) = condition.place {
            let chosen = if scalar == Scalar::Bool(true) { then } else { otherwise };
            let values = self.side(chosen);
            self.bind(results, values);
            return;
        }
        let uniform = condition.is_uniform_or_affine();
        let guarded = self.top().guard.is_some();
        let short = || match (cost(then), cost(otherwise)) {
            (Some(then), Some(otherwise)) => then + otherwise <= SHORT,
            (None, _) | (_, None) => false,
        };
        if guarded || (!uniform && short()) {
            let guard = self.top().guard;
            let not = self.operator(ScalarOp::Not, &[condition], span);
            let then = self.guarded(then, guard, condition, span);
            let otherwise = self.guarded(otherwise, guard, not, span);
            let select = |(a, b)| self.operator(ScalarOp::Select, &[condition, a, b], span);
            let values = then.into_iter().zip(otherwise).map(select).collect();
            self.bind(results, values);
            return;
        }
        let slot = self.slot(condition);
        let (then, then_level) = self.subroutine(then, uniform);
        let (otherwise, otherwise_level) = self.subroutine(otherwise, uniform);
        let at = condition.level.max(then_level).max(otherwise_level);
        let at = at.max(self.top().check_level);
        let slots: Vec<Slot> = then
            .1
            .iter()
            .zip(&otherwise.1)
            .map(|(a, b)| self.top().fresh(a.ty, uniform && a.uniform && b.uniform))
            .collect();
        let branch = Branch { condition: slot, then, otherwise, results: slots.clone() };
        let at = self.top().emit(at, Instruction::Branch(branch));
        let value = |slot| Value { place: Place::Slot(slot), level: at };
        self.bind(results, slots.into_iter().map(value).collect());
    }

    fn bind(&mut self, results: &[(Register, ScalarType)], values: Vec<Value>) {
        for (&(register, _), value) in results.iter().zip(values) {
            self.top().values.insert(register, value);
        }
    }

    /// The results of code in the current scope.
    fn side(&mut self, code: &Code) -> Vec<Value> {
        self.code(code);
        code.results.iter().map(|&operand| self.value(operand)).collect()
    }

    /// As [`Builder::side`], with the checks meant for the lanes of both guards only.
    fn guarded(&mut self, code: &Code, guard: Option<Value>, more: Value, span: u32) -> Vec<Value> {
        let both = match guard {
            Some(guard) => self.operator(ScalarOp::And, &[guard, more], span),
            None => more,
        };
        self.top().guard = Some(both);
        let values = self.side(code);
        self.top().guard = guard;
        values
    }

    /// Code as a subroutine: its number, the registers of its results, the level of its captures.
    fn subroutine(&mut self, code: &Code, uniform: bool) -> ((usize, Vec<Slot>), usize) {
        let full = uniform && scope_is_full(&self.scopes);
        self.scopes.push(Scope { full, ..Scope::default() });
        self.code(code);
        let slots: Vec<Slot> = code.results.iter().map(|&operand| self.slot_of(operand)).collect();
        let scope = self.scopes.pop().expect("the scope pushed above");
        let capture_level = scope.capture_level;
        let (partial, captures) = (scope.partial, scope.captures.clone());
        let (routine, names) = registers::assign(scope, slots);
        let captures =
            captures.into_iter().map(|(outer, inner)| (outer, names.slot(inner))).collect();
        let results = routine.results.clone();
        let scope = self.top();
        scope.partial |= partial;
        scope.subroutines.push(Subroutine { routine, captures });
        ((scope.subroutines.len() - 1, results), capture_level)
    }
}

/// About how many simple operations code is; nothing if it has a loop.
fn cost(code: &Code) -> Option<usize> {
    let mut total = 0;
    for instruction in &code.instructions {
        total += match &instruction.operation {
            Operation::Scalar(op, _) => match math::work(*op) {
                Work::Simple | Work::Quotient => 1,
                Work::Division | Work::Function | Work::Periodic | Work::Several => 8,
            },
            Operation::Check(..) => 1,
            Operation::Random(..) => SHORT,
            Operation::Read(..) => 2,
            Operation::If { then, otherwise, .. } => 1 + cost(then)? + cost(otherwise)?,
            Operation::While { .. } => return None,
        };
    }
    Some(total)
}
