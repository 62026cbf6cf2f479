//! `weft jupyter …`: the command line.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};
use weft_files::Host;
use weft_session::Config;

use crate::doctor;
use crate::extension;
use crate::kernelspec::{self, DEFAULT_NAME, Place};

/// What `weft jupyter --help` prints.
pub const HELP: &str = "\
weft jupyter: the kernel for notebooks

usage:
  weft jupyter install [--user | --sys-prefix | --prefix P] [--name N]
                            tells Jupyter about the kernel, and how its cells are coloured
  weft jupyter uninstall [the same options]
                            takes that back, and leaves nothing behind
  weft jupyter doctor       starts the kernel and reports whether it answers, and says where it
                            is installed
  weft jupyter kernel -f FILE
                            runs the kernel; Jupyter calls this";

/// How the command ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All is well.
    Success,
    /// The work failed. A sentence, or nothing if everything has been said.
    Failure(String),
    /// The command line is wrong; a sentence.
    Usage(String),
}

/// Does what the arguments after `weft jupyter` say. `say` gets the lines for standard output.
pub fn run(
    arguments: impl IntoIterator<Item = OsString>,
    config: &Config,
    say: &mut dyn FnMut(&str),
) -> Ending {
    let request = match parse(arguments) {
        Ok(request) => request,
        Err(problem) => return Ending::Usage(problem.to_string()),
    };
    match act(request, config, say) {
        Ok(()) => Ending::Success,
        Err(problem) => Ending::Failure(problem),
    }
}

fn act(request: Request, config: &Config, say: &mut dyn FnMut(&str)) -> Result<(), String> {
    let program = || env::current_exe().map_err(|error| format!("where is `weft`? {error}"));
    match request {
        Request::Help => {
            say(HELP);
            Ok(())
        }
        Request::Kernel(file) => crate::serve::run(&file, config),
        Request::Install(place, name) => {
            let data = kernelspec::data(&place)?;
            let folder = kernelspec::folder(&data, &name)?;
            kernelspec::install(&Host, &folder, &name, &program()?)?;
            say(&format!("installed {}", folder.display()));
            extension::install(&Host, &data)?;
            say(&format!("installed {}", extension::folder(&data).display()));
            Ok(())
        }
        Request::Uninstall(place, name) => {
            let data = kernelspec::data(&place)?;
            let folder = kernelspec::folder(&data, &name)?;
            match kernelspec::uninstall(&folder)? {
                true => say(&format!("removed {}", folder.display())),
                false => say(&format!("nothing is installed at {}", folder.display())),
            }
            // The kernel under another name is coloured by the same extension.
            if kernelspec::installed(&data).is_empty() && extension::uninstall(&data)? {
                say(&format!("removed {}", extension::folder(&data).display()));
            }
            Ok(())
        }
        Request::Doctor => match doctor::examine(&program()?, say) {
            true => Ok(()),
            false => Err(String::new()),
        },
    }
}

#[derive(Debug, PartialEq)]
enum Request {
    Help,
    Kernel(PathBuf),
    Install(Place, String),
    Uninstall(Place, String),
    Doctor,
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, lexopt::Error> {
    let mut parser = Parser::from_args(arguments);
    let mut verb = None;
    let mut place = None;
    let mut name = DEFAULT_NAME.to_owned();
    let mut file = None;
    while let Some(argument) = parser.next()? {
        let chosen = match argument {
            Arg::Short('h') | Arg::Long("help") => return Ok(Request::Help),
            Arg::Short('f') => {
                file = Some(PathBuf::from(parser.value()?));
                None
            }
            Arg::Long("name") => {
                name = parser.value()?.string()?;
                None
            }
            Arg::Long("user") => Some(Place::User),
            Arg::Long("sys-prefix") => Some(Place::Environment),
            Arg::Long("prefix") => Some(Place::Prefix(parser.value()?.into())),
            Arg::Value(value) if verb.is_none() => {
                verb = Some(value.string()?);
                None
            }
            // `jupyter run` hands the names of its programs to the kernel too.
            Arg::Value(_) if verb.as_deref() == Some("kernel") => None,
            Arg::Value(_) | Arg::Short(_) | Arg::Long(_) => return Err(argument.unexpected()),
        };
        if chosen.is_some() && place.is_some() {
            return Err("one of `--user`, `--sys-prefix`, `--prefix` is enough".into());
        }
        place = place.or(chosen);
    }
    let place = place.unwrap_or(Place::User);
    match verb.as_deref() {
        None => Ok(Request::Help),
        Some("kernel") => match file {
            Some(file) => Ok(Request::Kernel(file)),
            None => Err("`weft jupyter kernel` needs `-f` and a connection file".into()),
        },
        Some("install") => Ok(Request::Install(place, name)),
        Some("uninstall") => Ok(Request::Uninstall(place, name)),
        Some("doctor") => Ok(Request::Doctor),
        Some(verb) => Err(format!("`weft jupyter {verb}` does not exist").into()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use weft_files::with_every_fault;

    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Request, String> {
        parse(arguments.iter().map(Into::into)).map_err(|error| error.to_string())
    }

    #[test]
    fn the_command_line() {
        let install = |place, name: &str| Ok(Request::Install(place, name.to_owned()));
        assert_eq!(parsed(&["install"]), install(Place::User, "weft"));
        let there = Place::Prefix("p".into());
        assert_eq!(parsed(&["install", "--prefix", "p", "--name", "w"]), install(there, "w"));
        assert_eq!(parsed(&["kernel", "-f", "x"]), Ok(Request::Kernel("x".into())));
        assert_eq!(parsed(&["kernel", "-f", "x", "y"]), Ok(Request::Kernel("x".into())));
        assert!(parsed(&["kernel"]).unwrap_err().contains("needs `-f`"));
        assert!(parsed(&["install", "--user", "--sys-prefix"]).unwrap_err().contains("enough"));
        assert!(parsed(&["instal"]).unwrap_err().contains("does not exist"));
    }

    #[test]
    fn uninstall_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let prefix = folder.path().join("prefix");
        let command = |verb: &str, name: &str| {
            let arguments = [verb.into(), "--prefix".into(), prefix.clone().into_os_string()];
            let arguments = arguments.into_iter().chain(["--name".into(), name.into()]);
            let mut said = Vec::new();
            let config = Config { memory: 1 << 20, io: false };
            let ending = run(arguments, &config, &mut |line| said.push(line.to_owned()));
            assert_eq!(ending, Ending::Success);
            said
        };
        assert_eq!(command("install", "Weft-1").len(), 2);
        assert_eq!(command("install", "other").len(), 2);
        let data = prefix.join("share/jupyter");
        let text = std::fs::read_to_string(data.join("kernels/weft-1/kernel.json")).unwrap();
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["interrupt_mode"], "message");
        assert_eq!(json["display_name"], "Weft (Weft-1)");
        assert_eq!(json["argv"][4], "{connection_file}");
        assert_eq!(kernelspec::installed(&data).len(), 2);
        assert!(extension::is_current(&data));
        // The extension stays as long as a kernel needs it.
        assert_eq!(command("uninstall", "other").len(), 1);
        assert!(extension::is_current(&data));
        assert_eq!(command("uninstall", "weft-1").len(), 2);
        assert!(command("uninstall", "weft-1")[0].starts_with("nothing is installed"));
        assert!(!prefix.join("share").exists());
        assert!(kernelspec::folder(&data, "../x").is_err());
    }

    #[test]
    fn an_installation_that_fails_harms_nothing() {
        with_every_fault(|files| {
            let folder = tempfile::tempdir().unwrap();
            let data = folder.path().join("share/jupyter");
            let spec = kernelspec::folder(&data, "weft").unwrap();
            kernelspec::install(&Host, &spec, "weft", Path::new("old")).unwrap();
            extension::install(&Host, &data).unwrap();
            let installed = kernelspec::install(files, &spec, "weft", Path::new("new"))
                .and_then(|()| extension::install(files, &data));
            assert_eq!(installed.is_err(), files.has_failed());
            if let Err(problem) = installed {
                assert!(problem.starts_with("cannot write ") && problem.contains("share"));
            }
            // The kernel is the old one or the new one, and its cells have their colours.
            let programs: Vec<PathBuf> =
                kernelspec::installed(&data).into_iter().map(|(_, program)| program).collect();
            assert!(["old", "new"].iter().any(|name| programs == [PathBuf::from(name)]));
            assert!(extension::is_current(&data));
            kernelspec::uninstall(&spec).unwrap();
            extension::uninstall(&data).unwrap();
            assert!(!folder.path().join("share").exists());
        });
    }
}
