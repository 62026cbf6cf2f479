//! How often a loop of scalar code goes round at most, where that is plain to see.

use weft_codegen::Turns;
use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::{Scalar, ScalarOp};

/// A number of turns that the loop does not exceed: its condition is, maybe among others, that a counter is
/// less than a constant, and the counter begins with a constant and grows by one each turn.
pub(super) fn most_turns(turns: Turns<'_>) -> Option<i64> {
    let Turns { state, initial, condition, body } = turns;
    let holds = *condition.results.first()?;
    let (counter, bound) = bounded(condition, holds)?;
    let at = state.iter().position(|(register, _)| *register == counter)?;
    let Operand::Scalar(first) = initial[at] else { return None };
    let Operand::Register(next) = body.results[at] else { return None };
    let Operation::Scalar(ScalarOp::Add, operands) = binding(body, next)? else { return None };
    let grows = match operands[..] {
        [Operand::Register(before), Operand::Scalar(by)]
        | [Operand::Scalar(by), Operand::Register(before)] => {
            before == counter && number(by) == Some(1)
        }
        _ => false,
    };
    grows.then(|| bound.saturating_sub(number(first)?).into())?
}

/// As [`most_turns`], with the turns of the loops in it: how often the innermost of them goes round in all.
pub(super) fn most_turns_in_all(turns: Turns<'_>) -> Option<i64> {
    let most = [turns.condition, turns.body].map(most_turns_of);
    let [condition, body] = most;
    Some(most_turns(turns)?.max(1).saturating_mul(condition?.max(body?)))
}

/// How often the innermost loop of this code goes round at most; 1 if it has none.
fn most_turns_of(code: &Code) -> Option<i64> {
    let mut most = 1;
    for instruction in &code.instructions {
        let own = match &instruction.operation {
            Operation::While { state, initial, condition, body } => {
                most_turns_in_all(Turns { state, initial, condition, body })?
            }
            Operation::If { then, otherwise, .. } => {
                most_turns_of(then)?.max(most_turns_of(otherwise)?)
            }
            Operation::Scalar(..)
            | Operation::Random(..)
            | Operation::Read(..)
            | Operation::Check(..) => 1,
        };
        most = own.max(most);
    }
    Some(most)
}

/// The `counter < constant` that must hold for a condition to hold.
fn bounded(code: &Code, holds: Operand) -> Option<(Register, i64)> {
    let Operand::Register(holds) = holds else { return None };
    match binding(code, holds)? {
        Operation::Scalar(ScalarOp::Lt, operands) => match operands[..] {
            [Operand::Register(counter), Operand::Scalar(bound)] => Some((counter, number(bound)?)),
            _ => None,
        },
        Operation::Scalar(ScalarOp::And, operands) => {
            operands.iter().find_map(|operand| bounded(code, *operand))
        }
        // As `a && b` is written.
        Operation::If { condition, then, otherwise } => {
            let never = otherwise.results == [Operand::Scalar(Scalar::Bool(false))];
            let all = bounded(code, *condition);
            never.then(|| all.or_else(|| bounded(then, then.results[0])))?
        }
        Operation::Scalar(..)
        | Operation::Random(..)
        | Operation::Read(..)
        | Operation::Check(..)
        | Operation::While { .. } => None,
    }
}

/// What binds a register, if an instruction of this code does.
fn binding(code: &Code, register: Register) -> Option<&Operation> {
    code.definition(register).map(|(instruction, _)| &instruction.operation)
}

fn number(scalar: Scalar) -> Option<i64> {
    match scalar {
        Scalar::I64(value) => Some(value),
        Scalar::I32(value) => Some(i64::from(value)),
        _ => None,
    }
}
