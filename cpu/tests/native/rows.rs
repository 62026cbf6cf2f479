//! Rows that native functions fold, values and all: the bits are those of the block interpreter.

use weft_cpu::{Native, Tier};
use weft_ir::{Column, FaultKind, Stop, Value};

use crate::{array, check, config, f32s, f64s, matrix, noise, try_run};

/// Of one array: sums, least elements, an exact operator, and one of two components.
const ONE_ROW: &str = "input a1: [a0]f32
input a2: [a0]f64
launch \"folds\" [a0] (r0)
  r1: f32 = read a1 r0
  r2: f64 = read a2 r0
  r3: f32 = exp r1
  r4: f64 = mul r2 r2
  r5: i64 = cast_i64 r2
  yield r1 r3 r4 r5
  reduce r3 as (r6: f32) to a3: f32
  by (r7: f32) (r8: f32)
    r9: f32 = add r7 r8
    yield r9
  if_empty ()
    yield 0.0f32
  reduce r4 as (r10: f64) to a4: f64
  by (r11: f64) (r12: f64)
    r13: f64 = add r11 r12
    yield r13
  from ()
    yield 0.5f64
  reduce r1 as (r14: f32) to a5: f32
  by (r15: f32) (r16: f32)
    r17: f32 = min r15 r16
    yield r17
  if_empty ()
    yield 9.0f32
  reduce r5 as (r18: i64) to a6: i64
  by (r19: i64) (r20: i64)
    r21: i64 = bit_and r19 r20
    yield r21
  if_empty ()
    yield 7i64
  reduce r1 r0 as (r22: f32, r23: i64) to a7: f32, a8: i64
  by (r24: f32, r25: i64) (r26: f32, r27: i64)
    r28: bool = lt r26 r24
    r29: f32 = select r28 r26 r24
    r30: i64 = select r28 r27 r25
    r31: f32 = mul r29 1.0009765625f32
    yield r31 r30
  if_empty ()
    yield 0.0f32 -1i64
end
output a3: f32
output a4: f64
output a5: f32
output a6: i64
output a7: f32
output a8: i64
";

#[test]
fn one_row_of_every_length() {
    let lengths = [
        0, 1, 2, 63, 64, 65, 128, 1000, 1023, 1024, 1025, 1088, 4095, 4096, 4097, 16_384, 16_385,
        70_000, 300_001,
    ];
    let inputs: Vec<Vec<Value>> =
        lengths.iter().map(|&length| vec![f32s(length), f64s(length)]).collect();
    check(ONE_ROW, &inputs);
}

/// The sums of an array as it is, whole or row by row.
fn sums(ty: &str, space: &str, offsets: &str, read: &str, to: &str) -> String {
    format!(
        "input a4: {space}{ty}{offsets}
launch \"sums\" {space} (r0{})
  r2: {ty} = read a4 {read}
  yield r2
  reduce r2 as (r3: {ty}) to a5: {to}{ty}
  by (r4: {ty}) (r5: {ty})
    r6: {ty} = add r4 r5
    yield r6
  if_empty ({})
    yield 0.0{ty}
end
output a5: {to}{ty}
",
        if to.is_empty() { "" } else { " r1" },
        if to.is_empty() { "" } else { "r7" },
    )
}

#[test]
fn an_array_is_summed_where_it_stands() {
    let lengths = [
        1, 63, 64, 65, 66, 127, 128, 129, 511, 512, 513, 575, 577, 960, 961, 1000, 1023, 1024,
        1025, 1500, 2048, 4095, 4096, 4097, 16_385, 70_001,
    ];
    for ty in ["f32", "f64"] {
        let of = |length| if ty == "f32" { f32s(length) } else { f64s(length) };
        let whole: Vec<Vec<Value>> = lengths.iter().map(|&length| vec![of(length)]).collect();
        check(&sums(ty, "[a0]", "", "r0", ""), &whole);
        let rows: Vec<Vec<Value>> =
            lengths.iter().map(|&length| vec![matrix(&of(3 * length), length)]).collect();
        check(&sums(ty, "[a0][a1]", "", "r0 r1", "[a0]"), &rows);
        let mut offsets = vec![0];
        for length in lengths {
            offsets.push(offsets[offsets.len() - 1] + length);
        }
        let Value::Array(all) = of(offsets[lengths.len()]) else { panic!("an array") };
        let inner = Box::new(all.elements.clone());
        let ragged = array(Column::Ragged { offsets: offsets.into(), inner });
        let where_ = " where a1: [a3]i64";
        check(&sums(ty, "[a0][~a1 a2]", where_, "r1", "[a0]"), &[vec![ragged]]);
    }
}

/// Elements of a ragged array: a factor for each row's number, of elements that stand anywhere.
const PRODUCTS: &str = "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
input a5: [a6]f64
launch \"products\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  r3: bool = ge r2 0i64
  r4: i64 = read a6
  r5: bool = lt r2 r4
  r31: bool = and r3 r5
  check r31 index
  r6: f64 = read a5 r2
  r7: f64 = cast_f64 r2
  r8: f64 = mul r6 r7
  r9: f64 = cast_f64 r0
  r10: f64 = mul r8 r9
  yield r10
  reduce r10 as (r20: f64) to a7: [a0]f64
  by (r21: f64) (r22: f64)
    r23: f64 = add r21 r22
    yield r23
  from (r30)
    yield 0.25f64
end
output a7: [a0]f64
";

/// Rows of these lengths, of numbers below a bound.
fn ragged(lengths: &[usize], below: u64) -> Value {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    let numbers = noise(offsets[lengths.len()]).map(|bits| (bits % below) as i64);
    let inner = Box::new(Column::I64(numbers.collect::<Vec<i64>>().into()));
    array(Column::Ragged { offsets: offsets.into(), inner })
}

#[test]
fn ragged_rows_of_every_length() {
    let some = [0, 1, 2, 3, 0, 63, 64, 65, 7, 129, 1000, 1024, 1025, 5000];
    let short: Vec<usize> = noise(20_000).map(|bits| bits as usize % 9).collect();
    let several: Vec<usize> = (60..330).chain([511, 512, 513, 4095, 4096, 4097]).collect();
    let inputs =
        [&some[..], &short, &several, &[70_000, 0, 3], &[0, 0], &[1, 16_384, 16_385, 40_000]]
            .map(|lengths| vec![ragged(lengths, 400), f64s(400)]);
    check(PRODUCTS, &inputs);
}

#[test]
fn an_index_out_of_range_is_a_fault_in_rows_of_any_length() {
    let native = Native::new(config(None));
    for lengths in [&[3, 5][..], &[0, 64], &[200, 3], &[3000], &[50_000, 7]] {
        for (below, good) in [(400, true), (402, false)] {
            let inputs = [ragged(lengths, below), f64s(if good { 400 } else { 1 })];
            let found = try_run(PRODUCTS, &inputs, 2, Some((&native, Tier::Native)));
            match found {
                Ok(_) => assert!(good, "{lengths:?}"),
                Err(Stop::Fault(fault)) => {
                    assert!(!good && fault.kind == FaultKind::IndexOutOfRange, "{lengths:?}");
                }
                Err(other) => panic!("{other:?}"),
            }
        }
    }
}

/// Rows of a space of three dimensions, with the indices of all.
const CUBE: &str = "input a2: [a0][a1]f32
launch \"cube\" [a0][a1][70] (r0 r1 r2)
  r3: f32 = read a2 r0 r1
  r4: i64 = mul r0 100i64
  r5: i64 = add r4 r1
  r6: i64 = mul r5 r2
  r7: f32 = cast_f32 r6
  r8: f32 = mul r3 r7
  yield r8
  reduce r8 as (r9: f32) to a3: [a0][a1]f32
  by (r10: f32) (r11: f32)
    r12: f32 = add r10 r11
    yield r12
  if_empty (r13 r14)
    yield 0.0f32
end
output a3: [a0][a1]f32
";

#[test]
fn rows_of_rows() {
    let inputs = [(1, 3), (4, 7), (3, 20)]
        .map(|(rows, columns)| vec![matrix(&f32s(rows * columns), columns)]);
    check(CUBE, &inputs);
}

#[test]
fn short_rows_know_where_they_stand_in_every_dimension() {
    let text = |space: &str| {
        let outer = space.rsplit_once('[').expect("an extent").0;
        format!(
            "input a1: [a0]f64
launch \"folds\" {space} (r0 r1 r2 r3)
  r4: i64 = mul r0 1000i64
  r5: i64 = add r4 r1
  r6: i64 = mul r5 1000i64
  r7: i64 = add r6 r2
  r8: f64 = cast_f64 r7
  r9: f64 = read a1 r3
  r10: f64 = mul r8 r9
  yield r10
  reduce r10 as (r11: f64) to a2: {outer}f64
  by (r12: f64) (r13: f64)
    r14: f64 = add r12 r13
    yield r14
  from (r15 r16 r17)
    yield 0.5f64
end
output a2: {outer}f64
"
        )
    };
    for space in ["[11][7][300][3]", "[300][1][70][5]", "[2][3000][2][3]", "[1][1][9000][1]"] {
        check(&text(space), &[vec![f64s(5)]]);
    }
}

/// The places of the least and the greatest element of rows and of columns, by the bits of the lesser.
fn extremes(space: &str, read: &str) -> String {
    format!(
        "input a2: [a0][a1]f32
launch \"extremes\" {space} (r0 r1)
  r2: f32 = read a2 {read}
  yield r2
  reduce r2 r1 as (r3: f32, r4: i64) to _, a3: [a9]i64
  by (r5: f32, r6: i64) (r7: f32, r8: i64)
    r9: f32 = min r5 r7
    r10: i32 = bitcast_i32 r9
    r11: i32 = bitcast_i32 r5
    r12: bool = ne r10 r11
    r13: f32 = select r12 r7 r5
    r14: i64 = select r12 r8 r6
    yield r13 r14
  if_empty (r15)
    yield 0.0f32 -1i64
  reduce r2 r1 as (r23: f32, r24: i64) to _, a4: [a9]i64
  by (r25: f32, r26: i64) (r27: f32, r28: i64)
    r29: f32 = max r27 r25
    r30: i32 = bitcast_i32 r29
    r31: i32 = bitcast_i32 r25
    r32: bool = ne r30 r31
    r33: f32 = select r32 r27 r25
    r34: i64 = select r32 r28 r26
    yield r33 r34
  if_empty (r35)
    yield 0.0f32 -1i64
end
output a3: [a9]i64
output a4: [a9]i64
"
    )
}

#[test]
fn extremes_among_zeros_of_both_signs_and_what_is_no_number() {
    let some = [0.0, -0.0, 1.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -1.0];
    let mut inputs = Vec::new();
    for (rows, columns) in [(1, 3), (300, 2), (200, 5), (80, 90), (3, 2000)] {
        // Rows of few kinds of elements, so that zeros and what is no number come first in some.
        let values = noise(rows * columns).enumerate().map(|(at, bits)| {
            let kinds = 1 + at / columns % some.len();
            some[bits as usize % kinds]
        });
        let elements = array(Column::F32(values.collect::<Vec<f32>>().into()));
        inputs.push(vec![matrix(&elements, columns)]);
    }
    check(&extremes("[a0][a1]", "r0 r1").replace("a9", "a0"), &inputs);
    check(&extremes("[a1][a0]", "r1 r0").replace("a9", "a1"), &inputs);
}

#[test]
fn extremes_heed_nan_and_the_sign_of_zero() {
    for ty in ["f32", "f64"] {
        let text = format!(
            "input a2: [a0][a1]{ty}
launch \"extremes\" [a0][a1] (r0 r1)
  r2: {ty} = read a2 r0 r1
  yield r2
  reduce r2 as (r3: {ty}) to a3: [a0]{ty}
  by (r4: {ty}) (r5: {ty})
    r6: {ty} = min r4 r5
    yield r6
  reduce r2 as (r7: {ty}) to a4: [a0]{ty}
  by (r8: {ty}) (r9: {ty})
    r10: {ty} = max r8 r9
    yield r10
end
output a3: [a0]{ty}
output a4: [a0]{ty}
"
        );
        for extent in [65, 96, 1000, 1024, 1025, 9001] {
            let mut rows: Vec<f64> = Vec::new();
            for (plain, special) in [
                (1.0, f64::NAN),
                (-1.0, -f64::NAN),
                (1.0, 0.0),
                (1.0, -0.0),
                (-1.0, 0.0),
                (-1.0, -0.0),
                (0.0, -0.0),
                (-0.0, 0.0),
                (f64::INFINITY, f64::INFINITY),
                (f64::NEG_INFINITY, f64::NEG_INFINITY),
                (f64::INFINITY, f64::NAN),
                (2.0, -3.0),
                (-2.0, 3.0),
            ] {
                for place in [0, 1, extent / 2, extent - 2, extent - 1] {
                    let first = rows.len();
                    rows.resize(first + extent, plain);
                    rows[first + place] = special;
                }
            }
            let elements = match ty {
                "f32" => Column::F32(rows.iter().map(|&at| at as f32).collect::<Vec<_>>().into()),
                _ => Column::F64(rows.into()),
            };
            check(&text, &[vec![matrix(&array(elements), extent)]]);
        }
    }
}
