//! Loops in a side of a conditional, which none, few, many or all lanes take.

use weft_cpu::{Native, Tier};
use weft_ir::{Scalar, Stop, Value};

use crate::{config, i64s, same, try_run};

/// Sums of an array's first elements, where an element is below a bound; `place` is checked to be below the
/// number of elements.
fn sums(place: &str) -> String {
    format!(
        "input a1: [a0]i64
input a2: i64
launch \"sums\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = read a2
  r3: i64 = read a0
  r4: bool = lt r1 r2
  r5: bool = gt r3 0i64
  r20: i64, r21: i64 = if r4
    r18: i64, r19: i64 = if r5
      r6: i64, r7: i64 = while (r8: i64 = 0i64, r9: i64 = r0)
        r10: bool = lt r8 {place}
        yield r10
      do
        r11: bool = lt r8 r3
        check r11 index
        r12: i64 = read a1 r8
        r13: i64 = mul r12 r1
        r14: i64 = add r9 r13
        r15: i64 = add r8 1i64
        yield r15 r14
      r16: i64 = mul r7 2i64
      yield r16 r6
    else
      yield 0i64 0i64
    yield r18 r19
  else
    r17: i64 = add r1 r0
    yield r17 -1i64
  r22: i64 = add r20 r1
  yield r22 r21
  store r22 to a3: [a0]i64
  store r21 to a4: [a0]i64
end
output a3: [a0]i64
output a4: [a0]i64
"
    )
}

const BELOW: i64 = 1000;

fn bound(value: i64) -> Value {
    Value::Scalar(Scalar::I64(value))
}

/// Both tiers, however many lanes take the side.
fn check(text: &str, lengths: &[usize]) {
    let native = Native::new(config(None));
    for &length in lengths {
        for taken in [0, 1, 10, 100, 300, 500, 700, 999, BELOW] {
            let inputs = [i64s(length, BELOW as u64), bound(taken)];
            for threads in [1, 2] {
                let expected = try_run(text, &inputs, threads, None).expect("a value");
                let found = try_run(text, &inputs, threads, Some((&native, Tier::Native)));
                let found = found.expect("a value");
                assert!(same(&expected, &found), "{length} elements, {taken} of {BELOW}\n{text}");
                let turning = try_run(text, &inputs, threads, Some((&native, Tier::Turning)));
                let turning = turning.expect("a value");
                assert!(same(&expected, &turning), "turning: {length}, {taken}\n{text}");
            }
        }
    }
    let statistics = native.statistics();
    assert!(statistics.compiled > 0 && statistics.failed == 0, "{statistics:?}");
}

#[test]
fn turns_that_all_lanes_share() {
    let lengths = [0, 1, 31, 32, 33, 64, 95, 1023, 1024, 1057, 5000];
    check(
        &sums("7i64").replace("lt r8 r3", "lt r8 9i64").replace("read a1 r8", "read a1 r0"),
        &lengths,
    );
    check(&sums("r3"), &lengths);
}

#[test]
fn turns_that_differ() {
    // As many as the element, of which all are below the number of elements.
    check(&sums("r1"), &[1024, 1057, 5000]);
}

#[test]
fn a_check_that_fails_for_one_lane_is_a_fault() {
    let native = Native::new(config(None));
    for (length, taken, fails) in
        [(500, 300, false), (500, 700, true), (900, 890, false), (900, 950, true)]
    {
        let inputs = [i64s(length, BELOW as u64), bound(taken)];
        let of = |tier| try_run(&sums("r1"), &inputs, 1, tier);
        match (of(None), of(Some((&native, Tier::Native)))) {
            (Ok(expected), Ok(found)) => assert!(same(&expected, &found) && !fails, "{taken}"),
            (Err(Stop::Fault(a)), Err(Stop::Fault(b))) => {
                assert_eq!(a, b);
                assert!(fails, "{taken}");
            }
            (expected, found) => panic!("{expected:?}\n{found:?}"),
        }
    }
}
