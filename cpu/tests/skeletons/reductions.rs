//! Maps and reductions.

use weft_ir::{Column, Scalar, Value};

use crate::{array, f64s, i64s, lengths, noise, ragged, tree, values};

fn floats(length: usize) -> Vec<f64> {
    noise(length).map(|bits| (bits % 2_000_003) as f64 / 1000.0 - 900.0).collect()
}

#[test]
fn a_map_reads_what_stands_at_the_point_and_elsewhere() {
    let text = "input a1: [a0]f64
launch \"map\" [a0] (r0)
  r1: i64 = read a0
  r2: i64 = sub r1 1i64
  r3: i64 = sub r2 r0
  r4: f64 = read a1 r3
  r5: f64 = read a1 r0
  r6: f64 = mul r4 2.0f64
  r7: f64 = add r6 r5
  r8: f64 = exp r7
  yield r8
  store r7 to a2: [a0]f64
  store r8 to a3: [a0]f64
end
output a2: [a0]f64
output a3: [a0]f64
";
    for length in lengths() {
        let xs: Vec<f64> = floats(length).into_iter().map(|x| x / 500.0).collect();
        let found = values(text, &[f64s(xs.clone())]);
        let sums: Vec<f64> = (0..length).map(|i| xs[length - 1 - i] * 2.0 + xs[i]).collect();
        let powers = sums.iter().map(|&x| weft_ir::math::transcendental::exp(x)).collect();
        assert!(found[0].same_bits(&f64s(sums)), "{length}");
        assert!(found[1].same_bits(&f64s(powers)), "{length}");
    }
}

#[test]
fn sums_follow_the_tree_of_the_interpreter() {
    let text = "input a1: [a0]f64
launch \"sum\" [a0] (r0)
  r1: f64 = read a1 r0
  r2: f64 = mul r1 r1
  yield r2
  reduce r2 as (r3: f64) to a2: f64
  by (r4: f64) (r5: f64)
    r6: f64 = add r4 r5
    yield r6
  if_empty ()
    yield 0.0f64
  reduce r1 as (r7: f64) to a3: f64
  by (r8: f64) (r9: f64)
    r10: f64 = max r8 r9
    yield r10
  from ()
    yield 1.5f64
end
output a2: f64
output a3: f64
";
    for length in lengths() {
        let xs = floats(length);
        let found = values(text, &[f64s(xs.clone())]);
        let squares: Vec<f64> = xs.iter().map(|x| x * x).collect();
        let sum = tree(&squares, &|a, b| a + b).unwrap_or(0.0);
        let most = xs.iter().copied().fold(1.5, f64::max);
        assert!(found[0].same_bits(&Value::Scalar(Scalar::F64(sum))), "{length}: {sum} {found:?}");
        assert!(found[1].same_bits(&Value::Scalar(Scalar::F64(most))), "{length}: {most}");
    }
}

/// Affine maps x -> a x + b, composed: associative, not commutative.
const COMPOSE: &str = "  by (r4: i64, r5: i64) (r6: i64, r7: i64)
    r8: i64 = mul r4 r6
    r9: i64 = mul r5 r6
    r10: i64 = add r9 r7
    yield r8 r10
";

#[test]
fn operators_are_applied_in_order() {
    let text = format!(
        "input a1: [a0]i64
launch \"compose\" [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = bit_or r1 1i64
  yield r1 r2
  reduce r2 r1 as (r20: i64, r21: i64) to a2: i64, a3: i64
{COMPOSE}  from ()
    yield 3i64 5i64
end
output a2: i64
output a3: i64
"
    );
    for length in lengths() {
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
        let found = values(&text, &[i64s(xs.clone())]);
        let (mut a, mut b) = (3_i64, 5_i64);
        for x in xs {
            (a, b) = (a.wrapping_mul(x | 1), b.wrapping_mul(x | 1).wrapping_add(x));
        }
        assert_eq!(
            format!("{found:?}"),
            format!("{:?}", [Scalar::I64(a), Scalar::I64(b)].map(Value::Scalar))
        );
    }
}

/// Rows of a matrix: long and short ones, many and few.
#[test]
fn rows_and_columns_of_a_matrix() {
    let text = "input a2: [a0][a1]f64
launch \"rows\" [a0][a1] (r0 r1)
  r2: f64 = read a2 r0 r1
  yield r2
  reduce r2 as (r3: f64) to a3: [a0]f64
  by (r4: f64) (r5: f64)
    r6: f64 = add r4 r5
    yield r6
  if_empty (r7)
    r8: f64 = cast_f64 r7
    yield r8
then (r9)
  r10: f64 = cast_f64 r9
  r11: f64 = add r10 r3
  yield r11
  store r11 to a4: [a0]f64
end
launch \"columns\" [a1][a0] (r0 r1)
  r2: f64 = read a2 r1 r0
  yield r2
  reduce r2 as (r3: f64) to a5: [a1]f64
  by (r4: f64) (r5: f64)
    r6: f64 = add r4 r5
    yield r6
  if_empty (r7)
    yield 7.0f64
end
output a3: [a0]f64
output a4: [a0]f64
output a5: [a1]f64
";
    let extents = [0, 1, 2, 3, 63, 64, 65, 130, 200, 300, 5000];
    for rows in extents {
        for columns in extents {
            if rows * columns > 1_600_000 {
                continue;
            }
            let xs = floats(rows * columns);
            let inner = Box::new(Column::F64(xs.clone().into()));
            let matrix = array(Column::Dense { len: rows, extent: columns, inner });
            let found = values(text, &[matrix]);
            let add: &dyn Fn(&f64, &f64) -> f64 = &|a, b| a + b;
            let sums: Vec<f64> = (0..rows)
                .map(|row| tree(&xs[row * columns..][..columns], add).unwrap_or(row as f64))
                .collect();
            let more = sums.iter().enumerate().map(|(row, sum)| row as f64 + sum).collect();
            let downwards = |column: usize| -> Vec<f64> {
                (0..rows).map(|row| xs[row * columns + column]).collect()
            };
            let downwards =
                (0..columns).map(|column| tree(&downwards(column), add).unwrap_or(7.0)).collect();
            assert!(found[0].same_bits(&f64s(sums)), "{rows} {columns}");
            assert!(found[1].same_bits(&f64s(more)), "{rows} {columns}");
            assert!(found[2].same_bits(&f64s(downwards)), "{rows} {columns}");
        }
    }
}

#[test]
fn rows_of_different_lengths() {
    let text = "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"rows\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  r12: i64 = bit_or r2 r0
  yield r2 r12
  reduce r12 r2 as (r20: i64, r21: i64) to a5: [a0]i64, _
  by (r4: i64, r5: i64) (r6: i64, r7: i64)
    r8: i64 = mul r4 r6
    r9: i64 = mul r5 r6
    r10: i64 = add r9 r7
    yield r8 r10
  if_empty (r11)
    yield r11 9i64
then (r30)
  yield r21
  store r21 to a6: [a0]i64
end
output a5: [a0]i64
output a6: [a0]i64
";
    for (count, most) in [(1, 1), (3, 5), (100, 7), (1000, 130), (70, 9000), (3, 200_000)] {
        let mut lengths: Vec<usize> = noise(count).map(|bits| bits as usize % (most + 1)).collect();
        // Ragged whatever the numbers.
        lengths.extend([0, 1]);
        let total = lengths.iter().sum();
        let xs: Vec<i64> = noise(total).map(|bits| bits as i64).collect();
        let found = values(text, &[ragged(&lengths, Column::I64(xs.clone().into()))]);
        let mut start = 0;
        let (mut firsts, mut seconds) = (Vec::new(), Vec::new());
        for (row, length) in lengths.iter().enumerate() {
            let (mut a, mut b) = (row as i64, 9_i64);
            for (at, x) in xs[start..start + length].iter().enumerate() {
                let factor = x | row as i64;
                (a, b) = match at {
                    0 => (factor, *x),
                    _ => (a.wrapping_mul(factor), b.wrapping_mul(factor).wrapping_add(*x)),
                };
            }
            start += length;
            firsts.push(a);
            seconds.push(b);
        }
        assert!(found[0].same_bits(&i64s(firsts)), "{count} {most}");
        assert!(found[1].same_bits(&i64s(seconds)), "{count} {most}");
    }
}

#[test]
fn extremes_are_found_where_they_are_first() {
    let text = |op: &str, space: &str, read: &str, index: &str| {
        format!(
            "input a4: {space}f64 where
launch \"reduce\" {space} (r0 r1)
  r2: f64 = read a4 {read}
  yield r2 {index}
  reduce r2 {index} as (r3: f64, r4: i64) to a5: [a0]f64, a6: [a0]i64
  by (r5: f64, r6: i64) (r7: f64, r8: i64)
    r9: f64 = {op} r5 r7
    r10: i64 = bitcast_i64 r9
    r11: i64 = bitcast_i64 r5
    r12: bool = ne r10 r11
    r13: f64 = select r12 r7 r5
    r14: i64 = select r12 r8 r6
    yield r13 r14
  if_empty (r15)
    yield 0.5f64 -1i64
end
output a5: [a0]f64
output a6: [a0]i64
"
        )
    };
    for (op, is_max) in [("min", false), ("max", true)] {
        let dense = text(op, "[a0][a1]", "r0 r1", "r1").replace(" where", "");
        let ragged_text =
            text(op, "[a0][~a1 a2]", "r1", "r1").replace(" where", " where a1: [a3]i64");
        let comes_first = |a: f64, b: f64| match (a.is_nan(), b.is_nan()) {
            (true, _) => true,
            (false, true) => false,
            (false, false) => {
                let order = weft_ir::math::total_cmp_f64(a, b);
                if is_max { order.is_ge() } else { order.is_le() }
            }
        };
        // The zero that is the extreme, a number, or the first NaN.
        for nans in [0, 1_000, 40_000] {
            let special = |bits: u64| match bits % 8 {
                _ if nans > 0 && (bits >> 9).is_multiple_of(nans) => -f64::NAN,
                0..4 => 0.0,
                4..6 => -0.0,
                _ => f64::from((bits >> 20) as i32 % 100) * if nans == 0 { 0.0 } else { 1.0 },
            };
            for (count, length) in [(3, 100_001), (1, 300_000), (700, 200), (3000, 7), (4, 1)] {
                let xs: Vec<f64> = noise(count * length).map(special).collect();
                let lengths: Vec<usize> =
                    (0..count).map(|row| if row % 3 == 1 { 0 } else { length }).collect();
                let expect = |lengths: &[usize], from_start: bool| {
                    let (mut start, mut best, mut places) = (0, Vec::new(), Vec::new());
                    for &length in lengths {
                        let row = &xs[start..start + length];
                        let at = (0..length)
                            .reduce(|a, b| if comes_first(row[a], row[b]) { a } else { b });
                        best.push(at.map_or(0.5, |at| row[at]));
                        let first = if from_start { 0 } else { start };
                        places.push(at.map_or(-1, |at| (first + at) as i64));
                        start += length;
                    }
                    [f64s(best), i64s(places)]
                };
                let inner = Box::new(Column::F64(xs.clone().into()));
                let matrix = array(Column::Dense { len: count, extent: length, inner });
                let found = values(&dense, &[matrix]);
                let expected = expect(&vec![length; count], true);
                let same = |found: &[Value], expected: &[Value]| {
                    found.iter().zip(expected).all(|(found, expected)| found.same_bits(expected))
                };
                assert!(same(&found, &expected), "{op} {count} {length} {nans}");
                let total = lengths.iter().sum();
                let rows = ragged(&lengths, Column::F64(xs[..total].to_vec().into()));
                let found = values(&ragged_text, &[rows]);
                let expected = expect(&lengths, false);
                assert!(same(&found, &expected), "{op} {count} {length} {nans}, ragged");
            }
        }
    }
}
