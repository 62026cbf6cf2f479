//! The text of functions that fold rows.

use weft_codegen::{Lanes, Running, can_fold_rows, lanes};
use weft_ir::ScalarType;
use weft_ir::code::{Register, parse_operator};
use weft_ir::text::Reader;

use super::code;

/// The function of sums of rows, which holds these texts.
fn check_rows(text: &str, arrays: &[(ScalarType, bool)], all_expected: &[&str]) {
    let code = code(text);
    let operator = "by (r14: f32) (r15: f32)\n  r16: f32 = add r14 r15\n  yield r16\n";
    let mut reader = Reader::new(operator).expect("an operator");
    let operator = parse_operator(&mut reader).expect("an operator");
    assert!(can_fold_rows(&code));
    let function = lanes(&Lanes {
        indices: &[(Register(0), Running::Uniform), (Register(1), Running::Counting)],
        first_stored: 0,
        in_place: true,
        inputs: &[],
        arrays,
        code: &code,
        results: &code.results,
        shared: &[false],
        folds: &[operator],
        rows: true,
        widths: &[],
    });
    for expected in all_expected {
        assert!(function.text.contains(expected), "{expected}\n{}", function.text);
    }
}

#[test]
fn rows_are_folded_in_buffers() {
    let text = "r2: f32 = read a0 r0 r1\nr3: f32 = mul r2 r2\nyield r3\n";
    let expected = [
        "    const i64 r0 = index_0;",
        "    index_0 += advance;\n  }",
        "      ONE_BY_ONE(index);\n      const i64 at = index - first_index;\n      f32 value_0;\n      const i64 r1 = first_r1 + at;",
        "    f32 begun_0 = start_0;\n    KERNEL_combine_0(&begun_0, total_0);\n    result_0[number] = begun_0;",
        "      const f32 r2 = a0[r0 * stride_0_0 + r1];\n      const f32 r3 = r2 * r2;",
        "      add_blocks_f32(lanes_0, buffer_0, blocks, (const f32 *)(a0 + r0 * stride_0_0 + first_index + base + 1024));",
    ];
    check_rows(text, &[(ScalarType::F32, false)], &expected);
}

#[test]
fn rows_of_an_array_are_summed_where_they_stand() {
    let text = "r2: f32 = read a0 r0 r1\nyield r2\n";
    let expected = "      const i64 blocks = (size + 63) >> 6;
      add_array_f32(lanes_0, a0 + r0 * stride_0_0 + first_index + base, size, (const f32 *)(a0 + r0 * stride_0_0 + first_index + base + 2048));";
    check_rows(text, &[(ScalarType::F32, false)], &[expected]);
}

#[test]
fn elements_that_stand_anywhere_come_one_by_one_and_are_checked_once() {
    let text = "r2: i64 = read a0 r0 r1
r3: i64 = read a2
r4: bool = ge r2 0i64
r5: bool = lt r2 r3
r6: bool = and r4 r5
check r6 index
r7: f32 = read a1 r2
yield r7
";
    let expected = [
        "    const u64 extent_1 = a2 > 0 ? (u64)a2 : 0;",
        "      const bool r6 = (u64)r2 < extent_1;",
        "      if (__builtin_expect(!r6, 0)) return 1U;\n      const f32 r7 = a1[r2];",
        "      const i64 end_4 = base_index + (blocks == 4 ? tail : 0);",
        "          const i64 at = index - first_index + 192;",
        "const i64 length = (start + steps < last ? start + steps : last) - start;",
    ];
    let arrays = [(ScalarType::I64, false), (ScalarType::F32, false), (ScalarType::I64, true)];
    check_rows(text, &arrays, &expected);
}

#[test]
fn rows_are_not_folded_by_code_with_loops_or_slow_paths() {
    let slow = "r1: f32 = read a0 r0\nr2: f32 = sin r1\nyield r2\n";
    assert!(!can_fold_rows(&code(slow)));
    let loops = "r1: i64 = while (r2: i64 = r0)
  r3: bool = gt r2 0i64
  yield r3
do
  r4: i64 = sub r2 1i64
  yield r4
yield r1
";
    assert!(!can_fold_rows(&code(loops)));
}

#[test]
fn elements_of_a_part_stand_one_behind_the_other() {
    let part = |index: &str| {
        format!(
            "r3: i64 = read a1\n{index}r2: f32 = read a0 r0 r4\nr5: f32 = mul r2 r2\nyield r5\n"
        )
    };
    let arrays = [(ScalarType::F32, false), (ScalarType::I64, true)];
    let vectors = "  u32 failed = 0;\n  {\n    f32 buffer_0[1024]";
    check_rows(&part("r4: i64 = add r1 r3\n"), &arrays, &[vectors]);
    check_rows(&part("r6: i64 = add r3 r1\nr4: i64 = sub r6 7i64\n"), &arrays, &[vectors]);
    let one_by_one = "  u32 failed = 0;\n  if (length <= 4096) {";
    check_rows(&part("r4: i64 = sub r3 r1\n"), &arrays, &[one_by_one]);
    check_rows(&part("r4: i64 = mul r1 r3\n"), &arrays, &[one_by_one]);
}

#[test]
fn short_rows_are_lanes_where_what_they_combine_is_simple() {
    let of_pairs = |value: &str| {
        let text = format!(
            "r3: f32 = read a0 r0 r2\nr4: f32 = read a1 r1 r2\nr5: f32 = sub r3 r4\nr6: f32 = {value}\nyield r6\n"
        );
        let code = code(&text);
        let operator = "by (r14: f32) (r15: f32)\n  r16: f32 = add r14 r15\n  yield r16\n";
        let mut reader = Reader::new(operator).expect("an operator");
        let operator = parse_operator(&mut reader).expect("an operator");
        let given = Lanes {
            indices: &[
                (Register(0), Running::Uniform),
                (Register(1), Running::Uniform),
                (Register(2), Running::Counting),
            ],
            first_stored: 0,
            in_place: true,
            inputs: &[],
            arrays: &[(ScalarType::F32, false), (ScalarType::F32, false)],
            code: &code,
            results: &code.results,
            shared: &[false, false],
            folds: &[operator],
            rows: true,
            widths: &[],
        };
        (given.folds_side_by_side(), lanes(&given).text)
    };
    let (side_by_side, text) = of_pairs("mul r5 r5");
    assert!(side_by_side);
    for expected in [
        "block->extents[1] - index_1 >= 8",
        "const i64 index_1 = row_of_lane;",
        "KERNEL_combine_0(&totals_0[lane], values_0[lane]);",
        "result_0[number + lane] = begun_0;",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    let (side_by_side, text) = of_pairs("exp r5");
    assert!(!side_by_side && !text.contains("totals_0[lane]"), "{text}");
}
