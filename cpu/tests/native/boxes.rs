//! Boxes of points and rows of all lengths: native functions and the block interpreter yield what obvious loops do.

use weft_cpu::{Native, Tier};
use weft_ir::{Column, Value};

use crate::{array, config, noise, same, try_run};

/// Both tiers, with one and two threads, against what is expected.
fn check(native: &Native, text: &str, inputs: &[Value], expected: &[Value], what: &str) {
    for tier in [Tier::Interpreted, Tier::Native, Tier::Turning] {
        for threads in [1, 2] {
            let found = try_run(text, inputs, threads, Some((native, tier))).expect("a value");
            assert!(same(&found, expected), "{what}, {tier:?}, {threads} threads");
        }
    }
}

fn numbers(length: usize) -> Vec<f64> {
    noise(length).map(|bits| (bits % 4001) as f64 / 500.0 - 4.0).collect()
}

fn f64s(values: Vec<f64>) -> Value {
    array(Column::F64(values.into()))
}

fn i64s(values: Vec<i64>) -> Value {
    array(Column::I64(values.into()))
}

/// Three arrays behind one another, whose elements are computed with, and the sum as integers.
const BEHIND: &str = "input a1: [a0]f64
input a3: [a2]f64
input a5: [a4]f64
a6: i64 = host
  r0: i64 = read a0
  r1: i64 = read a2
  r2: i64 = add r0 r1
  r3: i64 = read a4
  r4: i64 = add r2 r3
  yield r4
launch \"map_reduce\" [a6] (r0)
  r1: i64 = read a0
  r2: bool = lt r0 r1
  r3: i64 = sub r0 r1
  r4: i64 = read a2
  r13: f64 = if r2
    r5: f64 = read a1 r0
    yield r5
  else
    r6: bool = lt r3 r4
    r12: f64 = if r6
      r7: f64 = read a3 r3
      yield r7
    else
      r8: i64 = sub r3 r4
      r9: f64 = read a5 r8
      yield r9
    yield r12
  r14: f64 = add r13 1.5f64
  r15: f64 = mul r14 500.0f64
  r16: i64 = cast_i64 r15
  yield r14 r16
  store r14 to a7: [a6]f64
  reduce r16 as (r17: i64) to a8: i64
  by (r18: i64) (r19: i64)
    r20: i64 = add r18 r19
    yield r20
  from ()
    yield 0i64
end
output a7: [a6]f64
output a8: i64
";

#[test]
fn each_array_has_a_box() {
    let native = Native::new(config(None));
    let lengths = [0, 1, 17, 341, 342, 1024, 1500, 70_000];
    for first in lengths {
        for second in lengths {
            let third = lengths[(first + 3 * second) % lengths.len()];
            let all = numbers(first + second + third);
            let parts = [&all[..first], &all[first..first + second], &all[first + second..]];
            let inputs: Vec<Value> = parts.iter().map(|part| f64s(part.to_vec())).collect();
            let moved: Vec<f64> = all.iter().map(|x| x + 1.5).collect();
            let sum = moved.iter().map(|x| (x * 500.0) as i64).sum();
            let expected = [f64s(moved), Value::Scalar(weft_ir::Scalar::I64(sum))];
            check(&native, BEHIND, &inputs, &expected, &format!("{first} {second} {third}"));
        }
    }
    assert!(native.statistics().failed == 0);
}

/// Rows of two matrices side by side, computed with: a box for each along the last dimension.
const BESIDE: &str = "input a2: [a0][a1]f64
input a4: [a0][a3]f64
a5: i64 = host
  r0: i64 = read a1
  r1: i64 = read a3
  r2: i64 = add r0 r1
  yield r2
launch \"map\" [a0][a5] (r0 r1)
  r2: i64 = read a1
  r3: bool = lt r1 r2
  r4: i64 = sub r1 r2
  r7: f64 = if r3
    r5: f64 = read a2 r0 r1
    yield r5
  else
    r6: f64 = read a4 r0 r4
    yield r6
  r8: f64 = mul r7 3.0f64
  yield r8
  store r8 to a6: [a0][a5]f64
end
output a6: [a0][a5]f64
";

#[test]
fn rows_beside_rows() {
    let native = Native::new(config(None));
    let matrix = |elements: &[f64], extent: usize, rows: usize| {
        let inner = Box::new(Column::F64(elements.to_vec().into()));
        array(Column::Dense { len: rows, extent, inner })
    };
    for [rows, left, right] in
        [[1, 700, 600], [40, 16, 17], [90, 100, 92], [70, 191, 2], [3, 1, 2000], [300, 300, 300]]
    {
        let (a, b) = (numbers(rows * left), numbers(rows * right));
        let mut all = Vec::new();
        for row in 0..rows {
            all.extend(a[row * left..(row + 1) * left].iter().map(|x| x * 3.0));
            all.extend(b[row * right..(row + 1) * right].iter().map(|x| x * 3.0));
        }
        let inputs = [matrix(&a, left, rows), matrix(&b, right, rows)];
        let expected = [matrix(&all, left + right, rows)];
        check(&native, BESIDE, &inputs, &expected, &format!("{rows} {left} {right}"));
    }
}

/// Rows that an array chooses, computed with.
const CHOSEN: &str = "input a2: [a0][a1]i64
input a4: [a3]i64
launch \"map\" [a3][a1] (r0 r1)
  r2: i64 = read a4 r0
  r3: bool = ge r2 0i64
  r4: i64 = read a0
  r5: bool = lt r2 r4
  r6: bool = and r3 r5
  check r6 index
  r7: i64 = read a2 r2 r1
  r8: i64 = add r7 r0
  r9: i64 = add r8 r1
  yield r9
  store r9 to a5: [a3][a1]i64
end
output a5: [a3][a1]i64
";

/// Lengths of rows around those at which the way changes.
const LENGTHS: [usize; 20] =
    [0, 1, 2, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 191, 192, 193];

#[test]
fn dense_rows_of_all_lengths() {
    let native = Native::new(config(None));
    for length in LENGTHS {
        let rows = 40;
        let xs: Vec<i64> = noise(rows * length).map(|bits| bits as i64 >> 8).collect();
        let chosen: Vec<i64> = (0..100).map(|row| row * 7 % rows as i64).collect();
        let mut expected = Vec::new();
        for (number, &row) in chosen.iter().enumerate() {
            for column in 0..length {
                let value = xs[row as usize * length + column];
                expected.push(value + number as i64 + column as i64);
            }
        }
        let matrix = |rows: usize, elements: Vec<i64>| {
            let inner = Box::new(Column::I64(elements.into()));
            array(Column::Dense { len: rows, extent: length, inner })
        };
        let inputs = [matrix(rows, xs), i64s(chosen.clone())];
        let expected = [matrix(chosen.len(), expected)];
        check(&native, CHOSEN, &inputs, &expected, &length.to_string());
    }
}

/// Each row backwards, less its first index.
const REVERSED: &str = "input a4: [a0][~a2 a3]i64 where a2: [a1]i64
launch \"map\" [a0][~a2 a3] (r0 r1)
  r2: i64 = read a2 r0
  r3: i64 = add r0 1i64
  r4: i64 = read a2 r3
  r5: i64 = add r2 r4
  r6: i64 = sub r5 1i64
  r7: i64 = sub r6 r1
  r8: i64 = read a4 r7
  r9: i64 = sub r8 r0
  yield r9
  store r9 to a5: [a3]i64
end
output a5: [a0][~a2 a3]i64
";

#[test]
fn ragged_rows_of_all_lengths() {
    let native = Native::new(config(None));
    let few = |length: usize| vec![length; 30];
    let mut all: Vec<Vec<usize>> = LENGTHS.iter().map(|&length| few(length)).collect();
    all.push(Vec::new());
    all.push(vec![0, 0, 0]);
    all.push(vec![0, 0, 400, 0, 1, 0, 0, 33, 5000, 0]);
    all.push((0..300).map(|row| row * 37 % 101).collect());
    all.push((0..200).map(|row| if row % 3 == 0 { 0 } else { row }).collect());
    for lengths in all {
        let mut offsets = vec![0];
        for length in &lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let xs: Vec<i64> = noise(offsets[offsets.len() - 1]).map(|bits| bits as i64 >> 8).collect();
        let mut expected = Vec::new();
        for (row, pair) in offsets.windows(2).enumerate() {
            expected.extend(xs[pair[0]..pair[1]].iter().rev().map(|x| x - row as i64));
        }
        let ragged = |elements: Vec<i64>| {
            let inner = Box::new(Column::I64(elements.into()));
            array(Column::Ragged { offsets: offsets.clone().into(), inner })
        };
        check(&native, REVERSED, &[ragged(xs)], &[ragged(expected)], &format!("{lengths:?}"));
    }
}
