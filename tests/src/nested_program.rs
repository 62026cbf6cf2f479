//! Random programs of the intermediate language *nested*, each from its seed.
//!
//! They are well typed, end, and use every operation. Some fail: an index or a divisor may be
//! anything. What they compute makes no sense, but the same program says the same thing everywhere.

use std::sync::Arc;

use weft_ir::nested::{
    Atom, Body, Function, FunctionId, Lambda, Operation, Program, RandomKind, ScanForm, Start,
    Statement, Type, Var,
};
use weft_ir::{Array, Column, ColumnBuilder, FaultKind, Scalar, ScalarOp, ScalarType, Span, Value};

mod choice;

use choice::Random;

const BOOL: Type = Type { rank: 0, element: ScalarType::Bool };
const I64: Type = Type { rank: 0, element: ScalarType::I64 };
const F64: Type = Type { rank: 0, element: ScalarType::F64 };
/// How many operations with bodies may be around a statement.
const DEEPEST: usize = 3;
const SCALARS: [Type; 3] = [BOOL, I64, F64];

/// The program of a seed, and values for its parameters.
pub fn random_program(seed: u64) -> (Program, Vec<Value>) {
    let random = Random::new(seed);
    let mut writer = Writer { random, scope: Vec::new(), open: Vec::new(), variables: 0, depth: 0 };
    let functions = vec![writer.function()];
    let types = [I64, F64, BOOL, I64.array(), F64.array(), I64.array().array(), F64.array()];
    let params = writer.bind(&types);
    let inputs = types.iter().map(|ty| writer.random.value(*ty)).collect();
    writer.open.push(Vec::new());
    let count = 5 + writer.random.below(20);
    writer.statements(count);
    let results = (0..12)
        .map(|_| {
            let at = writer.random.below(writer.scope.len());
            Atom::Var(writer.scope[at].0)
        })
        .collect();
    let statements = writer.open.pop().expect("pushed above");
    let body = Body { statements, results };
    (Program { params, functions, body, variables: writer.variables }, inputs)
}

/// Writes a program from top to bottom.
struct Writer {
    random: Random,
    /// What the next statement may use.
    scope: Vec<(Var, Type)>,
    /// The statements of the bodies that are being written, outermost first.
    open: Vec<Vec<Statement>>,
    variables: u32,
    /// How many operations with bodies are around the next statement.
    depth: usize,
}

impl Writer {
    /// `f n x`, which calls itself with n - 1.
    fn function(&mut self) -> Function {
        let outer = std::mem::take(&mut self.scope);
        let params = self.bind(&[I64, F64]);
        let (n, x) = (params[0].0, params[1].0);
        self.open.push(Vec::new());
        let is_last =
            self.emit_one(Operation::Scalar(ScalarOp::Le, vec![Atom::Var(n), int(0)]), BOOL);
        let then = Body { statements: Vec::new(), results: vec![Atom::Var(x)] };
        self.open.push(Vec::new());
        let less = self.scalar(ScalarOp::Sub, &[Atom::Var(n), int(1)], I64);
        // Nothing with bodies, and so no other calls: they would never end.
        let depth = std::mem::replace(&mut self.depth, DEEPEST);
        self.statements(2);
        self.depth = depth;
        let next = self.atom(F64);
        let call = Operation::Call(FunctionId(0), vec![Atom::Var(less), next]);
        let result = self.emit_one(call, F64);
        let statements = self.open.pop().expect("pushed above");
        let otherwise = Body { statements, results: vec![Atom::Var(result)] };
        let condition = Atom::Var(is_last);
        let result = self.emit_one(Operation::If { condition, then, otherwise }, F64);
        let statements = self.open.pop().expect("pushed above");
        self.scope = outer;
        let body = Body { statements, results: vec![Atom::Var(result)] };
        Function { name: "f".into(), params, results: vec![F64], body }
    }

    fn statements(&mut self, count: usize) {
        for _ in 0..count {
            match self.random.below(8) {
                0..=2 => {
                    let ty = *self.random.of(&SCALARS);
                    self.make(ty);
                }
                3..=4 => {
                    let element = *self.random.of(&SCALARS);
                    self.make(element.array());
                }
                5 => self.several(),
                6 => self.again(),
                _ => {
                    let element = *self.random.of(&SCALARS);
                    self.make(element.array().array());
                }
            }
        }
    }

    /// What is there already, once more: something to share. Or nearly: with operands exchanged.
    fn again(&mut self) {
        let statements = self.open.last().expect("a body is open");
        let singles: Vec<&Statement> =
            statements.iter().filter(|statement| is_single(&statement.operation)).collect();
        if singles.is_empty() {
            return;
        }
        let mut statement = (*self.random.of(&singles)).clone();
        if let Operation::Scalar(_, operands) = &mut statement.operation
            && operands.len() == 2
            && self.random.below(2) == 0
        {
            operands.reverse();
        }
        let types: Vec<Type> = statement.results.iter().map(|(_, ty)| *ty).collect();
        self.emit(statement.operation, &types);
    }

    /// Emits an operation whose result has that type.
    fn make(&mut self, ty: Type) -> Var {
        let may_nest = self.depth < DEEPEST;
        let operation = match (ty.rank, self.random.below(if may_nest { 12 } else { 7 })) {
            (0, 0..=3) => return self.make_scalar(ty),
            (0, 4..=5) => {
                if self.random.rarely() {
                    Operation::Index(self.atom(ty.array()), vec![self.small()])
                } else {
                    let index = int(self.random.below(2) as i64);
                    Operation::Index(self.rows(ty), vec![index])
                }
            }
            (0, 6) if ty == I64 => {
                if self.random.below(3) == 0 {
                    Operation::Extent(self.rows(I64.array()), 1)
                } else {
                    let rank = 1 + self.random.below(2);
                    Operation::Length(self.atom(Type { rank, ..ty }))
                }
            }
            (0, 6) if ty == F64 => {
                let operands = vec![self.atom(I64), self.atom(I64)];
                Operation::Random(RandomKind::UniformF64, operands)
            }
            (0, 6) => {
                let condition = self.condition();
                let (kind, values) = (FaultKind::AssertionFailed, vec![self.atom(ty)]);
                Operation::Assert { condition, kind, values }
            }
            (0, 7..=8) => self.fold(ty),
            (0, 9) if ty == F64 => {
                Operation::Call(FunctionId(0), vec![self.small(), self.atom(F64)])
            }
            (_, 0) if ty == I64.array() => Operation::Iota(self.small()),
            (1, 0) => Operation::Constant(self.random.column(ty.element())),
            (2, 0) => self.segments(ty.element()),
            (_, 1) => Operation::Literal(vec![self.atom(ty.element()), self.atom(ty.element())]),
            (_, 2) => Operation::Replicate(self.small(), self.atom(ty.element())),
            (1, 3) => Operation::Flatten(self.atom(ty.array())),
            (_, 3) => Operation::Transpose(self.rows(ty.element())),
            (1, 4) if ty == I64.array() => {
                let key = *self.random.of(&SCALARS);
                let descending = self.random.below(2) == 0;
                Operation::SortOrder { keys: vec![self.atom(key.array())], descending }
            }
            (_, 4) => Operation::Concat(self.atom(ty), self.atom(ty)),
            (1, 5) => {
                let array = self.atom(ty);
                Operation::Pack { flags: self.flags(array, ty), arrays: vec![array] }
            }
            (_, 5) => {
                let array = self.atom(ty.element());
                let extents = vec![int(1), self.length(array)];
                Operation::Reshape { array, from: 1, extents }
            }
            (_, 6) => {
                let array =
                    if self.random.rarely() { self.atom(ty) } else { self.rows(ty.element()) };
                let indices = vec![int(self.random.below(2) as i64)];
                Operation::Update { array, indices, value: self.atom(ty.element()) }
            }
            (1.., 7) => self.scan(ty),
            (1.., 8) => self.scatter(ty),
            (1.., 9..=10) => return self.map(&[ty.element()])[0],
            (0.., _) => {
                let condition = self.atom(BOOL);
                let then = self.body(&[], &[ty]).1;
                let otherwise = self.body(&[], &[ty]).1;
                Operation::If { condition, then, otherwise }
            }
        };
        self.emit_one(operation, ty)
    }

    /// A statement with several results.
    fn several(&mut self) {
        if self.depth >= DEEPEST {
            return;
        }
        let types = [*self.random.of(&SCALARS), I64, self.random.of(&SCALARS).array()];
        let initial: Vec<Atom> = types.iter().map(|ty| self.atom(*ty)).collect();
        match self.random.below(5) {
            0 => {
                self.map(&types[..2]);
            }
            1 => {
                let condition = self.atom(BOOL);
                let then = self.body(&[], &types).1;
                let otherwise = self.body(&[], &types).1;
                self.emit(Operation::If { condition, then, otherwise }, &types);
            }
            2 => {
                let (mut bound, body) = self.body(&[&types[..], &[I64]].concat(), &types);
                let (index, _) = bound.pop().expect("the index");
                let count = int(self.random.below(4) as i64);
                self.emit(Operation::For { index, count, state: bound, initial, body }, &types);
            }
            3 => self.while_loop(types, initial),
            _ => {
                let element = self.random.of(&SCALARS).array();
                let array = self.atom(element);
                let flags = self.flags(array, element);
                self.emit(Operation::Pack { flags, arrays: vec![array; 2] }, &[element; 2]);
            }
        }
    }

    /// A loop that counts in the second component of its state.
    fn while_loop(&mut self, types: [Type; 3], mut initial: Vec<Atom>) {
        initial[1] = int(self.random.below(4) as i64);
        let outer = self.scope.len();
        let state = self.bind(&types);
        let count = Atom::Var(state[1].0);
        let (_, mut condition) = self.body(&[], &[BOOL]);
        self.open.push(std::mem::take(&mut condition.statements));
        let goes_on = self.scalar(ScalarOp::Lt, &[count, int(4)], BOOL);
        condition.statements = self.open.pop().expect("pushed above");
        condition.results = vec![Atom::Var(goes_on)];
        self.scope.pop();
        let (_, mut body) = self.body(&[], &types);
        self.open.push(std::mem::take(&mut body.statements));
        let next = self.scalar(ScalarOp::Add, &[count, int(1)], I64);
        body.statements = self.open.pop().expect("pushed above");
        body.results[1] = Atom::Var(next);
        self.scope.truncate(outer);
        self.emit(Operation::While { state, initial, condition, body }, &types);
    }

    fn make_scalar(&mut self, ty: Type) -> Var {
        use ScalarOp as Op;
        let (op, operands): (Op, &[Type]) = match (ty.element, self.random.below(10)) {
            (ScalarType::Bool, 0..=3) => (*self.random.of(&[Op::Lt, Op::Eq, Op::Ge]), &[I64, I64]),
            (ScalarType::Bool, 4..=5) => (*self.random.of(&[Op::Le, Op::Ne]), &[F64, F64]),
            (ScalarType::Bool, 6) => (Op::Not, &[BOOL]),
            (ScalarType::Bool, 7..=8) => (*self.random.of(&[Op::And, Op::Or]), &[BOOL, BOOL]),
            (ScalarType::I64, 0..=5) => {
                (*self.random.of(&[Op::Add, Op::Sub, Op::Mul, Op::Max, Op::BitXor]), &[I64, I64])
            }
            (ScalarType::I64, 6) => {
                let op = *self.random.of(&[Op::FloorDiv, Op::Rem]);
                let divisor = if self.random.rarely() { self.atom(I64) } else { int(3) };
                let operands = [self.atom(I64), divisor];
                return self.scalar(op, &operands, ty);
            }
            (ScalarType::I64, 7) => (Op::Cast(ScalarType::I64), &[F64]),
            (ScalarType::I64, 8) => (Op::Cast(ScalarType::I64), &[BOOL]),
            (ScalarType::F64, 0..=5) => {
                (*self.random.of(&[Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min]), &[F64, F64])
            }
            (ScalarType::F64, 6..=7) => (*self.random.of(&[Op::Sqrt, Op::Neg, Op::Exp]), &[F64]),
            (ScalarType::F64, 8) => (Op::Cast(ScalarType::F64), &[I64]),
            _ => (Op::Select, &[BOOL, ty, ty]),
        };
        let operands: Vec<Atom> = operands.iter().map(|ty| self.atom(*ty)).collect();
        self.scalar(op, &operands, ty)
    }

    fn map(&mut self, results: &[Type]) -> Vec<Var> {
        let element = Type { rank: self.random.below(2), ..*self.random.of(&SCALARS) };
        let array = self.atom(element.array());
        // The same array twice has the same length.
        let twice = self.random.below(2) == 0;
        let (arrays, types) =
            if twice { (vec![array; 2], vec![element; 2]) } else { (vec![array], vec![element]) };
        let (params, body) = self.body(&types, results);
        let results: Vec<Type> = results.iter().map(|ty| ty.array()).collect();
        self.emit(Operation::Map(Lambda { params, body }, arrays), &results)
    }

    fn fold(&mut self, ty: Type) -> Operation {
        let operator = self.operator(ty);
        let start = match self.random.below(10) {
            0 => Start::None,
            1..5 => Start::Combined(vec![self.atom(ty)]),
            _ => Start::IfEmpty(vec![self.atom(ty)]),
        };
        Operation::Fold { operator, start, arrays: vec![self.atom(ty.array())] }
    }

    fn scan(&mut self, ty: Type) -> Operation {
        let operator = self.operator(ty.element());
        let form = *self.random.of(&[ScanForm::Inclusive, ScanForm::Exclusive, ScanForm::Full]);
        let from_right = self.random.below(2) == 0;
        let start = Start::Combined(vec![self.atom(ty.element())]);
        Operation::Scan { form, from_right, operator, start, arrays: vec![self.atom(ty)] }
    }

    fn scatter(&mut self, ty: Type) -> Operation {
        let operator =
            if self.random.below(2) == 0 { Some(self.operator(ty.element())) } else { None };
        let destination = self.atom(ty);
        let (indices, values) = if self.random.below(2) == 0 {
            let length = self.length(destination);
            (Atom::Var(self.emit_one(Operation::Iota(length), I64.array())), destination)
        } else {
            // Two to one place: the first, or none.
            let target = if self.random.rarely() { 0 } else { -1 };
            let column = Column::I64(vec![target, target].into());
            let indices = self.emit_one(Operation::Constant(column), I64.array());
            (Atom::Var(indices), self.rows(ty.element()))
        };
        let (destinations, values) = (vec![destination], vec![values]);
        Operation::Scatter { destinations, indices, values, operator, drops: true }
    }

    /// Two segments of an array: nothing, and all of it.
    fn segments(&mut self, ty: Type) -> Operation {
        let array = self.atom(ty);
        let length = self.length(array);
        let lengths = Operation::Literal(vec![int(0), length]);
        Operation::Segments(Atom::Var(self.emit_one(lengths, I64.array())), array)
    }

    fn length(&mut self, array: Atom) -> Atom {
        Atom::Var(self.emit_one(Operation::Length(array), I64))
    }

    /// A flag for each element of an array, which has that type.
    fn flags(&mut self, array: Atom, ty: Type) -> Atom {
        if self.random.rarely() {
            return self.atom(BOOL.array());
        }
        let (params, body) = self.body(&[ty.element()], &[BOOL]);
        let map = Operation::Map(Lambda { params, body }, vec![array]);
        Atom::Var(self.emit_one(map, BOOL.array()))
    }

    /// A bool that mostly holds.
    fn condition(&mut self) -> Atom {
        let operand = self.atom(I64);
        let other = if self.random.rarely() { self.atom(I64) } else { operand };
        Atom::Var(self.scalar(ScalarOp::Le, &[operand, other], BOOL))
    }

    fn operator(&mut self, ty: Type) -> Lambda {
        let (params, body) = self.body(&[ty, ty], &[ty]);
        Lambda { params, body }
    }

    /// A body that binds variables of some types and yields results of others.
    fn body(&mut self, bound: &[Type], results: &[Type]) -> (Vec<(Var, Type)>, Body) {
        let outer = self.scope.len();
        let bound = self.bind(bound);
        self.depth += 1;
        self.open.push(Vec::new());
        let count = self.random.below(4);
        self.statements(count);
        let results = results.iter().map(|ty| self.atom(*ty)).collect();
        let statements = self.open.pop().expect("pushed above");
        self.depth -= 1;
        self.scope.truncate(outer);
        (bound, Body { statements, results })
    }

    /// Something of that type: what is there, a constant, or what a new statement yields.
    fn atom(&mut self, ty: Type) -> Atom {
        let fitting: Vec<Var> =
            self.scope.iter().filter(|(_, other)| *other == ty).map(|(var, _)| *var).collect();
        let wants_new = self.random.below(6) == 0;
        if ty.rank == 0 && (wants_new || fitting.is_empty()) {
            return Atom::Scalar(self.random.scalar(ty.element));
        }
        if !fitting.is_empty() {
            // Rather something late, so that programs become deep.
            let reach =
                if self.random.below(3) == 0 { fitting.len() } else { fitting.len().min(3) };
            let back = self.random.below(reach);
            return Atom::Var(fitting[fitting.len() - 1 - back]);
        }
        let operation = match ty.rank {
            1 => Operation::Constant(self.random.column(ty.element())),
            _ => Operation::Replicate(int(2), self.atom(ty.element())),
        };
        Atom::Var(self.emit_one(operation, ty))
    }

    /// An array of two rows, mostly equal. (The extent of the rows of no rows may be anything.)
    fn rows(&mut self, row: Type) -> Atom {
        let first = self.atom(row);
        let is_any = row.rank == 0 || self.random.rarely();
        let rows = vec![first, if is_any { self.atom(row) } else { first }];
        Atom::Var(self.emit_one(Operation::Literal(rows), row.array()))
    }

    /// A small integer, often a constant.
    fn small(&mut self) -> Atom {
        if self.random.rarely() { self.atom(I64) } else { int(self.random.below(4) as i64) }
    }

    fn scalar(&mut self, op: ScalarOp, operands: &[Atom], ty: Type) -> Var {
        self.emit_one(Operation::Scalar(op, operands.to_vec()), ty)
    }

    fn emit_one(&mut self, operation: Operation, ty: Type) -> Var {
        self.emit(operation, &[ty])[0]
    }

    fn emit(&mut self, operation: Operation, types: &[Type]) -> Vec<Var> {
        let results = self.bind(types);
        let vars = results.iter().map(|(var, _)| *var).collect();
        let statement = Statement { results, operation, span: Span::default() };
        self.open.last_mut().expect("a body is open").push(statement);
        vars
    }

    fn bind(&mut self, types: &[Type]) -> Vec<(Var, Type)> {
        let vars: Vec<(Var, Type)> =
            types.iter().zip(self.variables..).map(|(ty, number)| (Var(number), *ty)).collect();
        self.variables += types.len() as u32;
        self.scope.extend(&vars);
        vars
    }
}

fn int(value: i64) -> Atom {
    Atom::Scalar(Scalar::I64(value))
}

/// Whether the operation has no bodies, so that its copy binds nothing twice.
fn is_single(operation: &Operation) -> bool {
    let mut bodies = 0;
    operation.for_each_body(&mut |_| bodies += 1);
    bodies == 0
}
