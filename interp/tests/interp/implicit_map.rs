//! Implicit map: lockstep over outer axes.

use crate::source::{check, check_code, check_extents, check_trap};

#[test]
fn operators_on_arrays() {
    check("[1, 2] + [10, 20]", "[11, 22]");
    check("2 * [[1, 2], [3]]", "[[2, 4], [6]]");
    check("[[1, 2], [3]] + [[10, 20], [30]]", "[[11, 22], [33]]");
    check("-[1, 2]", "[-1, -2]");
    check("f64 [[1], [2, 3]]", "[[1.0], [2.0, 3.0]]");
    check("[1, 2] == [1, 3]", "[true, false]");
    check("[(1, 2), (3, 4)] == [(1, 2), (3, 5)]", "[true, false]");
    check("not [true, false]", "[false, true]");
    check("clip 0 5 [-3, 3, 9]", "[0, 3, 5]");
    check("fma 2.0 [1.0, 2.0] 1.0", "[3.0, 5.0]");
    check("[1, 2] |> (* 2)", "[2, 4]");
    check("min [(1, 2), (3, 4)] [(1, 1), (4, 0)]", "[(1, 1), (3, 4)]");
}

#[test]
fn functions_of_rows() {
    check("sum [[1, 2], [3]]", "[3, 3]");
    check("dot [[1, 2], [3, 4]] [10, 1]", "[12, 34]");
    check("sum [[[1], [2, 3]], [[4]]]", "[[1, 5], [4]]");
    check("def norm v = sum (v * v)\nnorm [[1, 2], [3]]", "[5, 9]");
    check("def f x y = 10 * x + y\nf [1, 2] 3", "[13, 23]");
    check("def f x y = 10 * x + y\nf [[1], [2]] [[3], [4]]", "[[13], [24]]");
    check("let f = \\x -> x + 1 in f 1", "2");
    check("def softmax xs = let e = xs - maximum xs in e\nsoftmax [[1, 3], [5]]", "[[-2, 0], [0]]");
}

#[test]
fn shapes_are_kept() {
    check_extents("fill (0, 3) 1 + 1", &[Some(0), Some(3)]);
    check_extents("f64 (fill (2, 0, 3) 1)", &[Some(2), Some(0), Some(3)]);
    check_extents("fill (2, 3) 1 + fill (2, 3) 1", &[Some(2), Some(3)]);
    check_extents("sum (fill (2, 0) 1)", &[Some(2)]);
    check_extents("[[1, 2], [3]] * 2", &[Some(2), None]);
}

#[test]
fn lengths_that_differ() {
    check_trap("[1, 2] * [1]", "* needs equal lengths, but they are 2 and 1", "[1, 2] * [1]");
    check_code("[[1, 2], [3]] + [[1], [2]]", "E0602");
    check("length ([[1, 2], [3]] + [[1], [2]])", "2");
    check_trap(
        "def f x y = x + y\nf [1] [1, 2]",
        "f needs equal lengths, but they are 1 and 2",
        "f [1] [1, 2]",
    );
    check_trap(
        "{ x + y : x in [1]; y in [1, 2] }",
        "apply-to-each needs equal lengths, but they are 1 and 2",
        "{ x + y : x in [1]; y in [1, 2] }",
    );
    check_code("zipWith3 (\\a b c -> a) [1] [1] [1, 2]", "E0602");
}

#[test]
fn errors_stay_in_their_elements() {
    check("([1, 2] // [0, 1])[1]", "2");
    check("([[1], [2, 3]] // [[0], [1, 3]])[1]", "[2, 1]");
    check("(sum ([[1], [2, 3]] // [[0], [1, 3]]))[1:]", "[3]");
    check("length ([1, 2] + 1 // 0)", "2");
    check("(zip [1, 2] [3, 4] |> (.0))", "[1, 2]");
}
