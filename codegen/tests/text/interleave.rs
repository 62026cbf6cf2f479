//! Results that are the elements of a row (Note [Interleaved results] in `weft_ir::plan`).

use weft_codegen::{Lanes, Running, lanes};
use weft_ir::code::Register;

use crate::code;

#[test]
fn the_elements_of_a_row_stand_next_to_each_other() {
    let code = code("r1: i64 = neg r0\nyield r0 r1 7i64 r1\n");
    let given = Lanes {
        indices: &[(Register(0), Running::Counting)],
        first_stored: 0,
        in_place: true,
        inputs: &[],
        arrays: &[],
        code: &code,
        results: &code.results,
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
    let five = crate::code("yield r0 r0 r0 r0 r0\n");
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
