//! Steps between kernels, conditionals and loops inside them, faults, interruption, memory.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use weft_cpu::{Config, KernelCache, Workers, kernel_key, prepare, run};
use weft_ir::plan::Step;
use weft_ir::{Exhausted, FaultKind, Scalar, Stop, Value, plan};

use crate::{f64s, i64s, noise, try_run, values};

/// The number of steps of the Collatz sequence, guarded against numbers below 1.
const COLLATZ: &str = "input a1: [a0]i64
launch \"collatz\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: bool = gt r1 0i64
  r3: i64 = if r2
    r4: i64, r5: i64 = while (r6: i64 = r1, r7: i64 = 0i64)
      r8: bool = ne r6 1i64
      yield r8
    do
      r9: i64 = mod r6 2i64
      r10: bool = eq r9 0i64
      r11: i64 = quot r6 2i64
      r12: i64 = mul r6 3i64
      r13: i64 = add r12 1i64
      r14: i64 = select r10 r11 r13
      r15: i64 = add r7 1i64
      yield r14 r15
    yield r5
  else
    yield -1i64
  yield r3
  store r3 to a2: [a0]i64
end
output a2: [a0]i64
";

#[test]
fn loops_end_lane_by_lane() {
    for length in [0, 1, 63, 64, 65, 1000, 5000, 40_000] {
        let xs: Vec<i64> = noise(length).map(|bits| (bits % 3000) as i64 - 50).collect();
        let steps = |&x: &i64| {
            let (mut x, mut steps) = (x, 0);
            if x <= 0 {
                return -1;
            }
            while x != 1 {
                x = if x % 2 == 0 { x / 2 } else { 3 * x + 1 };
                steps += 1;
            }
            steps
        };
        let expected = xs.iter().map(steps).collect();
        assert!(values(COLLATZ, &[i64s(xs)])[0].same_bits(&i64s(expected)), "{length}");
    }
}

#[test]
fn what_is_guarded_is_not_evaluated() {
    let text = "input a1: [a0]i64
launch \"guarded\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: bool = gt r0 0i64
  r3: i64 = if r2
    r4: i64 = sub r0 1i64
    r5: bool = ge r4 0i64
    check r5 index
    r6: i64 = read a1 r4
    r7: bool = ne r6 0i64
    r8: i64 = if r7
      r9: i64 = quot r1 r6
      yield r9
    else
      yield 77i64
    yield r8
  else
    yield 99i64
  yield r3
  store r3 to a2: [a0]i64
end
output a2: [a0]i64
";
    for length in [0, 1, 63, 64, 65, 1000, 5000, 40_000] {
        let xs: Vec<i64> = noise(length).map(|bits| (bits % 7) as i64 - 3).collect();
        let quotient = |at: usize| match at {
            0 => 99,
            _ if xs[at - 1] == 0 => 77,
            _ => xs[at] / xs[at - 1],
        };
        let expected = (0..length).map(quotient).collect();
        assert!(values(text, &[i64s(xs.clone())])[0].same_bits(&i64s(expected)), "{length}");
    }
}

#[test]
fn faults_are_reported() {
    let text = "input a1: [a0]i64
launch \"divide\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = quot 100i64 r1
  yield r2
  store r2 to a2: [a0]i64
end
output a2: [a0]i64
";
    for length in [1, 64, 100, 5000, 100_000] {
        let mut xs = vec![3; length];
        assert!(try_run(text, &[i64s(xs.clone())]).is_ok());
        xs[length - 1] = 0;
        match try_run(text, &[i64s(xs)]) {
            Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::DivisionByZero),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn the_host_branches_and_loops() {
    let text = "input a1: [a0]f64
a2: i64 = host
  yield 0i64
a9: i64, a10: [a0]f64 = while (a3: i64 = a2, a4: [a0]f64 = a1)
  a5: bool = host
    r0: i64 = read a3
    r1: bool = lt r0 10i64
    yield r1
  yield a5
do
  a6: i64 = host
    r0: i64 = read a3
    r1: i64 = add r0 1i64
    yield r1
  launch \"step\" [a0] (r0)
    r1: f64 = read a4 r0
    r2: f64 = mul r1 1.5f64
    yield r2
    store r2 to a7: [a0]f64
  end
  free a4
  yield a6 a7
a11: bool = host
  r0: i64 = read a0
  r1: bool = gt r0 2i64
  r2: f64 = if r1
    r3: f64 = read a10 1i64
    yield r3
  else
    yield 0.0f64
  r4: bool = gt r2 50.0f64
  yield r4
a12: [a0]f64 = if a11
  yield a10
else
  yield a1
output a12: [a0]f64
output a9: i64
";
    let found = values(text, &[f64s(vec![1.0, 2.0, 3.0])]);
    let factor = 1.5_f64.powi(10);
    assert!(found[0].same_bits(&f64s(vec![factor, 2.0 * factor, 3.0 * factor])), "{found:?}");
    assert!(found[1].same_bits(&Value::Scalar(Scalar::I64(10))));
    let found = values(text, &[f64s(vec![1.0, 0.5, 3.0])]);
    assert!(found[0].same_bits(&f64s(vec![1.0, 0.5, 3.0])), "{found:?}");
}

#[test]
fn an_interrupt_ends_an_endless_loop() {
    let text = "input a1: [a0]i64
launch \"endless\" [a0] (r0)
  r1: i64 = while (r2: i64 = r0)
    r3: bool = ge r2 0i64
    yield r3
  do
    r4: i64 = bit_xor r2 1i64
    yield r4
  yield r1
  store r1 to a2: [a0]i64
end
output a2: [a0]i64
";
    let program = plan::parse(text).expect("a plan");
    let prepared = prepare(&program, &mut KernelCache::new());
    let cancel = AtomicBool::new(false);
    let workers = Workers::new(2);
    let config = Config { workers: &workers, memory_limit: 1 << 30 };
    let stop = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        let inputs = [i64s(vec![0; 100_000])];
        run(&program, &prepared, &inputs, &config, &cancel, &mut |_| {})
    });
    assert_eq!(stop.err(), Some(Stop::Exhausted(Exhausted::Interrupted)));
}

#[test]
fn an_interrupt_is_seen_within_long_rows() {
    // Rows side by side, each of 300 000 elements: without a look between steps that takes minutes.
    let mut text = "launch \"greatest\" [100000][300000] (r0 r1)
  r100: i64 = mul r0 r1
  r101: f64 = cast_f64 r100
"
    .to_owned();
    for number in 101..150 {
        text += &format!("  r{}: f64 = sin r{number}\n", number + 1);
    }
    text += "  yield r150
  reduce r150 as (r2: f64) to a0: [100000]f64
  by (r3: f64) (r4: f64)
    r5: f64 = max r3 r4
    yield r5
  if_empty (r6)
    yield 0.0f64
end
output a0: [100000]f64
";
    let program = plan::parse(&text).unwrap_or_else(|error| panic!("{error}"));
    let prepared = prepare(&program, &mut KernelCache::new());
    let cancel = AtomicBool::new(false);
    let workers = Workers::new(1);
    let config = Config { workers: &workers, memory_limit: 1 << 30 };
    let stop = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            cancel.store(true, std::sync::atomic::Ordering::Relaxed);
        });
        run(&program, &prepared, &[], &config, &cancel, &mut |_| {})
    });
    assert_eq!(stop.err(), Some(Stop::Exhausted(Exhausted::Interrupted)));
}

/// Of a launch the points, the bytes written, and those alive after it.
type Counts = (u64, u64, u64);

/// Runs a plan without inputs with so much memory, and counts its launches.
fn launches(text: &str, memory_limit: u64) -> (Result<Vec<Value>, Stop>, Vec<Counts>) {
    let program = plan::parse(text).expect("a plan");
    let prepared = prepare(&program, &mut KernelCache::new());
    let workers = Workers::new(1);
    let config = Config { workers: &workers, memory_limit };
    let mut all = Vec::new();
    let result = run(&program, &prepared, &[], &config, &AtomicBool::new(false), &mut |launched| {
        all.push((launched.points, launched.bytes_written, launched.bytes_alive));
    });
    (result, all)
}

#[test]
fn memory_is_asked_for_and_returned() {
    let text = "a0: i64 = host
  yield 1000i64
launch \"iota\" [a0] (r0)
  yield r0
  store r0 to a1: [a0]i64
end
launch \"again\" [a0] (r0)
  r1: i64 = read a1 r0
  yield r1
  store r1 to a2: [a0]i64
end
free a1
launch \"more\" [a0] (r0)
  r1: i64 = read a2 r0
  yield r1
  store r1 to a3: [a0]i64
end
free a2
output a3: [a0]i64
";
    let (result, alive) = launches(text, 16_000);
    assert!(result.is_ok(), "{result:?}");
    assert_eq!(alive, [(1000, 8000, 8000), (1000, 8000, 16_000), (1000, 8000, 16_000)]);
    match launches(text, 15_999).0 {
        Err(Stop::Exhausted(Exhausted::Memory { wanted: 8000, limit: 15_999, .. })) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn an_update_in_place_writes_what_it_replaces() {
    let text = "a0: i64 = host
  yield 1000i64
launch \"iota\" [a0] (r0)
  yield r0
  store r0 to a1: [a0]i64
end
launch \"first\" [1] (r0)
  yield r0 7i64
  scatter 7i64 at r0 into a1 to a2: [a0]i64
end
launch \"second\" [1] (r0)
  yield r0 8i64
  scatter 8i64 at r0 into a2 to a3: [a0]i64
end
free a2
output a1: [a0]i64
output a3: [a0]i64
";
    let (result, launches) = launches(text, 1 << 20);
    assert!(result.is_ok(), "{result:?}");
    // The first one copies, since what was there is an output.
    let written: Vec<u64> = launches.into_iter().map(|(_, written, _)| written).collect();
    assert_eq!(written, [8000, 8000, 8]);
}

#[test]
fn factors_that_are_computed_count_as_memory() {
    let text = "launch \"product\" [40][30][100] (r0 r1 r2)
  r3: i64 = add r0 r2
  r4: i64 = sub r1 r2
  r5: i64 = mul r3 r4
  yield
  reduce r5 as (r6: i64) to a0: [40][30]i64
  by (r7: i64) (r8: i64)
    r9: i64 = add r7 r8
    yield r9
  from (r10 r11)
    yield 0i64
end
output a0: [40][30]i64
";
    let (result, launches) = launches(text, 1 << 20);
    assert!(result.is_ok(), "{result:?}");
    let alive: Vec<u64> = launches.into_iter().map(|(.., alive)| alive).collect();
    let (sums, factors) = (40 * 30 * 8, (40 + 30) * 100 * 8);
    assert_eq!(alive, [sums + factors]);
}

#[test]
fn a_branch_writes_in_place_what_nobody_needs_behind_the_if() {
    // Where k is even one element changes, elsewhere another or none; there is memory for one array alone.
    let text = "a12: i64 = host
  yield 0i64
launch \"map\" [1000] (r0)
  yield
  store 0.0f64 to a0: [1000]f64
end
a13: i64, a11: [1000]f64 = while (a1: i64 = a12, a2: [1000]f64 = a0)
  a3: bool = host
    r0: i64 = read a1
    r1: bool = lt r0 9i64
    yield r1
  yield a3
do
  a10: i64, a4: bool, a5: bool = host
    r0: i64 = read a1
    r1: i64 = add r0 1i64
    r2: i64 = rem r0 2i64
    r3: bool = eq r2 0i64
    r4: bool = gt r0 4i64
    yield r1 r3 r4
  a9: [1000]f64 = if a4
    launch \"even\" [1] (r0)
      r1: i64 = read a1
      yield r1
      scatter 1.0f64 at r1 into a2 to a6: [1000]f64
    end
    yield a6
  else
    a8: [1000]f64 = if a5
      launch \"odd\" [1] (r0)
        r1: i64 = read a1
        yield r1
        scatter 2.0f64 at r1 into a2 to a7: [1000]f64
      end
      yield a7
    else
      yield a2
    yield a8
  free a2
  yield a10 a9
free a0
output a11: [1000]f64
";
    let program = plan::parse(text).expect("a plan");
    let prepared = prepare(&program, &mut KernelCache::new());
    let config = Config { workers: &Workers::new(1), memory_limit: 8000 };
    let found = run(&program, &prepared, &[], &config, &AtomicBool::new(false), &mut |launched| {
        assert_eq!(launched.bytes_alive, 8000, "one array at a time");
    });
    let mut expected = vec![0.0; 1000];
    expected[..9].copy_from_slice(&[1.0, 0.0, 1.0, 0.0, 1.0, 2.0, 1.0, 2.0, 1.0]);
    let found = found.expect("memory for one");
    assert!(found[0].same_bits(&f64s(expected)), "{found:?}");
}

#[test]
fn sums_are_refused_before_they_are_computed() {
    // One sum for each point of a large space: along short rows, along long ones, of a product.
    for text in [
        "launch \"sums\" [100000] [100000] [1] (r0 r1 r2)",
        "launch \"sums\" [100000] [100000] [100000] (r0 r1 r2)",
    ] {
        let text = format!(
            "{}\n  yield\n  reduce 1.0f64 as (r3: f64) to a0: [100000][100000]f64\n  by (r4: f64) \
             (r5: f64)\n    r6: f64 = add r4 r5\n    yield r6\n  from (r7 r8)\n    yield \
             0.0f64\nend\noutput a0: [100000][100000]f64\n",
            text.replace("] [", "][")
        );
        let program = plan::parse(&text).expect("a plan");
        let prepared = prepare(&program, &mut KernelCache::new());
        let workers = Workers::new(2);
        let config = Config { workers: &workers, memory_limit: 1 << 30 };
        let ran = run(&program, &prepared, &[], &config, &AtomicBool::new(false), &mut |_| {});
        match ran {
            Err(Stop::Exhausted(Exhausted::Memory { wanted: 80_000_000_000, .. })) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn kernels_of_one_form_are_prepared_once() {
    let text = "input a1: [a0]f64
input a5: [a4]f64
launch \"first\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = mul r1 r1
  yield r2
  store r2 to a2: [a0]f64
end
launch \"second\" [a4] (r7)
  r9: f64 = read a5 r7
  r8: f64 = mul r9 r9
  yield r8
  store r8 to a3: [a4]f64
end
launch \"other\" [a4] (r7)
  r9: f64 = read a5 r7
  r8: f64 = add r9 r9
  yield r8
  store r8 to a6: [a4]f64
end
output a2: [a0]f64
output a3: [a4]f64
output a6: [a4]f64
";
    let program = plan::parse(text).expect("a plan");
    let mut known = KernelCache::new();
    prepare(&program, &mut known);
    assert_eq!((known.len(), known.hits_and_misses()), (2, (1, 2)));
    let keys: Vec<String> = program
        .body
        .steps
        .iter()
        .map(|step| match step {
            Step::Launch(kernel) => kernel_key(kernel, &program.types),
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(keys[0] == keys[1] && keys[1] != keys[2]);
}
