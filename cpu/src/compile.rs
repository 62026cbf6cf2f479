//! Compiles the code of a thunk to a routine.
//!
//! Conditionals whose sides are short run on all lanes with a select behind them; their checks are
//! guarded by the condition. Others become branches, loops become subroutines.

mod conditional;
mod registers;
mod repetition;
mod scope;

use weft_ir::code::{Code, Operand, Operation, Operator, Register};
use weft_ir::{Scalar, ScalarOp, ScalarType};

use crate::isa::{Arguments, Slot};
use crate::lanes::LaneType;
use crate::operators::{operator, random};
use crate::routine::{Index, Instruction, Read, Routine, level};
use scope::Scope;

/// What is known of a register while code is compiled.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// Where it is.
    pub(crate) place: Place,
    /// How often it changes ([`level`]).
    pub(crate) level: usize,
}

/// Where a value is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    /// Known now.
    Constant(Scalar),
    /// In a register.
    Slot(Slot),
    /// `base + coefficient · lane`.
    Affine { base: Slot, coefficient: i64 },
}

/// How an index of a point runs in a traversal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Running {
    /// The same for all lanes, changing at that level.
    Uniform(usize),
    /// It counts along the lanes.
    Counting,
    /// Any way.
    Varying,
}

/// A routine with the registers that its caller fills.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compiled {
    /// The code.
    pub(crate) routine: Routine,
    /// Per index of a point its register: that of the base, if it counts.
    pub(crate) indices: Vec<Slot>,
    /// Per input its register, varying.
    pub(crate) inputs: Vec<Slot>,
    /// Whether each index is needed even if all reads at the point find it by its position.
    pub(crate) needed: Vec<bool>,
    /// The arrays that are read at the point.
    pub(crate) at_point: Vec<usize>,
    /// The native function of the same code.
    pub(crate) native: crate::native::Slot,
}

/// What the code of a thunk sees.
#[derive(Clone, Debug)]
pub(crate) struct Signature<'a> {
    /// The indices of a point, and how they run.
    pub(crate) indices: Vec<(Register, Running)>,
    /// Which of them address the storage.
    pub(crate) first_stored: usize,
    /// Registers that the caller fills with lanes, at the level of a block or a step.
    pub(crate) inputs: Vec<(Register, ScalarType)>,
    /// The level of the inputs.
    pub(crate) input_level: usize,
    /// The types of the arrays' elements, by number, and whether they are scalars.
    pub(crate) arrays: &'a [(ScalarType, bool)],
    /// What a native function combines its results with, step by step along the last index.
    pub(crate) folds: &'a [Operator],
    /// Whether it combines them to what whole rows come to, instead.
    pub(crate) rows: bool,
    /// How many of its results are the elements of a row each, as in [`weft_codegen::Lanes`].
    pub(crate) widths: &'a [usize],
}

/// Compiles code whose results are the operands.
pub(crate) fn compile(signature: &Signature<'_>, code: &Code, results: &[Operand]) -> Compiled {
    let mut builder = Builder { signature, scopes: vec![Scope::default()] };
    builder.top().full = true;
    let mut indices = Vec::new();
    for &(register, running) in &signature.indices {
        let (uniform, index_level) = match running {
            Running::Uniform(at) => (true, at),
            Running::Counting => (true, level::BLOCK),
            Running::Varying => (false, level::BLOCK),
        };
        let slot = builder.top().pinned(LaneType::I64, uniform);
        let place = match running {
            Running::Counting => Place::Affine { base: slot, coefficient: 1 },
            Running::Uniform(_) | Running::Varying => Place::Slot(slot),
        };
        builder.top().values.insert(register, Value { place, level: index_level });
        indices.push(slot);
    }
    let mut inputs = Vec::new();
    for &(register, ty) in &signature.inputs {
        let slot = builder.top().pinned(LaneType::of(ty), false);
        let value = Value { place: Place::Slot(slot), level: signature.input_level };
        builder.top().values.insert(register, value);
        inputs.push(slot);
    }
    builder.code(code);
    let slots: Vec<Slot> = results.iter().map(|&operand| builder.slot_of(operand)).collect();
    let scope = builder.scopes.pop().expect("the outermost scope");
    let at_point = scope.at_point.clone();
    let (routine, names) = registers::assign(scope, slots);
    let shared = routine.results.iter().map(|slot| slot.uniform).collect();
    Compiled {
        native: crate::native::Slot::new(signature, code, results, shared),
        needed: indices.iter().map(|&slot| names.is_needed(slot)).collect(),
        indices: indices.into_iter().map(|slot| names.slot(slot)).collect(),
        inputs: inputs.into_iter().map(|slot| names.slot(slot)).collect(),
        routine,
        at_point,
    }
}

/// A compilation in progress.
struct Builder<'a> {
    signature: &'a Signature<'a>,
    /// The subroutines that are open, outermost first.
    scopes: Vec<Scope>,
}

impl Builder<'_> {
    fn top(&mut self) -> &mut Scope {
        self.scopes.last_mut().expect("a scope is open")
    }

    fn code(&mut self, code: &Code) {
        for instruction in &code.instructions {
            let span = instruction.span.start;
            match &instruction.operation {
                Operation::Scalar(op, operands) => {
                    let value = self.scalar(*op, operands, span);
                    self.top().values.insert(instruction.results[0].0, value);
                }
                Operation::Random(kind, operands) => {
                    let values: Vec<Value> = operands.iter().map(|&at| self.value(at)).collect();
                    let ty = LaneType::of(instruction.results[0].1);
                    let value = self.apply(random(*kind), ty, &values, span);
                    self.top().values.insert(instruction.results[0].0, value);
                }
                Operation::Read(array, indices) => {
                    let value = self.read(array.0 as usize, indices);
                    self.top().values.insert(instruction.results[0].0, value);
                }
                Operation::Check(condition, kind) => {
                    let mut condition = self.value(*condition);
                    if condition.place == Place::Constant(Scalar::Bool(true)) {
                        continue;
                    }
                    if let Some(guard) = self.top().guard {
                        let not = self.operator(ScalarOp::Not, &[guard], span);
                        condition = self.operator(ScalarOp::Or, &[not, condition], span);
                    }
                    let slot = self.slot(condition);
                    let check = Instruction::Check { condition: slot, kind: *kind, span };
                    let scope = self.top();
                    scope.partial = true;
                    let at = scope.emit(condition.level, check);
                    scope.check_level = scope.check_level.max(at);
                }
                Operation::If { condition, then, otherwise } => {
                    self.conditional(*condition, then, otherwise, &instruction.results, span);
                }
                Operation::While { state, initial, condition, body } => {
                    self.repetition(state, initial, condition, body, &instruction.results);
                }
            }
        }
    }

    fn value(&mut self, operand: Operand) -> Value {
        match operand {
            Operand::Scalar(scalar) => Value { place: Place::Constant(scalar), level: 0 },
            Operand::Register(register) => {
                let depth = self.scopes.len() - 1;
                self.look_up(register, depth)
            }
        }
    }

    /// The register that holds a value; emits what makes it one.
    fn slot(&mut self, value: Value) -> Slot {
        self.top().slot(value)
    }

    fn slot_of(&mut self, operand: Operand) -> Slot {
        let value = self.value(operand);
        self.slot(value)
    }

    fn scalar(&mut self, op: ScalarOp, operands: &[Operand], span: u32) -> Value {
        let values: Vec<Value> = operands.iter().map(|&operand| self.value(operand)).collect();
        if let Some(value) = self.affine(op, &values, span) {
            return value;
        }
        self.operator(op, &values, span)
    }

    fn operator(&mut self, op: ScalarOp, values: &[Value], span: u32) -> Value {
        let types: Vec<ScalarType> = values.iter().map(|value| value.scalar_type()).collect();
        let result = weft_ir::math::result_type(op, &types).unwrap_or_else(|| {
            panic!("{op:?} does not admit operands of types {types:?}");
        });
        let loop_of = operator(op, &types);
        let ty = LaneType::of(result);
        let last = *types.last().expect("an operator has operands");
        let [first, second] = match (self.top().guard, values) {
            (Some(guard), [first, second]) if weft_ir::math::can_fail(op, last) => {
                // The lanes that the guard keeps away divide by one.
                let one = weft_ir::math::eval(ScalarOp::Cast(last), &[Scalar::I64(1)]);
                let one = one.expect("a cast does not fail");
                let one = Value { place: Place::Constant(one), level: 0 };
                [*first, self.operator(ScalarOp::Select, &[guard, *second, one], span)]
            }
            _ => {
                if weft_ir::math::can_fail(op, last) {
                    self.top().partial = true;
                }
                return self.apply(loop_of, ty, values, span);
            }
        };
        self.top().partial = true;
        self.apply(loop_of, ty, &[first, second], span)
    }

    fn apply(
        &mut self,
        apply: crate::isa::Apply,
        ty: LaneType,
        values: &[Value],
        span: u32,
    ) -> Value {
        let slots: Vec<Slot> = values.iter().map(|&value| self.slot(value)).collect();
        let uniform = slots.iter().all(|slot| slot.uniform);
        let at = values.iter().map(|value| value.level).max().unwrap_or(0);
        let scope = self.top();
        let out = scope.fresh(ty, uniform);
        let mut operands = [out; 4];
        operands[..slots.len()].copy_from_slice(&slots);
        let at = scope
            .emit(at, Instruction::Apply { apply, arguments: Arguments { out, operands }, span });
        Value { place: Place::Slot(out), level: at }
    }

    /// Sums and products of counting indices stay so.
    fn affine(&mut self, op: ScalarOp, values: &[Value], span: u32) -> Option<Value> {
        let counts = |value: &Value| matches!(value.place, Place::Affine { .. });
        if !values.iter().any(counts) || !values.iter().all(Value::is_uniform_or_affine) {
            return None;
        }
        let base = |value: &Value| match value.place {
            Place::Affine { base, .. } => Value { place: Place::Slot(base), level: value.level },
            Place::Constant(_) | Place::Slot(_) => *value,
        };
        let coefficient = |value: &Value| match value.place {
            Place::Affine { coefficient, .. } => coefficient,
            Place::Constant(_) | Place::Slot(_) => 0,
        };
        let coefficient = match (op, values) {
            (ScalarOp::Add, [a, b]) => coefficient(a).wrapping_add(coefficient(b)),
            (ScalarOp::Sub, [a, b]) => coefficient(a).wrapping_sub(coefficient(b)),
            (ScalarOp::Neg, [a]) => coefficient(a).wrapping_neg(),
            (ScalarOp::Mul, [a, b]) => match (a.place, b.place) {
                (Place::Constant(Scalar::I64(factor)), _) => factor.wrapping_mul(coefficient(b)),
                (_, Place::Constant(Scalar::I64(factor))) => factor.wrapping_mul(coefficient(a)),
                _ => return None,
            },
            (ScalarOp::Cast(ScalarType::I64), [a]) => return Some(*a),
            _ => return None,
        };
        let bases: Vec<Value> = values.iter().map(base).collect();
        let sum = self.operator(op, &bases, span);
        match sum.place {
            Place::Slot(base) if coefficient != 0 => {
                Some(Value { place: Place::Affine { base, coefficient }, level: sum.level })
            }
            _ => Some(sum),
        }
    }

    fn read(&mut self, array: usize, indices: &[Operand]) -> Value {
        let (ty, is_scalar) = self.signature.arrays[array];
        let values: Vec<Value> = indices.iter().map(|&operand| self.value(operand)).collect();
        let mut at = values.iter().map(|value| value.level).max().unwrap_or(0);
        let stored = &self.signature.indices[self.signature.first_stored..];
        let along = !is_scalar
            && stored.len() == indices.len()
            && stored
                .iter()
                .zip(indices)
                .all(|((register, _), operand)| *operand == Operand::Register(*register))
            && stored.iter().any(|(_, running)| *running == Running::Varying)
            && stored.iter().all(|(_, running)| !matches!(running, Running::Uniform(_)));
        if along {
            // Native functions read it where the point is in branches too, whose lanes are all there.
            self.scopes[0].at_point.push(array);
        }
        let at_point = along && scope_is_full(&self.scopes);
        if at_point {
            // Bodies of branches and loops have levels of their own, and what they take says where
            // they stand: an index that varies does so from block to block.
            if self.scopes.len() == 1 {
                at = at.max(level::BLOCK);
            }
        }
        let scope = self.top();
        let indices: Vec<Index> = values
            .iter()
            .map(|&value| match value.place {
                Place::Affine { base, coefficient } => Index::Affine(base, coefficient),
                Place::Constant(_) | Place::Slot(_) => match scope.slot(value) {
                    slot if slot.uniform => Index::Uniform(slot),
                    slot => Index::Varying(slot),
                },
            })
            .collect();
        let uniform = indices.iter().all(|index| matches!(index, Index::Uniform(_)));
        let out = scope.fresh(LaneType::of(ty), uniform);
        let at = scope.emit(at, Instruction::Read(Read { out, array, indices, at_point }));
        Value { place: Place::Slot(out), level: at }
    }
}

/// Whether the lanes of the innermost scope are those of the block.
fn scope_is_full(scopes: &[Scope]) -> bool {
    scopes.iter().all(|scope| scope.full)
}

impl Value {
    fn is_uniform_or_affine(&self) -> bool {
        match self.place {
            Place::Constant(_) | Place::Affine { .. } => true,
            Place::Slot(slot) => slot.uniform,
        }
    }

    /// A scalar type with the lanes of the value; a `char` counts as the `u8` that it is.
    fn scalar_type(&self) -> ScalarType {
        match self.place {
            Place::Constant(scalar) => LaneType::of(scalar.ty()).scalar_type(),
            Place::Slot(slot) => slot.ty.scalar_type(),
            Place::Affine { .. } => ScalarType::I64,
        }
    }
}
