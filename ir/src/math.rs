//! What every scalar operator yields.

use crate::{Scalar, ScalarOp, TrapKind};

/// Applies `op`; the operands have the types that the operator's typing rule asks for.
pub fn eval(op: ScalarOp, args: &[Scalar]) -> Result<Scalar, TrapKind>;
