//! Items, layout, comments, commands.

use weft_ir::SourceId;
use weft_lang::ast::ItemKind;
use weft_lang::syntax::{parse, parse_item};

use super::{check, codes, dump};

#[test]
fn kinds_of_items() {
    check("def f x y = x", "(def (f x y) x)");
    check("def f (x : f32) : f32 = x", "(def (f (x : f32)) : f32 x)");
    check("def f (x, y) {a} _ () = x", "(def (f <x y> {a=a} _ <>) x)");
    check("def c = 1", "(def (c) 1)");
    check("def c : f32 = 1", "(def (c) : f32 1)");
    check("def f' x = x", "(def (f' x) x)");
    check("type t = i64", "(type t i64)");
    check("type point = {x: f32, y: f32}", "(type point {x: f32, y: f32})");
    check("type f = a -> b", "(type f (a -> b))");
    check("x = 1", "(= x 1)");
    check("_ = 1", "(= _ 1)");
    check("(a, b) = p", "(= <a b> p)");
    check("{x, y = z} = p", "(= {x=x y=z} p)");
    check("x : f32 = 1", "(= (x : f32) 1)");
    check("(x : f32) = 1", "(= (x : f32) 1)");
    check("x = let y = 1 in y", "(= x (let [y = 1] y))");
    check("sum xs", "(sum xs)");
    check("sum xs;", "(quiet (sum xs))");
    check("x = 1;", "(= x 1)");
    check("let x = 1 in x", "(let [x = 1] x)");
    check("loop x = 0 for i < 3 do x", "(loop x 0 (for i < 3) x)");
    check("(a with [i] = v)", "(with a [i] v)");
    check("import \"lib/stats.weft\"", "(import \"lib/stats.weft\")");
    check("import \"a\\\\b é\"", "(import \"a\\\\b é\")");
}

#[test]
fn items_begin_in_column_0() {
    check("x = 1\ny = 2", "(= x 1)\n(= y 2)");
    check("x = 1\n\n\ny = 2\n", "(= x 1)\n(= y 2)");
    check("x = f\n  1\n 2\ny = 2", "(= x (f 1 2))\n(= y 2)");
    check("x = f\r\n  1\r\ny = 2\r\n", "(= x (f 1))\n(= y 2)");
    check("x = f\n\t1\ny = 2", "(= x (f 1))\n(= y 2)");
    check("x =\n  1 +\n  2", "(= x (+ 1 2))");
    check("x = 1\n  + 2", "(= x (+ 1 2))");
    check("xs\n  |> f\n  |> g", "(| g (| f xs))");
    check("f\n\n  x", "(f x)");
    check("-1\n-2", "-1\n-2");
    check("a\n[1]", "a\n[1]");
    check("a\n(b)", "a\nb");
    check("", "");
    check("\n \n", "");
    check("\u{feff}x = 1", "(= x 1)");
}

#[test]
fn an_indented_text_is_as_good() {
    check("  x = 1\n  y = 2", "(= x 1)\n(= y 2)");
    check(" 1 + 1", "(+ 1 1)");
    check("\tx = f\n\t  1\n\ty = 2", "(= x (f 1))\n(= y 2)");
}

#[test]
fn closers_may_stand_in_column_0() {
    check("xs = [\n  1,\n  2\n]\ny = 1", "(= xs [1 2])\n(= y 1)");
    check("x = f (\n  1\n)", "(= x (f 1))");
    check("def f x =\n  let y = 1\nin y", "(def (f x) (let [y = 1] y))");
    check("x = if a\nthen b\nelse c", "(= x (if a b c))");
}

#[test]
fn let_blocks() {
    check("let x = 1\n    y = 2\nin x", "(let [x = 1; y = 2] x)");
    check("let\n  x = 1\n  y = 2\nin x", "(let [x = 1; y = 2] x)");
    check("let x = 1\n    y = 2 in x", "(let [x = 1; y = 2] x)");
    check("let x = 1; y = 2\n    z = 3 in x", "(let [x = 1; y = 2; z = 3] x)");
    check("let x = f\n      1\n    y = 2\n in x", "(let [x = (f 1); y = 2] x)");
    check("let x = [1,\n    2]\n    y = 2\n in x", "(let [x = [1 2]; y = 2] x)");
    check("let x = if a\n    then b\n    else c\n in x", "(let [x = (if a b c)] x)");
    check("let x = 1\n    + 2\n in x", "(let [x = (+ 1 2)] x)");
    check("let x = 1\n\n    -- why\n    y = 2\n in x", "(let [x = 1; y = 2] x)");
    check(
        "let f x =\n      let y = x\n          z = y\n      in z\n    g = 1\nin f",
        "(let [(f x) (let [y = x; z = y] z); g = 1] f)",
    );
    check("let (a, b) = p\n    {x} = r\n    _ = 1\n in a", "(let [<a b> = p; {x=x} = r; _ = 1] a)");
    check("def f a =\n  let x = 1\n      y = 2\n  in x", "(def (f a) (let [x = 1; y = 2] x))");
    check("é = let x = 1\n        y = 2\n    in x", "(= é (let [x = 1; y = 2] x))");
    check("日本 = let x = 1\n           y = 2\n    in x", "(= 日本 (let [x = 1; y = 2] x))");
    check("e\u{301} = let x = 1\n        y = 2\n    in x", "(= e\u{301} (let [x = 1; y = 2] x))");
    check("let\tx = 1\n\ty = 2\nin x", "(let [x = 1; y = 2] x)");
    check("f (let x = 1\n       y = 2\n   in x)", "(f (let [x = 1; y = 2] x))");
}

#[test]
fn quicksort_of_the_contract() {
    check(
        "def qsort a = if length a < 2 then a else
  let p = a[length a // 2]
      r = { qsort v : v in [{x in a | x < p}, {x in a | x > p}] }
  in r[0] ++ {x in a | x == p} ++ r[1]",
        "(def (qsort a) (if (< (length a) 2) a \
         (let [p = (at a (// (length a) 2)); \
         r = {(qsort v) : (v in [{x : (x in a) | (< x p)} {x : (x in a) | (> x p)}])}] \
         (++ (at r 0) (++ {x : (x in a) | (== x p)} (at r 1))))))",
    );
}

#[test]
fn comments() {
    check("x = 1 -- one\n-- two\ny = 2", "(= x 1)\n(= y 2)");
    check("x = {- one -} 1", "(= x 1)");
    check("x = {- a {- b -} c -} 1", "(= x 1)");
    check("{- a\nb = 2\n-} x = 1", "(= x 1)");
    check("f {- a\n  b -} x", "(f x)");
    check("{- c -} x = 1\ny = 2", "(= x 1)\n(= y 2)");
    check("x = 1\n{- c -} y = 2", "(= x 1)\n(= y 2)");
    check("a --b", "a");
    check("-- only", "");
    check("{- é -- -} x", "x");
    check("x -- {- no comment", "x");
}

#[test]
fn commands() {
    check(":quit", "(:quit \"\")");
    check(":time sum xs -- hi", "(:time \"sum xs -- hi\")");
    check(":time  sum xs  \nx = 1", "(:time \"sum xs\")\n(= x 1)");
    check(":time sum\n  xs\n\n  ys\nx = 1", "(:time \"sum\\n  xs\\n\\n  ys\")\n(= x 1)");
    check(":save xs \"a b.npy\"", "(:save \"xs \\\"a b.npy\\\"\")");
    check(":load C:\\dir ' \" ( {-", "(:load \"C:\\\\dir ' \\\" ( {-\")");
    check("x = 1\n:vars\ny = 2", "(= x 1)\n(:vars \"\")\n(= y 2)");
    check(":help\r\nx = 1\r\n", "(:help \"\")\n(= x 1)");
    check(":", "(: \"\")");
}

#[test]
fn commands_know_their_places() {
    let text = "x\n:type  é + 1 \n";
    let parsed = parse(SourceId(3), text);
    let ItemKind::Command { name, argument, argument_span } = &parsed.items[1].kind else {
        panic!("{:?}", parsed.items)
    };
    assert_eq!((&text[name.span.range()], &**argument), ("type", "é + 1"));
    assert_eq!((&text[argument_span.range()], argument_span.source), ("é + 1", SourceId(3)));
    let inner = parse_item(SourceId(3), text, argument_span.range());
    assert_eq!(dump::item(&inner.items[0]), "(+ é 1)");
    assert_eq!(&text[inner.items[0].span.range()], "é + 1");
}

#[test]
fn an_argument_is_one_item_whatever_its_columns() {
    let text = ":time sum\n xs\n";
    let parsed = parse_item(SourceId(0), text, 6..text.len());
    assert_eq!(codes(&parsed), "");
    assert_eq!(parsed.items.iter().map(dump::item).collect::<Vec<_>>(), ["(sum xs)"]);
}

#[test]
fn broken_items_spoil_no_others() {
    for broken in ["x = (1,", "def f(x): x", "x = 1 + * 2", "\"abc", "let a = 1", "x = ]", "@"] {
        let parsed = parse(SourceId(0), &format!("a = 1\n{broken}\nb = 2"));
        let items: Vec<String> = parsed.items.iter().map(dump::item).collect();
        assert_eq!(items.first().map(String::as_str), Some("(= a 1)"), "{broken}");
        assert_eq!(items.last().map(String::as_str), Some("(= b 2)"), "{broken}");
        assert!(!parsed.diagnostics.is_empty(), "{broken}");
        assert!(parsed.diagnostics.iter().all(|found| !found.incomplete), "{broken}");
    }
}

#[test]
fn spans() {
    let text = "é = f (a + b)[0] -- c\n";
    let parsed = parse(SourceId(0), text);
    let ItemKind::Binding { pattern, value } = &parsed.items[0].kind else {
        panic!("{:?}", parsed.items)
    };
    assert_eq!(&text[pattern.span.range()], "é");
    assert_eq!(&text[value.span.range()], "f (a + b)[0]");
    assert_eq!(&text[parsed.items[0].span.range()], "é = f (a + b)[0]");
}
