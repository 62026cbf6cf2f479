//! The text of plans, as `parse` reads it.

use std::fmt::{self, Write};

use crate::code::{write_code, write_indices, write_operands, write_operator, write_registers};
use crate::flat::{
    Type, Var, write_bindings, write_if, write_inputs, write_outputs, write_results, write_space,
    write_start, write_vars, write_while, write_yield,
};
use crate::plan::{Block, Kernel, Program, Sink, Step};
use crate::rows::write_rows;
use crate::text::{Writer, write_column};

/// The text without spans, one step a line.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new();
        write_program(&mut writer, self)?;
        f.write_str(&writer.finish())
    }
}

impl Step {
    /// The text, with the types of the variables (the program's), without a newline at the end.
    pub fn text(&self, types: &[Type]) -> String {
        let mut writer = Writer::new();
        write_step(&mut writer, self, types).expect("a string takes all text");
        writer.finish().trim_end().to_owned()
    }
}

impl Kernel {
    /// The text, with the types of the variables (the program's), without a newline at the end.
    pub fn text(&self, types: &[Type]) -> String {
        let mut writer = Writer::new();
        write_kernel(&mut writer, self, types).expect("a string takes all text");
        writer.finish().trim_end().to_owned()
    }
}

fn write_program(w: &mut Writer, program: &Program) -> fmt::Result {
    write_inputs(w, &program.inputs, &program.types)?;
    for step in &program.body.steps {
        write_step(w, step, &program.types)?;
    }
    if !program.body.results.is_empty() {
        write_yield(w, &program.body.results)?;
    }
    write_outputs(w, &program.outputs, &program.types)
}

fn write_block(w: &mut Writer, block: &Block, types: &[Type]) -> fmt::Result {
    for step in &block.steps {
        write_step(w, step, types)?;
    }
    write_yield(w, &block.results)
}

fn write_step(w: &mut Writer, step: &Step, types: &[Type]) -> fmt::Result {
    let block = |w: &mut Writer, block: &Block| write_block(w, block, types);
    match step {
        Step::Host { results, code, span: _ } => {
            write_results(w, results, types)?;
            w.write_str("host\n")?;
            w.indented(|w| write_code(w, code))
        }
        Step::Launch(kernel) => write_kernel(w, kernel, types),
        Step::Reshape { result, array } => {
            write_results(w, &[*result], types)?;
            writeln!(w, "reshape {array}")
        }
        Step::Constant { result, elements } => {
            write_results(w, &[*result], types)?;
            w.write_str("constant ")?;
            write_column(w, elements)?;
            w.write_str("\n")
        }
        Step::Check { condition, kind, span: _ } => writeln!(w, "check {condition} {kind}"),
        Step::If { results, condition, then, otherwise } => {
            write_results(w, results, types)?;
            write_if(w, *condition, [then, otherwise], block)
        }
        Step::While { results, state, initial, condition, body, rows } => {
            write_results(w, results, types)?;
            write_while(w, [state, initial], types, [condition, body], block)?;
            rows.iter().try_for_each(|rows| write_rows(w, rows, write_program))
        }
        Step::Free(vars) => {
            w.write_str("free")?;
            write_vars(w, vars)?;
            w.write_str("\n")
        }
    }
}

/// `launch "map" [a0] (r0)`, the body, the sinks, the epilogue, `end`.
fn write_kernel(w: &mut Writer, kernel: &Kernel, types: &[Type]) -> fmt::Result {
    w.write_str("launch \"")?;
    for char in kernel.name.chars() {
        match char {
            '\n' => w.write_str("\\n")?,
            '"' | '\\' => write!(w, "\\{char}")?,
            char => w.write_char(char)?,
        }
    }
    w.write_str("\" ")?;
    write_space(w, &kernel.space)?;
    w.write_str(" ")?;
    write_indices(w, &kernel.indices)?;
    if !kernel.fused.is_empty() {
        w.write_str(" fusing")?;
        write_vars(w, &kernel.fused)?;
    }
    w.write_str("\n")?;
    w.indented(|w| {
        write_code(w, &kernel.body)?;
        kernel.sinks.iter().try_for_each(|sink| write_sink(w, sink, types))?;
        let Some(epilogue) = &kernel.epilogue else { return Ok(()) };
        w.write_str("then ")?;
        write_indices(w, &epilogue.indices)?;
        w.write_str("\n")?;
        w.indented(|w| {
            write_code(w, &epilogue.code)?;
            for (value, array) in &epilogue.stores {
                write!(w, "store {value} to ")?;
                write_bindings(w, &[*array], types)?;
                w.write_str("\n")?;
            }
            Ok(())
        })
    })?;
    w.write_str("end\n")
}

fn write_sink(w: &mut Writer, sink: &Sink, types: &[Type]) -> fmt::Result {
    match sink {
        Sink::Store { value, array } => {
            write!(w, "store {value} to ")?;
            write_bindings(w, &[*array], types)?;
            w.write_str("\n")
        }
        Sink::Interleave { values, array } => {
            w.write_str("interleave")?;
            write_operands(w, values)?;
            w.write_str(" to ")?;
            write_bindings(w, &[*array], types)?;
            w.write_str("\n")
        }
        Sink::Reduce { values, operator, start, registers, arrays } => {
            w.write_str("reduce")?;
            write_operands(w, values)?;
            write_combined(w, registers, arrays, types)?;
            write_operator(w, operator)?;
            write_start(w, start)
        }
        Sink::Scan { values, form, from_right, operator, start, full, registers, arrays } => {
            write!(w, "scan {form}{}", if *from_right { " right" } else { "" })?;
            if let Some(full) = full {
                write!(w, " to {full}")?;
            }
            write_operands(w, values)?;
            write_combined(w, registers, arrays, types)?;
            write_operator(w, operator)?;
            write_start(w, start)
        }
        Sink::Filter { flag, counts, kept } => {
            write!(w, "filter {flag} to ")?;
            write_bindings(w, counts, types)?;
            w.write_str("\n")?;
            for (value, array) in kept {
                write!(w, "keep {value} to ")?;
                write_bindings(w, &[*array], types)?;
                w.write_str("\n")?;
            }
            Ok(())
        }
        Sink::Scatter { target, values, destinations, operator, arrays } => {
            w.write_str("scatter")?;
            write_operands(w, values)?;
            w.write_str(" at")?;
            write_operands(w, target)?;
            w.write_str(" into")?;
            write_vars(w, destinations)?;
            w.write_str(" to ")?;
            write_bindings(w, arrays, types)?;
            w.write_str("\n")?;
            operator.iter().try_for_each(|operator| write_operator(w, operator))
        }
        Sink::Sort { keys, descending, order } => {
            w.write_str(if *descending { "sort descending" } else { "sort" })?;
            write_operands(w, keys)?;
            w.write_str(" to ")?;
            write_bindings(w, &[*order], types)?;
            w.write_str("\n")
        }
    }
}

/// ` as (r4: f32) to a3: [a0]f32` for what combines values; `_` where nothing is stored.
fn write_combined(
    w: &mut Writer,
    registers: &[(crate::code::Register, crate::ScalarType)],
    arrays: &[Option<Var>],
    types: &[Type],
) -> fmt::Result {
    w.write_str(" as (")?;
    write_registers(w, registers)?;
    w.write_str(") to ")?;
    for (position, array) in arrays.iter().enumerate() {
        w.write_str(if position == 0 { "" } else { ", " })?;
        match array {
            Some(array) => write_bindings(w, &[*array], types)?,
            None => w.write_str("_")?,
        }
    }
    w.write_str("\n")
}
