//! What is typed while something else goes on.

use std::thread;
use std::time::{Duration, Instant};

use crate::terminal::{CTRL_C, Terminal, home};

#[test]
fn ctrl_c_ends_the_formatting_of_a_value() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[("PAGER", "")]);
    terminal.cell(":set elements 100000000", "");
    terminal.cell("xs = iota 20000000", "xs : [20000000]i64");
    terminal.keys("xs\r");
    terminal.expect("\n");
    thread::sleep(Duration::from_millis(500));
    let pressed = Instant::now();
    terminal.keys(CTRL_C);
    terminal.expect("interrupted: it is not written");
    assert!(pressed.elapsed() < Duration::from_secs(5), "{:?}", pressed.elapsed());
    terminal.expect("4> ");
    terminal.cell("length it", "20000000");
}

#[test]
fn what_is_typed_during_a_run_is_not_echoed_and_comes_next() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("loop x = 0 for i < 10 ** 11 do (x + i) % 7\r");
    terminal.expect(" % evaluating In[1]");
    terminal.keys("40 + 2");
    assert!(!terminal.shows("40 + 2"), "{}", terminal.seen);
    terminal.keys("\r");
    thread::sleep(Duration::from_millis(100));
    terminal.keys(CTRL_C);
    terminal.expect("interrupted");
    // The system throws away what was typed before Ctrl-C.
    terminal.expect("2> ");
    terminal.keys("sum { sum (iota 1000000) + i : i in iota 300 } * 0\r");
    terminal.expect("\n");
    terminal.keys("40 + 2\r");
    terminal.expect("3> 40 + 2");
    terminal.expect("42");
}

#[test]
fn a_search_without_a_match_says_so() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("1 + 1", "2");
    terminal.keys("\x12zzz");
    terminal.expect("no match");
    terminal.keys("\r");
    assert!(!terminal.shows("3> "), "{}", terminal.seen);
    // An escape that is slow is that of a key: up.
    terminal.keys("\x07\x1b");
    thread::sleep(Duration::from_millis(50));
    terminal.keys("[A");
    terminal.expect("1 + 1");
    terminal.keys("\r");
    terminal.expect("3> ");
}
