//! Programs that are compiled for small numbers of the session ([`weft_passes::with_few_elements`]).

use weft_ir::nested::{Program, parse};
use weft_passes::unroll::unroll;
use weft_passes::with_few_elements;

/// Sums of as many products as `x1` says, for each element of a vector.
const SUMS: &str = r"params x0: []f64, x1: i64, x2: i64
x3: bool = ge x1 0i64
x4: i64 = assert length x3 values x1
x12: []f64 = map x0
  \x5: f64
    x6: []i64 = iota x4
    x8: []f64 = map x6
      \x7: i64
        x9: f64 = cast_f64 x7
        yield x9
    x11: f64 = fold from 0.0f64 over x8
      \x13: f64, x14: f64
        x15: f64 = add x13 x14
        yield x15
    x16: f64 = cast_f64 x2
    x17: f64 = mul x11 x16
    yield x17
yield x12
";

fn program(text: &str) -> Program {
    parse(text).expect("a program")
}

#[test]
fn what_says_how_long_arrays_are_becomes_a_constant() {
    let program = program(SUMS);
    let few = with_few_elements(&program, &[None, Some(3), Some(4)]).expect("an array of three");
    assert_eq!(few.params, program.params);
    let text = few.to_string();
    assert!(text.contains("assert length x3 values 3i64"), "{text}");
    assert!(text.contains("cast_f64 x2"), "{text}");
    let unrolled = unroll(&few, &[Vec::new(), Vec::new(), Vec::new()]).expect("few elements");
    assert_eq!(unrolled.folds.len(), 1);
    assert_eq!(unrolled.folds[0].elements, 3);
}

#[test]
fn other_programs_serve_for_all_numbers() {
    let sums = program(SUMS);
    for values in [[None, Some(9), Some(4)], [None, Some(0), Some(4)], [None, None, Some(4)]] {
        assert_eq!(with_few_elements(&sums, &values), None);
    }
    // Nothing is done with the elements of rows.
    let rows = r"params x0: []f64, x1: i64
x3: [][]f64 = map x0
  \x5: f64
    x6: []f64 = replicate x1 x5
    yield x6
yield x3
";
    assert_eq!(with_few_elements(&program(rows), &[None, Some(3)]), None);
}
