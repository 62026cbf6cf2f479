//! Maps that read the neighbours of a point: at the edges of a space and away from them.

use weft_ir::{Column, Scalar, ScalarType, Value};

use crate::{Compiled, column, dense, emulated, schedule_of};

/// Rows and columns around the number of points that go together.
fn shapes() -> impl Iterator<Item = (usize, usize)> {
    let few = (0..5).flat_map(|rows| (0..14).map(move |columns| (rows, columns)));
    few.chain([(3, 63), (3, 64), (3, 65), (40, 31), (1, 300), (300, 1), (30, 70)])
}

fn matrix(rows: usize, columns: usize, numbers: impl IntoIterator<Item = i64>) -> Value {
    let numbers = numbers.into_iter().map(|number| Scalar::I32(number as i32));
    dense(rows, columns, column(ScalarType::I32, numbers))
}

/// A plan on all shapes; `neighbour` gives an element at any row and column.
fn check(text: &str, neighbour: impl Fn(&dyn Fn(usize, usize) -> i64, [i64; 4]) -> i64) {
    let Some(emulated) = emulated() else { return };
    let compiled = Compiled::new(text);
    assert!(compiled.text.contains("INSIDE = true"), "{}", compiled.text);
    for (rows, columns) in shapes() {
        let numbers: Vec<i64> = (0..(rows * columns) as i64).map(|at| at * at % 1009).collect();
        let element = |row: usize, column: usize| numbers[row * columns + column];
        let at =
            |row: i64, column: i64| neighbour(&element, [row, column, rows as i64, columns as i64]);
        let points =
            (0..rows as i64).flat_map(|row| (0..columns as i64).map(move |column| (row, column)));
        let expected: Vec<i64> = points
            .map(|(row, column)| {
                at(row - 1, column)
                    + at(row + 1, column)
                    + at(row, column - 1)
                    + at(row, column + 1)
            })
            .collect();
        let inputs = [matrix(rows, columns, numbers.iter().copied())];
        let expected = [matrix(rows, columns, expected)];
        compiled.yields(emulated, &inputs, schedule_of(rows + columns), &expected);
    }
}

#[test]
fn edges_that_are_repeated() {
    let text = include_str!("../../gate/plans/stencil.plan").replace("f32", "i32");
    check(&text, |element, [row, column, rows, columns]| {
        element(row.clamp(0, rows - 1) as usize, column.clamp(0, columns - 1) as usize)
    });
}

#[test]
fn edges_that_are_constant() {
    let neighbour = |first: u32, row: i64, column: i64| {
        let [i, j, a, b, c, d, e, f, g, h, k] = std::array::from_fn(|at| first + at as u32);
        format!(
            "  r{i}: i64 = add r0 {row}i64
  r{j}: i64 = add {column}i64 r1
  r{a}: bool = le 0i64 r{i}
  r{b}: i64 = read a0
  r{c}: bool = gt r{b} r{i}
  r{d}: bool = and r{a} r{c}
  r{e}: bool = ge r{j} 0i64
  r{f}: i64 = read a1
  r{g}: bool = lt r{j} r{f}
  r{h}: bool = and r{e} r{g}
  r{k}: bool = and r{d} r{h}
  r{}: i32 = if r{k}
    check r{k} index
    r{}: i32 = read a2 r{i} r{j}
    yield r{}
  else
    yield -7i32
",
            first + 11,
            first + 12,
            first + 12
        )
    };
    let neighbours = [(10, -1, 0), (30, 1, 0), (50, 0, -1), (70, 0, 1)];
    let neighbours: String =
        neighbours.iter().map(|(first, row, column)| neighbour(*first, *row, *column)).collect();
    let text = format!(
        "input a2: [a0][a1]i32
launch \"map\" [a0][a1] (r0 r1)
{neighbours}  r90: i32 = add r21 r41
  r91: i32 = add r90 r61
  r92: i32 = add r91 r81
  yield r92
  store r92 to a7: [a0][a1]i32
end
output a7: [a0][a1]i32
"
    );
    check(&text, |element, [row, column, rows, columns]| {
        let inside = (0..rows).contains(&row) && (0..columns).contains(&column);
        if inside { element(row as usize, column as usize) } else { -7 }
    });
}

#[test]
fn edges_that_meet() {
    let Some(emulated) = emulated() else { return };
    // Along the only dimension, with a constant extent.
    let compiled = Compiled::new(
        "input a1: [50]i32
launch \"map\" [50] (r0)
  r1: i64 = add r0 3i64
  r2: i64 = mod r1 50i64
  r3: i32 = read a1 r2
  r4: i32 = read a1 r0
  r5: i32 = sub r3 r4
  yield r5
  store r5 to a2: [50]i32
end
output a2: [50]i32
",
    );
    assert!(compiled.text.contains("INSIDE = true"), "{}", compiled.text);
    let element = |at: i32| (at * at) % 101;
    let all = |of: &dyn Fn(i32) -> i32| -> Value {
        let all = (0..50).map(|at| Scalar::I32(of(at)));
        crate::array(column(ScalarType::I32, all))
    };
    let expected = [all(&|at| element((at + 3) % 50) - element(at))];
    compiled.yields(emulated, &[all(&element)], 3, &expected);
}

/// A matrix whose columns are the rows of another.
#[test]
fn transposed() {
    let Some(emulated) = emulated() else { return };
    // Beside the transposed array one along the space, and the indices.
    let compiled = Compiled::new(
        "input a4: [a3][a1][a0]i64
input a5: [a3][a0][a1]i64
launch \"map\" [a3][a0][a1] (r0 r1 r2)
  r3: i64 = read a4 r0 r2 r1
  r4: i64 = read a5 r0 r1 r2
  r5: i64 = mul r1 1000i64
  r6: i64 = add r3 r4
  r7: i64 = add r6 r5
  yield r7 r3
  store r7 to a6: [a3][a0][a1]i64
  store r3 to a7: [a3][a0][a1]i64
end
output a6: [a3][a0][a1]i64
output a7: [a3][a0][a1]i64
",
    );
    assert!(compiled.text.contains("map_transposed<"), "{}", compiled.text);
    let cube = |batches: usize, rows: usize, extent: usize, all: Vec<i64>| {
        let all = column(ScalarType::I64, all.into_iter().map(Scalar::I64));
        dense(batches, rows, Column::Dense { len: batches * rows, extent, inner: Box::new(all) })
    };
    for (batches, down, across) in [
        (1, 2, 2),
        (1, 1, 9),
        (2, 31, 33),
        (1, 32, 32),
        (3, 33, 31),
        (1, 70, 3),
        (2, 3, 70),
        (0, 4, 4),
    ] {
        let count = (batches * down * across) as i64;
        let other: Vec<i64> = (0..count).map(|at| at * 7 % 101).collect();
        let (mut sums, mut moved) = (Vec::new(), Vec::new());
        for batch in 0..batches {
            for i in 0..down {
                for j in 0..across {
                    let from = ((batch * across + j) * down + i) as i64;
                    moved.push(from);
                    let own = other[(batch * down + i) * across + j];
                    sums.push(from + own + 1000 * i as i64);
                }
            }
        }
        let inputs =
            [cube(batches, across, down, (0..count).collect()), cube(batches, down, across, other)];
        let expected = [cube(batches, down, across, sums), cube(batches, down, across, moved)];
        compiled.yields(emulated, &inputs, schedule_of(down), &expected);
    }
}
