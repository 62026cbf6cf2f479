//! Filters, scatters and sorts.

use weft_ir::math::{total_cmp_f32, total_cmp_f64};
use weft_ir::{Column, Scalar, Value};

use crate::{array, f64s, i64s, lengths, noise, ragged, tree, values};

#[test]
fn a_filter_keeps_the_order() {
    let text = "input a1: [a0]i64
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
";
    for length in lengths() {
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64 >> 8).collect();
        let found = values(text, &[i64s(xs.clone())]);
        let kept: Vec<(i64, i64)> =
            (0..length).map(|at| (xs[at], at as i64)).filter(|(x, _)| x & 5 == 0).collect();
        let count = Value::Scalar(Scalar::I64(kept.len() as i64));
        let sums = kept.iter().map(|(x, at)| x.wrapping_add(*at)).collect();
        let products = kept.iter().zip(0..).map(|((x, _), at)| x.wrapping_mul(at)).collect();
        assert!(found[0].same_bits(&count), "{length}");
        assert!(found[1].same_bits(&i64s(sums)), "{length}");
        assert!(found[2].same_bits(&i64s(products)), "{length}");
    }
}

#[test]
fn a_filter_of_rows_yields_rows() {
    let text = "input a4: [a0][~a1 a2]i64 where a1: [a3]i64
launch \"filter\" [a0][~a1 a2] (r0 r1)
  r2: i64 = read a4 r1
  r3: bool = lt r2 0i64
  yield r3 r2
  filter r3 to a5: [a3]i64, a6: i64
  keep r2 to a7: [a6]i64
end
output a7: [a0][~a5 a6]i64
";
    for (count, most) in [(3, 5), (1000, 130), (70, 9000), (3, 100_000)] {
        let mut rows: Vec<usize> = noise(count).map(|bits| bits as usize % (most + 1)).collect();
        rows.extend([0, 1]);
        let xs: Vec<i64> = noise(rows.iter().sum()).map(|bits| bits as i64).collect();
        let found = values(text, &[ragged(&rows, Column::I64(xs.clone().into()))]);
        let mut start = 0;
        let (mut kept, mut lengths) = (Vec::new(), Vec::new());
        for length in rows {
            let row: Vec<i64> =
                xs[start..start + length].iter().copied().filter(|x| *x < 0).collect();
            lengths.push(row.len());
            kept.extend(row);
            start += length;
        }
        assert!(found[0].same_bits(&ragged(&lengths, Column::I64(kept.into()))), "{count} {most}");
    }
}

#[test]
fn of_equal_targets_the_last_wins() {
    let text = "input a1: [a0]i64
input a3: [a2]i64
launch \"scatter\" [a2] (r0)
  r1: i64 = read a3 r0
  r2: i64 = read a0
  r3: i64 = mod r1 r2
  r4: i64 = bit_and r1 7i64
  r5: bool = eq r4 0i64
  r6: i64 = select r5 -1i64 r3
  yield r6 r0
  scatter r0 at r6 into a1 to a4: [a0]i64
end
output a4: [a0]i64
output a1: [a0]i64
";
    for length in lengths() {
        let size = length / 3 + 1;
        let old: Vec<i64> = (0..size as i64).map(|at| -at).collect();
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
        let found = values(text, &[i64s(old.clone()), i64s(xs.clone())]);
        let mut expected = old.clone();
        for (at, x) in xs.iter().enumerate().filter(|(_, x)| *x & 7 != 0) {
            expected[x.rem_euclid(size as i64) as usize] = at as i64;
        }
        assert!(found[0].same_bits(&i64s(expected)), "{length}");
        assert!(found[1].same_bits(&i64s(old)), "{length}");
    }
}

/// Adds what is told from 40 bits on to the element that the remainder tells.
const SUMS: &str = "input a1: [a0]f64
input a3: [a2]i64
launch \"scatter\" [a2] (r0)
  r1: i64 = read a3 r0
  r2: i64 = read a0
  r3: i64 = mod r1 r2
  r4: i64 = shr r1 40i64
  r5: f64 = cast_f64 r4
  yield r3 r5
  scatter r5 at r3 into a1 to a4: [a0]f64
  by (r6: f64) (r7: f64)
    r8: f64 = add r6 r7
    yield r8
end
free a1
output a4: [a0]f64
";

fn check_sums(old: &[f64], xs: &[i64]) {
    let found = values(SUMS, &[f64s(old.to_vec()), i64s(xs.to_vec())]);
    let mut sent = vec![Vec::new(); old.len()];
    for x in xs {
        sent[x.rem_euclid(old.len() as i64) as usize].push((x >> 40) as f64);
    }
    let sum =
        |(old, sent): (&f64, &Vec<f64>)| tree(sent, &|a, b| a + b).map_or(*old, |sum| old + sum);
    let expected = old.iter().zip(&sent).map(sum).collect();
    assert!(found[0].same_bits(&f64s(expected)), "{} to {}", xs.len(), old.len());
}

#[test]
fn values_that_meet_are_combined_in_the_tree() {
    for length in lengths() {
        for size in [1, 3, length / 2 + 1] {
            let old: Vec<f64> = (0..size).map(|at| at as f64 / 3.0).collect();
            let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
            check_sums(&old, &xs);
        }
    }
}

#[test]
fn few_values_meet_at_each_place() {
    for length in [0, 1, 9_000, 40_000, 100_000] {
        for size in [32_769, 2 * length + 1, 4 * length + 1, 9 * length + 1] {
            let old: Vec<f64> = (0..size).map(|at| at as f64 / 3.0).collect();
            // Some places have hundreds of values.
            let some = |(at, x): (usize, i64)| if at % 4 == 0 { x & 7 } else { x };
            let xs = noise(length).map(|bits| bits as i64 >> 1).enumerate().map(some);
            check_sums(&old, &xs.collect::<Vec<i64>>());
        }
    }
}

#[test]
fn what_no_common_operator_combines_is_sorted() {
    // In which order they come matters.
    let text =
        SUMS.replace("r8: f64 = add r6 r7", "r9: f64 = mul r6 0.5f64\n    r8: f64 = add r9 r7");
    let halved = |a: &f64, b: &f64| a * 0.5 + b;
    for length in [0, 1, 300, 40_000, 100_000] {
        for size in [1, 50, length / 2 + 1, 3 * length + 1] {
            let old: Vec<f64> = (0..size).map(|at| at as f64 / 3.0).collect();
            let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
            let mut sent = vec![Vec::new(); size];
            for x in &xs {
                sent[x.rem_euclid(size as i64) as usize].push((x >> 40) as f64);
            }
            let fold = |(old, sent): (&f64, &Vec<f64>)| {
                tree(sent, &halved).map_or(*old, |value| halved(old, &value))
            };
            let expected = old.iter().zip(&sent).map(fold).collect();
            let found = values(&text, &[f64s(old.clone()), i64s(xs)]);
            assert!(found[0].same_bits(&f64s(expected)), "{length} to {size}");
        }
    }
}

#[test]
fn extrema_of_floats_are_the_same_in_any_order() {
    for (op, is_max) in [("min", false), ("max", true)] {
        let text = SUMS
            .replace("cast_f64 r4\n", "read a5 r0\n")
            .replace("input a3: [a2]i64\n", "input a3: [a2]i64\ninput a5: [a2]f64\n")
            .replace("add r6 r7", &format!("{op} r6 r7"));
        let special = |bits: u64| match bits % 13 {
            0 => f64::NAN,
            1 => -f64::NAN,
            2 | 3 => -0.0,
            4 | 5 => 0.0,
            6 => f64::INFINITY,
            7 => f64::NEG_INFINITY,
            _ => (bits >> 20) as f64 % 301.0 - 150.0,
        };
        let of = |a: f64, b: f64| match (a.is_nan() || b.is_nan(), is_max) {
            (true, _) => f64::NAN,
            (false, max) if (total_cmp_f64(a, b).is_lt()) == max => b,
            (false, _) => a,
        };
        for length in [1, 100, 5_000, 100_000] {
            for size in [1, 1_000, 30_000, 50_000, length + 1, 5 * length + 1] {
                let old: Vec<f64> = noise(size + 3).skip(3).map(special).collect();
                let at: Vec<i64> = noise(length).map(|bits| bits as i64 >> 1).collect();
                let xs: Vec<f64> = noise(length + 7).skip(7).map(special).collect();
                let mut expected = old.clone();
                for (at, &x) in at.iter().zip(&xs) {
                    let to = &mut expected[at.rem_euclid(size as i64) as usize];
                    *to = of(*to, x);
                }
                let found = values(&text, &[f64s(old), i64s(at), f64s(xs)]);
                assert!(found[0].same_bits(&f64s(expected)), "{op} of {length} to {size}");
            }
        }
    }
}

#[test]
fn values_meet_at_few_places() {
    // Many chunks, which end within blocks of the tree; thirds, whose sums depend on the bracketing.
    let thirds = SUMS
        .replace("cast_f64 r4\n", "cast_f64 r4\n  r9: f64 = div r5 3.0f64\n")
        .replace("yield r3 r5", "yield r3 r9")
        .replace("scatter r5 at", "scatter r9 at");
    for size in [1, 2, 10, 100, 1000, 1024] {
        for length in [40_000, 100_000, 300_000] {
            let old: Vec<f64> = (0..size).map(|at| at as f64 / 7.0).collect();
            let some = |(at, x): (usize, i64)| if at % 5 == 0 { x & !1023 } else { x };
            let xs: Vec<i64> =
                noise(length).map(|bits| bits as i64 >> 1).enumerate().map(some).collect();
            let mut sent = vec![Vec::new(); size];
            for x in &xs {
                sent[x.rem_euclid(size as i64) as usize].push((x >> 40) as f64 / 3.0);
            }
            let sum = |(old, sent): (&f64, &Vec<f64>)| {
                tree(sent, &|a, b| a + b).map_or(*old, |sum| old + sum)
            };
            let expected = old.iter().zip(&sent).map(sum).collect();
            let found = values(&thirds, &[f64s(old.clone()), i64s(xs)]);
            assert!(found[0].same_bits(&f64s(expected)), "{length} to {size}");
        }
    }
}

#[test]
fn values_meet_at_many_places() {
    // A third of them at one place: three levels of the tree.
    let size = 40_000;
    let to_one = |(at, x): (usize, i64)| if at % 3 == 0 { x - x.rem_euclid(size) + 7 } else { x };
    let xs = noise(200_000).map(|bits| bits as i64 >> 1).enumerate().map(to_one);
    let old: Vec<f64> = (0..size).map(|at| at as f64 / 3.0).collect();
    check_sums(&old, &xs.collect::<Vec<i64>>());
}

#[test]
fn sums_counts_and_extrema_are_sent_together() {
    let text = "input a1: [a0]f64
input a3: [a0]i64
input a4: [a0]i64
input a10: [a0]f64
input a6: [a5]i64
launch \"scatter\" [a5] (r0)
  r1: i64 = read a6 r0
  r2: i64 = read a0
  r3: i64 = mod r1 r2
  r4: i64 = shr r1 40i64
  r5: f64 = cast_f64 r4
  yield r3 r5 r4
  scatter r5 1i64 r4 r5 at r3 into a1 a3 a4 a10 to a7: [a0]f64, a8: [a0]i64, a9: [a0]i64, a11: [a0]f64
  by (r6: f64, r7: i64, r8: i64, r15: f64) (r9: f64, r10: i64, r11: i64, r16: f64)
    r12: f64 = add r6 r9
    r13: i64 = add r7 r10
    r14: i64 = max r8 r11
    r17: f64 = min r15 r16
    yield r12 r13 r14 r17
end
output a7: [a0]f64
output a8: [a0]i64
output a9: [a0]i64
output a11: [a0]f64
";
    for length in lengths() {
        for size in [1, 3, length / 2 + 1] {
            let old: Vec<i64> = (0..size as i64).collect();
            let sums: Vec<f64> = old.iter().map(|&old| old as f64 / 3.0).collect();
            let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
            let arguments = [
                f64s(sums.clone()),
                i64s(old.clone()),
                i64s(old.clone()),
                f64s(sums.clone()),
                i64s(xs.clone()),
            ];
            let found = values(text, &arguments);
            let mut sent = vec![Vec::new(); size];
            for x in xs {
                sent[x.rem_euclid(size as i64) as usize].push(x >> 40);
            }
            let sum = |(old, sent): (&f64, &Vec<i64>)| {
                let sent: Vec<f64> = sent.iter().map(|&value| value as f64).collect();
                tree(&sent, &|a, b| a + b).map_or(*old, |sum| old + sum)
            };
            let expected = sums.iter().zip(&sent).map(sum).collect();
            assert!(found[0].same_bits(&f64s(expected)), "{length} {size}");
            let counts = old.iter().zip(&sent).map(|(old, sent)| old + sent.len() as i64);
            assert!(found[1].same_bits(&i64s(counts.collect())), "{length} {size}");
            let greatest = old.iter().zip(&sent);
            let greatest = greatest.map(|(old, sent)| sent.iter().fold(*old, |a, &b| a.max(b)));
            assert!(found[2].same_bits(&i64s(greatest.collect())), "{length} {size}");
            let least = sums.iter().zip(&sent);
            let least = least.map(|(old, sent)| sent.iter().fold(*old, |a, &b| a.min(b as f64)));
            assert!(found[3].same_bits(&f64s(least.collect())), "{length} {size}");
        }
    }
}

#[test]
fn a_histogram() {
    let text = "input a2: [a0]i64
launch \"zeros\" [100] (r0)
  yield
  store 0i64 to a3: [100]i64
end
launch \"histogram\" [a0] (r0)
  r1: i64 = read a2 r0
  r2: i64 = mod r1 100i64
  yield r2
  scatter 1i64 at r2 into a3 to a4: [100]i64
  by (r6: i64) (r7: i64)
    r8: i64 = add r6 r7
    yield r8
end
free a3
output a4: [100]i64
";
    for length in lengths() {
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
        let mut counts = vec![0; 100];
        xs.iter().for_each(|x| counts[x.rem_euclid(100) as usize] += 1);
        assert!(values(text, &[i64s(xs)])[0].same_bits(&i64s(counts)), "{length}");
    }
}

#[test]
fn a_sort_is_stable_and_total() {
    for descending in [false, true] {
        let word = if descending { " descending" } else { "" };
        let text = format!(
            "input a1: [a0]f64
launch \"sort\" [a0] (r0)
  r1: f64 = read a1 r0
  yield r1
  sort{word} r1 to a2: [a0]i64
end
output a2: [a0]i64
"
        );
        for length in lengths() {
            let xs: Vec<f64> = noise(length)
                .map(|bits| match bits % 11 {
                    0 => f64::NAN,
                    1 => -f64::NAN,
                    2 => -0.0,
                    3 => 0.0,
                    4 => f64::INFINITY,
                    _ => (bits >> 20) as f64 % 301.0 - 150.0,
                })
                .collect();
            let mut order: Vec<i64> = (0..length as i64).collect();
            order.sort_by(|&a, &b| {
                let order = total_cmp_f64(xs[a as usize], xs[b as usize]);
                if descending { order.reverse() } else { order }
            });
            assert!(values(&text, &[f64s(xs)])[0].same_bits(&i64s(order)), "{length}{word}");
        }
    }
}

#[test]
fn rows_are_sorted_by_one_key() {
    for descending in [false, true] {
        let word = if descending { " descending" } else { "" };
        let text = format!(
            "input a4: [a0][~a1 a2]f32 where a1: [a3]i64
launch \"sort\" [a0][~a1 a2] (r0 r1)
  r2: f32 = read a4 r1
  yield r2
  sort{word} r2 to a5: [a2]i64
end
output a5: [a0][~a1 a2]i64
"
        );
        for (count, most) in [(3000, 20), (300, 300), (40, 3000), (3, 50_000)] {
            let mut rows: Vec<usize> =
                noise(count).map(|bits| bits as usize % (most + 1)).collect();
            rows.extend([0, 1, most]);
            let xs: Vec<f32> = noise(rows.iter().sum())
                .map(|bits| match bits % 11 {
                    0 => f32::NAN,
                    1 => -0.0,
                    2 => 0.0,
                    _ => (bits >> 20) as f32 % 301.0 - 150.0,
                })
                .collect();
            let mut start = 0;
            let mut order = Vec::new();
            for length in &rows {
                let mut row: Vec<i64> = (start as i64..(start + length) as i64).collect();
                row.sort_by(|&a, &b| {
                    let order = total_cmp_f32(xs[a as usize], xs[b as usize]);
                    if descending { order.reverse() } else { order }
                });
                order.extend(row);
                start += length;
            }
            let found = values(&text, &[ragged(&rows, Column::F32(xs.into()))]);
            let expected = ragged(&rows, Column::I64(order.into()));
            assert!(found[0].same_bits(&expected), "{count} {most}{word}");
        }
        let dense = text.replace("[a0][~a1 a2]", "[a0][a1]").replace("a4 r1", "a4 r0 r1");
        let dense =
            dense.replace("a5: [a2]i64", "a5: [a0][a1]i64").replace(" where a1: [a3]i64", "");
        let inner = Box::new(Column::F32(vec![3.0, 1.0, 1.0, 5.0, 9.0, 7.0].into()));
        let matrix = array(Column::Dense { len: 2, extent: 3, inner });
        let order = if descending { vec![0, 1, 2, 1, 2, 0] } else { vec![1, 2, 0, 0, 2, 1] };
        let inner = Box::new(Column::I64(order.into()));
        let expected = array(Column::Dense { len: 2, extent: 3, inner });
        assert!(values(&dense, &[matrix])[0].same_bits(&expected), "{word}");
    }
}

#[test]
fn rows_are_sorted_by_several_keys() {
    let text = "input a4: [a0][~a1 a2]f32 where a1: [a3]i64
launch \"sort\" [a0][~a1 a2] (r0 r1)
  r2: f32 = read a4 r1
  r3: bool = lt r2 0.0f32
  r4: i8 = cast_i8 r2
  yield r3 r4 r2
  sort r3 r4 r2 to a5: [a2]i64
end
output a5: [a0][~a1 a2]i64
";
    for (count, most) in [(3, 5), (1000, 130), (70, 3000), (3, 50_000)] {
        let mut rows: Vec<usize> = noise(count).map(|bits| bits as usize % (most + 1)).collect();
        rows.extend([0, 1]);
        let xs: Vec<f32> =
            noise(rows.iter().sum()).map(|bits| (bits % 4001) as f32 / 8.0 - 250.0).collect();
        let found = values(text, &[ragged(&rows, Column::F32(xs.clone().into()))]);
        let mut start = 0;
        let mut order = Vec::new();
        for length in &rows {
            let mut row: Vec<i64> = (start as i64..(start + length) as i64).collect();
            row.sort_by(|&a, &b| {
                let (a, b) = (xs[a as usize], xs[b as usize]);
                (a < 0.0).cmp(&(b < 0.0)).then((a as i8).cmp(&(b as i8))).then(total_cmp_f32(a, b))
            });
            order.extend(row);
            start += length;
        }
        assert!(found[0].same_bits(&ragged(&rows, Column::I64(order.into()))), "{count} {most}");
    }
    let dense = text.replace("[a0][~a1 a2]", "[a0][a1]").replace("read a4 r1", "read a4 r0 r1");
    let dense = dense.replace("a5: [a2]i64", "a5: [a0][a1]i64").replace(" where a1: [a3]i64", "");
    let inner = Box::new(Column::F32(vec![3.0, 1.0, 2.0, 5.0, 9.0, 7.0].into()));
    let matrix = array(Column::Dense { len: 2, extent: 3, inner });
    let inner = Box::new(Column::I64(vec![1, 2, 0, 0, 2, 1].into()));
    let expected = array(Column::Dense { len: 2, extent: 3, inner });
    assert!(values(&dense, &[matrix])[0].same_bits(&expected));
}
