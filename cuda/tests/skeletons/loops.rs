//! Loops row by row: a thread takes each row to the end of its loop.

use weft_ir::{FaultKind, Scalar, ScalarType, Stop, Value};

use crate::{Compiled, column, dense, emulated, i64s, noise, schedule_of};

/// In each turn an element of each row becomes twice another one, and one more.
const ROWS: &str = include_str!("../../gate/plans/row_loops.plan");

fn of_integers(text: &str) -> Compiled {
    Compiled::new(&text.replace(".0f32", "i64").replace("f32", "i64"))
}

/// Rows, and what is added to the places of the elements of each that are replaced.
fn inputs(rows: usize, extent: usize) -> [Value; 2] {
    let elements = noise(rows * extent).map(|bits| Scalar::I64((bits % 1000) as i64));
    let shifts = (0..rows).map(|row| (row * row) as i64);
    [dense(rows, extent, column(ScalarType::I64, elements)), i64s(shifts)]
}

#[test]
fn each_row_goes_to_the_end_of_its_loop() {
    let Some(emulated) = emulated() else { return };
    let compiled = of_integers(ROWS);
    for (rows, extent) in [
        (0, 7),
        (1, 1),
        (1, 100),
        (7, 3),
        (31, 5),
        (32, 5),
        (33, 5),
        (64, 4),
        (65, 4),
        (300, 9),
        (1025, 2),
    ] {
        let [elements, shifts] = inputs(rows, extent);
        let mut expected: Vec<i64> =
            noise(rows * extent).map(|bits| (bits % 1000) as i64).collect();
        for (row, elements) in expected.chunks_mut(extent).enumerate() {
            for turn in 0..extent {
                elements[(turn * 7 + row * row) % extent] = elements[turn] * 2 + 1;
            }
        }
        let expected =
            dense(rows, extent, column(ScalarType::I64, expected.into_iter().map(Scalar::I64)));
        compiled.yields(emulated, &[elements, shifts], schedule_of(rows), &[expected]);
    }
}

#[test]
fn an_index_out_of_range_is_a_fault() {
    let Some(emulated) = emulated() else { return };
    // Neither the row nor the turns are taken modulo the extent.
    let compiled = of_integers(&ROWS.replace("mod r3 r4", "add r3 0i64"));
    match compiled.try_run(emulated, &inputs(40, 5), 0) {
        Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::IndexOutOfRange),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_the_loop_began_with_is_kept() {
    let Some(emulated) = emulated() else { return };
    let compiled =
        of_integers(&format!("{ROWS}output a2: [a0][a1]f32\n").replace("  free a2\n", ""));
    let [elements, shifts] = inputs(20, 6);
    let found = compiled.try_run(emulated, &[elements.clone(), shifts], 0).expect("results");
    assert!(found[1].same_bits(&elements));
    assert!(!found[0].same_bits(&elements));
}
