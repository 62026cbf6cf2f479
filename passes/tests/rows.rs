//! Loops of points (Note [Loops row by row] in `weft_ir`), of which rows grow or matrices are changed: what they are for one
//! point, and that both forms yield the same, which the interpreter of *flat* checks.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::flat::{self, Operation};
use weft_ir::leaves::leaf_layout;
use weft_ir::{Array, Column, MatrixRows, RowState, Value, nested};
use weft_passes::flatten;

/// What the state of the first loop with a program of one point becomes.
fn states(text: &str, inputs: &[Value]) -> Vec<RowState> {
    let program = nested::parse(text).expect("a program");
    nested::check(&program).expect("a program");
    let (limits, cancel) = (
        Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES },
        AtomicBool::new(false),
    );
    let expected = run_nested(&program, inputs, &limits, &cancel).expect("results");
    let layouts: Vec<_> = inputs.iter().map(leaf_layout).collect();
    let flat = flatten(&program, &layouts).expect("a program");
    flat::check(&flat).unwrap_or_else(|problem| panic!("{problem}\n{flat}"));
    let found = run_flat(&flat, inputs, &limits, &cancel).expect("results");
    assert!(found.iter().zip(&expected).all(|(found, expected)| found.same_elements(expected)));
    let rows = flat.body.statements.iter().find_map(|statement| match &statement.operation {
        Operation::While { rows: Some(rows), .. } => Some(rows.state.clone()),
        _ => None,
    });
    rows.unwrap_or_else(|| panic!("no program of one point\n{flat}"))
}

fn numbers() -> Value {
    Value::Array(Arc::new(Array::new(Column::I64(vec![3, 0, 1, 4].into()))))
}

#[test]
fn rows_of_their_own_lengths() {
    let state = states(
        r"params x0: []i64
x1: [][]i64 = map x0
  \x2: i64
    x3: []i64 = literal x2
    x4: []i64 = for x5 < x2 x6: []i64 = x3
      x7: []i64 = literal x5
      x8: []i64 = concat x6 x7
      yield x8
    yield x4
yield x1
",
        &[numbers()],
    );
    let sizes = [RowState::Total(1), RowState::Offsets(1), RowState::Grown(1)];
    assert!(state.windows(3).any(|parts| parts == sizes), "{state:?}");
}

#[test]
fn rows_that_are_as_long_as_each_other() {
    let state = states(
        r"params x0: []i64
x1: [][]i64 = map x0
  \x2: i64
    x3: []i64 = literal x2
    x4: []i64 = for x5 < 3i64 x6: []i64 = x3
      x7: []i64 = literal x5
      x8: []i64 = concat x6 x7
      yield x8
    yield x4
yield x1
",
        &[numbers()],
    );
    assert!(state.ends_with(&[RowState::Extent(1), RowState::Grown(1)]), "{state:?}");
}

#[test]
fn a_program_of_a_point_makes_copies_as_many_as_it_says() {
    // Around the loop are rows that nobody stores.
    let state = states(
        r"params x0: []i64
x1: []i64 = map x0
  \x2: i64
    x3: []i64 = iota x2
    x4: []i64 = replicate x2 7i64
    x5: []i64 = for x6 < 2i64 x7: []i64 = x3
      x8: []i64 = map x7 x4
        \x9: i64, x10: i64
          x11: i64 = add x9 x10
          yield x11
      yield x8
    x12: i64 = fold from 0i64 over x5
      \x13: i64, x14: i64
        x15: i64 = add x13 x14
        yield x15
    yield x12
yield x1
",
        &[numbers()],
    );
    assert!(matches!(state.last(), Some(RowState::Segment(..) | RowState::Grown(_))), "{state:?}");
}

/// A loop that replaces elements of a matrix of each point, with so many rows.
fn matrices(rows: &str) -> Vec<RowState> {
    let text = r"params x0: []i64
x19: [][][]i64 = map x0
  \x1: i64
    x2: i64 = add x1 1i64
    x13: []i64 = replicate x2 7i64
    x14: [][]i64 = replicate ROWS x13
    x20: i64 = min x1 2i64
    x18: [][]i64 = for x15 < x20 x16: [][]i64 = x14
      x21: i64 = index x16 x15 x15
      x22: i64 = add x21 x15
      x17: [][]i64 = update x16 at x15 x15 value x22
      yield x17
    yield x18
yield x19
";
    states(&text.replace("ROWS", rows), &[numbers()])
}

#[test]
fn matrices_of_their_own_sizes() {
    let state = matrices("x1");
    let [.., RowState::Matrix(1, _, MatrixRows::Segment(_)), RowState::Done] = state[..] else {
        panic!("{state:?}")
    };
}

#[test]
fn matrices_with_as_many_rows() {
    let state = matrices("2i64");
    let [.., RowState::Matrix(1, _, MatrixRows::Each(_)), RowState::Done] = state[..] else {
        panic!("{state:?}")
    };
}

/// The loop goes round as often as a number says that is checked: whether it is there is asked before it begins.
#[test]
fn turns_whose_number_is_checked() {
    let state = states(
        r"params x0: []i64
x1: [][]i64 = map x0
  \x2: i64
    x3: []i64 = literal x2
    x10: bool = ge x2 0i64
    x11: i64 = assert length x10 values x2
    x4: []i64 = for x5 < x11 x6: []i64 = x3
      x7: []i64 = literal x5
      x8: []i64 = concat x6 x7
      yield x8
    yield x4
yield x1
"
        .replace(r"\\", r"\")
        .as_str(),
        &[numbers()],
    );
    let sizes = [RowState::Total(1), RowState::Offsets(1), RowState::Grown(1)];
    assert!(state.windows(3).any(|parts| parts == sizes), "{state:?}");
}
