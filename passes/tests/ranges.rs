//! Indices that are sums (Note [Sums in range] in `flatten/bounds/sums.rs`): those that are in range for sure are not
//! checked, the others are, and what is computed is what the program says.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::leaves::leaf_layout;
use weft_ir::{Array, Column, FaultKind, Scalar, Value, flat, nested};
use weft_passes::flatten;

/// What all programs here begin with.
const ARRAY: &str = "params x0: []i64, k: i64\nn: i64 = length x0\n";

/// Checks how many indices the kernels of a program check, which is written with names for variables; and that its
/// results are those of the program for arrays of 0 to 9 elements, and for some k.
fn check_indices(text: &str, expected: usize) {
    let text = numbered(&format!("{ARRAY}{text}"));
    let program = nested::parse(&text).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    nested::check(&program).unwrap_or_else(|problem| panic!("{problem}\n{text}"));
    let inputs = |length: i64, k: i64| {
        let array = Array::new(Column::I64((10..10 + length).collect::<Vec<_>>().into()));
        [Value::Array(Arc::new(array)), Value::Scalar(Scalar::I64(k))]
    };
    let layouts: Vec<_> = inputs(4, 2).iter().map(leaf_layout).collect();
    let flat = flatten(&program, &layouts).expect("a program");
    flat::check(&flat).unwrap_or_else(|problem| panic!("{problem}\n{flat}"));
    assert_eq!(checks(&flat), expected, "{flat}");
    let limits = Limits { memory: 1 << 20, recursion: 100, stack: weft_lang::STACK_BYTES };
    let cancel = AtomicBool::new(false);
    let mut computed = 0;
    for length in 0..10 {
        for k in [-3, 0, 1, 2, 3, 8, i64::MAX, i64::MIN] {
            let inputs = inputs(length, k);
            let results = run_nested(&program, &inputs, &limits, &cancel);
            match (results, run_flat(&flat, &inputs, &limits, &cancel)) {
                (Ok(expected), Ok(found)) => {
                    computed += 1;
                    let same = expected.iter().zip(&found).all(|(a, b)| a.same_elements(b));
                    assert!(same, "{length} {k}: {expected:?} {found:?}\n{flat}");
                }
                (Err(_), Err(_)) => {}
                (expected, found) => panic!("{length} {k}: {expected:?} {found:?}\n{flat}"),
            }
        }
    }
    assert!(computed > 5, "only {computed} runs have results");
}

/// The names of variables as numbers: `x0` is one already.
fn numbered(text: &str) -> String {
    let is_part = |letter: char| letter.is_ascii_alphanumeric();
    let declared = text
        .lines()
        .flat_map(|line| line.trim().trim_start_matches("params ").split(", "))
        .filter_map(|part| Some(part.split_once(": ")?.0.trim_start_matches('\\')));
    let mut names: Vec<&str> = Vec::new();
    declared.for_each(|name| {
        if !names.contains(&name) {
            names.push(name)
        }
    });
    let words = text.split_inclusive(|letter: char| !is_part(letter));
    let number = |word: &str| {
        let (name, rest) = word.split_at(word.trim_end_matches(|letter| !is_part(letter)).len());
        match names.iter().position(|known| *known == name) {
            Some(number) => format!("x{number}{rest}"),
            None => word.to_owned(),
        }
    };
    words.map(number).collect()
}

/// How many checks of indices there are in kernels over some points.
fn checks(flat: &flat::Program) -> usize {
    let text = flat.to_string();
    let index = FaultKind::IndexOutOfRange.to_string();
    let mut in_kernel = false;
    let mut count = 0;
    for line in text.lines() {
        if !line.starts_with(' ') {
            in_kernel = line.contains("= map [");
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_check = matches!(&words[..], ["check", _, kind] if *kind == index);
        count += usize::from(in_kernel && is_check);
    }
    count
}

/// `xs[…]` for each position below `count`, where `lines` make the index `at` of the position `i`.
fn each(count: &str, lines: &str) -> String {
    let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    format!(
        "places: []i64 = iota {count}\nresult: []i64 = map places\n  \\i: i64\n  {}    read: i64 = index x0 at\n    yield read\nyield result\n",
        lines.replace("\n  ", "\n    ")
    )
}

#[test]
fn what_is_behind_the_first_ones() {
    let before = "natural: bool = ge k 0i64\nchecked: i64 = assert length natural values k\n\
                  first: i64 = min checked n\ncount: i64 = sub n first\n";
    check_indices(&format!("{before}{}", each("count", "at: i64 = add i first")), 0);
    check_indices(&format!("{before}{}", each("first", "at: i64 = add i 0i64")), 0);
    // Without the check `first` may be negative.
    let before = "first: i64 = min k n\nfree: i64 = sub n first\ncount: i64 = max free 0i64\n";
    check_indices(&format!("{before}{}", each("count", "at: i64 = add i first")), 1);
}

#[test]
fn windows() {
    let windows = |width: i64, count: &str| {
        format!(
            "free: i64 = sub n {width}i64\nmore: i64 = add free 1i64\ncount: i64 = max {count} 0i64\n\
             starts: []i64 = iota count\nothers: []i64 = iota {width}i64\n\
             result: [][]i64 = map starts\n  \\i: i64\n    row: []i64 = map others\n      \\j: i64\n\
             \x20       at: i64 = add i j\n        read: i64 = index x0 at\n        yield read\n    yield row\nyield result\n"
        )
    };
    check_indices(&windows(3, "more"), 0);
    check_indices(&windows(1, "more"), 0);
    check_indices(&windows(3, "free"), 0);
    // As many as there are elements are too many.
    check_indices(&windows(3, "n"), 1);
}

#[test]
fn extents_that_are_there_of_parts_that_are_not() {
    // One more than none, where there are fewer than 5.
    let before = "free: i64 = sub n 5i64\nsome: i64 = max free 0i64\ncount: i64 = add some 1i64\n";
    check_indices(&format!("{before}{}", each("count", "at: i64 = add i 4i64")), 1);
    let before = "free: i64 = sub n 5i64\nsome: i64 = max free 0i64\nless: i64 = min k 0i64\n\
                  more: i64 = max less -3i64\ncount: i64 = sub some more\nfew: i64 = min count 5i64\n";
    check_indices(&format!("{before}{}", each("few", "at: i64 = add i 1i64")), 1);
}

#[test]
fn every_second_one() {
    let before = "last: i64 = sub n 1i64\nhalf: i64 = floor_div last 2i64\nmore: i64 = add half 1i64\n\
                  count: i64 = max more 0i64\n";
    check_indices(&format!("{before}{}", each("count", "at: i64 = mul i 2i64")), 0);
    check_indices(
        &format!("{before}{}", each("count", "twice: i64 = mul i 2i64\nat: i64 = add twice 1i64")),
        1,
    );
    check_indices(&format!("{before}{}", each("count", "at: i64 = mul i 3i64")), 1);
}

#[test]
fn parts_whose_ends_the_host_has_checked() {
    let part = |last: i64, count: i64| {
        format!(
            "fits: bool = le {last}i64 n\ncount: i64 = assert index fits values {count}i64\n{}",
            each("count", "at: i64 = add 2i64 i")
        )
    };
    check_indices(&part(5, 3), 0);
    check_indices(&part(5, 4), 1);
}

#[test]
fn neighbours_of_numbers_that_are_stored() {
    let text = |count: &str, before: i64| {
        format!(
            "inner: i64 = sub n 2i64\nall: i64 = sub n 1i64\ncount: i64 = max {count} 0i64\n\
             places: []i64 = iota count\nnumbers: []i64 = map places\n  \\i: i64\n    next: i64 = add 1i64 i\n    yield next\n\
             result: []i64 = map numbers\n  \\j: i64\n    low: i64 = sub j {before}i64\n    a: i64 = index x0 low\n\
             \x20   high: i64 = add j 1i64\n    b: i64 = index x0 high\n    c: i64 = add a b\n    yield c\nyield result\n"
        )
    };
    check_indices(&text("inner", 1), 0);
    check_indices(&text("inner", 2), 1);
    check_indices(&text("all", 1), 1);
}

#[test]
fn what_may_be_out_of_range() {
    check_indices(&each("n", "at: i64 = add i k"), 1);
    check_indices(&each("n", "at: i64 = add i 1i64"), 1);
    check_indices(&each("n", "at: i64 = sub i 1i64"), 1);
    // Sums that wrap.
    let far = i64::MAX;
    let wraps = format!("far: i64 = add i {far}i64\nat: i64 = add far {far}i64");
    check_indices(&each("n", &wraps), 1);
    let before = "count: i64 = sub n k\nsome: i64 = max count 0i64\nfew: i64 = min some 9i64\n";
    check_indices(&format!("{before}{}", each("few", "at: i64 = add i k")), 1);
}
