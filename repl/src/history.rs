//! Where the history of the prompt is kept.

use std::env;
use std::path::PathBuf;

use weft_files::{Access, FileSystem, Host};

/// The history file, in a folder that exists: `$WEFT_HISTORY`, else `weft/history` in the user's
/// state folder (XDG base directories). `None` where there is no home: a session does without.
pub(crate) fn file() -> Option<PathBuf> {
    if let Some(file) = env::var_os("WEFT_HISTORY") {
        // What goes to the null device is not kept, and that is what who names it wants.
        return (!file.is_empty() && file != "/dev/null").then(|| PathBuf::from(file));
    }
    let folder = state_folder(env::var_os("XDG_STATE_HOME"), env::var_os("HOME"))?.join("weft");
    // If there is no folder, writing to it says so.
    drop(Host.make_folder(&folder, Access::Private));
    Some(folder.join("history"))
}

/// The folder for the state of programs. Relative paths are to be ignored, says the standard.
fn state_folder(
    state: Option<std::ffi::OsString>,
    home: Option<std::ffi::OsString>,
) -> Option<PathBuf> {
    let absolute = |path: Option<std::ffi::OsString>| {
        path.map(PathBuf::from).filter(|path| path.is_absolute())
    };
    absolute(state).or_else(|| absolute(home).map(|home| home.join(".local/state")))
}

#[cfg(test)]
mod tests {
    use super::state_folder;
    use std::path::Path;

    #[test]
    fn the_state_folder_follows_the_standard() {
        let folder = |state: Option<&str>, home: Option<&str>| {
            state_folder(state.map(Into::into), home.map(Into::into))
        };
        assert_eq!(folder(Some("/state"), Some("/home")).as_deref(), Some(Path::new("/state")));
        let default = Path::new("/home/.local/state");
        assert_eq!(folder(None, Some("/home")).as_deref(), Some(default));
        assert_eq!(folder(Some("relative"), Some("/home")).as_deref(), Some(default));
        assert_eq!(folder(None, None), None);
    }
}
