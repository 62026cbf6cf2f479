//! Scalar code between kernels: one instruction after the other, on the host.

mod counted;

use std::sync::atomic::{AtomicBool, Ordering};

use weft_ir::code::{Code, Operand, Operation, Register};
use weft_ir::flat::Var;
use weft_ir::math;
use weft_ir::nested::RandomKind;
use weft_ir::{Exhausted, Fault, FaultKind, Meter, Scalar, ScalarType, Stop};

use counted::counted_code;
pub use counted::{Bound, Counted, counted_steps};

/// The most operands that an operator has.
const MOST_OPERANDS: usize = 3;

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

/// Is asked at each turn of a loop whether to leave off.
pub type Leave<'a> = dyn FnMut() -> bool + 'a;

/// Why host code ends early.
enum Halt {
    Stop(Stop),
    Left,
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Stop(stop)
    }
}

impl Host<'_> {
    /// The results of code.
    ///
    /// # Errors
    /// A fault, what reading elements says, or that the run was interrupted.
    pub fn run(&mut self, code: &Code) -> Result<Vec<Scalar>, Stop> {
        let results = self.run_unless(code, &mut || false)?;
        Ok(results.expect("it is never left"))
    }

    /// The results of code; nothing if it was left, which does not matter to anybody: it can begin
    /// again elsewhere.
    ///
    /// # Errors
    /// As [`Host::run`].
    pub fn run_unless(
        &mut self,
        code: &Code,
        leave: &mut Leave<'_>,
    ) -> Result<Option<Vec<Scalar>>, Stop> {
        let mut registers = vec![Scalar::Bool(false); code.next_register().0 as usize];
        match self.code(code, &mut registers, leave) {
            Ok(()) => Ok(Some(all(&code.results, &registers))),
            Err(Halt::Left) => Ok(None),
            Err(Halt::Stop(stop)) => Err(stop),
        }
    }

    /// Binds the registers of code.
    fn code(
        &mut self,
        code: &Code,
        registers: &mut [Scalar],
        leave: &mut Leave<'_>,
    ) -> Result<(), Halt> {
        for instruction in &code.instructions {
            let span = instruction.span;
            let fault = |kind: FaultKind| Stop::from(Fault { kind, span });
            let results = &instruction.results;
            match &instruction.operation {
                Operation::Scalar(op, operands) => {
                    let mut values = [Scalar::Bool(false); MOST_OPERANDS];
                    let values = &mut values[..operands.len()];
                    for (value, operand) in values.iter_mut().zip(operands) {
                        *value = self::value(*operand, registers);
                    }
                    let value = math::eval(*op, values);
                    let value = value.map_err(|trap| fault(FaultKind::of_trap(&trap)))?;
                    set(registers, results[0].0, value);
                }
                Operation::Random(kind, operands) => {
                    let value = random(*kind, &all(operands, registers));
                    set(registers, results[0].0, value);
                }
                Operation::Read(array, operands) => {
                    let mut indices = [0; 8];
                    let element = match operands.len() {
                        count @ 0..8 => {
                            let indices = &mut indices[..count];
                            for (index, operand) in indices.iter_mut().zip(operands) {
                                *index = integer(value(*operand, registers));
                            }
                            (self.read)(*array, indices)?
                        }
                        _ => {
                            let indices = all(operands, registers).into_iter().map(integer);
                            (self.read)(*array, &indices.collect::<Vec<i64>>())?
                        }
                    };
                    let value = element.ok_or_else(|| fault(FaultKind::IndexOutOfRange))?;
                    set(registers, results[0].0, value);
                }
                Operation::Check(condition, kind) => match value(*condition, registers) {
                    Scalar::Bool(true) => {}
                    _ => return Err(fault(*kind).into()),
                },
                Operation::If { condition, then, otherwise } => {
                    let holds = value(*condition, registers) == Scalar::Bool(true);
                    let side = if holds { then } else { otherwise };
                    self.code(side, registers, leave)?;
                    for (&(register, _), operand) in results.iter().zip(&side.results) {
                        let value = value(*operand, registers);
                        set(registers, register, value);
                    }
                }
                Operation::While { state, initial, condition, body } => {
                    let last = self.turns(state, initial, [condition, body], registers, leave)?;
                    for (&(register, _), value) in results.iter().zip(last) {
                        set(registers, register, value);
                    }
                }
            }
        }
        Ok(())
    }

    /// The last state of a loop.
    fn turns(
        &mut self,
        state: &[(Register, ScalarType)],
        initial: &[Operand],
        [condition, body]: [&Code; 2],
        registers: &mut [Scalar],
        leave: &mut Leave<'_>,
    ) -> Result<Vec<Scalar>, Halt> {
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
                return Err(Stop::from(Exhausted::Interrupted).into());
            }
            if leave() {
                return Err(Halt::Left);
            }
            for (register, value) in names.iter().zip(&values) {
                set(registers, *register, *value);
            }
            self.code(condition, registers, leave)?;
            if value(condition.results[0], registers) != Scalar::Bool(true) {
                break;
            }
            self.code(body, registers, leave)?;
            for (value, operand) in values.iter_mut().zip(&body.results) {
                *value = self::value(*operand, registers);
            }
        }
        Ok(values)
    }
}

/// How often a loop with these first values will go round.
fn rounds(counted: &Counted<Register>, values: &[Scalar], registers: &[Scalar]) -> u64 {
    let bound = match counted.bound {
        Bound::Constant(bound) => bound,
        Bound::Of(register) => integer(value(Operand::Register(register), registers)),
    };
    u64::try_from(bound.saturating_sub(integer(values[counted.counter]))).unwrap_or(0)
}

fn all(operands: &[Operand], registers: &[Scalar]) -> Vec<Scalar> {
    operands.iter().map(|operand| value(*operand, registers)).collect()
}

fn value(operand: Operand, registers: &[Scalar]) -> Scalar {
    match operand {
        Operand::Scalar(scalar) => scalar,
        Operand::Register(Register(number)) => registers[number as usize],
    }
}

fn set(registers: &mut [Scalar], Register(number): Register, value: Scalar) {
    registers[number as usize] = value;
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
