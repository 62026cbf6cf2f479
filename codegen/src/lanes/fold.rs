//! Folds along columns (Note [Folds along columns]).

use std::collections::BTreeMap;

use weft_ir::code::{Code, Operand, Operation, Operator, Register};

use super::guarded::partial;
use super::{Builder, Lanes, Running, Value};
use crate::dialect::type_name;

/// Whether an operator may run for lanes that do not need it: it reads nothing, cannot fail and does not
/// loop. Others combine nothing in [`super::Lanes::folds`].
pub fn is_total(operator: &Operator) -> bool {
    !partial(&operator.code)
}

/// Whether code reads elements whose place depends on the step and on the lane. If not, few lanes do all
/// steps before the next come, so that what they have come to stays close; else lanes go on together,
/// so that memory is read in order.
pub(super) fn reads_along_steps(given: &Lanes<'_>) -> bool {
    let mut known = BTreeMap::new();
    let last = given.indices.len().saturating_sub(1);
    for (at, &(register, running)) in given.indices.iter().enumerate() {
        known.insert(register, Depends { step: at == last, lane: running != Running::Uniform });
    }
    for &(register, _) in given.inputs {
        known.insert(register, Depends { step: false, lane: true });
    }
    moves(given.code, &mut known)
}

/// What a value depends on.
#[derive(Clone, Copy, Default)]
struct Depends {
    step: bool,
    lane: bool,
}

/// As [`reads_along_steps`]; notes what the registers depend on. Of a loop nothing is known.
fn moves(code: &Code, known: &mut BTreeMap<Register, Depends>) -> bool {
    for instruction in &code.instructions {
        let of = |operand: &Operand, known: &BTreeMap<Register, Depends>| match operand {
            Operand::Scalar(_) => Depends::default(),
            Operand::Register(register) => known.get(register).copied().unwrap_or_default(),
        };
        let all = |operands: &[Operand], known: &BTreeMap<Register, Depends>| {
            operands.iter().map(|operand| of(operand, known)).fold(Depends::default(), |a, b| {
                Depends { step: a.step || b.step, lane: a.lane || b.lane }
            })
        };
        let depends = match &instruction.operation {
            Operation::Scalar(_, operands) | Operation::Random(_, operands) => all(operands, known),
            Operation::Read(_, operands) => {
                let depends = all(operands, known);
                if depends.step && depends.lane {
                    return true;
                }
                depends
            }
            Operation::Check(..) => continue,
            Operation::If { condition, then, otherwise } => {
                if moves(then, known) || moves(otherwise, known) {
                    return true;
                }
                let sides = [&then.results[..], &otherwise.results[..], &[*condition]].concat();
                all(&sides, known)
            }
            Operation::While { .. } => return true,
        };
        for &(register, _) in &instruction.results {
            known.insert(register, depends);
        }
    }
    false
}

impl Builder<'_> {
    /// Combines the results with what has come before.
    pub(super) fn fold(&mut self) {
        let given = self.given;
        self.scalar("const bool fresh = step == 0;");
        let mut first = 0;
        for operator in given.folds {
            let results = &given.results[first..first + operator.left.len()];
            self.combined(operator, results, first);
            first += operator.left.len();
        }
        assert_eq!(first, given.results.len(), "all results are combined");
    }

    /// One operator, on the results from a number on.
    fn combined(&mut self, operator: &Operator, results: &[Operand], first: usize) {
        let values: Vec<Value> = results.iter().map(|operand| self.value(operand)).collect();
        for (at, &(register, ty)) in (first..).zip(&operator.left) {
            let (name, element) = (register.to_string(), type_name(ty));
            self.folded.push(element);
            self.line(Some((&name, element)), &format!("result_{at}[at]"), &[]);
            self.values.insert(register, Value { text: name, ty, varies: true });
        }
        for (&(register, _), value) in operator.right.iter().zip(&values) {
            self.values.insert(register, value.clone());
        }
        self.code(&operator.code);
        let combined: Vec<Value> =
            operator.code.results.iter().map(|operand| self.value(operand)).collect();
        for (at, (value, combined)) in (first..).zip(values.into_iter().zip(combined)) {
            let text = format!("result_{at}[at] = fresh ? {} : {};", value.text, combined.text);
            self.line(None, &text, &[&value, &combined]);
        }
    }
}
