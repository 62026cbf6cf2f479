//! The text of nested programs, as `parse` reads it.

use std::fmt::{self, Write};

use crate::nested::{
    Atom, Body, FunctionId, Lambda, Operation, Program, Start, Statement, Type, Var,
};
use crate::text::{Writer, write_column};

impl fmt::Display for Var {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.0)
    }
}

impl fmt::Display for FunctionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "f{}", self.0)
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for _ in 0..self.rank {
            f.write_str("[]")?;
        }
        write!(f, "{}", self.element)
    }
}

impl fmt::Display for Atom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Atom::Var(var) => write!(f, "{var}"),
            Atom::Scalar(scalar) => write!(f, "{scalar}"),
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

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut writer = Writer::new();
        write_body(&mut writer, self)?;
        f.write_str(&writer.finish())
    }
}

fn write_program(w: &mut Writer, program: &Program) -> fmt::Result {
    if !program.params.is_empty() {
        w.write_str("params ")?;
        write_params(w, &program.params)?;
        w.write_str("\n")?;
    }
    for (index, function) in program.functions.iter().enumerate() {
        write!(w, "function {} \"", FunctionId(index as u32))?;
        for char in function.name.chars() {
            match char {
                '"' | '\\' => write!(w, "\\{char}")?,
                '\n' => w.write_str("\\n")?,
                other => w.write_char(other)?,
            }
        }
        w.write_str("\" ")?;
        write_params(w, &function.params)?;
        w.write_str(" ->")?;
        for result in &function.results {
            write!(w, " {result}")?;
        }
        w.write_str("\n")?;
        w.indented(|w| write_body(w, &function.body))?;
    }
    write_body(w, &program.body)
}

fn write_params(w: &mut Writer, params: &[(Var, Type)]) -> fmt::Result {
    for (index, (var, ty)) in params.iter().enumerate() {
        let comma = if index == 0 { "" } else { ", " };
        write!(w, "{comma}{var}: {ty}")?;
    }
    Ok(())
}

fn write_body(w: &mut Writer, body: &Body) -> fmt::Result {
    for statement in &body.statements {
        write_statement(w, statement)?;
    }
    w.write_str("yield")?;
    write_atoms(w, &body.results)?;
    w.write_str("\n")
}

/// Each with a space before it.
fn write_atoms(w: &mut Writer, atoms: &[Atom]) -> fmt::Result {
    for atom in atoms {
        write!(w, " {atom}")?;
    }
    Ok(())
}

fn write_statement(w: &mut Writer, statement: &Statement) -> fmt::Result {
    write_params(w, &statement.results)?;
    w.write_str(" = ")?;
    match &statement.operation {
        Operation::If { condition, then, otherwise } => {
            writeln!(w, "if {condition}")?;
            w.indented(|w| write_body(w, then))?;
            w.write_str("else\n")?;
            w.indented(|w| write_body(w, otherwise))
        }
        Operation::While { state, initial, condition, body } => {
            w.write_str("while")?;
            write_state(w, state, initial)?;
            w.write_str("\n")?;
            w.indented(|w| write_body(w, condition))?;
            w.write_str("do\n")?;
            w.indented(|w| write_body(w, body))
        }
        Operation::For { index, count, state, initial, body } => {
            write!(w, "for {index} < {count}")?;
            write_state(w, state, initial)?;
            w.write_str("\n")?;
            w.indented(|w| write_body(w, body))
        }
        Operation::Map(lambda, arrays) => {
            w.write_str("map")?;
            write_atoms(w, arrays)?;
            write_lambda(w, lambda)
        }
        Operation::Fold { operator, start, arrays } => {
            w.write_str("fold")?;
            write_start(w, start)?;
            w.write_str(" over")?;
            write_atoms(w, arrays)?;
            write_lambda(w, operator)
        }
        Operation::Scan { form, from_right, operator, start, arrays } => {
            write!(w, "scan {form}{}", if *from_right { " right" } else { "" })?;
            write_start(w, start)?;
            w.write_str(" over")?;
            write_atoms(w, arrays)?;
            write_lambda(w, operator)
        }
        Operation::Scatter { destinations, indices, values, operator, drops } => {
            w.write_str("scatter")?;
            write_atoms(w, destinations)?;
            write!(w, " at {indices} values")?;
            write_atoms(w, values)?;
            w.write_str(if *drops { " drops" } else { "" })?;
            match operator {
                Some(operator) => write_lambda(w, operator),
                None => w.write_str("\n"),
            }
        }
        line => {
            write_line(w, line)?;
            w.write_str("\n")
        }
    }
}

fn write_state(w: &mut Writer, state: &[(Var, Type)], initial: &[Atom]) -> fmt::Result {
    for (index, ((var, ty), atom)) in state.iter().zip(initial).enumerate() {
        let comma = if index == 0 { " " } else { ", " };
        write!(w, "{comma}{var}: {ty} = {atom}")?;
    }
    Ok(())
}

fn write_start(w: &mut Writer, start: &Start<Vec<Atom>>) -> fmt::Result {
    match start {
        Start::None => Ok(()),
        Start::Combined(atoms) => {
            w.write_str(" from")?;
            write_atoms(w, atoms)
        }
        Start::IfEmpty(atoms) => {
            w.write_str(" if_empty")?;
            write_atoms(w, atoms)
        }
    }
}

/// On the lines after an operation.
fn write_lambda(w: &mut Writer, lambda: &Lambda) -> fmt::Result {
    w.write_str("\n")?;
    w.indented(|w| {
        w.write_str("\\")?;
        write_params(w, &lambda.params)?;
        w.write_str("\n")?;
        w.indented(|w| write_body(w, &lambda.body))
    })
}

/// An operation without bodies.
fn write_line(w: &mut Writer, operation: &Operation) -> fmt::Result {
    match operation {
        Operation::Scalar(op, atoms) => {
            write!(w, "{op}")?;
            write_atoms(w, atoms)
        }
        Operation::Random(kind, atoms) => {
            write!(w, "{kind}")?;
            write_atoms(w, atoms)
        }
        Operation::Assert { condition, kind, values } => {
            write!(w, "assert {kind} {condition} values")?;
            write_atoms(w, values)
        }
        Operation::Call(function, atoms) => {
            write!(w, "call {function}")?;
            write_atoms(w, atoms)
        }
        Operation::Length(array) => write!(w, "length {array}"),
        Operation::Index(array, indices) => {
            write!(w, "index {array}")?;
            write_atoms(w, indices)
        }
        Operation::Update { array, indices, value } => {
            write!(w, "update {array} at")?;
            write_atoms(w, indices)?;
            write!(w, " value {value}")
        }
        Operation::Literal(atoms) => {
            w.write_str("literal")?;
            write_atoms(w, atoms)
        }
        Operation::Constant(column) => {
            w.write_str("constant ")?;
            write_column(w, column)
        }
        Operation::Iota(length) => write!(w, "iota {length}"),
        Operation::Replicate(length, value) => write!(w, "replicate {length} {value}"),
        Operation::Pack { flags, arrays } => {
            write!(w, "pack {flags} over")?;
            write_atoms(w, arrays)
        }
        Operation::SortOrder { keys, descending } => {
            w.write_str(if *descending { "sort_order descending" } else { "sort_order" })?;
            write_atoms(w, keys)
        }
        Operation::Transpose(array) => write!(w, "transpose {array}"),
        Operation::Reshape { array, from, extents } => {
            write!(w, "reshape {array} {from} to")?;
            write_atoms(w, extents)
        }
        Operation::Extent(array, axis) => write!(w, "extent {array} {axis}"),
        Operation::Flatten(array) => write!(w, "flatten {array}"),
        Operation::Segments(lengths, array) => write!(w, "segments {lengths} {array}"),
        Operation::Concat(first, second) => write!(w, "concat {first} {second}"),
        Operation::If { .. }
        | Operation::While { .. }
        | Operation::For { .. }
        | Operation::Map(..)
        | Operation::Fold { .. }
        | Operation::Scan { .. }
        | Operation::Scatter { .. } => unreachable!("written with their bodies"),
    }
}
