//! A small interpreter of the intermediate language *nested*, so that a wrong answer names its pass.
//!
//! It evaluates every statement that it meets, in order and with obvious loops. What fails is a
//! fault, also where nothing needs the value (`Note [Faults without values]` in `weft_ir`).

mod array;
mod collective;
mod extents;
pub(crate) mod memory;

use std::sync::atomic::AtomicBool;

use weft_ir::nested::{Atom, Body, Function, Lambda, Operation, Program, RandomKind, Statement};
use weft_ir::nested::{Type, Var};
use weft_ir::{
    Array, Column, Exhausted, Fault, FaultKind, Scalar, ScalarType, Span, Stop, Value, math,
};

use crate::Limits;
use crate::machine::stack_address;
use crate::nested::memory::Memory;

/// Evaluates a checked program. `inputs` are the values of its parameters, and the results those of
/// its body: scalars, or arrays whose columns hold no tuples.
///
/// The caller provides the stack that `limits` says.
///
/// # Errors
/// A fault with the span of the statement that failed, an exhausted limit, or the interrupt that
/// `cancel` asked for.
///
/// # Panics
/// If the program is not accepted by [`weft_ir::nested::check`], or the inputs are not of the types
/// of the parameters.
pub fn run_nested(
    program: &Program,
    inputs: &[Value],
    limits: &Limits,
    cancel: &AtomicBool,
) -> Result<Vec<Value>, Stop> {
    assert_eq!(inputs.len(), program.params.len(), "as many inputs as parameters");
    let mut evaluator = Evaluator {
        functions: &program.functions,
        locals: program.functions.iter().map(locals).collect(),
        values: vec![None; program.variables as usize],
        memory: Memory::new(limits.memory, cancel),
        depth: 0,
        deepest: limits.recursion,
        stack_for_calls: limits.stack_for_calls(),
        stack_start: stack_address(),
    };
    for (&(var, _), input) in program.params.iter().zip(inputs) {
        evaluator.bind(var, input.clone());
    }
    evaluator.body(&program.body)
}

/// The state of a run.
struct Evaluator<'a> {
    functions: &'a [Function],
    /// For each function the variables that are bound in it.
    locals: Vec<Vec<Var>>,
    /// The value that each variable was given last.
    values: Vec<Option<Value>>,
    memory: Memory<'a>,
    /// How deep calls are nested, and how deep they may be.
    depth: u64,
    deepest: u64,
    /// The bytes that they may take of the host's stack.
    stack_for_calls: usize,
    /// The address of a local variable of the run's first Rust frame.
    stack_start: usize,
}

impl Evaluator<'_> {
    fn body(&mut self, body: &Body) -> Result<Vec<Value>, Stop> {
        for statement in &body.statements {
            self.statement(statement)?;
        }
        Ok(self.all(&body.results))
    }

    fn statement(&mut self, statement: &Statement) -> Result<(), Stop> {
        self.memory.step()?;
        let results = self.operation(&statement.operation, &statement.results, statement.span)?;
        assert_eq!(results.len(), statement.results.len(), "as many results as variables");
        for (&(var, _), value) in statement.results.iter().zip(results) {
            self.bind(var, value);
        }
        Ok(())
    }

    fn operation(
        &mut self,
        operation: &Operation,
        results: &[(Var, Type)],
        span: Span,
    ) -> Result<Vec<Value>, Stop> {
        match operation {
            Operation::If { condition, then, otherwise } => {
                let branch = if self.bool(*condition) { then } else { otherwise };
                self.body(branch)
            }
            Operation::While { state, initial, condition, body } => {
                let mut values = self.all(initial);
                loop {
                    self.memory.step()?;
                    self.bind_all(state, &values);
                    match self.body(condition)?[..] {
                        [Value::Scalar(Scalar::Bool(true))] => values = self.body(body)?,
                        [Value::Scalar(Scalar::Bool(false))] => return Ok(values),
                        ref other => panic!("a condition is {other:?}"),
                    }
                }
            }
            Operation::For { index, count, state, initial, body } => {
                let mut values = self.all(initial);
                for step in 0..self.integer(*count) {
                    self.memory.step()?;
                    self.bind_all(state, &values);
                    self.bind(*index, Value::Scalar(Scalar::I64(step)));
                    values = self.body(body)?;
                }
                Ok(values)
            }
            Operation::Call(function, atoms) => self.call(function.0 as usize, atoms, span),
            Operation::Assert { condition, kind, values } => {
                if self.bool(*condition) {
                    Ok(self.all(values))
                } else {
                    fault(*kind, span)
                }
            }
            Operation::Map(lambda, arrays) => self.map(lambda, arrays, results, span),
            Operation::Fold { operator, start, arrays } => self.fold(operator, start, arrays, span),
            Operation::Scan { form, from_right, operator, start, arrays } => {
                let direction = collective::Direction::new(*from_right, operator);
                self.scan(*form, direction, start, arrays, results, span)
            }
            Operation::Pack { flags, arrays } => self.pack(*flags, arrays, span),
            Operation::Scatter { destinations, indices, values, operator, drops } => {
                let send = collective::Send { operator: operator.as_ref(), drops: *drops, span };
                self.scatter(destinations, *indices, values, &send, results)
            }
            single => Ok(vec![self.single(single, results[0].1, span)?]),
        }
    }

    /// An operation without bodies that has one result, of the given type.
    fn single(&mut self, operation: &Operation, ty: Type, span: Span) -> Result<Value, Stop> {
        match operation {
            Operation::Scalar(op, atoms) => {
                let operands: Vec<Scalar> = atoms.iter().map(|atom| self.scalar(*atom)).collect();
                match math::eval(*op, &operands) {
                    Ok(scalar) => Ok(Value::Scalar(scalar)),
                    Err(trap) => fault(FaultKind::of_trap(&trap), span),
                }
            }
            Operation::Random(kind, atoms) => self.random(*kind, atoms, span),
            Operation::Length(array) => Ok(integer(self.array(*array).len() as i64)),
            Operation::Index(array, indices) => {
                let indices: Vec<i64> = indices.iter().map(|index| self.integer(*index)).collect();
                array::index(&self.array(*array), &indices, span)
            }
            Operation::Update { array, indices, value } => {
                let indices: Vec<i64> = indices.iter().map(|index| self.integer(*index)).collect();
                let (array, value) = (self.array(*array), self.value(*value));
                self.memory.admit(array.bytes() as u128 + value.bytes() as u128, span)?;
                array::update(&array, &indices, &value, ty.element(), span).map(of_column)
            }
            Operation::Literal(atoms) => {
                let values = self.all(atoms);
                self.collect(ty, values.into_iter().map(Ok), span)
            }
            Operation::Constant(column) => Ok(of_column(column.clone())),
            Operation::Iota(length) => {
                let length = self.length(*length, span)?;
                self.memory.admit(length as u128 * 8, span)?;
                let integers: Vec<i64> = (0..length as i64).collect();
                Ok(of_column(Column::I64(integers.into())))
            }
            Operation::Replicate(length, value) => {
                let (length, value) = (self.length(*length, span)?, self.value(*value));
                self.memory.admit(length as u128 * (value.bytes() as u128 + 8), span)?;
                if let (0, Value::Array(array)) = (length, &value) {
                    // No rows still have the extent that they would have.
                    let inner = Box::new(array.elements.slice(0, 0));
                    return Ok(of_column(Column::Dense { len: 0, extent: array.len(), inner }));
                }
                self.collect(ty, (0..length).map(|_| Ok(value.clone())), span)
            }
            Operation::SortOrder { keys, descending } => self.sort_order(keys, *descending, span),
            Operation::Transpose(array) => {
                let array = self.array(*array);
                let width = array::regular_extent(&array, span)?;
                let cells = (array.len() as u128 + 1) * (width as u128 + 1);
                self.memory.admit(cells * 8 + array.bytes() as u128, span)?;
                Ok(of_column(array::transpose(&array, width)))
            }
            Operation::Reshape { array, from, extents } => {
                let mut lengths = Vec::new();
                for extent in extents {
                    lengths.push(self.length(*extent, span)?);
                }
                let rows = lengths[..lengths.len() - 1]
                    .iter()
                    .fold(1_u128, |rows, extent| rows.saturating_mul(*extent as u128));
                self.memory.admit(rows.saturating_mul(8), span)?;
                array::reshape(&self.array(*array), *from, &lengths, span).map(of_column)
            }
            Operation::Extent(array, axis) => {
                array::extent(&self.array(*array), *axis, span).map(|extent| integer(extent as i64))
            }
            Operation::Flatten(array) => Ok(of_column(self.array(*array).flatten())),
            Operation::Segments(lengths, array) => {
                let (lengths, array) = (self.array(*lengths), self.array(*array));
                self.memory.admit(lengths.len() as u128 * 8, span)?;
                array::segments(&lengths, &array, span).map(of_column)
            }
            Operation::Concat(first, second) => {
                let (first, second) = (self.array(*first), self.array(*second));
                self.memory.admit(first.bytes() as u128 + second.bytes() as u128, span)?;
                Ok(of_column(array::concat(&[first, second], ty.element())))
            }
            Operation::If { .. }
            | Operation::While { .. }
            | Operation::For { .. }
            | Operation::Call(..)
            | Operation::Assert { .. }
            | Operation::Map(..)
            | Operation::Fold { .. }
            | Operation::Scan { .. }
            | Operation::Pack { .. }
            | Operation::Scatter { .. } => unreachable!("handled with several results"),
        }
    }

    fn call(&mut self, function: usize, atoms: &[Atom], span: Span) -> Result<Vec<Value>, Stop> {
        let arguments = self.all(atoms);
        self.depth += 1;
        let used = self.stack_start.abs_diff(stack_address());
        let depth = self.depth;
        if depth > self.deepest {
            return Err(Exhausted::Recursion { depth, span }.into());
        }
        if used > self.stack_for_calls {
            return Err(Exhausted::Stack { depth, bytes: self.stack_for_calls as u64, span }.into());
        }
        // The callee may be a function that is active already: its variables come back afterwards.
        let locals = &self.locals[function];
        let saved: Vec<Option<Value>> =
            locals.iter().map(|var| self.values[var.0 as usize].take()).collect();
        let callee = &self.functions[function];
        self.bind_all(&callee.params, &arguments);
        let results = self.body(&callee.body)?;
        for (var, value) in self.locals[function].iter().zip(saved) {
            self.values[var.0 as usize] = value;
        }
        self.depth -= 1;
        Ok(results)
    }

    fn random(&self, kind: RandomKind, atoms: &[Atom], span: Span) -> Result<Value, Stop> {
        let integers: Vec<i64> = atoms.iter().map(|atom| self.integer(*atom)).collect();
        let scalar = match (kind, &integers[..]) {
            (RandomKind::UniformF64, &[seed, index]) => {
                Scalar::F64(math::random::uniform_f64(seed, index as u64))
            }
            (RandomKind::UniformF32, &[seed, index]) => {
                Scalar::F32(math::random::uniform_f32(seed, index as u64))
            }
            (RandomKind::Int, &[_, _, low, high]) if low >= high => {
                return fault(FaultKind::BadArgument, span);
            }
            (RandomKind::Int, &[seed, index, low, high]) => {
                Scalar::I64(math::random::int_below(seed, index as u64, low, high))
            }
            (kind, operands) => panic!("{kind} of {operands:?}"),
        };
        Ok(Value::Scalar(scalar))
    }

    /// The results of a lambda.
    fn apply(&mut self, lambda: &Lambda, arguments: &[Value]) -> Result<Vec<Value>, Stop> {
        self.memory.step()?;
        self.bind_all(&lambda.params, arguments);
        self.body(&lambda.body)
    }

    fn bind(&mut self, var: Var, value: Value) {
        self.values[var.0 as usize] = Some(value);
    }

    fn bind_all(&mut self, vars: &[(Var, Type)], values: &[Value]) {
        for (&(var, _), value) in vars.iter().zip(values) {
            self.bind(var, value.clone());
        }
    }

    fn value(&self, atom: Atom) -> Value {
        match atom {
            Atom::Scalar(scalar) => Value::Scalar(scalar),
            Atom::Var(var) => match &self.values[var.0 as usize] {
                Some(value) => value.clone(),
                None => panic!("{var} has no value"),
            },
        }
    }

    fn all(&self, atoms: &[Atom]) -> Vec<Value> {
        atoms.iter().map(|atom| self.value(*atom)).collect()
    }

    fn scalar(&self, atom: Atom) -> Scalar {
        match self.value(atom) {
            Value::Scalar(scalar) => scalar,
            other => panic!("{atom} is no scalar: {other:?}"),
        }
    }

    fn bool(&self, atom: Atom) -> bool {
        match self.scalar(atom) {
            Scalar::Bool(value) => value,
            other => panic!("{atom} is no bool: {other}"),
        }
    }

    fn integer(&self, atom: Atom) -> i64 {
        match self.scalar(atom) {
            Scalar::I64(value) => value,
            other => panic!("{atom} is no i64: {other}"),
        }
    }

    /// A length, which the program should have checked not to be negative.
    fn length(&self, atom: Atom, span: Span) -> Result<usize, Stop> {
        usize::try_from(self.integer(atom)).or_else(|_| fault(FaultKind::BadLength, span))
    }

    fn array(&self, atom: Atom) -> Column {
        match self.value(atom) {
            Value::Array(array) => array.elements.clone(),
            other => panic!("{atom} is no array: {other:?}"),
        }
    }
}

/// The variables that are bound in a function.
fn locals(function: &Function) -> Vec<Var> {
    let mut vars: Vec<Var> = function.params.iter().map(|(var, _)| *var).collect();
    collect_bound(&function.body, &mut vars);
    vars
}

fn collect_bound(body: &Body, vars: &mut Vec<Var>) {
    for statement in &body.statements {
        vars.extend(statement.results.iter().map(|(var, _)| *var));
        statement.operation.for_each_bound(&mut |var, _| vars.push(*var));
        statement.operation.for_each_body(&mut |body| collect_bound(body, vars));
    }
}

fn fault<T>(kind: FaultKind, span: Span) -> Result<T, Stop> {
    Err(Fault { kind, span }.into())
}

fn integer(value: i64) -> Value {
    Value::Scalar(Scalar::I64(value))
}

fn of_column(column: Column) -> Value {
    Value::Array(std::sync::Arc::new(Array::new(column)))
}

/// The type in the form that builders of columns take.
fn host_type(ty: Type) -> weft_ir::Type {
    let scalar: ScalarType = ty.element;
    (0..ty.rank).fold(weft_ir::Type::Scalar(scalar), |ty, _| weft_ir::Type::array(ty))
}

#[cfg(test)]
mod tests;
