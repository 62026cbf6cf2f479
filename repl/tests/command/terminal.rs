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
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";
const UP: &str = "\x1b[A";

/// A session with somebody who types.
pub(crate) struct Terminal {
    keyboard: Pty,
    screen: Receiver<Vec<u8>>,
    /// The end of what was written, as long as it may be half of something.
    half: Vec<u8>,
    pub(crate) seen: String,
    child: Child,
}

impl Terminal {
    pub(crate) fn open(home: &Path, variables: &[(&str, &str)]) -> Terminal {
        Terminal::open_with(home, variables, &[])
    }

    fn open_with(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Terminal {
        let mut terminal = Terminal::start(home, variables, arguments);
        terminal.expect("1> ");
        terminal
    }

    /// As [`Terminal::open_with`], without waiting for the prompt.
    fn start(home: &Path, variables: &[(&str, &str)], arguments: &[&str]) -> Terminal {
        let (keyboard, seat) = open().expect("a pseudo-terminal");
        keyboard.resize(Size::new(30, 80)).expect("its size");
        let child = Command::new(env!("CARGO_BIN_EXE_weft"))
            .env("TERM", "xterm-256color")
            .env("HOME", home)
            .args(arguments)
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("COLORTERM")
            .env_remove("KITTY_WINDOW_ID")
            .env_remove("TERM_PROGRAM")
            .env_remove("TMUX")
            .env_remove("STY")
            .env_remove("WEFT_PAGER")
            .env("PAGER", "")
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
        Terminal { keyboard, screen, half: Vec::new(), seen: String::new(), child }
    }

    pub(crate) fn keys(&mut self, keys: &str) {
        self.keyboard.write_all(keys.as_bytes()).expect("the terminal takes keys");
    }

    /// Types a cell, and waits for the answer and for the next prompt.
    #[track_caller]
    pub(crate) fn cell(&mut self, keys: &str, expect: &str) {
        self.keys(keys);
        self.keys("\r");
        self.expect("\n");
        self.expect(expect);
        self.expect("> ");
    }

    /// Waits until that text appears, and forgets everything up to there.
    #[track_caller]
    pub(crate) fn expect(&mut self, text: &str) {
        let started = Instant::now();
        loop {
            if let Some(at) = self.seen.find(text) {
                self.seen.drain(..at + text.len());
                return;
            }
            let left = PATIENCE.saturating_sub(started.elapsed());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => panic!("{text:?} does not appear, but\n{}", self.seen),
            }
        }
    }

    /// Adds what was written, without escape sequences.
    fn take(&mut self, bytes: &[u8]) {
        self.half.extend_from_slice(bytes);
        let text = match std::str::from_utf8(&self.half) {
            Ok(text) => text,
            Err(error) => {
                std::str::from_utf8(&self.half[..error.valid_up_to()]).expect("valid up to there")
            }
        };
        let whole = match text.rfind('\x1b') {
            Some(at) if !text[at + 1..].contains(|c: char| c.is_ascii_alphabetic()) => at,
            _ => text.len(),
        };
        self.seen.push_str(&without_escapes(&text[..whole]));
        self.half.drain(..whole);
    }

    /// Whether that text appears soon.
    pub(crate) fn shows(&mut self, text: &str) -> bool {
        let started = Instant::now();
        while !self.seen.contains(text) {
            let left = Duration::from_millis(500).saturating_sub(started.elapsed());
            match self.screen.recv_timeout(left) {
                Ok(bytes) => self.take(&bytes),
                Err(_) => return false,
            }
        }
        true
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

pub(crate) fn home() -> tempfile::TempDir {
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
    assert!(pressed.elapsed() < Duration::from_secs(10), "{:?}", pressed.elapsed());
    terminal.expect("3> ");
    terminal.cell("x", "42");
    terminal.keys(":quit\r");
    assert_eq!(terminal.end(), Some(0));
}

#[test]
fn long_work_of_known_size_shows_how_far_it_is() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("loop x = 0 for i < 10 ** 11 do (x + i) % 7\r");
    terminal.expect(" 0 % evaluating In[1]");
    terminal.keys(CTRL_C);
    terminal.expect("interrupted");
    terminal.expect("2> ");
}

#[test]
fn ctrl_c_right_behind_a_cell_interrupts_it() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("loop a = 0 while true do a + 1\r\x03");
    terminal.expect("interrupted");
    terminal.expect("2> ");
    terminal.cell("1 + 1", "2");
}

#[test]
fn ctrl_c_ends_a_long_text() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[("PAGER", "")]);
    terminal.keys(":set text 40000000\r");
    terminal.expect("2> ");
    // The system may forget to tell the writer that the terminal has room again, though not often.
    for number in 3..13 {
        terminal.keys(":show fill 30000000 'x'\r");
        terminal.expect("xxxx");
        terminal.keys(CTRL_C);
        terminal.expect("interrupted: the rest is not written");
        terminal.expect(&format!("{number}> "));
    }
}

#[test]
fn signals_that_end_it_leave_the_terminal_in_order() {
    use rustix::termios::{LocalModes, tcgetattr};
    use std::os::unix::process::ExitStatusExt as _;
    for (name, signal) in [("TERM", 15), ("HUP", 1), ("QUIT", 3)] {
        let home = home();
        let mut terminal = Terminal::open(home.path(), &[]);
        terminal.keys("1 +");
        terminal.expect("1 +");
        let modes = |terminal: &Terminal| tcgetattr(&terminal.keyboard).expect("modes").local_modes;
        assert!(!modes(&terminal).contains(LocalModes::ICANON), "it is raw");
        let id = terminal.child.id().to_string();
        let sent = std::process::Command::new("sh")
            .args(["-c", &format!("ulimit -c 0; kill -{name} {id}")])
            .status()
            .expect("a shell");
        assert!(sent.success());
        let status = terminal.child.wait().expect("its end");
        assert_eq!(status.signal(), Some(signal));
        assert!(modes(&terminal).contains(LocalModes::ICANON | LocalModes::ECHO), "after {name}");
    }
}

#[test]
fn a_history_that_is_a_pipe_is_refused() {
    let home = home();
    let pipe = home.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("a program");
    assert!(made.success());
    let variables = [("WEFT_HISTORY", pipe.to_str().expect("a plain path"))];
    let mut terminal = Terminal::open(home.path(), &variables);
    terminal.keys("1 + 1\r");
    terminal.expect("is not kept in");
    terminal.expect("a device or a pipe");
    terminal.expect("2> ");
    // This is no mistake.
    let mut terminal = Terminal::open(home.path(), &[("WEFT_HISTORY", "/dev/null")]);
    terminal.keys("1 + 1\r");
    terminal.expect("\n2");
    terminal.expect("2> ");
    assert!(!terminal.seen.contains("not kept"));
}

#[test]
fn a_history_whose_folder_goes_is_begun_again() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("6 * 7", "42");
    let folder = home.path().join(".local/state/weft");
    std::fs::remove_dir_all(&folder).expect("the folder");
    terminal.cell("6 * 8", "48");
    let kept = std::fs::read_to_string(folder.join("history")).expect("the history");
    assert!(kept.contains("6 * 8"), "{kept}");
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

#[test]
fn the_type_of_the_line_so_far_is_shown() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys("sum (map sqrt [1.0");
    // On a busy machine the answer may come too late; another key asks again.
    let asked = (0..40).any(|_| {
        let found = terminal.shows("  : f64");
        terminal.keys(" \x7f");
        found
    });
    assert!(asked, "{}", terminal.seen);
    terminal.keys("])\r");
    terminal.expect("\n1.0");
    // Without colours it would look like something typed.
    let mut terminal = Terminal::open(home.path(), &[("NO_COLOR", "1")]);
    terminal.keys("1 + 1");
    terminal.keys("\r");
    terminal.expect("\n2");
    assert!(!terminal.seen.contains(": i64"), "{}", terminal.seen);
}

#[test]
fn the_history_is_searched_backwards() {
    const CTRL_R: &str = "\x12";
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("6 * 7", "42");
    terminal.cell("1 + 1", "2");
    terminal.keys(CTRL_D);
    terminal.end();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys(CTRL_R);
    terminal.keys("6 *");
    terminal.expect("6 * 7");
    terminal.keys("\r");
    terminal.expect("\n42");
}

#[test]
fn long_values_go_to_the_pager_when_all_is_asked_for() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[("PAGER", "sed s/^/PAGED:/")]);
    terminal.cell(":show iota 2000", "PAGED:");
    terminal.cell("iota 2000", "[2000]i64 [0, 1, 2,");
    terminal.cell(":show iota 3", "[3]i64 [0, 1, 2]");
    // A pager that is missing, and none.
    for pager in ["no-such-pager-anywhere", ""] {
        let mut terminal = Terminal::open(home.path(), &[("PAGER", pager)]);
        terminal.cell(":show iota 2000", "1999]");
    }
}

#[test]
fn settings_are_read_and_their_errors_are_placed() {
    let home = home();
    let folder = home.path().join(".config/weft");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("config.weft");
    std::fs::write(&file, ":set float f32\ndef twice x = 2 * x\n").expect("a file");
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell(":type 1.5", "1.5 : f32");
    terminal.cell("twice 4", "8");
    terminal.cell(":undo", "there is nothing to undo");
    terminal.cell("twice 5", "10");
    let mut terminal = Terminal::open_with(home.path(), &[], &["--no-config"]);
    terminal.cell(":type 1.5", "1.5 : f64");
    std::fs::write(&file, ":set float f32\n:set flaot f32\n").expect("a file");
    let mut terminal = Terminal::start(home.path(), &[], &[]);
    terminal.expect("config.weft:2:");
    terminal.expect("1> ");
    terminal.cell(":type 1.5", "1.5 : f64");
}

#[test]
fn plots_and_pictures_are_drawn() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("plot [1, 3, 2]", "└─");
    terminal.cell(":plot [1, 3, 2]", "└─");
    terminal.cell("image [[0.0, 1.0]]", "▀▀");
    terminal.keys(":set pictures sixel\r");
    terminal.expect("5> ");
    terminal.cell("image [[0.0, 1.0]]", "2;100;100;100");
    let mut terminal = Terminal::open(home.path(), &[("KITTY_WINDOW_ID", "1")]);
    terminal.cell("image [[0.0, 1.0]]", "a=T,f=100");
    let mut terminal = Terminal::open(home.path(), &[("NO_COLOR", "1")]);
    terminal.cell("image [[0.0, 1.0]]", "a picture of 2 by 1 pixels");
}

#[test]
fn what_a_cell_costs_is_shown_on_request() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.keys(":set footer on\r");
    terminal.expect("2> ");
    terminal.cell("1 + 1", "parse ");
    terminal.keys(":set footer off\r");
    terminal.expect("4> ");
    terminal.keys("2 + 2\r");
    terminal.expect("5> ");
    assert!(!terminal.seen.contains("parse"), "{}", terminal.seen);
}

#[test]
fn commands_are_told_by_their_beginning_and_shown_with_an_example() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell(":ty 1", "1 : i64");
    terminal.cell(":help type", "map sqrt : Float a => []a -> []a");
}

#[test]
fn completions_are_listed_with_their_types() {
    const TAB: &str = "\t";
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    terminal.cell("point = {north = 1.5, east = 2}", "point : {");
    terminal.keys("argm");
    terminal.keys(TAB);
    terminal.expect("argmax  Ord a => []a -> i64");
    terminal.expect("argmin  Ord a => []a -> i64");
    terminal.keys(TAB);
    terminal.keys(TAB);
    terminal.keys("\r [3, 1, 2]\r");
    terminal.expect("\n1");
    terminal.expect("3> ");
    terminal.keys("point.n");
    terminal.keys(TAB);
    terminal.cell("", "1.5");
    terminal.keys(":set foo");
    terminal.keys(TAB);
    terminal.keys(" of");
    terminal.keys(TAB);
    terminal.expect(":set footer off");
}

#[test]
fn further_lines_have_a_prompt_of_their_own() {
    let home = home();
    for term in ["xterm-256color", "dumb"] {
        let mut terminal = Terminal::open(home.path(), &[("TERM", term)]);
        terminal.keys("def f x =\r");
        terminal.expect("·· ");
        terminal.keys("  x * 2\r");
        terminal.expect("2> ");
        terminal.cell("f 21", "42");
    }
}

#[test]
fn a_cell_is_edited_over_its_lines() {
    let home = home();
    let mut terminal = Terminal::open(home.path(), &[]);
    // Up, to the beginning of the line, a word cut; down, and back in at the end.
    terminal.keys("g = (iota 3,\r4)");
    terminal.keys(UP);
    terminal.keys("\x01\x1bd");
    terminal.keys("h");
    terminal.keys("\x1b[B\x05\r");
    terminal.expect("h : ([3]i64, i64)");
}
