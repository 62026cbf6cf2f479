//! Reductions, scans, linear algebra.

use crate::source::{check, check_code, check_extents, check_trap};

#[test]
fn folds() {
    check("fold (+) 10 [1, 2, 3]", "16");
    check("fold (+) 10 (iota 0)", "10");
    check("fold (-) 100 [1]", "99");
    check("fold (\\a b -> a ++ b) \"z\" [\"a\", \"bc\", \"\"]", "\"zabc\"");
    check("fold1 (\\a b -> a ++ b) [\"a\", \"bc\"]", "\"abc\"");
    check("length (fold (\\a b -> a ++ b) [] (map (\\i -> [i]) (iota 5000)))", "5000");
    check(
        "let r = fold (\\a b -> a ++ b) [] (map (\\i -> [i]) (iota 5000)) in all (r == iota 5000)",
        "true",
    );
    check("fold max 0 [3, 9, 2]", "9");
    check("fold1 (\\(a, b) (c, d) -> (a * c, a * d + b)) [(2, 1), (3, 4)]", "(6, 9)");
    check_trap("fold1 (+) (iota 0)", "fold1 of an empty array has no value", "fold1 (+) (iota 0)");
    check("foldSeg (+) 1 [1, 2, 3] [2, 0, 1]", "[4, 1, 4]");
    check_code("foldSeg (+) 0 [1, 2] [1]", "E0607");
    check_code("foldSeg (+) 0 [1, 2] [3, -1]", "E0606");
}

#[test]
fn the_tree_has_blocks_of_64() {
    // One rounding error per addition to 2^53: in a block of 64 all ones are lost, but the blocks
    // after the first sum to 64 each.
    check("sum ([9007199254740992.0] ++ replicate 63 1.0)", "9007199254740992.0");
    check("sum ([9007199254740992.0] ++ replicate 127 1.0)", "9007199254741056.0");
    check("fold1 (-) (f64 (iota 64))", "-2016.0");
    // Blocks (0 - 1 - … - 63) and (64 - 65 - … - 127), then one minus the other.
    check("fold1 (-) (iota 128)", "-2016 - (64 - 63 * 96)");
    check("last (scanl1 (-) (iota 128))", "-2016 - (64 - 63 * 96)");
    check("fold1 (-) (iota 65)", "-2016 - 64");
    check("fold (-) 1 (iota 65)", "1 - (-2016 - 64)");
}

#[test]
fn sums_and_means() {
    check("sum (iota 0)", "0");
    check("sum [1.5, 2.5]", "4.0");
    check("sum [-0.0]", "0.0");
    check("sum [200u8, 100u8]", "44");
    check("product [2, 3]", "6");
    check("product (iota 0)", "1");
    check("mean [1.0, 2.0]", "1.5");
    check("mean [1f32, 2f32]", "1.5");
    check_code("mean (f64 (iota 0))", "E0608");
    check(
        "(all [true, false], any [true, false], all (take 0 [true]), any (take 0 [true]))",
        "(false, true, true, false)",
    );
    check("count [true, false, true]", "2");
    check("dot [1, 2] [3, 4]", "11");
    check("dot (iota 0) (iota 0)", "0");
    check_trap("dot [1] [2, 3]", "dot needs equal lengths, but they are 1 and 2", "dot [1] [2, 3]");
}

#[test]
fn extremes() {
    check("(minimum [3, 1, 2], maximum [3, 1, 2])", "(1, 3)");
    check("minimum [1.0, nan]", "nan");
    check("maximum [nan, 1.0]", "nan");
    check("minimum [0.0, -0.0]", "-0.0");
    check("maximum [-0.0, 0.0]", "0.0");
    check("minimum [(1, 'b'), (1, 'a')]", "(1, 'a')");
    check("maximum \"abc\"", "'c'");
    check_code("minimum (iota 0)", "E0608");
    check_code("maximum (iota 0)", "E0608");
    check("(argmin [3, 1, 1], argmax [1, 3, 3])", "(1, 1)");
    check("(argmin [1.0, nan, 0.0, nan], argmax [1.0, nan, 2.0, nan])", "(1, 1)");
    check("(argmin [0.0, -0.0], argmax [-0.0, 0.0])", "(1, 1)");
    check("argmin [(2, 1), (1, 9), (1, 3)]", "2");
    check_code("argmin (iota 0)", "E0608");
}

#[test]
fn scans() {
    check("scanl (+) 10 [1, 2, 3]", "[10, 11, 13, 16]");
    check("scanl (+) 10 (iota 0)", "[10]");
    check("scanl1 (+) [1, 2, 3]", "[1, 3, 6]");
    check("scanl1 (+) (iota 0)", "[]");
    check("scanl' (+) 10 [1, 2, 3]", "([10, 11, 13], 16)");
    check("scanl' (+) 10 (iota 0)", "([], 10)");
    check("prescanl (+) 10 [1, 2, 3]", "[10, 11, 13]");
    check("postscanl (+) 10 [1, 2, 3]", "[11, 13, 16]");
    check("scanr (+) 10 [1, 2, 3]", "[16, 15, 13, 10]");
    check("scanr1 (+) [1, 2, 3]", "[6, 5, 3]");
    check("scanr' (+) 10 [1, 2, 3]", "([15, 13, 10], 16)");
    check("prescanr (+) 10 [1, 2, 3]", "[15, 13, 10]");
    check("postscanr (+) 10 [1, 2, 3]", "[16, 15, 13]");
    check("scan (+) 0 [[1, 2], [3]]", "[[1, 3], [3]]");
    check("exscan (+) 0 [1, 2]", "[0, 1]");
    check("scanl (\\a b -> a ++ b) \"z\" [\"a\", \"b\"]", "[\"z\", \"za\", \"zab\"]");
    check("scanr (\\a b -> a ++ b) \"z\" [\"a\", \"b\"]", "[\"abz\", \"bz\", \"z\"]");
    check("scanr1 (\\a b -> a ++ b) [\"a\", \"b\", \"c\"]", "[\"abc\", \"bc\", \"c\"]");
    check(
        "let n = 10000 in all (scan (+) 5 (iota n) == { 5 + i * (i + 1) // 2 : i in iota n })",
        "true",
    );
    check(
        "let s = scanl1 (\\a b -> a ++ b) (map (\\i -> [i]) (iota 200)) in all { length r == i + 1 && last r == i : r in s; i in iota 200 }",
        "true",
    );
    check("take 2 (scan (+) 0 (6 // [3, 2, 0]))", "[2, 5]");
    check(
        "let r = scanr (\\a b -> a ++ b) [] (map (\\i -> [i]) (iota 200)) in r[0] == iota 200",
        "replicate 200 true",
    );
}

#[test]
fn products_of_matrices() {
    check("matmul [[1, 2], [3, 4]] [[5], [6]]", "[[17], [39]]");
    check("matmul [[1.0]] [[2.0]]", "[[2.0]]");
    check("matmul (fill (2, 0) 1) (fill (0, 3) 1)", "[[0, 0, 0], [0, 0, 0]]");
    check_extents("matmul (fill (0, 2) 1) (fill (2, 3) 1)", &[Some(0), Some(3)]);
    check_trap(
        "matmul [[1, 2]] [[1, 2]]",
        "matmul needs equal lengths, but they are 2 and 1",
        "matmul [[1, 2]] [[1, 2]]",
    );
    check_code("matmul [[1, 2], [3]] [[1], [2]]", "E0609");
    check_code("matmul [[1, 2]] [[1], [2, 3]]", "E0609");
    check("(matmul [[1, 2], [3, 4]] [[1, 1], [1 // 0, 1]])[0][1]", "3");
    check("outer (*) [1, 2] [3, 4, 5]", "[[3, 4, 5], [6, 8, 10]]");
    check("outer (\\a b -> (a, b)) [1] \"ab\"", "[[(1, 'a'), (1, 'b')]]");
    check_extents("outer (*) (iota 0) (iota 3)", &[Some(0), Some(3)]);
    check("(outer (//) [6] [3, 0])[0][0]", "2");
}
