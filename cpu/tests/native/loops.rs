//! Loops of the host as functions, against the same loops step by step.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use weft_cpu::{Config, KernelCache, Native, Tier, Workers, prepare, run};
use weft_ir::{Column, Exhausted, FaultKind, Stop, Value, plan};

use super::{array, config, i64s, same, try_run};

/// Adds up the elements `read` below a count, and notes each sum in a copy of the array.
const NOTES: &str = "input a1: [a0]i64
input a20: i64
a2: i64, a3: i64 = host
  yield 0i64 0i64
a4: [a0]i64 = reshape a1
a5: i64, a6: i64, a7: [a0]i64 = while (a8: i64 = a2, a9: i64 = a3, a10: [a0]i64 = a4)
  a11: bool = host
    r0: i64 = read a8
    r1: i64 = read a20
    r2: bool = lt r0 r1
    yield r2
  yield a11
do
  a12: i64, a13: i64 = host
    r0: i64 = read a8
    r1: i64 = read a9
    r2: i64 = read a0
    r3: bool = lt r0 r2
    check r3 index
    r4: i64 = read a10 r0
    r5: i64 = add r1 r4
    r6: i64 = add r0 1i64
    yield r6 r5
  launch \"scatter\" [1] (r0)
    r1: i64 = read a8
    r2: i64 = read a13
    yield r1 r2
    scatter r2 at r1 into a10 to a14: [a0]i64
  end
  free a10
  yield a12 a13 a14
free a4
output a6: i64
output a7: [a0]i64
output a1: [a0]i64
";

fn count(turns: i64) -> Value {
    Value::Scalar(weft_ir::Scalar::I64(turns))
}

#[test]
fn an_array_is_updated_and_its_first_value_stays() {
    let native = Native::new(config(None));
    for turns in [0, 1, 999, 1000] {
        let inputs = [i64s(1000, 50), count(turns)];
        let found = try_run(NOTES, &inputs, 1, Some((&native, Tier::Native))).expect("no fault");
        let expected = try_run(NOTES, &inputs, 1, None).expect("no fault");
        assert!(same(&expected, &found), "{turns}");
        assert!(same(&found[2..], &inputs[..1]), "{turns}");
    }
    assert_eq!(native.statistics().failed, 0);
}

#[test]
fn a_check_that_fails_in_a_turn_is_the_same_fault() {
    let native = Native::new(config(None));
    let inputs = [i64s(1000, 50), count(1001)];
    let stops = [Some((&native, Tier::Native)), None].map(|native| {
        match try_run(NOTES, &inputs, 1, native) {
            Err(Stop::Fault(fault)) => fault,
            other => panic!("{other:?}"),
        }
    });
    assert_eq!(stops[0], stops[1]);
    assert_eq!(stops[0].kind, FaultKind::IndexOutOfRange);
}

/// Runs a plan whose first input is large with room for little more than nothing.
fn without_room(text: &str, turns: i64) {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}"));
    let native = Native::new(config(None));
    let prepared = prepare(&program, &mut KernelCache::with_native(native.clone(), Tier::Native));
    let workers = Workers::new(1);
    let inputs = [i64s(100_000, 50), count(turns)];
    let config = Config { workers: &workers, memory_limit: 1000 };
    let found = run(&program, &prepared, &inputs, &config, &AtomicBool::new(false), &mut |_| {});
    assert!(same(&found.expect("no copy")[1..], &inputs[..1]));
    assert!(native.statistics().compiled > 0);
}

#[test]
fn without_room_for_a_copy_it_goes_on_step_by_step() {
    without_room(&NOTES.replace("\noutput a7: [a0]i64", ""), 0);
}

#[test]
fn an_array_that_is_only_read_is_not_copied() {
    let text = "input a1: [a0]i64
input a20: i64
a2: i64 = host
  yield 0i64
a4: [a0]i64 = reshape a1
a5: i64, a7: [a0]i64 = while (a8: i64 = a2, a10: [a0]i64 = a4)
  a11: bool = host
    r0: i64 = read a8
    r1: i64 = read a10 r0
    r2: i64 = read a20
    r3: bool = lt r0 r2
    yield r3
  yield a11
do
  a12: i64 = host
    r0: i64 = read a8
    r1: i64 = add r0 1i64
    yield r1
  yield a12 a10
free a4
output a5: i64
output a7: [a0]i64
";
    without_room(text, 900);
}

#[test]
fn host_code_begins_again_as_a_function_and_can_be_interrupted() {
    let text = "input a1: [a0]i64
a2: i64 = host
  r0: i64 = read a0
  r1: i64, r2: i64 = while (r3: i64 = 0i64, r4: i64 = 7i64)
    r5: bool = lt r3 LIMIT
    yield r5
  do
    r6: i64 = mod r3 r0
    r7: i64 = read a1 r6
    r8: i64 = bit_xor r4 r7
    r9: i64 = mul r8 3i64
    r10: i64 = add r3 1i64
    yield r10 r9
  yield r2
output a2: i64
";
    let native = Native::new(config(None));
    let inputs = [i64s(50, 1000)];
    let short = text.replace("LIMIT", "5000i64");
    let found = try_run(&short, &inputs, 1, Some((&native, Tier::Native))).expect("no fault");
    assert!(same(&try_run(&short, &inputs, 1, None).expect("no fault"), &found));
    assert_eq!(native.statistics().compiled, 1);

    let program = plan::parse(&text.replace("LIMIT", "9000000000000000000i64"));
    let program = program.unwrap_or_else(|error| panic!("{error}"));
    let prepared = prepare(&program, &mut KernelCache::with_native(native.clone(), Tier::Native));
    let workers = Workers::new(1);
    let config = Config { workers: &workers, memory_limit: 1 << 30 };
    let cancel = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while native.statistics().compiled < 2 {
                thread::sleep(Duration::from_millis(5));
            }
            thread::sleep(Duration::from_millis(50));
            cancel.store(true, Ordering::Relaxed);
        });
        let stop = run(&program, &prepared, &inputs, &config, &cancel, &mut |_| {});
        assert!(matches!(stop, Err(Stop::Exhausted(Exhausted::Interrupted))), "{stop:?}");
    });
}

#[test]
fn elements_of_all_types_are_kept() {
    let of = |ty: &str, column: Column| {
        let text = NOTES
            .replace("input a1: [a0]i64", &format!("input a1: [a0]{ty}"))
            .replace("a4: [a0]i64", &format!("a4: [a0]{ty}"))
            .replace("a7: [a0]i64 = while", &format!("a7: [a0]{ty} = while"))
            .replace("a10: [a0]i64 =", &format!("a10: [a0]{ty} ="))
            .replace("r4: i64 = read a10 r0", "r4: i64 = add r0 3i64")
            .replace("r2: i64 = read a13", &format!("r3: i64 = read a20\n    r4: i64 = sub r3 1i64\n    r5: i64 = sub r4 r1\n    r2: {ty} = read a10 r5"))
            .replace("a14: [a0]i64", &format!("a14: [a0]{ty}"))
            .replace("output a7: [a0]i64", &format!("output a7: [a0]{ty}"))
            .replace("output a1: [a0]i64", &format!("output a1: [a0]{ty}"));
        let inputs = [array(column), count(3)];
        let native = Native::new(config(None));
        let found = try_run(&text, &inputs, 1, Some((&native, Tier::Native))).expect("no fault");
        assert!(same(&try_run(&text, &inputs, 1, None).expect("no fault"), &found), "{ty}");
        assert_eq!(native.statistics().failed, 0);
    };
    of("i8", Column::I8(vec![1, -2, 3].into()));
    of("u16", Column::U16(vec![1, 60_000, 3].into()));
    of("f32", Column::F32(vec![1.5, -0.0, f32::INFINITY].into()));
    of("bool", Column::Bool(vec![true, false, false].into()));
    of("char", Column::Char(vec![b'a', b'b', b'c'].into()));
}
