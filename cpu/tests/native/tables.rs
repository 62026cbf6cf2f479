//! Loops over a matrix at each point (Note [Matrices row by row] in `weft_ir`'s `rows`) as functions, against the same
//! loops step by step.

use weft_cpu::{Native, Tier};
use weft_ir::{Column, Value};

use super::{array, config, noise, same, try_run};

/// Adds the length of the last row to the first element of row 0.
const FIRST: &str = "input a7: [a0][~a2 a3][~a5 a6]i64 where a2: [a1]i64, a5: [a4]i64
a24: i64, a25: i64, a33: i64 = host
  r0: i64 = read a0
  r1: i64 = add r0 1i64
  r2: i64 = read a3
  r3: i64 = add r2 1i64
  yield r1 r3 0i64
a34: i64, a26: i64, a27: i64, a28: [a26]i64, a29: i64, a30: i64, a31: [a29]i64, a32: [a30]i64 = while (a8: i64 = a33, a9: i64 = a24, a10: i64 = a3, a11: [a9]i64 = a2, a12: i64 = a25, a13: i64 = a6, a14: [a12]i64 = a5, a15: [a13]i64 = a7)
  a16: bool = host
    r0: i64 = read a8
    r1: bool = lt r0 1i64
    yield r1
  yield a16
do
  a17: bool, a22: i64, a23: i64 = host
    r0: i64 = read a8
    r1: bool = ge r0 0i64
    r2: i64 = read a10
    r3: i64 = add r2 1i64
    r4: i64 = add r0 1i64
    yield r1 r3 r4
  launch \"map\" [a0] (r0)
    r1: i64 = read a11 r0
    r2: bool = read a17
    r3: i64 = read a8
    r4: i64 = add r0 1i64
    r5: i64 = read a11 r4
    r6: i64 = sub r5 r1
    r7: bool = lt r3 r6
    r8: bool = and r2 r7
    check r8 index
    r9: i64 = add r1 r3
    r10: i64 = read a14 r9
    r11: i64 = add r9 1i64
    r12: i64 = read a14 r11
    r13: i64 = sub r12 r10
    r14: bool = lt 0i64 r13
    check r14 index
    r15: i64 = read a15 r10
    r16: i64 = sub r6 1i64
    r17: bool = ge r16 0i64
    r18: bool = lt r16 r6
    r19: bool = and r17 r18
    check r19 index
    r20: i64 = add r1 r16
    r21: bool = ge r20 -9223372036854775808i64
    check r21 index
    r22: i64 = add r20 1i64
    r23: i64 = read a14 r22
    r24: i64 = read a14 r20
    r25: i64 = sub r23 r24
    r26: i64 = add r15 r25
    yield r10 r26
    store r10 to a18: [a0]i64
    store r26 to a19: [a0]i64
  end
  launch \"scatter\" [a0][1] (r0 r1)
    r2: i64 = read a18 r0
    r3: i64 = read a19 r0
    yield r2 r3
    scatter r3 at r2 into a15 to a20: [a13]i64
  end
  free a15 a18 a19
  yield a23 a24 a10 a11 a22 a13 a14 a20
rows a0
  given a0 all a8
  given a1 length a11 1
  given a2 width a14 of a11
  given a3 matrix a15 a14 of a11
  state all 0
  state kept
  state kept
  state kept
  state kept
  state kept
  state kept
  state matrix 1 a14 of a11
  input a0: i64
  input a3: [a1][a2]i64
  a14: i64, a15: [a1][a2]i64 = while (a4: i64 = a0, a5: [a1][a2]i64 = a3)
    a6: bool = host
      r0: i64 = read a4
      r1: bool = lt r0 1i64
      yield r1
    yield a6
  do
    a9: i64, a11: i64 = host
      r0: i64 = read a4
      r1: bool = ge r0 0i64
      r2: i64 = read a1
      r3: bool = lt r0 r2
      r4: bool = and r1 r3
      check r4 index
      r5: i64 = read a2
      r6: bool = lt 0i64 r5
      check r6 index
      r7: i64 = read a5 r0 0i64
      r8: i64 = sub r2 1i64
      r9: bool = ge r8 0i64
      r10: bool = lt r8 r2
      r11: bool = and r9 r10
      check r11 index
      r12: i64 = add r7 r5
      r13: i64 = add r0 1i64
      yield r12 r13
    launch \"scatter\" [1] (r0)
      r1: i64 = read a4
      r2: i64 = read a9
      yield r1 r2
      scatter r2 at r1 0i64 into a5 to a10: [a1][a2]i64
    end
    free a5
    yield a11 a10
  output a14: i64
  output a15: [a1][a2]i64
end
output a32: [a0][~a28 a27][~a31 a30]i64
";

/// A matrix at each point, with rows of these lengths.
fn matrices(lengths: &[&[usize]]) -> Value {
    let ends = |lengths: &mut dyn Iterator<Item = usize>| {
        let mut ends = vec![0];
        lengths.for_each(|length| ends.push(ends[ends.len() - 1] + length));
        ends
    };
    let rows = ends(&mut lengths.iter().flat_map(|lengths| lengths.iter().copied()));
    let numbers = noise(rows[rows.len() - 1]).map(|bits| (bits % 97) as i64);
    let elements = Box::new(Column::I64(numbers.collect::<Vec<i64>>().into()));
    let inner = Box::new(Column::Ragged { offsets: rows.into(), inner: elements });
    let points = ends(&mut lengths.iter().map(|lengths| lengths.len()));
    array(Column::Ragged { offsets: points.into(), inner })
}

fn check(lengths: &[&[usize]]) {
    let native = Native::new(config(None));
    let inputs = [matrices(lengths)];
    let expected = try_run(FIRST, &inputs, 1, None).expect("a value");
    for threads in [1, 2] {
        let found =
            try_run(FIRST, &inputs, threads, Some((&native, Tier::Native))).expect("a value");
        assert!(same(&expected, &found), "{lengths:?}");
    }
    let statistics = native.statistics();
    assert!(statistics.compiled > 0 && statistics.failed == 0, "{statistics:?}");
}

#[test]
fn matrices_of_many_sizes() {
    check(&[&[2, 2], &[3], &[1, 1, 1, 1]]);
    check(&[&[5, 5, 5]]);
}

#[test]
fn rows_that_differ_in_length_are_left_to_the_host() {
    check(&[&[1, 2], &[3]]);
    check(&[&[3], &[2, 2, 5]]);
    check(&[&[2, 2], &[4, 1]]);
}
