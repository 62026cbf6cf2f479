//! What is asked for while a kernel runs counts towards the memory too.

use std::sync::atomic::AtomicBool;

use weft_cpu::{Config, KernelCache, Workers, prepare, run};
use weft_ir::{Column, Exhausted, Stop, Value, plan};

use crate::{array, f64s, i64s};

/// What a plan yields within a limit, on two threads; nothing if it lacks memory.
fn within(text: &str, inputs: &[Value], memory_limit: u64) -> Option<Vec<Value>> {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    plan::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let prepared = prepare(&program, &mut KernelCache::new());
    let workers = Workers::new(2);
    let config = Config { workers: &workers, memory_limit };
    let cancel = AtomicBool::new(false);
    match run(&program, &prepared, inputs, &config, &cancel, &mut |_| {}) {
        Ok(values) => Some(values),
        Err(Stop::Exhausted(Exhausted::Memory { limit, .. })) if limit == memory_limit => None,
        Err(other) => panic!("{other:?}\n{text}"),
    }
}

fn fits(text: &str, inputs: &[Value], memory_limit: u64) -> bool {
    within(text, inputs, memory_limit).is_some()
}

#[test]
fn all_destinations_of_a_scatter_count() {
    let text = "input a1: [a0]i64
input a2: [a0]f64
launch \"scatter\" [1] (r0)
  yield r0
  scatter 1i64 2.0f64 at r0 into a1 a2 to a3: [a0]i64, a4: [a0]f64
  by (r1: i64, r2: f64) (r3: i64, r4: f64)
    r5: i64 = add r1 r3
    r6: f64 = add r2 r4
    yield r5 r6
end
output a3: [a0]i64
output a4: [a0]f64
";
    let inputs = [i64s(vec![1; 10_000]), f64s(vec![1.0; 10_000])];
    assert!(fits(text, &inputs, 170_000));
    assert!(!fits(text, &inputs, 150_000));
}

#[test]
fn points_that_are_kept_until_all_are_sent_count() {
    // No common operator, so that targets and values are sorted at the end.
    let text = "input a1: [a0]f64
launch \"scatter\" [200000] (r0)
  r1: i64 = read a0
  r2: i64 = mod r0 r1
  r4: f64 = cast_f64 r0
  yield r2 r4
  scatter r4 at r2 into a1 to a3: [a0]f64
  by (r5: f64) (r6: f64)
    r7: f64 = mul r5 0.5f64
    r8: f64 = add r7 r6
    yield r8
end
output a3: [a0]f64
";
    let inputs = [f64s(vec![0.0; 10])];
    assert!(fits(text, &inputs, 16 << 20));
    assert!(!fits(text, &inputs, 8 << 20));
}

#[test]
fn a_product_of_a_part_keeps_nothing() {
    // A copy of the part would be a million bytes.
    let text = "input a1: [a4][a5]f32
input a2: [a6][a7]f32
launch \"product\" [64][64][4096] (r0 r1 r2)
  r3: i64 = add r2 4i64
  r4: i64 = read a5
  r5: bool = lt r3 r4
  check r5 index
  r6: f32 = read a1 r0 r3
  r7: f32 = read a2 r2 r1
  r8: f32 = mul r6 r7
  yield r8
  reduce r8 as (r9: f32) to a3: [64][64]f32
  by (r10: f32) (r11: f32)
    r12: f32 = add r10 r11
    yield r12
end
output a3: [64][64]f32
";
    let matrix = |len: usize, extent: usize| {
        let inner = Box::new(Column::F32(vec![1.0; len * extent].into()));
        array(Column::Dense { len, extent, inner })
    };
    let inputs = [matrix(64, 4100), matrix(4096, 64)];
    assert!(fits(text, &inputs, 40_000));
}

#[test]
fn what_is_sent_to_many_places_is_not_sorted() {
    let text = |op: &str| {
        format!(
            "input a1: [a0]f64
launch \"scatter\" [200000] (r0)
  r1: i64 = read a0
  r2: i64 = mod r0 r1
  r3: f64 = cast_f64 r0
  yield r2 r3
  scatter r3 at r2 into a1 to a3: [a0]f64
  by (r5: f64) (r6: f64)
    r7: f64 = {op} r5 r6
    yield r7
end
output a3: [a0]f64
"
        )
    };
    let inputs = [f64s(vec![0.25; 100_000])];
    // Besides the destination nothing, or a count and some sums for each place; sorted they would take 12 MB.
    assert!(fits(&text("max"), &inputs, 1 << 20));
    assert!(fits(&text("min"), &inputs, 1 << 20));
    assert!(fits(&text("add"), &inputs, 5 << 20));
}

#[test]
fn with_little_memory_places_get_the_same_bits() {
    let text = "input a1: [a0]f64
launch \"scatter\" [200000] (r0)
  r1: i64 = read a0
  r2: i64 = mod r0 r1
  r3: f64 = cast_f64 r0
  r4: f64 = div r3 7.0f64
  yield r2 r4
  scatter r4 at r2 into a1 to a3: [a0]f64
  by (r5: f64) (r6: f64)
    r7: f64 = add r5 r6
    yield r7
end
output a3: [a0]f64
";
    let inputs = [f64s(vec![0.25; 1000])];
    let some = within(text, &inputs, 1 << 30).expect("room for what chunks keep");
    let little = within(text, &inputs, 100_000).expect("room for folds in progress");
    assert!(some[0].same_bits(&little[0]));
}
