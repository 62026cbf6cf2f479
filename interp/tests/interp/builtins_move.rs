//! Re-indexing, nesting, sending and selecting.

use crate::source::{check, check_code, check_extents, check_trap};

#[test]
fn reshape_and_flatten() {
    check("reshape (2, 2) [1, 2, 3, 4]", "[[1, 2], [3, 4]]");
    check("reshape 4 [[1, 2], [3, 4]]", "[1, 2, 3, 4]");
    check("reshape (1, 2, 2) [[1, 2], [3, 4]]", "[[[1, 2], [3, 4]]]");
    check("reshape (2, 1) [(1, 'a'), (2, 'b')]", "[[(1, 'a')], [(2, 'b')]]");
    check_extents("reshape (0, 3) (iota 0)", &[Some(0), Some(3)]);
    check_trap(
        "reshape (2, 2) [1, 2, 3]",
        "reshape asks for 4 elements, but there are 3",
        "reshape (2, 2) [1, 2, 3]",
    );
    check_code("reshape (2, -2) [1, 2, 3, 4]", "E0606");
    check_code("reshape 3 [[1], [2, 3]]", "E0609");
    check("(reshape (2, 2) (1 // [1, 1, 0, 1]))[0]", "[1, 1]");
    check("flatten [[1], [], [2, 3]]", "[1, 2, 3]");
    check("flatten [[[1], []], [[2, 3]]]", "[[1], [], [2, 3]]");
    check_extents("flatten (fill (2, 0, 3) 1)", &[Some(0), Some(3)]);
}

#[test]
fn transpose() {
    check("transpose [[1, 2], [3, 4], [5, 6]]", "[[1, 3, 5], [2, 4, 6]]");
    check_extents("transpose (fill (0, 3) 1)", &[Some(3), Some(0)]);
    check_extents("transpose (fill (3, 0) 1)", &[Some(0), Some(3)]);
    check("transpose [[\"ab\", \"c\"], [\"\", \"d\"]]", "[[\"ab\", \"\"], [\"c\", \"d\"]]");
    check_trap(
        "transpose [[1, 2], [3]]",
        "transpose needs rows of one length, but row 1 has 1 and row 0 has 2",
        "transpose [[1, 2], [3]]",
    );
    check(
        "let m = generate (70, 50) (\\(i, j) -> i * 100 + j) in all (flatten (transpose (transpose m)) == flatten m)",
        "true",
    );
}

#[test]
fn parts_and_rotations() {
    check("reverse [1, 2, 3]", "[3, 2, 1]");
    check("reverse [[1], [2, 3]]", "[[2, 3], [1]]");
    check("rotate 1 [1, 2, 3]", "[2, 3, 1]");
    check("rotate (-1) [1, 2, 3]", "[3, 1, 2]");
    check("rotate 7 [1, 2, 3]", "[2, 3, 1]");
    check("rotate (-7) [1, 2, 3]", "[3, 1, 2]");
    check("rotate 5 (iota 0)", "[]");
    check("(take 2 [1, 2, 3], take 0 [1], take 9 [1, 2])", "([1, 2], [], [1, 2])");
    check("(drop 2 [1, 2, 3], drop 0 [1], drop 9 [1, 2])", "([3], [1], [])");
    check_extents("take 0 (fill (2, 3) 1)", &[Some(0), Some(3)]);
    check_code("take (-1) [1]", "E0606");
    check_code("drop (-1) [1]", "E0606");
    check("(init [1, 2], tail [1, 2])", "([1], [2])");
    check_code("init (iota 0)", "E0608");
    check_code("tail (iota 0)", "E0608");
    check("backpermute 3 (\\i -> 2 - i) [1, 2, 3]", "[3, 2, 1]");
    check("backpermute (2, 2) (\\(i, j) -> i + j) [1, 2, 3]", "[[1, 2], [2, 3]]");
    check("backpermute 2 (\\i -> (i, 0)) [[1, 2], [3]]", "[1, 3]");
    check("(backpermute 2 (\\i -> 5 * i) [1, 2])[0]", "1");
    check_code("backpermute 2 (\\i -> 5 * i) [1, 2]", "E0601");
    check("[1] ++ [2, 3] ++ []", "[1, 2, 3]");
    check("[[1]] ++ [[2, 3]]", "[[1], [2, 3]]");
    check("interleave [1, 2] [3, 4]", "[1, 3, 2, 4]");
    check_code("interleave [1, 2] [3]", "E0602");
    check("gather [[1], [2, 3]] [1, 0, 1]", "[[2, 3], [1], [2, 3]]");
    check_code("gather [1] [-1]", "E0601");
}

#[test]
fn zips() {
    check("zip [1, 2] \"ab\"", "[(1, 'a'), (2, 'b')]");
    check("zip [[1], [2, 3]] [4, 5]", "[([1], 4), ([2, 3], 5)]");
    check("unzip [(1, 'a'), (2, 'b')]", "([1, 2], \"ab\")");
    check("unzip3 (zip3 [1, 2] [3, 4] [5, 6])", "([1, 2], [3, 4], [5, 6])");
    check_trap("zip [1] [2, 3]", "zip needs equal lengths, but they are 1 and 2", "zip [1] [2, 3]");
    check_code("zip3 [1] [2] [3, 4]", "E0602");
}

#[test]
fn nesting() {
    check("segments [2, 0, 1] [1, 2, 3]", "[[1, 2], [], [3]]");
    check("segments [0, 0] (iota 0)", "[[], []]");
    check("segments (iota 0) (iota 0)", "[]");
    check_trap(
        "segments [2, 2] [1, 2, 3]",
        "segments asks for 4 elements, but there are 3",
        "segments [2, 2] [1, 2, 3]",
    );
    check_code("segments [4, -1] [1, 2, 3]", "E0606");
    check_code("segments [1] [1, 2]", "E0607");
    check("chunks 2 [1, 2, 3]", "[[1, 2], [3]]");
    check("chunks 2 [1, 2, 3, 4]", "[[1, 2], [3, 4]]");
    check_extents("chunks 2 (iota 0)", &[Some(0), Some(2)]);
    check_code("chunks 0 [1]", "E0610");
    check("windows 2 [1, 2, 3]", "[[1, 2], [2, 3]]");
    check("windows 3 [1, 2, 3]", "[[1, 2, 3]]");
    check_extents("windows 4 [1, 2, 3]", &[Some(0), Some(4)]);
    check_code("windows 0 [1]", "E0610");
    check_code("windows (-1) [1]", "E0610");
    check("windowsBy 2 2 [1, 2, 3, 4, 5]", "[[1, 2], [3, 4]]");
    check("windowsBy 1 3 [1, 2, 3, 4, 5]", "[[1], [4]]");
    check_code("windowsBy 1 0 [1]", "E0610");
    check("groupBy [2, 1, 2] [10, 20, 30]", "[(1, [20]), (2, [10, 30])]");
    check(
        "groupBy [(1, 'b'), (1, 'a'), (1, 'b')] [1, 2, 3]",
        "[((1, 'a'), [2]), ((1, 'b'), [1, 3])]",
    );
    check("length (groupBy (iota 0) (iota 0))", "0");
    check("map (.1) (groupBy [nan, 0.0, nan, -0.0] [1, 2, 3, 4])", "[[4], [2], [1, 3]]");
    check_code("groupBy [1] [1, 2]", "E0602");
    check("split [true, false] [1, 2]", "([2], [1])");
    check_code("split [true] [1, 2]", "E0602");
}

#[test]
fn sending() {
    check("scatter [0, 0, 0] [2, 0] [5, 6]", "[6, 0, 5]");
    check("scatter [0, 0] [1, 1, 1] [1, 2, 3]", "[0, 3]");
    check("scatter [1] (iota 0) (iota 0)", "[1]");
    check("scatter [[1], [2]] [0] [[7, 8]]", "[[7, 8], [2]]");
    check_trap(
        "scatter [0] [1] [5]",
        "index 1 is out of range for an axis of extent 1",
        "scatter [0] [1] [5]",
    );
    check_code("scatter [0] [-1] [5]", "E0601");
    check_code("scatter [0] [0] [5, 6]", "E0602");
    check("scatterWith (+) [1, 2] [0, 0, 1] [10, 20, 30]", "[31, 32]");
    check("scatterWith (\\a b -> 10 * a + b) [1, 2] [0, 0] [3, 4]", "[10 + 34, 2]");
    check("permute (+) [0, 0] (\\i -> i % 2) [1, 2, 3]", "[4, 2]");
    check("permute (+) [0, 0] (\\i -> if i == 0 then -1 else 1) [1, 2, 3]", "[0, 5]");
    check_code("permute (+) [0] (\\i -> i) [1, 2]", "E0601");
    check_code("permute (+) [0] (\\i -> -2) [1]", "E0601");
    check("histogram 3 [0, 2, 2]", "[1, 0, 2]");
    check("histogram 2 [1u8, 1u8]", "[0, 2]");
    check("histogram 0 (iota 0)", "[]");
    check_code("histogram 2 [2]", "E0601");
    check_code("histogram (-1) [0]", "E0606");
    check("pack [1, 2, 3] [true, false, true]", "[1, 3]");
    check_code("pack [1] [true, false]", "E0602");
}

#[test]
fn selecting() {
    check("filter (\\x -> x > 1) [1, 2, 3]", "[2, 3]");
    check("filter (\\r -> length r > 1) [[1], [2, 3]]", "[[2, 3]]");
    check_extents("filter (\\r -> false) (fill (2, 3) 1)", &[Some(0), Some(3)]);
    check("partition (\\x -> x > 1) [1, 2, 3]", "([2, 3], [1])");
    check("unique [3, 1, 3]", "[1, 3]");
    check("unique [nan, 0.0, -0.0, nan, 1.0]", "[-0.0, 0.0, 1.0, nan]");
    check("unique [(2, 'a'), (1, 'b'), (2, 'a')]", "[(1, 'b'), (2, 'a')]");
    check("indexWhere (\\x -> x > 1) [1, 2, 3]", "1");
    check("indexWhere (\\x -> x > 9) [1, 2, 3]", "-1");
}

#[test]
fn sparse_rows() {
    let matrix = "{rows = 3, cols = 4, rowIndex = [2, 0, 2, 0], colIndex = [3, 1, 0, 1], values = [1.0, 2.0, 3.0, 4.0]}";
    check(
        &format!("csr {matrix}"),
        "{counts = [2, 0, 2], colIndex = [1, 1, 3, 0], values = [2.0, 4.0, 1.0, 3.0]}",
    );
    check_code("csr {rows = 1, cols = 1, rowIndex = [1], colIndex = [0], values = [1]}", "E0601");
    check_code(
        "csr {rows = 2, cols = 1, rowIndex = [1], colIndex = [0, 0], values = [1]}",
        "E0602",
    );
}
