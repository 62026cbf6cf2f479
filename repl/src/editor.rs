//! The line editor behind a small trait, so that it can be replaced.
//!
//! It is our own: rustyline has neither a continuation prompt nor a menu of completions with types,
//! and reedline, which has both, cannot indent a further line and asks the terminal where its cursor
//! is. A picture of the cell is a function of the text ([`screen`]), drawn again after each key.

mod colours;
mod keys;
mod menu;
mod pasted;
mod plain;
mod prompter;
mod recall;
mod screen;
mod search;
mod terminal;
mod text;

use terminal::Silence;

use std::io::IsTerminal as _;
use std::path::PathBuf;

use weft_session::{Completeness, Snapshot, completeness};

/// What a person does at the prompt.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Input {
    /// Enters a cell.
    Cell(String),
    /// Throws the line away with Ctrl-C.
    Cleared,
    /// Leaves with Ctrl-D.
    End,
    /// The terminal fails.
    Failed(String),
}

/// Reads cells from a person.
pub(crate) trait LineEditor {
    /// Reads a cell, of as many lines as it takes.
    fn read(&mut self, prompt: &str) -> Input;
    /// Whether the cell that was read is to be interrupted: Ctrl-C was typed right behind it, when there was
    /// nothing to interrupt yet.
    fn interrupts_cell(&self) -> bool;
    /// Adds a cell to the history, on disk too; a sentence, once, if that fails.
    fn remember(&mut self, cell: &str) -> Option<String>;
    /// Keeps what is typed from the screen, on which a cell writes, until the answer is dropped. The next
    /// cell gets it.
    fn hush(&self) -> Hushed;
    /// What names and types completion offers from now on.
    fn look_at(&mut self, snapshot: Snapshot);
}

/// A terminal that does not echo, if it could be told so.
#[derive(Debug)]
pub(crate) struct Hushed(#[expect(dead_code, reason = "it is kept to be dropped")] Option<Silence>);

/// The editor that this terminal allows.
pub(crate) fn open_editor(history: Option<PathBuf>, colour: bool) -> Box<dyn LineEditor> {
    let term = std::env::var("TERM").unwrap_or_default();
    let is_plain = matches!(&*term, "" | "dumb" | "cons25" | "emacs");
    match is_plain || !std::io::stdout().is_terminal() {
        true => Box::new(plain::PlainEditor),
        false => Box::new(prompter::Prompter::new(history, colour)),
    }
}

/// What stands before the further lines of a cell, under its prompt.
fn continuation(prompt: &str) -> String {
    let width = prompt.trim_end().chars().count();
    format!("{} ", "·".repeat(width))
}

/// By how much a further line is indented, if the cell needs one. A blank last line ends every
/// cell: otherwise nobody could leave one that asks for more.
fn further_indent(cell: &str) -> Option<usize> {
    let ends_blank = cell.contains('\n') && cell.rsplit('\n').next().is_some_and(is_blank);
    match completeness(cell) {
        Completeness::Incomplete { indent } if !ends_blank => Some(indent),
        Completeness::Incomplete { .. } | Completeness::Complete | Completeness::Invalid => None,
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::{continuation, further_indent};

    #[test]
    fn cells_that_are_whole_or_hopeless_are_run() {
        assert_eq!(further_indent("1 + 1"), None);
        assert_eq!(further_indent("1 + )"), None);
        assert_eq!(further_indent(":type (1"), None);
        assert_eq!(further_indent("sum?"), None);
    }

    #[test]
    fn other_cells_go_on_indented() {
        assert!(further_indent("sum (iota 10").is_some_and(|indent| indent > 0));
        assert!(further_indent("def f x =").is_some_and(|indent| indent > 0));
        assert_eq!(further_indent("sum (iota 10\n  "), None);
    }

    #[test]
    fn further_lines_stand_under_the_first() {
        assert_eq!(continuation("12> "), "··· ");
    }
}
