//! Tests of what is written out, from text to text.

use weft_ir::leaves::Axis;
use weft_ir::nested::{check, parse};

use super::unroll;
use crate::pipeline::SHARING;
use crate::share::share;

/// What becomes of a program whose parameter is an array of rows of that many elements; nothing if it stays.
fn unrolled(text: &str, row: i64) -> Option<String> {
    let program = share(parse(text).unwrap(), &SHARING);
    let layouts = [vec![Axis::Dense, Axis::Known(row)]];
    let after = unroll(&program, &layouts)?.program;
    check(&after).unwrap();
    let after = share(after, &SHARING);
    check(&after).unwrap();
    Some(after.to_string())
}

fn count(text: &str, what: &str) -> usize {
    text.matches(what).count()
}

/// The sum of squares of each row.
const SQUARES: &str = "\
params x0: [][]f64
x1: []f64 = map x0
  \\x2: []f64
    x3: []f64 = map x2 x2
      \\x4: f64, x5: f64
        x6: f64 = mul x4 x5
        yield x6
    x7: f64 = fold from 0.0f64 over x3
      \\x8: f64, x9: f64
        x10: f64 = add x8 x9
        yield x10
    yield x7
yield x1
";

#[test]
fn folds_of_short_rows_are_scalar_code() {
    let after = unrolled(SQUARES, 3).expect("rows of three");
    assert_eq!((count(&after, "map"), count(&after, "fold")), (1, 0), "{after}");
    assert_eq!((count(&after, "index"), count(&after, "mul"), count(&after, "add")), (3, 3, 3));
}

#[test]
fn long_rows_and_those_of_unknown_length_stay() {
    assert_eq!(unrolled(SQUARES, 9), None);
    assert_eq!(unrolled(SQUARES, 0), None);
    assert_eq!(unroll(&parse(SQUARES).unwrap(), &[vec![Axis::Dense, Axis::Ragged]]), None);
}

#[test]
fn sums_of_columns_are_folds_of_as_many_arrays() {
    let text = "\
params x0: [][]f64
x1: [][]f64 = map x0
  \\x2: []f64
    x3: f64 = index x2 0i64
    x4: []f64 = map x2
      \\x5: f64
        x6: f64 = mul x3 x5
        yield x6
    yield x4
x7: [][]f64 = transpose x1
x8: []f64 = map x7
  \\x9: []f64
    x10: f64 = fold from 0.0f64 over x9
      \\x11: f64, x12: f64
        x13: f64 = add x11 x12
        yield x13
    yield x10
yield x8
";
    let after = unrolled(text, 2).expect("rows of two");
    assert_eq!((count(&after, "map"), count(&after, "fold")), (1, 2), "{after}");
    assert_eq!((count(&after, "transpose"), count(&after, "literal")), (0, 1), "{after}");
}

#[test]
fn sums_of_rows_are_one_fold_of_their_parts() {
    let text = "\
params x0: [][]f64
x1: [][]f64 = map x0
  \\x2: []f64
    x4: []f64 = map x2
      \\x5: f64
        x6: f64 = neg x5
        yield x6
    yield x4
x7: []f64 = fold over x1
  \\x8: []f64, x9: []f64
    x10: []f64 = map x8 x9
      \\x11: f64, x12: f64
        x13: f64 = add x11 x12
        yield x13
    yield x10
yield x7
";
    let after = unrolled(text, 2).expect("rows of two");
    assert_eq!((count(&after, "map"), count(&after, "fold"), count(&after, "add")), (1, 1, 2));
}

#[test]
fn loops_carry_short_rows_as_scalars() {
    let text = "\
params x0: [][]f64
x1: []f64 = map x0
  \\x2: []f64
    x4: []f64 = while x5: []f64 = x2
      x6: f64 = index x5 0i64
      x7: bool = gt x6 1.0f64
      yield x7
    do
      x8: []f64 = map x5
        \\x9: f64
          x10: f64 = mul x9 0.5f64
          yield x10
      yield x8
    x11: f64 = index x4 1i64
    yield x11
yield x1
";
    let after = unrolled(text, 2).expect("rows of two");
    assert_eq!((count(&after, "map"), count(&after, "mul")), (1, 2), "{after}");
    // A turn that wants the row whole has it.
    let whole = text.replace("index x5 0i64", "length x5");
    let whole = whole.replace("x6: f64", "x6: i64").replace("gt x6 1.0f64", "gt x6 1i64");
    assert_eq!(unrolled(&whole, 2), None);
}

#[test]
fn what_is_dear_and_wanted_whole_is_computed_once() {
    let text = |op: &str| {
        format!(
            "\
params x0: [][]f64
x1: [][]f64, x20: []f64 = map x0
  \\x2: []f64
    x3: []f64 = map x2
      \\x4: f64
        x6: f64 = {op} x4
        yield x6
    x7: f64 = fold over x3
      \\x8: f64, x9: f64
        x10: f64 = add x8 x9
        yield x10
    yield x3 x7
yield x1 x20
"
        )
    };
    let dear = unrolled(&text("exp"), 3).expect("the fold is written out");
    assert_eq!((count(&dear, "exp"), count(&dear, "fold")), (1, 0), "{dear}");
    let cheap = unrolled(&text("neg"), 3).expect("rows of three");
    assert_eq!((count(&cheap, "neg"), count(&cheap, "fold")), (4, 0), "{cheap}");
}

#[test]
fn loops_in_many_loops_take_no_longer() {
    // Each turn might say something else about what the loops around it carry.
    let mut text = String::from("params x0: [][]f64\nx1: []f64 = map x0\n  \\x2: []f64\n");
    let (mut names, depth) = (2, 60);
    let mut stack = Vec::new();
    for level in 0..depth {
        let indent = " ".repeat(4 + 2 * level);
        let (result, state, carried) = (names + 1, names + 2, names + 3);
        let before = stack.last().map_or((2, 2), |(_, state, carried)| (*state, *carried));
        text += &format!(
            "{indent}x{result}: []f64, x{}: i64 = for x{} < 3i64 x{state}: []f64 = x{}, x{carried}: i64 = {}\n",
            result + 3,
            result + 4,
            before.0,
            if level == 0 { "1i64".to_owned() } else { format!("x{}", before.1) },
        );
        names += 5;
        stack.push((result, state, carried));
    }
    let indent = " ".repeat(4 + 2 * depth);
    let (_, state, carried) = stack[depth - 1];
    names += 1;
    text += &format!("{indent}x{names}: i64 = floor_div 1i64 x{carried}\n");
    text += &format!("{indent}yield x{state} x{names}\n");
    for level in (0..depth - 1).rev() {
        let indent = " ".repeat(6 + 2 * level);
        let (result, ..) = stack[level + 1];
        text += &format!("{indent}yield x{result} x{}\n", result + 3);
    }
    text += "    x999: f64 = index x3 0i64\n    yield x999\nyield x1\n";
    let after = unrolled(&text, 2).unwrap_or(text);
    assert_eq!(count(&after, " for "), depth, "{after}");
}
