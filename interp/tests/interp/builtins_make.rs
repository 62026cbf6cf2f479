//! Making arrays and looking at them.

use crate::source::{check, check_code, check_extents, check_trap};

#[test]
fn iota_and_ranges() {
    check("iota 0", "[]");
    check("iota 3", "[0, 1, 2]");
    check("2..5", "[2, 3, 4]");
    check("5..2", "[]");
    check("0..10 by 3", "[0, 3, 6, 9]");
    check("5..0 by (-2)", "[5, 3, 1]");
    check("range 0u8 250u8 100u8", "[0, 100, 200]");
    check("range 250u8 255u8 3u8", "[250, 253]");
    check("range (-128i8) 127i8 100i8", "[-128, -28, 72]");
    check(
        "range 0.0 1.0 0.1",
        "[0.0, 0.1, 0.2, 0.1 * 3.0, 0.4, 0.5, 0.1 * 6.0, 0.1 * 7.0, 0.8, 0.9]",
    );
    check("length (range 0.0 1.0 0.1)", "10");
    check("range 1.0 0.0 (-0.25)", "[1.0, 0.75, 0.5, 0.25]");
    check("range 0.0 1.0 2.0", "[0.0]");
    check("range 1.0 1.0 2.0", "[]");
    check("range 0f32 1f32 0.5f32", "[0.0, 0.5]");
    check_trap("range 0 5 0", "range: the step is 0", "range 0 5 0");
    check_code("range 0.0 inf 1.0", "E0610");
    check_code("range 0.0 nan 1.0", "E0610");
    check_code("iota (-1)", "E0606");
}

#[test]
fn linspace() {
    check("linspace 0.0 1.0 0", "[]");
    check("linspace 0.5 1.0 1", "[0.5]");
    check("linspace 0.0 1.0 2", "[0.0, 1.0]");
    check("linspace 1.0 0.0 3", "[1.0, 0.5, 0.0]");
    check("last (linspace 0.0 0.7 8)", "0.7");
    check("linspace (-2.0f32) 1.0f32 4", "[-2.0, -1.0, 0.0, 1.0]");
    check_code("linspace 0.0 1.0 (-1)", "E0606");
}

#[test]
fn copies() {
    check("replicate 3 'a'", "\"aaa\"");
    check("replicate 2 [1, 2]", "[[1, 2], [1, 2]]");
    check("replicate 2 (1, true)", "[(1, true), (1, true)]");
    check_extents("replicate 0 [1, 2]", &[Some(0), Some(2)]);
    check_extents("replicate 3 (replicate 0 [1, 2])", &[Some(3), Some(0), Some(2)]);
    check_code("replicate (-1) 0", "E0606");
    check("fill 3 1", "[1, 1, 1]");
    check("fill (2, 1) 0.5", "[[0.5], [0.5]]");
    check_extents("fill (0, 3) 0", &[Some(0), Some(3)]);
    check_extents("fill (3, 0, 2) 0", &[Some(3), Some(0), Some(2)]);
    check("fill (2, 1) [7]", "[[[7]], [[7]]]");
    check_code("fill (2, -1) 0", "E0606");
    check_code("fill (2 ** 40, 2 ** 40) 0", "E0606");
    check("identity 2", "[[1, 0], [0, 1]]");
    check("(identity 0 : [][]f32)", "[]");
    check("(identity 2 : [][]f32)", "[[1.0, 0.0], [0.0, 1.0]]");
}

#[test]
fn generate() {
    check("generate 3 (\\i -> i * i)", "[0, 1, 4]");
    check("generate (2, 2) (\\(i, j) -> i - j)", "[[0, -1], [1, 0]]");
    check(
        "generate (1, 2, 2) (\\(i, j, k) -> (i, j + k))",
        "[[[(0, 0), (0, 1)], [(0, 1), (0, 2)]]]",
    );
    check("generate 3 (\\i -> iota i)", "[[], [0], [0, 1]]");
    check_extents("generate (0, 3) (\\(i, j) -> 1)", &[Some(0), Some(3)]);
    check("(generate 3 (\\i -> 6 // i))[1:]", "[6, 3]");
    check("(generate (2, 2) (\\(i, j) -> 6 // (i + j)))[1]", "[6, 3]");
}

#[test]
fn random() {
    check("take 3 (random 1 10) == random 1 3", "[true, true, true]");
    check("all (random 7 100 >= 0.0) && all (random 7 100 < 1.0)", "true");
    check("any (random 7 100 != random 8 100)", "true");
    check("(random 7 3 : []f32) < 1.0f32", "[true, true, true]");
    check("let r = randomInt 3 (-2) 3 1000 in (minimum r, maximum r)", "(-2, 2)");
    check("randomInt 3 5 5 0", "[]");
    check_code("randomInt 3 5 5 1", "E0610");
    check_code("random 1 (-1)", "E0606");
}

#[test]
fn looking() {
    check("length [[1], [2, 3]]", "2");
    check("shape [1, 2, 3]", "3");
    check("shape [[1, 2, 3], [4, 5, 6]]", "(2, 3)");
    check("shape [[[1], [2]]]", "(1, 2, 1)");
    check("shape (fill (0, 3) 1)", "(0, 3)");
    check("shape (fill (2, 0, 3) 1)", "(2, 0, 3)");
    check("shape [(1, 2)]", "1");
    check_trap(
        "shape [[1, 2], [3, 4], [5]]",
        "shape needs rows of one length, but row 2 has 1 and row 0 has 2",
        "shape [[1, 2], [3, 4], [5]]",
    );
    check_code("shape [[[1], [2, 3]], [[4], [5, 6]]]", "E0609");
    check_code("shape [[1 // 0, 2], [3]]", "E0609");
    check("size [[1, 2], [3]]", "3");
    check("size [[[1], []], [[2, 3]]]", "3");
    check("size (fill (2, 0, 3) 1)", "0");
    check("lengths [[1, 2], [], [3]]", "[2, 0, 1]");
    check("lengths (fill (2, 3) 0)", "[3, 3]");
    check("(first [1, 2], last [1, 2])", "(1, 2)");
    check("last [[1], [2, 3]]", "[2, 3]");
    check_trap("first (take 0 [1])", "first of an empty array has no value", "first (take 0 [1])");
    check_code("last (take 0 [1])", "E0608");
    check("indices [[1], [2, 3]]", "[0, 1]");
}
