//! Matrix products and transposed matrices, and arrays that are sorted without their order.

use weft_ir::math::{total_cmp_f32, total_cmp_f64};
use weft_ir::{Column, Value};

use crate::{array, noise, tree, values};

/// The product of `a1`, which is read as `left` has it, and `a2`.
fn product(ty: &str, extents: [usize; 3], left: &str, right: &str) -> String {
    let [rows, columns, steps] = extents;
    let (a, b) = (sides(left, rows, steps), sides(right, columns, steps));
    format!(
        "input a1: {a}{ty}
input a2: {b}{ty}
launch \"product\" [{rows}][{columns}][{steps}] (r0 r1 r2)
  r3: {ty} = read a1 {left}
  r4: {ty} = read a2 {right}
  r5: {ty} = mul r3 r4
  yield r5
  reduce r5 as (r6: {ty}) to a3: [{rows}][{columns}]{ty}
  by (r7: {ty}) (r8: {ty})
    r9: {ty} = add r7 r8
    yield r9
end
output a3: [{rows}][{columns}]{ty}
"
    )
}

fn sides(indices: &str, outer: usize, steps: usize) -> String {
    if indices.starts_with("r2") {
        format!("[{steps}][{outer}]")
    } else {
        format!("[{outer}][{steps}]")
    }
}

fn matrix(indices: &str, outer: usize, steps: usize, elements: &[f32]) -> Value {
    let (len, extent) = if indices.starts_with("r2") { (steps, outer) } else { (outer, steps) };
    let inner = Box::new(Column::F32(elements.to_vec().into()));
    array(Column::Dense { len, extent, inner })
}

#[test]
fn products_follow_the_tree_of_the_interpreter() {
    for [rows, columns, steps] in
        [[32, 32, 32], [1, 700, 64], [77, 13, 65], [6, 129, 200], [300, 65, 4096], [3, 70, 4163]]
    {
        for (left, right) in [("r0 r2", "r2 r1"), ("r0 r2", "r1 r2"), ("r2 r0", "r2 r1")] {
            let of = |bits: u64| (bits % 2000) as f32 * 0.37 - 300.0;
            let a: Vec<f32> = noise(rows * steps).map(of).collect();
            let b: Vec<f32> = noise(columns * steps + 9).skip(9).map(of).collect();
            let at = |indices: &str, extent: usize, outer: usize, step: usize| match indices {
                "r2 r0" | "r2 r1" => step * extent + outer,
                _ => outer * steps + step,
            };
            let text = product("f32", [rows, columns, steps], left, right);
            let inputs = [matrix(left, rows, steps, &a), matrix(right, columns, steps, &b)];
            let found = values(&text, &inputs);
            let mut expected = Vec::with_capacity(rows * columns);
            for row in 0..rows {
                for column in 0..columns {
                    let products: Vec<f32> = (0..steps)
                        .map(|step| {
                            a[at(left, rows, row, step)] * b[at(right, columns, column, step)]
                        })
                        .collect();
                    expected.push(tree(&products, &|x, y| x + y).expect("there are steps"));
                }
            }
            let inner = Box::new(Column::F32(expected.into()));
            let expected = array(Column::Dense { len: rows, extent: columns, inner });
            assert!(found[0].same_bits(&expected), "{rows} {columns} {steps} {left} {right}");
        }
    }
}

#[test]
fn products_begin_with_their_start() {
    let [rows, columns, steps] = [40, 41, 70];
    let text = product("f32", [rows, columns, steps], "r0 r2", "r2 r1")
        .replace("    yield r9\n", "    yield r9\n  from (r10 r11)\n    yield 0.5f32\n");
    let (a, b) = (vec![0.25_f32; rows * steps], vec![3.0; columns * steps]);
    let inputs = [matrix("r0 r2", rows, steps, &a), matrix("r2 r1", columns, steps, &b)];
    let inner = Box::new(Column::F32(vec![0.5 + 0.75 * steps as f32; rows * columns].into()));
    let expected = array(Column::Dense { len: rows, extent: columns, inner });
    assert!(values(&text, &inputs)[0].same_bits(&expected));
}

#[test]
fn a_matrix_is_transposed() {
    for (rows, columns) in [(200, 300), (181, 183), (17, 2000), (2000, 17), (16, 4096), (70_000, 3)]
    {
        let text = format!(
            "input a1: [{columns}][{rows}]i32
launch \"map\" [{rows}][{columns}] (r0 r1)
  r2: i32 = read a1 r1 r0
  yield r2
  store r2 to a2: [{rows}][{columns}]i32
end
output a2: [{rows}][{columns}]i32
"
        );
        let matrix = |len: usize, extent: usize, of: &dyn Fn(usize, usize) -> usize| {
            let elements: Vec<i32> =
                (0..len * extent).map(|at| of(at / extent, at % extent) as i32).collect();
            let inner = Box::new(Column::I32(elements.into()));
            array(Column::Dense { len, extent, inner })
        };
        let found = values(&text, &[matrix(columns, rows, &|row, column| row * rows + column)]);
        let expected = matrix(rows, columns, &|row, column| column * rows + row);
        assert!(found[0].same_bits(&expected), "{rows} {columns}");
    }
}

#[test]
fn an_array_is_sorted_without_its_order() {
    let text = |ty: &str, down: &str| {
        format!(
            "input a1: [a0]{ty}
launch \"sort\" [a0] (r0)
  r1: {ty} = read a1 r0
  yield r1
  sort{down} r1 to a2: [a0]i64
end
launch \"map\" [a0] (r0)
  r1: i64 = read a2 r0
  r2: {ty} = read a1 r1
  yield r2
  store r2 to a3: [a0]{ty}
end
free a2
output a3: [a0]{ty}
"
        )
    };
    for length in [0, 1, 4095, 4096, 70_001, 200_000] {
        for down in ["", " descending"] {
            let order = |ordering: std::cmp::Ordering| match down {
                "" => ordering,
                _ => ordering.reverse(),
            };
            macro_rules! check {
                ($ty:expr, $column:ident, $of:expr, $cmp:expr) => {
                    let mut xs: Vec<_> = noise(length).map($of).collect();
                    let found =
                        values(&text($ty, down), &[array(Column::$column(xs.clone().into()))]);
                    xs.sort_by(|a, b| order($cmp(a, b)));
                    assert!(
                        found[0].same_bits(&array(Column::$column(xs.into()))),
                        "{length} {}",
                        $ty
                    );
                };
            }
            check!("i8", I8, |bits| bits as i8, Ord::cmp);
            check!("u16", U16, |bits| bits as u16, Ord::cmp);
            check!("i32", I32, |bits| bits as i32, Ord::cmp);
            check!("u32", U32, |bits| bits as u32, Ord::cmp);
            check!("i64", I64, |bits| bits as i64, Ord::cmp);
            check!("u64", U64, |bits| bits, Ord::cmp);
            check!("bool", Bool, |bits| bits % 2 == 0, Ord::cmp);
            check!("f32", F32, |bits| f32::from_bits(bits as u32), |a: &f32, b: &f32| {
                total_cmp_f32(*a, *b)
            });
            check!("f64", F64, f64::from_bits, |a: &f64, b: &f64| total_cmp_f64(*a, *b));
        }
    }
}
