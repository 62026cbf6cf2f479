//! Loops over small arrays as functions, against the same loops step by step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weft_cpu::{Config, KernelCache, Native, Tier, Workers, prepare, run};
use weft_ir::{Column, Exhausted, Scalar, Stop, Value, plan};

use super::{array, config, same};

/// Replaces all elements as often as `a20` says, each by something of it and of the sum of all.
const TURNS: &str = "input a1: [a0]f64
input a20: i64
a2: i64 = host
  yield 0i64
a4: [a0]f64 = reshape a1
a5: i64, a7: [a0]f64 = while (a8: i64 = a2, a10: [a0]f64 = a4)
  a11: bool = host
    r0: i64 = read a8
    r1: i64 = read a20
    r2: bool = lt r0 r1
    yield r2
  yield a11
do
  a12: i64 = host
    r0: i64 = read a8
    r1: i64 = add r0 1i64
    yield r1
  launch \"sum\" [a0] (r0)
    r1: f64 = read a10 r0
    yield r1
    reduce r1 as (r2: f64) to a13: f64
    by (r3: f64) (r4: f64)
      r5: f64 = add r3 r4
      yield r5
    if_empty ()
      yield 0.0f64
  end
  launch \"map\" [a0] (r0)
    r1: f64 = read a10 r0
    r2: f64 = read a13
    r3: f64 = mul r2 0.001f64
    r4: f64 = mul r1 0.5f64
    r5: f64 = add r3 r4
    yield r5
    store r5 to a14: [a0]f64
  end
  free a10
  yield a12 a14
free a4
output a7: [a0]f64
";

fn inputs(elements: usize, turns: i64) -> [Value; 2] {
    let elements: Vec<f64> = (0..elements).map(|at| at as f64 * 0.1).collect();
    [array(Column::F64(elements.into())), Value::Scalar(Scalar::I64(turns))]
}

/// What the loop comes to, and how many kernels the host has launched for it.
fn outcome(
    inputs: &[Value],
    native: Option<&Native>,
    memory_limit: u64,
) -> (Result<Vec<Value>, Stop>, usize) {
    let known = match native {
        Some(native) => KernelCache::with_native(native.clone(), Tier::Native),
        None => KernelCache::new(),
    };
    outcomes(inputs, known, memory_limit, 1).remove(0)
}

/// The same of several runs of one program.
fn outcomes(
    inputs: &[Value],
    mut known: KernelCache,
    memory_limit: u64,
    runs: usize,
) -> Vec<(Result<Vec<Value>, Stop>, usize)> {
    let program = plan::parse(TURNS).unwrap_or_else(|error| panic!("{error}"));
    let prepared = prepare(&program, &mut known);
    let workers = Workers::new(1);
    let config = Config { workers: &workers, memory_limit };
    let cancel = AtomicBool::new(false);
    let one = |_| {
        let mut launches = 0;
        let values = run(&program, &prepared, inputs, &config, &cancel, &mut |_| launches += 1);
        (values, launches)
    };
    (0..runs).map(one).collect()
}

#[test]
fn turns_on_trial_are_turns_of_the_loop() {
    let native = Native::new(config(None));
    for (elements, turns) in [(700, 2000), (4096, 333)] {
        let inputs = inputs(elements, turns);
        let (expected, steps) = outcome(&inputs, None, 1 << 30);
        let expected = expected.expect("no fault");
        let known = KernelCache::with_native(native.clone(), Tier::Automatic);
        // The function comes in one of these runs, if the machine has a moment for the compiler.
        for (found, launches) in outcomes(&inputs, known, 1 << 30, 40) {
            assert!(same(&expected, &found.expect("no fault")), "{elements} elements");
            assert!(launches <= steps, "{elements} elements, {launches} launches");
        }
    }
    assert_eq!(native.statistics().failed, 0);
}

#[test]
fn arrays_are_computed_within_the_function() {
    let native = Native::new(config(None));
    let small = [(0, 3), (1, 1), (10, 0), (10, 100), (64, 7), (65, 7), (300, 8)];
    for (elements, turns) in small.into_iter().chain([(600, 8), (4096, 3), (5000, 4), (8193, 2)]) {
        let inputs = inputs(elements, turns);
        let (expected, steps) = outcome(&inputs, None, 1 << 30);
        let (found, launches) = outcome(&inputs, Some(&native), 1 << 30);
        assert!(same(&expected.expect("no fault"), &found.expect("no fault")), "{elements}");
        assert_eq!((steps, launches), (2 * turns as usize, 0), "{elements} elements");
    }
    assert_eq!(native.statistics().failed, 0);
}

#[test]
fn the_host_goes_on_with_large_arrays() {
    let native = Native::new(config(None));
    let inputs = inputs(140_000, 4);
    let (expected, _) = outcome(&inputs, None, 1 << 30);
    let (found, launches) = outcome(&inputs, Some(&native), 1 << 30);
    assert!(same(&expected.expect("no fault"), &found.expect("no fault")));
    assert_eq!(launches, 8, "rows of so many elements are folded by kernels");
}

#[test]
fn without_memory_for_it_the_host_goes_on() {
    let native = Native::new(config(None));
    let inputs = inputs(10, 4);
    let (found, launches) = outcome(&inputs, Some(&native), 1 << 16);
    assert!(found.is_ok(), "{found:?}");
    assert_eq!(launches, 8);
}

#[test]
fn it_can_be_interrupted() {
    let native = Native::new(config(None));
    let program = plan::parse(TURNS).unwrap_or_else(|error| panic!("{error}"));
    let prepared = prepare(&program, &mut KernelCache::with_native(native.clone(), Tier::Native));
    let workers = Workers::new(1);
    let config = Config { workers: &workers, memory_limit: 1 << 30 };
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while native.statistics().compiled < 1 {
                thread::sleep(Duration::from_millis(5));
            }
            thread::sleep(Duration::from_millis(50));
            cancel.store(true, Ordering::Relaxed);
        });
        let inputs = inputs(10, i64::MAX);
        let stop = run(&program, &prepared, &inputs, &config, &cancel, &mut |_| {});
        assert!(matches!(stop, Err(Stop::Exhausted(Exhausted::Interrupted))), "{stop:?}");
    });
}
