//! Flattening keeps the meaning of programs: what nested yields, flat yields, on dense and ragged
//! inputs; and what it makes of the standard examples is what the papers say.

#[path = "flattened/programs.rs"]
mod programs;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::{Array, Column, Scalar, Value};

use programs::flattened;

fn integers(values: &[i64]) -> Value {
    Value::Array(Arc::new(Array::new(Column::I64(values.to_vec().into()))))
}

fn floats(values: &[f64]) -> Value {
    Value::Array(Arc::new(Array::new(Column::F64(values.to_vec().into()))))
}

fn rows(lengths: &[usize]) -> Value {
    let total: usize = lengths.iter().sum();
    let inner = Column::I64((0..total as i64).map(|i| (i * 7) % 11 - 3).collect::<Vec<_>>().into());
    Value::Array(Arc::new(Array::new(Column::from_lengths(lengths, inner))))
}

fn integer(value: i64) -> Value {
    Value::Scalar(Scalar::I64(value))
}

/// Both programs yield the same, or both fail.
fn check(text: &str, inputs: &[Value]) {
    let (nested, flat) = flattened(text, inputs);
    let limits = Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES };
    let cancel = AtomicBool::new(false);
    let expected = run_nested(&nested, inputs, &limits, &cancel);
    let found = run_flat(&flat, inputs, &limits, &cancel);
    match (&expected, &found) {
        (Ok(expected), Ok(found)) => {
            let same = expected.iter().zip(found).all(|(a, b)| a.same_elements(b));
            assert!(same && expected.len() == found.len(), "{expected:?}\n{found:?}\n{flat}");
        }
        (Err(_), Err(_)) => {}
        _ => panic!("{expected:?}\n{found:?}\n{flat}"),
    }
}

/// On arrays of arrays of many shapes.
fn check_rows(text: &str) {
    for lengths in [
        &[][..],
        &[0],
        &[3],
        &[2, 2, 2],
        &[0, 0],
        &[1, 0, 4, 2],
        &[5, 1],
        &[0, 3, 0],
        &[1, 2, 3, 4, 5, 6],
        &[64, 65, 1],
    ] {
        check(text, &[rows(lengths)]);
    }
}

const ADD: &str = r"
  \x100: i64, x101: i64
    x102: i64 = add x100 x101
    yield x102";

#[test]
fn scalar_code_becomes_one_map() {
    let text = r"params x0: []f64, x1: f64
x2: []f64 = map x0
  \x3: f64
    x4: f64 = mul x3 x1
    x5: bool = gt x4 0.0f64
    x6: f64 = if x5
      x7: f64 = sqrt x4
      yield x7
    else
      yield x3
    yield x6
yield x2
";
    let inputs = [floats(&[1.0, -2.0, 4.0]), Value::Scalar(Scalar::F64(4.0))];
    check(text, &inputs);
    let (_, flat) = flattened(text, &inputs);
    assert_eq!(flat.body.statements.len(), 1, "{flat}");
}

#[test]
fn the_dot_product_is_a_map_and_a_reduction() {
    let text = format!(
        r"params x0: []i64, x1: []i64
x2: []i64 = map x0 x1
  \x3: i64, x4: i64
    x5: i64 = mul x3 x4
    yield x5
x6: i64 = fold from 0i64 over x2{ADD}
yield x6
"
    );
    check(&text, &[integers(&[1, 2, 3]), integers(&[4, 5, 6])]);
    check(&text, &[integers(&[]), integers(&[])]);
    check(&text, &[integers(&[1]), integers(&[4, 5])]);
}

#[test]
fn rows_are_reduced_and_scanned() {
    check_rows(&format!(
        r"params x0: [][]i64
x2: []i64 = map x0
  \x3: []i64
    x4: i64 = fold from 5i64 over x3{}
    yield x4
yield x2
",
        ADD.replace('\n', "\n    ")
    ));
    for form in [
        "inclusive from 2i64",
        "exclusive from 2i64",
        "full from 2i64",
        "inclusive",
        "inclusive right from 2i64",
        "full right from 2i64",
        "exclusive right from 0i64",
    ] {
        check_rows(&format!(
            r"params x0: [][]i64
x2: [][]i64 = map x0
  \x3: []i64
    x4: []i64 = scan {form} over x3{}
    yield x4
yield x2
",
            ADD.replace('\n', "\n    ")
        ));
    }
}

#[test]
fn rows_keep_what_holds() {
    check_rows(
        r"params x0: [][]i64
x2: [][]i64, x9: []i64 = map x0
  \x3: []i64
    x4: []bool = map x3
      \x5: i64
        x6: bool = gt x5 1i64
        yield x6
    x7: []i64 = pack x4 over x3
    x8: i64 = length x7
    yield x7 x8
x10: []bool = map x0
  \x11: []i64
    x12: i64 = length x11
    x13: bool = gt x12 1i64
    yield x13
x14: [][]i64 = pack x10 over x0
yield x2 x9 x14
",
    );
}

#[test]
fn rows_are_indexed_reversed_and_sorted() {
    check_rows(
        r"params x0: [][]i64
x1: i64 = length x0
x2: []i64 = iota x1
x20: [][]i64, x21: [][]i64, x22: [][]i64 = map x2
  \x3: i64
    x4: i64 = sub x1 x3
    x5: i64 = sub x4 1i64
    x6: []i64 = index x0 x5
    x7: i64 = length x6
    x8: []i64 = iota x7
    x9: []i64 = map x8
      \x10: i64
        x11: i64 = sub x7 x10
        x12: i64 = sub x11 1i64
        x13: i64 = index x6 x12
        x14: i64 = add x13 x3
        yield x14
    x15: []i64 = sort_order x6
    x16: []i64 = map x15
      \x17: i64
        x18: i64 = index x6 x17
        yield x18
    yield x9 x16 x15
x30: []i64 = flatten x20
yield x20 x21 x22 x30
",
    );
}

#[test]
fn conditions_of_elements_guard_folds_and_choose_rows() {
    check_rows(&format!(
        r"params x0: [][]i64
x1: []i64, x30: [][]i64 = map x0
  \x3: []i64
    x4: i64 = length x3
    x5: bool = gt x4 2i64
    x6: i64, x31: []i64 = if x5
      x7: []i64 = map x3
        \x8: i64
          x9: i64 = mul x8 x8
          yield x9
      x10: i64 = fold over x7{}
      yield x10 x7
    else
      x11: bool = gt x4 0i64
      x12: i64 = if x11
        x13: i64 = index x3 0i64
        yield x13
      else
        yield -1i64
      yield x12 x3
    yield x6 x31
yield x1 x30
",
        ADD.replace('\n', "\n        ")
    ));
}

#[test]
fn loops_of_elements_and_of_the_host() {
    check_rows(&format!(
        r"params x0: [][]i64
x1: []i64 = map x0
  \x3: []i64
    x4: i64 = length x3
    x5: i64, x6: i64 = while x7: i64 = x4, x8: i64 = 0i64
      x9: bool = gt x7 0i64
      yield x9
    do
      x10: i64 = quot x7 2i64
      x11: i64 = fold if_empty 0i64 over x3{}
      x12: i64 = add x8 x11
      yield x10 x12
    yield x6
x20: [][]i64 = for x21 < 3i64 x22: [][]i64 = x0
  x23: [][]i64 = map x22
    \x24: []i64
      x25: []i64 = literal x21 x21
      x26: []i64 = concat x24 x25
      yield x26
  x27: [][]i64 = concat x23 x0
  yield x27
yield x1 x20
",
        ADD.replace('\n', "\n      ")
    ));
}

#[test]
fn conditionals_of_the_host_join_layouts() {
    for chosen in [0, 1] {
        let text = r"params x0: [][]i64, x1: i64
x2: bool = eq x1 1i64
x3: [][]i64, x4: i64 = if x2
  x5: []i64 = flatten x0
  x6: [][]i64 = literal x5 x5
  yield x6 7i64
else
  x7: i64 = length x0
  yield x0 x7
yield x3 x4
";
        check(text, &[rows(&[1, 2]), integer(chosen)]);
        check(text, &[rows(&[2, 2]), integer(chosen)]);
    }
}

#[test]
fn matrices_are_transposed_reshaped_and_multiplied() {
    let text = format!(
        r"params x0: [][]i64
x1: [][]i64 = transpose x0
x2: [][]i64 = map x0
  \x3: []i64
    x4: []i64 = map x1
      \x5: []i64
        x6: []i64 = map x3 x0
          \x7: i64, x8: []i64
            x9: i64 = length x8
            x10: i64 = mul x7 x9
            yield x10
        x11: i64 = fold from 0i64 over x6{}
        yield x11
    yield x4
yield x2
",
        ADD.replace('\n', "\n        ")
    );
    check(&text, &[rows(&[2, 2])]);
    let text = r"params x0: [][]i64
x1: [][]i64 = transpose x0
x2: i64 = extent x1 1
x3: i64 = length x0
x4: i64 = extent x0 1
x5: i64 = mul x3 x4
x6: []i64 = reshape x0 2 to x5
x7: [][]i64 = reshape x6 1 to x4 x3
yield x1 x2 x7
";
    check(text, &[rows(&[3, 3])]);
    check(text, &[rows(&[4])]);
    check(text, &[rows(&[1, 2])]);
}

#[test]
fn segments_scatters_and_updates() {
    let text = r"params x0: []i64, x1: []i64
x2: [][]i64 = segments x0 x1
x3: [][]i64 = map x2
  \x4: []i64
    x5: i64 = length x4
    x6: []i64 = iota x5
    x7: []i64 = scatter x4 at x6 values x6
    yield x7
x8: []i64 = scatter x1 at x0 values x0
  \x9: i64, x10: i64
    x11: i64 = add x9 x10
    yield x11
x12: []i64 = update x1 at 1i64 value 99i64
x13: [][]i64 = map x2
  \x14: []i64
    x15: []i64 = concat x14 x0
    x16: []i64 = update x15 at 0i64 value 5i64
    x17: [][]i64 = segments x0 x1
    x18: []i64 = flatten x17
    x19: []i64 = concat x16 x18
    yield x19
yield x2 x3 x8 x12 x13
";
    check(text, &[integers(&[2, 0, 3]), integers(&[1, 2, 3, 4, 5])]);
    check(text, &[integers(&[2, 0, 4]), integers(&[1, 2, 3, 4, 5])]);
    check(text, &[integers(&[2, -1, 4]), integers(&[1, 2, 3, 4, 5])]);
}

#[test]
fn columns_are_folded_by_folds_of_rows() {
    let text = r"params x0: [][]i64
x1: i64 = extent x0 1
x2: []i64 = replicate x1 10i64
x3: []i64 = fold from x2 over x0
  \x4: []i64, x5: []i64
    x6: []i64 = map x4 x5
      \x7: i64, x8: i64
        x9: i64 = sub x7 x8
        yield x9
    yield x6
x13: [][]i64 = scan inclusive over x0
  \x14: []i64, x15: []i64
    x16: []i64 = map x15 x14
      \x17: i64, x18: i64
        x19: i64 = add x17 x18
        yield x19
    yield x16
yield x3 x13
";
    // The operator need not be associative for the check: both use one tree.
    for lengths in [&[3, 3][..], &[2, 2, 2, 2], &[1]] {
        check(text, &[rows(lengths)]);
    }
}

#[test]
fn rows_of_which_some_are_left_have_columns() {
    for lengths in [&[3, 3][..], &[0, 0, 0], &[2]] {
        check(
            "params x0: [][]i64, x1: []i64
x2: [][]i64, x3: [][]i64 = map x1
  \\x4: i64
    x5: []bool = map x0
      \\x6: []i64
        x7: i64 = length x6
        x8: bool = ge x7 x4
        yield x8
    x9: [][]i64 = pack x5 over x0
    x10: [][]i64 = transpose x9
    x11: []i64 = map x10
      \\x12: []i64
        x13: i64 = length x12
        x14: i64 = fold if_empty x13 over x12
          \\x15: i64, x16: i64
            x17: i64 = add x15 x16
            yield x17
        yield x14
    x18: i64 = length x9
    x19: i64 = extent x9 1
    x20: i64 = add x18 x19
    x21: []i64 = iota x20
    yield x11 x21
yield x2 x3
",
            &[rows(lengths), integers(&[0, 1, 9, 2])],
        );
    }
}

#[test]
fn an_index_that_is_clamped_is_not_checked_and_an_order_is() {
    let text = r"params x0: []i64
x1: i64 = length x0
x2: i64 = sub x1 1i64
x3: []i64 = sort_order x0
x4: []i64 = iota x1
x5: []i64 = map x4 x3
  \x6: i64, x7: i64
    x8: i64 = add x6 2i64
    x9: i64 = min x8 x2
    x10: i64 = index x0 x9
    x11: i64 = add x6 -1i64
    x12: i64 = max x11 0i64
    x13: i64 = index x0 x12
    x14: i64 = add x10 x13
    x15: i64 = mod x8 x1
    x16: i64 = index x0 x15
    x17: i64 = add x14 x16
    x18: i64 = index x0 x7
    x19: i64 = add x17 x18
    yield x19
yield x5
";
    for values in [&[][..], &[4], &[3, 1, 2]] {
        check(text, &[integers(values)]);
    }
    let (_, flat) = flattened(text, &[integers(&[3, 1, 2])]);
    // The order alone: without its check nothing would read it where all elements are the same.
    assert_eq!(flat.to_string().matches("index").count(), 1, "{flat}");
}

#[test]
fn an_index_of_the_host_is_checked_where_the_array_may_be_empty() {
    let text = r"params x0: []i64, x1: i64
x2: i64 = length x0
x3: i64 = sub x2 1i64
x4: i64 = min x1 x3
x5: i64 = max x4 0i64
x6: i64 = index x0 x5
yield x6
";
    check(text, &[integers(&[]), integer(3)]);
    check(text, &[integers(&[1, 2]), integer(3)]);
    let (_, flat) = flattened(text, &[integers(&[1, 2]), integer(3)]);
    assert!(flat.to_string().contains("index"), "{flat}");
}

#[test]
fn what_no_point_needs_is_not_checked() {
    let text = r"params x0: [][]i64
x1: [][]i64 = map x0
  \x2: []i64
    x3: i64 = fold over x2
      \x4: i64, x5: i64
        x6: i64 = min x4 x5
        yield x6
    x7: i64 = index x2 2i64
    x8: []i64 = map x2
      \x9: i64
        x10: i64 = sub x9 x3
        x11: i64 = add x10 x7
        yield x11
    yield x8
yield x1
";
    let limits = Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES };
    let cancel = AtomicBool::new(false);
    for lengths in [&[][..], &[0], &[3, 0, 4], &[0, 0]] {
        let (_, flat) = flattened(text, &[rows(lengths)]);
        let found = run_flat(&flat, &[rows(lengths)], &limits, &cancel);
        assert!(found.is_ok(), "{found:?}\n{flat}");
    }
    check(text, &[rows(&[3, 1])]);
}

#[test]
fn the_indices_of_a_row_are_its_own() {
    let text = r"params x0: [][]i64
x1: [][]i64 = map x0
  \x2: []i64
    x3: i64 = length x2
    x4: []i64 = iota x3
    x5: []i64 = map x4 x2
      \x6: i64, x7: i64
        x8: i64 = index x2 x6
        x9: i64 = mul x8 x6
        x10: i64 = add x9 x7
        yield x10
    yield x5
yield x1
";
    check_rows(text);
    let (_, flat) = flattened(text, &[rows(&[2, 0, 3])]);
    // One map: no descriptor is made, and nothing is checked.
    assert_eq!(flat.body.statements.len(), 1, "{flat}");
}

#[test]
fn a_concatenation_needs_both_parts() {
    // Row 7 is an error also where only elements of the other part are read, or it has none.
    for index in [0, 7] {
        for element in [0, 1, 3] {
            let text = format!(
                r"params x0: [][]i64, x1: []i64, x2: i64
x3: []i64 = index x0 x2
x4: []i64 = concat x3 x1
x5: []i64 = concat x1 x3
x6: i64 = index x4 {element}i64
x7: i64 = index x5 {element}i64
yield x6 x7
"
            );
            check(&text, &[rows(&[2]), integers(&[5, 6]), integer(index)]);
        }
        let text = r"params x0: [][]i64, x1: []i64, x2: []i64
x3: [][]i64 = map x2
  \x4: i64
    x5: []i64 = index x0 x4
    x6: []i64 = concat x5 x1
    yield x6
yield x3
";
        check(text, &[rows(&[0]), integers(&[5, 6]), integers(&[0, index])]);
        check(text, &[rows(&[2]), integers(&[5, 6]), integers(&[0, index])]);
        check(text, &[rows(&[2, 1]), integers(&[]), integers(&[0, index])]);
    }
}

#[test]
fn every_matrix_has_a_width_of_its_own() {
    let inner = |total: i64| Column::I64((0..total).collect::<Vec<_>>().into());
    let matrices = |rows: &[usize], widths: &[usize]| {
        let total: usize = widths.iter().sum();
        let column = Column::from_lengths(widths, inner(total as i64));
        Value::Array(Arc::new(Array::new(Column::from_lengths(rows, column))))
    };
    let cases = [
        matrices(&[2, 2], &[2, 2, 3, 3]),
        matrices(&[2, 1], &[2, 2, 3]),
        matrices(&[0, 3, 1], &[1, 1, 1, 0]),
        matrices(&[], &[]),
        // A matrix that is none.
        matrices(&[2, 1], &[2, 1, 3]),
        matrices(&[1, 2], &[4, 1, 0]),
    ];
    for body in [
        "x2: [][]i64 = transpose x1\n    yield x2",
        "x2: i64 = extent x1 1\n    x4: []i64 = replicate x2 x2\n    \
         x5: [][]i64 = replicate x2 x4\n    yield x5",
    ] {
        let text = format!(
            "params x0: [][][]i64\nx3: [][][]i64 = map x0\n  \\x1: [][]i64\n    {body}\nyield x3\n"
        );
        for input in &cases {
            check(&text, std::slice::from_ref(input));
        }
    }
}

#[test]
fn a_row_length_is_known_only_where_it_was_computed() {
    // The length that the rows were made with belongs to the first map.
    let text = r"params x0: []i64
x1: [][][]i64 = map x0
  \x2: i64
    x3: []i64 = iota x2
    x4: [][]i64 = map x3
      \x5: i64
        x6: []i64 = iota x2
        yield x6
    yield x4
x7: [][][]i64 = map x1
  \x8: [][]i64
    x9: [][]i64 = transpose x8
    yield x9
yield x7
";
    check(text, &[integers(&[1, 2, 0, 3])]);
}
