//! What a line editor is told, and the classes of tokens.

use weft_lang::syntax::{Completeness, TokenClass, completeness, tokens};

fn complete(text: &str) {
    assert_eq!(completeness(text), Completeness::Complete, "{text}");
}

fn incomplete(text: &str, indent: usize) {
    assert_eq!(completeness(text), Completeness::Incomplete { indent }, "{text}");
}

fn invalid(text: &str) {
    assert_eq!(completeness(text), Completeness::Invalid, "{text}");
}

#[test]
fn whole_texts() {
    for text in [
        "",
        "\n",
        "-- c",
        "1",
        "x = 1",
        "x = 1\n",
        "def f x = x",
        "sum xs;",
        ":time (",
        ":quit",
        "let x = 1 in x",
        "if a then b else c",
        "[1,\n 2]",
        "{- c -}",
        "\"(\"",
        "'('",
    ] {
        complete(text);
    }
}

#[test]
fn texts_that_end_early() {
    incomplete("(", 2);
    incomplete("f (a,", 3);
    incomplete("f (a,\n", 3);
    incomplete("xs = [1, 2", 6);
    incomplete("{ x : x in", 2);
    incomplete("xs[", 2);
    incomplete("1 +", 2);
    incomplete("x =", 2);
    incomplete("def", 2);
    incomplete("def f", 2);
    incomplete("def f x =", 2);
    incomplete("def f x =\n  x +", 2);
    incomplete("def f x : ", 2);
    incomplete("type t =", 2);
    incomplete("import", 2);
    incomplete("let", 2);
    incomplete("let x = 1", 4);
    incomplete("let x = 1\n    y = 2", 4);
    incomplete("let x = 1 in", 2);
    incomplete("def f x =\n  let y = 1", 6);
    incomplete("if a", 2);
    incomplete("if a then", 2);
    incomplete("if a then b", 2);
    incomplete("if a then b else", 2);
    incomplete("loop x = 0", 2);
    incomplete("loop x = 0 for i < n", 2);
    incomplete("loop x = 0 for i < n do", 2);
    incomplete("\\x", 2);
    incomplete("\\x ->", 2);
    incomplete("xs |>", 2);
    incomplete("{- c", 2);
    incomplete("{r with", 1);
    incomplete("(a with [0] =", 1);
    incomplete("(x : ", 1);
    incomplete("x = 1\ny = (", 2);
    incomplete("x = 1\ny = (1 +", 5);
}

#[test]
fn texts_that_no_line_puts_right() {
    for text in [
        ")",
        "(]",
        "f (a]",
        "x = = 1",
        "1 + * 2",
        "\"abc",
        "'ab'",
        "@",
        "def in = 1",
        "a < b < c (",
        "x = (\ny = 2",
        "1 + * (",
        "f x = 1",
        "300u8",
        "(1 + * 2",
        "let x = 1\ny",
        "{ 1 : 2 in",
        "\"\\q\" +",
        "a, b",
    ] {
        invalid(text);
    }
}

#[test]
fn classes() {
    let text = ":time def f x = [1, 'c'] -- é\nlet y.z : i64 in {- c -} \"t\" @ _";
    let found: Vec<String> = tokens(text)
        .into_iter()
        .map(|(class, range)| format!("{class:?} {}", &text[range]))
        .collect();
    assert_eq!(
        found,
        [
            "Command :time",
            "Keyword def",
            "Name f",
            "Name x",
            "Punctuation =",
            "Bracket [",
            "Number 1",
            "Punctuation ,",
            "String 'c'",
            "Bracket ]",
            "Comment -- é",
            "Keyword let",
            "Name y",
            "Field .z",
            "Punctuation :",
            "Type i64",
            "Keyword in",
            "Comment {- c -}",
            "String \"t\"",
            "Invalid @",
            "Name _",
        ]
    );
}

#[test]
fn numbers_in_bulk_have_their_colours() {
    let text = format!("[{}1]", "1, ".repeat(100));
    let numbers = tokens(&text).into_iter().filter(|(class, _)| *class == TokenClass::Number);
    assert_eq!(numbers.count(), 101);
}

#[test]
fn unfinished_text_has_colours_too() {
    let classes = |text| tokens(text).into_iter().map(|(class, _)| class).collect::<Vec<_>>();
    assert_eq!(classes("\"abc"), [TokenClass::Invalid]);
    assert_eq!(classes("{- abc"), [TokenClass::Comment]);
    assert_eq!(classes("x = ("), [TokenClass::Name, TokenClass::Punctuation, TokenClass::Bracket]);
}
