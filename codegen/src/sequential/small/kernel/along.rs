//! Rows of integers that are combined in any order.
//!
//! What integers and bools come to does not depend on the order (numerics.md), so that a C compiler may find vectors along
//! a row: it does, where the loop is nothing but that, without the blocks of the tree. That is the better way where elements stand
//! one behind the other; otherwise rows are lanes (Note [Rows side by side]).

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Dimension;
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{Scalar, ScalarOp};

use super::super::super::Function;
use super::fold::Fold;
use super::inside::Along as Limited;
use super::lanes::simple_box;
use super::{Extent, Points};
use crate::interior::Bound;
use crate::lanes::rows::neutral;
use crate::literal::literal;

/// A kernel that does nothing but combine rows of integers that stand one behind the other.
pub(super) struct Along {
    /// What is computed at a point in the box, where nothing is checked.
    code: Code,
    /// The box.
    bounds: Vec<Bound>,
    /// What changes no other element, for each result.
    neutral: Vec<Scalar>,
}

/// A kernel as such a one.
pub(super) fn along(kernel: &Kernel) -> Option<Along> {
    if !matches!(kernel.space.last(), Some(Dimension::Dense(_))) {
        return None;
    }
    let mut of_all = Vec::new();
    for sink in &kernel.sinks {
        let Sink::Reduce { operator, .. } = sink else { return None };
        of_all.extend(neutral(operator)?);
    }
    let index = *kernel.indices.last()?;
    let (code, bounds) = simple_box(kernel)?;
    goes_along(&code, index).then_some(Along { code, bounds, neutral: of_all })
}

/// Whether all that is read stands one behind the other along this index, or is the same.
fn goes_along(code: &Code, index: Register) -> bool {
    let mut of_index = vec![index];
    for instruction in &code.instructions {
        let uses = |operand: &Operand| operand.register().is_some_and(|at| of_index.contains(&at));
        let mut used = false;
        instruction.operation.for_each_used(&mut |operand| used |= uses(operand));
        let steps = match &instruction.operation {
            Operation::Read(_, indices) => match indices.split_last() {
                Some((last, outer)) => {
                    let place = |register| is_place(code, register, index);
                    let along = last.register().is_some_and(place);
                    !outer.iter().any(uses) && (along || !uses(last))
                }
                None => true,
            },
            _ => true,
        };
        if !steps {
            return false;
        }
        if used {
            of_index.extend(instruction.results.iter().map(|(register, _)| *register));
        }
    }
    true
}

/// Whether a register is the index, or that with a constant or another index added or taken away.
fn is_place(code: &Code, register: Register, index: Register) -> bool {
    register == index
        || code.definition(register).is_some_and(|(instruction, _)| match &instruction.operation {
            Operation::Scalar(ScalarOp::Add, operands) => {
                operands.iter().filter(|operand| operand.register() == Some(index)).count() == 1
                    && operands.iter().all(|operand| is_given(code, operand))
            }
            Operation::Scalar(ScalarOp::Sub, operands) => {
                operands[0].register() == Some(index)
                    && operands[1].register() != Some(index)
                    && is_given(code, &operands[1])
            }
            _ => false,
        })
}

/// Whether an operand is a constant or an index.
fn is_given(code: &Code, operand: &Operand) -> bool {
    operand.register().is_none_or(|register| code.definition(register).is_none())
}

impl Function<'_> {
    /// Combines a row, and opens what is done where it is not in the box.
    pub(super) fn open_along(
        &mut self,
        along: &Along,
        folds: &[Fold<'_>],
        (kernel, points): (&Kernel, &Points),
    ) -> Option<()> {
        let Extent::Dense(extent) = points.extents.last()? else { return None };
        let number = self.environment.fresh();
        let [from, to] = ["from", "to"].map(|name| format!("{name}{number}"));
        self.line(&format!("i64 {from} = 0, {to} = {extent};"));
        let limited = Limited { dimension: points.extents.len(), whole: Some(extent) };
        self.limits(&along.bounds, &[from.clone(), to.clone()], points, limited)?;
        self.open(&format!("if ({from} < {to}) {{"));
        let totals = folds.iter().flat_map(|fold| fold.state()[0]);
        let begin: Vec<String> = (totals.zip(&along.neutral))
            .map(|(total, neutral)| format!("{total} = {};", literal(*neutral)))
            .collect();
        begin.iter().for_each(|line| self.line(line));
        let index = points.indices.last()?;
        self.open(&format!("for (i64 {index} = 0; {index} < {to}; {index}++) {{"));
        let (values, _) = self.bound_code(&along.code, &points.bound(kernel))?;
        let values = self.named(&values);
        let mut values = &values[..];
        for fold in folds {
            let [total, ..] = fold.state();
            let (own, rest) = values.split_at(total.len());
            self.combine(fold, total, own, total)?;
            values = rest;
        }
        self.close();
        // As if it were a block of the tree.
        self.line("met = 1;");
        self.indent -= 1;
        self.open("} else {");
        Some(())
    }
}
