//! What is sent into the array that it is computed of is computed first (Note [Sent where it comes from]).

use weft_ir::{flat, plan};
use weft_passes::fuse::{Reason, fuse};

use crate::ILP;

/// A loop that sends elements of its array, doubled, somewhere into the same array; with other lines, and what it yields.
fn program(scatter: &str, behind: &str, result: &str) -> String {
    format!(
        "input a1: [a0]f64
input a30: [a0]f64
input a12: i64
a2: i64 = map ()
  yield 0i64
a9: f64 = map ()
  yield 0.0f64
a20: i64, a21: [a0]f64, a22: f64 = while (a3: i64 = a2, a4: [a0]f64 = a1, a5: f64 = a9)
  a6: bool = map ()
    r0: i64 = read a3
    r1: bool = lt r0 5i64
    yield r1
  yield a6
do
  a7: [a12]f64 = map [a12] (r0)
    r1: f64 = read a4 r0
    yield r1
  a8: [a12]f64 = map [a12] (r0)
    r1: f64 = read a7 r0
    r2: f64 = mul r1 2.0f64
    yield r2
  {scatter}
  a11: i64 = map ()
    r0: i64 = read a3
    r1: i64 = add r0 1i64
    yield r1
  {behind}
  yield a11 {result} a5
output a21: [a0]f64
"
    )
}

const REPLACED: &str = "a10: [a0]f64 = scatter into a4 [a12] (r0)
    r1: i64 = add r0 3i64
    r2: f64 = read a8 r0
    yield r1 r2";

/// Whether what is sent is stored before.
fn is_stored(text: &str) -> bool {
    let program = flat::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    flat::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let fused = fuse(&program, &ILP);
    plan::check(&fused.program).unwrap_or_else(|error| panic!("{error}\n{}", fused.program));
    let in_place = fused.report.unfused.iter().any(|array| array.reason == Reason::InPlace);
    let kernels: Vec<&str> = fused.report.kernels.iter().map(|kernel| &*kernel.name).collect();
    assert_eq!(kernels.contains(&"map"), in_place, "{kernels:?}\n{}", fused.program);
    in_place
}

#[test]
fn of_the_state_of_a_loop() {
    assert!(is_stored(&program(REPLACED, "", "a10")));
}

#[test]
fn behind_other_extents() {
    let scatter = "a13: [a0]f64 = reshape a4
  a14: [a0]f64 = scatter into a13 [a12] (r0)
    r1: i64 = add r0 3i64
    r2: f64 = read a8 r0
    yield r1 r2
  a10: [a0]f64 = reshape a14";
    assert!(is_stored(&program(scatter, "", "a10")));
}

#[test]
fn not_where_the_old_array_is_looked_at_again() {
    let sum = "a15: f64 = reduce [a0] (r0)
    r1: f64 = read a4 r0
    yield r1
  by (r2: f64) (r3: f64)
    r4: f64 = add r2 r3
    yield r4
  if_empty ()
    yield 0.0f64";
    let text = program(REPLACED, sum, "a10").replace("a10 a5\n", "a10 a15\n");
    assert!(!is_stored(&text));
}

#[test]
fn not_of_what_is_not_the_block_s_own() {
    // A copy of an input is made in any case.
    let text = program(&REPLACED.replace("into a4", "into a30"), "", "a10");
    assert!(!is_stored(&text.replace("read a4 r0", "read a30 r0")));
}

#[test]
fn not_of_another_array() {
    assert!(!is_stored(&program(REPLACED, "", "a10").replace("read a4 r0", "read a30 r0")));
}

#[test]
fn not_where_values_are_combined() {
    let scatter = format!(
        "{REPLACED}
  by (r3: f64) (r4: f64)
    r5: f64 = add r3 r4
    yield r5"
    );
    assert!(!is_stored(&program(&scatter, "", "a10")));
}

/// With the scatter on one side of a condition, which yields `a10`; with the yield of the other side.
fn on_a_side(then: &str, otherwise: &str) -> String {
    format!(
        "a40: bool = map ()
    r0: i64 = read a3
    r1: bool = lt r0 3i64
    yield r1
  a10: [a0]f64 = if a40
    a47: [a12]f64 = map [a12] (r0)
      r1: f64 = read a4 r0
      r2: f64 = mul r1 2.0f64
      yield r2
    a50: [a0]f64 = scatter into a4 [a12] (r0)
      r1: i64 = add r0 3i64
      r2: f64 = read a47 r0
      yield r1 r2
    yield {then}
  else
    yield {otherwise}"
    )
}

#[test]
fn on_a_side_of_a_condition() {
    assert!(is_stored(&program(&on_a_side("a50", "a4"), "", "a10")));
    // The old array is looked at behind it.
    let behind = "a60: f64 = map ()
    r0: f64 = read a4 0i64
    yield r0";
    let text = program(&on_a_side("a50", "a4"), behind, "a10").replace("a10 a5\n", "a10 a60\n");
    assert!(!is_stored(&text));
}
