//! What a person has every session begin with: a file of `:set` lines and definitions.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use weft_files::read_regular;
use weft_session::{Cell, Keep, Outcome, SOURCE_BYTES, Session};

use crate::interrupt::Interrupts;
use crate::output::{Output, Plain};

/// Runs the file, if there is one. What is wrong with it is reported, and the session goes on
/// without all of it.
pub(crate) fn load(session: &mut Session, interrupts: &Interrupts, output: &mut Output) {
    let folder = config_folder(env::var_os("XDG_CONFIG_HOME"), env::var_os("HOME"));
    let Some(path) = folder.map(|folder| folder.join("weft/config.weft")) else { return };
    let text = match read_regular(&path, SOURCE_BYTES).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => {
            output.error_line(&format!("weft: {} is not UTF-8", path.display()));
            return;
        }
        // Most people have none.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return,
        Err(error) => {
            output.error_line(&format!("weft: cannot read {}: {error}", path.display()));
            return;
        }
    };
    let name = path.display().to_string();
    let directory = path.parent().unwrap_or(Path::new(""));
    let outcome = interrupts.during(|cancel| {
        let cell = Cell { name: Some(&name), text: &text, directory };
        let mut sink = Plain { output, cancel: cancel.clone() };
        session.eval_as(cell, Keep::Definitions, &mut sink, cancel)
    });
    session.begin_here();
    if !matches!(outcome, Outcome::Done | Outcome::Quit) {
        output.error_line(&format!("weft: this session begins without {name}"));
    }
}

/// The folder for the settings of programs. Relative paths are to be ignored, says the standard.
fn config_folder(config: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let absolute =
        |path: Option<OsString>| path.map(PathBuf::from).filter(|path| path.is_absolute());
    absolute(config).or_else(|| absolute(home).map(|home| home.join(".config")))
}

#[cfg(test)]
mod tests {
    use super::config_folder;
    use std::path::Path;

    #[test]
    fn the_folder_follows_the_standard() {
        let folder = |config: Option<&str>, home: Option<&str>| {
            config_folder(config.map(Into::into), home.map(Into::into))
        };
        assert_eq!(folder(Some("/own"), Some("/home")).as_deref(), Some(Path::new("/own")));
        let default = Path::new("/home/.config");
        assert_eq!(folder(Some("relative"), Some("/home")).as_deref(), Some(default));
        assert_eq!(folder(None, None), None);
    }
}
