//! Loops as one kernel: row by row, where a thread takes each row to the end of its loop, and on one thread.

use weft_ir::{FaultKind, Scalar, ScalarType, Stop, Value};

use crate::{Compiled, column, dense, emulated, i64s, noise, schedule_of};

/// In each turn an element of each row becomes twice another one, and one more.
const ROWS: &str = include_str!("../../gate/plans/row_loops.plan");

/// In each turn an element becomes twice another one, and what is read of a matrix; then all are folded from left to
/// right.
const ONE_THREAD: &str = include_str!("../../gate/plans/loop.plan");

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

/// What [`ONE_THREAD`] yields.
fn on_one_thread(mut elements: Vec<i64>, matrix: &[[i64; 3]; 2]) -> [Value; 3] {
    let (length, mut sum) = (elements.len(), 0_i64);
    for turn in 0..length {
        elements[turn * 7 % length] =
            elements[turn].wrapping_mul(2).wrapping_add(sum).wrapping_add(1);
        sum = sum.wrapping_mul(3).wrapping_add(matrix[turn % 2][turn % 3]);
    }
    let last = elements.iter().fold(sum, |sum, at| sum.wrapping_mul(3).wrapping_add(*at));
    let scalar = |value| Value::Scalar(Scalar::I64(value));
    [scalar(length as i64), i64s(elements), scalar(last)]
}

const MATRIX: [[i64; 3]; 2] = [[5, 7, 11], [13, 17, 19]];

fn one_thread_inputs(length: usize) -> [Value; 2] {
    let matrix = column(ScalarType::I64, MATRIX.as_flattened().iter().copied().map(Scalar::I64));
    [i64s(0..length as i64), dense(2, 3, matrix)]
}

#[test]
fn a_loop_with_nothing_parallel_is_one_kernel() {
    let Some(emulated) = emulated() else { return };
    let compiled = of_integers(ONE_THREAD);
    // More turns than there are between two looks whether the run is over.
    for length in [0, 1, 2, 33, 300, 2500] {
        let expected = on_one_thread((0..length as i64).collect(), &MATRIX);
        let inputs = one_thread_inputs(length);
        compiled.yields(emulated, &inputs, schedule_of(length), &expected);
    }
    assert_eq!(compiled.launched(emulated, &one_thread_inputs(20)), ["loop", "loop"]);
}

#[test]
fn a_check_in_a_loop_on_one_thread_is_a_fault_of_its_own() {
    let Some(emulated) = emulated() else { return };
    // The second index of the matrix goes beyond its rows.
    let compiled =
        of_integers(&ONE_THREAD.replace("r21: i64 = mod r0 3i64", "r21: i64 = mod r0 4i64"));
    match compiled.try_run(emulated, &one_thread_inputs(20), 0) {
        Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::IndexOutOfRange),
        other => panic!("{other:?}"),
    }
    // Three turns do not get there.
    compiled.yields(emulated, &one_thread_inputs(3), 0, &on_one_thread((0..3).collect(), &MATRIX));
}

#[test]
fn what_a_loop_on_one_thread_began_with_is_kept() {
    let Some(emulated) = emulated() else { return };
    let compiled = of_integers(&format!("{ONE_THREAD}output a1: [a0]f32\n"));
    let inputs = one_thread_inputs(20);
    let found = compiled.try_run(emulated, &inputs, 0).expect("results");
    assert!(found[3].same_bits(&inputs[0]));
    assert!(!found[1].same_bits(&inputs[0]));
}

#[test]
fn loops_of_scalars_alone_are_the_hosts() {
    let Some(emulated) = emulated() else { return };
    let text = "input a0: i64\na1: i64 = host\n  r0: i64 = read a0\n  r4: i64 = while (r1: i64 = 0i64)\n    \
                r2: bool = lt r1 r0\n    yield r2\n  do\n    r3: i64 = add r1 3i64\n    yield r3\n  yield r4\n\
                output a1: i64\n";
    let compiled = Compiled::new(text);
    let scalar = |value| Value::Scalar(Scalar::I64(value));
    compiled.yields(emulated, &[scalar(100)], 0, &[scalar(102)]);
    assert!(compiled.launched(emulated, &[scalar(100)]).is_empty());
}
