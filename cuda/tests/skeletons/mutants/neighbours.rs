//! Mutants of the maps that read neighbours, or columns.

use weft_ir::{Column, Scalar, ScalarType};

use super::{NONE, Subject};
use crate::{column, dense};

fn numbers(length: i64) -> Column {
    column(ScalarType::I64, (0..length).map(Scalar::I64))
}

fn numbers_f32(length: i64) -> Column {
    column(ScalarType::F32, (0..length).map(|at| Scalar::F32(at as f32)))
}

pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "neighbours below and to the left",
        text: "input a2: [a0][a1]f32
launch \"map\" [a0][a1] (r0 r1)
  r2: i64 = add r0 1i64
  r3: i64 = read a0
  r4: bool = lt r2 r3
  r6: f32 = if r4
    r5: f32 = read a2 r2 r1
    yield r5
  else
    yield 0.5f32
  r7: i64 = sub r1 1i64
  r8: bool = ge r7 0i64
  r10: f32 = if r8
    r9: f32 = read a2 r0 r7
    yield r9
  else
    yield 0.25f32
  r11: f32 = add r6 r10
  yield r11
  store r11 to a7: [a0][a1]f32
end
output a7: [a0][a1]f32
",
        inputs: || vec![dense(6, 150, numbers_f32(6 * 150))],
        mutants: &[
            ("r1 + (N - 1) * APART < in.a1 && ", NONE),
            ("r1 >= 1 && ", NONE),
            ("r0 + 2 <= r3", "r0 <= r3"),
            ("const i64 r1 = last + lane * APART;", "const i64 r1 = last;"),
            ("at + lane * (K::INSIDE ? APART : 1), from", "at + lane, from"),
            ("thread / APART * TOGETHER + thread % APART", "thread"),
            ("  if (!done) {", "  if (false) {"),
        ],
    },
    Subject {
        name: "neighbours above and to the right",
        text: include_str!("../../../gate/plans/neighbours.plan"),
        inputs: || vec![dense(6, 150, numbers_f32(6 * 150))],
        mutants: &[("r0 >= 1 && ", NONE), ("r1 + 2 + (N - 1) * APART <= r8", "r1 + 2 <= r8")],
    },
    Subject {
        name: "a point and its neighbour to the right",
        text: "input a2: [a0][a1]f32
launch \"map\" [a0][a1] (r0 r1)
  r2: f32 = read a2 r0 r1
  r3: i64 = add r1 1i64
  r4: i64 = read a1
  r5: bool = lt r3 r4
  r7: f32 = if r5
    r6: f32 = read a2 r0 r3
    yield r6
  else
    yield 1.0f32
  r8: f32 = add r2 r7
  yield r8
  store r8 to a7: [a0][a1]f32
end
output a7: [a0][a1]f32
",
        inputs: || vec![dense(6, 150, numbers_f32(6 * 150))],
        mutants: &[
            ("to[at] = from[at * APART];", "to[at] = from[at];"),
            ("to[at * APART] = from[at];", "to[at] = from[at];"),
        ],
    },
    Subject {
        name: "map_transposed",
        text: "input a2: [a0][a1]i64
launch \"map\" [a1][a0] (r0 r1)
  r2: i64 = read a2 r1 r0
  yield r2
  store r2 to a3: [a1][a0]i64
end
output a3: [a1][a0]i64
",
        inputs: || vec![dense(35, 36, numbers(35 * 36))],
        mutants: &[
            ("  __syncthreads();  /* fetched */", NONE),
            ("if (lane < rows && column < columns) {", "if (column < columns) {"),
            ("if (lane < rows && column < columns) {", "if (lane < rows) {"),
            ("if (row < rows && lane < columns) {", "if (row < rows) {"),
            ("if (row < rows && lane < columns) {", "if (lane < columns) {"),
        ],
    },
];
