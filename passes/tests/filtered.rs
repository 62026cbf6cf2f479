//! Folds of what a filter keeps become folds of everything, with the same results and errors.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::leaves::leaf_layout;
use weft_ir::{Array, Column, Value, flat, nested};
use weft_passes::flatten;

fn integers(values: &[i64]) -> Value {
    Value::Array(Arc::new(Array::new(Column::I64(values.to_vec().into()))))
}

/// The flat program, which yields the same on arrays of which all, some and none is kept.
fn flattened(text: &str) -> String {
    let program = nested::parse(text).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    nested::check(&program).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let layouts = [leaf_layout(&integers(&[]))];
    let flat = flatten(&program, &layouts).unwrap_or_else(|error| panic!("{error:?}\n{text}"));
    flat::check(&flat).unwrap_or_else(|error| panic!("{error}\n{flat}"));
    let limits = Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES };
    let cancel = AtomicBool::new(false);
    for values in [&[][..], &[1], &[7], &[7, 9], &[1, 2], &[0, 8, -3, 6, 6], &[6, 1, 9]] {
        let inputs = [integers(values)];
        let expected = run_nested(&program, &inputs, &limits, &cancel);
        let found = run_flat(&flat, &inputs, &limits, &cancel);
        match (&expected, &found) {
            (Ok(expected), Ok(found)) => {
                let same = expected.iter().zip(found).all(|(a, b)| a.same_elements(b));
                assert!(same, "{values:?} {expected:?} {found:?}\n{flat}");
            }
            (Err(_), Err(_)) => {}
            _ => panic!("{values:?} {expected:?} {found:?}\n{flat}"),
        }
    }
    flat.to_string()
}

const FILTER: &str = r"params x0: []i64
x1: []bool = map x0
  \x2: i64
    x3: bool = gt x2 5i64
    yield x3
x4: []i64 = pack x1 over x0
";

fn fold(number: u32, start: &str, array: &str, op: &str) -> String {
    let [left, right, inner] = [number + 1, number + 2, number + 3];
    format!(
        "x{number}: i64 = fold{start} over {array}\n  \\x{left}: i64, x{right}: i64\n    \
         x{inner}: i64 = {op} x{left} x{right}\n    yield x{inner}\n"
    )
}

#[test]
fn operators_without_an_order_need_no_filter() {
    for (op, start) in [
        ("add", " if_empty 0i64"),
        ("add", " from 3i64"),
        ("mul", " from 1i64"),
        ("min", ""),
        ("max", ""),
        ("max", " from 4i64"),
        ("bit_xor", " if_empty 0i64"),
        ("bit_and", ""),
    ] {
        let after = flattened(&format!("{FILTER}{}yield x10\n", fold(10, start, "x4", op)));
        assert!(!after.contains("filter"), "{after}");
    }
}

#[test]
fn maps_go_on_where_the_flag_holds_and_nowhere_else() {
    // An index that is an error of what is not kept; the same filter is used three times.
    let map = r"x20: []i64 = map x4
  \x21: i64
    x22: i64 = sub x21 6i64
    x23: i64 = index x5 x22
    yield x23
x30: i64 = length x4
";
    let table = "x5: []i64 = constant i64[1i64 2i64 3i64 4i64]\n";
    let (sum, least) = (fold(10, " if_empty 0i64", "x20", "add"), fold(40, "", "x20", "min"));
    let after = flattened(&format!("{FILTER}{table}{map}{sum}{least}yield x10 x30 x40\n"));
    assert!(!after.contains("filter"), "{after}");
}

#[test]
fn what_is_kept_for_something_else_is_kept() {
    let sum = fold(10, " if_empty 0i64", "x4", "add");
    let after = flattened(&format!("{FILTER}{sum}yield x10 x4\n"));
    assert!(after.contains("filter"), "{after}");
    // The length alone is the filter's own count.
    let after = flattened(&format!("{FILTER}x10: i64 = length x4\nyield x10\n"));
    assert!(after.contains("filter"), "{after}");
    // No operator whose order matters, and no other value of nothing than the neutral one.
    let last = flattened(&format!("{FILTER}{}yield x10\n", fold(10, " from 1i64", "x4", "sub")));
    assert!(last.contains("filter"), "{last}");
    let other =
        flattened(&format!("{FILTER}{}yield x10\n", fold(10, " if_empty 1i64", "x4", "add")));
    assert!(other.contains("filter"), "{other}");
    // A lockstep with another array needs as many elements as are kept.
    let zip = r"x20: []i64 = map x4 x0
  \x21: i64, x22: i64
    x23: i64 = mul x21 x22
    yield x23
";
    let sum = fold(10, " if_empty 0i64", "x20", "add");
    let after = flattened(&format!("{FILTER}{zip}{sum}yield x10\n"));
    assert!(after.contains("filter"), "{after}");
}
