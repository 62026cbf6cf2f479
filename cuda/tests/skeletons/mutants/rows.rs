//! Mutants of the skeletons for rows, and of scatters into many targets.

use weft_ir::{Column, Scalar, ScalarType};

use super::{NONE, Subject};
use crate::{array, column, dense, i64s, noise, ragged};

fn numbers(length: i64) -> Column {
    column(ScalarType::I64, (0..length).map(Scalar::I64))
}

const SUMS: &str = "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"sums\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  yield r2
  reduce r2 as (r3: i64) to a5: [a0]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from (r7)
    yield 0i64
end
output a5: [a0]i64
";

const DENSE_SUMS: &str = "input a4: [a0][a1]i64
launch \"sums\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r0 r1
  yield r2
  reduce r2 as (r3: i64) to a5: [a0]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from (r7)
    yield 0i64
end
output a5: [a0]i64
";

/// The sum of each column, which is no row of what is read.
const COLUMN_SUMS: &str = "input a4: [a1][a0]i64
launch \"sums\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r1 r0
  yield r2
  reduce r2 as (r3: i64) to a5: [a0]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from (r7)
    yield 0i64
end
output a5: [a0]i64
";

pub(super) const SUBJECTS: &[Subject] = &[
    Subject {
        name: "rows",
        text: include_str!("../../../gate/plans/row_loops.plan"),
        inputs: || {
            let elements = noise(300).map(|bits| Scalar::F32((bits % 1000) as f32));
            vec![dense(100, 3, column(ScalarType::F32, elements)), i64s(0..100)]
        },
        mutants: &[
            ("* 32 + lane; at < points;", "* 32 + lane; at <= points;"),
            ("* 32 + lane; at < points;", "* 32 + lane; at < points - 1;"),
            ("(warp * gridDim.x + blockIdx.x) * 32", "blockIdx.x * 32"),
            ("(warp * gridDim.x + blockIdx.x) * 32", "(warp + blockIdx.x) * 32"),
        ],
    },
    Subject {
        name: "loop",
        text: include_str!("../../../gate/plans/loop.plan"),
        inputs: || {
            let numbers = |count: usize| {
                column(ScalarType::F32, noise(count).map(|bits| Scalar::F32((bits % 8) as f32)))
            };
            vec![array(numbers(20)), dense(2, 3, numbers(6))]
        },
        mutants: &[
            ("if (threadIdx.x == 0) K::point(in, 0);", "K::point(in, 0);"),
            ("if (threadIdx.x == 0) K::point(in, 0);", "if (threadIdx.x == 0) K::point(in, 1);"),
        ],
    },
    Subject {
        name: "reduce_groups",
        text: DENSE_SUMS,
        // Two rows of two blocks in a group, and one in the last.
        inputs: || vec![dense(7, 100, numbers(700))],
        mutants: &[
            ("  __syncthreads();  /* staged group */", NONE),
            ("  __syncthreads();  /* folded group */", NONE),
            ("here = (int)smaller(rows.count - first_row, group);", "here = (int)group;"),
            ("staged, from, length - block * TREE));", "staged, from, TREE));"),
            (
                "block < blocks; block++) {\n      value = K::combine(in, value, staged",
                "block <= blocks; block++) {\n      value = K::combine(in, value, staged",
            ),
        ],
    },
    Subject {
        name: "reduce_groups of rows without elements",
        text: DENSE_SUMS,
        inputs: || vec![dense(7, 0, numbers(0))],
        mutants: &[("    if (blocks > 0) value = staged", "    value = staged")],
    },
    Subject {
        name: "reduce_groups of elements that know their row",
        text: "input a4: [a0][a1]i64
launch \"sums\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r0 r1
  r8: i64 = mul r2 r0
  yield r8
  reduce r8 as (r3: i64) to a5: [a0]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from (r7)
    yield 0i64
end
output a5: [a0]i64
",
        inputs: || vec![dense(11, 50, numbers(550))],
        mutants: &[
            ("    if (blocks > 0) value = staged", "    if (blocks > 1) value = staged"),
            ("return row + quotient((i32)(position - first), length);", "return row;"),
            (
                "if constexpr (K::NEEDS_ROW) stage_elements<K>(in, staged, row_at, first, here",
                "if constexpr (false) stage_elements<K>(in, staged, row_at, first, here",
            ),
        ],
    },
    Subject {
        name: "reduce_rows",
        text: COLUMN_SUMS,
        inputs: || vec![dense(5, 70, numbers(350))],
        mutants: &[
            (
                "row < rows.count; row += stride) {\n    typename K::Element value",
                "row <= rows.count; row += stride) {\n    typename K::Element value",
            ),
            (
                "const int end = count - base < TREE ? count : base + TREE;",
                "const int end = base + TREE;",
            ),
        ],
    },
    Subject {
        name: "reduce_path",
        text: SUMS,
        // Parts have 192 places. The second begins with the row of 70, in whose 64 elements a block of
        // the row before begins; the third behind the beginning of the row of 8. Some have no elements.
        inputs: || {
            let lengths = [3, 187, 70, 119, 8, 0, 0, 9, 400, 1].into_iter().chain([0; 600]);
            let lengths: Vec<usize> = lengths.chain([66]).collect();
            vec![ragged(&lengths, numbers(lengths.iter().sum::<usize>() as i64))]
        },
        mutants: &[
            ("part <= parts; part += stride", "part < parts; part += stride"),
            ("ahead > 0 ? blocks_of(ahead) : 1;", "blocks_of(ahead);"),
            (
                "first = smaller(start + blocks * TREE, rows.offsets[begun]);",
                "first = start + blocks * TREE;",
            ),
            (
                "  __syncthreads();  /* staged */\n#pragma unroll 1\n  for (i64 row = begun",
                "#pragma unroll 1\n  for (i64 row = begun",
            ),
            ("row < until; row += K::THREADS", "row <= until; row += K::THREADS"),
            ("const int length = (int)smaller(rest, TREE);", "const int length = TREE;"),
            ("if (begin == start) begin += TREE;", NONE),
            ("if (begin >= (at + 1) * TREE || begin", "if (begin"),
            ("begin >= smaller(stop, end)) continue;", "begin >= stop) continue;"),
            ("rows[atomicAdd(count, 1u)] = row;", "rows[(*count)++] = row;"),
            ("if (head > count) head = count;", NONE),
            ("whole = (count - head) & ~(K::WIDTH - 1);", "whole = count - head;"),
            ("head = (int)(-first & (K::WIDTH - 1));", "head = 0;"),
        ],
    },
    Subject {
        name: "reduce_long",
        text: SUMS,
        // The other tiles of the row of 8193 begin with groups of 4096, that of 5001 does not. The row of 64
        // begins with a group, and has one block; the last group has a tile.
        inputs: || {
            let lengths =
                [8193, 4095, 64, 5001, 70, 4097, 4096].into_iter().chain([66; 450]).chain([9000]);
            let lengths: Vec<usize> = lengths.collect();
            vec![ragged(&lengths, numbers(lengths.iter().sum::<usize>() as i64))]
        },
        mutants: &[
            (
                "first == 0 ? nodes.first.get(group) : nodes.next",
                "false ? nodes.first.get(group) : nodes.next",
            ),
            (
                "for (i64 at = own; at < count; at += stride)",
                "for (i64 at = own; at <= count; at += stride)",
            ),
            ("0, smaller(all, TREE) - 1);", "0, all - 1);"),
            ("if (all <= TREE) K::finish", "if (all <= 2 * TREE) K::finish"),
            (
                "group * TILE < rows.positions; group += stride",
                "group * TILE < rows.positions - TILE; group += stride",
            ),
            ("(position - start + TILE - 1) / TILE, begin", "(position - start) / TILE, begin"),
            ("if (tile == 0 || begin >= stop) continue;", "if (begin >= stop) continue;"),
            ("if (tile == 0 || begin >= stop) continue;", "if (tile == 0) continue;"),
            ("smaller((tile + 1) * TREE, blocks_of(stop - start)) - 1;", "(tile + 1) * TREE - 1;"),
            ("    if (thread == 0) levels.begin();", NONE),
            (
                "    if (thread == 0) K::finish(in, row, false, levels.end(in));",
                "    K::finish(in, row, false, levels.end(in));",
            ),
        ],
    },
    Subject {
        name: "reduce_longest of many tiles",
        text: SUMS,
        // More rows than blocks, of two nodes each.
        inputs: || vec![ragged(&[65 * 4096; 7], numbers(7 * 65 * 4096))],
        mutants: &[
            ("      __syncthreads();  /* folded nodes */", NONE),
            ("      if (is_over_for_all(in.failure)) return;  /* folded is free */", NONE),
            ("node * TREE, last));", "node * TREE, all - 1));"),
        ],
    },
    Subject {
        name: "scan_groups",
        text: "input a4: [a0][a1]i64
launch \"scans\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r0 r1
  yield r2
  scan inclusive r2 as (r3: i64) to a5: [a0][a1]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
end
output a5: [a0][a1]i64
",
        // A row of four blocks in each group, so that there are last values to scan.
        inputs: || vec![dense(3, 250, numbers(750))],
        mutants: &[
            ("  __syncthreads();  /* staged group to scan */", NONE),
            ("  __syncthreads();  /* scanned blocks */", NONE),
            ("  __syncthreads();  /* scanned lasts */", NONE),
            ("number < (row + 1) * blocks - 1; number++", "number < row * blocks; number++"),
            (
                "length - block * TREE : TREE;\n    typename K::Element value = staged.get(staged_at(from));\n#pragma unroll 1\n    for (int at = from + 1;",
                "length : TREE;\n    typename K::Element value = staged.get(staged_at(from));\n#pragma unroll 1\n    for (int at = from + 1;",
            ),
            ("if (k >= TREE) value = follow", "if (k > TREE) value = follow"),
        ],
    },
    Subject {
        name: "scan_groups from the right, without the whole",
        text: "input a4: [a0][a1]i64
launch \"scans\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r0 r1
  yield r2
  scan exclusive right r2 as (r3: i64) to a5: [a0][a1]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from (r7)
    yield 3i64
end
output a5: [a0][a1]i64
",
        // Groups of two rows and one, and rows of two blocks.
        inputs: || vec![dense(7, 100, numbers(700))],
        mutants: &[
            (
                "const i64 from = scanned<K>(first + row * length, length, k);",
                "const i64 from = scanned<K>(first, length, k);",
            ),
            (
                "staged.put(staged_at(at), K::element(in, first_row + row, from));",
                "staged.put(at, K::element(in, first_row + row, from));",
            ),
            (
                "    scan_begin<K>(in, first_row + row, first + row * length, length);\n    if (blocks == 1)",
                "    if (blocks == 1)",
            ),
            ("k / TREE - 1), value);", "k / TREE), value);"),
            (
                "for (int row = threadIdx.x; row < here; row += K::THREADS) {\n    scan_begin",
                "for (int row = threadIdx.x; row < (int)group; row += K::THREADS) {\n    scan_begin",
            ),
        ],
    },
    Subject {
        name: "scan_rows",
        text: "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"scans\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  yield r2
  scan inclusive r2 as (r3: i64) to a5: [a2]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
end
output a5: [a0][~a1 a2]i64
",
        inputs: || vec![ragged(&[3, 0, 70, 5, 64, 8], numbers(150))],
        mutants: &[
            (
                "row < rows.count; row += stride) {\n    const i64 start = row_start(rows, row), length = row_length(rows, row);\n    Stream",
                "row <= rows.count; row += stride) {\n    const i64 start = row_start(rows, row), length = row_length(rows, row);\n    Stream",
            ),
            ("for (i64 k = 0; k < length; k++) {", "for (i64 k = 0; k <= length; k++) {"),
            ("      carries[level] = true;", NONE),
        ],
    },
    Subject {
        name: "filter of rows",
        text: "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"filter\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  r3: i64 = bit_and r2 1i64
  r4: bool = eq r3 0i64
  yield r4 r2
  filter r4 to a5: [a3]i64, a6: i64
  keep r2 to a7: [a6]i64
end
output a7: [a0][~a5 a6]i64
",
        inputs: || vec![ragged(&[301, 0, 2, 88], numbers(391))],
        mutants: &[
            (
                "row <= rows.count; row += stride) {\n    offsets[row]",
                "row < rows.count; row += stride) {\n    offsets[row]",
            ),
            (
                "if (positions && at < points) positions[at] = to;",
                "if (positions) positions[at] = to;",
            ),
            ("        if (positions) positions[points] = (i64)(before + sum);", NONE),
        ],
    },
    Subject {
        name: "scatter_update",
        text: "input a1: [a0]i64
input a3: [a2]i64
launch \"histogram\" [a2] (r0)
  r1: i64 = read a3 r0
  yield r1
  scatter 1i64 at r1 into a1 to a4: [a0]i64
  by (r6: i64) (r7: i64)
    r8: i64 = add r6 r7
    yield r8
end
output a4: [a0]i64
",
        inputs: || {
            let targets = noise(600).map(|bits| (bits >> 40) as i64 % 40 - 1);
            vec![i64s(0..1100), i64s(targets)]
        },
        mutants: &[
            ("if (target >= 0) each.template", "each.template"),
            ("atomicAdd((u64*)(in.a4 + to), (u64)(", "*(u64*)(in.a4 + to) += ((u64)("),
        ],
    },
    Subject {
        name: "sort of rows",
        text: "input a4: [a0][a1]i64
launch \"sort\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r0 r1
  r3: i64 = mod r2 3i64
  r4: i16 = cast_i16 r2
  yield r3 r4
  sort r3 r4 to a5: [a0][a1]i64
end
output a5: [a0][a1]i64
",
        inputs: || {
            let all = noise(210).map(|bits| Scalar::I64((bits >> 52) as i64));
            vec![dense(3, 70, column(ScalarType::I64, all))]
        },
        mutants: &[
            ("quotient(at, length) * length.by", "quotient(at, length)"),
            ("out[at] = keys[order ? (i64)order[at] : at];", "out[at] = keys[at];"),
            (
                "at < points; at += stride) {\n    const i64 from",
                "at <= points; at += stride) {\n    const i64 from",
            ),
        ],
    },
    Subject {
        name: "sort of keys alone",
        text: "input a1: [a0]f32
launch \"sort\" [a0] (r0)
  r1: f32 = read a1 r0
  yield r1
  sort descending r1 to a2: [a0]i64
end
launch \"values\" [a0] (r0)
  r1: i64 = read a2 r0
  r2: f32 = read a1 r1
  yield r2
  store r2 to a3: [a0]f32
end
free a2
output a3: [a0]f32
",
        inputs: || {
            let key = |bits: u64| Scalar::F32((bits >> 44) as f32 - 5e5);
            vec![array(column(ScalarType::F32, noise(600).map(key)))]
        },
        mutants: &[
            ("keys_out[to] = restored(own, flips);", "keys_out[to] = own;"),
            ("const T bits = key ^ flips.all;", "const T bits = key;"),
            ("? flips.if_one : flips.if_zero);", "? flips.if_one : flips.if_one);"),
            ("? flips.if_one : flips.if_zero);", "? flips.if_zero : flips.if_zero);"),
            (
                "      continue;\n    }\n    if (keys_out) keys_out[to] =",
                "    }\n    if (keys_out) keys_out[to] =",
            ),
        ],
    },
    Subject {
        name: "sort of equal keys alone",
        text: "input a1: [a0]i32
launch \"sort\" [a0] (r0)
  r1: i32 = read a1 r0
  yield r1
  sort r1 to a2: [a0]i64
end
launch \"values\" [a0] (r0)
  r1: i64 = read a2 r0
  r2: i32 = read a1 r1
  yield r2
  store r2 to a3: [a0]i32
end
free a2
output a3: [a0]i32
",
        inputs: || vec![array(column(ScalarType::I32, vec![Scalar::I32(7); 130]))],
        mutants: &[("out[at] = restored(keys[at], flips);", "out[at] = keys[at];")],
    },
];
