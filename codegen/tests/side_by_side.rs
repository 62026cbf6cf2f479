//! Rows that are combined in a loop, as lanes (Note [Rows side by side] in `sequential/small/kernel/lanes.rs`).

use weft_codegen::small_loop;
use weft_ir::plan::{self, Step};

/// The function of a loop in which rows are combined of what this code makes as r8 of the indices r0 and r1.
fn folded(code: &str) -> String {
    let text = format!(
        "input a0: i64
input a1: [a0]f64
input a2: [a0][a0]f64
a3: [a0]f64 = reshape a1
a4: [a0]f64 = while (a5: [a0]f64 = a3)
  a6: bool = host
    yield true
  yield a6
do
  launch \"folds\" [a0][a0] (r0 r1)
{code}
    yield r8
    reduce r8 as (r9: f64) to a7: [a0]f64
    by (r10: f64) (r11: f64)
      r12: f64 = add r10 r11
      yield r12
    from (r13)
      yield 0.0f64
  end
  free a5
  yield a7
output a4: [a0]f64
"
    );
    let program = plan::parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let of = |step: &Step| match step {
        Step::While { state, condition, body, .. } => {
            small_loop(state, condition, body, &program.types)
        }
        _ => None,
    };
    program.body.steps.iter().find_map(of).expect("a function").text
}

#[test]
fn rows_of_simple_values_are_lanes() {
    let text =
        folded("    r3: f64 = read a2 r0 r1\n    r4: f64 = read a5 r1\n    r8: f64 = mul r3 r4");
    let lanes = text.split_once("#pragma GCC unroll 8").expect("lanes").1;
    assert!(lanes.contains("_of_lane * a"), "{text}");
    // The rows that are left over.
    assert!(text.contains("} else {\n          for (i64 "), "{text}");
}

#[test]
fn between_borders_rows_are_lanes_without_checks() {
    let text = folded(
        "    r2: i64 = read a0
    r3: i64 = add r0 1i64
    r4: bool = lt r3 r2
    check r4 index
    r5: f64 = read a2 r3 r1
    r6: f64 = read a5 r1
    r8: f64 = mul r5 r6",
    );
    let (before, lanes) = text.split_once("#pragma GCC unroll 8").expect("lanes");
    let lanes = lanes.split_once("} else {\n          for (i64 ").expect("the rows left over").0;
    assert!(!lanes.contains("return 1"), "{text}");
    // The box of rows is that of the check.
    assert!(before.contains("min_i64(to") && before.contains("less_i64("), "{text}");
}

#[test]
fn rows_of_what_takes_long_are_no_lanes() {
    let text = folded("    r3: f64 = read a2 r0 r1\n    r8: f64 = exp r3");
    assert!(!text.contains("lane"), "{text}");
}
