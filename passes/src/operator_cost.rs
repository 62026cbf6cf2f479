//! What scalar operators cost beside loads: whether a value is computed again or stored, in flattening and in
//! recursion.

use weft_ir::ScalarOp;
use weft_ir::math::{self, Work};

/// What an operator costs beside a load, which costs 1.
pub(crate) fn operator_cost(op: ScalarOp) -> u32 {
    match math::work(op) {
        Work::Simple => 1,
        Work::Quotient | Work::Division => 8,
        Work::Function | Work::Periodic | Work::Several => 20,
    }
}
