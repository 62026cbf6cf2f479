//! Matrix products and transposed matrices, and arrays that are sorted without their order.

use weft_ir::math::{total_cmp_f32, total_cmp_f64};
use weft_ir::{Column, FaultKind, Stop, Value};

use crate::{array, counted, noise, tree, try_run, values};

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

/// A product of 60 by 65 by 300 whose factors are read as the code has it: `r20` from the first matrix, `r21` from
/// the second one, both of 400 by 700.
fn product_of_parts(code: &str) -> String {
    format!(
        "input a1: [a10][a11]f32
input a2: [a12][a13]f32
launch \"product\" [60][65][300] (r0 r1 r2)
{code}
  r30: f32 = mul r20 r21
  yield r30
  reduce r30 as (r31: f32) to a3: [60][65]f32
  by (r32: f32) (r33: f32)
    r34: f32 = add r32 r33
    yield r34
  from (r35 r36)
    yield 0.0f32
end
output a3: [60][65]f32
"
    )
}

/// A product of 60 by 65 counts its results, and any other way to it all 60 by 65 by 300 points.
fn assert_product(text: &str, inputs: &[Value]) {
    assert_eq!(counted(text, inputs), 60 * 65, "{text}");
}

#[test]
fn products_of_parts_follow_the_tree() {
    let of = |bits: u64| (bits % 2000) as f32 * 0.37 - 300.0;
    let a: Vec<f32> = noise(400 * 700).map(of).collect();
    let b: Vec<f32> = noise(400 * 700 + 5).skip(5).map(of).collect();
    let whole = |elements: &[f32]| {
        let inner = Box::new(Column::F32(elements.to_vec().into()));
        array(Column::Dense { len: 400, extent: 700, inner })
    };
    type At = fn(usize, usize) -> (usize, usize);
    let check = |code: &str, left: At, right: At| {
        let mut expected = Vec::new();
        for i in 0..60 {
            for j in 0..65 {
                let element = |of: &[f32], (row, column): (usize, usize)| of[row * 700 + column];
                let product = |k| element(&a, left(i, k)) * element(&b, right(j, k));
                let products: Vec<f32> = (0..300).map(product).collect();
                expected.push(0.0 + tree(&products, &|x, y| x + y).expect("there are steps"));
            }
        }
        let inner = Box::new(Column::F32(expected.into()));
        let expected = array(Column::Dense { len: 60, extent: 65, inner });
        let found = values(&product_of_parts(code), &[whole(&a), whole(&b)]);
        assert!(found[0].same_bits(&expected), "{code}");
        assert_product(&product_of_parts(code), &[whole(&a), whole(&b)]);
    };
    // Slices, whose places are inside.
    let code = "  r3: i64 = add 5i64 r0
  r4: bool = ge r3 0i64
  r5: i64 = read a10
  r6: bool = lt r3 r5
  r7: bool = and r4 r6
  check r7 index
  r8: i64 = mul r2 2i64
  r9: i64 = sub r8 -7i64
  r10: i64 = read a11
  r11: bool = gt r10 r9
  check r11 index
  r12: i64 = add r2 100i64
  r13: i64 = read a12
  r14: bool = le r13 r12
  r15: bool = not r14
  check r15 index
  r20: f32 = read a1 r3 r9
  r21: f32 = read a2 r12 r1";
    check(code, |i, k| (i + 5, 2 * k + 7), |j, k| (k + 100, j));
    // The second factor comes first, and both lie along rows.
    let code = "  r3: i64 = add 335i64 r1
  r4: i64 = read a12
  r5: bool = lt r3 r4
  r6: bool = ne r3 r4
  r7: bool = and r5 r6
  r8: bool = eq r3 -1i64
  r9: bool = or r8 r7
  check r9 index
  r21: f32 = read a1 r0 r2
  r20: f32 = read a2 r3 r2";
    check(code, |i, k| (i, k), |j, k| (j + 335, k));
    // From the end on.
    let code = "  r3: i64 = sub 399i64 r2
  r4: bool = ge r3 0i64
  check r4 index
  r20: f32 = read a1 r0 r2
  r21: f32 = read a2 r3 r1";
    check(code, |i, k| (i, k), |j, k| (399 - k, j));
    // Checks that nothing is known about before they run, of one factor, and of both.
    for of_both in ["r0", "add r0 r1"] {
        let code = "  r2a
  r3: i64 = mod r22 11i64
  r4: bool = ge r3 0i64
  check r4 index
  r5: f32 = read a1 r0 r2
  r20: f32 = mul r5 3.0f32
  r21: f32 = read a2 r2 r1";
        let code = match of_both {
            "r0" => code.replace("  r2a\n", "").replace("r22", "r0"),
            sum => code.replace("r2a", &format!("r22: i64 = {sum}")),
        };
        let mut tripled = a.clone();
        tripled.iter_mut().for_each(|x| *x *= 3.0);
        let found = values(&product_of_parts(&code), &[whole(&a), whole(&b)]);
        let plain = "  r20: f32 = read a1 r0 r2\n  r21: f32 = read a2 r2 r1";
        let expected = values(&product_of_parts(plain), &[whole(&tripled), whole(&b)]);
        assert!(found[0].same_bits(&expected[0]), "{of_both}");
        if of_both == "r0" {
            assert_product(&product_of_parts(&code), &[whole(&a), whole(&b)]);
        }
    }
}

#[test]
fn parts_outside_are_no_products() {
    let zeros = || {
        let inner = Box::new(Column::F32(vec![0.0; 400 * 700].into()));
        array(Column::Dense { len: 400, extent: 700, inner })
    };
    // By one, in the last row, and where the factor is computed.
    for (offset, factor) in [(101, "read a2 r3 r1"), (1000, "read a2 r3 r1"), (101, "cast_f32 r3")]
    {
        let code = format!(
            "  r3: i64 = add {offset}i64 r2
  r4: i64 = read a12
  r5: bool = lt r3 r4
  check r5 index
  r20: f32 = read a1 r0 r2
  r21: f32 = {factor}"
        );
        let stop = try_run(&product_of_parts(&code), &[zeros(), zeros()]).expect_err("outside");
        let Stop::Fault(fault) = stop else { panic!("{stop:?}") };
        assert_eq!(fault.kind, FaultKind::IndexOutOfRange, "{offset} {factor}");
    }
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
