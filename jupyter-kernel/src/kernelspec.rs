//! Where Jupyter looks for kernels, and the folder that it finds there.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;

use jupyter_protocol::JupyterKernelspec;
use weft_files::{Access, FileSystem, replace};

/// The name if none is given.
pub(crate) const DEFAULT_NAME: &str = "weft";

const LOGOS: [(&str, &[u8]); 2] = [
    ("logo-32x32.png", include_bytes!("../assets/logo-32x32.png")),
    ("logo-64x64.png", include_bytes!("../assets/logo-64x64.png")),
];

/// Where to install.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The user's own folder.
    User,
    /// The Python environment that is active.
    Environment,
    /// `P/share/jupyter`.
    Prefix(PathBuf),
}

/// The folder in which Jupyter looks for kernels and extensions.
pub(crate) fn data(place: &Place) -> Result<PathBuf, String> {
    Ok(match place {
        Place::User => user_data()?,
        Place::Environment => environment()?.join("share/jupyter"),
        Place::Prefix(prefix) => prefix.join("share/jupyter"),
    })
}

/// The folder of a kernelspec within a data folder.
pub(crate) fn folder(data: &Path, name: &str) -> Result<PathBuf, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        return Err(format!("`{name}` is no name for a kernel: letters, digits, `-`, `_`, `.`"));
    }
    // Names are compared without case, so they are kept in lower case.
    Ok(data.join("kernels").join(name.to_ascii_lowercase()))
}

/// The kernelspecs of Weft in a data folder, with the programs that they start.
pub(crate) fn installed(data: &Path) -> Vec<(PathBuf, PathBuf)> {
    let entries = fs::read_dir(data.join("kernels")).into_iter().flatten().flatten();
    let found = entries.filter_map(|entry| {
        let text = fs::read_to_string(entry.path().join("kernel.json")).ok()?;
        let spec: JupyterKernelspec = serde_json::from_str(&text).ok()?;
        (spec.language == "weft")
            .then(|| (entry.path(), spec.argv.first().map_or_else(PathBuf::new, PathBuf::from)))
    });
    let mut found: Vec<(PathBuf, PathBuf)> = found.collect();
    found.sort();
    found
}

/// Writes the kernelspec that starts `program`. Menus show the name, if it is another than usual.
pub(crate) fn install(
    files: &dyn FileSystem,
    folder: &Path,
    name: &str,
    program: &Path,
) -> Result<(), String> {
    let display_name = match name {
        DEFAULT_NAME => "Weft".to_owned(),
        other => format!("Weft ({other})"),
    };
    let Some(program) = program.to_str() else {
        return Err(format!("{} is no path that fits into JSON", program.display()));
    };
    let arguments = [program, "jupyter", "kernel", "-f", "{connection_file}"];
    let spec = JupyterKernelspec {
        argv: arguments.map(str::to_owned).to_vec(),
        display_name,
        language: "weft".to_owned(),
        metadata: Some([("debugger".to_owned(), false.into())].into()),
        interrupt_mode: Some("message".to_owned()),
        env: Some([].into()),
    };
    let mut text = serde_json::to_string_pretty(&spec).map_err(|error| error.to_string())?;
    text.push('\n');
    // Jupyter looks for this file: it comes when the others are there.
    let spec = ("kernel.json", text.as_bytes());
    LOGOS
        .into_iter()
        .chain([spec])
        .try_for_each(|(name, bytes)| write(files, &folder.join(name), bytes))
}

/// Writes a file, in place of an older one, with the folders around it.
pub(crate) fn write(files: &dyn FileSystem, path: &Path, bytes: &[u8]) -> Result<(), String> {
    let parent = path.parent().unwrap_or(path);
    files.make_folder(parent, Access::Usual).map_err(|error| unwritable(parent, &error))?;
    replace(files, path, Access::Usual, "part", |output| output.write_all(bytes))
        .map_err(|error| unwritable(path, &error))
}

/// Takes the kernelspec away. `false` if there was none.
pub(crate) fn uninstall(folder: &Path) -> Result<bool, String> {
    remove_with_empty_parents(folder)
}

/// Removes a folder within a data folder, and those around it that then are empty. `false` if
/// there was none.
pub(crate) fn remove_with_empty_parents(folder: &Path) -> Result<bool, String> {
    match fs::remove_dir_all(folder) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(format!("cannot remove {}: {error}", folder.display())),
    }
    // `kernels`, `jupyter`, `share`: only if nobody else has anything there.
    for parent in folder.ancestors().skip(1).take(3) {
        if fs::remove_dir(parent).is_err() {
            break;
        }
    }
    Ok(true)
}

/// Says that a file cannot be written.
fn unwritable(path: &Path, error: &std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// `$JUPYTER_DATA_DIR`, else the platform's folder.
fn user_data() -> Result<PathBuf, String> {
    let path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    if let Some(folder) = path("JUPYTER_DATA_DIR") {
        return Ok(folder);
    }
    let folder = if cfg!(windows) {
        path("APPDATA").map(|folder| folder.join("jupyter"))
    } else if cfg!(target_os = "macos") {
        path("HOME").map(|home| home.join("Library/Jupyter"))
    } else {
        let data = path("XDG_DATA_HOME").or_else(|| Some(path("HOME")?.join(".local/share")));
        data.map(|data| data.join("jupyter"))
    };
    folder.ok_or_else(|| "there is no home folder; `--prefix` names one".to_owned())
}

/// The environment that is active, else the one that `python3` belongs to.
fn environment() -> Result<PathBuf, String> {
    for name in ["VIRTUAL_ENV", "CONDA_PREFIX"] {
        if let Some(folder) = env::var_os(name).filter(|folder| !folder.is_empty()) {
            return Ok(folder.into());
        }
    }
    let output = Command::new("python3").args(["-c", "import sys; print(sys.prefix)"]).output();
    let prefix = output.ok().filter(|output| output.status.success());
    let prefix = prefix.and_then(|output| String::from_utf8(output.stdout).ok());
    let prefix = prefix.map(|prefix| PathBuf::from(prefix.trim())).filter(|p| p.is_absolute());
    prefix.ok_or_else(|| "no Python environment is active; `--prefix` names one".to_owned())
}
