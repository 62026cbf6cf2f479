//! The prompt on a pseudo-terminal.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};

/// How long an answer may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// A session with somebody who types.
struct Terminal {
    keyboard: Pty,
    screen: Receiver<Vec<u8>>,
    seen: String,
    child: Child,
}

impl Terminal {
    fn open(home: &Path, variables: &[(&str, &str)]) -> Terminal {
        let (keyboard, seat) = open().expect("a pseudo-terminal");
        keyboard.resize(Size::new(30, 80)).expect("its size");
        let child = Command::new(env!("CARGO_BIN_EXE_weft"))
            .env("TERM", "xterm-256color")
            .env("HOME", home)
            .env_remove("XDG_STATE_HOME")
            .env_remove("WEFT_HISTORY")
            .env_remove("NO_COLOR")
            .envs(variables.iter().copied())
            .spawn(seat)
            .expect("the command starts");
        let (sender, screen) = channel();
        let descriptor: std::os::fd::OwnedFd =
            std::os::fd::AsFd::as_fd(&keyboard).try_clone_to_owned().expect("a second handle");
        let mut reader = std::fs::File::from(descriptor);
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            // Reading fails when the other side is closed.
            while let Ok(count) = reader.read(&mut buffer) {
                if count == 0 || sender.send(buffer[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        let mut terminal = Terminal { keyboard, screen, seen: String::new(), child };
        terminal.expect("1> ");
        terminal
    }

    fn keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Types a cell, and waits for the answer and for the next prompt.
    #[track_caller]
    fn cell(&mut self, keys: &str, expect: &str) {
        self.keys(keys);
        self.keys("\r");
        self.expect("\n");
        self.expect(expect);
        self.expect("> ");
    }

    /// Waits until that text appears, and forgets everything up to there.
    #[track_caller]
    fn expect(&mut self, text: &str) {
        let started = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = PATIENCE.saturating_sub(started.elapsed());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.seen.push_str(&without_escapes(&String::from_utf8_lossy(&bytes))),
                Err(_) => panic!("{text:?} does not appear, but\n{}", self.seen),
            }
        }
    }

    /// Waits for the end; the exit code.
    #[track_caller]
    fn end(mut self) -> Option<i32> {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().expect("the child can be asked") {
                return status.code();
            }
            thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        panic!("the session does not end");
    }
}

/// The text without escape sequences of colours and cursor movements.
fn without_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c == '\x1b' {
            // `ESC [ parameters letter`, or a single character.
            if characters.next() == Some('[') {
                characters.by_ref().find(|c| c.is_ascii_alphabetic());
            }
        } else {
            out.push(c);
        }
    }
    out
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a folder for temporary files")
}

#[test]
fn values_bindings_and_errors() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("x = iota 1000000", "x : [1000000]i64");
    terminal.cell("sum x + 1", "499999500001");
    terminal.cell("it", "499999500001");
    terminal.cell("x + nothing", "E0201");
    terminal.cell("length x", "1000000");
    terminal.keys(CTRL_D);
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn an_error_has_a_caret_under_the_place() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("1 + true\r");
    terminal.expect("In[1]:1:");
    terminal.expect("1 + true");
    terminal.expect("─┬");
    terminal.expect("2> ");
}

#[test]
fn a_cell_goes_on_until_it_is_whole() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("def f x =\r");
    terminal.keys("let y = x + 1\r");
    terminal.keys("in y * y\r");
    terminal.expect("f : Num a => a -> a");
    terminal.expect("2> ");
    terminal.cell("f 2", "9");
    // A blank line ends a cell that would go on for ever.
    terminal.keys("sum (\r\r");
    terminal.expect("E01");
    terminal.expect("4> ");
}

#[test]
fn pasted_lines_are_one_cell() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("\x1b[200~a = 1\nb = 2\na + b\x1b[201~\r");
    terminal.expect("a : i64");
    terminal.expect("b : i64");
    terminal.expect("3");
    terminal.expect("2> ");
}

#[test]
fn ctrl_c_clears_the_line() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("1 + (2 +");
    terminal.expect("(2 +");
    terminal.keys(CTRL_C);
    terminal.expect("1> ");
    terminal.cell("3 * 3", "9");
}

#[test]
fn ctrl_c_cancels_and_bindings_survive() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("x = 42", "x : i64");
    terminal.keys("x = loop a = 0 while true do a + 1\r");
    terminal.expect("\n");
    thread::sleep(Duration::from_millis(300));
    let pressed = Instant::now();
    terminal.keys(CTRL_C);
    terminal.expect("interrupted");
    // 200 ms is the promise on a quiet machine; the tests may share theirs.
    assert!(pressed.elapsed() < Duration::from_secs(2), "{:?}", pressed.elapsed());
    terminal.expect("3> ");
    terminal.cell("x", "42");
    terminal.keys(":quit\r");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn history_lasts_over_sessions() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("6 * 7", "42");
    terminal.keys("def g x =\rx - 1\r");
    terminal.expect("g : ");
    terminal.expect("3> ");
    terminal.keys(CTRL_D);
    terminal.end();
    let file = home.path().join(".local/state/weft/history");
    assert!(file.exists(), "no history file");
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys(UP);
    terminal.expect("x - 1");
    terminal.keys("\r");
    terminal.expect("g : ");
    terminal.expect("2> ");
    // The first takes the last cell, the second goes up within it, the third takes the one before.
    terminal.keys(UP);
    terminal.keys(UP);
    terminal.keys(UP);
    terminal.expect("6 * 7");
    terminal.keys("\r");
    terminal.expect("\n42");
}

#[test]
fn a_home_that_is_missing_or_read_only_does_no_harm() {
    let mut terminal = Terminal::open(Path::new("/no/such/home"), &[]);
    terminal.cell("1 + 1", "2");
    terminal.cell("2 + 2", "4");
    let home = home();
    let foreign = home.path().join("history");
    std::fs::write(&foreign, b"\xff\xfe not a history").expect("a file");
    let variables = [("WEFT_HISTORY", foreign.to_str().expect("a plain path"))];
    let mut terminal = Terminal::open(home.path(), &variables);
    terminal.cell("1 + 1", "2");
}

#[test]
fn colours_are_refused_on_request() {
    let home = home();
    for variable in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let mut terminal = Terminal::open(home.path(), &[variable]);
        terminal.cell("1 + 1", "2");
        terminal.cell("x = 3", "x : i64");
    }
}
