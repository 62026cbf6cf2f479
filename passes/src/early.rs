//! Reads elements of an array before they are replaced.
//!
//! A scalar stands in *flat* where it is first needed. If that is behind an update of the array that it is an element of, the
//! update cannot take place where the array is, for what was there before is read afterwards: it is of a copy, in each turn
//! of a loop. So such an element is read before the update, if then nobody looks at the old array any more.
//!
//! ```
//! use weft_ir::flat::parse;
//! use weft_passes::early::read_early;
//!
//! let program = parse("\
//! input a1: [a0]f64
//! input a2: i64
//! a3: [a0]f64 = scatter into a1 [1] (r0)
//!   yield 0i64 1.0f64
//! a4: f64 = map ()
//!   r0: i64 = read a2
//!   r1: f64 = read a1 r0
//!   r2: f64 = read a3 r0
//!   r3: f64 = sub r2 r1
//!   yield r3
//! output a4: f64
//! ").unwrap();
//! assert_eq!(read_early(program).to_string(), "\
//! input a1: [a0]f64
//! input a2: i64
//! a5: f64 = map ()
//!   r0: i64 = read a2
//!   r4: bool = ge r0 0i64
//!   r5: i64 = read a0
//!   r6: bool = lt r0 r5
//!   r7: bool = and r4 r6
//!   r8: f64 = if r7
//!     r9: f64 = read a1 r0
//!     yield r9
//!   else
//!     yield 0.0f64
//!   yield r8
//! a3: [a0]f64 = scatter into a1 [1] (r0)
//!   yield 0i64 1.0f64
//! a4: f64 = map ()
//!   r0: i64 = read a2
//!   r1: f64 = read a5
//!   r2: f64 = read a3 r0
//!   r3: f64 = sub r2 r1
//!   yield r3
//! output a4: f64
//! ");
//! ```
//!
//! Note [Read before replaced]. Only elements at places that the host can compute before the update are read early, without
//! anything that may fail. Whether there is such an element is asked again: the check that says so may stand in a branch that
//! is not taken, and a fault that nobody would have met must not be met. Where there is none, nobody looks at what is
//! yielded in its place.

use std::collections::{BTreeSet, HashMap, HashSet};

use weft_ir::code::{Code, Instruction, Operand, Operation as CodeOperation, Register, Thunk};
use weft_ir::flat::{Block, Dimension, Operation, Program, Size, Statement, Type, Var};
use weft_ir::math::can_fail;
use weft_ir::{Scalar, ScalarOp, ScalarType, Span};

use crate::fuse::uses::{other_uses, statement_uses};

/// How many instructions an index may take.
const MOST_INSTRUCTIONS: usize = 16;

/// The program with elements read before their arrays are updated.
pub fn read_early(mut program: Program) -> Program {
    of_program(&mut program);
    program
}

fn of_program(program: &mut Program) {
    let kept = program.outputs.iter().map(|leaf| leaf.data).collect();
    block(&mut program.body, &mut program.types, &kept);
}

/// `kept` are what is needed behind the block.
fn block(body: &mut Block, types: &mut Vec<Type>, kept: &BTreeSet<Var>) {
    for statement in &mut body.statements {
        match &mut statement.operation {
            Operation::If { then, otherwise, .. } => {
                block(then, types, &BTreeSet::new());
                block(otherwise, types, &BTreeSet::new());
            }
            Operation::While { body, rows, .. } => {
                block(body, types, &BTreeSet::new());
                if let Some(rows) = rows {
                    of_program(&mut rows.program);
                }
            }
            _ => {}
        }
    }
    let mut place = 0;
    while place < body.statements.len() {
        for array in updated(&body.statements[place]) {
            if kept.contains(&array) || body.results.contains(&array) {
                continue;
            }
            let reads = moved(&mut body.statements[place..], array, types);
            let count = reads.len();
            body.statements.splice(place..place, reads);
            place += count;
        }
        place += 1;
    }
}

/// The arrays that a statement replaces single elements of.
fn updated(statement: &Statement) -> Vec<Var> {
    match &statement.operation {
        Operation::Scatter { space, destinations, operator: None, .. }
            if space.iter().all(|it| *it == Dimension::Dense(Size::Constant(1))) =>
        {
            destinations.clone()
        }
        _ => Vec::new(),
    }
}

/// Statements that read the elements of an array that are read behind its update, which is the first of these; none if
/// the array is used there in another way too, or not at all. What read them before then reads what those yield.
fn moved(statements: &mut [Statement], array: Var, types: &mut Vec<Type>) -> Vec<Statement> {
    let mut later: HashSet<Var> = HashSet::new();
    let mut found: Vec<(usize, Register, Early)> = Vec::new();
    for (number, statement) in statements.iter().enumerate() {
        if number > 0 {
            let mut uses = false;
            other_uses(statement, types, &mut |var| uses |= var == array);
            if uses {
                return Vec::new();
            }
            let mut reads = false;
            statement_uses(statement, types, &mut |var| reads |= var == array);
            if reads {
                let Some(thunk) = thunk_of_host(&statement.operation) else { return Vec::new() };
                for (register, indices, ty) in reads_of(&thunk.code, array) {
                    let Some(early) = early(thunk, &indices, ty, &later) else { return Vec::new() };
                    found.push((number, register, early));
                }
            }
        }
        later.extend(&statement.results);
    }
    let mut moved = Vec::with_capacity(found.len());
    for (number, register, early) in found {
        let var = Var(types.len() as u32);
        types.push(Type { element: early.ty, extents: Vec::new() });
        let statement = &mut statements[number];
        moved.push(early.statement(array, var, types, statement.span));
        if let Some(thunk) = thunk_of_host_mut(&mut statement.operation) {
            thunk.code.walk_mut(&mut |instruction| {
                if instruction.results.first().is_some_and(|(result, _)| *result == register) {
                    instruction.operation = CodeOperation::Read(var, Vec::new());
                }
            });
        }
    }
    moved
}

/// The code of what is computed for a single point.
fn thunk_of_host(operation: &Operation) -> Option<&Thunk> {
    match operation {
        Operation::Map { space, thunk } | Operation::Scatter { space, thunk, .. }
            if space.iter().all(|it| *it == Dimension::Dense(Size::Constant(1))) =>
        {
            Some(thunk)
        }
        _ => None,
    }
}

fn thunk_of_host_mut(operation: &mut Operation) -> Option<&mut Thunk> {
    match operation {
        Operation::Map { thunk, .. } | Operation::Scatter { thunk, .. } => Some(thunk),
        _ => None,
    }
}

/// Where elements of an array are read: the register of each, its indices and its type.
fn reads_of(code: &Code, array: Var) -> Vec<(Register, Vec<Operand>, ScalarType)> {
    let read = |instruction: &Instruction| match &instruction.operation {
        CodeOperation::Read(var, indices) if *var == array => {
            let (register, ty) = instruction.results[0];
            Some((register, indices.clone(), ty))
        }
        _ => None,
    };
    code.walk().filter_map(read).collect()
}

/// An element that can be read early.
struct Early {
    /// What its indices are computed by, in order.
    instructions: Vec<Instruction>,
    indices: Vec<Operand>,
    ty: ScalarType,
    /// A register that is not used, nor those after it.
    free: Register,
}

/// The element with these indices, if the host can compute them without what there is only `later`.
fn early(
    thunk: &Thunk,
    indices: &[Operand],
    ty: ScalarType,
    later: &HashSet<Var>,
) -> Option<Early> {
    let made: HashMap<Register, &Instruction> = (thunk.code.walk())
        .flat_map(|instruction| instruction.results.iter().map(move |(it, _)| (*it, instruction)))
        .collect();
    let mut instructions: Vec<Instruction> = Vec::new();
    // Each register twice: to see what it is made of, and behind that itself.
    let mut open: Vec<(Register, bool)> = Vec::new();
    let registers = |operands: &[Operand]| -> Vec<(Register, bool)> {
        let register = |operand: &Operand| match operand {
            Operand::Register(register) => Some((*register, false)),
            Operand::Scalar(_) => None,
        };
        operands.iter().filter_map(register).collect()
    };
    open.extend(registers(indices));
    while let Some((register, is_made)) = open.pop() {
        if instructions.iter().any(|it| it.results[0].0 == register) {
            continue;
        }
        let instruction = *made.get(&register)?;
        if is_made {
            instructions.push(instruction.clone());
            continue;
        }
        if instructions.len() + open.len() > MOST_INSTRUCTIONS {
            return None;
        }
        open.push((register, true));
        match &instruction.operation {
            CodeOperation::Scalar(op, operands) if !can_fail(*op, instruction.results[0].1) => {
                open.extend(registers(operands));
            }
            CodeOperation::Read(var, indices) if indices.is_empty() && !later.contains(var) => {}
            _ => return None,
        }
    }
    let given = thunk.indices.iter().map(|Register(number)| Register(number + 1)).max();
    let free = given.unwrap_or(Register(0)).max(thunk.code.next_register());
    Some(Early { instructions, indices: indices.to_vec(), ty, free })
}

impl Early {
    /// The element if there is one, and zero if not (Note [Read before replaced]).
    fn statement(self, array: Var, result: Var, types: &[Type], span: Span) -> Statement {
        let Early { mut instructions, indices, ty, free: Register(mut next) } = self;
        let mut fresh = |operation: CodeOperation, ty: ScalarType, to: &mut Vec<Instruction>| {
            let register = Register(next);
            next += 1;
            to.push(Instruction { results: vec![(register, ty)], operation, span });
            Operand::Register(register)
        };
        let scalar = CodeOperation::Scalar;
        let mut there: Option<Operand> = None;
        for (&index, extent) in indices.iter().zip(&types[array.0 as usize].extents) {
            let zero = Operand::Scalar(Scalar::I64(0));
            let low =
                fresh(scalar(ScalarOp::Ge, vec![index, zero]), ScalarType::Bool, &mut instructions);
            let extent = match extent {
                Size::Constant(extent) => Operand::Scalar(Scalar::I64(*extent)),
                Size::Var(var) => {
                    fresh(CodeOperation::Read(*var, Vec::new()), ScalarType::I64, &mut instructions)
                }
            };
            let high = fresh(
                scalar(ScalarOp::Lt, vec![index, extent]),
                ScalarType::Bool,
                &mut instructions,
            );
            for one in [low, high] {
                there = Some(match there {
                    None => one,
                    Some(all) => fresh(
                        scalar(ScalarOp::And, vec![all, one]),
                        ScalarType::Bool,
                        &mut instructions,
                    ),
                });
            }
        }
        let condition = there.unwrap_or(Operand::Scalar(Scalar::Bool(true)));
        let chosen = Register(next);
        next += 1;
        let read = Instruction {
            results: vec![(Register(next), ty)],
            operation: CodeOperation::Read(array, indices),
            span,
        };
        let then =
            Code { instructions: vec![read], results: vec![Operand::Register(Register(next))] };
        let otherwise =
            Code { instructions: Vec::new(), results: vec![Operand::Scalar(Scalar::zero(ty))] };
        let operation = CodeOperation::If { condition, then, otherwise };
        instructions.push(Instruction { results: vec![(chosen, ty)], operation, span });
        let code = Code { instructions, results: vec![Operand::Register(chosen)] };
        let thunk = Thunk { indices: Vec::new(), code };
        Statement {
            results: vec![result],
            operation: Operation::Map { space: Vec::new(), thunk },
            span,
        }
    }
}
