//! Loops that few lanes take.

use super::over_lanes;

const LOOP: &str = "    r4: i64, r5: f32 = while (r6: i64 = 0i64, r7: f32 = 0.0f32)
      r8: bool = lt r6 r2
      yield r8
    do
      r9: i64 = add r6 1i64
      r10: f32 = add r7 r1
      yield r9 r10
    yield r5
";

/// A loop in a side of a conditional, before which and after which something happens.
fn conditional(before: &str, after: &str, result: &str) -> String {
    over_lanes(&format!(
        "r1: f32 = read a0 r0
r2: i64 = read a1
{before}r3: bool = gt r1 0.5f32
r11: f32 = if r3
{LOOP}else
  yield r1
{after}yield {result}
"
    ))
}

#[test]
fn lanes_that_loop_come_together() {
    let text = conditional("", "r12: f32 = add r11 1.0f32\n", "r12");
    assert!(text.contains("KERNEL_looping"), "{text}");
    assert!(text.contains("looping[lane] = "), "{text}");
    assert!(text.contains("result_0[at] = skip && skip[lane] ? result_0[at] : r12;"), "{text}");
}

#[test]
fn what_follows_a_choice_may_be_an_error_of_what_was_chosen() {
    let after = "r12: bool = lt r11 9.0f32\ncheck r12 index\n";
    let text = conditional("", after, "r11");
    assert!(!text.contains("KERNEL_looping"), "{text}");
}

#[test]
fn what_is_dear_is_not_done_twice() {
    let mut before = String::new();
    for number in 20..90 {
        before.push_str(&format!("r{number}: f32 = add r1 {number}.0f32\n"));
    }
    let text = conditional(&before, "", "r11");
    assert!(!text.contains("KERNEL_looping"), "{text}");
}

#[test]
fn a_condition_that_all_lanes_share_is_none_that_few_take() {
    let text = over_lanes(&format!(
        "r1: f32 = read a0 r0
r2: i64 = read a1
r3: bool = gt r2 5i64
r11: f32 = if r3
{LOOP}else
  yield r1
yield r11
"
    ));
    assert!(!text.contains("KERNEL_looping"), "{text}");
}

#[test]
fn what_all_lanes_read_in_a_loop_is_read_once() {
    let text = over_lanes(
        "r1: f32 = read a0 r0
r2: i64 = read a1
r3: bool = gt r1 0.5f32
r11: f32 = if r3
    r4: i64, r5: f32 = while (r6: i64 = 0i64, r7: f32 = 0.0f32)
      r8: bool = lt r6 r2
      yield r8
    do
      r12: bool = lt r6 5i64
      check r12 index
      r9: i64 = add r6 1i64
      r13: f32 = read a0 r6
      r10: f32 = add r7 r13
      yield r9 r10
    yield r5
else
  yield r1
yield r11
",
    );
    assert!(text.contains("const f32 r13 = a0[r6];"), "{text}");
    assert!(text.contains("if (!r12) return 1U;"), "{text}");
}

#[test]
fn truth_values_between_loops_of_lanes_are_as_wide_as_numbers() {
    let text = over_lanes(
        "r1: f32 = read a0 r0
r2: i64 = read a1
r3: bool = gt r1 0.5f32
r4: i64, r5: f32 = while (r6: i64 = 0i64, r7: f32 = 0.0f32)
    r8: bool = lt r6 r2
    yield r8
  do
    r9: i64 = add r6 1i64
    r10: f32 = add r7 r1
    r11: f32 = select r3 r10 r7
    yield r9 r11
yield r5
",
    );
    assert!(text.contains("u32 r3_lanes["), "{text}");
    assert!(text.contains("const bool r3 = r3_lanes[lane] != 0;"), "{text}");
}
