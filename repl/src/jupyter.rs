//! `weft jupyter …`: hands over to the kernel.

use weft_jupyter_kernel::command::{self, Ending};
use weft_session::{Config, memory};

use crate::output::Output;
use crate::{Exit, quiet_panics};

/// Does what the arguments after `weft jupyter` say.
pub(crate) fn run(output: &mut Output) -> Exit {
    quiet_panics();
    let config = Config { memory: memory::default_limit(), io: true };
    let arguments = std::env::args_os().skip(2);
    let mut say = |line: &str| {
        output.line(line);
        output.flush();
    };
    match command::run(arguments, &config, &mut say) {
        Ending::Success => Exit::Success,
        Ending::Failure(problem) => {
            if !problem.is_empty() {
                output.error_line(&format!("weft: {problem}"));
            }
            Exit::ProgramError
        }
        Ending::Usage(problem) => {
            output.error_line(&format!("weft: {problem}"));
            output.error_line("`weft jupyter --help` shows how to use it");
            Exit::Usage
        }
    }
}
