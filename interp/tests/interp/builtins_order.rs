//! Sorting, searching, merging.

use crate::source::{check, check_code};

#[test]
fn sorting() {
    check("sort [3, 1, 2]", "[1, 2, 3]");
    check("sort [nan, inf, 0.0, -0.0, -inf]", "[-inf, -0.0, 0.0, inf, nan]");
    check("sortDesc [nan, inf, 0.0, -0.0, -inf]", "[nan, inf, 0.0, -0.0, -inf]");
    check("sort \"hello\"", "\"ehllo\"");
    check("sort [true, false]", "[false, true]");
    check("sort [(2, 'a'), (1, 'z'), (1, 'b')]", "[(1, 'b'), (1, 'z'), (2, 'a')]");
    check("sort [[3, 1], [2]]", "[[1, 3], [2]]");
    check("sort (iota 0)", "[]");
    check("sort [3u64, 18446744073709551615u64, 0u64]", "[0, 3, 18446744073709551615]");
    check("sortBy (\\x -> -x) [1, 3, 2]", "[3, 2, 1]");
    check("sortBy (.0) [(1, 'b'), (0, 'c'), (1, 'a')]", "[(0, 'c'), (1, 'b'), (1, 'a')]");
    check("argsort [30, 10, 20]", "[1, 2, 0]");
    check("argsort [1, 1, 0, 1]", "[2, 0, 1, 3]");
    check("argsort (argsort [30, 10, 20])", "[2, 0, 1]");
    check(
        "let xs = randomInt 5 0 1000 200000; s = sort xs in all (init s <= tail s) && sum s == sum xs",
        "true",
    );
    check(
        "let xs = randomInt 5 0 10 200000; o = argsort xs; p = zip (gather xs o) o in all (init p < tail p)",
        "true",
    );
    check(
        "let xs = randomInt 5 0 10 70000; p = map (.1) (filter (\\(k, i) -> k == 3) (sortBy (\\(k, i) -> -k) (zip xs (indices xs)))) in all (init p < tail p)",
        "true",
    );
}

#[test]
fn searching_and_merging() {
    check("searchSorted [1, 3, 3, 5] [0, 1, 2, 3, 4, 5, 6]", "[0, 0, 1, 1, 3, 3, 4]");
    check("searchSorted (iota 0) 5", "0");
    check("searchSorted [0.0, 1.0] nan", "2");
    check("searchSorted [-0.0, 0.0] 0.0", "1");
    check("merge [1, 3] [2, 3, 4]", "[1, 2, 3, 3, 4]");
    check("merge (iota 0) [1]", "[1]");
    check("merge [(1, 'a')] [(0, 'b'), (2, 'c')]", "[(0, 'b'), (1, 'a'), (2, 'c')]");
    check_code("searchSorted [1, 1 // 0] 1", "E0604");
    check_code("merge [1] [1 // 0]", "E0604");
}
