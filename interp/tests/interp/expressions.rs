//! Expressions: literals, indexing, slices, updates, loops, comprehensions, records, sizes.

use crate::source::{check, check_code, check_extents, check_trap};

#[test]
fn indexing() {
    check("[1, 2, 3][1]", "2");
    check("[[1, 2], [3]][1, 0]", "3");
    check("[[1, 2], [3]][0]", "[1, 2]");
    check("[[[1], [2]]][0, 1, 0]", "2");
    check("[10, 20, 30][[2, 0]]", "[30, 10]");
    check("[(1, 'a'), (2, 'b')][1].1", "'b'");
    check_code("[1][1]", "E0601");
    check_code("[[1, 2], [3]][1, 1]", "E0601");
    check_trap(
        "[[1, 2], [3]][2, 0]",
        "index 2 is out of range for an axis of extent 2",
        "[[1, 2], [3]][2, 0]",
    );
    check("{ xs[i] : xs in [[1, 2], [3, 4]]; i in [1, 0] }", "[2, 3]");
}

#[test]
fn slices() {
    let xs = "let xs = [0, 1, 2, 3, 4] in xs";
    check(&format!("{xs}[1:3]"), "[1, 2]");
    check(&format!("{xs}[:2]"), "[0, 1]");
    check(&format!("{xs}[3:]"), "[3, 4]");
    check(&format!("{xs}[:]"), "[0, 1, 2, 3, 4]");
    check(&format!("{xs}[::2]"), "[0, 2, 4]");
    check(&format!("{xs}[1::2]"), "[1, 3]");
    check(&format!("{xs}[::-1]"), "[4, 3, 2, 1, 0]");
    check(&format!("{xs}[3:0:-1]"), "[3, 2, 1]");
    check(&format!("{xs}[:2:-1]"), "[4, 3]");
    check(&format!("{xs}[2::-1]"), "[2, 1, 0]");
    check(&format!("{xs}[4:1:-2]"), "[4, 2]");
    check(&format!("{xs}[3:1]"), "[]");
    check(&format!("{xs}[1:3:-1]"), "[]");
    check(&format!("{xs}[5:5]"), "[]");
    check(&format!("{xs}[5:5:-1]"), "[]");
    check(&format!("{xs}[0:5:100]"), "[0]");
    check("(iota 0)[::-1]", "[]");
    check_code(&format!("{xs}[0:6]"), "E0601");
    check_code(&format!("{xs}[-1:]"), "E0601");
    check_code(&format!("{xs}[5:2:-1]"), "E0601");
    check_code(&format!("{xs}[::0]"), "E0610");
}

#[test]
fn slices_of_matrices() {
    let m = "let m = [[1, 2, 3], [4, 5, 6]] in m";
    check(&format!("{m}[:, 1]"), "[2, 5]");
    check(&format!("{m}[:, 1:]"), "[[2, 3], [5, 6]]");
    check(&format!("{m}[1, 1:]"), "[5, 6]");
    check(&format!("{m}[::-1, ::-1]"), "[[6, 5, 4], [3, 2, 1]]");
    check(&format!("{m}[:, [2, 0]]"), "[[3, 1], [6, 4]]");
    check(&format!("{m}[[1, 1], 0]"), "[4, 4]");
    check(&format!("{m}[1:]"), "[[4, 5, 6]]");
    check("let t = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] in t[:, 0, 1]", "[2, 6]");
    check("let t = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] in t[1, :, 0]", "[5, 7]");
    check("let t = [[[1, 2], [3, 4]], [[5, 6], [7, 8]]] in t[:, :, 0]", "[[1, 3], [5, 7]]");
    check("[[1, 2], [3]][0, 1:]", "[2]");
    check_extents("(fill (0, 3) 1)[:, 1:]", &[Some(0), Some(2)]);
    check_extents("(fill (0, 3) 1)[:, 0]", &[Some(0)]);
    check_trap(
        "[[1, 2], [3]][:, 0]",
        "slice needs rows of one length, but row 1 has 1 and row 0 has 2",
        "[[1, 2], [3]][:, 0]",
    );
    check_code(&format!("{m}[:, 3]"), "E0601");
    check_code(&format!("{m}[2, :]"), "E0601");
    check(&format!("length ({m}[:, 3])"), "2");
    check(&format!("({m}[:, [0, 9]])[1][0]"), "4");
}

#[test]
fn updates() {
    check("([1, 2, 3] with [1] = 9)", "[1, 9, 3]");
    check("([[1, 2], [3]] with [0, 1] = 9)", "[[1, 9], [3]]");
    check("([[1, 2], [3]] with [1] = [7, 8, 9])", "[[1, 2], [7, 8, 9]]");
    check("([[1, 2], [3, 4]] with [1] = [7, 8])", "[[1, 2], [7, 8]]");
    check("([(1, 'a')] with [0] = (2, 'b'))", "[(2, 'b')]");
    check("let xs = [1, 2]; ys = (xs with [0] = 9) in (xs, ys)", "([1, 2], [9, 2])");
    check(
        "let xs = replicate 3 0; ys = (xs with [0] = 1); zs = (xs with [1] = 2) in (xs, ys, zs)",
        "([0, 0, 0], [1, 0, 0], [0, 2, 0])",
    );
    check("loop a = replicate 4 0 for i < 4 do (a with [i] = i * i)", "[0, 1, 4, 9]");
    check(
        "loop a = [1, 1, 0, 0, 0] for i < 3 do (a with [i + 2] = a[i] + a[i + 1])",
        "[1, 1, 2, 3, 5]",
    );
    check(
        "xs = [1, 2, 3]\nys = loop a = xs for i < 3 do (a with [i] = 0)\n(xs, ys)",
        "([1, 2, 3], [0, 0, 0])",
    );
    check("[1, 2] |> (\\xs -> (xs with [0] = 5) ++ xs)", "[5, 2, 1, 2]");
    check_code("([1] with [1] = 0)", "E0601");
    check_code("([[1], [2]] with [0, 1] = 0)", "E0601");
    check_code("([[1], [2]] with [2] = [0])", "E0601");
}

#[test]
fn loops() {
    check("loop s = 0 for i < 5 do s + i", "10");
    check("loop s = 7 for i < 0 do s + i", "7");
    check("loop s = 7 for i < -3 do s + i", "7");
    check("loop s = 0 for x in [1, 2, 3] do s + x", "6");
    check("loop s = [] for x in [[1], [2, 3]] do x ++ s", "[2, 3, 1]");
    check("loop (a, b) = (0, 1) for i < 10 do (b, a + b)", "(55, 89)");
    check("loop (a, _) = (1, 5) for i < 2 do (a * 2, a)", "(4, 2)");
    check("loop x = 1 while x < 100 do x * 2", "128");
    check("loop x = (1, 2) for (a, b) in [(3, 4), (5, 6)] do (x.0 + a, x.1 + b)", "(9, 12)");
    check("loop {x, y} = {x = 0, y = 1} for i < 3 do {x = y, y = x + y}", "{x = 2, y = 3}");
    check("loop a = 0 for i < 3 do loop b = a for j < i do b + j", "1");
    check("let n = 3 in loop s = 0 for i < n do if i % 2 == 0 then s + n else s - n", "3");
}

#[test]
fn comprehensions() {
    check("{ x * x : x in [1, 2, 3] }", "[1, 4, 9]");
    check("{ x + y : x in [1, 2]; y in [10, 20] }", "[11, 22]");
    check("{ x : x in [1, 2, 3] | x != 2 }", "[1, 3]");
    check("{ x in [1, 2, 3] | x != 2 }", "[1, 3]");
    check("{ a + b : (a, b) in [(1, 2), (3, 4)] }", "[3, 7]");
    check("{ { x * y : x in xs } : xs in [[1, 2], [3]]; y in [10, 100] }", "[[10, 20], [300]]");
    check("let n = 2 in { { i * n + j : j in iota n } : i in iota n }", "[[0, 1], [2, 3]]");
    check(
        "{ sum { v * x : (j, v) in row } : row in [[(0, 2), (1, 3)], []]; x in [10, 20] }",
        "[50, 0]",
    );
}

#[test]
fn records_and_tuples() {
    check("{x = 1, y = 2}.y", "2");
    check("{{x = 1, y = 2} with y = 5}", "{x = 1, y = 5}");
    check("[{x = 1, y = 'a'}, {x = 2, y = 'b'}].x", "[1, 2]");
    check("[[{x = 1, y = 'a'}], [{x = 2, y = 'b'}, {x = 3, y = 'c'}]].y", "[\"a\", \"bc\"]");
    check("let {x, y} = {x = 1, y = 2} in x - y", "-1");
    check("let (a, (b, _)) = (1, (2, 3)) in a + b", "3");
    check("()", "()");
    check("[(), ()]", "[(), ()]");
    check("map (.0) [(1, 2), (3, 4)]", "[1, 3]");
}

#[test]
fn sizes_of_annotations() {
    check("def f (xs : [n]i64) (ys : [n]i64) = dot xs ys\nf [1, 2] [3, 4]", "11");
    check_trap(
        "def f (xs : [n]i64) (ys : [n]i64) = dot xs ys\nf [1, 2] [3]",
        "size `n` is 2 here, but this axis has 1",
        "n",
    );
    check_trap(
        "def f (xs : [3]i64) = sum xs\nf [1, 2]",
        "the annotation asks for 3 elements, but there are 2",
        "3",
    );
    check("def f (m : [n][n]i64) = sum (flatten m)\nf [[1, 2], [3, 4]]", "10");
    check_code("def f (m : [n][n]i64) = sum (flatten m)\nf [[1, 2], [3, 4], [5, 6]]", "E0603");
    check_code("def f (m : [n][2]i64) = sum (flatten m)\nf [[1, 2], [3]]", "E0603");
}
