//! The command line.

use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};

/// What `weft --help` prints.
const HELP: &str = "\
weft: a small functional array language

usage:
  weft                      an interactive session (a program, if standard input is no terminal)
  weft FILE [ARGUMENTS]     runs a file; `args` holds the arguments
  weft -e EXPRESSION        evaluates an expression (several -e are the lines of one program)
  weft -                    runs the program on standard input
  weft test PAGE…           runs the programs of Markdown pages: `weft test --help`
  weft fuzz                 runs random programs, compares engines: `weft fuzz --help`
  weft jupyter …            the kernel for notebooks: `weft jupyter --help`

options:
  --backend NAME            what runs the program: auto, cpu, gpu, interp (`:set` explains)
  --no-fusion               each operation on whole arrays is a kernel of its own
  --no-sharing              common terms are computed wherever they are used
  --no-io                   no program may read or write files
  --no-config               a session at a prompt begins without config.weft
  --help, --version

exit codes:
  0 success   1 error in the program   2 wrong use   3 bug in weft
  4 output not written   130 interrupted

environment:
  NO_COLOR     no colours            TERM=dumb  no colours, no line editor
  WEFT_HISTORY the file that keeps what was typed (empty: none)
  PAGER        what shows long texts at the prompt (empty: nothing does)

settings: lines of `:set` in weft/config.weft, in XDG_CONFIG_HOME or ~/.config";

/// What to do.
#[derive(Debug, PartialEq)]
pub(crate) enum Request {
    /// Run something.
    Run(Arguments),
    /// Say something.
    Print(String),
}

/// What to run, and how.
#[derive(Debug, PartialEq)]
pub(crate) struct Arguments {
    /// What to run.
    pub(crate) mode: Mode,
    /// The modes of the session that differ from the defaults, as in `:set`.
    pub(crate) modes: Vec<(&'static str, String)>,
    /// Whether programs may touch files.
    pub(crate) io: bool,
    /// Whether a session at a prompt begins with the user's settings.
    pub(crate) config: bool,
    /// The arguments of the program.
    pub(crate) rest: Vec<OsString>,
}

/// Where the program comes from.
#[derive(Debug, PartialEq)]
pub(crate) enum Mode {
    /// From a person.
    Interactive,
    /// From a file.
    File(PathBuf),
    /// From the command line.
    Expression(String),
    /// From standard input, whatever that is.
    StandardInput,
}

/// Reads the command line. The error is a sentence.
pub(crate) fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<Request, lexopt::Error> {
    let mut parser = Parser::from_iter(arguments);
    let mut io = true;
    let mut config = true;
    let mut modes = Vec::new();
    let mut expressions: Vec<String> = Vec::new();
    let mut mode = None;
    let mut rest = Vec::new();
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Print(HELP.to_owned())),
            Arg::Short('V') | Arg::Long("version") => {
                return Ok(Request::Print(format!("weft {}", env!("CARGO_PKG_VERSION"))));
            }
            Arg::Short('e') => expressions.push(parser.value()?.string()?),
            Arg::Long("no-io") => io = false,
            Arg::Long("no-config") => config = false,
            Arg::Long("backend") => modes.push(("backend", parser.value()?.string()?)),
            Arg::Long("no-fusion") => modes.push(("fusion", "off".to_owned())),
            Arg::Long("no-sharing") => modes.push(("sharing", "off".to_owned())),
            Arg::Value(value) if expressions.is_empty() => {
                mode =
                    Some(if value == "-" { Mode::StandardInput } else { Mode::File(value.into()) });
                // Whatever follows is the program's business.
                rest.extend(parser.raw_args()?);
            }
            Arg::Value(value) => {
                rest.push(value);
                rest.extend(parser.raw_args()?);
            }
            Arg::Short(_) | Arg::Long(_) => return Err(argument.unexpected()),
        }
    }
    let mode = match mode {
        Some(mode) => mode,
        None if expressions.is_empty() => Mode::Interactive,
        None => Mode::Expression(expressions.join("\n")),
    };
    Ok(Request::Run(Arguments { mode, modes, io, config, rest }))
}

#[cfg(test)]
mod tests {
    use super::{Arguments, Mode, Request, parse};

    fn run(arguments: &[&str]) -> Result<Request, String> {
        let arguments = std::iter::once("weft").chain(arguments.iter().copied());
        parse(arguments.map(Into::into)).map_err(|error| error.to_string())
    }

    fn mode(arguments: &[&str]) -> Arguments {
        match run(arguments) {
            Ok(Request::Run(arguments)) => arguments,
            other => panic!("{arguments:?} gave {other:?}"),
        }
    }

    #[test]
    fn where_the_program_comes_from() {
        assert_eq!(mode(&[]).mode, Mode::Interactive);
        assert_eq!(mode(&["-"]).mode, Mode::StandardInput);
        assert_eq!(mode(&["-e", "1", "-e", "2"]).mode, Mode::Expression("1\n2".to_owned()));
        let file = mode(&["--no-io", "a.weft", "-e", "--help"]);
        assert_eq!(file.mode, Mode::File("a.weft".into()));
        assert_eq!(file.rest, ["-e", "--help"]);
        assert!(!file.io && file.config);
        assert!(!mode(&["--no-config"]).config);
        assert_eq!(mode(&["-e", "args", "x"]).rest, ["x"]);
    }

    #[test]
    fn options_are_modes_of_the_session() {
        let modes = mode(&["--backend", "cpu", "--no-fusion", "--no-sharing", "-"]).modes;
        let modes: Vec<(&str, &str)> =
            modes.iter().map(|(name, value)| (*name, value.as_str())).collect();
        assert_eq!(modes, [("backend", "cpu"), ("fusion", "off"), ("sharing", "off")]);
    }

    #[test]
    fn wrong_use_is_explained() {
        assert_eq!(run(&["--bakcend", "x"]).unwrap_err(), "invalid option '--bakcend'");
        assert!(run(&["--backend"]).unwrap_err().contains("missing argument"));
        assert!(run(&["-e"]).unwrap_err().contains("missing argument"));
    }
}
