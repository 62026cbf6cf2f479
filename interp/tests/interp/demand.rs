//! An error is observable only if its value is needed.

use crate::source::{check, check_code, check_trap};

#[test]
fn what_is_not_needed_does_not_fail() {
    check("let x = 1 // 0 in 5", "5");
    check("(1 // 0, 5).1", "5");
    check("let (a, b) = (1 // 0, 5) in b", "5");
    check("{x = 1 // 0, y = 2}.y", "2");
    check("{{x = 1 // 0, y = 2} with x = 3}", "{x = 3, y = 2}");
    check("(\\x -> 5) (1 // 0)", "5");
    check("length (map (\\i -> 1 // i) [0, 1])", "2");
    check("take 1 (map (\\i -> 1 // i) [1, 0])", "[1]");
    check("(map (\\i -> 1 // i) [0, 1])[1]", "1");
    check("drop 1 (reverse (map (\\i -> 1 // i) [1, 0]))", "[1]");
    check("last (1 // [0, 1])", "1");
    check("{ 1 // i : i in [0, 1] }[1:]", "[1]");
    check("fold (\\a b -> b) 7 (1 // [0, 1])", "1");
    check("fold1 (\\a b -> a) (1 // [1, 0])", "1");
    check("let xs = [1, 2, 3]; i = 7; n = 3 in if i < n then xs[i] else 0", "0");
    check("false && 1 // 0 == 0", "false");
    check("true || 1 // 0 == 0", "true");
    check("[false, true] && ([1, 2] // [0, 1] == 2)", "[false, true]");
    check("[true, false] || ([1, 2] // [0, 1] == 2)", "[true, true]");
    check("select true 1 (1 // 0)", "1");
    check("select [true, false] [1, 2] (6 // [0, 3])", "[1, 2]");
    check("lengths [[1 // 0], [2, 3]]", "[1, 2]");
    check("shape [[1 // 0], [2]]", "(2, 1)");
    check("size [[1 // 0], [2, 3]]", "3");
    check("null [1 // 0]", "false");
    check("indices [1 // 0, 2]", "[0, 1]");
    check("any [true, 1 // 0 == 0]", "true");
    check("all [false, 1 // 0 == 0]", "false");
    check("indexWhere (\\x -> x > 1) [1, 2, 1 // 0]", "1");
    check("(unzip (zip [1 // 0, 1] [5, 6])).1", "[5, 6]");
    check("(zip [1 // 0, 1] [5, 6])[1]", "(1, 6)");
    check("(gather [1, 2] [9, 1])[1]", "2");
    check("[1, 2][[9, 1]][1]", "2");
    check("length (gather [1, 2] [9, 1])", "2");
    check("(scatter [0, 0] [0, 1] [1 // 0, 5])[1]", "5");
    check("scatter [0, 0] [0, 0] [1 // 0, 5]", "[5, 0]");
    check("([1, 2, 3] with [0] = 1 // 0)[1]", "2");
    check("(([1, 2, 3] with [0] = 1 // 0) with [0] = 9)", "[9, 2, 3]");
    check("first (flatten [[1], [1 // 0]])", "1");
    check("(transpose [[1, 1 // 0], [2, 3]])[0]", "[1, 2]");
    check("(segments [1, 1] [1 // 0, 5])[1]", "[5]");
    check("(chunks 2 [1, 2, 1 // 0])[0]", "[1, 2]");
    check("(windows 2 [1, 2, 1 // 0])[0]", "[1, 2]");
    check("(groupBy [1, 2] [1 // 0, 5])[1]", "(2, [5])");
    check("filter (\\(a, b) -> a > 1) (zip [1, 2] [1 // 0, 5])", "[(2, 5)]");
    check("filter (\\x -> true) (take 1 [1, 1 // 0])", "[1]");
    check("(1, 1 // 0) == (2, 3)", "false");
    check("(1, 1 // 0) < (2, 3)", "true");
    check("min (1, 1 // 0) (0, 5)", "(0, 5)");
    check("if assert true true then 1 else 2", "1");
    check("let x = error \"no\" in 5", "5");
    check("let y = assert false 1 in 5", "5");
    check("(loop (a, b) = (1 // 0, 1) for i < 3 do (a + 1, b + 1)).1", "4");
    check("loop x = 0 for i < 2 do if i == 0 then 1 // 0 else 7", "7");
    check("(stencil clamp (\\w -> w[1]) [1, 2, 1 // 0])[0]", "2");
    check("stencil (constant (1 // 0)) (\\w -> w[0]) [1, 2]", "[1, 2]");
    check("[[1], [2]] == [[1], [2]]", "[[true], [true]]");
    check("([[1], [2, 3]] + [[1, 2], [3, 4]])[1]", "[5, 7]");
    check("iterate 2 (\\(a, b) -> (1 // 0, b + 1)) (0, 0) |> (.1)", "2");
}

#[test]
fn what_is_needed_fails() {
    check_trap("1 // 0", "integer division by zero", "1 // 0");
    check_trap("sum <| 1 // [1, 0]", "integer division by zero", "1 // [1, 0]");
    check_trap("(5, 7 % 0)", "integer division by zero", "7 % 0");
    check_trap("[1, 2 // 0, 3 % 0]", "integer division by zero", "2 // 0");
    check_trap("[[1], [2 // 0]]", "integer division by zero", "2 // 0");
    check_code("iota (1 // 0)", "E0604");
    check_code("length (iota (1 // 0))", "E0604");
    check_code("length (filter (\\x -> x > 0) [1, 1 // 0])", "E0604");
    check_code("length { x in [1, 1 // 0] | x > 0 }", "E0604");
    check_code("if 1 // 0 == 0 then 1 else 2", "E0604");
    check_code("1 // 0 == 0 && false", "E0604");
    check_code("any [1 // 0 == 0, true]", "E0604");
    check_code("count [true, 1 // 0 == 0]", "E0604");
    check_code("sort [1, 1 // 0]", "E0604");
    check_code("first (sort [1, 1 // 0])", "E0604");
    check_code("sortBy (\\x -> 1 // x) [1, 0]", "E0604");
    check_code("first (scatter [0, 0] [1 // 0, 1] [5, 6])", "E0604");
    check_code("first (scatter [0, 0] [5, 1] [5, 6])", "E0601");
    check_code("indexWhere (\\x -> x > 1) [1 // 0, 2]", "E0604");
    check_code("(1, 1 // 0) == (1, 3)", "E0604");
    check_code("loop x = 0 for i < 1 // 0 do x", "E0604");
    check_code("loop x = 0 while x < 1 // 0 do x + 1", "E0604");
    check_code("loop x = 0 for y in iota (1 // 0) do x", "E0604");
    check_code("assert (1 // 0 == 0) 5", "E0604");
    check_code("[1, 2, 3][1 // 0]", "E0604");
    check_code("[1, 2, 3][1 // 0:]", "E0604");
    check_code("(map (\\i -> 1 // i) [0, 1])[0]", "E0604");
    check_code("fold (+) (1 // 0) [1]", "E0604");
    check_code("length (flatten [iota (1 // 0), [1]])", "E0604");
    check_code("mean [1.0, f64 (1 // 0)]", "E0604");
    check_code("groupBy [1, 1 // 0] [1, 2]", "E0604");
    check_code("error \"no\"", "E0612");
}

#[test]
fn the_first_error_in_order_is_reported() {
    check_trap("1 // 0 + 2 % 0", "integer division by zero", "1 // 0");
    check_trap("(fold (+) 0 [1 // 0, 2 % 0], 1)", "integer division by zero", "1 // 0");
    check_trap("zip [1, 2 // 0] [3 % 0, 4]", "integer division by zero", "3 % 0");
    check_trap(
        "[1, 2][5] + (1 // 0)",
        "index 5 is out of range for an axis of extent 2",
        "[1, 2][5]",
    );
}

#[test]
fn traps_say_what_and_where() {
    check_trap(
        "[1, 2, 3][-1]",
        "index -1 is out of range for an axis of extent 3",
        "[1, 2, 3][-1]",
    );
    check_trap(
        "[1, 2] + [1, 2, 3]",
        "+ needs equal lengths, but they are 2 and 3",
        "[1, 2] + [1, 2, 3]",
    );
    check_trap("assert (1 > 2) 5", "assertion failed", "assert (1 > 2) 5");
    check_trap("1 + error (\"no \" ++ \"way\")", "no way", "error (\"no \" ++ \"way\")");
    check_trap("2 ** (-3)", "an integer cannot be raised to the negative power -3", "2 ** (-3)");
    check_trap("iota (-2)", "iota needs a length of 0 or more, not -2", "iota (-2)");
    check_trap("zipWith (//) [1] [0]", "integer division by zero", "(//)");
}

#[test]
fn traps_carry_the_call_sites_of_functions() {
    let text = "def f x = 1 // x\ndef g x = f x + 1\n(g 1, g 0)";
    let trap = crate::source::trap(text);
    assert_eq!(&text[trap.span.range()], "1 // x");
    let calls: Vec<&str> = trap.calls.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(calls, ["f x", "g 0"]);
    let text = "def f x = 1 // x\nmap f [1, 0]";
    let trap = crate::source::trap(text);
    let calls: Vec<&str> = trap.calls.iter().map(|span| &text[span.range()]).collect();
    assert_eq!(calls, ["map f [1, 0]"]);
    let text = "def f x = x + 1\nf (1 // 0)";
    assert!(crate::source::trap(text).calls.is_empty(), "the argument is not in f");
    let text = "def f x = if x == 0 then 1 // x else 1 + f (x - 1)\nf 100";
    assert_eq!(crate::source::trap(text).calls.len(), weft_ir::Trap::MAX_CALLS);
}
