//! What an element costs: whether computing it again is cheaper than loading it.

use std::collections::BTreeSet;

use weft_ir::code::{Code, Operand, Operation, Register, Thunk};
use weft_ir::flat::{Space, Type, Var, first_stored};
use weft_ir::math::{self, Work};
use weft_ir::{Scalar, ScalarOp};

use super::prune::remove_dead_code;

/// The most operations on values that an element may take and still be computed again.
const MOST_OPERATIONS: usize = 4;
/// The most instructions, with index arithmetic and checks.
const MOST_INSTRUCTIONS: usize = 24;

/// Whether one result of a thunk is cheaper than a load: a few operations, none of them slow, at
/// most one load. Index arithmetic is not counted, but it must not be slow either.
pub(super) fn is_cheap(thunk: &Thunk, result: usize, space: &Space, types: &[Type]) -> bool {
    let hidden = &thunk.indices[..first_stored(space)];
    let mut code = thunk.code.clone();
    code.results = vec![thunk.code.results[result]];
    remove_dead_code(&mut code);
    let mut cost = Cost { types, loads: 0, operations: 0, instructions: 0, slow: false };
    let mut values = BTreeSet::new();
    cost.body(&code, &mut values);
    !cost.slow
        && cost.loads <= 1
        && cost.operations <= MOST_OPERATIONS
        && cost.instructions <= MOST_INSTRUCTIONS
        && !hidden.iter().any(|register| code.uses(*register))
}

/// Whether it depends on the innermost of several indices whether an element is read, as in `{ [0] ++ row ++ [0] : row in m }`: then the
/// points of an inner loop do not all do the same. Where it depends on an outer one, they do.
pub(super) fn chooses_within_rows(thunk: &Thunk) -> bool {
    let [_, .., innermost] = thunk.indices[..] else { return false };
    let mut dependent = BTreeSet::from([innermost]);
    let mut chooses = false;
    for instruction in thunk.code.walk() {
        let is_dependent = |operand: &Operand| {
            operand.register().is_some_and(|register| dependent.contains(&register))
        };
        let mut depends = false;
        instruction.operation.for_each_used(&mut |operand| depends |= is_dependent(operand));
        if let Operation::If { condition, then, otherwise } = &instruction.operation {
            let mut reads = then.reads().chain(otherwise.reads());
            chooses |= is_dependent(condition) && reads.next().is_some();
        }
        if depends {
            dependent.extend(instruction.results.iter().map(|(result, _)| *result));
        }
    }
    chooses
}

struct Cost<'a> {
    types: &'a [Type],
    loads: usize,
    operations: usize,
    instructions: usize,
    slow: bool,
}

impl Cost<'_> {
    /// Adds a body, backwards; `values` are registers whose values (not as indices) are used.
    fn body(&mut self, code: &Code, values: &mut BTreeSet<Register>) {
        mark(&code.results, values);
        for instruction in code.instructions.iter().rev() {
            self.instructions += 1;
            if self.instructions > MOST_INSTRUCTIONS || self.slow {
                return;
            }
            let is_value =
                instruction.results.iter().any(|(register, _)| values.contains(register));
            match &instruction.operation {
                Operation::Scalar(op, operands) => {
                    self.slow |= is_slow(*op, operands);
                    if is_value {
                        self.operations += 1;
                        mark(operands, values);
                    }
                }
                Operation::Read(array, _) => {
                    let rank = self.types.get(array.0 as usize).map_or(1, |ty| ty.extents.len());
                    self.loads += usize::from(rank > 0);
                }
                Operation::Check(..) => {}
                Operation::If { then, otherwise, .. } => {
                    self.operations += 1;
                    let before = self.loads;
                    self.body(then, values);
                    let after = std::mem::replace(&mut self.loads, before);
                    self.body(otherwise, values);
                    self.loads = self.loads.max(after);
                }
                Operation::Random(..) | Operation::While { .. } => self.slow = true,
            }
        }
    }
}

/// Whether an operator takes much longer than a load.
fn is_slow(op: ScalarOp, operands: &[Operand]) -> bool {
    match math::work(op) {
        Work::Simple => false,
        // By a constant they become a multiplication.
        Work::Division => {
            !matches!(operands, [_, Operand::Scalar(Scalar::I64(_) | Scalar::I32(_))])
        }
        Work::Quotient | Work::Function | Work::Periodic | Work::Several => true,
    }
}

/// The number of storage dimensions of a variable.
pub(super) fn rank(types: &[Type], var: Var) -> usize {
    types.get(var.0 as usize).map_or(0, |ty| ty.extents.len())
}

fn mark(operands: &[Operand], values: &mut BTreeSet<Register>) {
    values.extend(operands.iter().filter_map(|operand| operand.register()));
}
