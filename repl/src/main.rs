//! The command `weft`: an interactive session, or a program run from a file, an expression or
//! standard input.

mod arguments;
mod config;
mod editor;
mod fuzz;
mod graphics;
mod history;
mod interrupt;
mod jupyter;
mod output;
mod pager;
mod pages;
mod prompt;
mod script;

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;

use weft_session::{Config, Session, memory};

use arguments::{Arguments, Mode, Request};
use interrupt::Interrupts;
use output::Output;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Exit {
    /// All is well.
    Success,
    /// The program that was run is wrong.
    ProgramError,
    /// The command line is wrong.
    Usage,
    /// This program is wrong.
    Bug,
    /// The output could not be written.
    Unwritten,
    /// Ctrl-C.
    Interrupted,
}

impl Exit {
    fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::ProgramError => 1,
            Exit::Usage => 2,
            Exit::Bug => 3,
            Exit::Unwritten => 4,
            Exit::Interrupted => 130,
        }
    }
}

fn main() -> ExitCode {
    outlive_file_limits();
    let mut output = Output::new();
    let verb = std::env::args_os().nth(1).unwrap_or_default();
    let exit = match verb.to_str() {
        Some("jupyter") => jupyter::run(&mut output),
        Some("test") => pages::run(&mut output),
        Some("fuzz") => fuzz::run(&mut output),
        Some(_) | None => match arguments::parse(std::env::args_os()) {
            Ok(Request::Run(arguments)) => run(&arguments, &mut output),
            Ok(Request::Print(text)) => {
                output.line(&text);
                Exit::Success
            }
            Err(problem) => {
                output.error_line(&format!("weft: {problem}"));
                output.error_line("`weft --help` shows how to use it");
                Exit::Usage
            }
        },
    };
    let exit = if output.finish() || exit != Exit::Success { exit } else { Exit::Unwritten };
    ExitCode::from(exit.code())
}

fn run(arguments: &Arguments, output: &mut Output) -> Exit {
    quiet_panics();
    let config = Config { memory: memory::default_limit(), io: arguments.io };
    let mut session = Session::new(&config);
    if let Err(problem) = set_modes(&mut session, arguments) {
        output.error_line(&format!("weft: {problem}"));
        return Exit::Usage;
    }
    let interrupts = Interrupts::install();
    match &arguments.mode {
        Mode::Expression(text) => {
            session.let_load_input();
            script::bind_arguments(&mut session, &arguments.rest);
            script::run(&mut session, script::Program::expression(text), &interrupts, output)
        }
        Mode::File(path) => match script::Program::file(path) {
            Ok(program) => {
                session.let_load_input();
                script::bind_arguments(&mut session, &arguments.rest);
                script::run(&mut session, program, &interrupts, output)
            }
            Err(problem) => {
                output.error_line(&format!("weft: {problem}"));
                if path.as_os_str() == "run" {
                    output
                        .error_line("a program runs without a word before it: `weft program.weft`");
                }
                Exit::Usage
            }
        },
        Mode::Interactive if std::io::stdin().is_terminal() => {
            if arguments.config {
                config::load(&mut session, &interrupts, output);
                // The command line has the last word; what it says was right above.
                let _ = set_modes(&mut session, arguments);
            }
            prompt::run(&mut session, &interrupts, output)
        }
        Mode::Interactive | Mode::StandardInput => match script::Program::standard_input() {
            Ok(program) => script::run(&mut session, program, &interrupts, output),
            Err(problem) => {
                output.error_line(&format!("weft: {problem}"));
                Exit::Usage
            }
        },
    }
}

/// Sets the modes of the command line; the error says what would be right.
fn set_modes(session: &mut Session, arguments: &Arguments) -> Result<(), String> {
    arguments.modes.iter().try_for_each(|(name, value)| session.set_mode(name, value))
}

/// A file that may not become longer is an error of that write, as on a disk that is full, and not the end of
/// the process. (A handler, unlike a signal that is ignored, is not handed on to the programs that this one starts.)
fn outlive_file_limits() {
    // Without a handler the system ends the process, as it does by default.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
}

/// A panic is a bug that the session survives and reports; the default message would come on top
/// of that. With RUST_BACKTRACE set it comes all the same, for those who look for the bug.
fn quiet_panics() {
    if std::env::var_os("RUST_BACKTRACE").is_none() {
        std::panic::set_hook(Box::new(|_| {}));
    }
}
