//! Updates that are done behind all that reads the array as it was (Note [Late updates] in `late.rs`).

use weft_ir::nested::{check, parse};
use weft_passes::late::update_late;

/// Where the update stands among the statements, before and afterwards.
fn places(statements: &str, results: &str) -> (usize, usize) {
    let text = format!("params x0: []i64, x1: i64\n{statements}yield {results}\n");
    let before = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    check(&before).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let (after, changed) = update_late(before.clone());
    check(&after).unwrap_or_else(|error| panic!("{error}\n{after}"));
    assert_eq!(changed, after != before, "{after}");
    let place = |program: &weft_ir::nested::Program| {
        let text = program.to_string();
        text.lines().skip(1).position(|line| line.contains(" = update x0 ")).expect("an update")
    };
    (place(&before), place(&after))
}

const UPDATE: &str = "x2: []i64 = update x0 at x1 value 7i64\n";

#[test]
fn behind_the_last_use_of_the_old_array() {
    let length = format!("{UPDATE}x3: i64 = length x0\n");
    assert_eq!(places(&length, "x2 x3"), (0, 1));
    let both = format!(
        "{UPDATE}x3: i64 = index x0 0i64\nx4: i64 = index x2 0i64\nx5: i64 = index x0 x3\n"
    );
    assert_eq!(places(&both, "x2 x4 x5"), (0, 2));
}

#[test]
fn what_is_used_inside_of_others_counts() {
    let inside = format!(
        "{UPDATE}x3: bool = eq x1 0i64
x6: i64 = if x3
  x4: i64 = index x0 0i64
  yield x4
else
  yield x1
"
    );
    assert_eq!(places(&inside, "x2 x6"), (0, 6));
}

#[test]
fn not_where_something_needs_both_arrays() {
    let both = format!("{UPDATE}x3: i64 = index x2 0i64\nx4: i64 = index x0 x3\n");
    assert_eq!(places(&both, "x2 x4"), (0, 0));
}

#[test]
fn not_where_the_old_array_stays() {
    let kept = format!("{UPDATE}x3: i64 = length x0\n");
    assert_eq!(places(&kept, "x0 x2 x3"), (0, 0));
}

#[test]
fn bodies_of_loops_are_looked_at() {
    let text = "\
params x0: []i64, x1: i64
x9: []i64, x10: i64 = for x2 < x1 x3: []i64 = x0, x4: i64 = 0i64
  x5: []i64 = update x3 at x2 value x2
  x6: i64 = index x3 0i64
  yield x5 x6
yield x9 x10
";
    let (after, changed) = update_late(parse(text).expect("a program"));
    check(&after).expect("a program");
    let after = after.to_string();
    assert!(changed && after.find("index x3") < after.find("update x3"), "{after}");
}
