//! Rows in a loop: those that are combined, as lanes (Note [Rows side by side] in `sequential/small/kernel/lanes.rs`), and those
//! that are stored (Note [Interleaved results] in `weft_ir::plan`).

use weft_codegen::small_loop;
use weft_ir::plan::{self, Step};

fn function(text: &str) -> String {
    let program = plan::parse(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
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

/// The function of a loop in which rows are summed of what this code makes as r8 of the indices r0 and r1.
fn folded(code: &str) -> String {
    combined("f64", "add", code)
}

/// The same with elements of this type, which are combined by this operator.
fn combined(ty: &str, operator: &str, code: &str) -> String {
    function(
        "input a0: i64
input a1: [a0]TYPE
input a2: [a0][a0]TYPE
a3: [a0]TYPE = reshape a1
a4: [a0]TYPE = while (a5: [a0]TYPE = a3)
  a6: bool = host
    yield true
  yield a6
do
  launch \"folds\" [a0][a0] (r0 r1)
CODE
    yield r8
    reduce r8 as (r9: TYPE) to a7: [a0]TYPE
    by (r10: TYPE) (r11: TYPE)
      r12: TYPE = OPERATOR r10 r11
      yield r12
  end
  free a5
  yield a7
output a4: [a0]TYPE
"
        .replace("TYPE", ty)
        .replace("OPERATOR", operator)
        .replace("CODE", code)
        .as_str(),
    )
}

#[test]
fn integers_that_stand_one_behind_the_other_are_combined_along_the_row() {
    let code = "    r3: i32 = read a2 r0 r1\n    r4: i32 = read a5 r1\n    r8: i32 = add r3 r4";
    for (operator, neutral) in
        [("add", "0"), ("max", "(-2147483647 - 1)"), ("min", "2147483647"), ("bit_and", "(-1)")]
    {
        let text = combined("i32", operator, code);
        assert!(!text.contains("lane"), "{text}");
        let (before, after) = text.split_once("met = 1;").expect("a row in any order");
        let row = before.rsplit_once("for (i64 ").expect("a loop over the row").1;
        assert!(!row.contains("met"), "{row}");
        assert!(before.contains(&format!(" = {neutral};")), "{neutral}\n{text}");
        assert!(after.contains("if (!(met & 63))"), "{text}");
    }
}

#[test]
fn integers_that_stand_elsewhere_are_lanes() {
    // Along a column, and in the order of others.
    for code in [
        "    r3: i64 = read a2 r1 r0\n    r4: i64 = read a5 r1\n    r8: i64 = add r3 r4",
        "    r3: i64 = mul r1 3i64\n    r4: i64 = bit_and r3 1i64\n    r8: i64 = read a5 r4",
    ] {
        let text = combined("i64", "add", code);
        assert!(text.contains("_of_lane") && !text.contains("met = 1;"), "{text}");
    }
}

#[test]
fn rows_of_elements_are_stored_where_they_are_computed() {
    let text = "input a0: i64
input a1: [a0]i64
a3: [a0]i64, a9: [a0][2]i64 = while (a4: [a0]i64 = a1, a8: [a0][2]i64 = a2)
  a5: bool = host
    yield true
  yield a5
do
  launch \"map\" [a0] (r0)
    r1: i64 = read a4 r0
    r2: bool = eq r0 0i64
    r3: i64 = if r2
      yield r1
    else
      r5: i64 = sub r0 1i64
      r6: i64 = read a8 r5 1i64
      yield r6
    yield r1 r3
    store r3 to a6: [a0]i64
    interleave r3 r1 to a7: [a0][2]i64
  end
  yield a6 a7
output a3: [a0]i64
";
    let text = text.replace("input a1: [a0]i64\n", "input a1: [a0]i64\ninput a2: [a0][2]i64\n");
    let function = function(&text);
    let (_, inside) = function.split_once("#pragma omp simd").expect("a loop of vectors");
    assert!(
        inside.contains(") * 2 + 0] = r3;") && inside.contains(") * 2 + 1] = r1;"),
        "{function}"
    );
}
