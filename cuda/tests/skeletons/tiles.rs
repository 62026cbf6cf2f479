//! Reductions whose points share what they read: grids as of a matrix product, and all pairs.

use weft_ir::{Column, Scalar, ScalarOp, ScalarType, Value, math};

use crate::operators::{OPERATORS, Operator, Tuple, tree};
use crate::{Compiled, array, column, dense, emulated, schedule_of};

/// How the elements of two sides combine before they are folded.
fn of_pair(ty: ScalarType) -> ScalarOp {
    if ty == ScalarType::Bool { ScalarOp::Or } else { ScalarOp::Mul }
}

/// The fold of each pair of a row of one side and a row of the other; `space` and `indices` are those of
/// the reduction, sides and rows are types and indices of what is read.
fn plan(
    operator: &Operator,
    (space, indices): (&str, &str),
    sides: [(&str, &str); 2],
    (rows, start): (&str, &str),
) -> Compiled {
    let first = [20, 30];
    let mut text = String::new();
    for ((head, _), first) in sides.iter().zip(first) {
        text.push_str(&operator.each(|at, ty| format!("input a{}: {head}{ty}\n", first + at)));
    }
    text.push_str(&format!("launch \"fold\" {space} ({indices})\n"));
    for ((_, index), first) in sides.iter().zip(first) {
        let read = |at: usize, ty: ScalarType| {
            format!("  r{}: {ty} = read a{} {index}\n", first + 60 + at, first + at)
        };
        text.push_str(&operator.each(read));
    }
    text.push_str(&operator.each(|at, ty| {
        let name = if ty == ScalarType::Bool { "or" } else { "mul" };
        format!("  r{}: {ty} = {name} r{} r{}\n", 100 + at, 80 + at, 90 + at)
    }));
    let values = operator.list(" ", |at, _| format!("r{}", at + 100));
    let registers = operator.list(", ", |at, ty| format!("r{}: {ty}", at + 50));
    let results = operator.list(", ", |at, ty| format!("a{}: {rows}{ty}", at + 10));
    let by = operator.text(Some(start));
    text.push_str(&format!(
        "  yield {values}\n  reduce {values} as ({registers}) to {results}\n{by}end\n"
    ));
    text.push_str(&operator.each(|at, ty| format!("output a{}: {rows}{ty}\n", at + 10)));
    Compiled::new(&text)
}

/// What a row of one side and a row of the other come to.
fn folded(operator: &Operator, left: &[Tuple], right: &[Tuple]) -> Tuple {
    let pair = |(left, right): (&Tuple, &Tuple)| -> Tuple {
        let components = operator.types.iter().zip(left.iter().zip(right));
        let of = |(ty, (left, right)): (&ScalarType, (&Scalar, &Scalar))| {
            math::eval(of_pair(*ty), &[*left, *right]).expect("no trap")
        };
        components.map(of).collect()
    };
    let pairs: Vec<Tuple> = left.iter().zip(right).map(pair).collect();
    let start = (operator.start)();
    match tree(&pairs, &operator.apply) {
        Some(value) => (operator.apply)(&start, &value),
        None => start,
    }
}

/// Elements that differ from those of the other side.
fn others(operator: &Operator, count: usize) -> Vec<Tuple> {
    operator.elements(count + 7).split_off(7)
}

/// The rows of a matrix with its axes exchanged.
fn exchanged(elements: &[Tuple], extent: usize) -> Vec<Tuple> {
    let rows = elements.len() / extent;
    let of = |column: usize| (0..rows).map(move |row| elements[row * extent + column].clone());
    (0..extent).flat_map(of).collect()
}

#[test]
fn grids() {
    let Some(emulated) = emulated() else { return };
    // Tiles are 16 x 64, or 32 x 128 where there are two of these; staged up to 16 deep.
    let shapes = [
        (4, 4, 0),
        (4, 4, 1),
        (15, 63, 16),
        (16, 64, 17),
        (17, 65, 15),
        (33, 5, 64),
        (5, 66, 65),
        (4, 4, 128),
        (3, 70, 20),
        (70, 3, 20),
        (4, 5, 4097),
        (5, 4, 8192),
        (33, 129, 67),
    ];
    for (number, operator) in OPERATORS.iter().enumerate() {
        // The second side is read along either of its axes.
        let along = number % 2 == 0;
        let right = if along { ("[a1][a2]", "r1 r2") } else { ("[a2][a1]", "r2 r1") };
        let sides = [("[a0][a2]", "r0 r2"), right];
        let rows = ("[a0][a1]", "r70 r71");
        let compiled = plan(operator, ("[a0][a1][a2]", "r0 r1 r2"), sides, rows);
        for (down, across, length) in shapes {
            let (left, right) =
                (operator.elements(down * length), others(operator, across * length));
            let row = |all: &[Tuple], at: usize| all[at * length..(at + 1) * length].to_vec();
            let expected: Vec<Tuple> = (0..down * across)
                .map(|at| folded(operator, &row(&left, at / across), &row(&right, at % across)))
                .collect();
            let (right, [rows, extent]) = match along || length == 0 {
                true => (right, [across, length]),
                false => (exchanged(&right, length), [length, across]),
            };
            let (rows, extent) = if along { (rows, extent) } else { (length, across) };
            let matrix = |rows, extent| move |all: Column| dense(rows, extent, all);
            let left = operator.columns(&left).into_iter().map(matrix(down, length));
            let right = operator.columns(&right).into_iter().map(matrix(rows, extent));
            let inputs: Vec<Value> = left.chain(right).collect();
            let expected = operator.columns(&expected).into_iter().map(matrix(down, across));
            let expected: Vec<Value> = expected.collect();
            compiled.yields(emulated, &inputs, schedule_of(down + length), &expected);
        }
    }
}

#[test]
fn sums_of_products_that_are_rounded_once() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a10: [a0][a2]f32
input a11: [a2][a1]f32
launch \"product\" [a0][a1][a2] (r0 r1 r2)
  r3: f32 = read a10 r0 r2
  r4: f32 = read a11 r2 r1
  yield r3 r4
  reduce r3 r4 as (r5: f32, r6: f32) to a12: [a0][a1]f32, a13: [a0][a1]f32
  by (r7: f32, r8: f32) (r9: f32, r10: f32)
    r11: f32 = mul r7 r8
    r12: f32 = fma r9 r10 r11
    yield r12 1.0f32
  from (r13 r14)
    yield 0.0f32 1.0f32
end
output a12: [a0][a1]f32
output a13: [a0][a1]f32
",
    );
    let numbers = |count: usize, from: usize| -> Vec<f32> {
        (0..count).map(|at| ((at + from) * 37 % 1009) as f32 * 0.37 - 180.0).collect()
    };
    for (down, across, length) in [
        (1, 1, 70),
        (4, 4, 1),
        (4, 5, 65),
        (17, 65, 67),
        (33, 129, 65),
        (33, 129, 130),
        (3, 70, 0),
        (5, 4, 4161),
        (4, 4, 4097),
        (33, 4, 4097),
    ] {
        let (left, right) = (numbers(down * length, 3), numbers(length * across, 5));
        let mut expected = Vec::new();
        for i in 0..down {
            for j in 0..across {
                let pair = |k: usize| (left[i * length + k], right[k * across + j]);
                let mut pairs: Vec<(f32, f32)> = (0..length).map(pair).collect();
                let combine = |(s, t): (f32, f32), (a, b): (f32, f32)| (a.mul_add(b, s * t), 1.0);
                while pairs.len() > 1 {
                    let block = |all: &[(f32, f32)]| all.iter().copied().reduce(combine);
                    pairs = pairs.chunks(64).filter_map(block).collect();
                }
                expected.push(pairs.first().map_or(0.0, |pair| combine((0.0, 1.0), *pair).0));
            }
        }
        let matrix = |rows, extent, all: Vec<f32>| {
            dense(rows, extent, column(ScalarType::F32, all.into_iter().map(Scalar::F32)))
        };
        let inputs = [matrix(down, length, left), matrix(length, across, right)];
        let ones = matrix(down, across, vec![1.0; down * across]);
        let expected = [matrix(down, across, expected), ones];
        compiled.yields(emulated, &inputs, schedule_of(down + length), &expected);
    }
}

#[test]
fn batches_of_grids_whose_elements_know_their_indices() {
    let Some(emulated) = emulated() else { return };
    // What is left of the diagonal counts double.
    let compiled = Compiled::new(
        "input a10: [a3][a0][a2]i64
input a11: [a3][a2][a1]i64
launch \"fold\" [a3][a0][a1][a2] (r0 r1 r2 r3)
  r4: i64 = read a10 r0 r1 r3
  r5: i64 = read a11 r0 r3 r2
  r6: i64 = mul r4 r5
  r7: bool = lt r2 r1
  r8: i64 = mul r6 2i64
  r9: i64 = select r7 r8 r6
  yield r9
  reduce r9 as (r20: i64) to a20: [a3][a0][a1]i64
  by (r21: i64) (r22: i64)
    r23: i64 = add r21 r22
    yield r23
  from (r24 r25 r26)
    yield r24
end
output a20: [a3][a0][a1]i64
",
    );
    let cube = |batches: usize, rows: usize, extent: usize, all: Vec<i64>| {
        let all = column(ScalarType::I64, all.into_iter().map(Scalar::I64));
        let middle = Column::Dense { len: batches * rows, extent, inner: Box::new(all) };
        dense(batches, rows, middle)
    };
    for (batches, down, across, length) in
        [(1, 4, 4, 3), (3, 17, 9, 20), (2, 20, 70, 5), (0, 20, 20, 20)]
    {
        let left: Vec<i64> = (0..(batches * down * length) as i64).map(|at| at % 17 - 4).collect();
        let right: Vec<i64> =
            (0..(batches * length * across) as i64).map(|at| at % 13 - 6).collect();
        let mut expected = Vec::new();
        for batch in 0..batches {
            for i in 0..down {
                for j in 0..across {
                    let product = |k: usize| {
                        left[(batch * down + i) * length + k]
                            * right[(batch * length + k) * across + j]
                    };
                    let sum: i64 = (0..length).map(product).sum();
                    expected.push(batch as i64 + if j < i { 2 * sum } else { sum });
                }
            }
        }
        let inputs = [cube(batches, down, length, left), cube(batches, length, across, right)];
        let expected = [cube(batches, down, across, expected)];
        compiled.yields(emulated, &inputs, schedule_of(down), &expected);
    }
}

#[test]
fn all_pairs() {
    let Some(emulated) = emulated() else { return };
    // Blocks of 64 rows, six at a time; places are staged 256 deep.
    let shapes = [
        (39, 10),
        (40, 0),
        (40, 1),
        (63, 63),
        (64, 64),
        (65, 65),
        (129, 130),
        (41, 255),
        (42, 256),
        (43, 257),
        (450, 3),
        (40, 4095),
        (40, 4161),
    ];
    for operator in &OPERATORS {
        let sides = [("[a0]", "r0"), ("[a1]", "r1")];
        let compiled = plan(operator, ("[a0][a1]", "r0 r1"), sides, ("[a0]", "r70"));
        for (rows, length) in shapes {
            let (left, right) = (operator.elements(rows), others(operator, length));
            let expected: Vec<Tuple> = left
                .iter()
                .map(|left| folded(operator, &vec![left.clone(); length], &right))
                .collect();
            let sides = operator.columns(&left).into_iter().chain(operator.columns(&right));
            let inputs: Vec<Value> = sides.map(array).collect();
            let expected: Vec<Value> = operator.columns(&expected).into_iter().map(array).collect();
            compiled.yields(emulated, &inputs, schedule_of(rows), &expected);
        }
    }
}

#[test]
fn a_failing_check_of_either_side_is_a_fault() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a10: [a0]i64
input a11: [a1]i64
input a12: [a2]i64
launch \"fold\" [a0][a1] (r0 r1)
  r2: i64 = read a10 r0
  r3: i64 = read a11 r1
  r9: i64 = read a2
  r4: bool = ge r3 0i64
  r5: bool = lt r3 r9
  r10: bool = and r4 r5
  check r10 index
  r6: i64 = read a12 r3
  r7: i64 = mul r2 r6
  yield r7
  reduce r7 as (r20: i64) to a20: [a0]i64
  by (r21: i64) (r22: i64)
    r23: i64 = add r21 r22
    yield r23
  from (r24)
    yield 0i64
end
output a20: [a0]i64
",
    );
    let run = |index: i64| {
        let inputs = [crate::i64s(0..50), crate::i64s([2, 0, index]), crate::i64s([3, 4, 5])];
        compiled.try_run(emulated, &inputs, 1)
    };
    assert!(matches!(run(3), Err(weft_ir::Stop::Fault(_))), "an index behind the end");
    let sums = crate::i64s((0..50).map(|at| at * (5 + 3 + 4)));
    assert!(run(1).expect("no fault")[0].same_bits(&sums), "all indices are in range");
}
