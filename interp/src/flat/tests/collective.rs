//! Reductions, scans, filters, scatters and sorts.

use weft_ir::{Column, Scalar};

use super::{array, expect, run_with, text};

/// `a·x + b` composed, which is associative and not commutative.
const COMPOSE: &str = "\
by (r0: i64, r1: i64) (r2: i64, r3: i64)
  r4: i64 = mul r0 r2
  r5: i64 = mul r1 r2
  r6: i64 = add r5 r3
  yield r4 r6
";

#[test]
fn reductions_keep_the_order() {
    let program = format!(
        "\
input a1: [a0]i64
a2: i64, a3: i64 = reduce [a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = add r1 1i64
  yield r2 r1
{COMPOSE}from ()
  yield 1i64 5i64
output a2: i64
output a3: i64"
    );
    for length in [0, 1, 2, 63, 64, 65, 128, 4095, 4096, 4097] {
        let elements: Vec<i64> = (0..length).map(|at| at * 7 % 5 - 2).collect();
        let expected = elements.iter().fold((1_i64, 5_i64), |(a, b), x| {
            (a.wrapping_mul(x + 1), b.wrapping_mul(x + 1).wrapping_add(*x))
        });
        let found = run_with(&program, &[array(Column::I64(elements.into()))], 1 << 20);
        let found: Vec<String> = found.expect("no fault").iter().map(text).collect();
        assert_eq!(found, [format!("{}i64", expected.0), format!("{}i64", expected.1)]);
    }
}

#[test]
fn float_sums_have_the_tree_of_the_reference() {
    let program = "\
input a1: [a0]f32
a2: f32 = reduce [a0] (r0)
  r1: f32 = read a1 r0
  yield r1
by (r0: f32) (r1: f32)
  r2: f32 = add r0 r1
  yield r2
if_empty ()
  yield 0.0f32
output a2: f32";
    let elements: Vec<f32> = (0..10_000).map(|at| 1.0 / (at as f32 + 0.3)).collect();
    let mut level = elements.clone();
    while level.len() > 1 {
        let fold = |block: &[f32]| block[1..].iter().fold(block[0], |sum, value| sum + value);
        level = level.chunks(64).map(fold).collect();
    }
    let found = run_with(program, &[array(Column::F32(elements.into()))], 1 << 20);
    assert_eq!(text(&found.expect("no fault")[0]), Scalar::F32(level[0]).to_string());
    expect(program, &["f32[-0.0f32]"], &["-0.0f32"]);
    expect(program, &["f32[]"], &["0.0f32"]);
}

#[test]
fn reductions_of_rows() {
    let sums = |space: &str, outer: &str, read: &str, start: &str| {
        format!(
            "\
a10: {outer}i64 = reduce {space}
  r9: i64 = read {read}
  yield r9
by (r0: i64) (r1: i64)
  r2: i64 = sub r0 r1
  yield r2
{start}output a10: {outer}i64"
        )
    };
    let dense = format!(
        "input a2: [a0][a1]i64\n{}",
        sums("[a0][a1] (r0 r1)", "[a0]", "a2 r0 r1", "from (r0)\n  yield r0\n")
    );
    expect(&dense, &["dense 2 2 i64[5i64 3i64 9i64 1i64]"], &["i64[-2i64 -7i64]"]);
    expect(&dense, &["dense 2 0 i64[]"], &["i64[0i64 1i64]"]);
    expect(&dense, &["dense 0 3 i64[]"], &["i64[]"]);
    let ragged = format!(
        "input a4: [a0][~a2 a3]i64 where a2: [a1]i64\n{}",
        sums("[a0][~a2 a3] (r0 r1)", "[a0]", "a4 r1", "if_empty (r0)\n  yield r0\n")
    );
    expect(&ragged, &["ragged [0 2 2 3] i64[5i64 3i64 9i64]"], &["i64[2i64 1i64 9i64]"]);
    let inner = format!(
        "input a4: [a0][~a2 a3][2]i64 where a2: [a1]i64\n{}",
        sums("[a0][~a2 a3][2] (r0 r1 r2)", "[a3]", "a4 r1 r2", "")
            .replace("output a10: [a3]", "output a10: [a0][~a2 a3]")
    );
    expect(
        &inner,
        &["ragged [0 0 2] dense 2 2 i64[5i64 3i64 9i64 1i64]"],
        &["ragged [0 0 2] i64[2i64 8i64]"],
    );
    let cube = format!(
        "input a3: [a0][a1][a2]i64\n{}",
        sums("[a0][a1][a2] (r0 r1 r2)", "[a0][a1]", "a3 r0 r1 r2", "from (r0 r1)\n  yield 0i64\n")
    );
    expect(
        &cube,
        &["dense 2 1 dense 2 3 i64[1i64 2i64 3i64 4i64 5i64 6i64]"],
        &["dense 2 1 i64[4i64 7i64]"],
    );
}

#[test]
fn scans_of_every_form() {
    let scan = |form: &str, start: &str, result: &str| {
        format!(
            "\
input a1: [a0]char
a2: i64 = map ()
  r0: i64 = read a0
  r1: i64 = add r0 1i64
  yield r1
a3: {result}i64 = scan {form} [a0] (r0)
  r1: char = read a1 r0
  r2: i64 = cast_i64 r1
  r3: i64 = sub r2 48i64
  yield r3
by (r0: i64) (r1: i64)
  r2: i64 = mul r0 10i64
  r3: i64 = add r2 r1
  yield r3
{start}output a3: {result}i64"
        )
    };
    // Not associative, but in one block the tree is the sequence.
    let digits = &["char['1' '2' '3']"];
    let start = "from ()\n  yield 7i64\n";
    expect(&scan("inclusive", "", "[a0]"), digits, &["i64[1i64 12i64 123i64]"]);
    expect(&scan("inclusive", start, "[a0]"), digits, &["i64[71i64 82i64 193i64]"]);
    expect(&scan("exclusive", start, "[a0]"), digits, &["i64[7i64 71i64 82i64]"]);
    expect(&scan("full to [a2]", start, "[a2]"), digits, &["i64[7i64 71i64 82i64 193i64]"]);
    // 3, 2·10 + 3, 1·10 + 23; with the start on the right.
    expect(&scan("inclusive right", "", "[a0]"), digits, &["i64[33i64 23i64 3i64]"]);
    expect(&scan("inclusive right", start, "[a0]"), digits, &["i64[337i64 237i64 37i64]"]);
    expect(&scan("exclusive right", start, "[a0]"), digits, &["i64[237i64 37i64 7i64]"]);
    expect(&scan("full right to [a2]", start, "[a2]"), digits, &["i64[337i64 237i64 37i64 7i64]"]);
    expect(&scan("inclusive", "", "[a0]"), &["char[]"], &["i64[]"]);
    expect(&scan("exclusive", start, "[a0]"), &["char[]"], &["i64[]"]);
    expect(&scan("full to [a2]", start, "[a2]"), &["char[]"], &["i64[7i64]"]);
}

#[test]
fn long_scans_keep_the_order() {
    for (direction, from_right) in [("", false), ("right ", true)] {
        let program = format!(
            "\
input a1: [a0]i64
a2: [a0]i64, a3: [a0]i64 = scan inclusive {direction}[a0] (r0)
  r1: i64 = read a1 r0
  r2: i64 = add r1 1i64
  yield r2 r1
{COMPOSE}output a2: [a0]i64
output a3: [a0]i64"
        );
        for length in [1_i64, 64, 65, 4096, 4097, 5000] {
            let elements: Vec<i64> = (0..length).map(|at| at * 7 % 5 - 1).collect();
            let compose = |(a, b): (i64, i64), (c, d): (i64, i64)| {
                (a.wrapping_mul(c), b.wrapping_mul(c).wrapping_add(d))
            };
            let mut expected: Vec<(i64, i64)> = elements.iter().map(|x| (x + 1, *x)).collect();
            for at in 1..expected.len() {
                if from_right {
                    let at = expected.len() - 1 - at;
                    expected[at] = compose(expected[at], expected[at + 1]);
                } else {
                    expected[at] = compose(expected[at - 1], expected[at]);
                }
            }
            let found = run_with(&program, &[array(Column::I64(elements.into()))], 1 << 24);
            let (first, second): (Vec<i64>, Vec<i64>) = expected.into_iter().unzip();
            let expected = [array(Column::I64(first.into())), array(Column::I64(second.into()))];
            for (found, expected) in found.expect("no fault").iter().zip(&expected) {
                assert!(found.same_bits(expected), "{direction}{length}");
            }
        }
    }
}

#[test]
fn scans_of_rows() {
    let program = "\
input a4: [a0][~a2 a3]i64 where a2: [a1]i64
a5: [a1]i64 = map [a1] (r0)
  r1: i64 = read a2 r0
  r2: i64 = add r1 r0
  yield r2
a6: i64 = map ()
  r0: i64 = read a3
  r1: i64 = read a0
  r2: i64 = add r0 r1
  yield r2
a7: [a6]i64 = scan full to [~a5 a6] [a0][~a2 a3] (r0 r1)
  r2: i64 = read a4 r1
  yield r2
by (r0: i64) (r1: i64)
  r2: i64 = add r0 r1
  yield r2
from (r0)
  r1: i64 = mul r0 100i64
  yield r1
output a7: [a0][~a5 a6]i64";
    expect(
        program,
        &["ragged [0 2 2 3] i64[1i64 2i64 3i64]"],
        &["ragged [0 3 4 6] i64[0i64 1i64 3i64 100i64 200i64 203i64]"],
    );
    let dense = "\
a0: [2][3]i64 = scan inclusive right [2][3] (r0 r1)
  yield r1
by (r0: i64) (r1: i64)
  r2: i64 = add r0 r1
  yield r2
output a0: [2][3]i64";
    expect(dense, &[], &["dense 2 3 i64[3i64 3i64 2i64 3i64 3i64 2i64]"]);
}

#[test]
fn filters_count_and_keep_the_order() {
    let vector = "\
input a1: [a0]i64
a2: i64, a3: [a2]i64, a4: [a2]i64 = filter [a0] (r0)
  r1: i64 = read a1 r0
  r2: bool = gt r1 2i64
  yield r2 r1 r0
output a2: i64
output a3: [a2]i64
output a4: [a2]i64";
    expect(
        vector,
        &["i64[3i64 1i64 4i64 1i64 5i64]"],
        &["3i64", "i64[3i64 4i64 5i64]", "i64[0i64 2i64 4i64]"],
    );
    expect(vector, &["i64[]"], &["0i64", "i64[]", "i64[]"]);
    let rows = "\
input a2: [a0][a1]i64
a3: i64 = map ()
  r0: i64 = read a0
  r1: i64 = add r0 1i64
  yield r1
a4: [a3]i64, a5: i64, a6: [a5]i64 = filter [a0][a1] (r0 r1)
  r2: i64 = read a2 r0 r1
  r3: bool = gt r2 2i64
  yield r3 r2
output a6: [a0][~a4 a5]i64
output a5: i64";
    expect(
        rows,
        &["dense 3 2 i64[3i64 1i64 0i64 1i64 5i64 6i64]"],
        &["ragged [0 1 1 3] i64[3i64 5i64 6i64]", "3i64"],
    );
    expect(rows, &["dense 0 2 i64[]"], &["ragged [0] i64[]", "0i64"]);
    let ragged = "\
input a4: [a0][~a2 a3]i64 where a2: [a1]i64
a5: [a1]i64, a6: i64, a7: [a6]i64 = filter [a0][~a2 a3] (r0 r1)
  r2: i64 = read a4 r1
  r3: bool = gt r2 2i64
  yield r3 r2
output a7: [a0][~a5 a6]i64";
    expect(
        ragged,
        &["ragged [0 2 2 5] i64[3i64 1i64 0i64 5i64 6i64]"],
        &["ragged [0 1 1 3] i64[3i64 5i64 6i64]"],
    );
}

#[test]
fn scatters() {
    let plain = "\
input a1: [a0]i64
input a3: [a2]i64
a4: [a0]i64 = scatter into a1 [a2] (r0)
  r1: i64 = read a3 r0
  yield r1 r0
output a4: [a0]i64
output a1: [a0]i64";
    // The last wins, -1 is dropped, the destination stays.
    expect(
        plain,
        &["i64[9i64 9i64 9i64]", "i64[2i64 0i64 -1i64 2i64]"],
        &["i64[1i64 9i64 3i64]", "i64[9i64 9i64 9i64]"],
    );
    expect(plain, &["i64[]", "i64[]"], &["i64[]", "i64[]"]);
    let combined = "\
input a1: [a0]i64
input a3: [a2]i64
a4: [a0]i64 = scatter into a1 [a2] (r0)
  r1: i64 = read a3 r0
  yield r1 r0
by (r0: i64) (r1: i64)
  r2: i64 = mul r0 10i64
  r3: i64 = add r2 r1
  yield r3
output a4: [a0]i64";
    // The old value on the left of the fold of what is sent.
    expect(
        combined,
        &["i64[7i64 8i64 9i64]", "i64[2i64 0i64 -1i64 2i64 2i64]"],
        &["i64[71i64 8i64 124i64]"],
    );
    let pairs = "\
input a2: [a0][a1]i64
input a3: [a0][a1]bool
a4: [a0][a1]i64, a5: [a0][a1]bool = scatter into a2 a3 [a0] (r0)
  yield r0 r0 5i64 true
output a4: [a0][a1]i64
output a5: [a0][a1]bool";
    expect(
        pairs,
        &["dense 2 2 i64[0i64 0i64 0i64 0i64]", "dense 2 2 bool[false false false false]"],
        &["dense 2 2 i64[5i64 0i64 0i64 5i64]", "dense 2 2 bool[true false false true]"],
    );
}

#[test]
fn sorts_are_stable_and_total() {
    let vector = |descending: &str| {
        format!(
            "\
input a1: [a0]f64
a2: [a0]i64 = sort {descending}[a0] (r0)
  r1: f64 = read a1 r0
  yield r1
output a2: [a0]i64"
        )
    };
    let values = &["f64[nanf64 0.0f64 1.0f64 -0.0f64 1.0f64 -inff64]"];
    expect(&vector(""), values, &["i64[5i64 3i64 1i64 2i64 4i64 0i64]"]);
    expect(&vector("descending "), values, &["i64[0i64 2i64 4i64 1i64 3i64 5i64]"]);
    expect(&vector(""), &["f64[]"], &["i64[]"]);
    let rows = "\
input a4: [a0][~a2 a3]i64 where a2: [a1]i64
a5: [a3]i64 = sort [a0][~a2 a3] (r0 r1)
  r2: i64 = read a4 r1
  r3: bool = gt r2 4i64
  r4: i64 = neg r2
  yield r3 r4
output a5: [a0][~a2 a3]i64";
    // Positions, as the thunk takes them.
    expect(
        rows,
        &["ragged [0 3 3 5] i64[5i64 1i64 3i64 1i64 2i64]"],
        &["ragged [0 3 3 5] i64[2i64 1i64 0i64 4i64 3i64]"],
    );
    let dense = "\
a0: [2][3]i64 = sort descending [2][3] (r0 r1)
  yield r1
output a0: [2][3]i64";
    expect(dense, &[], &["dense 2 3 i64[2i64 1i64 0i64 2i64 1i64 0i64]"]);
}
