//! Random code over lanes against the same code run on the host, point by point.

use std::sync::atomic::AtomicBool;

use weft_cpu::{Config, KernelCache, Native, NativeConfig, Tier, Workers, prepare, run};
use weft_ir::code::{Code, Instruction, Operand, Operation, Register};
use weft_ir::flat::{Dimension, Leaf, Size, Type, Var};
use weft_ir::plan::{Block, Kernel, Program, Sink, Step};
use weft_ir::{FaultKind, Scalar, ScalarOp, ScalarType, Span, Value, math};

use crate::{f64s, i64s, noise};

const TYPES: [ScalarType; 5] =
    [ScalarType::I64, ScalarType::F64, ScalarType::Bool, ScalarType::I32, ScalarType::F32];

const OPERATORS: [ScalarOp; 30] = {
    use ScalarOp as S;
    [
        S::Add,
        S::Sub,
        S::Mul,
        S::Neg,
        S::Abs,
        S::Min,
        S::Max,
        S::Lt,
        S::Le,
        S::Eq,
        S::Ne,
        S::Gt,
        S::Ge,
        S::And,
        S::Or,
        S::Not,
        S::Select,
        S::Clip,
        S::Div,
        S::Mod,
        S::FloorDiv,
        S::Quot,
        S::Shl,
        S::Shr,
        S::BitXor,
        S::Sqrt,
        S::Sin,
        S::Exp,
        S::Floor,
        S::Fma,
    ]
};

const N: i64 = 90;

/// Writes random code.
struct Author {
    random: Box<dyn Iterator<Item = u64>>,
    registers: u32,
    /// What is bound, innermost last.
    scope: Vec<(Register, ScalarType)>,
}

impl Author {
    fn below(&mut self, bound: usize) -> usize {
        (self.random.next().expect("enough noise") >> 20) as usize % bound
    }

    fn fresh(&mut self, ty: ScalarType) -> (Register, ScalarType) {
        self.registers += 1;
        (Register(self.registers), ty)
    }

    fn operand(&mut self, ty: ScalarType) -> Operand {
        let found: Vec<Register> =
            self.scope.iter().filter(|(_, other)| *other == ty).map(|(at, _)| *at).collect();
        if found.is_empty() || self.below(5) == 0 {
            let number = Scalar::I64(self.below(7) as i64 - 2);
            return Operand::Scalar(math::eval(ScalarOp::Cast(ty), &[number]).expect("a cast"));
        }
        // Rather a late one.
        let late = self.below(found.len()).max(self.below(found.len()));
        Operand::Register(found[late])
    }

    fn emit(
        &mut self,
        code: &mut Code,
        types: &[ScalarType],
        operation: Operation,
    ) -> Vec<Operand> {
        let results: Vec<(Register, ScalarType)> = types.iter().map(|ty| self.fresh(*ty)).collect();
        self.scope.extend(&results);
        let span = Span::default();
        code.instructions.push(Instruction { results: results.clone(), operation, span });
        results.into_iter().map(|(register, _)| Operand::Register(register)).collect()
    }

    fn scalar(
        &mut self,
        code: &mut Code,
        op: ScalarOp,
        operands: Vec<Operand>,
        ty: ScalarType,
    ) -> Operand {
        self.emit(code, &[ty], Operation::Scalar(op, operands))[0]
    }

    /// Code that yields values of these types.
    fn code(&mut self, length: usize, depth: usize, yields: &[ScalarType]) -> Code {
        let mark = self.scope.len();
        let mut code = Code::default();
        for _ in 0..length {
            self.instruction(&mut code, depth);
        }
        code.results = yields.iter().map(|ty| self.operand(*ty)).collect();
        self.scope.truncate(mark);
        code
    }

    fn instruction(&mut self, code: &mut Code, depth: usize) {
        match self.below(14) {
            0 => {
                // A read in range.
                let index = self.operand(ScalarType::I64);
                let size = Operand::Scalar(Scalar::I64(N));
                let index = self.scalar(code, ScalarOp::Mod, vec![index, size], ScalarType::I64);
                let (array, ty) =
                    [(Var(1), ScalarType::I64), (Var(2), ScalarType::F64)][self.below(2)];
                self.emit(code, &[ty], Operation::Read(array, vec![index]));
            }
            1 if depth > 0 => {
                let condition = self.operand(ScalarType::Bool);
                let types: Vec<ScalarType> = (0..2).map(|_| TYPES[self.below(5)]).collect();
                let (a, b) = (self.below(9), self.below(9));
                let then = self.code(a, depth - 1, &types);
                let otherwise = self.code(b, depth - 1, &types);
                self.emit(code, &types, Operation::If { condition, then, otherwise });
            }
            2 if depth > 0 => self.repetition(code, depth),
            3 if self.below(4) == 0 => {
                let check = Operation::Check(self.operand(ScalarType::Bool), FaultKind::Error);
                self.emit(code, &[], check);
            }
            4 => {
                let (from, to) = (TYPES[self.below(5)], TYPES[self.below(5)]);
                let operand = self.operand(from);
                self.scalar(code, ScalarOp::Cast(to), vec![operand], to);
            }
            _ => loop {
                let (op, ty) = (OPERATORS[self.below(OPERATORS.len())], TYPES[self.below(5)]);
                let mut types = vec![ty; math::arity(op)];
                if op == ScalarOp::Select {
                    types[0] = ScalarType::Bool;
                }
                let Some(result) = math::result_type(op, &types) else { continue };
                let mut operands: Vec<Operand> = types.iter().map(|ty| self.operand(*ty)).collect();
                let divides = matches!(op, ScalarOp::Mod | ScalarOp::FloorDiv | ScalarOp::Quot)
                    && ty.is_int();
                if divides && self.below(8) != 0 {
                    let one = math::eval(ScalarOp::Cast(ty), &[Scalar::I64(3)]).expect("a cast");
                    operands[1] = Operand::Scalar(one);
                }
                self.scalar(code, op, operands, result);
                return;
            },
        }
    }

    /// A loop that ends: its first state counts to a small bound.
    fn repetition(&mut self, code: &mut Code, depth: usize) {
        let types: Vec<ScalarType> =
            [ScalarType::I64].into_iter().chain((0..2).map(|_| TYPES[self.below(5)])).collect();
        let zero = Operand::Scalar(Scalar::I64(0));
        let mut initial = vec![zero];
        initial.extend(types[1..].iter().map(|ty| self.operand(*ty)));
        let bound = match self.below(3) {
            0 => Operand::Scalar(Scalar::I64(5)),
            _ => {
                let number = self.operand(ScalarType::I64);
                let seven = Operand::Scalar(Scalar::I64(7));
                self.scalar(code, ScalarOp::Mod, vec![number, seven], ScalarType::I64)
            }
        };
        let state: Vec<(Register, ScalarType)> = types.iter().map(|ty| self.fresh(*ty)).collect();
        let mark = self.scope.len();
        self.scope.extend(&state);
        let mut condition = self.code(1, 0, &[]);
        let counter = Operand::Register(state[0].0);
        let holds =
            self.scalar(&mut condition, ScalarOp::Lt, vec![counter, bound], ScalarType::Bool);
        let extra = self.scope.len();
        condition.results = vec![holds];
        if self.below(2) == 0 {
            let more = self.operand(ScalarType::Bool);
            let seen = state.iter().any(|(register, _)| more == Operand::Register(*register));
            if seen {
                let both =
                    self.scalar(&mut condition, ScalarOp::And, vec![holds, more], ScalarType::Bool);
                condition.results = vec![both];
            }
        }
        self.scope.truncate(extra - 1);
        let length = self.below(6);
        let mut body = self.code(length, depth - 1, &types);
        let one = Operand::Scalar(Scalar::I64(1));
        let next = self.scalar(&mut body, ScalarOp::Add, vec![counter, one], ScalarType::I64);
        body.results[0] = next;
        self.scope.truncate(mark);
        self.emit(code, &types, Operation::While { state, initial, condition, body });
    }
}

/// A kernel that stores what code yields, and the same code on the host for every point.
fn check(seed: usize, native: Option<&Native>) {
    let random = noise(usize::MAX).skip(seed * 1013);
    let extents = [vec![N], vec![6, 15], vec![3, 250], vec![2, 3, 15]][seed % 4].clone();
    let indices: Vec<Register> = (0..extents.len()).map(|at| Register(at as u32)).collect();
    let mut author = Author {
        random: Box::new(random),
        registers: extents.len() as u32,
        scope: indices.iter().map(|index| (*index, ScalarType::I64)).collect(),
    };
    let results = [ScalarType::I64, ScalarType::F64, ScalarType::Bool];
    let length = 3 + author.below(30);
    let body = author.code(length, 3, &results);

    let size = Size::Constant(N);
    let sizes: Vec<Size> = extents.iter().map(|extent| Size::Constant(*extent)).collect();
    let ty = |element, extents: &[Size]| Type { element, extents: extents.to_vec() };
    let mut types =
        vec![ty(ScalarType::I64, &[]), ty(ScalarType::I64, &[size]), ty(ScalarType::F64, &[size])];
    let inputs = [Var(1), Var(2)].map(|data| Leaf { axes: vec![Dimension::Dense(size)], data });
    let space: Vec<Dimension> = sizes.iter().map(|size| Dimension::Dense(*size)).collect();
    let mut sinks = Vec::new();
    let mut outputs = Vec::new();
    for (element, value) in results.iter().zip(&body.results) {
        let array = Var(types.len() as u32);
        types.push(ty(*element, &sizes));
        sinks.push(Sink::Store { value: *value, array });
        outputs.push(Leaf { axes: space.clone(), data: array });
    }
    let kernel = Kernel {
        name: "random".into(),
        space,
        indices: indices.clone(),
        body: body.clone(),
        sinks,
        epilogue: None,
        fused: Vec::new(),
        span: Span::default(),
    };
    let program = |step, outputs: &[Leaf], types: &[Type]| Program {
        inputs: inputs.to_vec(),
        body: Block { steps: vec![step], results: Vec::new() },
        outputs: outputs.to_vec(),
        types: types.to_vec(),
    };
    let workers = Workers::new(1);
    let config = Config { workers: &workers, memory_limit: 1 << 30 };
    let values = [
        i64s(noise(N as usize).map(|bits| (bits % 19) as i64 - 4).collect()),
        f64s(noise(N as usize).map(|bits| (bits % 31) as f64 / 4.0 - 3.0).collect()),
    ];
    let result_of = |program: &Program, mut kernels: KernelCache| {
        weft_ir::plan::check(program).unwrap_or_else(|error| panic!("{error}\n{program}"));
        let prepared = prepare(program, &mut kernels);
        run(program, &prepared, &values, &config, &AtomicBool::new(false), &mut |_| {})
    };
    let result = |program: &Program| result_of(program, KernelCache::new());
    let whole = program(Step::Launch(Box::new(kernel)), &outputs, &types);
    let kernels = native.map(|native| KernelCache::with_native(native.clone(), Tier::Native));
    let found = result_of(&whole, kernels.unwrap_or_default());
    let mut faults = false;
    for point in 0..extents.iter().product::<i64>() {
        let mut code = Code::default();
        let mut rest = point;
        for (index, extent) in indices.iter().zip(&extents).rev() {
            let operands = [rest % extent, 0].map(|at| Operand::Scalar(Scalar::I64(at)));
            let operation = Operation::Scalar(ScalarOp::Add, operands.to_vec());
            let (results, span) = (vec![(*index, ScalarType::I64)], Span::default());
            code.instructions.push(Instruction { results, operation, span });
            rest /= extent;
        }
        code.instructions.extend(body.instructions.iter().cloned());
        code.results = body.results.clone();
        let mut types = types[..3].to_vec();
        types.extend(results.iter().map(|element| ty(*element, &[])));
        let scalars = [Var(3), Var(4), Var(5)];
        let leaves = scalars.map(|data| Leaf { axes: Vec::new(), data });
        let step = Step::Host { results: scalars.to_vec(), code, span: Span::default() };
        let Ok(expected) = result(&program(step, &leaves, &types)) else {
            faults = true;
            continue;
        };
        let Ok(found) = &found else { continue };
        for (found, expected) in found.iter().zip(&expected) {
            let (Value::Array(found), Value::Scalar(expected)) = (found, expected) else {
                panic!("an array and a scalar")
            };
            let mut column = found.elements.clone();
            for _ in 1..extents.len() {
                column = column.flatten();
            }
            let found = column.scalar(point as usize).expect("scalars");
            assert!(
                found.same_bits(*expected),
                "seed {seed}, point {point}: {found:?}, not {expected:?}\n{whole}"
            );
        }
    }
    assert_eq!(found.is_err(), faults, "seed {seed}: faults\n{whole}");
}

#[test]
fn random_code_yields_what_the_host_yields() {
    for seed in 0..400 {
        check(seed, None);
    }
}

#[test]
fn random_code_yields_the_same_as_native_functions() {
    let config = NativeConfig { cache: None, ..NativeConfig::of_environment() };
    let native = Native::new(config);
    for seed in 400..460 {
        check(seed, Some(&native));
    }
    assert_eq!(native.take_notice(), None);
    let statistics = native.statistics();
    assert!(statistics.compiled >= 55 && statistics.failed == 0, "{statistics:?}");
}
