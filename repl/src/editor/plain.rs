//! Reads cells line by line where the terminal cannot do more, or is none.

use std::io::{self, BufRead as _, Write as _};

use weft_session::Snapshot;

use super::{Hushed, Input, LineEditor, continuation, further_indent};

/// Reads lines as the system delivers them.
#[derive(Debug)]
pub(super) struct PlainEditor;

impl LineEditor for PlainEditor {
    fn read(&mut self, prompt: &str) -> Input {
        let mut cell = String::new();
        loop {
            let shown = if cell.is_empty() { prompt.to_owned() } else { continuation(prompt) };
            let mut screen = io::stdout();
            // Who cannot be asked can still answer.
            let _ = screen.write_all(shown.as_bytes()).and_then(|()| screen.flush());
            let mut line = String::new();
            match io::stdin().lock().read_line(&mut line) {
                Ok(0) if cell.is_empty() => return Input::End,
                Ok(0) => return Input::Cell(cell),
                Ok(_) => {}
                Err(error) => return Input::Failed(format!("cannot read: {error}")),
            }
            let line = line.trim_end_matches(['\n', '\r']);
            if !cell.is_empty() {
                cell.push('\n');
            }
            cell.push_str(line);
            if further_indent(&cell).is_none() {
                return Input::Cell(cell);
            }
        }
    }

    fn interrupts_cell(&self) -> bool {
        // The system has sent its signal.
        false
    }

    fn remember(&mut self, _cell: &str) -> Option<String> {
        None
    }

    fn hush(&self) -> Hushed {
        Hushed(None)
    }

    fn look_at(&mut self, _snapshot: Snapshot) {}
}
