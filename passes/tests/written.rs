//! Elements that are read before an array is written to, and used behind that.

#[path = "flattened/programs.rs"]
mod programs;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::{Array, Column, Value};

use programs::flattened;

fn integers(values: &[i64]) -> Value {
    Value::Array(Arc::new(Array::new(Column::I64(values.to_vec().into()))))
}

fn limits() -> Limits {
    Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES }
}

/// What a program becomes, which yields the same.
fn yields_the_same(text: &str, inputs: &[Value]) -> String {
    let (program, flat) = flattened(text, inputs);
    let cancel = AtomicBool::new(false);
    let expected = run_nested(&program, inputs, &limits(), &cancel).expect("no fault");
    let found = run_flat(&flat, inputs, &limits(), &cancel).expect("no fault");
    let same = expected.iter().zip(&found).all(|(a, b)| a.same_elements(b));
    assert!(same && expected.len() == found.len(), "{expected:?}\n{found:?}\n{flat}");
    flat.to_string()
}

/// The top of a heap is replaced in each turn, and read in a branch behind that, in a loop. The condition is `x7`.
fn replaced(condition: &str) -> String {
    format!(
        r"params x0: []i64, x10: []i64
x26: []i64, x27: i64 = while x1: []i64 = x0, x2: i64 = 0i64
  x3: bool = lt x2 5i64
  yield x3
do
  x4: i64 = index x1 0i64
  x5: i64 = index x1 x2
  x6: []i64 = update x1 at x2 value 9i64
  x7: bool = {condition}
  x8: i64 = add x2 1i64
  x24: []i64, x25: i64 = if x7
    yield x6 x8
  else
    x22: []i64 = for x13 < 3i64 x14: []i64 = x6
      x16: i64 = index x10 x13
      x17: i64 = add x16 x4
      x19: []i64 = update x14 at x13 value x17
      yield x19
    yield x22 x8
  yield x24 x25
yield x26
"
    )
}

/// Whether the array that the first statement writes to is read behind the first condition of the host.
fn is_read_in_branch(flat: &str) -> bool {
    let (_, written) = flat.split_once("scatter into ").expect("something is written to");
    let name = written.split_whitespace().next().expect("a name");
    let (_, branches) = written.split_once(" = if ").expect("a condition of the host");
    branches.contains(&format!("read {name} "))
}

#[test]
fn what_a_condition_has_read_is_not_read_again_behind_a_write() {
    let inputs = [integers(&[4, 8, 15, 16, 23, 42]), integers(&[1, 2, 3])];
    for condition in ["gt x4 5i64", "gt x5 x4"] {
        let flat = yields_the_same(&replaced(condition), &inputs);
        assert!(!is_read_in_branch(&flat), "{flat}");
    }
}

#[test]
fn what_a_condition_does_not_need_is_read_where_it_is_needed() {
    // Its check is that of the branch.
    let (first, second) = ("  x4: i64 = index x1 0i64\n", "  x5: i64 = index x1 x2\n");
    let far = "  x4: i64 = index x1 x5\n";
    let text = replaced("gt x2 1i64");
    let text = text.replace(&[first, second].concat(), &[second, far].concat());
    let small = [integers(&[0, 0, 0, 0, 0]), integers(&[0, 0, 0])];
    assert!(is_read_in_branch(&yields_the_same(&text.replace("value 9i64", "value 0i64"), &small)));
    // There is no such element, and none is needed.
    let far = [integers(&[70, 80, 90, 100, 110]), integers(&[1, 2, 3])];
    let (_, flat) = flattened(&text.replace("gt x2 1i64", "ge x2 0i64"), &far);
    assert!(run_flat(&flat, &far, &limits(), &AtomicBool::new(false)).is_ok());
}

#[test]
fn what_a_loop_of_the_host_runs_over_is_in_range() {
    // A row, which is put behind: a check of it at each element would keep the list from growing where it is.
    let text = r"params x0: [][]i64, x1: []i64
x2: i64 = length x0
x5: []i64 = for x3 < x2 x4: []i64 = x1
  x6: []i64 = index x0 x3
  x7: []i64 = concat x4 x6
  yield x7
yield x5
";
    let rows = Column::from_lengths(&[2, 0, 3], Column::I64(vec![1, 2, 3, 4, 5].into()));
    let rows = Value::Array(Arc::new(Array::new(rows)));
    let inputs = [rows, integers(&[7])];
    assert!(!yields_the_same(text, &inputs).contains("check "));
    let text = text.replace("index x0 x3", "index x0 x8");
    let text = text.replace("  x6: ", "  x8: i64 = sub 2i64 x3\n  x6: ");
    assert!(yields_the_same(&text, &inputs).contains("check "));
}

#[test]
fn what_is_put_behind_an_array_is_read_from_another_one_before() {
    let text = r"params x0: []i64, x10: []i64
x26: []i64, x27: []i64 = for x2 < 5i64 x1: []i64 = x0, x11: []i64 = x10
  x3: i64 = index x1 x2
  x4: i64 = index x11 x2
  x5: i64 = add x3 x4
  x6: []i64 = literal x5
  x7: []i64 = concat x1 x6
  x8: []i64 = literal x3
  x9: []i64 = concat x11 x8
  yield x7 x9
yield x26 x27
";
    let flat = yields_the_same(text, &[integers(&[4, 8, 15, 16]), integers(&[1, 2])]);
    let (_, body) = flat.split_once("\ndo\n").expect("a loop");
    let kernels: Vec<&str> = body.split("= map [").skip(1).collect();
    assert_eq!(kernels.len(), 2, "{flat}");
    let state = flat.split_once("while (").expect("a loop").1.split_once(')').expect("its state").0;
    let arrays: Vec<&str> = state
        .split(", ")
        .filter(|part| part.contains(": ["))
        .filter_map(|part| Some(part.split_once(':')?.0))
        .collect();
    assert_eq!(arrays.len(), 2, "{state}");
    for kernel in kernels {
        let reads = arrays.iter().filter(|array| kernel.contains(&format!("read {array} ")));
        assert_eq!(reads.count(), 1, "{flat}");
    }
}

#[test]
fn a_loop_that_a_condition_needs_runs_once() {
    // The root of an element, as a search in sets of elements has it, which a branch uses too.
    let text = r"params x0: []i64
x20: []i64 = for x1 < 5i64 x2: []i64 = x0
  x9: i64 = while x3: i64 = x1
    x4: i64 = index x0 x3
    x5: bool = ne x4 x3
    yield x5
  do
    x6: i64 = index x0 x3
    yield x6
  x10: bool = gt x9 1i64
  x12: []i64 = if x10
    x11: []i64 = update x2 at x9 value x1
    yield x11
  else
    yield x2
  yield x12
yield x20
";
    let flat = yields_the_same(text, &[integers(&[0, 0, 1, 3, 3, 4])]);
    // Beside the loop around it.
    assert_eq!(flat.matches("while (").count(), 2, "{flat}");
}
