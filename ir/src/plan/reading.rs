//! What a plan means, in terms of *flat*: each sink of a kernel is a statement with the whole body as
//! its thunk, and an epilogue is a map over the arrays that the sinks yield.

use std::collections::BTreeMap;

use super::{Block, Epilogue, Kernel, Program, Sink, Step, epilogue_space};
use crate::code::{Code, Instruction, Operand, Operation as CodeOperation, Register, Thunk};
use crate::flat::{
    self, Dimension, Operation, Size, Space, Statement, Type, Var, first_stored, storage,
};
use crate::{Scalar, ScalarOp, ScalarType, Span};

/// The program of *flat* that does what the plan does. Its interpreter is one of plans, too: it finds wrong reads, where
/// a back end might read anything.
pub fn read_back(plan: &Program) -> flat::Program {
    let mut reading = Reading { types: plan.types.clone() };
    let body = reading.block(&plan.body);
    let (inputs, outputs) = (plan.inputs.clone(), plan.outputs.clone());
    flat::Program { inputs, body, outputs, types: reading.types }
}

struct Reading {
    types: Vec<Type>,
}

impl Reading {
    fn block(&mut self, block: &Block) -> flat::Block {
        let mut statements = Vec::new();
        for step in &block.steps {
            self.step(step, &mut statements);
        }
        flat::Block { statements, results: block.results.clone() }
    }

    fn fresh(&mut self, element: ScalarType, extents: Vec<Size>) -> Var {
        self.types.push(Type { element, extents });
        Var(self.types.len() as u32 - 1)
    }

    fn step(&mut self, step: &Step, statements: &mut Vec<Statement>) {
        let span = match step {
            Step::Host { span, .. } | Step::Check { span, .. } => *span,
            _ => Span::default(),
        };
        let mut push = |results: &[Var], operation: Operation| {
            let results = results.to_vec();
            statements.push(Statement { results, operation, span });
        };
        match step {
            Step::Host { results, code, span: _ } => {
                let thunk = Thunk { indices: Vec::new(), code: code.clone() };
                push(results, Operation::Map { space: Vec::new(), thunk });
            }
            Step::Launch(kernel) => self.kernel(kernel, statements),
            Step::Reshape { result, array } => push(&[*result], Operation::Reshape(*array)),
            Step::Constant { result, elements } => {
                push(&[*result], Operation::Constant(elements.clone()));
            }
            Step::Check { condition, kind, span: _ } => {
                push(&[], Operation::Check(*condition, *kind));
            }
            Step::If { results, condition, then, otherwise } => {
                let (then, otherwise) = (self.block(then), self.block(otherwise));
                push(results, Operation::If { condition: *condition, then, otherwise });
            }
            Step::While { results, state, initial, condition, body, .. } => {
                let (condition, body) = (self.block(condition), self.block(body));
                let (state, initial) = (state.clone(), initial.clone());
                push(results, Operation::While { state, initial, condition, body, rows: None });
            }
            Step::Free(_) => {}
        }
    }

    fn kernel(&mut self, kernel: &Kernel, statements: &mut Vec<Statement>) {
        let space = kernel.space.clone();
        let outer = space[..space.len() - 1].to_vec();
        let over = |results: Vec<Operand>| Thunk {
            indices: kernel.indices.clone(),
            code: Code { instructions: kernel.body.instructions.clone(), results },
        };
        let mut known: BTreeMap<Register, (Var, ScalarType)> = BTreeMap::new();
        for sink in &kernel.sinks {
            let (results, operation) = match sink {
                Sink::Store { value, array } => {
                    let thunk = over(vec![*value]);
                    (vec![*array], Operation::Map { space: space.clone(), thunk })
                }
                Sink::Interleave { values, array } => {
                    let row = &self.types[array.0 as usize].extents[storage(&space).len()..];
                    (vec![*array], row_by_row(kernel, values, row))
                }
                Sink::Reduce { values, operator, start, registers, arrays } => {
                    let extents = storage(&outer);
                    // An epilogue over the points, beside a scan, does not see what their rows come to.
                    let over_rows = |epilogue: &Epilogue| epilogue.indices.len() < space.len();
                    let results = self.named(arrays, registers, &extents);
                    if kernel.epilogue.as_ref().is_none_or(over_rows) {
                        known.extend(held(registers, &results));
                    }
                    let (thunk, space) = (over(values.clone()), space.clone());
                    let (operator, start) = (operator.clone(), start.clone());
                    (results, Operation::Reduce { space, thunk, operator, start })
                }
                Sink::Scan {
                    values,
                    form,
                    from_right,
                    operator,
                    start,
                    full,
                    registers,
                    arrays,
                } => {
                    let results = self.named(arrays, registers, &storage(&space));
                    known.extend(held(registers, &results));
                    let operation = Operation::Scan {
                        space: space.clone(),
                        thunk: over(values.clone()),
                        form: *form,
                        from_right: *from_right,
                        operator: operator.clone(),
                        start: start.clone(),
                        full: *full,
                    };
                    (results, operation)
                }
                Sink::Filter { flag, counts, kept } => {
                    let total = *counts.last().expect("a filter counts");
                    let mut results = counts.clone();
                    let mut values = vec![*flag];
                    for (value, array) in kept {
                        values.push(*value);
                        results.push(*array);
                    }
                    // The epilogue sees the body's registers at the points that are kept.
                    if kernel.epilogue.is_some() {
                        for operand in &kernel.body.results {
                            let (Operand::Register(register), Some(ty)) =
                                (operand, self.register(kernel, operand))
                            else {
                                continue;
                            };
                            let array = self.fresh(ty, vec![Size::Var(total)]);
                            known.insert(*register, (array, ty));
                            values.push(*operand);
                            results.push(array);
                        }
                    }
                    (results, Operation::Filter { space: space.clone(), thunk: over(values) })
                }
                Sink::Scatter { target, values, destinations, operator, arrays } => {
                    let thunk = over(target.iter().chain(values).copied().collect());
                    let operation = Operation::Scatter {
                        space: space.clone(),
                        thunk,
                        destinations: destinations.clone(),
                        operator: operator.clone(),
                    };
                    (arrays.clone(), operation)
                }
                Sink::Sort { keys, descending, order } => {
                    let (thunk, space) = (over(keys.clone()), space.clone());
                    (vec![*order], Operation::Sort { space, thunk, descending: *descending })
                }
            };
            statements.push(Statement { results, operation, span: kernel.span });
        }
        if let (Some(epilogue), Some(space)) = (&kernel.epilogue, epilogue_space(kernel)) {
            statements.push(follow(epilogue, space, &known));
        }
    }

    /// Arrays for the results of a reduction or scan, also those that are not stored.
    fn named(
        &mut self,
        arrays: &[Option<Var>],
        registers: &[(Register, ScalarType)],
        extents: &[Size],
    ) -> Vec<Var> {
        let arrays = arrays.iter().enumerate();
        arrays
            .map(|(position, array)| {
                array.unwrap_or_else(|| self.fresh(registers[position].1, extents.to_vec()))
            })
            .collect()
    }

    fn register(&self, kernel: &Kernel, operand: &Operand) -> Option<ScalarType> {
        let Operand::Register(register) = operand else { return None };
        if kernel.indices.contains(register) {
            return Some(ScalarType::I64);
        }
        let results = kernel.body.instructions.iter().flat_map(|each| &each.results);
        results.into_iter().find(|(other, _)| other == register).map(|(_, ty)| *ty)
    }
}

/// Which arrays have what the registers of a sink hold.
fn held(
    registers: &[(Register, ScalarType)],
    arrays: &[Var],
) -> impl Iterator<Item = (Register, (Var, ScalarType))> {
    let registers = registers.iter().zip(arrays);
    registers.map(|((register, ty), array)| (*register, (*array, *ty)))
}

/// The epilogue as a map that reads what its registers hold.
fn follow(
    epilogue: &Epilogue,
    space: Space,
    known: &BTreeMap<Register, (Var, ScalarType)>,
) -> Statement {
    let stored = epilogue.indices[first_stored(&space)..].iter();
    let index: Vec<Operand> = stored.map(|register| Operand::Register(*register)).collect();
    let mut instructions: Vec<Instruction> = known
        .iter()
        .map(|(register, (array, ty))| Instruction {
            results: vec![(*register, *ty)],
            operation: CodeOperation::Read(*array, index.clone()),
            span: Span::default(),
        })
        .collect();
    instructions.extend(epilogue.code.instructions.iter().cloned());
    let results = epilogue.stores.iter().map(|(value, _)| *value).collect();
    let thunk = Thunk { indices: epilogue.indices.clone(), code: Code { instructions, results } };
    Statement {
        results: epilogue.stores.iter().map(|(_, array)| *array).collect(),
        operation: Operation::Map { space, thunk },
        span: Span::default(),
    }
}

/// A map over the elements of rows, each of which looks which of the values it is (Note [Interleaved results]).
fn row_by_row(kernel: &Kernel, values: &[Operand], row: &[Size]) -> Operation {
    let mut free = kernel.next_register().0;
    let mut fresh = || {
        free += 1;
        Register(free - 1)
    };
    let inner: Vec<Register> = row.iter().map(|_| fresh()).collect();
    let mut instructions = kernel.body.instructions.clone();
    let types: BTreeMap<Register, ScalarType> =
        instructions.iter().flat_map(|instruction| instruction.results.iter().copied()).collect();
    let ty = match values[0] {
        Operand::Scalar(scalar) => scalar.ty(),
        Operand::Register(register) => types.get(&register).copied().unwrap_or(ScalarType::I64),
    };
    let mut push = |ty: ScalarType, operation: CodeOperation| {
        let result = fresh();
        let results = vec![(result, ty)];
        instructions.push(Instruction { results, operation, span: kernel.span });
        Operand::Register(result)
    };
    let mut place = Operand::Scalar(Scalar::I64(0));
    for (index, extent) in inner.iter().zip(row) {
        let Size::Constant(extent) = extent else { continue };
        let scaled = CodeOperation::Scalar(
            ScalarOp::Mul,
            vec![place, Operand::Scalar(Scalar::I64(*extent))],
        );
        let scaled = push(ScalarType::I64, scaled);
        let operands = vec![scaled, Operand::Register(*index)];
        place = push(ScalarType::I64, CodeOperation::Scalar(ScalarOp::Add, operands));
    }
    let mut element = values[values.len() - 1];
    for (at, value) in values.iter().enumerate().rev().skip(1) {
        let number = Operand::Scalar(Scalar::I64(at as i64));
        let condition =
            push(ScalarType::Bool, CodeOperation::Scalar(ScalarOp::Eq, vec![place, number]));
        let side = |value: Operand| Code { instructions: Vec::new(), results: vec![value] };
        let (then, otherwise) = (side(*value), side(element));
        element = push(ty, CodeOperation::If { condition, then, otherwise });
    }
    let indices = kernel.indices.iter().copied().chain(inner).collect();
    let space = kernel.space.iter().copied().chain(row.iter().map(|size| Dimension::Dense(*size)));
    let code = Code { instructions, results: vec![element] };
    Operation::Map { space: space.collect(), thunk: Thunk { indices, code } }
}
