//! Short rows as lanes, launched and in loops (Note [Rows side by side] in `weft_codegen`): the bits are those of the block
//! interpreter.

use weft_ir::{Scalar, Value};

use crate::{check, f32s, f64s, i64s, matrix};

/// Of all pairs of rows of two matrices: sums of floats, which begin with something, how often they differ, and an operator
/// that knows the first of its elements.
const PAIRS: &str = "input a2: [a0][a1]f64
input a4: [a3][a1]f64
launch \"pairs\" [a0][a3][a1] (r0 r1 r2)
  r3: f64 = read a2 r0 r2
  r4: f64 = read a4 r1 r2
  r5: f64 = sub r3 r4
  r6: f64 = mul r5 r5
  r7: bool = ne r3 r4
  r8: i64 = cast_i64 r7
  yield r6 r8 r3 r5
  reduce r6 as (r9: f64) to a5: [a0][a3]f64
  by (r10: f64) (r11: f64)
    r12: f64 = add r10 r11
    yield r12
  from (r13 r14)
    yield 0.25f64
  reduce r8 as (r15: i64) to a6: [a0][a3]i64
  by (r16: i64) (r17: i64)
    r18: i64 = add r16 r17
    yield r18
  if_empty (r19 r20)
    yield 7i64
  reduce r3 r5 as (r21: f64, r22: f64) to a7: [a0][a3]f64, a8: [a0][a3]f64
  by (r23: f64, r24: f64) (r25: f64, r26: f64)
    r27: f64 = sub r24 r25
    r28: f64 = add r23 r26
    yield r28 r27
  if_empty (r29 r30)
    yield 1.0f64 2.0f64
end
output a5: [a0][a3]f64
output a6: [a0][a3]i64
output a7: [a0][a3]f64
output a8: [a0][a3]f64
";

#[test]
fn rows_of_all_pairs() {
    let mut inputs = Vec::new();
    for (rows, others) in [(70, 7), (9, 8), (70, 9), (3, 24), (11, 17), (1, 100)] {
        for extent in [1, 2, 9, 16, 63, 64, 65, 130] {
            let [left, right] = [rows, others].map(|rows| matrix(&f64s(rows * extent), extent));
            inputs.push(vec![left, right]);
        }
    }
    check(PAIRS, &inputs);
}

/// A loop whose turns, as many as a20 says, make the next vector of a10 and a square matrix a2.
fn repeated(ty: &str, turn: &str) -> String {
    format!(
        "input a2: [a0][a0]{ty}
input a3: [a0]{ty}
input a20: i64
a4: i64 = host
  yield 0i64
a6: [a0]{ty} = reshape a3
a7: i64, a8: [a0]{ty} = while (a9: i64 = a4, a10: [a0]{ty} = a6)
  a11: bool = host
    r0: i64 = read a9
    r1: i64 = read a20
    r2: bool = lt r0 r1
    yield r2
  yield a11
do
  a12: i64 = host
    r0: i64 = read a9
    r1: i64 = add r0 1i64
    yield r1
{turn}
free a6
output a8: [a0]{ty}
"
    )
}

/// A vector that is multiplied with a matrix.
const POWERS: &str = "  launch \"products\" [a0][a0] (r0 r1)
    r2: f32 = read a2 ROW
    r3: f32 = read a10 r1
    r4: f32 = mul r2 r3
    yield r4
    reduce r4 as (r5: f32) to _
    by (r6: f32) (r7: f32)
      r8: f32 = add r6 r7
      yield r8
    from (r9)
      yield 0.5f32
    then (r10)
      r11: f32 = mul r5 0.125f32
      yield r11
      store r11 to a14: [a0]f32
  end
  free a10
  yield a12 a14";

#[test]
fn rows_in_a_loop() {
    let mut inputs = Vec::new();
    for extent in [1, 7, 8, 9, 15, 16, 63, 64, 65, 130, 200] {
        let turns = Value::Scalar(Scalar::I64(5));
        inputs.push(vec![matrix(&f32s(extent * extent), extent), f32s(extent), turns]);
    }
    for row in ["r0 r1", "r1 r0"] {
        check(&repeated("f32", &POWERS.replace("ROW", row)), &inputs);
    }
}

/// A vector of integers, from whose rows of products with a matrix the others are made.
const INTEGERS: &str = "  launch \"rows\" [a0][a0] (r0 r1)
    r2: i64 = read a2 ROW
    r3: i64 = read a10 r1
    r4: i64 = mul r2 r3
    r12: i64 = read a10 r0
    r13: bool = lt r2 r12
    r14: i64 = cast_i64 r13
    yield r4 r14
    reduce r4 as (r5: i64) to a13: [a0]i64
    by (r6: i64) (r7: i64)
      r8: i64 = OPERATOR r6 r7
      yield r8
    if_empty (r9)
      yield 5i64
    reduce r14 as (r15: i64) to a14: [a0]i64
    by (r16: i64) (r17: i64)
      r18: i64 = add r16 r17
      yield r18
    from (r19)
      yield 1i64
  end
  launch \"map\" [a0] (r0)
    r1: i64 = read a13 r0
    r2: i64 = read a14 r0
    r3: i64 = add r1 r2
    r4: i64 = mod r3 1000i64
    yield r4
    store r4 to a15: [a0]i64
  end
  free a10 a13 a14
  yield a12 a15";

#[test]
fn rows_of_integers_in_a_loop() {
    let mut inputs = Vec::new();
    for extent in [1, 5, 8, 64, 65, 150] {
        let turns = Value::Scalar(Scalar::I64(4));
        inputs.push(vec![matrix(&i64s(extent * extent, 90), extent), i64s(extent, 50), turns]);
    }
    for operator in ["add", "min", "max", "bit_xor"] {
        for row in ["r0 r1", "r1 r0"] {
            let turn = INTEGERS.replace("OPERATOR", operator).replace("ROW", row);
            check(&repeated("i64", &turn), &inputs);
        }
    }
}

/// A vector whose elements move by so many places in each of three turns: behind its border there is another box.
const ROTATED: &str = "input a1: [a0]i64
input a20: i64
a9: i64 = host
  yield 0i64
a10: i64, a8: [a0]i64 = while (a2: i64 = a9, a3: [a0]i64 = a1)
  a4: bool = host
    r0: i64 = read a2
    r1: bool = lt r0 3i64
    yield r1
  yield a4
do
  a5: i64, a7: i64 = host
    r1: i64 = read a20
    r2: i64 = read a2
    r3: i64 = add r2 1i64
    yield r1 r3
  launch \"map\" [a0] (r0)
    r1: i64 = read a5
    r2: i64 = add r0 r1
    r3: i64 = read a0
    r4: bool = ge r2 r3
    r6: i64 = if r4
      r5: i64 = sub r2 r3
      yield r5
    else
      yield r2
    r7: bool = ge r6 0i64
    r8: bool = lt r6 r3
    r9: bool = and r7 r8
    check r9 index
    r10: i64 = read a3 r6
    yield r10
    store r10 to a6: [a0]i64
  end
  free a3
  yield a7 a6
output a8: [a0]i64
";

#[test]
fn two_boxes_that_need_the_same_register() {
    let inputs = |(length, places): (usize, i64)| {
        vec![i64s(length, 100), Value::Scalar(Scalar::I64(places))]
    };
    let all = [(1, 0), (1, 1), (17, 0), (17, 5), (17, 17), (64, 1), (100, 99)];
    check(ROTATED, &all.map(inputs));
}
