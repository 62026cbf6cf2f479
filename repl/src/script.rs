//! Programs that nobody types: a file, an expression, standard input. Values and errors are
//! printed, bindings are not.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};

use weft_files::read_at_most;
use weft_session::{Cell, Outcome, SOURCE_BYTES, Session};

use crate::Exit;
use crate::interrupt::Interrupts;
use crate::output::{Output, Plain};

/// A program with its name.
pub(crate) struct Program {
    name: String,
    text: String,
    directory: PathBuf,
}

impl Program {
    /// The program in a file; the error says why there is none.
    pub(crate) fn file(path: &Path) -> Result<Program, String> {
        let name = path.display().to_string();
        // What `<(…)` of a shell names is a pipe, so any kind of file will do, but none without end.
        let bytes = File::open(path)
            .and_then(|file| read_at_most(file, SOURCE_BYTES))
            .map_err(|error| format!("cannot read {name}: {error}"))?;
        let directory = path.parent().map(Path::to_owned).unwrap_or_default();
        Ok(Program { text: decode(bytes, &name)?, name, directory })
    }

    /// The program on standard input.
    pub(crate) fn standard_input() -> Result<Program, String> {
        let bytes = read_at_most(std::io::stdin(), SOURCE_BYTES)
            .map_err(|error| format!("cannot read standard input: {error}"))?;
        let name = "<stdin>".to_owned();
        Ok(Program { text: decode(bytes, &name)?, name, directory: PathBuf::new() })
    }

    /// The program of `-e`.
    pub(crate) fn expression(text: &str) -> Program {
        Program { name: "-e".to_owned(), text: text.to_owned(), directory: PathBuf::new() }
    }
}

/// Gives a program its arguments: `args`, an array of texts.
pub(crate) fn bind_arguments(session: &mut Session, arguments: &[OsString]) {
    let texts: Vec<String> =
        arguments.iter().map(|argument| argument.to_string_lossy().into_owned()).collect();
    session.bind_texts("args", &texts);
}

/// Runs a program as one cell.
pub(crate) fn run(
    session: &mut Session,
    program: Program,
    interrupts: &Interrupts,
    output: &mut Output,
) -> Exit {
    let cell =
        Cell { name: Some(&program.name), text: &program.text, directory: &program.directory };
    let outcome = interrupts.during(|cancel| {
        let mut sink = Plain { output, cancel: cancel.clone() };
        session.eval(cell, &mut sink, cancel)
    });
    match outcome {
        // The reader of the output wanted no more of it, and that is all there is to say.
        Outcome::Interrupted if output.is_closed() => Exit::Success,
        // It has been said that the output is not whole.
        Outcome::Done | Outcome::Quit if output.take_cut() => Exit::Interrupted,
        Outcome::Done | Outcome::Quit => Exit::Success,
        Outcome::Failed(_) => Exit::ProgramError,
        Outcome::Bug(_) => Exit::Bug,
        Outcome::Interrupted => {
            output.error_line("interrupted");
            Exit::Interrupted
        }
    }
}

fn decode(bytes: Vec<u8>, name: &str) -> Result<String, String> {
    String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..position].iter().filter(|byte| **byte == b'\n').count();
        format!("{name} is not UTF-8: byte {position}, in line {line}")
    })
}
