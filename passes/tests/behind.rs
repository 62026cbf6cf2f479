//! Rows that are put behind rows: what nested yields, flat yields, and nothing is counted again.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use weft_interp::{Limits, run_flat, run_nested};
use weft_ir::flat::{self, Operation};
use weft_ir::leaves::leaf_layout;
use weft_ir::{Array, Column, Value, nested};
use weft_passes::flatten;

/// Rows before and behind others, of all kinds, in loops and outside.
const TEXT: &str = r"params x0: [][]i64
x1: i64 = length x0
x2: [][]i64 = map x0
  \x3: []i64
    x4: []i64 = concat x3 x3
    yield x4
x5: [][]i64 = concat x0 x2
x6: []i64 = iota x1
x7: [][]i64 = literal x6 x6
x8: [][]i64 = concat x0 x7
x9: [][]i64 = concat x0 x0
x10: [][]i64 = for x11 < 3i64 x12: [][]i64 = x0
  x13: []i64 = iota x11
  x14: [][]i64 = literal x13
  x15: [][]i64 = concat x12 x14
  yield x15
x20: [][][]i64 = literal x0
x21: [][][]i64 = for x22 < 3i64 x23: [][][]i64 = x20
  x24: [][]i64 = literal x6 x6
  x25: [][][]i64 = literal x24 x7
  x26: [][][]i64 = concat x23 x25
  yield x26
yield x5 x8 x9 x10 x21
";

fn rows(lengths: &[usize]) -> Value {
    let total: usize = lengths.iter().sum();
    let inner = Column::I64((0..total as i64).map(|i| (i * 7) % 11 - 3).collect::<Vec<_>>().into());
    Value::Array(Arc::new(Array::new(Column::from_lengths(lengths, inner))))
}

#[test]
fn rows_behind_rows_are_elements_behind_elements() {
    let program = nested::parse(TEXT).expect("a program");
    nested::check(&program).expect("a program");
    let (limits, cancel) = (
        Limits { memory: 1 << 30, recursion: 100, stack: weft_lang::STACK_BYTES },
        AtomicBool::new(false),
    );
    let shapes =
        [&[][..], &[0], &[3], &[2, 2, 2], &[0, 0], &[1, 0, 4, 2], &[0, 3, 0], &[64, 65, 1]];
    for lengths in shapes {
        let inputs = [rows(lengths)];
        let flat = flatten(&program, &[leaf_layout(&inputs[0])]).expect("a program");
        flat::check(&flat).unwrap_or_else(|error| panic!("{error}\n{flat}"));
        let expected = run_nested(&program, &inputs, &limits, &cancel).expect("values");
        let found = run_flat(&flat, &inputs, &limits, &cancel).expect("values");
        let same = expected.iter().zip(&found).all(|(a, b)| a.same_elements(b));
        assert!(same && expected.len() == found.len(), "{expected:?}\n{found:?}\n{flat}");
    }
}

#[test]
fn offsets_go_on_where_they_were() {
    let program = nested::parse(TEXT).expect("a program");
    let flat = flatten(&program, &[leaf_layout(&rows(&[1, 0, 4, 2]))]).expect("a program");
    let loops = flat.body.statements.iter().filter_map(|statement| match &statement.operation {
        Operation::While { body, .. } => Some(body),
        _ => None,
    });
    let mut count = 0;
    for body in loops {
        count += 1;
        let scans =
            body.statements.iter().filter(|it| matches!(it.operation, Operation::Scan { .. }));
        assert_eq!(scans.count(), 0, "{flat}");
    }
    assert_eq!(count, 2);
}
