//! The text of small codes, as it is compiled.

mod few;
mod results;
mod rows;

use weft_codegen::{Functions, Lanes, Running, Surroundings, Writer, is_total, lanes};
use weft_ir::code::{Code, Register, parse_code, parse_operator};
use weft_ir::flat::Var;
use weft_ir::text::Reader;
use weft_ir::{FaultKind, ScalarType, Span};

fn code(text: &str) -> Code {
    let mut reader = Reader::new(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    parse_code(&mut reader).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The function over lanes of code over one index and one array.
fn over_lanes(text: &str) -> String {
    let code = code(text);
    let function = lanes(&Lanes {
        indices: &[(Register(0), Running::Counting)],
        first_stored: 0,
        in_place: true,
        inputs: &[],
        arrays: &[(ScalarType::F32, false), (ScalarType::I64, true)],
        code: &code,
        results: &code.results,
        shared: &vec![false; code.results.len()],
        folds: &[],
        rows: false,
        widths: &[],
    });
    function.text
}

/// What computes the lanes, without what calls it strip by strip.
#[track_caller]
fn check_lanes(text: &str, expect: &str) {
    let found = over_lanes(text);
    let lanes = match found.split_once("u32 KERNEL(") {
        Some((lanes, _)) if lanes.contains("KERNEL_part") => lanes,
        Some(_) | None => &found,
    };
    assert_eq!(lanes.trim(), expect.trim(), "\n{found}");
}

#[test]
fn straight_code_is_one_loop() {
    check_lanes(
        "r1: f32 = read a0 r0
r2: i64 = read a1
r3: i64 = mul r2 2i64
r4: f32 = cast_f32 r3
r5: f32 = fma r1 r4 0.5f32
yield r5
",
        "
static __attribute__((noinline)) u32 KERNEL_part(
    const struct block *restrict const block, const i64 first,
    const i64 count, f32 *restrict const result_0) {
  const f32 *restrict const a0 = (const f32 *)block->arrays[0];
  const i64 a1 = *(const i64 *)block->arrays[1];
  const i64 first_r0 = block->indices[0];
  const i64 r3 = (i64)((u64)a1 * (u64)2LL);
  const f32 r4 = i64_to_f32(r3);
  #pragma omp simd
  for (i64 lane = 0; lane < count; lane++) {
    const i64 at = first + lane;
    const i64 r0 = first_r0 + at;
    const f32 r1 = a0[r0];
    const f32 r5 = fma_f32(r1, r4, 0.5f);
    result_0[lane] = r5;
  }
  return 0;
}
",
    );
}

#[test]
fn lanes_run_on_to_further_rows() {
    let code = code("r2: f32 = read a0 r0 r1\nr3: i64 = mul r0 r1\nyield r2 r3\n");
    let rows = |first_stored: usize, shared: &[bool], outer: Running| {
        let given = Lanes {
            indices: &[(Register(0), outer), (Register(1), Running::Counting)],
            first_stored,
            in_place: true,
            inputs: &[],
            arrays: &[(ScalarType::F32, false)],
            code: &code,
            results: &code.results,
            shared,
            folds: &[],
            rows: false,
            widths: &[],
        };
        let text = lanes(&given).text;
        assert_eq!(given.runs_on(), text.contains("KERNEL_rows(&row, indices, "), "{text}");
        given.runs_on()
    };
    assert!(rows(0, &[false, false], Running::Uniform));
    // Ragged rows, a result that the lanes share, and lanes that run across rows anyway.
    assert!(!rows(1, &[false, false], Running::Uniform));
    assert!(!rows(0, &[false, true], Running::Uniform));
    assert!(!rows(0, &[false, false], Running::Varying));
}

#[test]
fn what_a_conditional_guards_is_masked() {
    check_lanes(
        "r1: bool = gt r0 0i64
r2: f32 = if r1
  r3: i64 = sub r0 1i64
  r4: f32 = read a0 r3
  yield r4
else
  yield 0.0f32
yield r2
",
        "
static __attribute__((noinline)) u32 KERNEL_part(
    const struct block *restrict const block, const i64 first,
    const i64 count, f32 *restrict const result_0) {
  const f32 *restrict const a0 = (const f32 *)block->arrays[0];
  const i64 first_r0 = block->indices[0];
  #pragma omp simd
  for (i64 lane = 0; lane < count; lane++) {
    const i64 at = first + lane;
    const i64 r0 = first_r0 + at;
    const bool r1 = r0 > 0LL;
    const i64 r3 = (i64)((u64)r0 - (u64)1LL);
    const f32 r4 = r1 ? a0[r3] : (f32)0;
    const f32 r2 = r1 ? r4 : 0.0f;
    result_0[lane] = r2;
  }
  return 0;
}
",
    );
}

#[test]
fn a_failed_check_masks_what_follows() {
    check_lanes(
        "r1: bool = lt r0 10i64
check r1 index
r2: f32 = read a0 r0
yield r2
",
        "
static __attribute__((noinline)) u32 KERNEL_part(
    const struct block *restrict const block, const i64 first,
    const i64 count, f32 *restrict const result_0) {
  const f32 *restrict const a0 = (const f32 *)block->arrays[0];
  const i64 first_r0 = block->indices[0];
  u32 failed_1 = 0;
  #pragma omp simd reduction(|:failed_1)
  for (i64 lane = 0; lane < count; lane++) {
    const i64 at = first + lane;
    const i64 r0 = first_r0 + at;
    const bool r1 = r0 < 10LL;
    failed_1 |= !r1 ? 1U : 0U;
    const f32 r2 = r1 ? a0[r0] : (f32)0;
    result_0[lane] = r2;
  }
  if (failed_1) return failed_1;
  return 0;
}
",
    );
}

#[test]
fn a_loop_steps_all_lanes_together() {
    check_lanes(
        "r1: f32 = read a0 r0
r2: f32 = while (r3: f32 = r1)
  r4: bool = lt r3 100.0f32
  yield r4
do
  r5: f32 = add r3 r3
  yield r5
yield r2
",
        "
FUNCTION u32 KERNEL_group(const struct block *restrict const block,
                          const i64 first, const i64 count) {
  const f32 *restrict const a0 = (const f32 *)block->arrays[0];
  f32 r3_lanes[64] __attribute__((aligned(64)));
  const i64 first_r0 = block->indices[0];
  #pragma omp simd
  for (i64 lane = 0; lane < count; lane++) {
    const i64 at = first + lane;
    const i64 r0 = first_r0 + at;
    const f32 r1 = a0[r0];
    r3_lanes[lane] = r1;
  }
  for (bool ended = false; !ended;) {
    if (*block->cancel) return 2147483648U;
    for (i32 turn = 0; turn < 32; turn++) {
      u32 any_1 = 0;
      #pragma omp simd reduction(|:any_1)
      for (i64 lane = 0; lane < count; lane++) {
        const f32 r3 = r3_lanes[lane];
        const bool r4 = r3 < 100.0f;
        any_1 |= r4 ? 1U : 0U;
        const f32 r5 = r3 + r3;
        r3_lanes[lane] = r4 ? r5 : r3;
      }
      if (!any_1) { ended = true; break; }
    }
  }
  f32 *restrict const result_0 = block->results[0];
  #pragma omp simd
  for (i64 lane = 0; lane < count; lane++) {
    const i64 at = first + lane;
    const f32 r3 = r3_lanes[lane];
    result_0[at] = r3;
  }
  return 0;
}
static __attribute__((cold, noinline)) u32 KERNEL_rest(
    const struct block *restrict const block, const i64 first, const i64 count) {
  return KERNEL_group(block, first, count);
}
u32 KERNEL(const struct block *restrict const block) {
  i64 first = 0;
  for (; first + 64 <= block->count; first += 64) {
    const u32 failed = KERNEL_group(block, first, 64);
    if (failed) return failed;
  }
  return first < block->count ? KERNEL_rest(block, first, block->count - first) : 0;
}
",
    );
}

#[test]
fn known_turns_are_written_out() {
    // Indices that count along the lanes are checked at both ends.
    check_lanes(
        "r1: i64 = read a1
r2: i64, r3: f32 = while (r4: i64 = 0i64, r5: f32 = 0.0f32)
  r6: bool = lt r4 2i64
  yield r6
do
  r7: i64 = mul r4 r1
  r8: i64 = add r7 r0
  r9: bool = ge r8 0i64
  r10: bool = lt r8 r1
  r11: bool = and r9 r10
  check r11 index
  r12: f32 = read a0 r8
  r13: bool = eq r4 0i64
  r14: f32 = if r13
    r15: f32 = add r5 r12
    yield r15
  else
    r16: f32 = sub r5 r12
    yield r16
  r17: i64 = add r4 1i64
  yield r17 r14
yield r3
",
        "
static __attribute__((noinline)) u32 KERNEL_part(
    const struct block *restrict const block, const i64 first,
    const i64 count, f32 *restrict const result_0) {
  const f32 *restrict const a0 = (const f32 *)block->arrays[0];
  const i64 a1 = *(const i64 *)block->arrays[1];
  const i64 first_r0 = block->indices[0];
  const i64 r18 = (i64)((u64)0LL * (u64)a1);
  const i64 first_1 = (i64)((u64)first_r0 + (u64)r18);
  const i64 last_2 = (i64)((u64)first_1 + (u64)block->count - 1);
  const bool t_3 = block->count < 1 | (first_1 >= 0 & last_2 >= 0 & last_2 < a1);
  if (!t_3) return 1U;
  const i64 r25 = (i64)((u64)1LL * (u64)a1);
  const i64 first_4 = (i64)((u64)first_r0 + (u64)r25);
  const i64 last_5 = (i64)((u64)first_4 + (u64)block->count - 1);
  const bool t_6 = block->count < 1 | (first_4 >= 0 & last_5 >= 0 & last_5 < a1);
  if (!t_6) return 1U;
  #pragma omp simd
  for (i64 lane = 0; lane < count; lane++) {
    const i64 at = first + lane;
    const i64 r0 = first_r0 + at;
    const i64 r19 = (i64)((u64)r18 + (u64)r0);
    const f32 r23 = a0[r19];
    const f32 r24 = 0.0f + r23;
    const i64 r26 = (i64)((u64)r25 + (u64)r0);
    const f32 r30 = a0[r26];
    const f32 r31 = r24 - r30;
    result_0[lane] = r31;
  }
  return 0;
}
",
    );
}

#[test]
fn shifts_that_are_joined_rotate() {
    check_lanes(
        "r1: i64 = read a1
r2: u64 = cast_u64 r1
r3: u64 = cast_u64 r0
r4: u64 = shl r3 r2
r5: u64 = sub 64u64 r2
r6: u64 = shr r3 r5
r7: u64 = bit_or r4 r6
yield r7
",
        "
static __attribute__((noinline)) u32 KERNEL_part(
    const struct block *restrict const block, const i64 first,
    const i64 count, u64 *restrict const result_0) {
  const i64 a1 = *(const i64 *)block->arrays[1];
  const i64 first_r0 = block->indices[0];
  const u64 r2 = (u64)a1;
  const u64 r5 = 64ULL - r2;
  const u64 t_1 = r2 & 63;
  const u64 t_2 = r2 <= 64 ? (u64)-1 : 0;
  #pragma omp simd
  for (i64 lane = 0; lane < count; lane++) {
    const i64 at = first + lane;
    const i64 r0 = first_r0 + at;
    const u64 r3 = (u64)r0;
    const u64 r7 = rotate_u64(r3, t_1) & t_2;
    result_0[lane] = r7;
  }
  return 0;
}
",
    );
}

#[test]
fn a_function_with_a_slow_path_is_written_twice() {
    let text = over_lanes("r1: f32 = read a0 r0\nr2: f32 = sin r1\nyield r2\n");
    for part in [
        "const f32 r2 = sin_f32(r1);",
        "rare |= is_rare_sin_f32(r1) ? 1U : 0U;",
        "const f32 r2 = usual_sin_f32(r1);",
        "return rare ? KERNEL_whole(block, first, count, result_0) : 0;",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

/// Arrays by name, faults by number.
struct Plain;

impl Surroundings for Plain {
    fn read(&mut self, array: Var, indices: &[String]) -> String {
        format!("a{}[{}]", array.0, indices.join(" + "))
    }

    fn fail(&mut self, kind: FaultKind, _span: Span) -> String {
        format!("fail({});", kind.code())
    }
}

#[test]
fn one_element_at_a_time_branches() {
    let code = code(
        "r1: bool = gt r0 0i64
r2: i64 = if r1
  r3: i64 = read a0 r0
  r4: i64 = quot r3 r0
  yield r4
else
  yield -9223372036854775808i64
r5: i64, r6: i64 = while (r7: i64 = r2, r8: i64 = r0)
  r9: bool = lt r7 r8
  yield r9
do
  yield r8 r7
yield r5
",
    );
    let (mut plain, mut functions) = (Plain, Functions::new());
    let mut writer = Writer::new(&mut plain, &mut functions, 1);
    writer.bind(Register(0), ScalarType::I64, "r0");
    assert_eq!(writer.code(&code), ["r7"]);
    let text = writer.finish();
    let expect = "
  const bool r1 = r0 > 0LL;
  i64 r2;
  if (r1) {
    const i64 r3 = a0[r0];
    if (r0 == 0) { fail(E0604); }
    const i64 r4 = quot_i64(r3, r0);
    r2 = r4;
  } else {
    r2 = (-9223372036854775807LL - 1);
  }
  i64 r7 = r2;
  i64 r8 = r0;
  for (;;) {
    const bool r9 = r7 < r8;
    if (!r9) break;
    const i64 next_r7 = r8;
    const i64 next_r8 = r7;
    r7 = next_r7;
    r8 = next_r8;
  }
";
    assert_eq!(text.trim(), expect.trim(), "\n{text}");
}

/// `0 <= i && i < n` is one comparison of numbers without sign, where `n` is a constant that is not negative.
#[test]
fn a_number_within_constants_is_compared_once() {
    let text = |low: &str, high: &str| {
        let code = code(&format!(
            "r1: bool = ge r0 {low}\nr2: bool = lt r0 {high}\nr3: bool = and r1 r2\nyield r3\n"
        ));
        let (mut plain, mut functions) = (Plain, Functions::new());
        let mut writer = Writer::new(&mut plain, &mut functions, 1);
        writer.bind(Register(0), ScalarType::I64, "r0");
        assert_eq!(writer.code(&code), ["r3"]);
        writer.finish()
    };
    assert!(text("0i64", "256i64").contains("const bool r3 = (u64)r0 < 256ULL;"));
    for (low, high) in [("1i64", "256i64"), ("0i64", "-1i64"), ("0i64", "r0")] {
        assert!(text(low, high).contains("const bool r3 = r1 & r2;"), "{low} {high}");
    }
}

/// The function of sums along columns of one array.
fn along_columns(text: &str) -> String {
    let code = code(text);
    let operator = "by (r3: f32) (r4: f32)\n  r5: f32 = add r3 r4\n  yield r5\n";
    let mut reader = Reader::new(operator).expect("an operator");
    let operator = parse_operator(&mut reader).expect("an operator");
    assert!(is_total(&operator));
    let function = lanes(&Lanes {
        indices: &[(Register(0), Running::Counting), (Register(1), Running::Uniform)],
        first_stored: 0,
        in_place: true,
        inputs: &[],
        arrays: &[(ScalarType::F32, false)],
        code: &code,
        results: &code.results,
        shared: &[false],
        folds: &[operator],
        rows: false,
        widths: &[],
    });
    function.text
}

#[test]
fn results_are_combined_step_by_step() {
    let found = along_columns("r2: f32 = read a0 r1 r0\nyield r2\n");
    let expect = "
u32 KERNEL(const struct block *restrict const block) {
  const i64 count = block->count;
  const f32 *restrict const a0 = (const f32 *)block->arrays[0];
  const i64 stride_0_0 = block->strides[0][0];
  f32 *restrict const result_0 = block->results[0];
  const i64 last_step = block->steps;
  for (i64 step = 0; step < last_step; step++) {
    const i64 first_r0 = block->indices[0];
    const i64 r1 = block->indices[1] + step;
    const bool fresh = step == 0;
    #pragma omp simd
    for (i64 at = 0; at < count; at++) {
      const i64 r0 = first_r0 + at;
      const f32 r2 = a0[r1 * stride_0_0 + r0];
      const f32 r3 = result_0[at];
      const f32 r5 = r3 + r2;
      result_0[at] = fresh ? r2 : r5;
    }
  }
  return 0;
}
";
    assert_eq!(found.trim(), expect.trim(), "\n{found}");
}

#[test]
fn few_lanes_that_are_combined_stay_in_the_function() {
    let found = along_columns("r2: f32 = read a0 r1\nyield r2\n");
    let expect = "
FUNCTION u32 KERNEL_group(const struct block *restrict const block,
                          const i64 first, const i64 count) {
  const f32 *restrict const a0 = (const f32 *)block->arrays[0];
  f32 result_0_lanes[32] __attribute__((aligned(64)));
  const i64 last_step = block->steps;
  for (i64 step = 0; step < last_step; step++) {
    const i64 first_r0 = block->indices[0];
    const i64 r1 = block->indices[1] + step;
    const f32 r2 = a0[r1];
    const bool fresh = step == 0;
    #pragma omp simd
    for (i64 lane = 0; lane < count; lane++) {
      const f32 r3 = result_0_lanes[lane];
      const f32 r5 = r3 + r2;
      result_0_lanes[lane] = fresh ? r2 : r5;
    }
  }
  f32 *restrict const result_0 = block->results[0];
  #pragma omp simd
  for (i64 lane = 0; lane < count; lane++) {
    result_0[first + lane] = result_0_lanes[lane];
  }
  return 0;
}
";
    assert!(found.contains(expect.trim()), "\n{found}");
}

#[test]
fn a_checked_index_made_of_a_float_is_converted_to_32_bits() {
    let with_check = |low: &str, high: &str| {
        over_lanes(&format!(
            "r1: f32 = read a0 r0
r2: i64 = cast_i64 r1
r3: bool = ge r2 {low}
r4: bool = lt r2 {high}
r5: bool = and r3 r4
check r5 index
yield r2
"
        ))
    };
    assert!(with_check("0i64", "256i64").contains("r2 = f32_to_near_i64(r1);"));
    assert!(with_check("-5i64", "2147483646i64").contains("r2 = f32_to_near_i64(r1);"));
    // What is not known, or reaches to the end of 32 bits.
    for (low, high) in [("0i64", "2147483647i64"), ("-2147483648i64", "256i64"), ("0i64", "r0")] {
        assert!(with_check(low, high).contains("r2 = f32_to_i64(r1);"), "{low} {high}");
    }
    // Some lanes only are checked.
    let some = "r1: f32 = read a0 r0
r2: i64 = cast_i64 r1
r3: bool = lt r1 0.0f32
r4: bool = if r3
  r5: bool = ge r2 0i64
  r6: bool = lt r2 256i64
  r7: bool = and r5 r6
  check r7 index
  yield r7
else
  yield r3
yield r2
";
    assert!(over_lanes(some).contains("r2 = f32_to_i64(r1);"));
}
