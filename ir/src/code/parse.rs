//! Reads the text of scalar code that `print` writes.

use crate::code::{Code, Instruction, Operand, Operation, Operator, Register};
use crate::flat::Var;
use crate::nested::RandomKind;
use crate::text::{Reader, TextError, Token};
use crate::{FaultKind, ScalarOp, ScalarType, Span};

/// Reads instructions up to the `yield` and what it yields.
///
/// # Errors
/// The first place that is no code.
pub fn parse_code(reader: &mut Reader) -> Result<Code, TextError> {
    let mut instructions = Vec::new();
    while !reader.take_word("yield") {
        instructions.push(parse_instruction(reader)?);
        if !reader.at_line_end() {
            return Err(reader.expected("the end of the line"));
        }
    }
    Ok(Code { instructions, results: parse_operands(reader)? })
}

/// Reads `by (r0: f32) (r1: f32)` and the code.
///
/// # Errors
/// The first place that is no operator.
pub fn parse_operator(reader: &mut Reader) -> Result<Operator, TextError> {
    reader.expect_word("by")?;
    let mut side = || {
        reader.expect_symbol("(")?;
        let registers = parse_registers(reader)?;
        reader.expect_symbol(")")?;
        Ok(registers)
    };
    let left = side()?;
    let right = side()?;
    Ok(Operator { left, right, code: parse_code(reader)? })
}

/// Reads `(r0 r1)`: the indices of a point.
///
/// # Errors
/// The first place that differs from it.
pub(crate) fn parse_indices(reader: &mut Reader) -> Result<Vec<Register>, TextError> {
    reader.expect_symbol("(")?;
    let mut indices = Vec::new();
    while !reader.take_symbol(")") {
        indices.push(parse_register(reader)?);
    }
    Ok(indices)
}

/// Reads `r0: f32, r1: i64`, or nothing.
///
/// # Errors
/// The first place that differs from it.
pub(crate) fn parse_registers(
    reader: &mut Reader,
) -> Result<Vec<(Register, ScalarType)>, TextError> {
    let mut registers = Vec::new();
    while reader.at_numbered('r') || !registers.is_empty() {
        registers.push(parse_typed(reader)?);
        if !reader.take_symbol(",") {
            break;
        }
    }
    Ok(registers)
}

/// Reads operands up to the end of the line.
///
/// # Errors
/// Something that is no operand.
fn parse_operands(reader: &mut Reader) -> Result<Vec<Operand>, TextError> {
    let mut operands = Vec::new();
    while !reader.at_line_end() {
        operands.push(parse_operand(reader)?);
    }
    Ok(operands)
}

/// Reads a register or a constant.
///
/// # Errors
/// Something else is next.
pub(crate) fn parse_operand(reader: &mut Reader) -> Result<Operand, TextError> {
    if reader.at_numbered('r') {
        return Ok(Operand::Register(parse_register(reader)?));
    }
    match reader.peek() {
        Some(Token::Scalar(_)) => Ok(Operand::Scalar(reader.scalar()?)),
        _ => Err(reader.expected("a register or a constant")),
    }
}

/// Reads the name of a kind of fault.
///
/// # Errors
/// Something else is next.
pub(crate) fn parse_fault_kind(reader: &mut Reader) -> Result<FaultKind, TextError> {
    let found = match reader.peek() {
        Some(Token::Word(word)) => FaultKind::from_name(word),
        _ => None,
    };
    match found {
        Some(kind) => {
            reader.next_token();
            Ok(kind)
        }
        None => Err(reader.expected("a kind of fault")),
    }
}

fn parse_register(reader: &mut Reader) -> Result<Register, TextError> {
    Ok(Register(reader.numbered('r')?))
}

/// `r0: f32`.
fn parse_typed(reader: &mut Reader) -> Result<(Register, ScalarType), TextError> {
    let register = parse_register(reader)?;
    reader.expect_symbol(":")?;
    Ok((register, reader.scalar_type()?))
}

fn parse_instruction(reader: &mut Reader) -> Result<Instruction, TextError> {
    let results = parse_registers(reader)?;
    if !results.is_empty() {
        reader.expect_symbol("=")?;
    }
    let operation = parse_operation(reader)?;
    Ok(Instruction { results, operation, span: Span::default() })
}

fn parse_operation(reader: &mut Reader) -> Result<Operation, TextError> {
    if reader.take_word("read") {
        let array = Var(reader.numbered('a')?);
        return Ok(Operation::Read(array, parse_operands(reader)?));
    }
    if reader.take_word("check") {
        let condition = parse_operand(reader)?;
        return Ok(Operation::Check(condition, parse_fault_kind(reader)?));
    }
    if reader.take_word("if") {
        let condition = parse_operand(reader)?;
        let then = parse_code(reader)?;
        reader.expect_word("else")?;
        return Ok(Operation::If { condition, then, otherwise: parse_code(reader)? });
    }
    if reader.take_word("while") {
        return parse_while(reader);
    }
    let (op, kind) = match reader.peek() {
        Some(Token::Word(word)) => (ScalarOp::from_name(word), RandomKind::from_name(word)),
        _ => (None, None),
    };
    match (op, kind) {
        (Some(op), _) => {
            reader.next_token();
            Ok(Operation::Scalar(op, parse_operands(reader)?))
        }
        (None, Some(kind)) => {
            reader.next_token();
            Ok(Operation::Random(kind, parse_operands(reader)?))
        }
        (None, None) => Err(reader.expected("an operation")),
    }
}

fn parse_while(reader: &mut Reader) -> Result<Operation, TextError> {
    reader.expect_symbol("(")?;
    let (mut state, mut initial) = (Vec::new(), Vec::new());
    while !reader.take_symbol(")") {
        if !state.is_empty() {
            reader.expect_symbol(",")?;
        }
        state.push(parse_typed(reader)?);
        reader.expect_symbol("=")?;
        initial.push(parse_operand(reader)?);
    }
    let condition = parse_code(reader)?;
    reader.expect_word("do")?;
    Ok(Operation::While { state, initial, condition, body: parse_code(reader)? })
}
