//! What may meet a fault.
//!
//! Note [Indices that nothing reads]. The element of an array at an index is an error if the index is. An array
//! whose rows are all the same does not look at it, and `a - (a - x)` not at `a`: who leaves such an
//! operand out looks here first, and keeps what may fail.

use std::collections::BTreeSet;

use weft_ir::flat::{Code, CodeOperation, Operand, Operation, Start, Statement, Thunk, Type, Var};
use weft_ir::nested::Atom;
use weft_ir::{Scalar, ScalarOp, ScalarType, math};

use crate::fuse::uses::statement_uses;

/// By a positive constant every integer can be divided, and raised to one.
pub(crate) fn is_positive(value: Scalar) -> bool {
    let zero = Scalar::zero(value.ty());
    matches!(math::eval(ScalarOp::Gt, &[value, zero]), Ok(Scalar::Bool(true)))
}

/// Whether a scalar operator of *nested*, whose result has that type, has none for some operands.
pub(crate) fn may_fail(op: ScalarOp, operands: &[Atom], ty: ScalarType) -> bool {
    let safe = |atom: &Atom| matches!(atom, Atom::Scalar(value) if is_positive(*value));
    math::can_fail(op, ty) && !operands.get(1).is_some_and(safe)
}

/// Whether an operator of scalar code, whose result has that type, may fail.
pub(crate) fn operator_may_fail(op: ScalarOp, operands: &[Operand], ty: ScalarType) -> bool {
    let safe = |operand: &Operand| matches!(operand, Operand::Scalar(value) if is_positive(*value));
    math::can_fail(op, ty) && !operands.get(1).is_some_and(safe)
}

/// Whether a statement of *flat* may meet a fault, or one of those that it needs; `failing` are their
/// results. Of blocks it is not asked.
pub(crate) fn statement_may_fail(
    statement: &Statement,
    types: &[Type],
    failing: &BTreeSet<Var>,
) -> bool {
    let mut fails = false;
    statement_uses(statement, types, &mut |var| fails |= failing.contains(&var));
    let started = |start: &Start<Thunk>| start.values().is_some_and(|at| code_may_fail(&at.code));
    fails
        || match &statement.operation {
            Operation::Map { thunk, .. }
            | Operation::Filter { thunk, .. }
            | Operation::Sort { thunk, .. } => code_may_fail(&thunk.code),
            Operation::Reduce { thunk, operator, start, .. }
            | Operation::Scan { thunk, operator, start, .. } => {
                code_may_fail(&thunk.code) || code_may_fail(&operator.code) || started(start)
            }
            Operation::Scatter { thunk, operator, .. } => {
                code_may_fail(&thunk.code)
                    || operator.as_ref().is_some_and(|operator| code_may_fail(&operator.code))
            }
            Operation::Reshape(_) | Operation::Constant(_) => false,
            Operation::Check(..) | Operation::If { .. } | Operation::While { .. } => true,
        }
}

fn code_may_fail(code: &Code) -> bool {
    code.walk().any(|instruction| match &instruction.operation {
        CodeOperation::Scalar(op, operands) => {
            operator_may_fail(*op, operands, instruction.results[0].1)
        }
        CodeOperation::Check(..) => true,
        CodeOperation::Random(..)
        | CodeOperation::Read(..)
        | CodeOperation::If { .. }
        | CodeOperation::While { .. } => false,
    })
}
