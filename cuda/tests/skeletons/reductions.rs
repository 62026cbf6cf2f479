//! Reductions of vectors, of rows of one length and of ragged rows.

use weft_ir::{FaultKind, Stop, Value};

use crate::operators::{OPERATORS, Operator, Tuple, tree};
use crate::{Compiled, array, column, dense, emulated, lengths, ragged, schedule_of};

/// The reduction of a vector of tuples.
fn of_vector(operator: &Operator, started: bool) -> Compiled {
    let inputs = operator.each(|at, ty| format!("input a{}: [a0]{ty}\n", at + 1));
    let reads = operator.each(|at, ty| format!("  r{}: {ty} = read a{} r0\n", at + 1, at + 1));
    let values = operator.list(" ", |at, _| format!("r{}", at + 1));
    let registers = operator.list(", ", |at, ty| format!("r{}: {ty}", at + 50));
    let results = operator.list(", ", |at, ty| format!("a{}: {ty}", at + 10));
    let outputs = operator.each(|at, ty| format!("output a{}: {ty}\n", at + 10));
    let by = operator.text(started.then_some(""));
    Compiled::new(&format!(
        "{inputs}launch \"fold\" [a0] (r0)\n{reads}  yield {values}\n  reduce {values} as \
         ({registers}) to {results}\n{by}end\n{outputs}"
    ))
}

/// The reduction of rows, `space` being `[a0][a1]` or `[a0][~a1 a2]`.
fn of_rows(operator: &Operator, ragged: bool) -> Compiled {
    let (space, head, index) = match ragged {
        false => ("[a0][a1]", "[a0][a1]", "r0 r1"),
        true => ("[a0][~a1 a2]", "[a0][~a1 a2]", "r1"),
    };
    let descriptor = if ragged { " where a1: [a3]i64" } else { "" };
    let inputs = operator.each(|at, ty| {
        let descriptor = if at == 0 { descriptor } else { "" };
        format!("input a{}: {head}{ty}{descriptor}\n", at + 4)
    });
    let reads = operator.each(|at, ty| format!("  r{}: {ty} = read a{} {index}\n", at + 2, at + 4));
    let values = operator.list(" ", |at, _| format!("r{}", at + 2));
    let registers = operator.list(", ", |at, ty| format!("r{}: {ty}", at + 50));
    let results = operator.list(", ", |at, ty| format!("a{}: [a0]{ty}", at + 10));
    let outputs = operator.each(|at, ty| format!("output a{}: [a0]{ty}\n", at + 10));
    let by = operator.text(Some("r70"));
    Compiled::new(&format!(
        "{inputs}launch \"fold\" {space} (r0 r1)\n{reads}  yield {values}\n  reduce {values} as \
         ({registers}) to {results}\n{by}  then (r60)\n    r61: i64 = add r60 1i64\n    yield \
         r61\n    store r61 to a20: [a0]i64\nend\n{outputs}output a20: [a0]i64\n"
    ))
}

/// What a row comes to.
fn folded(operator: &Operator, row: &[Tuple]) -> Tuple {
    let start = (operator.start)();
    match tree(row, &operator.apply) {
        Some(value) => (operator.apply)(&start, &value),
        None => start,
    }
}

/// What rows come to, a column per component, and the rows numbered from 1.
fn expected(operator: &Operator, rows: &[&[Tuple]]) -> Vec<Value> {
    let folded: Vec<Tuple> = rows.iter().map(|row| folded(operator, row)).collect();
    let numbers = crate::i64s((0..rows.len() as i64).map(|at| at + 1));
    operator.columns(&folded).into_iter().map(array).chain([numbers]).collect()
}

#[test]
fn vectors() {
    let Some(emulated) = emulated() else { return };
    for operator in &OPERATORS {
        let compiled = of_vector(operator, true);
        for length in lengths() {
            let elements = operator.elements(length);
            let inputs: Vec<Value> = operator.columns(&elements).into_iter().map(array).collect();
            let expected: Vec<Value> =
                folded(operator, &elements).into_iter().map(Value::Scalar).collect();
            compiled.yields(emulated, &inputs, schedule_of(length), &expected);
        }
    }
}

#[test]
fn a_vector_of_more_than_64_tiles() {
    let Some(emulated) = emulated() else { return };
    let operator = &OPERATORS[0];
    let compiled = of_vector(operator, true);
    let elements = operator.elements(66 * 4096 + 100);
    let inputs: Vec<Value> = operator.columns(&elements).into_iter().map(array).collect();
    let expected: Vec<Value> = folded(operator, &elements).into_iter().map(Value::Scalar).collect();
    compiled.yields(emulated, &inputs, 2, &expected);
}

#[test]
fn a_fold_without_start_of_nothing_is_a_fault() {
    let Some(emulated) = emulated() else { return };
    let operator = &OPERATORS[0];
    let compiled = of_vector(operator, false);
    let found = compiled.try_run(emulated, &[array(operator.columns(&[]).remove(0))], 0);
    match found {
        Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::EmptyArray),
        other => panic!("{other:?}"),
    }
    let elements = operator.elements(100);
    let inputs = [array(operator.columns(&elements).remove(0))];
    let expected = tree(&elements, &operator.apply).into_iter().flatten().map(Value::Scalar);
    compiled.yields(emulated, &inputs, 1, &expected.collect::<Vec<_>>());
}

#[test]
fn rows_of_one_length() {
    let Some(emulated) = emulated() else { return };
    for operator in &OPERATORS {
        let compiled = of_rows(operator, false);
        let shapes = [
            (0, 3),
            (3, 0),
            (1, 5),
            (200, 1),
            (600, 2),
            (130, 64),
            (3, 65),
            (7, 100),
            (5, 128),
            (60, 70),
            (3, 255),
            (3, 256),
            (3, 257),
            (2, 4096),
            (3, 4097),
            (2, 9000),
        ];
        for (rows, extent) in shapes {
            let elements = operator.elements(rows * extent);
            let columns = operator.columns(&elements).into_iter();
            let inputs: Vec<Value> = columns.map(|column| dense(rows, extent, column)).collect();
            let all: Vec<&[Tuple]> =
                (0..rows).map(|row| &elements[row * extent..(row + 1) * extent]).collect();
            let expected = expected(operator, &all);
            compiled.yields(emulated, &inputs, schedule_of(rows + extent), &expected);
        }
    }
}

#[test]
fn ragged_rows() {
    let Some(emulated) = emulated() else { return };
    for operator in &OPERATORS {
        let compiled = of_rows(operator, true);
        let shapes: [&[usize]; 10] = [
            &[0, 1, 0, 2],
            &[63, 64, 65, 0, 1],
            &[0, 0, 5000, 1],
            &[8192, 4096, 4097, 0, 100],
            &[200, 100, 300],
            &[0; 500],
            &[1; 300],
            &[65; 130],
            &[127, 0, 128, 129, 0, 0, 191, 192, 193, 1, 0, 255, 256, 257, 0],
            &[300, 0, 0, 0, 0, 2, 0, 4096 * 2 + 1, 0, 3, 4095, 0],
        ];
        for (number, lengths) in shapes.into_iter().enumerate() {
            let elements = operator.elements(lengths.iter().sum());
            let columns = operator.columns(&elements).into_iter();
            let inputs: Vec<Value> = columns.map(|column| ragged(lengths, column)).collect();
            let mut rest = &elements[..];
            let mut all = Vec::new();
            for length in lengths {
                let (row, behind) = rest.split_at(*length);
                all.push(row);
                rest = behind;
            }
            let expected = expected(operator, &all);
            compiled.yields(emulated, &inputs, schedule_of(number), &expected);
        }
    }
}

#[test]
fn two_reductions_and_a_store_are_one_kernel() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
launch \"both\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = mul r1 r1
  yield r1 r2
  store r2 to a2: [a0]i64
  reduce r1 as (r3: i64) to a3: i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from ()
    yield 0i64
  reduce r2 as (r7: i64) to a4: i64
  by (r8: i64) (r9: i64)
    r10: i64 = max r8 r9
    yield r10
  from ()
    yield -5i64
end
output a2: [a0]i64
output a3: i64
output a4: i64
",
    );
    for length in [0, 1, 64, 100, 5000] {
        let xs: Vec<i64> = (0..length).map(|at| at * 7 % 101 - 50).collect();
        let squares: Vec<i64> = xs.iter().map(|x| x * x).collect();
        let scalar = |value| Value::Scalar(weft_ir::Scalar::I64(value));
        let expected = [
            crate::i64s(squares.iter().copied()),
            scalar(xs.iter().sum()),
            scalar(squares.iter().copied().max().unwrap_or(-5)),
        ];
        compiled.yields(emulated, &[crate::i64s(xs.iter().copied())], 3, &expected);
    }
}

/// Sums of rows of one length, by the text that reads an element, against what an element is.
fn sums_of_rows(
    array: &str,
    read: &str,
    shapes: &[(usize, usize)],
    element: impl Fn(usize, usize, (usize, usize)) -> i64,
) {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(&format!(
        "input a4: {array}i64
launch \"sums\" [a0][a1] (r0 r1)
  {read}
  yield r3
  reduce r3 as (r4: i64) to a5: [a0]i64
  by (r5: i64) (r6: i64)
    r7: i64 = add r5 r6
    yield r7
  from (r8)
    yield 1i64
end
output a5: [a0]i64
"
    ));
    for (rows, extent) in shapes.iter().copied() {
        let (count, inner) = match array {
            "[a0][a1]" => (rows, extent),
            _ => (extent, rows),
        };
        let all = (0..(rows * extent) as i64).map(weft_ir::Scalar::I64);
        let elements = dense(count, inner, column(weft_ir::ScalarType::I64, all));
        let sum = |row| 1 + (0..extent).map(|at| element(row, at, (rows, extent))).sum::<i64>();
        let expected = crate::i64s((0..rows).map(sum).collect::<Vec<i64>>());
        compiled.yields(emulated, &[elements], schedule_of(rows + extent), &[expected]);
    }
}

#[test]
fn elements_of_rows_that_know_their_row() {
    let read = "r2: i64 = read a4 r0 r1\n  r9: i64 = mul r2 r0\n  r3: i64 = add r9 r1";
    let shapes = [(1, 3), (40, 7), (9, 100), (300, 65), (3, 300)];
    sums_of_rows("[a0][a1]", read, &shapes, |row, at, (_, extent)| {
        ((row * extent + at) * row + at) as i64
    });
}

#[test]
fn elements_of_rows_that_know_their_place_only() {
    let read = "r2: i64 = read a4 r0 r1\n  r3: i64 = mul r2 r1";
    let shapes = [(1, 3), (40, 7), (9, 100), (3, 300)];
    sums_of_rows("[a0][a1]", read, &shapes, |row, at, (_, extent)| {
        ((row * extent + at) * at) as i64
    });
}

#[test]
fn rows_that_are_columns_of_what_they_read() {
    // From 192 rows on, each has a thread, however long it is.
    let shapes = [(1, 3), (40, 7), (9, 100), (200, 100), (191, 65), (192, 65), (192, 4096)];
    let read = "r3: i64 = read a4 r1 r0";
    sums_of_rows("[a1][a0]", read, &shapes, |row, at, (rows, _)| (at * rows + row) as i64);
}

#[test]
fn elements_of_ragged_rows_that_know_their_row() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"sums\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  r3: i64 = mul r2 r0
  yield r3
  reduce r3 as (r4: i64) to a5: [a0]i64
  by (r5: i64) (r6: i64)
    r7: i64 = add r5 r6
    yield r7
  from (r8)
    yield 1i64
end
output a5: [a0]i64
",
    );
    let lengths: [&[usize]; 3] = [&[0, 3], &[70, 0, 1, 2, 200, 0, 64], &[1; 400]];
    for lengths in lengths {
        let count = lengths.iter().sum::<usize>() as i64;
        let elements = column(weft_ir::ScalarType::I64, (0..count).map(weft_ir::Scalar::I64));
        let mut next = 0;
        let sums = lengths.iter().enumerate().map(|(row, length)| {
            let sum: i64 = (next..next + *length as i64).sum();
            next += *length as i64;
            1 + sum * row as i64
        });
        let expected = [crate::i64s(sums.collect::<Vec<_>>())];
        compiled.yields(emulated, &[ragged(lengths, elements)], 2, &expected);
    }
}
