//! Random programs of *flat*: what they yield, their plans yield, however they are fused.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat};
use weft_ir::{Array, Column, Value, flat, plan};
use weft_passes::{fuse::fuse, place};

use crate::suite::with_stack;
use crate::{GREEDY, ILP, OFF};

/// A generator of programs over arrays of one extent `[a0]`, of rows `[a0][a0]`, and scalars.
struct Generator {
    state: u64,
    text: String,
    next: u32,
    arrays: Vec<u32>,
    matrices: Vec<u32>,
    scalars: Vec<u32>,
}

impl Generator {
    fn below(&mut self, bound: usize) -> usize {
        self.state = self.state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((self.state >> 33) as usize) % bound
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    fn pick(&mut self, from: &[u32]) -> u32 {
        // Later ones more often, so that programs are deep.
        let back = self.below(from.len()).min(self.below(from.len()));
        from[from.len() - 1 - back]
    }

    /// An element of some array at a function of `index`, in register `to`; registers from `to` on
    /// are used.
    fn read(&mut self, to: usize, index: &str, indent: &str) {
        let arrays = self.arrays.clone();
        let array = self.pick(&arrays);
        let (size, at) = (to + 1, to + 2);
        let text = match self.below(5) {
            0 => format!(
                "{indent}r{size}: i64 = read a0\n{indent}r{at}: i64 = sub r{size} 1i64\n{indent}\
                 r{}: i64 = sub r{at} {index}\n{indent}r{to}: i64 = read a{array} r{}\n",
                to + 3,
                to + 3
            ),
            1 => format!(
                "{indent}r{size}: i64 = read a0\n{indent}r{at}: i64 = read a{array} {index}\n\
                 {indent}r{}: i64 = mod r{at} r{size}\n{indent}r{to}: i64 = read a{array} r{}\n",
                to + 3,
                to + 3
            ),
            _ => format!("{indent}r{to}: i64 = read a{array} {index}\n"),
        };
        self.text.push_str(&text);
    }

    /// Code of one element at the point `index`, in register `r40`.
    fn element(&mut self, index: &str) {
        self.read(10, index, "  ");
        match self.below(4) {
            0 => {
                self.text.push_str("  r30: bool = gt r10 0i64\n  r31: i64 = if r30\n");
                self.read(20, index, "    ");
                self.text.push_str("    yield r20\n  else\n    yield r10\n");
            }
            1 => {
                self.read(20, index, "  ");
                self.text.push_str("  r31: i64 = gcd r10 r20\n");
            }
            2 => {
                let scalars = self.scalars.clone();
                let scalar = self.pick(&scalars);
                writeln!(self.text, "  r30: i64 = read a{scalar}").expect("a string");
                self.text.push_str("  r31: i64 = sub r10 r30\n");
            }
            _ => self.text.push_str("  r31: i64 = mul r10 3i64\n"),
        }
        let op = ["add r31 r10", "gcd r31 6i64", "sub r31 1i64"][self.below(3)];
        writeln!(self.text, "  r40: i64 = {op}").expect("a string");
    }

    fn statement(&mut self) {
        const ADD: &str = "by (r0: i64) (r1: i64)\n  r2: i64 = add r0 r1\n  yield r2\n";
        let result = self.fresh();
        match self.below(11) {
            0..=3 => {
                writeln!(self.text, "a{result}: [a0]i64 = map [a0] (r0)").expect("a string");
                self.element("r0");
                self.text.push_str("  yield r40\n");
                self.arrays.push(result);
            }
            4 => {
                writeln!(self.text, "a{result}: i64 = reduce [a0] (r0)").expect("a string");
                self.element("r0");
                write!(self.text, "  yield r40\n{ADD}if_empty ()\n  yield 0i64\n").expect("ok");
                self.scalars.push(result);
            }
            5 => {
                writeln!(self.text, "a{result}: [a0]i64 = scan inclusive [a0] (r0)").expect("ok");
                self.element("r0");
                write!(self.text, "  yield r40\n{ADD}").expect("a string");
                self.arrays.push(result);
            }
            6 => {
                writeln!(self.text, "a{result}: [a0][a0]i64 = map [a0][a0] (r0 r1)").expect("ok");
                self.element(["r0", "r1"][result as usize % 2]);
                self.text.push_str("  r41: i64 = mul r0 r1\n  r42: i64 = gcd r40 r41\n");
                self.text.push_str("  yield r42\n");
                self.matrices.push(result);
            }
            7 if !self.matrices.is_empty() => {
                let matrices = self.matrices.clone();
                let matrix = self.pick(&matrices);
                writeln!(self.text, "a{result}: [a0]i64 = reduce [a0][a0] (r0 r1)").expect("ok");
                let index = ["r0 r1", "r1 r0"][self.below(2)];
                writeln!(self.text, "  r40: i64 = read a{matrix} {index}").expect("a string");
                write!(self.text, "  yield r40\n{ADD}from (r0)\n").expect("a string");
                self.read(10, "r0", "  ");
                self.text.push_str("  yield r10\n");
                self.arrays.push(result);
            }
            8 => {
                writeln!(self.text, "a{result}: [a0]i64 = sort [a0] (r0)").expect("a string");
                self.element("r0");
                self.text.push_str("  yield r40\n");
                self.arrays.push(result);
            }
            9 => {
                let (kept, more) = (self.fresh(), self.fresh());
                writeln!(self.text, "a{result}: i64, a{kept}: [a{result}]i64 = filter [a0] (r0)")
                    .expect("a string");
                self.element("r0");
                self.text.push_str("  r41: bool = gt r40 0i64\n  yield r41 r40\n");
                writeln!(self.text, "a{more}: i64 = reduce [a{result}] (r0)").expect("a string");
                writeln!(self.text, "  r1: i64 = read a{kept} r0\n  r2: i64 = gcd r1 r0")
                    .expect("a string");
                write!(self.text, "  yield r2\n{ADD}if_empty ()\n  yield 0i64\n").expect("ok");
                self.scalars.extend([result, more]);
            }
            _ => {
                let arrays = self.arrays.clone();
                let destination = self.pick(&arrays);
                writeln!(self.text, "a{result}: [a0]i64 = scatter into a{destination} [a0] (r0)")
                    .expect("a string");
                self.element("r0");
                self.text.push_str("  r41: i64 = read a0\n  r42: i64 = mod r40 r41\n");
                self.text.push_str("  yield r42 r40\n");
                self.arrays.push(result);
            }
        }
    }

    fn program(seed: u64, length: usize) -> String {
        let mut generator = Generator {
            state: seed.wrapping_mul(0x9e3779b97f4a7c15) + 1,
            text: "input a1: [a0]i64\ninput a2: [a0]i64\ninput a3: i64\n".to_owned(),
            next: 4,
            arrays: vec![1, 2],
            matrices: Vec::new(),
            scalars: vec![3],
        };
        for _ in 0..length {
            generator.statement();
        }
        for _ in 0..2 {
            let (arrays, scalars) = (generator.arrays.clone(), generator.scalars.clone());
            let (array, scalar) = (generator.pick(&arrays), generator.pick(&scalars));
            writeln!(generator.text, "output a{array}: [a0]i64\noutput a{scalar}: i64")
                .expect("ok");
        }
        generator.text
    }
}

fn integers(values: &[i64]) -> Value {
    Value::Array(Arc::new(Array::new(Column::I64(values.to_vec().into()))))
}

#[test]
fn plans_of_random_programs() {
    let inputs = [
        integers(&[3, -1, 4, 1, -5, 9, 2]),
        integers(&[2, 7, 1, -8, 2, 8, 1]),
        Value::Scalar(weft_ir::Scalar::I64(5)),
    ];
    let limits = Limits { memory: 1 << 28, recursion: 100, stack: weft_lang::STACK_BYTES };
    let cancel = AtomicBool::new(false);
    with_stack(|| {
        for seed in 0..400 {
            let text = Generator::program(seed, 3 + seed as usize % 18);
            let flat = flat::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            flat::check(&flat).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
            let expected = run_flat(&flat, &inputs, &limits, &cancel);
            let expected = expected.unwrap_or_else(|stop| panic!("{stop:?}\n{text}"));
            for config in [ILP, GREEDY, OFF] {
                let fused = fuse(&flat, &config);
                let plan = place(fused.program);
                plan::check(&plan).unwrap_or_else(|problem| panic!("{text}\n{plan}\n{problem}"));
                let found = run_flat(&plan::read_back(&plan), &inputs, &limits, &cancel);
                let found = found.unwrap_or_else(|stop| panic!("{stop:?}\n{text}\n{plan}"));
                let same = found.iter().zip(&expected).all(|(a, b)| a.same_bits(b));
                assert!(same, "seed {seed}\n{text}\n{plan}\n{found:?}\n{expected:?}");
                assert_eq!(fused.report.objective.kernels, fused.report.kernels.len(), "{plan}");
                let stored: usize = fused
                    .report
                    .kernels
                    .iter()
                    .flat_map(|kernel| &kernel.writes)
                    .filter(|array| !plan.types[array.0 as usize].extents.is_empty())
                    .count();
                assert_eq!(fused.report.objective.arrays, stored, "{plan}");
                assert!(fused.report.objective <= fused.report.greedy);
            }
        }
    });
}
