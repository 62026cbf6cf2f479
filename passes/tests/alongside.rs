//! Maps that are seen with other extents (Note [Maps seen with other extents] in `flatten/alongside.rs`).

#[path = "flattened/programs.rs"]
mod programs;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::{Array, Column, Value};

use programs::flattened;

/// A matrix of three rows and four columns, and its rows.
fn inputs() -> [Value; 2] {
    let column = |values: Vec<i64>| Column::I64(values.into());
    let inner = Box::new(column((1..13).collect()));
    let matrix = Array::new(Column::Dense { len: 3, extent: 4, inner });
    let vector = Array::new(column(vec![7, 8, 9]));
    [Value::Array(Arc::new(matrix)), Value::Array(Arc::new(vector))]
}

/// The kernels of `flatten` of a matrix that `map` makes as `x20`, which yields what it should.
fn kernels(map: &str) -> Vec<String> {
    kernels_of(&format!(
        "params x0: [][]i64, x1: []i64\n{map}x30: []i64 = flatten x20\nx31: i64 = index x1 0i64\nyield x30 x31\n"
    ))
}

/// The kernels of a program, which yields what it should.
fn kernels_of(text: &str) -> Vec<String> {
    let (program, flat) = flattened(text, &inputs());
    let limits = Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES };
    let cancel = AtomicBool::new(false);
    let expected = run_nested(&program, &inputs(), &limits, &cancel).expect("no fault");
    let found = run_flat(&flat, &inputs(), &limits, &cancel).expect("no fault");
    let same = expected.iter().zip(&found).all(|(a, b)| a.same_elements(b));
    assert!(same && expected.len() == found.len(), "{expected:?}\n{found:?}\n{flat}");
    let text = flat.to_string();
    text.lines().filter(|line| line.contains("= map [")).map(str::to_owned).collect()
}

/// Whether the last of these kernels runs over one dimension: nothing else makes what `flatten` yields.
fn runs_over_elements(kernels: &[String]) -> bool {
    dimensions_of_last(kernels) == 1
}

fn dimensions_of_last(kernels: &[String]) -> usize {
    let last = kernels.last().expect("a kernel");
    let (_, space) = last.split_once("= map [").expect("a map");
    1 + space.matches("][").count()
}

const SQUARES: &str = r"x20: [][]i64 = map x0
  \x3: []i64
    x6: []i64 = map x3
      \x4: i64
        x5: i64 = mul x4 x4
        yield x5
    yield x6
";

#[test]
fn a_map_of_what_stands_at_its_point() {
    assert!(runs_over_elements(&kernels(SQUARES)));
}

#[test]
fn maps_of_maps() {
    let text = format!(
        "{}{}",
        SQUARES.replace("x20", "x10").replace("x3:", "x7:").replace("map x3", "map x7"),
        r"x20: [][]i64 = map x10 x0
  \x11: []i64, x12: []i64
    x16: []i64 = map x11 x12
      \x13: i64, x14: i64
        x15: i64 = sub x13 x14
        yield x15
    yield x16
"
    );
    let found = kernels(&text);
    let flat: Vec<&String> = found.iter().filter(|line| !line.contains("][")).collect();
    assert_eq!(flat.len(), 2, "{found:#?}");
}

#[test]
fn what_others_want_as_it_is() {
    let text = format!("{SQUARES}x21: [][]i64 = transpose x20\n");
    assert!(!runs_over_elements(&kernels(&text)));
}

#[test]
fn maps_that_look_at_where_they_are() {
    // An element of a vector for each row, and the place itself.
    let beside = r"x20: [][]i64 = map x0 x1
  \x3: []i64, x4: i64
    x7: []i64 = map x3
      \x5: i64
        x6: i64 = mul x5 x4
        yield x6
    yield x7
";
    assert!(!runs_over_elements(&kernels(beside)));
    let counted = r"x2: []i64 = iota 3i64
x20: [][]i64 = map x2
  \x3: i64
    x4: []i64 = iota 4i64
    x7: []i64 = map x4
      \x5: i64
        x6: i64 = mul x5 x3
        yield x6
    yield x7
";
    assert!(!runs_over_elements(&kernels(counted)));
}

/// The kernels of `flatten` of matrices, one for each element of a vector, that `map` makes as `x20` of another matrix.
fn items(map: &str) -> Vec<String> {
    let map: String = map.lines().map(|line| format!("    {line}\n")).collect();
    kernels_of(&format!(
        r"params x0: [][]i64, x1: []i64
x2: [][][]i64 = map x1
  \x3: i64
    x6: [][]i64 = map x0
      \x7: []i64
        x9: []i64 = map x7
          \x8: i64
            x10: i64 = mul x8 x3
            yield x10
        yield x9
    yield x6
x40: [][]i64 = map x2 x1
  \x41: [][]i64, x42: i64
{map}    x30: []i64 = flatten x20
    yield x30
yield x40 x0
"
    ))
}

#[test]
fn items_of_an_apply_to_each() {
    // With what belongs to the item, and an element of another one.
    let found = items(
        r"x46: i64 = rem x42 3i64
x43: [][]i64 = index x2 x46
x20: [][]i64 = map x41 x43
  \x11: []i64, x12: []i64
    x16: []i64 = map x11 x12
      \x13: i64, x14: i64
        x15: i64 = sub x13 x14
        x17: i64 = mul x15 x42
        yield x17
    yield x16",
    );
    assert_eq!(dimensions_of_last(&found), 2, "{found:#?}");
    // What looks at its row runs over rows and columns.
    let found = items(
        r"x20: [][]i64 = map x41 x1
  \x11: []i64, x12: i64
    x16: []i64 = map x11
      \x13: i64
        x15: i64 = mul x13 x12
        yield x15
    yield x16",
    );
    assert_eq!(dimensions_of_last(&found), 3, "{found:#?}");
}
