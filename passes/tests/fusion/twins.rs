//! Lengths that a loop carries twice have one name.

use weft_ir::{flat, plan};
use weft_passes::fuse::fuse;

use crate::ILP;

/// A loop over the two parts of an array of pairs, which begin and go on with these lengths.
fn loop_of(first: &str, second: &str) -> String {
    format!(
        "input a1: [a0]i64
input a2: [{first}]i64
a3: i64 = map ()
  yield 0i64
a36: i64, a37: [a36]i64, a38: i64, a39: [a38]i64, a23: i64 = while (a19: i64 = a0, a20: [a19]i64 = a1, a21: i64 = {first}, a22: [a21]i64 = a2, a24: i64 = a3)
  a25: bool = map ()
    r0: i64 = read a24
    r1: i64 = read a21
    r2: bool = lt r0 r1
    yield r2
  yield a25
do
  a26: i64 = map ()
    r0: i64 = read a19
    r1: i64 = add r0 1i64
    yield r1
  a27: i64 = map ()
    r0: i64 = read a24
    r1: i64 = add r0 1i64
    yield r1
  a28: [a26]i64 = map [a26] (r0)
    yield r0
  a29: [{second}]i64 = map [{second}] (r0)
    r1: i64 = mul r0 2i64
    yield r1
  yield a26 a28 {second} a29 a27
output a37: [a36]i64
output a39: [a38]i64
"
    )
}

/// The plan.
fn fused(text: &str) -> String {
    let program = flat::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let fused = fuse(&program, &ILP).program;
    plan::check(&fused).unwrap_or_else(|error| panic!("{error}\n{fused}"));
    fused.to_string()
}

#[test]
fn of_what_begins_and_goes_on_as_the_same() {
    let plan = fused(&loop_of("a0", "a26"));
    assert!(plan.contains("a22: [a19]i64 = a2"), "{plan}");
    assert!(plan.contains("a39: [a36]i64"), "{plan}");
    assert!(!plan.contains("read a21"), "{plan}");
    assert!(plan.ends_with("output a39: [a36]i64\n"), "{plan}");
}

#[test]
fn not_of_what_goes_on_otherwise() {
    let plan = fused(&loop_of("a0", "a27"));
    assert!(plan.contains("a22: [a21]i64 = a2"), "{plan}");
    assert!(plan.ends_with("output a39: [a38]i64\n"), "{plan}");
}

#[test]
fn not_of_what_begins_otherwise() {
    let plan = fused(&loop_of("a5", "a26"));
    assert!(plan.contains("a22: [a21]i64 = a2"), "{plan}");
    assert!(plan.contains("read a21"), "{plan}");
}

/// With another length for the second part of an array that a line computes.
fn with_length(line: &str) -> String {
    let text = loop_of("a0", "a30");
    let found = "  a28: [a26]i64";
    assert!(text.contains(found), "{text}");
    text.replace(found, &format!("  {line}\n{found}"))
}

#[test]
fn of_what_comes_out_as_the_same() {
    let plan = fused(&with_length(
        "a30: i64 = map ()
    r0: i64 = read a21
    r1: i64 = add r0 1i64
    yield r1",
    ));
    assert!(plan.contains("a22: [a19]i64 = a2") && !plan.contains("read a21"), "{plan}");
    let plan = fused(&with_length(
        "a30: i64 = map ()
    r0: i64 = read a21
    r1: i64 = add r0 2i64
    yield r1",
    ));
    assert!(plan.contains("a22: [a21]i64 = a2") && plan.contains("read a21"), "{plan}");
}

#[test]
fn of_conditions_inside() {
    let condition = |second: &str| {
        with_length(&format!(
            "a31: bool = map ()
    r0: i64 = read a24
    r1: bool = lt r0 3i64
    yield r1
  a32: i64, a30: i64 = if a31
    a33: i64 = map ()
      r0: i64 = read a19
      r1: i64 = add r0 2i64
      yield r1
    a34: i64 = map ()
      r0: i64 = read a21
      r1: i64 = add r0 2i64
      yield r1
    yield a33 a34
  else
    yield a19 {second}"
        ))
        .replace("[a26]", "[a32]")
        .replace("yield a26 a28", "yield a32 a28")
    };
    let plan = fused(&condition("a21"));
    assert!(plan.contains("a22: [a19]i64 = a2") && !plan.contains("read a21"), "{plan}");
    let plan = fused(&condition("a24"));
    assert!(plan.contains("a22: [a21]i64 = a2"), "{plan}");
}

#[test]
fn of_loops_inside() {
    let inner = |by: &str| {
        with_length(&format!(
            "a32: i64, a31: i64, a30: i64 = while (a33: i64 = a3, a34: i64 = a19, a35: i64 = a21)
    a41: bool = map ()
      r0: i64 = read a33
      r1: bool = lt r0 3i64
      yield r1
    yield a41
  do
    a42: i64 = map ()
      r0: i64 = read a33
      r1: i64 = add r0 1i64
      yield r1
    a43: i64 = map ()
      r0: i64 = read a34
      r1: i64 = add r0 1i64
      yield r1
    a44: i64 = map ()
      r0: i64 = read a35
      r1: i64 = add r0 {by}i64
      yield r1
    yield a42 a43 a44"
        ))
        .replace("[a26]", "[a31]")
        .replace("yield a26 a28", "yield a31 a28")
    };
    let plan = fused(&inner("1"));
    assert!(plan.contains("a22: [a19]i64 = a2") && !plan.contains("read a21"), "{plan}");
    let plan = fused(&inner("2"));
    assert!(plan.contains("a22: [a21]i64 = a2"), "{plan}");
}
