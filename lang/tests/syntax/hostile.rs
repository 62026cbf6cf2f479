//! Deep, long and large sources: each is parsed or refused with a clear report, in seconds and
//! without overflowing the stack.

use std::time::{Duration, Instant};

use weft_ir::SourceId;
use weft_lang::syntax::{completeness, parse, tokens};

use super::{codes, on_a_large_stack};

/// For the test profile on a busy machine; a release build takes a second at most.
const PATIENCE: Duration = Duration::from_secs(10);

const DEEP: usize = 100_000;

/// Parses the text and compares the codes of the report, each kind once.
#[track_caller]
fn check(text: &str, expect: &str) {
    let (found, items, elapsed) = on_a_large_stack(|| {
        let start = Instant::now();
        let parsed = parse(SourceId(0), text);
        let elapsed = start.elapsed();
        (codes(&parsed), parsed.items.len(), elapsed)
    });
    let start: String = text.chars().take(20).collect();
    let mut kinds: Vec<&str> = found.split(' ').collect();
    kinds.dedup();
    assert_eq!(kinds.join(" "), expect, "{start}");
    assert!(!expect.is_empty() || items > 0, "{start}: nothing parsed");
    assert!(elapsed < PATIENCE, "{start}: {elapsed:?}");
}

#[test]
fn brackets() {
    for (open, close) in [("(", ")"), ("[", "]"), ("{", "}"), ("[(", ")]"), ("f (", ")")] {
        check(&(open.repeat(DEEP) + "x" + &close.repeat(DEEP)), "E0116");
        check(&open.repeat(DEEP), "E0116");
        check(&close.repeat(DEEP), "E0103");
    }
    check(&("{ ".repeat(DEEP) + "x" + &" : x in xs }".repeat(DEEP)), "E0116");
    check(&("x".to_string() + &"[0".repeat(DEEP) + &"]".repeat(DEEP)), "E0116");
    check(&("([{".repeat(DEEP) + &")]}".repeat(DEEP)), "E0116");
}

#[test]
fn brackets_within_the_limit() {
    let deep = 950;
    for (open, close) in [("(", ")"), ("[", "]"), ("(1, ", ")"), ("f (", ")"), ("{ x : x in ", "}")]
    {
        check(&(open.repeat(deep) + "x" + &close.repeat(deep)), "");
        check(&(open.repeat(deep) + "x"), "E0102+");
    }
    check(&("[".repeat(deep) + "," + &"]".repeat(deep)), "E0101");
}

#[test]
fn open_forms() {
    for form in ["\\x -> ", "if c then a else ", "let x = 1 in ", "let x = ", "if "] {
        check(&(form.repeat(DEEP) + "x"), "E0116");
    }
    check(&("loop x = 1 for i < n do ".repeat(DEEP) + "x"), "E0116");
    for form in ["\\x -> ", "if c then a else ", "let x = 1 in ", "loop x = 1 for i < n do "] {
        check(&(form.repeat(950) + "x"), "");
    }
}

#[test]
fn chains() {
    for link in [" + x", " ++ x", " ** x", " |> f", " && x", " * - x", ".x", "[0]", " <| x"] {
        check(&("x".to_string() + &link.repeat(DEEP)), "E0116");
        check(&("x".to_string() + &link.repeat(5_000)), "");
    }
    for prefix in ["- ", "! ", "(- 1) + "] {
        check(&(prefix.repeat(5_000) + "x"), "");
    }
    check(&("- ".repeat(DEEP) + "x"), "E0116");
    check(&("xs".to_string() + &" |> map (+ 1)".repeat(5_000)), "");
    check(&("f".to_string() + &" x".repeat(DEEP)), "");
    check(&("x".to_string() + &" < x".repeat(1_000)), "E0117");
}

#[test]
fn types() {
    check(&("type t = ".to_string() + &"[]".repeat(DEEP) + "i64"), "E0116");
    check(&("type t = ".to_string() + &"[]".repeat(9_000) + "i64"), "");
    check(&("type t = ".to_string() + &"seq ".repeat(9_000) + "i64"), "");
    check(&("type t = i64".to_string() + &" -> i64".repeat(9_000)), "");
    check(&("type t = ".to_string() + &"(".repeat(DEEP) + "i64"), "E0116");
}

#[test]
fn large_literals() {
    let bytes = 10_000_000;
    check(&("[".to_string() + &"1, ".repeat(bytes / 3) + "1]"), "");
    check(&("[".to_string() + &"1.5,-2e3,".repeat(bytes / 9) + "1]"), "");
    check(&("[".to_string() + &"[1, 2, 3], ".repeat(bytes / 80) + "[1]]"), "");
    check(&("[".to_string() + &"1u8, ".repeat(1_000_000) + "1u8]"), "");
    check(&("\"".to_string() + &"x".repeat(bytes) + "\""), "");
    check(&"x".repeat(bytes), "");
    check(&"1".repeat(bytes), "E0109");
    check(&("-- ".to_string() + &"x".repeat(bytes) + "\n1"), "");
    check(&("{-".repeat(bytes / 4) + &"-}".repeat(bytes / 4) + "\n1"), "");
    check(&(" ".repeat(bytes) + "1"), "");
}

#[test]
fn large_sources() {
    check(&"x = 1 + 2\n".repeat(100_000), "");
    check(&"def f x y = x + y * 2\n".repeat(100_000), "");
    check(&"x = (1 +\n".repeat(100_000), "E0102");
    check(&"@".repeat(300_000), "E0110");
    check(&"x,".repeat(5_000_000), "E0119");
    check(&"let a = 1; ".repeat(DEEP), "E0116");
    check(&("let ".to_string() + &"a = 1; ".repeat(DEEP) + "in a"), "");
    check(&("x = let ".to_string() + &"a = 1\n        ".repeat(DEEP) + "in a"), "");
    check(&("f\n".to_string() + &"  (1)\n".repeat(5_000)), "");
}

#[test]
fn many_errors() {
    check(&("[".to_string() + &"1 +, ".repeat(DEEP) + "1]"), "E0101");
    check(&("x = { ".to_string() + &"y = * 1, ".repeat(DEEP) + "z }"), "E0101");
    check(&"[)(]".repeat(DEEP), "E0116 E0103");
    check(&"'' ".repeat(DEEP), "E0106");
    check(&"\"\\q\" ".repeat(DEEP), "E0107");
    check(&("let ".to_string() + &"a = 1 a = 2; ".repeat(DEEP) + "in a"), "E0115");
}

#[test]
fn long_lines_are_looked_at_once() {
    // Columns of `let` blocks and indices of bulk literals in one line of megabytes.
    check(&("f ".to_string() + &"(let a = 1 in a) ".repeat(100)), "");
    check(&("[".to_string() + &"let a = 1 in a, ".repeat(100_000) + "1]"), "");
    let row = format!("[{}1], ", "1, ".repeat(70));
    check(&("[".to_string() + &row.repeat(20_000) + "[]]"), "");
}

#[test]
fn editors_too() {
    for text in ["(".repeat(DEEP), "1 + ".repeat(DEEP), "[1, ".repeat(200), "x".repeat(5_000_000)] {
        let start = Instant::now();
        let covered: usize = tokens(&text).iter().map(|(_, range)| range.len()).sum();
        assert!(covered <= text.len());
        on_a_large_stack(|| completeness(&text));
        assert!(start.elapsed() < PATIENCE, "{:?}", start.elapsed());
    }
}
