//! Where results go: one for all lanes, past the caches, next to each other (Note [Interleaved results] in `weft_ir::plan`).

use weft_codegen::{Lanes, Running, lanes};
use weft_ir::code::Register;

use crate::{code, over_lanes};

#[test]
fn what_all_lanes_share_is_stored_once() {
    let code = code("r1: i64 = neg r0\nyield r1 7i64\n");
    let function = lanes(&Lanes {
        indices: &[(Register(0), Running::Counting)],
        first_stored: 0,
        in_place: true,
        inputs: &[],
        arrays: &[],
        code: &code,
        results: &code.results,
        shared: &[false, true],
        folds: &[],
        rows: false,
        widths: &[],
    });
    let expect = "
  i64 *restrict const result_1 = block->results[1];
  for (i64 at = 0; at < 64 && at < block->count; at++) result_1[at] = 7LL;
  #pragma omp simd
  for (i64 at = 0; at < count; at++) {
    const i64 r0 = first_r0 + at;
    const i64 r1 = (i64)(0 - (u64)r0);
    result_0[at] = r1;
  }
";
    assert!(function.text.contains(expect), "\n{}", function.text);
}

#[test]
fn results_go_past_the_caches_strip_by_strip() {
    let text = over_lanes("r1: f32 = read a0 r0\nr2: bool = lt r1 0.5f32\nyield r1 r2\n");
    let (_, caller) = text.split_once("\nu32 KERNEL(").expect("the function that is called");
    let expect = "const struct block *restrict const block) {
  const i64 count = block->count;
  i64 first = 0;
  f32 *const result_0 = block->results[0];
  bool *const result_1 = block->results[1];
  if (block->past) {
    f32 strip_0[256] __attribute__((aligned(64)));
    bool strip_1[256] __attribute__((aligned(64)));
    for (; first + 256 <= count; first += 256) {
      const u32 failed = KERNEL_part(block, first, 256, strip_0, strip_1);
      if (failed) return failed;
      write_past(result_0 + first, strip_0, sizeof strip_0);
      write_past(result_1 + first, strip_1, sizeof strip_1);
    }
    past_is_written();
  }
  return first < count ? KERNEL_part(block, first, count - first, result_0 + first, result_1 + first) : 0;
}
";
    assert_eq!(caller, expect);
}

#[test]
fn the_elements_of_a_row_stand_next_to_each_other() {
    let four = code("r1: i64 = neg r0\nyield r0 r1 7i64 r1\n");
    let given = Lanes {
        indices: &[(Register(0), Running::Counting)],
        first_stored: 0,
        in_place: true,
        inputs: &[],
        arrays: &[],
        code: &four,
        results: &four.results,
        shared: &[false; 4],
        folds: &[],
        rows: false,
        widths: &[1, 3],
    };
    let text = lanes(&given).text;
    for line in [
        "    result_0[lane] = r0;\n    result_1[lane * 3 + 0] = r1;\n",
        "    result_1[lane * 3 + 1] = 7LL;\n    result_1[lane * 3 + 2] = r1;\n",
        "i64 strip_0[256] ",
        "i64 strip_1[768] ",
        "write_past(result_1 + first * 3, strip_1, sizeof strip_1);",
        "KERNEL_part(block, first, count - first, result_0 + first, result_1 + first * 3)",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    // So many elements apart GCC knows no vectors, if it knows how many there are.
    let five = code("yield r0 r0 r0 r0 r0\n");
    let shared = [false; 5];
    let of_five =
        Lanes { code: &five, results: &five.results, shared: &shared, widths: &[5], ..given };
    let text = lanes(&of_five).text;
    assert!(text.contains("result_0[lane * AS_IT_IS(i64, 5LL) + 4] = r0;"), "{text}");
    // Where a result is one for all lanes, there are no strips.
    let text = lanes(&Lanes { shared: &[true, false, false, false], ..given }).text;
    for line in ["result_0[at & 63] = r0;", "result_1[at * 3 + 2] = r1;"] {
        assert!(text.contains(line), "{line}\n{text}");
    }
}
