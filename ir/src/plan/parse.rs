//! Reads the text of plans that `print` writes.

use crate::Span;
use crate::code::{
    Code, Operand, Register, parse_code, parse_fault_kind, parse_indices, parse_operand,
    parse_operator, parse_registers,
};
use crate::flat::{
    Dimension, ScanForm, Types, Var, parse_binding, parse_bindings, parse_dimension, parse_if,
    parse_inputs, parse_line, parse_outputs, parse_scan_form, parse_space, parse_start, parse_var,
    parse_vars, parse_while,
};
use crate::plan::{Block, Epilogue, Kernel, Program, Sink, Step};
use crate::rows::parse_rows;
use crate::text::{Reader, TextError, Token, parse_column};

/// Reads a plan. Spans are the default. Whether it makes sense, `check` says.
///
/// # Errors
/// The first place that is no plan.
pub fn parse(text: &str) -> Result<Program, TextError> {
    let mut reader = Reader::new(text)?;
    let program = parse_program(&mut reader)?;
    if !reader.at_end() {
        return Err(reader.expected("`output` or the end"));
    }
    Ok(program)
}

/// Reads a program as far as it goes.
fn parse_program(reader: &mut Reader) -> Result<Program, TextError> {
    let mut types = Types::default();
    let inputs = parse_inputs(reader, &mut types)?;
    let mut body = Block::default();
    while !(reader.at_end() || ["yield", "output", "end"].iter().any(|word| reader.at_word(word))) {
        body.steps.push(parse_step(reader, &mut types)?);
    }
    if reader.take_word("yield") {
        body.results = parse_vars(reader)?;
    }
    let outputs = parse_outputs(reader, &types)?;
    Ok(Program { inputs, body, outputs, types: types.finish() })
}

fn parse_block(reader: &mut Reader, types: &mut Types) -> Result<Block, TextError> {
    let mut steps = Vec::new();
    while !reader.take_word("yield") {
        steps.push(parse_step(reader, types)?);
    }
    Ok(Block { steps, results: parse_vars(reader)? })
}

fn parse_step(reader: &mut Reader, types: &mut Types) -> Result<Step, TextError> {
    parse_line(reader, types, parse_operation)
}

fn parse_operation(
    reader: &mut Reader,
    types: &mut Types,
    results: Vec<Var>,
) -> Result<Step, TextError> {
    let span = Span::default();
    if reader.take_word("host") {
        return Ok(Step::Host { results, code: parse_code(reader)?, span });
    }
    if reader.take_word("if") {
        let (condition, [then, otherwise]) = parse_if(reader, types, parse_block)?;
        return Ok(Step::If { results, condition, then, otherwise });
    }
    if reader.take_word("while") {
        let ([state, initial], [condition, body]) = parse_while(reader, types, parse_block)?;
        let rows = match reader.take_word("rows") {
            true => Some(Box::new(parse_rows(reader, parse_program)?)),
            false => None,
        };
        return Ok(Step::While { results, state, initial, condition, body, rows });
    }
    match results[..] {
        [result] => {
            if reader.take_word("reshape") {
                return Ok(Step::Reshape { result, array: parse_var(reader)? });
            }
            reader.expect_word("constant")?;
            Ok(Step::Constant { result, elements: parse_column(reader)? })
        }
        [] => {
            if reader.take_word("launch") {
                return Ok(Step::Launch(Box::new(parse_kernel(reader, types)?)));
            }
            if reader.take_word("check") {
                let condition = parse_var(reader)?;
                return Ok(Step::Check { condition, kind: parse_fault_kind(reader)?, span });
            }
            reader.expect_word("free")?;
            Ok(Step::Free(parse_vars(reader)?))
        }
        _ => Err(reader.expected("`host`, `if` or `while`")),
    }
}

fn parse_kernel(reader: &mut Reader, types: &mut Types) -> Result<Kernel, TextError> {
    let name = match reader.peek() {
        Some(Token::Text(name)) => name.as_str().into(),
        _ => return Err(reader.expected("a name in quotes")),
    };
    reader.next_token();
    let space = parse_space(reader)?;
    let indices = parse_indices(reader)?;
    let fused = if reader.take_word("fusing") { parse_vars(reader)? } else { Vec::new() };
    let body = parse_code(reader)?;
    let (mut sinks, mut epilogue) = (Vec::new(), None);
    while !reader.take_word("end") {
        if reader.take_word("then") {
            epilogue = Some(parse_epilogue(reader, types)?);
            reader.expect_word("end")?;
            break;
        }
        sinks.push(parse_sink(reader, types)?);
    }
    Ok(Kernel { name, space, indices, body, sinks, epilogue, fused, span: Span::default() })
}

fn parse_epilogue(reader: &mut Reader, types: &mut Types) -> Result<Epilogue, TextError> {
    let indices = parse_indices(reader)?;
    let code: Code = parse_code(reader)?;
    let mut stores = Vec::new();
    while reader.take_word("store") {
        stores.push(parse_stored(reader, types)?);
    }
    Ok(Epilogue { indices, code, stores })
}

/// `r1 to a3: [a0]f32`.
fn parse_stored(reader: &mut Reader, types: &mut Types) -> Result<(Operand, Var), TextError> {
    let value = parse_operand(reader)?;
    reader.expect_word("to")?;
    Ok((value, parse_binding(reader, types)?))
}

fn parse_sink(reader: &mut Reader, types: &mut Types) -> Result<Sink, TextError> {
    if reader.take_word("store") {
        let (value, array) = parse_stored(reader, types)?;
        return Ok(Sink::Store { value, array });
    }
    if reader.take_word("interleave") {
        let values = parse_some_operands(reader)?;
        reader.expect_word("to")?;
        return Ok(Sink::Interleave { values, array: parse_binding(reader, types)? });
    }
    if reader.take_word("reduce") {
        let values = parse_some_operands(reader)?;
        let (registers, arrays) = parse_combined(reader, types)?;
        let (operator, start) = (parse_operator(reader)?, parse_start(reader)?);
        return Ok(Sink::Reduce { values, operator, start, registers, arrays });
    }
    if reader.take_word("scan") {
        return parse_scan(reader, types);
    }
    if reader.take_word("filter") {
        let flag = parse_operand(reader)?;
        reader.expect_word("to")?;
        let counts = parse_bindings(reader, types)?;
        let mut kept = Vec::new();
        while reader.take_word("keep") {
            kept.push(parse_stored(reader, types)?);
        }
        return Ok(Sink::Filter { flag, counts, kept });
    }
    if reader.take_word("scatter") {
        let values = parse_some_operands(reader)?;
        reader.expect_word("at")?;
        let target = parse_some_operands(reader)?;
        reader.expect_word("into")?;
        let destinations = parse_vars(reader)?;
        reader.expect_word("to")?;
        let arrays = parse_bindings(reader, types)?;
        let operator = reader.at_word("by").then(|| parse_operator(reader)).transpose()?;
        return Ok(Sink::Scatter { target, values, destinations, operator, arrays });
    }
    if reader.take_word("sort") {
        let descending = reader.take_word("descending");
        let keys = parse_some_operands(reader)?;
        reader.expect_word("to")?;
        return Ok(Sink::Sort { keys, descending, order: parse_binding(reader, types)? });
    }
    Err(reader.expected("a sink, `then` or `end`"))
}

fn parse_scan(reader: &mut Reader, types: &mut Types) -> Result<Sink, TextError> {
    let form: ScanForm = parse_scan_form(reader)?;
    let from_right = reader.take_word("right");
    let full: Option<Dimension> =
        reader.take_word("to").then(|| parse_dimension(reader)).transpose()?;
    let values = parse_some_operands(reader)?;
    let (registers, arrays) = parse_combined(reader, types)?;
    let (operator, start) = (parse_operator(reader)?, parse_start(reader)?);
    Ok(Sink::Scan { values, form, from_right, operator, start, full, registers, arrays })
}

type Combined = (Vec<(Register, crate::ScalarType)>, Vec<Option<Var>>);

/// `as (r4: f32) to a3: [a0]f32, _`.
fn parse_combined(reader: &mut Reader, types: &mut Types) -> Result<Combined, TextError> {
    reader.expect_word("as")?;
    reader.expect_symbol("(")?;
    let registers = parse_registers(reader)?;
    reader.expect_symbol(")")?;
    reader.expect_word("to")?;
    let mut arrays = Vec::new();
    loop {
        if reader.take_word("_") {
            arrays.push(None);
        } else {
            arrays.push(Some(parse_binding(reader, types)?));
        }
        if !reader.take_symbol(",") {
            return Ok((registers, arrays));
        }
    }
}

/// Registers and constants up to a word.
fn parse_some_operands(reader: &mut Reader) -> Result<Vec<Operand>, TextError> {
    let mut operands = Vec::new();
    while reader.at_numbered('r') || matches!(reader.peek(), Some(Token::Scalar(_))) {
        operands.push(parse_operand(reader)?);
    }
    Ok(operands)
}
