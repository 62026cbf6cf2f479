//! The skeletons with one thing removed each: a barrier, a fence, a bound, an atomic operation. Each
//! has to be noticed, by a report of the emulator or by a wrong result, under a few schedules.
//!
//! A barrier is named by the comment that stands behind it.

mod neighbours;
mod rows;
mod tiles;

use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};

use weft_ir::{Scalar, ScalarType, Value};

use crate::scatters::shuffled;
use crate::{Compiled, array, column, emulated, f64s, has_whole_blocks, i64s, noise, ragged};

/// The schedules that a mutant is run under until it is noticed.
const SCHEDULES: u64 = 12;

/// A text of the skeletons, and what stands there instead.
type Mutant = (&'static str, &'static str);

/// A plan, inputs, and the mutants that it has to notice.
struct Subject {
    name: &'static str,
    text: &'static str,
    inputs: fn() -> Vec<Value>,
    mutants: &'static [Mutant],
}

const NONE: &str = "";

const SUBJECTS: &[Subject] = &[
    Subject {
        // So much work that it takes no vectors.
        name: "map",
        text: "input a1: [a0]i64
launch \"map\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = mod r1 1000i64
  r3: i64 = mod r2 900i64
  r4: i64 = mod r3 800i64
  yield r4
  store r4 to a2: [a0]i64
end
output a2: [a0]i64
",
        inputs: || vec![i64s(0..150)],
        mutants: &[
            (
                "threadIdx.x; at < count; at += stride) {\n    K::point",
                "threadIdx.x; at <= count; at += stride) {\n    K::point",
            ),
            (
                "threadIdx.x; at < count; at += stride) {\n    K::point",
                "threadIdx.x; at < count - 1; at += stride) {\n    K::point",
            ),
        ],
    },
    Subject {
        name: "map_vectors",
        text: "input a1: [a0]i64
launch \"map\" [a0] (r0)
  r1: i64 = read a1 r0
  yield r1
  store r1 to a2: [a0]i64
end
output a2: [a0]i64
",
        inputs: || vec![i64s(0..151)],
        mutants: &[
            ("? count & ~(I)(TOGETHER - 1) : 0", "? count : 0"),
            ("for (I at = whole + thread; at < count;", "for (I at = thread; at < count;"),
            ("for (I at = whole + thread; at < count;", "for (I at = whole + thread; at < whole;"),
        ],
    },
    Subject {
        name: "map of indices",
        text: "input a1: [a0]i64
launch \"map\" [a0][7][3] (r0 r1 r2)
  r3: i64 = mul r1 1000i64
  r4: i64 = mul r0 10i64
  r5: i64 = add r3 r4
  r6: i64 = add r5 r2
  yield r6
  store r6 to a2: [a0][7][3]i64
end
output a2: [a0][7][3]i64
",
        inputs: || vec![i64s(0..30)],
        mutants: &[
            ("(i32)((u32)number / (u32)by)", "(i32)((u32)number / (u32)(by + 1))"),
            ("const i64 r2 = (I)at - r2_above * (I)3;", "const i64 r2 = (I)at - r2_above * (I)2;"),
        ],
    },
    Subject {
        name: "reduce_tiles",
        text: "input a1: [a0]i64
launch \"sum\" [a0] (r0)
  r1: i64 = read a1 r0
  yield r1
  reduce r1 as (r3: i64) to a2: i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from ()
    yield 0i64
end
output a2: i64
",
        inputs: || vec![i64s(0..3 * 4096 + 70)],
        mutants: &[
            (
                "__syncthreads();  /* staged */\n#pragma unroll 1\n    for (int block = thread;",
                NONE_LOOP,
            ),
            (
                "    __syncthreads();  /* folded */\n  }\n  typename K::Element value = memory.blocks.get(0);\n  if (thread == 0) {",
                "  }\n  typename K::Element value = memory.blocks.get(0);\n  if (thread == 0) {",
            ),
            ("__threadfence();  /* hand over */", NONE),
            ("__threadfence();  /* take over */", NONE),
            ("__syncthreads();  /* last */", NONE),
            (
                "last = atomicAdd(counters + row, 1u) + 1 == tiles;",
                "last = ++counters[row] == tiles;",
            ),
            (
                "const int count = (int)smaller(rows.length - tile * TILE, TILE);\n  typename K::Element value = fold_tile",
                "const int count = TILE;\n  typename K::Element value = fold_tile",
            ),
            (
                "__device__ __forceinline__ void put(i64 at, const Element& value) const { c0[at] = value.c0; }",
                "__device__ __forceinline__ void put(i64 at, const Element& value) const { c0[at + 1] = value.c0; }",
            ),
        ],
    },
    Subject {
        name: "reduce_tiles of many tiles",
        text: "input a1: [a0]i64
launch \"sum\" [a0] (r0)
  r1: i64 = read a1 r0
  yield r1
  reduce r1 as (r3: i64) to a2: i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from ()
    yield 0i64
end
output a2: i64
",
        inputs: || vec![i64s(0..66 * 4096)],
        mutants: &[
            ("__syncthreads();  /* level */", NONE),
            ("__syncthreads();  /* staged level */", NONE),
        ],
    },
    Subject {
        name: "scan_tiles",
        text: "input a1: [a0]i64
launch \"scan\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i32 = cast_i32 r1
  yield r2
  scan inclusive r2 as (r3: i32) to a2: [a0]i32
  by (r4: i32) (r5: i32)
    r6: i32 = add r4 r5
    yield r6
end
output a2: [a0]i32
",
        inputs: || vec![i64s(0..5 * 4096 + 70)],
        mutants: &[
            (
                "number = atomicAdd(ticket, 1u);\n  __syncthreads();  /* ticket */\n  const u32 row_number",
                "number = atomicAdd(ticket, 1u);\n  const u32 row_number",
            ),
            (
                "number = atomicAdd(ticket, 1u);\n  __syncthreads();  /* ticket */\n  const u32 row_number",
                "number = blockIdx.x;\n  __syncthreads();\n  const u32 row_number",
            ),
            (
                "store_release(published.flags + at, 1u);",
                "__nv_atomic_store_n(published.flags + at, 1u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);",
            ),
            ("while (load_acquire(published.flags + from + each) == 0) __nanosleep(32);", NONE),
            ("  __syncthreads();  /* looked */", NONE),
            (
                "  __syncthreads();  /* before */\n  scan_down<K>(in, memory, row, start, rows.length",
                "  scan_down<K>(in, memory, row, start, rows.length",
            ),
            ("    __syncthreads();  /* scanned */", NONE),
            (
                "published.values.put(at, value);\n  store_release(published.flags + at, 1u);",
                "store_release(published.flags + at, 1u);\n  published.values.put(at, value);",
            ),
        ],
    },
    Subject {
        name: "scan_tiles of many tiles",
        text: "input a1: [a0]i32
launch \"scan\" [a0] (r0)
  r1: i32 = read a1 r0
  yield r1
  scan inclusive r1 as (r3: i32) to a2: [a0]i32
  by (r4: i32) (r5: i32)
    r6: i32 = add r4 r5
    yield r6
end
output a2: [a0]i32
",
        inputs: || vec![array(column(ScalarType::I32, (0..67 * 4096).map(Scalar::I32)))],
        mutants: &[
            ("if (own == low) {", "if (own == low + 1) {"),
            (
                "    __syncthreads();  /* looked is free */\n    level += levels;",
                "    level += levels;",
            ),
            ("level > low ? level :", "level > low ? 0 :"),
            (
                "value = follow<K>(in, all, value);\n        publish",
                "value = all;\n        publish",
            ),
        ],
    },
    Subject {
        name: "scan_blocks",
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
        inputs: || {
            let all = column(ScalarType::I64, (0..8999).map(Scalar::I64));
            vec![ragged(&[8501, 0, 101, 397], all)]
        },
        mutants: &[
            ("      __syncthreads();  /* before */", NONE),
            ("    __syncthreads();  /* staged is free */", NONE),
        ],
    },
    Subject {
        name: "filter",
        text: "input a1: [a0]i64
launch \"filter\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = mod r1 3i64
  r3: bool = eq r2 0i64
  yield r3
  filter r3 to a2: i64
  keep r1 to a3: [a2]i64
end
output a3: [a2]i64
",
        inputs: || vec![i64s(0..1501)],
        mutants: &[
            ("  __syncthreads();  /* ticket */\n  const i64 tile", "  const i64 tile"),
            (
                "if (thread == 0) number = atomicAdd(ticket, 1u);\n  __syncthreads();  /* ticket */\n  const i64 tile",
                "if (thread == 0) number = blockIdx.x;\n  __syncthreads();\n  const i64 tile",
            ),
            ("  __syncthreads();  /* counted */\n  if (warp == 0)", "  if (warp == 0)"),
            ("  __syncthreads();  /* summed */", NONE),
            ("while (!summed && word >> 62 == 0) {", "while (false) {"),
            ("values[item]) && at <= last;", "values[item]);"),
            ("first + (at < last ? at : last), values", "first + at, values"),
            ("if (lane >= step) until += other;", "until += other;"),
            ("      if (at < COUNTS) counts[at] = until;", "      counts[at] = until;"),
            ("part[each] = at < COUNTS ? counts[at] : 0;", "part[each] = counts[at];"),
            ("if (!summed && lane <= stop) before", "if (!summed) before"),
        ],
    },
    Subject {
        name: "filter of more tiles than are looked at together",
        text: "input a1: [a0]i64
launch \"filter\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = mod r1 3i64
  r3: bool = eq r2 0i64
  yield r3
  filter r3 to a2: i64
  keep r1 to a3: [a2]i64
end
output a3: [a2]i64
",
        inputs: || vec![i64s(0..140 * 512 + 11)],
        mutants: &[("if (!summed && lane <= stop) before", "if (lane <= stop) before")],
    },
    Subject {
        name: "scatter",
        text: "input a1: [a0]i64
input a3: [a2]i64
launch \"scatter\" [a2] (r0)
  r1: i64 = read a3 r0
  r2: i64 = mod r1 10i64
  yield r2
  scatter r0 at r2 into a1 to a4: [a0]i64
end
output a4: [a0]i64
",
        inputs: || vec![i64s(0..10), i64s(noise(600).map(|bits| bits as i64 >> 8))],
        mutants: &[
            (
                "if (target >= 0) atomicMax(winners + target, (u64)at + 1);",
                "if (target >= 0 && winners[target] < (u64)at + 1) winners[target] = (u64)at + 1;",
            ),
            (
                "if (target >= 0 && winners[target] == (u64)at + 1) K::write",
                "if (target >= 0) K::write",
            ),
        ],
    },
    Subject {
        name: "histogram",
        text: "input a1: [a0]i64
input a3: [a2]i64
launch \"histogram\" [a2] (r0)
  r1: i64 = read a3 r0
  r2: i64 = mod r1 10i64
  yield r2
  scatter 1i64 at r2 into a1 to a4: [a0]i64
  by (r6: i64) (r7: i64)
    r8: i64 = add r6 r7
    yield r8
end
output a4: [a0]i64
",
        inputs: || vec![i64s(0..10), i64s(noise(2001).map(|bits| bits as i64 >> 8))],
        mutants: &[
            ("  __syncthreads();  /* zero bins */", NONE),
            ("__syncthreads();  /* complete */", NONE),
            ("atomicAdd((u32*)(bin), (u32)(", "*(u32*)(bin) += ((u32)("),
            ("whole = points & ~(i64)(WIDTH - 1);", "whole = points;"),
            ("if (next < whole) K::load", "K::load"),
            ("if (next < whole) scatter_vector", "scatter_vector"),
            ("at += (TWICE ? 2 : 1) * stride", "at += stride"),
            ("for (i64 at = whole + thread; at < points;", "for (i64 at = thread; at < points;"),
            (
                "for (int bin = thread; bin < bins; bin += K::THREADS) K::flush",
                "for (int bin = thread; bin <= bins; bin += K::THREADS) K::flush",
            ),
        ],
    },
    Subject {
        name: "scatter_runs",
        text: RUNS,
        // Tiles have 192 positions.
        inputs: || runs(&[100, 0, 200, 250, 64, 65, 1, 2, 1, 63], 130),
        mutants: &[
            ("targets[position > 0 ? position - 1 : 0];", "targets[position - 1];"),
            ("|| position == 0 || target[item]", "|| target[item]"),
            ("  __syncthreads();  /* staged runs */", NONE),
            ("== 0 || runs.targets[first + at] == runs.dropped) continue;", "== 0) continue;"),
            ("if ((heads[at / 32] >> at % 32 & 1) == 0 || runs", "if (runs"),
            ("if (shift > 0) behind |=", "if (shift > 40) behind |="),
            ("return behind == 0 ? TREE + 1 :", "return behind == 0 ? TREE :"),
            (
                "? open : runs.start_between(first, position);",
                "? first : runs.start_between(first, position);",
            ),
            (
                "if (targets[middle] == target) low = middle;",
                "if (targets[middle] >= target) low = middle;",
            ),
        ],
    },
    Subject {
        name: "scatter_runs to the end",
        text: RUNS,
        inputs: || runs(&[300, 100], 0),
        mutants: &[
            ("    if (low < -1) low = -1;", NONE),
            ("      low += step * first;", "      low += step * (first + 1);"),
            ("position >= runs.positions || position == 0 || target", "position == 0 || target"),
            ("* K::THREADS, runs.positions - 1);", "* K::THREADS, runs.positions);"),
            (
                "const int here = (int)smaller(runs.positions - first, K::SPAN);",
                "const int here = K::SPAN;",
            ),
        ],
    },
    Subject {
        name: "scatter_runs of several tiles",
        text: RUNS,
        inputs: || runs(&[4000, 4300, 8300], 9000),
        mutants: &[
            ("targets[position] == dropped ? -1 :", "false ? -1 :"),
            ("-1 : start_between(0, position);", "-1 : start_between(position - 4096, position);"),
        ],
    },
    Subject {
        name: "sort",
        text: "input a1: [a0]i64
launch \"sort\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: u16 = cast_u16 r1
  yield r2
  sort r2 to a2: [a0]i64
end
output a2: [a0]i64
",
        inputs: || vec![i64s(noise(1900).map(|bits| (bits >> 40) as i64))],
        mutants: &[
            (
                "  __syncthreads();  /* zero */\n  const i64 stride = (i64)gridDim.x * THREADS;",
                "  const i64 stride = (i64)gridDim.x * THREADS;",
            ),
            ("  __syncthreads();  /* counted */\n  for (int at", "  for (int at"),
            (
                "atomicAdd(local + position * DIGITS + digit_of(key[each], 8 * position), 1u);",
                "local[position * DIGITS + digit_of(key[each], 8 * position)] += 1u;",
            ),
            ("atomicAdd(counts + at, (u64)local[at]);", "counts[at] += (u64)local[at];"),
            ("  __syncthreads();  /* zero */\n  const i64 tile", "  const i64 tile"),
            (
                "if (thread == 0) number = atomicAdd(ticket, 1u);\n  for (int at",
                "if (thread == 0) number = blockIdx.x;\n  for (int at",
            ),
            ("    __syncwarp();  /* next item */", NONE),
            ("  __syncthreads();  /* ranked */", NONE),
            ("  __syncthreads();  /* offsets */", NONE),
            ("  __syncthreads();  /* places */", NONE),
            ("  __syncthreads();  /* in order */", NONE),
            ("if (at >= points) continue;\n    const u32 digit", "const u32 digit"),
            (
                "const int here = (int)smaller(points - tile_first, ITEMS);",
                "const int here = ITEMS;",
            ),
            (
                "words[back];\n      while (!summed && word >> 62 == 0) {",
                "words[back];\n      while (false) {",
            ),
            ("summed = summed || word >> 62 == 2;", "summed = summed || at - back <= 0;"),
            ("      if (!summed) before += word", "      before += word"),
            ("if (keys_out) keys_out[to] =", "keys_out[to] ="),
        ],
    },
];

/// A scatter by an operator that takes its points in their order.
const RUNS: &str = "input a1: [a0]f64
input a3: [a2]i64
launch \"scatter\" [a2] (r0)
  r1: i64 = read a3 r0
  r2: f64 = cast_f64 r0
  r3: f64 = mul r2 0.1f64
  yield r1 r3
  scatter r3 at r1 into a1 to a4: [a0]f64
  by (r6: f64) (r7: f64)
    r8: f64 = add r6 r7
    yield r8
end
output a4: [a0]f64
";

/// Inputs of that: so many points for each target, and so many that are dropped, in no order.
fn runs(lengths: &[usize], dropped: usize) -> Vec<Value> {
    vec![f64s((0..lengths.len()).map(|at| at as f64)), i64s(shuffled(lengths, dropped))]
}

/// The loop behind the barrier, without the barrier.
const NONE_LOOP: &str = "#pragma unroll 1\n    for (int block = thread;";

#[test]
fn every_mutant_is_noticed() {
    check(SUBJECTS);
}

#[test]
fn every_mutant_for_rows_is_noticed() {
    check(rows::SUBJECTS);
}

#[test]
fn every_mutant_that_shares_what_it_reads_is_noticed() {
    check(tiles::SUBJECTS);
}

#[test]
fn every_mutant_that_reads_neighbours_is_noticed() {
    check(neighbours::SUBJECTS);
}

/// Runs all mutants of some subjects.
fn check(subjects: &[Subject]) {
    let Some(emulated) = emulated() else { return };
    if has_whole_blocks() {
        // Past the capture of a passing test's output.
        let _ = writeln!(
            io::stderr(),
            "skipped: mutants: their sizes are around those of small blocks"
        );
        return;
    }
    let mut missed = Vec::new();
    let mut all = 0;
    for Subject { name, text, inputs, mutants } in subjects {
        let mut compiled = Compiled::new(text);
        let inputs = inputs();
        let whole = compiled.text.clone();
        let expected = compiled.try_run(emulated, &inputs, 0);
        let expected = expected.unwrap_or_else(|stop| panic!("{name}: {stop:?}"));
        for (from, to) in *mutants {
            all += 1;
            assert!(whole.contains(from), "{name} has not {from:?}");
            compiled.text = whole.replacen(from, to, 1);
            let noticed = (0..SCHEDULES).any(|schedule| {
                let run = || compiled.try_run(emulated, &inputs, schedule);
                match catch_unwind(AssertUnwindSafe(run)) {
                    Err(_) | Ok(Err(_)) => true,
                    Ok(Ok(found)) => !found.iter().zip(&expected).all(|(a, b)| a.same_bits(b)),
                }
            });
            if !noticed {
                missed.push(format!("{name}: {from:?} -> {to:?}"));
            }
        }
    }
    assert!(missed.is_empty(), "{} of {all} missed:\n{}", missed.len(), missed.join("\n"));
}
