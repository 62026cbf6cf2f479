//! Folds before conditions (Note [Folds ahead of conditions] in `ahead.rs`).

use weft_ir::nested::{check, parse};
use weft_passes::ahead::fold_ahead;

/// A map over rows with a length, a condition of it, and a branch where it holds.
fn program(condition: &str, fold: &str) -> String {
    format!(
        r"params x0: [][]i64, x1: []i64
x2: []i64 = map x0
  \x3: []i64
    x4: i64 = length x3
    x5: bool = {condition}
    x20: i64 = if x5
      x10: i64 = {fold}
        \x11: i64, x12: i64
          x13: i64 = max x11 x12
          yield x13
      yield x10
    else
      yield 0i64
    yield x20
yield x2
"
    )
}

/// Whether the fold is before the condition afterwards.
fn is_ahead(text: &str) -> bool {
    let (after, changed) = fold_ahead(parse(text).unwrap_or_else(|it| panic!("{it:?}\n{text}")));
    check(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
    let after = after.to_string();
    let before_the_condition =
        after.find("fold").expect("a fold") < after.find("= if ").expect("a condition");
    assert_eq!(changed, before_the_condition, "{after}");
    changed
}

#[test]
fn conditions_that_leave_out_short_rows() {
    for (condition, expected) in [
        ("gt x4 0i64", true),
        ("ge x4 2i64", true),
        ("ne x4 0i64", true),
        ("lt 1i64 x4", true),
        ("le 16i64 x4", true),
        // Rows of 17 elements and more are not short.
        ("gt x4 17i64", false),
        ("ge x4 17i64", false),
        ("lt x4 5i64", false),
        ("eq x4 3i64", false),
        ("ne x4 3i64", false),
        // Rows without elements are not left out, and have no greatest.
        ("ge x4 0i64", false),
        ("gt x4 -1i64", false),
    ] {
        assert_eq!(is_ahead(&program(condition, "fold over x3")), expected, "{condition}");
    }
}

#[test]
fn with_a_start_value_rows_may_be_empty() {
    assert!(is_ahead(&program("ge x4 0i64", "fold from 0i64 over x3")));
}

#[test]
fn a_row_without_elements_has_a_value() {
    let text = program("gt x4 0i64", "fold over x3");
    let (after, _) = fold_ahead(parse(&text).unwrap());
    assert!(after.to_string().contains("fold if_empty 0i64 over x3"), "{after}");
}

#[test]
fn another_array_may_be_long() {
    assert!(!is_ahead(&program("gt x4 0i64", "fold over x1")));
}

#[test]
fn what_may_fail_stays() {
    let total = "    x20: i64 = if x5\n      x6: []i64 = map x3\n        \\x7: i64\n          x8: i64 = mul 7i64 x7\n          yield x8\n";
    let with_map = program("gt x4 0i64", "fold over x6").replace("    x20: i64 = if x5\n", total);
    assert!(is_ahead(&with_map));
    assert!(!is_ahead(&with_map.replace("mul", "floor_div")));
    assert!(is_ahead(&with_map.replace("mul 7i64 x7", "floor_div x7 7i64")));
    let asserted = "    x20: i64 = if x5\n      x6: []i64 = assert index x5 values x3\n";
    let asserted =
        program("gt x4 0i64", "fold over x6").replace("    x20: i64 = if x5\n", asserted);
    assert!(!is_ahead(&asserted));
}

#[test]
fn a_condition_that_is_turned_round() {
    let text = program("gt x4 0i64", "fold over x3")
        .replace("    x20:", "    x6: bool = not x5\n    x20:")
        .replace("if x5", "if x6");
    assert!(!is_ahead(&text));
    assert!(is_ahead(&text.replace("gt x4", "eq x4")));
}

/// There the fold is a loop of the element, before a condition too.
#[test]
fn inside_of_a_loop_of_an_element_all_stays() {
    let text = program("gt x4 0i64", "fold over x3");
    let (head, rest) = text.split_once("    x20:").expect("the condition");
    let (branches, end) = rest.split_once("    yield x20").expect("its result");
    let branches = branches.replace('\n', "\n  ");
    let text = format!(
        "{head}    x30: i64 = for x31 < x4 x32: i64 = 0i64\n      x20:{branches}    yield x20\n    yield x30{end}"
    );
    assert!(!is_ahead(&text), "{text}");
}

#[test]
fn conditions_of_the_host_stay() {
    let text = r"params x3: []i64
x4: i64 = length x3
x5: bool = gt x4 0i64
x20: i64 = if x5
  x10: i64 = fold over x3
    \x11: i64, x12: i64
      x13: i64 = max x11 x12
      yield x13
  yield x10
else
  yield 0i64
yield x20
";
    assert!(!is_ahead(text));
}
