//! The text of scalar code, as `parse` reads it. The languages with codes in them write them with
//! the functions here.

use std::fmt::{self, Write};

use crate::ScalarType;
use crate::code::{Code, Instruction, Operand, Operation, Operator, Register};
use crate::text::Writer;

impl fmt::Display for Register {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Register(register) => write!(f, "{register}"),
            Operand::Scalar(scalar) => write!(f, "{scalar}"),
        }
    }
}

/// The text without spans, one instruction a line.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new();
        write_code(&mut writer, self)?;
        f.write_str(&writer.finish())
    }
}

/// The lines of an instruction, without the newline at the end.
impl fmt::Display for Instruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new();
        write_instruction(&mut writer, self)?;
        f.write_str(writer.finish().trim_end())
    }
}

/// Writes the instructions and the `yield`, a line each.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_code(w: &mut Writer, code: &Code) -> fmt::Result {
    for instruction in &code.instructions {
        write_instruction(w, instruction)?;
    }
    w.write_str("yield")?;
    write_operands(w, &code.results)?;
    w.write_str("\n")
}

/// Writes `by (r0: f32) (r1: f32)` and, indented, the code.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_operator(w: &mut Writer, operator: &Operator) -> fmt::Result {
    w.write_str("by (")?;
    write_registers(w, &operator.left)?;
    w.write_str(") (")?;
    write_registers(w, &operator.right)?;
    w.write_str(")\n")?;
    w.indented(|w| write_code(w, &operator.code))
}

/// Writes `(r0 r1)`: the indices of a point.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_indices(w: &mut Writer, indices: &[Register]) -> fmt::Result {
    w.write_str("(")?;
    for (position, index) in indices.iter().enumerate() {
        let space = if position == 0 { "" } else { " " };
        write!(w, "{space}{index}")?;
    }
    w.write_str(")")
}

/// Writes `r0: f32, r1: i64`.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_registers(w: &mut Writer, registers: &[(Register, ScalarType)]) -> fmt::Result {
    for (position, (register, ty)) in registers.iter().enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        write!(w, "{comma}{register}: {ty}")?;
    }
    Ok(())
}

/// Writes the operands, each with a space before it.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_operands(w: &mut Writer, operands: &[Operand]) -> fmt::Result {
    for operand in operands {
        write!(w, " {operand}")?;
    }
    Ok(())
}

fn write_instruction(w: &mut Writer, instruction: &Instruction) -> fmt::Result {
    if !instruction.results.is_empty() {
        write_registers(w, &instruction.results)?;
        w.write_str(" = ")?;
    }
    match &instruction.operation {
        Operation::Scalar(op, operands) => {
            write!(w, "{op}")?;
            write_operands(w, operands)?;
        }
        Operation::Random(kind, operands) => {
            write!(w, "{kind}")?;
            write_operands(w, operands)?;
        }
        Operation::Read(array, indices) => {
            write!(w, "read {array}")?;
            write_operands(w, indices)?;
        }
        Operation::Check(condition, kind) => write!(w, "check {condition} {kind}")?,
        Operation::If { condition, then, otherwise } => {
            writeln!(w, "if {condition}")?;
            w.indented(|w| write_code(w, then))?;
            w.write_str("else\n")?;
            return w.indented(|w| write_code(w, otherwise));
        }
        Operation::While { state, initial, condition, body } => {
            w.write_str("while (")?;
            for (position, ((register, ty), value)) in state.iter().zip(initial).enumerate() {
                let comma = if position == 0 { "" } else { ", " };
                write!(w, "{comma}{register}: {ty} = {value}")?;
            }
            w.write_str(")\n")?;
            w.indented(|w| write_code(w, condition))?;
            w.write_str("do\n")?;
            return w.indented(|w| write_code(w, body));
        }
    }
    w.write_str("\n")
}
