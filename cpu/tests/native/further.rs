//! Lanes that run on from row to row: the bits are those of the block interpreter, and so are the faults.

use weft_cpu::{Native, Tier};
use weft_ir::{Column, FaultKind, Stop, Value};

use crate::{array, config, f64s, i64s, matrix, same, try_run};

/// With one and two threads, from the first block on and from the second.
fn check(text: &str, inputs: &[Vec<Value>]) {
    let native = Native::new(config(None));
    for (number, inputs) in inputs.iter().enumerate() {
        let expected = try_run(text, inputs, 1, None).expect("a value");
        for (threads, tier) in [(1, Tier::Native), (2, Tier::Native), (1, Tier::Turning)] {
            let found = try_run(text, inputs, threads, Some((&native, tier))).expect("a value");
            assert!(
                same(&expected, &found),
                "inputs {number}, {threads} threads, {tier:?}\n{text}"
            );
        }
    }
    let statistics = native.statistics();
    assert!(statistics.compiled > 0 && statistics.failed == 0, "{statistics:?}");
}

/// What has an element for each row, one for each column, and the number of the column.
const OUTER: &str = "input a3: [a0]f64
input a4: [a1]f64
launch \"outer\" [a0][a1] (r0 r1)
  r2: f64 = read a3 r0
  r3: f64 = read a4 r1
  r4: f64 = mul r2 r3
  r5: f64 = exp r4
  r6: i64 = mul r0 r1
  yield r5 r6
  store r5 to a5: [a0][a1]f64
  store r6 to a6: [a0][a1]i64
end
output a5: [a0][a1]f64
output a6: [a0][a1]i64
";

#[test]
fn rows_of_every_length() {
    let lengths = [1, 4, 5, 6, 15, 16, 17, 31, 63, 64, 65, 127, 300];
    let inputs = lengths.map(|length| vec![f64s(137), f64s(length)]);
    check(OUTER, &inputs);
    // Past the caches, strip by strip, and more than the points of a call.
    check(OUTER, &[vec![f64s(60_000), f64s(29)], vec![f64s(7000), f64s(300)]]);
}

#[test]
fn rows_of_four_dimensions() {
    let text = "input a3: [a0]f64
input a4: [a1]f64
launch \"grid\" [5][a0][3][a1] (r0 r1 r2 r3)
  r4: f64 = read a3 r1
  r5: f64 = read a4 r3
  r6: f64 = mul r4 r5
  r7: i64 = mul r0 r2
  r8: f64 = cast_f64 r7
  r9: f64 = add r6 r8
  yield r9
  store r9 to a5: [5][a0][3][a1]f64
end
output a5: [5][a0][3][a1]f64
";
    check(text, &[vec![f64s(7), f64s(11)], vec![f64s(1), f64s(5)], vec![f64s(40), f64s(70)]]);
}

/// Each row from its end; what is read may lie outside.
const REVERSED: &str = "input a3: i64
input a2: [a0][a1]f64
launch \"reversed\" [a0][a1] (r0 r1)
  r7: i64 = read a3
  r2: i64 = sub r7 r1
  r3: bool = ge r2 0i64
  r8: i64 = read a1
  r4: bool = lt r2 r8
  r5: bool = and r3 r4
  check r5 index
  r6: f64 = read a2 r0 r2
  r9: f64 = add r6 1.0f64
  yield r9
  store r9 to a4: [a0][a1]f64
end
output a4: [a0][a1]f64
";

fn reversed(rows: usize, columns: usize, last: i64) -> Vec<Value> {
    let last = Value::Scalar(weft_ir::Scalar::I64(last));
    vec![last, matrix(&f64s(rows * columns), columns)]
}

#[test]
fn checks_look_at_the_ends_of_each_row() {
    let inputs = [(200, 7), (90, 28), (70, 66)]
        .map(|(rows, columns)| reversed(rows, columns, columns as i64 - 1));
    check(REVERSED, &inputs);
    let native = Native::new(config(None));
    for columns in [7, 28, 66] {
        let inputs = reversed(80, columns, columns as i64);
        let fault = |native| match try_run(REVERSED, &inputs, 1, native) {
            Err(Stop::Fault(fault)) => fault.kind,
            other => panic!("{other:?}"),
        };
        assert_eq!(fault(None), FaultKind::IndexOutOfRange);
        assert_eq!(fault(Some((&native, Tier::Native))), FaultKind::IndexOutOfRange);
    }
}

#[test]
fn what_is_read_in_place_stays_with_its_row() {
    let text = "input a2: [a0][a1]f64
input a3: [a0]i64
launch \"scaled\" [a0][a1] (r0 r1)
  r2: f64 = read a2 r0 r1
  r3: i64 = read a3 r0
  r4: i64 = add r3 r1
  r5: f64 = cast_f64 r4
  r6: f64 = mul r2 r5
  yield r6
  store r6 to a4: [a0][a1]f64
end
output a4: [a0][a1]f64
";
    let inputs = [(300, 5), (100, 24), (64, 64)]
        .map(|(rows, columns)| vec![matrix(&f64s(rows * columns), columns), i64s(rows, 1000)]);
    check(text, &inputs);
    let none = matrix(&array(Column::F64(Vec::new().into())), 9);
    check(text, &[vec![none, i64s(0, 10)], inputs[0].clone()]);
}

#[test]
fn the_index_along_a_row_is_checked_row_by_row() {
    // Not all of it begins at the beginning of a row, nor ends at the end of one.
    let text = "input a3: i64
input a2: [a0][a1]f64
launch \"checked\" [a0][a1] (r0 r1)
  r2: f64 = read a2 r0 r1
  r3: i64 = read a3
  r7: bool = ge r1 0i64
  r8: bool = lt r1 r3
  r4: bool = and r7 r8
  check r4 index
  r5: f64 = cast_f64 r0
  r6: f64 = mul r2 r5
  yield r6
  store r6 to a4: [a0][a1]f64
end
output a4: [a0][a1]f64
";
    let inputs = [(200, 7), (90, 28), (70, 66), (4000, 33)];
    check(text, &inputs.map(|(rows, columns)| reversed(rows, columns, columns as i64)));
    let few = reversed(90, 28, 27);
    assert!(matches!(try_run(text, &few, 1, None), Err(Stop::Fault(_))));
    let native = Native::new(config(None));
    let found = try_run(text, &few, 1, Some((&native, Tier::Native)));
    assert!(matches!(found, Err(Stop::Fault(_))));
}
