//! Batches of matrix products (Note [Batches of products] of the crate).

use weft_ir::{Column, Value};

use crate::{array, counted, noise, tree, values};

/// Which index of the space each index of an array is.
type Places<'a> = &'a [usize];

/// Products over a space of these extents, of factors that are read at these places.
fn text(extents: &[usize], left: Places<'_>, right: Places<'_>, once: bool) -> String {
    let dimensions = |places: Places<'_>| -> String {
        places.iter().map(|&at| format!("[{}]", extents[at])).collect()
    };
    let read =
        |places: Places<'_>| -> String { places.iter().map(|at| format!(" r{at}")).collect() };
    let (indices, all) = ((0..extents.len()).collect::<Vec<usize>>(), extents.len());
    let space = dimensions(&indices);
    let outer = dimensions(&indices[..all - 1]);
    let (a, b, at) = (dimensions(left), dimensions(right), read(&indices));
    let products = if once {
        format!(
            "  yield r20 r21
  reduce r20 r21 as (r23: f32, r24: f32) to a3: {outer}f32, _
  by (r25: f32, r26: f32) (r27: f32, r28: f32)
    r29: f32 = mul r25 r26
    r30: f32 = fma r27 r28 r29
    yield r30 1.0f32
"
        )
    } else {
        format!(
            "  r22: f32 = mul r20 r21
  yield r22
  reduce r22 as (r23: f32) to a3: {outer}f32
  by (r25: f32) (r26: f32)
    r29: f32 = add r25 r26
    yield r29
"
        )
    };
    format!(
        "input a1: {a}f32
input a2: {b}f32
launch \"products\" {space} ({})
  r20: f32 = read a1{}
  r21: f32 = read a2{}
{products}end
output a3: {outer}f32
",
        at.trim_start(),
        read(left),
        read(right),
    )
}

fn nested(extents: &[usize], elements: Vec<f32>) -> Value {
    let mut column = Column::F32(elements.into());
    for at in (1..extents.len()).rev() {
        let len = extents[..at].iter().product();
        column = Column::Dense { len, extent: extents[at], inner: Box::new(column) };
    }
    array(column)
}

/// That the sums are those of the tree, and that as many were counted as there are, where any other way counts all
/// points.
fn check(extents: &[usize], left: Places<'_>, right: Places<'_>) {
    let of = |bits: u64| (bits % 2000) as f32 * 0.37 - 300.0;
    let extents_of = |places: Places<'_>| places.iter().map(|&at| extents[at]).collect::<Vec<_>>();
    let (of_left, of_right) = (extents_of(left), extents_of(right));
    let a: Vec<f32> = noise(of_left.iter().product()).map(of).collect();
    let b: Vec<f32> = noise(of_right.iter().product::<usize>() + 9).skip(9).map(of).collect();
    let inputs = [nested(&of_left, a.clone()), nested(&of_right, b.clone())];
    let (&steps, outer) = extents.split_last().expect("there are steps");
    let sums: usize = outer.iter().product();
    let element = |of: &[f32], places: Places<'_>, point: &[usize]| {
        let place = places.iter().fold(0, |place, &at| place * extents[at] + point[at]);
        of[place]
    };
    let mut once = Vec::with_capacity(sums);
    let mut twice = Vec::with_capacity(sums);
    for sum in 0..sums {
        let mut point = vec![0; extents.len()];
        let mut number = sum;
        for at in (0..outer.len()).rev() {
            point[at] = number % extents[at];
            number /= extents[at];
        }
        let factors: Vec<(f32, f32)> = (0..steps)
            .map(|step| {
                point[outer.len()] = step;
                (element(&a, left, &point), element(&b, right, &point))
            })
            .collect();
        let products: Vec<f32> = factors.iter().map(|(a, b)| a * b).collect();
        twice.push(tree(&products, &|x, y| x + y).expect("there are steps"));
        let pairs = |x: &(f32, f32), y: &(f32, f32)| (y.0.mul_add(y.1, x.0 * x.1), 1.0);
        once.push(tree(&factors, &pairs).expect("there are steps").0);
    }
    for (is_once, expected) in [(false, twice), (true, once)] {
        let text = text(extents, left, right, is_once);
        let found = values(&text, &inputs);
        assert!(found[0].same_bits(&nested(outer, expected)), "{text}");
        assert_eq!(counted(&text, &inputs), sums, "{text}");
    }
}

#[test]
fn batches_follow_the_tree() {
    // Product by product, whichever way its matrices lie.
    for [rows, columns, steps] in
        [[16, 16, 16], [3, 3, 3], [4, 4, 4], [2, 7, 70], [40, 33, 9], [1, 8, 65], [7, 70, 2]]
    {
        for count in [1, 9, 333] {
            let extents = [count, rows, columns, steps];
            if extents.iter().product::<usize>() < 2048 {
                continue;
            }
            check(&extents, &[0, 1, 3], &[0, 3, 2]);
            check(&extents, &[0, 3, 1], &[0, 2, 3]);
            check(&extents, &[3, 0, 1], &[2, 0, 3]);
        }
    }
}

#[test]
fn a_matrix_meets_a_batch() {
    for [rows, columns, steps] in [[16, 16, 16], [3, 3, 3], [5, 9, 66]] {
        let extents = [200, rows, columns, steps];
        check(&extents, &[1, 3], &[0, 3, 2]);
        check(&extents, &[0, 1, 3], &[3, 2]);
        check(&extents, &[0, 1, 3], &[2, 3]);
        check(&extents, &[1, 0, 3], &[2, 3]);
    }
    // All with all, batches of batches, and large products one after the other.
    check(&[20, 30, 4, 5, 6], &[0, 2, 4], &[1, 4, 3]);
    check(&[20, 30, 4, 5, 6], &[0, 1, 2, 4], &[1, 4, 3]);
    check(&[7, 6, 5, 4, 3, 8], &[0, 1, 2, 3, 5], &[2, 5, 4]);
    check(&[3, 700, 40, 20], &[0, 1, 3], &[0, 3, 2]);
    check(&[2, 600, 3, 130], &[0, 1, 3], &[3, 2]);
}

#[test]
fn few_columns_are_products() {
    for columns in [2, 3, 7] {
        check(&[5000, columns, 3], &[0, 2], &[1, 2]);
        check(&[300, columns, 200], &[0, 2], &[2, 1]);
    }
}
