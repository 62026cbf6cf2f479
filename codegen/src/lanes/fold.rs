//! Folds along columns (Note [Folds along columns]).

use weft_ir::code::{Operand, Operator};

use super::{Builder, Value, partial};
use crate::dialect::type_name;

/// Whether an operator may run for lanes that do not need it: it reads nothing, cannot fail and does not
/// loop. Others combine nothing in [`super::Lanes::folds`].
pub fn is_total(operator: &Operator) -> bool {
    !partial(&operator.code)
}

impl Builder<'_> {
    /// Combines the results with what has come before.
    pub(super) fn folded(&mut self) {
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
            self.scalar(&format!("{element} *restrict const result_{at} = block->results[{at}];"));
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
