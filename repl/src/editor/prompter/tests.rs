//! The editor without a terminal: keys in, text out.

use std::path::Path;

use weft_session::{Cancel, Cell, Collected, Config, Session};

use super::{Input, Key, LineEditor as _, Next, Prompter};

fn editor() -> Prompter {
    let mut session = Session::new(&Config { memory: 1 << 30, io: false });
    let cell =
        Cell { name: None, text: "point = {abscissa = 1, ordinate = 2}", directory: Path::new("") };
    session.eval(cell, &mut Collected::default(), &Cancel::new());
    let mut editor = Prompter::new(None, false);
    editor.look_at(session.snapshot());
    editor
}

fn typed(editor: &mut Prompter, text: &str) {
    for c in text.chars() {
        editor.press(if c == '\n' { Key::Enter } else { Key::Char(c) });
    }
}

#[test]
fn further_lines_are_indented() {
    let mut editor = editor();
    typed(&mut editor, "def f x =\nx");
    assert_eq!(editor.text.as_str(), "def f x =\n  x");
    assert_eq!(editor.press(Key::Enter), Next::Done(Input::Cell("def f x =\n  x".to_owned())));
}

#[test]
fn lines_that_come_with_blanks_have_no_others() {
    let mut editor = editor();
    editor.keys.feed(b"def f x =\r  let y = x\r      z = y\r  in z");
    while let Some(key) = editor.keys.next(true) {
        editor.press(key);
    }
    assert_eq!(editor.text.as_str(), "def f x =\n  let y = x\n      z = y\n  in z");
}

#[test]
fn alt_enter_begins_a_line_under_the_one_before() {
    let mut editor = editor();
    typed(&mut editor, "def f x =\nx");
    editor.press(Key::OtherEnter);
    typed(&mut editor, "+ 1");
    assert_eq!(editor.text.as_str(), "def f x =\n  x\n  + 1");
}

#[test]
fn of_a_pasted_session_what_was_typed_is_there() {
    let mut editor = editor();
    editor.press(Key::Paste("1> x = 2\nx : i64\n2> x + 1\n3\n".to_owned()));
    assert_eq!(editor.text.as_str(), "x = 2\nx + 1");
}

#[test]
fn one_candidate_is_filled_in() {
    let mut editor = editor();
    typed(&mut editor, "point.abs");
    editor.press(Key::Tab);
    assert_eq!(editor.text.as_str(), "point.abscissa");
    typed(&mut editor, " + zzz");
    assert_eq!(editor.press(Key::Tab), Next::Beep);
}

#[test]
fn several_are_leafed_through() {
    let mut editor = editor();
    typed(&mut editor, "1 + scanl");
    editor.press(Key::Tab);
    assert_eq!(editor.text.as_str(), "1 + scanl");
    editor.press(Key::Tab);
    editor.press(Key::Tab);
    let second = editor.text.as_str().to_owned();
    assert!(second.starts_with("1 + scanl") && second != "1 + scanl", "{second}");
    editor.press(Key::BackTab);
    assert_eq!(editor.text.as_str(), "1 + scanl");
    editor.press(Key::Tab);
    assert_eq!(editor.press(Key::Enter), Next::Go);
    assert_eq!(editor.text.as_str(), second);
    editor.press(Key::Ctrl('w'));
    typed(&mut editor, "scanl");
    editor.press(Key::Tab);
    editor.press(Key::Tab);
    editor.press(Key::Tab);
    editor.press(Key::Escape);
    assert_eq!(editor.text.as_str(), "1 + scanl");
    // Further letters leave fewer.
    editor.press(Key::Tab);
    typed(&mut editor, "1");
    editor.press(Key::Tab);
    assert_eq!(editor.text.as_str(), "1 + scanl1");
}

#[test]
fn earlier_cells_are_found() {
    let mut editor = editor();
    for cell in ["sum xs", "product xs", "sum ys"] {
        editor.remember(cell);
    }
    editor.press(Key::Ctrl('r'));
    typed(&mut editor, "sum");
    editor.press(Key::Ctrl('r'));
    editor.press(Key::Right);
    assert_eq!(editor.text.as_str(), "sum xs");
    editor.press(Key::Ctrl('u'));
    typed(&mut editor, "pro");
    editor.press(Key::Up);
    assert_eq!(editor.text.as_str(), "product xs");
    editor.press(Key::Down);
    assert_eq!(editor.text.as_str(), "pro");
    editor.press(Key::Ctrl('r'));
    typed(&mut editor, "nothing like it");
    assert_eq!(editor.press(Key::Ctrl('c')), Next::Go);
    assert_eq!(editor.text.as_str(), "pro");
}

#[test]
fn pasted_lines_are_taken_as_they_are() {
    let mut editor = editor();
    editor.press(Key::Paste("a = 1\nb = (\n2)\n".to_owned()));
    assert_eq!(editor.text.as_str(), "a = 1\nb = (\n2)");
}
