//! Loops that collect: what they append goes behind what there is (Note [Arrays that grow]).

use std::sync::atomic::AtomicBool;

use weft_cpu::{Config, KernelCache, Native, Tier, Workers, prepare, run};
use weft_ir::{Column, Exhausted, Scalar, Stop, Value, plan};

use super::{array, config, same};

/// Appends `a20` times three numbers that depend on the turn, on the place and on what there is. `BEGIN`
/// stands for the array that it begins with, `FREED` for what is freed behind the kernel.
const COLLECT: &str = "input a1: [a0]i64
input a20: i64
a2: i64 = host
  yield 0i64
a3: i64 = host
  r0: i64 = read a0
  yield r0
BEGIN
a5: i64, a6: i64, a7: [a6]i64 = while (a8: i64 = a2, a9: i64 = a3, a10: [a9]i64 = a4)
  a11: bool = host
    r0: i64 = read a8
    r1: i64 = read a20
    r2: bool = lt r0 r1
    yield r2
  yield a11
do
  a12: i64, a13: i64 = host
    r0: i64 = read a8
    r1: i64 = add r0 1i64
    r2: i64 = read a9
    r3: i64 = add r2 3i64
    yield r1 r3
  launch \"map\" [a13] (r0)
    r1: i64 = read a9
    r2: bool = lt r0 r1
    r3: i64 = sub r0 r1
    r4: i64 = read a8
    r9: i64 = if r2
      r5: i64 = read a10 r0
      yield r5
    else
      r6: i64 = read a10 r3
      r7: i64 = mul r6 r4
      r8: i64 = add r7 r0
      yield r8
    yield r9
    store r9 to a14: [a13]i64
  end
FREED
  yield a12 a13 a14
END";

/// Nobody has the array when the loop begins.
fn alone() -> String {
    let copy = "launch \"map\" [a3] (r0)
  r1: i64 = read a1 r0
  yield r1
  store r1 to a4: [a3]i64
end";
    COLLECT
        .replace("BEGIN", copy)
        .replace("FREED", "  free a10")
        .replace("END", "free a4\noutput a7: [a6]i64\n")
}

/// The input is the array, and the first one is also a result.
fn shared() -> String {
    COLLECT
        .replace("BEGIN", "a4: [a3]i64 = reshape a1")
        .replace("FREED", "  free a10")
        .replace("END", "output a7: [a6]i64\noutput a4: [a3]i64\n")
}

/// What the loop comes to, and the points of all kernels.
fn outcome(
    text: &str,
    inputs: &[Value],
    native: Option<&Native>,
    memory_limit: u64,
) -> (Result<Vec<Value>, Stop>, u64) {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let mut known = match native {
        Some(native) => KernelCache::with_native(native.clone(), Tier::Native),
        None => KernelCache::new(),
    };
    let prepared = prepare(&program, &mut known);
    let workers = Workers::new(2);
    let config = Config { workers: &workers, memory_limit };
    let mut points = 0;
    let cancel = AtomicBool::new(false);
    let count = &mut |launched: weft_cpu::Launched<'_>| points += launched.points;
    let values = run(&program, &prepared, inputs, &config, &cancel, count);
    (values, points)
}

fn inputs(elements: i64, turns: i64) -> [Value; 2] {
    let elements: Vec<i64> = (0..elements).map(|at| at * 7 % 1009).collect();
    [array(Column::I64(elements.into())), Value::Scalar(Scalar::I64(turns))]
}

/// What the loop is to come to.
fn collected(elements: i64, turns: i64) -> Value {
    let mut all: Vec<i64> = (0..elements).map(|at| at * 7 % 1009).collect();
    for turn in 0..turns {
        let more: Vec<i64> =
            (0..3).map(|at| all[at].wrapping_mul(turn) + (all.len() + at) as i64).collect();
        all.extend(more);
    }
    array(Column::I64(all.into()))
}

#[test]
fn what_is_appended_comes_behind() {
    let native = Native::new(config(None));
    for (elements, turns) in [(3, 2), (1000, 100), (1024, 1), (5000, 0), (5000, 300)] {
        let inputs = inputs(elements, turns);
        let expected = collected(elements, turns);
        for native in [None, Some(&native)] {
            let (values, _) = outcome(&alone(), &inputs, native, 1 << 30);
            assert!(same(&values.expect("a value"), std::slice::from_ref(&expected)));
            let (values, _) = outcome(&shared(), &inputs, native, 1 << 30);
            assert!(same(&values.expect("values"), &[expected.clone(), inputs[0].clone()]));
        }
    }
}

#[test]
fn what_is_there_is_not_copied_in_every_turn() {
    let inputs = inputs(10_000, 1000);
    // The first copy, and what is appended.
    let (values, points) = outcome(&alone(), &inputs, None, 1 << 30);
    assert_eq!((values.map(|values| values.len()), points), (Ok(1), 10_000 + 3000));
    let (values, points) = outcome(&shared(), &inputs, None, 1 << 30);
    assert_eq!((values.map(|values| values.len()), points), (Ok(2), 10_003 + 3 * 999));
    // What somebody needs afterwards stays as it is.
    let kept = alone().replace("  free a10\n", "");
    let (values, points) = outcome(&kept, &inputs, None, 1 << 30);
    assert!(same(&values.expect("a value"), &[collected(10_000, 1000)]));
    assert!(points > 10_000 * 1000);
}

#[test]
fn there_has_to_be_memory_for_what_is_collected() {
    let inputs = inputs(10_000, 1000);
    let whole = 13_000 * 8;
    let (values, _) = outcome(&alone(), &inputs, None, whole + 1000);
    assert!(same(&values.expect("a value"), &[collected(10_000, 1000)]));
    // The first array stays, and what is made of it counts as well.
    let (values, _) = outcome(&shared(), &inputs, None, whole + 1000);
    assert_eq!(values.map(|values| values.len()), Ok(2));
    let (values, _) = outcome(&alone(), &inputs, None, whole - 1000);
    assert!(matches!(values, Err(Stop::Exhausted(Exhausted::Memory { .. }))), "{values:?}");
}
