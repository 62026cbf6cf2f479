//! The text of flat programs, as `parse` reads it, and of spaces and leaves, which `plan` has too.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use crate::code::{write_code, write_indices, write_operator};
use crate::flat::{
    Block, Dimension, Leaf, Operation, Program, Size, Start, Statement, Thunk, Type, Var,
};
use crate::rows::write_rows;
use crate::text::{Writer, write_column};

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a{}", self.0)
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Size::Constant(size) => write!(f, "{size}"),
            Size::Var(var) => write!(f, "{var}"),
        }
    }
}

/// `[a0][4]f32`; a scalar is plain.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for extent in &self.extents {
            write!(f, "[{extent}]")?;
        }
        write!(f, "{}", self.element)
    }
}

/// `[a0]`, or `[~a1 a2]` for rows with offsets `a1` and the total `a2`.
impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Dimension::Dense(extent) => write!(f, "[{extent}]"),
            Dimension::Ragged { offsets, total } => write!(f, "[~{offsets} {total}]"),
        }
    }
}

/// The text without spans, one statement a line.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new();
        write_program(&mut writer, self)?;
        f.write_str(&writer.finish())
    }
}

impl Statement {
    /// The text, with the types of the variables (the program's), without a newline at the end.
    pub fn text(&self, types: &[Type]) -> String {
        let mut writer = Writer::new();
        write_statement(&mut writer, self, types).expect("a string takes all text");
        writer.finish().trim_end().to_owned()
    }
}

/// Writes the dimensions one after the other; nothing for the space of one point.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_space(w: &mut Writer, space: &[Dimension]) -> fmt::Result {
    space.iter().try_for_each(|dimension| write!(w, "{dimension}"))
}

/// Writes `a1: [a0]f32, a2: i64` for variables of these types.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_bindings(w: &mut Writer, vars: &[Var], types: &[Type]) -> fmt::Result {
    for (position, var) in vars.iter().enumerate() {
        let comma = if position == 0 { "" } else { ", " };
        write!(w, "{comma}")?;
        write_binding(w, *var, types)?;
    }
    Ok(())
}

fn write_binding(w: &mut Writer, var: Var, types: &[Type]) -> fmt::Result {
    match types.get(var.0 as usize) {
        Some(ty) => write!(w, "{var}: {ty}"),
        // A wrong program, in a message of the check.
        None => write!(w, "{var}: ?"),
    }
}

/// Writes a line `input a3: [a0][~a1 a2]f32 where a1: [a4]i64` for each input; what follows `where`
/// are the segment descriptors that no input before has.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_inputs(w: &mut Writer, inputs: &[Leaf], types: &[Type]) -> fmt::Result {
    let mut known = BTreeSet::new();
    for leaf in inputs {
        write_leaf(w, "input", leaf, types)?;
        let descriptors = leaf.axes.iter().filter_map(|axis| match axis {
            Dimension::Ragged { offsets, .. } => Some(*offsets),
            Dimension::Dense(_) => None,
        });
        let new: Vec<Var> = descriptors.filter(|offsets| known.insert(*offsets)).collect();
        if !new.is_empty() {
            w.write_str(" where ")?;
            write_bindings(w, &new, types)?;
        }
        w.write_str("\n")?;
    }
    Ok(())
}

/// Writes a line `output a3: [a0][~a1 a2]f32` for each output.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_outputs(w: &mut Writer, outputs: &[Leaf], types: &[Type]) -> fmt::Result {
    for leaf in outputs {
        write_leaf(w, "output", leaf, types)?;
        w.write_str("\n")?;
    }
    Ok(())
}

fn write_leaf(w: &mut Writer, keyword: &str, leaf: &Leaf, types: &[Type]) -> fmt::Result {
    write!(w, "{keyword} {}: ", leaf.data)?;
    write_space(w, &leaf.axes)?;
    write!(w, "{}", types[leaf.data.0 as usize].element)
}

/// Writes `from` or `if_empty` with the thunk of the start values, if there are any.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_start(w: &mut Writer, start: &Start<Thunk>) -> fmt::Result {
    let (keyword, thunk) = match start {
        Start::None => return Ok(()),
        Start::Combined(thunk) => ("from ", thunk),
        Start::IfEmpty(thunk) => ("if_empty ", thunk),
    };
    w.write_str(keyword)?;
    write_thunk(w, thunk)
}

/// Writes the indices, and the code on the lines below.
///
/// # Errors
/// Those of the writer.
fn write_thunk(w: &mut Writer, thunk: &Thunk) -> fmt::Result {
    write_indices(w, &thunk.indices)?;
    w.write_str("\n")?;
    w.indented(|w| write_code(w, &thunk.code))
}

fn write_program(w: &mut Writer, program: &Program) -> fmt::Result {
    write_inputs(w, &program.inputs, &program.types)?;
    for statement in &program.body.statements {
        write_statement(w, statement, &program.types)?;
    }
    if !program.body.results.is_empty() {
        write_yield(w, &program.body.results)?;
    }
    write_outputs(w, &program.outputs, &program.types)
}

fn write_block(w: &mut Writer, block: &Block, types: &[Type]) -> fmt::Result {
    for statement in &block.statements {
        write_statement(w, statement, types)?;
    }
    write_yield(w, &block.results)
}

/// Writes the line that ends a block.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_yield(w: &mut Writer, results: &[Var]) -> fmt::Result {
    w.write_str("yield")?;
    write_vars(w, results)?;
    w.write_str("\n")
}

/// Writes ` a1 a2`.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_vars(w: &mut Writer, vars: &[Var]) -> fmt::Result {
    vars.iter().try_for_each(|var| write!(w, " {var}"))
}

/// Writes `a1: [a0]f32, a2: i64 = `; nothing, if there are no results.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_results(w: &mut Writer, results: &[Var], types: &[Type]) -> fmt::Result {
    if results.is_empty() {
        return Ok(());
    }
    write_bindings(w, results, types)?;
    w.write_str(" = ")
}

/// Writes `if a1`, and the two blocks as `block` does.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_if<B>(
    w: &mut Writer,
    condition: Var,
    [then, otherwise]: [&B; 2],
    block: impl Fn(&mut Writer, &B) -> fmt::Result,
) -> fmt::Result {
    writeln!(w, "if {condition}")?;
    w.indented(|w| block(w, then))?;
    w.write_str("else\n")?;
    w.indented(|w| block(w, otherwise))
}

/// Writes `while (a1: i64 = a0)` for a state and its first values, and condition and body as `block` does.
///
/// # Errors
/// Those of the writer.
pub(crate) fn write_while<B>(
    w: &mut Writer,
    [state, initial]: [&[Var]; 2],
    types: &[Type],
    [condition, body]: [&B; 2],
    block: impl Fn(&mut Writer, &B) -> fmt::Result,
) -> fmt::Result {
    w.write_str("while (")?;
    for (position, (var, value)) in state.iter().zip(initial).enumerate() {
        w.write_str(if position == 0 { "" } else { ", " })?;
        write_binding(w, *var, types)?;
        write!(w, " = {value}")?;
    }
    w.write_str(")\n")?;
    w.indented(|w| block(w, condition))?;
    w.write_str("do\n")?;
    w.indented(|w| block(w, body))
}

fn write_statement(w: &mut Writer, statement: &Statement, types: &[Type]) -> fmt::Result {
    write_results(w, &statement.results, types)?;
    let block = |w: &mut Writer, block: &Block| write_block(w, block, types);
    match &statement.operation {
        Operation::Map { space, thunk } => {
            w.write_str("map ")?;
            write_elements(w, space, thunk)
        }
        Operation::Reduce { space, thunk, operator, start } => {
            w.write_str("reduce ")?;
            write_elements(w, space, thunk)?;
            write_operator(w, operator)?;
            write_start(w, start)
        }
        Operation::Scan { space, thunk, form, from_right, operator, start, full } => {
            write!(w, "scan {form} {}", if *from_right { "right " } else { "" })?;
            if let Some(full) = full {
                write!(w, "to {full} ")?;
            }
            write_elements(w, space, thunk)?;
            write_operator(w, operator)?;
            write_start(w, start)
        }
        Operation::Filter { space, thunk } => {
            w.write_str("filter ")?;
            write_elements(w, space, thunk)
        }
        Operation::Scatter { space, thunk, destinations, operator } => {
            w.write_str("scatter into")?;
            write_vars(w, destinations)?;
            w.write_str(" ")?;
            write_elements(w, space, thunk)?;
            operator.iter().try_for_each(|operator| write_operator(w, operator))
        }
        Operation::Sort { space, thunk, descending } => {
            write!(w, "sort {}", if *descending { "descending " } else { "" })?;
            write_elements(w, space, thunk)
        }
        Operation::Reshape(array) => writeln!(w, "reshape {array}"),
        Operation::Constant(elements) => {
            w.write_str("constant ")?;
            write_column(w, elements)?;
            w.write_str("\n")
        }
        Operation::Check(condition, kind) => writeln!(w, "check {condition} {kind}"),
        Operation::If { condition, then, otherwise } => {
            write_if(w, *condition, [then, otherwise], block)
        }
        Operation::While { state, initial, condition, body, rows } => {
            write_while(w, [state, initial], types, [condition, body], block)?;
            rows.iter().try_for_each(|rows| write_rows(w, rows, write_program))
        }
    }
}

/// `[a0] (r0)` and the code.
fn write_elements(w: &mut Writer, space: &[Dimension], thunk: &Thunk) -> fmt::Result {
    write_space(w, space)?;
    w.write_str(if space.is_empty() { "" } else { " " })?;
    write_thunk(w, thunk)
}
