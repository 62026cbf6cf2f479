//! Branches that yield rows of one length make no ragged rows.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::leaves::{Axis, leaf_layout};
use weft_ir::{Array, Column, Value, nested};
use weft_passes::{flatten, named_extents};

/// So many rows of so many elements.
fn matrix(rows: usize, extent: usize) -> Value {
    let elements: Vec<i64> = (0..rows * extent).map(|at| (at as i64 * 7) % 11 - 3).collect();
    let inner = Box::new(Column::I64(elements.into()));
    Value::Array(Arc::new(Array::new(Column::Dense { len: rows, extent, inner })))
}

/// What a program over some inputs becomes: whether it has ragged rows. It yields what *nested* yields, or
/// both fail.
fn is_ragged(text: &str, inputs: &[Value], layouts: &[Vec<Axis>]) -> bool {
    let program = nested::parse(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    nested::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let flat = flatten(&program, layouts).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    weft_ir::flat::check(&flat).unwrap_or_else(|error| panic!("{error}\n{flat}"));
    let limits = Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES };
    let cancel = AtomicBool::new(false);
    let expected = run_nested(&program, inputs, &limits, &cancel);
    let found = run_flat(&flat, inputs, &limits, &cancel);
    match (&expected, &found) {
        (Ok(expected), Ok(found)) => {
            let same = expected.iter().zip(found).all(|(a, b)| a.same_elements(b));
            assert!(same && expected.len() == found.len(), "{expected:?}\n{found:?}\n{flat}");
        }
        // Where there are no elements, or there is an error, the interpreter looks.
        (Ok(expected), Err(_)) if expected.iter().all(has_no_elements) => {}
        (Err(_), Err(_)) => {}
        _ => panic!("{expected:?}\n{found:?}\n{flat}"),
    }
    flat.to_string().contains('~')
}

fn has_no_elements(value: &Value) -> bool {
    let Value::Array(array) = value else { return false };
    array.elements.flatten().is_empty()
}

/// Rows of the first input, chosen by their first element: `then` yields `x20`, `otherwise` `x30`.
fn choice(then: &str, otherwise: &str) -> String {
    let indented =
        |text: &str| -> String { text.lines().map(|line| format!("      {line}\n")).collect() };
    format!(
        "params x0: [][]i64, x1: [][]i64
x9: [][]i64 = map x0 x1
  \\x2: []i64, x3: []i64
    x4: i64 = index x2 0i64
    x5: bool = gt x4 2i64
    x6: []i64 = if x5
{}      yield x20
    else
{}      yield x30
    yield x6
yield x9
",
        indented(then),
        indented(otherwise)
    )
}

const TAIL: &str = "x10: i64 = length x2
x11: bool = gt x10 0i64
x12: i64 = assert empty x11 values x10
x13: i64 = sub x12 1i64
x14: []i64 = iota x13
x20: []i64 = map x14
  \\x15: i64
    x16: i64 = add x15 1i64
    x17: i64 = index x2 x16
    yield x17";

const INIT: &str = "x40: i64 = length x2
x41: bool = gt x40 0i64
x42: i64 = assert empty x41 values x40
x43: i64 = sub x42 1i64
x44: []i64 = iota x43
x30: []i64 = map x44
  \\x45: i64
    x47: i64 = index x2 x45
    yield x47";

fn layouts(inputs: &[Value]) -> Vec<Vec<Axis>> {
    inputs.iter().map(leaf_layout).collect()
}

#[test]
fn lengths_that_are_the_same_expression() {
    for extent in [1, 2, 5] {
        let inputs = [matrix(4, extent), matrix(4, extent)];
        assert!(!is_ragged(&choice(TAIL, INIT), &inputs, &layouts(&inputs)), "{extent}");
    }
    let shorter = INIT.replace("sub x42 1i64", "sub x42 2i64");
    let inputs = [matrix(4, 5), matrix(4, 5)];
    assert!(is_ragged(&choice(TAIL, &shorter), &inputs, &layouts(&inputs)));
}

#[test]
fn rows_of_two_matrices() {
    let text = choice("x20: []i64 = concat x2 x2", "x30: []i64 = concat x3 x3");
    let inputs = [matrix(4, 3), matrix(4, 3)];
    assert!(is_ragged(&text, &inputs, &layouts(&inputs)));
    let known = [vec![Axis::Dense; 2], vec![Axis::Dense, Axis::Like { leaf: 0, axis: 1 }]];
    assert!(!is_ragged(&text, &inputs, &known));
    let known = [vec![Axis::Dense, Axis::Known(3)], vec![Axis::Dense, Axis::Known(3)]];
    assert!(!is_ragged(&text, &inputs, &known));
}

#[test]
fn extents_matter_where_arrays_are_chosen() {
    let program =
        nested::parse(&choice("x20: []i64 = iota 7i64", "x30: []i64 = iota x4")).expect("text");
    // The index 0 is named, too; but 0 says no more than that there are elements.
    let named: Vec<i64> = named_extents(&program).expect("it chooses").into_iter().collect();
    assert_eq!(named, [2, 7]);
    let program =
        nested::parse("params x0: []i64\nx1: i64 = index x0 7i64\nyield x1\n").expect("text");
    assert_eq!(named_extents(&program), None);
}
