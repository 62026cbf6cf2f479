//! The indices of a point, recovered from its number.
//!
//! Before: `const i64 r0 = at / a1; const i64 r1 = at - r0 * a1;`. Here the division is a
//! multiplication: the host prepares a [`Divisor`](crate::fields::Divisor) for each extent. An array
//! that has an element for each point is read at the number itself, so that many kernels need no
//! indices at all. A structure that divides is a template over the type `I` of the numbers that it
//! divides: the host chooses 32 bits where they suffice.

use std::collections::BTreeSet;

use weft_codegen::Writer;
use weft_ir::ScalarType;
use weft_ir::code::Register;
use weft_ir::flat::{Dimension, Size, Space, first_stored, storage};

use super::{Structure, field, size};
use crate::fields::Field;

/// What a function knows of its point.
#[derive(Clone, Copy)]
pub(crate) enum Point {
    /// `at` is the number of the point.
    Number,
    /// `at` is the number, and `row` that of the point of the dimensions before the last.
    InRow,
}

/// Statements that define the indices of a point, as far as they are needed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Indices {
    statements: Vec<String>,
    /// Those that are defined.
    registers: Vec<Register>,
    /// The names of those that address arrays over the space, and the extents of such arrays.
    names: Vec<String>,
    extents: Vec<Size>,
}

impl Indices {
    /// Writes the statements.
    pub(crate) fn write(&self, writer: &mut Writer<'_>) {
        self.statements.iter().for_each(|statement| writer.statement(statement));
        self.bind(writer);
    }

    /// Whether these depend on the number of the row.
    pub(crate) fn needs_row(&self) -> bool {
        let is_other = |letter: char| !(letter.is_alphanumeric() || letter == '_');
        self.statements.iter().any(|statement| statement.split(is_other).any(|word| word == "row"))
    }

    /// Writes the statements again in a block of their own, for a point that is `more` behind the first of
    /// its row.
    pub(crate) fn write_moved(&self, writer: &mut Writer<'_>, more: &str) {
        if let Some(last) = self.registers.last() {
            writer.statement(&format!("const i64 {last} = last + {more};"));
        }
        self.bind(writer);
    }

    /// Calls the registers by their own names.
    pub(crate) fn bind(&self, writer: &mut Writer<'_>) {
        for register in &self.registers {
            writer.bind(*register, ScalarType::I64, register.to_string());
        }
    }

    /// Whether these are the indices of the point, in an array where they come to its number.
    pub(crate) fn address(&self, indices: &[String], extents: &[Size]) -> bool {
        self.names == indices && same_strides(&self.extents, extents)
    }
}

/// Whether equal indices are at equal places in arrays of these extents: the first does not matter.
pub(crate) fn same_strides(one: &[Size], other: &[Size]) -> bool {
    !one.is_empty() && one.len() == other.len() && one[1..] == other[1..]
}

impl Structure<'_, '_> {
    /// The indices of a point of a space: those from the first that is used, as all behind it are
    /// split off before.
    pub(crate) fn indices(
        &mut self,
        space: &Space,
        registers: &[Register],
        used: &BTreeSet<Register>,
        point: Point,
    ) -> Indices {
        let stored = first_stored(space);
        let names = registers[stored..].iter().map(ToString::to_string).collect();
        let extents = storage(space);
        let first = registers.iter().position(|register| used.contains(register));
        let first = first.unwrap_or(registers.len());
        let statements = self.statements(space, registers, first, point);
        // All are bound: arrays over the space are read by their names.
        Indices { statements, registers: registers.to_vec(), names, extents }
    }

    /// The indices of a point whose last ones are given by name, and those before by the number `at` of
    /// the point of the dimensions before.
    pub(crate) fn given(
        &mut self,
        space: &[Dimension],
        registers: &[Register],
        used: &BTreeSet<Register>,
        names: &[&str],
    ) -> Indices {
        let before = registers.len() - names.len();
        let first = registers[..before].iter().position(|register| used.contains(register));
        let first = first.unwrap_or(before);
        let (space, outer) = (&space[..before], &registers[..before]);
        let mut statements = self.statements(space, outer, first, Point::Number);
        for (register, name) in registers[before..].iter().zip(names) {
            if used.contains(register) {
                statements.push(format!("const i64 {register} = {name};"));
            }
        }
        Indices { statements, registers: registers.to_vec(), ..Indices::default() }
    }

    fn statements(
        &mut self,
        space: &[Dimension],
        registers: &[Register],
        first: usize,
        point: Point,
    ) -> Vec<String> {
        let mut statements = Vec::new();
        let mut number = "at".to_owned();
        for (at, dimension) in space.iter().enumerate().skip(first).rev() {
            let register = registers[at];
            let last = at + 1 == space.len();
            match (*dimension, point) {
                (Dimension::Dense(extent), Point::InRow) if last => {
                    let extent = size(&mut self.fields, extent);
                    statements.push(format!("const i64 {register} = at - row * {extent};"));
                    number = "row".into();
                }
                (Dimension::Ragged { .. }, Point::InRow) if last => {
                    statements.push(format!("const i64 {register} = at;"));
                    number = "row".into();
                }
                (Dimension::Dense(_), _) if at == 0 => {
                    statements.push(format!("const i64 {register} = {number};"));
                }
                (Dimension::Dense(extent), _) => {
                    let above = format!("{register}_above");
                    // What has been divided is an I already.
                    let number_as_index = match number.ends_with("_above") {
                        true => number.clone(),
                        false => format!("(I){number}"),
                    };
                    let (quotient, extent) = self.quotient(&number_as_index, extent);
                    statements.push(format!("const I {above} = {quotient};"));
                    statements.push(format!(
                        "const i64 {register} = {number_as_index} - {above} * {extent};"
                    ));
                    number = above;
                }
                (Dimension::Ragged { offsets, .. }, _) => {
                    statements.push(format!("const i64 {register} = {number};"));
                    if at > first {
                        let count = self.shared.types[offsets.0 as usize].extents[0];
                        let count = size(&mut self.fields, count);
                        let offsets = field(&mut self.fields, Field::Array(offsets));
                        let above = format!("{register}_row");
                        statements.push(format!(
                            "const i64 {above} = row_of({offsets}, {count} - 1, {number});"
                        ));
                        number = above;
                    }
                }
            }
        }
        statements
    }

    /// A number by an extent, and the extent, both of the type `I`.
    fn quotient(&mut self, number: &str, extent: Size) -> (String, String) {
        self.divides = true;
        match extent {
            // The compiler multiplies too, as long as there is no sign.
            Size::Constant(value) => {
                (format!("quotient({number}, (I){value})"), format!("(I){value}"))
            }
            Size::Var(var) => {
                let by = field(&mut self.fields, Field::Divisor(var));
                (format!("quotient({number}, {by})"), format!("(I){by}.by"))
            }
        }
    }
}
