//! Scalar code: resolved once per statement into steps on numbered slots, then run for every point.

use std::collections::BTreeMap;

use weft_ir::flat::{
    Code, CodeOperation, Instruction, Operand, Operator, Register, Thunk, Type, Var,
};
use weft_ir::math::{Binary, Ternary, Unary};
use weft_ir::nested::RandomKind;
use weft_ir::{Fault, FaultKind, Scalar, ScalarType, Span, Stop, math};

use crate::flat::Machine;

/// A thunk, resolved.
pub(super) struct ThunkFunction(Function);

impl ThunkFunction {
    /// The thunk of a checked program whose variables have these types.
    pub(super) fn new(thunk: &Thunk, types: &[Type]) -> ThunkFunction {
        let params = thunk.indices.iter().map(|index| (*index, ScalarType::I64));
        ThunkFunction(Function::new(params, &thunk.code, types))
    }

    /// The types of the results.
    pub(super) fn types(&self) -> Vec<ScalarType> {
        self.0.types.clone()
    }

    /// Slots for [`ThunkFunction::at`].
    pub(super) fn frame(&self) -> Frame {
        self.0.frame()
    }

    /// The results at a point.
    pub(super) fn at<'f>(
        &self,
        machine: &mut Machine<'_>,
        point: &[i64],
        frame: &'f mut Frame,
    ) -> Result<&'f [Scalar], Stop> {
        for (slot, index) in frame.slots.iter_mut().zip(point) {
            *slot = Scalar::I64(*index);
        }
        self.0.run(machine, frame)
    }

    /// The results at a point that is given by the indices along the dimensions but the last, and
    /// along the last.
    pub(super) fn at_row<'f>(
        &self,
        machine: &mut Machine<'_>,
        outer: &[i64],
        last: i64,
        frame: &'f mut Frame,
    ) -> Result<&'f [Scalar], Stop> {
        frame.slots[outer.len()] = Scalar::I64(last);
        self.at(machine, outer, frame)
    }
}

/// A binary operator on tuples of scalars, resolved.
pub(super) struct OperatorFunction {
    function: Function,
    frame: Frame,
}

impl OperatorFunction {
    /// The operator of a checked program whose variables have these types.
    pub(super) fn new(operator: &Operator, types: &[Type]) -> OperatorFunction {
        let params = operator.left.iter().chain(&operator.right).copied();
        let function = Function::new(params, &operator.code, types);
        let frame = function.frame();
        OperatorFunction { function, frame }
    }

    /// The combination of two values.
    pub(super) fn combine(
        &mut self,
        machine: &mut Machine<'_>,
        left: &[Scalar],
        right: &[Scalar],
    ) -> Result<Vec<Scalar>, Stop> {
        machine.memory.step()?;
        let (first, rest) = self.frame.slots.split_at_mut(left.len());
        first.copy_from_slice(left);
        rest[..right.len()].copy_from_slice(right);
        self.function.run(machine, &mut self.frame).map(<[Scalar]>::to_vec)
    }
}

/// What a function computes with.
pub(super) struct Frame {
    /// The parameters, then the registers.
    slots: Vec<Scalar>,
    results: Vec<Scalar>,
}

/// Code, resolved. Its parameters are the first slots.
struct Function {
    body: Steps,
    types: Vec<ScalarType>,
    slots: usize,
}

impl Function {
    fn new(
        params: impl Iterator<Item = (Register, ScalarType)>,
        code: &Code,
        types: &[Type],
    ) -> Function {
        let mut resolver = Resolver { types, slots: BTreeMap::new() };
        for (register, ty) in params {
            resolver.slot(register, ty);
        }
        let body = resolver.code(code);
        let types = code.results.iter().map(|operand| resolver.ty(operand)).collect();
        Function { body, types, slots: resolver.slots.len() }
    }

    fn frame(&self) -> Frame {
        Frame { slots: vec![Scalar::Bool(false); self.slots], results: Vec::new() }
    }

    fn run<'f>(
        &self,
        machine: &mut Machine<'_>,
        frame: &'f mut Frame,
    ) -> Result<&'f [Scalar], Stop> {
        self.body.run(machine, &mut frame.slots)?;
        frame.results.clear();
        frame.results.extend(self.body.results.iter().map(|source| source.of(&frame.slots)));
        Ok(&frame.results)
    }
}

/// Instructions in order, and what they yield.
struct Steps {
    steps: Vec<Step>,
    results: Vec<Source>,
}

/// Where an operand comes from.
#[derive(Clone, Copy)]
enum Source {
    Slot(usize),
    Constant(Scalar),
}

impl Source {
    fn of(self, slots: &[Scalar]) -> Scalar {
        match self {
            Source::Slot(slot) => slots[slot],
            Source::Constant(scalar) => scalar,
        }
    }

    fn integer(self, slots: &[Scalar]) -> i64 {
        match self.of(slots) {
            Scalar::I64(value) => value,
            other => panic!("{other:?} is no i64"),
        }
    }

    fn bool(self, slots: &[Scalar]) -> bool {
        match self.of(slots) {
            Scalar::Bool(value) => value,
            other => panic!("{other:?} is no bool"),
        }
    }
}

struct Step {
    action: Action,
    /// The slots of the results.
    results: Vec<usize>,
    span: Span,
}

enum Action {
    Unary(Unary, Source),
    Binary(Binary, [Source; 2]),
    Ternary(Ternary, [Source; 3]),
    Random(RandomKind, Vec<Source>),
    Read(Var, Vec<Source>),
    Check(Source, FaultKind),
    If { condition: Source, then: Steps, otherwise: Steps },
    While { state: Vec<usize>, initial: Vec<Source>, condition: Steps, body: Steps },
}

impl Steps {
    fn run(&self, machine: &mut Machine<'_>, slots: &mut [Scalar]) -> Result<(), Stop> {
        self.steps.iter().try_for_each(|step| step.run(machine, slots))
    }

    fn results(&self, slots: &[Scalar]) -> Vec<Scalar> {
        self.results.iter().map(|source| source.of(slots)).collect()
    }
}

impl Step {
    fn run(&self, machine: &mut Machine<'_>, slots: &mut [Scalar]) -> Result<(), Stop> {
        let fault = |kind| Stop::Fault(Fault { kind, span: self.span });
        let result = match &self.action {
            Action::Unary(function, a) => function(a.of(slots)),
            Action::Binary(function, [a, b]) => function(a.of(slots), b.of(slots)),
            Action::Ternary(function, [a, b, c]) => function(a.of(slots), b.of(slots), c.of(slots)),
            Action::Random(kind, operands) => Ok(random(*kind, operands, slots).map_err(fault)?),
            Action::Read(array, indices) => Ok(read(machine, *array, indices, slots)),
            Action::Check(condition, kind) => {
                return if condition.bool(slots) { Ok(()) } else { Err(fault(*kind)) };
            }
            Action::If { condition, then, otherwise } => {
                let branch = if condition.bool(slots) { then } else { otherwise };
                branch.run(machine, slots)?;
                let results = branch.results(slots);
                set(slots, &self.results, &results);
                return Ok(());
            }
            Action::While { state, initial, condition, body } => {
                let mut values: Vec<Scalar> =
                    initial.iter().map(|source| source.of(slots)).collect();
                loop {
                    machine.memory.step()?;
                    set(slots, state, &values);
                    condition.run(machine, slots)?;
                    if !condition.results[0].bool(slots) {
                        set(slots, &self.results, &values);
                        return Ok(());
                    }
                    body.run(machine, slots)?;
                    values = body.results(slots);
                }
            }
        };
        slots[self.results[0]] = result.map_err(|trap| fault(FaultKind::of_trap(&trap)))?;
        Ok(())
    }
}

fn set(slots: &mut [Scalar], places: &[usize], values: &[Scalar]) {
    for (place, value) in places.iter().zip(values) {
        slots[*place] = *value;
    }
}

fn random(kind: RandomKind, operands: &[Source], slots: &[Scalar]) -> Result<Scalar, FaultKind> {
    let integer = |position: usize| operands[position].integer(slots);
    let (seed, index) = (integer(0), integer(1) as u64);
    Ok(match kind {
        RandomKind::UniformF64 => Scalar::F64(math::random::uniform_f64(seed, index)),
        RandomKind::UniformF32 => Scalar::F32(math::random::uniform_f32(seed, index)),
        RandomKind::Int if integer(2) >= integer(3) => return Err(FaultKind::BadArgument),
        RandomKind::Int => {
            Scalar::I64(math::random::int_below(seed, index, integer(2), integer(3)))
        }
    })
}

/// An element of an array. An index out of range is a bug of the program.
fn read(machine: &Machine<'_>, array: Var, indices: &[Source], slots: &[Scalar]) -> Scalar {
    let stored = machine.variable(array);
    let mut position = 0;
    for (source, extent) in indices.iter().zip(&stored.extents) {
        position = match usize::try_from(source.integer(slots)) {
            Ok(index) if index < *extent => position * extent + index,
            _ => {
                let point: Vec<i64> = indices.iter().map(|index| index.integer(slots)).collect();
                machine.bug(&format!("{array} of {:?} is read at {point:?}", stored.extents))
            }
        };
    }
    stored.elements.scalar(position).expect("flat variables hold scalars")
}

/// Gives registers their slots.
struct Resolver<'a> {
    types: &'a [Type],
    slots: BTreeMap<Register, (usize, ScalarType)>,
}

impl Resolver<'_> {
    fn slot(&mut self, register: Register, ty: ScalarType) -> usize {
        let slot = self.slots.len();
        self.slots.insert(register, (slot, ty));
        slot
    }

    fn slots(&mut self, registers: &[(Register, ScalarType)]) -> Vec<usize> {
        registers.iter().map(|(register, ty)| self.slot(*register, *ty)).collect()
    }

    fn ty(&self, operand: &Operand) -> ScalarType {
        match operand {
            Operand::Register(register) => self.slots[register].1,
            Operand::Scalar(scalar) => scalar.ty(),
        }
    }

    fn source(&self, operand: &Operand) -> Source {
        match operand {
            Operand::Register(register) => Source::Slot(self.slots[register].0),
            Operand::Scalar(scalar) => Source::Constant(*scalar),
        }
    }

    fn sources(&self, operands: &[Operand]) -> Vec<Source> {
        operands.iter().map(|operand| self.source(operand)).collect()
    }

    fn code(&mut self, code: &Code) -> Steps {
        let steps = code.instructions.iter().map(|instruction| self.step(instruction)).collect();
        Steps { steps, results: self.sources(&code.results) }
    }

    fn step(&mut self, instruction: &Instruction) -> Step {
        let action = match &instruction.operation {
            CodeOperation::Scalar(op, operands) => {
                let types: Vec<ScalarType> = operands.iter().map(|op| self.ty(op)).collect();
                let action = match self.sources(operands)[..] {
                    [a] => math::unary(*op, types[0]).map(|function| Action::Unary(function, a)),
                    [a, b] => {
                        math::binary(*op, types[0]).map(|function| Action::Binary(function, [a, b]))
                    }
                    [a, b, c] => math::ternary(*op, types[1])
                        .map(|function| Action::Ternary(function, [a, b, c])),
                    _ => None,
                };
                action.unwrap_or_else(|| panic!("flat program: {op} of {types:?}"))
            }
            CodeOperation::Random(kind, operands) => Action::Random(*kind, self.sources(operands)),
            CodeOperation::Read(array, indices) => {
                let dimensions = self.types[array.0 as usize].extents.len();
                assert_eq!(indices.len(), dimensions, "flat program: indices of {array}");
                Action::Read(*array, self.sources(indices))
            }
            CodeOperation::Check(condition, kind) => Action::Check(self.source(condition), *kind),
            CodeOperation::If { condition, then, otherwise } => Action::If {
                condition: self.source(condition),
                then: self.code(then),
                otherwise: self.code(otherwise),
            },
            CodeOperation::While { state, initial, condition, body } => Action::While {
                initial: self.sources(initial),
                state: self.slots(state),
                condition: self.code(condition),
                body: self.code(body),
            },
        };
        Step { action, results: self.slots(&instruction.results), span: instruction.span }
    }
}
