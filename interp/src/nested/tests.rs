//! Tests of the interpreter of *nested*, from its text.

use std::sync::atomic::AtomicBool;

use weft_ir::nested::{Program, check, parse};
use weft_ir::text::write_column;
use weft_ir::{Exhausted, Fault, FaultKind, Span, Stop, Value};

use super::run_nested;
use crate::Limits;

const LIMITS: Limits = Limits { memory: 1 << 20, recursion: 50, stack: weft_lang::STACK_BYTES };

fn program(text: &str) -> Program {
    let program = parse(text).expect(text);
    assert_eq!(check(&program), Ok(()), "{text}");
    program
}

fn run(text: &str) -> Result<Vec<Value>, Stop> {
    run_nested(&program(text), &[], &LIMITS, &AtomicBool::new(false))
}

/// The results of the program, one a line.
fn check_results(text: &str, expected: &str) {
    let results: Vec<String> = run(text).expect(text).iter().map(written).collect();
    assert_eq!(results.join("\n"), expected, "{text}");
}

fn written(value: &Value) -> String {
    match value {
        Value::Scalar(scalar) => scalar.to_string(),
        Value::Array(array) => {
            let mut text = String::new();
            write_column(&mut text, &array.elements).expect("a string takes everything");
            text
        }
        Value::Tuple(_) => panic!("a leaf is a tuple"),
    }
}

fn check_fault(text: &str, kind: FaultKind) {
    let fault = Fault { kind, span: Span::default() };
    assert_eq!(run(text).map(|results| results.len()), Err(Stop::Fault(fault)), "{text}");
}

#[test]
fn scalars_and_control() {
    check_results("x0: i64 = add 1i64 2i64\nyield x0 true", "3i64\ntrue");
    check_results("x0: i64 = if false\n  yield 1i64\nelse\n  yield 2i64\nyield x0", "2i64");
    check_results(
        "x0: i64, x1: i64 = while x2: i64 = 1i64, x3: i64 = 0i64\n  x4: bool = lt x2 100i64\n  \
         yield x4\ndo\n  x5: i64 = mul x2 3i64\n  x6: i64 = add x3 1i64\n  yield x5 x6\nyield x0 x1",
        "243i64\n5i64",
    );
    check_results(
        "x0: i64 = for x1 < 5i64 x2: i64 = 0i64\n  x3: i64 = add x1 x2\n  yield x3\nyield x0",
        "10i64",
    );
    check_results("x0: i64 = for x1 < -1i64 x2: i64 = 7i64\n  yield x1\nyield x0", "7i64");
    check_results("x0: i64 = assert division true values 4i64\nyield x0", "4i64");
    check_results("x0: i64 = random_int 1i64 0i64 5i64 6i64\nyield x0", "5i64");
}

#[test]
fn recursion_keeps_the_callers_variables() {
    let text = "function f0 \"fact\" x0: i64 -> i64\n  x1: bool = le x0 1i64\n  x2: i64 = if x1\n    \
         yield 1i64\n  else\n    x3: i64 = sub x0 1i64\n    x4: i64 = call f0 x3\n    \
         x5: i64 = mul x0 x4\n    yield x5\n  yield x2\nx6: i64 = call f0 20i64\nyield x6";
    check_results(text, "2432902008176640000i64");
    let deep = text.replace("20i64", "51i64");
    let exhausted = Exhausted::Recursion { depth: 51, span: Span::default() };
    assert!(matches!(run(&deep), Err(Stop::Exhausted(found)) if found == exhausted));
}

/// `let x0 be a constant in` the operation, whose result has the given type.
fn on(constant: &str, ty: &str, operation: &str) -> String {
    let rank = constant.matches("dense").count() + constant.matches("ragged").count() + 1;
    let (brackets, element) = ("[]".repeat(rank), scalar_type(constant));
    format!("x0: {brackets}{element} = constant {constant}\nx1: {ty} = {operation}\nyield x1")
}

/// The word before the last `[`.
fn scalar_type(constant: &str) -> String {
    let before = constant.rsplit_once('[').expect("elements").0;
    before.rsplit(' ').next().expect("a word").to_owned()
}

const MATRIX: &str = "dense 2 3 i64[1i64 2i64 3i64 4i64 5i64 6i64]";
const RAGGED: &str = "ragged [0 1 3] i64[1i64 2i64 3i64]";

#[test]
fn arrays() {
    for (constant, ty, operation, expected) in [
        (MATRIX, "i64", "length x0", "2i64"),
        (MATRIX, "i64", "extent x0 1", "3i64"),
        (MATRIX, "i64", "index x0 1i64 0i64", "4i64"),
        (MATRIX, "[]i64", "index x0 1i64", "i64[4i64 5i64 6i64]"),
        (RAGGED, "[]i64", "index x0 1i64", "i64[2i64 3i64]"),
        (RAGGED, "[]i64", "flatten x0", "i64[1i64 2i64 3i64]"),
        (
            RAGGED,
            "[][]i64",
            "update x0 at 1i64 0i64 value 9i64",
            "ragged [0 1 3] i64[1i64 9i64 3i64]",
        ),
        (MATRIX, "[][]i64", "transpose x0", "dense 3 2 i64[1i64 4i64 2i64 5i64 3i64 6i64]"),
        ("dense 0 3 i64[]", "[][]i64", "transpose x0", "dense 3 0 i64[]"),
        (
            MATRIX,
            "[][]i64",
            "reshape x0 2 to 3i64 2i64",
            "dense 3 2 i64[1i64 2i64 3i64 4i64 5i64 6i64]",
        ),
        (MATRIX, "[]i64", "reshape x0 2 to 6i64", "i64[1i64 2i64 3i64 4i64 5i64 6i64]"),
        ("i64[]", "[][]i64", "reshape x0 1 to 0i64 4i64", "dense 0 4 i64[]"),
        ("i64[2i64 0i64]", "[][]i64", "segments x0 x0", "ragged [0 2 2] i64[2i64 0i64]"),
        ("i64[2i64 0i64]", "[]i64", "concat x0 x0", "i64[2i64 0i64 2i64 0i64]"),
        ("i64[2i64 0i64]", "[][]i64", "literal x0 x0", "dense 2 2 i64[2i64 0i64 2i64 0i64]"),
        ("i64[2i64 0i64]", "[][]i64", "replicate 2i64 x0", "dense 2 2 i64[2i64 0i64 2i64 0i64]"),
        ("i64[2i64 0i64]", "[][]i64", "replicate 0i64 x0", "dense 0 2 i64[]"),
        ("i64[2i64 0i64]", "[]i64", "iota 3i64", "i64[0i64 1i64 2i64]"),
        ("bool[true false]", "[]bool", "pack x0 over x0", "bool[true]"),
        ("f64[2.0f64 -0.0f64 nanf64 0.0f64]", "[]i64", "sort_order x0", "i64[1i64 3i64 0i64 2i64]"),
        ("i64[1i64 2i64 1i64]", "[]i64", "sort_order descending x0", "i64[1i64 0i64 2i64]"),
        ("i64[1i64 1i64]", "[]i64", "scatter x0 at x0 values x0", "i64[1i64 1i64]"),
    ] {
        check_results(&on(constant, ty, operation), expected);
    }
}

#[test]
fn faults() {
    let big = "x0: []i64 = iota 3i64\n";
    for (text, kind) in [
        ("x1: i64 = floor_div 1i64 0i64\nyield 1i64", FaultKind::DivisionByZero),
        ("x1: i64 = index x0 3i64\nyield x1", FaultKind::IndexOutOfRange),
        ("x1: []i64 = update x0 at -1i64 value 0i64\nyield x1", FaultKind::IndexOutOfRange),
        ("x1: i64 = assert shape false values 0i64\nyield x1", FaultKind::BadShape),
        ("x1: []i64 = iota -1i64\nyield x1", FaultKind::BadLength),
        ("x1: [][]i64 = reshape x0 1 to 2i64 2i64\nyield x1", FaultKind::BadShape),
        ("x1: []i64 = iota 4i64\nx2: [][]i64 = segments x0 x1\nyield 1i64", FaultKind::BadShape),
        ("x1: i64 = random_int 1i64 0i64 6i64 6i64\nyield x1", FaultKind::BadArgument),
        ("x1: [][]i64 = segments x0 x0\nx2: [][]i64 = transpose x1\nyield x2", FaultKind::Ragged),
        (
            "x1: []i64 = scatter x0 at x0 values x0 drops\nx2: []i64 = iota 4i64\nx3: []i64 = scatter x0 at x2 values x2\nyield x3",
            FaultKind::IndexOutOfRange,
        ),
    ] {
        check_fault(&format!("{big}{text}"), kind);
    }
    check_fault(
        "x0: []i64 = iota 3i64\nx1: []i64 = iota 2i64\nx2: []i64 = map x0 x1\n  \
         \\x3: i64, x4: i64\n    yield x3\nyield x2",
        FaultKind::LengthMismatch,
    );
    check_fault(
        "x0: []i64 = iota 0i64\nx1: i64 = fold over x0\n  \\x2: i64, x3: i64\n    yield x3\nyield x1",
        FaultKind::EmptyArray,
    );
}

const ADD: &str = "\n  \\x90: f64, x91: f64\n    x92: f64 = add x90 x91\n    yield x92\n";

/// The fold of 0.1, 0.1, … in the tree of the reference interpreter.
fn tree_sum(values: &[f64]) -> f64 {
    let blocks: Vec<f64> = values
        .chunks(64)
        .map(|block| block.iter().copied().reduce(|a, b| a + b).unwrap())
        .collect();
    if blocks.len() == 1 { blocks[0] } else { tree_sum(&blocks) }
}

#[test]
fn folds_and_scans_have_the_trees_of_the_reference_interpreter() {
    let values: Vec<f64> = (0..5000).map(|index| 0.1 + f64::from(index)).collect();
    let text = format!(
        "params x0: []f64\nx1: f64 = fold from 0.3f64 over x0{ADD}\
         x2: []f64 = scan inclusive over x0{}x3: f64 = index x2 4999i64\n\
         x4: f64 = index x2 100i64\nyield x1 x3 x4",
        ADD.replace("x9", "x8")
    );
    let column = weft_ir::Column::F64(values.clone().into());
    let input = Value::Array(std::sync::Arc::new(weft_ir::Array::new(column)));
    let limits = Limits { memory: 1 << 30, recursion: 1, stack: weft_lang::STACK_BYTES };
    let results = run_nested(&program(&text), &[input], &limits, &AtomicBool::new(false));
    let results: Vec<String> = results.expect("no fault").iter().map(written).collect();
    let sum = |range: std::ops::Range<usize>| tree_sum(&values[range]);
    // 5000 = 64·78 + 8: the last value is the scanned total of 78 blocks and the sum of 8 values.
    let blocks: Vec<f64> = (0..78).map(|block| sum(block * 64..block * 64 + 64)).collect();
    let carry = tree_sum(&blocks[..64]) + tree_sum(&blocks[64..]);
    let last = carry + sum(4992..5000);
    let early = sum(0..64) + sum(64..101);
    let expected = [0.3 + sum(0..5000), last, early].map(|value| format!("{value:?}f64"));
    assert_eq!(results, expected);
}

#[test]
fn forms_of_scans() {
    let scan = |form: &str| {
        format!(
            "x0: []i64 = constant i64[1i64 2i64 3i64]\nx1: []i64 = scan {form} over x0\n  \
             \\x2: i64, x3: i64\n    x4: i64 = mul x2 10i64\n    x5: i64 = add x4 x3\n    yield x5\n\
             yield x1"
        )
    };
    check_results(&scan("inclusive"), "i64[1i64 12i64 123i64]");
    check_results(&scan("exclusive from 7i64"), "i64[7i64 71i64 82i64]");
    check_results(&scan("full from 7i64"), "i64[7i64 71i64 82i64 193i64]");
    check_results(&scan("inclusive right"), "i64[33i64 23i64 3i64]");
}

#[test]
fn maps() {
    check_results(
        "x0: []i64 = iota 3i64\nx1: [][]i64, x2: []bool = map x0\n  \\x3: i64\n    \
         x4: []i64 = iota x3\n    yield x4 true\nyield x1 x2",
        "ragged [0 0 1 3] i64[0i64 0i64 1i64]\nbool[true true true]",
    );
    // The rows of a map over no rows have the extents that do not depend on the elements.
    let nest = |row: &str| {
        format!(
            "x0: [][]i64 = constant dense 0 4 i64[]\nx1: [][]i64 = map x0\n  \\x2: []i64\n    \
             x3: []i64 = {row}\n    yield x3\nyield x1"
        )
    };
    let neg = "map x2\n      \\x4: i64\n        x5: i64 = neg x4\n        yield x5";
    check_results(&nest(neg), "dense 0 4 i64[]");
    check_results(&nest("iota 3i64"), "dense 0 3 i64[]");
}

#[test]
fn scatter_folds_what_meets_and_then_combines_it_with_the_old_value() {
    check_results(
        "x0: []i64 = constant i64[1i64 2i64]\nx1: []i64 = constant i64[0i64 -1i64 0i64]\n\
         x2: []i64 = constant i64[3i64 4i64 5i64]\nx3: []i64 = scatter x0 at x1 values x2 drops\n  \
         \\x4: i64, x5: i64\n    x6: i64 = sub x4 x5\n    yield x6\nyield x3",
        "i64[3i64 2i64]",
    );
}

#[test]
fn memory_is_asked_for_first() {
    for text in [
        "x0: []i64 = iota 1000000i64\nyield x0",
        "x0: []i64 = iota 1000i64\nx1: [][]i64 = replicate 1000i64 x0\nyield x1",
        "x0: []bool = replicate 9223372036854775807i64 true\nyield x0",
        "x0: []i64 = iota 1000i64\nx1: [][]i64 = map x0\n  \\x2: i64\n    yield x0\nyield x1",
    ] {
        let stop = run(text).map(|results| results.len());
        assert!(matches!(stop, Err(Stop::Exhausted(Exhausted::Memory { .. }))), "{text}: {stop:?}");
    }
}

#[test]
fn an_endless_loop_can_be_interrupted() {
    let text = "x0: i64 = while x1: i64 = 0i64\n  yield true\ndo\n  yield x1\nyield x0";
    let stop = run_nested(&program(text), &[], &LIMITS, &AtomicBool::new(true));
    assert!(matches!(stop, Err(Stop::Exhausted(Exhausted::Interrupted))));
}
