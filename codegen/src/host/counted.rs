//! Loops that count: how often they go round is known before they begin, so that it can be shown how
//! far they have come.
//!
//! `for`-loops and `iterate` become loops whose condition is `counter < bound`, whose counter grows by
//! one each time, and whose bound stays as it is. Any other loop is none of these.

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Var;
use weft_ir::plan::{Block, Step};
use weft_ir::{Scalar, ScalarOp};

/// How often a loop goes round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted<B> {
    /// Which part of the state counts.
    pub counter: usize,
    /// Up to what, a variable or register unless it is constant.
    pub bound: Bound<B>,
}

/// What a counter is held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound<B> {
    /// A number.
    Constant(i64),
    /// The value of this.
    Of(B),
}

/// The count of a loop of a plan.
pub fn counted_steps(state: &[Var], condition: &Block, body: &Block) -> Option<Counted<Var>> {
    let [Step::Host { results, code, .. }] = &condition.steps[..] else { return None };
    if condition.results != *results {
        return None;
    }
    let (counter, bound) = comparison(code)?;
    let Some(Operation::Read(counter, _)) = operation(code, counter) else { return None };
    let counter = state.iter().position(|var| var == counter)?;
    let bound = match bound {
        Bound::Constant(bound) => Bound::Constant(bound),
        Bound::Of(register) => match operation(code, register)? {
            Operation::Read(bound, at) if at.is_empty() && !state.contains(bound) => {
                Bound::Of(*bound)
            }
            _ => return None,
        },
    };
    let next = body.results[counter];
    let grows = body.steps.iter().any(|step| match step {
        Step::Host { results, code, .. } => results
            .iter()
            .position(|result| *result == next)
            .and_then(|at| successor_of(code, code.results[at]))
            .is_some_and(|register| {
                matches!(operation(code, register), Some(Operation::Read(var, _)) if *var == state[counter])
            }),
        _ => false,
    });
    grows.then_some(Counted { counter, bound })
}

/// The count of a loop of scalar code; a register that bounds it is one of the code around it.
pub(super) fn counted_code(
    state: &[Register],
    condition: &Code,
    body: &Code,
) -> Option<Counted<Register>> {
    let (counter, bound) = comparison(condition)?;
    let at = state.iter().position(|register| *register == counter)?;
    if let Bound::Of(register) = bound
        && (state.contains(&register) || operation(condition, register).is_some())
    {
        return None;
    }
    let grows = successor_of(body, body.results[at]) == Some(counter);
    grows.then_some(Counted { counter: at, bound })
}

/// The two sides of the `counter < bound` that is the only result of some code.
fn comparison(code: &Code) -> Option<(Register, Bound<Register>)> {
    let [Operand::Register(result)] = code.results[..] else { return None };
    let Some(Operation::Scalar(ScalarOp::Lt, operands)) = operation(code, result) else {
        return None;
    };
    match operands[..] {
        [Operand::Register(counter), Operand::Scalar(Scalar::I64(bound))] => {
            Some((counter, Bound::Constant(bound)))
        }
        [Operand::Register(counter), Operand::Register(bound)] => Some((counter, Bound::Of(bound))),
        _ => None,
    }
}

/// The register to which an operand adds one.
fn successor_of(code: &Code, operand: Operand) -> Option<Register> {
    let Operand::Register(register) = operand else { return None };
    match operation(code, register)? {
        Operation::Scalar(ScalarOp::Add, operands) => match operands[..] {
            [Operand::Register(before), Operand::Scalar(Scalar::I64(1))]
            | [Operand::Scalar(Scalar::I64(1)), Operand::Register(before)] => Some(before),
            _ => None,
        },
        _ => None,
    }
}

/// What binds a register, if an instruction of this code does.
fn operation(code: &Code, register: Register) -> Option<&Operation> {
    code.definition(register).map(|(instruction, _)| &instruction.operation)
}

#[cfg(test)]
mod tests {
    use weft_ir::plan::{self, Step};

    use super::{Bound, Counted, counted_steps};

    /// What is known of the loop in a plan of one.
    fn counted(text: &str) -> Option<Counted<u32>> {
        let program = plan::parse(text).unwrap();
        program.body.steps.iter().find_map(|step| match step {
            Step::While { state, condition, body, .. } => {
                let Counted { counter, bound } = counted_steps(state, condition, body)?;
                let bound = match bound {
                    Bound::Constant(bound) => Bound::Constant(bound),
                    Bound::Of(var) => Bound::Of(var.0),
                };
                Some(Counted { counter, bound })
            }
            _ => None,
        })
    }

    fn text(bound: &str, step: &str) -> String {
        format!(
            "input a9: i64
a0: i64, a1: f64 = host
  yield 0i64 1.0f64
a2: i64, a3: f64 = while (a4: i64 = a0, a5: f64 = a1)
  a6: bool = host
    r0: i64 = read a4
    {bound}
    yield r1
  yield a6
do
  a7: i64, a8: f64 = host
    r0: i64 = read a4
    r1: i64 = {step}
    r2: f64 = read a5
    r3: f64 = mul r2 2.0f64
    yield r1 r3
  yield a7 a8
output a3: f64
"
        )
    }

    #[test]
    fn a_loop_that_counts_is_known() {
        let constant = text("r1: bool = lt r0 100i64", "add r0 1i64");
        assert_eq!(counted(&constant), Some(Counted { counter: 0, bound: Bound::Constant(100) }));
        let variable = text("r2: i64 = read a9\n    r1: bool = lt r0 r2", "add r0 1i64");
        assert_eq!(counted(&variable), Some(Counted { counter: 0, bound: Bound::Of(9) }));
    }

    #[test]
    fn other_loops_are_not() {
        assert_eq!(counted(&text("r1: bool = lt r0 100i64", "mul r0 2i64")), None);
        assert_eq!(counted(&text("r1: bool = le r0 100i64", "add r0 1i64")), None);
        assert_eq!(counted(&text("r1: bool = lt r0 100i64", "add r0 2i64")), None);
    }
}
