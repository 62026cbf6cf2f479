//! Neighbours of points, whose indices are clamped or checked: the borders and what lies between.

use weft_ir::{Column, FaultKind, Stop, Value};

use crate::{array, noise, try_run, values};

fn matrix(rows: usize, columns: usize, elements: Vec<i64>) -> Value {
    let inner = Box::new(Column::I64(elements.into()));
    array(Column::Dense { len: rows, extent: columns, inner })
}

#[test]
fn clamped_neighbours() {
    let text = "input a2: [a0][a1]i64
launch \"map\" [a0][a1] (r0 r1)
  r2: i64 = add r0 -1i64
  r3: i64 = max r2 0i64
  r4: i64 = read a0
  r5: bool = ge r3 0i64
  r6: bool = lt r3 r4
  r7: bool = and r5 r6
  check r7 index
  r8: i64 = read a2 r3 r1
  r9: i64 = read a1
  r10: i64 = sub r9 1i64
  r11: i64 = add r1 2i64
  r12: i64 = min r11 r10
  r13: bool = lt r12 r9
  check r13 index
  r14: i64 = read a2 r0 r12
  r15: i64 = mul r14 3i64
  r16: i64 = add r8 r15
  r17: i64 = mul r3 r12
  r18: i64 = add r16 r17
  yield r18
  store r18 to a3: [a0][a1]i64
end
output a3: [a0][a1]i64
";
    for (rows, columns) in
        [(1, 1), (2, 3), (3, 300), (300, 200), (40, 193), (7, 20_000), (20_000, 2)]
    {
        let xs: Vec<i64> = noise(rows * columns).map(|bits| bits as i64).collect();
        let found = values(text, &[matrix(rows, columns, xs.clone())]);
        let mut expected = Vec::with_capacity(xs.len());
        for row in 0..rows {
            for column in 0..columns {
                let (above, right) = (row.saturating_sub(1), (column + 2).min(columns - 1));
                let sum = xs[above * columns + column]
                    .wrapping_add(xs[row * columns + right].wrapping_mul(3))
                    .wrapping_add((above * right) as i64);
                expected.push(sum);
            }
        }
        assert!(found[0].same_bits(&matrix(rows, columns, expected)), "{rows} {columns}");
    }
}

#[test]
fn a_neighbour_beyond_the_border_is_a_fault() {
    let text = |last: &str| {
        format!(
            "input a1: [a0]i64
launch \"map\" [{last}] (r0)
  r2: i64 = add r0 1i64
  r3: i64 = read a0
  r4: bool = lt r2 r3
  check r4 index
  r5: i64 = read a1 r2
  yield r5
  store r5 to a2: [{last}]i64
end
output a2: [{last}]i64
"
        )
    };
    for length in [100, 100_000] {
        let xs: Vec<i64> = noise(length).map(|bits| bits as i64).collect();
        let inputs = [array(Column::I64(xs.clone().into()))];
        let found = values(&text(&(length - 1).to_string()), &inputs);
        assert!(found[0].same_bits(&array(Column::I64(xs[1..].to_vec().into()))), "{length}");
        match try_run(&text("a0"), &inputs) {
            Err(Stop::Fault(fault)) => assert_eq!(fault.kind, FaultKind::IndexOutOfRange),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn constants_around_an_array() {
    let text = "input a2: [a0][a1]i64
launch \"map\" [a0][a1] (r0 r1)
  r2: i64 = read a0
  r3: i64 = read a1
  r4: i64 = read a2 r0 r1
  r5: bool = gt r4 0i64
  r6: i64 = if r5
    r7: i64 = add r0 -1i64
    r8: bool = ge r7 0i64
    r9: i64 = if r8
      r10: bool = lt r7 r2
      check r10 index
      r11: i64 = read a2 r7 r1
      yield r11
    else
      yield 7i64
    yield r9
  else
    r12: i64 = add r1 2i64
    r13: bool = lt r12 r3
    r14: i64 = if r13
      r15: i64 = read a2 r0 r12
      yield r15
    else
      yield -5i64
    r16: i64 = mul r14 r12
    yield r16
  r17: i64 = add r6 r4
  yield r17
  store r17 to a3: [a0][a1]i64
end
output a3: [a0][a1]i64
";
    for (rows, columns) in [(1, 1), (3, 300), (300, 200), (7, 20_000)] {
        let xs: Vec<i64> = noise(rows * columns).map(|bits| bits as i64).collect();
        let found = values(text, &[matrix(rows, columns, xs.clone())]);
        let mut expected = Vec::with_capacity(xs.len());
        for row in 0..rows {
            for column in 0..columns {
                let own = xs[row * columns + column];
                let other = match (own > 0, row > 0, column + 2 < columns) {
                    (true, true, _) => xs[(row - 1) * columns + column],
                    (true, false, _) => 7,
                    (false, _, true) => {
                        xs[row * columns + column + 2].wrapping_mul(column as i64 + 2)
                    }
                    (false, _, false) => -5_i64.wrapping_mul(column as i64 + 2),
                };
                expected.push(own.wrapping_add(other));
            }
        }
        assert!(found[0].same_bits(&matrix(rows, columns, expected)), "{rows} {columns}");
    }
}
