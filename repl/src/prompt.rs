//! The interactive session.

use weft_session::{Cell, Outcome, Session};

use crate::Exit;
use crate::editor::{Input, open_editor};
use crate::history;
use crate::interrupt::Interrupts;
use crate::output::{Interactive, Output};

/// Reads cells and evaluates them until the user leaves.
pub(crate) fn run(session: &mut Session, interrupts: &Interrupts, output: &mut Output) -> Exit {
    interrupts.stay_alive();
    let mut editor = open_editor(history::file(), output.colour());
    output.line(&format!(
        "Weft {}. `:help` lists the commands, Ctrl-D leaves.",
        env!("CARGO_PKG_VERSION")
    ));
    output.flush();
    loop {
        editor.look_at(session.snapshot());
        match editor.read(&format!("{}> ", session.next_number())) {
            Input::Cell(text) => {
                let is_interrupted = editor.interrupts_cell();
                if let Some(problem) = editor.remember(&text) {
                    output.error_line(&format!("weft: {problem}"));
                }
                let hushed = editor.hush();
                let outcome = evaluate(session, &text, is_interrupted, interrupts, output);
                drop(hushed);
                if outcome == Outcome::Quit {
                    return Exit::Success;
                }
            }
            Input::Cleared => {}
            Input::End => {
                output.line("");
                return Exit::Success;
            }
            Input::Failed(problem) => {
                output.error_line(&format!("weft: {problem}"));
                return Exit::ProgramError;
            }
        }
        if output.is_closed() {
            return Exit::Success;
        }
    }
}

fn evaluate(
    session: &mut Session,
    text: &str,
    is_interrupted: bool,
    interrupts: &Interrupts,
    output: &mut Output,
) -> Outcome {
    let outcome = interrupts.during(|cancel| {
        let mut sink = Interactive { output, cancel: cancel.clone() };
        if is_interrupted {
            cancel.cancel();
        }
        session.eval(Cell::typed(text), &mut sink, cancel)
    });
    output.clear_status();
    // It has been said.
    output.take_cut();
    match &outcome {
        Outcome::Interrupted => output.error_line("interrupted; everything is as before"),
        Outcome::Done | Outcome::Quit | Outcome::Failed(_) | Outcome::Bug(_) => {}
    }
    outcome
}
