//! The extension that colours Weft in JupyterLab and Jupyter Notebook: two files, which travel in
//! the program (`editors/jupyterlab`).

use std::fs;
use std::path::{Path, PathBuf};

use weft_files::FileSystem;

use crate::kernelspec::{remove_with_empty_parents, write};

const FILES: [(&str, &str); 2] = [
    ("package.json", include_str!("../../editors/jupyterlab/package.json")),
    ("static/remoteEntry.js", include_str!("../../editors/jupyterlab/static/remoteEntry.js")),
];

/// Where the extension is within a data folder of Jupyter.
pub(crate) fn folder(data: &Path) -> PathBuf {
    data.join("labextensions/weft-jupyterlab")
}

/// Writes the extension.
pub(crate) fn install(files: &dyn FileSystem, data: &Path) -> Result<(), String> {
    FILES
        .into_iter()
        .try_for_each(|(name, text)| write(files, &folder(data).join(name), text.as_bytes()))
}

/// Takes the extension away. `false` if there was none.
pub(crate) fn uninstall(data: &Path) -> Result<bool, String> {
    remove_with_empty_parents(&folder(data))
}

/// Whether the extension is there as this program would write it.
pub(crate) fn is_current(data: &Path) -> bool {
    let is_same = |(name, text): &(&str, &str)| {
        fs::read_to_string(folder(data).join(name)).is_ok_and(|found| found == *text)
    };
    FILES.iter().all(is_same)
}
