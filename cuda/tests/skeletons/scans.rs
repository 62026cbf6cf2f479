//! Scans: forms, directions and rows.

use weft_ir::Value;

use crate::operators::{OPERATORS, Operator, Tuple, tree_scan};
use crate::{Compiled, array, dense, emulated, i64s, lengths, ragged, schedule_of};

/// Form, direction, and whether it has a start.
const FORMS: [(&str, bool, bool); 8] = [
    ("inclusive", false, false),
    ("inclusive", true, false),
    ("inclusive", false, true),
    ("inclusive", true, true),
    ("exclusive", false, true),
    ("exclusive", true, true),
    ("full", false, true),
    ("full", true, true),
];

/// What a row becomes; from the right the mirror image.
fn scanned(
    operator: &Operator,
    row: &[Tuple],
    form: &str,
    right: bool,
    started: bool,
) -> Vec<Tuple> {
    let exchanged = |a: &Tuple, b: &Tuple| (operator.apply)(b, a);
    let apply: &dyn Fn(&Tuple, &Tuple) -> Tuple = if right { &exchanged } else { &operator.apply };
    let mut values = row.to_vec();
    if right {
        values.reverse();
    }
    tree_scan(&mut values, apply);
    if started {
        let start = (operator.start)();
        values.iter_mut().for_each(|value| *value = apply(&start, value));
        if form != "inclusive" {
            values.insert(0, start);
        }
    }
    if form == "exclusive" {
        values.pop();
    }
    if right {
        values.reverse();
    }
    values
}

fn of_vector(operator: &Operator, (form, right, started): (&str, bool, bool)) -> Compiled {
    let side = if right { " right" } else { "" };
    let (host, full, extent) = match form {
        "full" => (
            "a9: i64 = host\n  r0: i64 = read a0\n  r1: i64 = add r0 1i64\n  yield r1\n",
            " to [a9]",
            "a9",
        ),
        _ => ("", "", "a0"),
    };
    let inputs = operator.each(|at, ty| format!("input a{}: [a0]{ty}\n", at + 1));
    let reads = operator.each(|at, ty| format!("  r{}: {ty} = read a{} r0\n", at + 1, at + 1));
    let values = operator.list(" ", |at, _| format!("r{}", at + 1));
    let registers = match form {
        "full" => String::new(),
        _ => operator.list(", ", |at, ty| format!("r{}: {ty}", at + 50)),
    };
    let results = operator.list(", ", |at, ty| format!("a{}: [{extent}]{ty}", at + 10));
    let outputs = operator.each(|at, ty| format!("output a{}: [{extent}]{ty}\n", at + 10));
    let by = operator.text(started.then_some(""));
    Compiled::new(&format!(
        "{inputs}{host}launch \"scan\" [a0] (r0)\n{reads}  yield {values}\n  scan \
         {form}{side}{full} {values} as ({registers}) to {results}\n{by}end\n{outputs}"
    ))
}

#[test]
fn vectors() {
    let Some(emulated) = emulated() else { return };
    for (number, form) in FORMS.into_iter().enumerate() {
        // Each form with two operators, so that each operator meets several forms.
        for operator in [&OPERATORS[number % 5], &OPERATORS[(number + 2) % 5]] {
            let compiled = of_vector(operator, form);
            for length in lengths() {
                let elements = operator.elements(length);
                let inputs: Vec<Value> =
                    operator.columns(&elements).into_iter().map(array).collect();
                let expected = scanned(operator, &elements, form.0, form.1, form.2);
                let expected: Vec<Value> =
                    operator.columns(&expected).into_iter().map(array).collect();
                compiled.yields(emulated, &inputs, schedule_of(length), &expected);
            }
        }
    }
}

#[test]
fn a_vector_of_more_than_64_tiles() {
    let Some(emulated) = emulated() else { return };
    let operator = &OPERATORS[0];
    for form in [("inclusive", false, false), ("full", true, true)] {
        let compiled = of_vector(operator, form);
        let elements = operator.elements(130 * 4096 + 100);
        let inputs: Vec<Value> = operator.columns(&elements).into_iter().map(array).collect();
        let expected = scanned(operator, &elements, form.0, form.1, form.2);
        let expected: Vec<Value> = operator.columns(&expected).into_iter().map(array).collect();
        compiled.yields(emulated, &inputs, 0, &expected);
    }
}

/// A scan of rows with an epilogue that sees what the scan has come to.
fn of_rows(
    operator: &Operator,
    (form, right, started): (&str, bool, bool),
    ragged: bool,
) -> Compiled {
    let side = if right { " right" } else { "" };
    let (space, index) = match ragged {
        false => ("[a0][a1]", "r0 r1"),
        true => ("[a0][~a1 a2]", "r1"),
    };
    let extents = if ragged { "[a2]" } else { "[a0][a1]" };
    let descriptor = if ragged { " where a1: [a3]i64" } else { "" };
    let inputs = operator.each(|at, ty| {
        let descriptor = if at == 0 { descriptor } else { "" };
        format!("input a{}: {space}{ty}{descriptor}\n", at + 4)
    });
    let reads = operator.each(|at, ty| format!("  r{}: {ty} = read a{} {index}\n", at + 2, at + 4));
    let values = operator.list(" ", |at, _| format!("r{}", at + 2));
    let registers = operator.list(", ", |at, ty| format!("r{}: {ty}", at + 50));
    let results = operator.list(", ", |_, _| "_".to_owned());
    let stores =
        operator.each(|at, ty| format!("    store r{} to a{}: {extents}{ty}\n", at + 50, at + 10));
    let outputs = operator.each(|at, ty| format!("output a{}: {space}{ty}\n", at + 10));
    let by = operator.text(started.then_some("r70"));
    Compiled::new(&format!(
        "{inputs}launch \"scan\" {space} (r0 r1)\n{reads}  yield {values}\n  scan {form}{side} \
         {values} as ({registers}) to {results}\n{by}  then (r60 r61)\n    r62: i64 = add r60 \
         r61\n    yield r62\n{stores}    store r62 to a20: {extents}i64\nend\n{outputs}output a20: \
         {space}i64\n"
    ))
}

#[test]
fn rows_of_one_length() {
    let Some(emulated) = emulated() else { return };
    for (number, form) in FORMS[..6].iter().enumerate() {
        let operator = &OPERATORS[number % 5];
        let compiled = of_rows(operator, *form, false);
        let shapes = [
            (0, 3),
            (3, 0),
            (200, 1),
            (70, 64),
            (3, 65),
            (7, 100),
            (5, 128),
            (3, 256),
            (3, 257),
            (2, 4097),
            (2, 9000),
        ];
        for (rows, extent) in shapes {
            let elements = operator.elements(rows * extent);
            let columns = operator.columns(&elements).into_iter();
            let inputs: Vec<Value> = columns.map(|column| dense(rows, extent, column)).collect();
            let rows_of = |row| &elements[row * extent..(row + 1) * extent];
            let expected: Vec<Tuple> = (0..rows)
                .flat_map(|row| scanned(operator, rows_of(row), form.0, form.1, form.2))
                .collect();
            let sums = (0..rows).flat_map(|row| (0..extent).map(move |at| (row + at) as i64));
            let sums = match i64s(sums) {
                Value::Array(array) => array.elements.clone(),
                other => panic!("{other:?}"),
            };
            let expected: Vec<Value> = operator
                .columns(&expected)
                .into_iter()
                .chain([sums])
                .map(|column| dense(rows, extent, column))
                .collect();
            compiled.yields(emulated, &inputs, schedule_of(rows + extent), &expected);
        }
    }
}

#[test]
fn ragged_rows() {
    let Some(emulated) = emulated() else { return };
    let shapes: [&[usize]; 4] =
        [&[0, 1, 0, 2], &[63, 64, 65, 0, 1], &[0, 0, 5000, 1], &[8192, 4096, 4097, 0, 12300]];
    for (number, form) in FORMS[..6].iter().enumerate() {
        let operator = &OPERATORS[(number + 1) % 5];
        let compiled = of_rows(operator, *form, true);
        for lengths in shapes {
            let elements = operator.elements(lengths.iter().sum());
            let columns = operator.columns(&elements).into_iter();
            let inputs: Vec<Value> = columns.map(|column| ragged(lengths, column)).collect();
            let mut expected = Vec::new();
            let mut sums = Vec::new();
            let mut start = 0;
            for (row, length) in lengths.iter().enumerate() {
                let elements = &elements[start..start + length];
                expected.extend(scanned(operator, elements, form.0, form.1, form.2));
                // The index along a ragged dimension is the position.
                sums.extend((start..start + length).map(|at| (row + at) as i64));
                start += length;
            }
            let sums =
                crate::column(weft_ir::ScalarType::I64, sums.into_iter().map(weft_ir::Scalar::I64));
            let expected: Vec<Value> = operator
                .columns(&expected)
                .into_iter()
                .chain([sums])
                .map(|column| ragged(lengths, column))
                .collect();
            compiled.yields(emulated, &inputs, schedule_of(number), &expected);
        }
    }
}
