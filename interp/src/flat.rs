//! A small interpreter of the intermediate language *flat*, so that a wrong answer names its pass.
//!
//! It executes every statement that it meets, in order, point by point. What a program must not do
//! is a bug of the pass that made it and ends in a panic with the statement's text: an index outside
//! the storage of an array, a segment descriptor that does not fit its space, a result of another
//! shape than its type says.

mod collective;
mod rows;
mod scalar;
mod space;
mod tree;

use std::sync::atomic::AtomicBool;

use weft_ir::flat::{Block, Operation, Program, Size, Space, Statement, Thunk, Type, Var};
use weft_ir::leaves::{Stored, bind_inputs, stored_to_leaf};
use weft_ir::{Column, ColumnBuilder, Fault, FaultKind, Scalar, ScalarType, Stop, Value};

use crate::Limits;
use crate::flat::scalar::ThunkFunction;
use crate::flat::space::Extents;
use crate::nested::memory::Memory;

/// Evaluates a checked program. `inputs` are leaves of the layouts of its inputs, and the results
/// leaves of the layouts of its outputs.
///
/// The caller provides the stack that `limits` says.
///
/// # Errors
/// A fault with the span of the check that failed, an exhausted limit, or the interrupt that
/// `cancel` asked for.
///
/// # Panics
/// If the program is wrong, or the inputs have not the layouts of its inputs.
pub fn run_flat(
    program: &Program,
    inputs: &[Value],
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Vec<Value>, Stop> {
    let mut machine = Machine {
        types: &program.types,
        variables: vec![None; program.types.len()],
        memory: Memory::new(limits.memory, cancel),
        current: None,
    };
    for (var, stored) in bind_inputs(&program.inputs, &program.types, inputs) {
        machine.variables[var.0 as usize] = Some(stored);
    }
    machine.block(&program.body)?;
    let variable = |var: Var| machine.variable(var).clone();
    Ok(program.outputs.iter().map(|leaf| stored_to_leaf(leaf, variable)).collect())
}

/// The state of a run.
struct Machine<'a> {
    types: &'a [Type],
    /// The value that each variable was given last.
    variables: Vec<Option<Stored>>,
    memory: Memory<'a>,
    /// The statement that is executed.
    current: Option<&'a Statement>,
}

impl<'a> Machine<'a> {
    fn block(&mut self, block: &'a Block) -> Result<Vec<Stored>, Stop> {
        for statement in &block.statements {
            self.memory.step()?;
            self.current = Some(statement);
            let results = self.operation(statement)?;
            self.current = Some(statement);
            self.bind(&statement.results, results);
        }
        Ok(self.all(&block.results))
    }

    fn operation(&mut self, statement: &'a Statement) -> Result<Vec<Stored>, Stop> {
        let span = statement.span;
        match &statement.operation {
            Operation::Map { space, thunk } => self.map(space, thunk),
            Operation::Reduce { space, thunk, operator, start } => {
                self.reduce(space, thunk, operator, start)
            }
            Operation::Scan { space, thunk, form, from_right, operator, start, full } => {
                let scan = collective::Scan { form: *form, from_right: *from_right, full: *full };
                self.scan(space, thunk, scan, operator, start)
            }
            Operation::Filter { space, thunk } => self.filter(space, thunk),
            Operation::Scatter { space, thunk, destinations, operator } => {
                self.scatter(space, thunk, destinations, operator.as_ref())
            }
            Operation::Sort { space, thunk, descending } => self.sort(space, thunk, *descending),
            Operation::Reshape(array) => {
                let elements = self.variable(*array).elements.clone();
                Ok(vec![Stored { extents: self.declared(statement.results[0]), elements }])
            }
            Operation::Constant(elements) => {
                let (extents, elements) = (self.declared(statement.results[0]), elements.clone());
                Ok(vec![Stored { extents, elements }])
            }
            Operation::Check(condition, kind) => {
                if self.bool(*condition) {
                    Ok(Vec::new())
                } else {
                    Err(Fault { kind: *kind, span }.into())
                }
            }
            Operation::If { condition, then, otherwise } => {
                let branch = if self.bool(*condition) { then } else { otherwise };
                self.block(branch)
            }
            Operation::While { state, initial, condition, body, rows } => {
                let mut values = self.all(initial);
                self.bind(state, values.clone());
                let rows = rows.as_ref().filter(|rows| self.has_elements(rows, state));
                let by_rows = rows.map(|rows| self.rows(rows));
                loop {
                    self.memory.step()?;
                    self.current = Some(statement);
                    self.bind(state, values.clone());
                    let holds = self.block(condition)?;
                    match holds[..] {
                        [ref holds] if holds.as_scalar() == Some(Scalar::Bool(true)) => {
                            values = self.block(body)?;
                        }
                        [ref holds] if holds.as_scalar() == Some(Scalar::Bool(false)) => {
                            match by_rows {
                                Some(Ok(expected)) => self.agree(state, &expected),
                                // Rows that do not fit into a matrix: the host goes on, whose rows may differ.
                                Some(Err(Stop::Fault(Fault {
                                    kind: FaultKind::LengthMismatch,
                                    ..
                                }))) => {}
                                Some(Err(Stop::Fault(fault))) => {
                                    self.bug(&format!("row by row it meets {fault:?}"))
                                }
                                Some(Err(Stop::Exhausted(_))) | None => {}
                            }
                            return Ok(values);
                        }
                        ref other => self.bug(&format!("a condition is {other:?}")),
                    }
                }
            }
        }
    }

    fn map(&mut self, space: &Space, thunk: &Thunk) -> Result<Vec<Stored>, Stop> {
        let extents = self.resolve(space);
        let function = self.thunk(thunk);
        let mut builders = self.builders(&function.types(), extents.points())?;
        let mut frame = function.frame();
        extents.each_point(&mut |point, _| {
            self.memory.step()?;
            let results = function.at(self, point, &mut frame)?;
            for (builder, scalar) in builders.iter_mut().zip(results) {
                builder.push_scalar(*scalar);
            }
            Ok(())
        })?;
        Ok(finish(builders, &extents.storage()))
    }

    /// The values of variables.
    fn all(&self, vars: &[Var]) -> Vec<Stored> {
        vars.iter().map(|var| self.variable(*var).clone()).collect()
    }

    fn variable(&self, var: Var) -> &Stored {
        match &self.variables[var.0 as usize] {
            Some(stored) => stored,
            None => self.bug(&format!("{var} has no value")),
        }
    }

    fn bool(&self, var: Var) -> bool {
        match self.variable(var).as_scalar() {
            Some(Scalar::Bool(value)) => value,
            other => self.bug(&format!("{var} is {other:?} and no bool")),
        }
    }

    /// The number of elements that a size stands for.
    fn size(&self, size: Size) -> usize {
        let found = match size {
            Size::Constant(size) => Some(size),
            Size::Var(var) => self.variable(var).as_i64(),
        };
        match found.and_then(|size| usize::try_from(size).ok()) {
            Some(size) => size,
            None => self.bug(&format!("the size {size} is {found:?}")),
        }
    }

    /// The extents that a variable's type declares.
    fn declared(&self, var: Var) -> Vec<usize> {
        self.types[var.0 as usize].extents.iter().map(|extent| self.size(*extent)).collect()
    }

    /// Gives variables their values, which must have their types.
    fn bind(&mut self, vars: &[Var], values: Vec<Stored>) {
        if vars.len() != values.len() {
            self.bug(&format!("{} results for {} variables", values.len(), vars.len()));
        }
        for (var, value) in vars.iter().zip(values) {
            self.variables[var.0 as usize] = Some(value);
        }
        for var in vars {
            let (ty, value) = (&self.types[var.0 as usize], self.variable(*var));
            let extents = self.declared(*var);
            let count: usize = extents.iter().product();
            if value.extents != extents
                || value.elements.len() != count
                || value.elements.scalar_type() != Some(ty.element)
            {
                let (found, len) = (&value.extents, value.elements.len());
                self.bug(&format!(
                    "{var}: {ty} with the extents {extents:?} is {found:?} with {len} elements"
                ));
            }
        }
    }

    /// The extents of a space, which are verified.
    fn resolve(&self, space: &Space) -> Extents {
        let size = |size| self.size(size);
        let offsets = |var| match &self.variable(var).elements {
            Column::I64(buf) => buf.clone(),
            other => self.bug(&format!("{var} is {other:?} and no segment descriptor")),
        };
        Extents::new(space, size, offsets).unwrap_or_else(|problem| self.bug(&problem))
    }

    fn thunk(&self, thunk: &Thunk) -> ThunkFunction {
        ThunkFunction::new(thunk, self.types)
    }

    /// Builders of columns with that many elements each, for which there is memory.
    fn builders(&self, types: &[ScalarType], count: u128) -> Result<Vec<ColumnBuilder>, Stop> {
        let bytes: u128 = types.iter().map(|ty| ty.bytes() as u128).sum();
        self.admit(bytes.saturating_mul(count))?;
        Ok(types.iter().map(|ty| ColumnBuilder::new(&weft_ir::Type::Scalar(*ty))).collect())
    }

    /// Asks for memory for the current statement.
    fn admit(&self, bytes: u128) -> Result<(), Stop> {
        let span = self.current.map(|statement| statement.span).unwrap_or_default();
        self.memory.admit(bytes, span)
    }

    /// The program is wrong.
    fn bug(&self, problem: &str) -> ! {
        match self.current {
            Some(statement) => {
                panic!("flat program: {problem}, in\n{}", statement.text(self.types))
            }
            None => panic!("flat program: {problem}"),
        }
    }
}

/// Arrays of these extents.
fn finish(builders: Vec<ColumnBuilder>, extents: &[usize]) -> Vec<Stored> {
    let stored =
        |builder: ColumnBuilder| Stored { extents: extents.to_vec(), elements: builder.finish() };
    builders.into_iter().map(stored).collect()
}

#[cfg(test)]
mod tests;
