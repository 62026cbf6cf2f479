//! Loops of points (Note [Loops row by row] in `weft_ir`), of which rows grow or matrices are changed: what they are for one
//! point, and that both forms yield the same, which the interpreter of *flat* checks.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::flat::{self, Operation};
use weft_ir::leaves::leaf_layout;
use weft_ir::{Array, Column, MatrixRows, RowInput, RowState, Rows, Value, nested};
use weft_passes::flatten;

/// What the state of the first loop with a program of one point becomes.
fn states(text: &str, inputs: &[Value]) -> Vec<RowState> {
    rows(text, inputs).state
}

/// The first loop with a program of one point.
fn rows(text: &str, inputs: &[Value]) -> Rows<flat::Program> {
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
        Operation::While { rows: Some(rows), .. } => Some(rows.clone()),
        _ => None,
    });
    *rows.unwrap_or_else(|| panic!("no program of one point\n{flat}"))
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

/// A loop over vectors of so many elements, of which each is made from its own index, which is read from numbers that
/// are the same at all points.
fn own_indices(length: &str) -> Rows<flat::Program> {
    let text = r"params x0: []i64
x1: i64 = length x0
x2: []i64 = iota LENGTH
x3: [][]i64 = map x0
  \x4: i64
    x5: []i64 = replicate LENGTH x4
    x6: []i64 = for x7 < 3i64 x8: []i64 = x5
      x9: []i64 = map x2
        \x10: i64
          x11: i64 = index x8 x10
          x12: i64 = add x11 x10
          yield x12
      yield x9
    yield x6
yield x3
";
    rows(&text.replace("LENGTH", length), &[numbers()])
}

/// Whether a program of a point makes its own numbers: no array is the same at all points.
fn makes_its_numbers(rows: &Rows<flat::Program>) -> bool {
    rows.program.inputs.iter().filter(|leaf| !leaf.axes.is_empty()).all(|leaf| {
        rows.inputs.iter().all(|(var, of)| *var != leaf.data || !matches!(of, RowInput::All(_)))
    })
}

#[test]
fn numbers_below_a_known_length_are_made_in_the_program() {
    let rows = own_indices("4i64");
    assert!(makes_its_numbers(&rows), "{}", rows.program);
    assert_eq!(rows.state.last(), Some(&RowState::Point(1)));
}

#[test]
fn numbers_below_an_extent_of_the_state_are_its_indices() {
    let rows = own_indices("x1");
    assert!(makes_its_numbers(&rows), "{}", rows.program);
    // The rows are seen to be as long as before.
    assert_eq!(rows.state.last(), Some(&RowState::Point(1)));
}

#[test]
fn numbers_below_another_length_are_made_of_a_scalar() {
    let text = r"params x0: []i64
x1: i64 = length x0
x2: []i64 = iota x1
x3: [][]i64 = map x0
  \x4: i64
    x5: []i64 = replicate 2i64 x4
    x6: []i64 = for x7 < 3i64 x8: []i64 = x5
      x9: i64 = fold from 0i64 over x2
        \x10: i64, x11: i64
          x12: i64 = add x10 x11
          yield x12
      x13: []i64 = update x8 at 1i64 value x9
      yield x13
    yield x6
yield x3
";
    let rows = rows(text, &[numbers()]);
    assert!(makes_its_numbers(&rows), "{}", rows.program);
    assert!(rows.inputs.iter().any(|(_, of)| matches!(of, RowInput::Size(_))), "{}", rows.program);
}

#[test]
fn what_is_made_of_numbers_is_made_behind_them() {
    // Around the loop, for each point, the numbers and one more; their length is no other's, or that of the state.
    for length in ["2i64", "x1"] {
        let text = r"params x0: []i64
x1: i64 = length x0
x2: []i64 = iota x1
x3: [][]i64 = map x0
  \x4: i64
    x5: []i64 = replicate 1i64 x4
    x6: []i64 = concat x2 x5
    x7: []i64 = replicate LENGTH x4
    x8: []i64 = for x9 < 3i64 x10: []i64 = x7
      x11: i64 = fold from 0i64 over x6
        \x12: i64, x13: i64
          x14: i64 = add x12 x13
          yield x14
      x15: []i64 = update x10 at 1i64 value x11
      yield x15
    yield x8
yield x3
";
        let rows = rows(&text.replace("LENGTH", length), &[numbers()]);
        assert_eq!(rows.state.last(), Some(&RowState::Point(1)));
    }
}

#[test]
fn numbers_below_the_columns_of_a_matrix_are_its_indices() {
    let text = r"params x0: []i64
x1: i64 = length x0
x2: []i64 = iota x1
x3: [][][]i64 = map x0
  \x4: i64
    x5: []i64 = replicate x1 x4
    x6: [][]i64 = replicate 2i64 x5
    x7: [][]i64 = for x8 < 3i64 x9: [][]i64 = x6
      x10: [][]i64 = map x9
        \x11: []i64
          x12: []i64 = map x2
            \x13: i64
              x14: i64 = index x11 x13
              x15: i64 = add x14 x13
              yield x15
          yield x12
      yield x10
    yield x7
yield x3
";
    let rows = rows(text, &[numbers()]);
    assert!(makes_its_numbers(&rows), "{}", rows.program);
    assert_eq!(rows.state.last(), Some(&RowState::Point(1)));
}

#[test]
fn literals_are_made_in_the_program() {
    // One that is the same at all points, one of each, and one of both.
    for literal in ["7i64 x1", "x4 x4", "1i64 x4"] {
        let text = r"params x0: []i64
x1: i64 = length x0
x2: []i64 = iota x1
x3: [][]i64 = map x0
  \x4: i64
    x5: []i64 = replicate 4i64 x4
    x6: []i64 = literal LITERAL
    x7: []i64 = for x8 < 3i64 x9: []i64 = x5
      x10: i64 = rem x8 2i64
      x11: i64 = index x6 x10
      x12: []i64 = update x9 at x8 value x11
      yield x12
    yield x7
yield x3
";
        let rows = rows(&text.replace("LITERAL", literal), &[numbers()]);
        assert_eq!(rows.state.last(), Some(&RowState::Point(1)));
        assert!(makes_its_numbers(&rows), "{}", rows.program);
    }
}
