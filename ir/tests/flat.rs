//! Random flat programs: what is written is read again, the check accepts them, and finds what is
//! done to them.

use weft_ir::flat::{
    Block, Code, CodeOperation, Dimension, Instruction, Leaf, Operand, Operation, Operator,
    Program, Register, ScanForm, Size, Space, Start, Statement, Thunk, Type, Var, check, parse,
    storage,
};
use weft_ir::leaves::{Axis, input_leaf};
use weft_ir::text::OPERATORS;
use weft_ir::{FaultKind, Scalar, ScalarType, Span, math};

/// A small generator of numbers, so that a failure can be repeated from its seed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % bound
    }

    fn pick<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

const ELEMENTS: [ScalarType; 5] =
    [ScalarType::I64, ScalarType::F32, ScalarType::Bool, ScalarType::F64, ScalarType::U8];

/// The first input of every program: a scalar bool.
const FLAG: Var = Var(0);

struct Generator {
    random: Random,
    types: Vec<Type>,
    /// The variables in scope.
    visible: Vec<Var>,
    spaces: Vec<Space>,
    registers: u32,
}

impl Generator {
    fn program(seed: u64) -> Program {
        let mut generator = Generator {
            random: Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed)),
            types: Vec::new(),
            visible: Vec::new(),
            spaces: vec![vec![Dimension::Dense(Size::Constant(3))]],
            registers: 0,
        };
        let mut inputs = vec![input_leaf(&[], &[], ScalarType::Bool, &mut generator.types)];
        generator.visible.push(FLAG);
        for _ in 0..generator.random.below(4) {
            inputs.push(generator.input());
        }
        let body = generator.block(6, 2);
        let mut outputs = inputs.clone();
        for statement in &body.statements {
            for var in &statement.results {
                if generator.types[var.0 as usize].extents.is_empty() {
                    outputs.push(Leaf { axes: Vec::new(), data: *var });
                }
            }
        }
        Program { inputs, body, outputs, types: generator.types }
    }

    fn input(&mut self) -> Leaf {
        let layout: Vec<Axis> = (0..self.random.below(4))
            .map(
                |axis| {
                    if axis > 0 && self.random.below(2) == 0 { Axis::Ragged } else { Axis::Dense }
                },
            )
            .collect();
        let first = self.types.len() as u32;
        let element = *self.random.pick(&ELEMENTS);
        let leaf = input_leaf(&layout, &[], element, &mut self.types);
        self.visible.extend((first..self.types.len() as u32).map(Var));
        if !leaf.axes.is_empty() {
            self.spaces.push(leaf.axes.clone());
        }
        leaf
    }

    fn variable(&mut self, element: ScalarType, extents: Vec<Size>) -> Var {
        self.types.push(Type { element, extents });
        Var(self.types.len() as u32 - 1)
    }

    fn block(&mut self, statements: usize, depth: usize) -> Block {
        let mut block = Block::default();
        for _ in 0..statements {
            let (results, operation) = self.operation(depth, &mut block);
            self.push(&mut block, results, operation);
        }
        block
    }

    fn push(&mut self, block: &mut Block, results: Vec<Var>, operation: Operation) {
        self.visible.extend(&results);
        block.statements.push(Statement { results, operation, span: Span::default() });
    }

    /// An operation and its results; what it needs before it is added to the block.
    fn operation(&mut self, depth: usize, block: &mut Block) -> (Vec<Var>, Operation) {
        let space = self.random.pick(&self.spaces.clone()).clone();
        let outer = &space[..space.len() - 1];
        let elements: Vec<ScalarType> =
            (0..1 + self.random.below(2)).map(|_| *self.random.pick(&ELEMENTS)).collect();
        match self.random.below(if depth > 0 { 8 } else { 6 }) {
            0 => {
                let thunk = self.thunk(space.len(), &elements);
                (self.over(&storage(&space), &elements), Operation::Map { space, thunk })
            }
            1 => {
                let start = match self.random.below(3) {
                    0 => Start::None,
                    1 => Start::Combined(self.thunk(outer.len(), &elements)),
                    _ => Start::IfEmpty(self.thunk(outer.len(), &elements)),
                };
                let results = self.over(&storage(outer), &elements);
                let (thunk, operator) =
                    (self.thunk(space.len(), &elements), self.operator(&elements));
                (results, Operation::Reduce { space, thunk, operator, start })
            }
            2 => {
                let start = Start::Combined(self.thunk(outer.len(), &elements));
                let from_right = self.random.below(2) == 0;
                let form = *self.random.pick(&[ScanForm::Inclusive, ScanForm::Exclusive]);
                let results = self.over(&storage(&space), &elements);
                let (thunk, operator) =
                    (self.thunk(space.len(), &elements), self.operator(&elements));
                let operation =
                    Operation::Scan { space, thunk, form, from_right, operator, start, full: None };
                (results, operation)
            }
            3 => {
                let flag = [&[ScalarType::Bool], &elements[..]].concat();
                let thunk = self.thunk(space.len(), &flag);
                let mut results = Vec::new();
                if space.len() > 1 {
                    // As many as the program would have to compute; the check cannot know.
                    results.push(self.variable(ScalarType::I64, vec![Size::Constant(9)]));
                }
                results.push(self.variable(ScalarType::I64, Vec::new()));
                let count = Size::Var(results[results.len() - 1]);
                results.extend(self.over(&[count], &elements));
                (results, Operation::Filter { space, thunk })
            }
            4 => {
                let thunk = self.thunk(space.len(), &elements);
                let results = self.over(&storage(&space), &[ScalarType::I64]);
                let descending = self.random.below(2) == 0;
                (results, Operation::Sort { space, thunk, descending })
            }
            5 => {
                let arrays: Vec<Var> = self
                    .visible
                    .iter()
                    .copied()
                    .filter(|var| !self.types[var.0 as usize].extents.is_empty())
                    .collect();
                if arrays.is_empty() {
                    let results = self.over(&[], &elements);
                    let thunk = self.thunk(0, &elements);
                    (results, Operation::Map { space: Vec::new(), thunk })
                } else {
                    let array = *self.random.pick(&arrays);
                    let ty = self.types[array.0 as usize].clone();
                    let mut yields = vec![ScalarType::I64; ty.extents.len()];
                    yields.push(ty.element);
                    let thunk = self.thunk(space.len(), &yields);
                    let with = self.random.below(2) == 0;
                    let operator = with.then(|| self.operator(&[ty.element]));
                    let results = self.over(&ty.extents, &[ty.element]);
                    let destinations = vec![array];
                    (results, Operation::Scatter { space, thunk, destinations, operator })
                }
            }
            6 => {
                let then = self.scalars(&elements, depth - 1);
                let otherwise = self.scalars(&elements, depth - 1);
                let results = self.over(&[], &elements);
                (results, Operation::If { condition: FLAG, then, otherwise })
            }
            _ => {
                let initial = self.over(&[], &elements);
                let thunk = self.thunk(0, &elements);
                let first = Operation::Map { space: Vec::new(), thunk };
                self.push(block, initial.clone(), first);
                let state = self.over(&[], &elements);
                let mark = self.visible.len();
                self.visible.extend(&state);
                let condition = self.scalars(&[ScalarType::Bool], 0);
                let body = self.scalars(&elements, depth - 1);
                self.visible.truncate(mark);
                let results = self.over(&[], &elements);
                (results, Operation::While { state, initial, condition, body, rows: None })
            }
        }
    }

    /// A block that yields scalars.
    fn scalars(&mut self, elements: &[ScalarType], depth: usize) -> Block {
        let mark = self.visible.len();
        let statements = self.random.below(2);
        let mut block = self.block(statements, depth);
        let results = self.over(&[], elements);
        let thunk = self.thunk(0, elements);
        let operation = Operation::Map { space: Vec::new(), thunk };
        self.push(&mut block, results.clone(), operation);
        block.results = results;
        self.visible.truncate(mark);
        block
    }

    fn over(&mut self, extents: &[Size], elements: &[ScalarType]) -> Vec<Var> {
        elements.iter().map(|element| self.variable(*element, extents.to_vec())).collect()
    }

    fn thunk(&mut self, dimensions: usize, elements: &[ScalarType]) -> Thunk {
        self.registers = 0;
        let indices: Vec<Register> = (0..dimensions).map(|_| self.register()).collect();
        let mut scope: Vec<_> = indices.iter().map(|index| (*index, ScalarType::I64)).collect();
        Thunk { indices, code: self.code(&mut scope, elements, 2) }
    }

    fn operator(&mut self, elements: &[ScalarType]) -> Operator {
        self.registers = 0;
        let left: Vec<_> = elements.iter().map(|ty| (self.register(), *ty)).collect();
        let right: Vec<_> = elements.iter().map(|ty| (self.register(), *ty)).collect();
        let mut scope = [left.clone(), right.clone()].concat();
        Operator { code: self.code(&mut scope, elements, 1), left, right }
    }

    fn register(&mut self) -> Register {
        self.registers += 1;
        Register(self.registers - 1)
    }

    fn operand(&mut self, scope: &[(Register, ScalarType)], ty: ScalarType) -> Operand {
        let fitting: Vec<Register> =
            scope.iter().filter(|(_, other)| *other == ty).map(|(register, _)| *register).collect();
        if fitting.is_empty() || self.random.below(4) == 0 {
            return Operand::Scalar(Scalar::zero(ty));
        }
        Operand::Register(*self.random.pick(&fitting))
    }

    fn code(
        &mut self,
        scope: &mut Vec<(Register, ScalarType)>,
        elements: &[ScalarType],
        depth: usize,
    ) -> Code {
        let mark = scope.len();
        let mut instructions = Vec::new();
        for _ in 0..self.random.below(5) {
            let (types, operation) = self.instruction(scope, depth);
            let results: Vec<_> = types.into_iter().map(|ty| (self.register(), ty)).collect();
            scope.extend(&results);
            instructions.push(Instruction { results, operation, span: Span::default() });
        }
        let results = elements.iter().map(|ty| self.operand(scope, *ty)).collect();
        scope.truncate(mark);
        Code { instructions, results }
    }

    fn instruction(
        &mut self,
        scope: &mut Vec<(Register, ScalarType)>,
        depth: usize,
    ) -> (Vec<ScalarType>, CodeOperation) {
        let ty = *self.random.pick(&ELEMENTS);
        match self.random.below(if depth > 0 { 5 } else { 3 }) {
            0 => loop {
                let (op, _) = *self.random.pick(&OPERATORS);
                let types = vec![ty; math::arity(op)];
                if let Some(result) = math::result_type(op, &types) {
                    let operands = types.iter().map(|ty| self.operand(scope, *ty)).collect();
                    return (vec![result], CodeOperation::Scalar(op, operands));
                }
            },
            1 => {
                let array = *self.random.pick(&self.visible.clone());
                let Type { element, extents } = self.types[array.0 as usize].clone();
                let indices =
                    extents.iter().map(|_| self.operand(scope, ScalarType::I64)).collect();
                (vec![element], CodeOperation::Read(array, indices))
            }
            2 => {
                let condition = self.operand(scope, ScalarType::Bool);
                (Vec::new(), CodeOperation::Check(condition, *self.random.pick(&FaultKind::ALL)))
            }
            3 => {
                let condition = self.operand(scope, ScalarType::Bool);
                let then = self.code(scope, &[ty, ty], depth - 1);
                let otherwise = self.code(scope, &[ty, ty], depth - 1);
                (vec![ty, ty], CodeOperation::If { condition, then, otherwise })
            }
            _ => {
                let initial = vec![self.operand(scope, ty)];
                let state = vec![(self.register(), ty)];
                scope.extend(&state);
                let condition = self.code(scope, &[ScalarType::Bool], depth - 1);
                let body = self.code(scope, &[ty], depth - 1);
                scope.pop();
                (vec![ty], CodeOperation::While { state, initial, condition, body })
            }
        }
    }
}

const PROGRAMS: u64 = 400;

#[test]
fn what_is_written_is_read() {
    for seed in 1..PROGRAMS {
        let program = Generator::program(seed);
        check(&program).unwrap_or_else(|problem| panic!("{seed}: {problem}"));
        let text = program.to_string();
        let read = parse(&text).unwrap_or_else(|error| panic!("{seed}: {error}\n{text}"));
        assert_eq!(read.to_string(), text, "{seed}");
        assert_eq!(read.types, program.types, "{seed}");
        check(&read).unwrap_or_else(|problem| panic!("{seed}: {problem}\n{text}"));
    }
}

/// Changes every program, at a place that the generator chooses, in a way that makes it wrong.
fn every_change_is_found(change: impl Fn(&mut Program, usize)) {
    for seed in 1..PROGRAMS {
        let mut program = Generator::program(seed);
        let place = Random(seed * 7919).below(program.body.statements.len());
        change(&mut program, place);
        assert!(check(&program).is_err(), "{seed}, statement {place}:\n{program}");
    }
}

#[test]
fn a_statement_twice() {
    every_change_is_found(|program, place| {
        let statement = program.body.statements[place].clone();
        program.body.statements.push(statement);
    });
}

#[test]
fn a_statement_that_is_missing() {
    every_change_is_found(|program, place| {
        let statement = program.body.statements.remove(place);
        let used = Leaf { axes: Vec::new(), data: statement.results[0] };
        program.outputs.push(used);
    });
}

#[test]
fn a_result_of_another_element_or_shape() {
    every_change_is_found(|program, place| {
        let statement = &program.body.statements[place];
        let var = statement.results[statement.results.len() - 1];
        program.types[var.0 as usize].element = ScalarType::Char;
    });
    every_change_is_found(|program, place| {
        let statement = &program.body.statements[place];
        let var = statement.results[statement.results.len() - 1];
        program.types[var.0 as usize].extents.push(Size::Constant(1));
    });
}

#[test]
fn a_result_too_many() {
    every_change_is_found(|program, place| {
        let var = Var(program.types.len() as u32);
        program.types.push(Type { element: ScalarType::Char, extents: Vec::new() });
        program.body.statements[place].results.push(var);
    });
}
