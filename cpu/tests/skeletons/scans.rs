//! Scans: forms, directions, and rows.

use weft_ir::{Column, Value};

use crate::{array, f64s, i64s, lengths, noise, ragged, tree_scan, values};

/// What each point of a row becomes by a scan; from the right the mirror image.
fn scanned<T: Clone>(
    row: &[T],
    form: &str,
    right: bool,
    start: Option<&T>,
    operator: &dyn Fn(&T, &T) -> T,
) -> Vec<T> {
    let exchanged = |a: &T, b: &T| operator(b, a);
    let operator: &dyn Fn(&T, &T) -> T = if right { &exchanged } else { operator };
    let mut values = row.to_vec();
    if right {
        values.reverse();
    }
    tree_scan(&mut values, operator);
    if let Some(start) = start {
        values.iter_mut().for_each(|value| *value = operator(start, value));
        if form != "inclusive" {
            values.insert(0, start.clone());
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

#[test]
fn scans_of_a_vector_follow_the_tree() {
    for (form, right, started) in FORMS {
        let side = if right { " right" } else { "" };
        let (host, full, extent) = match form {
            "full" => (
                "a9: i64 = host\n  r0: i64 = read a0\n  r1: i64 = add r0 1i64\n  yield r1\n",
                " to [a9]",
                "a9",
            ),
            _ => ("", "", "a0"),
        };
        let start = if started { "  from ()\n    yield 0.25f64\n" } else { "" };
        let text = format!(
            "input a1: [a0]f64
{host}launch \"scan\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = mul r1 r1
  yield r1 r2
  scan {form}{side}{full} r2 as ({}) to a2: [{extent}]f64
  by (r4: f64) (r5: f64)
    r6: f64 = add r4 r5
    yield r6
{start}  store r1 to a3: [a0]f64
end
output a2: [{extent}]f64
output a3: [a0]f64
",
            if form == "full" { "" } else { "r3: f64" }
        );
        for length in lengths() {
            let xs: Vec<f64> = noise(length).map(|bits| (bits % 1009) as f64 / 7.0).collect();
            let found = values(&text, &[f64s(xs.clone())]);
            let squares: Vec<f64> = xs.iter().map(|x| x * x).collect();
            let start = started.then_some(&0.25);
            let expected = scanned(&squares, form, right, start, &|a, b| a + b);
            assert!(found[0].same_bits(&f64s(expected)), "{form}{side} {length}");
            assert!(found[1].same_bits(&f64s(xs)), "{form}{side} {length}");
        }
    }
}

#[test]
fn scans_of_integers_need_no_tree() {
    for start in ["", "  from ()\n    yield 11i64\n"] {
        let text = format!(
            "input a1: [a0]i64
launch \"scan\" [a0] (r0)
  r1: i64 = read a1 r0
  yield r1
  scan inclusive r1 as (r2: i64) to a2: [a0]i64
  by (r3: i64) (r4: i64)
    r5: i64 = add r3 r4
    yield r5
{start}end
output a2: [a0]i64
"
        );
        // Large enough to be written past the caches, once.
        for length in lengths().into_iter().filter(|length| *length > 60).chain([5_000_001]) {
            let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
            let mut running = if start.is_empty() { 0 } else { 11_i64 };
            let next = |x: &i64| {
                running = running.wrapping_add(*x);
                running
            };
            let expected = i64s(xs.iter().map(next).collect());
            assert!(values(&text, &[i64s(xs)])[0].same_bits(&expected), "{length} {start}");
        }
    }
}

/// A function `x -> a x + b`.
type Affine = (i64, i64);

fn compose(f: &Affine, g: &Affine) -> Affine {
    (f.0.wrapping_mul(g.0), f.1.wrapping_mul(g.0).wrapping_add(g.1))
}

/// Two components, an operator whose order matters, an epilogue, over rows.
fn check_rows(space: &str, input: &str, at: &str, rows: &[usize], value: Value, xs: &[i64]) {
    for (form, right, started) in FORMS.into_iter().filter(|(form, ..)| *form != "full") {
        let side = if right { " right" } else { "" };
        let start = if started { "  from (r30)\n    yield 3i64 r30\n" } else { "" };
        let storage =
            space.rsplit('~').next().map_or(space, |_| if at == "r1" { "[a2]" } else { space });
        let text = format!(
            "input {input}
launch \"scan\" {space} (r0 r1)
  r2: i64 = read a4 {at}
  r3: i64 = bit_or r2 1i64
  yield r2 r3
  scan {form}{side} r3 r2 as (r20: i64, r21: i64) to a5: {storage}i64, a6: {storage}i64
  by (r4: i64, r5: i64) (r6: i64, r7: i64)
    r8: i64 = mul r4 r6
    r9: i64 = mul r5 r6
    r10: i64 = add r9 r7
    yield r8 r10
{start}then (r40 r41)
  r42: i64 = add r20 r21
  r43: i64 = sub r42 r40
  r44: i64 = bit_xor r43 r41
  yield r44
  store r44 to a7: {storage}i64
end
output a5: {space}i64
output a6: {space}i64
output a7: {space}i64
"
        );
        let found = values(&text, std::slice::from_ref(&value));
        let mut expected = [Vec::new(), Vec::new(), Vec::new()];
        let mut position = 0;
        for (row, &length) in rows.iter().enumerate() {
            let maps: Vec<Affine> =
                xs[position..position + length].iter().map(|&x| (x | 1, x)).collect();
            let start = (3, row as i64);
            let result = scanned(&maps, form, right, started.then_some(&start), &compose);
            for (column, (a, b)) in result.into_iter().enumerate() {
                let index = if at == "r1" { position + column } else { column };
                expected[0].push(a);
                expected[1].push(b);
                let sum = a.wrapping_add(b).wrapping_sub(row as i64);
                expected[2].push(sum ^ index as i64);
            }
            position += length;
        }
        for (found, expected) in found.iter().zip(expected) {
            let Value::Array(found) = found else { panic!("an array") };
            assert_eq!(
                found.elements.flatten(),
                Column::I64(expected.into()),
                "{form}{side} {rows:?}"
            );
        }
    }
}

#[test]
fn scans_of_rows() {
    for (count, length) in [(1, 1), (3, 5), (70, 64), (5, 300), (2, 5000), (2, 40_000)] {
        let xs: Vec<i64> = noise(count * length).map(|bits| bits as i64).collect();
        let inner = Box::new(Column::I64(xs.clone().into()));
        let value = array(Column::Dense { len: count, extent: length, inner });
        check_rows("[a0][a1]", "a4: [a0][a1]i64", "r0 r1", &vec![length; count], value, &xs);
    }
    for (count, most) in [(3, 5), (1000, 130), (70, 9000), (3, 100_000)] {
        let mut rows: Vec<usize> = noise(count).map(|bits| bits as usize % (most + 1)).collect();
        rows.extend([0, 1]);
        let total = rows.iter().sum();
        let xs: Vec<i64> = noise(total).map(|bits| bits as i64).collect();
        let value = ragged(&rows, Column::I64(xs.clone().into()));
        let input = "a4: [a0][~a1 a2]i64 where a1: [a3]i64";
        check_rows("[a0][~a1 a2]", input, "r1", &rows, value, &xs);
    }
}

#[test]
fn a_full_scan_of_rows_has_one_more_each() {
    for right in [false, true] {
        let side = if right { " right" } else { "" };
        let text = format!(
            "input a4: [a0][a1]i64
a9: i64 = host
  r0: i64 = read a1
  r1: i64 = add r0 1i64
  yield r1
launch \"scan\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r0 r1
  yield r2
  scan full{side} to [a9] r2 as () to a5: [a0][a9]i64
  by (r4: i64) (r5: i64)
    r6: i64 = add r4 r5
    yield r6
  from (r30)
    yield r30
end
output a5: [a0][a9]i64
"
        );
        for (count, length) in [(4, 0), (3, 5), (100, 64), (3, 30_000)] {
            let xs: Vec<i64> = noise(count * length).map(|bits| bits as i64).collect();
            let inner = Box::new(Column::I64(xs.clone().into()));
            let value = array(Column::Dense { len: count, extent: length, inner });
            let found = values(&text, &[value]);
            let mut expected = Vec::new();
            for row in 0..count {
                let xs = &xs[row * length..][..length];
                let start = row as i64;
                let add: &dyn Fn(&i64, &i64) -> i64 = &|a, b| a.wrapping_add(*b);
                expected.extend(scanned(xs, "full", right, Some(&start), add));
            }
            let Value::Array(found) = &found[0] else { panic!("an array") };
            assert!(found.elements.flatten().same_bits(&Column::I64(expected.clone().into())));
            assert!(!i64s(expected).same_bits(&i64s(Vec::new())));
        }
    }
}

#[test]
fn scans_of_short_rows_follow_the_tree() {
    // What stands in an array, and what is computed; without start, with one for all rows, with one for each.
    for (value, computed) in [("r2", false), ("r3", true)] {
        for start in ["", "0.25f64", "r31"] {
            let from = match start {
                "" => String::new(),
                _ => format!("  from (r30)\n    r31: f64 = cast_f64 r30\n    yield {start}\n"),
            };
            let from = if start == "r31" {
                from
            } else {
                from.replace("    r31: f64 = cast_f64 r30\n", "")
            };
            let text = format!(
                "input a1: [a2][a3]f64
launch \"scan\" [a2][a3] (r0 r1)
  r2: f64 = read a1 r0 r1
  r3: f64 = mul r2 r2
  yield {value}
  scan inclusive {value} as (r20: f64) to a4: [a2][a3]f64
  by (r4: f64) (r5: f64)
    r6: f64 = add r4 r5
    yield r6
{from}end
output a4: [a2][a3]f64
"
            );
            for length in (1..=9).chain([20, 63, 64, 65]) {
                for count in [1, 3, 70_000 / length] {
                    let xs: Vec<f64> = noise(count * length)
                        .map(|bits| (bits % 1009) as f64 / 7.0 - 60.0)
                        .collect();
                    let mut expected = Vec::new();
                    for (number, row) in xs.chunks(length).enumerate() {
                        let of = |x: &f64| if computed { x * x } else { *x };
                        let row: Vec<f64> = row.iter().map(of).collect();
                        let start = match start {
                            "" => None,
                            "r31" => Some(number as f64),
                            _ => Some(0.25),
                        };
                        let add: &dyn Fn(&f64, &f64) -> f64 = &|a, b| a + b;
                        expected.extend(scanned(&row, "inclusive", false, start.as_ref(), add));
                    }
                    let rows = |elements: Vec<f64>| {
                        let inner = Box::new(Column::F64(elements.into()));
                        array(Column::Dense { len: count, extent: length, inner })
                    };
                    let found = values(&text, &[rows(xs.clone())]);
                    assert!(
                        found[0].same_bits(&rows(expected.clone())),
                        "{count} {length}\n{text}"
                    );
                    // The same in rows that have offsets, of which some are empty.
                    let lengths: Vec<usize> = (0..count).flat_map(|_| [length, 0]).collect();
                    let value = ragged(&lengths, Column::F64(xs.into()));
                    let text = text
                        .replace("a1: [a2][a3]f64", "a1: [a2][~a5 a3]f64 where a5: [a6]i64")
                        .replace("\"scan\" [a2][a3]", "\"scan\" [a2][~a5 a3]")
                        .replace("read a1 r0 r1", "read a1 r1")
                        .replace(
                            "r31: f64 = cast_f64 r30",
                            "r32: i64 = floor_div r30 2i64\n    r31: f64 = cast_f64 r32",
                        )
                        .replace("to a4: [a2][a3]f64", "to a4: [a3]f64")
                        .replace("output a4: [a2][a3]f64", "output a4: [a2][~a5 a3]f64");
                    let found = values(&text, &[value]);
                    let Value::Array(found) = &found[0] else { panic!("an array") };
                    let expected = Column::F64(expected.into());
                    assert!(
                        found.elements.flatten().same_bits(&expected),
                        "{count} {length}\n{text}"
                    );
                }
            }
        }
    }
}
