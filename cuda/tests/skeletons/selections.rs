//! Filters and sorts.

use weft_ir::{Column, FaultKind, Scalar, ScalarType, Stop, Value, math};

use crate::{
    Compiled, array, column, dense, emulated, f64s, i64s, lengths, noise, ragged, schedule_of,
};

#[test]
fn a_filter_keeps_the_order() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
launch \"filter\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = bit_and r1 5i64
  r3: bool = eq r2 0i64
  r4: i64 = add r1 r0
  yield r3 r4 r1
  filter r3 to a2: i64
  keep r4 to a3: [a2]i64
  store r1 to a5: [a0]i64
then (r5)
  r6: i64 = mul r1 r5
  yield r6
  store r6 to a4: [a2]i64
end
output a2: i64
output a3: [a2]i64
output a4: [a2]i64
output a5: [a0]i64
"
        .replace("then (r5)\n  r6", "  then (r5)\n    r6")
        .replace("\n  yield r6\n  store r6", "\n    yield r6\n    store r6")
        .as_str(),
    );
    for length in lengths() {
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64 >> 8).collect();
        let kept: Vec<(i64, i64)> =
            xs.iter().copied().zip(0..).filter(|(x, _)| x & 5 == 0).collect();
        let expected = [
            Value::Scalar(Scalar::I64(kept.len() as i64)),
            i64s(kept.iter().map(|(x, at)| x.wrapping_add(*at))),
            i64s(kept.iter().zip(0..).map(|((x, _), at)| x.wrapping_mul(at))),
            i64s(xs.iter().copied()),
        ];
        compiled.yields(emulated, &[i64s(xs)], schedule_of(length), &expected);
    }
}

#[test]
fn tiles_of_filters_are_as_long_as_what_they_keep_is_narrow() {
    let Some(emulated) = emulated() else { return };
    for (ty, tile) in [("i32", 12 * 64), ("i64", 8 * 64)] {
        let compiled = Compiled::new(&format!(
            "input a1: [a0]i64
launch \"filter\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = bit_and r1 3i64
  r3: bool = ne r2 0i64
  r4: {ty} = cast_{ty} r1
  yield r3 r4
  filter r3 to a2: i64
  keep r4 to a3: [a2]{ty}
end
output a3: [a2]{ty}
"
        ));
        for length in [1, tile - 1, tile, tile + 1, 2 * tile, 40 * tile + 5] {
            let xs: Vec<i64> = noise(length).map(|bits| (bits >> 40) as i64).collect();
            let kept = xs.iter().copied().filter(|x| x & 3 != 0);
            let expected: Vec<Scalar> = match ty {
                "i32" => kept.map(|x| Scalar::I32(x as i32)).collect(),
                _ => kept.map(Scalar::I64).collect(),
            };
            let of = if ty == "i32" { ScalarType::I32 } else { ScalarType::I64 };
            let expected = [crate::array(column(of, expected))];
            compiled.yields(emulated, &[i64s(xs)], schedule_of(length), &expected);
        }
    }
}

#[test]
fn a_filter_of_rows_yields_rows() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"filter\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  r3: bool = lt r2 0i64
  yield r3 r2
  filter r3 to a5: [a3]i64, a6: i64
  keep r2 to a7: [a6]i64
  then (r4 r5)
    r6: i64 = mul r4 1000i64
    r7: i64 = add r6 r5
    yield r7
    store r7 to a8: [a6]i64
end
output a7: [a0][~a5 a6]i64
output a8: [a0][~a5 a6]i64
",
    );
    let shapes: [&[usize]; 4] = [&[0, 1], &[0, 5, 0, 3, 300, 0], &[64, 0, 2000, 1, 7, 0], &[1, 0]];
    for (number, rows) in shapes.into_iter().enumerate() {
        let xs: Vec<i64> = noise(rows.iter().sum()).map(|bits| bits as i64).collect();
        let (mut kept, mut lengths, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        let mut start = 0;
        for (row, length) in rows.iter().enumerate() {
            let row_kept: Vec<i64> =
                xs[start..start + length].iter().copied().filter(|x| *x < 0).collect();
            lengths.push(row_kept.len());
            for x in row_kept {
                numbers.push(Scalar::I64(row as i64 * 1000 + kept.len() as i64));
                kept.push(Scalar::I64(x));
            }
            start += length;
        }
        let all = column(ScalarType::I64, xs.into_iter().map(Scalar::I64));
        let rows_of = |scalars: Vec<Scalar>| ragged(&lengths, column(ScalarType::I64, scalars));
        let expected = [rows_of(kept), rows_of(numbers)];
        compiled.yields(emulated, &[ragged(rows, all)], number as u64, &expected);
    }
}

/// The order of a vector by keys, stable.
fn sorted(keys: &[f64], descending: bool) -> Vec<i64> {
    let mut order: Vec<i64> = (0..keys.len() as i64).collect();
    order.sort_by(|a, b| {
        let order = math::total_cmp_f64(keys[*a as usize], keys[*b as usize]);
        if descending { order.reverse() } else { order }
    });
    order
}

#[test]
fn a_sort_of_floats_is_total_and_stable() {
    let Some(emulated) = emulated() else { return };
    for descending in [false, true] {
        let side = if descending { " descending" } else { "" };
        let compiled = Compiled::new(&format!(
            "input a1: [a0]f64
launch \"sort\" [a0] (r0)
  r1: f64 = read a1 r0
  yield r1
  sort{side} r1 to a2: [a0]i64
end
output a2: [a0]i64
"
        ));
        for length in [0, 1, 2, 31, 33, 64, 255, 256, 257, 1000] {
            let special = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY];
            let key = |bits: u64| match bits % 11 {
                at @ 0..=4 => special[at as usize],
                _ => (bits % 37) as f64 - 18.0,
            };
            let keys: Vec<f64> = noise(length).map(key).collect();
            let expected = [i64s(sorted(&keys, descending))];
            compiled.yields(emulated, &[f64s(keys)], schedule_of(length), &expected);
        }
    }
}

/// Keys that are brought into their own order.
fn keys_in_order(ty: ScalarType, descending: bool) -> String {
    let side = if descending { " descending" } else { "" };
    format!(
        "input a1: [a0]{ty}
launch \"sort\" [a0] (r0)
  r1: {ty} = read a1 r0
  yield r1
  sort{side} r1 to a2: [a0]i64
end
launch \"values\" [a0] (r0)
  r1: i64 = read a2 r0
  r2: {ty} = read a1 r1
  yield r2
  store r2 to a3: [a0]{ty}
end
free a2
output a3: [a0]{ty}
"
    )
}

#[test]
fn keys_are_sorted_alone_where_nobody_reads_the_order() {
    use ScalarType::{F32, F64, I32, I64, U8, U32, U64};
    let Some(emulated) = emulated() else { return };
    let as_key = |ty: ScalarType, bits: u64| {
        let special = [f64::NAN, -0.0, 0.0, f64::INFINITY, f64::NEG_INFINITY];
        let float = special.get(bits as usize % 9).copied().unwrap_or((bits >> 40) as f64 - 8e6);
        match ty {
            I32 => Scalar::I32(bits as i32),
            U32 => Scalar::U32(bits as u32),
            I64 => Scalar::I64((bits as i64) >> (bits % 60)),
            U64 => Scalar::U64(bits),
            F32 => Scalar::F32(float as f32),
            F64 => Scalar::F64(float),
            U8 => Scalar::U8(bits as u8),
            other => panic!("{other:?} is not among those below"),
        }
    };
    let types = [I32, U32, I64, U64, F32, F64, U8];
    for (ty, descending) in types.into_iter().flat_map(|ty| [(ty, false), (ty, true)]) {
        let compiled = Compiled::new(&keys_in_order(ty, descending));
        // A key of fewer bits than numbers have is brought into its order by a launch.
        let launches = if ty == U8 { 2 } else { 1 };
        for length in [0, 1, 2, 64, 257, 1000] {
            let mut keys: Vec<Scalar> = noise(length).map(|bits| as_key(ty, bits)).collect();
            let input = array(column(ty, keys.iter().copied()));
            assert_eq!(compiled.launched(emulated, std::slice::from_ref(&input)).len(), launches);
            keys.sort_by(|a, b| {
                let order = math::total_cmp(*a, *b);
                if descending { order.reverse() } else { order }
            });
            let expected = [array(column(ty, keys))];
            compiled.yields(emulated, &[input], schedule_of(length), &expected);
        }
        // No digit differs.
        let same = array(column(ty, vec![as_key(ty, 5); 100]));
        let same = std::slice::from_ref(&same);
        compiled.yields(emulated, same, 3, same);
    }
}

#[test]
fn a_sort_of_rows_by_two_keys() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a4: [a0][a1]i64
launch \"sort\" [a0][a1] (r0 r1)
  r2: i64 = read a4 r0 r1
  r3: i64 = mod r2 3i64
  r4: i16 = cast_i16 r2
  yield r3 r4
  sort r3 r4 to a5: [a0][a1]i64
end
output a5: [a0][a1]i64
",
    );
    for (rows, extent) in [(0, 3), (3, 0), (1, 50), (5, 33), (300, 3)] {
        let xs: Vec<i64> = noise(rows * extent).map(|bits| (bits % 100) as i64 - 50).collect();
        let mut expected = Vec::new();
        for row in 0..rows {
            let row = &xs[row * extent..(row + 1) * extent];
            let mut order: Vec<usize> = (0..extent).collect();
            order.sort_by_key(|at| (row[*at].rem_euclid(3), row[*at] as i16));
            expected.extend(order.into_iter().map(|at| Scalar::I64(at as i64)));
        }
        let of = |scalars: Vec<Scalar>| -> Column { column(ScalarType::I64, scalars) };
        let input = dense(rows, extent, of(xs.into_iter().map(Scalar::I64).collect()));
        let expected = [dense(rows, extent, of(expected))];
        compiled.yields(emulated, &[input], schedule_of(rows), &expected);
    }
}

#[test]
fn a_key_that_fails_is_a_fault() {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(
        "input a1: [a0]i64
launch \"sort\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = floor_div 1i64 r1
  yield r2
  sort r2 to a2: [a0]i64
end
output a2: [a0]i64
",
    );
    match compiled.try_run(emulated, &[i64s([3, 0, 1])], 2) {
        Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::DivisionByZero),
        other => panic!("{other:?}"),
    }
}
