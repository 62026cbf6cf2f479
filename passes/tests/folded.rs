//! Branches that fold a row for all of its elements (Note [Divided points]): it is not folded again for each.

use weft_ir::flat::{self, Operation};
use weft_ir::leaves::Axis;
use weft_ir::nested;
use weft_passes::flatten;

/// How many folds a program has for rows that a condition chooses: `x2` is the row, and `x7` its sum.
fn folds(yielded: &str) -> (usize, String) {
    let text = format!(
        r"params x0: [][]f64, x1: []bool
x20: []f64 = map x0 x1
  \x2: []f64, x3: bool
    x11: []f64 = if x3
      x7: f64 = fold from 0.0f64 over x2
        \x4: f64, x5: f64
          x6: f64 = add x4 x5
          yield x6
{yielded}
    else
      yield x2
    x15: f64 = fold from 0.0f64 over x11
      \x12: f64, x13: f64
        x14: f64 = add x12 x13
        yield x14
    yield x15
yield x20
"
    );
    let program = nested::parse(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    nested::check(&program).expect("a program");
    let layouts = [vec![Axis::Dense, Axis::Dense], vec![Axis::Like { leaf: 0, axis: 0 }]];
    let flat = flatten(&program, &layouts).expect("a program");
    flat::check(&flat).expect("a program");
    let is_fold = |it: &&flat::Statement| matches!(it.operation, Operation::Reduce { .. });
    (flat.body.statements.iter().filter(is_fold).count(), flat.to_string())
}

#[test]
fn what_each_element_needs_is_folded_once() {
    let (count, text) = folds(
        r"      x10: []f64 = map x2
        \x8: f64
          x9: f64 = div x8 x7
          yield x9
      yield x10",
    );
    assert_eq!(count, 2, "{text}");
    // No element has a loop of its own.
    assert!(!text.contains("while"), "{text}");
}

#[test]
fn what_no_element_needs_is_no_reason_to_divide() {
    let (count, text) = folds("      yield x2");
    assert_eq!(count, 1, "{text}");
}
