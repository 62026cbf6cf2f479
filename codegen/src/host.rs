//! Scalar code between kernels: one instruction after the other, on the host.

mod counted;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Var;
use weft_ir::math;
use weft_ir::nested::RandomKind;
use weft_ir::{Exhausted, Fault, FaultKind, Meter, Scalar, Span, Stop};

use counted::counted_code;
pub use counted::{Bound, Counted, counted_steps};

/// The element of a variable at these indices; nothing if it is out of range.
pub type Read<'a> = dyn FnMut(Var, &[i64]) -> Result<Option<Scalar>, Stop> + 'a;

/// What host code runs in.
pub struct Host<'a> {
    /// Reads elements.
    pub read: &'a mut Read<'a>,
    /// Set when the run shall end.
    pub cancel: &'a AtomicBool,
    /// Shows how far a loop that counts has come.
    pub meter: &'a Meter,
}

type Registers = BTreeMap<Register, Scalar>;

impl Host<'_> {
    /// The results of code.
    ///
    /// # Errors
    /// A fault, what reading elements says, or that the run was interrupted.
    pub fn run(&mut self, code: &Code) -> Result<Vec<Scalar>, Stop> {
        self.code(code, &mut Registers::new())
    }

    fn code(&mut self, code: &Code, registers: &mut Registers) -> Result<Vec<Scalar>, Stop> {
        for instruction in &code.instructions {
            let values = self.operation(&instruction.operation, instruction.span, registers)?;
            for (&(register, _), value) in instruction.results.iter().zip(values) {
                registers.insert(register, value);
            }
        }
        Ok(all(&code.results, registers))
    }

    fn operation(
        &mut self,
        operation: &Operation,
        span: Span,
        registers: &mut Registers,
    ) -> Result<Vec<Scalar>, Stop> {
        let fault = |kind: FaultKind| Stop::from(Fault { kind, span });
        match operation {
            Operation::Scalar(op, operands) => {
                let value = math::eval(*op, &all(operands, registers));
                value.map(|value| vec![value]).map_err(|trap| fault(FaultKind::of_trap(&trap)))
            }
            Operation::Random(kind, operands) => Ok(vec![random(*kind, &all(operands, registers))]),
            Operation::Read(array, operands) => {
                let indices: Vec<i64> = all(operands, registers).into_iter().map(integer).collect();
                let element = (self.read)(*array, &indices)?;
                element.map(|value| vec![value]).ok_or_else(|| fault(FaultKind::IndexOutOfRange))
            }
            Operation::Check(condition, kind) => match value(*condition, registers) {
                Scalar::Bool(true) => Ok(Vec::new()),
                _ => Err(fault(*kind)),
            },
            Operation::If { condition, then, otherwise } => {
                let holds = value(*condition, registers) == Scalar::Bool(true);
                self.code(if holds { then } else { otherwise }, registers)
            }
            Operation::While { state, initial, condition, body } => {
                let mut values = all(initial, registers);
                let names: Vec<Register> = state.iter().map(|(register, _)| *register).collect();
                let meter = self.meter;
                let piece = counted_code(&names, condition, body)
                    .and_then(|counted| meter.begin(rounds(&counted, &values, registers)));
                for round in 0.. {
                    if let Some(piece) = &piece {
                        piece.set(round);
                    }
                    if self.cancel.load(Ordering::Relaxed) {
                        return Err(Exhausted::Interrupted.into());
                    }
                    for (&(register, _), value) in state.iter().zip(&values) {
                        registers.insert(register, *value);
                    }
                    if self.code(condition, registers)? != [Scalar::Bool(true)] {
                        return Ok(values);
                    }
                    values = self.code(body, registers)?;
                }
                unreachable!("the condition ends the loop")
            }
        }
    }
}

/// How often a loop with these first values will go round.
fn rounds(counted: &Counted<Register>, values: &[Scalar], registers: &Registers) -> u64 {
    let bound = match counted.bound {
        Bound::Constant(bound) => bound,
        Bound::Of(register) => integer(registers[&register]),
    };
    u64::try_from(bound.saturating_sub(integer(values[counted.counter]))).unwrap_or(0)
}

fn all(operands: &[Operand], registers: &Registers) -> Vec<Scalar> {
    operands.iter().map(|operand| value(*operand, registers)).collect()
}

fn value(operand: Operand, registers: &Registers) -> Scalar {
    match operand {
        Operand::Scalar(scalar) => scalar,
        Operand::Register(register) => registers[&register],
    }
}

fn integer(scalar: Scalar) -> i64 {
    match scalar {
        Scalar::I64(value) => value,
        other => panic!("{other:?} is no i64"),
    }
}

fn random(kind: RandomKind, operands: &[Scalar]) -> Scalar {
    let operands: Vec<i64> = operands.iter().map(|scalar| integer(*scalar)).collect();
    match (kind, &operands[..]) {
        (RandomKind::UniformF64, &[seed, index]) => {
            Scalar::F64(math::random::uniform_f64(seed, index as u64))
        }
        (RandomKind::UniformF32, &[seed, index]) => {
            Scalar::F32(math::random::uniform_f32(seed, index as u64))
        }
        (RandomKind::Int, &[seed, index, low, high]) => {
            Scalar::I64(math::random::int_below(seed, index as u64, low, high))
        }
        (kind, operands) => panic!("{kind:?} of {} operands", operands.len()),
    }
}
