//! Mutants of the skeletons whose points share what they read.

use weft_ir::{Column, Scalar, ScalarType};

use super::Subject;
use crate::{column, dense, i64s};

fn numbers(length: i64) -> Column {
    column(ScalarType::I64, (0..length).map(Scalar::I64))
}

fn floats(length: i64) -> Column {
    column(ScalarType::F32, (0..length).map(|at| Scalar::F32((at % 13) as f32)))
}

/// Products that are added with one rounding.
const ROUNDED_ONCE: &str = "input a3: [a0][a2]f32
input a4: [a1][a2]f32
launch \"product\" [a0][a1][a2] (r0 r1 r2)
  r3: f32 = read a3 r0 r2
  r4: f32 = read a4 r1 r2
  yield r3 r4
  reduce r3 r4 as (r5: f32, r6: f32) to a5: [a0][a1]f32, _
  by (r7: f32, r8: f32) (r9: f32, r10: f32)
    r11: f32 = mul r7 r8
    r12: f32 = fma r9 r10 r11
    yield r12 1.0f32
  from (r13 r14)
    yield 0.0f32 1.0f32
end
output a5: [a0][a1]f32
";

pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "reduce_grid",
        text: "input a3: [a0][a2]i64
input a4: [a1][a2]i64
launch \"product\" [a0][a1][a2] (r0 r1 r2)
  r3: i64 = read a3 r0 r2
  r4: i64 = read a4 r1 r2
  r5: i64 = mul r3 r4
  yield r5
  reduce r5 as (r6: i64) to a5: [a0][a1]i64
  by (r7: i64) (r8: i64)
    r9: i64 = add r7 r8
    yield r9
  from (r10 r11)
    yield 0i64
end
output a5: [a0][a1]i64
",
        inputs: || vec![dense(18, 135, numbers(18 * 135)), dense(67, 135, numbers(67 * 135))],
        mutants: &[
            (
                "      __syncthreads();  /* staged */\n    }\n    if (Tile::AHEAD",
                "    }\n    if (Tile::AHEAD",
            ),
            (
                "    __syncthreads();  /* shared is free */\n    const i64 end = base + here;",
                "    const i64 end = base + here;",
            ),
            (
                "lesser(Tile::template along<K::LEFT_ALONG, DOWN>(turn, thread), last)",
                "(Tile::template along<K::LEFT_ALONG, DOWN>(turn, thread))",
            ),
            (
                "lesser(Tile::template across<K::LEFT_ALONG, DOWN>(turn, thread), rows - 1)",
                "(Tile::template across<K::LEFT_ALONG, DOWN>(turn, thread))",
            ),
            (
                "lesser(Tile::template across<K::RIGHT_ALONG, ACROSS>(turn, thread), columns - 1)",
                "(Tile::template across<K::RIGHT_ALONG, ACROSS>(turn, thread))",
            ),
            ("for (int k = 1; k < DEPTH", "for (int k = 0; k < DEPTH"),
            ("for (int k = 1; k < here", "for (int k = 0; k < here"),
            ("thread / 32 % 2 * 8 + thread / 4", "thread / 4"),
            ("thread / 16 % 2 * 2 + thread / 2", "thread / 2"),
            ("turn * (K::THREADS / SIZE) + thread", "turn + thread"),
            ("      if (block % TREE != 0) {\n#pragma", "      if (false) {\n#pragma"),
            ("if (row < rows && column < columns) {", "if (row < rows) {"),
            ("if (row < rows && column < columns) {", "if (column < columns) {"),
            ("if (end % TREE != 0 && end != length) continue;", "if (end % TREE != 0) continue;"),
        ],
    },
    Subject {
        name: "reduce_grid of rows with one element more than whole blocks",
        text: ROUNDED_ONCE,
        inputs: || vec![dense(5, 129, floats(5 * 129)), dense(5, 129, floats(5 * 129))],
        mutants: &[
            ("    if (alone) {\n      typename", "    if (false) {\n      typename"),
            ("before[block % TREE == 0];", "before[1];"),
            (
                "base, lefts.get(row), rights.get(column));",
                "base, lefts.get(0), rights.get(column));",
            ),
            ("base, lefts.get(row), rights.get(column));", "base, lefts.get(row), rights.get(0));"),
            ("    if (!alone) {", "    if (true) {"),
        ],
    },
    Subject {
        name: "reduce_grid of rows with one element more than a tile",
        text: ROUNDED_ONCE,
        inputs: || vec![dense(4, 4097, floats(4 * 4097)), dense(4, 4097, floats(4 * 4097))],
        mutants: &[
            ("before[block % TREE == 0];", "before[0];"),
            ("|| (alone && block % TREE == 0)) continue;", ") continue;"),
        ],
    },
    Subject {
        name: "reduce_grid of rows with some blocks more than a tile",
        text: ROUNDED_ONCE,
        inputs: || vec![dense(4, 4200, floats(4 * 4200)), dense(4, 4200, floats(4 * 4200))],
        mutants: &[
            ("    if ((block % TREE != TREE - 1 && end != length)", "    if ((end != length)"),
            ("own = block < TREE ? before[0][each] :", "own = true ? before[0][each] :"),
        ],
    },
    Subject {
        name: "reduce_large_grid",
        text: "input a3: [a0][a2]f32
input a4: [a1][a2]f32
launch \"product\" [a0][a1][a2] (r0 r1 r2)
  r3: f32 = read a3 r0 r2
  r4: f32 = read a4 r1 r2
  r5: f32 = mul r3 r4
  yield r5
  reduce r5 as (r6: f32) to a5: [a0][a1]f32
  by (r7: f32) (r8: f32)
    r9: f32 = add r7 r8
    yield r9
  from (r10 r11)
    yield 0f32
end
output a5: [a0][a1]f32
",
        inputs: || vec![dense(34, 135, floats(34 * 135)), dense(131, 135, floats(131 * 135))],
        mutants: &[
            (
                "      __syncthreads();  /* staged */\n    }\n    if (Tile::AHEAD",
                "    }\n    if (Tile::AHEAD",
            ),
            (
                "    __syncthreads();  /* shared is free */\n    const i64 end = base + here;",
                "    const i64 end = base + here;",
            ),
            (
                "return each / RUN * (groups * RUN) + own * RUN + each % RUN;",
                "return own * RUN + each % RUN;",
            ),
        ],
    },
    Subject {
        name: "reduce_large_grid of columns",
        text: "input a3: [a0][a2]f32
input a4: [a2][a1]f32
launch \"product\" [a0][a1][a2] (r0 r1 r2)
  r3: f32 = read a3 r0 r2
  r4: f32 = read a4 r2 r1
  r5: f32 = mul r3 r4
  yield r5
  reduce r5 as (r6: f32) to a5: [a0][a1]f32
  by (r7: f32) (r8: f32)
    r9: f32 = add r7 r8
    yield r9
  from (r10 r11)
    yield 0f32
end
output a5: [a0][a1]f32
",
        inputs: || vec![dense(34, 45, floats(34 * 45)), dense(45, 131, floats(45 * 131))],
        mutants: &[
            ("turn / (SIZE / K::THREADS)", "turn / SIZE"),
            ("turn % (SIZE / K::THREADS) * K::THREADS + thread", "thread"),
        ],
    },
    Subject {
        name: "reduce_pairs",
        text: "input a3: [a0]i64
input a4: [a1]i64
launch \"pairs\" [a0][a1] (r0 r1)
  r3: i64 = read a3 r0
  r4: i64 = read a4 r1
  r5: i64 = mul r3 r4
  yield r5
  reduce r5 as (r6: i64) to a5: [a0]i64
  by (r7: i64) (r8: i64)
    r9: i64 = add r7 r8
    yield r9
  from (r10)
    yield 0i64
end
output a5: [a0]i64
",
        inputs: || vec![i64s(0..130), i64s(0..300)],
        mutants: &[
            (
                "      __syncthreads();  /* staged */\n      const int block = warp",
                "      const int block = warp",
            ),
            (
                "      __syncthreads();  /* shared is free */\n      if (warp > 0)",
                "      if (warp > 0)",
            ),
            ("const i64 row = smaller(first + lane, rows - 1);", "const i64 row = first + lane;"),
            (
                "if (warp == 0 && first + lane < rows) K::finish(in, row",
                "if (warp == 0) K::finish(in, row",
            ),
            ("other * TREE < here; other++", "other * TREE < here - TREE; other++"),
            (
                "for (int at = thread; at < here; at += K::THREADS) {\n        rights",
                "for (int at = thread; at <= here; at += K::THREADS) {\n        rights",
            ),
        ],
    },
];
