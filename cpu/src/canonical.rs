//! The canonical form of a kernel: what its code is, up to the order of instructions, the names of
//! variables and registers, the sizes of arrays and the places in the source. Kernels of one form
//! share what is prepared for them.

use std::collections::BTreeMap;

use weft_codegen::order;
use weft_ir::code::{Code, Instruction, Operand, Operation, Operator, Register};
use weft_ir::flat::{Dimension, Size, Type, Var};
use weft_ir::plan::{Kernel, Sink};
use weft_ir::{ScalarType, SourceId, Span};

/// A kernel in canonical form, and what the form leaves out.
#[derive(Clone, Debug)]
pub(crate) struct Canonical {
    /// Reads name arrays by number, spans are ordinals, sizes and other variables are zero.
    pub(crate) kernel: Kernel,
    /// The arrays that its code reads, by number.
    pub(crate) arrays: Vec<Var>,
    /// The type of the elements of each, and whether it is a scalar.
    pub(crate) types: Vec<(ScalarType, bool)>,
    /// The spans, by ordinal.
    pub(crate) spans: Vec<Span>,
    /// Equal for kernels of the same form only.
    pub(crate) key: String,
}

/// The canonical form of a kernel of a program with these types.
pub(crate) fn canonical(kernel: &Kernel, types: &[Type]) -> Canonical {
    let mut form = Form::default();
    let mut kernel = kernel.clone();
    kernel.name = "".into();
    kernel.fused.clear();
    kernel.span = Span::default();
    kernel.space.iter_mut().for_each(forget_size);
    order_code(&mut kernel);
    form.kernel(&mut kernel);
    let types: Vec<(ScalarType, bool)> = form
        .arrays
        .iter()
        .map(|var| &types[var.0 as usize])
        .map(|ty| (ty.element, ty.extents.is_empty()))
        .collect();
    let key = format!("{types:?} {kernel:?}");
    Canonical { kernel, arrays: form.arrays, types, spans: form.spans, key }
}

/// Makes the order of instructions one that depends on what they compute only.
fn order_code(kernel: &mut Kernel) {
    let results: Vec<Operand> = kernel.sinks.iter().flat_map(Sink::operands).copied().collect();
    order(&mut kernel.body, &results);
    kernel.sinks.iter_mut().flat_map(Sink::codes_mut).for_each(|code| order(code, &[]));
    if let Some(epilogue) = &mut kernel.epilogue {
        let stored: Vec<Operand> = epilogue.stores.iter().map(|(operand, _)| *operand).collect();
        order(&mut epilogue.code, &stored);
    }
}

fn forget_size(dimension: &mut Dimension) {
    *dimension = match dimension {
        Dimension::Dense(_) => Dimension::Dense(Size::Constant(0)),
        Dimension::Ragged { .. } => Dimension::Ragged { offsets: Var(0), total: Size::Constant(0) },
    };
}

/// The names given so far.
#[derive(Default)]
struct Form {
    arrays: Vec<Var>,
    numbers: BTreeMap<Var, u32>,
    registers: BTreeMap<Register, u32>,
    spans: Vec<Span>,
}

impl Form {
    fn kernel(&mut self, kernel: &mut Kernel) {
        for index in &mut kernel.indices {
            self.register(index);
        }
        self.code(&mut kernel.body);
        for sink in &mut kernel.sinks {
            self.sink(sink);
        }
        if let Some(epilogue) = &mut kernel.epilogue {
            for index in &mut epilogue.indices {
                self.register(index);
            }
            self.code(&mut epilogue.code);
            for (operand, array) in &mut epilogue.stores {
                self.operand(operand);
                *array = Var(0);
            }
        }
    }

    fn sink(&mut self, sink: &mut Sink) {
        sink.operands_mut().for_each(|operand| self.operand(operand));
        match sink {
            Sink::Reduce { operator, start, registers, .. }
            | Sink::Scan { operator, start, registers, .. } => {
                self.operator(operator);
                if let Some(thunk) = start.values_mut() {
                    thunk.indices.iter_mut().for_each(|index| self.register(index));
                    self.code(&mut thunk.code);
                }
                self.registers(registers);
            }
            Sink::Scatter { operator: Some(operator), .. } => self.operator(operator),
            Sink::Scatter { operator: None, .. }
            | Sink::Store { .. }
            | Sink::Interleave { .. }
            | Sink::Filter { .. }
            | Sink::Sort { .. } => {}
        }
        if let Sink::Scan { full, .. } = sink {
            full.iter_mut().for_each(forget_size);
        }
        if let Sink::Scatter { destinations, .. } = sink {
            destinations.fill(Var(0));
        }
        sink.results_mut().for_each(|array| *array = Var(0));
    }

    fn operator(&mut self, operator: &mut Operator) {
        self.registers(&mut operator.left);
        self.registers(&mut operator.right);
        self.code(&mut operator.code);
    }

    fn code(&mut self, code: &mut Code) {
        for instruction in &mut code.instructions {
            self.instruction(instruction);
        }
        self.operands(&mut code.results);
    }

    fn instruction(&mut self, instruction: &mut Instruction) {
        let ordinal = self.spans.len();
        self.spans.push(instruction.span);
        instruction.span = Span::new(SourceId::default(), ordinal, ordinal);
        let operation = &mut instruction.operation;
        if let Operation::Read(array, _) = operation {
            let count = self.arrays.len() as u32;
            let number = *self.numbers.entry(*array).or_insert(count);
            if number == count {
                self.arrays.push(*array);
            }
            *array = Var(number);
        }
        operation.for_each_operand_mut(&mut |operand| self.operand(operand));
        operation.for_each_bound_mut(&mut |register, _| self.register(register));
        operation.for_each_body_mut(&mut |body| self.code(body));
        self.registers(&mut instruction.results);
    }

    fn operands(&mut self, operands: &mut [Operand]) {
        operands.iter_mut().for_each(|operand| self.operand(operand));
    }

    fn operand(&mut self, operand: &mut Operand) {
        match operand {
            Operand::Register(register) => self.register(register),
            Operand::Scalar(_) => {}
        }
    }

    fn registers(&mut self, registers: &mut [(Register, ScalarType)]) {
        registers.iter_mut().for_each(|(register, _)| self.register(register));
    }

    fn register(&mut self, register: &mut Register) {
        let count = self.registers.len() as u32;
        *register = Register(*self.registers.entry(*register).or_insert(count));
    }
}
