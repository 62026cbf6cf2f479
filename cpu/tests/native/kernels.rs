//! Kernels of every kind.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weft_cpu::{Config, KernelCache, Native, Tier, Workers, prepare, run};
use weft_ir::{Column, Exhausted, FaultKind, Stop, Value, plan};

use crate::{array, config, f32s, f64s, i64s, matrix, same, try_run};

const LENGTHS: [usize; 13] = [0, 1, 2, 31, 32, 33, 64, 65, 191, 1023, 1024, 1057, 70_000];

/// Both tiers on all lengths, with one and two threads.
fn check(text: &str, inputs: impl Fn(usize) -> Vec<Value>) {
    let native = Native::new(config(None));
    for length in LENGTHS {
        let inputs = inputs(length);
        for threads in [1, 2] {
            let expected = try_run(text, &inputs, threads, None).expect("a value");
            let found =
                try_run(text, &inputs, threads, Some((&native, Tier::Native))).expect("a value");
            assert!(same(&expected, &found), "length {length}, {threads} threads\n{text}");
            let found =
                try_run(text, &inputs, threads, Some((&native, Tier::Turning))).expect("a value");
            assert!(same(&expected, &found), "turning: {length}, {threads} threads\n{text}");
        }
    }
    let statistics = native.statistics();
    assert!(statistics.compiled > 0 && statistics.failed == 0, "{statistics:?}");
}

#[test]
fn maps_with_transcendental_functions() {
    let text = "input a1: [a0]f32
input a2: [a0]f64
launch \"map\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f64 = read a2 r0
  r3: f32 = sin r1
  r4: f64 = exp r2
  r5: f64 = cast_f64 r0
  r6: f64 = pow r4 r5
  r7: i64 = cast_i64 r2
  r8: bool = lt r7 0i64
  yield r3 r6 r7 r8
  store r3 to a3: [a0]f32
  store r6 to a4: [a0]f64
  store r7 to a5: [a0]i64
  store r8 to a6: [a0]bool
end
output a3: [a0]f32
output a4: [a0]f64
output a5: [a0]i64
output a6: [a0]bool
";
    check(text, |length| vec![f32s(length), f64s(length)]);
}

#[test]
fn results_of_many_bytes_go_past_the_caches() {
    let text = "input a1: [a0]f32
input a2: [a0]i64
launch \"map\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: i64 = read a2 r0
  r3: f32 = mul r1 r1
  r4: i64 = add r2 r0
  r5: bool = lt r4 0i64
  r6: bool = ne r2 -1i64
  check r6 index
  yield r3 r4 r5 r2
  store r3 to a3: [a0]f32
  store r4 to a4: [a0]i64
  store r5 to a5: [a0]bool
  store r2 to a6: [a0]i64
end
output a3: [a0]f32
output a4: [a0]i64
output a5: [a0]bool
output a6: [a0]i64
";
    let native = Native::new(config(None));
    // 21 bytes a point: more than 32 MiB.
    let length: usize = 1_700_001;
    for failing in [None, Some(1_650_077)] {
        let mut numbers: Vec<i64> = (0..length as i64).map(|at| at * 7919 % 2003).collect();
        if let Some(at) = failing {
            numbers[at] = -1;
        }
        let inputs = [f32s(length), array(Column::I64(numbers.into()))];
        for threads in [1, 2] {
            let of = |tier| try_run(text, &inputs, threads, tier);
            match (of(None), of(Some((&native, Tier::Native)))) {
                (Ok(expected), Ok(found)) => assert!(same(&expected, &found) && failing.is_none()),
                (Err(Stop::Fault(a)), Err(Stop::Fault(b))) => {
                    assert_eq!(a, b);
                    assert!(failing.is_some());
                }
                (expected, found) => panic!("{expected:?}\n{found:?}"),
            }
        }
    }
}

#[test]
fn loops_of_different_lengths() {
    let text = "input a1: [a0]i64
launch \"collatz\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64, r3: i64 = while (r4: i64 = r1, r5: i64 = 0i64)
    r6: bool = gt r4 1i64
    yield r6
  do
    r7: i64 = mod r4 2i64
    r8: bool = eq r7 0i64
    r9: i64 = if r8
      r10: i64 = quot r4 2i64
      yield r10
    else
      r11: i64 = mul r4 3i64
      r12: i64 = add r11 1i64
      yield r12
    r13: i64 = add r5 1i64
    yield r9 r13
  yield r3
  store r3 to a2: [a0]i64
end
output a2: [a0]i64
";
    check(text, |length| vec![i64s(length, 1000)]);
}

#[test]
fn uniform_loops_around_reads() {
    let text = "input a1: [a0]f64
input a2: [5]f64
launch \"sums\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: i64, r3: f64 = while (r4: i64 = 0i64, r5: f64 = 0.0f64)
    r6: bool = lt r4 5i64
    yield r6
  do
    r7: f64 = read a2 r4
    r8: f64 = mul r7 r1
    r9: f64 = add r5 r8
    r10: i64 = add r4 1i64
    yield r10 r9
  yield r3
  store r3 to a3: [a0]f64
end
output a3: [a0]f64
";
    check(text, |length| vec![f64s(length), f64s(5)]);
}

#[test]
fn guarded_reads_of_neighbours() {
    let text = "input a1: [a0]f32
launch \"stencil\" [a0] (r0)
  r1: bool = gt r0 0i64
  r2: f32 = if r1
    r3: i64 = sub r0 1i64
    r4: f32 = read a1 r3
    yield r4
  else
    yield 0.5f32
  r5: f32 = read a1 r0
  r6: f32 = add r2 r5
  yield r6
  store r6 to a2: [a0]f32
end
output a2: [a0]f32
";
    check(text, |length| vec![f32s(length)]);
}

#[test]
fn reductions_by_operators_that_do_not_commute() {
    let text = "input a1: [a0]f64
launch \"affine\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = mul r1 0.25f64
  yield r2 r1
  reduce r2 r1 as (r3: f64, r4: f64) to a2: f64, a3: f64
  by (r5: f64, r6: f64) (r7: f64, r8: f64)
    r9: f64 = mul r5 r7
    r10: f64 = fma r6 r7 r8
    yield r9 r10
  if_empty ()
    yield 1.0f64 0.0f64
end
output a2: f64
output a3: f64
";
    check(text, |length| vec![f64s(length)]);
}

#[test]
fn scans_and_filters() {
    let scan = "input a1: [a0]f64
launch \"affine\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = mul r1 0.25f64
  yield r2 r1
  scan inclusive r2 r1 as (r3: f64, r4: f64) to a2: [a0]f64, a3: [a0]f64
  by (r5: f64, r6: f64) (r7: f64, r8: f64)
    r9: f64 = mul r5 r7
    r10: f64 = fma r6 r7 r8
    yield r9 r10
end
output a2: [a0]f64
output a3: [a0]f64
";
    check(scan, |length| vec![f64s(length)]);
    let filter = "input a1: [a0]f32
launch \"filter\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f32 = cos r1
  r3: bool = lt r2 0.25f32
  yield r2 r3
  filter r3 to a2: i64
  keep r2 to a3: [a2]f32
end
output a3: [a2]f32
";
    check(filter, |length| vec![f32s(length)]);
}

#[test]
fn rows_and_columns() {
    let text = "input a2: [a0][a1]f32
launch \"both\" [a0][a1] (r0 r1)
  r2: f32 = read a2 r0 r1
  r3: f32 = cast_f32 r0
  r4: f32 = cast_f32 r1
  r5: f32 = fma r3 r2 r4
  yield r5
  reduce r5 as (r6: f32) to a3: [a0]f32
  by (r7: f32) (r8: f32)
    r9: f32 = add r7 r8
    yield r9
  if_empty (r10)
    yield 0.0f32
end
launch \"transposed\" [a1][a0] (r11 r12)
  r13: f32 = read a2 r12 r11
  r14: f32 = cast_f32 r12
  r15: f32 = mul r13 r14
  yield r15
  reduce r15 as (r16: f32) to a4: [a1]f32
  by (r17: f32) (r18: f32)
    r19: f32 = add r17 r18
    yield r19
  if_empty (r20)
    yield 0.0f32
end
output a3: [a0]f32
output a4: [a1]f32
";
    for extent in [1, 3, 70, 200] {
        check(text, |length| vec![matrix(&f32s(length * extent), extent)]);
    }
}

#[test]
fn rows_that_a_condition_of_the_row_chooses() {
    let text = "input a2: [a0][a1]f32
input a3: [a0]f32
launch \"chosen\" [a0][a1] (r0 r1)
  r2: f32 = read a3 r0
  r3: bool = gt r2 0.0f32
  r4: f32 = if r3
    r5: f32 = read a2 r0 r1
    yield r5
  else
    r6: f32 = read a2 r0 r1
    r7: f32 = mul r6 r2
    yield r7
  yield r4
  reduce r4 as (r8: f32) to a4: [a0]f32
  by (r9: f32) (r10: f32)
    r11: f32 = add r9 r10
    yield r11
  if_empty (r12)
    yield 0.0f32
end
output a4: [a0]f32
";
    for extent in [1, 3, 70, 200] {
        check(text, |length| vec![matrix(&f32s(length * extent), extent), f32s(length)]);
    }
}

#[test]
fn faults_are_those_of_the_block_interpreter() {
    let text = "input a1: [a0]i64
input a2: [a0]f32
launch \"gather\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: bool = ge r1 0i64
  r3: bool = lt r1 a3
  r4: bool = and r2 r3
  check r4 index
  r5: f32 = read a2 r1
  yield r5
  store r5 to a4: [a0]f32
end
output a4: [a0]f32
"
    .replace("r1 a3", "r1 500i64");
    let native = Native::new(config(None));
    for (below, good) in [(500, true), (501, false), (100_000_000_000, false)] {
        let inputs = [i64s(5000, below), f32s(5000)];
        let found = try_run(&text, &inputs, 1, Some((&native, Tier::Native)));
        let expected = try_run(&text, &inputs, 1, None);
        match (&expected, &found) {
            (Ok(expected), Ok(found)) => assert!(good && same(expected, found)),
            (Err(Stop::Fault(expected)), Err(Stop::Fault(found))) => {
                assert!(!good);
                assert_eq!(expected, found);
                assert_eq!(found.kind, FaultKind::IndexOutOfRange);
            }
            (_, _) => panic!("{expected:?} {found:?}"),
        }
    }
}

#[test]
fn a_native_loop_without_an_end_is_interrupted() {
    let text = "input a1: [a0]i64
launch \"forever\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = while (r3: i64 = r1)
    r4: bool = ge r3 0i64
    yield r4
  do
    r5: i64 = bit_xor r3 1i64
    yield r5
  yield r2
  store r2 to a2: [a0]i64
end
output a2: [a0]i64
";
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let native = Native::new(config(None));
    let prepared = prepare(&program, &mut KernelCache::with_native(native.clone(), Tier::Native));
    let workers = Workers::new(1);
    let config = Config { workers: &workers, memory_limit: 1 << 30 };
    let cancel = AtomicBool::new(false);
    let inputs = [i64s(100, 50)];
    thread::scope(|scope| {
        scope.spawn(|| {
            while native.statistics().compiled == 0 {
                thread::sleep(Duration::from_millis(5));
            }
            thread::sleep(Duration::from_millis(50));
            cancel.store(true, Ordering::Relaxed);
        });
        let stop = run(&program, &prepared, &inputs, &config, &cancel, &mut |_| {});
        assert!(matches!(stop, Err(Stop::Exhausted(Exhausted::Interrupted))), "{stop:?}");
    });
}

/// Sums, and the least element with its place, of the rows and the columns of a matrix.
const ALONG_BOTH: &str = "input a2: [a0][a1]f32
launch \"columns\" [a1][a0] (r0 r1)
  r2: f32 = read a2 r1 r0
  r3: f32 = exp r2
  yield r3
  reduce r3 as (r4: f32) to a3: [a1]f32
  by (r5: f32) (r6: f32)
    r7: f32 = add r5 r6
    yield r7
  if_empty (r8)
    yield 0.0f32
  reduce r2 r1 as (r9: f32, r10: i64) to a4: [a1]f32, a5: [a1]i64
  by (r11: f32, r12: i64) (r13: f32, r14: i64)
    r15: bool = lt r13 r11
    r16: f32 = select r15 r13 r11
    r17: i64 = select r15 r14 r12
    yield r16 r17
  if_empty (r18)
    yield 0.0f32 -1i64
end
launch \"rows\" [a0][a1] (r20 r21)
  r22: f32 = read a2 r20 r21
  r23: i64 = cast_i64 r22
  yield r22 r23
  reduce r22 as (r24: f32) to a6: [a0]f32
  by (r25: f32) (r26: f32)
    r27: f32 = add r25 r26
    yield r27
  if_empty (r28)
    yield 0.0f32
  reduce r23 as (r29: i64) to a7: [a0]i64
  by (r30: i64) (r31: i64)
    r32: i64 = max r30 r31
    yield r32
  if_empty (r33)
    yield 0i64
end
output a3: [a1]f32
output a4: [a1]f32
output a5: [a1]i64
output a6: [a0]f32
output a7: [a0]i64
";

#[test]
fn rows_and_columns_of_every_length() {
    let native = Native::new(config(None));
    // Few long columns are shared among threads.
    for (rows, columns) in
        [(1, 70), (3, 200), (64, 64), (65, 1030), (200, 3), (1000, 100), (5000, 70), (20_001, 64)]
    {
        let inputs = [matrix(&f32s(rows * columns), columns)];
        let expected = try_run(ALONG_BOTH, &inputs, 1, None).expect("a value");
        for (threads, native) in [
            (2, None),
            (3, None),
            (1, Some((&native, Tier::Native))),
            (2, Some((&native, Tier::Native))),
        ] {
            let found = try_run(ALONG_BOTH, &inputs, threads, native).expect("a value");
            assert!(same(&expected, &found), "{rows} rows, {columns} columns, {threads} threads");
        }
    }
    assert!(native.statistics().failed == 0 && native.statistics().compiled > 0);
}
